// How often frames were discarded, by reason.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <numeric>

namespace fc2 {

/// Of an N_Port or a switch, of an Ethernet port, of an FC-4. `Reason` is an enumeration from 0 on whose last value is
/// Count, which is no reason.
template <class Reason>
class DiscardCounts {
 public:
  void discard(Reason reason) { ++counts_[static_cast<std::size_t>(reason)]; }
  [[nodiscard]] std::uint64_t discarded(Reason reason) const { return counts_[static_cast<std::size_t>(reason)]; }
  /// Of all reasons.
  [[nodiscard]] std::uint64_t discarded() const {
    return std::accumulate(counts_.begin(), counts_.end(), std::uint64_t{0});
  }
  /// visit(reason, times) for each reason that there was, in their order.
  template <class Visit>
  void for_each_discard(Visit visit) const {
    for (std::size_t i = 0; i < counts_.size(); ++i)
      if (counts_[i] != 0) visit(static_cast<Reason>(i), counts_[i]);
  }

 private:
  std::array<std::uint64_t, static_cast<std::size_t>(Reason::Count)> counts_{};
};

}  // namespace fc2
