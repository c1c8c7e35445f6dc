// Which records of a capture show a frame that another record shows already.
#pragma once
#include <boost/unordered/unordered_flat_map.hpp>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <tuple>

#include "tools/fcvi_sim/capture/reading.hpp"

namespace sim::capture {

/// Asked of each record of a capture, in order. A frame is a copy where its bytes were seen at another place; or where
/// it arrives changed: its sender's frame of the same Exchange, SEQ_ID and SEQ_CNT was seen as it left, not more than
/// `longest_way` before or after. What a service of the fabric sends, or a port without an address, is a copy by its
/// bytes only.
class Copies {
 public:
  /// Twice the R_A_TOV of a fabric (FC-FS: 10 s, the longest that a frame may be under way): its ids are free again.
  static constexpr Time longest_way = 20'000'000'000;  // ns
  /// So many frames are remembered whatever their age: records need not be in the order of time.
  static constexpr std::size_t remembered_anyway = 65536;

  /// The row that shows the frame; none: it is to have one.
  [[nodiscard]] std::optional<std::size_t> row_of(const Seen& seen);
  /// The record has that row. Of frames beyond remembered_anyway those are forgotten that were seen longest_way ago.
  void add(const Seen& seen, std::size_t row);
  /// Frames whose copies would be known.
  [[nodiscard]] std::size_t remembered() const { return rows_.size(); }

 private:
  using Sent = std::tuple<std::uint32_t, std::uint32_t, std::uint32_t, std::uint32_t, bool>;
  struct Left {
    std::size_t row = 0;
    Time at = 0;
  };
  struct Age {
    Time at = 0;
    std::uint64_t record = 0;  // key in rows_
    std::optional<Sent> sent;  // key in sent_
  };
  [[nodiscard]] static std::optional<Sent> key_of(const Seen& seen);
  void remember(const Seen& seen, std::size_t row, const std::optional<Sent>& sent);
  void forget_oldest();
  boost::unordered_flat_map<std::uint64_t, std::size_t> rows_;  // by the record that showed it first
  std::map<Sent, Left> sent_;                                   // where they left
  std::deque<Age> ages_;                                        // in the order of records
};

}  // namespace sim::capture
