#include "tools/fcvi_sim/host/driver.hpp"

#include <gtest/gtest.h>

#include <stdexcept>

namespace sim {
namespace {

class DriverTest : public testing::Test {
 protected:
  runtime::Scheduler scheduler;
  Driver driver{scheduler};
  std::vector<std::string> log;

  Task<> sleeper(std::string name, runtime::TimeNs delay) {
    co_await driver.sleep(delay);
    log.push_back(name);
  }
  Task<int> answer() {
    co_await driver.sleep(1);
    co_return 42;
  }
  Task<> asker(int& to) { to = co_await answer(); }
  Task<> waiter(Signal& signal) {
    co_await signal;
    log.emplace_back("woken");
  }
  Task<> thrower() {
    co_await driver.sleep(1);
    throw std::runtime_error("from within");
  }
  Task<> nested_thrower() { co_await thrower(); }
};

TEST_F(DriverTest, sleepers_wake_in_order_of_time_then_of_start) {
  driver.spawn(sleeper("late", 20));
  driver.spawn(sleeper("early", 10));
  driver.spawn(sleeper("early too", 10));
  EXPECT_EQ(driver.run(runtime::second), Driver::Outcome::Finished);
  EXPECT_EQ(log, (std::vector<std::string>{"early", "early too", "late"}));
  EXPECT_EQ(scheduler.now(), runtime::second + 20);
}

TEST_F(DriverTest, value_of_a_task_reaches_its_awaiter) {
  int value = 0;
  driver.spawn(asker(value));
  EXPECT_EQ(value, 0);  // lazy
  EXPECT_EQ(driver.run(runtime::second), Driver::Outcome::Finished);
  EXPECT_EQ(value, 42);
}

/// Sets a signal from inside the model and notes that nobody ran within.
class Setter final : public runtime::Event {
 public:
  Setter(Signal& signal, std::vector<std::string>& log) : signal_(signal), log_(log) {}

 private:
  void fire(runtime::TimeNs) override {
    signal_.set();
    log_.emplace_back("model at rest");
  }
  Signal& signal_;
  std::vector<std::string>& log_;
};

TEST_F(DriverTest, signal_from_the_model_resumes_after_the_event) {
  // A completion must not run a program inside the model.
  Signal signal(driver);
  Setter setter(signal, log);
  driver.spawn(waiter(signal));
  scheduler.schedule_after(setter, 5);
  EXPECT_EQ(driver.run(runtime::second), Driver::Outcome::Finished);
  EXPECT_EQ(log, (std::vector<std::string>{"model at rest", "woken"}));
}

TEST_F(DriverTest, call_that_is_done_at_once_does_not_suspend) {
  Call<vi::Operation> call(driver);
  call.done(vi::Return::Timeout);
  driver.spawn(waiter(call.finished));
  EXPECT_EQ(driver.run(0), Driver::Outcome::Finished);
  EXPECT_EQ(call.result, vi::Return::Timeout);
}

TEST_F(DriverTest, waiting_for_what_cannot_happen_is_stuck) {
  Signal signal(driver);
  driver.spawn(waiter(signal));
  EXPECT_EQ(driver.run(runtime::second), Driver::Outcome::Stuck);
  EXPECT_EQ(driver.running(), 1u);
}

TEST_F(DriverTest, time_limit_ends_the_run) {
  driver.spawn(sleeper("never", runtime::second));
  EXPECT_EQ(driver.run(runtime::millisecond), Driver::Outcome::TimeLimit);
  EXPECT_TRUE(log.empty());
}

TEST_F(DriverTest, exception_passes_through_awaiters_to_the_caller) {
  driver.spawn(nested_thrower());
  EXPECT_THROW(driver.run(runtime::second), std::runtime_error);
  EXPECT_EQ(driver.running(), 0u);
}

TEST_F(DriverTest, abandoned_programs_are_destroyed_where_they_wait) {
  auto guard = std::make_shared<int>(1);
  driver.spawn([](Driver& own, std::shared_ptr<int>) -> Task<> { co_await own.sleep(runtime::second); }(driver, guard));
  driver.run(1);
  EXPECT_EQ(guard.use_count(), 2);
  driver.abandon();
  EXPECT_EQ(guard.use_count(), 1);
  EXPECT_EQ(scheduler.pending_count(), 0u);
}

}  // namespace
}  // namespace sim
