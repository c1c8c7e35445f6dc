// Where an N_Port's frames go: message data, IUs, basic link services, link control; what opens an exchange, and
// what does not.
#include <gtest/gtest.h>

#include "fc2_fabric/node/class_2.hpp"
#include "tests/support/fc4.hpp"
#include "tests/support/port_by_hand.hpp"
#include "wire/bls/ba_acc.hpp"
#include "wire/els/rrq.hpp"

namespace fc2 {
namespace {
using support::PortByHand;
using support::LoggedFrame;
using wire::RCtl;
using wire::Type;
namespace f_ctl = wire::f_ctl;
constexpr wire::FcId own = PortByHand::own, peer = PortByHand::peer, other = PortByHand::other;
constexpr auto fc_vi = Type::fc_vi;
constexpr std::array<std::uint8_t, 64> bytes{};

/// With a FC-4 that has message data, FC-VI, and one that has none, CT; the peer is logged in.
struct Sorted : PortByHand {
  explicit Sorted(const Adjust& adjust = {}) : PortByHand(adjust) {
    port.set_data_user(support::fc4, data_user);
    port.set_user(Type::ct, user);
    port.set_user(Type::ip, user);
    without_fabric();
    log_in();
    wire.log.clear();
  }
  void class_2(const wire::FcHeader& header) { receive(header, bytes, wire::Sof::i2, wire::Eof::n); }
};

// FC-VI 5.1: frames of connection requests and responses are IUs; every other of its TYPE is message data,
// and is counted.
TEST(FrameSorting, fcVi_byRoutingControl) {
  for (const unsigned r_ctl : {0U, 1U, 2U, 3U, 4U, 5U, 6U, 7U}) {
    Sorted p;
    p.receive(p.opening(fc_vi, static_cast<RCtl>(r_ctl)), bytes);
    const bool iu = r_ctl == 2 || r_ctl == 3;
    EXPECT_EQ(p.data_user.data.size(), iu ? 0U : 1U) << r_ctl;
    EXPECT_EQ(p.data_user.ius.size(), iu ? 1U : 0U) << r_ctl;
    EXPECT_EQ(p.port.counters().data_bytes_received, iu ? 0U : bytes.size()) << r_ctl;
    EXPECT_EQ(p.port.counters().link_failures, 0U);
  }
}

// FC-VI 5.8.5: no optional header but a Device_Header. CS_CTL says nothing of headers; other FC-4s may have
// what they like.
TEST(FrameSorting, fcVi_byOptionalHeaders) {
  for (const unsigned df_ctl : {0x00U, 0x01U, 0x02U, 0x03U, 0x10U, 0x20U, 0x40U})
    for (const RCtl r_ctl : {RCtl::solicited_data, RCtl::unsolicited_control}) {
      Sorted p;
      wire::FcHeader header = p.opening(fc_vi, r_ctl);
      header.df_ctl = static_cast<std::uint8_t>(df_ctl);
      header.cs_ctl = 0x70;
      p.receive(header, bytes);
      EXPECT_EQ(p.data_user.data.size() + p.data_user.ius.size(), df_ctl < 0x10 ? 1U : 0U) << df_ctl;
      EXPECT_EQ(p.discarded(Discard::BadHeader), df_ctl < 0x10 ? 0U : 1U) << df_ctl;
      EXPECT_EQ(p.port.counters().discarded(), df_ctl < 0x10 ? 0U : 1U) << df_ctl;
      header = p.opening(Type::ip, RCtl::unsolicited_data);
      header.df_ctl = static_cast<std::uint8_t>(df_ctl);
      p.receive(header, bytes);
      EXPECT_EQ(p.user.ius.size(), 1U) << df_ctl;
    }
}

// FC-VI 8.4.2 h): in class 2 "Abort Sequence, Perform ABTS" answers message data that is refused so, not
// IUs nor answers.
TEST(FrameSorting, class2_optionalHeader_demandsAbtsOfMessageDataOnly) {
  struct Case {
    RCtl r_ctl;
    std::uint32_t context;
    std::uint32_t demanded;
  };
  for (const Case& c : {Case{RCtl::solicited_data, 0, f_ctl::abort_perform_abts}, Case{RCtl::unsolicited_control, 0, 0},
                        Case{RCtl::solicited_data, f_ctl::exchange_responder, 0}}) {
    Sorted p([](NPortConfig& config) { config.end_to_end_credit = 2; });
    wire::FcHeader header = p.opening(fc_vi, c.r_ctl);
    header.f_ctl |= c.context;
    header.df_ctl = wire::df_ctl::network_header;
    p.class_2(header);
    ASSERT_EQ(p.wire.log.count(RCtl::ack_1), 1U);
    EXPECT_EQ(p.wire.log.frames().back().header.f_ctl & f_ctl::abort_condition_mask, c.demanded);
    EXPECT_EQ(p.discarded(Discard::BadHeader), 1U);
  }
}

// The FC-4 goes away: its IUs and its message data are nobody's, whatever headers they have, and no answer of
// its finds it.
TEST(FrameSorting, dataUser_removed_hearsNothing) {
  Sorted p([](NPortConfig& config) { config.end_to_end_credit = 2; });
  p.data_user.on_data = [&](const ReceivedFrame& frame) {
    Exchange* reply = p.port.open_for_reply(frame, p.data_user);
    ASSERT_NE(reply, nullptr);
    p.port.send(*reply, RCtl::command_status, {}, bytes, {.last_of_exchange = true});
  };
  p.class_2(p.opening(fc_vi, RCtl::unsolicited_command));
  const LoggedFrame answer = p.wire.log.frames().back();
  ASSERT_TRUE(answer.is(RCtl::command_status));
  p.port.remove_user(fc_vi);
  EXPECT_EQ(p.port.open_exchanges(), 1U) << "not acknowledged yet";
  p.port.receive(make_link_control(p.pool, answer.header, RCtl::ack_1, 1));
  EXPECT_EQ(p.data_user.acknowledged, 0);
  EXPECT_EQ(p.port.open_exchanges(), 0U);
  for (const RCtl r_ctl : {RCtl::solicited_data, RCtl::unsolicited_control})
    for (const std::uint8_t df_ctl : {wire::df_ctl::no_device_header, wire::df_ctl::network_header}) {
      wire::FcHeader header = p.opening(fc_vi, r_ctl);
      header.df_ctl = df_ctl;
      p.receive(header, bytes);
    }
  EXPECT_EQ(p.discarded(Discard::UnknownType), 4U);
  EXPECT_EQ(p.data_user.data.size(), 1U);
  EXPECT_TRUE(p.data_user.ius.empty());
}

// Another user takes its place, which has no message data: what comes is assembled for that one.
TEST(FrameSorting, dataUser_replaced_hearsNothing) {
  Sorted p;
  support::RecordingUser user;
  p.port.set_user(support::fc4, user);
  EXPECT_TRUE(p.port.is_consistent());
  p.receive(p.opening(fc_vi, RCtl::solicited_data), bytes);
  EXPECT_TRUE(p.data_user.data.empty());
  EXPECT_EQ(user.ius.size(), 1U);
  p.port.remove_user(fc_vi);
}

// The same of an FC-4 without message data: it may go before the port, and what it has left finds it no more.
TEST(FrameSorting, user_removed_hearsNothing) {
  Sorted p([](NPortConfig& config) { config.end_to_end_credit = 2; });
  auto gone = std::make_unique<support::RecordingUser>();
  p.port.set_user(Fc4{.type = Type::fcp}, *gone);
  gone->on_iu = [&](Exchange& exchange, std::span<const std::uint8_t>) {
    p.port.send(exchange, RCtl::solicited_control, {}, bytes, {.last_of_exchange = true});
  };
  p.class_2(p.opening(Type::fcp, RCtl::unsolicited_control));
  ASSERT_EQ(gone->ius.size(), 1U);
  EXPECT_EQ(p.port.open_exchanges(), 1U) << "its answer is not acknowledged yet";
  const LoggedFrame answer = p.wire.log.frames().back();
  p.port.remove_user(Type::fcp);
  gone.reset();
  EXPECT_FALSE(p.port.has_fc4(Type::fcp));
  p.port.receive(make_link_control(p.pool, answer.header, RCtl::ack_1, 1));
  EXPECT_EQ(p.port.open_exchanges(), 0U);
  p.receive(p.opening(Type::fcp, RCtl::unsolicited_control), bytes);
  EXPECT_EQ(p.discarded(Discard::UnknownType), 1U);
  p.receive(p.opening(fc_vi, RCtl::unsolicited_control), bytes);
  EXPECT_EQ(p.data_user.ius.size(), 1U) << "the others are there";
  p.port.remove_user(Type::fcp);  // there is none any more
}

// Two FC-4s with message data: each gets its own, the one whose exchange it is hears of an ABTS, and one that goes away
// leaves the other.
TEST(FrameSorting, twoDataUsers_eachGetsItsOwn) {
  Sorted p;
  support::RecordingDataUser fcp_user;
  fcp_user.knows_aborted = true;
  p.port.set_data_user({.type = Type::fcp}, fcp_user);
  EXPECT_EQ(p.port.fc4_types(), (std::vector{Type::fcp, Type::fc_vi}));
  p.receive(p.opening(Type::fcp, RCtl::solicited_data), bytes);
  EXPECT_EQ(fcp_user.data.size(), 1U);
  EXPECT_TRUE(p.data_user.data.empty());
  p.receive(p.opening(fc_vi, RCtl::solicited_data), bytes);
  p.receive(p.opening(fc_vi, RCtl::solicited_data), bytes);
  EXPECT_EQ(fcp_user.data.size(), 1U);
  EXPECT_EQ(p.data_user.data.size(), 2U);
  const wire::FcHeader abts{.r_ctl = RCtl::abts,
                            .d_id = own,
                            .s_id = peer,
                            .f_ctl = f_ctl::end_sequence | f_ctl::sequence_initiative,
                            .ox_id = {0x1234}};
  p.receive(abts, {});
  EXPECT_EQ(fcp_user.aborts.size(), 1U);
  EXPECT_TRUE(p.data_user.aborts.empty()) << "it is known whose it was";
  fcp_user.knows_aborted = false;
  p.receive(abts, {});
  EXPECT_EQ(fcp_user.aborts.size(), 2U);
  EXPECT_EQ(p.data_user.aborts.size(), 1U);
  p.port.remove_user(fc_vi);
  EXPECT_EQ(p.port.fc4_types(), std::vector{Type::fcp});
  EXPECT_FALSE(p.port.has_fc4(fc_vi));
  p.receive(p.opening(fc_vi, RCtl::solicited_data), bytes);
  p.receive(p.opening(Type::fcp, RCtl::solicited_data), bytes);
  EXPECT_EQ(p.discarded(Discard::UnknownType), 1U);
  EXPECT_EQ(fcp_user.data.size(), 2U);
  EXPECT_EQ(p.data_user.data.size(), 2U);
}

// The same: an exchange of another user goes on.
TEST(FrameSorting, dataUser_removed_othersGoOn) {
  Sorted p;
  const Exchange* question = p.port.request(peer, RCtl::unsolicited_control, Type::ct, bytes, p.user, second);
  p.port.remove_user(fc_vi);
  p.receive(support::reply_header(RCtl::solicited_control, Type::ct, own, peer, question->ox_id()), bytes);
  EXPECT_EQ(p.user.ius.size(), 1U);
}

// An answer to message data goes on an exchange of its class and its OX_ID, which takes no frame of the peer.
TEST(FrameSorting, openForReply_answersAsItWasAsked) {
  for (const bool class_2 : {false, true}) {
    Sorted p([](NPortConfig& config) { config.end_to_end_credit = 2; });
    Exchange* reply = nullptr;
    p.data_user.on_data = [&](const ReceivedFrame& frame) { reply = p.port.open_for_reply(frame, p.data_user); };
    const wire::FcHeader header = p.opening(fc_vi, RCtl::unsolicited_command);
    if (class_2)
      p.class_2(header);
    else
      p.receive(header, bytes);
    ASSERT_NE(reply, nullptr);
    EXPECT_EQ(reply->is_class_2(), class_2);
    EXPECT_EQ(reply->ox_id(), header.ox_id);
    EXPECT_TRUE(reply->has_initiative());
    wire::FcHeader again = header;  // an IU of the same exchange by the same SEQ_ID: it does not use the OX_ID anew
    again.r_ctl = RCtl::unsolicited_control;
    p.receive(again, bytes);
    EXPECT_TRUE(p.data_user.failures.empty());
    EXPECT_EQ(p.discarded(Discard::WrongSequence), 1U);
  }
}

// FC-FS: the first frame of an exchange's first sequence opens it, its originator's; nothing else does.
TEST(FrameSorting, iu_onlyAFirstFrameOpens) {
  struct Case {
    std::uint32_t f_ctl;
    wire::Sof sof;
    std::uint16_t seq_cnt;
    bool opens;
  };
  const Case cases[] = {{f_ctl::single_frame_request, wire::Sof::i3, 0, true},
                        {f_ctl::single_frame_request, wire::Sof::i3, 5, false},
                        {f_ctl::single_frame_request, wire::Sof::n3, 0, false},
                        {f_ctl::end_sequence | f_ctl::sequence_initiative, wire::Sof::i3, 0, false},
                        {f_ctl::single_frame_request | f_ctl::exchange_responder, wire::Sof::i3, 0, false}};
  for (const Case& c : cases) {
    Sorted p;
    wire::FcHeader header = p.opening(Type::ct, RCtl::unsolicited_control);
    header.f_ctl = c.f_ctl;
    header.seq_cnt = {c.seq_cnt};
    p.receive(header, bytes, c.sof);
    EXPECT_EQ(p.user.ius.size(), c.opens ? 1U : 0U);
    EXPECT_EQ(p.discarded(Discard::UnknownExchange), c.opens ? 0U : 1U);
    EXPECT_EQ(p.port.open_exchanges(), c.opens ? 1U : 0U);
  }
}

// On an out-of-order fabric any frame may be the first that comes; of an exchange that is open it does
// not begin another.
TEST(FrameSorting, outOfOrder_laterFrameOfOpenExchange_isNotANewOne) {
  Sorted p([](NPortConfig& config) { config.in_order_without_fabric = false; });
  wire::FcHeader header = p.opening(Type::ct, RCtl::unsolicited_control);
  p.receive(header, bytes);
  header.seq_id = {4};
  header.seq_cnt = {1};
  p.receive(header, bytes, wire::Sof::n3);
  EXPECT_TRUE(p.user.failures.empty());
  EXPECT_EQ(p.port.open_exchanges(), 1U);
  EXPECT_EQ(p.discarded(Discard::WrongSequence), 1U);
}

// FC-FS: an exchange has one TYPE. A frame of another is no part of it; but a first frame uses the OX_ID anew.
TEST(FrameSorting, iu_ofAnotherType_isAnotherExchange) {
  Sorted p;
  wire::FcHeader header = p.opening(Type::ct, RCtl::unsolicited_control);
  header.f_ctl = f_ctl::first_sequence;
  p.receive(header, bytes, wire::Sof::i3, wire::Eof::n);
  wire::FcHeader next = header;
  next.seq_cnt = {1};
  next.f_ctl = f_ctl::single_frame_request;
  next.type = Type::ip;
  p.receive(next, bytes, wire::Sof::n3);
  EXPECT_EQ(p.discarded(Discard::BadHeader), 1U);
  EXPECT_EQ(p.port.counters().discarded(), 1U);
  next.type = Type::ct;
  p.receive(next, bytes, wire::Sof::n3);
  ASSERT_EQ(p.user.ius.size(), 1U);
  EXPECT_EQ(p.user.ius[0].bytes.size(), 2 * bytes.size());
  header.type = Type::ip;
  header.seq_id = {9};
  header.f_ctl = f_ctl::single_frame_request;
  p.receive(header, bytes);
  EXPECT_EQ(p.user.failures, std::vector{ExchangeFailure::AbortedByPeer});
  EXPECT_EQ(p.user.ius.size(), 2U);
  EXPECT_EQ(p.discarded(Discard::BadHeader), 1U);
  EXPECT_EQ(p.port.open_exchanges(), 1U);
}

// FC-VI 5.6, 7.7.2: a connection needs a login, but with oneself. Who has none is told so by LOGO.
TEST(FrameSorting, fcViIu_withoutLogin_isDenied) {
  Sorted p;
  static_cast<void>(p.port.remote_port(other));  // known, not logged in
  std::uint64_t denied = 0;
  for (const wire::FcId from : {own, peer, other, wire::FcId{0x010401}}) {
    const std::size_t heard = p.data_user.ius.size();
    p.receive(p.opening(fc_vi, RCtl::unsolicited_control, from), bytes);
    const bool may = from == own || from == peer;
    if (!may) ++denied;
    EXPECT_EQ(p.data_user.ius.size() - heard, may ? 1U : 0U) << std::hex << from.value;
    EXPECT_EQ(p.discarded(Discard::NotLoggedIn), denied);
    EXPECT_EQ(p.sent(wire::els::Command::logo, from), may ? 0U : 1U);
  }
  EXPECT_EQ(p.port.counters().discarded(), denied);
}

// --- basic link services and link control

// FC-FS: NOP asks for nothing.
TEST(BasicLinkService, nop_isTakenSilently) {
  Sorted p;
  p.receive(p.opening(Type::bls, RCtl::nop));
  EXPECT_EQ(p.port.counters().discarded(), 0U);
  EXPECT_EQ(p.wire.log.size(), 0U);
}

/// An exchange of ours that is being aborted.
struct Abort final : ExchangeUser {
  void sequence_received(Exchange&, const wire::FcHeader&, std::span<const std::uint8_t>) override {}
  void exchange_failed(Exchange&, ExchangeFailure) override { ++failed; }
  void abort_finished() override { ++finished; }
  /// What answers it, by that R_CTL.
  wire::FcHeader begin(PortByHand& p, RCtl r_ctl) {
    Exchange* exchange = p.port.request(peer, RCtl::unsolicited_control, Type::ct, bytes, *this, second);
    const wire::OxId ox_id = exchange->ox_id();
    p.port.abort_and_report(*exchange, *this);
    p.run_for(microsecond);
    return {.r_ctl = r_ctl,
            .d_id = own,
            .s_id = peer,
            .type = Type::bls,
            .f_ctl = f_ctl::single_frame_reply,
            .ox_id = ox_id};
  }
  int finished = 0, failed = 0;
};

// FC-FS: BA_ACC and BA_RJT both end an abort, and whoever waits for it hears of it; another answer does not,
// and is counted.
TEST(BasicLinkService, aborting_isEndedByItsAnswersOnly) {
  for (const RCtl r_ctl : {RCtl::ba_acc, RCtl::ba_rjt, static_cast<RCtl>(0x82)}) {
    Sorted p;
    Abort abort;
    p.receive(abort.begin(p, r_ctl), std::array<std::uint8_t, 12>{});
    const bool answers = r_ctl != static_cast<RCtl>(0x82);
    EXPECT_EQ(abort.finished, answers ? 1 : 0);
    EXPECT_EQ(p.discarded(Discard::BadHeader), answers ? 0U : 1U);
    EXPECT_EQ(p.port.counters().discarded(), answers ? 0U : 1U);
    p.run_for(p.port.r_a_tov() - millisecond);
    EXPECT_EQ(p.wire.log.count(RCtl::abts), 1U);
    p.run_for(2 * millisecond);
    EXPECT_EQ(p.wire.log.count(RCtl::abts), answers ? 1U : 2U);
    EXPECT_EQ(abort.failed, 0);
  }
}

// A listener that goes away hears nothing; another does.
TEST(BasicLinkService, aborting_forgotten_isNotTold) {
  Sorted p;
  Abort stays, goes;
  const wire::FcHeader first = stays.begin(p, RCtl::ba_acc), second = goes.begin(p, RCtl::ba_acc);
  p.port.forget_abort(goes);
  p.receive(first, std::array<std::uint8_t, 12>{});
  p.receive(second, std::array<std::uint8_t, 12>{});
  EXPECT_EQ(stays.finished, 1);
  EXPECT_EQ(goes.finished, 0);
}

// FC-FS: ACKs, busies and rejects of what was never sent are counted.
TEST(LinkControl, ofNoExchange_isCounted) {
  for (const RCtl r_ctl : {RCtl::ack_1, RCtl::ack_0, RCtl::p_rjt, RCtl::f_rjt, RCtl::p_bsy, RCtl::f_bsy_data}) {
    Sorted p;
    p.receive(p.opening(Type::bls, r_ctl), {}, wire::Sof::n2);
    EXPECT_EQ(p.discarded(Discard::UnknownExchange), 1U);
    EXPECT_EQ(p.port.counters().discarded(), 1U);
  }
}

// --- ABTS (FC-FS 23.6.1.1)

struct Aborted : Sorted {
  explicit Aborted(const Adjust& adjust = {}) : Sorted(adjust) {}
  wire::FcHeader abts(wire::OxId ox_id, std::uint32_t f_ctl = f_ctl::end_sequence | f_ctl::sequence_initiative) const {
    return {.r_ctl = RCtl::abts,
            .d_id = own,
            .s_id = peer,
            .type = Type::bls,
            .f_ctl = f_ctl,
            .seq_id = {0x2C},
            .seq_cnt = {7},
            .ox_id = ox_id,
            .rx_id = {0x0BAD}};
  }
  /// A CT request by that OX_ID comes late.
  void ct(wire::OxId ox_id) {
    wire::FcHeader header = opening(Type::ct, RCtl::unsolicited_control);
    header.ox_id = ox_id;
    receive(header, bytes);
  }
};

// BA_ACC: to the sender, ids as they came, of the other context, the whole exchange (SEQ_CNT 0 to FFFFh).
TEST(Abts, ofUnknownExchange_isAcceptedField_byField) {
  struct Case {
    std::uint32_t f_ctl;
    std::uint32_t parameter;
    std::uint32_t answered;
  };
  for (const Case& c : {Case{0x090000, 0, 0x980000}, Case{0x890000, 0, 0x180000}, Case{0x890000, 0x800000, 0x180000},
                        Case{0x090001, 0x800000, 0x980000}}) {
    Aborted p;
    wire::FcHeader abts = p.abts({0x1234}, c.f_ctl);
    abts.parameter = c.parameter;
    p.receive(abts, std::array<std::uint8_t, 4>{});
    ASSERT_EQ(p.wire.log.size(), 1U);
    const LoggedFrame& answer = p.wire.log.frames()[0];
    const wire::FcHeader expected{.r_ctl = RCtl::ba_acc,
                                  .d_id = peer,
                                  .s_id = own,
                                  .type = Type::bls,
                                  .f_ctl = c.answered,
                                  .seq_id = {0x2C},
                                  .ox_id = {0x1234},
                                  .rx_id = {0x0BAD}};
    EXPECT_EQ(answer.header, expected) << answer.header.to_string();
    EXPECT_EQ(answer.data,
              support::bytes_of(wire::bls::BaAcc{.ox_id = {0x1234}, .rx_id = {0x0BAD}, .high_seq_cnt = {0xFFFF}}));
    EXPECT_EQ(answer.sof, wire::Sof::i3);
    EXPECT_EQ(answer.eof, wire::Eof::t);
  }
}

// Ours has a header and nothing else (FC-FS).
TEST(Abts, ours_isAHeader) {
  Aborted p;
  Abort abort;
  abort.begin(p, RCtl::ba_acc);
  const LoggedFrame* abts = p.wire.log.find([](const LoggedFrame& frame) { return frame.is(RCtl::abts); });
  ASSERT_NE(abts, nullptr);
  EXPECT_TRUE(abts->data.empty());
}

// What its originator aborted before it came does not come in for R_A_TOV; what only the FC-4 knew, or a
// responder aborts does.
TEST(Abts, ofUnknownExchange_keepsItOutForRaTov) {
  struct Case {
    std::uint32_t context;
    bool known_to_fc_4;
    bool asks_fc_4;
    bool kept_out;
  };
  for (const Case& c :
       {Case{0, false, true, true}, Case{0, true, true, false}, Case{f_ctl::exchange_responder, false, false, false}}) {
    Aborted p;
    p.data_user.knows_aborted = c.known_to_fc_4;
    p.receive(p.abts({0x77}, f_ctl::end_sequence | f_ctl::sequence_initiative | c.context));
    EXPECT_EQ(p.wire.log.count(RCtl::ba_acc), 1U);
    const std::pair<wire::FcId, wire::OxId> which{peer, wire::OxId{0x77}};
    EXPECT_EQ(p.data_user.aborts, c.asks_fc_4 ? std::vector{which} : decltype(p.data_user.aborts){});
    p.ct({0x77});
    EXPECT_EQ(p.discarded(Discard::AbortedExchange), c.kept_out ? 1U : 0U);
    EXPECT_EQ(p.user.ius.size(), c.kept_out ? 0U : 1U);
  }
}

// FC-FS: RRQ gives an aborted exchange free again. Of one that was not aborted it says nothing.
TEST(Abts, rrqOfOpenExchange_changesNothing) {
  Aborted p;
  p.ct({0x77});
  p.ask(support::bytes_of(wire::els::Rrq{.originator_s_id = peer, .ox_id = {0x77}}));
  EXPECT_EQ(p.sent(wire::els::Command::ls_acc, peer), 1U);
  EXPECT_TRUE(p.user.ius.at(0).exchange->has_initiative());
  EXPECT_TRUE(p.user.failures.empty());
}

// For R_A_TOV, to the nanosecond; and another time-out that a fabric tells later does not shorten it.
TEST(Abts, keptOut_untilRaTovIsOver) {
  PortByHand p;
  p.port.set_user(Type::ct, p.user);
  p.without_fabric();
  const auto late = [&](std::uint16_t ox_id) {
    wire::FcHeader header = p.opening(Type::ct, RCtl::unsolicited_control);
    header.ox_id = {ox_id};
    p.receive(header, bytes);
  };
  const auto abts = [&](std::uint16_t ox_id) {
    p.receive({.r_ctl = RCtl::abts, .d_id = own, .s_id = peer, .type = Type::bls, .ox_id = {ox_id}});
  };
  abts(1);
  const TimeNs end = p.scheduler.now() - microsecond + p.port.r_a_tov();
  p.port.link_down();
  p.link_up();
  wire::els::Login accept = p.fabric_login();
  accept.set_r_a_tov_ms(100'000);
  p.answer(wire::els::Command::flogi, support::bytes_of(accept), own);
  ASSERT_EQ(p.port.r_a_tov(), 100 * second);
  abts(2);
  p.scheduler.run_until(end - 1);
  late(1);
  EXPECT_EQ(p.discarded(Discard::AbortedExchange), 1U);
  late(1);
  EXPECT_EQ(p.user.ius.size(), 1U);
  late(2);
  EXPECT_EQ(p.discarded(Discard::AbortedExchange), 2U);
}

}  // namespace
}  // namespace fc2
