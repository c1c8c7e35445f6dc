// Class 2 on a fabric that does not keep the order: which ACK each frame has (FC-VI 8.4.2 h, B.2.4 rules 1 and 2,
// B.2.6.1 rule 8b): that of a message with Merr says "Abort Sequence, Perform ABTS" for R_A_TOV, a duplicate of what is
// here is accepted, and where there is no room it is busied.
#include "tests/fcvi/forged_messages.hpp"
#include "tests/support/times.hpp"

namespace {
using support::ForgedFrame;
using support::ForgedMessages;
using support::Host;
using support::Level;
using support::r_a_tov;
using wire::fcvi::Opcode;

class EpochAnswers : public ForgedMessages {
 public:
  explicit EpochAnswers(std::uint64_t pool_bytes = 64u << 20)
      : ForgedMessages({.class_2 = true, .pool_bytes = pool_bytes}) {}
  std::string send_again(std::uint32_t id) { return answer_to(frame(Opcode::send_rqst, id, 0, 1)); }
};

// B.2.5 rule 6a: a message that breaks the rules alone has Merr, and that for R_A_TOV to the nanosecond; the one before
// it was received, the one behind it comes.
TEST_F(EpochAnswers, errored_oneMessage_forRaTov) {
  begin(Level::UnreliableDelivery);
  receive(3);
  EXPECT_EQ(send_again(1), "ok");
  ForgedFrame wrong = frame(Opcode::send_rqst, 2, 0, 2);
  wrong.header.seq_cnt = {7};
  const runtime::TimeNs at = fabric.scheduler.now();
  EXPECT_EQ(answer_to(wrong), "abort");
  EXPECT_EQ(send_again(2), "abort");
  EXPECT_EQ(send_again(1), "ok") << "a duplicate";
  fabric.scheduler.run_until(at + r_a_tov - 1);
  EXPECT_EQ(send_again(2), "abort");
  EXPECT_EQ(send_again(2), "ok");
  EXPECT_EQ(send_again(3), "ok");
  EXPECT_EQ(received(1), received_well);
  EXPECT_EQ(received(2), 0u);
}

// ... at R_A_TOV it is over.
TEST_F(EpochAnswers, errored_atRaTov_isOver) {
  begin(Level::UnreliableDelivery);
  ForgedFrame wrong = frame(Opcode::send_rqst, 1, 0, 2);
  wrong.header.seq_cnt = {7};
  const runtime::TimeNs at = fabric.scheduler.now();
  EXPECT_EQ(answer_to(wrong), "abort");
  fabric.scheduler.run_until(at + r_a_tov);
  EXPECT_EQ(send_again(1), "ok");
}

// B.2.5 rule 7a: of several gaps each message that nothing came of has Merr, and no other.
TEST_F(EpochAnswers, errored_gapsGivenUp_eachOfTheirMessages) {
  begin(Level::UnreliableDelivery);
  receive(4);
  EXPECT_EQ(send_again(1), "ok");
  for (const std::uint32_t id : {5u, 6u, 9u}) EXPECT_EQ(send_again(id), "ok");
  fabric.run_for(r_a_tov);
  EXPECT_EQ(pool(), 0u);
  for (const std::uint32_t id : {2u, 3u, 4u, 7u, 8u}) EXPECT_EQ(send_again(id), "abort") << id;
  for (const std::uint32_t id : {1u, 5u, 6u, 9u}) EXPECT_EQ(send_again(id), "ok") << id;
  for (std::size_t i = 0; i < 4; ++i) EXPECT_EQ(received(i), received_well);
}

// ... of a gap that is not due the messages may still come.
TEST_F(EpochAnswers, errored_oneOfTwoGapsGivenUp_otherIsOpen) {
  begin(Level::UnreliableDelivery);
  receive(4);
  EXPECT_EQ(send_again(3), "ok");
  fabric.run_for(4 * runtime::second);
  EXPECT_EQ(send_again(6), "ok");
  fabric.run_for(7 * runtime::second);
  EXPECT_EQ(send_again(1), "abort");
  EXPECT_EQ(send_again(2), "abort");
  EXPECT_EQ(send_again(3), "ok") << "a duplicate";
  EXPECT_EQ(send_again(4), "ok");
  EXPECT_EQ(send_again(5), "ok");
  EXPECT_EQ(received(3), received_well);
  EXPECT_EQ(pool(), 0u);
  EXPECT_EQ(send_again(4), "ok") << "a duplicate: it was never given up";
}

// B.2.4 rule 2: Merr of more messages than ranges are kept, each by itself: the first range goes on as far as it must,
// to the younger and to the older; what was received between is discarded with the rest.
TEST_F(EpochAnswers, errored_manyMessages_allHaveMerr) {
  begin(Level::UnreliableDelivery);
  receive(20);
  for (std::uint32_t id = 1; id <= 20; ++id) {
    ForgedFrame one = frame(Opcode::send_rqst, id, 0, 1);
    if (id % 2 == 0) one.header.seq_cnt = {7};
    EXPECT_EQ(answer_to(one), id % 2 == 0 ? "abort" : "ok") << id;
  }
  EXPECT_EQ(send_again(1), "ok") << "in front of the first";
  for (std::uint32_t id = 2; id <= 20; ++id) EXPECT_EQ(send_again(id), "abort") << id;
  fabric.run_for(r_a_tov);
  for (std::uint32_t id = 1; id <= 20; ++id) EXPECT_EQ(send_again(id), "ok") << id;
}

// ... the range that goes on has the R_A_TOV of the latest.
TEST_F(EpochAnswers, errored_ninthLater_hasItsOwnRaTov) {
  begin(Level::UnreliableDelivery);
  receive(20);
  const auto err = [&](std::uint32_t id) {
    EXPECT_EQ(send_again(id - 1), "ok");
    ForgedFrame wrong = frame(Opcode::send_rqst, id, 0, 1);
    wrong.header.seq_cnt = {7};
    EXPECT_EQ(answer_to(wrong), "abort");
  };
  for (std::uint32_t id = 2; id <= 16; id += 2) err(id);
  fabric.run_for(r_a_tov / 2);
  err(18);
  fabric.run_for(r_a_tov - runtime::millisecond);
  EXPECT_EQ(send_again(18), "abort");
  fabric.run_for(runtime::millisecond);
  EXPECT_EQ(send_again(18), "ok");
}

// ... ranges whose R_A_TOV is over are used anew: eight at a time have their own ends.
TEST_F(EpochAnswers, errored_oldRanges_areUsedAnew) {
  begin(Level::UnreliableDelivery);
  receive(20);
  for (std::uint32_t id = 1; id <= 32; ++id) {
    ForgedFrame one = frame(Opcode::send_rqst, id, 0, 1);
    if (id % 2 == 0) one.header.seq_cnt = {7};
    give(one);
    fabric.run_for(20 * runtime::microsecond);
    if (id % 16 == 0) {
      EXPECT_EQ(send_again(id - 1), "ok") << id;
    }
    if (id == 16) fabric.run_for(r_a_tov);
  }
  for (std::uint32_t id = 17; id <= 32; ++id) EXPECT_EQ(send_again(id), id % 2 == 0 ? "abort" : "ok") << id;
}

// 8.4.2 h), B.2.5 rule 5b: while a message is open: its frames are accepted, its duplicates too; one that contradicts
// it is aborted.
TEST_F(EpochAnswers, receiving_framesOfAnEpoch) {
  begin(Level::ReliableDelivery);
  receive(2);
  for (const std::uint32_t number : {2u, 0u, 2u, 0u})
    EXPECT_EQ(answer_to(frame(Opcode::send_rqst, 1, number, 3)), "ok");
  EXPECT_EQ(send_again(2), "ok");
  EXPECT_EQ(send_again(2), "ok");
  EXPECT_EQ(answer_to(frame(Opcode::send_rqst, 1, 1, 4)), "abort");
  EXPECT_EQ(server_vi->state(), vi::State::Error);
}

// 8.4.2 h): an RDMA Write without target: the frame that tells is aborted. At Reliable Reception its response tells,
// and all are accepted; so are those of one whose turn has not come.
TEST_F(EpochAnswers, refused_frames) {
  for (const Level level : {Level::ReliableDelivery, Level::ReliableReception}) {
    const bool reception = level == Level::ReliableReception;
    SCOPED_TRACE(reception);
    begin(level, reception ? "1" : "0");
    receive();
    header.rmt_va_handle = wire::MemHandle{0x4711};
    EXPECT_EQ(answer_to(frame(Opcode::write_rqst, 2, 1, 3)), "ok");
    EXPECT_EQ(answer_to(frame(Opcode::send_rqst, 1, 0, 2)), "ok");
    EXPECT_EQ(answer_to(frame(Opcode::write_rqst, 2, 0, 3)), "ok");
    if (reception) {
      EXPECT_EQ(answer_to(frame(Opcode::write_rqst, 2, 2, 3)), "ok");
    }
    EXPECT_EQ(answer_to(frame(Opcode::send_rqst, 1, 1, 2)), "ok");
    EXPECT_EQ(server_vi->state(), vi::State::Error);
    disconnect(*server, *server_vi), disconnect(*client, *client_vi);
    begin(level, reception ? "3" : "2");
    header.rmt_va_handle = wire::MemHandle{0x4711};
    EXPECT_EQ(answer_to(frame(Opcode::write_rqst, 1, 1, 2)), reception ? "ok" : "abort");
    EXPECT_EQ(answer_to(frame(Opcode::write_rqst, 1, 0, 2)), reception ? "ok" : "abort");
    disconnect(*server, *server_vi), disconnect(*client, *client_vi);
  }
}

// 5.2.2, 5.5, 5.6: the response to a message of an epoch goes to its exchange in its class; that to one that comes in
// order later to its own.
TEST_F(EpochAnswers, responding_afterAnEpoch_eachHasItsExchange) {
  begin(Level::ReliableReception);
  receive(3);
  give_send(2), give_send(1);
  fabric.run_for(runtime::millisecond);
  give_send(3);
  fabric.run_for(runtime::millisecond);
  EXPECT_EQ(responses(), "1:00 2:00 3:00");
  const auto in_class_2 = [](const support::LoggedFrame& f) {
    return !f.outbound && f.is(wire::RCtl::command_status) && f.sof == wire::Sof::i2;
  };
  EXPECT_EQ(log.count(in_class_2), 3u);
}

// --- no room -------------------------------------------------------------------------------------------------------

class EpochAnswersSmallPool : public EpochAnswers {
 public:
  EpochAnswersSmallPool() : EpochAnswers(book + book / 2) {}
};

// B.2.6.1 rule 8b, FC-FS P_BSY: the end of an RDMA Write finds no room, and is busied; the message is not lost for it,
// and is whole when it comes again.
TEST_F(EpochAnswersSmallPool, receiving_endFindsNoRoom_isBusied) {
  begin(Level::UnreliableDelivery);
  EXPECT_EQ(answer_to(frame(Opcode::write_rqst, 2, 0, 3)), "ok");
  EXPECT_EQ(answer_to(frame(Opcode::write_rqst, 2, 2, 3)), "busy");
  EXPECT_EQ(refused_by_pool(), 1u);
  EXPECT_EQ(discarded(), 0u);
  EXPECT_EQ(answer_to(frame(Opcode::write_rqst, 2, 1, 3)), "ok");
  EXPECT_EQ(answer_to(frame(Opcode::write_rqst, 2, 2, 3)), "ok");
  EXPECT_EQ(placed_at(target, 2), 3 * part);
  EXPECT_EQ(told(), "");
}

class EpochAnswersNoPool : public EpochAnswers {
 public:
  EpochAnswersNoPool() : EpochAnswers(10) {}
};

// ... where there is no room for a book the message that came in order goes on in order.
TEST_F(EpochAnswersNoPool, receiving_overtaken_isBusied) {
  begin(Level::ReliableDelivery);
  receive(2);
  EXPECT_EQ(answer_to(frame(Opcode::send_rqst, 1, 0, 2)), "ok");
  EXPECT_EQ(send_again(2), "busy");
  EXPECT_EQ(answer_to(frame(Opcode::send_rqst, 1, 1, 2)), "ok");
  EXPECT_EQ(send_again(2), "ok");
  EXPECT_EQ(refused_by_pool(), 1u);
  EXPECT_EQ(received(0) & received(1), received_well);
  EXPECT_EQ(send_again(4), "busy");
  EXPECT_EQ(discarded(), 0u);
}

// --- Merr: which messages, and how long ------------------------------------------------------------------------------

class EpochRanges : public EpochAnswers {
 public:
  /// Its only frame has a SEQ_CNT that it cannot have.
  void give_wrong(std::uint32_t id) {
    ForgedFrame wrong = frame(Opcode::send_rqst, id, 0, 1);
    wrong.header.seq_cnt = {7};
    give(wrong);
  }
};

// B.2.5 rule 7a: gaps that show in one moment are given up in one: what came between them has no Merr.
TEST_F(EpochRanges, gapsAtOnce_notWhatCameBetween) {
  begin(Level::UnreliableDelivery);
  receive(3);
  for (const std::uint32_t id : {3u, 4u, 7u}) give_send(id);
  fabric.run_for(r_a_tov);
  for (const std::uint32_t id : {1u, 2u, 5u, 6u}) EXPECT_EQ(send_again(id), "abort") << id;
  for (const std::uint32_t id : {3u, 4u, 7u}) EXPECT_EQ(send_again(id), "ok") << id;
}

// B.2.4 rule 2: a message of an epoch that lost a frame has it, too.
TEST_F(EpochRanges, messageOfAnEpoch_hasIt) {
  begin(Level::UnreliableDelivery);
  receive(3);
  give_send(1, 1, 2), give_send(2), give_send(4);
  fabric.run_for(r_a_tov);
  EXPECT_EQ(received(2), receive_lost);
  EXPECT_EQ(answer_to(frame(Opcode::send_rqst, 1, 0, 2)), "abort");
  EXPECT_EQ(send_again(2), "ok");
  EXPECT_EQ(send_again(3), "abort") << "missing whole";
  EXPECT_EQ(send_again(4), "ok");
}

// A ninth range makes the first one longer: it holds both, until the younger ends. What lies within it
// changes neither end.
TEST_F(EpochRanges, moreThanEightRanges_firstHoldsBoth) {
  begin(Level::UnreliableDelivery);
  receive(2);
  give_send(40);
  for (std::uint32_t id = 3; id <= 17; id += 2) give_wrong(id);
  fabric.run_for(5 * runtime::second);
  give_wrong(25), give_wrong(10);
  fabric.run_for(runtime::millisecond);
  for (const std::uint32_t id : {3u, 4u, 9u, 10u, 11u, 25u})
    if (id % 2 != 0 || id == 10) {
      EXPECT_EQ(send_again(id), "abort") << id;
    }
  fabric.run_for(6 * runtime::second);
  EXPECT_EQ(send_again(25), "abort");
}

// ... to the front likewise: messages that are missing before it are given up last.
TEST_F(EpochRanges, olderThanTheFirstRange_makeItLonger) {
  begin(Level::UnreliableDelivery);
  receive();
  give_send(19);
  fabric.run_for(runtime::second);
  for (std::uint32_t id = 3; id <= 17; id += 2) give_wrong(id);
  fabric.run_for(r_a_tov - runtime::second + runtime::millisecond);
  for (const std::uint32_t id : {1u, 2u, 3u, 10u, 18u}) EXPECT_EQ(send_again(id), "abort") << id;
}

// A range whose R_A_TOV ends in this moment is free in it.
TEST_F(EpochRanges, rangesEndNow_areFree) {
  begin(Level::UnreliableDelivery);
  for (std::uint32_t id = 1; id <= 8; ++id) give_wrong(id);
  fabric.run_for(r_a_tov);
  give_wrong(9);
  EXPECT_EQ(send_again(1), "ok");
  EXPECT_EQ(send_again(9), "abort");
}
}  // namespace
