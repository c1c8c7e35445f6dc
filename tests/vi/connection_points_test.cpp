// The connection points of VipConnectWait by themselves (FC-VI 4.2, C.5.2; VI-DG 3.3.1).
#include "vi/connection_points.hpp"

#include <gtest/gtest.h>

#include <string_view>

#include "tests/support/operations.hpp"

namespace {
using support::Wait;

class ConnectionPoints : public ::testing::Test {
 public:
  static vi::NetAddress at(std::string_view discriminator) {
    return vi::NetAddress::make(
        {}, std::span(reinterpret_cast<const std::uint8_t*>(discriminator.data()), discriminator.size()));
  }
  runtime::Scheduler scheduler;
  vi::ConnectionPoints points{scheduler};
  Wait first, second;
};

// VI-DG 3.3.1: no matching request is here, and no time is left to wait for one; the least time above zero is a wait.
TEST_F(ConnectionPoints, wait_zero_returnsAtOnce) {
  points.wait(at("a"), 0, first);
  EXPECT_EQ(first.result, vi::Return::Timeout);
  EXPECT_FALSE(points.anybody_waits());
  EXPECT_TRUE(scheduler.idle());
  points.wait(at("a"), 1, second);
  EXPECT_FALSE(second.result.has_value());
  EXPECT_EQ(scheduler.next_time(), scheduler.now() + 1);
  scheduler.run_until(scheduler.now() + 1);
  EXPECT_EQ(second.result, vi::Return::Timeout);
  EXPECT_FALSE(points.anybody_waits());
}

// VI-DG 3.3.1, FC-VI C.5.2: T0 does not run for who waits without end; it does for any other time, however long.
TEST_F(ConnectionPoints, wait_infinite_hasNoTimer) {
  points.wait(at("a"), runtime::never, first);
  EXPECT_TRUE(scheduler.idle());
  points.wait(at("b"), runtime::never - 1, second);
  EXPECT_EQ(scheduler.pending_count(), 1u);
  EXPECT_EQ(points.take(at("b")), &second);
  EXPECT_TRUE(scheduler.idle());
  EXPECT_EQ(points.take(at("a")), &first);
}

// The operation that is withdrawn, and no other, is forgotten, and is not told.
TEST_F(ConnectionPoints, withdraw_forgetsThatOne) {
  points.wait(at("a"), 5, first);
  points.wait(at("a"), 5, second);
  points.withdraw(first);
  EXPECT_EQ(points.take(at("a")), &second);
  EXPECT_EQ(points.take(at("a")), nullptr);
  points.withdraw(first);
  scheduler.run_until(scheduler.now() + 10);
  EXPECT_FALSE(first.result.has_value() || second.result.has_value());
}
}  // namespace
