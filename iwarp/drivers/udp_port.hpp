// A UDP socket that carries the SCTP packets of several peers (RFC 6951), in one with the core's other sockets.
#pragma once
#include <array>
#include <optional>

#include "runtime/drivers/descriptor.hpp"
#include "runtime/drivers/link_descriptor.hpp"
#include "streams/drivers/socket_set.hpp"
#include "streams/stream.hpp"

namespace iwarp::drivers {
class UdpPort;

class UdpPortUser {
 public:
  /// `to`: the address of this host. The port stays until this returns.
  virtual void packet_received(UdpPort& port, const streams::Address& from, const wire::IpAddress& to,
                               wire::MutableBytes packet) = 0;
  /// ICMP says that nobody is there, and how the packet began that was sent.
  virtual void peer_unreachable(UdpPort& port, const streams::Address& peer, wire::Bytes sent) = 0;
  /// All that had come was told.
  virtual void packets_received(UdpPort& port) = 0;

 protected:
  ~UdpPortUser() = default;
};

/// Room for the packets that come at once. One for all ports of a core.
struct UdpWorkspace {
  static constexpr std::size_t packet_octets = 65'536, packets = 8;
  std::array<std::array<std::uint8_t, packet_octets>, packets> room;
};

class UdpPort final : private streams::drivers::SetMember {
 public:
  UdpPort(std::shared_ptr<streams::drivers::SocketSet> set, UdpPortUser& user, UdpWorkspace& workspace)
      : SetMember(std::move(set)), user_(user), workspace_(workspace) {}
  ~UdpPort() override;

  /// Port 0: the system chooses. Why it cannot be had; nothing: it can.
  [[nodiscard]] std::optional<streams::Reason> open(const streams::Address& at);
  [[nodiscard]] const streams::Address& address() const { return address_; }
  /// One packet, from that address of this host where the port has several. What the system does not take is lost, as
  /// on any network.
  void send(const streams::Address& to, const wire::IpAddress& from, wire::Bytes packet);

 private:
  void ready(For what) override;
  void set_options(bool is_v6);
  void receive();
  void take(struct msghdr& about, wire::MutableBytes packet);
  void read_errors();

  UdpPortUser& user_;
  UdpWorkspace& workspace_;
  runtime::drivers::Descriptor socket_;
  std::optional<runtime::drivers::LinkDescriptor> known_;
  streams::Address address_{};
  bool is_wildcard_ = false;
};

/// Octets of UDP data that go to `peer` in one IP packet, as the system knows the path; nothing: it knows none.
[[nodiscard]] std::optional<std::size_t> udp_octets_to(const streams::Address& peer);

}  // namespace iwarp::drivers
