// Files about failures: what is named, what they hold, whose they are, and what happens without memory or room.
#include "tools/fabricd/failure_files.hpp"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "tests/local_fabric/fixture.hpp"
#include "tests/support/made_frame.hpp"

namespace fabricd {
namespace {
using runtime::second;

class FailureFilesTest : public testing::Test {
 protected:
  FailureFilesTest() {
    std::string name = (std::filesystem::temp_directory_path() / "fcvi-test-XXXXXX").string();
    EXPECT_NE(::mkdtemp(name.data()), nullptr);
    folder = name;
  }
  ~FailureFilesTest() override { std::filesystem::remove_all(folder); }

  [[nodiscard]] FailureConfig config(std::size_t most_files = 8) const {
    return {.folder = folder, .service = "0a1b2c3d", .most_files = most_files};
  }
  void add(const std::string& name) { std::ofstream(folder + "/" + name) << name; }
  [[nodiscard]] std::vector<std::string> files() const {
    std::vector<std::string> names;
    for (const auto& entry : std::filesystem::directory_iterator(folder)) names.push_back(entry.path().filename());
    std::sort(names.begin(), names.end());
    return names;
  }
  [[nodiscard]] std::string content(const std::string& name) const {
    std::ifstream opened(folder + "/" + name, std::ios::binary);
    return {std::istreambuf_iterator<char>(opened), {}};
  }
  /// Real time passes until the writer is done; virtual time meanwhile, less than a second.
  void await_files(const FailureFiles& failures, std::uint64_t count) {
    ASSERT_TRUE(support::eventually([&] {
      scheduler.run_until(scheduler.now() + runtime::millisecond);
      return failures.written() + failures.lost() >= count;
    })) << count;
  }
  void pass(PortNames::Number port, int count) {
    for (int i = 0; i < count; ++i)
      recorder.frame_passed(port, scheduler.now(), *support::raw_frame(pool, std::vector<std::uint8_t>(24, 0x22)),
                            true);
  }
  PortNames::Number port(const std::string& name) { return recorder.add_port({.text = name, .name = name}); }
  void kill(const std::string& name) {
    const PortNames::Number number = port(name);
    pass(number, 3);
    recorder.port_gone(number, scheduler.now(), "it was killed", false, 9);
  }
  void discard() {
    const fc2::FramePtr frame = support::raw_frame(pool, std::vector<std::uint8_t>(24, 0x22));
    recorder.frame_passed(port("sender"), scheduler.now(), *frame, true);
    recorder.frame_discarded(scheduler.now(), *frame, fc2::Discard::BadHeader);
  }

  std::string folder;
  runtime::Scheduler scheduler;
  fc2::FramePool pool;
  Recorder recorder{{.bytes = 8192, .frames = 256}};
};

// Another failure of that kind in the pause: the next file comes behind the pause, and names each.
TEST_F(FailureFilesTest, failures_in_a_pause_are_all_named) {
  FailureFiles failures(scheduler, recorder, config());
  kill("anne");
  scheduler.run_until(scheduler.now() + second);
  await_files(failures, 1);
  for (const char* name : {"bert", "carl", "dora", "emil"}) kill(name);
  scheduler.run_until(scheduler.now() + 2 * second);
  EXPECT_EQ(failures.written(), 1U);
  scheduler.run_until(scheduler.now() + 8 * second);
  await_files(failures, 2);
  const auto names = files();
  ASSERT_EQ(names.size(), 2U);
  EXPECT_NE(content(names[1]).find("before: bert: it was killed; carl: it was killed; dora: it was killed; emil: it"),
            std::string::npos);
}

// As many as fit into a comment are named, the others counted; what is said already is not said again.
TEST_F(FailureFilesTest, many_failures_are_counted) {
  FailureFiles failures(scheduler, recorder, config());
  for (std::size_t i = 0; i < FailureFiles::most_named + 5; ++i) kill("port " + std::to_string(i));
  kill("port 0");
  failures.finish();
  ASSERT_EQ(files().size(), 1U);
  const std::string text = content(files()[0]);
  EXPECT_NE(text.find("port 15: it was killed, and 6 more failures"), std::string::npos);
}

// A failure of another kind does not wait for the pause.
TEST_F(FailureFilesTest, another_kind_does_not_wait_for_the_pause) {
  FailureFiles failures(scheduler, recorder, config());
  kill("anne");
  scheduler.run_until(scheduler.now() + second);
  await_files(failures, 1);
  discard();
  scheduler.run_until(scheduler.now() + second);
  await_files(failures, 2);
  EXPECT_NE(content(files()[1]).find("a frame of sender was discarded"), std::string::npos);
}

// Two kinds at once share a file.
TEST_F(FailureFilesTest, two_kinds_at_once_share_a_file) {
  FailureFiles failures(scheduler, recorder, config());
  kill("anne");
  discard();
  scheduler.run_until(scheduler.now() + second);
  await_files(failures, 1);
  failures.finish();
  ASSERT_EQ(files().size(), 1U);
  EXPECT_NE(content(files()[0]).find("anne: it was killed; a frame of sender was discarded"), std::string::npos);
}

// The ring turns over in a pause: the frames of the failure are in its file all the same.
TEST_F(FailureFilesTest, frames_outlive_the_ring_in_a_pause) {
  FailureFiles failures(scheduler, recorder, config());
  kill("anne");
  scheduler.run_until(scheduler.now() + second);
  await_files(failures, 1);
  kill("bert");
  const PortNames::Number other = port("busy");
  pass(other, 1000);
  EXPECT_EQ(failures.written(), 1U);
  scheduler.run_until(scheduler.now() + 10 * second);
  await_files(failures, 2);
  EXPECT_NE(content(files()[1]).find("the last frame of bert: it was killed"), std::string::npos);
}

// Before the pause, frames that would be displaced are written at once.
TEST_F(FailureFilesTest, frames_about_to_be_displaced_are_written_at_once) {
  FailureFiles failures(scheduler, recorder, config());
  kill("anne");
  pass(port("busy"), 1000);
  await_files(failures, 1);
  EXPECT_LT(scheduler.now(), 2 * second);
  EXPECT_NE(content(files()[0]).find("the last frame of anne: it was killed"), std::string::npos);
}

// The end of the service comes while a file is due: it is written.
TEST_F(FailureFilesTest, finish_writes_what_is_due) {
  FailureFiles failures(scheduler, recorder, config());
  kill("anne");
  failures.finish();
  EXPECT_EQ(failures.written(), 1U);
  EXPECT_EQ(files().size(), 1U);
  kill("bert");
  failures.finish();
  EXPECT_EQ(files().size(), 1U);
}

// The end of the service: nothing is written, nor waited for, inside the core; outside it all is.
TEST_F(FailureFilesTest, end_leaves_the_disk_to_finish) {
  FailureFiles failures(scheduler, recorder, config());
  kill("anne");
  failures.end();
  EXPECT_TRUE(files().empty());
  kill("bert");
  failures.finish();
  ASSERT_EQ(files().size(), 1U);
  EXPECT_NE(content(files()[0]).find("anne: it was killed"), std::string::npos);
}

// A ring that takes many steps to copy, which goes on filling meanwhile: the file has all frames until the failure.
TEST_F(FailureFilesTest, ring_is_copied_in_steps) {
  Recorder large({.bytes = 1u << 20, .frames = 20'000});
  FailureFiles failures(scheduler, large, config());
  const PortNames::Number busy = large.add_port({.text = "busy", .name = "busy"});
  const auto frame = support::raw_frame(pool, std::vector<std::uint8_t>(24, 0x22));
  for (int i = 0; i < 19'990; ++i) large.frame_passed(busy, scheduler.now(), *frame, true);
  large.port_gone(busy, scheduler.now(), "it was killed", false, 9);
  const PortNames::Number other = large.add_port({.text = "other", .name = "other"});
  scheduler.run_until(scheduler.now() + second);
  EXPECT_EQ(failures.written(), 0U);  // it has begun
  for (int i = 0; i < 100; ++i) large.frame_passed(other, scheduler.now(), *frame, true);
  await_files(failures, 1);
  ASSERT_EQ(files().size(), 1U);
  EXPECT_NE(content(files()[0]).find("the last frame of busy: it was killed"), std::string::npos);
  EXPECT_GT(content(files()[0]).size(), 19'990U * 24);
}

// What is in the folder and not this service's is never removed; of its own the latest stay.
TEST_F(FailureFilesTest, only_own_files_are_removed) {
  const std::vector<std::string> others{
      "failure-20200101-000000.000000000-ffffffff.pcapng",  // another service's
      "failure-20200101-000000.000000000.pcapng",          "failure-2020.pcapng", "failure-mine.pcapng",
      "failure-20200101-0000x0.000000000-0a1b2c3d.pcapng",
  };
  for (const std::string& name : others) add(name);
  add("failure-19690101-000000.000000000-0a1b2c3d.pcapng");
  add("failure-19691231-000000.000000000-0a1b2c3d.pcapng");
  FailureFiles failures(scheduler, recorder, config(2));
  kill("anne");
  failures.finish();
  const auto there = files();
  for (const std::string& name : others) EXPECT_TRUE(std::binary_search(there.begin(), there.end(), name)) << name;
  EXPECT_EQ(there.size(), others.size() + 2);
  EXPECT_FALSE(std::filesystem::exists(folder + "/failure-19690101-000000.000000000-0a1b2c3d.pcapng"));
  EXPECT_TRUE(std::filesystem::exists(folder + "/failure-19691231-000000.000000000-0a1b2c3d.pcapng"));
}

// The file cannot be written: the older ones stay.
TEST_F(FailureFilesTest, older_files_stay_if_the_new_one_cannot_be_written) {
  const std::string older = "failure-19690101-000000.000000000-0a1b2c3d.pcapng";
  add(older);
  support::Child child([&] {
    const rlimit no_bytes{16, 16};
    ::setrlimit(RLIMIT_FSIZE, &no_bytes);
    ::signal(SIGXFSZ, SIG_IGN);
    FailureFiles failures(scheduler, recorder, config(1));
    kill("anne");
    failures.finish();
    return failures.lost() == 1 && failures.written() == 0 ? 0 : 1;
  });
  EXPECT_EQ(child.wait(), 0);
  EXPECT_EQ(files(), std::vector<std::string>{older});
}

// There is no memory for a copy of the frames: they are lost, the service goes on, and writes the next.
TEST_F(FailureFilesTest, without_memory_the_frames_are_lost_and_nothing_else) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "a sanitizer ends the process when there is no memory";
#endif
  support::Child child([&] {
    Recorder large({.bytes = 128u << 20, .frames = 1u << 16});
    FailureFiles failures(scheduler, large, config());
    const PortNames::Number number = large.add_port({.text = "anne", .name = "anne"});
    const fc2::FramePtr frame = support::raw_frame(pool, std::vector<std::uint8_t>(2100, 0x22));
    // More than the 64 MiB that glibc has reserved for a thread.
    for (int i = 0; i < 36'000; ++i) large.frame_passed(number, scheduler.now(), *frame, true);
    std::size_t pages = 0;
    std::ifstream("/proc/self/statm") >> pages;
    rlimit limit{};
    ::getrlimit(RLIMIT_AS, &limit);
    const rlimit before = limit;
    limit.rlim_cur = pages * static_cast<std::size_t>(::getpagesize()) + (2u << 20);
    ::setrlimit(RLIMIT_AS, &limit);
    large.port_gone(number, scheduler.now(), "it was killed", false, 9);
    scheduler.run_until(scheduler.now() + 2 * second);
    if (failures.lost() != 1) return 1;
    ::setrlimit(RLIMIT_AS, &before);
    large.failed("a host fell silent");
    failures.finish();
    return failures.written() == 1 ? 0 : 2;
  });
  EXPECT_EQ(child.wait(), 0);
  EXPECT_EQ(files().size(), 1U);
}

}  // namespace
}  // namespace fabricd
