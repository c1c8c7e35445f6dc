/// Times in nanoseconds, counted in steps of less than 0.8 %.
#pragma once
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace perf {

class Samples {
 public:
  void add(std::uint64_t ns) {
    ++counts_[bucket_of(ns)];
    ++count_;
    sum_ += ns;
    if (ns < least_) least_ = ns;
    if (ns > most_) most_ = ns;
  }
  [[nodiscard]] std::uint64_t count() const { return count_; }
  [[nodiscard]] double mean() const;
  [[nodiscard]] std::uint64_t least() const { return count_ == 0 ? 0 : least_; }
  [[nodiscard]] std::uint64_t most() const { return most_; }
  /// The time that this part (0 to 1) of the samples does not exceed; the middle of its step.
  [[nodiscard]] double quantile(double part) const;
  /// What is not empty: from this time on, so many.
  [[nodiscard]] std::vector<std::pair<std::uint64_t, std::uint64_t>> histogram() const;

 private:
  static constexpr unsigned step_bits = 7;
  static constexpr std::uint64_t steps = 1U << step_bits;
  static constexpr std::size_t buckets = (64 - step_bits + 1) * steps;
  /// Exact below 128 ns, then 128 steps to each power of two.
  static std::size_t bucket_of(std::uint64_t ns) {
    if (ns < steps) return ns;
    const auto shift = static_cast<unsigned>(std::bit_width(ns)) - step_bits - 1;
    return (shift + 1) * steps + ((ns >> shift) - steps);
  }
  static std::uint64_t begin_of(std::size_t bucket) {
    if (bucket < steps) return bucket;
    return (steps + bucket % steps) << (bucket / steps - 1);
  }

  std::array<std::uint64_t, buckets> counts_{};
  std::uint64_t count_ = 0, sum_ = 0, least_ = ~0ULL, most_ = 0;
};

}  // namespace perf
