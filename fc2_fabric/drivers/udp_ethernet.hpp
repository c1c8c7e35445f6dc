// Ethernet over UDP datagrams: one frame without FCS in each, as with QEMU's `-netdev dgram`. Needs no privileges.
#pragma once
#include <cstdint>
#include <memory>
#include <string>

#include "fc2_fabric/drivers/ethernet_socket.hpp"

namespace fc2::drivers {

struct UdpEthernetOptions {
  std::string name = "udp";
  wire::MacAddress mac{};
  std::uint16_t mtu = 2500;
  std::uint8_t priority = 3;                                              // 802.1p, in tags
  std::string local_address = "127.0.0.1", remote_address = "127.0.0.1";  // IPv4
  std::uint16_t local_port = 0;                                           // 0: any that is free
  std::uint16_t remote_port = 0;                                          // 0: set_remote_port() follows
  int buffer_bytes = 8 << 20;                                             // each way, as far as the kernel grants it
};

/// A cable with two ends. Its carrier is always on, also while the other end does not listen.
class UdpEthernet final : public EthernetSocket {
 public:
  struct Opened {
    std::unique_ptr<UdpEthernet> port;
    std::string error;  // for people; where there is no port
  };
  [[nodiscard]] static Opened open(const CoreAccess& access, const UdpEthernetOptions& options);

  void listen(const wire::MacAddress&) override {}  // a cable carries all frames
  void ignore(const wire::MacAddress&) override {}
  [[nodiscard]] std::uint64_t kernel_drops() override;
  [[nodiscard]] std::uint16_t local_port() const;
  void set_remote_port(std::uint16_t port);

 private:
  UdpEthernet(fcoe::EthernetInterface interface, int descriptor, const CoreAccess& access,
              std::uint32_t remote_address);
  void socket_failed(int error) override;
  const std::uint32_t remote_address_;
};

}  // namespace fc2::drivers
