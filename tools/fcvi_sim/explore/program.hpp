// The programs at the two ends of an explored connection. Whatever befalls them, they come to an end: each waits for
// what a program may wait for, disconnects, and empties its queues.
#pragma once
#include "tools/fcvi_sim/explore/world.hpp"

namespace sim::explore {

/// All references outlive the task.
Task<> client_program(World& world, const WorkloadSpec& workload, Probe& probe);
Task<> server_program(World& world, const WorkloadSpec& workload, Probe& probe);
/// One of two peers.
Task<> peer_program(World& world, const WorkloadSpec& workload, Probe& probe, Side side);

/// What the timers allow two endpoints to think of each other differently.
runtime::TimeNs longest_disagreement(runtime::TimeNs ulp_timeout, runtime::TimeNs r_a_tov);

}  // namespace sim::explore
