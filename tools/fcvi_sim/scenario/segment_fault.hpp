// What hosts on TCP send each other, in faults and expectations: VI segments, and what a stream of RDMA carries; their
// fields by name, and what can befall one.
#pragma once
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "runtime/time.hpp"
#include "wire/bytes.hpp"

namespace sim {

/// What a segment is, and by that what stands where in its octets.
enum class SegmentForm : std::uint8_t {
  Vi,          // VI segment (VI-TCP 3)
  MpaStartup,  // MPA Request or Reply Frame (RFC 5044 7.1.1)
  Fpdu,        // without its markers: ULPDU_Length, ULPDU, PAD, CRC (RFC 5044 4.1)
  Adaption,    // adaption indication (IFT 4.1)
  IftFrame,    // IFT 5.1
};

/// The nine types (VI-TCP 3.2), by the draft's names.
[[nodiscard]] std::vector<std::string_view> vi_segment_names();
/// RDMA Messages by the RFCs' names, and what begins their streams.
[[nodiscard]] std::vector<std::string_view> rdma_segment_names();
/// Both.
[[nodiscard]] std::vector<std::string_view> segment_names();
/// Of one that a stream of RDMA carries; it lives for ever. Pre: a whole segment of that form, not Vi.
[[nodiscard]] std::string_view rdma_segment_name(SegmentForm form, wire::Bytes octets);
/// Where the DDP header begins. Pre: of a form that has one.
[[nodiscard]] std::size_t ddp_offset(SegmentForm form);
/// Where what DDP carries begins: behind its header, of IFT with CRCs behind that one's CRC too. nullopt: the segment
/// ends before.
[[nodiscard]] std::optional<std::size_t> ulp_offset(SegmentForm form, wire::Bytes octets);

/// A field of a header.
struct SegmentField {
  /// The header, in which `offset` counts; ReadRequest, Terminate: behind the DDP header.
  enum class Of : std::uint8_t {
    Vi,
    ViRdma,
    ViCe,
    Fpdu,
    IftFrame,
    Ddp,
    Tagged,
    Untagged,
    ReadRequest,
    Terminate,
    MpaStartup,
    MpaEnhanced,
    Adaption
  };
  std::string_view name;           // as wire/ calls it
  std::uint16_t offset = 0;        // octets
  std::uint8_t size = 0;           // octets
  std::uint8_t low = 0, bits = 0;  // of these so many bits, from that one on; 0: all
  Of of = Of::Vi;

  [[nodiscard]] std::uint64_t max() const;
  /// nullopt: a segment of that type has no such field.
  [[nodiscard]] std::optional<std::uint64_t> read(SegmentForm form, wire::Bytes segment) const;
  /// Nothing where there is none.
  void write(SegmentForm form, wire::MutableBytes segment, std::uint64_t value) const;

 private:
  /// Where it stands; nullopt: nowhere.
  [[nodiscard]] std::optional<std::size_t> place(SegmentForm form, wire::Bytes segment) const;
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
  [[nodiscard]] bool holds(SegmentForm form, wire::Bytes segment) const {
    const auto value = field->read(form, segment);
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
