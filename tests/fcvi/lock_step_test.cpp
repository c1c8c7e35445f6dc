// Both ends agree on which message failed and how (FC-VI Annex E, 5.3.5, 5.9.4.3, 8.4.2 e; VI-ARCH 2.5.3, 6.3.1.1):
// refusals, errors that overtake responses, memory that goes away, and what comes behind a RDMA Read.
#include "tests/fcvi/lock_step_nodes.hpp"
#include "tests/fcvi/own_memory.hpp"
#include "wire/fcvi/disconnect_rqst.hpp"

namespace {
using support::late;
using support::Level;
using support::LockStep;
using support::LockStepAnyOrder;
using support::MessageFrame;
using support::own_descriptor;
using support::pass;
using support::register_own;
using wire::RCtl;

class LockStepShortRaTov : public LockStep {
 public:
  LockStepShortRaTov() : LockStep({}, {}, fabric_of()) {}
  static fc2::SwitchConfig fabric_of() {
    fc2::SwitchConfig config = support::fabric_order(false);
    config.r_a_tov = 50 * runtime::millisecond;
    return config;
  }
};

// FC-VI 8.4.2 e), 5.3.5, VI-DG 6.2, ruling 18: the memory of an RDMA Read goes away at the target in the middle: the
// originator hears it in a READ_RESP, the target's VI goes to Error, and its DISCONNECT_RQST comes behind that and does
// not count the read (6.12.2).
TEST_F(LockStep, reading_memoryLostInTheMiddle_bothEndsKnow) {
  begin(Level::ReliableReception);
  receive(), send(1, 100);
  fabric.run_for(runtime::millisecond);
  const auto own = register_own(*server, server->data + large, large);
  const auto read = client->descriptor(vi::control::op_rdma_read, {{client->data, large}}, server->data + large, own);
  client_vi->post_send(read, client->handle);
  fabric.run_for(2 * runtime::millisecond);  // of ten
  ASSERT_EQ(server->nic.memory().deregister(server->data + large, own), vi::Return::Success);
  fabric.run_for(runtime::second);
  EXPECT_EQ(client->status(read), vi::status::done | vi::status::rdma_protection_error | vi::status::op_rdma_read);
  EXPECT_EQ(client_vi->state(), vi::State::Error);
  EXPECT_EQ(server_vi->state(), vi::State::Error);
  EXPECT_EQ(server->count(vi::ErrorCode::RdmaRProt), 1);
  const auto* told =
      log.find([](const support::LoggedFrame& f) { return !f.outbound && f.is(RCtl::unsolicited_control); });
  ASSERT_NE(told, nullptr);
  EXPECT_EQ(wire::fcvi::DeviceHeader::parse(32, told->data)->msg_id.value, 1u)
      << "message 1 is the last that was completed";
  const support::LoggedFrame* last = nullptr;
  for (const support::LoggedFrame& frame : log.frames())
    if (!frame.outbound && frame.is(RCtl::solicited_data)) last = &frame;
  ASSERT_NE(last, nullptr);
  EXPECT_EQ(last->data.size(), 32u) << "without payload";
  EXPECT_NE(last->header.f_ctl & wire::f_ctl::last_sequence, 0u);
}

// FC-VI 5.9.4, 5.9.7: what a READ_RQST has in its Flags and FCVI_PARAMETER is no concern of the READ_RESP: zero in all
// of its frames.
TEST_F(LockStep, reading_requestSaysMore_responseDoesNot) {
  begin(Level::ReliableDelivery);
  faults.on_frame = [](MessageFrame& frame) {
    if (frame.from_client) frame.header.parameter = 0x12345678, frame.header.flags = 0x40, frame.rewrite();
    return pass;
  };
  const auto read =
      client->descriptor(vi::control::op_rdma_read, {{client->data, length}}, server->data, server->handle);
  client_vi->post_send(read, client->handle);
  fabric.run_for(runtime::second);
  EXPECT_EQ(client->status(read), vi::status::done | vi::status::op_rdma_read);
  int frames = 0;
  for (const support::LoggedFrame& frame : log.frames()) {
    if (frame.outbound || !frame.is(RCtl::solicited_data)) continue;
    ++frames;
    EXPECT_EQ(frame.data[5], 0);
    EXPECT_EQ(wire::fcvi::DeviceHeader::parse(32, frame.data)->parameter, 0u);
  }
  EXPECT_EQ(frames, 4);
}

// VI-ARCH 2.5.3, FC-VI 5.9.4.3, ruling 41: a message that is too long for its descriptor is refused by its response, of
// one frame or of several; the VI stays Connected until that went.
TEST_F(LockStep, receiving_tooLong_isRefusedByResponse) {
  for (const std::uint32_t bytes : {1000u, 4 * frame_bytes}) {
    SCOPED_TRACE(bytes);
    begin(Level::ReliableReception, bytes == 1000 ? "one" : "several");
    const auto small = server->descriptor(0, {{server->data, 500}});
    server_vi->post_receive(small, server->handle);
    const std::size_t at = sends.size();
    send(1, bytes);
    fabric.run_for(runtime::second);
    EXPECT_EQ(log.count(RCtl::command_status), 1u);
    EXPECT_EQ(sent(at), sent_well | vi::status::remote_descriptor_error);
    EXPECT_EQ(server->status(small), vi::status::done | vi::status::op_receive | vi::status::length_error);
    EXPECT_EQ(server_vi->state(), vi::State::Error);
  }
}

// VI-ARCH 2.5.3, VI-DG 5.2: the same where the descriptor itself is bad: its own error is reported, when the message is
// at its end.
TEST_F(LockStep, receiving_badDescriptor_isRefusedByResponse) {
  begin(Level::ReliableReception);
  const auto bad = server->descriptor(vi::control::op_rdma_write, {{server->data, slot}}, 0, {});
  server_vi->post_receive(bad, server->handle);
  send();
  fabric.run_for(50 * runtime::microsecond);  // of 80
  EXPECT_EQ(server_vi->state(), vi::State::Connected);
  fabric.run_for(runtime::second);
  EXPECT_EQ(sent(0), sent_well | vi::status::remote_descriptor_error);
  EXPECT_EQ(server->status(bad), vi::status::done | vi::status::op_receive | vi::status::format_error);
}

// VI-ARCH 2.5.3, FC-VI 5.9.4.3: the same where the receive's memory goes away in the middle, or before the last frame.
TEST_F(LockStep, receiving_memoryLost_isRefusedByResponse) {
  for (const runtime::TimeNs after : {200 * runtime::microsecond, 602 * runtime::microsecond}) {
    SCOPED_TRACE(after);
    begin(Level::ReliableReception, after < 300'000 ? "middle" : "last");
    const std::uint64_t data = server->data + large;
    const auto own = register_own(*server, data, large);
    const auto descriptor = own_descriptor(*server, data, own, slot);
    server_vi->post_receive(descriptor, server->handle);
    const std::size_t at = sends.size();
    send(1, 60'000);
    fabric.run_for(after);
    ASSERT_EQ(server->nic.memory().deregister(data, own), vi::Return::Success);
    ASSERT_EQ(server->status(descriptor), 0u);
    fabric.run_for(runtime::second);
    EXPECT_EQ(log.count(RCtl::command_status), 1u);
    EXPECT_EQ(sent(at), sent_well | vi::status::remote_descriptor_error);
    EXPECT_EQ(server->status(descriptor), vi::status::done | vi::status::op_receive | vi::status::protection_error);
  }
}

// FC-VI 8.4.1 note 1, B.2.5 rule 7b: the rest of a refused message never comes: the connection breaks after R_A_TOV,
// and the descriptor says what was wrong with it.
TEST_F(LockStep, refusing_restNeverComes_breaksAfterTimeOut) {
  begin(Level::ReliableReception);
  const auto small = server->descriptor(0, {{server->data, 500}});
  server_vi->post_receive(small, server->handle);
  faults.on_frame = [](MessageFrame& frame) { return frame.from_client && frame.number > 1 ? support::lose : pass; };
  send();
  fabric.run_for(5 * runtime::second);
  EXPECT_EQ(server->status(small), 0u);
  fabric.run_for(10 * runtime::second);
  EXPECT_EQ(server->status(small), vi::status::done | vi::status::op_receive | vi::status::length_error);
  EXPECT_EQ(server_vi->state(), vi::State::Error);
}

// FC-VI Annex E, VI-ARCH 2.5.3: message 2 is refused; its response overtakes that of message 1, which was delivered:
// both ends say so.
TEST_F(LockStepAnyOrder, awaiting_refusalOvertakesResponse_earlierCompletes) {
  begin(Level::ReliableReception);
  faults.on_frame = [](MessageFrame& frame) {
    return !frame.from_client && frame.number == 0 ? late(runtime::millisecond) : pass;
  };
  receive(1), send(3, 100);  // the second has no descriptor
  fabric.run_for(runtime::second);
  EXPECT_TRUE(arrived(0, 0, 100));
  EXPECT_EQ(sent(0), sent_well);
  EXPECT_EQ(sent(1), sent_well | vi::status::remote_descriptor_error);
  EXPECT_EQ(sent(2), send_flushed);
}

// FC-VI 5.2.2, ruling 128: on an in-order fabric nothing that was answered is behind the DISCONNECT_RQST: it ends the
// connection at once, and completes nothing.
TEST_F(LockStep, disconnected_responseLost_completesInError) {
  begin(Level::ReliableReception);
  faults.on_frame = [](MessageFrame& frame) { return frame.from_client ? pass : support::lose; };
  receive(1), send(1, 100);
  fabric.run_for(runtime::millisecond);
  EXPECT_TRUE(arrived(0, 0, 100));
  EXPECT_EQ(disconnect(*server, *server_vi), vi::Return::Success);
  EXPECT_EQ(sent(0), send_flushed);
  EXPECT_EQ(client_vi->state(), vi::State::Error);
  const auto told = client->provider.told_by_peer(*client_vi);
  ASSERT_TRUE(told.has_value());
  EXPECT_EQ(told->last_msg_id.value, 1u);
  EXPECT_EQ(told->reason, std::nullopt);
}

// FC-VI Annex E, 8.4.1 a): an error waits for its turn no longer than the message before it for its response: that
// one fails then.
TEST_F(LockStepAnyOrder, awaiting_everythingLostBeforeRefusal_timesOut) {
  begin(Level::ReliableReception);
  faults.on_frame = [](MessageFrame& frame) { return !frame.from_client && frame.number == 0 ? support::lose : pass; };
  faults.on_control = [](const wire::FcHeader& fc) {
    return fc.r_ctl == RCtl::unsolicited_control ? support::lose : pass;
  };
  receive(1), send(2, 100);
  fabric.run_for(5 * runtime::second);
  EXPECT_EQ(sent(0), 0u);
  EXPECT_EQ(sent(1), 0u);
  fabric.run_for(7 * runtime::second);  // FCVI_ULP_TIMEOUT
  EXPECT_EQ(sent(0), send_failed);
  EXPECT_EQ(sent(1), send_flushed);
  EXPECT_EQ(client_vi->state(), vi::State::Error);
}

// FC-VI Annex E: the same on an in-order fabric: the memory of message 2 goes away while it is sent, and nothing is
// begun behind it.
TEST_F(LockStep, sending_localErrorBeforeResponse_earlierCompletes) {
  begin(Level::ReliableReception);
  const std::uint64_t data = client->data + (8u << 20);
  const auto own = register_own(*client, data, slot);
  faults.on_frame = [](MessageFrame& frame) { return frame.from_client ? pass : late(runtime::millisecond); };
  faults.on_control = [this](const wire::FcHeader& fc) {
    return fc.s_id == server->port.n_port_id() ? late(runtime::millisecond) : pass;
  };
  receive(3), send(1, 100);
  const auto second = own_descriptor(*client, data, own, 60'000);
  client_vi->post_send(second, client->handle);
  send(1, 100);
  fabric.run_for(100 * runtime::microsecond);
  ASSERT_EQ(client->nic.memory().deregister(data, own), vi::Return::Success);
  fabric.run_for(runtime::second);
  EXPECT_TRUE(arrived(0, 0, 100));
  EXPECT_EQ(sent(0), sent_well);
  EXPECT_EQ(client->status(second), sent_well | vi::status::protection_error | vi::status::partial_error);
  EXPECT_EQ(sent(1), send_flushed);
  EXPECT_EQ(received(2), receive_flushed);
  EXPECT_EQ(log.count([](const support::LoggedFrame& f) {
    return f.outbound && f.is(RCtl::solicited_data) && wire::fcvi::DeviceHeader::parse(32, f.data)->msg_id.value == 3;
  }),
            0u)
      << "begun behind it";
}

// VI-ARCH 6.3.1.1: on Reliable Reception a Send or RDMA Write that bypasses a RDMA Read has no effect before all read
// data were transmitted. (Our sender lets none bypass; another vendor's may.)
TEST_F(LockStep, reading_sendAndWriteBehind_waitForTheReadData) {
  begin(Level::ReliableReception);
  receive(2);
  std::uint8_t* written = server->bytes(server->data + large);
  *written = 1;
  forge(wire::fcvi::Opcode::read_rqst, RCtl::unsolicited_command, 1, 0x5001, large, 0);  // 10 ms
  forge(wire::fcvi::Opcode::send_rqst, RCtl::solicited_data, 2, 0x5002, 100, 100);
  forge(wire::fcvi::Opcode::write_rqst, RCtl::solicited_data, 3, 0x5003, 100, 100);
  forge(wire::fcvi::Opcode::send_rqst, RCtl::solicited_data, 4, 0x5004, 50, 50);
  fabric.run_for(runtime::millisecond);
  EXPECT_EQ(received(0), 0u) << "the read data are not out yet";
  EXPECT_EQ(*written, 1);
  fabric.run_for(20 * runtime::millisecond);
  EXPECT_EQ(received(0), vi::status::done | vi::status::op_receive);
  EXPECT_EQ(*written, 0x5A);
  EXPECT_EQ(received(1), vi::status::done | vi::status::op_receive);
  EXPECT_EQ(server_vi->state(), vi::State::Connected);
}

// FC-VI B.2.5 rule 4b: a message is missing among those that wait for read data: on an in-order fabric nothing comes
// any more between them, and when their turn comes the one behind the gap tells it.
TEST_F(LockStep, reading_gapBehind_breaksAfterTheReadData) {
  begin(Level::ReliableReception);
  receive(2);
  forge(wire::fcvi::Opcode::read_rqst, RCtl::unsolicited_command, 1, 0x5001, large, 0);  // 10 ms
  forge(wire::fcvi::Opcode::send_rqst, RCtl::solicited_data, 2, 0x5002, 100, 100);
  forge(wire::fcvi::Opcode::send_rqst, RCtl::solicited_data, 4, 0x5004, 100, 100);
  fabric.run_for(runtime::millisecond);
  EXPECT_EQ(server_vi->state(), vi::State::Connected);
  fabric.run_for(20 * runtime::millisecond);
  EXPECT_EQ(received(0), vi::status::done | vi::status::op_receive);
  EXPECT_EQ(received(1), receive_flushed);
  EXPECT_EQ(server_vi->state(), vi::State::Error);
}

// FC-VI B.2.5 rule 7b, VI-ARCH 6.3.1.1: what waits for read data is not missing: it waits longer than R_A_TOV where
// those take so long.
TEST_F(LockStepShortRaTov, reading_longerThanRaTov_whatIsBehindArrives) {
  begin(Level::ReliableReception);
  receive();
  forge(wire::fcvi::Opcode::read_rqst, RCtl::unsolicited_command, 1, 0x5001, 16 * large, 0);  // 160 ms
  forge(wire::fcvi::Opcode::send_rqst, RCtl::solicited_data, 2, 0x5002, 100, 100);
  fabric.run_for(130 * runtime::millisecond);
  EXPECT_EQ(received(0), 0u);
  EXPECT_EQ(server_vi->state(), vi::State::Connected);
  fabric.run_for(100 * runtime::millisecond);
  EXPECT_EQ(received(0), vi::status::done | vi::status::op_receive);
}

// VI-ARCH 6.3.1.1: in the event of an error on the RDMA Read, no receive descriptor is consumed by what came behind it,
// and nothing is written.
TEST_F(LockStep, reading_aborted_whatIsBehindHasNoEffect) {
  begin(Level::ReliableReception);
  receive();
  std::uint8_t* written = server->bytes(server->data + large);
  *written = 1;
  forge(wire::fcvi::Opcode::read_rqst, RCtl::unsolicited_command, 1, 0x5001, large, 0);
  forge(wire::fcvi::Opcode::send_rqst, RCtl::solicited_data, 2, 0x5002, 100, 100);
  forge(wire::fcvi::Opcode::write_rqst, RCtl::solicited_data, 3, 0x5003, 100, 100);
  fabric.run_for(runtime::millisecond);
  support::ForgedFrame abts{.header = {.r_ctl = RCtl::abts,
                                       .d_id = server->port.n_port_id(),
                                       .s_id = client->port.n_port_id(),
                                       .type = wire::Type::bls,
                                       .f_ctl = wire::f_ctl::end_sequence | wire::f_ctl::sequence_initiative,
                                       .ox_id = {0x5001},
                                       .rx_id = wire::RxId::unassigned},
                            .data = {}};
  fabric.fabric.ingress_of(client->port)->receive(abts.build(fabric.pool));
  fabric.run_for(runtime::second);
  EXPECT_EQ(received(0), receive_flushed);
  EXPECT_EQ(*written, 1);
  EXPECT_EQ(server_vi->state(), vi::State::Error);
}

// FC-FS 23.6.1.1: an ABTS of an exchange whose read data went is of nothing here: no IU on it is taken for R_A_TOV. One
// of a read that waits is of the connection, which ends; its handle discards what comes of messages (FC-VI 8.4.2 f).
class ReadAborted : public LockStep {
 public:
  void abort(std::uint16_t ox_id) {
    const support::ForgedFrame abts{.header = {.r_ctl = RCtl::abts,
                                               .d_id = server->port.n_port_id(),
                                               .s_id = client->port.n_port_id(),
                                               .type = wire::Type::bls,
                                               .f_ctl = wire::f_ctl::end_sequence | wire::f_ctl::sequence_initiative,
                                               .ox_id = {ox_id},
                                               .rx_id = wire::RxId::unassigned},
                                    .data = {}};
    fabric.fabric.ingress_of(client->port)->receive(abts.build(fabric.pool));
    fabric.run_for(runtime::millisecond);
  }
  void read(std::uint32_t msg_id, std::uint16_t ox_id, std::uint32_t bytes) {
    forge(wire::fcvi::Opcode::read_rqst, RCtl::unsolicited_command, msg_id, ox_id, bytes, 0);
    fabric.run_for(runtime::millisecond);
  }
  /// A DISCONNECT_RQST on that exchange.
  void disconnect_on(std::uint16_t ox_id) {
    support::ForgedFrame frame;
    frame.header = {.r_ctl = RCtl::unsolicited_control,
                    .d_id = server->port.n_port_id(),
                    .s_id = client->port.n_port_id(),
                    .type = wire::Type::fc_vi,
                    .f_ctl = wire::f_ctl::first_sequence | wire::f_ctl::end_sequence | wire::f_ctl::sequence_initiative,
                    .ox_id = {ox_id},
                    .rx_id = wire::RxId::unassigned};
    frame.set(wire::fcvi::DisconnectRqst{.handle = wire::FcviHandle{0x1001}, .status = {}}.to_device_header());
    fabric.fabric.ingress_of(client->port)->receive(frame.build(fabric.pool));
    fabric.run_for(runtime::millisecond);
  }
  [[nodiscard]] std::uint64_t of_aborted() const {
    return server->port.counters().discarded(fc2::Discard::AbortedExchange);
  }
  [[nodiscard]] std::size_t read_frames() const {
    return log.count([](const support::LoggedFrame& f) { return !f.outbound && f.is(RCtl::solicited_data); });
  }
};
TEST_F(ReadAborted, answered_aborted_rests) {
  begin(Level::ReliableDelivery);
  read(1, 0x5001, 100);
  EXPECT_EQ(read_frames(), 1u);
  abort(0x5001);
  EXPECT_EQ(server_vi->state(), vi::State::Connected);
  disconnect_on(0x5001);
  EXPECT_EQ(of_aborted(), 1u) << "the exchange rests";
  EXPECT_EQ(server_vi->state(), vi::State::Connected);
}
TEST_F(ReadAborted, waiting_aborted_endsTheConnection) {
  begin(Level::ReliableDelivery);
  read(1, 0x5001, large);  // 10 ms
  read(2, 0x5002, 100);
  abort(0x5002);
  EXPECT_EQ(server_vi->state(), vi::State::Error);
  EXPECT_EQ(server->count(vi::ErrorCode::RdmaTransport), 1);
  const auto before = discarded();
  read(2, 0x5002, 100);
  EXPECT_EQ(discarded(), before + 1);
  disconnect_on(0x5002);
  EXPECT_EQ(of_aborted(), 0u);
}

// FC-VI 4.1: read data that ends in the middle, by either end, leaves nothing of the peer's port in use, its
// SEQ_ID above all.
TEST_F(ReadAborted, answering_connectionEnds_nothingIsInUse) {
  for (const bool logout : {false, true}) {
    for (const bool server_ends : {false, true}) {
      begin(Level::ReliableDelivery, std::string(logout ? "logout" : "error") + (server_ends ? "S" : "C"));
      const auto read =
          client->descriptor(vi::control::op_rdma_read, {{client->data, large}}, server->data, server->handle);
      client_vi->post_send(read, client->handle);
      fabric.run_for(runtime::millisecond);
      if (logout)
        (server_ends ? server : client)
            ->port.remote_port((server_ends ? client : server)->port.n_port_id())
            .implicit_logout();
      else
        (server_ends ? server_vi : client_vi)->fail_catastrophically();
      fabric.run_for(30 * runtime::second);  // its exchange is free long since
      EXPECT_EQ((server_ends ? server_vi : client_vi)->state(), vi::State::Error);
      disconnect(*client, *client_vi), disconnect(*server, *server_vi);
      fabric.run_for(60 * runtime::second);
      EXPECT_EQ(server->port.open_exchanges(), 0u);
      EXPECT_FALSE(server->port.remote_port(client->port.n_port_id()).in_use());
      EXPECT_FALSE(client->port.remote_port(server->port.n_port_id()).in_use());
    }
  }
}

// FC-VI 6.6.1, B.2.5 rule 6a: a RDMA Read at Unreliable Delivery, which no VI may send, is an errored message like
// others: what follows it does not wait for R_A_TOV, as if a message were missing.
TEST_F(LockStepAnyOrder, expecting_readAtUnreliable_isAnErroredMessage) {
  begin(Level::UnreliableDelivery);
  receive();
  forge(wire::fcvi::Opcode::read_rqst, RCtl::unsolicited_command, 1, 0x5001, 100, 0);
  fabric.run_for(runtime::millisecond);
  send(2);  // the first has the read's FCVI_MSG_ID
  fabric.run_for(runtime::millisecond);
  EXPECT_TRUE(arrived(1, 0));
  EXPECT_EQ(server_vi->state(), vi::State::Connected);
}

}  // namespace
