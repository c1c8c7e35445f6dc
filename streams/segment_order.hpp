// Which octets of one direction a receiver of TCP segments has: segments come in any order, twice, overlapping, or not
// at all (RFC 9293 3.10.7.4). Octets are numbered from 0; no number comes near 2^64.
#pragma once
#include <deque>

#include "streams/octet_ranges.hpp"

namespace streams {

class SegmentOrder {
 public:
  /// Behind the octets that can be read: the first one that is missing, or was let go.
  [[nodiscard]] std::uint64_t front() const { return front_; }
  /// A segment. False: all of it could be read before.
  bool arrive(std::uint64_t at, std::uint64_t end);
  /// Notes segments that come before their turn from now on.
  void watch() { watched_ = true; }
  [[nodiscard]] bool has_early_segment() const { return !early_segments_.empty(); }
  /// The oldest one that is noted, and still is before its turn: its first octet.
  [[nodiscard]] std::optional<std::uint64_t> take_early_segment();
  /// Behind the octets that are there from `at` on, before their turn; `at` where none is.
  [[nodiscard]] std::uint64_t end_of_run(std::uint64_t at) const { return came_.end_of_run(at); }

  /// They need not be kept. Pre: they are there, before their turn.
  void let_go(std::uint64_t at, std::uint64_t end);
  /// They have their place. Pre: they were let go, and `at` is front().
  void pass_over(std::uint64_t at, std::uint64_t end);
  /// They are missing again. Pre: they were let go.
  void call_back(std::uint64_t at, std::uint64_t end) { gone_.remove(at, end); }

 private:
  void advance();
  std::uint64_t front_ = 0;
  OctetRanges came_, gone_;  // beyond front_: kept; let go
  std::deque<std::uint64_t> early_segments_;
  bool watched_ = false;
};

}  // namespace streams
