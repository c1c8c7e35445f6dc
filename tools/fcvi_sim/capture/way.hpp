// What befell a frame behind the place where it was captured, as its comment tells: one that arrives late, changed or
// more than once is there only as it was sent, where a capture has each frame once.
#pragma once
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "tools/fcvi_sim/capture/conversation.hpp"
#include "tools/faults/frame_fields.hpp"

namespace sim::capture {

struct Way {
  Time delay = 0;                         // ns; of copies: between one and the next
  std::uint32_t overtaken_by = 0;         // frames that were sent after it
  std::uint32_t copies = 0;               // that arrive, too
  std::optional<std::uint32_t> bit = {};  // turned over: counted from the first of the header, round the frame's end
  std::optional<std::uint64_t> size_bytes = {};  // so much of it arrives, header included
  bool crc_error = false;                        // where one of these two did it
  std::vector<std::pair<const faults::FrameField*, std::uint64_t>> fields = {};  // were rewritten

  /// The frame, header first, as it arrives.
  void change(std::vector<std::uint8_t>& frame) const;
};

/// "fault: delayed by 1.000 ms", and the other notes of faults (tools/fcvi_sim/scenario/fault_loader.cpp); "delayed:
/// waited 3.200 ms until ..." of the live fabric. nullopt: it tells of nothing of the kind.
[[nodiscard]] std::optional<Way> way_told_by(std::string_view comment);

}  // namespace sim::capture
