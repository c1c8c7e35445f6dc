// Class 2 at the initiator of a sequence: which answers count, and how long ACKs are waited for (FC-FS; FC-VI 5.5,
// 8.4.2 b h, B.2.6.1 rule 8).
#include <gtest/gtest.h>

#include "tests/fc2_fabric/sends_in_class_2.hpp"

namespace fc2 {
namespace {
using wire::RCtl;
using Failures = std::vector<ExchangeFailure>;
namespace f_ctl = wire::f_ctl;

class SendsWithAck0 : public SendsInClass2 {
 public:
  SendsWithAck0() : SendsInClass2(true) {}
};
/// Hears when a sequence is closed.
class Closes final : public ExchangeUser {
 public:
  int closed = 0;
  Failures failures;
  void sequence_received(Exchange&, const wire::FcHeader&, std::span<const std::uint8_t>) override {}
  void exchange_failed(Exchange&, ExchangeFailure failure) override { failures.push_back(failure); }
  void sequence_acknowledged(Exchange&) override { ++closed; }
};

// --- which answers count -----------------------------------------------------------------------------------------

// FC-FS: an answer names its frame by SEQ_ID and SEQ_CNT. That of another sequence, of a frame that never went, or of
// one that is acknowledged already, says nothing.
TEST_F(SendsInClass2, waiting_answer_of_no_frame_of_it_is_ignored) {
  Exchange& exchange = originate();
  send(exchange, 2);
  wire::FcHeader other = header(0), never_sent = header(1);
  other.seq_id.value += 1, never_sent.seq_cnt.value += 1;
  for (const RCtl r_ctl : {RCtl::ack_1, RCtl::p_rjt, RCtl::p_bsy}) {
    EXPECT_TRUE(ignored(Discard::UnknownExchange, exchange, other, r_ctl));
    EXPECT_TRUE(ignored(Discard::UnknownExchange, exchange, never_sent, r_ctl));
  }
  acknowledge(1);
  for (const RCtl r_ctl : {RCtl::ack_1, RCtl::p_rjt, RCtl::p_bsy})
    EXPECT_TRUE(ignored(Discard::UnknownExchange, exchange, header(1), r_ctl));
  acknowledge(0);
  EXPECT_FALSE(exchange.awaits_acknowledgement());
}

// FC-FS: ACKs come in the form that was asked for. Other Link_Control is no answer to a data frame.
TEST_F(SendsInClass2, waiting_other_form_is_discarded) {
  Exchange& exchange = originate();
  send(exchange);
  EXPECT_TRUE(ignored(Discard::BadHeader, exchange, header(0), RCtl::ack_0));
  EXPECT_TRUE(ignored(Discard::BadHeader, exchange, header(0), static_cast<RCtl>(0xC7)));
  acknowledge(0);
  EXPECT_FALSE(exchange.awaits_acknowledgement());
}

// FC-FS: ACK_0 acknowledges a sequence to its end, by its last frame.
TEST_F(SendsWithAck0, waiting_other_ack_is_discarded) {
  Exchange& exchange = originate();
  SequenceSender sequence;
  ASSERT_TRUE(sequence.begin(exchange, data_frame, 0));
  for (int i = 0; i < 2; ++i) send_next(sequence);
  EXPECT_TRUE(ignored(Discard::BadHeader, exchange, header(1), RCtl::ack_0)) << "more follow";
  const SequenceEnd end{.transfer_initiative = true};
  send_next(sequence, &end);
  for (const std::size_t early : {0u, 1u})
    EXPECT_TRUE(ignored(Discard::BadHeader, exchange, header(early), RCtl::ack_0));
  for (const std::size_t each : {0u, 1u, 2u})
    EXPECT_TRUE(ignored(Discard::BadHeader, exchange, header(each), RCtl::ack_1));
  answer(header(2), RCtl::ack_0);
  EXPECT_FALSE(exchange.awaits_acknowledgement());
}

// The same of a reject: with ACK_0 any frame of the sequence may be rejected, and none of another. SEQ_CNT goes on over
// the exchange (FC-VI 5.6).
TEST_F(SendsWithAck0, waiting_reject_of_a_frame_of_it_counts) {
  for (const std::uint16_t seq_cnt : std::initializer_list<std::uint16_t>{2, 3, 4, 5, 6}) {
    user.failures.clear(), log.clear();
    Exchange& exchange = originate();
    send(exchange, 3, {});
    answer(header(2), RCtl::ack_0);
    send(exchange, 3);
    wire::FcHeader rejected = header(3);
    ASSERT_EQ(rejected.seq_cnt.value, 3);
    rejected.seq_cnt.value = seq_cnt;
    if (seq_cnt < 3 || seq_cnt > 5) {
      EXPECT_TRUE(ignored(Discard::UnknownExchange, exchange, rejected, RCtl::p_rjt)) << seq_cnt;
      continue;
    }
    answer(rejected, RCtl::p_rjt, 0x02100000);
    EXPECT_EQ(user.failures, Failures{ExchangeFailure::Rejected}) << seq_cnt;
  }
}

// ... and before its last frame went.
TEST_F(SendsWithAck0, sending_reject_of_a_frame_counts) {
  SequenceSender sequence;
  ASSERT_TRUE(sequence.begin(originate(), data_frame, 0));
  send_next(sequence);
  answer(header(0), RCtl::p_rjt, 0x02100000);
  EXPECT_EQ(user.failures, Failures{ExchangeFailure::Rejected});
  sequence.abandon();
}

// FC-VI B.2.6.1 rule 8a, FC-VI B.2.6.1 rule 8c: busy on an in-order fabric, and every reject, ends the
// exchange by ABTS.
TEST_F(SendsInClass2, waiting_busied_or_rejected_is_aborted) {
  struct Case {
    RCtl answer;
    ExchangeFailure failure;
  };
  for (const Case& one : {Case{RCtl::p_bsy, ExchangeFailure::Busy},
                          {RCtl::f_bsy_data, ExchangeFailure::Busy},
                          {RCtl::p_rjt, ExchangeFailure::Rejected},
                          {RCtl::f_rjt, ExchangeFailure::Rejected}}) {
    user.failures.clear(), log.clear();
    send(originate(), 3);
    answer(header(1), one.answer, 0x02030000);
    EXPECT_EQ(user.failures, Failures{one.failure}) << static_cast<unsigned>(one.answer);
    EXPECT_EQ(sent(RCtl::abts), 1u);
  }
}

// FC-VI B.2.6.1 rule 8a with ACK_0, which keeps no list of frames.
TEST_F(SendsWithAck0, waiting_busied_is_aborted) {
  send(originate(), 3);
  busy(1, RCtl::f_bsy_data);
  EXPECT_EQ(user.failures, Failures{ExchangeFailure::Busy});
  EXPECT_EQ(sent(RCtl::abts), 1u);
}

// FC-VI B.2.6.1 rule 8d: Abort Sequence Condition 01b alone asks for ABTS; the rest of F_CTL, as fill bytes, has no
// part in it.
TEST_F(SendsInClass2, waiting_abort_demanded) {
  for (const std::uint32_t condition :
       {f_ctl::abort_continue, f_ctl::abort_perform_abts, f_ctl::abort_stop_sequence, f_ctl::abort_retransmit})
    for (const std::uint32_t rest : {0u, 1u, 3u | f_ctl::relative_offset_present | f_ctl::continue_sequence_mask}) {
      SCOPED_TRACE(condition | rest);
      user.failures.clear(), log.clear();
      Exchange& exchange = originate();
      send(exchange);
      wire::FcHeader ack =
          *wire::FcHeader::parse(make_link_control(pool, header(0), RCtl::ack_1, 1, condition)->content());
      ack.f_ctl |= rest;
      put(ack, wire::Sof::n2, std::array<std::uint8_t, 4>{});
      const bool demanded = condition == f_ctl::abort_perform_abts;
      EXPECT_EQ(user.failures, demanded ? Failures{ExchangeFailure::AbortDemanded} : Failures{});
      EXPECT_EQ(sent(RCtl::abts), demanded ? 1u : 0u);
    }
}

// FC-FS "N_Port Login required": said by the peer it ends the login here, too, and with it all exchanges (FC-VI 7.7.1);
// said by the fabric, or for another reason, it is a reject of the frame.
TEST_F(SendsInClass2, waiting_rejected_for_login) {
  struct Case {
    RCtl answer;
    wire::LinkRejectReason reason;
    bool ends_login;
  };
  using Reason = wire::LinkRejectReason;
  for (const Case& one : {Case{RCtl::f_rjt, Reason::login_required, false},
                          {RCtl::p_rjt, Reason::excessive_sequences, false},
                          {RCtl::p_rjt, Reason::class_not_supported, false},
                          {RCtl::p_rjt, Reason::login_required, true}}) {
    user.failures.clear(), log.clear();
    send(originate());
    answer(header(0), one.answer, wire::LinkReject{.reason = one.reason}.to_parameter());
    EXPECT_EQ(user.failures, Failures{one.ends_login ? ExchangeFailure::PortLoggedOut : ExchangeFailure::Rejected});
    EXPECT_EQ(port.remote_port(peer).logged_in(), !one.ends_login);
    EXPECT_EQ(sent(RCtl::abts), one.ends_login ? 0u : 1u);
  }
}

// FC-LS: a link service may go to a port that is not known at all. Rejected for the login, there is none
// that could end.
TEST_F(SendsInClass2, waiting_rejected_for_login_by_a_stranger) {
  constexpr wire::FcId stranger{0x010900};
  Exchange& exchange = *port.originate(stranger, wire::Type::els, user);
  exchange.use_class_2();
  port.send(exchange, RCtl::els_request, {}, std::array<std::uint8_t, 8>{0x10}, {.transfer_initiative = true});
  run();
  ASSERT_EQ(port.find_remote_port(stranger), nullptr);
  answer(sent(RCtl::els_request, 0).header, RCtl::p_rjt, 0x02160000);
  EXPECT_EQ(user.failures, Failures{ExchangeFailure::Rejected});
}

// FC-FS: end-to-end credit may be larger than what first was room for here: each of 20 frames is
// acknowledged for itself.
TEST_F(SendsInClass2, waiting_many_frames_are_acknowledged_each) {
  Exchange& exchange = originate();
  send(exchange, 20);
  ASSERT_EQ(sent(data_frame), 20u);
  for (std::size_t number = 0; number < 20; ++number) {
    EXPECT_TRUE(exchange.awaits_acknowledgement());
    acknowledge(number);
  }
  EXPECT_FALSE(exchange.awaits_acknowledgement());
  EXPECT_EQ(discarded(Discard::UnknownExchange), 0u);
}

// NPort::release: frames of an exchange that is over do not go when credit for them comes back.
TEST_F(SendsInClass2, waiting_for_credit_released_is_not_sent) {
  send(originate(), 20);
  Exchange& waits = originate();
  send(waits, 2);
  ASSERT_EQ(sent(data_frame), 20u);
  port.release(waits);
  for (std::size_t number = 0; number < 20; ++number) acknowledge(number);
  EXPECT_EQ(sent(data_frame), 20u);
  EXPECT_TRUE(port.remote_port(peer).has_credit());
}

// --- sequences after each other ----------------------------------------------------------------------------------

// FC-VI 5.5: what was not acknowledged when the answer closed a sequence is not waited for in the next one.
TEST_F(SendsInClass2, open_closed_by_answer_next_begins_anew) {
  Exchange& exchange = originate();
  send(exchange, 2);
  reply(exchange, f_ctl::sequence_initiative);
  ASSERT_EQ(user.ius.size(), 1u);
  send(exchange, 1, {});
  EXPECT_TRUE(exchange.awaits_acknowledgement());
  acknowledge(2);
  EXPECT_FALSE(exchange.awaits_acknowledgement());
}

// FC-VI 5.5: the second sequence is closed when it has ended, however it was with the first.
TEST_F(SendsInClass2, open_second_sequence_is_closed_at_its_own_end) {
  Closes closes;
  Exchange& exchange = originate(closes);
  SequenceSender sequence;
  const SequenceEnd first{}, last{.last_of_exchange = true};
  ASSERT_TRUE(sequence.begin(exchange, data_frame, 0));
  send_next(sequence, &first), acknowledge(0);
  EXPECT_EQ(closes.closed, 1);
  ASSERT_TRUE(sequence.begin(exchange, data_frame, 0));
  send_next(sequence), acknowledge(1);
  EXPECT_EQ(closes.closed, 1);
  EXPECT_TRUE(exchange.has_initiative());
  send_next(sequence, &last), acknowledge(2);
  EXPECT_EQ(closes.closed, 2);
  EXPECT_EQ(port.open_exchanges(), 0u);
}

// FC-FS: a frame of the peer while a sequence of ours is under way is no answer to it, though the one before had
// asked for one.
TEST_F(SendsInClass2, sending_frame_of_the_peer_closes_nothing) {
  Exchange& exchange = originate();
  send(exchange);
  reply(exchange, f_ctl::sequence_initiative);
  SequenceSender sequence;
  ASSERT_TRUE(sequence.begin(exchange, data_frame, 0));
  send_next(sequence);
  reply(exchange, f_ctl::sequence_initiative, 1);
  EXPECT_TRUE(exchange.awaits_acknowledgement());
  EXPECT_EQ(user.ius.size(), 1u);
  EXPECT_EQ(discarded(Discard::WrongSequence), 1u);
  sequence.abandon();
}

// --- how long: FC-VI B.2.6.1 rule 8e -------------------------------------------------------------------------------

// FC-VI B.2.6.1 rule 8e, FC-FS: E_D_TOV counts from the last ACK.
TEST_F(SendsInClass2, waiting_e_d_tov_counts_from_the_last_ack) {
  send(originate(), 2);
  run_for(port.e_d_tov() / 2);
  acknowledge(0);
  run_for(port.e_d_tov() - 1);
  EXPECT_TRUE(user.failures.empty());
  run_for(1);
  EXPECT_EQ(user.failures, Failures{ExchangeFailure::NotAcknowledged});
}

// With ACK_0 there is nothing to acknowledge before the last frame went: from there.
TEST_F(SendsWithAck0, sending_e_d_tov_counts_from_the_last_frame) {
  Exchange& exchange = originate();
  SequenceSender sequence;
  ASSERT_TRUE(sequence.begin(exchange, data_frame, 0));
  send_next(sequence);
  run_for(port.e_d_tov() / 2);
  const SequenceEnd end{.transfer_initiative = true};
  send_next(sequence, &end);
  run_for(port.e_d_tov() - 1);
  EXPECT_TRUE(user.failures.empty());
  run_for(1);
  EXPECT_EQ(user.failures, Failures{ExchangeFailure::NotAcknowledged});
}

// The time of the answer is over when the ACK comes: at once, not later.
TEST_F(SendsInClass2, waiting_ack_after_the_answers_time) {
  send(originate(), 1, {.transfer_initiative = true}, 500 * millisecond);
  run_for(second);
  EXPECT_TRUE(user.failures.empty());
  acknowledge(0);
  EXPECT_EQ(user.failures, Failures{ExchangeFailure::ReplyTimeout});
}

// NPort::send: a sequence that was given no time waits for ever, though the one before had some.
TEST_F(SendsInClass2, waiting_no_time_given_waits_for_ever) {
  Exchange& exchange = originate();
  send(exchange, 1, {.transfer_initiative = true}, second), acknowledge(0);
  reply(exchange, f_ctl::sequence_initiative);
  send(exchange), acknowledge(1);
  scheduler.run_until(never);
  EXPECT_TRUE(user.failures.empty());
  EXPECT_EQ(sent(RCtl::abts), 0u);
}

// FC-FS Sequence recovery: an answer that comes when its exchange is being aborted closes nothing: the ABTS goes
// again without BA_ACC.
TEST_F(SendsInClass2, aborting_late_answer_ends_nothing) {
  Exchange& exchange = originate();
  send(exchange);
  run_for(port.e_d_tov());
  ASSERT_EQ(sent(RCtl::abts), 1u);
  reply(exchange, f_ctl::last_sequence);
  run_for(port.r_a_tov());
  EXPECT_EQ(sent(RCtl::abts), 2u);
  EXPECT_TRUE(user.ius.empty());
}

// FC-FS: whoever holds the initiative aborts, the responder too.
TEST_F(SendsInClass2, answering_not_acknowledged_is_aborted) {
  user.on_iu = [&](Exchange& exchange, std::span<const std::uint8_t>) {
    port.send(exchange, RCtl::solicited_control, {}, std::array<std::uint8_t, 8>{},
              {.last_of_exchange = true, .transfer_initiative = true});
  };
  put({.r_ctl = data_frame,
       .d_id = own,
       .s_id = peer,
       .type = type,
       .f_ctl = f_ctl::single_frame_request | f_ctl::ack_form_ack_1,
       .ox_id = {7}},
      wire::Sof::i2);
  ASSERT_EQ(sent(RCtl::solicited_control), 1u);
  run_for(port.e_d_tov());
  EXPECT_EQ(user.failures, Failures{ExchangeFailure::NotAcknowledged});
  EXPECT_EQ(sent(RCtl::abts), 1u);
}

}  // namespace
}  // namespace fc2
