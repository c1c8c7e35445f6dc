// Messages in class 2 that wait for their turn, for ACKs or for credit at their originator (FC-VI 4.1, 5.2.4, 5.5,
// 8.4.1 a), 8.4.2 a), Annex E, B.2.6.1; VI-ARCH 2.5.1, 2.5.3, 6.3.1.1).
#include "tests/fcvi/class_2_nodes.hpp"
#include "tests/support/operations.hpp"
#include "tests/support/times.hpp"
#include "wire/fcvi/message_status.hpp"

namespace {
using support::ForgedFrame;
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
using wire::RCtl;
namespace f_ctl = wire::f_ctl;

/// Class 2: the first message has not been acknowledged when the second is refused.
class Class2Turns : public support::Class2Nodes {};

// FC-VI 8.4.1 a), 5.5, Annex E: a refusal waits; the first message's time-out begins with its ACK, though a timer
// runs out before.
TEST_F(Class2Turns, refusalWaits_firstAcknowledgedLate_timesOut) {
  begin(Level::ReliableReception);
  receive(2), send(1, 100);
  fabric.run_for(9 * s + 500 * ms);
  ASSERT_EQ(sent(0), sent_well);
  std::optional<wire::OxId> second;
  faults.on_link_control = [this, &second](const wire::FcHeader& ack) {
    if (ack.s_id != server->port.n_port_id()) return pass;
    if (!second) second = ack.ox_id;
    return *second == ack.ox_id ? late(s) : pass;
  };
  faults.restart();
  faults.on_frame = [](MessageFrame& frame) {
    if (frame.from_client) return pass;
    if (frame.number == 0) return lose;
    frame.header.flags = wire::fcvi::MessageStatus{.resp_err = true, .desc_err = true}.to_flags(), frame.rewrite();
    return pass;
  };
  faults.on_basic = [](const wire::FcHeader&) { return lose; };
  receive(1), send(2, 100);
  fabric.run_for(11 * s);
  EXPECT_EQ(sent(1), 0u);
  EXPECT_EQ(sent(2), 0u);
  fabric.run_for(4 * s);
  EXPECT_NE(sent(1) & vi::status::error_mask, 0u);
  EXPECT_EQ(client_vi->state(), vi::State::Error);
}

// FC-VI 8.4.2 a), B.2.6.1: one message's exchange is aborted while another is being sent: that one goes on.
TEST_F(Class2Turns, sending_earlierAborted_goesOn) {
  begin(Level::UnreliableDelivery);
  std::optional<wire::OxId> first;
  faults.on_link_control = [this, &first](const wire::FcHeader& ack) {
    if (ack.s_id != server->port.n_port_id()) return pass;
    if (!first) first = ack.ox_id;
    return *first == ack.ox_id ? late(500 * ms) : pass;
  };
  receive(2), send(1, 100), send(1, 60'000);
  fabric.run_for(150 * us);  // of 600
  const wire::FcHeader& header =
      log.find([](const LoggedFrame& f) { return f.outbound && f.is(RCtl::solicited_data); })->header;
  const ForgedFrame abts{
      .header = {.r_ctl = RCtl::abts,
                 .d_id = header.s_id,
                 .s_id = header.d_id,
                 .type = wire::Type::bls,
                 .f_ctl = f_ctl::exchange_responder | f_ctl::end_sequence | f_ctl::sequence_initiative,
                 .ox_id = header.ox_id},
      .data = {}};
  inject(server->port, abts.build(fabric.pool));
  fabric.run_for(50 * ms);
  EXPECT_TRUE(arrived(1, 1, 60'000));
  EXPECT_EQ(sent(0), sent_well);
  EXPECT_EQ(sent(1), sent_well);
  EXPECT_EQ(log.count([&](const LoggedFrame& f) {
    return f.outbound && f.is(RCtl::solicited_data) && f.header.ox_id != header.ox_id && f.header.seq_cnt.value == 0;
  }),
            1u)
      << "one sequence";
}

// FC-VI 5.2.4, VI-DG 6.2: read data goes in class 2 as far as there is credit.
TEST_F(Class2Turns, reading_noCredit_waitsForAcks) {
  begin(Level::ReliableDelivery);
  faults.on_link_control = [this](const wire::FcHeader& ack) {
    return ack.s_id == client->port.n_port_id() ? late(5 * ms) : pass;
  };
  const auto reading =
      client->descriptor(vi::control::op_rdma_read, {{client->data, 10 * frame_bytes}}, server->data, server->handle);
  client_vi->post_send(reading, client->handle);
  fabric.run_for(2 * ms);
  EXPECT_EQ(log.count([](const LoggedFrame& f) { return !f.outbound && f.is(RCtl::solicited_data); }), credit);
  fabric.run_for(100 * ms);
  EXPECT_EQ(client->status(reading), read_done);
  EXPECT_EQ(log.count([](const LoggedFrame& f) { return !f.outbound && f.is(RCtl::solicited_data); }), 10u);
}

// FC-VI 4.1: class 2: messages that wait for credit hold a SEQ_ID each, no frame of theirs went. Their connections end:
// the SEQ_IDs are free.
TEST_F(Class2Turns, waitingForCredit_disconnected_seqIdsAreFree) {
  begin(Level::UnreliableDelivery, "first");
  vi::Vi& first = *client_vi;
  std::vector<vi::Vi*> waiting;
  for (int i = 0; i < 253; ++i) {
    begin(Level::UnreliableDelivery, std::to_string(i));
    waiting.push_back(client_vi);
  }
  begin(Level::UnreliableDelivery, "long");
  vi::Vi& other = *client_vi;
  server_vi->post_receive(server->descriptor(0, {{server->data + (8u << 20), slot}}), server->handle);
  begin(Level::UnreliableDelivery, "last");
  faults.on_link_control = [this](const wire::FcHeader& ack) {
    return ack.s_id == server->port.n_port_id() ? late(20 * ms) : pass;
  };
  first.post_send(client->descriptor(0, {{client->data, credit * frame_bytes}}), client->handle);
  fabric.run_for(ms);
  for (vi::Vi* vi : waiting) vi->post_send(client->descriptor(0, {{client->data, 100}}), client->handle);
  fabric.run_for(ms);
  for (vi::Vi* vi : waiting) vi->fail_catastrophically();
  fabric.run_for(100 * ms);
  faults.on_link_control = {};
  const auto large = client->descriptor(0, {{client->data, 60'000}});
  other.post_send(large, client->handle);
  receive(), send(1, 100);
  fabric.run_for(200 * us);  // of 600
  EXPECT_TRUE(arrived(0, 0, 100)) << "beside the other";
  EXPECT_NE(client->status(large), sent_well);
  fabric.run_for(100 * ms);
  EXPECT_EQ(client->status(large), sent_well);
}

}  // namespace
