// An Ethernet interface of this host through a packet socket (AF_PACKET). Needs CAP_NET_RAW.
#pragma once
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "fc2_fabric/drivers/ethernet_socket.hpp"

namespace fc2::drivers {

struct PacketSocketOptions {
  std::string interface;                     // "eth0"
  std::optional<wire::MacAddress> mac = {};  // as which FIP and FCoE speak; none: the interface's own. Processes that
                                             // share an interface need one each (locally administered)
  std::uint16_t max_mtu = 0xFFFF;            // less than the interface's: frames are no larger than that
  bool promiscuous = false;                  // else addresses are added to the interface's filter
  std::uint8_t priority = 3;                 // 802.1p, 0 to 7: in tags, and of frames sent here (SO_PRIORITY)
  int receive_buffer_bytes = 32 << 20;       // as far as the kernel grants it: for frames while the core is busy
  int send_buffer_bytes = 4 << 20;
};

/// FCoE and FIP frames only, by a filter in the kernel; also frames that other sockets of this host send there, so that
/// several processes may share an interface.
class PacketSocket final : public EthernetSocket {
 public:
  struct Opened {
    std::unique_ptr<PacketSocket> port;
    std::string error;  // for people, names the interface; where there is no port
  };
  [[nodiscard]] static Opened open(const CoreAccess& access, const PacketSocketOptions& options);
  ~PacketSocket() override;

  void listen(const wire::MacAddress& address) override;
  void ignore(const wire::MacAddress& address) override;
  void use_vlan(std::uint16_t vlan) override;
  [[nodiscard]] std::uint64_t kernel_drops() override;

 private:
  PacketSocket(fcoe::EthernetInterface interface, int descriptor, int index, const CoreAccess& access);
  void socket_failed(int error) override;
  void change_membership(int option, const wire::MacAddress& address);
  void watch();

  const int index_;
  bool promiscuous_ = false;
  std::map<wire::MacAddress, std::size_t> wanted_;
  std::uint64_t kernel_drops_ = 0;
  Timer<PacketSocket, &PacketSocket::watch> watch_timer_{*this};  // polls the carrier: sockets get no event
};

}  // namespace fc2::drivers
