// What a DISCONNECT_RQST says of messages that are not answered yet (FC-VI 5.2.2, 5.3.5, 5.9.4.3, 6.12.2, 7.7.1, 8.4.2
// e, Annex E; VI-ARCH 2.5.3, 6.3.1.1): what completes, when the connection ends, and what is told.
#include "tests/fcvi/lock_step_nodes.hpp"
#include "tests/fcvi/own_memory.hpp"
#include "wire/fcvi/disconnect_rqst.hpp"

namespace {
using support::late;
using support::Level;
using support::LockStepAnyOrder;
using support::MessageFrame;
using support::pass;
using wire::RCtl;

/// A DISCONNECT_RQST of the server's for the client's handle, which the server knows nothing of.
class LockStepForged : public LockStepAnyOrder {
 public:
  using LockStepAnyOrder::LockStepAnyOrder;
  void disconnect(std::uint32_t last_msg_id) {
    support::ForgedFrame frame;
    frame.header = {.r_ctl = RCtl::unsolicited_control,
                    .d_id = client->port.n_port_id(),
                    .s_id = server->port.n_port_id(),
                    .type = wire::Type::fc_vi,
                    .f_ctl = wire::f_ctl::first_sequence | wire::f_ctl::end_sequence | wire::f_ctl::sequence_initiative,
                    .ox_id = {0x5001},
                    .rx_id = wire::RxId::unassigned};
    wire::fcvi::DisconnectRqst rqst{
        .handle = wire::FcviHandle{1}, .last_msg_id = {last_msg_id}, .vi_app_discon = true, .status = {}};
    rqst.status = {.reason = wire::fcvi::Reason::remote_rdma_write_protection_error};
    frame.set(rqst.to_device_header());
    fabric.fabric.ingress_of(server->port)->receive(frame.build(fabric.pool));
  }
};

// FC-VI 5.2.2, Annex E, ruling 128: "The FCVI_MSG_ID of the last Message completed by the Disconnect originator"
// makes no descriptor of ours complete: a peer may number its own messages. It is kept, with the Reason Code, for who
// asks (5.9.7.3.2 NOTE).
TEST_F(LockStepForged, disconnected_responsesNeverCame_completesInError) {
  begin(Level::ReliableReception);
  faults.on_frame = [](MessageFrame& frame) {
    return frame.from_client ? support::lose : pass;
  };  // nothing arrives there
  send(2, 100);
  fabric.run_for(runtime::millisecond);
  EXPECT_FALSE(client->provider.told_by_peer(*client_vi).has_value());
  disconnect(2);
  fabric.run_for(5 * runtime::second);
  EXPECT_EQ(sent(0), 0u) << "what the peer may have answered is waited for, R_A_TOV";
  EXPECT_EQ(client_vi->state(), vi::State::Connected);
  EXPECT_NE(log.find([](const support::LoggedFrame& f) { return f.outbound && f.is(RCtl::solicited_control); }),
            nullptr)
      << "answered at once";
  fabric.run_for(6 * runtime::second);
  for (std::size_t i = 0; i < 2; ++i) EXPECT_NE(sent(i) & vi::status::error_mask, 0u) << i;
  EXPECT_EQ(client_vi->state(), vi::State::Error);
  EXPECT_EQ(client->count(vi::ErrorCode::ConnLost), 1);
  const auto told = client->provider.told_by_peer(*client_vi);
  ASSERT_TRUE(told.has_value());
  EXPECT_EQ(told->last_msg_id.value, 2u);
  EXPECT_EQ(told->reason, wire::fcvi::Reason::remote_rdma_write_protection_error);
  ASSERT_EQ(client->errors.size(), 1u);
  EXPECT_EQ(client->errors[0].cause, "the peer disconnected");
  EXPECT_EQ(fcvi::Provider::end_cause(*client_vi).text, client->errors[0].cause);
}

// FC-VI Annex E: it waits for the answers up to that number alone; nothing more is sent meanwhile, and VipDisconnect
// ends the wait.
TEST_F(LockStepForged, disconnected_waitingForResponses) {
  begin(Level::ReliableReception);
  faults.on_frame = [](MessageFrame& frame) { return frame.from_client ? pass : late(frame.number * runtime::second); };
  receive(3), send(2, 100);
  fabric.run_for(runtime::millisecond);
  EXPECT_EQ(sent(0), sent_well);
  disconnect(2);
  fabric.run_for(runtime::millisecond);
  send(1, 100);
  fabric.run_for(runtime::millisecond);
  EXPECT_EQ(received(2), 0u) << "sent behind the peer's Disconnect";
  EXPECT_EQ(client_vi->state(), vi::State::Connected);
  fabric.run_for(runtime::second);
  EXPECT_EQ(sent(1), sent_well);
  EXPECT_EQ(sent(2), send_flushed);
  EXPECT_EQ(client_vi->state(), vi::State::Error);
  EXPECT_EQ(client->count(vi::ErrorCode::ConnLost), 1);
}
// FC-VI Annex E, 6.12.2: ... for all of them, and no longer: R_A_TOV at the most; the connection is lost once.
TEST_F(LockStepForged, disconnected_waitingForTwo_endsWithTheSecond) {
  begin(Level::ReliableReception);
  faults.on_frame = [](MessageFrame& frame) {
    return frame.from_client ? pass : late((frame.number + 1) * runtime::second);
  };
  receive(3), send(3, 100);
  fabric.run_for(runtime::millisecond);
  disconnect(2);
  fabric.run_for(runtime::second + 500 * runtime::millisecond);
  EXPECT_EQ(sent(0), sent_well);
  EXPECT_EQ(client_vi->state(), vi::State::Connected);
  EXPECT_EQ(client->provider.counters().connections_lost, 0u);
  fabric.run_for(runtime::second);
  EXPECT_EQ(sent(1), sent_well);
  EXPECT_EQ(sent(2), send_flushed);
  EXPECT_EQ(client_vi->state(), vi::State::Error);
  EXPECT_EQ(client->provider.counters().connections_lost, 1u);
  fabric.run_for(20 * runtime::second);
  EXPECT_EQ(client->provider.counters().connections_lost, 1u);
  EXPECT_EQ(client->provider.counters().reorder_pool_full, 0u);
}
TEST_F(LockStepForged, disconnected_waitingInVain_endsAfterRaTov) {  // ruling 128
  begin(Level::ReliableReception);
  faults.on_frame = [](MessageFrame& frame) { return frame.from_client ? support::lose : pass; };
  send(1, 100);
  fabric.run_for(runtime::millisecond);
  disconnect(1);
  fabric.run_for(9 * runtime::second);
  EXPECT_EQ(client->provider.counters().connections_lost, 0u);
  fabric.run_for(2 * runtime::second);
  EXPECT_EQ(client_vi->state(), vi::State::Error);
  EXPECT_EQ(client->provider.counters().connections_lost, 1u);
}
// ... and what is being sent is not sent on.
TEST_F(LockStepForged, disconnected_sending_stops) {
  begin(Level::ReliableReception);
  faults.on_frame = [](MessageFrame& frame) { return frame.from_client ? pass : support::lose; };
  receive(2), send(1, 100), send(1, 60'000);
  fabric.run_for(200 * runtime::microsecond);  // of 600
  disconnect(1);
  fabric.run_for(10 * runtime::microsecond);
  const auto out = log.count([](const support::LoggedFrame& f) { return f.outbound && f.is(RCtl::solicited_data); });
  fabric.run_for(runtime::second);
  EXPECT_EQ(client_vi->state(), vi::State::Connected);
  EXPECT_EQ(log.count([](const support::LoggedFrame& f) { return f.outbound && f.is(RCtl::solicited_data); }), out);
}
// Ruling 128, FC-VI 6.12.2: at Reliable Delivery there are no responses, and a number of 0 names no message, also where
// ids are high: at once.
TEST_F(LockStepForged, delivery_disconnected_endsAtOnce) {
  begin(Level::ReliableDelivery);
  faults.on_frame = [](MessageFrame& frame) { return frame.from_client ? pass : support::lose; };
  const auto read = client->descriptor(vi::control::op_rdma_read, {{client->data, 100}}, server->data, server->handle);
  client_vi->post_send(read, client->handle);
  fabric.run_for(runtime::millisecond);
  disconnect(1);
  fabric.run_for(runtime::millisecond);
  EXPECT_EQ(client_vi->state(), vi::State::Error);
  EXPECT_EQ(client->status(read), vi::status::done | vi::status::op_rdma_read | vi::status::flushed);
}
class LockStepForgedAtTheWrap : public LockStepForged {
 public:
  LockStepForgedAtTheWrap() : LockStepForged(fcvi::ProviderConfig{.address = {}, .first_msg_id = {0xFFFFFFFE}}) {}
};
TEST_F(LockStepForgedAtTheWrap, disconnected_peerCompletedNothing_endsAtOnce) {  // FC-VI 6.12.2
  begin(Level::ReliableReception);
  faults.on_frame = [](MessageFrame& frame) { return frame.from_client ? support::lose : pass; };
  send(1, 100);
  fabric.run_for(runtime::millisecond);
  disconnect(0);
  fabric.run_for(runtime::millisecond);
  EXPECT_EQ(client_vi->state(), vi::State::Error);
  EXPECT_EQ(sent(0), send_flushed);
}
TEST_F(LockStepForged, disconnected_onlyLaterMessagesOpen_endsAtOnce) {  // FC-VI Annex E
  begin(Level::ReliableReception);
  faults.on_frame = [](MessageFrame& frame) { return frame.from_client || frame.number == 0 ? pass : support::lose; };
  receive(2), send(2, 100);
  fabric.run_for(runtime::millisecond);
  disconnect(1);
  fabric.run_for(runtime::millisecond);
  EXPECT_EQ(sent(0), sent_well);
  EXPECT_EQ(sent(1), send_flushed);
  EXPECT_EQ(client_vi->state(), vi::State::Error);
}
TEST_F(LockStepForged,
       disconnected_waiting_disconnectsItself) {  // VI-DG 3.3.5: no callback for who called VipDisconnect
  begin(Level::ReliableReception);
  faults.on_frame = [](MessageFrame& frame) { return frame.from_client ? support::lose : pass; };
  send(1, 100);
  fabric.run_for(runtime::millisecond);
  disconnect(1);
  fabric.run_for(runtime::millisecond);
  EXPECT_EQ(TwoNodes::disconnect(*client, *client_vi), vi::Return::Success);
  EXPECT_EQ(sent(0), send_flushed);
  EXPECT_EQ(client_vi->state(), vi::State::Idle);
  fabric.run_for(20 * runtime::second);
  EXPECT_EQ(client->count(vi::ErrorCode::ConnLost), 0);
  EXPECT_EQ(client->provider.counters().connections_lost, 0u);
}
TEST_F(LockStepForged, disconnected_waiting_portLogsOut_endsAtOnce) {  // FC-VI 7.7.1
  begin(Level::ReliableReception);
  faults.on_frame = [](MessageFrame& frame) { return frame.from_client ? support::lose : pass; };
  send(1, 100);
  fabric.run_for(runtime::millisecond);
  disconnect(1);
  fabric.run_for(runtime::millisecond);
  client->port.remote_port(server->port.n_port_id()).implicit_logout();
  fabric.run_for(runtime::millisecond);
  EXPECT_EQ(sent(0), send_flushed);
  EXPECT_EQ(client_vi->state(), vi::State::Error);
  EXPECT_EQ(client->count(vi::ErrorCode::ConnLost), 1);
}

}  // namespace
