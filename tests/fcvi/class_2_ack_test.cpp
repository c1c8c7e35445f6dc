// Class 2: which answers close a sequence, which do not, and what an aborted sequence leaves (FC-VI 5.5, B.2.6.1 rule
// 8; FC-FS ACK, Sequence recovery).
#include "tests/fcvi/class_2_nodes.hpp"

namespace {
using support::Class2Nodes;
using support::late;
using support::Level;
using support::LoggedFrame;
using support::lose;
using support::MessageFrame;
using support::pass;
using wire::RCtl;

class Class2Ack : public Class2Nodes, private fc2::ExchangeUser {
 public:
  using Class2Nodes::Class2Nodes;
  /// Free exchanges are taken in turn: that one is the client's next.
  void bring_to_the_front(wire::OxId ox_id) {
    std::vector<fc2::Exchange*> taken;
    const auto take = [&] {
      return taken.emplace_back(client->port.originate(server->port.n_port_id(), wire::Type::fc_vi, *this))->ox_id();
    };
    const auto give_back = [&] {
      for (fc2::Exchange* exchange : std::exchange(taken, {})) client->port.release(*exchange);
    };
    for (int i = 0; i < 200; ++i) take();
    give_back();  // so many that none is made anew
    std::vector<wire::OxId> turns;
    do turns.push_back(take()), give_back();
    while (turns.size() == 1 || turns.back() != turns.front());
    for (std::size_t i = 1; turns[i] != ox_id; ++i) take(), give_back();
  }

 private:
  void sequence_received(fc2::Exchange&, const wire::FcHeader&, std::span<const std::uint8_t>) override {}
  void exchange_failed(fc2::Exchange&, fc2::ExchangeFailure) override {}
};
class Class2AckAnyOrder : public Class2Nodes {
 public:
  Class2AckAnyOrder() : Class2Nodes({.in_order = false}) {}
};
class Class2ShortTimeOut : public Class2Nodes {
 public:
  Class2ShortTimeOut() : Class2Nodes({.e_d_tov = 400 * runtime::microsecond}) {}
};
class Class2ShortTimeOutAck0 : public Class2Nodes {
 public:
  Class2ShortTimeOutAck0() : Class2Nodes({.ack_0 = true, .e_d_tov = 400 * runtime::microsecond}) {}
};
class Class2Unreliable : public Class2AckAnyOrder {};
class Class2SmallIus : public Class2Nodes {
 public:
  Class2SmallIus() : Class2Nodes({.max_iu_bytes = 5000}) {}
};

// FC-VI 5.2.2, 5.2.3: a Send, or RDMA Write, is answered only at Reliable Reception. A response to one of Reliable
// Delivery, before its ACK, is no answer, and ends nothing.
TEST_F(Class2Ack, sending_unaskedResponseBeforeAck_isIgnored) {
  for (const bool write : {false, true}) {
    SCOPED_TRACE(write);
    begin(Level::ReliableDelivery, write ? "write" : "send");
    faults.on_link_control = [](const wire::FcHeader&) { return late(500 * runtime::millisecond); };
    const auto operation = write ? vi::control::op_rdma_write : vi::control::op_send_receive;
    const auto message = client->descriptor(operation, {{client->data, 100}}, server->data, server->handle);
    receive(), client_vi->post_send(message, client->handle);
    fabric.run_for(runtime::millisecond);
    ASSERT_NE(data_frame(0), nullptr);
    support::ForgedFrame response{.header = data_frame(0)->header, .data = {}};
    std::swap(response.header.s_id, response.header.d_id);
    response.header.r_ctl = RCtl::command_status;
    response.header.f_ctl = wire::f_ctl::exchange_responder | wire::f_ctl::last_sequence | wire::f_ctl::end_sequence;
    const auto opcode = write ? wire::fcvi::Opcode::write_resp : wire::fcvi::Opcode::send_resp;
    response.set({.handle = wire::FcviHandle{write ? 2u : 1u}, .opcode = opcode, .msg_id = {1}});
    const auto ignored = client->port.counters().discarded(fc2::Discard::UnexpectedIu);
    inject(server->port, response.build(fabric.pool));
    fabric.run_for(100 * runtime::millisecond);
    EXPECT_EQ(client->status(message), 0u) << "its ACK is still to come";
    EXPECT_EQ(client->port.counters().discarded(fc2::Discard::UnexpectedIu), ignored + 1);
    fabric.run_for(runtime::second);
    EXPECT_EQ(client->status(message), vi::status::done | (write ? vi::status::op_rdma_write : vi::status::op_send));
    faults.on_link_control = {};
  }
}

// FC-VI 5.2.1, 5.5: the exchange of a message is over with its last ACK, and serves the next message, while the message
// waits for its turn to complete: each ACK counts for its own.
TEST_F(Class2Ack, sending_ackedOutOfTurn_exchangeServesTheNext) {
  begin(Level::ReliableDelivery);
  bool first = true;
  faults.on_link_control = [&](const wire::FcHeader&) {
    return std::exchange(first, false) ? late(500 * runtime::millisecond) : pass;
  };
  receive(3), send(2, 100);
  fabric.run_for(runtime::millisecond);
  const wire::OxId of_second =
      log.find([](const LoggedFrame& f) { return f.outbound && f.is(RCtl::solicited_data) && f.data[11] == 2; })
          ->header.ox_id;
  bring_to_the_front(of_second);
  send(1, 100);
  fabric.run_for(runtime::millisecond);
  EXPECT_EQ(log.count([=](const LoggedFrame& f) {
    return f.outbound && f.is(RCtl::solicited_data) && f.header.ox_id == of_second;
  }),
            2u);
  for (std::size_t i = 0; i < 3; ++i) EXPECT_EQ(sent(i), 0u) << i;
  fabric.run_for(runtime::second);
  for (std::size_t i = 0; i < 3; ++i) EXPECT_EQ(sent(i), sent_well) << i;
}

// FC-VI 8.4.2 d), FC-FS ABTS: two connections have a message open; each ABTS ends that of its own exchange (long
// before R_A_TOV would).
TEST_F(Class2Ack, receiving_twoConnections_eachAbtsFindsItsMessage) {
  begin(Level::UnreliableDelivery, "first");
  receive();
  vi::Vi* const first = client_vi;
  begin(Level::UnreliableDelivery, "second");
  receive();
  faults.on_frame = [](MessageFrame& frame) { return frame.from_client && frame.fc.seq_cnt.value == 3 ? lose : pass; };
  send();
  client_vi = first;
  send();
  fabric.run_for(3 * runtime::second);  // E_D_TOV (B.2.6.1 rule 8e), ABTS
  EXPECT_EQ(received(0), receive_lost);
  EXPECT_EQ(received(1), receive_lost);
}

// FC-VI 5.5: closed when all ACKs for all frames came. That of frame 0 comes twice, that of frame 3 never.
TEST_F(Class2Ack, sending_ackTwice_countsOnce) {
  begin(Level::ReliableDelivery);
  faults.on_frame = support::to_frame(3, lose);
  faults.on_link_control = [](const wire::FcHeader&) { return late(runtime::millisecond); };
  receive(), send();
  fabric.run_for(500 * runtime::microsecond);
  faults.on_link_control = {};
  answer(data_frame(0)->header, RCtl::ack_1, 1);
  fabric.run_for(100 * runtime::millisecond);
  EXPECT_EQ(sent(0), 0u) << "frame 3 was never acknowledged";
  fabric.run_for(3 * runtime::second);
  EXPECT_EQ(sent(0), send_flushed);  // B.2.6.1 rule 8e
}

// FC-VI 5.5: neither an ACK of a SEQ_CNT or SEQ_ID that was never sent nor one in another form closes the sequence.
TEST_F(Class2Ack, sending_ackOfNothingSent_isIgnored) {
  begin(Level::ReliableDelivery);
  lose_all_of_the_client();
  receive(), send(1, 100);
  fabric.run_for(runtime::millisecond);
  const wire::FcHeader data = data_frame(0)->header;
  wire::FcHeader never = data;
  never.seq_cnt = {0x4711};
  wire::FcHeader other = data;
  other.seq_id.value ^= 1;
  for (const RCtl answer_of : {RCtl::ack_1, RCtl::p_rjt, RCtl::p_bsy}) {
    answer(never, answer_of, 1), answer(other, answer_of, 1);
    fabric.run_for(runtime::millisecond);
    EXPECT_EQ(sent(0), 0u);
    EXPECT_EQ(log.count(RCtl::abts), 0u);
  }
  answer(data, RCtl::ack_0, 0);
  fabric.run_for(runtime::millisecond);
  EXPECT_EQ(sent(0), 0u) << "ACK_1 was asked for";
  answer(data, RCtl::ack_1, 1);
  fabric.run_for(runtime::millisecond);
  EXPECT_EQ(sent(0), sent_well);
}

// FC-FS, FC-VI 8.4.2 b): what is said of a sequence whose ABTS is under way is of no interest: its credit came back
// with the ABTS.
TEST_F(Class2Ack, aborting_lateAck_isIgnored) {
  begin(Level::UnreliableDelivery);
  lose_all_of_the_client();
  faults.on_basic = [](const wire::FcHeader&) { return lose; };
  send(1, 100);
  fabric.run_for(3 * runtime::second);
  ASSERT_EQ(sent(0), sent_well);
  const auto ignored = client->port.counters().discarded(fc2::Discard::UnknownExchange);
  answer(data_frame(0)->header, RCtl::ack_1, 1);
  answer(data_frame(0)->header, RCtl::p_rjt, 0x01010000);
  fabric.run_for(runtime::millisecond);
  EXPECT_EQ(client->port.counters().discarded(fc2::Discard::UnknownExchange), ignored + 2);
  EXPECT_EQ(sent(0), sent_well);
}

// FC-VI B.2.6.1 rule 8e: E_D_TOV without any ACK ends the exchange, however often the frame is busied in
// between (rule 8b).
TEST_F(Class2AckAnyOrder, sending_busyFlood_doesNotMoveTheTimeOut) {
  begin(Level::ReliableDelivery);
  lose_all_of_the_client();
  receive(), send(1, 100);
  fabric.run_for(runtime::millisecond);
  const wire::FcHeader data = data_frame(0)->header;
  for (int i = 0; i < 1000; ++i) {  // 10 s, five times E_D_TOV
    answer(data, RCtl::p_bsy, 0x01010000);
    fabric.run_for(10 * runtime::millisecond);
  }
  EXPECT_EQ(sent(0), send_flushed);
  const auto again =
      log.count([](const LoggedFrame& f) { return f.outbound && f.header.has(wire::f_ctl::retransmitted); });
  EXPECT_GT(again, 10u);
  EXPECT_LE(again, 64u) << "once per E_D_TOV / 64";
}

// FC-VI B.2.6.1 rule 8e: E_D_TOV waits for an ACK. One with ACK_0 comes after the last frame: a sequence that takes
// longer than E_D_TOV to send is not given up meanwhile.
void long_sequence(Class2Nodes& nodes) {
  nodes.begin(Level::ReliableDelivery);
  nodes.receive(), nodes.send(1, 60'000), nodes.receive(3), nodes.send(3, 60'000);
  nodes.fabric.run_for(runtime::second);
  for (std::size_t i = 0; i < 4; ++i) EXPECT_EQ(nodes.sent(i), Class2Nodes::sent_well) << i;
  EXPECT_EQ(nodes.log.count(RCtl::abts), 0u);
}
TEST_F(Class2ShortTimeOutAck0, sending_longerThanTimeOut_isNotGivenUp) { long_sequence(*this); }
TEST_F(Class2ShortTimeOut, sending_longerThanTimeOut_isNotGivenUp) { long_sequence(*this); }

// FC-VI 5.5: 300 sequences are rejected in the middle: SEQ_IDs and end-to-end credit come back.
TEST_F(Class2Ack, aborted_manySequences_nothingLeaks) {
  begin(Level::UnreliableDelivery);
  faults.on_frame = [&](MessageFrame& frame) {
    if (!frame.from_client || frame.header.msg_id.value > 300) return pass;
    if (frame.fc.seq_cnt.value == 1) answer(frame.fc, RCtl::p_rjt, 0x01010000);
    return lose;
  };
  for (int i = 0; i < 300; ++i) {
    client_vi->post_send(client->descriptor(0, {{client->data, 60'000}}), client->handle);
    fabric.run_for(5 * runtime::millisecond);
  }
  receive(), send(1, 60'000);
  fabric.run_for(runtime::second);
  EXPECT_EQ(sent(0), sent_well);
}

// FC-VI 5.5: the SEQ_ID of an aborted sequence is used again only when it was recovered: while its ABTS is
// unanswered it rests.
TEST_F(Class2Ack, aborted_abtsUnanswered_seqIdRests) {
  begin(Level::UnreliableDelivery);
  bool answered = false;
  int seq_id = -1, again = 0;
  faults.on_basic = [&](const wire::FcHeader& header) {
    return header.r_ctl == RCtl::ba_acc && !answered ? lose : pass;
  };
  faults.on_frame = [&](MessageFrame& frame) {
    if (!frame.from_client) return pass;
    if (frame.header.msg_id.value == 1) {
      if (frame.fc.seq_cnt.value == 1) answer(frame.fc, RCtl::p_rjt, 0x01010000);
      seq_id = frame.fc.seq_id.value;
      return lose;
    }
    again += frame.fc.seq_id.value == seq_id && frame.fc.seq_cnt.value == 0;
    return pass;
  };
  client_vi->post_send(client->descriptor(0, {{client->data, 60'000}}), client->handle);
  fabric.run_for(runtime::millisecond);
  const auto send_300 = [&] {
    receive(300);
    for (int i = 0; i < 300; ++i) {
      client_vi->post_send(client->descriptor(0, {{client->data, 10}}), client->handle);
      fabric.run_for(100 * runtime::microsecond);
    }
  };
  send_300();
  EXPECT_EQ(again, 0);
  answered = true;
  fabric.run_for(11 * runtime::second);  // the second ABTS, after R_A_TOV
  receives.clear();
  send_300();
  EXPECT_GT(again, 0) << "recovered";
}

// FC-VI 5.5: a SEQ_ID is used again only when the sequence is closed: not while one of its frames is unacknowledged.
// Another connection of the same ports sends meanwhile.
TEST_F(Class2Ack, sending_lastAckLate_seqIdRests) {
  begin(Level::UnreliableDelivery, "first");
  int seq_id = -1, again = 0;
  faults.on_frame = [&](MessageFrame& frame) {
    if (!frame.from_client) return pass;
    again += frame.fc.seq_id.value == seq_id;
    if (seq_id < 0 && frame.fc.seq_cnt.value == 3) seq_id = frame.fc.seq_id.value;
    return pass;
  };
  faults.on_link_control = [&](const wire::FcHeader& header) {
    return header.seq_id.value == seq_id && header.seq_cnt.value == 3 ? late(runtime::second) : pass;
  };
  receive(), send();
  fabric.run_for(runtime::millisecond);
  ASSERT_GE(seq_id, 0);
  begin(Level::UnreliableDelivery, "second");
  const auto send_300 = [&] {
    receives.clear(), receive(300);
    log.clear();
    for (int i = 0; i < 300; ++i) {
      client_vi->post_send(client->descriptor(0, {{client->data, 10}}), client->handle);
      fabric.run_for(100 * runtime::microsecond);
    }
    EXPECT_EQ(log.count([](const LoggedFrame& f) { return f.outbound && f.is(RCtl::solicited_data); }), 300u);
  };
  send_300();
  EXPECT_EQ(sent(0), 0u);
  EXPECT_EQ(again, 0);
  fabric.run_for(2 * runtime::second);
  EXPECT_EQ(sent(0), sent_well);
  send_300();
  EXPECT_GT(again, 0) << "closed";
}

// FC-VI 5.5: more sequences than there are SEQ_IDs.
TEST_F(Class2AckAnyOrder, sending_manySequences_seqIdsComeBack) {
  begin(Level::UnreliableDelivery);
  receive(300);
  for (int i = 0; i < 300; ++i) send(1, 10), fabric.run_for(runtime::millisecond);
  for (std::size_t i = 0; i < 300; ++i) ASSERT_EQ(sent(i), sent_well) << i;
}

// FC-FS end-to-end credit: an ACK too many gives no credit that the peer did not grant.
TEST_F(Class2Ack, sending_credit_neverExceedsTheGrant) {
  begin(Level::ReliableDelivery);
  receive(4);
  send(1, 100);
  fabric.run_for(runtime::millisecond);
  for (int i = 0; i < 100; ++i) answer(data_frame(0)->header, RCtl::ack_1, 1);
  fabric.run_for(runtime::millisecond);
  faults.on_link_control = [](const wire::FcHeader&) { return late(runtime::millisecond); };
  log.clear();
  send(1, 60'000);
  fabric.run_for(500 * runtime::microsecond);
  EXPECT_EQ(log.count(RCtl::solicited_data), credit);
  fabric.run_for(runtime::second);
  EXPECT_EQ(sent(1), sent_well) << "it goes on with the ACKs";
}

// FC-VI 8.4.2 e): a message that waits for credit when the connection ends has an exchange, and gives it back.
TEST_F(Class2Ack, waiting_forCredit_connectionEnds_nothingLeaks) {
  begin(Level::ReliableDelivery);
  lose_all_of_the_client();
  send(1, credit * frame_bytes), send(1, 100);
  fabric.run_for(runtime::millisecond);
  disconnect(*client, *client_vi), disconnect(*server, *server_vi);
  fabric.run_for(60 * runtime::second);
  EXPECT_EQ(sent(1), send_flushed);
  EXPECT_EQ(client->port.open_exchanges() + server->port.open_exchanges(), 0u);
}

// FC-VI 5.2.1, 5.5: messages of several IUs, each a sequence that is closed before the next.
TEST_F(Class2SmallIus, sending_severalIus_arrive) {
  for (const Level level : {Level::ReliableDelivery, Level::ReliableReception}) {
    begin(level, level == Level::ReliableDelivery ? "d" : "r");
    const std::size_t first = sends.size();
    receive(3), send(3, 60'000);
    const auto read = client->descriptor(vi::control::op_rdma_read, {{client->data + (20u << 20), 60'000}},
                                         server->data, server->handle);
    client_vi->post_send(read, client->handle);
    fabric.run_for(runtime::second);
    for (std::size_t i = first; i < first + 3; ++i) EXPECT_TRUE(arrived(i, i, 60'000) && sent(i) == sent_well);
    EXPECT_EQ(client->status(read), vi::status::done | vi::status::op_rdma_read);
  }
  EXPECT_EQ(client->port.open_exchanges() + server->port.open_exchanges(), 0u);
}

// FC-VI 8.4.2 e) h), B.2.6.1 rule 8: the ACK that asks for ABTS goes before the DISCONNECT_RQST: the originator's
// message failed, and was not only flushed.
TEST_F(Class2Ack, expecting_noDescriptor_ackTellsItFirst) {
  begin(Level::ReliableDelivery);
  send(1, 100);
  fabric.run_for(runtime::millisecond);
  std::vector<RCtl> told;
  for (const LoggedFrame& f : log.frames())
    if (!f.outbound && (f.is(RCtl::ack_1) || f.is(RCtl::unsolicited_control))) told.push_back(f.header.r_ctl);
  ASSERT_GE(told.size(), 2u);
  EXPECT_EQ(told[0], RCtl::ack_1);
  EXPECT_EQ(sent(0), send_flushed);
}

// FC-VI 8.4.2 h), B.2.4 rule 2 a): the rest of a message that was refused is answered as its first frame was: Abort
// Sequence, Perform ABTS; also where the fabric keeps no order, and one of the past may be a duplicate.
TEST_F(Class2Unreliable, expecting_noDescriptor_restIsNotAccepted) {
  begin(Level::UnreliableDelivery);
  faults.on_link_control = [](const wire::FcHeader&) { return late(runtime::millisecond); };
  send();
  fabric.run_for(100 * runtime::millisecond);
  const auto acks = [](const LoggedFrame& f) { return !f.outbound && f.is(RCtl::ack_1); };
  const auto demands = [&](const LoggedFrame& f) {
    return acks(f) && (f.header.f_ctl & wire::f_ctl::abort_condition_mask) == wire::f_ctl::abort_perform_abts;
  };
  EXPECT_EQ(log.count(acks), 4u);
  EXPECT_EQ(log.count(demands), 4u);
}

// FC-VI B.2.4 rules 2 a) c): ... and a frame of it that comes late, until R_A_TOV after the error. Then Merr is clear:
// the frame is one of the past, which may be a duplicate of what is here.
TEST_F(Class2Unreliable, errored_lateFrame_isNotAcceptedUntilRaTov) {
  for (const runtime::TimeNs after :
       {10 * runtime::second - runtime::millisecond, 10 * runtime::second + runtime::millisecond}) {
    begin(Level::UnreliableDelivery, std::to_string(after));
    send(1, 100);
    const auto errored_at = fabric.scheduler.now();
    fabric.run_for(runtime::millisecond);
    const LoggedFrame& first = *data_frame(0);
    support::ForgedFrame again{.header = first.header, .data = first.data, .sof = first.sof, .eof = first.eof};
    again.header.ox_id.value ^= 0x4000;  // else the ABTS covers it
    fabric.run_for(errored_at + after - fabric.scheduler.now());
    log.clear();
    inject(client->port, again.build(fabric.pool));
    fabric.run_for(runtime::millisecond);
    const auto* ack = log.find([](const LoggedFrame& f) { return !f.outbound && f.is(RCtl::ack_1); });
    ASSERT_NE(ack, nullptr);
    const bool demands = (ack->header.f_ctl & wire::f_ctl::abort_condition_mask) == wire::f_ctl::abort_perform_abts;
    EXPECT_EQ(demands, after < 10 * runtime::second);
    disconnect(*client, *client_vi), disconnect(*server, *server_vi);
  }
}

}  // namespace
