// The programs at both ends of a stream of RDMA.
#pragma once
#include "tools/fcvi_sim/host/driver.hpp"
#include "tools/fcvi_sim/host/rdma_core.hpp"
#include "tools/fcvi_sim/host/workload_result.hpp"
#include "tools/fcvi_sim/scenario/workload.hpp"

namespace sim {

/// What an end of a stream is given.
struct RdmaHost {
  RdmaCore& core;
  std::size_t segment_bytes = 1460;  // octets of a TCP segment
};

/// A workload that is a stream of RDMA; it outlives the program.
struct RdmaWorkload {
  const WorkloadSpec& spec;
  std::size_t index = 0;  // of all workloads: tells protection domains apart
  std::uint64_t seed = 1;
};

/// Both ends: the server listens at once, the client begins after the workload's `start`. All references outlive it.
Task<> rdma_program(Driver& driver, RdmaHost client, RdmaHost server, RdmaWorkload workload, RdmaResult& result);

}  // namespace sim
