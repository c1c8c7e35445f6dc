// Options of the CE header (VI-TCP 3.3).
#pragma once
#include <vector>

#include "wire/codec.hpp"

namespace wire::vitcp {

/// Types that the draft defines; a receiver ignores all others.
enum class OptionType : std::uint16_t { end_of_option_list = 0, crc = 1, urgent_marker = 2 };
/// "CRC"; "unknown" for others.
[[nodiscard]] std::string_view to_string(OptionType type);

/// The list of options behind a CE header: each has type and length (16 bits each; the length counts both, ruling
/// V-23), then data; but End of Option List has its type only. Written in the order of the members.
struct Options {
  bool crc = false;                 // this segment has a CRC; so will all others if both ends say so
  bool urgent_marker = false;       // the receiver of this may designate urgent data
  std::vector<std::uint8_t> other;  // unknown options and second ones of the known types, as they came, whole
  bool end = false;                 // End of Option List stands there; always so with crc
  std::uint16_t padding_bytes = 0;  // behind it: nobody asks for them, and a receiver skips them

  static constexpr std::string_view name = "OPTIONS";
  static constexpr std::uint16_t option_header_bytes = 4, end_bytes = 2;

  /// All octets of the segment behind the CE header. With the CRC option the last four of the padding are the trailer,
  /// which Segment takes away. Memory: at most those octets. Errors: truncated "option_type", "option_length",
  /// "option_data"; an "option_length" below 4, or other than 4 of a known type; "end_of_option_list" missing behind
  /// the CRC option.
  [[nodiscard]] static Result<Options> parse(Bytes bytes);
  /// Octets.
  [[nodiscard]] std::size_t size() const;
  /// As size() says.
  void write(MutableBytes to) const;
  [[nodiscard]] std::string to_string() const;
  friend bool operator==(const Options&, const Options&) = default;
};

}  // namespace wire::vitcp
