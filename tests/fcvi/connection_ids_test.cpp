// FCVI_CONNECTION_IDs: unique, resting after a failure (FC-VI 5.3.2, 5.9.10, 8.5.3 b, C.2).
#include "fcvi/connection_ids.hpp"

#include <gtest/gtest.h>

#include "tests/support/times.hpp"

namespace {
using fcvi::ConnectionIds;
using support::r_a_tov;
using Originator = ConnectionIds::Originator;
constexpr wire::FcId peer{0x010200}, other{0x010300};
constexpr wire::FcviHandle endpoint{7}, nobody = wire::FcviHandle::unassigned;
constexpr runtime::TimeNs start = runtime::second;

// Ruling 5: 0 stands for a connection, FFFFFFFFh for none: neither is an id.
TEST(ConnectionIds, wrap_leavesOutTheSpecialOnes) {
  ConnectionIds ids(0xFFFFFFFE);
  EXPECT_EQ(ids.open(start).value, 0xFFFFFFFEu);
  EXPECT_EQ(ids.open(start).value, 1u);
}

// FC-VI 5.3.2, 5.9.10: after 2^32 set-ups the ids of those that are still open are left out.
TEST(ConnectionIds, wrap_leavesOutOpenOnes) {
  ConnectionIds ids(0xFFFFFFFC);
  ids.begin_at(1);
  const auto first = ids.open(start), second = ids.open(start), third = ids.open(start);
  ids.close(second);
  ids.begin_at(0xFFFFFFFD);
  EXPECT_EQ(ids.open(start).value, 0xFFFFFFFDu);
  EXPECT_EQ(ids.open(start).value, 0xFFFFFFFEu);
  EXPECT_EQ(ids.open(start), second) << "FFFFFFFFh and 0 are none; the first is open";
  EXPECT_EQ(ids.open(start).value, third.value + 1) << "so is the third";
  ids.close(first);
  EXPECT_EQ(ids.open(start).value, third.value + 2) << "its turn comes with the next round";
}

// FC-VI 8.5.3 b), C.2 rule 1 b): one that failed is not used again before the Disconnect is over and
// R_A_TOV has elapsed.
TEST(ConnectionIds, failed_restsForBoth) {
  ConnectionIds ids(0xFFFFFFFE);
  const auto failed = ids.open(start);
  const ConnectionIds::Id id{Originator::Us, failed, peer};
  ids.set_error(id, endpoint, start, r_a_tov);
  EXPECT_TRUE(ids.in_error(id, start + 100 * r_a_tov));
  ids.disconnected(endpoint);
  EXPECT_TRUE(ids.in_error(id, start + r_a_tov - 1));
  EXPECT_FALSE(ids.in_error(id, start + r_a_tov));
}

// ... for R_A_TOV where there is no endpoint that owes a Disconnect.
TEST(ConnectionIds, failedWithoutEndpoint_restsForR_A_TOV) {
  ConnectionIds ids(1);
  const ConnectionIds::Id id{Originator::Peer, {5}, peer};
  ids.set_error(id, nobody, start, r_a_tov);
  EXPECT_TRUE(ids.in_error(id, start + r_a_tov - 1));
  EXPECT_FALSE(ids.in_error(id, start + r_a_tov));
  EXPECT_FALSE(ids.in_error({Originator::Peer, {5}, other}, start));
  EXPECT_FALSE(ids.in_error({Originator::Us, {5}, peer}, start));
}

// ... with each peer by itself: that it rested with one, long ago, does not free it.
TEST(ConnectionIds, failedWithTwoPeers_restsWithEach) {
  ConnectionIds ids(5);
  ids.set_error({Originator::Us, {5}, peer}, nobody, start, r_a_tov);
  ids.set_error({Originator::Us, {5}, other}, nobody, start + 2 * r_a_tov, r_a_tov);
  EXPECT_EQ(ids.open(start + 2 * r_a_tov + 1).value, 6u);
}

// ... and is skipped meanwhile when its turn comes.
TEST(ConnectionIds, failed_isSkipped) {
  ConnectionIds ids(1);
  ids.set_error({Originator::Us, {2}, peer}, nobody, start, r_a_tov);
  ids.set_error({Originator::Peer, {3}, peer}, nobody, start, r_a_tov);  // a peer's: no concern of ours
  EXPECT_EQ(ids.open(start).value, 1u);
  EXPECT_EQ(ids.open(start).value, 3u);
  ConnectionIds later(2);
  later.set_error({Originator::Us, {2}, peer}, nobody, start, r_a_tov);
  EXPECT_EQ(later.open(start + r_a_tov).value, 2u);
}

// FC-VI C.2 rule 1 c), 8.5.3 c): a logout clears what concerns that port.
TEST(ConnectionIds, logout_clears) {
  ConnectionIds ids(1);
  ids.set_error({Originator::Us, {1}, peer}, endpoint, start, r_a_tov);
  ids.set_error({Originator::Peer, {1}, peer}, endpoint, start, r_a_tov);
  ids.set_error({Originator::Us, {2}, other}, endpoint, start, r_a_tov);
  ids.logged_out(peer);
  EXPECT_EQ(ids.resting(start), 1u);
  EXPECT_EQ(ids.open(start).value, 1u);
}

// A peer that fails set-ups without end: what is remembered of them stays bounded, and goes with time.
TEST(ConnectionIds, hostilePeer_isBounded) {
  ConnectionIds ids(1);
  for (std::uint32_t i = 0; i < 100'000; ++i) ids.set_error({Originator::Peer, {i}, peer}, nobody, start, r_a_tov);
  EXPECT_LE(ids.resting(start), 4096u);
  EXPECT_EQ(ids.resting(start + r_a_tov), 0u);
  for (std::uint32_t i = 0; i < 200'000; ++i)
    ids.set_error({Originator::Peer, {i}, other}, nobody, start + (i + 1) * r_a_tov, r_a_tov);
  EXPECT_EQ(ids.resting(start + 200'000 * r_a_tov), 1u);
}

// FC-VI C.2 rule 1: nor does it take the room of others: half is the most that one peer gets; that its set-ups still
// owe a Disconnect keeps nobody from being remembered, nor itself once they do not.
TEST(ConnectionIds, hostilePeer_leavesRoomForOthers) {
  for (const wire::FcviHandle owing : {nobody, endpoint}) {
    ConnectionIds ids(1);
    for (std::uint32_t i = 0; i < 100'000; ++i) ids.set_error({Originator::Peer, {i}, peer}, owing, start, r_a_tov);
    EXPECT_EQ(ids.resting(start), 2048u);
    ids.set_error({Originator::Peer, {7}, other}, nobody, start, r_a_tov);
    EXPECT_TRUE(ids.in_error({Originator::Peer, {7}, other}, start));
    ids.disconnected(endpoint);
    ids.set_error({Originator::Peer, {100'000}, peer}, nobody, start + r_a_tov, r_a_tov);
    EXPECT_TRUE(ids.in_error({Originator::Peer, {100'000}, peer}, start + r_a_tov));
    ids.logged_out(peer);
    EXPECT_EQ(ids.resting(start), 0u);
    ids.set_error({Originator::Peer, {8}, peer}, nobody, start, r_a_tov);
    EXPECT_TRUE(ids.in_error({Originator::Peer, {8}, peer}, start));
  }
}

// --- what is remembered ------------------------------------------------------------------------------------------

constexpr std::uint32_t most = 4096, most_of_one = most / 2;
constexpr wire::FcviHandle another{8};

/// `count` errors more of set-ups that `who` originated, with ids of their own.
void add(ConnectionIds& ids, Originator who, wire::FcId with, std::uint32_t count, wire::FcviHandle owing,
         runtime::TimeNs at) {
  static std::uint32_t next = 0x10000;
  for (std::uint32_t i = 0; i < count; ++i) ids.set_error({who, {next++}, with}, owing, at, r_a_tov);
}
/// Those that rest no more included: at a time before all ends.
std::size_t remembered(const ConnectionIds& ids) { return ids.resting(0); }
bool takes_one_more(ConnectionIds& ids, wire::FcId of, runtime::TimeNs at) {
  const ConnectionIds::Id id{Originator::Peer, {5}, of};
  ids.set_error(id, nobody, at, r_a_tov);
  return ids.in_error(id, at);
}

// FC-VI C.2 rule 1: what rests no more is forgotten when there are 64 of them, or twice what rested then: not one by
// one, and never later.
TEST(ConnectionIds, over_areForgottenInBulk) {
  ConnectionIds ids(1);
  add(ids, Originator::Us, peer, 64, nobody, start);
  EXPECT_EQ(remembered(ids), 64u);
  add(ids, Originator::Us, peer, 1, nobody, start + r_a_tov);
  EXPECT_EQ(remembered(ids), 1u);
  add(ids, Originator::Us, peer, 63, nobody, start + r_a_tov);
  add(ids, Originator::Us, peer, 40, nobody, start + 2 * r_a_tov);
  EXPECT_EQ(remembered(ids), 40u);
  add(ids, Originator::Us, peer, 24, nobody, start + 2 * r_a_tov);
  EXPECT_EQ(remembered(ids), 64u);
  add(ids, Originator::Us, peer, 1, nobody, start + 3 * r_a_tov - 1);  // all rest: 128 are the next bound
  add(ids, Originator::Us, peer, 63, nobody, start + 3 * r_a_tov);
  EXPECT_EQ(remembered(ids), 128u);
  add(ids, Originator::Us, peer, 1, nobody, start + 4 * r_a_tov - 1);
  EXPECT_EQ(remembered(ids), 64u);
}
TEST(ConnectionIds, fewOver_areNotForgottenYet) {  // C.2 rule 1
  ConnectionIds ids(1);
  add(ids, Originator::Us, peer, 64, nobody, start);
  add(ids, Originator::Us, peer, 1, nobody, start + r_a_tov);
  add(ids, Originator::Us, peer, 62, nobody, start + r_a_tov);
  add(ids, Originator::Us, peer, 1, nobody, start + 2 * r_a_tov);
  EXPECT_EQ(remembered(ids), 64u);
  add(ids, Originator::Us, peer, 1, nobody, start + 2 * r_a_tov);
  EXPECT_EQ(remembered(ids), 2u);
}

// Half of what is remembered is one peer's at most, however many of ours there are, with that peer or others; all of
// them at most the whole.
TEST(ConnectionIds, full_countsThePeersOwn) {
  ConnectionIds ids(1);
  add(ids, Originator::Us, other, 2048, nobody, start);
  add(ids, Originator::Us, peer, 1500, nobody, start);
  ids.logged_out(other);
  EXPECT_EQ(remembered(ids), 1500u);
  add(ids, Originator::Peer, peer, most_of_one, nobody, start);
  EXPECT_EQ(remembered(ids), 1500u + most_of_one);
  EXPECT_FALSE(takes_one_more(ids, peer, start));
  EXPECT_TRUE(takes_one_more(ids, other, start));
}
TEST(ConnectionIds, full_ofSeveralPeers) {
  ConnectionIds ids(1);
  constexpr wire::FcId third{0x010400};
  add(ids, Originator::Us, third, 100, nobody, start);
  for (const wire::FcId one : {peer, other}) {
    add(ids, Originator::Peer, one, 3000, nobody, start);
    EXPECT_FALSE(takes_one_more(ids, one, start));
  }
  EXPECT_EQ(remembered(ids), most);
  EXPECT_FALSE(takes_one_more(ids, third, start));
  add(ids, Originator::Us, third, 1, nobody, start);
  EXPECT_EQ(remembered(ids), most + 1) << "ours are as many as we fail";
}

// C.2 rule 1: one that is remembered may fail again, also where no other finds room: it rests anew.
TEST(ConnectionIds, full_knownOneRestsAnew) {
  ConnectionIds ids(1);
  const ConnectionIds::Id known{Originator::Peer, {7}, peer};
  ids.set_error(known, nobody, start, r_a_tov);
  add(ids, Originator::Us, other, 100, nobody, start);
  add(ids, Originator::Peer, peer, most_of_one, nobody, start);
  ids.set_error(known, nobody, start + r_a_tov / 2, r_a_tov);
  EXPECT_TRUE(ids.in_error(known, start + r_a_tov / 2 + r_a_tov - 1));
  EXPECT_FALSE(ids.in_error(known, start + r_a_tov / 2 + r_a_tov));
}

// ... and the first of them that is over makes room, as soon as it is.
TEST(ConnectionIds, full_firstIsOver_makesRoom) {
  ConnectionIds ids(1);
  add(ids, Originator::Us, other, 100, endpoint, start + r_a_tov / 4);
  add(ids, Originator::Peer, peer, 1, nobody, start);
  add(ids, Originator::Peer, peer, most_of_one - 1, nobody, start + r_a_tov / 2);
  EXPECT_FALSE(takes_one_more(ids, peer, start + r_a_tov - 1));
  EXPECT_TRUE(takes_one_more(ids, peer, start + r_a_tov));
}
TEST(ConnectionIds, fullOfOwing_firstIsOver_makesRoom) {
  ConnectionIds ids(1);
  add(ids, Originator::Us, other, 100, endpoint, start);
  add(ids, Originator::Peer, peer, most_of_one - 1, endpoint, start);
  EXPECT_TRUE(takes_one_more(ids, peer, start));
  add(ids, Originator::Peer, peer, 1, nobody, start + r_a_tov - 1);
  EXPECT_EQ(remembered(ids), 100u + most_of_one) << "no room";
  add(ids, Originator::Peer, peer, 1, nobody, start + r_a_tov);
  EXPECT_EQ(ids.resting(start + 2 * r_a_tov - 1), 100u + most_of_one) << "the one that owed nothing made room";
}
TEST(ConnectionIds, fullOfOwing_disconnected_makesRoom) {  // C.2 rule 1 b)
  ConnectionIds ids(1);
  add(ids, Originator::Us, other, 100, another, start);
  add(ids, Originator::Peer, peer, most_of_one, endpoint, start);
  EXPECT_FALSE(takes_one_more(ids, peer, start + 2 * r_a_tov));
  ids.disconnected(endpoint);
  EXPECT_TRUE(takes_one_more(ids, peer, start + 2 * r_a_tov));
  EXPECT_EQ(remembered(ids), 101u);
}

// C.2 rule 1 c): a logout makes room at once.
TEST(ConnectionIds, full_loggedOut_makesRoom) {
  ConnectionIds ids(1);
  add(ids, Originator::Us, other, 100, nobody, start);
  add(ids, Originator::Peer, peer, most_of_one, nobody, start);
  ids.logged_out(peer);
  EXPECT_TRUE(takes_one_more(ids, peer, start));
}

// C.2 rule 1 b): an id that failed once more waits for its own endpoint's Disconnect; that of the first is over, and
// says nothing when its handle is used again.
TEST(ConnectionIds, disconnected_endsNothingLater) {
  ConnectionIds ids(1);
  const ConnectionIds::Id id{Originator::Peer, {7}, peer};
  ids.set_error(id, endpoint, start, r_a_tov);
  ids.disconnected(endpoint);
  ids.set_error(id, another, start + r_a_tov, r_a_tov);
  ids.disconnected(endpoint);
  EXPECT_TRUE(ids.in_error(id, start + 3 * r_a_tov));
  ids.disconnected(another);
  EXPECT_FALSE(ids.in_error(id, start + 3 * r_a_tov));
}

// FC-VI 5.3.2: one that is open is passed over, whatever its number is.
TEST(ConnectionIds, open_isNotGivenTwice) {
  ConnectionIds ids(10);
  EXPECT_EQ(ids.open(start).value, 10u);
  ids.begin_at(10);
  EXPECT_EQ(ids.open(start).value, 11u);
}
}  // namespace
