// Messages that wait for their turn, or for RESP3, at their originator: what goes on beside them, what they keep, and
// in which order errors are told (FC-VI 5.9.6, 7.3, 8.4.1 a), Annex E, Annex F, C.5.5; VI-ARCH 2.5.1, 2.5.3, 6.3.1.1).
#include "tests/fcvi/class_2_nodes.hpp"
#include "tests/fcvi/own_memory.hpp"
#include "tests/support/operations.hpp"
#include "tests/support/times.hpp"
#include "wire/fcvi/disconnect_rqst.hpp"
#include "wire/fcvi/message_status.hpp"

namespace {
using support::Fate;
using support::ForgedFrame;
using support::Host;
using support::late;
using support::Level;
using support::LoggedFrame;
using support::lose;
using support::MessageFrame;
using support::ms;
using support::pass;
using support::read_done;
using support::s;
using support::us;
using wire::fcvi::DeviceHeader;
using wire::fcvi::Opcode;
using wire::RCtl;
namespace f_ctl = wire::f_ctl;
constexpr std::uint32_t write_done = vi::status::done | vi::status::op_rdma_write;
constexpr runtime::TimeNs ulp_timeout = 10 * s;  // R_A_TOV

class Turns : public support::MessageNodes {
 public:
  explicit Turns(fcvi::ProviderConfig config = {}, bool in_order = true, support::TestFabric::Adjust adjust = {})
      : MessageNodes(config, std::move(adjust), support::fabric_order(in_order)) {}
  std::uint64_t rdma(std::uint16_t operation, std::uint32_t bytes, std::uint64_t remote = Host::data) {
    const auto made = client->descriptor(operation, {{client->data + (8u << 20), bytes}}, remote, server->handle);
    client_vi->post_send(made, client->handle);
    return made;
  }
  std::uint64_t read(std::uint32_t bytes) { return rdma(vi::control::op_rdma_read, bytes); }
  /// Memory that nobody registered.
  std::uint64_t refused_write() { return rdma(vi::control::op_rdma_write, 100, 1); }
  /// Of the server's frames.
  void meet(std::function<Fate(MessageFrame&)> fate) {
    faults.on_frame = [=](MessageFrame& frame) { return frame.from_client ? pass : fate(frame); };
  }
  void lose_answers() {
    meet([](MessageFrame&) { return lose; });
  }
  [[nodiscard]] std::size_t frames_out() const {
    return log.count([](const LoggedFrame& f) { return f.outbound && f.is(RCtl::solicited_data); });
  }
  /// The code of the client's DISCONNECT_RQST.
  [[nodiscard]] std::optional<wire::fcvi::Reason> code() const {
    const auto* told = log.find([](const LoggedFrame& f) {
      return f.outbound && f.is(RCtl::unsolicited_control) &&
             f.data[4] == static_cast<std::uint8_t>(Opcode::disconnect_rqst);
    });
    if (told == nullptr) return {};
    const auto status = wire::fcvi::DisconnectRqst::parse(told->data)->status;
    return status ? std::optional(status->reason) : std::nullopt;
  }
};
class TurnsAnyOrder : public Turns {
 public:
  TurnsAnyOrder() : Turns({}, false) {}
};

// --- RESP3 is not here yet (FC-VI C.5.5) -------------------------------------------------------------------------

class BeforeResp3 : public Turns {
 public:
  using Turns::Turns;
  /// The client is Connected; RESP3 comes `delay` late.
  void connect_without_resp3(Level level, runtime::TimeNs delay) {
    int answers = 0;
    faults.on_control = [this, delay, answers](const wire::FcHeader& fc) mutable {
      return fc.s_id == server->port.n_port_id() && fc.r_ctl == RCtl::solicited_control && ++answers == 2 ? late(delay)
                                                                                                          : pass;
    };
    client_vi = &client->make_vi(level);
    server_vi = &server->make_vi(level);
    server->provider.connect_wait(server->net("service"), 10 * s, wait);
    client->provider.connect_request(*client_vi, client->net("client"), server->net("service"), 10 * s, request);
    ASSERT_TRUE(fabric.run_until([&] { return wait.result.has_value(); }));
    server->provider.connect_accept(wait.token, *server_vi, accept);
    ASSERT_TRUE(fabric.run_until([&] { return accept.result && request.result; }));
    ASSERT_EQ(client_vi->state(), vi::State::Connected);
    log.clear();
  }
};
class ManyReads : public BeforeResp3 {
 public:
  ManyReads() : BeforeResp3({.address = {}, .pipeline_depth = 2000}) {}
};
class OneAtATime : public BeforeResp3 {
 public:
  OneAtATime() : BeforeResp3({.address = {}, .pipeline_depth = 0}) {}
};

// FC-VI C.5.5, VI-ARCH 6.3.1.1: RESP3 comes: a Send that was sent completes, though the read before it waits
// for data still.
TEST_F(BeforeResp3, sent_resp3Comes_completesBesideARead) {
  connect_without_resp3(Level::ReliableDelivery, ms);
  meet([](MessageFrame&) { return late(10 * ms); });
  receive();
  const auto reading = read(100);
  send(1, 100);
  fabric.run_for(ms / 2);
  EXPECT_EQ(frames_out(), 1u);
  EXPECT_EQ(sent(0), 0u);
  fabric.run_for(2 * ms);
  EXPECT_EQ(sent(0), sent_well);
  EXPECT_EQ(client->status(reading), 0u);
  fabric.run_for(20 * ms);
  EXPECT_EQ(client->status(reading), read_done);
}

// FC-VI 7.3, C.5.5: FCVI_PIPELINE_DEPTH 0: the first message is open until RESP3 comes; then the next goes.
TEST_F(OneAtATime, sent_resp3Comes_nextGoes) {
  connect_without_resp3(Level::ReliableDelivery, ms);
  receive(2), send(2, 100);
  fabric.run_for(ms / 2);
  EXPECT_EQ(frames_out(), 1u);
  EXPECT_EQ(sent(0), 0u);
  fabric.run_for(2 * ms);
  EXPECT_EQ(sent(0), sent_well);
  EXPECT_EQ(sent(1), sent_well);
}

// FC-VI 5.2.1: a message that was sent has no exchange any more while it waits for RESP3: the end of its connection
// touches none, though messages of another connection have that one now.
TEST_F(ManyReads, sent_disconnected_othersExchangesAreUnhurt) {
  connect_without_resp3(Level::ReliableDelivery, s);
  vi::Vi& first = *client_vi;
  receive(), send(1, 100);
  fabric.run_for(ms / 2);
  EXPECT_EQ(frames_out(), 1u);
  ASSERT_EQ(first.state(), vi::State::Connected);
  faults.on_control = {};
  wait.result.reset(), request.result.reset(), accept.result.reset();
  connect(Level::ReliableDelivery, "other");
  lose_answers();
  for (int i = 0; i < 60;
       ++i) {  // each write frees an exchange, each read keeps one: that of the first message comes round
    read(100), rdma(vi::control::op_rdma_write, 4);
    fabric.run_for(20 * us);
  }
  const std::size_t open = client->port.open_exchanges();
  ASSERT_EQ(disconnect(*client, first), vi::Return::Success);
  EXPECT_EQ(client->port.open_exchanges(), open);
  EXPECT_EQ(sent(0), send_flushed);
}

// --- the order of completions ------------------------------------------------------------------------------------

// VI-ARCH 6.3.1.1: Sends behind a read complete in their own order, all of them, before its data are here.
TEST_F(Turns, reading_sendsBehind_completeInOrder) {
  begin(Level::ReliableDelivery);
  meet([](MessageFrame&) { return late(5 * ms); });
  receive(3);
  const auto reading = read(100);
  send(3, 100);
  fabric.run_for(ms);
  for (std::size_t i = 0; i < 3; ++i) EXPECT_EQ(sent(i), sent_well) << i;
  EXPECT_EQ(client->status(reading), 0u);
  fabric.run_for(10 * ms);
  EXPECT_EQ(client->status(reading), read_done);
}

// Annex E, VI-ARCH 2.5.3: an answer that refuses waits for those before it, and so does a good one behind it: that
// one is flushed.
TEST_F(TurnsAnyOrder, refusalWaits_goodAnswerBehind_isFlushed) {
  begin(Level::ReliableReception);
  meet([](MessageFrame& frame) {
    if (frame.number == 0) return late(5 * ms);
    if (frame.number != 1) return pass;
    frame.header.flags = wire::fcvi::MessageStatus{.resp_err = true, .trans_err = true}.to_flags();
    frame.rewrite();
    return pass;
  });
  receive(3), send(3, 100);
  fabric.run_for(ms);
  for (std::size_t i = 0; i < 3; ++i) EXPECT_EQ(sent(i), 0u) << i;
  fabric.run_for(10 * ms);
  EXPECT_EQ(sent(0), sent_well);
  EXPECT_EQ(sent(1), send_failed);
  EXPECT_EQ(sent(2), send_flushed);
  EXPECT_EQ(client_vi->state(), vi::State::Error);
}

// Annex E, FC-VI 5.9.7.3.1: two refusals wait: the first is told, by its own code; the second is flushed.
TEST_F(TurnsAnyOrder, twoRefusalsWait_firstIsTold) {
  begin(Level::ReliableReception);
  meet([](MessageFrame& frame) {
    if (frame.number == 0) return late(5 * ms);
    const bool first = frame.number == 1;
    using wire::fcvi::message_response_flag::desc_err, wire::fcvi::message_response_flag::prot_err;
    frame.header.flags = wire::fcvi::message_response_flag::resp_err | (first ? prot_err : desc_err);
    frame.rewrite();
    return pass;
  });
  receive(2), send(1, 100);
  const auto second = rdma(vi::control::op_rdma_write, 100, Host::data + (8u << 20));
  send(1, 100);
  fabric.run_for(ms);
  EXPECT_EQ(client->status(second), 0u);
  fabric.run_for(10 * ms);
  EXPECT_EQ(sent(0), sent_well);
  EXPECT_EQ(client->status(second), write_done | vi::status::rdma_protection_error);
  EXPECT_EQ(sent(1), send_flushed);
  disconnect(*client, *client_vi);
  EXPECT_EQ(code(), wire::fcvi::Reason::rdma_protection_error);
}

// VI-ARCH 2.5.1: the memory of a message goes while it is sent: it ends, and the next is sent as if nothing had been.
TEST_F(Turns, unreliableSending_memoryLost_nextIsSent) {
  begin(Level::UnreliableDelivery);
  const std::uint64_t data = client->data + (8u << 20);
  const auto own = support::register_own(*client, data, slot);
  receive(2);
  const auto lost = support::own_descriptor(*client, data, own, 60'000);
  client_vi->post_send(lost, client->handle);
  send(2, length);
  fabric.run_for(200 * us);  // of 600
  ASSERT_EQ(client->nic.memory().deregister(data, own), vi::Return::Success);
  fabric.run_for(s);
  EXPECT_EQ(client->status(lost), sent_well | vi::status::protection_error | vi::status::partial_error);
  EXPECT_EQ(sent(0), sent_well);
  EXPECT_EQ(sent(1), sent_well);
  EXPECT_TRUE(arrived(0, 1));
  EXPECT_EQ(log.count(RCtl::abts), 1u);
}

// --- time-outs (FC-VI 8.4.1 a, B.2.6.2 rule 9) -------------------------------------------------------------------

/// A message, and then one more, whose answers come when `first` tells after the end of the first.
class AnswerAt : public Turns {
 public:
  void send_two(runtime::TimeNs first) {
    meet([this, first](MessageFrame& frame) {
      if (frame.number > 0) return pass;
      const auto* asked = log.find([](const LoggedFrame& f) { return f.outbound && f.is(RCtl::solicited_data); });
      return late(asked->at + first - frame.frame.arrival);
    });
    receive(2), send(1, 100);
    fabric.run_for(ms);
    lose_answers();
    send(1, 100);
    fabric.run_for(ulp_timeout - ms / 2);  // that of the second is not over
  }
};

// The response to a message comes just in time, or in the very moment when FCVI_ULP_TIMEOUT is over; a later
// message changes nothing.
TEST_F(AnswerAt, awaitResponse_justInTime_completes) {
  begin(Level::ReliableReception);
  send_two(ulp_timeout - 1);
  EXPECT_EQ(sent(0), sent_well);
  EXPECT_EQ(client_vi->state(), vi::State::Connected);
}
TEST_F(AnswerAt, awaitResponse_atTheTimeOut_isLate) {  // FC-VI 8.4.1 a)
  begin(Level::ReliableReception);
  send_two(ulp_timeout);
  EXPECT_EQ(sent(0), send_failed);
  EXPECT_EQ(client_vi->state(), vi::State::Error);
}

// FC-VI 8.4.1 a): the time-out of a message is its own: one that ran out with nothing open does not keep a later one
// from failing in time.
TEST_F(Turns, awaitResponse_afterAnEarlierTimeOut_timesOutToo) {
  begin(Level::ReliableReception);
  receive(2), send(1, 100);
  fabric.run_for(11 * s);
  EXPECT_EQ(sent(0), sent_well);
  lose_answers();
  send(1, 100);
  fabric.run_for(ulp_timeout - ms);
  EXPECT_EQ(sent(1), 0u);
  fabric.run_for(2 * ms);
  EXPECT_EQ(sent(1), send_failed);
  EXPECT_EQ(client_vi->state(), vi::State::Error);
}

// FC-VI 8.4.1 a), VI-ARCH 6.3.1.1: reads are answered in order: while data of the first come, the second waits its
// turn, longer than FCVI_ULP_TIMEOUT; and not longer than that after the last of them.
TEST_F(Turns, reading_slowData_laterReadWaits) {
  begin(Level::ReliableDelivery);
  meet([](MessageFrame& frame) { return frame.number < 4 ? late((frame.number + 1) * 6 * s) : lose; });
  const auto first = read(length), second = read(100);
  fabric.run_for(23 * s);
  EXPECT_EQ(client->status(first), 0u);
  EXPECT_EQ(client->status(second), 0u);
  EXPECT_EQ(client_vi->state(), vi::State::Connected);
  fabric.run_for(10 * s);
  EXPECT_EQ(client->status(first), read_done);
  EXPECT_EQ(client->status(second), 0u);
  fabric.run_for(2 * s);
  EXPECT_EQ(client->status(second), read_done | vi::status::transport_error);
}

// ... a Send does not: read data are not its answer.
TEST_F(TurnsAnyOrder, awaitResponse_readDataComes_timesOutAllTheSame) {
  begin(Level::ReliableReception);
  meet([](MessageFrame& frame) { return frame.number == 0 ? lose : late(5 * s); });
  receive(), send(1, 100);
  const auto reading = read(100);
  fabric.run_for(ulp_timeout - ms);
  EXPECT_EQ(sent(0), 0u);
  fabric.run_for(2 * ms);
  EXPECT_EQ(sent(0), send_failed);
  EXPECT_NE(client->status(reading), read_done);
}

// --- what is no answer -------------------------------------------------------------------------------------------

class NoAnswer : public Turns {
 public:
  using Turns::Turns;
  /// From the server, on the exchange of the client's request with that number.
  ForgedFrame answer_to(std::size_t number, Opcode opcode, std::uint32_t msg_ids_later = 0) {
    std::vector<const LoggedFrame*> requests;
    for (const LoggedFrame& frame : log.frames())
      if (frame.outbound && frame.header.type == wire::Type::fc_vi) requests.push_back(&frame);
    DeviceHeader header = *DeviceHeader::parse(32, requests.at(number)->data);
    ForgedFrame response{.header = requests[number]->header, .data = {}};
    std::swap(response.header.s_id, response.header.d_id);
    response.header.r_ctl = wire::fcvi::find_iu(opcode)->r_ctl;
    response.header.f_ctl =
        f_ctl::exchange_responder | f_ctl::last_sequence | f_ctl::end_sequence | f_ctl::relative_offset_present;
    response.header.seq_cnt = {0};
    response.header.parameter = 0;
    header.handle = wire::FcviHandle{1};
    header.opcode = opcode;
    header.flags = 0;
    header.msg_id.value += msg_ids_later;
    response.set(header);
    return response;
  }
  void arrives(const ForgedFrame& frame) { client->port.receive(frame.build(fabric.pool)); }
  [[nodiscard]] std::uint64_t ignored() const { return client->port.counters().discarded(fc2::Discard::UnexpectedIu); }
};
class NoAnswerAnyOrder : public NoAnswer {
 public:
  NoAnswerAnyOrder() : NoAnswer({}, false) {}
};

// FC-VI 5.9.6: an answer to a message that was never sent, on the exchange of one that was, is none.
TEST_F(NoAnswer, awaitResponse_messageNeverSent_isIgnored) {
  begin(Level::ReliableReception);
  faults.on_frame = [](MessageFrame&) { return lose; };
  for (const std::uint32_t open : {1u, 2u, 3u, 4u, 5u, 6u}) {  // whatever memory is left
    send(1, 100);
    fabric.run_for(ms);
    const auto before = ignored();
    arrives(answer_to(0, Opcode::send_resp, open));
    EXPECT_EQ(ignored(), before + 1);
    EXPECT_EQ(sent(0), 0u);
  }
}

// FC-VI Table 1, 5.2.1: a connection IU has no place on a message's exchange: counted, and the message waits on.
TEST_F(NoAnswer, awaitResponse_connectionIu_isIgnored) {
  begin(Level::ReliableReception);
  lose_answers();
  receive(), send(1, 100);
  fabric.run_for(ms);
  auto response = answer_to(0, Opcode::send_resp);
  response.header.r_ctl = RCtl::solicited_control;
  response.header.f_ctl = f_ctl::exchange_responder | f_ctl::end_sequence;
  const auto before = ignored(), discards = client->discarded();
  arrives(response);
  EXPECT_EQ(ignored(), before + 1);
  EXPECT_EQ(client->discarded(), discards + 1) << "for no other reason";
  EXPECT_EQ(sent(0), 0u);
  EXPECT_EQ(client_vi->state(), vi::State::Connected);
}

// FC-VI 5.8.7, 6.7.2: a read of no bytes has one frame of no bytes, at no offset; one of a byte has its byte.
TEST_F(NoAnswerAnyOrder, awaitReadData_emptyFrameElsewhere) {
  begin(Level::ReliableDelivery);
  faults.on_frame = [](MessageFrame&) { return lose; };
  const auto one = read(1);
  fabric.run_for(ms);
  auto answer = answer_to(0, Opcode::read_resp);
  answer.header.parameter = 1;
  arrives(answer);
  EXPECT_EQ(client->port.counters().discarded(fc2::Discard::WrongSequence), 1u) << "it brings nothing";
  EXPECT_EQ(client->status(one), 0u);
  EXPECT_EQ(client->provider.reorder_bytes(), 0u);
  const auto none = read(0);
  fabric.run_for(ms);
  answer = answer_to(1, Opcode::read_resp);
  answer.header.parameter = 4;
  arrives(answer);
  fabric.run_for(ms);
  EXPECT_EQ(client->status(none), read_done | vi::status::transport_error);
  EXPECT_EQ(client->status(one), read_done | vi::status::flushed);
  EXPECT_EQ(client_vi->state(), vi::State::Error);
}

// --- the end -----------------------------------------------------------------------------------------------------

class NumbersRest : public Turns {
 public:
  NumbersRest() : Turns({.address = {}, .first_msg_id = {0x7FFFFFFF}}) {}
};

// FC-VI 5.9.6: the next FCVI_MSG_ID rests; its time comes when the VI is Idle: nothing is sent, and nobody is
// asked any more.
TEST_F(NumbersRest, disconnected_numberIsFree_nothingIsSent) {
  begin(Level::UnreliableDelivery);
  receive(2), send(2, 100);
  fabric.run_for(ms);
  EXPECT_EQ(sent(1), 0u);
  EXPECT_TRUE(client->port.transmitter().idle());
  ASSERT_EQ(disconnect(*client, *client_vi), vi::Return::Success);
  fabric.run_for(10 * s - ms);
  EXPECT_EQ(client->provider.handles_in_use(), 1u);
  EXPECT_TRUE(client->port.transmitter().idle());
  EXPECT_EQ(frames_out(), 1u);
}

// VI-ARCH 5.4, FC-VI 7.7.1: the link is gone in the midst of a message: nothing of it waits for the link.
TEST_F(Turns, sending_linkLost_nothingWaits) {
  begin(Level::ReliableDelivery);
  receive(), send(1, 60'000);
  fabric.run_for(200 * us);  // of 600
  fabric.detach(0);
  fabric.run_for(30 * s);
  EXPECT_EQ(client_vi->state(), vi::State::Error);
  EXPECT_TRUE(client->port.transmitter().idle());
  EXPECT_EQ(client->port.open_exchanges(), 0u);
  fabric.attach(0);
}

// FC-VI 8.4.2 a), VI-ARCH 5.4: the VI model stops a VI that waits for an answer: its exchange is aborted at once,
// before any VipDisconnect.
TEST_F(Turns, awaitResponse_viStops_isAborted) {
  begin(Level::ReliableReception);
  lose_answers();
  receive(), send(1, 100);
  fabric.run_for(ms);
  client_vi->post_send(1, client->handle);  // no descriptor
  EXPECT_EQ(log.count(RCtl::abts), 0u);
  fabric.run_for(ms);
  EXPECT_EQ(log.count(RCtl::abts), 1u);
  EXPECT_EQ(sent(0), send_flushed);
}

// FC-VI 7.3: FCVI_PIPELINE_DEPTH of more than 4095 counts as that: 4096 messages are open at most.
class DeepPipeline : public support::MessageNodes {
 public:
  DeepPipeline()
      : MessageNodes({.address = {}, .pipeline_depth = 5000},
                     [](fc2::NPortConfig& config, std::size_t) { config.max_exchanges = 8192; }) {}
};
TEST_F(DeepPipeline, sending_unanswered_stopsAt4096) {
  vi::Nic nic(client->provider, *client, {.max_descriptors_per_queue = 8192});
  wire::MemHandle own{};
  ASSERT_EQ(nic.register_memory(Host::base, client->memory.data(), client->memory.size(), {}, own),
            vi::Return::Success);
  ASSERT_EQ(nic.create_vi({.reliability = Level::ReliableReception}, nullptr, nullptr, client_vi), vi::Return::Success);
  server_vi = &server->make_vi(Level::ReliableReception);
  server->provider.connect_wait(server->net("service"), 10 * s, wait);
  client->provider.connect_request(*client_vi, client->net("client"), server->net("service"), 10 * s, request);
  ASSERT_TRUE(fabric.run_until([&] { return wait.result.has_value(); }));
  server->provider.connect_accept(wait.token, *server_vi, accept);
  fabric.run_for(ms);
  ASSERT_EQ(request.result, vi::Return::Success);
  int out = 0;
  faults.on_frame = [&](MessageFrame& frame) { return out += frame.from_client, lose; };
  for (int i = 0; i < 4200; ++i) client_vi->post_send(support::own_descriptor(*client, client->data, own, 4), own);
  fabric.run_for(50 * ms);
  EXPECT_EQ(out, 4096);
  client->provider.detach(*client_vi);
  fabric.run_for(60 * s);
}

}  // namespace
