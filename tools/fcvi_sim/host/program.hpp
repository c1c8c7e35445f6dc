// The two programs of a workload, written against the VI model as a VIPL application is against the library.
#pragma once
#include "tools/fcvi_sim/host/content.hpp"
#include "tools/fcvi_sim/host/node.hpp"
#include "tools/fcvi_sim/host/workload_result.hpp"

namespace sim {

/// Where that side of the workload is called.
vi::NetAddress address_of(const WorkloadSpec& workload, Side side);
/// ... without a discriminator: what a peer names itself.
vi::NetAddress nameless_address_of(const WorkloadSpec& workload, Side side);

/// Waits for the connection, serves, disconnects. All references outlive the task.
Task<> server_program(Node& node, const WorkloadSpec& workload, const ContentStore& contents, WorkloadResult& result);
/// Connects to the server, moves the data, disconnects.
Task<> client_program(Node& node, const WorkloadSpec& workload, const ContentStore& contents, WorkloadResult& result);
/// One of two peers, which rendezvous by the workload's discriminator (VI-DG 3.3.6); then as client or server.
Task<> peer_program(Node& node, const WorkloadSpec& workload, Side side, const ContentStore& contents,
                    WorkloadResult& result);

}  // namespace sim
