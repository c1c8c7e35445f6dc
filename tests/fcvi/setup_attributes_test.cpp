// RESP1 "Accept" of a VI with which ours cannot be connected (VI-ARCH 4.1, VI-DG 3.3.2; FC-VI 8.2 b, c).
#include "tests/fcvi/peer_wire_fixture.hpp"

namespace {
using vi::Return;
using wire::fcvi::Reason;

struct Difference {
  const char* name;
  void (*apply)(vi::ViAttributes&);
};
constexpr Difference differences[] = {
    {"reliability level",
     [](vi::ViAttributes& theirs) { theirs.reliability = vi::ReliabilityLevel::ReliableReception; }},
    {"transfer size", [](vi::ViAttributes& theirs) { theirs.max_transfer_size_bytes /= 2; }},
};

class SetupAttributes : public support::PeerWire {
 public:
  void ask() {
    vi = &host.make_vi(vi::ReliabilityLevel::ReliableDelivery);
    peer.attributes = vi->attributes();
    const auto remote = vi::NetAddress::make(peer.address, host.net(discriminator).discriminator_bytes());
    rested = host.provider.resting_connection_ids();
    peer.rqst.reset(), peer.resp2.reset(), call.result.reset();
    host.provider.connect_request(*vi, host.net("x"), remote, runtime::never, call);
    settle();
    ASSERT_TRUE(peer.rqst.has_value());
  }
  /// VI-ARCH 4.1: no connection, and both ends know.
  void expect_refused() {
    EXPECT_EQ(call.result, Return::NotReachable);
    EXPECT_EQ(vi->state(), vi::State::Error);
    ASSERT_TRUE(peer.resp2.has_value());
    EXPECT_EQ(peer.resp2->handle, wire::FcviHandle::unassigned);
    EXPECT_EQ(host.provider.resting_connection_ids(), rested + 1);
    peer.send_resp3(), settle();
    EXPECT_EQ(host.provider.open_setups(), 0u);
    EXPECT_EQ(host.provider.counters().connections_made, 0u);
  }
  std::size_t rested = 0;
};

TEST_F(SetupAttributes, requesting_acceptedWithOthers_isAnError) {
  for (const Difference& difference : differences) {
    SCOPED_TRACE(difference.name);
    ask();
    difference.apply(peer.attributes);
    respond({});
    expect_refused();
    host.provider.detach(*vi);
    vi->transport_context = nullptr;
    fabric.run_for(60 * runtime::second);
  }
  host.port.remote_port(peer.port.n_port_id()).log_out(), settle();  // ends the notices, which the peer never answers
}

// FC-VI 8.2 c): the retry likewise.
TEST_F(SetupAttributes, retrying_acceptedWithOthers_isAnError) {
  ask();
  fabric.run_for(10500 * runtime::millisecond);
  ASSERT_TRUE(peer.rqst->retry);
  differences[0].apply(peer.attributes);
  respond({});
  EXPECT_EQ(call.result, Return::NotReachable);
  EXPECT_EQ(vi->state(), vi::State::Error);
  peer.send_resp3(), settle();
}

// FC-VI 5.3.3: peer to peer, too.
TEST_F(SetupAttributes, peers_acceptedWithOthers_isAnError) {
  post();
  differences[1].apply(peer.attributes);
  respond({});
  expect_refused();
}

// FC-VI C.5.6: after T1 it is as any other RESP1 that accepts: "Connect Timeout".
TEST_F(SetupAttributes, withdrawn_acceptedWithOthers_endsInOrder) {
  ask();
  support::Done done;
  host.provider.disconnect(*vi, done);
  settle();
  differences[0].apply(peer.attributes);
  respond({});
  ASSERT_TRUE(peer.resp2.has_value());
  peer.send_resp3(), settle();
  EXPECT_EQ(host.provider.open_setups(), 0u);
  EXPECT_EQ(host.port.open_exchanges(), 0u);
}
}  // namespace
