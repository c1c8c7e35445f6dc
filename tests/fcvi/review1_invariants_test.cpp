// Findings of a review: runs that the invariants of fcvi-sim explore let pass. Not in CMake.
#include <gtest/gtest.h>

#include "tools/fcvi_sim/invariants.hpp"

namespace {
using namespace sim::explore;

ConnectionRecord& ended_connection(Record& record) {
  record.ulp_timeout = record.r_a_tov = 10 * fc2::second;
  ConnectionRecord& connection = record.connections.emplace_back();
  connection.name = "c";
  for (End& end : connection.ends) {
    end.began = end.ended = true;
    end.port = "p";
    end.states = {{0, vi::State::Idle}};
  }
  return connection;
}
CallRecord call(std::string_view name, vi::Return result) {
  return {.name = name, .issued = 0, .returned = 1, .returns = 1, .result = result, .limit = 10};
}

// Issue 4 item 9: without any fault, nothing works: no call succeeds, no message arrives.
TEST(Review1Invariants, noFault_nothingSucceeds) {
  Record record;
  ConnectionRecord& connection = ended_connection(record);
  connection.ends[0].calls.push_back(call("VipConnectRequest", vi::Return::NotReachable));
  connection.ends[1].calls.push_back(call("VipConnectWait", vi::Return::Timeout));
  ASSERT_TRUE(record.faults.empty());
  EXPECT_FALSE(check_invariants(record).empty());
}

// Issue 4 item 9: "no two endpoints disagree for longer than the timers allow": a client that never was Connected, whose
// VipConnectRequest returned VIP_NOT_REACHABLE, excuses a server that is Connected for an hour.
TEST(Review1Invariants, setupNotReachable_serverConnectedForAnHour) {
  Record record;
  ConnectionRecord& connection = ended_connection(record);
  connection.ends[0].calls.push_back(call("VipConnectRequest", vi::Return::NotReachable));
  connection.ends[1].states = {{0, vi::State::Idle}, {fc2::second, vi::State::Connected}, {3600 * fc2::second, vi::State::Idle}};
  EXPECT_FALSE(check_invariants(record).empty());
}

// The same: the server's port saw a logout (of whomever, whenever since the start), the client stays Connected.
TEST(Review1Invariants, logoutOfAnybody_clientConnectedForAnHour) {
  Record record;
  ConnectionRecord& connection = ended_connection(record);
  connection.ends[1].port = "q";
  connection.ends[0].states = {{0, vi::State::Idle}, {fc2::second, vi::State::Connected}, {3600 * fc2::second, vi::State::Idle}};
  record.logouts.push_back({2 * fc2::second, "q"});
  EXPECT_FALSE(check_invariants(record).empty());
}

// Nothing tells whether a connection that the server rejects returns VIP_REJECT.
TEST(Review1Invariants, rejected_connects) {
  Record record;
  ConnectionRecord& connection = ended_connection(record);
  connection.rejected = true;
  connection.ends[0].calls.push_back(call("VipConnectRequest", vi::Return::Success));
  EXPECT_FALSE(check_invariants(record).empty());
}
}  // namespace
