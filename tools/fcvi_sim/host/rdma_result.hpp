// What a stream of RDMA came to: filled by its program.
#pragma once
#include <string>
#include <vector>

#include "runtime/time.hpp"
#include "tools/fcvi_sim/scenario/digest.hpp"
#include "tools/fcvi_sim/scenario/rdma_workload.hpp"

namespace sim {

struct SeenRdmaCompletion {
  runtime::TimeNs at = 0;  // after all ports were ready
  iwarp::Operation operation{};
  RdmaOutcome outcome{};
  std::uint32_t octets = 0;
  bool solicited_event = false;
  std::optional<std::size_t> invalidated = {};  // a region
};

/// All repetitions of an operation.
struct RdmaOperationResult {
  std::uint32_t begun = 0;                     // repetitions
  std::uint32_t ended = 0;                     // with the outcome that was expected
  std::optional<RdmaOutcome> other = {};       // the first one that was not
  std::uint32_t received = 0;                  // of a Send: in success
  bool all_equal = true, any_changed = false;  // of what it should place, when the stream had ended
};

struct RdmaEndResult {
  std::string start{rdma_no_start};
  std::string private_data;  // that it was told
  RdmaEnding ending = RdmaEnding::None;
  std::optional<wire::rdmap::Cause> found, told;  // errors: its own, and the other end's by a Terminate
  std::vector<SeenRdmaCompletion> completions = {};
  std::uint32_t times_told = 0;                      // Terminates that came
  std::uint64_t fpdus_sent = 0, fpdus_received = 0;  // whole, and found to be right
};

struct RdmaContentResult {
  bool held = false;
  std::string got;
};

struct RdmaResult {
  bool ended = false;  // the program did
  runtime::TimeNs startup_duration = 0;
  ByEnd<RdmaEndResult> ends{};
  std::vector<RdmaOperationResult> operations;
  std::vector<RdmaContentResult> contents;  // as RdmaExpectation::contents
  // What must not be: completions of nothing that was under way, operations that never completed, and octets that
  // changed where no operation had anything to place.
  std::uint64_t strange_completions = 0, open_operations = 0, stray_octets = 0;
};

}  // namespace sim
