#include "fcvi/arrivals.hpp"

#include <algorithm>

namespace fcvi {
namespace {
/// SEQ_CNT `later` comes next behind `earlier` where their offsets meet; where they do not, as many frames are between
/// as SEQ_CNTs are missing, or 65,536 more (5.6), each of a byte at least.
bool may_follow(std::uint16_t earlier, std::uint16_t later, std::uint32_t bytes_between) {
  const auto missing = static_cast<std::uint16_t>(later - earlier - 1);
  if (bytes_between == 0) return missing == 0;
  return bytes_between >= (missing != 0 ? missing : 65536u);
}

/// The first range that ends behind `at`.
template <class Ranges>
auto range_behind(Ranges& ranges, std::uint32_t at) {
  return std::partition_point(ranges.begin(), ranges.end(),
                              [at](const Arrivals::Range& range) { return range.end <= at; });
}
}  // namespace

Arrivals::Piece Arrivals::classify(const Range& piece) const {
  const auto next = range_behind(ranges_, piece.begin);
  if (next != ranges_.end() && next->begin < piece.end)
    return next->begin <= piece.begin && piece.end <= next->end ? Piece::Duplicate : Piece::Conflict;
  const bool is_first = next == ranges_.begin();
  const std::uint16_t before = is_first ? 0xFFFF : (next - 1)->last_seq_cnt;  // the message begins with SEQ_CNT 0
  if (!may_follow(before, piece.first_seq_cnt, piece.begin - (is_first ? 0 : (next - 1)->end))) return Piece::Conflict;
  const bool fits =
      next == ranges_.end() || may_follow(piece.last_seq_cnt, next->first_seq_cnt, next->begin - piece.end);
  return fits ? Piece::New : Piece::Conflict;
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
    if (next != ranges_.end())
      added.missed_since = next->missed_since;  // what is before it is missed as long as itself was
    const auto at = next - ranges_.begin();
    if (ranges_.size() == ranges_.capacity()) ranges_.reserve(2 * ranges_.capacity());
    ranges_.insert(ranges_.begin() + at, added);
  }
}

bool Arrivals::has_room(const Range& piece, std::uint64_t length) const {
  return ranges_.size() < length / 256 + 64 || joins_one(piece);
}

std::size_t Arrivals::bytes_to_grow(const Range& piece) const {
  if (ranges_.size() < ranges_.capacity() || joins_one(piece)) return 0;
  return 2 * ranges_.capacity() * sizeof(Range) - heap_bytes();
}

std::size_t Arrivals::heap_bytes() const {
  return ranges_.capacity() <= inline_ranges ? 0 : ranges_.capacity() * sizeof(Range);
}

bool Arrivals::contains(std::uint32_t at) const {
  const auto range = range_behind(ranges_, at);
  return range != ranges_.end() && range->begin <= at;
}

runtime::TimeNs Arrivals::missed_since(std::uint32_t at) const {
  const auto range = range_behind(ranges_, at);
  return range != ranges_.end() ? range->missed_since : runtime::never;
}

runtime::TimeNs Arrivals::oldest_gap() const {
  const std::size_t first = !empty() && ranges_.front().begin == 0 ? 1 : 0;
  return first < ranges_.size() ? ranges_[first].missed_since : runtime::never;
}

std::uint32_t Arrivals::end_of_gaps(runtime::TimeNs due) const {
  const auto later = std::partition_point(ranges_.begin(), ranges_.end(),
                                          [due](const Range& range) { return range.missed_since <= due; });
  return later == ranges_.begin() ? 0 : (later - 1)->begin;
}

void Arrivals::fill_before(std::uint32_t end) {
  const auto there = range_behind(ranges_, end);
  there->begin = 0;
  ranges_.erase(ranges_.begin(), there);
}

void Arrivals::forget_first(std::uint32_t count) {
  if (count == 0) return;
  ranges_.erase(ranges_.begin(), range_behind(ranges_, count));
  for (Range& range : ranges_) {
    range.begin = std::max(range.begin, count) - count;
    range.end -= count;
  }
}

}  // namespace fcvi
