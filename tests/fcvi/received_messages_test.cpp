// Frames of messages by hand on a fabric that keeps the order: what is told of each that is wrong, and what is not
// (FC-VI 5.2, 5.8, 5.9.7.3, 6.2 to 6.6, 8.4, B.2.4, B.2.5; VI-ARCH 2.5, 3.2.2; VI-DG 3.8.1).
#include "tests/fcvi/forged_messages.hpp"
#include "tests/fcvi/own_memory.hpp"
#include "tests/fcvi/peer_wire_fixture.hpp"
#include "tests/support/times.hpp"
#include "wire/fcvi/flags.hpp"

namespace {
using support::ForgedAtLevel;
using support::ForgedFrame;
using support::ForgedMessages;
using support::Host;
using support::late;
using support::Level;
using support::pass;
using support::r_a_tov;
using wire::fcvi::Opcode;
using wire::fcvi::Reason;
namespace f_ctl = wire::f_ctl;

class Received : public ForgedAtLevel {
 public:
  Received() : ForgedAtLevel({.in_order = true}) {}
  void expect_end(Reason reason) {
    EXPECT_EQ(server_vi->state(), unreliable() ? vi::State::Connected : vi::State::Error);
    fabric.run_for(runtime::millisecond);
    EXPECT_EQ(disconnect_reason(), unreliable() ? 0u : static_cast<unsigned>(reason));
  }
};
class ReceptionReceived : public Received {};
class UnreliableReceived : public Received {};
class ReliableReceived : public Received {};
class DeliveryReceived : public Received {};
INSTANTIATE_TEST_SUITE_P(Level, DeliveryReceived, ::testing::Values(Level::ReliableDelivery), support::level_name);
INSTANTIATE_TEST_SUITE_P(Level, Received, support::all_levels, support::level_name);
INSTANTIATE_TEST_SUITE_P(Level, ReliableReceived, support::reliable_levels, support::level_name);
INSTANTIATE_TEST_SUITE_P(Level, ReceptionReceived, ::testing::Values(Level::ReliableReception), support::level_name);
INSTANTIATE_TEST_SUITE_P(Level, UnreliableReceived, ::testing::Values(Level::UnreliableDelivery), support::level_name);

// FC-VI 5.9.7.3.1, Table 6: the descriptor of an RDMA Write with Immediate Data is bad: an error of the descriptor, not
// of the target.
TEST_P(Received, writeImmediate_badDescriptor_isADescriptorError) {
  begin();
  const auto bad = server->descriptor(vi::control::op_rdma_write, {{server->data, slot}});
  server_vi->post_receive(bad, server->handle);
  header.flags = wire::fcvi::message_request_flag::imm_data;
  give_write(1);
  EXPECT_EQ(server->status(bad), vi::status::done | vi::status::op_remote_rdma_write | vi::status::format_error);
  expect_end(Reason::remote_descriptor_error);
  EXPECT_EQ(responses(), reception() ? "1:03" : "");
  EXPECT_EQ(placed_at(target, 1), 0);
}

/// Posts what cannot be posted when it is due.
struct BadPost {
  void due() { vi.post_send(1, host.handle); }
  Host& host;
  vi::Vi& vi;
  runtime::Timer<BadPost, &BadPost::due> timer{*this};
};

// VI-ARCH 6.3.1.1, 5.4: two Sends wait for read data to go out. The VI goes to Error in the instant in which the last
// of it goes: they are not taken any more, and nothing is told of them.
TEST_P(ReceptionReceived, waiting_viFailsInTheInstantOfTheLastReadData_restIsDiscarded) {
  begin();
  receive(2);
  support::FrameLog of_server;
  fabric.fabric.tap(server->port, &of_server);
  const runtime::TimeNs begun = fabric.scheduler.now();
  give_read(1, 20'000);
  fabric.run_for(runtime::second);
  const runtime::TimeNs last = of_server.frames().back().at - begun;
  fabric.fabric.tap(server->port, nullptr);
  BadPost post{*server, *server_vi};
  fabric.scheduler.schedule(post.timer, fabric.scheduler.now() + last);  // before the link's own event of that time
  give_read(2, 20'000);
  give_send(3), give_send(4);
  fabric.run_for(runtime::second);
  EXPECT_EQ(told(), "Post Descriptor Error, Connection Lost");
  EXPECT_EQ(server->provider.counters().messages_received, 2u);
  EXPECT_EQ(received(0), receive_flushed);
}

// FC-VI 8.4.2 f), B.2.4 rule 1 c), D.2: a connection that failed has its FCVI_HANDLE until R_A_TOV is over: frames that
// are discarded meanwhile do not release it, and the peer's DISCONNECT_RQST is accepted.
TEST_P(ReliableReceived, failed_frameIsDiscarded_handleStays) {
  begin();
  faults.on_control = [this](const wire::FcHeader& fc) {
    const bool told = fc.s_id == server->port.n_port_id() && fc.r_ctl == wire::RCtl::unsolicited_control;
    return told ? support::lose : pass;
  };
  give_send(1);
  ASSERT_EQ(server_vi->state(), vi::State::Error);
  give_send(2), give_send(3);
  log.clear();
  EXPECT_EQ(disconnect(*client, *client_vi), vi::Return::Success);
  const auto* answer =
      log.find([](const support::LoggedFrame& f) { return !f.outbound && f.is(wire::RCtl::solicited_control); });
  ASSERT_NE(answer, nullptr);
  const auto resp = wire::fcvi::DeviceHeader::parse(32, answer->data);
  EXPECT_EQ(resp->opcode, Opcode::disconnect_resp);
  EXPECT_EQ(resp->parameter >> 16, static_cast<unsigned>(Reason::disconnect_accept));
}

// ... and the target is, where it is that which is bad: the descriptor tells.
TEST_P(Received, writeImmediate_badTarget_isAnRdmaProtectionError) {
  begin();
  receive();
  header.flags = wire::fcvi::message_request_flag::imm_data;
  header.rmt_va_handle = wire::MemHandle{0x4711};
  give_write(1);
  EXPECT_EQ(received(0), vi::status::done | vi::status::op_remote_rdma_write | vi::status::protection_error);
  expect_end(Reason::rdma_protection_error);
  EXPECT_EQ(responses(), reception() ? "1:05" : "");
}

// FC-VI 5.2.1, B.2.5 rules 6a, 6b: the first frame has more than the message, or an offset: no descriptor is claimed.
// Unreliable Delivery: the next message arrives.
TEST_P(Received, expecting_firstFrameIsWrong_isAProtocolError) {
  for (const bool offset : {false, true}) {
    SCOPED_TRACE(offset);
    begin(offset ? "1" : "0");
    const std::size_t first = receives.size();
    receive();
    const auto before = discarded();
    give(bytes_of(Opcode::send_rqst, 1, offset ? 2 * part : part - 4, offset ? 4 : 0, part, 0));
    EXPECT_EQ(discarded(), before + 1);
    EXPECT_EQ(received(first), unreliable() ? 0u : receive_flushed);
    expect_end(Reason::protocol_error);
    if (unreliable()) {
      give_send(2);
      EXPECT_EQ(received(first), received_well);
    }
    disconnect(*server, *server_vi), disconnect(*client, *client_vi);
    log.clear();
  }
}

// FC-FS F_CTL: Last_Sequence and Sequence_Initiative say something in the last frame of a sequence alone.
TEST_P(Received, receiving_endBitsWithinASequence_sayNothing) {
  begin();
  receive();
  ForgedFrame first = frame(Opcode::send_rqst, 1, 0, 2);
  first.header.f_ctl |= f_ctl::last_sequence | f_ctl::sequence_initiative;
  give(first);
  EXPECT_EQ(received(0), 0u);
  give_send(1, 1, 2);
  EXPECT_EQ(placed(0, 1), 2 * part);
  EXPECT_EQ(received(0), received_well);
}

// FC-VI 5.2.1, 5.8.4: a message of two sequences, the first of which has fill bytes, as many as they may be.
TEST_P(Received, receiving_sequencesWithFillBytes_arrive) {
  begin();
  receive(3);
  for (std::uint32_t id = 1; id <= 3; ++id) {
    const std::uint32_t first_bytes = part + id;
    ForgedFrame first = bytes_of(Opcode::send_rqst, id, 2 * part, 0, first_bytes, 0);
    first.header.f_ctl |= f_ctl::end_sequence;
    first.eof = wire::Eof::t;
    give(first);
    EXPECT_EQ(received(id - 1), 0u);
    ForgedFrame second = bytes_of(Opcode::send_rqst, id, 2 * part, first_bytes, 2 * part - first_bytes, 1);
    second.sof = wire::Sof::i3;
    give(second);
    EXPECT_EQ(received(id - 1), received_well);
    EXPECT_EQ(server->control(receives[id - 1]).length_bytes, 2 * part);
  }
}

// FC-VI 5.9.7, 6.2.2: FCVI_PARAMETER is Immediate Data where the flag says so, and then the same in all frames; else
// it says nothing.
TEST_P(Received, receiving_parameterChanges) {
  begin();
  receive(2);
  header.parameter = 5, give_send(1, 0, 2);
  header.parameter = 6, give_send(1, 1, 2);
  EXPECT_EQ(received(0), received_well);
  header.flags = wire::fcvi::message_request_flag::imm_data;
  give_send(2, 0, 2);
  header.parameter = 7, give_send(2, 1, 2);
  EXPECT_EQ(received(1), receive_lost);
  expect_end(Reason::protocol_error);
}

// VI-ARCH 3.2.2: an RDMA Write that ends where the registered memory does, and one that goes a byte further: nothing of
// that is written.
TEST_P(Received, write_beyondItsMemory_isRefusedWhole) {
  begin();
  header.rmt_va_handle = support::register_own(*server, target, 4096);
  header.rmt_va = target + 4096 - 2 * part;
  give_write(1, 0, 2), give_write(1, 1, 2);
  EXPECT_EQ(placed_at(target, 1), 2 * part);
  header.rmt_va += 1;
  give_write(2, 0, 2);
  EXPECT_EQ(placed_at(target, 2), 0);
  if (reception()) {
    EXPECT_EQ(told(), "") << "its response waits for the end";
    give_write(2, 1, 2);
  }
  EXPECT_EQ(server->count(vi::ErrorCode::RdmaWProt), 1);
  expect_end(Reason::remote_rdma_write_protection_error);
}

// ... an RDMA Read likewise: one frame without data says so (ruling 18).
TEST_P(ReliableReceived, read_beyondItsMemory_isRefusedWhole) {
  begin();
  header.rmt_va_handle = support::register_own(*server, target, 4096);
  header.rmt_va = target + 4096 - 2 * part;
  give_read(1, 2 * part);
  fabric.run_for(runtime::millisecond);
  EXPECT_EQ(responses(), "1:00");
  log.clear();
  header.rmt_va += 1;
  give_read(2, 2 * part);
  EXPECT_EQ(server->count(vi::ErrorCode::RdmaRProt), 1);
  expect_end(Reason::remote_rdma_read_protection_error);
  EXPECT_EQ(responses(), "2:05");
  const auto* response =
      log.find([](const support::LoggedFrame& f) { return !f.outbound && f.is(wire::RCtl::solicited_data); });
  ASSERT_NE(response, nullptr);
  EXPECT_EQ(response->data.size(), 32u);
  EXPECT_EQ(wire::fcvi::DeviceHeader::parse(32, response->data)->tot_len_or_connection_id, 2 * part);
}

// ... of no byte of memory that is not enabled for it, too; and it is refused at once, behind another one.
TEST_P(ReliableReceived, read_withoutRight_isRefusedAtOnce) {
  for (const std::uint32_t bytes : {0u, part}) {
    SCOPED_TRACE(bytes);
    begin(std::to_string(bytes));
    wire::MemHandle write_only{};
    ASSERT_EQ(
        server->nic.register_memory(target, server->memory.data() + (target - Host::base), 4096,
                                    {.ptag = {}, .enable_rdma_write = true, .enable_rdma_read = false}, write_only),
        vi::Return::Success);
    give_read(1, 1u << 20);
    header.rmt_va_handle = write_only;
    EXPECT_EQ(server_vi->state(), vi::State::Connected);
    give_read(2, bytes);
    EXPECT_EQ(server_vi->state(), vi::State::Error);
    fabric.run_for(runtime::millisecond);
    disconnect(*server, *server_vi), disconnect(*client, *client_vi);
  }
  EXPECT_EQ(server->count(vi::ErrorCode::RdmaRProt), 2);
}

// VI-DG 3.8.1, ruling 253: at Unreliable Delivery a frame that breaks the rules is told of its message alone; the next
// RDMA Write, which is lost on its way, is told for itself.
TEST_P(UnreliableReceived, writeBreaksRules_nextIsToldForItself) {
  begin();
  give_write(1, 0, 2), give_write(1, 1, 3);
  EXPECT_EQ(told(), to_string(vi::ErrorCode::RdmaTransport));
  give_write(2, 0, 2);
  fabric.run_for(r_a_tov + runtime::millisecond);
  EXPECT_EQ(told(), std::string(to_string(vi::ErrorCode::RdmaTransport)) + ", " +
                        std::string(to_string(vi::ErrorCode::RdmaWAbort)));
  EXPECT_EQ(discarded(), 1u);
}
class UnreliableAnyOrder : public ForgedMessages {};
TEST_F(UnreliableAnyOrder, writeBreaksRules_nextIsToldForItself) {
  begin(Level::UnreliableDelivery);
  give_write(1, 1, 3), give_write(1, 0, 2);
  give_write(2, 0, 2), give_write(3);
  fabric.run_for(r_a_tov + runtime::millisecond);
  EXPECT_EQ(told(), std::string(to_string(vi::ErrorCode::RdmaTransport)) + ", " +
                        std::string(to_string(vi::ErrorCode::RdmaWAbort)));
}

// FC-VI 8.4.1 note 1, B.2.5 rule 7: the rest of a message never comes: a timer tells, and so no frame is
// discarded for it.
TEST_P(Received, receiving_restNeverComes_discardsNoFrame) {
  begin();
  receive();
  const runtime::TimeNs at = fabric.scheduler.now();
  give_send(1, 0, 3);
  fabric.run_for(4 * runtime::second);
  give_send(1, 1, 3);
  fabric.scheduler.run_until(at + 14 * runtime::second - 1);
  EXPECT_EQ(received(0), 0u);
  fabric.scheduler.run_until(at + 14 * runtime::second);
  EXPECT_EQ(received(0), receive_lost);
  EXPECT_EQ(server->control(receives[0]).length_bytes, 0u);
  EXPECT_EQ(discarded(), 0u);
  expect_end(Reason::transport_error);
}

// FC-VI 5.9.7.3.1, 5.9.7.3.2: ... of an RDMA Write with Immediate Data, whose descriptor tells it: the same. No
// descriptor at all is an error of that.
TEST_P(Received, writeImmediate_restNeverComes_isATransportError) {
  begin();
  receive();
  header.flags = wire::fcvi::message_request_flag::imm_data;
  give_write(1, 0, 2);
  fabric.run_for(r_a_tov);
  EXPECT_EQ(received(0), vi::status::done | vi::status::op_remote_rdma_write | vi::status::transport_error |
                             vi::status::partial_error);
  expect_end(Reason::transport_error);
}
TEST_P(Received, send_noDescriptor_isADescriptorError) {
  begin();
  give_send(1);
  EXPECT_EQ(server->count(vi::ErrorCode::RecvQEmpty), 1);
  expect_end(Reason::remote_descriptor_error);
}

// ... that of one which waited for read data (VI-ARCH 6.3.1.1): likewise, from when it was taken.
TEST_P(ReceptionReceived, waiting_restNeverComes_discardsNoFrame) {
  begin();
  receive();
  give_read(1, 1u << 20);
  give_send(2, 0, 2);
  EXPECT_EQ(placed(0, 2), 0);
  fabric.run_for(runtime::second);
  EXPECT_EQ(placed(0, 2), part);
  fabric.run_for(r_a_tov);
  EXPECT_EQ(received(0), receive_lost);
  EXPECT_EQ(discarded(), 0u);
}

// FC-VI 8.4.2 b) d): of what waits behind read data the ABTS of the message that is next ends the connection. That of
// one behind it, or of the first that is here where another is missing, does not: nothing of it was processed yet.
TEST_P(ReceptionReceived, waiting_laterMessageAborted_goesOn) {
  begin();
  receive(2);
  give_read(1, 1u << 20);
  give_send(2), give_send(3);
  give_abts(3);
  EXPECT_EQ(server_vi->state(), vi::State::Connected);
  fabric.run_for(runtime::second);
  EXPECT_EQ(received(0), received_well);
}
TEST_P(ReceptionReceived, waiting_messageBehindAGapAborted_gapTells) {
  begin();
  receive(2);
  give_read(1, 1u << 20);
  give_send(3);
  give_abts(3);
  EXPECT_EQ(server_vi->state(), vi::State::Connected);
  fabric.run_for(runtime::second);
  EXPECT_EQ(server_vi->state(), vi::State::Error);
  EXPECT_EQ(received(0), receive_flushed);
}

// FC-VI B.2.5 rule 4b: at Reliable Delivery nothing waits for read data: a gap is told at once.
TEST_P(DeliveryReceived, reading_messageMissing_isToldAtOnce) {
  begin();
  receive();
  give_read(1, 1u << 20);
  give_send(3);
  EXPECT_EQ(server_vi->state(), vi::State::Error);
  EXPECT_EQ(received(0), receive_flushed);
}

// FC-VI B.2.5 rule 5a: a frame of the past is a Protocol Error, though others wait for read data.
TEST_P(ReceptionReceived, waiting_staleFrame_isAProtocolError) {
  begin();
  receive();
  give_read(1, 1u << 20);
  give_send(2);
  give_read(1, 1u << 20);
  EXPECT_EQ(server_vi->state(), vi::State::Error);
  EXPECT_EQ(received(0), receive_flushed);
  EXPECT_EQ(pool(), 0u);
}

// FC-FS ABTS, FC-VI 8.4.2 b): the exchange of the message that ends with its ABTS is known here, and may serve again at
// once; that of one which is over is not, and rests for R_A_TOV (Recovery_Qualifier).
TEST_P(UnreliableReceived, receiving_aborted_exchangeServesAgain) {
  begin();
  receive(2);
  give_send(1), give_send(2, 0, 2);
  give_abts(2), give_control(2);
  EXPECT_EQ(received(1), receive_lost);
  EXPECT_EQ(server->port.counters().discarded(fc2::Discard::AbortedExchange), 0u);
  give_abts(1), give_control(1);
  EXPECT_EQ(server->port.counters().discarded(fc2::Discard::AbortedExchange), 1u);
}

// FC-VI 6.6.1, C.5.5: an RDMA Read is not allowed at Unreliable Delivery: before RESP2 it does not wait for it.
TEST_P(UnreliableReceived, awaitResp2_read_isDiscardedAtOnce) {
  begin_setup(GetParam(), late(runtime::second), pass);
  give_read(1);
  EXPECT_EQ(discarded(), 1u);
  EXPECT_EQ(pool(), 0u);
  fabric.run_for(2 * runtime::second);
  EXPECT_EQ(responses(), "");
}

// FC-VI C.5.4: the server sends nothing before RESP3, on a fabric that should keep the order, too, and did not: the
// RDMA Read waits for RESP2; the Send before it, which comes behind it, does not.
TEST_P(DeliveryReceived, awaitResp2_readOvertakesASend_waits) {
  begin_setup(GetParam(), late(runtime::second), pass);
  receive();
  give_read(2);
  give_send(1);
  EXPECT_EQ(received(0), received_well);
  fabric.run_for(500 * runtime::millisecond);
  EXPECT_EQ(responses(), "");
  fabric.run_for(runtime::second);
  EXPECT_EQ(responses(), "2:00");
  EXPECT_EQ(server_vi->state(), vi::State::Connected);
}

class FewReplyExchanges : public ForgedMessages {
 public:
  FewReplyExchanges() : ForgedMessages({.in_order = true, .class_2 = true, .max_exchanges = 8}) {}
};

// FC-VI 5.2.2, 8.4.1 a): nobody acknowledges the responses, and no exchange is left for another: the message arrives,
// its originator's time-out tells it.
TEST_F(FewReplyExchanges, responding_noExchange_messageArrives) {
  begin(Level::ReliableReception);
  receive(12);
  const auto sent = server->provider.counters().ius_sent;
  for (std::uint32_t id = 1; id <= 12; ++id) give_send(id);
  for (std::size_t i = 0; i < 12; ++i) EXPECT_EQ(received(i), received_well) << i;
  const auto without = server->port.counters().discarded(fc2::Discard::NoResources);
  EXPECT_GE(without, 4u);
  EXPECT_EQ(server->provider.counters().ius_sent, sent + 12 - without);
  EXPECT_EQ(server_vi->state(), vi::State::Connected);
}

// --- an acceptance that comes to nothing ---------------------------------------------------------------------------

class AcceptedTwice : public support::PeerWire {};

// FC-VI C.5.2, C.5.5: half a message came before RESP2 said that there is no connection. The request waits on, is asked
// again, and the messages of that connection begin anew.
TEST_F(AcceptedTwice, receiving_resp2Refuses_nextConnectionBeginsAnew) {
  post();
  const auto posted = host.descriptor(0, {{host.data, 1u << 16}});
  vi->post_receive(posted, host.handle);
  const auto give = [&](std::uint32_t number) {
    const wire::fcvi::DeviceHeader device{.handle = peer.resp1->payload.handle,
                                          .opcode = Opcode::send_rqst,
                                          .msg_id = {1},
                                          .tot_len_or_connection_id = 300};
    const auto one = support::forged_message(
        host.port.n_port_id(), peer.port.n_port_id(), device,
        {.offset = 100 * number, .bytes = 100, .number = number, .last = number == 2, .content = 'x'});
    host.port.receive(one.build(fabric.pool));
  };
  respond(Reason::no_waiting_remote_connectionpoint);
  request();
  give(0), give(1);
  EXPECT_EQ(host.bytes(host.data)[150], 'x');
  peer.send_resp2(Reason::connect_timeout), settle();
  expect_waits();
  respond(Reason::no_waiting_remote_connectionpoint);
  request();
  give(0), give(1), give(2);
  EXPECT_EQ(host.status(posted), vi::status::done | vi::status::op_receive);
  peer.send_resp2(), settle();
  EXPECT_EQ(call.result, vi::Return::Success);
}
}  // namespace
