// What a status shows as frames per second.
#include "tools/fabricd/rates.hpp"

#include <gtest/gtest.h>

#include "tests/fc2_fabric/far_ends.hpp"
#include "tests/support/flogi_frame.hpp"

namespace support {
namespace {
using fabricd::Rates;

class RatesTest : public testing::Test {
 public:
  RatesTest() : fabric(1) { port = fabric.fabric.attach(far, far); }
  ~RatesTest() override { fabric.fabric.detach(*port); }
  void frames(int number) {
    for (int i = 0; i < number; ++i)
      port->receive(flogi_frame(fabric.pool, fabric.port(0).login_parameters(wire::els::Command::flogi)));
  }
  void sample_at(runtime::TimeNs now) {
    rates.begin_sample(now);
    rates.sample(*port);
  }
  [[nodiscard]] double in_at(runtime::TimeNs now) const { return rates.of(*port, now).in; }

  TestFabric fabric;
  FarEnd far;
  fc2::FPort* port;
  Rates rates;
};

TEST_F(RatesTest, not_known_before_a_sample) {
  frames(3);
  EXPECT_EQ(in_at(100 * runtime::second), 0);
}

// A frame one millisecond after the first sample is not a thousand per second.
TEST_F(RatesTest, less_than_a_second_tells_nothing) {
  sample_at(5 * runtime::second);
  frames(3);
  EXPECT_EQ(in_at(5 * runtime::second + runtime::millisecond), 0);
  EXPECT_EQ(in_at(6 * runtime::second - 1), 0);
  EXPECT_DOUBLE_EQ(in_at(6 * runtime::second), 3);
}

TEST_F(RatesTest, over_the_sample_before_the_latest) {
  sample_at(5 * runtime::second);
  frames(10);
  sample_at(10 * runtime::second);
  frames(2);
  EXPECT_DOUBLE_EQ(in_at(10 * runtime::second), 12.0 / 5);
  EXPECT_DOUBLE_EQ(in_at(15 * runtime::second), 12.0 / 10);
  sample_at(15 * runtime::second);
  EXPECT_DOUBLE_EQ(in_at(15 * runtime::second), 2.0 / 5);
}

}  // namespace
}  // namespace support
