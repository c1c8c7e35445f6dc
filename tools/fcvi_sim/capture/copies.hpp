// Which records of a capture show a frame that another record shows already.
#pragma once
#include <boost/unordered/unordered_flat_map.hpp>
#include <cstdint>
#include <map>
#include <optional>
#include <tuple>

#include "tools/fcvi_sim/capture/reading.hpp"

namespace sim::capture {

/// Asked of each record of a capture, in order. A frame is a copy where its bytes were seen at another place; or where
/// it arrives changed: its sender's frame of the same Exchange, SEQ_ID and SEQ_CNT was seen as it left. What a service
/// of the fabric sends, or a port without an address, is a copy by its bytes only.
class Copies {
 public:
  /// The row that shows the frame; none: it is to have one.
  [[nodiscard]] std::optional<std::size_t> row_of(const Seen& seen);
  /// The record has that row.
  void add(const Seen& seen, std::size_t row);

 private:
  using Sent = std::tuple<std::uint32_t, std::uint32_t, std::uint32_t, std::uint32_t, bool>;
  [[nodiscard]] static std::optional<Sent> key_of(const Seen& seen);
  boost::unordered_flat_map<std::uint64_t, std::size_t> rows_;  // by the record that showed it first
  std::map<Sent, std::size_t> sent_;                            // where they left
};

}  // namespace sim::capture
