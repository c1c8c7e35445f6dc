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

}  // namespace
}  // namespace machines::disconnect_responder
