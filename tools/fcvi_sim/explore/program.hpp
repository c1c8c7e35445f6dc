// The programs at the two ends of an explored connection. They always end: each waits for as long as a program may
// wait, disconnects, and empties its queues.
#pragma once
#include "tools/fcvi_sim/explore/world.hpp"

namespace sim::explore {

/// All references outlive the task.
Task<> client_program(World& world, const WorkloadSpec& workload, Probe& probe);
Task<> server_program(World& world, const WorkloadSpec& workload, Probe& probe);
/// One of two peers.
Task<> peer_program(World& world, const WorkloadSpec& workload, Probe& probe, Side side);

/// Of a VI that its program left in Error, since nobody answered: VipDisconnect may be repeated (VI-DG 3.3.5).
Task<> disconnect_again(World& world, Probe& probe);

/// How long the timers allow two endpoints to disagree about the connection.
runtime::TimeNs longest_disagreement(runtime::TimeNs ulp_timeout, runtime::TimeNs r_a_tov);

}  // namespace sim::explore
