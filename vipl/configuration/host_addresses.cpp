#include "vipl/configuration/host_addresses.hpp"

#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/in.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <optional>

#include "vipl/configuration/node_identity.hpp"

namespace vipl {
namespace {

constexpr std::size_t max_addresses = 16;  // of one NIC

std::optional<wire::IpAddress> address_of(const ifaddrs& interface) {
  if (interface.ifa_addr == nullptr || (interface.ifa_flags & IFF_UP) == 0) return std::nullopt;
  wire::IpAddress address = wire::IpAddress::v4(0, 0, 0, 0);
  if (interface.ifa_addr->sa_family == AF_INET) {
    sockaddr_in v4;
    std::memcpy(&v4, interface.ifa_addr, sizeof v4);
    std::memcpy(address.bytes.data() + 12, &v4.sin_addr, sizeof v4.sin_addr);
    return address;
  }
  if (interface.ifa_addr->sa_family != AF_INET6) return std::nullopt;
  sockaddr_in6 v6;
  std::memcpy(&v6, interface.ifa_addr, sizeof v6);
  std::memcpy(address.bytes.data(), &v6.sin6_addr, sizeof v6.sin6_addr);
  return address;
}

bool is_link_local(const wire::IpAddress& address) {
  return address.bytes[0] == 0xFE && (address.bytes[1] & 0xC0) == 0x80;
}

}  // namespace

std::vector<wire::IpAddress> usable_addresses(const std::vector<wire::IpAddress>& all) {
  std::vector<wire::IpAddress> usable;
  const auto take = [&](auto wanted) {
    for (const bool v4 : {true, false})
      for (const wire::IpAddress& address : all)
        if (address.is_v4_mapped() == v4 && wanted(address) &&
            std::find(usable.begin(), usable.end(), address) == usable.end())
          usable.push_back(address);
  };
  take([](const wire::IpAddress& address) { return is_host_address(address) && !is_link_local(address); });
  if (usable.empty()) take(is_loopback_address);
  if (usable.empty()) usable.push_back(wire::IpAddress::v4(127, 0, 0, 1));
  usable.resize(std::min(usable.size(), max_addresses));
  return usable;
}

std::vector<wire::IpAddress> host_addresses() {
  std::vector<wire::IpAddress> all;
  ifaddrs* list = nullptr;
  if (::getifaddrs(&list) != 0) return usable_addresses(all);
  const std::unique_ptr<ifaddrs, decltype(&freeifaddrs)> keep(list, &freeifaddrs);
  for (const ifaddrs* one = list; one != nullptr; one = one->ifa_next)
    if (const auto address = address_of(*one)) all.push_back(*address);
  return usable_addresses(all);
}

}  // namespace vipl
