// IFT frames: a DDP segment in the stream, with its sizes and CRCs (IFT 5.1).
#pragma once
#include "wire/iwarp/ddp/header.hpp"
#include "wire/iwarp/ift/adaption_indication.hpp"

namespace wire::ift {

struct Framing;

/// IFT header (IFT 5.1), 6 octets
/// octet | 0-1         | 2-3          | 4-5
///  0    | header_size | payload_size | receiver's VTag
struct FrameHeader {
  std::uint16_t header_size = ddp::tagged_header_bytes;  // octets of the DDP header: 14 or 18 (ruling I-8)
  std::uint16_t payload_size = 0;                        // octets of the DDP payload
  VTag vtag{};

  static constexpr std::string_view name = "IFT";
  static constexpr auto layout = codec::layout<6>(
      codec::choice<0, 2>(&FrameHeader::header_size, "header_size",
                          static_cast<std::uint16_t>(ddp::tagged_header_bytes),
                          static_cast<std::uint16_t>(ddp::untagged_header_bytes)),
      codec::field<2, 2>(&FrameHeader::payload_size, "payload_size"), codec::field<4, 2>(&FrameHeader::vtag, "vtag"));
  [[nodiscard]] static constexpr std::size_t size() { return layout.size(); }
  /// Octets of the whole frame.
  [[nodiscard]] std::size_t frame_bytes(const Framing& framing) const;
  /// Errors: truncated; "header_size" neither 14 nor 18.
  [[nodiscard]] static Result<FrameHeader> parse(Bytes bytes);
  void write(MutableBytes to) const;
  [[nodiscard]] std::string to_string() const;
  friend bool operator==(const FrameHeader&, const FrameHeader&) = default;
};

/// A CRC of the frames in one direction: the sender's HC or PC says that it is there, the receiver's IH or IP that
/// nobody looks at it (ruling I-6).
enum class CrcUse : std::uint8_t { absent, ignored, checked };
[[nodiscard]] std::string_view to_string(CrcUse use);

/// What the indications said, for one direction.
struct Framing {
  VTag vtag{};  // of the receiver
  CrcUse header_crc = CrcUse::checked;
  CrcUse payload_crc = CrcUse::checked;
};

/// What can be trusted before the payload is there.
struct FrameHeaders {
  ddp::Header header{};
  std::uint16_t payload_size = 0;  // octets
  std::size_t bytes = 0;           // of the headers and their CRC: there the payload begins
  friend bool operator==(const FrameHeaders&, const FrameHeaders&) = default;

  /// Errors, in this order: those of FrameHeader; truncated "ddp_header" and "header_crc"; bad_crc "header_crc"; a
  /// "vtag" of somebody else (ruling I-9); a "header_size" that is not that of T (ruling I-8).
  [[nodiscard]] static Result<FrameHeaders> parse(Bytes octets, const Framing& framing);
};

/// IFT frame (IFT 5.1)
///  IFT header, 6 octets | DDP header, 14 or 18 | header CRC, 4 (HC) | DDP payload | payload CRC, 4 (PC)
/// The header CRC covers all before it, the VTag too (ruling I-5); the payload CRC the payload, and is 0 of an empty
/// one. No pad. For set-up, tools and tests: who moves data takes FrameHeaders.
struct Frame {
  ddp::Header header{};
  Bytes payload{};  // not owned, at most 65,535 octets

  /// The frame that begins at `octets`. Errors: those of FrameHeaders; truncated "payload" and "payload_crc"; bad_crc
  /// "payload_crc".
  [[nodiscard]] static Result<Frame> parse(Bytes octets, const Framing& framing);
  /// Octets.
  [[nodiscard]] std::size_t size(const Framing& framing) const;
  /// An ignored CRC is written as it should be.
  void write(MutableBytes to, const Framing& framing) const;
  [[nodiscard]] std::string to_string() const;
};
[[nodiscard]] bool operator==(const Frame& left, const Frame& right);

}  // namespace wire::ift
