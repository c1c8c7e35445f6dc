// Streams from accept() to hand-over, on the virtual clock.
#include "vitcp/port_service/port.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "tests/vitcp/port_service/requests.hpp"

namespace vitcp::port_service {
namespace {
using namespace testing;
using test::named;
using test::octets_for;
using test::request_for;
using wire::vitcp::SegmentType;

const wire::IpAddress near = wire::IpAddress::v4(10, 0, 0, 1), far = wire::IpAddress::v4(10, 0, 0, 2);
wire::IpAddress ip(const char* text) { return *wire::IpAddress::from_string(text); }

class PortTest : public Test, public PortActions {
 public:
  bool hand_over(ConnectionId stream, const Waiter& waiter) override {
    if (deaf.contains(waiter.client)) return did.push_back("refused by " + std::to_string(waiter.client)), false;
    return did.push_back(std::to_string(stream) + " to " + std::to_string(waiter.client) + "/" +
                         std::to_string(waiter.id)),
           true;
  }
  void refuse(ConnectionId stream, SegmentType type) override {
    did.push_back(std::to_string(stream) + " " + std::string(to_string(type)));
  }
  void close(ConnectionId stream) override { did.push_back(std::to_string(stream) + " closed"); }

  void request(ConnectionId stream, std::string_view called, const wire::IpAddress& from = near) {
    port.accepted(stream, from);
    port.arrived(stream, octets_for(called), false);
  }
  std::vector<std::string> done() { return std::exchange(did, {}); }
  void pass(runtime::TimeNs time) { scheduler.run_until(scheduler.now() + time); }

  runtime::Scheduler scheduler;
  std::vector<std::string> did;
  std::set<ClientId> deaf;
  Port port{scheduler, {.half_open = 4}, *this};
};

TEST_F(PortTest, request_goes_to_who_waits_and_ends_the_wait) {
  ASSERT_TRUE(port.wait(7, 1, {named("server")}));
  request(1, "server");
  EXPECT_THAT(done(), ElementsAre("1 to 7/1"));
  EXPECT_TRUE(port.half_open().empty());
  request(2, "server");
  EXPECT_THAT(done(), ElementsAre("2 ConnectNoMatch"));
  EXPECT_EQ(port.counters().of(Fate::handed_over), 1U);
  EXPECT_EQ(port.counters().of(Fate::no_match), 1U);
}

// The draft, 4.3, Matching: at once, then the other end has a second to read it.
TEST_F(PortTest, nobody_waits_no_match_then_closed) {
  request(1, "server");
  EXPECT_THAT(done(), ElementsAre("1 ConnectNoMatch"));
  port.drained(1);
  EXPECT_THAT(done(), ElementsAre("1 closed"));
  request(2, "server");
  done();
  pass(runtime::second - 1);
  EXPECT_THAT(done(), IsEmpty());
  pass(1);
  EXPECT_THAT(done(), ElementsAre("2 closed"));
  EXPECT_EQ(port.counters().of(Fate::no_match), 2U);
  EXPECT_EQ(port.counters().of(Fate::cut), 0U);
}

// Octet by octet: it asks for the header first, then for the rest, and decides at the last.
TEST_F(PortTest, octet_by_octet) {
  ASSERT_TRUE(port.wait(7, 1, {named("server")}));
  port.accepted(1, near);
  const auto octets = octets_for("server");
  for (std::size_t size = 0; size < octets.size(); ++size)
    EXPECT_EQ(port.arrived(1, wire::Bytes(octets).first(size), false), size < 24 ? 24 : octets.size());
  EXPECT_THAT(done(), IsEmpty());
  EXPECT_EQ(port.arrived(1, octets, false), std::nullopt);
  EXPECT_THAT(done(), ElementsAre("1 to 7/1"));
}

// Ruling V-16: 10 s, from accept() on, however many octets come.
TEST_F(PortTest, incoming_time_is_over_closed) {
  port.accepted(1, near);
  pass(9 * runtime::second);
  port.arrived(1, wire::Bytes(octets_for("server")).first(100), false);
  pass(runtime::second - 1);
  EXPECT_THAT(done(), IsEmpty());
  pass(1);
  EXPECT_THAT(done(), ElementsAre("1 closed"));
  EXPECT_EQ(port.counters().of(Fate::timed_out), 1U);
  port.arrived(1, octets_for("server"), false);
  port.broken(1);
  port.drained(1);
  EXPECT_THAT(done(), IsEmpty());
}

TEST_F(PortTest, incoming_closed_by_the_other_end) {
  port.accepted(1, near);
  EXPECT_EQ(port.arrived(1, wire::Bytes(octets_for("server")).first(30), true), std::nullopt);
  port.accepted(2, near);
  port.broken(2);
  port.accepted(3, near);  // a whole request, and nobody who wants it any more
  port.wait(7, 1, {named("server")});
  port.arrived(3, octets_for("server"), true);
  EXPECT_THAT(done(), ElementsAre("1 closed", "2 closed", "3 closed"));
  EXPECT_EQ(port.counters().of(Fate::cut), 2U);
  EXPECT_EQ(port.counters().of(Fate::reset), 1U);
  EXPECT_EQ(port.waiters().size(), 1U);
}

TEST_F(PortTest, incoming_bad_segments_are_counted_by_reason) {
  auto other_version = octets_for("a"), no_segment = other_version, bad_request = other_version;
  other_version[0] = 9;
  no_segment[1] = 0x9F;
  bad_request[25] = 0;
  std::vector<std::uint8_t> nop(24);
  wire::vitcp::SegmentHeader{.type = SegmentType::nop}.write(nop);
  ConnectionId stream = 0;
  for (const auto& octets : {other_version, no_segment, bad_request, nop}) {
    port.accepted(++stream, near);
    port.arrived(stream, octets, false);
  }
  EXPECT_THAT(done(), ElementsAre("1 ConnectReject", "2 closed", "3 ConnectReject", "4 closed"));
  for (const Fate fate : {Fate::other_version, Fate::no_segment, Fate::bad_request, Fate::other_segment})
    EXPECT_EQ(port.counters().of(fate), 1U) << to_string(fate);
}

// A process that cannot be given it keeps its wait, in its place; it is asked once, however often it waits.
TEST_F(PortTest, next_one_that_waits_where_the_first_cannot_take_it) {
  deaf = {7, 8};
  port.wait(7, 1, {named("a")});
  port.wait(7, 2, {named("a")});
  port.wait(8, 1, {named("a")});
  port.wait(9, 1, {named("a")});
  request(1, "a");
  EXPECT_THAT(done(), ElementsAre("refused by 7", "refused by 8", "1 to 9/1"));
  EXPECT_EQ(port.waiters().size(), 3U);
  deaf = {8};
  request(2, "a");
  EXPECT_THAT(done(), ElementsAre("2 to 7/1"));
  EXPECT_EQ(port.counters().not_taken, 2U);
}

// Nobody else waits: offered again and again, until it can be given, or another process waits.
TEST_F(PortTest, held_while_who_waits_cannot_take_it) {
  deaf = {7};
  port.wait(7, 1, {named("a")});
  port.wait(7, 2, {named("a")});
  request(1, "a");
  request(2, "a");
  request(3, "b");
  EXPECT_THAT(done(), ElementsAre("refused by 7", "refused by 7", "3 ConnectNoMatch"));
  pass(PortLimits{}.offer_again);
  EXPECT_THAT(done(), ElementsAre("refused by 7", "refused by 7"));
  port.wait(8, 1, {named("a")});
  EXPECT_THAT(done(), ElementsAre("refused by 7", "1 to 8/1"));
  deaf.clear();
  pass(PortLimits{}.offer_again);
  EXPECT_THAT(done(), ElementsAre("2 to 7/1"));
  EXPECT_EQ(port.counters().not_taken, 2U);
  EXPECT_EQ(port.waiters().size(), 1U);
}

// Ruling V-16's time is that of the stream; the wait goes on.
TEST_F(PortTest, held_for_one_that_never_takes_it_no_match) {
  deaf = {7};
  port.wait(7, 1, {named("a")});
  request(1, "a");
  pass(PortLimits{}.request_time - 1);
  EXPECT_THAT(done(), Each("refused by 7"));
  pass(1);
  EXPECT_THAT(done(), ElementsAre("refused by 7", "1 ConnectNoMatch"));
  EXPECT_EQ(port.counters().of(Fate::no_match), 1U);
  deaf.clear();
  request(2, "a");
  EXPECT_THAT(done(), ElementsAre("2 to 7/1"));
}

TEST_F(PortTest, held_and_who_waited_is_gone_no_match) {
  deaf = {7};
  port.wait(7, 1, {named("a")});
  request(1, "a");
  done();
  port.client_gone(7);
  pass(PortLimits{}.offer_again);
  EXPECT_THAT(done(), ElementsAre("1 ConnectNoMatch"));
}

TEST_F(PortTest, process_that_is_gone_is_not_asked) {
  port.wait(7, 1, {named("a")});
  port.wait(8, 1, {named("a")});
  port.wait(8, 2, {named("a")});
  port.client_gone(7);
  port.cancel(8, 1);
  request(1, "a");
  EXPECT_THAT(done(), ElementsAre("1 to 8/2"));
}

// A process had cancelled when the stream came: the next.
TEST_F(PortTest, returned_stream_goes_on) {
  port.wait(7, 1, {named("a")});
  request(1, "a");
  done();
  port.wait(8, 1, {named("a")});
  port.returned(2, near);
  port.arrived(2, octets_for("a"), false);
  EXPECT_THAT(done(), ElementsAre("2 to 8/1"));
  EXPECT_EQ(port.counters().accepted, 1U);
  EXPECT_EQ(port.counters().returned, 1U);
}

// --- limits ----------------------------------------------------------------------------------------------------------

// A host that opens many loses its own oldest; the one stream of another host stays.
TEST_F(PortTest, half_open_evicts_of_the_host_with_most) {
  port.accepted(1, far);
  for (ConnectionId stream = 2; stream <= 4; ++stream) port.accepted(stream, near);
  EXPECT_THAT(done(), IsEmpty());
  port.accepted(5, near);
  EXPECT_THAT(done(), ElementsAre("2 closed"));
  port.accepted(6, ip("10.0.0.3"));
  EXPECT_THAT(done(), ElementsAre("3 closed"));
  EXPECT_EQ(port.half_open().size(), 4U);
  EXPECT_EQ(port.counters().of(Fate::evicted), 2U);
}

// Nobody has more than another: the oldest.
TEST_F(PortTest, half_open_evicts_the_oldest_of_equals) {
  for (ConnectionId stream = 1; stream <= 5; ++stream)
    port.accepted(stream, wire::IpAddress::v4(10, 0, 0, static_cast<std::uint8_t>(stream)));
  EXPECT_THAT(done(), ElementsAre("1 closed"));
}

// An IPv6 site has more addresses than there is room for.
TEST_F(PortTest, half_open_counts_ipv6_by_site) {
  port.accepted(1, ip("fd00::1"));
  port.accepted(2, ip("fd00:0:0:1::1"));
  port.accepted(3, ip("fd00:0:0:1::2"));
  port.accepted(4, ip("fd00:0:0:1::3"));
  port.accepted(5, ip("fd00::1"));
  EXPECT_THAT(done(), ElementsAre("2 closed"));
}

// One that has its answer gives way first, and was counted already.
TEST_F(PortTest, half_open_evicts_what_was_refused_first) {
  port.accepted(1, near);
  port.accepted(2, near);
  request(3, "a", far);
  port.accepted(4, near);
  done();
  port.accepted(5, near);
  EXPECT_THAT(done(), ElementsAre("3 closed"));
  EXPECT_EQ(port.counters().of(Fate::evicted), 0U);
}

// --- after an earlier service ----------------------------------------------------------------------------------------

TEST_F(PortTest, held_until_who_waited_is_back) {
  port.expect_waiters_until(scheduler.now() + runtime::second);
  request(1, "a");
  request(2, "b");
  EXPECT_THAT(done(), IsEmpty());
  EXPECT_EQ(port.half_open().front().phase, Port::Phase::held);
  port.wait(7, 1, {named("b")});
  EXPECT_THAT(done(), ElementsAre("2 to 7/1"));
  pass(runtime::second - 1);
  EXPECT_THAT(done(), IsEmpty());
  pass(1);
  EXPECT_THAT(done(), ElementsAre("1 ConnectNoMatch"));
  request(3, "b");
  EXPECT_THAT(done(), ElementsAre("3 ConnectNoMatch"));
}

// Two of them, one after the other; a wait that cannot be served now is not in the way.
TEST_F(PortTest, held_requests_are_met_in_turn) {
  port.expect_waiters_until(scheduler.now() + runtime::second);
  request(1, "a");
  request(2, "a");
  deaf = {6};
  port.wait(6, 1, {named("a")});
  EXPECT_THAT(done(), ElementsAre("refused by 6"));
  port.wait(7, 1, {named("a")});
  port.wait(7, 2, {named("a")});
  EXPECT_THAT(done(), ElementsAre("refused by 6", "1 to 7/1", "refused by 6", "2 to 7/2"));
}

TEST_F(PortTest, held_closed_by_the_other_end) {
  port.expect_waiters_until(scheduler.now() + runtime::second);
  request(1, "a");
  port.broken(1);
  EXPECT_THAT(done(), ElementsAre("1 closed"));
  port.wait(7, 1, {named("a")});
  EXPECT_THAT(done(), IsEmpty());
}

TEST(FateTest, each_has_a_name_of_its_own) {
  std::set<std::string_view> names;
  for (const Fate fate : fates) names.insert(to_string(fate));
  EXPECT_EQ(names.size(), fates.size());
  EXPECT_FALSE(names.contains("unknown"));
}

}  // namespace
}  // namespace vitcp::port_service
