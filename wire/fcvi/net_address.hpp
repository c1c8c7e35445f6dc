// FCVI_NET_ADDRESS: host address and discriminator (FC-VI 7.2).
#pragma once
#include "wire/codec.hpp"

namespace wire::fcvi {

/// FCVI_NET_ADDRESS (FC-VI Table 15), 148 bytes
/// word | 31-16    | 15-8         | 7-0
///  0   | reserved | HOST_ADD_LEN | DISCRIM_LEN
///  1-4 | HOST_ADD: IPv6, or IPv4-mapped
///  5-36 | DISCRIM, padded with zeros (ruling 21)
struct NetAddress {
  static constexpr std::uint8_t required_host_length = 16;
  static constexpr std::uint8_t min_discriminator_length = 16;
  static constexpr std::uint8_t max_discriminator_length = 128;

  std::uint8_t host_length = required_host_length;               // bytes
  std::uint8_t discriminator_length = min_discriminator_length;  // bytes
  IpAddress host{};
  std::array<std::uint8_t, 128> discriminator{};

  static constexpr std::string_view name = "FCVI_NET_ADDRESS";
  static constexpr auto layout =
      codec::layout<148>(codec::field<2, 1>(&NetAddress::host_length, "host_length"),
                         codec::field<3, 1>(&NetAddress::discriminator_length, "discriminator_length"),
                         codec::field<4, 16>(&NetAddress::host, "host"),
                         codec::field<20, 128>(&NetAddress::discriminator, "discriminator"));
  [[nodiscard]] static constexpr std::size_t size() { return layout.size(); }
  [[nodiscard]] static Result<NetAddress> parse(Bytes bytes);
  void write(MutableBytes to) const;
  [[nodiscard]] std::string to_string() const;  // "10.0.0.1/<discriminator>"
  friend bool operator==(const NetAddress&, const NetAddress&) = default;

  /// Lengths within FC-VI 7.2. parse() does not ask: the answer to a bad address is the provider's.
  [[nodiscard]] constexpr bool is_valid() const {
    return host_length == required_host_length && discriminator_length >= min_discriminator_length &&
           discriminator_length <= max_discriminator_length;
  }
  /// A discriminator of 0 to 128 bytes, padded with zeros and sent as at least 16 (ruling 21).
  [[nodiscard]] static NetAddress of(const IpAddress& host, Bytes discriminator);
};

}  // namespace wire::fcvi
