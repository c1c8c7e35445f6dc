// The port belongs to somebody else: how often it is looked who that is.
#include "tools/vitcp_portd/listener.hpp"

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <chrono>
#include <filesystem>

#include "streams/drivers/listening_socket.hpp"
#include "vitcp/drivers/place.hpp"

namespace vitcp_portd {
namespace {

class ListenerTest : public testing::Test, public ListenerUser {
 public:
  ListenerTest() {
    std::string name = (std::filesystem::temp_directory_path() / "fcvi-test-XXXXXX").string();
    EXPECT_NE(::mkdtemp(name.data()), nullptr);
    folder = name;
  }
  ~ListenerTest() override { std::filesystem::remove_all(folder); }
  void listens() override { ++told; }
  void cannot_listen(const std::string& why) override {
    ++told;
    trouble = why;
  }
  void accepted(Descriptor, const wire::IpAddress&) override { ++streams; }
  [[nodiscard]] bool others_take() const override { return others; }

  /// Where another service of this user would be.
  [[nodiscard]] static Descriptor service_at(const std::string& path) {
    Descriptor socket(::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    path.copy(address.sun_path, sizeof address.sun_path - 1);
    const void* const generic = &address;
    EXPECT_EQ(::bind(socket.number(), static_cast<const sockaddr*>(generic), sizeof address), 0);
    EXPECT_EQ(::listen(socket.number(), 64), 0);
    return socket;
  }

  boost::asio::io_context io;
  runtime::drivers::RealTimeCore core{io};
  std::string folder, trouble;
  int told = 0, streams = 0;
  bool others = false;
};

// What comes while a process takes streams itself is left to it for a moment; and no longer when it ends to do so.
TEST_F(ListenerTest, what_others_take_is_left_to_them_for_a_moment) {
  std::string error;
  const auto directory = *runtime::drivers::RuntimeDirectory::open(folder, error);
  const auto socket = streams::drivers::listening_socket({wire::IpAddress::v4(127, 0, 0, 1), 0});
  ASSERT_TRUE(socket);
  const auto at = *streams::drivers::local_address_of(socket->number());
  std::optional<Listener> listener;
  {
    const runtime::CoreSection section(core);
    listener.emplace(core, at, directory, *this);
    ASSERT_TRUE(listener->offer(socket->duplicate()));
  }
  const auto connect = [&] {
    Descriptor stream(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    const auto to = streams::drivers::endpoint_of(at);
    EXPECT_EQ(::connect(stream.number(), to.data(), static_cast<socklen_t>(to.size())), 0);
    return stream;
  };
  others = true;
  const Descriptor one = connect();
  io.poll();
  EXPECT_EQ(streams, 0);
  io.run_for(std::chrono::milliseconds(200));
  EXPECT_EQ(streams, 1) << "nobody took it";
  const Descriptor other = connect();
  io.poll();
  EXPECT_EQ(streams, 1);
  others = false;
  {
    const runtime::CoreSection section(core);
    listener->hurry();
  }
  EXPECT_EQ(streams, 2);
  listener->close();
}

// Once for an answer that stays the same, and seldom after that: each look connects to the services of the user.
TEST_F(ListenerTest, who_has_the_port_is_looked_for_seldom) {
  std::string error;
  const auto directory = *runtime::drivers::RuntimeDirectory::open(folder, error);
  const auto holder = streams::drivers::listening_socket({wire::IpAddress::v4(127, 0, 0, 1), 0});
  ASSERT_TRUE(holder);
  const auto at = *streams::drivers::local_address_of(holder->number());
  const auto other = vitcp::drivers::port_place(directory, {wire::IpAddress::v4(127, 0, 0, 2), at.port});
  const Descriptor service = service_at(other.socket_path());
  std::optional<Listener> listener;
  {
    const runtime::CoreSection section(core);
    listener.emplace(core, at, directory, *this);
    listener->start();
  }
  io.run_for(std::chrono::milliseconds(2'600));  // ten attempts, or fewer
  int looks = 0;
  while (Descriptor(::accept4(service.number(), nullptr, nullptr, SOCK_CLOEXEC))) ++looks;
  EXPECT_GE(looks, 1);
  EXPECT_LE(looks, 4);
  EXPECT_EQ(told, 1) << trouble;
  EXPECT_NE(trouble.find("your own vitcp-portd has the port at 127.0.0.2"), std::string::npos) << trouble;
  listener->close();
}

TEST(SeldomLogTest, one_line_in_ten_seconds) {
  services::SeldomLog log;
  int lines = 0;
  for (runtime::TimeNs now = 0; now < 20 * runtime::second; now += 100 * runtime::millisecond)
    if (log.allows(now)) ++lines;
  EXPECT_EQ(lines, 2);
}

}  // namespace
}  // namespace vitcp_portd
