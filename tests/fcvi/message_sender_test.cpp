// What the originator of messages does between posting and completion: exchanges and credit that are not there, memory
// that goes while it waits, the order of completions, and the end of the connection (FC-VI 4.1, 5.9.6, 6.12.2, 7.7.1,
// 8.4.2; VI-ARCH 6.3.1.1).
#include "fcvi/message_numbers.hpp"
#include "tests/fcvi/class_2_nodes.hpp"
#include "tests/fcvi/own_memory.hpp"

namespace {
using support::Class2Nodes;
using support::ForgedFrame;
using support::late;
using support::Level;
using support::LoggedFrame;
using support::lose;
using support::MessageFrame;
using support::MessageNodes;
using support::pass;
using wire::RCtl;
namespace f_ctl = wire::f_ctl;

// --- before the first frame --------------------------------------------------------------------------------------

/// The first message takes all end-to-end credit, for a while.
class WaitsForCredit : public Class2Nodes {
 public:
  void send_all_that_credit_allows() {
    begin(Level::UnreliableDelivery);
    faults.on_link_control = [](const wire::FcHeader&) { return late(5 * runtime::millisecond); };
    receive(3), send(1, credit * frame_bytes);
  }
};

// FC-VI 8.4.2 a), FC-FS: a message that waits for credit has an exchange of which no frame went. The peer aborts that
// one: the message takes another.
TEST_F(WaitsForCredit, queued_exchangeAborted_takesAnother) {
  send_all_that_credit_allows();
  send(1, 100);
  fabric.run_for(runtime::millisecond);
  ASSERT_EQ(log.count(RCtl::solicited_data), credit);
  const wire::FcHeader& sent_header = data_frame(0)->header;
  const auto next = static_cast<std::uint16_t>(sent_header.ox_id.value + 1);
  ForgedFrame abts{.header = {.r_ctl = RCtl::abts,
                              .d_id = sent_header.s_id,
                              .s_id = sent_header.d_id,
                              .type = wire::Type::bls,
                              .f_ctl = f_ctl::exchange_responder | f_ctl::end_sequence | f_ctl::sequence_initiative,
                              .ox_id = {next}},
                   .data = {}};
  const auto open = client->port.open_exchanges();
  inject(server->port, abts.build(fabric.pool));
  fabric.run_for(100 * runtime::microsecond);
  EXPECT_EQ(client->port.open_exchanges(), open + 1) << "it rests, and the message has another";
  fabric.run_for(runtime::second);
  EXPECT_TRUE(arrived(0, 0, credit * frame_bytes));
  EXPECT_TRUE(arrived(1, 1, 100));
  EXPECT_EQ(sent(1), sent_well);
  EXPECT_EQ(log.count([&](const LoggedFrame& f) {
    return f.outbound && f.is(RCtl::solicited_data) && f.header.ox_id.value == next;
  }),
            0u);
  EXPECT_EQ(client_vi->state(), vi::State::Connected);
}

// VI-ARCH 2.5.1, VI-DG 5.2: the memory of a message goes while it waits: a protection error, no frame, and the next
// one is sent.
TEST_F(WaitsForCredit, queued_memoryLost_nextIsSent) {
  send_all_that_credit_allows();
  const std::uint64_t data = client->data + (8u << 20);
  const auto own = support::register_own(*client, data, slot);
  const auto second = support::own_descriptor(*client, data, own, 100);
  client_vi->post_send(second, client->handle);
  send(1, 100);
  fabric.run_for(runtime::millisecond);
  ASSERT_EQ(client->nic.memory().deregister(data, own), vi::Return::Success);
  fabric.run_for(runtime::second);
  EXPECT_EQ(client->status(second), sent_well | vi::status::protection_error);
  EXPECT_TRUE(arrived(1, 1, 100));
  EXPECT_EQ(sent(1), sent_well);
  EXPECT_EQ(log.count(RCtl::solicited_data), credit + 1u);
  EXPECT_EQ(log.count(RCtl::abts), 0u);
  fabric.run_for(60 * runtime::second);
  EXPECT_EQ(client->port.open_exchanges(), 0u);
}

class EightExchanges : public MessageNodes {
 public:
  EightExchanges() : MessageNodes({}, [](fc2::NPortConfig& config, std::size_t) { config.max_exchanges = 8; }) {}
};

// FC-VI 4.2, 5.2.1: all exchanges are in use: the message of another connection waits until one is free, and is sent.
TEST_F(EightExchanges, queued_noExchangeFree_isSentLater) {
  begin(Level::ReliableReception, "other");
  vi::Vi& other = *client_vi;
  server_vi->post_receive(server->descriptor(0, {{server->data, slot}}), server->handle);
  begin(Level::ReliableReception);
  faults.on_frame = [](MessageFrame& frame) { return frame.from_client ? pass : late(5 * runtime::millisecond); };
  receive(8), send(8, 100);
  fabric.run_for(runtime::millisecond);
  const auto waits = client->descriptor(0, {{client->data, 100}});
  other.post_send(waits, client->handle);
  fabric.run_for(2 * runtime::millisecond);
  EXPECT_EQ(log.count(RCtl::solicited_data), 8u);
  fabric.run_for(20 * runtime::millisecond);
  EXPECT_EQ(client->status(waits), sent_well);
}

// --- FCVI_MSG_ID -------------------------------------------------------------------------------------------------

using Numbers = fcvi::BasicMessageNumbers<4>;  // halves of four
constexpr runtime::TimeNs rest = 10, behind = Numbers::late;

// FC-VI 5.9.6: an id does not come round within R_A_TOV: each half of them begins R_A_TOV after the half before it
// at the earliest.
TEST(MessageNumbers, taken_eachHalf_restsForRaTov) {
  Numbers numbers(wire::MsgId{2}, 100);
  for (const std::uint32_t id : {2u, 3u}) {
    ASSERT_FALSE(numbers.wait_until(100, rest));
    EXPECT_EQ(numbers.take(100).value, id);
  }
  EXPECT_EQ(numbers.wait_until(behind + 109, rest), behind + 110);
  ASSERT_FALSE(numbers.wait_until(behind + 110, rest));
  for (const std::uint32_t id : {4u, 5u, 6u, 7u}) {
    ASSERT_FALSE(numbers.wait_until(behind + 112, rest));
    EXPECT_EQ(numbers.take(behind + 112).value, id);
  }
  EXPECT_EQ(numbers.wait_until(2 * behind + 121, rest), 2 * behind + 122) << "since the half was begun";
  ASSERT_FALSE(numbers.wait_until(2 * behind + 122, rest));
  EXPECT_EQ(numbers.take(2 * behind + 122).value, 8u);
}

// FC-VI 5.9.6: the real halves begin at 0 and 80000000h.
TEST(MessageNumbers, taken_acrossHalves_goOn) {
  for (const std::uint32_t last : {0x7FFFFFFFu, 0xFFFFFFFFu}) {
    fcvi::MessageNumbers numbers(wire::MsgId{last}, 0);
    ASSERT_FALSE(numbers.wait_until(0, rest));
    EXPECT_EQ(numbers.take(0).value, last);
    EXPECT_EQ(numbers.wait_until(0, rest), rest + behind);
    EXPECT_EQ(numbers.take(rest + behind).value, last + 1);
    EXPECT_FALSE(numbers.wait_until(rest + behind, rest));
  }
}

// --- the order of completions ------------------------------------------------------------------------------------

class Order : public Class2Nodes {};
class OrderAnyOrder : public MessageNodes {
 public:
  OrderAnyOrder() : MessageNodes({}, {}, support::fabric_order(false)) {}
  std::uint64_t read(std::uint32_t bytes) {
    const auto read = client->descriptor(vi::control::op_rdma_read, {{client->data + (8u << 20), bytes}}, server->data,
                                         server->handle);
    client_vi->post_send(read, client->handle);
    return read;
  }
};

// VI-ARCH 6.3.1.1: a Send that is done does not complete before one that was posted earlier.
TEST_F(Order, sends_laterIsDoneFirst_waitsForItsTurn) {
  begin(Level::ReliableDelivery);
  int acks = 0;
  faults.on_link_control = [&](const wire::FcHeader&) { return acks++ == 0 ? late(5 * runtime::millisecond) : pass; };
  receive(2), send(2, 100);
  fabric.run_for(2 * runtime::millisecond);
  EXPECT_EQ(acks, 2);
  EXPECT_EQ(sent(1), 0u);
  fabric.run_for(10 * runtime::millisecond);
  EXPECT_TRUE(sent(0) == sent_well && sent(1) == sent_well);
}

// VI-ARCH 6.3.1.1: the same of RDMA Reads, whose data overtake each other; a Send behind them waits for neither.
TEST_F(OrderAnyOrder, reads_laterIsDoneFirst_waitsForItsTurn) {
  begin(Level::ReliableDelivery);
  faults.on_frame = [](MessageFrame& frame) {
    return !frame.from_client && frame.number == 0 ? late(5 * runtime::millisecond) : pass;
  };
  receive();
  const auto first = read(100), second = read(100);
  send(1, 100);
  fabric.run_for(2 * runtime::millisecond);
  EXPECT_EQ(client->status(second), 0u);
  EXPECT_TRUE(arrived(0, 0, 100));
  EXPECT_EQ(sent(0), sent_well);
  fabric.run_for(10 * runtime::millisecond);
  for (const auto descriptor : {first, second})
    EXPECT_EQ(client->status(descriptor), vi::status::done | vi::status::op_rdma_read);
}

// VI-ARCH 6.3.1.1, 2.5.3: at Reliable Reception a RDMA Read completes after the Send before it.
TEST_F(OrderAnyOrder, read_dataBeforeResponse_waitsForItsTurn) {
  begin(Level::ReliableReception);
  faults.on_frame = [](MessageFrame& frame) {
    return !frame.from_client && frame.number == 0 ? late(5 * runtime::millisecond) : pass;
  };
  receive(), send(1, 100);
  const auto behind = read(100);
  fabric.run_for(2 * runtime::millisecond);
  EXPECT_EQ(log.count([](const LoggedFrame& f) { return !f.outbound && f.is(RCtl::solicited_data); }), 1u);
  EXPECT_EQ(client->status(behind), 0u);
  fabric.run_for(10 * runtime::millisecond);
  EXPECT_EQ(sent(0), sent_well);
  EXPECT_EQ(client->status(behind), vi::status::done | vi::status::op_rdma_read);
}

// --- the end of the connection -----------------------------------------------------------------------------------

class End : public MessageNodes {
 public:
  using MessageNodes::MessageNodes;
  std::uint64_t read(std::uint32_t bytes) {
    const auto read = client->descriptor(vi::control::op_rdma_read, {{client->data + (8u << 20), bytes}}, server->data,
                                         server->handle);
    client_vi->post_send(read, client->handle);
    return read;
  }
};
class EndAnyOrder : public End {
 public:
  EndAnyOrder() : End({}, {}, support::fabric_order(false)) {}
};
class EndAtTheWrap : public End {
 public:
  EndAtTheWrap() : End({.address = {}, .first_msg_id = {0xFFFFFFFE}}) {}
};

// FC-VI 7.7.1, 8.4.2 g), VI-ARCH 5.4: a logout: what is open, sent to the end or not, is flushed, no message has an
// error of its own.
TEST_F(End, transferring_portLoggedOut_isFlushed) {
  begin(Level::ReliableReception);
  faults.on_frame = [](MessageFrame& frame) { return frame.from_client ? pass : lose; };
  receive(2), send(1, 100), send(1, 60'000);
  fabric.run_for(200 * runtime::microsecond);  // of 600
  client->port.remote_port(server->port.n_port_id()).implicit_logout();
  EXPECT_EQ(sent(0), send_flushed);
  EXPECT_EQ(sent(1), send_flushed | vi::status::partial_error);
  EXPECT_EQ(client->count(vi::ErrorCode::ConnLost), 1);
  EXPECT_EQ(client_vi->state(), vi::State::Error);
}

// FC-VI 6.12.2, Annex E: DISCONNECT_RQST says 0: the peer completed nothing, also where the ids before the wrap are
// smaller than that.
TEST_F(EndAtTheWrap, awaitResponse_peerCompletedNothing_isFlushed) {
  begin(Level::ReliableReception);
  faults.on_frame = [](MessageFrame& frame) { return frame.from_client ? lose : pass; };
  receive(2), send(2, 100);
  fabric.run_for(runtime::millisecond);
  disconnect(*server, *server_vi);
  EXPECT_EQ(sent(0), send_flushed);
  EXPECT_EQ(sent(1), send_flushed);
}

// FC-VI 6.12.2, Annex E, VI-ARCH 2.5.2: DISCONNECT_RQST counts a read whose data were lost: they are not here, and
// it is flushed.
TEST_F(End, awaitReadData_peerCompletedIt_isFlushed) {
  begin(Level::ReliableReception);
  faults.on_frame = [](MessageFrame& frame) { return frame.from_client ? pass : lose; };
  const auto lost = read(100);
  fabric.run_for(runtime::millisecond);
  log.clear();
  disconnect(*server, *server_vi);
  const auto* told = log.find([](const LoggedFrame& f) { return !f.outbound && f.is(RCtl::unsolicited_control); });
  ASSERT_NE(told, nullptr);
  EXPECT_EQ(wire::fcvi::DeviceHeader::parse(32, told->data)->msg_id.value, 1u);
  EXPECT_EQ(client->status(lost), vi::status::done | vi::status::flushed | vi::status::op_rdma_read);
  EXPECT_EQ(unexpected(), 0u);
}

// FC-VI 8.4.2 f): read data that overtook other read data is placed as it comes (8.4.1 d); the book of it is not kept
// as long as the handle rests.
TEST_F(EndAnyOrder, awaitReadData_disconnected_keepsNoFrames) {
  begin(Level::ReliableDelivery);
  faults.on_frame = [](MessageFrame& frame) { return !frame.from_client && frame.number == 0 ? lose : pass; };
  read(10 * frame_bytes);
  fabric.run_for(runtime::millisecond);
  EXPECT_EQ(fabric.pool.outstanding(), 0u);
  ASSERT_NE(client->provider.reorder_bytes(), 0u);
  disconnect(*client, *client_vi);
  fabric.run_for(runtime::millisecond);
  EXPECT_EQ(fabric.pool.outstanding(), 0u);
  EXPECT_EQ(client->provider.reorder_bytes(), 0u);
  EXPECT_EQ(client->provider.handles_in_use(), 1u);
}

}  // namespace
