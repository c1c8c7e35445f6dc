#include "streams/segment_order.hpp"

#include <algorithm>
#include <cassert>

namespace streams {

/// What was let go stays so, however often it comes.
bool SegmentOrder::arrive(std::uint64_t at, std::uint64_t end) {
  at = std::max(at, front_);
  if (at >= end) return false;
  came_.add(at, end);
  came_.remove(gone_);
  if (watched_ && at > front_) early_segments_.push_back(at);
  advance();
  return true;
}

void SegmentOrder::advance() {
  const std::uint64_t end = came_.end_of_run(front_);
  came_.remove(front_, end);
  front_ = end;
}

std::optional<std::uint64_t> SegmentOrder::take_early_segment() {
  while (!early_segments_.empty()) {
    const std::uint64_t at = early_segments_.front();
    early_segments_.pop_front();
    if (at > front_) return at;
  }
  return std::nullopt;
}

void SegmentOrder::let_go(std::uint64_t at, std::uint64_t end) {
  assert(came_.contains(at, end));
  came_.remove(at, end);
  gone_.add(at, end);
}

void SegmentOrder::pass_over(std::uint64_t at, std::uint64_t end) {
  assert(at == front_ && gone_.contains(at, end));
  gone_.remove(at, end);
  front_ = end;
  advance();
}

}  // namespace streams
