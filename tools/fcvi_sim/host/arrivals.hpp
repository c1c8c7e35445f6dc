// What each side of a connection receives, in order: known beforehand, so that receive descriptors of the
// right shape are posted ahead, as VI programs must (VI-ARCH 2.5: a message without a descriptor is lost or
// breaks the connection).
//
// Each repetition of a transfer goes like this, the target being the side that does not post the work:
//   target -> initiator   Offer: go ahead; where its buffer is, and what it holds (RDMA Read)
//   the messages          on the way, target -> initiator: Credit for each half window that it received
//                         ... or, instead of Credits, the transfer's `reply` to each message
//   initiator -> target   Done: the digest of what was sent
//   target -> initiator   Verdict: what arrived
#pragma once
#include <cstdint>
#include <optional>
#include <vector>

#include "tools/fcvi_sim/scenario/workload.hpp"

namespace sim {

/// One repetition of one transfer.
struct Run {
  const TransferSpec* transfer = nullptr;
  std::uint32_t repetition = 0;
  std::size_t index = 0;
};

struct Arrival {
  enum class Kind : std::uint8_t { Control, Data, Immediate, Reply };
  Kind kind = Kind::Control;
  std::size_t run = 0;        // position in Arrivals::runs()
  std::uint64_t message = 0;  // of Data, Immediate, Reply
};

class Arrivals {
 public:
  Arrivals(const WorkloadSpec& workload, Side side);
  [[nodiscard]] const std::vector<Run>& runs() const { return runs_; }
  /// The next one, which next() takes.
  [[nodiscard]] std::optional<Arrival> peek() const;
  std::optional<Arrival> next();

 private:
  [[nodiscard]] std::uint64_t count_of_run() const;
  [[nodiscard]] Arrival arrival() const;
  std::uint32_t queue_depth_;
  Side side_;
  std::vector<Run> runs_;
  std::size_t run_ = 0;
  std::uint64_t position_ = 0;  // within the run
};

/// Every message takes a receive descriptor of the target.
[[nodiscard]] bool takes_receives(const TransferSpec& transfer);
/// Credits of one run where the target keeps `queue_depth` receives posted.
[[nodiscard]] std::uint64_t credit_count(const TransferSpec& transfer, std::uint32_t queue_depth);

}  // namespace sim
