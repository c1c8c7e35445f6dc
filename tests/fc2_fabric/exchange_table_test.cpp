// The exchanges of an N_Port: how many there may be, of whom, by which ids, and what is left of one that is over.
#include <gtest/gtest.h>

#include "tests/support/fc4.hpp"
#include "tests/support/port_by_hand.hpp"
#include "wire/els/logo.hpp"

namespace fc2 {
namespace {
using support::PortByHand;
using wire::RCtl;
using wire::Type;
namespace f_ctl = wire::f_ctl;
constexpr wire::FcId own = PortByHand::own, peer = PortByHand::peer, other = PortByHand::other;
constexpr auto bytes = [] {
  std::array<std::uint8_t, 64> result{};
  result.fill(1);
  return result;
}();

struct Table : PortByHand {
  explicit Table(const Adjust& adjust = {}) : PortByHand(adjust) {
    port.set_user(Type::ct, user);
    port.set_data_user(support::fc4, data_user);
    without_fabric();
  }
  explicit Table(std::uint16_t max_exchanges)
      : Table([=](NPortConfig& config) { config.max_exchanges = max_exchanges; }) {}
  void ct(wire::FcId from = peer) { receive(opening(Type::ct, RCtl::unsolicited_control, from), bytes); }
  Exchange* originate(wire::FcId to = peer) { return port.originate(to, Type::ct, user); }
  void send(Exchange& exchange, SequenceEnd end = {.transfer_initiative = true}) {
    port.send(exchange, RCtl::unsolicited_control, {}, bytes, end);
    run_for(microsecond);
  }
  void iu_frame(wire::FcHeader header, std::uint16_t number, bool last = false) {
    header.f_ctl = f_ctl::first_sequence | (last ? f_ctl::end_sequence | f_ctl::sequence_initiative : 0);
    header.seq_cnt = {number};
    receive(header, bytes, number == 0 ? wire::Sof::i3 : wire::Sof::n3, last ? wire::Eof::t : wire::Eof::n);
  }
  void answer_ct(wire::OxId ox_id, wire::FcId from = peer) {
    receive(support::reply_header(RCtl::solicited_control, Type::ct, own, from, ox_id), bytes);
  }
};

// NPortConfig::max_exchanges: of ours so many, and no more.
TEST(ExchangeTable, ours_areAsManyAsMayBe) {
  Table p(4);
  for (int i = 0; i < 4; ++i) EXPECT_NE(p.originate(), nullptr);
  EXPECT_EQ(p.originate(), nullptr);
  EXPECT_EQ(p.port.request(peer, RCtl::unsolicited_control, Type::ct, bytes, p.user, second), nullptr);
  EXPECT_EQ(p.port.open_exchanges(), 4U);
}

// FC-FS: 65535 ids, without FFFFh. Where each is in use nothing is taken; the one that is free again is given,
// and no other.
TEST(ExchangeTable, everyIdInUse_noneIsGivenTwice) {
  Table p([](NPortConfig& config) { config.max_exchanges = 0xFFFF, config.first_ox_id = 0x1234; });
  std::vector<Exchange*> by_id(0x10000);
  for (int i = 0; i < 0xFFFF; ++i) {
    Exchange* exchange = p.originate();
    ASSERT_NE(exchange, nullptr);
    ASSERT_EQ(std::exchange(by_id[exchange->ox_id().value], exchange), nullptr);
  }
  EXPECT_EQ(by_id[0xFFFF], nullptr);
  p.ct();
  EXPECT_EQ(p.discarded(Discard::NoResources), 1U);
  p.port.release(*by_id[0x4711]);
  p.ct();
  ASSERT_EQ(p.user.ius.size(), 1U);
  EXPECT_EQ(p.user.ius[0].exchange->rx_id().value, 0x4711);
  p.ct();
  EXPECT_EQ(p.discarded(Discard::NoResources), 2U);
}

// NPortConfig::first_ox_id: ids of either side begin there; an answer finds its exchange; FFFFh finds none.
TEST(ExchangeTable, ids_beginWhereTheyShould) {
  for (const std::uint16_t first : {std::uint16_t{0}, std::uint16_t{0x1234}}) {
    Table p([&](NPortConfig& config) { config.first_ox_id = first, config.end_to_end_credit = 7; });
    Exchange* exchange = p.originate();
    EXPECT_EQ(exchange->ox_id().value, first);
    p.ct();
    EXPECT_EQ(p.user.ius.at(0).exchange->rx_id().value, first + 1);
    p.send(*exchange);
    p.answer_ct({0xFFFF});
    EXPECT_EQ(p.discarded(Discard::UnknownExchange), 1U);
    p.answer_ct({first});
    EXPECT_EQ(p.user.ius.size(), 2U);
  }
}

// Of peers' exchanges a peer has half, all together three quarters; the rest is for answers to message data.
TEST(ExchangeTable, peers_haveTheirShares) {
  Table p(12);
  for (const wire::FcId id : {peer, other}) static_cast<void>(p.port.remote_port(id));
  for (int i = 0; i < 7; ++i) p.ct(peer);
  EXPECT_EQ(p.user.ius.size(), 6U);
  for (int i = 0; i < 5; ++i) p.ct(other);
  EXPECT_EQ(p.user.ius.size(), 9U);
  EXPECT_EQ(p.discarded(Discard::NoResources), 3U);
  int opened = 0;
  p.data_user.on_data = [&](const ReceivedFrame& frame) {
    if (p.port.open_for_reply(frame, p.data_user) != nullptr) ++opened;
  };
  for (int i = 0; i < 4; ++i) p.receive(p.opening(Type::fc_vi, RCtl::unsolicited_command), bytes);
  EXPECT_EQ(opened, 3);
  EXPECT_EQ(p.discarded(Discard::NoResources), 4U);
  for (int i = 0; i < 12; ++i) EXPECT_NE(p.originate(), nullptr) << "ours are counted apart";
  for (std::size_t i = 0; i < 6; ++i) p.port.release(*p.user.ius[i].exchange);
  for (int i = 0; i < 4; ++i) p.ct(other);
  EXPECT_EQ(p.user.ius.size(), 12U) << "half";
}

TEST(ExchangeTable, strangers_haveTheShareOfOnePeer) {
  Table p(12);
  for (std::uint32_t i = 0; i < 9; ++i) p.ct({0x020000 + i});
  EXPECT_EQ(p.user.ius.size(), 6U);
  EXPECT_EQ(p.discarded(Discard::NoResources), 3U);
}

// A user may release an exchange that its last sequence ends anyway: it is over once.
TEST(ExchangeTable, releasedInItsLastSequence_isOverOnce) {
  Table p;
  p.user.on_iu = [&](Exchange& exchange, std::span<const std::uint8_t>) { p.port.release(exchange); };
  wire::FcHeader last = p.opening(Type::ct, RCtl::unsolicited_control);
  last.f_ctl |= f_ctl::last_sequence;
  p.receive(last, bytes);
  EXPECT_EQ(p.user.ius.size(), 1U);
  EXPECT_EQ(p.port.open_exchanges(), 0U);
  EXPECT_NE(p.originate(), p.originate());
  EXPECT_EQ(p.port.open_exchanges(), 2U);
}

// The same where it opens another at once, in the only place that is free: that one is not over with it.
TEST(ExchangeTable, releasedInItsLastSequence_placeTakenAtOnce_isOpen) {
  Table p(0xFFFF);
  for (int i = 0; i < 0xFFFE; ++i) ASSERT_NE(p.originate(), nullptr);
  Exchange* next = nullptr;
  p.user.on_iu = [&](Exchange& exchange, std::span<const std::uint8_t>) {
    p.port.release(exchange);
    next = p.originate();
    EXPECT_EQ(next, &exchange);
  };
  wire::FcHeader last = p.opening(Type::ct, RCtl::unsolicited_control);
  last.f_ctl |= f_ctl::last_sequence;
  p.receive(last, bytes);
  ASSERT_NE(next, nullptr);
  EXPECT_TRUE(next->is_open());
  EXPECT_EQ(p.port.open_exchanges(), 0xFFFFU);
}

// An exchange that was released is over: what comes for it is unknown, and the peer is not in use by it.
TEST(ExchangeTable, released_isForgotten) {
  Table p;
  const RemotePort& remote = p.port.remote_port(peer);
  Exchange* exchange = p.port.request(peer, RCtl::unsolicited_control, Type::ct, bytes, p.user, second);
  EXPECT_TRUE(remote.in_use());
  p.port.release(*exchange);
  EXPECT_FALSE(remote.in_use());
  p.answer_ct(exchange->ox_id());
  EXPECT_EQ(p.discarded(Discard::UnknownExchange), 1U);
  EXPECT_TRUE(p.user.ius.empty());
  p.run_for(2 * second);
  EXPECT_TRUE(p.user.failures.empty()) << "nobody waits for the reply";
}

// FC-FS: its originator may use the OX_ID of an exchange that is over again; whoever had that one does not hear of it.
TEST(ExchangeTable, released_oxIdIsUsedAgain) {
  Table p;
  p.user.on_iu = [&](Exchange& exchange, std::span<const std::uint8_t>) { p.port.release(exchange); };
  wire::FcHeader header = p.opening(Type::ct, RCtl::unsolicited_control);
  for (const std::uint8_t seq_id : {std::uint8_t{1}, std::uint8_t{2}}) {
    header.seq_id = {seq_id};
    p.receive(header, bytes);
  }
  EXPECT_EQ(p.user.ius.size(), 2U);
  EXPECT_TRUE(p.user.failures.empty());
}

// NPortConfig::max_assembled_bytes counts what peers began: it is given back with the exchange, of frames that came
// early too. Nothing of them is left to whoever has its place later.
TEST(ExchangeTable, unfinishedIu_leavesNothing) {
  struct Case {
    bool in_order, first_came;
  };
  for (const Case& c : {Case{true, true}, Case{false, true}, Case{false, false}}) {
    Table p([&](NPortConfig& config) { config.in_order_without_fabric = c.in_order; });
    p.user.on_iu = [&](Exchange& exchange, std::span<const std::uint8_t>) { p.port.release(exchange); };
    wire::FcHeader header = p.opening(Type::ct, RCtl::unsolicited_control);
    header.seq_id = {9};
    p.iu_frame(header, c.first_came ? 0 : 1);
    EXPECT_EQ(p.port.assembled_bytes(), bytes.size());
    p.run_for(100 * second);
    EXPECT_EQ(p.port.assembled_bytes(), 0U);
    EXPECT_EQ(p.port.open_exchanges(), 0U);
    for (int i = 0; i < 40; ++i) {
      header = p.opening(Type::ct, RCtl::unsolicited_control);
      p.iu_frame(header, 0);
      EXPECT_EQ(p.port.assembled_bytes(), bytes.size());
      p.iu_frame(header, 1, true);
      ASSERT_FALSE(p.user.ius.empty());
      EXPECT_EQ(p.user.ius.back().bytes.size(), 2 * bytes.size());
    }
    EXPECT_EQ(p.user.ius.size(), 40U);
    EXPECT_EQ(p.port.assembled_bytes(), 0U);
  }
}

// An IU of one frame is handed up where it stands: it needs no room.
TEST(ExchangeTable, iuOfOneFrame_needsNoRoom) {
  Table p([](NPortConfig& config) { config.max_assembled_bytes = 0; });
  p.ct();
  EXPECT_EQ(p.user.ius.size(), 1U);
  EXPECT_EQ(p.discarded(Discard::NoResources), 0U);
}

// An IU above the limit: its exchange is given up, told once, and holds nothing from then on. What still comes of it is
// discarded, the next sequence too; R_A_TOV later it is over, though the peer goes on with it.
TEST(ExchangeTable, iuTooLong_holdsNothing_restIsDiscarded) {
  Table p([](NPortConfig& config) { config.max_assembled_iu_bytes = 100; });
  wire::FcHeader header = p.opening(Type::ct, RCtl::unsolicited_control);
  p.iu_frame(header, 0);
  EXPECT_EQ(p.port.assembled_bytes(), 64U);
  p.iu_frame(header, 1);
  EXPECT_EQ(p.user.failures, std::vector{ExchangeFailure::SequenceError});
  EXPECT_EQ(p.port.assembled_bytes(), 0U);
  p.run_for(p.port.r_a_tov() / 2);
  for (std::uint16_t number = 2; number <= 4; ++number) p.iu_frame(header, number, number == 4);
  header.seq_id = {4};
  for (std::uint16_t number = 5; number <= 6; ++number) p.iu_frame(header, number, number == 6);
  EXPECT_EQ(p.discarded(Discard::TooLong), 1U);
  EXPECT_EQ(p.discarded(Discard::WrongSequence), 5U);
  EXPECT_EQ(p.port.assembled_bytes(), 0U);
  EXPECT_EQ(p.port.open_exchanges(), 1U);
  p.run_for(p.port.r_a_tov() / 2);
  EXPECT_EQ(p.port.open_exchanges(), 0U);
  EXPECT_TRUE(p.user.ius.empty());
  EXPECT_EQ(p.user.failures.size(), 1U);
}

// The next exchange in the same place has nothing of that: its IU is taken.
TEST(ExchangeTable, iuTooLong_placeIsUsedAnew_isTaken) {
  Table p([](NPortConfig& config) { config.max_assembled_iu_bytes = 128; });
  for (int i = 0; i < 40; ++i) {  // more than rest
    wire::FcHeader header = p.opening(Type::ct, RCtl::unsolicited_control);
    for (std::uint16_t number = 0; number <= 2; ++number) p.iu_frame(header, number);
    p.run_for(p.port.r_a_tov());
  }
  p.user.failures.clear();
  for (int i = 0; i < 40; ++i) {
    wire::FcHeader header = p.opening(Type::ct, RCtl::unsolicited_control);
    for (std::uint16_t number = 0; number <= 1; ++number) p.iu_frame(header, number, number == 1);
  }
  EXPECT_EQ(p.user.ius.size(), 40U);
  EXPECT_TRUE(p.user.failures.empty());
}

// The peer did not answer in time, and goes on with the exchange that we gave up: nobody gets what it assembles; the
// exchange is over R_A_TOV later all the same.
TEST(ExchangeTable, answeredTooLate_isOverAllTheSame) {
  Table p;
  p.user.on_iu = [&](Exchange& exchange, std::span<const std::uint8_t>) {
    p.port.send(exchange, RCtl::solicited_control, {}, bytes, {.transfer_initiative = true}, second);
  };
  wire::FcHeader header = p.opening(Type::ct, RCtl::unsolicited_control);
  p.receive(header, bytes);
  p.run_for(second);
  ASSERT_EQ(p.user.failures, std::vector{ExchangeFailure::ReplyTimeout});
  header.seq_id = {4};
  for (std::uint16_t number = 1; number <= 2; ++number) {
    header.f_ctl = number == 2 ? f_ctl::end_sequence | f_ctl::sequence_initiative : 0;
    header.seq_cnt = {number};
    p.receive(header, bytes, number == 1 ? wire::Sof::i3 : wire::Sof::n3, number == 1 ? wire::Eof::n : wire::Eof::t);
  }
  EXPECT_EQ(p.user.ius.size(), 1U);
  EXPECT_EQ(p.port.assembled_bytes(), 0U);
  EXPECT_EQ(p.port.open_exchanges(), 1U);
  p.run_for(p.port.r_a_tov());
  EXPECT_EQ(p.port.open_exchanges(), 0U);
}

// A user may read on when it has released the exchange, of an IU of several frames too.
TEST(ExchangeTable, releasedInItsIu_userReadsOn) {
  Table p;
  std::size_t sum = 0;
  p.user.on_iu = [&](Exchange& exchange, std::span<const std::uint8_t> iu) {
    p.port.release(exchange);
    for (const std::uint8_t byte : iu) sum += byte;
  };
  const wire::FcHeader header = p.opening(Type::ct, RCtl::unsolicited_control);
  p.iu_frame(header, 0);
  p.iu_frame(header, 1, true);
  EXPECT_EQ(sum, 2 * bytes.size());
  EXPECT_EQ(p.port.assembled_bytes(), 0U);
}

// FC-VI 7.7.1, 8.4.2 g): a logout ends the exchanges with that port, wherever they stand, and no others.
TEST(ExchangeTable, peerLogsOut_itsExchangesFail) {
  Table p;
  p.originate(peer);
  for (const wire::FcId id : {peer, other}) p.log_in(id);
  support::RecordingUser others;
  const Exchange* stays = p.port.originate(other, Type::ct, others);
  p.ask(support::bytes_of(wire::els::Logo{.n_port_id = peer, .port_name = PortByHand::name_of(peer)}));
  EXPECT_EQ(p.user.failures, std::vector{ExchangeFailure::PortLoggedOut});
  EXPECT_TRUE(others.failures.empty());
  EXPECT_TRUE(stays->is_open());
}

// In order of N_Port_ID, and only those.
TEST(ExchangeTable, loggedInPorts_areListed) {
  Table p;
  for (const wire::FcId id : {other, peer}) p.log_in(id);
  static_cast<void>(p.port.remote_port({0x010202}));
  EXPECT_EQ(p.port.logged_in_ports(), (std::vector{peer, other}));
}

// FC-FS: F_CTL of a link service's answer is that of any reply of one frame: it ends the exchange, with the initiative.
TEST(ExchangeTable, elsAnswer_fCtl) {
  Table p;
  p.ask(PortByHand::echo);
  EXPECT_EQ(p.wire.log.frames().at(0).header.f_ctl, 0x990000U);
}

// A reply may be asked for in a nanosecond.
TEST(ExchangeTable, replyTimeoutOfANanosecond_isOne) {
  Table p;
  p.port.request(peer, RCtl::unsolicited_control, Type::ct, bytes, p.user, 1);
  p.run_for(1);
  EXPECT_EQ(p.user.failures, std::vector{ExchangeFailure::ReplyTimeout});
}

// FC-VI B.2.6.1 rule 8e, to a port that is not known here as well: E_D_TOV without an ACK.
TEST(ExchangeTable, class2_toUnknownPort_awaitsAck) {
  Table p([](NPortConfig& config) { config.end_to_end_credit = 2; });
  Exchange* exchange = p.originate();
  exchange->use_class_2();
  const TimeNs sent_at = p.scheduler.now();
  p.send(*exchange);
  p.scheduler.run_until(sent_at + p.port.e_d_tov() - 1);
  EXPECT_TRUE(p.user.failures.empty());
  p.run_for(1);
  EXPECT_EQ(p.user.failures, std::vector{ExchangeFailure::NotAcknowledged});
}

// The same: a frame that waits for end-to-end credit (FC-FS) was not sent, and its time begins when it is.
TEST(ExchangeTable, class2_withoutCredit_timeBeginsWithSending) {
  Table p([](NPortConfig& config) { config.end_to_end_credit = 1; });
  p.log_in();
  support::RecordingUser later;
  const TimeNs sent_at = p.scheduler.now();
  for (support::RecordingUser* user : {&p.user, &later}) {
    Exchange* exchange = p.port.originate(peer, Type::ct, *user);
    exchange->use_class_2();
    p.port.send(*exchange, RCtl::unsolicited_control, {}, bytes, {.transfer_initiative = true});
  }
  p.run_for(microsecond);
  EXPECT_EQ(p.wire.log.count(RCtl::unsolicited_control), 1U);
  EXPECT_EQ(p.port.transmitter().waiting(), 0U);
  p.scheduler.run_until(sent_at + p.port.e_d_tov());
  EXPECT_EQ(p.user.failures, std::vector{ExchangeFailure::NotAcknowledged});
  EXPECT_TRUE(later.failures.empty());
  EXPECT_EQ(p.wire.log.count(RCtl::unsolicited_control), 2U);
  p.scheduler.run_until(sent_at + 2 * p.port.e_d_tov());
  EXPECT_EQ(later.failures, std::vector{ExchangeFailure::NotAcknowledged});
}

// What an exchange took of the end-to-end credit it gives back when it is released.
TEST(ExchangeTable, class2_released_givesCreditBack) {
  Table p([](NPortConfig& config) { config.end_to_end_credit = 1; });
  p.log_in();
  for (int i = 0; i < 2; ++i) {
    Exchange* exchange = p.originate();
    exchange->use_class_2();
    p.send(*exchange);
    p.port.release(*exchange);
  }
  EXPECT_EQ(p.wire.log.count(RCtl::unsolicited_control), 2U);
}

// FC-FS 20.7.2: a frame of the peer's next sequence acknowledges ours. Where ours was the last of the exchange there is
// no next one: the exchange is given back, and what asks for more meets none.
TEST(ExchangeTable, class2_answeredByAFrameAfterItsEnd_isOver) {
  Table p([](NPortConfig& config) { config.end_to_end_credit = 1; });
  p.log_in();
  wire::FcHeader asked = p.opening(wire::Type::els, RCtl::els_request);
  p.receive(asked, PortByHand::echo, wire::Sof::i2, wire::Eof::n);
  EXPECT_EQ(p.wire.log.count(RCtl::els_reply), 1U);
  EXPECT_EQ(p.port.open_exchanges(), 1U);
  const auto stale = p.discarded(Discard::UnknownExchange);
  asked.f_ctl &= ~(wire::f_ctl::first_sequence | wire::f_ctl::last_sequence);
  asked.seq_id = {4};
  asked.seq_cnt = {1};
  p.receive(asked, PortByHand::echo, wire::Sof::i2, wire::Eof::n);
  EXPECT_EQ(p.port.open_exchanges(), 0U);
  EXPECT_EQ(p.discarded(Discard::UnknownExchange), stale + 1);
  p.run_for(120 * second);
  EXPECT_EQ(p.wire.log.count(RCtl::els_reply), 1U);
  EXPECT_EQ(p.wire.log.count(RCtl::abts), 0U);
  EXPECT_FALSE(p.port.remote_port(peer).in_use());
}

// FC-VI 7.7.3: while the address is validated nothing but link services goes; what is sent meanwhile goes then, once.
TEST(ExchangeTable, validating_sendsWhenValidated) {
  Table p;
  p.log_in();
  p.port.link_interrupted();
  p.without_fabric();
  p.send(*p.originate());
  EXPECT_EQ(p.wire.log.count(RCtl::unsolicited_control), 0U);
  EXPECT_EQ(p.port.transmitter().waiting(), 0U);
  p.answer_adisc(peer);
  EXPECT_EQ(p.wire.log.count(RCtl::unsolicited_control), 1U);
}

}  // namespace
}  // namespace fc2
