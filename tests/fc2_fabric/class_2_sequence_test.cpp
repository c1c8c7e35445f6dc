// Class 2: what closes a sequence, and what its recipient answers (FC-FS ACK; FC-VI 5.5, 8.4.2 h).
#include <gtest/gtest.h>

#include "fc2_fabric/node/sequence_sender.hpp"
#include "tests/support/class_2_pair.hpp"

namespace fc2 {
namespace {
using support::Interposer;
using support::LoggedFrame;
using wire::RCtl;
namespace f_ctl = wire::f_ctl;

// --- the initiator -----------------------------------------------------------------------------------------------

class Class2Initiator : public support::Class2Pair {
 public:
  using Class2Pair::Class2Pair;
};
class Class2InitiatorAck0 : public Class2Initiator {
 public:
  Class2InitiatorAck0() : Class2Initiator([](NPortConfig& config) { config.ack_0 = true; }) {}
};

/// Hears when a sequence is closed.
class Closes final : public ExchangeUser {
 public:
  int closed = 0, failed = 0;
  void sequence_received(Exchange&, const wire::FcHeader&, std::span<const std::uint8_t>) override {}
  void exchange_failed(Exchange&, ExchangeFailure) override { ++failed; }
  void sequence_acknowledged(Exchange&) override { ++closed; }
};

// FC-VI 5.5: closed when all of its frames are acknowledged: not when those are that went so far, however long the
// next one takes.
TEST_F(Class2Initiator, sending_all_so_far_acknowledged_is_not_closed) {
  log_in();
  Closes closes;
  Exchange& exchange = *pair.a.originate(b_id, type, closes);
  exchange.use_class_2();
  SequenceSender sequence;
  ASSERT_TRUE(sequence.begin(exchange, RCtl::solicited_data, 0));
  const SequenceEnd end{.last_of_exchange = true};
  for (const bool last : {false, false, true}) {
    FramePtr frame = pair.pool.take();
    sequence.stamp(*frame, 100, 0, last ? &end : nullptr);
    EXPECT_TRUE(exchange.awaits_acknowledgement());
    pair.a.transmitter().send(std::move(frame));
    run();
    EXPECT_FALSE(exchange.awaits_acknowledgement());
    EXPECT_EQ(closes.closed, last ? 1 : 0);
    pair.run_for(2 * pair.a.e_d_tov());
  }
  EXPECT_EQ(answered(RCtl::ack_1), 3u);
  EXPECT_EQ(closes.failed, 0);
  EXPECT_EQ(pair.a.open_exchanges(), 0u);
}

// FC-FS: whoever has the initiative and answers has received everything; a frame of someone who was not given
// it says nothing.
TEST_F(Class2Initiator, sending_frame_without_initiative_closes_nothing) {
  log_in(), lose_acks();
  for (const bool given : {false, true}) {
    Exchange& exchange = originate();
    send(exchange, 1, {.transfer_initiative = given});
    const wire::FcHeader request = sent_frame(given ? 1 : 0).header;
    inject(pair.a,
           {.r_ctl = RCtl::solicited_control,
            .d_id = a_id,
            .s_id = b_id,
            .type = type,
            .f_ctl = f_ctl::exchange_responder | f_ctl::end_sequence,
            .ox_id = request.ox_id},
           wire::Sof::i3);
    EXPECT_EQ(exchange.awaits_acknowledgement(), !given);
    EXPECT_EQ(user.ius.size(), given ? 1u : 0u);
  }
}

// The same of an answer that waits for its ACK: the request once more is no word of its originator's that it came.
TEST_F(Class2Initiator, answering_request_twice_closes_nothing) {
  log_in();
  responder.on_iu = [&](Exchange& exchange, std::span<const std::uint8_t>) {
    pair.b.send(exchange, RCtl::solicited_control, {}, std::array<std::uint8_t, 8>{},
                {.last_of_exchange = true, .transfer_initiative = true});
  };
  pair.to_b.on_frame = [](const LoggedFrame& frame) {
    return frame.is(RCtl::ack_1) ? Interposer::Action::Drop : Interposer::Action::Pass;
  };
  send(originate());
  EXPECT_EQ(pair.b.open_exchanges(), 1u);
  const LoggedFrame request = sent_frame(0);
  inject(pair.b, request.header, request.sof, request.data);
  EXPECT_EQ(pair.b.open_exchanges(), 1u);
  EXPECT_EQ(responder.ius.size(), 1u);
  pair.run_for(pair.b.e_d_tov());
  EXPECT_EQ(responder.failures, std::vector{ExchangeFailure::NotAcknowledged});
}

// FC-VI 5.5: a sequence is closed by its ACK. What is said of it afterwards is not of the exchange, which goes on.
TEST_F(Class2InitiatorAck0, acknowledged_reject_is_ignored) {
  log_in();
  Exchange& exchange = originate();
  send(exchange, 1, {});
  ASSERT_FALSE(exchange.awaits_acknowledgement());
  const auto ignored = pair.a.counters().discarded(Discard::UnknownExchange);
  reject(sent_frame(0).header);
  EXPECT_TRUE(user.failures.empty());
  EXPECT_EQ(pair.a.counters().discarded(Discard::UnknownExchange), ignored + 1);
  EXPECT_TRUE(exchange.has_initiative());
  send(exchange);
  EXPECT_EQ(responder.ius.size(), 2u);
}

// FC-FS Sequence recovery, FC-VI 5.5: the ACK comes when the sequence is being aborted: the abort goes on all the same,
// and with no BA_ACC the ABTS goes again after R_A_TOV.
TEST_F(Class2Initiator, aborting_late_ack_ends_nothing) {
  log_in(), lose_acks();
  pair.to_b.on_frame = [](const LoggedFrame& frame) {
    return frame.is(RCtl::abts) ? Interposer::Action::Drop : Interposer::Action::Pass;
  };
  send(originate());
  pair.run_for(pair.a.e_d_tov());
  ASSERT_EQ(sent(RCtl::abts), 1u);
  answer(sent_frame(0).header, RCtl::ack_1, 1);
  pair.run_for(pair.a.r_a_tov());
  EXPECT_EQ(sent(RCtl::abts), 2u);
  EXPECT_EQ(user.failures, std::vector{ExchangeFailure::NotAcknowledged});
}

// --- the recipient -----------------------------------------------------------------------------------------------

class FewExchanges : public support::Class2Pair {
 public:
  FewExchanges() : Class2Pair([](NPortConfig& config) { config.max_exchanges = 4; }) {}
};

// FC-FS P_BSY, ruling 132: no exchange is free for a request: it is busied, as if it had never come,
// and not acknowledged.
TEST_F(FewExchanges, request_too_many_is_busied) {
  log_in();
  for (int i = 0; i < 3; ++i) send(originate());
  EXPECT_EQ(responder.ius.size(), 2u);
  EXPECT_EQ(answered(RCtl::ack_1), 2u);
  EXPECT_EQ(answered(RCtl::p_bsy), 1u);
  EXPECT_EQ(user.failures, std::vector{ExchangeFailure::Busy});
  const LoggedFrame* busy = pair.to_a.log.find([](const LoggedFrame& f) { return f.is(RCtl::p_bsy); });
  EXPECT_EQ(busy->header.parameter, 0x02030000u) << "the sequence stays active; no resources";
}

// FC-FS: the ACK goes before what answers the frame: its initiator need not take the answer for it.
TEST_F(Class2Initiator, answering_ack_goes_first) {
  log_in();
  responder.on_iu = [&](Exchange& exchange, std::span<const std::uint8_t>) {
    pair.b.send(exchange, RCtl::solicited_control, {}, std::array<std::uint8_t, 8>{},
                {.last_of_exchange = true, .transfer_initiative = true});
  };
  send(originate());
  ASSERT_EQ(pair.to_a.log.size(), 2u);
  EXPECT_TRUE(pair.to_a.log.frames()[0].is(RCtl::ack_1));
  EXPECT_TRUE(pair.to_a.log.frames()[1].is(RCtl::solicited_control));
  EXPECT_EQ(pair.a.counters().discarded(Discard::UnknownExchange), 0u);
}

/// An FC-4 that takes data frames one by one; it demands an abort if it is told to.
class DataUser final : public DataFrameUser {
 public:
  explicit DataUser(NPort& port) : port_(port) {}
  bool demands_abort = false;
  void data_frame_received(const ReceivedFrame& frame) override {
    if (demands_abort) port_.acknowledger().abort_sequence(frame);
  }
  bool abort_received(wire::FcId, wire::OxId) override { return true; }
  void sequence_received(Exchange&, const wire::FcHeader&, std::span<const std::uint8_t>) override {}
  void exchange_failed(Exchange&, ExchangeFailure) override {}

 private:
  NPort& port_;
};

class Class2Recipient : public support::Class2Pair {
 public:
  Class2Recipient() {
    pair.b.set_data_user({.type = type}, data_user);
    log_in();
  }
  ~Class2Recipient() override { pair.b.remove_user(type); }
  /// Of a sequence of three frames that asks for ACK_0.
  void frame(std::uint16_t number) {
    const std::uint32_t place = number == 0   ? f_ctl::first_sequence
                                : number == 2 ? f_ctl::end_sequence | f_ctl::sequence_initiative
                                              : 0;
    inject(pair.b,
           {.r_ctl = RCtl::solicited_data,
            .d_id = b_id,
            .s_id = a_id,
            .type = type,
            .f_ctl = f_ctl::ack_form_ack_0 | place,
            .seq_id = {5},
            .seq_cnt = {number},
            .ox_id = {0x77}},
           number == 0 ? wire::Sof::i2 : wire::Sof::n2);
  }
  /// The ids are used anew. What came of the former sequence does not count for the new one, which has lost its second
  /// frame on the way.
  void expect_anew() {
    frame(0), frame(2);
    EXPECT_EQ(answered(RCtl::ack_0), 0u);
    frame(1);
    EXPECT_EQ(answered(RCtl::ack_0), 1u);
  }
  DataUser data_user{pair.b};
};

// FC-FS: a logout ends all sequences.
TEST_F(Class2Recipient, receiving_logged_out_sequence_is_forgotten) {
  frame(0), frame(1);
  pair.a.remote_port(b_id).log_out();
  run();
  log_in();
  expect_anew();
}

// FC-FS Sequence recovery: so does an ABTS.
TEST_F(Class2Recipient, receiving_abts_sequence_is_forgotten) {
  frame(0), frame(1);
  inject(pair.b,
         {.r_ctl = RCtl::abts,
          .d_id = b_id,
          .s_id = a_id,
          .type = wire::Type::bls,
          .f_ctl = f_ctl::end_sequence | f_ctl::sequence_initiative,
          .seq_id = {5},
          .seq_cnt = {2},
          .ox_id = {0x77}},
         wire::Sof::i3);
  ASSERT_EQ(answered(RCtl::ba_acc), 1u);
  expect_anew();
}

// FC-FS Abort Sequence Condition 01b, FC-VI 8.4.2 h): the demand goes at once, in the form that was asked for; the
// sequence that is to be aborted is not acknowledged any more.
TEST_F(Class2Recipient, receiving_abort_demanded_is_not_acknowledged) {
  frame(0), frame(1);
  data_user.demands_abort = true;
  frame(1);
  data_user.demands_abort = false;
  frame(2);
  EXPECT_EQ(answered(RCtl::ack_1), 0u);
  ASSERT_EQ(answered(RCtl::ack_0), 1u);
  const LoggedFrame* demand = pair.to_a.log.find([](const LoggedFrame& f) { return f.is(RCtl::ack_0); });
  EXPECT_EQ(demand->header.f_ctl & f_ctl::abort_condition_mask, f_ctl::abort_perform_abts);
  EXPECT_EQ(demand->header.seq_cnt.value, 1);
}

// FC-FS: an ACK comes in the form that was asked for, whatever fill bytes the frame has: ACK_1 of one frame, ACK_0 of
// all of them. With the demand for an abort (FC-VI 8.4.2 h) it is the same.
TEST_F(Class2Recipient, receiving_ack_has_the_form_asked_for) {
  std::uint8_t seq_id = 0;
  for (const bool demands : {false, true})
    for (const std::uint32_t form : {f_ctl::ack_form_ack_1, f_ctl::ack_form_ack_0})
      for (const std::uint32_t fill : {0u, 1u, 3u}) {
        data_user.demands_abort = demands;
        pair.to_a.log.clear();
        const std::uint32_t place = f_ctl::first_sequence | f_ctl::end_sequence | f_ctl::sequence_initiative;
        const std::array<std::uint8_t, 4> data{};
        inject(pair.b,
               {.r_ctl = RCtl::solicited_data,
                .d_id = b_id,
                .s_id = a_id,
                .type = type,
                .f_ctl = form | place | fill,
                .seq_id = {++seq_id},
                .ox_id = {0x77},
                .parameter = 0x1234},
               wire::Sof::i2, data);
        ASSERT_EQ(pair.to_a.log.size(), 1u);
        const wire::FcHeader& ack = pair.to_a.log.frames()[0].header;
        const bool ack_0 = form == f_ctl::ack_form_ack_0;
        EXPECT_EQ(ack.r_ctl, ack_0 ? RCtl::ack_0 : RCtl::ack_1);
        EXPECT_EQ(ack.parameter, ack_0 ? 0u : 1u);
        const std::uint32_t contexts = f_ctl::exchange_responder | f_ctl::sequence_recipient;
        EXPECT_EQ(ack.f_ctl, form | place | contexts | (demands ? f_ctl::abort_perform_abts : 0));
      }
}

// FC-FS: no fabric delivers a frame after R_A_TOV: what came of a sequence before does not count for the next that
// has its ids.
TEST_F(Class2Recipient, receiving_nothing_for_r_a_tov_sequence_is_forgotten) {
  frame(0), frame(1);
  pair.run_for(pair.b.r_a_tov());
  expect_anew();
}

// FC-VI 5.8.2: the preference is for message transfers alone: the ACK of a frame that has it does not.
TEST_F(Class2Recipient, receiving_preference_is_not_the_acks) {
  inject(pair.b,
         {.r_ctl = RCtl::solicited_data,
          .d_id = b_id,
          .cs_ctl = wire::cs_ctl_preference,
          .s_id = a_id,
          .type = type,
          .f_ctl = f_ctl::ack_form_ack_1 | f_ctl::first_sequence | f_ctl::end_sequence,
          .ox_id = {0x77}},
         wire::Sof::i2);
  const LoggedFrame* ack = pair.to_a.log.find([](const LoggedFrame& f) { return f.is(RCtl::ack_1); });
  ASSERT_NE(ack, nullptr);
  EXPECT_EQ(ack->header.cs_ctl, 0);
}

}  // namespace
}  // namespace fc2
