// ULPDUs in frames of IFT (draft-williams-iwarp-ift-01 5), with the CRCs that the indications said.
//
// With a payload CRC that is checked a frame is collected and given to the sink whole. Without it headers are judged as
// soon as they are there, and the payload goes from the stream straight into memory.
#pragma once
#include "iwarp/ift_speculation.hpp"
#include "iwarp/stream_framing.hpp"
#include "wire/iwarp/ift/frame.hpp"

namespace iwarp {

/// What both indications said.
struct IftTerms {
  wire::ift::Framing out{}, in{};
  std::size_t emss = 1460;  // octets that a TCP segment takes
};

class IftFraming final : public StreamFraming {
 public:
  IftFraming(Workspace& workspace, UlpduSink& sink, const IftTerms& terms);

  /// Frames of early segments are placed as soon as they are there (IFT 8), if the stream shows such segments. Pre: the
  /// other end's SP permits it; the sink notes in `written` what it places.
  void place_speculatively(WrittenOctets& written, SpeculationCounts& counts);
  Progress read(streams::Stream& stream) override;

  void set_emss(std::size_t emss) override;
  [[nodiscard]] bool has_room() const override;
  void add(wire::Bytes header, std::span<const wire::Bytes> payload) override;
  [[nodiscard]] bool is_consistent() const override;

 private:
  static constexpr std::size_t most_headers =
      wire::ift::FrameHeader::size() + wire::ddp::untagged_header_bytes + wire::iwarp::crc_bytes;

  [[nodiscard]] static std::size_t mulpdu_of(std::size_t emss, const wire::ift::Framing& out);
  Progress read_straight(streams::Stream& stream) override;
  void take(wire::Bytes octets);
  [[nodiscard]] std::size_t take_headers(wire::Bytes octets);
  [[nodiscard]] std::size_t headers_wanted() const;
  void headers_collected();
  void payload_taken(std::size_t octets);
  void end_frame();
  [[nodiscard]] std::size_t take_whole(wire::MutableBytes octets) override;
  [[nodiscard]] std::size_t frame_extent(wire::Bytes octets) const override;
  void refuse(const wire::ParseError& error);

  const IftTerms terms_;
  std::array<std::uint8_t, most_headers> headers_{};
  std::unique_ptr<IftSpeculation> speculation_;  // nullptr: all waits for its turn
};

}  // namespace iwarp
