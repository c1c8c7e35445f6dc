// Class 2 on fabrics that do not keep the order, and what never comes: when a sequence with ACK_0 is acknowledged, what
// happens when no more early frames can be kept, and an answer that is waited for in vain (FC-VI 5.5, 8.4.1 a, B.2.6.1
// rules 8b and 8e, B.2.6.2 rule 9; FC-FS).
#include "tests/fcvi/class_2_nodes.hpp"

namespace {
using support::Class2Nodes;
using support::late;
using support::Level;
using support::LoggedFrame;
using support::lose;
using support::MessageFrame;
using support::pass;
using support::twice;
using wire::RCtl;
namespace f_ctl = wire::f_ctl;

class Class2Ack0AnyOrder : public Class2Nodes {
 public:
  Class2Ack0AnyOrder() : Class2Nodes({.in_order = false, .ack_0 = true}) {}
};

// FC-FS ACK_0, FC-VI 5.5: the ACK of a sequence goes when all of its frames are here, and not when the last one is.
// Only then is the sequence closed at its initiator, and the message done.
TEST_F(Class2Ack0AnyOrder, receiving_lastFrameOvertakes_ackWaitsForTheRest) {
  begin(Level::ReliableDelivery);
  faults.on_frame = support::to_frame(1, late(10 * runtime::millisecond));
  receive(), send();
  fabric.run_for(5 * runtime::millisecond);
  EXPECT_EQ(log.count(RCtl::ack_0), 0u);
  EXPECT_EQ(sent(0), 0u);
  fabric.run_for(10 * runtime::millisecond);
  EXPECT_TRUE(arrived(0, 0));
  EXPECT_EQ(sent(0), sent_well);
  ASSERT_EQ(log.count(RCtl::ack_0), 1u);
  const auto* ack = log.find([](const LoggedFrame& f) { return f.is(RCtl::ack_0); });
  EXPECT_EQ(ack->header.seq_cnt.value, 3);
  EXPECT_TRUE(ack->header.has(f_ctl::end_sequence));
  EXPECT_EQ(ack->eof, wire::Eof::t);
}

// FC-FS ACK_0, FC-VI B.2.6.1 rules 8e a) c): a frame of a sequence never comes, another comes twice: nothing is
// acknowledged, and E_D_TOV tells the originator, whose connection breaks.
TEST_F(Class2Ack0AnyOrder, sending_frameLost_isNotAcknowledged) {
  begin(Level::ReliableDelivery);
  faults.on_frame = [](MessageFrame& frame) {
    return !frame.from_client ? pass : frame.number == 0 ? twice : frame.number == 1 ? lose : pass;
  };
  receive(), send();
  fabric.run_for(1900 * runtime::millisecond);
  EXPECT_EQ(sent(0), 0u);
  EXPECT_EQ(log.count(RCtl::abts), 0u);
  fabric.run_for(200 * runtime::millisecond);
  EXPECT_EQ(log.count(RCtl::ack_0), 0u);
  EXPECT_EQ(sent(0), send_flushed);
  EXPECT_EQ(client_vi->state(), vi::State::Error);
}

// FC-FS ACK_0: the exchange was given up, and its OX_ID and SEQ_ID are used anew: what came of the former sequence
// does not count.
TEST_F(Class2Ack0AnyOrder, receiving_afterAbort_startsAnew) {
  begin(Level::UnreliableDelivery);
  faults.on_frame = support::to_frame(1, lose);
  receive(2), send();
  fabric.run_for(3 * runtime::second);
  ASSERT_EQ(sent(0), sent_well);
  faults.on_frame = {};
  send();
  fabric.run_for(100 * runtime::millisecond);
  EXPECT_EQ(sent(1), sent_well);
  EXPECT_EQ(log.count(RCtl::ack_0), 1u);
}

// --- no room for what overtook -----------------------------------------------------------------------------------

/// The first, short message of each connection is late; of the long one behind it more overtakes it than may be kept.
class Class2Full : public Class2Nodes {
 public:
  static constexpr std::uint32_t bytes = 1u << 20;
  Class2Full() : Class2Nodes({.in_order = false, .reorder_pool_bytes = 1u << 20}) {}
  void fill_data(std::uint8_t* at) {
    for (std::uint32_t i = 0; i < bytes; ++i) at[i] = static_cast<std::uint8_t>(i * 11 + (i >> 12));
  }
  void delay_short_messages(runtime::TimeNs delay) {
    faults.on_frame = [=](MessageFrame& frame) {
      return frame.from_client && frame.header.tot_len_or_connection_id == 8 ? late(delay) : pass;
    };
  }
};

// FC-VI B.2.6.1 rule 8b, FC-FS P_BSY: what finds no room in the pool of the port is busied, comes again, and all
// arrives; the same on five connections at once.
TEST_F(Class2Full, receiving_poolFull_isBusied) {
  for (const std::uint32_t streams : {1u, 5u}) {
    fill_data(client->bytes(client->data));
    std::memset(server->bytes(server->data), 0, std::size_t{streams} * bytes);
    std::vector<std::uint64_t> to, from;
    std::vector<vi::Vi*> clients;
    for (std::uint32_t i = 0; i < streams; ++i) {
      begin(Level::ReliableDelivery, std::to_string(streams) + std::to_string(i));
      clients.push_back(client_vi);
      for (const std::uint32_t size : {8u, bytes}) {
        to.push_back(
            server->descriptor(0, {{server->data + i * bytes, bytes}}));  // the short one first, the long one over it
        from.push_back(client->descriptor(0, {{client->data, size}}));
        server_vi->post_receive(to.back(), server->handle);
      }
    }
    delay_short_messages(300 * runtime::millisecond);  // each holds a credit meanwhile
    for (std::uint32_t i = 0; i < 2 * streams; ++i) clients[i / 2]->post_send(from[i], client->handle);
    fabric.run_for(4 * runtime::second);
    for (std::uint32_t i = 0; i < 2 * streams; ++i) {
      EXPECT_EQ(server->status(to[i]), vi::status::done | vi::status::op_receive) << i;
      EXPECT_EQ(client->status(from[i]), sent_well) << i;
    }
    for (std::uint32_t i = 0; i < streams; ++i)
      EXPECT_EQ(std::memcmp(server->bytes(server->data + i * bytes), client->bytes(client->data), bytes), 0) << i;
    EXPECT_GT(log.count([](const LoggedFrame& f) { return !f.outbound && f.is(RCtl::p_bsy); }), 0u);
    EXPECT_GT(log.count([](const LoggedFrame& f) { return f.outbound && f.header.has(f_ctl::retransmitted); }), 0u);
    EXPECT_EQ(log.count(RCtl::abts), 0u);
    EXPECT_LE(server->provider.reorder_peak_bytes(), 1u << 20);
    EXPECT_EQ(fabric.pool.outstanding(), 0u);
  }
}

// --- an answer that never comes ----------------------------------------------------------------------------------

class Class2Silence : public Class2Nodes {};

// FC-VI 5.2.4, 6.12.2: read data is out with its last frame. That nobody acknowledges it ends its exchange, and nothing
// else: whether it arrived its originator knows, who waits for it.
TEST_F(Class2Silence, reading_dataNotAcknowledged_endsTheExchangeAlone) {
  begin(Level::ReliableDelivery);
  faults.on_link_control = [&](const wire::FcHeader& fc) { return fc.s_id == client->port.n_port_id() ? lose : pass; };
  const auto read = client->descriptor(vi::control::op_rdma_read, {{client->data, 100}}, server->data, server->handle);
  client_vi->post_send(read, client->handle);
  fabric.run_for(5 * runtime::second);  // E_D_TOV
  EXPECT_EQ(client->status(read), vi::status::done | vi::status::op_rdma_read);
  EXPECT_EQ(log.count([](const LoggedFrame& f) { return !f.outbound && f.is(RCtl::abts); }), 1u);
  EXPECT_EQ(server_vi->state(), vi::State::Connected);
  EXPECT_EQ(client_vi->state(), vi::State::Connected);
  fabric.run_for(60 * runtime::second);
  EXPECT_EQ(client->port.open_exchanges() + server->port.open_exchanges(), 0u);
}

// FC-VI 8.4.1 a), 8.4.2 a) e), B.2.6.2 rule 9 a) b): all ACKs came, the response does not: FCVI_ULP_TIMEOUT after the
// message was sent its exchange is aborted, and again R_A_TOV later where no BA_ACC comes; then all is returned.
// (Nothing but ACKs comes from the server.)
TEST_F(Class2Silence, awaitResponse_lost_abortsTwice) {
  begin(Level::ReliableReception);
  constexpr runtime::TimeNs r_a_tov = 10 * runtime::second;
  faults.on_frame = [](MessageFrame& frame) { return frame.from_client ? pass : lose; };
  faults.on_basic =
      faults.on_control = [&](const wire::FcHeader& fc) { return fc.s_id == server->port.n_port_id() ? lose : pass; };
  receive(), send(1, 100);
  const runtime::TimeNs begun = fabric.scheduler.now();
  const auto aborts = [&] {
    return log.count([&](const LoggedFrame& f) {
      return f.outbound && f.is(RCtl::abts) && f.header.ox_id == data_frame(0)->header.ox_id;
    });
  };
  fabric.scheduler.run_until(begun + r_a_tov - runtime::millisecond);
  EXPECT_EQ(log.count(RCtl::ack_1), 1u);
  EXPECT_EQ(sent(0), 0u);
  EXPECT_EQ(aborts(), 0u);
  fabric.scheduler.run_until(begun + r_a_tov + runtime::millisecond);
  EXPECT_EQ(sent(0), send_failed);
  EXPECT_EQ(client_vi->state(), vi::State::Error);
  EXPECT_EQ(aborts(), 1u);
  fabric.scheduler.run_until(begun + 2 * r_a_tov - runtime::millisecond);
  EXPECT_EQ(aborts(), 1u);
  fabric.scheduler.run_until(begun + 2 * r_a_tov + runtime::millisecond);
  EXPECT_EQ(aborts(), 2u);
  faults.on_basic = faults.on_control = {};
  fabric.run_for(2 * r_a_tov);
  disconnect(*client, *client_vi), disconnect(*server, *server_vi);
  fabric.run_for(6 * r_a_tov);
  EXPECT_EQ(aborts(), 2u);
  EXPECT_EQ(client->port.open_exchanges() + server->port.open_exchanges(), 0u);
  EXPECT_EQ(client->provider.handles_in_use() + server->provider.handles_in_use(), 0u);
}

}  // namespace
