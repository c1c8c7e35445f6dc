// Ethernet header, and the MAC addresses that FCoE uses (FC-BB).
#pragma once
#include <array>

#include "wire/codec.hpp"

namespace wire {

struct MacAddress {
  std::array<std::uint8_t, 6> bytes{};
  friend constexpr auto operator<=>(const MacAddress&, const MacAddress&) = default;
  [[nodiscard]] constexpr bool is_group() const { return (bytes[0] & 1) != 0; }
  /// "02:fc:f0:00:00:01"; empty for any other text.
  [[nodiscard]] static std::optional<MacAddress> from_string(std::string_view text);
};
[[nodiscard]] std::string to_string(const MacAddress& address);

enum class EtherType : std::uint16_t { fcoe = 0x8906, fip = 0x8914, vlan = 0x8100 };
[[nodiscard]] std::string_view to_string(EtherType type);

/// 14 bytes: destination, source, type.
struct EthernetHeader {
  MacAddress destination{};
  MacAddress source{};
  EtherType type = EtherType::fcoe;

  static constexpr std::string_view name = "ETHERNET";
  static constexpr auto layout = codec::layout<14>(codec::field<0, 6>(&EthernetHeader::destination, "destination"),
                                                   codec::field<6, 6>(&EthernetHeader::source, "source"),
                                                   codec::field<12, 2>(&EthernetHeader::type, "type"));
  [[nodiscard]] static constexpr std::size_t size() { return layout.size(); }
  [[nodiscard]] static Result<EthernetHeader> parse(Bytes bytes) { return codec::parse<EthernetHeader>(bytes); }
  void write(MutableBytes to) const { codec::write(*this, to); }
  [[nodiscard]] std::string to_string() const { return codec::describe(*this); }
  friend bool operator==(const EthernetHeader&, const EthernetHeader&) = default;
};

/// Prefixes of MAC addresses that hold an N_Port_ID.
inline constexpr std::uint32_t default_fc_map = 0x0EFC00;  // fabric-provided (FPMA)
inline constexpr std::uint32_t vn2vn_fc_map = 0x0EFD00;    // VN2VN

/// The MAC address of an N_Port: FC-MAP, then N_Port_ID.
[[nodiscard]] constexpr MacAddress mac_of(FcId id, std::uint32_t fc_map = default_fc_map) {
  return {{static_cast<std::uint8_t>(fc_map >> 16), static_cast<std::uint8_t>(fc_map >> 8),
           static_cast<std::uint8_t>(fc_map), id.domain(), id.area(), id.port()}};
}

namespace group_mac {
inline constexpr MacAddress all_enode{{0x01, 0x10, 0x18, 0x01, 0x00, 0x01}};
inline constexpr MacAddress all_fcf{{0x01, 0x10, 0x18, 0x01, 0x00, 0x02}};
inline constexpr MacAddress all_vn2vn{{0x01, 0x10, 0x18, 0x01, 0x00, 0x04}};
inline constexpr MacAddress all_p2p{{0x01, 0x10, 0x18, 0x01, 0x00, 0x05}};
}  // namespace group_mac

}  // namespace wire

template <>
struct std::hash<wire::MacAddress> {
  std::size_t operator()(const wire::MacAddress& address) const noexcept {
    return std::hash<std::uint64_t>{}(wire::load_big<6>(address.bytes.data()));
  }
};
