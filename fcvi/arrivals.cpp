#include "fcvi/arrivals.hpp"

#include <algorithm>

namespace fcvi {
namespace {
bool follows(std::uint16_t earlier, std::uint16_t later) { return static_cast<std::uint16_t>(earlier + 1) == later; }

/// The first range that ends behind `at`.
template <class Ranges>
auto range_behind(Ranges& ranges, std::uint32_t at) {
  return std::partition_point(ranges.begin(), ranges.end(), [at](const Arrivals::Range& range) { return range.end <= at; });
}
}  // namespace

Arrivals::Piece Arrivals::classify(const Range& piece) const {
  const auto next = range_behind(ranges_, piece.begin);
  if (next != ranges_.end() && next->begin < piece.end)
    return next->begin <= piece.begin && piece.end <= next->end ? Piece::Duplicate : Piece::Conflict;
  if (piece.begin == 0 && piece.first_seq_cnt != 0) return Piece::Conflict;
  const bool joins_previous = next != ranges_.begin() && (next - 1)->end == piece.begin;
  if (joins_previous && !follows((next - 1)->last_seq_cnt, piece.first_seq_cnt)) return Piece::Conflict;
  const bool joins_next = next != ranges_.end() && next->begin == piece.end;
  return joins_next && !follows(piece.last_seq_cnt, next->first_seq_cnt) ? Piece::Conflict : Piece::New;
}

void Arrivals::add(const Range& piece) {
  const auto next = range_behind(ranges_, piece.begin);
  const bool joins_next = next != ranges_.end() && next->begin == piece.end;
  if (next != ranges_.begin() && (next - 1)->end == piece.begin) {
    (next - 1)->end = joins_next ? next->end : piece.end;
    (next - 1)->last_seq_cnt = joins_next ? next->last_seq_cnt : piece.last_seq_cnt;
    if (joins_next) ranges_.erase(next);
  } else if (joins_next) {
    next->begin = piece.begin;
    next->first_seq_cnt = piece.first_seq_cnt;
  } else {
    Range added = piece;
    if (next != ranges_.end()) added.missed_since = next->missed_since;  // what is before it is missed as long as itself was
    const auto at = next - ranges_.begin();
    if (ranges_.size() == ranges_.capacity()) ranges_.reserve(2 * ranges_.capacity());
    ranges_.insert(ranges_.begin() + at, added);
  }
}

std::size_t Arrivals::bytes_to_grow() const {
  return ranges_.size() < ranges_.capacity() ? 0 : 2 * ranges_.capacity() * sizeof(Range) - heap_bytes();
}

std::size_t Arrivals::heap_bytes() const { return ranges_.capacity() <= inline_ranges ? 0 : ranges_.capacity() * sizeof(Range); }

bool Arrivals::contains(std::uint32_t at) const {
  const auto range = range_behind(ranges_, at);
  return range != ranges_.end() && range->begin <= at;
}

fc2::TimeNs Arrivals::missed_since(std::uint32_t at) const {
  const auto range = range_behind(ranges_, at);
  return range != ranges_.end() ? range->missed_since : fc2::never;
}

fc2::TimeNs Arrivals::oldest_gap() const {
  fc2::TimeNs oldest = fc2::never;
  for (const Range& range : ranges_)
    if (range.begin != 0) oldest = std::min(oldest, range.missed_since);
  return oldest;
}

void Arrivals::forget_first(std::uint32_t count) {
  ranges_.erase(ranges_.begin(), range_behind(ranges_, count));
  for (Range& range : ranges_) {
    range.begin = std::max(range.begin, count) - count;
    range.end -= count;
  }
}

}  // namespace fcvi
