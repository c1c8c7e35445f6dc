// Names of what happens to streams of RDMA, for scenarios and results. All of them live for ever.
#pragma once
#include <string_view>
#include <vector>

#include "state_machines/iwarp_startup.hpp"
#include "wire/iwarp/rdmap/terminate.hpp"

namespace sim {

/// Of Failure: "TimedOut".
[[nodiscard]] std::string_view rdma_failure_name(machines::iwarp::Failure failure);
[[nodiscard]] std::vector<std::string_view> rdma_failure_names();

/// "DDP/Tagged Buffer Error/Invalid STag": an error that an end found, in the counters of its host. Of one that no
/// standard has: "another error".
[[nodiscard]] std::string_view rdma_error_name(const wire::rdmap::Cause& cause);
[[nodiscard]] std::vector<std::string_view> rdma_error_names();

/// Start-ups that failed, in the same counters: "start-up TimedOut".
[[nodiscard]] std::string_view rdma_startup_name(machines::iwarp::Failure failure);
[[nodiscard]] std::vector<std::string_view> rdma_startup_names();

}  // namespace sim
