// vipl/engine/polling.hpp and Engine::poll: who polls reads its links' sockets itself, and lets others have the core.
#include "vipl/engine/polling.hpp"

#include <gtest/gtest.h>

#include <thread>

#include "vipl/engine/engine.hpp"
#include "vipl/engine/waiting.hpp"

using namespace vipl;

namespace {
constexpr TimeNs us = runtime::microsecond;

/// What a thread asks the system. By itself nobody takes its core.
struct System {
  [[nodiscard]] TimeNs now() const { return time; }
  [[nodiscard]] std::uint64_t times_preempted() const { return preempted; }
  Place place(TimeNs) { return std::exchange(next_place, next_place == Place::Moved ? Place::Apart : next_place); }
  TimeNs time = runtime::second;
  std::uint64_t preempted = 0;
  Place next_place = Place::Apart;
};

/// Time is what the test says; nobody serves but who calls.
class HandRuntime final : public Runtime {
 public:
  [[nodiscard]] TimeNs now() const override { return time; }
  bool wait(EventCount&, std::uint32_t, TimeNs) override { return false; }
  void nap(EventCount&, std::uint32_t, TimeNs) override {
    ++naps;
    time += Patience::nap;
    if (meanwhile) meanwhile();
  }
  void set_alarm(TimeNs, TimeNs) override {}
  [[nodiscard]] std::size_t slice_events() const override { return 64; }
  void call_service() override { ++service_calls; }
  Patience* patience() override { return patient ? &of_thread : nullptr; }
  WaitSpin* wait_spin() override { return spins ? &wait_spin_of_thread : nullptr; }
  [[nodiscard]] Place place(TimeNs) override { return where; }
  void let_others_run() override {
    ++hand_overs;
    if (others) others();
  }
  TimeNs poll_spin() override { return spins ? 100 * us : 0; }
  void start_thread(std::function<void()>) override {}
  boost::asio::io_context* io() override { return nullptr; }

  TimeNs time = runtime::second;
  int naps = 0, service_calls = 0, hand_overs = 0;
  bool patient = true;
  std::function<void()> meanwhile, others;
  Place where = Place::Apart;
  Patience of_thread;
  bool spins = false;
  WaitSpin wait_spin_of_thread;

 private:
  void wake(EventCount&, bool) override {}
};

/// Memory that other processes write to; a look takes a while.
struct Memory final : runtime::Input {
  explicit Memory(HandRuntime& time) : runtime(time) {}
  bool read_now() override {
    reads += frames;
    return std::exchange(frames, 0) != 0;
  }
  [[nodiscard]] bool has_input(Look) const override {
    runtime.time += us;
    if (on_look) on_look();
    return frames != 0;
  }
  HandRuntime& runtime;
  int frames = 0, reads = 0;
  std::function<void()> on_look;
};

struct Socket final : runtime::Input {
  bool read_now() override {
    ++reads;
    if (on_read) on_read();
    return std::exchange(frames, 0) != 0;
  }
  void wait_for_input() override { ++sleeps; }
  int frames = 0, reads = 0, sleeps = 0;
  std::function<void()> on_read;
};

class Polling : public testing::Test {
 protected:
  void add(Socket& socket) {
    engine.enter();
    engine.add_input(socket);
    engine.leave();
  }
  HandRuntime runtime;
  Engine engine{runtime};
};

}  // namespace

// --- Patience ------------------------------------------------------------------------------------------------------

/// A wait: polls every 0.2 us find nothing, until what comes `after` so long. Returns how many naps were taken, and how
/// long it polled before the first.
int wait_for(Patience& patience, TimeNs& now, TimeNs after, TimeNs* polled = nullptr) {
  System system;
  const TimeNs begin = now, end = now + after;
  int naps = 0;
  for (; now < end; now += us / 5)
    if (patience.poll_was_empty(now, system)) {
      if (++naps == 1 && polled != nullptr) *polled = now - begin;
      now = std::min(end, now + Patience::nap);
      patience.napped(now);
    }
  system.time = now;
  patience.found(system);
  now += 10 * us;  // the program's own work
  return naps;
}

/// Waits until one begins to spin; fails when none does.
void wait_until_spinning(Patience& patience, TimeNs& now, std::uint32_t at_most) {
  for (std::uint32_t i = 0; i < at_most; ++i)
    if (wait_for(patience, now, 40 * us) == 0) return;
  FAIL() << "naps for ever";
}

TEST(Patience, poll_now_and_then_never_sleeps) {
  Patience patience;
  System system;
  for (TimeNs now = runtime::second; now < 2 * runtime::second; now += Patience::longest_gap + 1)
    EXPECT_FALSE(patience.poll_was_empty(now, system));
}

// As one that waits would: whoever brings something gets the core at once.
TEST(Patience, polls_in_a_row_sleep_at_the_second) {
  Patience patience;
  System system;
  EXPECT_FALSE(patience.poll_was_empty(runtime::second, system));
  EXPECT_TRUE(patience.poll_was_empty(runtime::second + us, system));
}

TEST(Patience, what_comes_soon_is_spun_for) {
  Patience patience;
  TimeNs now = runtime::second;
  wait_until_spinning(patience, now, Patience::first_rest);
  for (int i = 0; i < 10'000; ++i) ASSERT_EQ(wait_for(patience, now, 40 * us), 0);
}

// What does not come within the spin: it is tried ever less, and costs next to nothing.
TEST(Patience, what_comes_late_is_slept_for) {
  Patience patience;
  TimeNs now = runtime::second;
  constexpr int waits = 100'000;
  int naps = 0, tries = 0;
  for (int i = 0; i < waits; ++i) {
    TimeNs polled = 0;
    naps += wait_for(patience, now, 60 * us, &polled) != 0 ? 1 : 0;
    tries += polled >= Patience::spin ? 1 : 0;
  }
  EXPECT_EQ(naps, waits);
  // 32, 64, ... 8192 waits between the tries, then 8192 each: the doubling takes 16,352 waits.
  EXPECT_LE(tries, 20);
  EXPECT_GE(tries, 10);
}

// Others had the core meanwhile and brought it: on this core spinning only kept them from it.
TEST(Patience, what_others_brought_on_this_core_is_not_spun_for) {
  Patience patience;
  System system;
  TimeNs now = runtime::second;
  wait_until_spinning(patience, now, Patience::first_rest);
  EXPECT_FALSE(patience.poll_was_empty(now, system));
  EXPECT_FALSE(patience.poll_was_empty(now += us, system));
  now += Patience::others_ran + us;  // off the core
  system.time = now;
  patience.found(system);
  EXPECT_FALSE(patience.poll_was_empty(now += 10 * us, system));
  EXPECT_TRUE(patience.poll_was_empty(now += us, system));
}

// So short that the gap does not show it: others took the core all the same, to bring what was waited for.
TEST(Patience, what_others_brought_in_no_time_on_this_core_is_not_spun_for) {
  Patience patience;
  System system;
  TimeNs now = runtime::second;
  wait_until_spinning(patience, now, Patience::first_rest);
  EXPECT_FALSE(patience.poll_was_empty(now, system));
  EXPECT_FALSE(patience.poll_was_empty(now += us, system));
  system.time = now += us;
  system.preempted = 1;
  patience.found(system);
  EXPECT_FALSE(patience.poll_was_empty(now += 10 * us, system));
  EXPECT_TRUE(patience.poll_was_empty(now += us, system));
}

// Spinning or not: a program that computes and polls once in a while is left alone.
TEST(Patience, poll_now_and_then_after_a_spin_never_sleeps) {
  Patience patience;
  System system;
  TimeNs now = runtime::second;
  wait_until_spinning(patience, now, Patience::first_rest);
  for (int i = 0; i < 1000; ++i) EXPECT_FALSE(patience.poll_was_empty(now += Patience::longest_gap + 1, system));
}

// --- Engine::poll --------------------------------------------------------------------------------------------------

// No other thread runs here at all: what came in is found by who polls.
TEST_F(Polling, poll_reads_what_came_without_the_service_thread) {
  Socket socket;
  add(socket);
  bool done = false;
  socket.on_read = [&] { done = socket.frames != 0; };
  const auto take = [&] { return done ? Taken::Success : Taken::NotDone; };
  EXPECT_EQ(poll_once(engine, &engine, take), Taken::NotDone);
  socket.frames = 1;
  runtime.time += Patience::longest_gap + us;
  EXPECT_EQ(poll_once(engine, &engine, take), Taken::Success);
  EXPECT_EQ(runtime.service_calls, 0);
}

// A system call costs more than a poll: one in a microsecond.
TEST_F(Polling, socket_is_read_once_in_a_microsecond) {
  Socket socket;
  add(socket);
  const TimeNs end = runtime.time + 100 * us;
  for (; runtime.time < end; runtime.time += us / 10) engine.poll(runtime.time);
  EXPECT_EQ(socket.reads, 100);
}

// No link, no clock that matters, no lock: nothing can come in.
TEST_F(Polling, poll_without_inputs_does_nothing) {
  Socket socket;
  add(socket);
  engine.enter();
  engine.remove_input(socket);
  engine.leave();
  EXPECT_FALSE(engine.poll(runtime.time += us));
  EXPECT_EQ(socket.reads, 0);
}

TEST_F(Polling, many_links_take_turns) {
  std::vector<Socket> sockets(11);
  for (Socket& socket : sockets) add(socket);
  for (int i = 0; i < 11 * 10; ++i) engine.poll(runtime.time += us);
  for (const Socket& socket : sockets) EXPECT_EQ(socket.reads, 40);
}

// A link that ends while it is read takes itself away; the others are read on.
TEST_F(Polling, link_that_ends_while_it_is_read) {
  Socket first, last;
  add(first);
  add(last);
  first.on_read = [&] { engine.remove_input(first); };
  first.frames = 1;
  for (int i = 0; i < 4; ++i) engine.poll(runtime.time += us);
  EXPECT_EQ(first.reads, 1);
  EXPECT_GE(last.reads, 4);
}

// Who is inside does it: a poll never waits for the engine.
TEST_F(Polling, poll_while_another_is_inside_returns_at_once) {
  Socket socket;
  add(socket);
  engine.enter();
  std::thread([&] { EXPECT_FALSE(engine.poll(runtime.time + us)); }).join();
  engine.leave();
  EXPECT_EQ(socket.reads, 0);
}

// What completes during the nap is found by the call that napped.
TEST_F(Polling, poll_in_a_row_naps_and_takes_what_comes_meanwhile) {
  bool done = false;
  const auto take = [&] { return done ? Taken::Success : Taken::NotDone; };
  EXPECT_EQ(poll_once(engine, &engine, take), Taken::NotDone);
  runtime.time += us;
  runtime.meanwhile = [&] { done = true; };
  EXPECT_EQ(poll_once(engine, &engine, take), Taken::Success);
  EXPECT_EQ(runtime.naps, 1);
  EXPECT_FALSE(engine.completions().has_waiters());
}

// While calls poll, the service thread is not woken by each octet; who sleeps says that it has to be.
TEST_F(Polling, caller_that_sleeps_has_the_service_thread_woken) {
  Socket socket;
  add(socket);
  const auto take = [] { return Taken::NotDone; };
  EXPECT_EQ(poll_once(engine, &engine, take), Taken::NotDone);
  EXPECT_EQ(socket.sleeps, 0);
  runtime.time += us;
  EXPECT_EQ(poll_once(engine, &engine, take), Taken::NotDone);
  EXPECT_EQ(runtime.naps, 1);
  EXPECT_EQ(socket.sleeps, 1);
  EventCount arrivals;
  runtime.time += us;
  const int reads = socket.reads;
  EXPECT_EQ(wait_while_not_done(engine, arrivals, runtime::never, take), Taken::NotDone);
  EXPECT_EQ(socket.sleeps, 2);
  EXPECT_EQ(socket.reads, reads + 1) << "it looks once before it sleeps";
}

// A wake-up costs more than what another process of this host takes to answer.
TEST_F(Polling, wait_reads_sockets_while_it_spins) {
  runtime.spins = true;
  Socket socket;
  bool found = false;
  const TimeNs comes = runtime.time + 20 * us;
  socket.on_read = [&] { found = (runtime.time += us) >= comes; };
  add(socket);
  const auto take = [&] { return found ? Taken::Success : Taken::NotDone; };
  EXPECT_EQ(spin_before_sleep(engine, runtime::never, take), Taken::Success);
  EXPECT_LE(runtime.time, comes + 2 * us);
  EXPECT_EQ(socket.sleeps, 0);
}

// In virtual time nobody shares a core.
TEST_F(Polling, poll_in_a_row_without_patience_returns_at_once) {
  runtime.patient = false;
  for (int i = 0; i < 100; ++i) EXPECT_EQ(poll_once(engine, &engine, [] { return Taken::NotDone; }), Taken::NotDone);
  EXPECT_EQ(runtime.naps, 0);
}

// --- several queues in turn ------------------------------------------------------------------------------------------

// A loop over seven queues: what completes in one of them ends the nap in another, and is found without a nap
// in those between.
TEST_F(Polling, several_queues_whatCompletesInAnother_isFoundInTheSameRound) {
  const char queues[7] = {};
  bool done = false;
  const auto round = [&] {  // the number of naps until it is found; -1: it is not
    const int before = runtime.naps;
    for (const char& queue : queues) {
      const auto take = [&] { return done && &queue == &queues[6] ? Taken::Success : Taken::NotDone; };
      if (poll_once(engine, &queue, take) == Taken::Success) return runtime.naps - before;
      runtime.time += us / 5;
    }
    return -1;
  };
  while (runtime.naps == 0) EXPECT_EQ(round(), -1);
  runtime.meanwhile = [&] {
    done = true;
    engine.can_be_taken();
    engine.completed();
    runtime.meanwhile = nullptr;
  };
  EXPECT_EQ(round(), 1) << "the one in which it completes";
}

// A ping-pong: a send is waited for, then a receive. All that completed was taken, so there is nothing to be found
// elsewhere, and whoever brings the rest gets the core.
TEST_F(Polling, twoQueuesInTurn_allTaken_restAtTheSecondPoll) {
  const char queues[2] = {};
  for (std::uint32_t i = 0; i + 1 < Patience::first_rest; ++i) {  // then it tries to spin
    const int before = runtime.naps;
    engine.can_be_taken();  // of the other queue, and taken
    engine.completed();
    engine.taken(1);
    for (int polls = 0; polls < 2; ++polls) {
      EXPECT_EQ(poll_once(engine, &queues[i % 2], [] { return Taken::NotDone; }), Taken::NotDone);
      runtime.time += us / 5;
    }
    EXPECT_GE(runtime.naps, before + 1);
    EXPECT_EQ(poll_once(engine, &queues[i % 2], [] { return Taken::Success; }), Taken::Success);
    runtime.time += us;
  }
}

// Who stays at one queue waits there, whatever is left in another.
TEST_F(Polling, oneQueueAfterAnother_somethingLeftInTheOther_rests) {
  const char queues[2] = {};
  for (const char& queue : queues) EXPECT_EQ(poll_once(engine, &queue, [] { return Taken::NotDone; }), Taken::NotDone);
  engine.can_be_taken();
  engine.completed();
  const int before = runtime.naps;
  for (std::uint32_t i = 0; i <= Patience::longest_stay; ++i) {
    EXPECT_EQ(poll_once(engine, &queues[1], [] { return Taken::NotDone; }), Taken::NotDone);
    runtime.time += us / 5;
  }
  EXPECT_GT(runtime.naps, before);
}

// ... and one that polls a queue with nothing posted besides rests all the same.
TEST_F(Polling, emptyQueueBesides_rests) {
  const char queues[2] = {};
  for (int i = 0; i < 1000; ++i) {
    EXPECT_EQ(poll_once(engine, &queues[0], [] { return Taken::Empty; }), Taken::Empty);
    EXPECT_EQ(poll_once(engine, &queues[1], [] { return Taken::NotDone; }), Taken::NotDone);
    runtime.time += us / 5;
  }
  EXPECT_GT(runtime.naps, 0);
}

// --- spinning where messages come by memory --------------------------------------------------------------------------

// A thread that polls memory spins from its first wait on, as long as it is told; without that it naps until it has
// waited often enough.
TEST(Patience, spins_at_once_where_it_is_told_to) {
  for (const TimeNs longest : {WaitSpin::default_longest, 70 * us}) {
    Patience told, untold;
    told.set_memory_spin(longest);
    TimeNs now = runtime::second, polled = 0;
    EXPECT_EQ(wait_for(told, now, longest / 2), 0);
    EXPECT_EQ(wait_for(told, now, 3 * longest, &polled), 1);
    EXPECT_GE(polled, longest - us);
    EXPECT_LE(polled, longest + us);
    EXPECT_GT(wait_for(untold, now, longest / 2, &polled), 0);
  }
}

// In vain it tries again after more and more waits, as others do.
TEST(Patience, spins_at_once_less_and_less_in_vain) {
  Patience patience;
  patience.set_memory_spin(WaitSpin::default_longest);
  TimeNs now = runtime::second;
  int spins = 0;
  for (int wait = 0; wait < 200; ++wait) {
    patience.set_memory_spin(WaitSpin::default_longest);
    TimeNs polled = 0;
    wait_for(patience, now, 10 * WaitSpin::default_longest, &polled);
    spins += polled > WaitSpin::default_longest / 2 ? 1 : 0;
  }
  EXPECT_EQ(spins, 8) << "the first, and after 1, 2, 4 ... 64 others";
}

/// A wait whose first two polls are `now` and a little later. Gives which of them naps, or 0; ends `now` where it found
/// something.
int nap_of_wait(Patience& patience, System& system, TimeNs& now) {
  int nap = 0;
  for (int poll = 1; poll <= 2 && nap == 0; ++poll, now += us / 5)
    if (patience.poll_was_empty(now, system)) {
      nap = poll;
      patience.napped(now += us);
    }
  system.time = now;
  patience.found(system);
  return nap;
}

// Others take its core, however often and for however long: it has its turn with its peer, and both get much done then.
TEST(Patience, spins_at_once_whoever_takes_the_core) {
  Patience patience;
  patience.set_memory_spin(WaitSpin::default_longest);
  System system;
  for (TimeNs now = runtime::second; now < 2 * runtime::second; now += 4 * runtime::millisecond) {
    ASSERT_EQ(nap_of_wait(patience, system, now), 0);
    system.preempted += 3;
  }
}

// Nothing came, and others ran meanwhile: they need the core more than a spin that is to last long.
TEST(Patience, long_spin_ends_where_others_take_the_core) {
  Patience patience;
  patience.set_memory_spin(10 * runtime::millisecond);
  System system;
  TimeNs now = runtime::second;
  EXPECT_FALSE(patience.poll_was_empty(now, system));
  EXPECT_FALSE(patience.poll_was_empty(now += us, system));
  for (const TimeNs end = now + runtime::millisecond; now < end; now += us)
    ASSERT_FALSE(patience.poll_was_empty(now, system));
  EXPECT_FALSE(patience.poll_was_empty(now += Patience::others_ran + us, system));  // other work, perhaps
  EXPECT_TRUE(patience.poll_was_empty(now += us, system));
}

// The peer runs while this thread sleeps: so it does, from its second poll in a row on, and then from the first.
TEST(Patience, on_the_core_of_its_peer_it_naps) {
  Patience patience;
  patience.set_memory_spin(WaitSpin::default_longest);
  System system;
  system.next_place = Place::Shared;
  TimeNs now = runtime::second;
  EXPECT_EQ(nap_of_wait(patience, system, now), 2);
  EXPECT_EQ(nap_of_wait(patience, system, now), 1);
  EXPECT_EQ(nap_of_wait(patience, system, now), 1);
  now += Patience::longest_gap + us;  // other work of the program
  EXPECT_EQ(nap_of_wait(patience, system, now), 2);
  system.next_place = Place::Apart;  // the peer has left
  EXPECT_EQ(nap_of_wait(patience, system, now), 0);
}

/// A wait on the peer's core. Whether the thread may let others run before its nap, which then takes `for_others` and
/// brings what it waits for, or not.
bool hands_over(Patience& patience, System& system, TimeNs& now, TimeNs for_others, bool brings = true) {
  while (!patience.poll_was_empty(now, system)) now += us / 5;
  const bool may = patience.may_hand_over();
  EXPECT_FALSE(patience.may_hand_over()) << "once in a wait";
  if (may) patience.handed_over(now, now + for_others, brings);
  now += for_others;
  if (!may || !brings) patience.napped(now += us);
  system.time = now;
  patience.found(system);
  return may;
}

// The core goes to the peer without a sleep.
TEST(Patience, on_the_core_of_its_peer_it_hands_over) {
  Patience patience;
  patience.set_memory_spin(WaitSpin::default_longest);
  System system;
  system.next_place = Place::Shared;
  TimeNs now = runtime::second;
  for (int i = 0; i < 100; ++i) ASSERT_TRUE(hands_over(patience, system, now, us));
  system.next_place = Place::Apart;
  for (int i = 0; i < 3; ++i) wait_for(patience, now, 10 * WaitSpin::default_longest);  // it spins first
  ASSERT_FALSE(hands_over(patience, system, now, us));
}

// Where that brings nothing, or others than the peer had the core, it does so less and less.
TEST(Patience, hands_over_less_and_less_in_vain) {
  for (const bool brings : {false, true}) {
    Patience patience;
    patience.set_memory_spin(WaitSpin::default_longest);
    System system;
    system.next_place = Place::Shared;
    TimeNs now = runtime::second;
    int tries = 0;
    for (int wait = 0; wait < 100; ++wait)
      tries += hands_over(patience, system, now, brings ? Patience::spin + us : us, brings) ? 1 : 0;
    EXPECT_EQ(tries, 7) << "the first, and after 1, 2, 4 ... 32 others";
  }
}

// Elsewhere it tries anew, whatever it has learned before.
TEST(Patience, on_another_core_it_spins_anew) {
  Patience patience;
  patience.set_memory_spin(WaitSpin::default_longest);
  System system;
  TimeNs now = runtime::second;
  for (int i = 0; i < 100; ++i) wait_for(patience, now, 10 * WaitSpin::default_longest);  // in vain
  EXPECT_NE(nap_of_wait(patience, system, now), 0);
  system.next_place = Place::Moved;
  EXPECT_EQ(nap_of_wait(patience, system, now), 0);
}

// --- spinning -----------------------------------------------------------------------------------------------------

class Spinning : public Polling {
 protected:
  Spinning() {
    runtime.spins = true;
    engine.enter();
    engine.add_memory_input(memory);
    engine.leave();
  }
  Taken take() { return std::exchange(memory_found, false) ? Taken::Success : Taken::NotDone; }
  TimeNs spun(TimeNs deadline, Taken expected) {
    const TimeNs begin = runtime.time;
    EXPECT_EQ(spin_before_sleep(engine, deadline, [this] { return take(); }), expected);
    return runtime.time - begin;
  }
  Memory memory{runtime};
  bool memory_found = false;
};

// What comes meanwhile is found without a sleep.
TEST_F(Spinning, wait_finds_what_comes_while_it_spins) {
  const TimeNs comes = runtime.time + 20 * us;
  memory.on_look = [&] { memory_found = runtime.time >= comes; };
  EXPECT_LE(spun(runtime::never, Taken::Success), 21 * us);
}
// In vain it lasts as long as is configured, and never beyond the call's deadline.
TEST_F(Spinning, wait_spins_as_long_as_configured) {
  runtime.wait_spin_of_thread.longest = 30 * us;
  EXPECT_EQ(spun(runtime::never, Taken::NotDone), 30 * us);
  runtime.wait_spin_of_thread.found();
  EXPECT_TRUE(runtime.wait_spin_of_thread.may_begin(Place::Moved));
  EXPECT_EQ(spun(runtime.time + 5 * us, Taken::NotDone), 5 * us);
}
// Not where the thread has one core alone, or it is configured so.
TEST_F(Spinning, wait_does_not_spin_without_leave) {
  runtime.spins = false;
  EXPECT_EQ(spun(runtime::never, Taken::NotDone), 0);
}
// On its peer's core a poller takes what the peer brought in the meantime; no nap.
TEST_F(Spinning, poll_lets_its_peer_run) {
  runtime.where = Place::Shared;
  runtime.others = [this] {
    memory.frames = 1;
    memory_found = true;
  };
  EXPECT_EQ(poll_once(engine, this, [this] { return take(); }), Taken::NotDone);
  EXPECT_EQ(poll_once(engine, this, [this] { return take(); }), Taken::Success);
  EXPECT_EQ(runtime.hand_overs, 1);
  EXPECT_EQ(runtime.naps, 0);
}
// What ended a nap is read at once: the program need not poll again for it.
TEST_F(Spinning, poll_reads_what_ended_its_nap) {
  runtime.where = Place::Shared;
  runtime.meanwhile = [this] { memory.frames = 1; };
  const auto take_from_memory = [this] { return memory.reads != 0 ? Taken::Success : Taken::NotDone; };
  EXPECT_EQ(poll_once(engine, this, take_from_memory), Taken::NotDone);
  EXPECT_EQ(poll_once(engine, this, take_from_memory), Taken::Success);
  EXPECT_EQ(runtime.naps, 1);
}
// A poller spins as long as is configured before its first nap.
TEST_F(Spinning, poll_spins_as_long_as_configured) {
  const TimeNs begin = runtime.time;
  while (runtime.naps == 0) static_cast<void>(poll_once(engine, this, [this] { return take(); }));
  EXPECT_GE(runtime.time - Patience::nap - begin, 100 * us);
  EXPECT_LE(runtime.time - Patience::nap - begin, 110 * us);
}
