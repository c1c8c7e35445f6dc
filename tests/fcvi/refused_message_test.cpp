// A message at Reliable Reception that is refused at its first frame, and what may happen until its end, where the
// answer goes (VI-ARCH 2.5.3, FC-VI 5.9.4.3, B.2.4, B.2.5).
#include "tests/fcvi/class_2_nodes.hpp"
#include "tests/fcvi/own_memory.hpp"
#include "tests/support/times.hpp"

namespace {
using support::ForgedFrame;
using support::Host;
using support::late;
using support::Level;
using support::LoggedFrame;
using support::lose;
using support::MessageFrame;
using support::pass;
using support::soon;
using wire::RCtl;

class RefusedMessage : public support::MessageNodes {
 public:
  explicit RefusedMessage(bool in_order = true) : MessageNodes({}, {}, support::fabric_order(in_order)) {}
  /// The server's descriptor for it is too short.
  void receive_too_short() {
    receives.push_back(server->descriptor(0, {{server->data, 500}}));
    server_vi->post_receive(receives.back(), server->handle);
  }
  /// Its first two frames come, the others `fate`.
  void send_to_be_refused(support::Fate fate, int first = 0) {
    faults.on_frame = [=](MessageFrame& frame) {
      const bool of_the_rest = frame.number >= first + 2 && frame.number < first + 4;
      return frame.from_client && of_the_rest ? fate : pass;
    };
    send();
  }
  static constexpr std::uint32_t too_short = vi::status::done | vi::status::op_receive | vi::status::length_error;
};
class QueuedForCredit : public support::Class2Nodes {};
class RefusedMessageAnyOrder : public RefusedMessage {
 public:
  RefusedMessageAnyOrder() : RefusedMessage(false) {}
};

// FC-VI B.2.5 rule 4b: the next message comes before the refused one is at its end: the connection breaks at once, and
// the descriptor says what was wrong with it, not with the other.
TEST_F(RefusedMessage, refusing_nextMessageComes_breaksAtOnce) {
  begin(Level::ReliableReception);
  receive_too_short(), receive();
  send_to_be_refused(lose), send();
  fabric.run_for(soon);
  EXPECT_EQ(received(0), too_short);
  EXPECT_EQ(received(1), receive_flushed);
  EXPECT_EQ(log.count(RCtl::command_status), 0u);
  expect_broken();
}

// FC-VI B.2.5 rule 5a: a frame of a message that was received comes again in the midst of the refused one: the same.
TEST_F(RefusedMessage, refusing_earlierMessageAgain_breaksAtOnce) {
  begin(Level::ReliableReception);
  receive(), receive_too_short();
  send(1, 100);
  fabric.run_for(soon);
  const LoggedFrame* first = log.find([](const LoggedFrame& f) { return f.outbound && f.is(RCtl::solicited_data); });
  ASSERT_NE(first, nullptr);
  const ForgedFrame again{.header = first->header, .data = first->data, .sof = first->sof, .eof = first->eof};
  send_to_be_refused(late(runtime::second), 1);
  fabric.run_for(soon);
  EXPECT_EQ(received(1), 0u);
  server->port.receive(again.build(fabric.pool));
  fabric.run_for(soon);
  EXPECT_TRUE(arrived(0, 0, 100));
  EXPECT_EQ(received(1), too_short);
  expect_broken();
}

// VI-DG 3.3.5, FC-VI 8.4.2 f): VipDisconnect in the midst of it: the descriptor is flushed, and the handle
// rests for R_A_TOV.
TEST_F(RefusedMessage, refusing_disconnect_handleRests) {
  begin(Level::ReliableReception);
  receive_too_short(), receive();
  send_to_be_refused(late(runtime::millisecond));
  fabric.run_for(200 * runtime::microsecond);
  EXPECT_EQ(received(0), 0u);
  support::Done done;
  server->provider.disconnect(*server_vi, done);
  fabric.run_for(soon);
  EXPECT_EQ(done.result, vi::Return::Success);
  EXPECT_EQ(received(0), receive_flushed | vi::status::partial_error);  // VI-DG 5.2 bit 4: frames of it came
  EXPECT_EQ(received(1), receive_flushed);
  EXPECT_NE(server->provider.handles_in_use(), 0u);
  fabric.run_for(11 * runtime::second);
  EXPECT_EQ(server->provider.handles_in_use(), 0u);
}

// VI-ARCH 2.5.3: its frames overtake each other: the answer, when all are here, says what was wrong.
TEST_F(RefusedMessageAnyOrder, refusing_framesOvertake_isRefusedByResponse) {
  begin(Level::ReliableReception);
  receive_too_short();
  faults.on_frame = support::to_frame(2, late(runtime::millisecond));
  send();
  fabric.run_for(500 * runtime::microsecond);
  EXPECT_EQ(log.count(RCtl::command_status), 0u);
  EXPECT_EQ(received(0), 0u);
  fabric.run_for(soon);
  EXPECT_EQ(log.count(RCtl::command_status), 1u);
  EXPECT_EQ(sent(0), sent_well | vi::status::remote_descriptor_error);
  EXPECT_EQ(received(0), too_short);
}

// VI-ARCH 2.5.3, FC-VI 5.9.4.3: the memory of the descriptor goes just before the last frame, which brings the
// initiative: it is answered at once.
TEST_F(RefusedMessage, receiving_memoryLostAtTheLastFrame_isRefusedByResponse) {
  begin(Level::ReliableReception);
  const std::uint64_t data = server->data + (8u << 20);
  const auto own = support::register_own(*server, data, slot);
  const auto descriptor = support::own_descriptor(*server, data, own, slot);
  server_vi->post_receive(descriptor, server->handle);
  faults.on_frame = support::to_frame(3, late(runtime::millisecond));
  send();
  fabric.run_for(500 * runtime::microsecond);
  ASSERT_EQ(server->nic.memory().deregister(data, own), vi::Return::Success);
  ASSERT_EQ(server->status(descriptor), 0u);
  fabric.run_for(soon);
  EXPECT_EQ(log.count(RCtl::command_status), 1u);
  EXPECT_EQ(sent(0), sent_well | vi::status::remote_descriptor_error);
  EXPECT_EQ(server->status(descriptor), vi::status::done | vi::status::op_receive | vi::status::protection_error);
  expect_broken();
}

// FC-VI 8.4.2 f), B.2.4 rule 1 b): no Disconnect comes through: frames are discarded also when R_A_TOV is over.
TEST_F(RefusedMessage, failed_noDisconnectForLong_framesAreDiscarded) {
  begin(Level::ReliableDelivery);
  receive();
  send(1, 100);
  fabric.run_for(soon);
  const LoggedFrame* first = log.find([](const LoggedFrame& f) { return f.outbound && f.is(RCtl::solicited_data); });
  ASSERT_NE(first, nullptr);
  const ForgedFrame again{.header = first->header, .data = first->data, .sof = first->sof, .eof = first->eof};
  faults.on_control = [](const wire::FcHeader&) { return lose; };
  server->port.receive(again.build(fabric.pool));  // B.2.5 rule 5a
  EXPECT_EQ(server_vi->state(), vi::State::Error);
  fabric.run_for(11 * runtime::second);
  const auto before = discarded();
  server->port.receive(again.build(fabric.pool));
  EXPECT_EQ(discarded(), before + 1);
  EXPECT_NE(server->provider.handles_in_use(), 0u);
}

// --- the originator ----------------------------------------------------------------------------------------------

// FC-VI C.5.10.1, C.5.5, Annex E: RESP3 is late; message 1 was delivered, message 2 refused. When RESP3 comes, both
// complete, in order.
TEST_F(RefusedMessage, awaitResp3_secondIsRefused_completeInOrder) {
  faults.on_control = [this](const wire::FcHeader& fc) {
    return fc.d_id == client->port.n_port_id() ? late(5 * runtime::millisecond) : pass;
  };
  client_vi = &client->make_vi(Level::ReliableReception), server_vi = &server->make_vi(Level::ReliableReception);
  receive();
  server->provider.connect_wait(server->net("late"), runtime::second, wait);
  client->provider.connect_request(*client_vi, client->net("c"), server->net("late"), runtime::second, request);
  ASSERT_TRUE(fabric.run_until([&] { return wait.result.has_value(); }));
  server->provider.connect_accept(wait.token, *server_vi, accept);
  ASSERT_TRUE(fabric.run_until([&] { return client_vi->can_transmit(); }));
  send(2, 100);
  fabric.run_for(runtime::millisecond);
  EXPECT_EQ(log.count(RCtl::command_status), 2u);
  EXPECT_EQ(sent(0), 0u);
  EXPECT_EQ(sent(1), 0u);
  fabric.run_for(soon);
  EXPECT_EQ(sent(0), sent_well);
  EXPECT_EQ(sent(1), sent_well | vi::status::remote_descriptor_error);
  EXPECT_EQ(client_vi->state(), vi::State::Error);
}

// VI-ARCH 2.5.2, VI-DG 5.2: the memory of a message goes while it waits for credit: a protection error, no frame of it,
// and at a reliable level both ends are in Error.
TEST_F(QueuedForCredit, queued_memoryLostAtReliableDelivery_breaks) {
  begin(Level::ReliableDelivery);
  faults.on_link_control = [](const wire::FcHeader&) { return late(5 * runtime::millisecond); };
  receive(2), send(1, credit * frame_bytes);
  const std::uint64_t data = client->data + (8u << 20);
  const auto own = support::register_own(*client, data, slot);
  const auto second = support::own_descriptor(*client, data, own, 100);
  client_vi->post_send(second, client->handle);
  fabric.run_for(runtime::millisecond);
  ASSERT_EQ(client->nic.memory().deregister(data, own), vi::Return::Success);
  fabric.run_for(runtime::second);
  EXPECT_EQ(client->status(second), sent_well | vi::status::protection_error);
  EXPECT_EQ(log.count(RCtl::solicited_data), credit);
  EXPECT_EQ(client_vi->state(), vi::State::Error);
  EXPECT_EQ(server_vi->state(), vi::State::Error);
  fabric.run_for(60 * runtime::second);
  EXPECT_EQ(client->port.open_exchanges(), 0u);
}

}  // namespace
