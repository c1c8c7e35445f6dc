// The walk over the N_Ports of one host (FC-VI 7.6): who is asked next, and what the call says when all were.
#include <gtest/gtest.h>

#include "fcvi/port_walk.hpp"

namespace fcvi {
namespace {
using vi::Return;
constexpr wire::FcId a{0x010100}, b{0x010200}, c{0x010300};
const std::vector<wire::FcId> nobody, only_a{a}, both{a, b}, all{a, b, c};

// An address without ports: not reachable, and nobody is current.
TEST(PortWalk, begin_noPorts_isNotReachable) {
  PortWalk walk;
  EXPECT_EQ(walk.next(nobody), std::nullopt);
  EXPECT_EQ(walk.outcome(), Return::NotReachable);
  EXPECT_EQ(walk.current(), wire::FcId{});
  EXPECT_FALSE(walk.others_wait());
}

// Each port once, in the order of the resolution; then nobody, and the last one stays current.
TEST(PortWalk, asked_next_isEachPortOnce) {
  PortWalk walk;
  for (const wire::FcId port : all) {
    EXPECT_EQ(walk.next(all), port);
    EXPECT_EQ(walk.current(), port);
    EXPECT_EQ(walk.others_wait(), port != c);
  }
  EXPECT_EQ(walk.next(all), std::nullopt);
  EXPECT_EQ(walk.outcome(), Return::NotReachable);
  EXPECT_EQ(walk.current(), c);
}

// A port is being asked from its choice on until the next one is to be chosen, for whatever reason; who it was stays
// known.
TEST(PortWalk, asking_untilTheNextIsToBeChosen) {
  PortWalk walk;
  EXPECT_FALSE(walk.is_asking());
  walk.next(both);
  EXPECT_TRUE(walk.is_asking());
  walk.leave();
  EXPECT_FALSE(walk.is_asking());
  EXPECT_EQ(walk.current(), a);
  EXPECT_EQ(walk.next(both), b);
  EXPECT_TRUE(walk.is_asking());
  walk.ask_again(true);
  EXPECT_FALSE(walk.is_asking()) << "its address is resolved before";
  EXPECT_EQ(walk.next(both), b);
  EXPECT_FALSE(walk.continued().is_asking());
  EXPECT_EQ(walk.next(both), std::nullopt);
  EXPECT_FALSE(walk.is_asking());
}

// Ports go and come: one that appears before those that were asked is asked, one that is gone is not.
TEST(PortWalk, asked_otherPortsResolved_asksThoseOnly) {
  PortWalk walk;
  EXPECT_EQ(walk.next(std::vector{b, c}), b);
  EXPECT_EQ(walk.next(both), a);
  EXPECT_FALSE(walk.others_wait());
  EXPECT_EQ(walk.next(both), std::nullopt);
}

// Others wait only as the last resolution says: none once it names nobody new.
TEST(PortWalk, othersWait_allGone_doNot) {
  PortWalk walk;
  walk.next(all);
  EXPECT_TRUE(walk.others_wait());
  EXPECT_EQ(walk.next(only_a), std::nullopt);
  EXPECT_FALSE(walk.others_wait());
}

// A login that is late: that port is asked once more, after all others.
TEST(PortWalk, late_othersAsked_isAskedOnceMore) {
  PortWalk walk;
  walk.next(all);
  walk.login_is_late();
  EXPECT_EQ(walk.next(all), b);
  EXPECT_EQ(walk.next(all), c);
  EXPECT_TRUE(walk.others_wait()) << "a, once more";
  EXPECT_EQ(walk.next(all), a);
  EXPECT_FALSE(walk.others_wait());
  EXPECT_EQ(walk.next(all), std::nullopt);
}

// Several are late: all of them once more, in order; and again as long as others wait for their turn.
TEST(PortWalk, late_severalTimes_takeTurns) {
  PortWalk walk;
  walk.next(both);
  walk.login_is_late();
  walk.next(both);
  walk.login_is_late();
  EXPECT_EQ(walk.next(both), a);
  EXPECT_TRUE(walk.others_wait());
  walk.login_is_late();
  EXPECT_EQ(walk.next(both), b);
  EXPECT_TRUE(walk.others_wait());
  EXPECT_EQ(walk.next(both), a);
  EXPECT_EQ(walk.next(both), std::nullopt);
}

// A late port that is gone when its turn comes is not asked.
TEST(PortWalk, late_gone_isNotAsked) {
  PortWalk walk;
  walk.next(both);
  walk.login_is_late();
  EXPECT_EQ(walk.next(std::vector{b}), b);
  EXPECT_EQ(walk.next(std::vector{b}), std::nullopt);
  EXPECT_EQ(walk.next(only_a), a) << "it came back";
}

// No match at one port: another may match while one waits, late ones too; the outcome is no match in any case.
TEST(PortWalk, noMatch_anotherMayMatch_whileOneWaits) {
  PortWalk walk;
  walk.next(both);
  EXPECT_FALSE(walk.another_may_match()) << "no answer yet";
  walk.resp1_received(true);
  EXPECT_TRUE(walk.another_may_match());
  walk.next(both);
  EXPECT_FALSE(walk.another_may_match()) << "no answer of b";
  walk.resp1_received(true);
  EXPECT_FALSE(walk.another_may_match()) << "it is the last";
  EXPECT_EQ(walk.outcome(), Return::NoMatch);
}

TEST(PortWalk, noMatch_anotherIsLate_mayMatch) {
  PortWalk walk;
  walk.next(both);
  walk.login_is_late();
  walk.next(both);
  walk.resp1_received(true);
  EXPECT_TRUE(walk.another_may_match());
}

// FC-VI 8.5.4: the retry's RESP1 counts, not that of the first try.
TEST(PortWalk, noMatch_retryAnsweredOtherwise_isForgotten) {
  PortWalk walk;
  walk.next(both);
  walk.resp1_received(true);
  walk.resp1_received(false);
  EXPECT_FALSE(walk.another_may_match());
  EXPECT_EQ(walk.outcome(), Return::NotReachable);
}

// A login that ended is renewed: the same port is asked again if it is still there, before those behind it.
TEST(PortWalk, askedAgain_stillThere_isNext) {
  PortWalk walk;
  walk.next(both);
  walk.ask_again(true);
  EXPECT_EQ(walk.current(), a);
  EXPECT_TRUE(walk.renewed());
  EXPECT_EQ(walk.next(both), a);
  EXPECT_TRUE(walk.renewed()) << "once per port";
  EXPECT_EQ(walk.next(both), b);
  EXPECT_FALSE(walk.renewed());
}

TEST(PortWalk, askedAgain_gone_isNot) {
  PortWalk walk;
  walk.next(both);
  walk.ask_again(true);
  EXPECT_EQ(walk.next(std::vector{b}), b);
  EXPECT_FALSE(walk.renewed());
}

// The peer's own PLOGI renewed the login: that does not use up our one renewal, nor give it back.
TEST(PortWalk, askedAgain_renewedByPeer_isNotOurs) {
  PortWalk walk;
  walk.next(only_a);
  walk.ask_again(false);
  EXPECT_FALSE(walk.renewed());
  EXPECT_EQ(walk.next(only_a), a);
  walk.ask_again(true);
  walk.ask_again(false);
  EXPECT_TRUE(walk.renewed());
}

// What a port told with its login is asked for anew once, of each port.
TEST(PortWalk, parameters_askedAnew_oncePerPort) {
  PortWalk walk;
  walk.next(both);
  EXPECT_TRUE(walk.ask_parameters_anew());
  EXPECT_FALSE(walk.ask_parameters_anew());
  walk.next(both);
  EXPECT_TRUE(walk.ask_parameters_anew());
  EXPECT_FALSE(walk.ask_parameters_anew());
}

// The next set-up of the call: knows whom the first asked, what they said and who was late, but not their logins.
TEST(PortWalk, continued_knowsTheAskedAndTheLate) {
  PortWalk first;
  first.next(all);
  first.login_is_late();
  first.next(all);
  first.ask_again(true);
  first.next(all);
  first.resp1_received(true);
  PortWalk walk = first.continued();
  EXPECT_EQ(walk.current(), wire::FcId{});
  EXPECT_FALSE(walk.renewed());
  EXPECT_FALSE(walk.another_may_match());
  EXPECT_EQ(first.current(), b) << "whose exchange goes on";
  EXPECT_EQ(walk.outcome(), Return::NoMatch);
  EXPECT_EQ(walk.next(all), c);
  EXPECT_TRUE(walk.others_wait()) << "a, late";
  EXPECT_EQ(walk.next(all), a);
  EXPECT_EQ(walk.next(all), std::nullopt);
  EXPECT_EQ(walk.outcome(), Return::NoMatch);
}

}  // namespace
}  // namespace fcvi
