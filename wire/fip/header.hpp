// The fixed part of a FIP message (FC-BB).
#pragma once
#include "wire/codec.hpp"

namespace wire::fip {

enum class Operation : std::uint16_t {
  discovery = 0x0001,
  link_service = 0x0002,  // FLOGI, FDISC, LOGO, ELP
  control = 0x0003,       // keep-alive, clear virtual links
  vlan = 0x0004,
  vn2vn = 0x0005,
};
[[nodiscard]] std::string_view to_string(Operation operation);

/// Subcodes, by operation.
namespace subcode {
inline constexpr std::uint8_t discovery_solicitation = 1;
inline constexpr std::uint8_t discovery_advertisement = 2;
inline constexpr std::uint8_t link_service_request = 1;
inline constexpr std::uint8_t link_service_reply = 2;
inline constexpr std::uint8_t keep_alive = 1;
inline constexpr std::uint8_t clear_virtual_links = 2;
inline constexpr std::uint8_t vlan_request = 1;
inline constexpr std::uint8_t vlan_notification = 2;
inline constexpr std::uint8_t probe_request = 1;
inline constexpr std::uint8_t probe_reply = 2;
inline constexpr std::uint8_t claim_notification = 3;
inline constexpr std::uint8_t claim_response = 4;
inline constexpr std::uint8_t beacon = 5;
}  // namespace subcode

namespace flag {
inline constexpr std::uint16_t fpma = 0x8000;       // fabric-provided MAC addresses
inline constexpr std::uint16_t spma = 0x4000;       // server-provided MAC addresses
inline constexpr std::uint16_t recorded = 0x0008;   // VN2VN: REC/P2P
inline constexpr std::uint16_t available = 0x0004;  // the FCF takes logins
inline constexpr std::uint16_t solicited = 0x0002;
inline constexpr std::uint16_t f_port = 0x0001;  // sent by an FCF
}  // namespace flag

/// FIP header, 10 bytes after the Ethernet header
/// bytes | 0               | 1        | 2-3
///  0    | 7-4 version (1) | reserved | operation
///  4    | reserved        | subcode  | descriptor list length, words
///  8    | flags
struct FipHeader {
  Operation operation{};
  std::uint8_t subcode = 0;
  std::uint16_t descriptor_words = 0;
  std::uint16_t flags = 0;
  std::uint8_t version = 1;

  static constexpr std::string_view name = "FIP";
  static constexpr auto layout = codec::layout<10>(codec::word<0, 1>(codec::part<7, 4>(&FipHeader::version, "version")),
                                                   codec::field<2, 2>(&FipHeader::operation, "operation"),
                                                   codec::field<5, 1>(&FipHeader::subcode, "subcode"),
                                                   codec::field<6, 2>(&FipHeader::descriptor_words, "descriptor_words"),
                                                   codec::field<8, 2>(&FipHeader::flags, "flags"));
  [[nodiscard]] static constexpr std::size_t size() { return layout.size(); }
  [[nodiscard]] static Result<FipHeader> parse(Bytes bytes);
  void write(MutableBytes to) const;
  [[nodiscard]] std::string to_string() const;
  friend bool operator==(const FipHeader&, const FipHeader&) = default;
};

}  // namespace wire::fip
