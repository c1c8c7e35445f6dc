// SequenceSender: every field of the frames that it makes, the SEQ_IDs that it takes and gives back, and when it may
// not send (FC-FS; FC-VI 4.1, 5.5, 5.6, 5.8, 7.7).
#include <gtest/gtest.h>

#include <algorithm>

#include "fc2_fabric/node/sequence_sender.hpp"
#include "tests/support/fc4.hpp"
#include "tests/support/played_peer.hpp"

namespace fc2 {
namespace {
using wire::RCtl;
namespace f_ctl = wire::f_ctl;
constexpr auto data_frame = RCtl::solicited_data;
constexpr SequenceEnd last{.last_of_exchange = true};

class SequenceSenderTest : public support::PlayedPeer {
 public:
  explicit SequenceSenderTest(bool ack_0 = false)
      : PlayedPeer([=](NPortConfig& config) {
          config.end_to_end_credit = 2;
          config.ack_0 = ack_0;
        }) {}
  Exchange& originate(bool class_2 = false, wire::Type of = type) {
    Exchange& exchange = *port.originate(peer, of, user);
    if (class_2) exchange.use_class_2();
    return exchange;
  }
  bool begin(SequenceSender& sequence, Exchange& exchange) { return sequence.begin(exchange, data_frame, 0); }
  /// Stamped over old bytes, and sent.
  FramePtr stamp(SequenceSender& sequence, std::size_t bytes, const SequenceEnd* end = nullptr,
                 std::uint32_t offset = 0) {
    FramePtr frame = pool.take();
    std::ranges::fill(frame->bytes, std::uint8_t{0xFF});
    sequence.stamp(*frame, bytes, offset, end);
    port.transmitter().send(pool.copy(*frame));
    run();
    return frame;
  }
  static wire::FcHeader header(const FramePtr& frame) { return *wire::FcHeader::parse(frame->content()); }
  [[nodiscard]] RemotePort& remote() { return port.remote_port(peer); }
  /// All SEQ_IDs for message data but one are in use.
  void leave_one_seq_id() {
    for (int i = 0; i < 253; ++i) ASSERT_TRUE(remote().take_seq_id());
  }
};
class SequenceSenderAck0 : public SequenceSenderTest {
 public:
  SequenceSenderAck0() : SequenceSenderTest(true) {}
};

// FC-FS, FC-VI 5.6, 5.8.2, 5.8.5, 5.8.7: class 3. Fill bytes are zero; only of an FC-4 that asks for
// it the Parameter is a relative offset.
TEST_F(SequenceSenderTest, sending_class_3_fields) {
  port.set_user(support::fc4, user);
  for (const wire::Type of : {wire::Type::ct, support::fc4.type}) {
    Exchange& exchange = originate(false, of);
    SequenceSender sequence;
    ASSERT_TRUE(sequence.begin(exchange, data_frame, wire::df_ctl::device_header_16, wire::cs_ctl_preference));
    const FramePtr first = stamp(sequence, 21, nullptr, 0x12345678), second = stamp(sequence, 20, &last, 0x9ABC);
    const std::uint32_t common = f_ctl::first_sequence | (of == support::fc4.type ? f_ctl::relative_offset_present : 0);
    wire::FcHeader expected{.r_ctl = data_frame,
                            .d_id = peer,
                            .cs_ctl = wire::cs_ctl_preference,
                            .s_id = own,
                            .type = of,
                            .f_ctl = common | 3,
                            .seq_id = header(first).seq_id,
                            .df_ctl = wire::df_ctl::device_header_16,
                            .ox_id = exchange.ox_id(),
                            .parameter = 0x12345678};
    EXPECT_EQ(header(first), expected);
    EXPECT_TRUE(first->sof == wire::Sof::i3 && first->eof == wire::Eof::n && first->size_bytes == 24 + 24);
    EXPECT_TRUE(first->data_field()[20] == 0xFF && first->data_field()[21] == 0 && first->data_field()[22] == 0 &&
                first->data_field()[23] == 0);
    expected.f_ctl = common | f_ctl::end_sequence | f_ctl::last_sequence;
    expected.seq_cnt = {1}, expected.parameter = 0x9ABC;
    EXPECT_EQ(header(second), expected);
    EXPECT_TRUE(second->sof == wire::Sof::n3 && second->eof == wire::Eof::t && second->size_bytes == 24 + 20);
    EXPECT_FALSE(sequence.is_open());
  }
}

// FC-FS: class 2 says in which form it wants ACKs; those end the sequence, not its last frame.
void expect_class_2_fields(SequenceSenderTest& test, std::uint32_t ack_form) {
  test.log_in();
  SequenceSender sequence;
  ASSERT_TRUE(test.begin(sequence, test.originate(true)));
  const SequenceEnd end{.transfer_initiative = true};
  const FramePtr first = test.stamp(sequence, 4), second = test.stamp(sequence, 4, &end);
  EXPECT_EQ(test.header(first).f_ctl, f_ctl::first_sequence | ack_form);
  EXPECT_EQ(test.header(second).f_ctl,
            f_ctl::first_sequence | ack_form | f_ctl::end_sequence | f_ctl::sequence_initiative);
  EXPECT_TRUE(first->sof == wire::Sof::i2 && second->sof == wire::Sof::n2);
  EXPECT_TRUE(first->eof == wire::Eof::n && second->eof == wire::Eof::n);
  EXPECT_FALSE(sequence.is_open());
}
TEST_F(SequenceSenderTest, sending_class_2_fields) { expect_class_2_fields(*this, 0x1000); }
TEST_F(SequenceSenderAck0, sending_class_2_fields) { expect_class_2_fields(*this, 0x3000); }

// FC-VI 5.6: SEQ_CNT goes on over the sequences that one side sends, whatever the other sent; RX_ID is the responder's
// from its answer on.
TEST_F(SequenceSenderTest, open_second_sequence_goes_on) {
  Exchange& exchange = originate();
  SequenceSender sequence;
  const SequenceEnd asks{.transfer_initiative = true};
  ASSERT_TRUE(begin(sequence, exchange));
  const FramePtr first = stamp(sequence, 4);
  stamp(sequence, 4), stamp(sequence, 4, &asks);
  put({.r_ctl = RCtl::solicited_control,
       .d_id = own,
       .s_id = peer,
       .type = type,
       .f_ctl = f_ctl::exchange_responder | f_ctl::end_sequence | f_ctl::sequence_initiative,
       .ox_id = exchange.ox_id(),
       .rx_id = {0x1234}});
  ASSERT_TRUE(exchange.has_initiative());
  ASSERT_TRUE(begin(sequence, exchange));
  const FramePtr next = stamp(sequence, 4);
  EXPECT_EQ(next->sof, wire::Sof::i3);
  EXPECT_EQ(header(next).seq_cnt.value, 3);
  EXPECT_EQ(header(next).f_ctl, 0u);
  EXPECT_EQ(header(next).rx_id.value, 0x1234);
  EXPECT_NE(header(next).seq_id, header(first).seq_id);
}

// A sender that sent a connection IU in class 3, then data in class 2, then data in class 3: each as if it were the
// first. Data takes credit when it is stamped.
TEST_F(SequenceSenderTest, used_again_forgets_the_former) {
  log_in();
  SequenceSender sequence;
  sequence.begin_control(originate(), RCtl::unsolicited_control, 0);
  stamp(sequence, 4, &last);
  ASSERT_TRUE(begin(sequence, originate(true)));
  stamp(sequence, 4), stamp(sequence, 4, &last);
  EXPECT_FALSE(remote().has_credit());
  ASSERT_TRUE(begin(sequence, originate()));
  EXPECT_TRUE(sequence.may_send()) << "class 3 needs no credit";
}

// --- when it may not ---------------------------------------------------------------------------------------------

// FC-FS: in class 2 a frame goes with end-to-end credit alone, which comes back with its ACK.
TEST_F(SequenceSenderTest, sending_class_2_needs_credit) {
  log_in();
  SequenceSender sequence;
  ASSERT_TRUE(begin(sequence, originate(true)));
  for (int i = 0; i < 2; ++i) {
    EXPECT_TRUE(sequence.may_send());
    stamp(sequence, 4);
  }
  EXPECT_FALSE(sequence.may_send());
  EXPECT_FALSE(remote().has_credit());
  for (const std::size_t number : {0, 1}) {
    answer(sent(data_frame, number).header, RCtl::ack_1, 1);
    EXPECT_TRUE(sequence.may_send());
    stamp(sequence, 4);
    EXPECT_FALSE(sequence.may_send());
  }
  sequence.abandon();
}

// ... which ACK_0 does not know.
TEST_F(SequenceSenderAck0, sending_class_2_needs_no_credit) {
  log_in();
  SequenceSender sequence;
  ASSERT_TRUE(begin(sequence, originate(true)));
  for (int i = 0; i < 5; ++i) {
    EXPECT_TRUE(sequence.may_send());
    stamp(sequence, 4);
  }
  EXPECT_TRUE(remote().has_credit());
  sequence.abandon();
}

// FC-VI 7.7.3: nothing goes to a port that is suspended: not the next frame, nor a new sequence.
TEST_F(SequenceSenderTest, suspended_sends_nothing) {
  log_in();
  SequenceSender sequence, other;
  ASSERT_TRUE(begin(sequence, originate()));
  EXPECT_TRUE(sequence.may_send());
  remote().suspend();
  EXPECT_FALSE(sequence.may_send());
  EXPECT_FALSE(begin(other, originate()));
  EXPECT_FALSE(other.is_open());
  remote().resume();
  EXPECT_TRUE(sequence.may_send());
  EXPECT_TRUE(begin(other, originate()));
}

// A control sequence may go to a port that is not known; one of message data makes it known.
TEST_F(SequenceSenderTest, sending_to_a_stranger) {
  SequenceSender control, data;
  control.begin_control(originate(), RCtl::unsolicited_control, 0);
  EXPECT_EQ(control.remote(), nullptr);
  EXPECT_TRUE(control.may_send());
  EXPECT_EQ(port.find_remote_port(peer), nullptr);
  EXPECT_TRUE(begin(data, originate()));
  ASSERT_NE(port.find_remote_port(peer), nullptr);
  EXPECT_EQ(data.remote(), port.find_remote_port(peer));
  EXPECT_TRUE(data.may_send()) << "class 3, with a port that grants no credit";
}

// FC-VI 5.5: the next sequence has to wait until the one before is closed.
TEST_F(SequenceSenderTest, waiting_next_sequence_does_not_begin) {
  log_in();
  Exchange& exchange = originate(true);
  SequenceSender sequence;
  const SequenceEnd end{};
  ASSERT_TRUE(begin(sequence, exchange));
  stamp(sequence, 4, &end);
  EXPECT_FALSE(begin(sequence, exchange));
  EXPECT_FALSE(sequence.is_open());
  answer(sent(data_frame, 0).header, RCtl::ack_1, 1);
  EXPECT_TRUE(begin(sequence, exchange));
}

// --- SEQ_IDs -----------------------------------------------------------------------------------------------------

// FC-VI 4.1: 254 sequences may be open; those that were sent in class 3, or acknowledged in class 2, are not.
TEST_F(SequenceSenderTest, seq_ids_of_closed_sequences_come_back) {
  log_in();
  for (const bool class_2 : {false, true})
    for (int i = 0; i < 300; ++i) {
      SequenceSender sequence;
      ASSERT_TRUE(begin(sequence, originate(class_2))) << i;
      const FramePtr frame = stamp(sequence, 4, &last);
      if (class_2) answer(header(frame), RCtl::ack_1, 1);
    }
  EXPECT_EQ(port.open_exchanges(), 0u);
  leave_one_seq_id();
  SequenceSender sequence, other;
  EXPECT_TRUE(begin(sequence, originate()));
  EXPECT_FALSE(begin(other, originate())) << "all but the reserve are open";
}

// The same of connection IUs and link services of class 2, which hold theirs until their ACKs came.
TEST_F(SequenceSenderTest, seq_ids_of_closed_control_sequences_come_back) {
  log_in();
  for (int i = 0; i < 300; ++i) {
    Exchange& exchange = originate(true);
    port.send(exchange, RCtl::unsolicited_control, {}, std::array<std::uint8_t, 8>{}, last);
    run();
    answer(log.frames().back().header, RCtl::ack_1, 1);
  }
  EXPECT_EQ(port.open_exchanges(), 0u);
  leave_one_seq_id();
  SequenceSender sequence;
  EXPECT_TRUE(begin(sequence, originate()));
}

// FC-VI 5.5: SEQ_IDs of sequences that are open at once differ; and until an answer is acknowledged nothing else
// gets its SEQ_ID.
TEST_F(SequenceSenderTest, seq_ids_of_open_sequences_differ) {
  log_in();
  user.on_iu = [&](Exchange& exchange, std::span<const std::uint8_t>) {
    port.send(exchange, RCtl::solicited_control, {}, std::array<std::uint8_t, 8>{},
              {.last_of_exchange = true, .transfer_initiative = true});
  };
  for (const std::uint16_t ox_id : std::initializer_list<std::uint16_t>{7, 8})
    put({.r_ctl = RCtl::unsolicited_control,
         .d_id = own,
         .s_id = peer,
         .type = type,
         .f_ctl = f_ctl::single_frame_request | f_ctl::ack_form_ack_1,
         .seq_id = {static_cast<std::uint8_t>(ox_id)},
         .ox_id = {ox_id}},
        wire::Sof::i2);
  ASSERT_EQ(sent(RCtl::solicited_control), 2u);
  const wire::SeqId first = sent(RCtl::solicited_control, 0).header.seq_id,
                    second = sent(RCtl::solicited_control, 1).header.seq_id;
  EXPECT_NE(first, second);
  log.clear();
  for (int i = 0; i < 300; ++i) {
    port.send(originate(), RCtl::unsolicited_control, {}, std::array<std::uint8_t, 8>{}, last);
    run();
  }
  ASSERT_EQ(log.size(), 300u);
  for (const auto& frame : log.frames()) EXPECT_TRUE(frame.header.seq_id != first && frame.header.seq_id != second);
}

// begin_control(): in class 3 a control sequence takes no SEQ_ID from message data, however long it is.
TEST_F(SequenceSenderTest, seq_ids_are_not_taken_by_control_sequences) {
  log_in();
  leave_one_seq_id();
  SequenceSender control, sequence;
  control.begin_control(originate(), RCtl::unsolicited_control, 0);
  const FramePtr frame = stamp(control, 4);
  ASSERT_TRUE(begin(sequence, originate()));
  EXPECT_NE(header(stamp(sequence, 4)).seq_id, header(frame).seq_id);
  stamp(control, 4, &last);
  control.begin_control(originate(), RCtl::unsolicited_control, 0);
  EXPECT_TRUE(control.is_open()) << "there is one for it always";
  sequence.abandon();
}

// abandon(): where no frame went, the SEQ_ID is free at once. Else it rests with the exchange until that was recovered:
// when its ABTS, which names it, is answered (FC-VI 5.5, FC-FS).
TEST_F(SequenceSenderTest, seq_id_of_an_abandoned_sequence) {
  log_in();
  leave_one_seq_id();
  Exchange& exchange = originate();
  SequenceSender sequence, other;
  for (int i = 0; i < 2; ++i) {
    ASSERT_TRUE(begin(sequence, exchange)) << i;
    EXPECT_FALSE(begin(other, originate()));
    sequence.abandon();
    EXPECT_FALSE(sequence.is_open());
  }
  ASSERT_TRUE(begin(sequence, exchange));
  const FramePtr frame = stamp(sequence, 4);
  sequence.abandon();
  EXPECT_FALSE(sequence.is_open());
  EXPECT_FALSE(begin(other, originate()));
  port.abort(exchange);
  run();
  EXPECT_FALSE(begin(other, originate()));
  ASSERT_EQ(sent(RCtl::abts), 1u);
  wire::FcHeader ba_acc = sent(RCtl::abts, 0).header;
  EXPECT_EQ(ba_acc.seq_id, header(frame).seq_id);
  ba_acc.r_ctl = RCtl::ba_acc;
  std::swap(ba_acc.s_id, ba_acc.d_id);
  ba_acc.f_ctl = f_ctl::exchange_responder | f_ctl::last_sequence | f_ctl::end_sequence;
  put(ba_acc, wire::Sof::i3, std::array<std::uint8_t, 12>{});
  EXPECT_TRUE(begin(other, originate()));
}

}  // namespace
}  // namespace fc2
