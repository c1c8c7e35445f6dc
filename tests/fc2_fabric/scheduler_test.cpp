#include "fc2_fabric/frame/time.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <map>
#include <memory>
#include <random>
#include <vector>

namespace fc2 {
namespace {

class Probe final : public Event {
 public:
  explicit Probe(std::function<void(TimeNs)> action) : action_(std::move(action)) {}

 private:
  void fire(TimeNs now) override { action_(now); }
  std::function<void(TimeNs)> action_;
};

class SchedulerTest : public testing::Test {
 protected:
  std::unique_ptr<Probe> probe(int id) {
    return std::make_unique<Probe>([this, id](TimeNs now) { fired.emplace_back(id, now); });
  }
  std::vector<std::pair<int, TimeNs>> fired;
  Scheduler scheduler;
};
using Fired = std::vector<std::pair<int, TimeNs>>;

// Time never starts at zero: a zero shows an uninitialised time.
TEST_F(SchedulerTest, new_starts_after_zero) {
  EXPECT_GT(scheduler.now(), 0);
  EXPECT_TRUE(scheduler.idle());
  EXPECT_EQ(scheduler.next_time(), never);
  EXPECT_FALSE(scheduler.run_next(never));
}

// Events fire in the order of their times, whatever the order of scheduling.
TEST_F(SchedulerTest, scheduled_run_in_time_order) {
  auto a = probe(1), b = probe(2), c = probe(3);
  const TimeNs t = scheduler.now();
  scheduler.schedule(*a, t + 30);
  scheduler.schedule(*b, t + 10);
  scheduler.schedule(*c, t + 20);
  scheduler.run_until(t + 100);
  EXPECT_EQ(fired, (Fired{{2, t + 10}, {3, t + 20}, {1, t + 30}}));
  EXPECT_EQ(scheduler.now(), t + 100);
}

// What is scheduled first comes before all else of its time, by rank, whenever it was scheduled; also when that time is
// there, and after it was moved.
TEST_F(SchedulerTest, scheduled_first_run_before_all_others_of_their_time_by_rank) {
  auto usual = probe(1), early = probe(2), late = probe(3), moved = probe(4), other_time = probe(5);
  const TimeNs t = scheduler.now() + 5;
  scheduler.schedule(*usual, t);
  scheduler.schedule_first(*late, t, 9);
  scheduler.schedule_first(*moved, t + 7, 1);
  scheduler.schedule_first(*early, t, 3);
  scheduler.schedule_first(*moved, t, 4);
  scheduler.schedule(*other_time, t - 1);
  scheduler.run_until(t);
  EXPECT_EQ(fired, (Fired{{5, t - 1}, {2, t}, {4, t}, {3, t}, {1, t}}));
}

// In an event: before what is scheduled for the present instant already.
TEST_F(SchedulerTest, scheduled_first_at_the_present_instant_run_before_those_that_wait) {
  auto waits = probe(1), first = probe(2);
  Probe acts([&](TimeNs now) {
    scheduler.schedule(*waits, now);
    scheduler.schedule_first(*first, now, 1);
  });
  const TimeNs t = scheduler.now() + 5;
  scheduler.schedule(acts, t);
  scheduler.run_until(t);
  EXPECT_EQ(fired, (Fired{{2, t}, {1, t}}));
  EXPECT_TRUE(scheduler.idle());
}

// Events of one instant fire in the order of scheduling.
TEST_F(SchedulerTest, equal_times_run_in_scheduling_order) {
  std::vector<std::unique_ptr<Probe>> probes;
  for (int i = 0; i < 20; ++i) probes.push_back(probe(i));
  const TimeNs t = scheduler.now() + 5;
  for (auto& p : probes) scheduler.schedule(*p, t);
  scheduler.run_until(t);
  ASSERT_EQ(fired.size(), 20U);
  for (int i = 0; i < 20; ++i) EXPECT_EQ(fired[static_cast<std::size_t>(i)].first, i);
}

// Rescheduling to the same time puts an event behind those that were there.
TEST_F(SchedulerTest, pending_rescheduled_to_same_time_goes_last) {
  auto a = probe(1), b = probe(2);
  const TimeNs t = scheduler.now() + 5;
  scheduler.schedule(*a, t);
  scheduler.schedule(*b, t);
  scheduler.schedule(*a, t);
  scheduler.run_until(t);
  EXPECT_EQ(fired, (Fired{{2, t}, {1, t}}));
}

// A pending event moves both ways, and fires once.
TEST_F(SchedulerTest, pending_rescheduled_moves) {
  auto a = probe(1), b = probe(2);
  const TimeNs t = scheduler.now();
  scheduler.schedule(*a, t + 10);
  scheduler.schedule(*b, t + 20);
  scheduler.schedule(*a, t + 30);
  scheduler.schedule(*b, t + 5);
  scheduler.run_until(t + 100);
  EXPECT_EQ(fired, (Fired{{2, t + 5}, {1, t + 30}}));
}

// A cancelled event does not fire; cancelling twice is harmless.
TEST_F(SchedulerTest, pending_cancelled_does_not_fire) {
  auto a = probe(1), b = probe(2);
  scheduler.schedule(*a, scheduler.now() + 10);
  scheduler.schedule(*b, scheduler.now() + 10);
  scheduler.cancel(*a);
  scheduler.cancel(*a);
  EXPECT_FALSE(a->pending());
  scheduler.run_until(scheduler.now() + 20);
  ASSERT_EQ(fired.size(), 1U);
  EXPECT_EQ(fired[0].first, 2);
}

// An event that is destroyed takes itself out.
TEST_F(SchedulerTest, pending_destroyed_does_not_fire) {
  auto a = probe(1);
  scheduler.schedule(*a, scheduler.now() + 10);
  a.reset();
  scheduler.run_until(scheduler.now() + 20);
  EXPECT_TRUE(fired.empty());
}

// A scheduler that goes first leaves events that may be destroyed.
TEST_F(SchedulerTest, destroyed_leaves_its_events) {
  auto a = probe(1);
  {
    Scheduler other;
    other.schedule(*a, other.now() + 10);
  }
  EXPECT_FALSE(a->pending());
}

// A time in the past counts as now, behind what is due now.
TEST_F(SchedulerTest, scheduled_in_the_past_runs_now) {
  scheduler.run_until(2 * second);
  auto a = probe(1);
  scheduler.schedule(*a, second);
  EXPECT_TRUE(scheduler.run_next(scheduler.now()));
  EXPECT_EQ(fired, (Fired{{1, 2 * second}}));
}

// "Never" is a time that does not overflow.
TEST_F(SchedulerTest, scheduled_after_never_does_not_fire) {
  auto a = probe(1);
  scheduler.schedule_after(*a, never);
  EXPECT_EQ(scheduler.next_time(), never);
  scheduler.run_until(1000 * second);
  EXPECT_TRUE(fired.empty());
}

// An event may schedule itself and others while it fires.
TEST_F(SchedulerTest, firing_schedules_itself) {
  int count = 0;
  std::unique_ptr<Probe> a;
  a = std::make_unique<Probe>([&](TimeNs) {
    if (++count < 5) scheduler.schedule_after(*a, 10);
  });
  scheduler.schedule_after(*a, 10);
  scheduler.run_until(scheduler.now() + 1000);
  EXPECT_EQ(count, 5);
  EXPECT_EQ(scheduler.fired_count(), 5U);
}

// What fires counts no longer as pending, neither for itself nor behind its end, and may be destroyed: its place in the
// heap is taken by the next one or closed, with any number of others behind it.
TEST_F(SchedulerTest, firing_is_gone_from_the_schedule) {
  for (int others = 0; others < 24; ++others) {
    Scheduler own;
    std::vector<std::unique_ptr<Probe>> later;
    std::unique_ptr<Probe> first;
    TimeNs seen = 0;
    first = std::make_unique<Probe>([&](TimeNs) {
      EXPECT_EQ(own.pending_count(), static_cast<std::size_t>(others));
      EXPECT_EQ(own.idle(), others == 0);
      seen = own.next_time();
    });
    const TimeNs t = own.now();
    own.schedule(*first, t + 1);
    for (int i = 0; i < others; ++i) own.schedule(*later.emplace_back(probe(i)), t + 100 - i);
    ASSERT_TRUE(own.run_next(never));
    first.reset();
    EXPECT_EQ(seen, others == 0 ? never : t + 101 - others);
    EXPECT_EQ(own.next_time(), seen);
    if (others % 3 == 1) own.schedule(*later.back(), t + 200);  // the place stays open meanwhile
    if (others % 3 == 2) own.cancel(*later.front());
    if (others % 4 < 2) own.schedule(*later.emplace_back(probe(99)), t + 50);
    fired.clear();
    own.run_until(t + 300);
    EXPECT_EQ(fired.size(), later.size() - (others % 3 == 2 ? 1 : 0));
    EXPECT_TRUE(std::ranges::is_sorted(fired, {}, [](const auto& one) { return one.second; }));
  }
}

// A scheduler may go while the place of what fired last is open.
TEST_F(SchedulerTest, destroyed_after_firing_leaves_its_events) {
  auto a = probe(1), b = probe(2);
  {
    Scheduler other;
    auto gone = probe(3);
    other.schedule(*gone, other.now() + 1);
    other.schedule(*a, other.now() + 2);
    other.schedule(*b, other.now() + 3);
    ASSERT_TRUE(other.run_next(never));
    gone.reset();
  }
  EXPECT_FALSE(a->pending());
  EXPECT_FALSE(b->pending());
}

// Random schedules, moves and cancels fire exactly as in a multimap of (time, order).
TEST_F(SchedulerTest, random_operations_match_a_multimap) {
  std::mt19937 random(20);
  std::vector<std::unique_ptr<Probe>> probes;
  for (int i = 0; i < 64; ++i) probes.push_back(probe(i));
  std::map<std::pair<TimeNs, std::uint64_t>, int> model;
  std::vector<std::pair<TimeNs, std::uint64_t>> keys(64, {0, 0});
  std::uint64_t order = 1;
  Fired expected;
  const auto take_out = [&](std::size_t i) { model.erase(keys[i]), keys[i] = {0, 0}; };
  for (int step = 0; step < 20000; ++step) {
    const std::size_t i = random() % 64;
    const auto what = random() % 8;
    if (what < 5) {
      const TimeNs at = scheduler.now() + (random() % 3 == 0 ? 0 : static_cast<TimeNs>(random() % 50));
      take_out(i);
      scheduler.schedule(*probes[i], at);
      model[keys[i] = {at, order++}] = static_cast<int>(i);
    } else if (what == 5) {
      take_out(i);
      scheduler.cancel(*probes[i]);
    } else if (!model.empty()) {
      const auto [key, id] = *model.begin();
      expected.emplace_back(id, key.first);
      take_out(static_cast<std::size_t>(id));
      ASSERT_TRUE(scheduler.run_next(never));
    }
    ASSERT_EQ(scheduler.pending_count(), model.size());
    ASSERT_EQ(scheduler.next_time(), model.empty() ? never : model.begin()->first.first);
  }
  EXPECT_EQ(fired, expected);
}

// Events of now fire behind those whose time it became, and before all that comes later, however many they are.
TEST_F(SchedulerTest, scheduled_now_runs_behind_what_is_due) {
  auto due = probe(100), also_due = probe(101), later = probe(102);
  const TimeNs t = scheduler.now() + 10;
  scheduler.schedule(*due, t);
  scheduler.schedule(*later, t + 1);
  scheduler.schedule(*also_due, t);
  ASSERT_TRUE(scheduler.run_next(t));
  std::vector<std::unique_ptr<Probe>> probes;
  for (int i = 0; i < 40; ++i) scheduler.schedule(*probes.emplace_back(probe(i)), t);
  EXPECT_EQ(scheduler.next_time(), t);
  Fired expected{{100, t}, {101, t}};
  for (int i = 0; i < 40; ++i) expected.emplace_back(i, t);
  expected.emplace_back(102, t + 1);
  scheduler.run_until(t + 1);
  EXPECT_EQ(fired, expected);
}

// An event of now moves to a later time, and back behind the others; a limit in the past holds it.
TEST_F(SchedulerTest, scheduled_now_moves_and_waits_for_the_limit) {
  auto a = probe(1), b = probe(2);
  const TimeNs t = scheduler.now();
  scheduler.schedule(*a, t);
  scheduler.schedule(*b, t);
  scheduler.schedule(*a, t + 5);
  scheduler.schedule(*a, t);
  EXPECT_FALSE(scheduler.run_next(t - 1));
  scheduler.run_until(t);
  EXPECT_EQ(fired, (Fired{{2, t}, {1, t}}));
  EXPECT_TRUE(scheduler.idle());
}

// A scheduler that goes first leaves its events of now, too.
TEST_F(SchedulerTest, destroyed_leaves_its_events_of_now) {
  auto a = probe(1), b = probe(2);
  {
    Scheduler other;
    other.schedule(*a, other.now());
    other.schedule(*b, other.now());
    other.cancel(*a);
  }
  EXPECT_FALSE(a->pending());
  EXPECT_FALSE(b->pending());
}

// An event that does the work of several is counted so.
TEST_F(SchedulerTest, firing_counts_more) {
  Probe several([this](TimeNs) { scheduler.count_more(3); });
  scheduler.schedule_after(several, 0);
  scheduler.run_until(scheduler.now());
  EXPECT_EQ(scheduler.fired_count(), 4U);
}

// Timer calls a member function.
TEST_F(SchedulerTest, timer_calls_its_owner) {
  struct Owner {
    void expired() { ++count; }
    int count = 0;
  } owner;
  Timer<Owner, &Owner::expired> timer(owner);
  scheduler.schedule_after(timer, 5);
  scheduler.run_until(scheduler.now() + 5);
  EXPECT_EQ(owner.count, 1);
}

}  // namespace
}  // namespace fc2
