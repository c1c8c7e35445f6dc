// Frames between switches: shortest paths, several of equal cost, what changes of paths do to order, congestion, age.
#include <gtest/gtest.h>

#include <random>

#include "fc2_fabric/switch/fabric.hpp"
#include "fc2_fabric/switch/f_port.hpp"
#include "tests/support/flogi_frame.hpp"
#include "tests/support/frame_log.hpp"
#include "tests/support/port_pair.hpp"
#include "tests/support/switched_fabric.hpp"
#include "wire/line_rate.hpp"

namespace fc2 {
namespace {
using support::SwitchedFabric;
using wire::RCtl;
constexpr auto type = wire::Type::ip;

LinkConfig rate(const char* name, TimeNs latency = 10 * microsecond) {
  return {.latency_ns = latency, .bytes_per_second = wire::line_rate_bytes_per_second(name)};
}

class FabricPathsTest : public testing::Test {
 protected:
  explicit FabricPathsTest(FabricConfig config = {}) : f(0, config) {}
  void add_switches(std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) f.add_switch();
  }
  std::size_t add_port(std::size_t at_switch) {
    const std::size_t port = f.add_port(at_switch);
    f.port(port).set_user(type, user);
    return port;
  }
  void send(std::size_t from, std::size_t to, std::size_t bytes = 64) {
    Exchange* exchange = f.port(from).originate(f.id(to), type, user);
    f.port(from).send(*exchange, RCtl::unsolicited_control, {}, std::vector<std::uint8_t>(bytes),
                      {.last_of_exchange = true});
  }
  /// Frames that left `a` on the way to its neighbours.
  std::uint64_t sent_on(InterSwitchLink& link, std::size_t from) { return link.end_at(f.at(from)).frames_out(); }

  support::RecordingUser user;
  SwitchedFabric f;
};

// FC-SW: the cost of an ISL is 10^12 / bit rate: two fast ones are nearer than a slow one.
TEST_F(FabricPathsTest, linked_by_different_rates_takes_the_cheapest_path) {
  add_switches(3);
  InterSwitchLink& slow = f.join(0, 2, rate("1GFC"));
  InterSwitchLink& fast = f.join(0, 1, rate("16GFC"));
  f.join(1, 2, rate("16GFC"));
  EXPECT_EQ(slow.cost(), 1176U);
  EXPECT_EQ(fast.cost(), 73U);
  const auto from = add_port(0), to = add_port(2);
  f.run_for(second);
  for (int i = 0; i < 10; ++i) send(from, to);
  f.run_for(second);
  EXPECT_EQ(user.ius.size(), 10U);
  EXPECT_EQ(sent_on(slow, 0), 0U);
  EXPECT_EQ(sent_on(fast, 0), 10U);
}

// A link that can take any rate, and one slower than any: costs stay within their bounds.
TEST_F(FabricPathsTest, linked_by_extreme_rates_has_bounded_costs) {
  add_switches(2);
  EXPECT_EQ(f.join(0, 1, {}).cost(), 1U);
  EXPECT_EQ(f.join(0, 1, {.bytes_per_second = ~std::uint64_t{0}}).cost(), 1U);
  EXPECT_EQ(f.join(0, 1, {.bytes_per_second = 1}).cost(), InterSwitchLink::max_cost);
}

// Paths of equal cost share the pairs of ports; each pair keeps to one, and FLOGI's accept promises order.
TEST_F(FabricPathsTest, equal_paths_are_shared_by_pairs) {
  add_switches(2);
  std::vector<InterSwitchLink*> links;
  for (int i = 0; i < 4; ++i) links.push_back(&f.join(0, 1));
  for (int i = 0; i < 32; ++i) add_port(i < 16 ? 0 : 1);
  f.run_for(second);
  EXPECT_TRUE(f.port(0).in_order());
  for (std::size_t from = 0; from < 16; ++from)
    for (std::size_t to = 16; to < 32; ++to) send(from, to);
  f.run_for(second);
  EXPECT_EQ(user.ius.size(), 256U);
  for (InterSwitchLink* link : links) EXPECT_GT(sent_on(*link, 0), 32U);
}

// What becomes of order on equal paths of different length.
class MultipathTest : public FabricPathsTest {
 protected:
  explicit MultipathTest(Multipath multipath) : FabricPathsTest({.multipath = multipath}) {
    add_switches(2);
    for (int i = 0; i < 4; ++i) links.push_back(&f.join(0, 1, {.latency_ns = (1 + 7 * i) * microsecond}));
    from = add_port(0);
    to = add_port(1);
    f.run_for(second);
    f.at(1).tap(f.port(to), &log);
  }
  /// Exchanges of ten frames each, one after the other; every byte of one is its number.
  void send_exchanges() {
    for (std::uint8_t i = 0; i < 40; ++i) {
      Exchange* exchange = f.port(from).originate(f.id(to), type, user);
      f.port(from).send(*exchange, RCtl::unsolicited_control, {}, std::vector<std::uint8_t>(10 * 2112, i),
                        {.last_of_exchange = true});
    }
    f.run_for(second);
  }
  std::size_t links_used() {
    std::size_t used = 0;
    for (InterSwitchLink* link : links) used += sent_on(*link, 0) != 0 ? 1 : 0;
    return used;
  }
  /// In the order of arrival: pairs of frames of one exchange, and of two, that are not in the order of sending.
  std::pair<int, int> inversions() const {
    int within = 0, between = 0, newest = -1;
    std::map<int, int> last;  // SEQ_CNT, by number of the exchange
    for (const auto& frame : log.frames()) {
      const int number = frame.data.at(0), count = frame.header.seq_cnt.value;
      const auto known = last.find(number);
      if (known != last.end() && known->second > count) ++within;
      if (number < newest) ++between;
      last[number] = count;
      newest = std::max(newest, number);
    }
    return {within, between};
  }
  std::vector<InterSwitchLink*> links;
  std::size_t from, to;
  support::FrameLog log;
};
class PairMultipathTest : public MultipathTest {
 protected:
  PairMultipathTest() : MultipathTest(Multipath::PortPair) {}
};
class ExchangeMultipathTest : public MultipathTest {
 protected:
  ExchangeMultipathTest() : MultipathTest(Multipath::Exchange) {}
};
class FrameMultipathTest : public MultipathTest {
 protected:
  FrameMultipathTest() : MultipathTest(Multipath::Frame) {}
};

// FC-VI 3.1.12: an in-order fabric keeps the order of all frames between two ports.
TEST_F(PairMultipathTest, equal_paths_keep_all_in_order) {
  send_exchanges();
  EXPECT_TRUE(f.port(from).in_order());
  EXPECT_EQ(links_used(), 1U);
  EXPECT_EQ(log.size(), 400U);
  EXPECT_EQ(inversions(), std::pair(0, 0));
}

// By exchange: each of them is in order, but they overtake each other: FLOGI's accept promises nothing.
TEST_F(ExchangeMultipathTest, equal_paths_keep_exchanges_in_order) {
  send_exchanges();
  EXPECT_FALSE(f.port(from).in_order());
  EXPECT_EQ(links_used(), 4U);
  EXPECT_EQ(log.size(), 400U);
  EXPECT_EQ(inversions().first, 0);
  EXPECT_GT(inversions().second, 0);
}

// Frame by frame: the natural source of out-of-order delivery.
TEST_F(FrameMultipathTest, equal_paths_reorder_frames) {
  send_exchanges();
  EXPECT_FALSE(f.port(from).in_order());
  for (InterSwitchLink* link : links) EXPECT_EQ(sent_on(*link, 0), 100U);
  EXPECT_EQ(log.size(), 400U);
  EXPECT_GT(inversions().first, 0);
}

// --- changes of paths --------------------------------------------------------------------------------------------

// An ISL goes in the middle: frames on it are lost, and after the reconfiguration delay the others go the other way.
TEST_F(FabricPathsTest, unplugged_link_is_replaced) {
  add_switches(3);
  InterSwitchLink& direct = f.join(0, 2, {.latency_ns = millisecond});
  InterSwitchLink& around = f.join(0, 1);
  f.join(1, 2);
  const auto from = add_port(0), to = add_port(2);
  f.run_for(second);
  for (int i = 0; i < 5; ++i) send(from, to);
  f.run_for(100 * microsecond);
  f.fabric.unplug(direct);
  send(from, to);  // nobody has noticed
  f.run_for(second);
  EXPECT_TRUE(user.ius.empty());
  EXPECT_EQ(f.at(0).counters().discarded(Discard::Unroutable), 1U);
  send(from, to);
  f.run_for(second);
  EXPECT_EQ(user.ius.size(), 1U);
  EXPECT_EQ(sent_on(around, 0), 1U);
  f.fabric.plug(direct);
  f.run_for(second);
  send(from, to);
  f.run_for(second);
  EXPECT_EQ(sent_on(direct, 0), 1U);
}

// A faster path appears while frames are on the slow one: those are lost rather than overtaken. Other
// pairs lose nothing.
TEST_F(FabricPathsTest, joined_faster_path_overtakes_nobody) {
  add_switches(4);
  f.join(0, 1, {.latency_ns = 100 * millisecond});
  f.join(1, 2);
  f.join(1, 3);
  const auto from = add_port(0), to = add_port(2), other = add_port(3);
  f.run_for(second);
  support::FrameLog log;
  f.at(2).tap(f.port(to), &log);
  send(from, to);
  send(from, other);
  f.run_for(10 * millisecond);
  f.join(0, 2);  // one hop, and fast
  f.run_for(20 * millisecond);
  send(from, to);
  f.run_for(second);
  EXPECT_EQ(log.size(), 1U);
  EXPECT_EQ(user.ius.size(), 2U);  // that one, and the other's
  EXPECT_EQ(f.discarded(Discard::PathChanged), 1U);
}

// Whatever happens to the ISLs of a mesh, an in-order fabric delivers no frame behind a later one, nor twice.
TEST_F(FabricPathsTest, changing_mesh_keeps_order) {
  std::mt19937 random(7);
  const auto chance = [&](std::uint32_t below) { return random() % below; };
  add_switches(6);
  std::vector<InterSwitchLink*> links;
  for (std::size_t a = 0; a < 6; ++a)
    for (std::size_t b = 0; b < a; ++b)
      links.push_back(
          &f.join(a, b,
                  {.latency_ns = static_cast<TimeNs>(1 + chance(5000)) * microsecond,
                   .bytes_per_second = wire::line_rate_bytes_per_second(chance(2) != 0 ? "1GFC" : "2GFC")}));
  for (std::size_t i = 0; i < 6; ++i) add_port(i);
  f.run_for(second);
  std::vector<std::map<std::uint32_t, int>> newest(6);  // by receiver and sender: the number in the last frame
  std::vector<int> numbers(36);
  int received = 0;
  user.on_iu = [&](Exchange& exchange, std::span<const std::uint8_t> iu) {
    const int number = iu[0] << 8 | iu[1], to = iu[2];
    int& last = newest[static_cast<std::size_t>(to)][exchange.peer().value];
    EXPECT_GT(number, last);
    last = number;
    ++received;
  };
  for (int step = 0; step < 4000; ++step) {
    const std::size_t from = chance(6), to = chance(6);
    std::vector<std::uint8_t> payload(512);
    const int number = ++numbers[from * 6 + to];
    payload[0] = static_cast<std::uint8_t>(number >> 8);
    payload[1] = static_cast<std::uint8_t>(number);
    payload[2] = static_cast<std::uint8_t>(to);
    if (Exchange* exchange = f.port(from).originate(f.id(to), type, user))
      f.port(from).send(*exchange, RCtl::unsolicited_control, {}, payload, {.last_of_exchange = true});
    f.run_for(static_cast<TimeNs>(chance(1000)) * microsecond);
    if (chance(20) != 0) continue;
    InterSwitchLink& link = *links[chance(15)];
    if (!link.is_up())
      f.fabric.plug(link);
    else
      f.fabric.unplug(link);
  }
  f.run_for(second);
  EXPECT_GT(received, 2000);
  EXPECT_GT(f.discarded(Discard::PathChanged), 0U);
}

// --- age, congestion, taps, faults -------------------------------------------------------------------------------

// FC-FS: a frame that was in the fabric for longer than (R_A_TOV - E_D_TOV) / 2 is discarded.
TEST_F(FabricPathsTest, slow_link_frame_grows_too_old) {
  add_switches(2);
  InterSwitchLink& link = f.join(0, 1, {.latency_ns = 4 * second + 1});
  const auto from = add_port(0), to = add_port(1);
  f.run_for(second);
  send(from, to);
  f.run_for(10 * second);
  EXPECT_EQ(sent_on(link, 0), 1U);
  EXPECT_TRUE(user.ius.empty());
  EXPECT_EQ(f.at(1).counters().discarded(Discard::HeldTooLong), 1U);
}

// Many fast ports send through one slow ISL: they are held back, queues stay short, nothing is lost, and order is kept.
TEST_F(FabricPathsTest, congested_link_holds_senders_back) {
  add_switches(2);
  f.link = rate("8GFC", microsecond);
  InterSwitchLink& link = f.join(0, 1, rate("1GFC"));
  for (int i = 0; i < 8; ++i) add_port(0);
  const auto to = add_port(1);
  f.run_for(second);
  for (std::size_t from = 0; from < 8; ++from)
    for (int i = 0; i < 400; ++i) send(from, to, 2048);
  std::size_t longest = 0;
  for (int i = 0; i < 1000; ++i) {
    f.run_for(100 * microsecond);
    longest = std::max(longest, link.end_at(f.at(0)).waiting());
  }
  EXPECT_GT(longest, 100U);
  EXPECT_LE(longest, f.at(0).config().egress_queue_frames + 8 * 4);  // what was under way from each
  EXPECT_EQ(user.ius.size(), 3200U);
  EXPECT_EQ(f.at(0).counters().discarded(), 0U);
  EXPECT_EQ(f.at(1).counters().discarded(), 0U);
}

// A port behind two switches that takes nothing: the back-pressure goes from switch to switch to the sender.
TEST_F(FabricPathsTest, stalled_port_holds_senders_of_other_switches) {
  struct FarEnd final : FrameOutput, FrameFeeder {
    void send(FramePtr) override { ++sent; }
    void hold() override {}
    void proceed() override {}
    int sent = 0;
  };
  FarEnd sink;
  add_switches(3);
  f.join(0, 1);
  f.join(1, 2);
  f.link = rate("8GFC", microsecond);
  const auto from = add_port(0), helper = add_port(2);
  f.run_for(second);
  FPort* port = f.at(2).attach(sink, sink);
  port->receive(support::flogi_frame(f.pool, f.port(helper).login_parameters(wire::els::Command::flogi)));
  f.run_for(second);
  ASSERT_TRUE(port->logged_in());
  sink.pause();
  sink.sent = 0;
  for (int i = 0; i < 2000; ++i) {
    Exchange* exchange = f.port(from).originate(port->address(), type, user);
    f.port(from).send(*exchange, RCtl::unsolicited_control, {}, std::vector<std::uint8_t>(2048),
                      {.last_of_exchange = true});
  }
  f.run_for(100 * millisecond);
  EXPECT_EQ(sink.sent, 0);
  EXPECT_GT(f.fabric.links()[0]->a().waiting(), 0U);
  EXPECT_LT(f.pool.outstanding(), 2100U);
  sink.resume();
  f.run_for(second);
  EXPECT_EQ(sink.sent, 2000);
  EXPECT_EQ(f.at(2).counters().discarded(), 0U);
  f.at(2).detach(*port);
}

// Any ISL can be tapped: one end of it shows both directions.
TEST_F(FabricPathsTest, tapped_link_shows_both_directions) {
  add_switches(2);
  InterSwitchLink& link = f.join(0, 1);
  const auto a = add_port(0), b = add_port(1);
  f.run_for(second);
  support::FrameLog log;
  link.tap(f.at(0), &log);
  send(a, b);
  send(b, a);
  f.run_for(second);
  EXPECT_EQ(log.count([](const auto& frame) { return frame.outbound; }), 1U);
  EXPECT_EQ(log.count([](const auto& frame) { return !frame.outbound; }), 1U);
  link.tap(f.at(0), nullptr);
  send(a, b);
  f.run_for(second);
  EXPECT_EQ(log.size(), 2U);
}

// Any ISL can be given faults, in each direction.
TEST_F(FabricPathsTest, faulty_link_loses_frames) {
  struct Lose final : FrameFault {
    void carry(Channel&, FramePtr) override { ++lost; }
    int lost = 0;
  };
  Lose lose;
  add_switches(2);
  InterSwitchLink& link = f.join(0, 1);
  const auto a = add_port(0), b = add_port(1);
  f.run_for(second);
  link.set_faults(&lose, nullptr);
  send(a, b);
  send(b, a);
  f.run_for(second);
  EXPECT_EQ(user.ius.size(), 1U);
  EXPECT_EQ(lose.lost, 1);
  link.set_faults(nullptr, nullptr);
}

}  // namespace
}  // namespace fc2
