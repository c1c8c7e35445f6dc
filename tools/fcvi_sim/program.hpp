// The two programs of a workload, written against the VI model as a VIPL application is against the library.
#pragma once
#include "tools/fcvi_sim/content.hpp"
#include "tools/fcvi_sim/node.hpp"
#include "tools/fcvi_sim/results.hpp"

namespace sim {

/// Waits for the connection, serves, disconnects. All references outlive the task.
Task<> server_program(Node& node, const WorkloadSpec& workload, const ContentStore& contents,
                      WorkloadResult& result);
/// Connects to `server`, moves the data, disconnects.
Task<> client_program(Node& node, Node& server, const WorkloadSpec& workload, const ContentStore& contents,
                      WorkloadResult& result);
/// One of two peers, which rendezvous by the workload's discriminator (VI-DG 3.3.6); then as client or server.
Task<> peer_program(Node& node, Node& peer, const WorkloadSpec& workload, Side side, const ContentStore& contents,
                    WorkloadResult& result);

}  // namespace sim
