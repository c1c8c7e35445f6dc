// The service's side of paths, against clients that the test plays: what they get, and what they cannot make it hold.
#include <sys/resource.h>

#include "fc2_fabric/drivers/frame_stream.hpp"
#include "tests/local_fabric/raw_node.hpp"

namespace support {
namespace {
using fc2::drivers::Destination;
using fc2::drivers::FrameStream;
using fc2::drivers::Hello;
using fc2::drivers::OpenFiles;
using fc2::drivers::PathEnd;
using fc2::drivers::PathRecord;
using fc2::drivers::RecordKind;
using fc2::drivers::RuntimeDirectory;

/// An N_Port that logs in, and does with paths what the test says.
class Client final : private fc2::drivers::StreamUser {
 public:
  Client(Machine& machine, unsigned number) : machine_(machine), port_(make_port(machine, number)) {
    const CoreSection section(machine_.core);
    std::string error;
    const int descriptor = fc2::drivers::connect_to_service(*RuntimeDirectory::open({}, error));
    stream_ = FrameStream::make(machine_.io, machine_.core, machine_.core.scheduler(), machine_.core.pool(), *this,
                                descriptor);
    Hello hello;
    const auto alone = hello.write();
    hello.has_doorbell = true;
    auto bell = machine_.doorbell->descriptors();
    OpenFiles files;
    files.push_back(std::move(bell.attention));
    files.push_back(std::move(bell.rung));
    stream_->send_record(RecordKind::Hello, hello.write(), std::move(files), alone);
  }
  ~Client() {
    const CoreSection section(machine_.core);
    port_->link_down();
    stream_->close();
  }
  bool ready() {
    return machine_.run_until([&] { return port_->n_port_id() != wire::FcId{}; });
  }
  [[nodiscard]] wire::FcId id() const { return port_->n_port_id(); }
  void ask_for(const Client& other) {
    const CoreSection section(machine_.core);
    stream_->send_record(RecordKind::PathRequest, Destination{other.id()}.write());
  }
  void say(PathEnd::Cause cause) {
    const CoreSection section(machine_.core);
    stream_->send_record(RecordKind::PathEnd, PathEnd{paths.back().peer, cause, paths.back().number}.write());
  }
  void log_out() {
    const CoreSection section(machine_.core);
    port_->log_out_of_fabric();
  }
  void stop_reading() {
    const CoreSection section(machine_.core);
    stream_->hold();
  }
  std::vector<PathRecord> paths;
  std::vector<PathEnd> ends;
  std::string trouble;

 private:
  static std::unique_ptr<fc2::NPort> make_port(Machine& machine, unsigned number) {
    fc2::NPortConfig config;
    config.port_name = {0x3000'0000'0000'0000U + (static_cast<std::uint64_t>(::getpid()) << 16) + number};
    config.node_name = {0x3100'0000'0000'0000U + number};
    return std::make_unique<fc2::NPort>(machine.core.scheduler(), machine.core.pool(), config);
  }
  void frame_received(fc2::FramePtr frame) override { port_->receive(std::move(frame)); }
  void record_received(RecordKind kind, std::span<const std::uint8_t> body) override {
    if (kind == RecordKind::Welcome) port_->link_up(*stream_);
    if (kind == RecordKind::PathEnd) ends.push_back(*PathEnd::parse(body));
    if (kind != RecordKind::Path) return;
    paths.push_back(*PathRecord::parse(body));
    EXPECT_EQ(stream_->take_files().size(), fc2::drivers::files_of_a_path);
  }
  void stream_closed(const std::string& reason) override { trouble = reason; }

  Machine& machine_;
  std::unique_ptr<fc2::NPort> port_;
  std::shared_ptr<FrameStream> stream_;
};

class ServicePathsTest : public LocalFabricTest {
 public:
  void SetUp() override { start_with("--idle-seconds 60"); }
  void start_with(const std::string& arguments) {
    ASSERT_TRUE(start_service(arguments));
    a.emplace(machine, 1);
    b.emplace(machine, 2);
    ASSERT_TRUE(a->ready() && b->ready());
  }
  /// Both have heard of so many paths.
  bool have_paths(std::size_t count) {
    return machine.run_until([&] { return a->paths.size() == count && b->paths.size() == count; });
  }
  /// What was asked before has been answered: the service answers in order.
  void settle() {
    machine.run_until([] { return false; }, 50ms);
  }
  long status_of(const std::string& key) {
    EXPECT_EQ(command("status --json"), 0);
    const auto at = output.find("\"" + key + "\":");
    EXPECT_NE(at, std::string::npos) << output;
    return std::strtol(output.c_str() + at + key.size() + 3, nullptr, 10);
  }
  static std::size_t open_files(pid_t pid) {
    const std::filesystem::directory_iterator files("/proc/" + std::to_string(pid) + "/fd");
    return static_cast<std::size_t>(std::distance(begin(files), end(files)));
  }
  Machine machine;
  std::optional<Client> a, b;
};

// Whoever asks, and however often: one path, of which both ends hear.
TEST_F(ServicePathsTest, two_ports_have_one_path) {
  for (int i = 0; i < 100; ++i) {
    a->ask_for(*b);
    b->ask_for(*a);
  }
  ASSERT_TRUE(have_paths(1));
  settle();
  ASSERT_TRUE(have_paths(1));
  EXPECT_EQ(a->paths[0].number, b->paths[0].number);
  EXPECT_NE(a->paths[0].side, b->paths[0].side);
  EXPECT_EQ(a->paths[0].peer, b->id());
  EXPECT_EQ(status_of("paths"), 1);
}

// The next path comes when both have let go of the last: no far end can be made to map more and more.
TEST_F(ServicePathsTest, next_path_waits_until_both_have_released_the_last) {
  a->ask_for(*b);
  ASSERT_TRUE(have_paths(1));
  a->say(PathEnd::Cause::Refused);
  ASSERT_TRUE(machine.run_until([&] { return a->ends.size() == 1 && b->ends.size() == 1; }));
  EXPECT_EQ(b->ends[0].cause, PathEnd::Cause::Service);
  EXPECT_EQ(b->ends[0].number, b->paths[0].number);
  a->ask_for(*b);
  a->say(PathEnd::Cause::Released);
  a->ask_for(*b);
  settle();
  EXPECT_TRUE(have_paths(1));
  b->say(PathEnd::Cause::Released);
  settle();
  b->ask_for(*a);  // in vain, since the last was refused
  b->ask_for(*a);
  EXPECT_TRUE(have_paths(2));
  EXPECT_NE(a->paths[1].number, a->paths[0].number);
}

// Ends that refuse one path after the other ask in vain more and more often: they keep nobody busy.
TEST_F(ServicePathsTest, ends_that_refuse_again_and_again_get_fewer_and_fewer) {
  a->ask_for(*b);
  for (std::size_t i = 1; i <= 5; ++i) {
    ASSERT_TRUE(have_paths(i));
    a->say(PathEnd::Cause::Refused);
    a->say(PathEnd::Cause::Released);
    ASSERT_TRUE(machine.run_until([&] { return b->ends.size() == i; }));
    b->say(PathEnd::Cause::Released);
    settle();
    for (std::size_t request = 1; request < std::size_t{1} << i; ++request) a->ask_for(*b);
    settle();
    EXPECT_TRUE(have_paths(i));
    a->ask_for(*b);
  }
}

// FC-LS LOGO: with the login end its paths, at both ends; with the next login the ports may have another.
TEST_F(ServicePathsTest, path_ends_with_the_login) {
  a->ask_for(*b);
  ASSERT_TRUE(have_paths(1));
  a->log_out();
  ASSERT_TRUE(machine.run_until([&] { return a->ends.size() == 1 && b->ends.size() == 1; }));
  EXPECT_EQ(a->ends[0].cause, PathEnd::Cause::PeerGone);
  EXPECT_EQ(b->ends[0].cause, PathEnd::Cause::PeerGone);
  EXPECT_EQ(b->ends[0].number, b->paths[0].number);
  EXPECT_EQ(a->trouble + b->trouble, "");
  EXPECT_EQ(status_of("paths"), 0);
}

// As many pairs at once as --max-paths says: the next hears of none, is counted, and gets one when another has gone.
class FewPathsTest : public ServicePathsTest {
 public:
  void SetUp() override { start_with("--idle-seconds 60 --max-paths 1"); }
};
TEST_F(FewPathsTest, no_more_than_there_may_be) {
  Client third(machine, 3);
  ASSERT_TRUE(third.ready());
  a->ask_for(*b);
  ASSERT_TRUE(have_paths(1));
  third.ask_for(*a);
  third.ask_for(*b);
  settle();
  EXPECT_TRUE(have_paths(1));
  EXPECT_TRUE(third.paths.empty());
  EXPECT_EQ(status_of("paths"), 1);
  EXPECT_EQ(status_of("paths_refused"), 2);
  b->log_out();
  ASSERT_TRUE(machine.run_until([&] { return a->ends.size() == 1; }));
  third.ask_for(*a);
  EXPECT_TRUE(machine.run_until([&] { return third.paths.size() == 1 && a->paths.size() == 2; }));
  EXPECT_EQ(status_of("paths"), 1);
  EXPECT_EQ(status_of("paths_refused"), 2);
}

// One that does not read what it is told, and others that make and lose paths to it: the service keeps few files open.
TEST_F(ServicePathsTest, client_that_does_not_read_holds_few_open_files) {
  const pid_t pid = service();
  b->stop_reading();
  const std::size_t before = open_files(pid);
  for (unsigned i = 0; i < 600; ++i) {
    Client other(machine, 10);
    ASSERT_TRUE(other.ready());
    other.ask_for(*b);
    const auto heard = [&] { return !other.paths.empty(); };
    if (!machine.run_until(heard, 20ms) && open_files(pid) > before + 3) break;  // refused: as many as there may be
    ASSERT_LT(open_files(pid), before + 80) << i;
  }
  settle();
  EXPECT_LT(open_files(pid), before + 60);
  EXPECT_EQ(service(), pid);
  a->ask_for(*b);  // and others live
  Client third(machine, 3);
  ASSERT_TRUE(third.ready());
  a->ask_for(third);
  EXPECT_TRUE(machine.run_until([&] { return !third.paths.empty(); }));
}

}  // namespace
}  // namespace support
