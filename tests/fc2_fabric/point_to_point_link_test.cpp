// The far end of an N_Port's link is an N_Port: who assigns the addresses, what of a fabric is over (FC-VI
// 7.7.2, FC-LS FLOGI).
#include <gtest/gtest.h>

#include "tests/support/port_by_hand.hpp"
#include "wire/els/ls_rjt.hpp"

namespace fc2 {
namespace {
using support::bytes_of;
using support::PortByHand;
using wire::RCtl;
using wire::Type;
using wire::els::Command;
constexpr wire::FcId own = PortByHand::own, peer = PortByHand::peer;

bool stands(PortByHand& p, wire::FcId id = peer) { return p.port.remote_port(id).logged_in(); }

constexpr wire::FcId higher_id{0x010102}, lower_id{0x010101};
enum class Meeting { WeAreHigher, WeAreLower, OnlyTheirsCame };
constexpr Meeting meetings[] = {Meeting::WeAreHigher, Meeting::WeAreLower, Meeting::OnlyTheirsCame};

/// As far as being online; who assigned it has the other address.
void meet(PortByHand& p, Meeting meeting) {
  switch (meeting) {
    case Meeting::WeAreHigher: return p.meet_n_port(-1);
    case Meeting::WeAreLower: p.meet_n_port(+1); break;
    case Meeting::OnlyTheirsCame: p.link_up(), p.flogi_comes(); break;
  }
  EXPECT_FALSE(p.port.online());
  p.plogi_comes(higher_id, lower_id);
}

// FC-LS: the higher name assigns both addresses by its PLOGI. FLOGI is over with that, answered or not; time-outs
// are our own.
TEST(PointToPointLink, met_isOnlineWithoutFabric) {
  for (const Meeting meeting : meetings) {
    PortByHand p;
    p.link_up();
    wire::els::Login accept = p.fabric_login();
    accept.set_r_a_tov_ms(3000);
    accept.e_d_tov = 500;
    p.answer(Command::flogi, bytes_of(accept), own);
    ASSERT_EQ(p.port.r_a_tov(), 3 * second);
    p.port.link_down();
    p.wire.log.clear();
    meet(p, meeting);
    const bool higher = meeting == Meeting::WeAreHigher;
    EXPECT_TRUE(p.port.online());
    EXPECT_TRUE(p.port.is_point_to_point());
    EXPECT_FALSE(p.port.has_fabric());
    EXPECT_EQ(p.port.n_port_id(), higher ? higher_id : lower_id);
    EXPECT_EQ(p.port.r_a_tov(), 10 * second);
    EXPECT_EQ(p.port.e_d_tov(), 2 * second);
    p.run_for(microsecond);
    EXPECT_EQ(p.sent(Command::plogi), higher ? 1U : 0U);
    EXPECT_EQ(p.sent(Command::flogi), 1U);
    if (!higher) p.run_for(100 * second);
    EXPECT_EQ(p.sent(Command::flogi), 1U);
    EXPECT_TRUE(p.port.online());
  }
}

// FC-VI 7.7.2: a port that had a fabric before the link went finds an N_Port there: its logins are over.
TEST(PointToPointLink, met_afterAFabric_logsOut) {
  for (const Meeting meeting : meetings) {
    PortByHand p;
    p.on_fabric();
    p.log_in();
    p.port.link_interrupted();
    meet(p, meeting);
    EXPECT_TRUE(p.port.online());
    EXPECT_FALSE(stands(p));
    EXPECT_EQ(p.listener.events, meeting == Meeting::WeAreHigher ? "FIOF" : "FIOFI");
  }
}

// No fabric is needed then: a FLOGI that was not answered has not failed.
TEST(PointToPointLink, met_noFailureIsTold) {
  for (const Meeting meeting : meetings) {
    PortByHand p;
    meet(p, meeting);
    EXPECT_EQ(p.listener.events, meeting == Meeting::WeAreHigher ? "F" : "FI");
  }
}

// A FLOGI that did fail was told; when an N_Port is there all the same, no more of it is.
TEST(PointToPointLink, met_afterAFailure_noOtherIsTold) {
  PortByHand p;
  p.link_up();
  p.run_for(100 * second);
  ASSERT_EQ(p.listener.events, "f");
  p.flogi_comes();
  p.plogi_comes(higher_id, lower_id);
  p.run_for(100 * second);
  EXPECT_EQ(p.listener.events, "fFI");
}

// The link goes, and comes back to nobody: that FLOGI fails, and is told.
TEST(PointToPointLink, met_linkWent_nextFailureIsTold) {
  PortByHand p;
  meet(p, Meeting::OnlyTheirsCame);
  p.port.link_down();
  p.link_up();
  p.run_for(100 * second);
  EXPECT_EQ(p.listener.events, "FIOf");
}

// Of one name: nobody assigns.
TEST(PointToPointLink, met_ofTheSameName_isNotOnline) {
  PortByHand p;
  p.meet_n_port(0);
  EXPECT_FALSE(p.port.online());
  EXPECT_EQ(p.listener.events, "f");
  EXPECT_TRUE(p.port.is_point_to_point());
}

// FC-LS: who asks by FLOGI again has forgotten its login. It is answered from FFFFFEh, and its BB_Credit counts; the
// higher name asks for the login anew, the lower one waits.
TEST(PointToPointLink, flogiAgain_beginsTheLoginAnew) {
  for (const Meeting meeting : {Meeting::WeAreHigher, Meeting::WeAreLower}) {
    PortByHand p;
    meet(p, meeting);
    const bool higher = meeting == Meeting::WeAreHigher;
    const wire::FcId them = higher ? lower_id : higher_id;
    if (higher) p.log_in(them);
    ASSERT_TRUE(stands(p, them));
    p.wire.log.clear();
    p.wire.told.clear();
    p.flogi_comes(29);
    EXPECT_EQ(p.listener.events, "FIO");
    ASSERT_GE(p.wire.log.size(), 1U);
    EXPECT_TRUE(p.wire.log.frames()[0].is_els(Command::ls_acc));
    EXPECT_EQ(p.wire.log.frames()[0].header.s_id, wire::well_known::f_port);
    EXPECT_EQ(p.wire.told, std::vector<std::uint16_t>{29});
    EXPECT_EQ(p.sent(Command::plogi, them), higher ? 1U : 0U);
  }
}

// ... and if its PLOGI is out already, it goes again at once, with all its tries: the last one was to a port that has
// forgotten it, or that never got it.
TEST(PointToPointLink, flogiAgain_plogiIsOut_goesAgainAtOnce) {
  for (const int retries : {0, 3}) {
    PortByHand p([&](NPortConfig& config) { config.login_retries = retries; });
    const auto tries = static_cast<std::size_t>(retries) + 1;
    p.meet_n_port(-1);
    p.run_for(retries == 0 ? second : 30 * second);
    ASSERT_EQ(p.sent(Command::plogi), tries);
    p.flogi_comes();
    EXPECT_EQ(p.sent(Command::plogi), tries + 1);
    p.run_for(100 * second);
    EXPECT_EQ(p.sent(Command::plogi), 2 * tries);
    p.flogi_comes();
    EXPECT_EQ(p.sent(Command::plogi), 2 * tries + 1);
    p.answer(Command::plogi, bytes_of(p.login_of(lower_id)), higher_id);
    EXPECT_TRUE(stands(p, lower_id));
  }
}

// ... or waits for its retry, after LS_RJT "busy": that retry is due.
TEST(PointToPointLink, flogiAgain_plogiWaitsToRetry_goesAtOnce) {
  PortByHand p;
  p.meet_n_port(-1);
  p.run_for(second);
  const wire::els::LsRjt busy{.reason = wire::els::RejectReason::logical_busy};
  p.answer(Command::plogi, bytes_of(busy), higher_id);
  ASSERT_EQ(p.sent(Command::plogi), 1U);
  p.flogi_comes();
  EXPECT_EQ(p.sent(Command::plogi), 2U);
  p.run_for(100 * second);
  EXPECT_EQ(p.sent(Command::plogi), 5U);
}

// VN2VN: FIP keeps the link; a FLOGI between N_Ports is answered and changes nothing, whatever their addresses.
TEST(PointToPointLink, withoutFabric_flogi_changesNothing) {
  PortByHand p;
  p.without_fabric(higher_id);
  p.log_in(lower_id);
  p.wire.told.clear();
  p.receive(p.opening(Type::els, RCtl::els_request, lower_id), bytes_of(p.login_of(lower_id, Command::flogi)));
  EXPECT_TRUE(stands(p, lower_id));
  EXPECT_EQ(p.sent(Command::ls_acc, lower_id), 1U);
  EXPECT_EQ(p.sent(Command::plogi), 1U);
  EXPECT_TRUE(p.wire.told.empty());
  EXPECT_EQ(p.listener.events, "FI");
}

// A FLOGI says that the far end of this link is an N_Port: the next one may have a fabric, and no PLOGI
// assigns an address.
TEST(PointToPointLink, flogiCame_linkWent_isForgotten) {
  PortByHand p;
  p.flogi_comes();  // of no link
  p.link_up();
  p.flogi_comes();
  p.port.link_down();
  p.link_up();
  p.plogi_comes(higher_id, lower_id);
  EXPECT_FALSE(p.port.online());
  EXPECT_EQ(p.discarded(Discard::WrongAddress), 1U);
}

// FC-LS: the lower name's address comes with the other's PLOGI. None comes for 2 x R_A_TOV: FLOGI again, by which the
// other one learns that its login is to begin anew. So often as need be; its PLOGI ends it.
TEST(PointToPointLink, waiting_noPlogiComes_flogiAgain) {
  PortByHand p;
  p.meet_n_port(+1);
  for (std::size_t asked = 1; asked < 4; ++asked) {
    p.run_for(20 * second - 2 * microsecond);
    EXPECT_EQ(p.sent(Command::flogi), asked);
    p.run_for(microsecond);
    EXPECT_EQ(p.sent(Command::flogi), asked + 1);
    EXPECT_FALSE(p.port.is_point_to_point());
    p.answer(Command::flogi, bytes_of(p.n_port_login(+1)), {});
    EXPECT_TRUE(p.port.is_point_to_point());
  }
  p.plogi_comes(higher_id, lower_id);
  EXPECT_TRUE(p.port.online());
  EXPECT_EQ(p.port.n_port_id(), lower_id);
  p.run_for(100 * second);
  EXPECT_EQ(p.sent(Command::flogi), 4U);
  EXPECT_EQ(p.listener.events, "FI");
}

// The PLOGI may come all the same while that FLOGI is out, answered or not: it is what was waited for.
TEST(PointToPointLink, waiting_flogiAgain_plogiStillCounts) {
  for (const bool after_a_fabric : {false, true}) {
    PortByHand p;
    if (after_a_fabric) {
      p.link_up();
      wire::els::Login accept = p.fabric_login();
      accept.set_r_a_tov_ms(60'000);
      p.answer(Command::flogi, bytes_of(accept), own);
      p.port.link_interrupted();
    }
    p.meet_n_port(+1);
    const std::size_t asked = p.sent(Command::flogi);
    p.run_for(28 * second);
    EXPECT_EQ(p.sent(Command::flogi), asked + 2);  // at 20 s and 24 s, both unanswered
    p.plogi_comes(higher_id, lower_id);
    EXPECT_TRUE(p.port.online());
    EXPECT_TRUE(p.port.is_point_to_point());
    EXPECT_EQ(p.port.n_port_id(), lower_id);
    EXPECT_TRUE(stands(p, higher_id));
    p.run_for(200 * second);
    EXPECT_EQ(p.sent(Command::flogi), asked + 2);
    EXPECT_EQ(p.listener.events, after_a_fabric ? "FFI" : "FI");
  }
}

// That FLOGI finds nobody any more: told, as that of any other begin; and asked for again.
TEST(PointToPointLink, waiting_flogiAgainFails_isTold) {
  PortByHand p;
  p.meet_n_port(+1);
  p.run_for(67 * second);
  EXPECT_EQ(p.listener.events, "");
  p.run_for(200 * second);
  EXPECT_EQ(p.listener.events, "f");
  EXPECT_GT(p.sent(Command::flogi), 5U);
}

// ... and what answers the FLOGI then may be a fabric, or a port of another name.
TEST(PointToPointLink, waiting_flogiAgain_findsAnother) {
  PortByHand fabric;
  fabric.meet_n_port(+1);
  fabric.run_for(20 * second);
  fabric.answer(Command::flogi, bytes_of(fabric.fabric_login()), own);
  EXPECT_TRUE(fabric.port.online());
  EXPECT_TRUE(fabric.port.has_fabric());
  PortByHand port;
  port.meet_n_port(+1);
  port.run_for(20 * second);
  port.answer(Command::flogi, bytes_of(port.n_port_login(-1)), {});
  EXPECT_EQ(port.port.n_port_id(), higher_id);
  EXPECT_EQ(port.sent(Command::plogi), 1U);
}

// Only the other's FLOGI came: ours goes on as it would, through all its tries, and what becomes of it is told.
TEST(PointToPointLink, waiting_ownFlogiUnanswered_goesOnAndIsTold) {
  PortByHand p;
  p.link_up();
  p.run_for(5 * second);
  p.flogi_comes();
  p.run_for(42 * second);
  EXPECT_EQ(p.sent(Command::flogi), 4U);  // at 0, 4 s, 12 s, 28 s
  EXPECT_EQ(p.listener.events, "");
  p.run_for(2 * second);
  EXPECT_EQ(p.listener.events, "f");
  p.run_for(10 * second);
  EXPECT_EQ(p.sent(Command::flogi), 5U);
  p.answer(Command::flogi, bytes_of(p.n_port_login(-1)), {});
  EXPECT_EQ(p.port.n_port_id(), higher_id);
  EXPECT_EQ(p.listener.events, "fF");
}

// After an interruption it is the same; a new address means that mappings are invalid, and R_A_TOV ends the logins.
TEST(PointToPointLink, waiting_afterAFabric_flogiAgain) {
  PortByHand p;
  p.link_up();
  wire::els::Login accept = p.fabric_login();
  accept.set_r_a_tov_ms(60'000);
  p.answer(Command::flogi, bytes_of(accept), own);
  p.log_in();
  p.port.link_interrupted();
  p.meet_n_port(+1);
  p.run_for(20 * second);  // of our own R_A_TOV; the interruption lasts the fabric's
  EXPECT_EQ(p.sent(Command::flogi), 3U);
  EXPECT_TRUE(stands(p) || p.port.remote_port(peer).suspended());
  p.answer(Command::flogi, bytes_of(p.n_port_login(+1)), {});
  p.plogi_comes(higher_id, lower_id);
  EXPECT_EQ(p.listener.events, "FIOFI");
  EXPECT_FALSE(stands(p));
  EXPECT_EQ(p.port.n_port_id(), lower_id);
}

// Two ports of one name: nobody assigns an address, and nobody asks for ever.
TEST(PointToPointLink, waiting_ofTheSameName_isNotAskedAgain) {
  PortByHand p;
  p.link_up();
  p.flogi_comes();
  p.answer(Command::flogi, bytes_of(p.n_port_login(0)), {});
  p.run_for(100 * second);
  EXPECT_EQ(p.sent(Command::flogi), 1U);
  EXPECT_EQ(p.listener.events, "f");
}

// The link goes while the address is waited for: of that wait nothing is left.
TEST(PointToPointLink, waiting_linkGoes_noFlogiComesOfIt) {
  for (const bool for_good : {true, false}) {
    PortByHand p;
    p.meet_n_port(+1);
    for_good ? p.port.link_down() : p.port.link_interrupted();
    p.run_for(100 * second);
    EXPECT_EQ(p.sent(Command::flogi), 1U);
  }
}

// The lower name waits for its PLOGI, and the link goes: none is taken before there is a link again.
TEST(PointToPointLink, waiting_linkGoes_noPlogiIsTaken) {
  PortByHand p;
  p.on_fabric();
  p.port.link_interrupted();
  p.meet_n_port(+1);
  p.port.link_interrupted();
  p.plogi_comes(higher_id, lower_id);
  EXPECT_FALSE(p.port.online());
  EXPECT_EQ(p.discarded(Discard::WrongAddress), 1U);
}

}  // namespace
}  // namespace fc2
