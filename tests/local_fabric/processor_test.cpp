// A thread that leaves a core: it stands elsewhere, and may run where it might before.
#include "runtime/drivers/processor.hpp"

#include <gtest/gtest.h>
#include <sched.h>

namespace runtime::drivers {
namespace {

cpu_set_t cores_of_this_thread() {
  cpu_set_t set;
  EXPECT_EQ(::sched_getaffinity(0, sizeof set, &set), 0);
  return set;
}

/// On the first two cores on which the test may run.
class Processor : public testing::Test {
 protected:
  Processor() {
    for (int core = 0; core < CPU_SETSIZE && CPU_COUNT(&two) < 2; ++core)
      if (CPU_ISSET(core, &before)) CPU_SET(core, &two);
  }
  ~Processor() override { ::sched_setaffinity(0, sizeof before, &before); }
  const cpu_set_t before = cores_of_this_thread();
  cpu_set_t two{};
};

TEST_F(Processor, leaves_a_core_for_another) {
  if (CPU_COUNT(&two) < 2) GTEST_SKIP() << "this process may run on one core only";
  ASSERT_EQ(::sched_setaffinity(0, sizeof two, &two), 0);
  int away = 0;  // the system may bring it back before it is asked
  for (int i = 0; i < 100; ++i) {
    const int core = current_core();
    ASSERT_TRUE(leave_core(core));
    away += current_core() != core ? 1 : 0;
    const cpu_set_t after = cores_of_this_thread();
    ASSERT_TRUE(CPU_EQUAL(&after, &two));
  }
  EXPECT_GT(away, 50);
}

// A set of one core stays, and the thread on it.
TEST_F(Processor, one_core_alone_is_not_left) {
  cpu_set_t one;
  CPU_ZERO(&one);
  const int core = current_core();
  ASSERT_GE(core, 0);
  CPU_SET(core, &one);
  ASSERT_EQ(::sched_setaffinity(0, sizeof one, &one), 0);
  EXPECT_FALSE(leave_core(core));
  EXPECT_EQ(current_core(), core);
  const cpu_set_t after = cores_of_this_thread();
  EXPECT_TRUE(CPU_EQUAL(&after, &one));
}

TEST_F(Processor, no_core_is_not_left) {
  EXPECT_FALSE(leave_core(-1));
  EXPECT_FALSE(leave_core(CPU_SETSIZE));
}

}  // namespace
}  // namespace runtime::drivers
