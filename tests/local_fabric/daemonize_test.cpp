// fcvi-fabricd --daemonize: who started it goes on when it serves, or hears why it does not.
#include <netinet/in.h>
#include <pty.h>
#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "fc2_fabric/drivers/fabric_service.hpp"
#include "tests/local_fabric/fixture.hpp"

namespace support {
namespace {

class DaemonizeTest : public LocalFabricTest {
 public:
  static bool serves() {
    std::string error;
    const int descriptor = fc2::drivers::connect_to_service(*fc2::drivers::RuntimeDirectory::open({}, error));
    if (descriptor >= 0) ::close(descriptor);
    return descriptor >= 0;
  }
  /// UDP ports that nobody had just now.
  static std::array<std::string, 4> free_ports() {
    std::array<std::string, 4> ports;
    std::array<int, 4> sockets{};
    for (std::size_t i = 0; i < ports.size(); ++i) {
      sockets[i] = ::socket(AF_INET, SOCK_DGRAM, 0);
      sockaddr_in address{};
      address.sin_family = AF_INET;
      address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
      socklen_t size = sizeof address;
      void* generic = &address;
      EXPECT_EQ(::bind(sockets[i], static_cast<sockaddr*>(generic), size), 0);
      EXPECT_EQ(::getsockname(sockets[i], static_cast<sockaddr*>(generic), &size), 0);
      ports[i] = std::to_string(ntohs(address.sin_port));
    }
    for (const int one : sockets) ::close(one);
    return ports;
  }
};

// A script's next line may use it.
TEST_F(DaemonizeTest, started_serves_at_once) {
  for (int i = 0; i < 20; ++i) {
    ASSERT_EQ(command("--daemonize"), 0) << output;
    ASSERT_TRUE(serves()) << i;
    EXPECT_EQ(output, "");
    ASSERT_EQ(command("status"), 0) << output;
    ASSERT_EQ(command("stop"), 0);
  }
}

TEST_F(DaemonizeTest, started_again_while_it_serves_is_no_fault) {
  ASSERT_EQ(command("--daemonize"), 0);
  EXPECT_EQ(command("--daemonize"), 0) << output;
  EXPECT_EQ(output, "");
}

// The service outlives the terminal of who started it, and no key of that reaches it. It stays in the session: Linux
// shares processors among sessions, and one of its own may wait long beside a busy one.
TEST_F(DaemonizeTest, service_leaves_the_terminal_and_stays_in_the_session) {
  int terminal = -1;
  const pid_t starter = ::forkpty(&terminal, nullptr, nullptr, nullptr);
  if (starter < 0) GTEST_SKIP() << "no pseudo-terminal can be had: " << std::strerror(errno);
  if (starter == 0) {
    ::execl(FCVI_FABRICD_PROGRAM, FCVI_FABRICD_PROGRAM, "--daemonize", nullptr);
    ::_exit(127);
  }
  ASSERT_TRUE(eventually([&] { return serves(); }));
  ASSERT_EQ(command("status"), 0) << output;
  const std::size_t at = output.find("process ");
  ASSERT_NE(at, std::string::npos) << output;
  const pid_t service = std::stoi(output.substr(at + 8));
  EXPECT_EQ(::getsid(service), starter);  // a session's number is its first process
  EXPECT_EQ(::getpgid(service), service);
  std::ifstream stat("/proc/" + std::to_string(service) + "/stat");
  std::string name, state;
  long number = 0, parent = 0, group = 0, session = 0, terminal_number = -1;
  stat >> number >> name >> state >> parent >> group >> session >> terminal_number;
  EXPECT_EQ(terminal_number, 0);
  ::close(terminal);
  EXPECT_EQ(::waitpid(starter, nullptr, 0), starter);
  EXPECT_TRUE(serves());
}

TEST_F(DaemonizeTest, no_socket_is_told) {
  std::filesystem::create_directories(path("fabricd.sock") + "/full");
  EXPECT_EQ(command("--daemonize"), 1);
  EXPECT_NE(output.find("fabricd.sock: cannot remove what was left behind"), std::string::npos) << output;
}

TEST_F(DaemonizeTest, no_interface_is_told) {
  EXPECT_EQ(command("--daemonize --fcoe nosuch0"), 1);
  EXPECT_NE(output.find("nosuch0"), std::string::npos) << output;
  EXPECT_FALSE(serves());
}

// Any fabric will do for programs of this host, but whoever wants an FCF must know that there is none.
TEST_F(DaemonizeTest, second_fcf_is_told) {
  const auto ports = free_ports();
  ASSERT_EQ(command("--daemonize --fcoe udp:" + ports[0] + ":" + ports[1]), 0) << output;
  EXPECT_EQ(command("--daemonize --fcoe udp:" + ports[2] + ":" + ports[3]), 1);
  EXPECT_NE(output.find("another fcvi-fabricd holds it"), std::string::npos) << output;
}

}  // namespace
}  // namespace support
