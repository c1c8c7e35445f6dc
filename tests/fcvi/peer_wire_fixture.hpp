// A peer-to-peer request of ours, and a peer made by hand that answers it and asks itself.
#pragma once
#include "tests/fcvi/scripted_peer.hpp"

namespace support {

/// Our host has the lower Port_Name (index 0) or the higher one (1).
class PeerWire : public ::testing::Test {
 public:
  explicit PeerWire(std::size_t our_index = 0, const TestFabric::Adjust& adjust = {})
      : fabric(2, {}, adjust), host(fabric, our_index), peer(fabric, 1 - our_index), peer_index_(1 - our_index) {
    fabric.bring_up();
    fabric.run_until([&] { return host.resolver.ready() && peer.resolver.ready(); });
    fabric.log_in(1 - our_index, our_index);
  }
  ~PeerWire() override {
    fabric.run_for(60 * runtime::second);  // what is open ends
    fabric.detach(peer_index_);            // what is never answered, too: the peer outlives its exchanges
  }
  void TearDown() override {
    EXPECT_EQ(host.port.counters().unexpected_events, 0u);
    EXPECT_EQ(vi == nullptr ? 0u : vi->unexpected_events(), 0u);
  }
  /// Posts a request, and waits for its CONNECT_RQST at the peer.
  void post(runtime::TimeNs timeout = runtime::never,
            vi::ReliabilityLevel level = vi::ReliabilityLevel::ReliableDelivery) {
    vi = &host.make_vi(level);
    peer.attributes = vi->attributes();
    const auto remote = vi::NetAddress::make(peer.address, host.net(discriminator).discriminator_bytes());
    ASSERT_EQ(host.provider.connect_peer_request(*vi, host.net("x"), remote, timeout, call), vi::Return::Success);
    settle();
    ASSERT_TRUE(peer.rqst.has_value());
  }
  void request(bool retry = false) {
    peer.send_rqst(host.port.n_port_id(), host.address, discriminator, retry), settle();
  }
  void respond(ScriptedPeer::Status status) { peer.send_resp1(status), settle(); }
  void settle() { fabric.run_for(100 * runtime::microsecond); }
  /// CONN_STS and Reason Code of the RESP1 that the peer got; none: accepted.
  [[nodiscard]] ScriptedPeer::Status answered() const {
    if (!peer.resp1->status) return {};
    return peer.resp1->status->reason;
  }
  void expect_waits() {
    EXPECT_FALSE(call.result.has_value());
    EXPECT_EQ(vi->state(), vi::State::ConnectPending);
  }
  /// VipDisconnect; then nothing is left over.
  void expect_nothing_left() {
    Done done;
    host.provider.disconnect(*vi, done);
    fabric.run_for(120 * runtime::second);
    EXPECT_EQ(done.result, vi::Return::Success);
    EXPECT_EQ(host.provider.handles_in_use(), 0u);
    EXPECT_EQ(host.provider.open_setups(), 0u);
    EXPECT_EQ(host.provider.open_connection_ids(), 0u);
  }
  static constexpr std::string_view discriminator = "peers of 16 byte";
  TestFabric fabric;
  Connect call;
  Host host;
  ScriptedPeer peer;
  vi::Vi* vi = nullptr;

 private:
  std::size_t peer_index_;
};

class PeerWireHigher : public PeerWire {
 public:
  PeerWireHigher() : PeerWire(1) {}
};

}  // namespace support
