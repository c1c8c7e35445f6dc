// Paths between two processes: made when they talk, ended when somebody wants to see the frames or an end goes, and no
// message is lost, doubled or overtaken by a change of the way.
#include <sys/resource.h>

#include <set>

#include "fc2_fabric/drivers/crossbar.hpp"
#include "tests/local_fabric/raw_node.hpp"
#include "tests/support/meeting.hpp"

namespace support {
namespace {

constexpr std::size_t data = 1u << 20;

class PathTest : public LocalFabricTest {
 public:
  void SetUp() override {
    ASSERT_TRUE(client.ready() && server.ready()) << client.trouble() << server.trouble();
    ASSERT_TRUE(meet(machine, client, client_vi, server, server_vi));
  }

  /// One message with content of its own, there, compared, and its receive.
  void exchange(std::uint32_t length) {
    const auto mark = static_cast<std::uint8_t>(++messages);
    std::memset(client.bytes(data), mark, length);
    std::memset(server.bytes(data), 0, length);
    std::uint64_t receive = 0, send = 0;
    {
      const CoreSection section(machine.core);
      server_vi.post_receive(receive = server.descriptor(0, data, length), server.handle());
      client_vi.post_send(send = client.descriptor(0, data, length), client.handle());
    }
    ASSERT_TRUE(machine.run_until([&] { return server.is_done(receive) && client.is_done(send); }));
    EXPECT_EQ(server.status(receive) & vi::status::error_mask, 0U);
    EXPECT_TRUE(std::all_of(server.bytes(data), server.bytes(data) + length, [&](auto at) { return at == mark; }));
    std::uint64_t taken = 0;
    const CoreSection section(machine.core);
    server_vi.receive_done(taken);
    client_vi.send_done(taken);
  }
  /// Exchanges until both ends send by memory, or not.
  bool until_direct(bool direct) {
    return eventually([&] {
      exchange(64);
      machine.read_memory();
      return (client.direct_paths() == 1) == direct && (server.direct_paths() == 1) == direct;
    });
  }
  /// Exchanges for as long as the ports need to ask for a path, once or twice.
  void exchange_while_asked_for() {
    machine.run_until(
        [&] {
          exchange(64);
          return false;
        },
        std::chrono::milliseconds(fc2::drivers::Crossbar::ask_again * 5 / 4 / runtime::millisecond));
  }
  /// What the ports got when they connected; the next is asked for when `ask_again` is over.
  void end_first_path() {
    ASSERT_TRUE(until_direct(true));
    Child capturing([&] { return capture(path("before.pcapng")); });
    ASSERT_TRUE(until_direct(false));
    capturing.kill(SIGINT);
    EXPECT_EQ(capturing.wait(), 0);
  }
  /// A process may have no more open files than it has, and `spare`.
  static void limit_files(pid_t pid, rlim_t spare) {
    std::set<rlim_t> used;
    std::error_code gone;
    for (const auto& file : std::filesystem::directory_iterator("/proc/" + std::to_string(pid) + "/fd"))
      if (!std::filesystem::read_symlink(file.path(), gone).string().starts_with("/proc/"))  // of this loop itself
        used.insert(std::stoul(file.path().filename()));
    rlim_t next = 0;
    for (rlim_t free = spare; used.contains(next) || free > 0; ++next) free -= used.contains(next) ? 0 : 1;
    rlimit limit{};
    ASSERT_EQ(::prlimit(pid, RLIMIT_NOFILE, nullptr, &limit), 0);
    limit.rlim_cur = std::min(next, limit.rlim_max);
    ASSERT_EQ(::prlimit(pid, RLIMIT_NOFILE, &limit, nullptr), 0);
  }
  int capture(const std::string& file) {
    return ::execl(FCVI_FABRICD_PROGRAM, "fcvi-fabricd", "capture", file.c_str(), nullptr);
  }
  /// By the service, so far.
  long frames_forwarded() {
    EXPECT_EQ(command("status --json"), 0);
    const std::string key = "\"frames_forwarded\":";
    const auto at = output.find(key);
    EXPECT_NE(at, std::string::npos) << output;
    return std::strtol(output.c_str() + at + key.size(), nullptr, 10);
  }

  int messages = 0;
  Machine machine;
  RawNode client{machine, 2}, server{machine, 1};
  vi::Vi& client_vi = client.make_vi(vi::ReliabilityLevel::ReliableReception);
  vi::Vi& server_vi = server.make_vi(vi::ReliabilityLevel::ReliableReception);
};

// Two ports that talk: soon the service sees none of their frames, of any length (but what was still on its way).
TEST_F(PathTest, talking_ports_get_a_path) {
  ASSERT_TRUE(until_direct(true));
  const long before = frames_forwarded();
  for (const std::uint32_t length : {0U, 1U, 8U, 2000U, 2048U, 65536U, 1000000U}) exchange(length);
  EXPECT_LE(frames_forwarded() - before, 4);  // of 600
}

// A capture begins: frames go by the service, and the path comes back when it has ended.
TEST_F(PathTest, capture_takes_the_path_and_gives_it_back) {
  ASSERT_TRUE(until_direct(true));
  const std::string file = path("live.pcapng");
  Child capturing([&] { return capture(file); });
  ASSERT_TRUE(until_direct(false));
  for (int i = 0; i < 20; ++i) exchange(5000);
  EXPECT_EQ(client.direct_paths(), 0U);
  capturing.kill(SIGINT);
  EXPECT_EQ(capturing.wait(), 0);
  EXPECT_GT(std::filesystem::file_size(file), 20U * 5000);
  EXPECT_TRUE(until_direct(true));
}

// The way changes again and again in the midst of messages, each of which must arrive whole and once.
TEST_F(PathTest, messages_pass_all_changes_of_the_way) {
  ASSERT_TRUE(until_direct(true));
  for (int round = 0; round < 3; ++round) {
    Child capturing([&] { return capture(path("round.pcapng")); });
    for (int i = 0; i < 100; ++i) exchange(static_cast<std::uint32_t>(1 + i * 997));
    ASSERT_TRUE(until_direct(false));
    capturing.kill(SIGINT);
    EXPECT_EQ(capturing.wait(), 0);
    ASSERT_TRUE(until_direct(true));
  }
  EXPECT_EQ(client.connections_lost + server.connections_lost, 0);
}

// The service can open no more files, whichever of a path's is the first that it lacks: the ports go on by way of it,
// their links live, and the path comes when there are files again.
TEST_F(PathTest, service_without_open_files_refuses_the_path) {
  const pid_t pid = service();
  ASSERT_GT(pid, 0);
  end_first_path();
  for (const rlim_t spare : {0, 1, 2, 4, 6}) {
    limit_files(pid, spare);
    exchange_while_asked_for();
    EXPECT_EQ(client.direct_paths() + server.direct_paths(), 0U) << spare;
  }
  limit_files(pid, 1000);
  EXPECT_TRUE(until_direct(true));
  using fc2::drivers::LinkState;
  EXPECT_EQ(client.link_states, std::vector{LinkState::Up});
  EXPECT_EQ(server.link_states, std::vector{LinkState::Up});
  EXPECT_EQ(command("status --json"), 0);
  EXPECT_EQ(output.find("\"paths_refused\":0"), std::string::npos) << output;
}

// The same of the ports' own process.
TEST_F(PathTest, process_without_open_files_refuses_the_path) {
  end_first_path();
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &before), 0);
  limit_files(::getpid(), 0);
  exchange_while_asked_for();
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &before), 0);
  EXPECT_EQ(client.direct_paths() + server.direct_paths(), 0U);
  EXPECT_TRUE(until_direct(true));
  EXPECT_EQ(client.connections_lost + server.connections_lost, 0);
  EXPECT_EQ(client.link_states, std::vector{fc2::drivers::LinkState::Up});
}

// A node logs out of the fabric (FC-LS LOGO) and its link stays: its paths end at both sides.
TEST_F(PathTest, path_ends_with_the_login) {
  ASSERT_TRUE(until_direct(true));
  {
    const CoreSection section(machine.core);
    client.port.log_out_of_fabric();
  }
  EXPECT_TRUE(machine.run_until([&] { return client.direct_paths() + server.direct_paths() == 0; }));
}

}  // namespace
}  // namespace support
