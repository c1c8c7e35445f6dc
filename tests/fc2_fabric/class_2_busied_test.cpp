// Class 2 on an out-of-order fabric: when frames that were busied go again, and which are kept for that (FC-VI
// B.2.6.1 rule 8b).
#include <gtest/gtest.h>

#include "fc2_fabric/node/sent_sequence.hpp"
#include "tests/fc2_fabric/sends_in_class_2.hpp"

namespace fc2 {
namespace {
using support::LoggedFrame;
using wire::RCtl;
using Failures = std::vector<ExchangeFailure>;
namespace f_ctl = wire::f_ctl;

class SendsOutOfOrder : public SendsInClass2 {
 public:
  SendsOutOfOrder() : SendsInClass2(false, false) {}
};
class SendsOutOfOrderWithAck0 : public SendsInClass2 {
 public:
  SendsOutOfOrderWithAck0() : SendsInClass2(true, false) {}
};

// FC-VI B.2.6.1 rule 8b, FC-FS: they go again after their while (impl: a 64th of E_D_TOV), as they were but for
// Retransmitted; those that were not busied do not.
TEST_F(SendsOutOfOrder, waiting_busied_goes_again) {
  Exchange& exchange = originate();
  send(exchange, 4);
  const TimeNs wait = port.e_d_tov() / 64;
  busy(1);
  run_for(wait / 2);
  busy(2, RCtl::f_bsy_data);
  run_for(wait / 2 - 1);
  EXPECT_EQ(log.size(), 4u);
  run_for(1);
  ASSERT_EQ(log.size(), 6u);
  busy(2);
  run_for(wait - 1);
  EXPECT_EQ(log.size(), 6u);
  run_for(1);
  ASSERT_EQ(log.size(), 7u);
  const std::array<std::size_t, 3> first{1, 2, 2};
  for (std::size_t i = 0; i < first.size(); ++i) {
    const LoggedFrame &before = sent(data_frame, first[i]), &again = sent(data_frame, 4 + i);
    wire::FcHeader expected = before.header;
    expected.f_ctl |= f_ctl::retransmitted;
    EXPECT_EQ(again.header, expected) << i;
    EXPECT_TRUE(again.data == before.data && again.sof == before.sof && again.eof == before.eof);
  }
  for (const std::size_t number : {0, 1, 2, 3}) acknowledge(number);
  EXPECT_FALSE(exchange.awaits_acknowledgement());
  EXPECT_TRUE(user.failures.empty());
}

// FC-VI B.2.6.1 rule 8e: a frame that goes again is no progress: E_D_TOV counts from the first time, and nothing goes
// again after it.
TEST_F(SendsOutOfOrder, waiting_busied_is_given_up_after_e_d_tov) {
  const TimeNs wait = port.e_d_tov() / 64;
  for (const bool late : {false, true}) {
    user.failures.clear(), log.clear();
    send(originate());
    const TimeNs begun = scheduler.now();
    if (late) run_for(port.e_d_tov() - wait / 2);
    busy(0);
    scheduler.run_until(begun + port.e_d_tov() - 1);
    EXPECT_EQ(log.size(), late ? 1u : 2u);
    EXPECT_TRUE(user.failures.empty());
    run_for(1);
    EXPECT_EQ(user.failures, Failures{ExchangeFailure::NotAcknowledged});
    EXPECT_EQ(sent(data_frame), late ? 1u : 2u);
  }
}

// A frame that was busied and is acknowledged all the same leaves nothing behind: in the next sequence one goes
// again as ever.
TEST_F(SendsOutOfOrder, open_busied_then_acknowledged_leaves_nothing) {
  Exchange& exchange = originate();
  send(exchange, 1, {});
  busy(0), acknowledge(0);
  send(exchange);
  busy(1);
  run_for(port.e_d_tov() / 64);
  EXPECT_EQ(sent(data_frame), 3u);
  EXPECT_EQ(header(2).seq_cnt.value, 1);
}

// The same within one sequence, all frames of which were acknowledged so far.
TEST_F(SendsOutOfOrder, sending_busied_then_acknowledged_leaves_nothing) {
  SequenceSender sequence;
  ASSERT_TRUE(sequence.begin(originate(), data_frame, 0));
  send_next(sequence);
  busy(0), acknowledge(0);
  send_next(sequence);
  busy(1);
  run_for(port.e_d_tov() / 64);
  EXPECT_EQ(sent(data_frame), 3u);
  sequence.abandon();
}

// impl: with ACK_0, which no credit bounds, 1,024 frames are kept to go again. Beyond them busy is the end, as on
// an in-order fabric.
TEST_F(SendsOutOfOrderWithAck0, sending_kept_frames_are_bounded) {
  SequenceSender sequence;
  ASSERT_TRUE(sequence.begin(originate(), data_frame, 0));
  for (int i = 0; i < 1025; ++i) {
    FramePtr frame = pool.take();
    sequence.stamp(*frame, 4, 0, nullptr);
    port.transmitter().send(std::move(frame));
  }
  run_for(microsecond);
  ASSERT_EQ(sent(data_frame), 1025u);
  busy(0), busy(1023);
  run_for(port.e_d_tov() / 64);
  ASSERT_EQ(sent(data_frame), 1027u);
  EXPECT_EQ(header(1026).seq_cnt.value, 1023);
  EXPECT_TRUE(user.failures.empty());
  busy(1024);
  EXPECT_EQ(user.failures, Failures{ExchangeFailure::Busy});
  sequence.abandon();
}

// SentSequence::SentFrame: with ACK_0 only frames that are kept, to go again, stand in the list; with ACK_1 all that
// are not acknowledged.
TEST(SentFrames, sending_list_has_what_is_needed) {
  FramePool pool;
  for (const bool ack_0 : {false, true})
    for (const bool kept : {false, true}) {
      SentSequence sent;
      sent.ack_0 = ack_0;
      for (std::uint16_t seq_cnt = 0; seq_cnt < 10; ++seq_cnt)
        sent.add({.seq_cnt = {seq_cnt}}, kept ? pool.take() : nullptr);
      EXPECT_EQ(sent.frames.size(), ack_0 && !kept ? 0u : 10u);
      EXPECT_EQ(sent.last.value, 9);
    }
}

}  // namespace
}  // namespace fc2
