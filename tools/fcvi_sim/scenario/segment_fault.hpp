// VI segments in faults and expectations: their fields by name, and what can befall one.
#pragma once
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "runtime/time.hpp"
#include "wire/bytes.hpp"

namespace sim {

/// The nine types (VI-TCP 3.2), by the draft's names.
[[nodiscard]] std::vector<std::string_view> segment_names();

/// A field of the segment header, of the RDMA header or of the CE header behind it.
struct SegmentField {
  enum class Of : std::uint8_t { Any, Rdma, Ce };
  std::string_view name;           // as wire/vitcp/ calls it
  std::uint16_t offset = 0;        // in the segment, octets
  std::uint8_t size = 0;           // octets
  std::uint8_t low = 0, bits = 0;  // of these so many bits, from that one on; 0: all
  Of of = Of::Any;

  [[nodiscard]] std::uint64_t max() const;
  /// nullopt: a segment of that type has no such field.
  [[nodiscard]] std::optional<std::uint64_t> read(wire::Bytes segment) const;
  /// Nothing where there is none.
  void write(wire::MutableBytes segment, std::uint64_t value) const;

 private:
  [[nodiscard]] bool is_in(wire::Bytes segment) const;
  [[nodiscard]] std::uint64_t mask() const;
};
/// nullptr: no field of that name.
[[nodiscard]] const SegmentField* find_segment_field(std::string_view name);
[[nodiscard]] std::vector<std::string_view> segment_field_names();

/// Those of frames and of segments: what the schema allows.
[[nodiscard]] std::vector<std::string_view> all_field_names();

/// Both ends are included.
struct SegmentFieldRange {
  const SegmentField* field;
  std::uint64_t min, max;
  [[nodiscard]] bool holds(wire::Bytes segment) const {
    const auto value = field->read(segment);
    return value && *value >= min && *value <= max;
  }
};

struct SegmentPatch {
  const SegmentField* field;
  std::uint64_t value;
};

struct SegmentFault {
  enum class Kind : std::uint8_t {
    Reset,    // the connection, behind `octets` of the segment
    Close,    // the direction ends there, as if its sender had closed it
    Stall,    // the rest of the segment, and what follows it, waits for `hold`
    Corrupt,  // `bit` is inverted
    BadCrc,   // the CRC is wrong; of segments that have one
    Rewrite,  // fields have other values, and the CRC is that of these
  };
  Kind kind = Kind::Reset;
  std::vector<SegmentFieldRange> fields = {};  // of segments that it befalls
  std::uint32_t octets = 0;                    // so many of the segment go on; more than it has: all
  runtime::TimeNs hold = runtime::never;       // never: until the end of the run
  std::uint32_t bit = 0;                       // from the first of the segment, round its end
  bool crc_error = true;                       // Corrupt: the CRC, if there is one, tells
  std::vector<SegmentPatch> patches = {};
};

}  // namespace sim
