// A private arbitrated loop: AL_PAs by loop initialization, one port at a time has the loop, and what a LIP does to
// logins (FC-AL, FC-VI 7.7.3).
#include "fc2_fabric/node/loop_n_port.hpp"

#include <gtest/gtest.h>

#include <set>

#include "tests/support/fc4.hpp"
#include "tests/support/frame_log.hpp"
#include "tests/support/port_pair.hpp"
#include "tests/support/test_fabric.hpp"
#include "wire/line_rate.hpp"

namespace fc2 {
namespace {

using support::RecordingUser;
using wire::els::Command;

class LoopTest : public testing::Test {
 protected:
  ~LoopTest() override {
    for (const auto& port : ports) {
      EXPECT_EQ(port->counters().unexpected_events, 0U);
      const LoopStation* station = loop.station_of(*port);
      EXPECT_EQ(station == nullptr ? 0 : station->unexpected_events(), 0U);
    }
  }
  /// Port `index` has the index-th lowest name.
  NPort& add(std::uint8_t hard_address = 0) {
    NPort& port = *ports.emplace_back(std::make_unique<NPort>(scheduler, pool, support::port_config(ports.size())));
    port.set_user(support::fc4, user);
    attach(loop, port, {.hard_address = hard_address});
    return port;
  }
  void add_and_run(std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) add();
    run_for(millisecond);
  }
  void run_for(TimeNs duration) { scheduler.run_until(scheduler.now() + duration); }
  NPort& port(std::size_t i) { return *ports.at(i); }
  wire::FcId id(std::size_t i) { return port(i).n_port_id(); }
  bool log_in(std::size_t from, std::size_t to) {
    port(from).remote_port(id(to)).log_in();
    run_for(millisecond);
    return port(from).remote_port(id(to)).logged_in() && port(to).remote_port(id(from)).logged_in();
  }
  void send(std::size_t from, wire::FcId to, std::uint8_t mark) {
    Exchange* exchange = port(from).originate(to, wire::Type::fc_vi, user);
    ASSERT_NE(exchange, nullptr);
    port(from).send(*exchange, wire::RCtl::unsolicited_control, {}, std::vector<std::uint8_t>(8, mark),
                    {.last_of_exchange = true});
  }

  Scheduler scheduler;
  FramePool pool;
  RecordingUser user;
  std::vector<std::unique_ptr<NPort>> ports;
  Loop loop{scheduler, pool, {.hop_latency_ns = 100, .bytes_per_second = wire::line_rate_bytes_per_second("1GFC")}};
};

// FC-AL: 127 addresses, each once, the FL_Port's first.
TEST(AlPas, table) {
  EXPECT_EQ(std::set<int>(al_pas.begin(), al_pas.end()).size(), 127U);
  EXPECT_TRUE(std::is_sorted(al_pas.begin(), al_pas.end()));
  EXPECT_EQ(al_pas.front(), 0x00);
  EXPECT_EQ(al_pas.back(), 0xEF);
}

// FC-AL: a port alone on its loop is its master, and has the first address.
TEST_F(LoopTest, one_port_is_online) {
  add_and_run(1);
  EXPECT_TRUE(port(0).online());
  EXPECT_EQ(id(0), wire::FcId{0x000001});
  EXPECT_TRUE(loop.station_of(port(0))->is_master());
}

// FC-AL: the lowest Port_Name is the master; soft addresses are given in the order round the loop that begins with it.
TEST_F(LoopTest, several_ports_claim_addresses) {
  add_and_run(4);
  std::set<std::uint32_t> ids;
  for (std::size_t i = 0; i < 4; ++i) {
    EXPECT_TRUE(port(i).online());
    EXPECT_EQ(loop.station_of(port(i))->is_master(), i == 0);
    ids.insert(id(i).value);
  }
  EXPECT_EQ(ids, (std::set<std::uint32_t>{0x01, 0x02, 0x04, 0x08}));
}

// FC-AL LIHA, LIPA: a hard address goes before soft ones, the address of before goes before both.
TEST_F(LoopTest, hard_and_previous_addresses_are_kept) {
  add_and_run(2);
  const wire::FcId first = id(0), second_id = id(1);
  add(0x02);  // the second has that already
  add(0xE8);
  run_for(millisecond);
  EXPECT_EQ(id(0), first);
  EXPECT_EQ(id(1), second_id);
  EXPECT_EQ(id(3), wire::FcId{0x0000E8});
  EXPECT_TRUE(port(2).online());
  EXPECT_NE(id(2), second_id);
}

// FC-AL: 126 ports, each with an address of its own.
TEST_F(LoopTest, full_loop) {
  add_and_run(Loop::max_stations);
  std::set<std::uint32_t> ids;
  for (std::size_t i = 0; i < ports.size(); ++i) ids.insert(id(i).value);
  EXPECT_EQ(ids.size(), 126U);
  EXPECT_FALSE(ids.contains(0));
  EXPECT_TRUE(log_in(0, 125));
}

// FC-VI 7.7.3: another port joins: LIP, the same addresses, ADISC: an open exchange goes on, nobody is logged out.
TEST_F(LoopTest, logged_in_port_joins_exchange_goes_on) {
  add_and_run(2);
  ASSERT_TRUE(log_in(0, 1));
  support::FrameLog log;
  loop.tap(port(0), &log);
  port(0).request(id(1), wire::RCtl::unsolicited_control, wire::Type::fc_vi, std::vector<std::uint8_t>(8, 1), user, 0);
  run_for(millisecond);
  ASSERT_EQ(user.ius.size(), 1U);
  add();
  run_for(millisecond);
  EXPECT_EQ(log.sent(Command::adisc) + log.received(Command::adisc), 2U);
  EXPECT_EQ(log.sent(Command::plogi) + log.sent(Command::logo) + log.received(Command::logo), 0U);
  port(1).send(*user.ius[0].exchange, wire::RCtl::solicited_control, {}, std::vector<std::uint8_t>(8, 2),
               {.last_of_exchange = true});
  run_for(millisecond);
  EXPECT_EQ(user.ius.size(), 2U);
  EXPECT_TRUE(user.failures.empty());
}

// FC-VI 7.7.3: a port leaves: its ADISC stays without answer, whoever was logged in with it knows in the end;
// others go on.
TEST_F(LoopTest, logged_in_port_leaves_is_logged_out) {
  add_and_run(3);
  ASSERT_TRUE(log_in(0, 1));
  ASSERT_TRUE(log_in(0, 2));
  const wire::FcId gone = id(2);
  loop.detach(port(2));
  EXPECT_FALSE(port(2).online());
  run_for(second);
  EXPECT_FALSE(port(0).remote_port(id(1)).suspended());
  EXPECT_TRUE(port(0).remote_port(gone).suspended());
  run_for(30 * second);
  EXPECT_TRUE(port(0).remote_port(id(1)).logged_in());
  EXPECT_FALSE(port(0).remote_port(gone).logged_in());
  EXPECT_GT(loop.frames_returned(), 0U);
}

// FC-VI 7.7.2: it goes for good while a LIP has it ask by ADISC: no login is left that could be confirmed, also when it
// has joined again with the AL_PA of before.
TEST_F(LoopTest, validating_port_leaves_has_no_login) {
  add_and_run(2);
  ASSERT_TRUE(log_in(0, 1));
  const wire::FcId peer = id(1);
  loop.lip(port(0));
  while (!port(0).remote_port(peer).validating()) ASSERT_TRUE(scheduler.run_next(scheduler.now() + millisecond));
  loop.detach(port(0));
  EXPECT_EQ(port(0).remote_port(peer).state_name(), "Offline");
  EXPECT_TRUE(port(0).is_consistent());
  attach(loop, port(0));
  run_for(millisecond);
  ASSERT_EQ(id(1), peer);
  EXPECT_FALSE(port(0).remote_port(peer).logged_in());
}

/// A fault that holds every frame back until the link breaks.
struct HeldBack final : FrameFault {
  void carry(Channel&, FramePtr frame) override { held = std::move(frame); }
  void link_broke() override { held.reset(); }
  FramePtr held;
};

// What a fault holds back of a port that leaves is lost with it: its place on the loop, where that would go on, is
// gone.
TEST_F(LoopTest, leaving_port_loses_what_faults_hold_back) {
  add_and_run(3);
  ASSERT_TRUE(log_in(0, 1));
  HeldBack sent, received;
  loop.set_faults(port(0), &sent, nullptr);
  send(0, id(1), 1);
  run_for(millisecond);
  loop.set_faults(port(0), &sent, &received);
  send(1, id(0), 2);
  run_for(millisecond);
  ASSERT_NE(sent.held, nullptr);
  ASSERT_NE(received.held, nullptr);
  loop.detach(port(0));
  EXPECT_EQ(sent.held, nullptr);
  EXPECT_EQ(received.held, nullptr);
  run_for(second);
  EXPECT_TRUE(user.ius.empty());
}

// A loop without latency: a LIP goes round it slower than a port far from its origin wins the loop, and comes to that
// one between two frames: it has the second one back. Each IU comes once, in order.
TEST(LoopWithoutLatency, logged_in_lips_lose_nothing) {
  Scheduler scheduler;
  FramePool pool;
  RecordingUser user;
  std::vector<std::unique_ptr<NPort>> ports;
  Loop loop(scheduler, pool, {.hop_latency_ns = 0, .bytes_per_second = 0});
  for (std::size_t i = 0; i < 12; ++i) {
    ports.push_back(std::make_unique<NPort>(scheduler, pool, support::port_config(i)));
    ports.back()->set_user(support::fc4, user);
    attach(loop, *ports.back());
  }
  const auto run_for = [&](TimeNs duration) { scheduler.run_until(scheduler.now() + duration); };
  run_for(millisecond);
  NPort& last = *ports.back();
  for (std::size_t i = 0; i < 2; ++i) last.remote_port(ports[i]->n_port_id()).log_in();
  run_for(millisecond);
  constexpr std::size_t most_events = 120;
  for (std::size_t events = 0; events < most_events; ++events) {
    loop.lip(*ports[0]);
    for (std::size_t i = 0; i < events; ++i) scheduler.run_next(scheduler.now());
    for (std::size_t n = 0; n < 4; ++n) {  // to one and the other in turn: each frame has a circuit of its own
      Exchange* exchange = last.originate(ports[n % 2]->n_port_id(), wire::Type::fc_vi, user);
      ASSERT_NE(exchange, nullptr);
      last.send(*exchange, wire::RCtl::unsolicited_control, {}, std::vector<std::uint8_t>(8),
                {.last_of_exchange = true});
    }
    run_for(millisecond);
  }
  EXPECT_EQ(user.ius.size(), 4 * most_events);
  EXPECT_TRUE(user.failures.empty());
  EXPECT_TRUE(loop.is_consistent());
}

// FC-VI 7.7.3: LIPs in the middle of everything: each IU comes once, in order.
TEST_F(LoopTest, logged_in_lips_lose_nothing) {
  add_and_run(3);
  ASSERT_TRUE(log_in(0, 1));
  std::uint8_t mark = 0;
  for (int i = 0; i < 40; ++i) {
    for (int n = 0; n < 5; ++n) send(0, id(1), mark++);
    run_for(100 + 73 * i);
    loop.lip(port(static_cast<std::size_t>(i) % 3));
    send(0, port(1).n_port_id(), mark++);
    run_for(i % 3 == 0 ? 500 : millisecond);
  }
  run_for(second);
  ASSERT_EQ(user.ius.size(), 240U);
  for (std::size_t i = 0; i < user.ius.size(); ++i) EXPECT_EQ(user.ius[i].bytes[0], static_cast<std::uint8_t>(i));
  EXPECT_TRUE(user.failures.empty());
}

// FC-VI 7.7.3: the port comes back with another address, its own being taken: everybody that it was logged in
// with is told.
TEST_F(LoopTest, logged_in_own_address_changed_logs_out) {
  add_and_run(2);
  ASSERT_TRUE(log_in(0, 1));
  NPort squatter(scheduler, pool, support::port_config(7));
  Loop other(scheduler, pool, {});
  attach(other, squatter, {.hard_address = static_cast<std::uint8_t>(id(0).value)});
  run_for(millisecond);
  const wire::FcId former = id(0);
  port(0).link_interrupted();
  attach(other, port(0));
  run_for(millisecond);
  EXPECT_NE(id(0), former);
  EXPECT_FALSE(port(0).interrupted());
  EXPECT_FALSE(port(0).remote_port(id(1)).logged_in());
  other.detach(port(0));
}

// FC-AL: an access window: of two that never stop each has the loop as often as the other.
TEST_F(LoopTest, fairness) {
  add_and_run(3);
  ASSERT_TRUE(log_in(0, 2));
  ASSERT_TRUE(log_in(1, 2));
  std::map<std::uint32_t, int> count;
  for (int n = 0; n < 200; ++n)
    for (const std::size_t from : {0U, 1U}) send(from, id(2), static_cast<std::uint8_t>(from));
  const std::uint64_t before = loop.tenancies();
  while (user.ius.size() < 100 && scheduler.run_next(never)) {}
  for (const auto& iu : user.ius) ++count[iu.header.s_id.value];
  EXPECT_NEAR(count[id(0).value], count[id(1).value], 8);
  EXPECT_GE(loop.tenancies() - before, 12U);
  run_for(second);
  EXPECT_EQ(user.ius.size(), 400U);
}

// The loop's rate bounds what all of it carries.
TEST_F(LoopTest, rate) {
  add_and_run(2);
  ASSERT_TRUE(log_in(0, 1));
  for (int n = 0; n < 100; ++n) send(0, id(1), 0);
  const TimeNs start = scheduler.now();
  while (user.ius.size() < 100 && scheduler.run_next(never)) {}
  EXPECT_GE(scheduler.now() - start, 100 * 68 * second / static_cast<TimeNs>(wire::line_rate_bytes_per_second("1GFC")));
}

// FC-VI 7.5: a broadcast reaches every port but its sender.
TEST_F(LoopTest, broadcast_reaches_all_others) {
  add_and_run(4);
  std::array<support::FrameLog, 4> logs;
  for (std::size_t i = 0; i < 4; ++i) loop.tap(port(i), &logs[i]);
  Exchange* exchange = port(1).originate(wire::well_known::broadcast, wire::Type::els, user);
  port(1).send(*exchange, wire::RCtl::els_request, {}, std::vector<std::uint8_t>(76, 0x54), {.last_of_exchange = true});
  run_for(millisecond);
  for (std::size_t i = 0; i < 4; ++i) EXPECT_EQ(logs[i].size(), 1U) << i;
  EXPECT_TRUE(logs[1].frames()[0].outbound);
  EXPECT_FALSE(logs[2].frames()[0].outbound);
}

}  // namespace
}  // namespace fc2
