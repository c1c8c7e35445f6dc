// vipl/devices/own_port.hpp: a port that no other process shares, over emulated hosts.
#include "vipl/devices/own_port.hpp"

#include <gmock/gmock.h>

#include "tests/streams/worlds.hpp"

namespace vipl {
namespace {
using ::testing::HasSubstr;
using ::testing::StartsWith;

struct User final : TcpPortUser {
  void stream_came(std::unique_ptr<streams::Stream>) override { ADD_FAILURE() << "nobody has looked at any"; }
  void stream_accepted(std::unique_ptr<streams::Stream> stream) override { accepted.push_back(std::move(stream)); }
  void port_changed() override { ADD_FAILURE() << "it never changes"; }
  std::vector<std::unique_ptr<streams::Stream>> accepted;
};

struct Caller final : streams::StreamUser {
  void connected() override { is_connected = true; }
  void readable() override {}
  void writable() override {}
  void closed(streams::Reason reason) override { why = reason; }
  bool is_connected = false;
  std::optional<streams::Reason> why;
};

class OwnPortTest : public ::testing::Test {
 protected:
  std::unique_ptr<streams::Stream> call(Caller& caller, const wire::IpAddress& ip) {
    auto stream = world.client.connect({ip, 8474}, {}, caller);
    world.settle();
    return stream;
  }
  streams::test::EmulatedWorld world;
  User user;
  const wire::IpAddress v4 = streams::test::server_ip, v6 = streams::test::ip("fd00::2");
};

TEST_F(OwnPortTest, listens_at_each_address) {
  OwnPort port(world.server, {{v4, 8474}, {v6, 8474}}, user);
  EXPECT_TRUE(port.listens());
  EXPECT_EQ(port.failure() + port.trouble(), "");
  Caller one, other;
  const auto first = call(one, v4), second = call(other, v6);
  EXPECT_TRUE(one.is_connected && other.is_connected);
  EXPECT_EQ(user.accepted.size(), 2u);
}

TEST_F(OwnPortTest, no_address_is_no_failure_and_nobody_can_connect) {
  OwnPort port(world.server, {}, user);
  EXPECT_TRUE(port.listens());
  Caller caller;
  const auto stream = call(caller, v4);
  EXPECT_EQ(caller.why, streams::Reason::refused);
}

// Where one cannot be had, it listens at none.
TEST_F(OwnPortTest, port_that_another_has_is_a_failure_with_advice) {
  User other;
  OwnPort taken(world.server, {{v6, 8474}}, other);
  OwnPort port(world.server, {{v4, 8474}, {v6, 8474}}, user);
  EXPECT_FALSE(port.listens());
  EXPECT_THAT(port.failure(), StartsWith("cannot listen at [fd00::2]:8474: address in use"));
  EXPECT_THAT(port.failure(), HasSubstr("listen: shared"));
  Caller caller;
  const auto stream = call(caller, v4);
  EXPECT_EQ(caller.why, streams::Reason::refused);
}

TEST_F(OwnPortTest, address_of_another_host_is_a_failure) {
  OwnPort port(world.server, {{world.foreign_ip, 8474}}, user);
  EXPECT_FALSE(port.listens());
  EXPECT_THAT(port.failure(), HasSubstr("no interface of this host has that address"));
}

}  // namespace
}  // namespace vipl
