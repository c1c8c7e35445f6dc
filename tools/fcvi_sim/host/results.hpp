// What happened in a run: filled by programs and observer, read by summary and expectations.
#pragma once
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tools/fcvi_sim/scenario/digest.hpp"
#include "tools/fcvi_sim/host/driver.hpp"
#include "tools/fcvi_sim/scenario/scenario.hpp"

namespace sim {

/// FC-VI frames of one connection, both directions, as sent.
struct Traffic {
  std::uint64_t ius = 0, frames = 0;
  friend Traffic operator-(const Traffic& left, const Traffic& right) {
    return {left.ius - right.ius, left.frames - right.frames};
  }
};

/// All repetitions of one transfer.
struct TransferResult {
  std::uint32_t begun = 0;      // repetitions
  std::uint32_t ended = 0;      // with the expected status; with status success: the content was compared
  std::uint32_t different = 0;  // content or length differed at the far side
  std::uint64_t messages = 0, bytes = 0;
  runtime::TimeNs duration = 0;                         // from the first descriptor posted to the last byte in place
  Traffic traffic = {};                                 // with the programs' own messages and all responses
  std::optional<std::uint32_t> unexpected_status = {};  // error bits of the first descriptor that failed otherwise
  Sha256 digest{};                                      // of the last repetition's content
};

struct SeenCompletion {
  runtime::TimeNs at = 0;  // after all ports were ready
  std::uint32_t error_bits = 0;
};

struct WorkloadResult {
  std::optional<vi::Return> connect, accept, disconnect,
      server_disconnect;  // none: the call was not made or not done
  vi::State client_state = vi::State::Idle, server_state = vi::State::Idle;
  bool client_ended = false, server_ended = false;
  runtime::TimeNs setup_duration = 0, accept_duration = 0;
  std::vector<std::string_view> client_states, server_states;  // after Idle; where they are watched
  std::vector<SeenCompletion> client_sends, client_receives, server_sends, server_receives;  // where they are expected
  std::vector<TransferResult> transfers;
  Traffic traffic;
  std::string broken;  // why a program gave up
  // Of the run under way: the initiator writes the first, whoever sees the last byte in place the second.
  runtime::TimeNs run_started = 0, run_finished = 0;
};

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

struct SeenError {
  runtime::TimeNs at = 0;  // after all ports were ready
  std::size_t port = 0;
  vi::ErrorCode error{};
};

struct RunResult {
  std::vector<WorkloadResult> workloads;
  std::map<std::string_view, std::uint64_t> ius;  // by name
  std::uint64_t iu_count = 0, frame_count = 0, byte_count = 0;
  std::uint64_t discards = 0, asynchronous_errors = 0, unexpected_events = 0;
  std::vector<std::string> discard_reasons;  // "client: WrongSequence 3"
  std::vector<std::uint64_t> kept_bytes;     // by port: the most of its reorder pool at once
  std::vector<std::uint64_t> pool_refusals;  // by port: frames that found no room in it
  runtime::TimeNs duration = 0;              // simulated
  Driver::Outcome outcome = Driver::Outcome::Finished;
  std::vector<WireIu> wire;  // where it is expected to be something
  std::vector<SeenError> errors;
  std::vector<std::uint64_t> faults;  // how often each happened
  std::string not_ready;              // name of a port that never got ready
};

/// "client: wrong sequence 3"
inline std::string discard_text(const std::string& name, fc2::Discard reason, std::uint64_t times) {
  return name + ": " + std::string(to_string(reason)) + " " + std::to_string(times);
}

}  // namespace sim
