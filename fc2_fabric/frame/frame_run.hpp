// Consecutive frames of one Sequence that are handed on together where nobody looks at single ones.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>

#include "fc2_fabric/frame/frame.hpp"

namespace fc2 {

/// Reads the data of a run where they may be gone.
class RunReader {
 public:
  /// False: they are gone; `to` is undefined.
  [[nodiscard]] virtual bool read(std::span<std::uint8_t> to, const std::uint8_t* from) const = 0;

 protected:
  ~RunReader() = default;
};

/// Frames of class 3, neither the first nor the last of their Sequence, of equal length and without fill bytes, whose
/// headers differ in SEQ_CNT and relative offset alone (FC-FS): each has one more, and `data_bytes` more, than the one
/// before. They are offered: whoever is on their way takes the first so many and does for them what it does for single
/// frames, or none, and then nothing has happened. The others are made and sent singly. So a tap, a fault, credit or a
/// queue needs to know nothing of runs. Valid during the call only.
///
/// Or one frame (SOFi3, EOFt) that is a Sequence by itself and stands whole in `first`, data and all: is_whole().
struct FrameRun {
  const Frame& first;        // its headers stand there, its data do not
  std::size_t frames;        // not 0
  std::size_t header_bytes;  // of each: header and Device_Header
  const std::uint8_t* data;  // of the first
  std::size_t data_bytes;    // of each
  std::size_t stride_bytes;  // from the data of one to those of the next
  const RunReader* reader;   // nullptr: the data stay there during the call

  [[nodiscard]] static FrameRun of_whole(const Frame& frame) {
    return {frame, 1, frame.size_bytes, nullptr, 0, 0, nullptr};
  }
  [[nodiscard]] bool is_whole() const { return first.sof == wire::Sof::i3; }
  /// The data lie one behind another.
  [[nodiscard]] bool is_dense() const { return stride_bytes == data_bytes; }
};

}  // namespace fc2
