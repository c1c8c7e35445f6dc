// A set of octet numbers, kept as the ranges that it consists of: [begin, end) each, none touches another.
#pragma once
#include <boost/icl/interval_set.hpp>
#include <cstdint>
#include <functional>
#include <optional>

namespace streams {

/// Each call is O(log n) of the ranges, and of those that it removes.
class OctetRanges {
 public:
  void add(std::uint64_t begin, std::uint64_t end) { ranges_.add(range(begin, end)); }
  void remove(std::uint64_t begin, std::uint64_t end) { ranges_.subtract(range(begin, end)); }
  void remove(const OctetRanges& others) { ranges_ -= others.ranges_; }
  /// All octets of the range. An empty one has none: true.
  [[nodiscard]] bool contains(std::uint64_t begin, std::uint64_t end) const {
    return begin >= end || boost::icl::contains(ranges_, range(begin, end));
  }
  /// Any octet of the range.
  [[nodiscard]] bool touches(std::uint64_t begin, std::uint64_t end) const {
    return begin < end && boost::icl::intersects(ranges_, range(begin, end));
  }
  /// Behind the last octet of those that follow `begin` without a gap; `begin` where it is not in the set.
  [[nodiscard]] std::uint64_t end_of_run(std::uint64_t begin) const {
    const auto found = ranges_.find(begin);
    return found == ranges_.end() ? begin : found->upper();
  }
  [[nodiscard]] bool empty() const { return ranges_.empty(); }
  /// Ranges.
  [[nodiscard]] std::size_t size() const { return ranges_.iterative_size(); }

 private:
  using Range = boost::icl::right_open_interval<std::uint64_t>;
  static Range range(std::uint64_t begin, std::uint64_t end) { return {begin, end}; }
  boost::icl::interval_set<std::uint64_t, std::less, Range> ranges_;
};

}  // namespace streams
