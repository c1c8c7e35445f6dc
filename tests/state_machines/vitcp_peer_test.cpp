#include "state_machines/vitcp_peer.hpp"

#include "fsm_test.hpp"

namespace machines::vitcp_peer {
namespace {

class Recorded final : public fsm::testing::Recorder<Context> {
 public:
  enum Knob : unsigned { AttributesConflictKnob };
  void start_timeout() override { note("start_timeout"); }
  void stop_timeout() override { note("stop_timeout"); }
  void ask() override { note("ask"); }
  void withdraw_setup() override { note("withdraw_setup"); }
  void withdraw_request() override { note("withdraw_request"); }
  void accept_request() override { note("accept_request"); }
  void reject_request() override { note("reject_request"); }
  void answer_no_match() override { note("answer_no_match"); }
  void fail_request(PeerFailure value) override { note("fail_request", value); }
  void leave_pool() override { note("leave_pool"); }
  [[nodiscard]] bool attributes_match() const override { return !knob(AttributesConflictKnob); }
};

struct Input {
  using Def = vitcp_peer::Def;
  using Recorded = vitcp_peer::Recorded;
  static constexpr unsigned knob_count = 1;

  template <class Event>
  static fsm::testing::Samples<Event> samples(std::type_identity<Event>) {
    return {{"", Event{}}};
  }
  static fsm::testing::Samples<RequestPosted> samples(std::type_identity<RequestPosted>) {
    return {{"OursHigher", RequestPosted{Addresses::OursHigher}},
            {"OursLower", RequestPosted{Addresses::OursLower}},
            {"Equal", RequestPosted{Addresses::Equal}}};
  }
  static fsm::testing::Samples<PeerRequested> samples(std::type_identity<PeerRequested>) {
    return {{"OursHigher", PeerRequested{Requests::OursHigher}},
            {"OursLower", PeerRequested{Requests::OursLower}},
            {"Equal", PeerRequested{Requests::Equal}}};
  }
};

using Rig = fsm::testing::Rig<Def, Recorded>;

FSM_TABLE_TESTS(VitcpPeer, Input);

// Requests that went as far as the state that their name says.
template <class... Events>
Rig posted(Addresses addresses, const Events&... events) {
  Rig rig;
  rig.given(RequestPosted{addresses}, events...);
  return rig;
}
Rig waiting() { return posted(Addresses::OursLower); }
Rig asking() { return posted(Addresses::OursHigher); }
Rig contending() { return posted(Addresses::Equal); }
Rig requesting() { return posted(Addresses::Equal, RequestSent{}); }
Rig with_conflict(Rig rig) {
  rig.set(Recorded::AttributesConflictKnob);
  return rig;
}

// VI-TCP 4: the end with the higher address does an active establishment, until its time is over.
TEST(VitcpPeer, Idle_higher_address) {
  Rig rig;
  EXPECT_EQ(rig.after(RequestPosted{Addresses::OursHigher}), "Asking: ask");
  EXPECT_EQ(rig.after(RequestSent{}), "Asking:");
  EXPECT_EQ(rig.after(RequestEnded{}), "Asking:");
  EXPECT_EQ(rig.after(RequestSent{}), "Asking:");
  EXPECT_EQ(rig.after(SetupSucceeded{}), "Over: leave_pool");
}

// VI-TCP 4: the other end is passive.
TEST(VitcpPeer, Idle_lower_address) {
  Rig rig;
  EXPECT_EQ(rig.after(RequestPosted{Addresses::OursLower}), "Waiting: start_timeout");
  EXPECT_EQ(rig.after(PeerRequested{}), "Over: stop_timeout, leave_pool, accept_request");
}

// VI-TCP 4, ruling V-13: equal addresses, as within one host: both ask.
TEST(VitcpPeer, Idle_equal_addresses) {
  Rig rig;
  EXPECT_EQ(rig.after(RequestPosted{Addresses::Equal}), "Contending: ask");
  EXPECT_EQ(rig.after(RequestSent{}), "Requesting:");
  EXPECT_EQ(rig.after(SetupSucceeded{}), "Over: leave_pool");
}

// VI-TCP 3.3, VI-DG 6.7: the level must match: the call says so, and the peer gets ConnectReject.
TEST(VitcpPeer, Waiting_attributes_conflict) {
  EXPECT_EQ(with_conflict(waiting()).after(PeerRequested{}),
            "Over: stop_timeout, leave_pool, reject_request, fail_request(AttributesConflict)");
}

TEST(VitcpPeer, Waiting_time_expired) {
  EXPECT_EQ(waiting().after(TimeExpired{}), "Over: leave_pool, fail_request(Timeout)");
}

TEST(VitcpPeer, Waiting_disconnect) {
  EXPECT_EQ(waiting().after(DisconnectRequested{}), "Over: stop_timeout, leave_pool, fail_request(Withdrawn)");
}

// VI-TCP 4, ruling V-32: the end with the lower address has not to ask, whatever its request says.
TEST(VitcpPeer, Asking_peer_requested) {
  for (const Requests requests : {Requests::OursHigher, Requests::OursLower, Requests::Equal}) {
    EXPECT_EQ(asking().after(PeerRequested{requests}), "Asking: answer_no_match");
    EXPECT_EQ(with_conflict(asking()).after(PeerRequested{requests}), "Asking: answer_no_match");
  }
}

// VI-TCP 4.2: our own request ended without a connection: the call has its answer from there.
TEST(VitcpPeer, setup_failed) {
  EXPECT_EQ(asking().after(SetupFailed{}), "Over: leave_pool");
  EXPECT_EQ(contending().after(SetupFailed{}), "Over: leave_pool");
  EXPECT_EQ(requesting().after(SetupFailed{}), "Over: leave_pool");
}

// VI-ARCH 5.2: VipDisconnect: our own request completes the call, and tells us so.
TEST(VitcpPeer, disconnect_while_asking) {
  for (Rig rig : {asking(), contending(), requesting()}) {
    EXPECT_EQ(rig.after(DisconnectRequested{}), "Over: leave_pool, withdraw_request");
    EXPECT_EQ(rig.after(SetupFailed{}), "Over:");
  }
}

// Ruling V-13: ours is not out: the peer's is the only one, whatever its numbers.
TEST(VitcpPeer, Contending_peer_requested) {
  for (const Requests requests : {Requests::OursHigher, Requests::OursLower, Requests::Equal}) {
    EXPECT_EQ(contending().after(PeerRequested{requests}), "Over: withdraw_setup, leave_pool, accept_request");
    EXPECT_EQ(with_conflict(contending()).after(PeerRequested{requests}),
              "Over: withdraw_setup, leave_pool, reject_request, fail_request(AttributesConflict)");
  }
}

// Ruling V-13: both are out: the higher request wins.
TEST(VitcpPeer, Requesting_peer_requested_higher) {
  EXPECT_EQ(requesting().after(PeerRequested{Requests::OursLower}), "Over: withdraw_setup, leave_pool, accept_request");
  EXPECT_EQ(with_conflict(requesting()).after(PeerRequested{Requests::OursLower}),
            "Over: withdraw_setup, leave_pool, reject_request, fail_request(AttributesConflict)");
}

// Ruling V-13: the lower request gets ConnectNoMatch; ours goes on.
TEST(VitcpPeer, Requesting_peer_requested_lower) {
  Rig rig = requesting();
  EXPECT_EQ(rig.after(PeerRequested{Requests::OursHigher}), "Requesting: answer_no_match");
  EXPECT_EQ(rig.after(SetupSucceeded{}), "Over: leave_pool");
}

// Ruling V-13: all equal: both get ConnectNoMatch, and ask again with new numbers.
TEST(VitcpPeer, Requesting_peer_requested_equal) {
  Rig rig = requesting();
  EXPECT_EQ(rig.after(PeerRequested{Requests::Equal}), "Requesting: answer_no_match");
  EXPECT_EQ(rig.after(RequestEnded{}), "Contending:");
  EXPECT_EQ(rig.after(RequestSent{}), "Requesting:");
  EXPECT_EQ(rig.after(PeerRequested{Requests::OursLower}), "Over: withdraw_setup, leave_pool, accept_request");
}

// VI-TCP 4: the peer waits not yet: ours ends, and is asked again; the peer may ask in between.
TEST(VitcpPeer, Contending_request_ended) {
  Rig rig = contending();
  EXPECT_EQ(rig.after(RequestEnded{}), "Contending:");
  EXPECT_EQ(rig.after(PeerRequested{Requests::OursHigher}), "Over: withdraw_setup, leave_pool, accept_request");
}

}  // namespace
}  // namespace machines::vitcp_peer
