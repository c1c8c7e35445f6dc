#include "vipl/names/system_names.hpp"

#include <netdb.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <memory>
#include <optional>

#include "vipl/configuration/node_identity.hpp"

namespace vipl {
namespace {

/// The fabric's name server, DNS and all the others that do not answer are as if they did not know; that there is no
/// memory is something else.
NameSource::Answer answer_of(int error) {
  if (error == 0) return NameSource::Answer::Found;
  const bool no_memory = error == EAI_MEMORY || (error == EAI_SYSTEM && errno == ENOMEM);
  return no_memory ? NameSource::Answer::Unavailable : NameSource::Answer::Unknown;
}

std::optional<wire::IpAddress> address_of(const addrinfo& info) {
  if (info.ai_family == AF_INET6 && info.ai_addrlen >= sizeof(sockaddr_in6)) {
    sockaddr_in6 v6;
    std::memcpy(&v6, info.ai_addr, sizeof v6);
    if (IN6_IS_ADDR_LINKLOCAL(&v6.sin6_addr)) return std::nullopt;  // of which link, a VIP_NET_ADDRESS cannot say
    wire::IpAddress address;
    std::memcpy(address.bytes.data(), &v6.sin6_addr, address.bytes.size());
    return address;
  }
  if (info.ai_family != AF_INET || info.ai_addrlen < sizeof(sockaddr_in)) return std::nullopt;
  sockaddr_in v4;
  std::memcpy(&v4, info.ai_addr, sizeof v4);
  std::array<std::uint8_t, 4> bytes;
  std::memcpy(bytes.data(), &v4.sin_addr, bytes.size());
  return wire::IpAddress::v4(bytes[0], bytes[1], bytes[2], bytes[3]);
}

int look_up_name(const wire::IpAddress& address, std::array<char, NI_MAXHOST>& name) {
  sockaddr_storage storage{};
  socklen_t length = sizeof(sockaddr_in6);
  if (address.is_v4_mapped()) {
    sockaddr_in v4{};
    v4.sin_family = AF_INET;
    std::memcpy(&v4.sin_addr, address.bytes.data() + 12, 4);
    std::memcpy(&storage, &v4, length = sizeof v4);
  } else {
    sockaddr_in6 v6{};
    v6.sin6_family = AF_INET6;
    std::memcpy(&v6.sin6_addr, address.bytes.data(), address.bytes.size());
    std::memcpy(&storage, &v6, sizeof v6);
  }
  const auto* const generic = static_cast<const sockaddr*>(static_cast<const void*>(&storage));
  return getnameinfo(generic, length, name.data(), static_cast<socklen_t>(name.size()), nullptr, 0, NI_NAMEREQD);
}

}  // namespace

NameSource::Answer SystemNames::addresses_of(const std::string& name, std::vector<wire::IpAddress>& found) const {
  addrinfo hints{};
  hints.ai_family = AF_UNSPEC;
  hints.ai_socktype = SOCK_STREAM;  // each address once
  addrinfo* list = nullptr;
  const int error = getaddrinfo(name.c_str(), nullptr, &hints, &list);
  if (error != 0) return answer_of(error);
  const std::unique_ptr<addrinfo, decltype(&freeaddrinfo)> keep(list, &freeaddrinfo);
  for (const addrinfo* info = list; info != nullptr; info = info->ai_next)
    if (const auto address = address_of(*info)) found.push_back(*address);
  return found.empty() ? Answer::Unknown : Answer::Found;
}

NameSource::Answer SystemNames::name_of(const wire::IpAddress& address, std::string& found) const {
  if (is_default_address(address)) return Answer::Unknown;
  std::array<char, NI_MAXHOST> name{};
  const Answer answer = answer_of(look_up_name(address, name));
  if (answer == Answer::Found) found = name.data();
  return answer;
}

}  // namespace vipl
