// Two NICs on one hub in virtual time, and shorthand for what their consumers do: a VI program without a fabric.
//
//   Node client{hub, 1}, server{hub, 2};                    each a NIC with memory of its own
//   auto [a, b] = connect(client, server, level);           two VIs, connected
//   b.receive(64); a.send("hello"); settle();               descriptors, then whatever follows of them
//   EXPECT_EQ(b.received(), "hello");
#pragma once
#include "loopback/provider.hpp"
#include "tests/support/operations.hpp"
#include "tests/support/vi_node.hpp"

namespace loopback::testing {
using support::address_of;
using ConnectCall = support::Connect;
using WaitCall = support::Wait;
using PlainCall = support::Done;
using End = support::ViEnd;

struct ItsProvider {
  Provider provider;
};
class Node : public ItsProvider, public support::ViNode {
 public:
  Node(Hub& hub, std::uint8_t number) : Node(hub, wire::IpAddress::v4(10, 0, 0, number)) {}

 private:
  Node(Hub& hub, const wire::IpAddress& its_address)
      : ItsProvider{Provider(hub, {its_address})}, ViNode(provider, its_address) {}
};

class TwoNodes : public ::testing::Test {
 protected:
  void TearDown() override {
    client.close();
    server.close();
  }
  void settle() { scheduler.run_until(scheduler.now()); }
  /// Client and server, connected at this level.
  std::pair<End, End> connect(vi::ReliabilityLevel level) {
    WaitCall wait;
    ConnectCall request;
    PlainCall accept;
    End a{client, client.create(level)}, b{server, server.create(level)};
    server.provider.connect_wait(server.at("x"), runtime::second, wait);
    client.provider.connect_request(a.vi, client.at("y"), server.at("x"), runtime::second, request);
    server.provider.connect_accept(wait.token, b.vi, accept);
    EXPECT_EQ(request.result, vi::Return::Success);
    EXPECT_EQ(accept.result, vi::Return::Success);
    a.set_remote(server.handle);
    b.set_remote(client.handle);
    return {a, b};
  }

  runtime::Scheduler scheduler;
  Hub hub{scheduler};
  Node client{hub, 1}, server{hub, 2};
};

inline constexpr auto unreliable = vi::ReliabilityLevel::UnreliableDelivery;
inline constexpr auto delivery = vi::ReliabilityLevel::ReliableDelivery;
inline constexpr auto reception = vi::ReliabilityLevel::ReliableReception;

}  // namespace loopback::testing
