// A peer-to-peer request that nobody waits for yet: when the ports of its address are asked again, what the link does
// to it, and that nothing is kept of it when it is over (FC-VI 5.3.3, 7.7, VI-DG 3.3.6, 3.3.7, 6.7).
#include <malloc.h>

#include <optional>

#include "fc2_fabric/link/link.hpp"
#include "tests/fcvi/answers_fixture.hpp"
#include "tests/support/times.hpp"

namespace {
using support::Answers;
using support::Done;
using support::ms;
using support::s;
using support::ScriptedPeer;
using vi::Return;
using wire::fcvi::ConnectMode;
using wire::fcvi::Opcode;
using wire::fcvi::Reason;
using Level = vi::ReliabilityLevel;

class Search : public Answers {
 public:
  /// The times, from now on, at which CONNECT_RQSTs go within `duration`.
  [[nodiscard]] std::vector<runtime::TimeNs> rqsts_within(runtime::TimeNs duration) {
    const runtime::TimeNs begun = fabric.scheduler.now();
    log.clear();
    fabric.run_for(duration);
    std::vector<runtime::TimeNs> times;
    for (const auto& f : log.frames())
      if (f.outbound && f.header.type == wire::Type::fc_vi &&
          f.data[4] == static_cast<std::uint8_t>(Opcode::connect_rqst))
        times.push_back(f.at - begun);
    return times;
  }
  [[nodiscard]] runtime::TimeNs time_of(Opcode opcode) const {
    const auto* frame = sent(opcode);
    EXPECT_NE(frame, nullptr);
    return frame == nullptr ? 0 : frame->at;
  }
  /// NOS: the fabric is back in a moment, and all addresses are as before.
  void interrupt() {
    fabric.fabric.link_of(host.port)->b.fail();
    ASSERT_TRUE(host.port.interrupted());
    fabric.run_for(s);
    ASSERT_FALSE(host.port.interrupted());
  }
  void nobody_waits() {
    log.clear();
    respond(Reason::no_waiting_remote_connectionpoint);
  }
};

// FC-VI 5.9.7.2.1, 6.9.3, 7.3: who rejects for its attributes shows them, FCVI_QOS too.
TEST_F(Search, conflict_rejectShowsOurQos) {
  for (const bool preference : {false, true}) {
    SCOPED_TRACE(preference);
    peer.mode = ConnectMode::peer_to_peer;
    call.result.reset(), peer.rqst.reset(), peer.resp1.reset();
    post();
    host.provider.set_options(*vi, {.preference = preference, .class_2 = !preference});
    peer.attributes.max_transfer_size_bytes /= 2;
    request();
    respond(Reason::no_waiting_remote_connectionpoint);
    EXPECT_EQ(answered(), Reason::connect_reject);
    EXPECT_EQ(call.result, Return::InvalidMtu);
    EXPECT_EQ(peer.resp1->payload.local_attributes.qos.pref, preference ? wire::fcvi::Qos::preference : 0);
    EXPECT_EQ(peer.resp1->payload.local_attributes.qos.pipeline_depth, 31u);
    peer.send_resp2(), settle();
    peer.send_resp3(), settle();
  }
}

// FC-VI 5.3.3, VI-DG 6.7: nobody waits. Where the ports of the address were known before, all are asked again at once,
// and once: a port may have come since. From then on every FCVI_ULP_TIMEOUT.
TEST_F(Search, nobodyWaits_addressWasKnown_asksAgainAtOnce) {
  ask();
  respond(Reason::connect_reject);  // that makes it known
  peer.send_resp3(), settle();
  call.result.reset(), peer.rqst.reset();
  post();
  nobody_waits();
  EXPECT_EQ(time_of(Opcode::connect_rqst), time_of(Opcode::connect_resp2) + 2 * runtime::microsecond)
      << "the Name Server's answer";
  nobody_waits();
  EXPECT_EQ(sent(Opcode::connect_rqst), nullptr);
  EXPECT_TRUE(rqsts_within(t3 - ms).empty());
  EXPECT_EQ(rqsts_within(2 * ms).size(), 1u);
  nobody_waits();
  EXPECT_TRUE(rqsts_within(t3 - ms).empty());
  EXPECT_EQ(rqsts_within(2 * ms).size(), 1u);
}
TEST_F(Search, nobodyWaits_addressWasAskedFor_asksAgainAfterT3) {
  post();
  nobody_waits();
  EXPECT_EQ(sent(Opcode::connect_rqst), nullptr);
  EXPECT_TRUE(rqsts_within(t3 - ms).empty());
  EXPECT_EQ(rqsts_within(2 * ms).size(), 1u);
}

// VI-DG 6.7: posted while the port was away from the fabric: asked as soon as it is back, and not again while that
// is under way.
TEST_F(Search, postedOffline_fabricIsBack_asksAtOnceAndOnce) {
  fabric.detach(0), settle();
  vi = &host.make_vi(Level::ReliableDelivery);
  peer.attributes = vi->attributes();
  const auto remote = vi::NetAddress::make(peer.address, host.net(discriminator).discriminator_bytes());
  ASSERT_EQ(host.provider.connect_peer_request(*vi, host.net("x"), remote, runtime::never, call), Return::Success);
  fabric.run_for(8 * s);  // nobody could be asked for the address
  fabric.attach(0);
  fabric.fabric.tap(host.port, &log);
  fabric.run_for(s);
  EXPECT_EQ(peer.rqsts, 1);
  fabric.run_for(8 * s);
  EXPECT_EQ(peer.rqsts, 1) << "T3 is not over";
  expect_waits();
  respond({});
  EXPECT_EQ(call.result, Return::Success);
  peer.send_resp3(), settle();
}

// FC-VI 7.7.5: ... and so where the link was away for a moment, while nobody is asked.
TEST_F(Search, nobodyWaits_fabricIsBack_asksAtOnceAndOnce) {
  post();
  nobody_waits();
  fabric.run_for(3 * s);
  EXPECT_EQ(peer.rqsts, 1);
  interrupt();
  EXPECT_EQ(peer.rqsts, 2);
  fabric.run_for(8 * s);
  EXPECT_EQ(peer.rqsts, 2) << "T3 is not over";
  respond({});
  EXPECT_EQ(call.result, Return::Success);
  peer.send_resp3(), settle();
}
// ... where the peer's request is accepted nobody is asked; the attributes of its VI come with
// VIP_SUCCESS (VI-DG 3.3.7).
TEST_F(Search, accepting_fabricIsBack_asksNobody) {
  post();
  nobody_waits();
  peer.send_resp3(), settle();
  peer.attributes.enable_rdma_write = true, peer.attributes.enable_rdma_read = false;
  request();
  ASSERT_FALSE(answered().has_value());
  interrupt();
  EXPECT_EQ(peer.rqsts, 1);
  peer.send_resp2(), settle();
  EXPECT_EQ(call.result, Return::Success);
  EXPECT_EQ(call.remote_attributes.max_transfer_size_bytes, vi->attributes().max_transfer_size_bytes);
  EXPECT_EQ(call.remote_attributes.reliability, Level::ReliableDelivery);
  EXPECT_TRUE(call.remote_attributes.enable_rdma_write);
  EXPECT_FALSE(call.remote_attributes.enable_rdma_read);
}

// FC-VI C.5.2, 5.3.3, 7.7.1: the peer whose request was accepted gave up, and logs out: that login is none that the
// next set-up has: its connection is whole, and its Disconnect reaches the peer.
TEST_F(Search, acceptedPeerGivesUpAndLogsOut_nextConnectionIsWhole) {
  post();
  nobody_waits();
  peer.send_resp3(), settle();
  request();
  ASSERT_FALSE(answered().has_value());
  peer.send_resp2(Reason::connect_timeout);
  peer.port.remote_port(host.port.n_port_id()).log_out();
  fabric.run_for(s);
  ASSERT_EQ(peer.rqsts, 2);
  respond({});
  ASSERT_EQ(call.result, Return::Success);
  peer.send_resp3(), settle();
  log.clear();
  Done done;
  host.provider.disconnect(*vi, done), settle();
  EXPECT_NE(sent(Opcode::disconnect_rqst), nullptr);
  peer.port.remote_port(host.port.n_port_id()).log_out(), settle();
  EXPECT_EQ(done.result, Return::Success);
}

/// A host with an address more, or without any room for what it learns of addresses; not at the fabric yet.
class OtherHost : public ::testing::Test {
 public:
  ~OtherHost() override { fabric.run_for(60 * s); }
  void TearDown() override { EXPECT_EQ(host->port.counters().unexpected_events + vi->unexpected_events(), 0u); }
  void begin(fcvi::ProviderConfig config, farp::ResolverConfig resolver = {}) {
    host.emplace(fabric, 0, std::move(config), std::move(resolver));
    fabric.attach(1), fabric.run_for(s);
    vi = &host->make_vi(Level::ReliableDelivery);
    peer.attributes = vi->attributes();
    const auto remote = vi::NetAddress::make(peer.address, host->net(discriminator).discriminator_bytes());
    ASSERT_EQ(host->provider.connect_peer_request(*vi, host->net("x"), remote, runtime::never, call), Return::Success);
    fabric.attach(0), fabric.run_for(2 * s);
    fabric.log_in(1, 0);
  }
  static constexpr std::string_view discriminator = "peers of 16 byte";
  support::TestFabric fabric{2};
  support::Connect call;
  std::optional<support::Host> host;
  ScriptedPeer peer{fabric, 1};
  vi::Vi* vi = nullptr;
};
// VI-DG 3.3.7 network partition: the link goes that was not there yet when the request was posted, and no port is known
// that could log out.
TEST_F(OtherHost, postedBeforeTheFirstLogin_linkLost_isNotReachable) {
  begin({});
  ASSERT_EQ(peer.rqsts, 1);
  peer.send_resp1(Reason::no_waiting_remote_connectionpoint), fabric.run_for(ms);
  EXPECT_FALSE(call.result.has_value());
  host->port.log_out_of_fabric(), fabric.run_for(ms);
  EXPECT_EQ(call.result, Return::NotReachable);
}
// FC-VI 4.2, VI-DG 6.7: a request for another address of the host means none that waits at this one.
TEST_F(OtherHost, waiting_otherAddressIsMeant_doesNotMatch) {
  const auto more = wire::IpAddress::v4(10, 9, 0, 1);
  begin({.address = {}, .more_addresses = {more}});
  peer.send_resp1(Reason::no_waiting_remote_connectionpoint), fabric.run_for(ms);
  peer.send_rqst(host->port.n_port_id(), more, discriminator), fabric.run_for(ms);
  ASSERT_TRUE(peer.resp1.has_value());
  EXPECT_EQ(peer.resp1->status->reason, Reason::no_discriminator_match);
  EXPECT_FALSE(call.result.has_value());
}
// VI-DG 6.7: nothing can be learnt of the address, which is known at once: the request waits all the same.
TEST_F(OtherHost, noRoomForAddresses_waits) {
  begin({}, {.own_addresses = {}, .max_entries = 0});
  fabric.run_for(30 * s);
  EXPECT_EQ(peer.rqsts, 0);
  EXPECT_FALSE(call.result.has_value());
  peer.send_rqst(host->port.n_port_id(), host->address, discriminator), fabric.run_for(ms);
  ASSERT_TRUE(peer.resp1.has_value());
  EXPECT_FALSE(peer.resp1->status.has_value());
  peer.send_resp2(), fabric.run_for(ms);
  EXPECT_EQ(call.result, Return::Success);
}

// FC-VI 5.9.7.2, VI-DG 6.7: a request that is over is not in the pool any more: who asks hears that nobody waits.
TEST_F(Search, requestIsOver_nobodyWaits) {
  for (int round = 0; round < 2; ++round) {
    SCOPED_TRACE(round);
    peer.mode = ConnectMode::peer_to_peer;
    request();
    EXPECT_EQ(answered(), Reason::no_waiting_remote_connectionpoint);
    peer.send_resp2(), settle();
    call.result.reset(), peer.rqst.reset();
    post(ms);
    fabric.run_for(ms);
    EXPECT_EQ(call.result, Return::Timeout);
    request();
    EXPECT_EQ(answered(), Reason::no_waiting_remote_connectionpoint);
    peer.send_resp2(), settle();
  }
}

// ... and nothing of it is kept.
TEST_F(Search, requestsAreOver_theirMemoryIsFree) {
  const auto nobody = vi::NetAddress::make(wire::IpAddress::v4(10, 9, 9, 9), {});
  vi = &host.make_vi(Level::ReliableDelivery);
  const auto used_after = [&](int requests) {
    for (int i = 0; i < requests; ++i) {
      call.result.reset();
      EXPECT_EQ(host.provider.connect_peer_request(*vi, host.net("x"), nobody, runtime::microsecond, call),
                Return::Success);
      fabric.run_for(2 * runtime::microsecond);
      EXPECT_EQ(call.result, Return::Timeout);
    }
    log.clear();
    return mallinfo2().uordblks;
  };
  const std::size_t before = used_after(100);
  EXPECT_LT(used_after(1000), before + 100'000);
}
}  // namespace
