// ULPDUs in FPDUs of MPA (RFC 5044 4, 5), with markers and CRC as the start-up agreed for each direction.
//
// With the CRC an FPDU is collected, judged, and given to the sink whole: nothing is placed by octets that may be wrong
// (RFC 5044 4.4), and its payload is copied once. Without it the payload goes from the stream straight into memory as
// it comes, around the markers.
#pragma once
#include "iwarp/stream_framing.hpp"
#include "wire/iwarp/mpa/fpdu.hpp"

namespace iwarp {

/// What Request and Reply agreed.
struct MpaTerms {
  wire::mpa::Framing out{}, in{};
  std::size_t emss = 1460;  // octets that a TCP segment takes
};

class MpaFraming final : public StreamFraming {
 public:
  MpaFraming(Workspace& workspace, UlpduSink& sink, const MpaTerms& terms);

  void set_emss(std::size_t emss) override;
  [[nodiscard]] bool has_room() const override;
  void add(wire::Bytes header, std::span<const wire::Bytes> payload) override;
  [[nodiscard]] bool is_consistent() const override;

 private:
  /// Of one call of Stream::read: memory, and the markers among it.
  struct DirectRead {
    static constexpr std::size_t most_markers = 32;
    std::array<wire::MutableBytes, 2 * most_markers + 2> pieces;
    std::array<bool, 2 * most_markers + 2> is_marker{};
    std::array<std::array<std::uint8_t, wire::mpa::marker_bytes>, most_markers> markers;
    std::size_t count = 0, marker_count = 0, octets = 0;
    [[nodiscard]] bool is_full() const { return marker_count == most_markers || count + 1 == pieces.size(); }
    void add(wire::MutableBytes piece, bool marker);
  };

  // what is sent
  [[nodiscard]] static std::size_t mulpdu_of(std::size_t emss, bool markers);
  void put_marker_if_due();
  void put(wire::Bytes octets, bool lent);
  [[nodiscard]] bool is_marker_due() const { return terms_.out.markers && wire::mpa::is_marker_at(out_position_); }

  // what is received, without the CRC
  Progress read_straight(streams::Stream& stream) override;
  void prepare(DirectRead& direct);
  void take_direct(const DirectRead& direct, std::size_t octets);
  void take(wire::Bytes octets);
  void take_marker(wire::Bytes octets);
  void take_octets(wire::Bytes octets);
  [[nodiscard]] std::size_t take_header(wire::Bytes octets);
  void header_collected();
  void payload_taken(std::size_t octets);
  [[nodiscard]] std::size_t take_trailer(std::size_t octets);
  [[nodiscard]] wire::mpa::Run run_here() const;

  // with the CRC
  [[nodiscard]] std::size_t take_whole(wire::MutableBytes octets) override;
  [[nodiscard]] std::size_t frame_extent(wire::Bytes octets) const override;
  [[nodiscard]] bool markers_agree(wire::Bytes fpdu) const;
  void give(wire::Bytes fpdu);

  const MpaTerms terms_;
  wire::mpa::Position out_position_ = 0, out_fpdu_ = 0;  // of the next octet, and of the ULPDU_Length of its FPDU
  std::uint32_t out_crc_ = 0;

  wire::mpa::Position in_position_ = 0, in_fpdu_ = 0;
  std::array<std::uint8_t, wire::mpa::ulpdu_length_bytes + wire::ddp::untagged_header_bytes> header_{};
  std::array<std::uint8_t, wire::mpa::marker_bytes> marker_{};
};

}  // namespace iwarp
