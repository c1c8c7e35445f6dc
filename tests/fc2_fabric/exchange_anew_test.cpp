// The slot of an exchange that is over is used anew; and how exchanges end: ABTS field by field, who hears of it, what
// is left (FC-FS; FC-VI 5.4, 7.7.1, 8.4.2).
#include <gtest/gtest.h>

#include "tests/support/played_peer.hpp"

namespace fc2 {
namespace {
using wire::RCtl;
using Failures = std::vector<ExchangeFailure>;
namespace f_ctl = wire::f_ctl;

class ExchangeAnew : public support::PlayedPeer {
 public:
  explicit ExchangeAnew(bool in_order = true)
      : PlayedPeer([=](NPortConfig& config) {
          config.in_order_without_fabric = in_order;
          config.end_to_end_credit = 2;
        }) {}
  Exchange& originate() { return *port.originate(peer, type, user); }
  void send(Exchange& exchange, SequenceEnd end = {.transfer_initiative = true}, std::size_t frames = 1) {
    port.send(exchange, RCtl::unsolicited_control, {}, std::vector<std::uint8_t>(frames * max_data_field_bytes), end);
    run();
  }
  void reply(const Exchange& exchange, std::uint32_t more_f_ctl, std::uint8_t seq_id = 9) {
    put({.r_ctl = RCtl::solicited_control,
         .d_id = own,
         .s_id = peer,
         .type = type,
         .f_ctl = f_ctl::exchange_responder | more_f_ctl,
         .seq_id = {seq_id},
         .ox_id = exchange.ox_id(),
         .rx_id = {0x1234}},
        wire::Sof::i3, std::array<std::uint8_t, 8>{});
  }
  void basic(RCtl r_ctl, const Exchange& exchange) {
    put({.r_ctl = r_ctl,
         .d_id = own,
         .s_id = peer,
         .type = wire::Type::bls,
         .f_ctl = f_ctl::exchange_responder | f_ctl::end_sequence | (r_ctl == RCtl::abts ? 0 : f_ctl::last_sequence),
         .ox_id = exchange.ox_id()},
        wire::Sof::i3, std::array<std::uint8_t, 12>{});
  }
};
class ExchangeAnewOutOfOrder : public ExchangeAnew {
 public:
  ExchangeAnewOutOfOrder() : ExchangeAnew(false) {}
};

/// Hears that an abort is over.
class AbortListener final : public ExchangeUser {
 public:
  int told = 0;
  void sequence_received(Exchange&, const wire::FcHeader&, std::span<const std::uint8_t>) override {}
  void exchange_failed(Exchange&, ExchangeFailure) override {}
  void abort_finished() override { ++told; }
};

// FC-VI 5.4: a new exchange has nothing of the one that had its place: no class, no RX_ID, no context, no SEQ_CNT.
TEST_F(ExchangeAnew, closed_used_anew_remembers_nothing) {
  log_in();
  Exchange& former = originate();
  former.use_class_2();
  former.context = this;
  send(former);
  reply(former, f_ctl::end_sequence | f_ctl::sequence_initiative);
  EXPECT_EQ(former.rx_id().value, 0x1234);
  port.release(former);
  Exchange& exchange = used_anew(former);
  EXPECT_EQ(exchange.context, nullptr);
  EXPECT_FALSE(exchange.is_class_2());
  EXPECT_FALSE(exchange.awaits_acknowledgement());
  EXPECT_EQ(exchange.rx_id(), wire::RxId::unassigned);
  log.clear();
  send(exchange);
  ASSERT_EQ(log.size(), 1u);
  const wire::FcHeader& header = log.frames()[0].header;
  EXPECT_EQ(header.f_ctl, f_ctl::single_frame_request);
  EXPECT_EQ(header.seq_cnt.value, 0);
  EXPECT_EQ(header.rx_id, wire::RxId::unassigned);
}

// The same of an IU that was not whole, on an out-of-order fabric: the answer to the new one is none
// of another sequence.
TEST_F(ExchangeAnewOutOfOrder, closed_used_anew_takes_its_answer) {
  Exchange& former = originate();
  send(former);
  reply(former, 0, 4);  // more of it would follow
  port.release(former);
  Exchange& exchange = used_anew(former);
  send(exchange);
  reply(exchange, f_ctl::end_sequence | f_ctl::last_sequence, 5);
  EXPECT_EQ(user.ius.size(), 1u);
  EXPECT_EQ(port.open_exchanges(), 0u);
}

// FC-FS: ABTS names the last sequence, and the SEQ_CNT after its last frame; it asks for an answer.
TEST_F(ExchangeAnew, waiting_abts_fields) {
  log_in();
  Exchange& exchange = originate();
  send(exchange, {}), send(exchange, {.transfer_initiative = true}, 3);
  const wire::SeqId seq_id = sent(RCtl::unsolicited_control, 3).header.seq_id;
  EXPECT_NE(seq_id.value, 0);
  port.abort(exchange);
  run();
  const support::LoggedFrame& abts = sent(RCtl::abts, 0);
  EXPECT_EQ(abts.header, (wire::FcHeader{.r_ctl = RCtl::abts,
                                         .d_id = peer,
                                         .s_id = own,
                                         .type = wire::Type::bls,
                                         .f_ctl = f_ctl::end_sequence | f_ctl::sequence_initiative,
                                         .seq_id = seq_id,
                                         .seq_cnt = {4},
                                         .ox_id = exchange.ox_id()}));
  EXPECT_TRUE(abts.data.empty() && abts.sof == wire::Sof::i3 && abts.eof == wire::Eof::t);
}

// ... of a responder that sent nothing yet, in a slot that had sent much: the ids of its exchange, and nothing else.
TEST_F(ExchangeAnew, open_abts_fields_of_a_responder) {
  log_in();
  Exchange& former = originate();
  for (int i = 0; i < 5; ++i) send(former, {});
  port.release(former);
  Exchange& anew = used_anew(former);
  port.abort(anew);
  run();
  EXPECT_EQ(sent(RCtl::abts, 0).header, (wire::FcHeader{.r_ctl = RCtl::abts,
                                                        .d_id = peer,
                                                        .s_id = own,
                                                        .type = wire::Type::bls,
                                                        .f_ctl = f_ctl::end_sequence | f_ctl::sequence_initiative,
                                                        .ox_id = anew.ox_id()}));
  user.on_iu = [&](Exchange& opened, std::span<const std::uint8_t>) { port.abort(opened); };
  put({.r_ctl = RCtl::unsolicited_control,
       .d_id = own,
       .s_id = peer,
       .type = type,
       .f_ctl = f_ctl::single_frame_request,
       .seq_id = {3},
       .ox_id = {7}});
  ASSERT_EQ(user.ius.size(), 1u);
  EXPECT_EQ(sent(RCtl::abts, 1).header,
            (wire::FcHeader{.r_ctl = RCtl::abts,
                            .d_id = peer,
                            .s_id = own,
                            .type = wire::Type::bls,
                            .f_ctl = f_ctl::exchange_responder | f_ctl::end_sequence | f_ctl::sequence_initiative,
                            .ox_id = {7},
                            .rx_id = user.ius[0].exchange->rx_id()}));
}

// NPort::abort_and_report: told once, when the abort is answered or given up; not when a logout ends it.
TEST_F(ExchangeAnew, aborting_listener_is_told_once) {
  enum class End { BaAcc, BaRjt, Silence, Logout };
  for (const End end : {End::BaAcc, End::BaRjt, End::Silence, End::Logout}) {
    log_in();
    AbortListener listener;
    Exchange& exchange = originate();
    send(exchange);
    port.abort_and_report(exchange, listener);
    run_for(port.r_a_tov());
    EXPECT_EQ(listener.told, 0);
    if (end == End::BaAcc) basic(RCtl::ba_acc, exchange);
    if (end == End::BaRjt) basic(RCtl::ba_rjt, exchange);
    if (end == End::Silence) run_for(port.r_a_tov());
    if (end == End::Logout) port.remote_port(peer).implicit_logout();
    EXPECT_EQ(listener.told, end == End::Logout ? 0 : 1) << static_cast<int>(end);
    run_for(10 * port.r_a_tov());
    EXPECT_EQ(listener.told, end == End::Logout ? 0 : 1) << static_cast<int>(end);
    EXPECT_EQ(port.open_exchanges(), 0u);
  }
  EXPECT_TRUE(user.failures.empty());
}

// ... and not of another exchange, which has the place of one that the peer had aborted before.
TEST_F(ExchangeAnew, quarantined_listener_is_not_told_of_the_next) {
  AbortListener listener;
  Exchange& former = originate();
  send(former);
  basic(RCtl::abts, former);
  EXPECT_EQ(user.failures, Failures{ExchangeFailure::AbortedByPeer});
  port.abort_and_report(former, listener);
  run_for(port.r_a_tov());
  ASSERT_EQ(port.open_exchanges(), 0u);
  const int told = listener.told;
  Exchange& anew = used_anew(former);
  send(anew);
  port.abort(anew);
  run();
  basic(RCtl::ba_acc, anew);
  EXPECT_EQ(listener.told, told);
}

/// Whether ports that answer no ABTS are to be logged out (NPortConfig::log_out_silent_ports).
class SilentPeer : public support::PlayedPeer, public testing::WithParamInterface<bool> {
 public:
  SilentPeer() : PlayedPeer([](NPortConfig& config) { config.log_out_silent_ports = GetParam(); }) {}
};
INSTANTIATE_TEST_SUITE_P(LoggedOut, SilentPeer, testing::Bool());

// FC-VI C.3 rule 2 b): two ABTS without an answer, R_A_TOV each: second-level recovery, where it is wanted, is the
// logout, and the exchange is over at once. A link service ends no login: that may be a later one. Else the id rests.
TEST_P(SilentPeer, recovering_logs_out_where_it_is_wanted) {
  constexpr wire::FcId unknown{0x010300}, known{0x010400};
  static_cast<void>(port.remote_port(known));
  for (const wire::Type of : {wire::Type::els, type})
    for (const wire::FcId silent : {unknown, known, peer}) {
      if (silent == peer) log_in();
      Exchange& exchange = *port.originate(silent, of, user);
      port.abort(exchange);
      run_for(2 * port.r_a_tov() - 1);
      EXPECT_EQ(sent(RCtl::abts), 2u);
      EXPECT_TRUE(exchange.is_open());
      EXPECT_EQ(port.remote_port(peer).logged_in(), silent == peer);
      run_for(1);
      const bool logs_out = GetParam() && (of == type || silent != peer);
      EXPECT_EQ(exchange.is_open(), !logs_out) << silent.value;
      EXPECT_EQ(port.remote_port(peer).logged_in(), silent == peer && !logs_out);
      run_for(100 * port.r_a_tov());
      port.remote_port(peer).implicit_logout();
      log.clear();
      EXPECT_EQ(port.open_exchanges(), 0u);
    }
}

// FC-FS: the answer to the other of two ABTS is counted, and changes nothing: R_A_TOV counts from the first.
TEST_F(ExchangeAnew, quarantined_second_answer_is_counted) {
  Exchange& exchange = originate();
  send(exchange);
  port.abort(exchange);
  basic(RCtl::ba_acc, exchange);
  EXPECT_EQ(discarded(Discard::UnknownExchange), 0u);
  run_for(port.r_a_tov() / 2);
  basic(RCtl::ba_acc, exchange), basic(RCtl::ba_rjt, exchange);
  EXPECT_EQ(discarded(Discard::UnknownExchange), 2u);
  run_for(port.r_a_tov() / 2 - 1);
  EXPECT_EQ(port.open_exchanges(), 1u);
  run_for(1);
  EXPECT_EQ(port.open_exchanges(), 0u);
}

// RemotePort::in_use: an exchange counts on what is known of its peer until it is over, however many sequences it sent.
TEST_F(ExchangeAnew, closed_counts_on_its_peer_no_more) {
  log_in();
  for (const bool class_2 : {false, true}) {
    Exchange& exchange = originate();
    if (class_2) exchange.use_class_2();
    for (const bool ends : {false, false, true}) {
      log.clear();
      send(exchange, {.last_of_exchange = ends});
      EXPECT_EQ(port.remote_port(peer).in_use(), class_2 || !ends);
      if (class_2) answer(sent(RCtl::unsolicited_control, 0).header, RCtl::ack_1, 1);
    }
    EXPECT_FALSE(port.remote_port(peer).in_use()) << class_2;
  }
}

// An exchange that is over cannot be aborted: that is counted, as a defect of whoever asks for it.
TEST(ExchangeOver, aborted_is_counted) {
  support::PortPair pair;
  support::RecordingUser user;
  Exchange& exchange = *pair.a.originate(support::PortPair::b_id, wire::Type::ct, user);
  pair.a.release(exchange);
  pair.a.abort(exchange);
  EXPECT_EQ(pair.a.counters().unexpected_events, 1u);
  EXPECT_EQ(pair.a.counters().ports_evicted, 0u);
  EXPECT_EQ(pair.a.open_exchanges(), 0u);
  pair.run_for(second);
  EXPECT_EQ(pair.to_b.log.size(), 0u);
}

}  // namespace
}  // namespace fc2
