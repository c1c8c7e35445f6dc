// The header behind the segment header of ConnectRequest and ConnectAccept.
#pragma once
#include "wire/vitcp/options.hpp"
#include "wire/vitcp/segment_header.hpp"

namespace wire::vitcp {

/// Bits 2-0 of Calling Attributes: exactly one is set (ruling V-8).
enum class ReliabilityLevel : std::uint8_t { unreliable = 1, reliable_delivery = 2, reliable_reception = 4 };
[[nodiscard]] std::string_view to_string(ReliabilityLevel level);

/// 0 to 64 octets that name a connection point; on the wire in a field of 64, padded with zeros (ruling V-14).
struct Discriminator {
  static constexpr std::size_t max_bytes = 64;
  std::uint16_t length_bytes = 0;
  std::array<std::uint8_t, max_bytes> octets{};  // zero from length_bytes on
  friend bool operator==(const Discriminator&, const Discriminator&) = default;
  [[nodiscard]] Bytes view() const { return Bytes(octets).first(length_bytes); }
  /// At most 64 octets.
  [[nodiscard]] static Discriminator of(Bytes octets);
};

/// VI/TCP CE Header (VI-TCP 3.3), 140 octets and the options. "Calling" is the segment's sender, in a ConnectAccept
/// too, but for the discriminators, which are those of the request (ruling V-10)
/// octet | 0-1                                                  | 2-3
///  0    | Calling Attributes: 15-7 reserved, 6 peer-to-peer,   | Calling Discriminator Length, octets
///       | 5 descriptor flow control, 4 RDMA Read Enable,       |
///       | 3 RDMA Write Enable, 2-0 reliability (ruling V-7)    |
///  4    | MTU Size, octets
///  8    | Calling Discriminator, 64 octets
///  72   | Calling RDMA Read Window                             | Called Discriminator Length, octets
///  76   | Called Discriminator, 64 octets
///  140  | Options
struct CeHeader {
  ReliabilityLevel level = ReliabilityLevel::unreliable;
  bool rdma_write_enable = false;
  bool rdma_read_enable = false;
  bool descriptor_flow_control = false;
  bool peer_to_peer = false;
  std::uint32_t mtu_size_bytes = 0;    // proposed by a ConnectRequest, agreed by a ConnectAccept; never 0 (ruling V-9)
  std::uint16_t rdma_read_window = 0;  // RDMA Read Requests that the sender can hold (ruling V-11)
  Discriminator calling{}, called{};
  Options options{};

  static constexpr std::string_view name = "CE";

  /// The 140 octets as they lie on the wire.
  struct Fixed {
    bool peer_to_peer = false, descriptor_flow_control = false, rdma_read_enable = false, rdma_write_enable = false;
    ReliabilityLevel level{};
    std::uint16_t calling_length = 0, called_length = 0, rdma_read_window = 0;
    std::uint32_t mtu_size = 0;
    std::array<std::uint8_t, Discriminator::max_bytes> calling{}, called{};
    static constexpr auto layout = codec::layout<ce_header_bytes>(
        codec::word<0, 2>(codec::part<6, 6>(&Fixed::peer_to_peer, "peer_to_peer"),
                          codec::part<5, 5>(&Fixed::descriptor_flow_control, "descriptor_flow_control"),
                          codec::part<4, 4>(&Fixed::rdma_read_enable, "rdma_read_enable"),
                          codec::part<3, 3>(&Fixed::rdma_write_enable, "rdma_write_enable"),
                          codec::part<2, 0>(&Fixed::level, "reliability_level")),
        codec::field<2, 2>(&Fixed::calling_length, "calling_discriminator_length"),
        codec::field<4, 4>(&Fixed::mtu_size, "mtu_size"), codec::field<8, 64>(&Fixed::calling, "calling_discriminator"),
        codec::field<72, 2>(&Fixed::rdma_read_window, "rdma_read_window"),
        codec::field<74, 2>(&Fixed::called_length, "called_discriminator_length"),
        codec::field<76, 64>(&Fixed::called, "called_discriminator"));
  };
  static constexpr auto layout = Fixed::layout;

  /// All octets of the segment behind its header, the trailer included: see Options. Reserved bits, and octets of a
  /// discriminator beyond its length, are ignored. Errors: truncated; "reliability_level" not exactly one; a
  /// discriminator length above 64; "mtu_size" 0; those of Options.
  [[nodiscard]] static Result<CeHeader> parse(Bytes bytes);
  /// Octets, options included.
  [[nodiscard]] std::size_t size() const { return ce_header_bytes + options.size(); }
  void write(MutableBytes to) const;
  [[nodiscard]] std::string to_string() const;
  friend bool operator==(const CeHeader&, const CeHeader&) = default;
};

}  // namespace wire::vitcp
