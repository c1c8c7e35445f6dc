#include <gtest/gtest.h>

#include <numeric>

#include "tests/support/made_frame.hpp"
#include "tests/support/port_pair.hpp"
#include "wire/bls/ba_acc.hpp"
#include "wire/els/rrq.hpp"

namespace fc2 {
namespace {

using support::Interposer;
using support::LoggedFrame;
using wire::RCtl;
constexpr auto type = wire::Type::ct;  // any FC-4 whose IUs are assembled
constexpr wire::FcId a_id = support::PortPair::a_id, b_id = support::PortPair::b_id;

std::vector<std::uint8_t> bytes(std::size_t size) {
  std::vector<std::uint8_t> result(size);
  std::iota(result.begin(), result.end(), std::uint8_t{0});
  return result;
}

class ExchangeTest : public testing::Test {
 protected:
  ExchangeTest() { pair.b.set_user(type, responder); }
  ~ExchangeTest() override { EXPECT_EQ(pair.unexpected_events(), 0U); }
  Exchange* request(std::size_t size, TimeNs timeout = second) {
    return pair.a.request(b_id, RCtl::unsolicited_control, type, bytes(size), originator, timeout);
  }
  void answer_with(std::size_t size) {
    responder.on_iu = [this, size](Exchange& exchange, std::span<const std::uint8_t>) {
      pair.b.send(exchange, RCtl::solicited_control, {}, bytes(size),
                  {.last_of_exchange = true, .transfer_initiative = true});
    };
  }
  /// An IU of three frames, which arrives with one Device_Header.
  void send_with_device_header() {
    const std::vector<std::uint8_t> device_header(32, 0xDD);
    Exchange* exchange = pair.a.originate(b_id, type, originator);
    pair.a.send(*exchange, RCtl::unsolicited_control, device_header, three_frames, {.last_of_exchange = true});
    run();
    ASSERT_EQ(responder.ius.size(), 1U);
    auto expected = device_header;
    expected.insert(expected.end(), three_frames.begin(), three_frames.end());
    EXPECT_EQ(responder.ius[0].bytes, expected);
  }
  void run() { pair.run_for(millisecond); }
  [[nodiscard]] std::uint64_t discarded(NPort& port, Discard reason) const { return port.counters().discarded(reason); }

  support::PortPair pair;
  support::RecordingUser originator, responder;
  const std::vector<std::uint8_t> three_frames = bytes(6000);
};

// FC-VI 5.2.1: a request, a reply, and the exchange is over on both sides.
TEST_F(ExchangeTest, open_reply_received_closes) {
  answer_with(20);
  Exchange* exchange = request(10);
  ASSERT_NE(exchange, nullptr);
  const wire::OxId ox_id = exchange->ox_id();
  run();
  ASSERT_EQ(responder.ius.size(), 1U);
  EXPECT_EQ(responder.ius[0].bytes, bytes(10));
  EXPECT_EQ(responder.ius[0].header.ox_id, ox_id);
  ASSERT_EQ(originator.ius.size(), 1U);
  EXPECT_EQ(originator.ius[0].bytes, bytes(20));
  EXPECT_EQ(pair.a.open_exchanges(), 0U);
  EXPECT_EQ(pair.b.open_exchanges(), 0U);
  EXPECT_EQ(pair.to_a.log.size() + pair.to_b.log.size(), 2U);
  pair.run_for(100 * second);
  EXPECT_TRUE(originator.failures.empty());
}

// FC-FS: F_CTL of a one-frame request is 290000h, of its reply 990000h; fill bytes round up to words.
TEST_F(ExchangeTest, open_frames_carry_the_right_f_ctl) {
  answer_with(7);
  request(6);
  run();
  const auto& request_frame = pair.to_b.log.frames().at(0);
  const auto& reply_frame = pair.to_a.log.frames().at(0);
  EXPECT_EQ(request_frame.header.f_ctl, 0x290002U);
  EXPECT_EQ(request_frame.data.size(), 8U);
  EXPECT_EQ(request_frame.header.rx_id, wire::RxId::unassigned);
  EXPECT_EQ(reply_frame.header.f_ctl, 0x990001U);
  EXPECT_NE(reply_frame.header.rx_id, wire::RxId::unassigned);
  EXPECT_EQ(reply_frame.header.ox_id, request_frame.header.ox_id);
  EXPECT_EQ(reply_frame.sof, wire::Sof::i3);
  EXPECT_EQ(reply_frame.eof, wire::Eof::t);
}

// An IU of many frames is assembled on both sides; the last frame alone ends the sequence.
TEST_F(ExchangeTest, open_multi_frame_iu_is_assembled) {
  answer_with(5000);
  request(10'001);
  run();
  ASSERT_EQ(responder.ius.size(), 1U);
  EXPECT_EQ(responder.ius[0].bytes, bytes(10'001));
  ASSERT_EQ(originator.ius.size(), 1U);
  EXPECT_EQ(originator.ius[0].bytes, bytes(5000));
  const auto& frames = pair.to_b.log.frames();
  ASSERT_EQ(frames.size(), 5U);
  for (std::size_t i = 0; i < frames.size(); ++i) {
    EXPECT_EQ(frames[i].header.seq_cnt.value, i);
    EXPECT_EQ(frames[i].header.parameter, i * 2112);
    EXPECT_EQ(frames[i].eof, i == 4 ? wire::Eof::t : wire::Eof::n);
    EXPECT_EQ(frames[i].sof, i == 0 ? wire::Sof::i3 : wire::Sof::n3);
  }
}

// FC-VI 5.8.5: the Device_Header stands in every frame; the IU has it once.
TEST_F(ExchangeTest, open_multi_frame_iu_with_device_header) {
  for (NPort* port : {&pair.a, &pair.b}) port->set_user(Fc4{.type = type, .repeats_device_header = true}, responder);
  send_with_device_header();
  ASSERT_EQ(pair.to_b.log.size(), 3U);
  for (const auto& frame : pair.to_b.log.frames()) {
    EXPECT_EQ(frame.header.df_ctl, wire::df_ctl::device_header_32);
    EXPECT_EQ(frame.data[31], 0xDD);
  }
  EXPECT_EQ(pair.to_b.log.frames()[1].header.parameter, 2080U);
  EXPECT_EQ(pair.b.open_exchanges(), 0U);
}

// FC-FS: of an FC-4 that has it in the first frame only, further frames are payload from their first byte on.
TEST_F(ExchangeTest, open_multi_frame_iu_with_device_header_in_first_frame) {
  send_with_device_header();
  const auto& frames = pair.to_b.log.frames();
  ASSERT_EQ(frames.size(), 3U);
  EXPECT_EQ(frames[0].header.df_ctl, wire::df_ctl::device_header_32);
  for (const std::size_t later : {1U, 2U}) {
    EXPECT_EQ(frames[later].header.df_ctl, wire::df_ctl::no_device_header);
    EXPECT_EQ(frames[later].header.parameter, later * 2112 - 32);
    EXPECT_EQ(frames[later].data[0], three_frames[later * 2112 - 32]);
  }
}

// FC-VI 5.6: SEQ_CNT goes on over the sequences that one side sends in an exchange.
TEST_F(ExchangeTest, open_second_sequence_continues_seq_cnt) {
  Exchange* exchange = pair.a.originate(b_id, type, originator);
  pair.a.send(*exchange, RCtl::unsolicited_control, {}, bytes(3000), {});
  pair.a.send(*exchange, RCtl::unsolicited_control, {}, bytes(10), {.last_of_exchange = true});
  run();
  ASSERT_EQ(responder.ius.size(), 2U);
  const auto& frames = pair.to_b.log.frames();
  ASSERT_EQ(frames.size(), 3U);
  EXPECT_EQ(frames[2].header.seq_cnt.value, 2);
  EXPECT_NE(frames[2].header.seq_id, frames[0].header.seq_id);
  EXPECT_TRUE(frames[0].header.has(wire::f_ctl::first_sequence));
  EXPECT_FALSE(frames[2].header.has(wire::f_ctl::first_sequence));
}

// FC-FS: no reply in time: the user hears of it, ABTS goes out, BA_ACC comes, the id rests for R_A_TOV.
TEST_F(ExchangeTest, waiting_timeout_aborts) {
  request(10, millisecond);
  pair.run_for(2 * millisecond);
  EXPECT_EQ(originator.failures, std::vector{ExchangeFailure::ReplyTimeout});
  EXPECT_EQ(responder.failures, std::vector{ExchangeFailure::AbortedByPeer});
  EXPECT_EQ(pair.to_b.log.count(RCtl::abts), 1U);
  EXPECT_EQ(pair.to_a.log.count(RCtl::ba_acc), 1U);
  EXPECT_EQ(pair.a.open_exchanges(), 1U);
  pair.run_for(pair.a.r_a_tov());
  EXPECT_EQ(pair.a.open_exchanges(), 0U);
  EXPECT_EQ(pair.b.open_exchanges(), 0U);
}

// FC-VI C.5.7.1, FC-FS 23.6.1.1: ABTS for an exchange that never arrived is accepted all the same.
TEST_F(ExchangeTest, unknown_abts_received_is_accepted) {
  pair.to_b.on_frame = [](const LoggedFrame& frame) {
    return frame.is(RCtl::unsolicited_control) ? Interposer::Action::Drop : Interposer::Action::Pass;
  };
  request(10, millisecond);
  pair.run_for(2 * millisecond);
  ASSERT_EQ(pair.to_a.log.count(RCtl::ba_acc), 1U);
  const auto& frame = pair.to_a.log.frames().at(0);
  const auto ba_acc = wire::bls::BaAcc::parse(frame.data);
  ASSERT_TRUE(ba_acc);
  EXPECT_EQ(ba_acc->ox_id, frame.header.ox_id);
  EXPECT_TRUE(
      frame.header.has(wire::f_ctl::exchange_responder | wire::f_ctl::last_sequence | wire::f_ctl::end_sequence));
  EXPECT_TRUE(responder.failures.empty());
}

// FC-FS: an ABTS without answer is repeated once after R_A_TOV; then the id rests.
TEST_F(ExchangeTest, aborting_silence_repeats_abts) {
  pair.to_b.on_frame = [](const LoggedFrame&) { return Interposer::Action::Drop; };
  request(10, millisecond);
  pair.run_for(100 * second);
  EXPECT_EQ(pair.to_b.log.count(RCtl::abts), 2U);
  EXPECT_EQ(originator.failures.size(), 1U);
  EXPECT_EQ(pair.a.open_exchanges(), 0U);
}

// FC-VI C.3 rule 2 b): where it is wanted, a port that answers no ABTS is logged out.
TEST_F(ExchangeTest, recovering_silence_logs_out) {
  support::PortPair strict([](NPortConfig& config) { config.log_out_silent_ports = true; });
  ASSERT_TRUE(strict.log_in());
  strict.to_b.on_frame = [](const LoggedFrame&) { return Interposer::Action::Drop; };
  strict.a.request(b_id, RCtl::unsolicited_control, type, bytes(10), originator, millisecond);
  strict.run_for(25 * second);
  EXPECT_FALSE(strict.a.remote_port(b_id).logged_in());
  EXPECT_GE(strict.to_b.log.count([](const LoggedFrame& f) { return f.is_els(wire::els::Command::logo); }), 1U);
  EXPECT_EQ(strict.unexpected_events(), 0U);
}

// FC-VI C.3 rule 2 b) is about FC-VI Exchanges. An ELS may be of a login that ended long ago: the one there
// is now stays.
TEST_F(ExchangeTest, recovering_silent_link_service_logs_nobody_out) {
  support::PortPair strict([](NPortConfig& config) { config.log_out_silent_ports = true; });
  ASSERT_TRUE(strict.log_in());
  strict.to_b.on_frame = [](const LoggedFrame&) { return Interposer::Action::Drop; };
  strict.a.request(b_id, RCtl::els_request, wire::Type::els, bytes(16), originator, millisecond);
  strict.run_for(60 * second);
  EXPECT_EQ(strict.to_b.log.count(RCtl::abts), 2U);
  EXPECT_TRUE(strict.a.remote_port(b_id).logged_in());
  EXPECT_EQ(strict.to_b.log.count([](const LoggedFrame& f) { return f.is_els(wire::els::Command::logo); }), 0U);
  EXPECT_EQ(strict.a.open_exchanges(), 0U);
}

// The reply comes after the time-out: the frame is discarded, the user hears nothing more.
TEST_F(ExchangeTest, aborting_late_reply_is_discarded) {
  request(10, millisecond);
  pair.run_for(2 * millisecond);
  ASSERT_EQ(responder.ius.size(), 1U);
  // What the responder would still send comes from another exchange slot of the same ids.
  wire::FcHeader header = pair.to_a.log.frames().at(0).header;
  header.r_ctl = RCtl::solicited_control;
  header.type = type;
  header.f_ctl = wire::f_ctl::single_frame_reply;
  pair.a.receive(support::made_frame(pair.pool, header, support::zeros(4)));
  EXPECT_TRUE(originator.ius.empty());
  EXPECT_EQ(originator.failures.size(), 1U);
  EXPECT_EQ(discarded(pair.a, Discard::WrongSequence), 1U);
}

// FC-FS: the user of a responder gives up: ABTS goes to the originator, which hears of it.
TEST_F(ExchangeTest, responder_aborts) {
  responder.on_iu = [this](Exchange& exchange, std::span<const std::uint8_t>) { pair.b.abort(exchange); };
  request(10);
  run();
  EXPECT_EQ(originator.failures, std::vector{ExchangeFailure::AbortedByPeer});
  EXPECT_EQ(pair.to_a.log.count(RCtl::abts), 1U);
  EXPECT_EQ(pair.to_b.log.count(RCtl::ba_acc), 1U);
  EXPECT_TRUE(responder.failures.empty());
}

// FC-VI 8.4.1 c): on an in-order fabric a gap is a loss: the originator's IU is discarded, its exchange times out.
TEST_F(ExchangeTest, receiving_middle_frame_lost_fails) {
  pair.to_b.on_frame = [](const LoggedFrame& frame) {
    return frame.header.seq_cnt.value == 1 && !frame.is(RCtl::abts) ? Interposer::Action::Drop
                                                                    : Interposer::Action::Pass;
  };
  request(9000, second);
  pair.run_for(2 * second);
  EXPECT_TRUE(responder.ius.empty());
  EXPECT_EQ(responder.failures, std::vector{ExchangeFailure::SequenceError});
  EXPECT_EQ(originator.failures, std::vector{ExchangeFailure::ReplyTimeout});
  EXPECT_GE(discarded(pair.b, Discard::WrongSequence), 1U);
  pair.run_for(30 * second);
  EXPECT_EQ(pair.b.open_exchanges(), 0U);
}

// A gap in the reply: the originator aborts.
TEST_F(ExchangeTest, receiving_reply_frame_lost_aborts) {
  answer_with(9000);
  pair.to_a.on_frame = [](const LoggedFrame& frame) {
    return frame.header.seq_cnt.value == 2 ? Interposer::Action::Drop : Interposer::Action::Pass;
  };
  request(10);
  run();
  EXPECT_TRUE(originator.ius.empty());
  EXPECT_EQ(originator.failures, std::vector{ExchangeFailure::SequenceError});
  EXPECT_EQ(pair.to_b.log.count(RCtl::abts), 1U);
}

// FC-FS: the last frame never comes: E_D_TOV ends the wait, R_A_TOV later the responder forgets the exchange.
TEST_F(ExchangeTest, receiving_last_frame_lost_times_out) {
  pair.to_b.on_frame = [](const LoggedFrame& frame) {
    return frame.eof == wire::Eof::t ? Interposer::Action::Drop : Interposer::Action::Pass;
  };
  request(5000, 1000 * second);
  pair.run_for(pair.b.e_d_tov() + millisecond);
  EXPECT_EQ(responder.failures, std::vector{ExchangeFailure::SequenceError});
  EXPECT_EQ(discarded(pair.b, Discard::WrongSequence), 1U);
  EXPECT_EQ(pair.b.open_exchanges(), 1U);
  pair.run_for(pair.b.r_a_tov());
  EXPECT_EQ(pair.b.open_exchanges(), 0U);
}

// Every frame twice: duplicates are counted, the IU comes once.
TEST_F(ExchangeTest, receiving_every_frame_doubled_delivers_once) {
  answer_with(7000);
  pair.to_a.on_frame = [](const LoggedFrame&) { return Interposer::Action::Double; };
  pair.to_b.on_frame = [](const LoggedFrame& frame) {
    return frame.eof == wire::Eof::t ? Interposer::Action::Pass : Interposer::Action::Double;
  };
  request(9000);
  run();
  ASSERT_EQ(responder.ius.size(), 1U);
  EXPECT_EQ(responder.ius[0].bytes, bytes(9000));
  ASSERT_EQ(originator.ius.size(), 1U);
  EXPECT_EQ(originator.ius[0].bytes, bytes(7000));
  EXPECT_EQ(discarded(pair.b, Discard::WrongSequence), 4U);
  EXPECT_TRUE(originator.failures.empty());
}

// A request twice, while its exchange is open: the second is a duplicate by its SEQ_ID.
TEST_F(ExchangeTest, open_request_doubled_is_a_duplicate) {
  pair.to_b.on_frame = [](const LoggedFrame&) { return Interposer::Action::Double; };
  request(10);
  run();
  EXPECT_EQ(responder.ius.size(), 1U);
  EXPECT_TRUE(responder.failures.empty());
  EXPECT_EQ(discarded(pair.b, Discard::WrongSequence), 1U);
}

// Two frames in the wrong order are a loss on an in-order fabric.
TEST_F(ExchangeTest, receiving_frames_swapped_fails) {
  pair.to_b.on_frame = [](const LoggedFrame& frame) {
    return frame.header.seq_cnt.value == 1 && !frame.is(RCtl::abts) ? Interposer::Action::Swap
                                                                    : Interposer::Action::Pass;
  };
  request(9000, second);
  run();
  EXPECT_TRUE(responder.ius.empty());
  EXPECT_EQ(responder.failures, std::vector{ExchangeFailure::SequenceError});
}

// The first frame is lost: the rest belongs to no exchange.
TEST_F(ExchangeTest, closed_later_frames_are_discarded) {
  pair.to_b.on_frame = [](const LoggedFrame& frame) {
    return frame.sof == wire::Sof::i3 && !frame.is(RCtl::abts) ? Interposer::Action::Drop : Interposer::Action::Pass;
  };
  request(9000, second);
  run();
  EXPECT_TRUE(responder.ius.empty());
  EXPECT_EQ(discarded(pair.b, Discard::UnknownExchange), 4U);
  EXPECT_EQ(pair.b.open_exchanges(), 0U);
}

// FC-VI 5.4: an OX_ID is free again when its exchange ended; others that are free come before it.
TEST_F(ExchangeTest, closed_ox_id_comes_round_after_others) {
  support::PortPair small([](NPortConfig& config) { config.max_exchanges = 1; });
  small.b.set_user(type, responder);
  for (int i = 0; i < 100; ++i) {
    Exchange* exchange = small.a.originate(b_id, type, originator);
    ASSERT_NE(exchange, nullptr);
    EXPECT_EQ(exchange->ox_id().value, i % 32);
    small.a.send(*exchange, RCtl::unsolicited_control, {}, bytes(8), {.last_of_exchange = true});
    small.run_for(millisecond);
  }
  EXPECT_EQ(responder.ius.size(), 100U);
  EXPECT_EQ(small.unexpected_events(), 0U);
}

// The originator uses an OX_ID anew that is still open here: the old exchange is over, the new one is served.
TEST_F(ExchangeTest, open_ox_id_used_anew_supersedes) {
  request(10);
  run();
  ASSERT_EQ(responder.ius.size(), 1U);
  wire::FcHeader header = pair.to_b.log.frames().at(0).header;
  header.seq_id = {static_cast<std::uint8_t>(header.seq_id.value + 1)};
  pair.b.receive(support::made_frame(pair.pool, header, support::zeros(4)));
  EXPECT_EQ(responder.failures, std::vector{ExchangeFailure::AbortedByPeer});
  EXPECT_EQ(responder.ius.size(), 2U);
  EXPECT_EQ(pair.b.open_exchanges(), 1U);
}

// All exchanges in use, each way for itself: originate says so; a request that comes in is counted and times out over
// there. A peer may open half of them.
TEST_F(ExchangeTest, table_full_refuses) {
  support::PortPair small([](NPortConfig& config) { config.max_exchanges = 4; });
  small.b.set_user(type, responder);
  for (int i = 0; i < 4; ++i) EXPECT_NE(small.a.originate(b_id, type, originator), nullptr);
  EXPECT_EQ(small.a.originate(b_id, type, originator), nullptr);
  for (int i = 0; i < 4; ++i) small.b.originate(a_id, type, originator);
  for (std::uint16_t ox_id = 7; ox_id < 10; ++ox_id) {
    small.b.receive(
        support::made_frame(small.pool, support::request_header(RCtl::unsolicited_control, type, b_id, a_id, {ox_id})));
  }
  EXPECT_EQ(small.b.counters().discarded(Discard::NoResources), 1U);
  EXPECT_EQ(responder.ius.size(), 2U);
}

// An IU above the limit is refused, whoever sends it.
TEST_F(ExchangeTest, receiving_iu_above_limit_fails) {
  support::PortPair small([](NPortConfig& config) { config.max_assembled_iu_bytes = 4096; });
  small.b.set_user(type, responder);
  small.a.request(b_id, RCtl::unsolicited_control, type, bytes(4096), originator, second);
  small.a.request(b_id, RCtl::unsolicited_control, type, bytes(4097), originator, second);
  small.run_for(millisecond);
  EXPECT_EQ(responder.ius.size(), 1U);
  EXPECT_EQ(responder.failures, std::vector{ExchangeFailure::SequenceError});
  EXPECT_EQ(small.b.counters().discarded(Discard::TooLong), 1U);
}

// A TYPE that nobody uses is counted.
TEST_F(ExchangeTest, closed_unknown_type_is_discarded) {
  pair.a.request(b_id, RCtl::unsolicited_control, wire::Type::fcp, bytes(8), originator, second);
  run();
  EXPECT_EQ(discarded(pair.b, Discard::UnknownType), 1U);
}

// A user may release an exchange that its last sequence ends anyway: the slot is free once.
TEST_F(ExchangeTest, closing_released_by_user_is_freed_once) {
  responder.on_iu = [this](Exchange& exchange, std::span<const std::uint8_t>) { pair.b.release(exchange); };
  for (int i = 0; i < 3; ++i) {
    Exchange* exchange = pair.a.originate(b_id, type, originator);
    pair.a.send(*exchange, RCtl::unsolicited_control, {}, bytes(8), {.last_of_exchange = true});
    run();
  }
  EXPECT_EQ(pair.b.open_exchanges(), 0U);
  Exchange* first = pair.b.originate(a_id, type, originator);
  EXPECT_NE(first, pair.b.originate(a_id, type, originator));
}

// FC-LS: RRQ frees the id before R_A_TOV.
TEST_F(ExchangeTest, quarantined_by_peer_rrq_frees) {
  Exchange* exchange = request(10, millisecond);
  const wire::OxId ox_id = exchange->ox_id();
  pair.run_for(2 * millisecond);
  EXPECT_EQ(pair.b.open_exchanges(), 1U);
  std::array<std::uint8_t, wire::els::Rrq::size()> payload;
  wire::els::Rrq{.originator_s_id = a_id, .ox_id = ox_id, .rx_id = wire::RxId::unassigned}.write(payload);
  support::RecordingUser user;
  pair.a.request(b_id, RCtl::els_request, wire::Type::els, payload, user, second);
  run();
  ASSERT_EQ(user.ius.size(), 1U);
  EXPECT_EQ(user.ius[0].bytes[0], 0x02);
  EXPECT_EQ(pair.b.open_exchanges(), 0U);
}

// An exchange that the peer aborted waits for no answer: a BA_ACC is counted as stray.
TEST_F(ExchangeTest, quarantined_by_peer_ba_acc_is_discarded) {
  request(10, millisecond);
  pair.run_for(2 * millisecond);
  for (const RCtl r_ctl : {RCtl::ba_acc, RCtl::ba_rjt}) {
    wire::FcHeader header = pair.to_b.log.frames().at(0).header;
    header.r_ctl = r_ctl;
    header.type = wire::Type::bls;
    pair.b.receive(support::made_frame(pair.pool, header, support::zeros(12)));
  }
  EXPECT_EQ(discarded(pair.b, Discard::UnknownExchange), 2U);
}

// FC-VI 4.1: 254 sequences of message data may be open with one port; the ids of closed ones come back.
TEST_F(ExchangeTest, seq_ids_all_but_the_reserve) {
  RemotePort& remote = pair.a.remote_port(b_id);
  std::vector<wire::SeqId> ids;
  while (const auto id = remote.take_seq_id()) ids.push_back(*id);
  EXPECT_EQ(ids.size(), 254U);
  std::sort(ids.begin(), ids.end());
  EXPECT_EQ(std::unique(ids.begin(), ids.end()), ids.end());
  const wire::SeqId control = remote.control_seq_id();
  EXPECT_FALSE(std::binary_search(ids.begin(), ids.end(), control));
  remote.give_back_seq_id(ids[100]);
  EXPECT_TRUE(remote.take_seq_id());
  EXPECT_FALSE(remote.take_seq_id());
}

}  // namespace
}  // namespace fc2
