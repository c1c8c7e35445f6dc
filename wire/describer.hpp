// The frames of a capture as text, one line each, with what carries them: delimiters, CRC, VLAN tag, extended headers.
#pragma once
#include <map>
#include <optional>
#include <tuple>
#include <vector>

#include "wire/delimiters.hpp"
#include "wire/describe.hpp"

namespace wire {

/// The facts that the carrier of a frame gives. Unknown ones are not set.
struct Carriage {
  std::optional<Sof> sof = {};
  std::optional<Eof> eof = {};
  bool bad_crc = false;
  bool is_cut = false;  // the end of the frame was not captured
};

/// Puts the frames of one Sequence together, so that the last one shows the whole IU. Frames may come twice, as in a
/// capture of both ends of a link, and in any order.
class PartialIus {
 public:
  /// `data_field`: as FcFrameView has it. The IU, with the Device_Header of its first frame in front, if this frame's
  /// Sequence is complete now; nothing if it is not, or is longer than 64 KiB. Valid until the next call.
  std::optional<Bytes> add(const FcHeader& header, Bytes data_field);

 private:
  static constexpr std::size_t max_iu_bytes = 1u << 16, max_sequences = 1024;
  /// S_ID, D_ID, OX_ID, SEQ_ID, and which end of the Exchange sends.
  using Key = std::tuple<std::uint32_t, std::uint32_t, std::uint16_t, std::uint8_t, bool>;
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

  std::map<Key, Sequence> sequences_;
  std::vector<Key> in_order_;  // as they began
};

/// A line for each frame. A message of several frames is described with the frame that completes it.
class Describer {
 public:
  [[nodiscard]] std::string fc_frame(Bytes frame, const Carriage& carriage);
  /// FCoE, FIP, with or without a VLAN tag; what a second tag holds is not read. `is_cut`: its end was not captured.
  [[nodiscard]] std::string ethernet_frame(Bytes frame, bool is_cut);
  /// As link type 225 has it: SOF and EOF as ordered sets of four bytes, the CRC before EOF.
  [[nodiscard]] std::string delimited_frame(Bytes frame, bool is_cut);

 private:
  [[nodiscard]] std::string ordinary_frame(Bytes frame, const Carriage& carriage);
  [[nodiscard]] std::string untagged_frame(Bytes frame, bool is_cut);
  [[nodiscard]] std::string fcoe_frame(Bytes frame, bool is_cut);
  PartialIus ius_;
};

}  // namespace wire
