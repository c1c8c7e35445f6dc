// The network interfaces of the system, and which of them leads where.
#pragma once
#include <netinet/in.h>
#include <sys/socket.h>

#include <array>
#include <optional>
#include <string>
#include <vector>

#include "streams/stream.hpp"

namespace verbs {

struct Interface {
  std::string name;
  unsigned index = 0;
  bool is_up = false, is_loopback = false;
  std::size_t mtu_bytes = 1500;
  std::array<std::uint8_t, 6> mac{};  // all 0: it has none
  std::vector<wire::IpAddress> addresses{};
};

/// Those that have an IP address.
[[nodiscard]] std::vector<Interface> interfaces_of_system();
/// The address from which the system would send to `to`; or errno.
[[nodiscard]] boost::system::result<wire::IpAddress> source_address_to(const streams::Address& to);

/// Nothing: neither IPv4 nor IPv6.
[[nodiscard]] std::optional<streams::Address> address_of(const sockaddr* address);
void write_address(const streams::Address& address, sockaddr_storage& storage);
/// 0.0.0.0 or ::
[[nodiscard]] bool is_wildcard(const wire::IpAddress& ip);

}  // namespace verbs
