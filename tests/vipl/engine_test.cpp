// vipl/engine/engine.hpp: who runs the core, and that nothing that rang is forgotten. Run under ThreadSanitizer too.
#include "vipl/engine/engine.hpp"

#include <gtest/gtest.h>

#include <condition_variable>
#include <mutex>
#include <new>
#include <thread>
#include <utility>
#include <vector>

#include "tests/vipl/still_runtime.hpp"
#include "vipl/engine/futex.hpp"

using namespace vipl;

namespace {

/// Counts what it is served; `submitted` is what others did before they rang.
class Source final : public Bell {
 public:
  std::atomic<std::uint64_t> submitted{0};
  std::uint64_t taken = 0;  // the engine's

 private:
  std::size_t serve() override {
    const std::uint64_t now = submitted.load();
    const std::uint64_t count = now - taken;
    taken = now;
    return count;
  }
};

class Ticker final : public runtime::Event {
 public:
  Ticker(runtime::Scheduler& scheduler, int times) : scheduler_(scheduler), left_(times) {}
  [[nodiscard]] int left() const { return left_; }

 private:
  void fire(TimeNs now) override {
    if (--left_ > 0) scheduler_.schedule(*this, now);
  }
  runtime::Scheduler& scheduler_;
  int left_;
};

/// Serves on a thread of its own, when called; no timer.
class TestRuntime final : public Runtime {
 public:
  ~TestRuntime() override { stop(); }
  void serve_with(Engine& engine) {
    service_ = std::thread([this, &engine] {
      std::unique_lock lock(mutex_);
      for (;;) {
        called_.wait(lock, [this] { return stop_ || calls_ != served_; });
        if (stop_) return;
        served_ = calls_;
        lock.unlock();
        engine.serve();
        lock.lock();
      }
    });
  }
  void stop() {
    {
      const std::lock_guard lock(mutex_);
      stop_ = true;
    }
    called_.notify_all();
    if (service_.joinable()) service_.join();
  }
  [[nodiscard]] TimeNs now() const override { return monotonic_now(); }
  bool wait(EventCount& point, std::uint32_t key, TimeNs deadline) override {
    return futex_wait(point.epoch(), key, deadline);
  }
  void set_alarm(TimeNs at, TimeNs now) override {
    if (alarm_ <= now || at < alarm_) alarm_ = at;
  }
  /// With the engine's lock: when it rings next.
  [[nodiscard]] TimeNs alarm() const { return alarm_; }
  [[nodiscard]] std::size_t slice_events() const override { return 64; }
  void call_service() override {
    {
      const std::lock_guard lock(mutex_);
      ++calls_;
    }
    called_.notify_all();
  }
  void start_thread(std::function<void()>) override {}
  boost::asio::io_context* io() override { return nullptr; }
  [[nodiscard]] unsigned calls() {
    const std::lock_guard lock(mutex_);
    return calls_;
  }

 private:
  void wake(EventCount& point, bool) override { futex_wake_all(point.epoch()); }
  std::mutex mutex_;
  std::condition_variable called_;
  std::thread service_;
  TimeNs alarm_ = runtime::never;
  unsigned calls_ = 0, served_ = 0;
  bool stop_ = false;
};

/// Inside the engine: until `done()`, or a hung test.
void await(Engine& engine, const std::function<bool()>& done) {
  for (bool ready = false; !ready;) {
    engine.enter();
    ready = done();
    engine.leave();
    if (!ready) std::this_thread::yield();
  }
}

}  // namespace

TEST(Engine, rings_are_served_at_once_by_who_rings_when_nobody_is_inside) {
  TestRuntime runtime;
  Engine engine(runtime);
  Source source;
  source.submitted = 3;
  engine.ring(source);
  EXPECT_EQ(source.taken, 3u);
  EXPECT_EQ(runtime.calls(), 0u);
}

// An alarm of an event that was cancelled rings for nothing, and then the one of the next event is set.
TEST(Engine, alarm_of_a_cancelled_event_makes_way_for_the_next) {
  TestRuntime runtime;
  Engine engine(runtime);
  constexpr TimeNs soon = 2 * runtime::millisecond, late = 3600 * runtime::second;
  engine.enter();
  Ticker first(engine.scheduler(), 1), second(engine.scheduler(), 1);
  const TimeNs start = monotonic_now();
  engine.scheduler().schedule(first, start + soon);
  engine.scheduler().schedule(second, start + late);
  engine.leave();
  EXPECT_EQ(runtime.alarm(), start + soon);
  engine.enter();
  engine.scheduler().cancel(first);
  engine.leave();
  while (monotonic_now() < start + soon) std::this_thread::yield();
  engine.serve();
  EXPECT_EQ(runtime.alarm(), start + late);
  engine.enter();
  engine.scheduler().cancel(second);
  engine.leave();
}

// What one thread submits to one VI before another is there when the other's is acted upon.
TEST(Engine, what_was_rung_before_is_served_before) {
  TestRuntime runtime;
  Engine engine(runtime);
  Source before, after;
  struct Last final : Bell {
    explicit Last(Source& other) : earlier(other) {}
    std::size_t serve() override { return seen = earlier.taken, 1; }
    Source& earlier;
    std::uint64_t seen = 0;
  } last(before);
  before.submitted = 7;
  engine.ring_later(before);
  EXPECT_EQ(before.taken, 0u);
  after.submitted = 1;
  engine.ring(last);
  EXPECT_EQ(last.seen, 7u);
  engine.ring(after);
  EXPECT_EQ(after.taken, 1u);
}

// So is what a thread does at once: not before what was rung.
TEST(Engine, work_at_once_is_refused_where_something_was_rung_before) {
  TestRuntime runtime;
  Engine engine(runtime);
  Source before;
  int calls = 0;
  const auto work = [&] { return ++calls, true; };
  EXPECT_TRUE(engine.do_at_once(work));
  EXPECT_TRUE(engine.do_at_once_and_settle(work));
  before.submitted = 1;
  engine.ring_later(before);
  EXPECT_FALSE(engine.do_at_once(work));
  EXPECT_FALSE(engine.do_at_once_and_settle(work));
  EXPECT_EQ(calls, 2);
  EXPECT_EQ(before.taken, 0u);
}

TEST(Engine, work_at_once_is_refused_while_somebody_is_inside) {
  TestRuntime runtime;
  Engine engine(runtime);
  int calls = 0;
  const auto work = [&] { return ++calls, true; };
  engine.enter();
  EXPECT_FALSE(engine.do_at_once(work));
  EXPECT_FALSE(engine.do_at_once_and_settle(work));
  engine.leave();
  EXPECT_EQ(calls, 0);
}

// Who rings while it is done relies on the thread that does it, whether it does anything or not.
TEST(Engine, what_is_rung_during_work_at_once_is_served) {
  TestRuntime runtime;
  Engine engine(runtime);
  for (const bool settle : {false, true})
    for (const bool done : {false, true}) {
      Source source;
      const auto work = [&] {
        source.submitted = 1;
        std::thread([&] { engine.ring(source); }).join();
        return done;
      };
      EXPECT_EQ(settle ? engine.do_at_once_and_settle(work) : engine.do_at_once(work), done);
      EXPECT_EQ(source.taken, 1u);
    }
}

// Events fire in the order in which they were scheduled: what was due before the work comes before what it makes.
TEST(Engine, events_of_work_at_once_fire_in_their_order) {
  TestRuntime runtime;
  Engine engine(runtime);
  std::vector<int> order;
  struct Noted final : runtime::Event {
    Noted(std::vector<int>& told, int its_number) : order(told), number(its_number) {}
    void fire(TimeNs) override { order.push_back(number); }
    std::vector<int>& order;
    const int number;
  };
  Noted due(order, 1), own(order, 2), next(order, 3);
  runtime::Scheduler& scheduler = engine.scheduler();
  scheduler.schedule(due, scheduler.now() + 1);  // long past by the clock
  const auto work = [&](bool two) {
    scheduler.schedule_at_once(own, scheduler.now());
    if (two) scheduler.schedule_at_once(next, scheduler.now());
    order.push_back(0);
    return true;
  };
  ASSERT_TRUE(engine.do_at_once_and_settle([&] { return work(false); }));
  EXPECT_EQ(order, (std::vector{0, 2, 1}));
  order.clear();
  ASSERT_TRUE(engine.do_at_once_and_settle([&] { return work(true); }));
  EXPECT_EQ(order, (std::vector{2, 0, 3})) << "nothing else was due";
  EXPECT_EQ(scheduler.pending_count(), 0u);
}

// By may_go_at_once() whoever does what an event would do takes its turn where that would fire at once, and counts.
TEST(Engine, work_at_once_may_go_where_an_event_would_fire) {
  TestRuntime runtime;
  Engine engine(runtime);
  runtime::Scheduler& scheduler = engine.scheduler();
  EXPECT_FALSE(scheduler.may_go_at_once()) << "nobody works at once";
  const std::uint64_t before = scheduler.fired_count();
  ASSERT_TRUE(engine.do_at_once_and_settle([&] {
    EXPECT_TRUE(scheduler.may_go_at_once());
    EXPECT_FALSE(scheduler.may_go_at_once()) << "one event";
    return true;
  }));
  EXPECT_EQ(scheduler.fired_count(), before + 1);
  Ticker due(scheduler, 1);
  scheduler.schedule(due, scheduler.now());
  ASSERT_TRUE(engine.do_at_once_and_settle([&] {
    EXPECT_FALSE(scheduler.may_go_at_once()) << "another is due";
    return true;
  }));
  EXPECT_EQ(due.left(), 0);
}

// However long nothing was to be done: what begins within a post, or within what was rung, is not timed from the last
// thing that was. But what is due meanwhile keeps its turn.
TEST(Engine, what_work_times_begins_now) {
  struct Clock final : support::StillRuntime {
    [[nodiscard]] TimeNs now() const override { return time; }
    TimeNs time = 5 * runtime::second;
  };
  struct Timing final : Bell {
    explicit Timing(Engine& engine) : of(engine) {}
    std::size_t serve() override { return seen = of.scheduler().now(), 0; }
    Engine& of;
    TimeNs seen = 0;
  };
  Clock clock;
  Engine engine(clock);
  runtime::Scheduler& scheduler = engine.scheduler();
  TimeNs seen = 0;
  const auto work = [&] { return seen = scheduler.now(), true; };
  for (int i = 0; i < 2; ++i) {
    clock.time += 20 * runtime::second;
    ASSERT_TRUE(engine.do_at_once_and_settle(work));
    EXPECT_EQ(seen, clock.time);
  }
  Timing rung(engine), later(engine);
  clock.time += 20 * runtime::second;
  engine.ring(rung);
  EXPECT_EQ(rung.seen, clock.time);
  engine.ring_later(later);
  clock.time += 20 * runtime::second;
  engine.enter();
  EXPECT_EQ(later.seen, clock.time);
  engine.leave();
  Ticker due(scheduler, 1);
  scheduler.schedule(due, clock.time + 10);
  clock.time += 20 * runtime::second;
  ASSERT_TRUE(engine.do_at_once_and_settle(work));
  EXPECT_EQ(seen, clock.time - 20 * runtime::second + 9);
  EXPECT_EQ(due.left(), 0);
}

// What goes into memory is not timed: such a post does with the time of the last tick. With any socket that sends by
// itself it does not.
TEST(Engine, post_into_memory_asks_for_the_time_roughly) {
  struct Clock final : support::StillRuntime {
    [[nodiscard]] TimeNs now() const override { return ++exact, 1000; }
    [[nodiscard]] TimeNs now_roughly() const override { return ++rough, 1000; }
    mutable int exact = 0, rough = 0;
  } clock;
  struct Memory final : runtime::Input {
    bool read_now() override { return false; }
    [[nodiscard]] bool holds_cancellation_itself() const override { return true; }
  } memory;
  struct Socket final : runtime::Input {
    bool read_now() override { return false; }
  } socket;
  Engine engine(clock);
  const auto asked = [&] {
    clock.exact = clock.rough = 0;
    EXPECT_TRUE(engine.do_at_once_and_settle([] { return true; }));
    return std::pair(clock.exact, clock.rough);
  };
  EXPECT_EQ(asked(), std::pair(1, 0));
  EXPECT_FALSE(engine.sends_meet_cancellation());
  engine.add_memory_input(memory);
  EXPECT_EQ(asked(), std::pair(0, 1));
  engine.add_input(socket);
  EXPECT_TRUE(engine.sends_meet_cancellation());
  EXPECT_EQ(asked(), std::pair(1, 0));
  engine.remove_input(socket);
  EXPECT_EQ(asked(), std::pair(0, 1));
  engine.remove_memory_input(memory);
}

// CLOCK_MONOTONIC as the last tick saw it: a hundred of them in a second are the fewest that Linux has.
TEST(Futex, tick_is_not_far_behind_the_clock) {
  TimeNs least_lag = runtime::never;  // one may be long: the host gives this machine no time
  for (int i = 0; i != 1000; ++i) {
    const TimeNs before = monotonic_now(), tick = monotonic_tick(), after = monotonic_now();
    ASSERT_LE(tick, after);
    least_lag = std::min(least_lag, before - tick);
  }
  EXPECT_LT(least_lag, 50 * runtime::millisecond);
}

TEST(Engine, ring_returns_while_another_is_inside_who_serves_it_when_leaving) {
  TestRuntime runtime;
  Engine engine(runtime);
  Source source;
  engine.enter();
  std::thread([&] {
    source.submitted = 1;
    engine.ring(source);  // would hang the test if it waited
    source.submitted = 2;
    engine.ring(source);
    EXPECT_FALSE(engine.help(runtime.now()));
  }).join();
  EXPECT_EQ(source.taken, 0u);
  engine.leave();
  EXPECT_EQ(source.taken, 2u);
}

TEST(Engine, caller_runs_a_slice_and_the_service_thread_the_rest) {
  TestRuntime runtime;
  Engine engine(runtime);
  Ticker ticker(engine.scheduler(), 1000);
  engine.enter();
  engine.scheduler().schedule(ticker, 0);
  engine.leave();
  EXPECT_GT(ticker.left(), 1000 - 2 * 64 - 1);  // leave() settles, and that is all
  EXPECT_EQ(runtime.calls(), 1u);
  EXPECT_TRUE(engine.help(runtime.now()));
  EXPECT_GT(ticker.left(), 1000 - 3 * 64 - 1);
  engine.serve();
  EXPECT_EQ(ticker.left(), 0);
  EXPECT_FALSE(engine.help(runtime.now()));
}

// Of many that follow one another one calls the service thread; who polls before that does their work.
TEST(Engine, rung_soon_is_left_to_the_service_thread_or_who_polls) {
  TestRuntime runtime;
  Engine engine(runtime);
  Source source;
  for (source.submitted = 1; source.submitted != 5; ++source.submitted) engine.ring_soon(source);
  EXPECT_EQ(source.taken, 0u);
  EXPECT_EQ(runtime.calls(), 1u);
  engine.serve();
  EXPECT_EQ(source.taken, 5u);
  source.submitted = 6;
  engine.ring_soon(source);
  EXPECT_EQ(runtime.calls(), 2u);
  EXPECT_TRUE(engine.help(runtime.now()));
  EXPECT_EQ(source.taken, 6u);
  source.submitted = 7;
  engine.ring_later(source);  // calls nobody
  EXPECT_EQ(runtime.calls(), 2u);
  source.submitted = 8;
  engine.ring_soon(source);
  EXPECT_EQ(source.taken, 6u);
  engine.serve();
  EXPECT_EQ(source.taken, 8u);
}

// The one that waits wants the lock: it is woken when that is free.
TEST(Engine, notified_after_the_lock_is_free) {
  TestRuntime runtime;
  Engine engine(runtime);
  const auto point = std::make_shared<EventCount>();
  const std::uint32_t key = point->prepare();
  engine.enter();
  engine.notify_after(point);
  EXPECT_EQ(point->epoch().load(), key);
  engine.leave();
  EXPECT_NE(point->epoch().load(), key);
  EXPECT_EQ(point.use_count(), 1);
  point->finish();
}

// VI-DG 3.8.1: what tells the program VIP_ERROR_CATASTROPHIC.
TEST(Engine, lack_of_memory_is_told_and_the_other_bells_are_served) {
  struct Poor final : Bell {
    std::size_t serve() override { throw std::bad_alloc(); }
  };
  TestRuntime runtime;
  Engine engine(runtime);
  int failures = 0;
  engine.set_failure_handler([&failures] { ++failures; });
  Poor poor;
  Source source;
  engine.enter();
  std::thread([&] {
    engine.ring(poor);
    source.submitted = 1;
    engine.ring(source);
  }).join();
  engine.leave();
  engine.serve();
  EXPECT_EQ(failures, 1);
  EXPECT_EQ(source.taken, 1u);
}

// An alarm takes memory. A post that found none for it used to return with the engine's lock.
TEST(Engine, lack_of_memory_for_the_alarm_behind_work_at_once_is_told_and_leaves_no_lock) {
  struct WithoutAlarms final : support::StillRuntime {
    void set_alarm(TimeNs, TimeNs) override {
      if (std::exchange(fails, false)) throw std::bad_alloc();
      ++alarms;
    }
    bool fails = true;
    int alarms = 0;
  } runtime;
  Engine engine(runtime);
  int failures = 0;
  engine.set_failure_handler([&failures] { ++failures; });
  Ticker event(engine.scheduler(), 1);
  const auto work = [&] { return engine.scheduler().schedule(event, runtime::second), true; };
  EXPECT_TRUE(engine.do_at_once_and_settle(work));
  EXPECT_EQ(failures, 1);
  ASSERT_TRUE(engine.do_at_once_and_settle([] { return true; })) << "the lock is free";
  EXPECT_EQ(runtime.alarms, 1) << "it is set by the next one who is inside";
  engine.scheduler().cancel(event);
}

// The bell of who rings now is served all the same, if not by this call.
TEST(Engine, lack_of_memory_for_a_bell_that_rang_before_loses_none) {
  struct Poor final : Bell {
    std::size_t serve() override { throw std::bad_alloc(); }
  };
  TestRuntime runtime;
  Engine engine(runtime);
  Poor poor;
  Source source;
  engine.ring_later(poor);
  source.submitted = 1;
  engine.ring(source);
  engine.serve();
  EXPECT_EQ(source.taken, 1u);
}

// Whoever rings last is served without another call, by whichever thread: no doorbell is lost.
TEST(Engine, no_ring_is_forgotten) {
  for (int life = 0; life < 20; ++life) {
    TestRuntime runtime;
    Engine engine(runtime);
    runtime.serve_with(engine);
    std::vector<Source> sources(8);
    constexpr std::uint64_t rings = 3000;
    std::vector<std::thread> threads;
    for (unsigned i = 0; i < 4; ++i)
      threads.emplace_back([&, i] {
        for (std::uint64_t n = 0; n < rings; ++n) {
          Source& source = sources[(i + n) % sources.size()];
          source.submitted.fetch_add(1);
          engine.ring(source);
        }
      });
    for (std::thread& thread : threads) thread.join();
    await(engine, [&] {
      std::uint64_t taken = 0;
      for (const Source& source : sources) taken += source.taken;
      return taken == 4 * rings;
    });
    runtime.stop();
  }
}

// VI-DG 6.6: the same without a last look: what rang before a thread ends is served by the service thread alone.
TEST(Engine, what_rang_is_served_without_another_call) {
  TestRuntime runtime;
  Engine engine(runtime);
  runtime.serve_with(engine);
  std::atomic<std::uint64_t> served{0};
  struct Counting final : Bell {
    explicit Counting(std::atomic<std::uint64_t>& count) : served(count) {}
    std::size_t serve() override { return served.store(submitted.load()), 1; }
    std::atomic<std::uint64_t>& served;
    std::atomic<std::uint64_t> submitted{0};
  } bell(served);
  for (std::uint64_t round = 1; round <= 2000; ++round) {
    std::thread other([&engine] {
      engine.enter();
      engine.leave();
    });
    bell.submitted = round;
    round % 2 == 0 ? engine.ring(bell) : engine.ring_soon(bell);
    while (served != round) std::this_thread::yield();  // a forgotten ring hangs the test
    other.join();
  }
  runtime.stop();
}

// One thread rings for work that can wait while another rings for work that cannot: whoever of them links the bell,
// that work is done when both calls have returned.
TEST(Engine, ring_beside_a_ring_that_waits_is_not_forgotten) {
  TestRuntime runtime;
  Engine engine(runtime);
  Source source;
  constexpr std::uint64_t rounds = 50'000;
  std::atomic<std::uint64_t> begun{0}, over{0};
  std::thread later([&] {
    for (std::uint64_t round = 1; round <= rounds; ++round) {
      while (begun.load() != round) {}
      engine.ring_later(source);
      over.store(round);
    }
  });
  std::uint64_t forgotten = 0;
  for (std::uint64_t round = 1; round <= rounds; ++round) {
    begun.store(round);
    source.submitted.fetch_add(1);
    engine.ring(source);
    while (over.load() != round) {}
    forgotten += source.taken != round ? 1U : 0U;
  }
  later.join();
  EXPECT_EQ(forgotten, 0U);
}

// Control calls get in though others post all the time.
TEST(Engine, control_calls_are_not_starved) {
  TestRuntime runtime;
  Engine engine(runtime);
  runtime.serve_with(engine);
  std::atomic<bool> stop{false};
  std::vector<Source> sources(3);
  std::vector<std::thread> posters;
  for (Source& source : sources)
    posters.emplace_back([&] {
      while (!stop) {
        source.submitted.fetch_add(1);
        engine.ring(source);
      }
    });
  for (int i = 0; i < 500; ++i) {
    engine.enter();
    engine.leave();
  }
  stop = true;
  for (std::thread& poster : posters) poster.join();
  runtime.stop();
}
