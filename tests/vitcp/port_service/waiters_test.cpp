// Who waits for what.
#include "vitcp/port_service/waiters.hpp"

#include <gtest/gtest.h>

#include "tests/vitcp/port_service/requests.hpp"

namespace vitcp::port_service {
namespace {
using test::named;
using test::request_for;

const wire::IpAddress near = wire::IpAddress::v4(10, 0, 0, 1), far = wire::IpAddress::v4(10, 0, 0, 2);

WaitId taken(Waiters& waiters, const wire::vitcp::Segment& request, const Ends& ends = near) {
  const auto waiter = waiters.first(request.ce, ends);
  if (!waiter) return 0;
  EXPECT_TRUE(waiters.remove(waiter->client, waiter->id));
  return waiter->id;
}

// One request takes one wait, the oldest first, whichever process it is of.
TEST(WaitersTest, first_come_first_served) {
  Waiters waiters;
  EXPECT_TRUE(waiters.add({1, 11, {named("a")}}));
  EXPECT_TRUE(waiters.add({2, 21, {named("a")}}));
  EXPECT_TRUE(waiters.add({1, 12, {named("a")}}));
  EXPECT_EQ(taken(waiters, request_for("a")), 11U);
  EXPECT_EQ(taken(waiters, request_for("a")), 21U);
  EXPECT_EQ(taken(waiters, request_for("a")), 12U);
  EXPECT_EQ(taken(waiters, request_for("a")), 0U);
  EXPECT_EQ(waiters.size(), 0U);
}

// Ruling V-14: padded with zeros; all 64 octets count, and no octets are a discriminator, too.
TEST(WaitersTest, discriminators_match_padded) {
  const std::string longest(64, 'x');
  Waiters waiters;
  ASSERT_TRUE(waiters.add({1, 1, {named("")}}));
  ASSERT_TRUE(waiters.add({1, 2, {named(longest)}}));
  ASSERT_TRUE(waiters.add({1, 3, {named(std::string_view("a\0", 2))}}));
  EXPECT_EQ(taken(waiters, request_for(longest.substr(1))), 0U);
  EXPECT_EQ(taken(waiters, request_for(longest)), 2U);
  EXPECT_EQ(taken(waiters, request_for("b")), 0U);
  EXPECT_EQ(taken(waiters, request_for("a")), 3U);
  EXPECT_EQ(taken(waiters, request_for("")), 1U);
}

// VI-TCP 3.3: the peer-to-peer bit must match.
TEST(WaitersTest, peer_to_peer_bit_must_match) {
  Waiters waiters;
  ASSERT_TRUE(waiters.add({1, 1, {named("a"), true}}));
  EXPECT_EQ(taken(waiters, request_for("a")), 0U);
  auto peer = request_for("a");
  peer.ce.peer_to_peer = true;
  EXPECT_EQ(taken(waiters, peer), 1U);
}

// Ruling V-13: a peer waits for one other; behind it another waits for anybody.
TEST(WaitersTest, peer_takes_only_whom_it_knows) {
  Waiters waiters;
  ASSERT_TRUE(waiters.add({1, 1, {named("a"), false, named("bob"), near}}));
  ASSERT_TRUE(waiters.add({1, 2, {named("a"), false, named("eve"), std::nullopt}}));
  EXPECT_EQ(taken(waiters, request_for("a", "mallory"), near), 0U);
  EXPECT_EQ(taken(waiters, request_for("a", "bob"), far), 0U);
  EXPECT_EQ(taken(waiters, request_for("a", "eve"), far), 2U);
  EXPECT_EQ(taken(waiters, request_for("a", "bob"), near), 1U);
}

// NICs of several addresses behind one port: each is found at its own; one without an address takes all.
TEST(WaitersTest, takes_what_was_sent_to_its_address) {
  Waiters waiters;
  ASSERT_TRUE(waiters.add({1, 1, {.called = named("a"), .at = near}}));
  ASSERT_TRUE(waiters.add({2, 2, {.called = named("a"), .at = far}}));
  EXPECT_EQ(taken(waiters, request_for("a"), {near, wire::IpAddress::v4(10, 0, 0, 3)}), 0U);
  EXPECT_EQ(taken(waiters, request_for("a"), {near, far}), 2U);
  EXPECT_EQ(taken(waiters, request_for("a"), {near, near}), 1U);
  ASSERT_TRUE(waiters.add({3, 3, {.called = named("a")}}));
  EXPECT_EQ(taken(waiters, request_for("a"), {near, far}), 3U);
}

// Equal are those that the same requests meet, whatever length a discriminator had.
TEST(WaitersTest, order_of_what_is_wanted) {
  const WantedOrder before;
  const Wanted base{named("a"), false, named("c"), near, near};
  const Wanted padded{named(std::string_view("a\0", 2)), false, named(std::string_view("c\0", 2)), near, near};
  EXPECT_FALSE(before(base, padded) || before(padded, base));
  Wanted others[] = {base, base, base, base, base, base};
  others[0].called = named("b");
  others[1].peer_to_peer = true;
  others[2].calling = named("d");
  others[3].calling.reset();
  others[4].from.reset();
  others[5].at = far;
  for (const Wanted& other : others) EXPECT_NE(before(base, other), before(other, base));
}

TEST(WaitersTest, removed_waits_are_not_met) {
  Waiters waiters;
  ASSERT_TRUE(waiters.add({1, 1, {named("a")}}));
  ASSERT_TRUE(waiters.add({2, 1, {named("a")}}));
  ASSERT_TRUE(waiters.add({2, 2, {named("b")}}));
  EXPECT_FALSE(waiters.add({2, 2, {named("c")}})) << "the id is taken";
  EXPECT_FALSE(waiters.remove(3, 1));
  EXPECT_FALSE(waiters.remove(1, 2));
  EXPECT_TRUE(waiters.remove(1, 1));
  EXPECT_FALSE(waiters.remove(1, 1));
  EXPECT_EQ(waiters.count_of(2), 2U);
  waiters.remove_all(2);
  EXPECT_EQ(waiters.size(), 0U);
  EXPECT_EQ(taken(waiters, request_for("a")), 0U);
  EXPECT_TRUE(waiters.all().empty());
}

// Of a process that cannot take it now the waits stay where they are.
TEST(WaitersTest, first_of_others_leaves_the_order) {
  Waiters waiters;
  for (const Waiter& waiter : {Waiter{1, 1, {named("a")}}, Waiter{1, 2, {named("a")}}, Waiter{2, 3, {named("a")}}})
    ASSERT_TRUE(waiters.add(waiter));
  EXPECT_EQ(waiters.first(request_for("a").ce, near, {1})->id, 3U);
  EXPECT_FALSE(waiters.first(request_for("a").ce, near, {1, 2}));
  EXPECT_EQ(waiters.first(request_for("a").ce, near)->id, 1U);
}

// A process cannot have the service hold more and more.
TEST(WaitersTest, limited_for_each_process) {
  Waiters waiters;
  for (WaitId id = 0; id < Waiters::max_per_client; ++id) ASSERT_TRUE(waiters.add({1, id, {named("a")}}));
  EXPECT_FALSE(waiters.add({1, Waiters::max_per_client, {named("a")}}));
  EXPECT_TRUE(waiters.add({2, 0, {named("a")}}));
}

}  // namespace
}  // namespace vitcp::port_service
