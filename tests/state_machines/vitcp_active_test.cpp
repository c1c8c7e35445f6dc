#include "state_machines/vitcp_active.hpp"

#include "fsm_test.hpp"

namespace machines::vitcp_active {
namespace {

class Recorded final : public fsm::testing::Recorder<Context> {
 public:
  enum Knob : unsigned { PeerToPeerKnob };
  void start_timeout() override { note("start_timeout"); }
  void stop_timeout() override { note("stop_timeout"); }
  void open_stream() override { note("open_stream"); }
  void send_connect_request() override { note("send_connect_request"); }
  void drop_stream() override { note("drop_stream"); }
  void schedule_retry() override { note("schedule_retry"); }
  void cancel_retry() override { note("cancel_retry"); }
  void connected() override { note("connected"); }
  void fail_request(ConnectFailure value) override { note("fail_request", value); }
  [[nodiscard]] bool peer_to_peer() const override { return knob(PeerToPeerKnob); }
};

struct Input {
  using Def = vitcp_active::Def;
  using Recorded = vitcp_active::Recorded;
  static constexpr unsigned knob_count = 1;

  template <class Event>
  static fsm::testing::Samples<Event> samples(std::type_identity<Event>) {
    return {{"", Event{}}};
  }
};

using Rig = fsm::testing::Rig<Def, Recorded>;

FSM_TABLE_TESTS(VitcpActive, Input);

// Set-ups that went as far as the state that their name says.
template <class... Events>
Rig after_request(bool peer_to_peer, const Events&... events) {
  Rig rig;
  rig.set(Recorded::PeerToPeerKnob, peer_to_peer);
  rig.given(ConnectRequested{}, events...);
  return rig;
}
Rig connecting(bool peer_to_peer = false) { return after_request(peer_to_peer); }
Rig pending_accept(bool peer_to_peer = false) { return after_request(peer_to_peer, StreamEstablished{}); }
Rig reconnecting(bool peer_to_peer = false) {
  return after_request(peer_to_peer, StreamEstablished{}, StreamClosed{}, RetryDue{});
}
Rig await_retry(bool peer_to_peer = false) { return after_request(peer_to_peer, StreamEstablished{}, StreamClosed{}); }

// VI-TCP 4.1, 4.2: the undisturbed set-up of a client, and its end.
TEST(VitcpActive, Disconnected_undisturbed_setup) {
  Rig rig;
  EXPECT_EQ(rig.after(ConnectRequested{}), "Connecting: start_timeout, open_stream");
  EXPECT_EQ(rig.after(StreamEstablished{}), "PendingAccept: send_connect_request");
  EXPECT_EQ(rig.after(AcceptReceived{}), "Connected: stop_timeout, connected");
  EXPECT_EQ(rig.after(ConnectionEnded{}), "Disconnected:");
}

// VI-TCP 4.2, ruling V-27: TCP setup fail.
TEST(VitcpActive, Connecting_stream_failed) {
  EXPECT_EQ(connecting().after(StreamFailed{}), "Disconnected: stop_timeout, drop_stream, fail_request(NotReachable)");
}

// VI-TCP 4, rulings V-13, V-27: the peer's host may not be there yet; a peer asks again and again.
TEST(VitcpActive, Connecting_stream_failed_peer_to_peer) {
  Rig rig = connecting(true);
  EXPECT_EQ(rig.after(StreamFailed{}), "AwaitRetry: drop_stream, schedule_retry");
  EXPECT_EQ(rig.after(RetryDue{}), "Reconnecting: open_stream");
}

// VI-TCP 4.2: ConnectReject.
TEST(VitcpActive, PendingAccept_reject) {
  EXPECT_EQ(pending_accept().after(RejectReceived{}), "Disconnected: stop_timeout, drop_stream, fail_request(Reject)");
}

// VI-TCP 3.3, VI-DG 3.3.7, ruling V-28: what a peer rejects is the level.
TEST(VitcpActive, PendingAccept_reject_peer_to_peer) {
  EXPECT_EQ(pending_accept(true).after(RejectReceived{}),
            "Disconnected: stop_timeout, drop_stream, fail_request(AttributesConflict)");
}

// VI-TCP 4.2: ConnectNoMatch.
TEST(VitcpActive, PendingAccept_no_match) {
  EXPECT_EQ(pending_accept().after(NoMatchReceived{}),
            "Disconnected: stop_timeout, drop_stream, fail_request(NoMatch)");
}

// VI-TCP 4: ConnectNoMatch during peer connection establishment results in repeated attempts.
TEST(VitcpActive, PendingAccept_no_match_peer_to_peer) {
  Rig rig = pending_accept(true);
  EXPECT_EQ(rig.after(NoMatchReceived{}), "AwaitRetry: drop_stream, schedule_retry");
  EXPECT_EQ(rig.after(RetryDue{}), "Reconnecting: open_stream");
  EXPECT_EQ(rig.after(StreamEstablished{}), "PendingAccept: send_connect_request");
}

// VI-TCP 3.3, 3.6, rulings V-9, V-10, V-28: what is no answer, or agrees to what nobody asked for, ends the request.
TEST(VitcpActive, PendingAccept_answer_invalid) {
  EXPECT_EQ(pending_accept().after(AnswerInvalid{}),
            "Disconnected: stop_timeout, drop_stream, fail_request(NotReachable)");
}

// VI-TCP 4.2, rulings V-15, V-27: TCP closes - re-establish; and if that fails, again, until the time is over.
TEST(VitcpActive, PendingAccept_stream_closed) {
  Rig rig = pending_accept();
  EXPECT_EQ(rig.after(StreamClosed{}), "AwaitRetry: drop_stream, schedule_retry");
  EXPECT_EQ(rig.after(RetryDue{}), "Reconnecting: open_stream");
  EXPECT_EQ(rig.after(StreamEstablished{}), "PendingAccept: send_connect_request");
  EXPECT_EQ(rig.after(StreamClosed{}), "AwaitRetry: drop_stream, schedule_retry");
  EXPECT_EQ(rig.after(RetryDue{}), "Reconnecting: open_stream");
  EXPECT_EQ(rig.after(StreamFailed{}), "AwaitRetry: drop_stream, schedule_retry");
  EXPECT_EQ(rig.after(RetryDue{}), "Reconnecting: open_stream");
  EXPECT_EQ(rig.after(TimeExpired{}), "Disconnected: drop_stream, fail_request(Timeout)");
}

// VI-TCP 4.2, ruling V-15: the consumer's time is over, wherever the request is.
TEST(VitcpActive, time_expired) {
  EXPECT_EQ(connecting().after(TimeExpired{}), "Disconnected: drop_stream, fail_request(Timeout)");
  EXPECT_EQ(pending_accept().after(TimeExpired{}), "Disconnected: drop_stream, fail_request(Timeout)");
  EXPECT_EQ(await_retry().after(TimeExpired{}), "Disconnected: cancel_retry, fail_request(Timeout)");
}

// VI-ARCH 5.2, VI-DG 3.3.5: VipDisconnect during the set-up.
TEST(VitcpActive, disconnect_requested) {
  EXPECT_EQ(connecting().after(DisconnectRequested{}),
            "Disconnected: stop_timeout, drop_stream, fail_request(Withdrawn)");
  EXPECT_EQ(reconnecting().after(DisconnectRequested{}),
            "Disconnected: stop_timeout, drop_stream, fail_request(Withdrawn)");
  EXPECT_EQ(pending_accept().after(DisconnectRequested{}),
            "Disconnected: stop_timeout, drop_stream, fail_request(Withdrawn)");
  EXPECT_EQ(await_retry().after(DisconnectRequested{}),
            "Disconnected: stop_timeout, cancel_retry, fail_request(Withdrawn)");
}

// VI-TCP 4, ruling V-13: the peer's request makes the connection; ours ends without a word to the consumer.
TEST(VitcpActive, superseded) {
  EXPECT_EQ(connecting(true).after(Superseded{}), "Disconnected: stop_timeout, drop_stream");
  EXPECT_EQ(reconnecting(true).after(Superseded{}), "Disconnected: stop_timeout, drop_stream");
  EXPECT_EQ(pending_accept(true).after(Superseded{}), "Disconnected: stop_timeout, drop_stream");
  EXPECT_EQ(await_retry(true).after(Superseded{}), "Disconnected: stop_timeout, cancel_retry");
}

}  // namespace
}  // namespace machines::vitcp_active
