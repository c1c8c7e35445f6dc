// Rules that come and go, on links that come and go: which links pass all their frames through the service, what
// befalls the frames, and that a link returns only behind the last of its delayed frames.
#include "tools/fabricd/live_faults.hpp"

#include <gtest/gtest.h>

#include "fc2_fabric/drivers/crossbar.hpp"
#include "fc2_fabric/fcoe/virtual_link.hpp"
#include "tests/support/frame_log.hpp"
#include "tests/support/made_frame.hpp"

namespace fabricd {
namespace {
using runtime::millisecond;
using runtime::second;

/// A link whose far ends remember what came.
class FakeLink final : public FaultLink {
 public:
  FakeLink(runtime::Scheduler& scheduler, std::string called, std::uint32_t address)
      : name(std::move(called)), id{address}, sent_(scheduler, fabric), received_(scheduler, port) {}
  void set_faults(fc2::FrameFault* sent, fc2::FrameFault* received) override {
    sent_.set_fault(sent);
    received_.set_fault(received);
  }
  [[nodiscard]] std::size_t in_flight() const override { return sent_.in_flight() + received_.in_flight(); }
  void hasten() override {
    sent_.hasten();
    received_.hasten();
  }
  void watch(bool watched) override { watchers += watched ? 1 : -1; }
  [[nodiscard]] bool is_passed_by() const override { return passed_by; }
  [[nodiscard]] bool is_called(std::string_view wanted) const override { return wanted == name; }
  [[nodiscard]] std::string text() const override { return name; }
  [[nodiscard]] bool has_address(wire::FcId wanted) const override { return wanted == id; }
  void send(fc2::FramePtr frame) { sent_.send(std::move(frame)); }
  void receive(fc2::FramePtr frame) { received_.send(std::move(frame)); }

  std::string name;
  wire::FcId id;
  support::FrameLog fabric, port;  // what came at either end
  int watchers = 0;
  bool passed_by = false;

 private:
  fc2::fcoe::LinkOutput sent_, received_;
};

class LiveFaultsTest : public testing::Test {
 protected:
  LiveFaults::Id add(const std::string& text) {
    auto rules = fault_rules_in(text, "test");
    EXPECT_TRUE(rules) << rules.error().message;
    std::vector<LiveFaults::Id> ids;
    EXPECT_TRUE(faults.add(*rules, ids));
    EXPECT_EQ(ids.size(), rules->size());
    return ids.empty() ? 0 : ids.back();
  }
  fc2::FramePtr frame(std::uint32_t from, std::uint32_t to, std::uint16_t seq_cnt = 0,
                      wire::RCtl r_ctl = wire::RCtl::els_request) {
    wire::FcHeader header{.r_ctl = r_ctl, .d_id = {to}, .s_id = {from}, .type = wire::Type::els};
    header.seq_cnt = {seq_cnt};
    return support::made_frame(pool, header);
  }
  /// What takes no time is over.
  void settle() { scheduler.run_until(scheduler.now()); }
  void send(FakeLink& link, std::uint16_t seq_cnt = 0) {
    link.send(frame(link.id.value, 0x010900, seq_cnt));
    settle();
  }
  std::vector<std::uint16_t> order(const support::FrameLog& log) {
    std::vector<std::uint16_t> seen;
    for (const auto& logged : log.frames()) seen.push_back(logged.header.seq_cnt.value);
    return seen;
  }
  LiveFaults::State state_of(LiveFaults::Id id) {
    for (const auto& state : faults.states())
      if (state.id == id) return state;
    ADD_FAILURE() << "there is no rule " << id;
    return {};
  }

  runtime::Scheduler scheduler;
  fc2::FramePool pool;
  std::vector<LiveFaults::Id> befell;
  std::vector<std::string> notes;  // what each did
  LiveFaults faults{scheduler, [this](LiveFaults::Id rule, const std::string& note, const fc2::Frame&) {
                      befell.push_back(rule);
                      notes.push_back(note);
                    }};
  FakeLink alice{scheduler, "alice", 0x010100}, bob{scheduler, "bob", 0x010200};
};

// A rule that names a port is on its link and no other; when it goes, the link is left alone.
TEST_F(LiveFaultsTest, rule_with_port_concerns_its_link) {
  faults.add(alice);
  faults.add(bob);
  const auto id = add("{action: drop, port: alice, nth: 2}");
  EXPECT_EQ(alice.watchers, 1);
  EXPECT_EQ(bob.watchers, 0);
  for (std::uint16_t i = 1; i <= 3; ++i) send(alice, i), send(bob, i);
  EXPECT_EQ(order(alice.fabric), (std::vector<std::uint16_t>{1, 3}));
  EXPECT_EQ(order(bob.fabric), (std::vector<std::uint16_t>{1, 2, 3}));
  EXPECT_EQ(befell, std::vector{id});
  EXPECT_EQ(state_of(id).matched, 3U);
  EXPECT_EQ(state_of(id).fired, 1U);
  EXPECT_EQ(state_of(id).links, std::vector<std::string>{"alice"});
  EXPECT_TRUE(faults.remove(id));
  EXPECT_EQ(alice.watchers, 0);
  EXPECT_FALSE(faults.remove(id));
}

// Captures say what each rule does, in the words of the simulator's.
TEST_F(LiveFaultsTest, listener_hears_what_a_rule_does) {
  faults.add(alice);
  add("[{action: drop, port: alice, nth: 1}, {action: delay, by: 5ms, port: alice, nth: 2}, "
      "{action: corrupt, bit: 300, port: alice, nth: 3}, {action: duplicate, port: alice, nth: 4}]");
  for (std::uint16_t i = 1; i <= 5; ++i) send(alice, i);
  EXPECT_EQ(notes, (std::vector<std::string>{"lost", "delayed by 5.000 ms", "corrupted, bit 300", "duplicated"}));
}

// A rule whose limit is reached, or whose turn was, lets its link go back to memory; the rule stays, and is told of.
TEST_F(LiveFaultsTest, rule_that_is_spent_leaves_its_link) {
  for (const char* text : {"{action: drop, port: alice, limit: 2}", "{action: drop, port: alice, nth: [1, 2]}"}) {
    faults.add(alice);
    const auto id = add(text);
    send(alice, 1);
    scheduler.run_until(scheduler.now() + second);
    EXPECT_EQ(alice.watchers, 1) << text;
    send(alice, 2), send(alice, 3);
    EXPECT_EQ(order(alice.fabric), std::vector<std::uint16_t>{3});
    scheduler.run_until(scheduler.now() + second);
    EXPECT_EQ(alice.watchers, 0) << text;
    EXPECT_TRUE(state_of(id).over);
    EXPECT_EQ(state_of(id).fired, 2U);
    const auto other = add("{action: drop, port: alice, nth: 1}");
    EXPECT_EQ(alice.watchers, 1);
    send(alice, 4);
    EXPECT_EQ(state_of(other).fired, 1U);
    faults.remove_all();
    EXPECT_EQ(alice.watchers, 0);
    faults.remove(alice);
    alice.fabric.clear();
  }
}

// The same when its time is over, without a frame; what it has delayed beyond that time arrives before.
TEST_F(LiveFaultsTest, rule_whose_time_is_over_leaves_its_link) {
  faults.add(alice);
  faults.add(bob);
  add("{action: drop, port: bob, until: 2s}");
  add("{action: delay, by: 5s, port: alice, until: 1s}");
  scheduler.run_until(scheduler.now() + 500 * millisecond);
  send(alice, 1);
  scheduler.run_until(scheduler.now() + 900 * millisecond);
  EXPECT_EQ(alice.watchers, 1);  // the frame is still to come
  EXPECT_EQ(bob.watchers, 1);
  scheduler.run_until(scheduler.now() + second);
  EXPECT_EQ(bob.watchers, 0);
  EXPECT_EQ(alice.watchers, 1);
  send(alice, 2);  // behind it
  scheduler.run_until(scheduler.now() + 5 * second);
  EXPECT_EQ(order(alice.fabric), (std::vector<std::uint16_t>{1, 2}));
  EXPECT_EQ(alice.watchers, 0);
}

// A rule without a port is on all links, also on those that come later.
TEST_F(LiveFaultsTest, rule_without_port_concerns_all) {
  faults.add(alice);
  const auto id = add("{action: drop, limit: 2}");
  faults.add(bob);
  EXPECT_EQ(alice.watchers, 1);
  EXPECT_EQ(bob.watchers, 1);
  EXPECT_TRUE(state_of(id).any_port);
  send(alice), send(bob), send(bob, 7);
  EXPECT_EQ(alice.fabric.size(), 0U);
  EXPECT_EQ(order(bob.fabric), std::vector<std::uint16_t>{7});
  faults.remove_all();
  EXPECT_EQ(alice.watchers, 0);
  EXPECT_EQ(bob.watchers, 0);
}

// The port comes after its rule, is renamed, goes and comes back: the rule is on it while it is called so.
TEST_F(LiveFaultsTest, port_comes_after_its_rule) {
  const auto id = add("{action: drop, port: carol}");
  EXPECT_EQ(state_of(id).miss, "no frame passed");
  faults.add(alice);
  EXPECT_EQ(alice.watchers, 0);
  send(alice);
  EXPECT_EQ(alice.fabric.size(), 1U);
  alice.name = "carol";
  faults.look_at(alice);
  EXPECT_EQ(alice.watchers, 1);
  send(alice);
  EXPECT_EQ(alice.fabric.size(), 1U);
  faults.remove(alice);
  EXPECT_TRUE(state_of(id).links.empty());
  faults.add(bob);
  EXPECT_EQ(bob.watchers, 0);
}

// The peer is who has the address at the other end.
TEST_F(LiveFaultsTest, peer_is_found_by_address) {
  faults.add(alice);
  faults.add(bob);
  const auto id = add("{action: drop, port: alice, peer: bob, direction: both}");
  alice.send(frame(alice.id.value, bob.id.value, 1));
  alice.send(frame(alice.id.value, 0x010900, 2));
  alice.receive(frame(bob.id.value, alice.id.value, 3));
  alice.receive(frame(0x010900, alice.id.value, 4));
  settle();
  EXPECT_EQ(order(alice.fabric), std::vector<std::uint16_t>{2});
  EXPECT_EQ(order(alice.port), std::vector<std::uint16_t>{4});
  EXPECT_EQ(state_of(id).fired, 2U);
}

// No frame comes near, or one nearly does: the rule says so, as in scenarios.
TEST_F(LiveFaultsTest, rule_that_never_fired_says_why) {
  faults.add(alice);
  const auto far = add("{action: drop, port: alice, message: ABTS}");
  const auto later = add("{action: drop, port: alice, nth: 9}");
  send(alice), send(alice);
  EXPECT_EQ(state_of(far).miss, "no frame matched; 2 came nearest, and failed at message");
  EXPECT_EQ(state_of(later).miss, "2 frames matched, none at its turn");
}

// An earlier rule takes each frame: the later one says so.
TEST_F(LiveFaultsTest, rule_behind_another_says_why) {
  faults.add(alice);
  add("{action: delay, by: 1ms, port: alice}");
  const auto later = add("{action: drop, port: alice, every: 2}");
  send(alice), send(alice), send(alice);
  EXPECT_EQ(state_of(later).miss, "3 matched; an earlier rule took 1 at its turn");
}

// Frames are held back when the last rule goes: they arrive at once and in their order, what is sent just then behind
// them, and the link stays with the service until they have gone.
TEST_F(LiveFaultsTest, link_returns_behind_its_last_delayed_frame) {
  faults.add(alice);
  const auto id = add("{action: delay, by: 100000s, port: alice, direction: both}");
  send(alice, 1), send(alice, 2);
  for (std::uint16_t i = 4; i <= 5; ++i) alice.receive(frame(0x010900, alice.id.value, i));
  settle();
  EXPECT_EQ(alice.fabric.size() + alice.port.size(), 0U);
  faults.remove(id);
  EXPECT_EQ(alice.watchers, 1);
  alice.receive(frame(0x010900, alice.id.value, 6));
  send(alice, 3);
  EXPECT_EQ(order(alice.fabric), (std::vector<std::uint16_t>{1, 2, 3}));
  EXPECT_EQ(order(alice.port), (std::vector<std::uint16_t>{4, 5, 6}));
  scheduler.run_until(scheduler.now() + 10 * millisecond);
  EXPECT_EQ(alice.watchers, 0);
}

// The time or the limit of a rule that delays each frame is over while frames are on their way: those that follow, and
// those that another rule delays less, arrive behind them.
TEST_F(LiveFaultsTest, order_holds_behind_a_delay_that_is_over) {
  faults.add(alice);
  for (const std::string end : {"until: 10ms", "limit: 2"}) {
    add("{action: delay, by: 20ms, port: alice, " + end + "}");
    add("{action: delay, by: 5ms, port: alice, fields: {seq_cnt: 4}}");
    send(alice, 1), send(alice, 2);
    scheduler.run_until(scheduler.now() + 12 * millisecond);
    for (std::uint16_t i = 3; i <= 5; ++i) send(alice, i);
    EXPECT_EQ(alice.fabric.size(), 0U);
    scheduler.run_until(scheduler.now() + 30 * millisecond);
    EXPECT_EQ(order(alice.fabric), (std::vector<std::uint16_t>{1, 2, 3, 4, 5})) << end;
    faults.remove_all();
    alice.fabric.clear();
  }
}

// A rule that chooses among frames delays those, and no others: also after its last.
TEST_F(LiveFaultsTest, delay_of_one_frame_changes_the_order) {
  faults.add(alice);
  add("{action: delay, by: 5ms, port: alice, nth: 1, limit: 1}");
  send(alice, 1), send(alice, 2);
  scheduler.run_until(scheduler.now() + 10 * millisecond);
  EXPECT_EQ(order(alice.fabric), (std::vector<std::uint16_t>{2, 1}));
}

// The rule leaves the link because the port is called otherwise: what it delayed arrives before what follows.
TEST_F(LiveFaultsTest, order_holds_when_the_port_is_renamed) {
  faults.add(alice);
  add("{action: delay, by: 20ms, port: alice}");
  send(alice, 1);
  alice.name = "carol";
  faults.look_at(alice);
  send(alice, 2);
  EXPECT_EQ(order(alice.fabric), (std::vector<std::uint16_t>{1, 2}));
}

// The same of a frame that waits for others behind it, and a rule that comes then keeps the link.
TEST_F(LiveFaultsTest, link_with_held_frame_gets_another_rule) {
  faults.add(alice);
  const auto id = add("{action: reorder, frames: 2, port: alice, nth: 1, longest_hold: 50ms}");
  send(alice, 1), send(alice, 2);
  EXPECT_EQ(order(alice.fabric), std::vector<std::uint16_t>{2});
  faults.remove(id);
  add("{action: drop, port: alice, nth: 1}");
  settle();
  EXPECT_EQ(order(alice.fabric), (std::vector<std::uint16_t>{2, 1}));
  EXPECT_EQ(alice.watchers, 1);
  send(alice, 3), send(alice, 4);
  EXPECT_EQ(order(alice.fabric), (std::vector<std::uint16_t>{2, 1, 4}));
}

// The link goes while frames are held back for it: they are lost, nothing is left that would hand them over.
TEST_F(LiveFaultsTest, link_goes_with_held_frames) {
  faults.add(alice);
  add("{action: reorder, port: alice, frames: 5}");
  send(alice, 1);
  faults.remove(alice);
  EXPECT_EQ(pool.outstanding(), 0U);
  scheduler.run_until(scheduler.now() + 10'000 * millisecond);
  EXPECT_EQ(alice.fabric.size(), 0U);
}

// A way mark tells a library what came by which way: no rule sees it.
TEST_F(LiveFaultsTest, way_marks_pass_every_rule) {
  faults.add(alice);
  const auto id = add("{action: drop, direction: both}");
  alice.send(frame(alice.id.value, bob.id.value, 1, fc2::drivers::Crossbar::way_mark));
  alice.receive(frame(bob.id.value, alice.id.value, 2, fc2::drivers::Crossbar::way_mark));
  settle();
  EXPECT_EQ(alice.fabric.size() + alice.port.size(), 2U);
  EXPECT_EQ(state_of(id).matched, 0U);
}

// Times count from when the rule came.
TEST_F(LiveFaultsTest, times_count_from_when_it_was_added) {
  faults.add(alice);
  scheduler.run_until(scheduler.now() + 500 * millisecond);
  add("{action: drop, port: alice, from: 10ms, until: 20ms}");
  send(alice, 1);
  scheduler.run_until(scheduler.now() + 10 * millisecond);
  send(alice, 2);
  scheduler.run_until(scheduler.now() + 10 * millisecond);
  send(alice, 3);
  EXPECT_EQ(order(alice.fabric), (std::vector<std::uint16_t>{1, 3}));
}

// A delay without an end does not take the service's memory: with so many frames on their way, others pass at once.
TEST_F(LiveFaultsTest, frames_that_are_delayed_are_bounded) {
  faults.add(alice);
  add("{action: delay, by: 1000s, port: alice}");
  for (std::size_t i = 0; i < LiveFaults::max_delayed + 10; ++i) send(alice);
  EXPECT_EQ(alice.fabric.size(), 10U);
  EXPECT_EQ(pool.outstanding(), LiveFaults::max_delayed);
  EXPECT_EQ(faults.unjudged(), 10U);
}

// Of too many rules none is added.
TEST_F(LiveFaultsTest, rules_are_bounded) {
  for (std::size_t i = 0; i < max_live_rules; ++i) add("{action: drop, nth: 9}");
  std::vector<LiveFaults::Id> ids;
  EXPECT_FALSE(faults.add(*fault_rules_in("{action: drop}", "test"), ids));
  EXPECT_TRUE(ids.empty());
  EXPECT_EQ(faults.count(), max_live_rules);
}

// Whose frames may still pass the service by is told, of links with rules.
TEST_F(LiveFaultsTest, links_that_are_passed_by_are_told) {
  faults.add(alice);
  faults.add(bob);
  alice.passed_by = bob.passed_by = true;
  const auto id = add("{action: drop, port: alice}"), other = add("{action: drop, port: bob}");
  EXPECT_EQ(faults.passed_by({id}), std::vector<std::string>{"alice"});
  EXPECT_EQ(faults.passed_by({id, other}), (std::vector<std::string>{"alice", "bob"}));
  alice.passed_by = false;
  EXPECT_TRUE(faults.passed_by({id}).empty());
}

}  // namespace
}  // namespace fabricd
