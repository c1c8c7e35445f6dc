// Class 2: answers that are none to the sequence that is open, and what a reject means by who says it (FC-VI 5.5,
// B.2.6.1 rule 8; FC-FS Link_Control).
#include "tests/fcvi/class_2_nodes.hpp"
#include "wire/link_control.hpp"

namespace {
using support::Class2Nodes;
using support::Level;
using support::lose;
using support::MessageFrame;
using support::pass;
using wire::RCtl;
namespace f_ctl = wire::f_ctl;

class Class2Answers : public Class2Nodes {
 public:
  using Class2Nodes::Class2Nodes;
  /// One message that nobody but the test answers.
  void send_alone(Level level, std::uint32_t bytes = 100) {
    begin(level);
    lose_all_of_the_client();
    receive(), send(1, bytes);
    fabric.run_for(runtime::millisecond);
    ASSERT_NE(data_frame(0), nullptr);
  }
  void answered(const wire::FcHeader& data, RCtl r_ctl, std::uint32_t parameter, std::uint32_t more_f_ctl = 0) {
    answer(data, r_ctl, parameter, more_f_ctl);
    fabric.run_for(runtime::millisecond);
  }
  [[nodiscard]] std::size_t aborts() const { return log.count(RCtl::abts); }
};
class Class2AnswersAck0 : public Class2Answers {
 public:
  Class2AnswersAck0() : Class2Answers({.ack_0 = true}) {}
};
class Class2AnswersAnyOrder : public Class2Answers {
 public:
  Class2AnswersAnyOrder() : Class2Answers({.in_order = false}) {}
};
class Class2AnswersAnyOrderAck0 : public Class2Answers {
 public:
  Class2AnswersAnyOrderAck0() : Class2Answers({.in_order = false, .ack_0 = true}) {}
};

// FC-FS Link_Control codes: a Link_Control frame of a reserved code is no ACK.
TEST_F(Class2Answers, sending_reservedLinkControl_isIgnored) {
  send_alone(Level::ReliableDelivery);
  const auto bad = client->port.counters().discarded(fc2::Discard::BadHeader);
  answered(data_frame(0)->header, static_cast<RCtl>(0xCF), 1);
  EXPECT_EQ(sent(0), 0u);
  EXPECT_EQ(client->port.counters().discarded(fc2::Discard::BadHeader), bad + 1);
  answered(data_frame(0)->header, RCtl::ack_1, 1);
  EXPECT_EQ(sent(0), sent_well);
}

// FC-FS Abort Sequence Condition: of an ACK's, only "perform ABTS" demands an ABTS; the others acknowledge the frame.
TEST_F(Class2Answers, sending_ackThatStopsTheSequence_acknowledges) {
  send_alone(Level::ReliableDelivery);
  answered(data_frame(0)->header, RCtl::ack_1, 1, f_ctl::abort_stop_sequence);
  EXPECT_EQ(sent(0), sent_well);
  EXPECT_EQ(aborts(), 0u);
}

// Ruling 128: the program at the far end disconnects as soon as it has all messages, while more answers wait there for
// end-to-end credit than it has. Its DISCONNECT_RQST, of class 3, overtakes them, and tells by its FCVI_MSG_ID that
// they come: each message was received, and none is flushed.
TEST_F(Class2Answers, disconnected_behindTheLastMessage_answersCome) {
  constexpr int messages = 3 * credit;
  begin(Level::ReliableReception);
  faults.on_link_control = [&](const wire::FcHeader& ack) {
    return ack.s_id == client->port.n_port_id() ? support::late(runtime::millisecond) : pass;
  };
  receive(messages), send(messages, 100);
  ASSERT_TRUE(fabric.run_until([&] { return received(messages - 1) != 0; }));
  EXPECT_EQ(disconnect(*server, *server_vi), vi::Return::Success);
  EXPECT_EQ(sent(messages - 1), 0u) << "the answer waits";
  EXPECT_EQ(client_vi->state(), vi::State::Connected);
  fabric.run_for(runtime::second);
  for (std::size_t i = 0; i < messages; ++i) EXPECT_EQ(sent(i), sent_well) << i;
  EXPECT_EQ(client_vi->state(), vi::State::Error);
  EXPECT_EQ(client->count(vi::ErrorCode::ConnLost), 1);
}

// FC-FS "N_Port Login required" is the peer's to say: from the fabric it rejects the frame, and leaves the login.
TEST_F(Class2Answers, sending_fabricRejectsForLogin_staysLoggedIn) {
  send_alone(Level::UnreliableDelivery);
  answered(data_frame(0)->header, RCtl::f_rjt,
           wire::LinkReject{.reason = wire::LinkRejectReason::login_required}.to_parameter());
  EXPECT_TRUE(client->port.remote_port(server->port.n_port_id()).logged_in());
  EXPECT_EQ(sent(0), sent_well);
  EXPECT_EQ(client_vi->state(), vi::State::Connected);
}

// FC-VI B.2.6.1 rule 8a: on an in-order fabric a frame that was busied is not sent again: what is behind it may
// be there already.
TEST_F(Class2Answers, sending_busyInOrder_isAborted) {
  send_alone(Level::UnreliableDelivery);
  answered(data_frame(0)->header, RCtl::p_bsy, 0x01010000);
  EXPECT_EQ(sent(0), sent_well);
  EXPECT_EQ(aborts(), 1u);
  EXPECT_EQ(log.count([](const support::LoggedFrame& f) { return f.header.has(f_ctl::retransmitted); }), 0u);
}

// FC-VI B.2.6.1 rules 8b, 8e: a frame that is busied shortly before E_D_TOV is over does not put that off.
TEST_F(Class2AnswersAnyOrder, sending_busyAtTheLast_isGivenUpInTime) {
  send_alone(Level::ReliableDelivery);
  const runtime::TimeNs e_d_tov = client->port.e_d_tov(), begun = data_frame(0)->at;
  fabric.scheduler.run_until(begun + e_d_tov - e_d_tov / 200);
  answered(data_frame(0)->header, RCtl::p_bsy, 0x01010000);
  EXPECT_EQ(sent(0), 0u);
  fabric.scheduler.run_until(begun + e_d_tov + runtime::millisecond);
  EXPECT_EQ(sent(0), send_flushed);
}

// FC-VI B.2.6.1 rules 8a, 8b: with ACK_0 nothing but memory bounds what may be busied: of a sequence 1024 frames are
// kept to be sent again; one beyond them that is busied ends it, as on an in-order fabric.
TEST_F(Class2AnswersAnyOrderAck0, sending_busyOfALongSequence_theFirstGoAgain) {
  send_alone(Level::ReliableDelivery, 1030 * frame_bytes);
  fabric.run_for(runtime::second);
  const auto again = [&] {
    return log.count([](const support::LoggedFrame& f) { return f.outbound && f.header.has(f_ctl::retransmitted); });
  };
  answered(data_frame(1023)->header, RCtl::p_bsy, 0x01010000);
  fabric.run_for(client->port.e_d_tov() / 32);
  EXPECT_EQ(again(), 1u);
  EXPECT_EQ(sent(0), 0u);
  answered(data_frame(1024)->header, RCtl::p_bsy, 0x01010000);
  EXPECT_EQ(sent(0), send_flushed);
  EXPECT_EQ(aborts(), 1u);
}

// FC-VI 5.5: with ACK_0 too a frame that was never sent cannot be rejected or busied.
TEST_F(Class2AnswersAck0, sending_rejectOfNothingSent_isIgnored) {
  send_alone(Level::ReliableDelivery);
  wire::FcHeader never = data_frame(0)->header;
  never.seq_cnt.value = static_cast<std::uint16_t>(never.seq_cnt.value + 1);
  for (const RCtl r_ctl : {RCtl::p_rjt, RCtl::p_bsy}) {
    answered(never, r_ctl, 0x01010000);
    EXPECT_EQ(sent(0), 0u);
    EXPECT_EQ(aborts(), 0u);
  }
  answered(data_frame(0)->header, RCtl::ack_0, 0);
  EXPECT_EQ(sent(0), sent_well);
}

// FC-FS ACK_0: it stands for the whole sequence: one for a frame in the middle acknowledges nothing.
TEST_F(Class2AnswersAck0, sending_ackOfAFrameInTheMiddle_isIgnored) {
  send_alone(Level::ReliableDelivery, length);
  answered(data_frame(1)->header, RCtl::ack_0, 0);
  EXPECT_EQ(sent(0), 0u);
  answered(data_frame(3)->header, RCtl::ack_0, 0);
  EXPECT_EQ(sent(0), sent_well);
}

// FC-FS ACK_0: nor is the sequence whole while its last frame was not sent; its first ones may still be rejected.
TEST_F(Class2AnswersAck0, sending_ackBeforeTheLastFrame_isIgnored) {
  begin(Level::ReliableDelivery);
  faults.on_frame = [&](MessageFrame& frame) {
    if (!frame.from_client) return pass;
    if (frame.number == 10) answer(frame.fc, RCtl::ack_0, 0);
    return lose;
  };
  const auto bad = client->port.counters().discarded(fc2::Discard::BadHeader);
  send(1, 60'000);
  fabric.run_for(runtime::second);
  EXPECT_GT(faults.lost, 20) << "the rest was sent";
  EXPECT_EQ(client->port.counters().discarded(fc2::Discard::BadHeader), bad + 1);
  EXPECT_EQ(sent(0), 0u);
  EXPECT_EQ(aborts(), 0u);
  answered(data_frame(3)->header, RCtl::p_rjt, 0x01010000);
  EXPECT_EQ(sent(0), send_flushed);
}

// FC-VI 5.5: a sequence is closed by its ACK. What is said of it afterwards does not end the exchange, which waits
// for the response.
TEST_F(Class2AnswersAck0, awaitResponse_rejectOfWhatWasAcknowledged_isIgnored) {
  begin(Level::ReliableReception);
  faults.on_frame = [](MessageFrame& frame) { return frame.from_client ? pass : lose; };
  receive(), send(1, 100);
  fabric.run_for(runtime::millisecond);
  ASSERT_EQ(log.count(RCtl::ack_0), 1u);
  const auto ignored = client->port.counters().discarded(fc2::Discard::UnknownExchange);
  answered(data_frame(0)->header, RCtl::p_rjt, 0x01010000);
  answered(data_frame(0)->header, RCtl::ack_0, 0);
  EXPECT_EQ(client->port.counters().discarded(fc2::Discard::UnknownExchange), ignored + 2);
  EXPECT_EQ(aborts(), 0u);
  EXPECT_EQ(client_vi->state(), vi::State::Connected);
  fabric.run_for(30 * runtime::second);
  EXPECT_EQ(sent(0), send_failed) << "by FCVI_ULP_TIMEOUT, as if nothing had been said";
}

// FC-VI 5.5: a response waits for its ACK when its host goes away, and then the port's link: the port outlives the
// host, and says nothing to it any more.
TEST_F(Class2AnswersAck0, answering_hostGoesAwayBeforeTheAck) {
  begin(Level::ReliableReception);
  faults.on_frame = [](MessageFrame& frame) { return frame.from_client ? pass : lose; };
  receive(), send(1, 100);
  fabric.run_for(runtime::millisecond);
  fc2::NPort& port = server->port;
  ASSERT_TRUE(arrived(0, 0, 100));
  ASSERT_GT(port.open_exchanges(), 0u);
  server.reset();
  fabric.detach(1);
  EXPECT_EQ(port.open_exchanges(), 0u);
  fabric.attach(1);
  server = std::make_unique<support::Host>(fabric, 1);
}

class NotAskedFor : public support::MessageNodes {
 public:
  NotAskedFor() : MessageNodes({}, [](fc2::NPortConfig& config, std::size_t) { config.end_to_end_credit = 6; }) {}
};
// FC-VI 8.1, ruling 6: both ports offer class 2; a VI that does not ask for it sends in class 3.
TEST_F(NotAskedFor, connected_messages_goInClass3) {
  begin(Level::ReliableDelivery);
  receive(), send(1, 100);
  fabric.run_for(runtime::millisecond);
  EXPECT_TRUE(arrived(0, 0, 100));
  EXPECT_EQ(log.count([](const support::LoggedFrame& f) { return wire::class_of_service(f.sof) == 2; }), 0u);
}

}  // namespace
