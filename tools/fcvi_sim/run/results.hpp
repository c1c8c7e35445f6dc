// What happened in a run: filled by the simulation and its observer, read by summary and expectations.
#pragma once
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tools/fcvi_sim/host/driver.hpp"
#include "tools/fcvi_sim/host/workload_result.hpp"
#include "tools/fcvi_sim/scenario/scenario.hpp"
#include "tools/faults/rules.hpp"

namespace sim {

/// The first frame of an IU, as its sender sent it; or any frame, where the scenario asks for frames.
struct WireIu {
  runtime::TimeNs at = 0;              // after all ports were ready; negative before
  std::size_t from = 0;                // port
  std::optional<std::size_t> to = {};  // none: a service of the fabric
  faults::FrameFacts facts = {};
  std::vector<std::uint8_t> bytes = {};  // of the frame, as far as its fields go
  std::uint32_t last_f_ctl = 0;          // F_CTL of its last frame
  std::uint64_t payload_bytes = 0;       // of all its frames
  bool lost = false;                     // one of its frames at least
};

/// A segment over TCP, as its sender wrote it or a fault changed it.
struct SeenSegment {
  runtime::TimeNs at = 0;        // after all ports were ready; negative before
  std::size_t stream = 0;        // TCP connection, from 1
  std::size_t from = 0, to = 0;  // ports
  SegmentForm form = SegmentForm::Vi;
  std::string_view name;
  std::vector<std::uint8_t> octets = {};  // as far as its headers go
  std::uint64_t payload_bytes = 0;
};

struct SeenError {
  runtime::TimeNs at = 0;  // after all ports were ready
  std::size_t port = 0;
  vi::ErrorCode error{};
};

/// Frames of one flow of the scenario's `background`.
struct BackgroundResult {
  std::uint64_t sent = 0;
  std::uint64_t without_login = 0;  // not sent: no login yet, or none any more
  std::uint64_t behind = 0;         // not sent: too many frames of the port waited already
};

/// How near a fault of frames came.
struct FaultMatches {
  std::uint64_t fired = 0, matched = 0;    // of its rule
  faults::RuleSet::NearMiss nearest = {};  // where nothing matched
};

struct RunResult {
  std::vector<WorkloadResult> workloads;
  std::map<std::string_view, std::uint64_t> ius;  // by name
  std::uint64_t iu_count = 0, frame_count = 0,
                byte_count = 0;  // over TCP: segments, TCP segments, octets of the first
  std::size_t stream_count = 0;  // TCP connections that were begun
  std::uint64_t discards = 0, asynchronous_errors = 0, unexpected_events = 0;
  std::vector<std::string> discard_reasons;  // as discard_text()
  std::vector<std::size_t> discard_places;   // of each: position of the port, or behind the ports that of the switch
  std::vector<std::uint64_t> kept_bytes;     // by port: the most of its reorder pool at once
  std::vector<std::uint64_t> pool_refusals;  // by port: frames that found no room in it
  runtime::TimeNs duration = 0;              // simulated
  Driver::Outcome outcome = Driver::Outcome::Finished;
  std::vector<WireIu> wire;           // where it is expected to be something
  std::vector<SeenSegment> segments;  // the same over TCP
  std::vector<SeenError> errors;
  std::vector<std::uint64_t> faults;           // how often each happened
  std::vector<runtime::TimeNs> fault_moments;  // after all ports were ready: when one happened; ascending
  std::vector<BackgroundResult> background;
  /// Of all discards, with `background`: frames that no FC-4 was there for, or that came to a port that had logged out.
  std::uint64_t background_discards = 0;
  std::vector<FaultMatches> fault_matches;  // of each, also of those of ports
  std::string inconsistent;                 // the first whose owners contradict themselves: "port b" (Outputs::check)
  std::string not_ready;                    // name of a port that never got ready
  std::string_view awaited;                 // what it should have become: HostTransport::ready_means()
};

/// "client: wrong sequence 3"
inline std::string discard_text(const std::string& name, std::string_view reason, std::uint64_t times) {
  return name + ": " + std::string(reason) + " " + std::to_string(times);
}

}  // namespace sim
