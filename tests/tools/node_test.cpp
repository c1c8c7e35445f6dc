// A host on a transport that is not Fibre Channel: what a second transport has to offer.
#include "tools/fcvi_sim/host/node.hpp"

#include <gtest/gtest.h>

#include "tests/vi/bench.hpp"
#include "tools/fcvi_sim/host/endpoint.hpp"

namespace sim {
namespace {

class MadeUp final : public HostTransport {
 public:
  /// Nobody is there.
  class Calls final : public vi::testing::FakeTransport {
   public:
    using FakeTransport::FakeTransport;
    void connect_request(vi::Vi&, const vi::NetAddress&, const vi::NetAddress&, vi::TimeNs,
                         vi::ConnectOperation& operation) override {
      operation.done(vi::Return::NotReachable);
    }
  };
  [[nodiscard]] const std::string& name() const override { return name_; }
  vi::Transport& transport() override { return calls_; }
  [[nodiscard]] const wire::IpAddress& address() const override { return address_; }
  void set_ready_listener(TransportListener& listener) override { listener_ = &listener; }
  [[nodiscard]] std::string_view ready_means() const override { return "plugged in"; }
  bool leave() override { return false; }
  [[nodiscard]] std::vector<Held> held() const override { return {{"cables", 2}}; }
  [[nodiscard]] Tally tally() const override { return {}; }
  [[nodiscard]] bool is_consistent() const override { return sound; }
  void plug_in() { listener_->transport_ready(); }

  vi::testing::Log log;
  bool sound = true;

 private:
  std::string name_ = "made up";
  wire::IpAddress address_ = wire::IpAddress::v4(10, 0, 0, 1);
  TransportListener* listener_ = nullptr;
  Calls calls_{log};
};

class NodeTest : public testing::Test {
 protected:
  runtime::Scheduler scheduler;
  Driver driver{scheduler};
  MadeUp transport;
  Node node{driver, transport, 0};
};

// A program that waits for its host goes on when the transport says so, and not before.
TEST_F(NodeTest, ready_when_its_transport_is) {
  const auto program = [](Node& host) -> Task<> { co_await host.ready(); };
  driver.spawn(program(node));
  EXPECT_EQ(driver.run(runtime::second), Driver::Outcome::Stuck);
  transport.plug_in();
  EXPECT_EQ(driver.run(runtime::second), Driver::Outcome::Finished);
}

// What is kept: by the transport, then by the NIC.
TEST_F(NodeTest, holds_what_transport_and_nic_hold) {
  const auto held = [&] {
    std::string text;
    for (const HostTransport::Held& kind : node.held())
      text += std::string(kind.what) + " " + std::to_string(kind.count) + ", ";
    return text;
  };
  EXPECT_EQ(held(), "cables 2, VIs 0, memory regions 0, protection tags 0, ");
  {
    const Endpoint endpoint(node, {}, 4, 1);
    EXPECT_EQ(held(), "cables 2, VIs 1, memory regions 2, protection tags 1, ");
  }
  EXPECT_EQ(held(), "cables 2, VIs 0, memory regions 0, protection tags 0, ");
  EXPECT_EQ(transport.log, (vi::testing::Log{"attach", "detach"}));
}

// A host is consistent if its transport and its NIC are.
TEST_F(NodeTest, consistent_as_its_transport_and_nic) {
  Endpoint endpoint(node, {}, 4, 1);
  EXPECT_TRUE(node.is_consistent());
  transport.sound = false;
  EXPECT_FALSE(node.is_consistent());
  transport.sound = true;
  endpoint.vi().endpoint_event(machines::vi_endpoint::ConnectRequested{});
  endpoint.vi().receive_early();
  EXPECT_TRUE(node.is_consistent());
  endpoint.vi().endpoint_event(machines::vi_endpoint::SetupRefused{});  // Idle, and receives
  EXPECT_FALSE(node.is_consistent());
}

// What completes leaves the model at once, in order, and counts for VI Overrun until the program dequeues it.
TEST_F(NodeTest, completed_descriptors_are_the_programs) {
  Endpoint endpoint(node, {}, 4, 1);
  const Region memory = endpoint.allocate(64);
  std::vector<std::uint64_t> posted;
  for (int i = 0; i < 3; ++i)  // Idle: flushed
    posted.push_back(endpoint.post_send({.pieces = {}, .handle = memory.handle()}));
  EXPECT_TRUE(endpoint.vi().send_queue_empty());
  EXPECT_EQ(endpoint.completions_announced(), 3u);
  EXPECT_EQ(endpoint.sends_posted(), 3u);
  for (const std::uint64_t address : posted) {
    const std::optional<Completion> taken = endpoint.take_send();
    ASSERT_TRUE(taken.has_value());
    EXPECT_EQ(taken->address, address);
    EXPECT_EQ(taken->error(), vi::status::flushed);
  }
  EXPECT_FALSE(endpoint.take_send().has_value());
  EXPECT_EQ(endpoint.sends_posted(), 0u);
}

// A program's calls go to the transport, and its answers back to the program.
TEST_F(NodeTest, call_is_answered_by_the_transport) {
  Endpoint endpoint(node, {}, 4, 1);
  std::optional<vi::Return> result;
  const auto program = [&](Endpoint& vi) -> Task<> {
    const vi::NetAddress here = vi::NetAddress::make(transport.address(), {});
    result = co_await vi.connect(here, here, runtime::second);
  };
  driver.spawn(program(endpoint));
  EXPECT_EQ(driver.run(runtime::second), Driver::Outcome::Finished);
  EXPECT_EQ(result, vi::Return::NotReachable);
}

}  // namespace
}  // namespace sim
