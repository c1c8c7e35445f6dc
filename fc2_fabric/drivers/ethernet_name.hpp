// The name of an Ethernet interface in options and configurations, and its port: "eth0" is a packet socket, "udp:..." a
// cable of UDP datagrams.
#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "fc2_fabric/drivers/ethernet_socket.hpp"

namespace fc2::drivers {

inline constexpr std::uint16_t least_fcoe_mtu = 1500, greatest_fcoe_mtu = 9216;
inline constexpr std::uint16_t udp_mtu = 2500;  // FC-BB-5: jumbo frames of 2.5 KB carry a full FC frame

struct EthernetName {
  /// The forms that parse() accepts, for messages.
  static constexpr std::string_view expected =
      "an interface's name (1 to 15 characters), udp:LOCAL:REMOTE (ports on 127.0.0.1) or "
      "udp:ADDRESS:PORT:ADDRESS:PORT (local "
      "end, remote end; IPv4)";
  /// nullopt: the text has none of these forms.
  [[nodiscard]] static std::optional<EthernetName> parse(std::string_view text);

  std::string text;  // as it was written
  bool udp = false;
  std::string local_address = "127.0.0.1", remote_address = "127.0.0.1";
  std::uint16_t local_port = 0, remote_port = 0;
};

struct EthernetChoices {
  std::optional<wire::MacAddress> mac{};  // none: the interface's own; over UDP one made of the local port
  std::uint16_t mtu = 0;                  // 0: the interface's own, or udp_mtu; else at most so much
  std::uint8_t priority = 3;              // 802.1p, 0 to 7
};

struct OpenedEthernet {
  std::unique_ptr<fcoe::EthernetPort> port;
  std::string error;  // for people, names the interface; where there is no port
};
[[nodiscard]] OpenedEthernet open_ethernet(const CoreAccess& access, const EthernetName& name,
                                           const EthernetChoices& choices);

}  // namespace fc2::drivers
