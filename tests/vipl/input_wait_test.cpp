// vipl/engine/engine.hpp: calls that sleep at the inputs' own descriptors, and those that make way for others.
#include <gtest/gtest.h>

#include <functional>
#include <new>
#include <string>
#include <utility>
#include <vector>

#include "vipl/engine/engine.hpp"

using namespace vipl;

namespace {

/// Each sleep is one step of a script; "a" of `sleeps`: at the descriptors, "p": at the point alone.
class ScriptedSleeps final : public Runtime {
 public:
  std::string sleeps;
  int interrupts = 0;
  std::vector<int> descriptors;
  std::function<void()> step = [] {};

  [[nodiscard]] TimeNs now() const override { return 1; }
  bool wait(EventCount&, std::uint32_t, TimeNs) override {
    sleeps += 'p';
    step();
    return true;
  }
  bool wait_at(std::span<const int> wanted, EventCount&, std::uint32_t, TimeNs) override {
    sleeps += 'a';
    descriptors.assign(wanted.begin(), wanted.end());
    step();
    return true;
  }
  [[nodiscard]] bool can_wait_at() override { return true; }
  void interrupt_wait_at() override { ++interrupts; }
  void set_alarm(TimeNs, TimeNs) override {}
  [[nodiscard]] std::size_t slice_events() const override { return 64; }
  void call_service() override {}
  void start_thread(std::function<void()>) override {}
  boost::asio::io_context* io() override { return nullptr; }

 private:
  void wake(EventCount&, bool) override {}
};

class SocketInput final : public runtime::Input {
 public:
  explicit SocketInput(int descriptor) : descriptor_(descriptor) {}
  bool fails = false;
  std::string calls;  // "+", "-": set_watched(), "r": read_now(), "w": wait_for_input()

 private:
  bool read_now() override { return calls += 'r', true; }
  void wait_for_input() override { calls += 'w'; }
  [[nodiscard]] int descriptor() const override { return descriptor_; }
  void set_watched(bool watched) override {
    calls += watched ? '+' : '-';
    if (!watched && fails) throw std::bad_alloc();
  }
  const int descriptor_;
};

class InputWait : public ::testing::Test {
 protected:
  void add(SocketInput& input) {
    engine.enter();
    engine.add_input(input);
    engine.leave();
  }
  /// Ready after so many sleeps.
  bool wait_for(std::size_t sleeps) {
    engine.enter();
    const bool ready = engine.spin_until(point, runtime::never, [&] { return runtime.sleeps.size() >= sleeps; });
    engine.leave();
    return ready;
  }
  ScriptedSleeps runtime;
  Engine engine{runtime};
  EventCount point;
  SocketInput sockets{5}, others{6}, link{-1};
};

}  // namespace

// A call sleeps at the sockets, which are its own meanwhile, and reads what woke it.
TEST_F(InputWait, call_sleeps_at_the_sockets) {
  add(sockets);
  add(others);
  EXPECT_TRUE(wait_for(1));
  EXPECT_EQ(runtime.sleeps, "a");
  EXPECT_EQ(runtime.descriptors, (std::vector{5, 6}));
  EXPECT_EQ(sockets.calls, "+-r");
  EXPECT_EQ(others.calls, "+-r");
}

// What comes for others wakes it so often, and no more: then it is told, and does not disturb who polls.
TEST_F(InputWait, call_that_is_woken_for_others_leaves_the_sockets) {
  add(sockets);
  EXPECT_TRUE(wait_for(20));
  EXPECT_EQ(runtime.sleeps, std::string(8, 'a') + std::string(12, 'p'));
  EXPECT_TRUE(wait_for(21));  // the next call begins anew
  EXPECT_EQ(runtime.sleeps.back(), 'a');
}

// Where there is an input without a descriptor, or none at all, it sleeps as other calls.
TEST_F(InputWait, call_sleeps_at_its_point_where_there_is_a_link) {
  EXPECT_TRUE(wait_for(1));
  add(sockets);
  add(link);
  EXPECT_TRUE(wait_for(2));
  EXPECT_EQ(runtime.sleeps, "pp");
  EXPECT_EQ(sockets.calls, "w");
}

// One call at a time; another is a sleeper, for which the library's thread watches when the first leaves.
TEST_F(InputWait, second_call_is_told_by_the_first) {
  add(sockets);
  EventCount second;
  bool first_sleeps = true;
  runtime.step = [&] {
    if (!std::exchange(first_sleeps, false)) return;
    engine.enter();
    EXPECT_TRUE(engine.spin_until(second, runtime::never, [&] { return runtime.sleeps == "ap"; }));
    engine.leave();
    EXPECT_EQ(sockets.calls, "+");  // the first has them still
  };
  EXPECT_TRUE(wait_for(2));
  EXPECT_EQ(runtime.sleeps, "ap");
  EXPECT_EQ(sockets.calls, "+-r");
  {
    const Engine::Sleeper sleeper(engine);
    EXPECT_TRUE(wait_for(3));
  }
  EXPECT_EQ(sockets.calls, "+-r+-rw");
}

// What is added or goes meanwhile wakes it, so that it looks at all.
TEST_F(InputWait, call_is_woken_when_the_inputs_change) {
  add(sockets);
  runtime.step = [&] { add(others); };
  EXPECT_TRUE(wait_for(1));
  EXPECT_EQ(runtime.interrupts, 1);
  runtime.step = [&] {
    engine.enter();
    engine.remove_input(others);
    engine.leave();
  };
  EXPECT_TRUE(wait_for(2));
  EXPECT_EQ(runtime.interrupts, 2);
}

// An input that finds no memory to be watched by the library's thread keeps no other from it, nor the next call from
// sleeping there.
TEST_F(InputWait, input_that_fails_keeps_no_other_from_being_watched) {
  int failures = 0;
  engine.set_failure_handler([&] { ++failures; });
  add(sockets);
  add(others);
  sockets.fails = true;
  const Engine::Sleeper sleeper(engine);
  EXPECT_TRUE(wait_for(1));
  EXPECT_EQ(failures, 1);
  EXPECT_EQ(sockets.calls, "+-rw");
  EXPECT_EQ(others.calls, "+-rw");
  EXPECT_TRUE(wait_for(2));
  EXPECT_EQ(runtime.sleeps, "aa");
}
