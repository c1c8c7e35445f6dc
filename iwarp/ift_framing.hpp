// ULPDUs in frames of IFT (draft-williams-iwarp-ift-01 5), with the CRCs that the indications said.
//
// With a payload CRC that is checked a frame is collected and given to the sink whole. Without it headers are judged as
// soon as they are there, and the payload goes from the stream straight into memory.
#pragma once
#include "iwarp/framing.hpp"
#include "iwarp/output_batch.hpp"
#include "wire/iwarp/ift/frame.hpp"

namespace iwarp {

/// What both indications said.
struct IftTerms {
  wire::ift::Framing out{}, in{};
  std::size_t emss = 1460;  // octets that a TCP segment takes
};

class IftFraming final : public Framing {
 public:
  IftFraming(Workspace& workspace, UlpduSink& sink, const IftTerms& terms);

  [[nodiscard]] std::size_t mulpdu() const override { return mulpdu_; }
  [[nodiscard]] bool has_room() const override;
  void add(wire::Bytes header, std::span<const wire::Bytes> payload) override;
  void flush(streams::Stream& stream) override { batch_.flush(stream); }
  void keep_first(std::vector<std::uint8_t> octets) override { batch_.keep_first(std::move(octets)); }
  void write_kept(streams::Stream& stream) override { batch_.write_kept(stream); }
  [[nodiscard]] bool is_blocked() const override { return batch_.is_blocked(); }

  Progress read(streams::Stream& stream) override;
  [[nodiscard]] bool is_at_boundary() const override;
  [[nodiscard]] bool is_consistent() const override;

 private:
  enum class Stage : std::uint8_t { header, payload, trailer };
  static constexpr std::size_t direct_octets = 4096;  // less is read with what follows it, and copied
  static constexpr std::size_t ahead_octets = 512;    // read behind a large payload: the next header
  static constexpr std::size_t most_headers =
      wire::ift::FrameHeader::size() + wire::ddp::untagged_header_bytes + wire::iwarp::crc_bytes;

  Progress read_straight(streams::Stream& stream);
  Progress read_whole(streams::Stream& stream);
  Progress drop(streams::Stream& stream);
  void take(wire::Bytes octets);
  [[nodiscard]] std::size_t take_headers(wire::Bytes octets);
  [[nodiscard]] std::size_t headers_wanted() const;
  void headers_collected();
  void payload_taken(std::size_t octets);
  void end_frame();
  [[nodiscard]] std::size_t take_whole(wire::Bytes octets);
  [[nodiscard]] std::size_t crc_bytes_of(wire::ift::CrcUse use) const;
  void fail(const wire::ParseError& error);

  Workspace& workspace_;
  UlpduSink& sink_;
  const IftTerms terms_;
  const std::size_t mulpdu_;
  OutputBatch batch_;
  Stage stage_ = Stage::header;
  std::array<std::uint8_t, most_headers> headers_{};
  std::size_t collected_ = 0, payload_left_ = 0, trailer_left_ = 0;  // octets
  bool unplaced_ = false;                                            // memory of the present payload cannot be written
  bool failed_ = false;
  std::vector<std::uint8_t> kept_;  // with the CRC: what came of a frame that is not whole
};

}  // namespace iwarp
