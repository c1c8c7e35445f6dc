#include "state_machines/vi_endpoint.hpp"

#include "fsm_test.hpp"

namespace machines::vi_endpoint {
namespace {

class Recorded final : public fsm::testing::Recorder<Context> {
 public:
  enum Knob : unsigned { ReliableKnob };
  void enable_traffic() override { note("enable_traffic"); }
  void disable_traffic() override { note("disable_traffic"); }
  void flush_descriptors() override { note("flush_descriptors"); }
  void report_connection_lost() override { note("report_connection_lost"); }
  void request_disconnect() override { note("request_disconnect"); }
  void complete_disconnect(DisconnectOutcome value) override { note("complete_disconnect", value); }
  void refuse_request() override { note("refuse_request"); }
  void count_stale() override { note("count_stale"); }
  [[nodiscard]] bool reliable() const override { return knob(ReliableKnob); }
};

struct Input {
  using Def = vi_endpoint::Def;
  using Recorded = vi_endpoint::Recorded;
  static constexpr unsigned knob_count = 1;

  template <class Event>
  static fsm::testing::Samples<Event> samples(std::type_identity<Event>) {
    return {{"", Event{}}};
  }
};

using Rig = fsm::testing::Rig<Def, Recorded>;

FSM_TABLE_TESTS(ViEndpoint, Input);

// VI-ARCH 5.1, 5.2, 5.3, FC-VI 8.2 a) b) d): the client's way, up and down.
TEST(ViEndpoint, Idle_client_connects_and_disconnects) {
  Rig rig;
  EXPECT_EQ(rig.after(ConnectRequested{}), "PendingConnect:");
  EXPECT_EQ(rig.after(SetupSucceeded{}), "Connected: enable_traffic");
  // FC-VI 8.6.3 a): in Error until the answer is there.
  EXPECT_EQ(rig.after(DisconnectRequested{}), "Disconnecting: disable_traffic, flush_descriptors, request_disconnect");
  EXPECT_EQ(rig.after(DisconnectAnswered{}), "Idle: flush_descriptors, complete_disconnect(Success)");
}

// VI-ARCH 5.1, 5.2: nothing flows before it is Connected.
TEST(ViEndpoint, Idle_server_accepts) {
  Rig rig;
  EXPECT_EQ(rig.after(AcceptRequested{}), "PendingConnect:");
  EXPECT_EQ(rig.after(SetupSucceeded{}), "Connected: enable_traffic");
}

// VI-DG 3.3.5: VipDisconnect in Idle returns posted receive Descriptors.
TEST(ViEndpoint, Idle_disconnect_requested) {
  Rig rig;
  EXPECT_EQ(rig.after(DisconnectRequested{}), "Idle: flush_descriptors, complete_disconnect(Success)");
}

// VI-ARCH 5.2: the Descriptors stay posted.
TEST(ViEndpoint, PendingConnect_refused) {
  Rig rig;
  rig.given(ConnectRequested{});
  EXPECT_EQ(rig.after(SetupRefused{}), "Idle:");
}

// FC-VI C.5.5: T1.
TEST(ViEndpoint, PendingConnect_timed_out) {
  Rig rig;
  rig.given(ConnectRequested{});
  EXPECT_EQ(rig.after(ConnectTimedOut{}), "Idle: flush_descriptors");
}

// FC-VI C.5.2: T2 at the server.
TEST(ViEndpoint, PendingConnect_connection_lost) {
  Rig rig;
  rig.given(AcceptRequested{});
  EXPECT_EQ(rig.after(ConnectionLost{}), "Error: disable_traffic, flush_descriptors, report_connection_lost");
}

// FC-VI D.2: the remote application disconnects; the local one answers with its own VipDisconnect.
TEST(ViEndpoint, Connected_connection_lost) {
  Rig rig;
  rig.given(ConnectRequested{}, SetupSucceeded{});
  EXPECT_EQ(rig.after(ConnectionLost{}), "Error: disable_traffic, flush_descriptors, report_connection_lost");
  EXPECT_EQ(rig.after(ConnectionLost{}), "Error: count_stale");
  EXPECT_EQ(rig.after(DisconnectRequested{}), "Disconnecting: flush_descriptors, request_disconnect");
  EXPECT_EQ(rig.after(DisconnectAnswered{}), "Idle: flush_descriptors, complete_disconnect(Success)");
}

// FC-VI D.2: both disconnect at about the same time: no callback on either side.
TEST(ViEndpoint, Disconnecting_connection_lost) {
  Rig rig;
  rig.given(ConnectRequested{}, SetupSucceeded{}, DisconnectRequested{});
  EXPECT_EQ(rig.after(ConnectionLost{}), "Disconnecting: count_stale");
}

// Ruling 20: never answered, stays in Error; the application may try again.
TEST(ViEndpoint, Disconnecting_unanswered) {
  Rig rig;
  rig.given(ConnectRequested{}, SetupSucceeded{}, DisconnectRequested{});
  EXPECT_EQ(rig.after(DisconnectUnanswered{}), "Error: complete_disconnect(NotReachable)");
  EXPECT_EQ(rig.after(DisconnectRequested{}), "Disconnecting: flush_descriptors, request_disconnect");
}

// One is asked for at a time.
TEST(ViEndpoint, Disconnecting_second_disconnect_requested) {
  Rig rig;
  rig.given(ConnectRequested{}, SetupSucceeded{}, DisconnectRequested{});
  EXPECT_EQ(rig.after(DisconnectRequested{}), "Disconnecting:");
}

// VI-ARCH 2.5.1, 2.5.2: only a reliable connection breaks; 7.2, 7.3, VI-DG 6.2: that is told, whatever
// a Descriptor says.
TEST(ViEndpoint, Connected_local_error) {
  Rig rig;
  rig.given(ConnectRequested{}, SetupSucceeded{});
  EXPECT_EQ(rig.after(LocalError{}), "Connected:");
  rig.set(Recorded::ReliableKnob);
  EXPECT_EQ(rig.after(LocalError{}), "Error: disable_traffic, flush_descriptors, report_connection_lost");
}

// VI-DG 6.3.1, 6.2: at every level.
TEST(ViEndpoint, Connected_catastrophic_error) {
  Rig rig;
  rig.given(ConnectRequested{}, SetupSucceeded{});
  EXPECT_EQ(rig.after(CatastrophicError{}), "Error: disable_traffic, flush_descriptors, report_connection_lost");
  EXPECT_EQ(rig.after(CatastrophicError{}), "Error: count_stale");
}

// VI-ARCH 5.2.
TEST(ViEndpoint, PendingConnect_disconnect_requested) {
  Rig rig;
  rig.given(ConnectRequested{});
  EXPECT_EQ(rig.after(DisconnectRequested{}), "Idle: flush_descriptors, complete_disconnect(Success)");
}

TEST(ViEndpoint, Connected_connect_requested) {
  Rig rig;
  rig.given(ConnectRequested{}, SetupSucceeded{});
  EXPECT_EQ(rig.after(ConnectRequested{}), "Connected: refuse_request");
  EXPECT_EQ(rig.after(AcceptRequested{}), "Connected: refuse_request");
}

// Endpoints that went as far as the state that their name says.
Rig pending() {
  Rig rig;
  rig.given(ConnectRequested{});
  return rig;
}
Rig in_error() {
  Rig rig;
  rig.given(ConnectRequested{}, SetupFailed{});
  return rig;
}
Rig disconnecting() {
  Rig rig = in_error();
  rig.given(DisconnectRequested{});
  return rig;
}

// VI-ARCH 5.2, 5.3, 5.4: only an Idle VI can be connected.
TEST(ViEndpoint, connect_requested_out_of_place) {
  EXPECT_EQ(pending().after(ConnectRequested{}), "PendingConnect: refuse_request");
  EXPECT_EQ(pending().after(AcceptRequested{}), "PendingConnect: refuse_request");
  EXPECT_EQ(in_error().after(ConnectRequested{}), "Error: refuse_request");
  EXPECT_EQ(in_error().after(AcceptRequested{}), "Error: refuse_request");
  EXPECT_EQ(disconnecting().after(ConnectRequested{}), "Disconnecting: refuse_request");
  EXPECT_EQ(disconnecting().after(AcceptRequested{}), "Disconnecting: refuse_request");
}

// VI-ARCH 5.1, 5.2, 5.4, VI-DG 6.3.1: without a connection an error has none to break; in Error there
// is one transition.
TEST(ViEndpoint, errors_without_a_connection) {
  EXPECT_EQ(Rig{}.after(LocalError{}), "Idle: count_stale");
  EXPECT_EQ(pending().after(LocalError{}), "PendingConnect: count_stale");
  EXPECT_EQ(in_error().after(LocalError{}), "Error: count_stale");
  EXPECT_EQ(disconnecting().after(LocalError{}), "Disconnecting: count_stale");
  EXPECT_EQ(disconnecting().after(CatastrophicError{}), "Disconnecting: count_stale");
  EXPECT_EQ(disconnecting().after(SetupFailed{}), "Disconnecting: count_stale");
}

// VI-DG 6.3.1, VI-ARCH 5.1, 5.2: a catastrophic error takes the VI to Error from every state, and an attempt to connect
// reports it. There was no connection that could be lost.
TEST(ViEndpoint, catastrophic_errors_without_a_connection) {
  Rig idle;
  EXPECT_EQ(idle.after(CatastrophicError{}), "Error: disable_traffic, flush_descriptors");
  EXPECT_EQ(idle.after(ConnectRequested{}), "Error: refuse_request");
  EXPECT_EQ(pending().after(CatastrophicError{}), "Error: disable_traffic, flush_descriptors");
}

// FC-VI D.2: the loss of a connection that the application has ended already is no news.
TEST(ViEndpoint, Idle_connection_lost) { EXPECT_EQ(Rig{}.after(ConnectionLost{}), "Idle: count_stale"); }

// VI-ARCH 5.2: a transport error takes it to Error, and its Descriptors are flushed (FC-VI C.3 rule 4 d, C.5.5).
TEST(ViEndpoint, PendingConnect_failed) {
  Rig rig = pending();
  EXPECT_EQ(rig.after(SetupFailed{}), "Error: disable_traffic, flush_descriptors");
  EXPECT_EQ(rig.after(SetupFailed{}), "Error: count_stale");
}

}  // namespace
}  // namespace machines::vi_endpoint
