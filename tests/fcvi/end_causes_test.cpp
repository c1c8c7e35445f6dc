// What Provider::end_cause() says of a connection that ended, at both ends (FC-VI 5.9.7.3, Table 12; D.1 rule 1 a);
// VI-ARCH 7.1 to 7.3, VI-DG 3.3.5, 3.8.1, 5.2, 6.2).
#include "tests/fcvi/failing_nodes.hpp"

namespace {
using support::by_descriptor;
using support::by_transport;
using support::Failing;
using support::Level;
using support::lose;
using wire::RCtl;

using namespace support::levels_and_classes;

// What Provider::end_cause() says at both ends (its header; FC-VI 5.9.7.3, Table 12, ruling 41): who found the error
// says what it was, the other end what it was told by the answer or by the DISCONNECT_RQST.
constexpr const char* by_us = "VipDisconnect was called here";
constexpr const char* by_no_receive = "the peer sent a message for which no receive was posted here";
constexpr const char* by_length =
    "the peer sent a message that was longer than its receive here, or the receive was not valid";
constexpr const char* by_protection = "the peer's message met memory here that is not registered for it";
constexpr const char* peer_left = "the peer disconnected";
constexpr const char* peer_gone = "the peer's port left the fabric: its process ended, or its link";
constexpr const char* link_lost = "the link of this NIC to its fabric was lost";
constexpr const char* peer_transport =
    "the peer ended the connection: it missed frames or answers of ours (Transport Error, 40h)";
constexpr const char* peer_protection =
    "the peer ended the connection: an RDMA of ours named memory that it does not allow (RDMA Protection Error)";
constexpr const char* peer_descriptor =
    "the peer ended the connection: it had no receive for a message of ours, or one that did not fit (Remote "
    "Descriptor Error, 42h)";
constexpr const char* peer_protocol = "the peer ended the connection: another error of it or of the protocol";

struct KnownCause {
  void (Failing::*provoke)();
  unsigned levels;
  unsigned classes;
  const char *at_client, *at_server;
};
constexpr KnownCause known_causes[] = {
    {&Failing::no_receive, reliable, class_3, peer_descriptor, by_no_receive},
    {&Failing::receive_too_small, reliable, class_3, peer_descriptor, by_length},
    {&Failing::receive_memory_gone, reliable, class_3, peer_descriptor, by_protection},
    {&Failing::write_refused, reliable, class_3, peer_protection, by_protection},
    {&Failing::write_immediate_refused, reliable, class_3, peer_protection, by_protection},
    {&Failing::read_refused, reliable, class_3, peer_protection, by_protection},
    {&Failing::read_source_gone, reliable, class_3, peer_protection, by_protection},
    {&Failing::send_frame_lost, reliable, class_3, peer_transport, by_transport},
    {&Failing::write_frame_lost, reliable, class_3, peer_protocol, by_transport},
    {&Failing::frame_of_another_length, reliable, class_3, peer_protocol, by_transport},
    {&Failing::send_of_bad_format, reliable, class_3, by_descriptor, peer_descriptor},
    {&Failing::send_memory_gone, reliable, class_3, by_descriptor, by_transport},
    {&Failing::read_target_gone, reliable, class_3, by_descriptor, by_transport},
    {&Failing::post_refused, every, class_3, by_descriptor, peer_descriptor},
    {&Failing::overrun, every, class_3, by_descriptor, peer_left},
    {&Failing::send_answered_transport, R, class_3, by_transport, ""},
    {&Failing::send_answered_descriptor, R, class_3, peer_descriptor, ""},
    {&Failing::write_answered_protection, R, class_3, peer_protection, ""},
    {&Failing::no_answer_to_send, R, class_3, by_transport, peer_transport},
    {&Failing::no_answer_to_read, reliable, class_3, by_transport, peer_transport},
    {&Failing::send_rejected, R, class_2, by_transport, peer_transport},
    {&Failing::peer_disconnects_in_the_middle, every, class_3, peer_left, ""},
    {&Failing::link_lost_in_the_middle, every, class_3, link_lost, peer_gone},
};
struct KnownInstance {
  KnownCause cause;
  Level level;
  friend std::ostream& operator<<(std::ostream& out, const KnownInstance& instance) {
    return out << instance.cause.at_client;
  }
};
std::vector<KnownInstance> known_instances() {
  std::vector<KnownInstance> all;
  for (const KnownCause& cause : known_causes)
    for (const auto& [bit, level] :
         {std::pair{U, Level::UnreliableDelivery}, {D, Level::ReliableDelivery}, {R, Level::ReliableReception}})
      if ((cause.levels & bit) != 0) all.push_back({cause, level});
  return all;
}
class KnownCauses : public Failing, public ::testing::WithParamInterface<KnownInstance> {
 public:
  KnownCauses() : Failing(GetParam().cause.classes == class_2) {}
};
INSTANTIATE_TEST_SUITE_P(Row, KnownCauses, ::testing::ValuesIn(known_instances()));

TEST_P(KnownCauses, connected_fails_bothEndsSayWhy) {
  begin(GetParam().level);
  EXPECT_EQ(cause_known(*client_vi), "");
  EXPECT_EQ(cause_known(*server_vi), "");
  (this->*GetParam().cause.provoke)();
  fabric.run_for(25 * runtime::second);
  EXPECT_EQ(cause_known(*client_vi), GetParam().cause.at_client);
  EXPECT_EQ(cause_known(*server_vi), GetParam().cause.at_server);
  const bool nobodys_error = GetParam().cause.at_client == peer_left;
  EXPECT_EQ(fcvi::Provider::end_cause(*client_vi).peer_left, nobodys_error);
  const std::string at_server = GetParam().cause.at_server;
  EXPECT_EQ(fcvi::Provider::end_cause(*server_vi).peer_left, at_server == peer_left || at_server == peer_gone);
}

/// A DISCONNECT_RQST of the server's with these flags and this code.
class ToldCause : public Failing, public ::testing::WithParamInterface<Level> {
 public:
  ToldCause() : Failing(false) {}
  void disconnect_with(unsigned flags, unsigned code) {
    support::ForgedFrame frame;
    frame.header = {.r_ctl = RCtl::unsolicited_control,
                    .d_id = client->port.n_port_id(),
                    .s_id = server->port.n_port_id(),
                    .type = wire::Type::fc_vi,
                    .f_ctl = wire::f_ctl::first_sequence | wire::f_ctl::end_sequence | wire::f_ctl::sequence_initiative,
                    .ox_id = {0x5001},
                    .rx_id = wire::RxId::unassigned};
    const wire::fcvi::DisconnectRqst rqst{.handle = wire::FcviHandle{handle++}, .status = {}};
    frame.set(rqst.to_device_header());
    frame.data[5] = static_cast<std::uint8_t>(flags);
    frame.data[13] = static_cast<std::uint8_t>(code);
    fabric.fabric.ingress_of(server->port)->receive(frame.build(fabric.pool));
    fabric.run_for(runtime::millisecond);
  }
  static const char* by_code(unsigned code) {
    switch (code) {
      case 0x40:
      case 0x46: return peer_transport;
      case 0x42: return peer_descriptor;
      case 0x41:
      case 0x43:
      case 0x47: return peer_protection;
      default: return peer_protocol;
    }
  }
  std::uint32_t handle = 1;
};
INSTANTIATE_TEST_SUITE_P(Level, ToldCause, support::all_levels, support::level_name);

// FC-VI Table 12, 5.9.7.3, 5.9.4.6: the code says what the peer met; where its application disconnects, or no code is
// there, it left.
TEST_P(ToldCause, connected_disconnected_codeSaysWhy) {
  constexpr unsigned conn_sts = 1, vi_app_discon = 2;
  for (unsigned code = 0x3F; code < 0x4D; ++code) {
    SCOPED_TRACE(code);
    begin(GetParam(), std::to_string(code));
    disconnect_with(conn_sts, code);
    EXPECT_EQ(cause_known(*client_vi), by_code(code));
    EXPECT_FALSE(fcvi::Provider::end_cause(*client_vi).peer_left);
  }
  for (const auto& [flags, code] :
       {std::pair{0u, 0u}, {0u, 0x42u}, {conn_sts | vi_app_discon, 0x42u}, {vi_app_discon, 0u}}) {
    SCOPED_TRACE(flags);
    begin(GetParam(), std::to_string(flags) + " and " + std::to_string(code));
    disconnect_with(flags, code);
    EXPECT_EQ(cause_known(*client_vi), peer_left);
    EXPECT_TRUE(fcvi::Provider::end_cause(*client_vi).peer_left);
  }
}

// VI-DG 3.3.5, FC-VI 8.6.3 a): nobody answers VipDisconnect: the VI stays in Error, by its own doing.
TEST_P(ToldCause, connected_disconnectUnanswered_wasOurs) {
  begin(GetParam());
  faults.on_control = [](const wire::FcHeader&) { return lose; };
  EXPECT_EQ(disconnect(*client, *client_vi), vi::Return::NotReachable);
  EXPECT_EQ(cause_known(*client_vi), by_us);
}

// The first cause stays, whatever follows: a descriptor here, then the peer's DISCONNECT_RQST, then VipDisconnect.
TEST_P(ToldCause, ended_endsAgain_firstCauseStays) {
  begin(GetParam());
  post_refused();
  fabric.run_for(runtime::millisecond);
  disconnect_with(1, 0x40);
  faults.on_control = [](const wire::FcHeader&) { return lose; };
  disconnect(*client, *client_vi);
  EXPECT_EQ(cause_known(*client_vi), by_descriptor);
}

}  // namespace
