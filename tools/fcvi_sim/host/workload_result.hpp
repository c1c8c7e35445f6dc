// What a workload measures: filled by its programs, and by whoever watches the wire.
#pragma once
#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "runtime/time.hpp"
#include "tools/fcvi_sim/host/rdma_result.hpp"
#include "tools/fcvi_sim/scenario/digest.hpp"
#include "vi/types.hpp"

namespace sim {

/// What a side of a workload must know of the other one, where that runs elsewhere (a run in parts). It does before a
/// message of the other side comes that was sent after the call.
class FarSide {
 public:
  virtual void transfer_began(std::size_t transfer) = 0;
  virtual void message_due(std::size_t transfer, runtime::TimeNs due) = 0;
  virtual void run_finished(std::size_t transfer, runtime::TimeNs at) = 0;

 protected:
  ~FarSide() = default;
};

/// What one connection put on the wire, both directions, as sent.
struct Traffic {
  std::uint64_t ius = 0, frames = 0;
  friend Traffic operator-(const Traffic& left, const Traffic& right) {
    return {left.ius - right.ius, left.frames - right.frames};
  }
};

/// A message that was there: received, answered, or (RDMA without Immediate Data) completed.
struct MessageTime {
  runtime::TimeNs at = 0;       // after all ports were ready
  runtime::TimeNs latency = 0;  // since it was due, where it has a pace; else since it was posted
  std::uint32_t size_bytes = 0;
  [[nodiscard]] runtime::TimeNs due() const { return at - latency; }
};

/// Of the messages of a workload whose times are noted, in the order in which they were there.
struct MessageLog {
  static constexpr std::size_t most = 10'000'000;  // later ones are counted
  std::vector<MessageTime> messages = {};
  std::uint64_t expected = 0;  // that the scenario has; what is missing never came
  std::uint64_t count = 0, bytes = 0;
  runtime::TimeNs first = runtime::never, last_due = 0;  // when one was due, there or not
  runtime::TimeNs end = 0;  // when the last was there, or one more would have been due, whichever is later
  void add_due(runtime::TimeNs due) {
    first = std::min(first, due);
    last_due = std::max(last_due, due);
  }
  /// `next_due`: of the message after it, at the mean pace; 0: it has none.
  void add(runtime::TimeNs due, runtime::TimeNs at, std::uint64_t size_bytes, runtime::TimeNs next_due = 0) {
    if (messages.size() < most) messages.push_back({at, at - due, static_cast<std::uint32_t>(size_bytes)});
    ++count;
    bytes += size_bytes;
    add_due(due);
    end = std::max({end, at, next_due});
  }
  [[nodiscard]] std::uint64_t missing() const { return expected > count ? expected - count : 0; }
};

/// All repetitions of one transfer.
struct TransferResult {
  std::uint32_t begun = 0;      // repetitions
  std::uint32_t ended = 0;      // with the expected status; with status success: the content was compared
  std::uint32_t different = 0;  // content or length differed at the far side
  std::uint64_t lost = 0;       // messages that never came, where the scenario has a bound of them
  std::uint64_t messages = 0, bytes = 0;
  runtime::TimeNs duration = 0;                         // from the first descriptor posted to the last byte in place
  Traffic traffic = {};                                 // with the programs' own messages and all responses
  std::optional<std::uint32_t> unexpected_status = {};  // error bits of the first descriptor that failed otherwise
  Sha256 digest{};                                      // of the last repetition's content
  // Of the repetition under way:
  std::vector<runtime::TimeNs> due = {};  // by message; where times are noted
  runtime::TimeNs run_started = 0,
                  run_finished = 0;  // as the initiator, and whoever sees the last byte in place, saw it
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
  MessageLog log = {};
  std::string broken;    // why a program gave up
  RdmaResult rdma = {};  // where it is a stream of RDMA: only this, and traffic

  // Where the other side runs elsewhere: both have a result, and these make one of them (merge_workload).
  FarSide* far = nullptr;  // else nullptr
  struct SentFrame {
    runtime::TimeNs at;
    bool first;
  };
  std::vector<SentFrame> sent = {};  // by this side
  struct Span {
    std::size_t transfer;
    runtime::TimeNs begin, end;
  };
  std::vector<Span> spans = {};   // of this side's repetitions
  runtime::TimeNs broken_at = 0;  // unless `broken` is empty
  /// The first counts; of two at one time the text that comes first, whoever was asked first.
  void give_up(const std::string& why, runtime::TimeNs at) {
    if (!broken.empty() && std::pair(broken_at, broken) <= std::pair(at, why)) return;
    broken = why;
    broken_at = at;
  }
};

}  // namespace sim
