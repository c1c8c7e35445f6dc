// fcvi-fabricd: how it starts, once however many want it; what it refuses; how it ends; what its commands say.
#include <fcntl.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include <fstream>
#include <random>

#include "fc2_fabric/drivers/link_records.hpp"
#include "tests/local_fabric/raw_node.hpp"

namespace support {
namespace {
using fc2::drivers::Hello;
using fc2::drivers::LinkState;
using fc2::drivers::RecordKind;
using fc2::drivers::RuntimeDirectory;

class ServiceTest : public LocalFabricTest {
 public:
  static int try_to_connect() {
    std::string error;
    return fc2::drivers::connect_to_service(*RuntimeDirectory::open({}, error));
  }
  /// A blocking connection to the service, which may have as many waiting as it can (EAGAIN).
  int connect_raw() {
    int descriptor = -1;
    EXPECT_TRUE(eventually([&] { return (descriptor = try_to_connect()) >= 0 || errno != EAGAIN; }));
    EXPECT_GE(descriptor, 0) << std::strerror(errno);
    ::fcntl(descriptor, F_SETFL, 0);
    return descriptor;
  }
  /// Everything up to the end of the connection.
  static std::string read_all(int descriptor) {
    std::string text;
    char part[4096];
    for (ssize_t count; (count = ::recv(descriptor, part, sizeof part, 0)) > 0;)
      text.append(part, static_cast<std::size_t>(count));
    ::close(descriptor);
    return text;
  }
  static std::vector<std::uint8_t> record(RecordKind kind, const std::vector<std::uint8_t>& body) {
    std::vector<std::uint8_t> bytes{static_cast<std::uint8_t>(kind),       0, 0, 0, 0, 0, 0,
                                    static_cast<std::uint8_t>(body.size())};
    bytes.insert(bytes.end(), body.begin(), body.end());
    return bytes;
  }
  std::string answer_to(const std::vector<std::uint8_t>& bytes) {
    const int descriptor = connect_raw();
    EXPECT_EQ(::send(descriptor, bytes.data(), bytes.size(), MSG_NOSIGNAL), static_cast<ssize_t>(bytes.size()));
    return read_all(descriptor);
  }
  /// A node that cannot get a link: what it is told.
  std::string unreachable_reason(fc2::drivers::LocalFabricOptions options = {}) {
    options.connect_limit = 300 * runtime::millisecond;
    Machine machine;
    RawNode node(machine, 1, options);
    EXPECT_TRUE(machine.run_until([&] { return !node.link_states.empty(); }));
    EXPECT_EQ(node.link_states, std::vector{LinkState::Unreachable});
    return node.last_reason;
  }
};

// --- start

// Twenty processes at once find nobody: one service comes of it, and each gets its link.
TEST_F(ServiceTest, nobody_listens_twenty_start_at_once) {
  std::vector<std::unique_ptr<Child>> children;
  for (unsigned i = 1; i <= 20; ++i)
    children.push_back(std::make_unique<Child>([i] {
      Machine machine;
      RawNode node(machine, i);
      if (!node.ready()) return 1;
      machine.run_until([] { return false; }, 300ms);
      return node.link_states == std::vector{LinkState::Up} ? 0 : 2;
    }));
  for (auto& child : children) EXPECT_EQ(child->wait(), 0);
  std::ifstream log(path("fabricd.log"));
  const std::string text{std::istreambuf_iterator<char>(log), {}};
  std::size_t starts = 0;
  for (std::size_t at = 0; (at = text.find(" serves ", at)) != std::string::npos; ++at) ++starts;
  EXPECT_EQ(starts, 1U) << text;
}

// A socket, a lock file and a pid that somebody left behind need no cleaning.
TEST_F(ServiceTest, stale_files_are_taken_over) {
  ASSERT_TRUE(start_service());
  kill_service(SIGKILL);
  ASSERT_TRUE(eventually([&] { return service() == 0; }));
  ASSERT_TRUE(std::filesystem::exists(path("fabricd.sock")));
  ASSERT_TRUE(std::filesystem::exists(path("fabricd.lock")));
  Machine machine;
  RawNode node(machine, 1);
  EXPECT_TRUE(node.ready()) << node.trouble();
}

// The program that starts the service is not disturbed: no SIGCHLD, no child to wait for, and none left as a zombie.
int signals_seen = 0;
TEST_F(ServiceTest, start_leaves_no_trace_in_the_program) {
  Child program([] {
    ::signal(SIGCHLD, [](int) { ++signals_seen; });
    Machine machine;
    RawNode node(machine, 1);
    if (!node.ready()) return 1;
    machine.run_until([] { return false; }, 300ms);
    if (signals_seen != 0) return 2;
    if (::waitpid(-1, nullptr, WNOHANG) != -1 || errno != ECHILD) return 3;
    return ::waitpid(-1, nullptr, WNOHANG | __WALL) == -1 && errno == ECHILD ? 0 : 4;
  });
  EXPECT_EQ(program.wait(), 0);
}

// The service keeps none of its starter's descriptors, stays in no directory of it, and belongs to no terminal.
TEST_F(ServiceTest, service_is_detached_from_its_starter) {
  int pipe_ends[2];
  ASSERT_EQ(::pipe(pipe_ends), 0);
  {
    Machine machine;
    RawNode node(machine, 1);
    ASSERT_TRUE(node.ready()) << node.trouble();
  }
  const pid_t pid = service();
  const std::string proc = "/proc/" + std::to_string(pid);
  EXPECT_EQ(std::filesystem::read_symlink(proc + "/cwd"), "/");
  EXPECT_EQ(std::filesystem::read_symlink(proc + "/fd/0"), "/dev/null");
  EXPECT_EQ(::getsid(pid), ::getsid(0));  // see DaemonizeTest.service_leaves_the_terminal_and_stays_in_the_session
  EXPECT_NE(::getpgid(pid), ::getpgid(0));
  ::close(pipe_ends[1]);
  ::fcntl(pipe_ends[0], F_SETFL, O_NONBLOCK);
  char byte;
  EXPECT_EQ(::read(pipe_ends[0], &byte, 1), 0);  // end of file: nobody else has the other end
  ::close(pipe_ends[0]);
}

TEST_F(ServiceTest, program_missing_is_told) {
  fc2::drivers::LocalFabricOptions options;
  options.service_program = "/nowhere/fcvi-fabricd";
  EXPECT_EQ(unreachable_reason(options).find("/nowhere/fcvi-fabricd: cannot be started: No such file"), 0U);
}

TEST_F(ServiceTest, start_not_wanted_is_told) {
  fc2::drivers::LocalFabricOptions options;
  options.start_service = false;
  EXPECT_NE(unreachable_reason(options).find("fabricd.sock: No such file"), std::string::npos);
}

// --- the runtime directory

TEST_F(ServiceTest, directory_open_to_others_is_refused) {
  ASSERT_EQ(::chmod(directory_path.c_str(), 0750), 0);
  EXPECT_NE(unreachable_reason().find("is open to others; expected mode 0700"), std::string::npos);
  EXPECT_EQ(command("--idle-seconds 1"), 2);
  ::chmod(directory_path.c_str(), 0700);
}

TEST_F(ServiceTest, directory_of_another_user_is_refused) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can give a directory away";
  ASSERT_EQ(::chown(directory_path.c_str(), 65534, 65534), 0);
  EXPECT_NE(unreachable_reason().find("belongs to user 65534, not to user 0"), std::string::npos);
  ASSERT_EQ(::chown(directory_path.c_str(), 0, 0), 0);
}

TEST_F(ServiceTest, directory_that_is_a_link_is_refused) {
  std::filesystem::create_directory_symlink(directory_path, path("link"));
  fc2::drivers::LocalFabricOptions options;
  options.runtime_directory = path("link");
  EXPECT_NE(unreachable_reason(options).find("symbolic links are not followed"), std::string::npos);
}

TEST_F(ServiceTest, directory_with_long_name_is_refused) {
  fc2::drivers::LocalFabricOptions options;
  options.runtime_directory = path(std::string(120, 'x'));
  EXPECT_NE(unreachable_reason(options).find("is too long for a socket's path"), std::string::npos);
}

TEST_F(ServiceTest, directory_missing_is_made) {
  ::setenv("FCVI_RUNTIME_DIR", path("new").c_str(), 1);
  ASSERT_TRUE(start_service());
  EXPECT_EQ(std::filesystem::status(path("new")).permissions(), std::filesystem::perms::owner_all);
  EXPECT_EQ(command("stop"), 0);
}

// --- the end

TEST_F(ServiceTest, idle_service_ends) {
  Child service([] { return ::execl(FCVI_FABRICD_PROGRAM, "fcvi-fabricd", "--idle-seconds", "1", nullptr); });
  ASSERT_TRUE(eventually([&] { return service.has_ended(); }));
  EXPECT_EQ(service.wait(), 0);
  EXPECT_FALSE(std::filesystem::exists(path("fabricd.sock")));
}

// As long as there is a link it stays; then it ends, and the next link starts another.
TEST_F(ServiceTest, linked_service_stays) {
  fc2::drivers::LocalFabricOptions options;
  options.service_idle_seconds = 1;
  Machine machine;
  pid_t first;
  {
    RawNode node(machine, 1, options);
    ASSERT_TRUE(node.ready());
    first = service();
    machine.run_until([] { return false; }, 1500ms);
    EXPECT_EQ(service(), first);
    EXPECT_EQ(node.link_states, std::vector{LinkState::Up});
  }
  ASSERT_TRUE(eventually([&] { return ::kill(first, 0) != 0; }));
  RawNode node(machine, 2, options);
  EXPECT_TRUE(node.ready()) << node.trouble();
}

// Clients come just as it ends, over and over: each gets its link in the end.
TEST_F(ServiceTest, service_that_ends_is_replaced_for_those_who_come) {
  Machine machine;
  for (int i = 0; i < 20; ++i) {
    ASSERT_TRUE(start_service());
    kill_service(SIGTERM);
    RawNode node(machine, 1);
    ASSERT_TRUE(machine.run_until([&] { return node.up(); })) << node.trouble();
  }
}

TEST_F(ServiceTest, stop_ends_it_and_succeeds_without_one) {
  ASSERT_TRUE(start_service());
  const pid_t pid = service();
  EXPECT_EQ(command("stop"), 0) << output;
  EXPECT_TRUE(eventually([&] { return ::kill(pid, 0) != 0; }));
  EXPECT_EQ(command("stop"), 0);
  EXPECT_EQ(command("status"), 1);
  EXPECT_NE(output.find("no fcvi-fabricd runs for"), std::string::npos);
}

TEST_F(ServiceTest, second_one_by_hand_is_refused) {
  ASSERT_TRUE(start_service());
  EXPECT_EQ(command(""), 1);
  EXPECT_NE(output.find("another fcvi-fabricd holds it"), std::string::npos);
  EXPECT_EQ(command("--daemonize"), 0);  // who starts it on demand does not care who came first
}

// --- commands

TEST_F(ServiceTest, status_shows_ports) {
  Machine machine;
  RawNode node(machine, 1);
  ASSERT_TRUE(node.ready());
  std::string text;
  Child asker([&] { return command("status") == 0 ? 0 : 1; });
  EXPECT_EQ(asker.wait(), 0);
  ASSERT_EQ(command("status"), 0);
  EXPECT_NE(output.find(std::to_string(::getpid())), std::string::npos) << output;
  EXPECT_NE(output.find("local_fabric_te"), std::string::npos) << output;
  EXPECT_NE(output.find("fdfc:7669::1"), std::string::npos) << output;
  EXPECT_NE(output.find(to_string(node.port.n_port_id())), std::string::npos) << output;
}

// A service that has not come to its waiting connections for long: a command waits too, and is answered.
TEST_F(ServiceTest, command_to_a_busy_service_waits) {
  ASSERT_TRUE(start_service());
  const pid_t pid = service();
  kill_service(SIGSTOP);
  std::vector<int> waiting;
  for (int descriptor; (descriptor = try_to_connect()) >= 0;) waiting.push_back(descriptor);
  EXPECT_EQ(errno, EAGAIN);
  Child asker([&] { return command("status"); });
  ::usleep(100'000);  // so that it finds no room; where it comes later the test proves less, but holds
  for (const int descriptor : waiting) ::close(descriptor);
  ::kill(pid, SIGCONT);
  EXPECT_EQ(asker.wait(), 0);
  EXPECT_EQ(service(), pid);
}

TEST_F(ServiceTest, bad_arguments_are_refused) {
  EXPECT_EQ(command("--idle-seconds -1"), 2);
  EXPECT_EQ(command("nonsense"), 2);
  EXPECT_EQ(command("capture"), 2);
  EXPECT_EQ(command("--help"), 0);
}

// A capture holds what passed while it ran, from the first block on.
TEST_F(ServiceTest, capture_writes_frames) {
  ASSERT_TRUE(start_service());
  const std::string file = path("capture.pcapng");
  Child capture([&] { return ::execl(FCVI_FABRICD_PROGRAM, "fcvi-fabricd", "capture", file.c_str(), nullptr); });
  std::ifstream log;
  ASSERT_TRUE(eventually([&] {
    std::ifstream opened(path("fabricd.log"));
    return std::string(std::istreambuf_iterator<char>(opened), {}).find("a capture begins") != std::string::npos;
  }));
  {
    Machine machine;
    RawNode node(machine, 1);
    ASSERT_TRUE(node.ready());
  }
  capture.kill(SIGINT);
  EXPECT_EQ(capture.wait(), 0);
  std::ifstream opened(file, std::ios::binary);
  const std::string bytes{std::istreambuf_iterator<char>(opened), {}};
  ASSERT_GT(bytes.size(), 1000U);
  EXPECT_EQ(bytes.substr(0, 4), "\x0A\x0D\x0D\x0A");
  EXPECT_NE(bytes.find("(process "), std::string::npos);  // the interface's name
}

// --- hostile clients

TEST_F(ServiceTest, other_version_is_refused_with_a_reason) {
  ASSERT_TRUE(start_service());
  Hello hello;
  hello.version = 77;
  const std::string answer = answer_to(record(RecordKind::Hello, hello.write()));
  EXPECT_EQ(answer.at(0), static_cast<char>(RecordKind::Refusal));
  EXPECT_NE(answer.find("speaks version 5 of the local fabric's protocol, the program version 77"), std::string::npos)
      << answer;
}

TEST_F(ServiceTest, first_record_that_is_no_hello_is_refused) {
  ASSERT_TRUE(start_service());
  EXPECT_NE(answer_to(record(RecordKind::Request, {'s'})).find("the first record must be a Hello"), std::string::npos);
  EXPECT_NE(answer_to(record(RecordKind::Hello, {1, 2, 3})).find("the first record must be a Hello"),
            std::string::npos);
}

TEST_F(ServiceTest, unknown_request_is_refused) {
  ASSERT_TRUE(start_service());
  Hello hello;
  hello.role = Hello::Role::Control;
  auto bytes = record(RecordKind::Hello, hello.write());
  const auto request = record(RecordKind::Request, {'n', 'o'});
  bytes.insert(bytes.end(), request.begin(), request.end());
  EXPECT_NE(answer_to(bytes).find("an unknown request"), std::string::npos);
}

// Chance bytes before and after a Hello, as port and as control connection: the service goes on.
TEST_F(ServiceTest, chance_bytes_do_not_end_the_service) {
  ASSERT_TRUE(start_service());
  const pid_t pid = service();
  std::mt19937 chance(3);
  for (int i = 0; i < 300; ++i) {
    std::vector<std::uint8_t> bytes;
    if (i % 3 != 0) {
      Hello hello;
      hello.role = i % 3 == 1 ? Hello::Role::Port : Hello::Role::Control;
      bytes = record(RecordKind::Hello, hello.write());
    }
    for (int frames = 0; frames < 20; ++frames) {  // headers that pass, contents of chance
      const std::size_t size = 24 + 4 * (chance() % 60);
      bytes.insert(bytes.end(),
                   {4, 0x2E, 0x42, 0, 0, 0, static_cast<std::uint8_t>(size >> 8), static_cast<std::uint8_t>(size)});
      for (std::size_t k = 0; k < size; ++k) bytes.push_back(static_cast<std::uint8_t>(chance()));
      // Some to the fabric's own addresses, so that they get further.
      if (chance() % 2 == 0) {
        std::uint8_t* header = &bytes[bytes.size() - size];
        header[0] = 0x22;
        header[1] = header[2] = 0xFF;
        header[3] = static_cast<std::uint8_t>(0xFC + chance() % 3);
        header[5] = header[6] = header[7] = 0;
        header[8] = 0x01;
        if (size > 24) header[24] = static_cast<std::uint8_t>(chance() % 8);
      }
    }
    const int descriptor = connect_raw();
    for (std::size_t sent = 0; sent < bytes.size();) {
      const ssize_t count = ::send(descriptor, bytes.data() + sent, bytes.size() - sent, MSG_NOSIGNAL);
      if (count <= 0) break;
      sent += static_cast<std::size_t>(count);
    }
    ::close(descriptor);
  }
  EXPECT_EQ(service(), pid);
  Machine machine;
  RawNode node(machine, 1);
  EXPECT_TRUE(node.ready()) << node.trouble();
}

// One who never says what he wants is sent away, and others are served meanwhile.
TEST_F(ServiceTest, silent_client_is_sent_away) {
  ASSERT_TRUE(start_service());
  const int silent = connect_raw();
  EXPECT_NE(service(), 0);
  EXPECT_NE(read_all(silent).find("no Hello came"), std::string::npos);
}

TEST_F(ServiceTest, too_many_ports_are_refused) {
  ASSERT_TRUE(start_service("--max-ports 1"));
  Machine machine;
  RawNode first(machine, 1);
  ASSERT_TRUE(first.ready());
  EXPECT_NE(unreachable_reason().find("every F_Port of the local fabric is taken, 1 at most"), std::string::npos);
}

}  // namespace
}  // namespace support
