#include "state_machines/disconnect_responder.hpp"

#include "fsm_test.hpp"

namespace machines::disconnect_responder {
namespace {

class Recorded final : public fsm::testing::Recorder<Context> {
 public:
  void send_disconnect_resp(ResponseReason value) override { note("send_disconnect_resp", value); }
  void abort_setup() override { note("abort_setup"); }
  void endpoint_lost() override { note("endpoint_lost"); }
};

struct Input {
  using Def = disconnect_responder::Def;
  using Recorded = disconnect_responder::Recorded;
  static constexpr unsigned knob_count = 0;

  template <class Event>
  static fsm::testing::Samples<Event> samples(std::type_identity<Event>) {
    return {{"", Event{}}};
  }
  static fsm::testing::Samples<RqstReceived> samples(std::type_identity<RqstReceived>) {
    return {{"of a connection", RqstReceived{false, false}},
            {"of a connection, id known", RqstReceived{false, true}},
            {"of a setup, id unknown", RqstReceived{true, false}},
            {"of a setup, id known", RqstReceived{true, true}}};
  }
};

using Rig = fsm::testing::Rig<Def, Recorded>;

FSM_TABLE_TESTS(DisconnectResponder, Input);

constexpr RqstReceived of_connection{false, false};
constexpr RqstReceived of_setup{true, true};
constexpr RqstReceived of_unknown_setup{true, false};

// FC-VI 5.3.5, D.2: the remote side disconnects, then we do; the handle rests for R_A_TOV (8.4.2 f).
TEST(DisconnectResponder, Established_rqst_received) {
  Rig rig;
  rig.given(SetupOpened{}, ConnectionEstablished{});
  EXPECT_EQ(rig.after(of_connection), "Errored: endpoint_lost, send_disconnect_resp(DisconnectAccept)");
  EXPECT_EQ(rig.after(EndpointErrored{}), "Errored:");
  EXPECT_EQ(rig.after(EndpointDisconnected{}), "Quarantined:");
  EXPECT_EQ(rig.after(HandleReleased{}), "NoConnection:");
}

// FC-VI D.2: we disconnected first; the peer's own request meets an Idle endpoint: no callback.
TEST(DisconnectResponder, Quarantined_rqst_received) {
  Rig rig;
  rig.given(SetupOpened{}, ConnectionEstablished{}, EndpointErrored{}, EndpointDisconnected{});
  EXPECT_EQ(rig.after(of_connection), "Quarantined: send_disconnect_resp(DisconnectAccept)");
}

// FC-VI D.2: both at about the same time.
TEST(DisconnectResponder, Errored_rqst_received) {
  Rig rig;
  rig.given(SetupOpened{}, ConnectionEstablished{}, EndpointErrored{});
  EXPECT_EQ(rig.after(of_connection), "Errored: send_disconnect_resp(DisconnectAccept)");
}

// FC-VI D.1 rule 3.
TEST(DisconnectResponder, NoConnection_rqst_received) {
  Rig rig;
  EXPECT_EQ(rig.after(of_connection), "NoConnection: send_disconnect_resp(ConnectionDoesNotExist)");
  EXPECT_EQ(rig.after(of_unknown_setup), "NoConnection: send_disconnect_resp(ConnectionDoesNotExist)");
}

// FC-VI D.1 rule 6.
TEST(DisconnectResponder, Established_rqst_of_unknown_setup) {
  Rig rig;
  rig.given(SetupOpened{}, ConnectionEstablished{});
  EXPECT_EQ(rig.after(of_unknown_setup), "Established: send_disconnect_resp(ProtocolError)");
}

// FC-VI C.5.9.2: before T2 expires.
TEST(DisconnectResponder, SetupOpen_rqst_received) {
  Rig rig;
  rig.given(SetupOpened{});
  EXPECT_EQ(rig.after(of_setup), "Errored: abort_setup, send_disconnect_resp(DisconnectAccept)");
}

Rig set_up() {
  Rig rig;
  rig.given(SetupOpened{});
  return rig;
}
Rig established() {
  Rig rig;
  rig.given(SetupOpened{}, ConnectionEstablished{});
  return rig;
}
Rig errored() {
  Rig rig;
  rig.given(SetupOpened{}, ConnectionEstablished{}, EndpointErrored{});
  return rig;
}
Rig quarantined() {
  Rig rig;
  rig.given(SetupOpened{}, ConnectionEstablished{}, EndpointErrored{}, EndpointDisconnected{});
  return rig;
}

// FC-VI D.1 rule 6: CONN_SETUP_ABORT with the FCVI_CONNECTION_ID of another set-up changes nothing, whatever the state.
TEST(DisconnectResponder, rqst_of_unknown_setup) {
  EXPECT_EQ(set_up().after(of_unknown_setup), "SetupOpen: send_disconnect_resp(ProtocolError)");
  EXPECT_EQ(errored().after(of_unknown_setup), "Errored: send_disconnect_resp(ProtocolError)");
  EXPECT_EQ(quarantined().after(of_unknown_setup), "Quarantined: send_disconnect_resp(ProtocolError)");
}

// FC-VI 7.7.1, 8.4.2 g), 8.5.3 c): a logout; the endpoint stays in Error until its own Disconnect, an Idle one is done.
TEST(DisconnectResponder, port_logged_out) {
  EXPECT_EQ(Rig{}.after(PortLoggedOut{}), "NoConnection:");
  EXPECT_EQ(set_up().after(PortLoggedOut{}), "Errored:");
  EXPECT_EQ(established().after(PortLoggedOut{}), "Errored: endpoint_lost");
  EXPECT_EQ(errored().after(PortLoggedOut{}), "Errored:");
  EXPECT_EQ(quarantined().after(PortLoggedOut{}), "NoConnection:");
}

// FC-VI 8.2 b), VI-ARCH 5.2: a set-up that made no connection leaves nothing behind (D.1 rule 3).
TEST(DisconnectResponder, SetupOpen_closed) {
  Rig rig = set_up();
  EXPECT_EQ(rig.after(EndpointDisconnected{}), "NoConnection:");
  EXPECT_EQ(rig.after(of_connection), "NoConnection: send_disconnect_resp(ConnectionDoesNotExist)");
}

// FC-VI 8.5.3 a) d): a set-up that failed puts its endpoint into Error: the peer's request is still accepted.
TEST(DisconnectResponder, SetupOpen_failed) {
  Rig rig = set_up();
  EXPECT_EQ(rig.after(EndpointErrored{}), "Errored:");
  EXPECT_EQ(rig.after(of_setup), "Errored: send_disconnect_resp(DisconnectAccept)");
}

// FC-VI B.2.4 rule 1 c): the logout released the handle before our Disconnect; then it is as if never used.
TEST(DisconnectResponder, Errored_handle_released) {
  Rig rig = errored();
  EXPECT_EQ(rig.after(HandleReleased{}), "NoConnection:");
  EXPECT_EQ(rig.after(EndpointDisconnected{}), "NoConnection:");
}

// VI-DG 3.3.5: VipDisconnect of an Idle VI does not shorten the handle's rest (FC-VI 8.4.2 f).
TEST(DisconnectResponder, Quarantined_disconnected_again) {
  EXPECT_EQ(quarantined().after(EndpointDisconnected{}), "Quarantined:");
}

}  // namespace
}  // namespace machines::disconnect_responder
