// Messages that came in several frames, put together, so that one can be shown with the frame that completes it.
#pragma once
#include <map>
#include <optional>
#include <tuple>
#include <vector>

#include "wire/fc_header.hpp"

namespace wire {

/// Puts the frames of one Sequence together. Frames may come twice, as in a capture of both ends of a link, and in any
/// order. Only of what is a message as a whole: an ELS, a CT request or answer, an IU with connect information; others
/// carry data, of which nothing needs the rest. Keeps at most 1,024 Sequences of at most 64 KiB.
class PartialIus {
 public:
  struct Seen {
    FcHeader header;   // of a whole IU: as if all had been in this frame
    Bytes data_field;  // Device_Header included; valid until the next call
    bool whole;        // false: a part of a message that is not complete, or is too long
  };
  [[nodiscard]] Seen add(const FcFrameView& frame);

 private:
  static constexpr std::size_t max_iu_bytes = 1u << 16, max_sequences = 1024;
  /// S_ID, D_ID, OX_ID, SEQ_ID, which end of the Exchange sends, TYPE.
  using Key = std::tuple<std::uint32_t, std::uint32_t, std::uint16_t, std::uint8_t, bool, Type>;
  struct Sequence {
    std::vector<std::uint8_t> device_header, bytes;
    std::map<std::size_t, std::size_t> parts;  // begin and end of the received parts; no two are adjacent
    std::optional<std::size_t> size;           // once the last frame came
    std::vector<std::uint8_t> whole;
    void add(std::size_t offset, Bytes part);
    void merge(std::size_t begin, std::size_t end);
    [[nodiscard]] bool is_complete() const;
  };
  Sequence& find(const FcHeader& header);
  std::optional<Bytes> add_part(const FcHeader& header, Bytes data_field);

  std::map<Key, Sequence> sequences_;
  std::vector<Key> in_order_;  // as they began
};

}  // namespace wire
