/// The measured loops. Both ends run the same phase, after a word on the control connection.
#pragma once
#include "tools/fcvi_perf/endpoint.hpp"
#include "tools/fcvi_perf/job.hpp"
#include "tools/fcvi_perf/samples.hpp"

namespace perf {

enum class Role : std::uint32_t { Client, Server };

/// The server only is the target of RDMA.
inline bool is_passive(const Job& job, Role role) {
  if (role == Role::Client || job.consumes_receives() || job.both_directions != 0) return false;
  return job.measure == Measure::Bandwidth || job.operation == Operation::Read;
}

/// Sets up memory that the phase looks at. Before the peer may begin.
void prepare_phase(Endpoint& end, const Job& job, const Phase& phase, Role role);
/// Client: `samples` gets half round trips (RDMA Read: whole ones).
Tally run_latency(Endpoint& end, const Job& job, const Phase& phase, Role role, Samples& samples);
Tally run_bandwidth(Endpoint& end, const Job& job, const Phase& phase, Role role);

/// Message `number` of this connection and sender, for --check.
void fill_pattern(std::uint8_t* at, std::uint64_t bytes, std::uint64_t connection, std::uint64_t number, Role sender);
bool has_pattern(const std::uint8_t* at, std::uint64_t bytes, std::uint64_t connection, std::uint64_t number,
                 Role sender);
inline Role other(Role role) { return role == Role::Client ? Role::Server : Role::Client; }
/// CPU time of this process.
std::uint64_t cpu_ns();

}  // namespace perf
