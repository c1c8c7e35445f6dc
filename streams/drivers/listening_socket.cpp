#include "streams/drivers/listening_socket.hpp"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <cerrno>

namespace streams::drivers {
using Tcp = boost::asio::ip::tcp;

Tcp::endpoint endpoint_of(const Address& address) {
  if (address.ip.is_v4_mapped()) {
    const auto& bytes = address.ip.bytes;
    return {boost::asio::ip::address_v4({bytes[12], bytes[13], bytes[14], bytes[15]}), address.port};
  }
  return {boost::asio::ip::address_v6(address.ip.bytes), address.port};
}

Address address_of(const Tcp::endpoint& endpoint) {
  if (endpoint.address().is_v6()) return {{endpoint.address().to_v6().to_bytes()}, endpoint.port()};
  const auto bytes = endpoint.address().to_v4().to_bytes();
  return {wire::IpAddress::v4(bytes[0], bytes[1], bytes[2], bytes[3]), endpoint.port()};
}

Reason reason_of(int error) {
  switch (error) {
    case ECONNREFUSED: return Reason::refused;
    case EHOSTUNREACH:
    case ENETUNREACH:
    case ENETDOWN: return Reason::unreachable;
    case ETIMEDOUT: return Reason::timed_out;
    case ECONNRESET:
    case EPIPE:
    case ECONNABORTED: return Reason::reset;
    case EADDRINUSE: return Reason::address_in_use;
    case EADDRNOTAVAIL: return Reason::no_such_address;
    case EACCES:
    case EPERM: return Reason::not_permitted;
    case EMFILE:
    case ENFILE:
    case ENOBUFS:
    case ENOMEM: return Reason::no_resources;
    default: return Reason::failed;
  }
}

using NameCall = int (*)(int, sockaddr*, socklen_t*) noexcept;

// Of another family a name may be longer than there is room for.
static std::optional<Address> address_by(NameCall call, int socket) {
  Tcp::endpoint endpoint;
  auto size = static_cast<socklen_t>(endpoint.capacity());
  if (call(socket, endpoint.data(), &size) != 0) return std::nullopt;
  const int family = endpoint.data()->sa_family;
  if (family != AF_INET && family != AF_INET6) return std::nullopt;
  endpoint.resize(size);
  return address_of(endpoint);
}

std::optional<Address> local_address_of(int socket) { return address_by(::getsockname, socket); }
std::optional<Address> remote_address_of(int socket) { return address_by(::getpeername, socket); }

static void set(int socket, int level, int option, int value) {
  ::setsockopt(socket, level, option, &value, sizeof value);
}

boost::system::result<runtime::drivers::Descriptor> listening_socket(const Address& at) {
  const auto failure = [] { return boost::system::error_code(errno, boost::system::system_category()); };
  const Tcp::endpoint endpoint = endpoint_of(at);
  runtime::drivers::Descriptor socket(
      ::socket(endpoint.protocol().family(), SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, IPPROTO_TCP));
  if (!socket) return failure();
  set(socket.number(), SOL_SOCKET, SO_REUSEADDR, 1);
  set(socket.number(), SOL_SOCKET, SO_OOBINLINE, 1);
  set(socket.number(), IPPROTO_TCP, TCP_NODELAY, 1);
  if (endpoint.address().is_v6()) set(socket.number(), IPPROTO_IPV6, IPV6_V6ONLY, at.ip.is_unspecified() ? 0 : 1);
  if (::bind(socket.number(), endpoint.data(), static_cast<socklen_t>(endpoint.size())) != 0) return failure();
  if (::listen(socket.number(), SOMAXCONN) != 0) return failure();
  return socket;
}

}  // namespace streams::drivers
