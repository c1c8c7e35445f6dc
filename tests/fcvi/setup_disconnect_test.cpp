// DISCONNECT_RQSTs of a peer made by hand: which set-up or connection they mean, and every field of the answer (FC-VI
// 5.9.4.6, 5.9.10, 6.12.2, 6.13.2, C.5.7.2, C.5.9.2, D.1).
#include "tests/fcvi/answers_fixture.hpp"

namespace {
using support::Answers;
using support::Done;
using support::Wait;
using vi::Return;
using vi::State;
using wire::fcvi::Reason;
using Level = vi::ReliabilityLevel;

// FC-VI D.1 rule 3, 5.9.10, 6.13.2: who names no connection, and no set-up, hears so; the flags and the id come back
// as they are.
TEST_F(Answers, disconnectRqst_ofNothing_isEchoed) {
  offer();
  const std::uint64_t sent_before = counters().ius_sent, received_before = counters().ius_received;
  std::uint64_t asked = 0;
  const wire::ConnectionId offered =
      host.provider.open_setups() == 1 ? wire::ConnectionId{0x7701} : wire::ConnectionId{};
  for (const bool abort : {false, true})
    for (const bool application : {false, true})
      for (const wire::ConnectionId id : {wire::ConnectionId{0x4711}, offered}) {
        SCOPED_TRACE(id.value * 4 + abort * 2 + application);
        if (abort && id == offered) continue;
        const auto answer = answer_to(abort_of({0x99}, abort, application, id));
        ASSERT_TRUE(answer.has_value());
        EXPECT_EQ(answer->status->reason, Reason::connection_does_not_exist);
        EXPECT_EQ(answer->conn_setup_abort, abort);
        EXPECT_EQ(answer->vi_app_discon, application);
        EXPECT_EQ(answer->connection_id, id);
        EXPECT_EQ(counters().ius_sent, sent_before + ++asked);
        EXPECT_EQ(counters().ius_received, received_before + asked);
        EXPECT_EQ(host.provider.open_setups(), 1u);
      }
  accept_offer();
  peer.send_resp2(), settle();
  EXPECT_EQ(accept.result, Return::Success);
}

// FC-VI 5.9.4.6: what is offered is taken back, with VI_APP_DISCON or without: accepted, and the offer is void.
TEST_F(Answers, disconnectRqst_ofAnOffer_isAccepted) {
  std::uint32_t id = 0x7700;
  for (const bool application : {false, true}) {
    SCOPED_TRACE(application);
    offer();
    const auto answer = answer_to(abort_of({0x7000}, true, application, {++id}));
    ASSERT_TRUE(answer.has_value());
    EXPECT_EQ(answer->status->reason, Reason::disconnect_accept);
    EXPECT_TRUE(answer->conn_setup_abort);
    EXPECT_EQ(answer->vi_app_discon, application);
    EXPECT_EQ(host.provider.open_setups(), 0u);
    accept.result.reset(), accept_offer();
    EXPECT_EQ(accept.result, Return::Timeout);
  }
}

// FC-VI C.5.9.2, 6.12.2, 6.13.2: what was accepted is taken back by its id, whatever handle stands beside it: its VI is
// in Error, and the answer goes to the peer's handle.
TEST_F(Answers, disconnectRqst_ofAnAcceptedSetup_isAccepted) {
  for (const bool application : {false, true}) {
    SCOPED_TRACE(application);
    offer();
    accept.result.reset(), accept_offer();
    const auto answer = answer_to(abort_of({0x7000}, true, application, peer.resp1->connection_id));
    ASSERT_TRUE(answer.has_value());
    EXPECT_EQ(answer->status->reason, Reason::disconnect_accept);
    EXPECT_EQ(answer->handle.value, 0x7000u);
    EXPECT_EQ(answer->vi_app_discon, application);
    EXPECT_EQ(vi->state(), State::Error);
    EXPECT_EQ(accept.result, Return::Timeout);
    peer.port.remote_port(host.port.n_port_id()).log_out(), settle();
    ASSERT_TRUE(fabric.log_in(1, 0));
  }
}

// FC-VI 5.9.4.6: ... and where its VI is not with it any more, that is accepted too, and it is over.
TEST_F(Answers, disconnectRqst_ofAWithdrawnSetup_isAccepted) {
  offer();
  accept_offer();
  Done done;
  host.provider.disconnect(*vi, done), settle();
  ASSERT_EQ(done.result, Return::Success);
  ASSERT_EQ(host.provider.open_setups(), 1u);
  EXPECT_EQ(answer_to(abort_of(peer.resp1->payload.handle, true, true, peer.resp1->connection_id))->status->reason,
            Reason::disconnect_accept);
  EXPECT_EQ(host.provider.open_setups(), 0u);
}

// FC-VI 5.9.4.6, 5.9.10: of two set-ups of one peer that one ends which is named.
TEST_F(Answers, disconnectRqst_ofOneOfTwoOffers_endsThatOne) {
  vi = &host.make_vi(Level::ReliableDelivery);
  Wait second;
  listen();
  host.provider.connect_wait(host.net(discriminator), runtime::never, second);
  send(rqst_of(0x11, 0x7001));
  send(rqst_of(0x12, 0x7002));
  ASSERT_EQ(wait.result, Return::Success);
  ASSERT_EQ(second.result, Return::Success);
  EXPECT_EQ(answer_to(abort_of({0x99}, true, true, {0x11}))->status->reason, Reason::disconnect_accept);
  accept_offer();
  EXPECT_EQ(accept.result, Return::Timeout);
  accept.result.reset();
  host.provider.connect_accept(second.token, *vi, accept), settle();
  EXPECT_FALSE(accept.result.has_value());
  EXPECT_EQ(peer.resp1->connection_id.value, 0x12u);
}

// FC-VI 5.9.4.6, 6.12.2, C.5.7.2: a connection is named by its handle, a set-up by its id; with both, by both.
TEST_F(Answers, disconnectRqst_ofAnotherSetupThanTheHandles_endsThatSetup) {
  offer();
  accept_offer();
  peer.send_resp2(), settle();
  ASSERT_EQ(vi->state(), State::Connected);
  const auto handle = peer.resp1->payload.handle;
  listen();
  send(rqst_of(0x12, 0x7002));
  ASSERT_EQ(wait.result, Return::Success);
  EXPECT_EQ(answer_to(abort_of(handle, true, true, {0x12}))->status->reason, Reason::disconnect_accept);
  EXPECT_EQ(vi->state(), State::Connected);
  EXPECT_EQ(host.provider.open_setups(), 1u) << "of the connection";
  EXPECT_EQ(answer_to(abort_of(handle, false, true, {0x12}))->status->reason, Reason::disconnect_accept);
  EXPECT_EQ(vi->state(), State::Error);
}
}  // namespace
