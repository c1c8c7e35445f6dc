#include "fc2_fabric/drivers/udp_ethernet.hpp"

#include <arpa/inet.h>
#include <linux/sock_diag.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <optional>

namespace fc2::drivers {
namespace {

std::optional<in_addr> address_of(const std::string& text) {
  in_addr address{};
  if (::inet_pton(AF_INET, text.c_str(), &address) != 1) return {};
  return address;
}

sockaddr_in end_point(in_addr address, std::uint16_t port) {
  sockaddr_in end{};
  end.sin_family = AF_INET;
  end.sin_addr = address;
  end.sin_port = htons(port);
  return end;
}

// Of ours and of UDP's: bind() and connect() take any address by its general type.
int bind_to(int descriptor, const sockaddr_in& end) {
  return ::bind(descriptor, reinterpret_cast<const sockaddr*>(&end), sizeof end);
}
int connect_to(int descriptor, const sockaddr_in& end) {
  return ::connect(descriptor, reinterpret_cast<const sockaddr*>(&end), sizeof end);
}

UdpEthernet::Opened failed(const UdpEthernetOptions& options, int descriptor, const char* what, int error) {
  if (descriptor >= 0) ::close(descriptor);
  return {nullptr, options.name + ": UDP " + options.local_address + ":" + std::to_string(options.local_port) + ": " +
                       what + ": " + std::strerror(error)};
}

}  // namespace

UdpEthernet::Opened UdpEthernet::open(const CoreAccess& access, const UdpEthernetOptions& options) {
  const auto local = address_of(options.local_address), remote = address_of(options.remote_address);
  if (!local || !remote)
    return {nullptr,
            options.name + ": " + (local ? options.remote_address : options.local_address) + " is no IPv4 address"};
  const int descriptor = ::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (descriptor < 0) return failed(options, descriptor, "socket", errno);
  for (const int which : {SO_RCVBUF, SO_SNDBUF, SO_RCVBUFFORCE, SO_SNDBUFFORCE})  // the latter with CAP_NET_ADMIN only
    ::setsockopt(descriptor, SOL_SOCKET, which, &options.buffer_bytes, sizeof options.buffer_bytes);
  if (bind_to(descriptor, end_point(*local, options.local_port)) != 0)
    return failed(options, descriptor, "bind", errno);
  fcoe::EthernetInterface interface { options.name, options.mac, options.mtu, options.priority };
  Opened opened{std::unique_ptr<UdpEthernet>(new UdpEthernet(std::move(interface), descriptor, access, remote->s_addr)),
                {}};
  if (options.remote_port != 0) opened.port->set_remote_port(options.remote_port);
  return opened;
}

UdpEthernet::UdpEthernet(fcoe::EthernetInterface interface, int descriptor, const CoreAccess& access,
                         std::uint32_t remote_address)
    : EthernetSocket(std::move(interface), descriptor, access), remote_address_(remote_address) {}

// From then on the kernel lets nobody else's datagrams through.
void UdpEthernet::set_remote_port(std::uint16_t port) {
  set_up(connect_to(descriptor(), end_point(in_addr{remote_address_}, port)) == 0);
}

std::uint16_t UdpEthernet::local_port() const {
  sockaddr_in end{};
  socklen_t size = sizeof end;
  ::getsockname(descriptor(), reinterpret_cast<sockaddr*>(&end), &size);
  return ntohs(end.sin_port);
}

std::uint64_t UdpEthernet::kernel_drops() {
  std::array<std::uint32_t, SK_MEMINFO_VARS> about{};
  socklen_t size = sizeof about;
  return ::getsockopt(descriptor(), SOL_SOCKET, SO_MEMINFO, about.data(), &size) == 0 ? about[SK_MEMINFO_DROPS] : 0;
}

// ECONNREFUSED: nobody listens there yet. A frame was lost, as on a cable that is not plugged in.
void UdpEthernet::socket_failed(int) {}

}  // namespace fc2::drivers
