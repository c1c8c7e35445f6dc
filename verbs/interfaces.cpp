#include "verbs/interfaces.hpp"

#include <ifaddrs.h>
#include <linux/if_packet.h>
#include <net/if.h>
#include <sys/ioctl.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "runtime/drivers/descriptor.hpp"

namespace verbs {
using runtime::drivers::Descriptor;

namespace {

std::size_t mtu_of(const std::string& name) {
  const Descriptor socket(::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  ifreq request{};
  name.copy(request.ifr_name, IFNAMSIZ - 1);
  const bool known = socket && ::ioctl(socket.number(), SIOCGIFMTU, &request) == 0;
  return known ? static_cast<std::size_t>(request.ifr_mtu) : 1500;
}

Interface& interface_of(std::vector<Interface>& all, const ifaddrs& entry) {
  const auto found =
      std::find_if(all.begin(), all.end(), [&](const Interface& one) { return one.name == entry.ifa_name; });
  if (found != all.end()) return *found;
  Interface made{.name = entry.ifa_name, .index = ::if_nametoindex(entry.ifa_name)};
  made.is_up = (entry.ifa_flags & IFF_UP) != 0 && (entry.ifa_flags & IFF_RUNNING) != 0;
  made.is_loopback = (entry.ifa_flags & IFF_LOOPBACK) != 0;
  made.mtu_bytes = mtu_of(made.name);
  return all.emplace_back(std::move(made));
}

void take(Interface& interface, const sockaddr& address) {
  if (address.sa_family == AF_PACKET) {
    sockaddr_ll link{};
    std::memcpy(&link, &address, sizeof link);
    if (link.sll_halen == interface.mac.size()) std::copy_n(link.sll_addr, interface.mac.size(), interface.mac.begin());
  }
  if (const auto ip = address_of(&address)) interface.addresses.push_back(ip->ip);
}

}  // namespace

std::vector<Interface> interfaces_of_system() {
  ifaddrs* entries = nullptr;
  if (::getifaddrs(&entries) != 0) return {};
  std::vector<Interface> all;
  for (const ifaddrs* entry = entries; entry != nullptr; entry = entry->ifa_next)
    if (entry->ifa_addr != nullptr) take(interface_of(all, *entry), *entry->ifa_addr);
  ::freeifaddrs(entries);
  std::erase_if(all, [](const Interface& one) { return one.addresses.empty(); });
  return all;
}

/// A datagram socket chooses without a word on the network.
boost::system::result<wire::IpAddress> source_address_to(const streams::Address& to) {
  sockaddr_storage remote{}, local{};
  write_address({to.ip, 9}, remote);
  const Descriptor socket(::socket(remote.ss_family, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  socklen_t size = sizeof local;
  const socklen_t length = remote.ss_family == AF_INET ? sizeof(sockaddr_in) : sizeof(sockaddr_in6);
  if (!socket || ::connect(socket.number(), reinterpret_cast<const sockaddr*>(&remote), length) != 0 ||
      ::getsockname(socket.number(), reinterpret_cast<sockaddr*>(&local), &size) != 0)
    return boost::system::error_code(errno, boost::system::system_category());
  return address_of(reinterpret_cast<const sockaddr*>(&local))->ip;
}

std::optional<streams::Address> address_of(const sockaddr* address) {
  if (address->sa_family == AF_INET) {
    sockaddr_in in{};
    std::memcpy(&in, address, sizeof in);
    std::array<std::uint8_t, 4> octets{};
    std::memcpy(octets.data(), &in.sin_addr, octets.size());
    return streams::Address{wire::IpAddress::v4(octets[0], octets[1], octets[2], octets[3]), ntohs(in.sin_port)};
  }
  if (address->sa_family != AF_INET6) return std::nullopt;
  sockaddr_in6 in{};
  std::memcpy(&in, address, sizeof in);
  streams::Address result{{}, ntohs(in.sin6_port)};
  std::memcpy(result.ip.bytes.data(), &in.sin6_addr, result.ip.bytes.size());
  return result;
}

void write_address(const streams::Address& address, sockaddr_storage& storage) {
  storage = {};
  if (address.ip.is_v4_mapped()) {
    sockaddr_in in{};
    in.sin_family = AF_INET;
    in.sin_port = htons(address.port);
    std::memcpy(&in.sin_addr, address.ip.bytes.data() + 12, 4);
    std::memcpy(&storage, &in, sizeof in);
    return;
  }
  sockaddr_in6 in{};
  in.sin6_family = AF_INET6;
  in.sin6_port = htons(address.port);
  std::memcpy(&in.sin6_addr, address.ip.bytes.data(), address.ip.bytes.size());
  std::memcpy(&storage, &in, sizeof in);
}

bool is_wildcard(const wire::IpAddress& ip) { return ip.is_unspecified() || ip == wire::IpAddress::v4(0, 0, 0, 0); }

}  // namespace verbs
