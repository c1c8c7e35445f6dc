#include "iwarp/drivers/udp_port.hpp"

#include <linux/errqueue.h>
#include <netinet/in.h>
#include <netinet/ip.h>
#include <netinet/ip6.h>
#include <netinet/udp.h>
#include <sys/socket.h>

#include <cerrno>
#include <cstring>

#include "streams/drivers/listening_socket.hpp"

namespace iwarp::drivers {
namespace {

using streams::Address;
using streams::Reason;
using Endpoint = boost::asio::ip::tcp::endpoint;  // a socket address of either family
constexpr int buffer_octets = 4 * 1024 * 1024;    // as many as the system gives
constexpr std::size_t control_octets = 512;

void set_option(int socket, int level, int option, int value) {
  ::setsockopt(socket, level, option, &value, sizeof value);
}

std::optional<Address> address_of(const sockaddr_storage& name) {
  Endpoint endpoint;
  const bool is_v4 = name.ss_family == AF_INET;
  if (!is_v4 && name.ss_family != AF_INET6) return std::nullopt;
  const std::size_t size = is_v4 ? sizeof(sockaddr_in) : sizeof(sockaddr_in6);
  std::memcpy(endpoint.data(), &name, size);
  endpoint.resize(size);
  return streams::drivers::address_of(endpoint);
}

template <class Info>
Info info_of(const cmsghdr& one) {
  Info info;
  std::memcpy(&info, CMSG_DATA(&one), sizeof info);
  return info;
}

/// Of one that a wildcard port received: the address that it was sent to.
std::optional<wire::IpAddress> destination_of(msghdr& about) {
  for (cmsghdr* one = CMSG_FIRSTHDR(&about); one != nullptr; one = CMSG_NXTHDR(&about, one)) {
    if (one->cmsg_level == IPPROTO_IPV6 && one->cmsg_type == IPV6_PKTINFO) {
      wire::IpAddress to;
      const auto info = info_of<in6_pktinfo>(*one);
      std::memcpy(to.bytes.data(), &info.ipi6_addr, to.bytes.size());
      return to;
    }
    if (one->cmsg_level == IPPROTO_IP && one->cmsg_type == IP_PKTINFO) {
      const std::uint32_t ip = ntohl(info_of<in_pktinfo>(*one).ipi_addr.s_addr);
      const auto octet = [ip](int shift) { return static_cast<std::uint8_t>(ip >> shift); };
      return wire::IpAddress::v4(octet(24), octet(16), octet(8), octet(0));
    }
  }
  return std::nullopt;
}

bool says_refused(msghdr& about) {
  for (cmsghdr* one = CMSG_FIRSTHDR(&about); one != nullptr; one = CMSG_NXTHDR(&about, one)) {
    const bool is_v4 = one->cmsg_level == IPPROTO_IP && one->cmsg_type == IP_RECVERR;
    const bool is_v6 = one->cmsg_level == IPPROTO_IPV6 && one->cmsg_type == IPV6_RECVERR;
    if ((is_v4 || is_v6) && info_of<sock_extended_err>(*one).ee_errno == ECONNREFUSED) return true;
  }
  return false;
}

template <class Info>
void put(msghdr& about, int level, int type, const Info& info) {
  cmsghdr& one = *CMSG_FIRSTHDR(&about);
  one.cmsg_level = level;
  one.cmsg_type = type;
  one.cmsg_len = CMSG_LEN(sizeof info);
  std::memcpy(CMSG_DATA(&one), &info, sizeof info);
  about.msg_controllen = CMSG_SPACE(sizeof info);
}

/// `about` has room for it.
void put_source(msghdr& about, const wire::IpAddress& from) {
  if (from.is_v4_mapped()) {
    in_pktinfo info{};
    std::memcpy(&info.ipi_spec_dst, from.bytes.data() + 12, sizeof info.ipi_spec_dst);
    return put(about, IPPROTO_IP, IP_PKTINFO, info);
  }
  in6_pktinfo info{};
  std::memcpy(&info.ipi6_addr, from.bytes.data(), from.bytes.size());
  put(about, IPPROTO_IPV6, IPV6_PKTINFO, info);
}

}  // namespace

UdpPort::~UdpPort() { leave(); }

void UdpPort::set_options(bool is_v6) {
  const int socket = socket_.number();
  set_option(socket, SOL_SOCKET, SO_RCVBUF, buffer_octets);
  set_option(socket, SOL_SOCKET, SO_SNDBUF, buffer_octets);
  if (is_v6) set_option(socket, IPPROTO_IPV6, IPV6_V6ONLY, address_.ip.is_unspecified() ? 0 : 1);
  set_option(socket, IPPROTO_IP, IP_RECVERR, 1);
  if (is_v6) set_option(socket, IPPROTO_IPV6, IPV6_RECVERR, 1);
  if (!is_wildcard_) return;
  is_v6 ? set_option(socket, IPPROTO_IPV6, IPV6_RECVPKTINFO, 1) : set_option(socket, IPPROTO_IP, IP_PKTINFO, 1);
}

std::optional<Reason> UdpPort::open(const Address& at) {
  address_ = at;
  is_wildcard_ = at.ip.is_unspecified() || at.ip == wire::IpAddress::v4(0, 0, 0, 0);
  const Endpoint endpoint = streams::drivers::endpoint_of(at);
  const int family = endpoint.protocol().family();
  socket_ = runtime::drivers::Descriptor(::socket(family, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, IPPROTO_UDP));
  if (!socket_) return streams::drivers::reason_of(errno);
  known_.emplace(socket_.number());
  set_options(family == AF_INET6);
  if (::bind(socket_.number(), endpoint.data(), static_cast<socklen_t>(endpoint.size())) != 0)
    return streams::drivers::reason_of(errno);
  address_.port = streams::drivers::local_address_of(socket_.number()).value_or(at).port;
  if (!join(socket_.number(), For::reading)) return streams::drivers::reason_of(errno);
  ask(For::reading);
  return std::nullopt;
}

/// An error of another peer's packet may be what the first attempt tells.
void UdpPort::send(const Address& to, const wire::IpAddress& from, wire::Bytes packet) {
  Endpoint endpoint = streams::drivers::endpoint_of(to);
  iovec octets{const_cast<std::uint8_t*>(packet.data()), packet.size()};
  alignas(cmsghdr) std::array<std::uint8_t, CMSG_SPACE(sizeof(in6_pktinfo))> control{};
  msghdr about{};
  about.msg_name = endpoint.data();
  about.msg_namelen = static_cast<socklen_t>(endpoint.size());
  about.msg_iov = &octets;
  about.msg_iovlen = 1;
  if (is_wildcard_) {
    about.msg_control = control.data();
    about.msg_controllen = control.size();
    put_source(about, from);
  }
  constexpr int flags = MSG_NOSIGNAL | MSG_DONTWAIT;
  if (::sendmsg(socket_.number(), &about, flags) < 0 && errno != EAGAIN) ::sendmsg(socket_.number(), &about, flags);
}

void UdpPort::ready(For) {
  receive();
  read_errors();
  ask(For::reading);
  user_.packets_received(*this);
}

void UdpPort::receive() {
  std::array<mmsghdr, UdpWorkspace::packets> messages{};
  std::array<iovec, UdpWorkspace::packets> rooms{};
  std::array<sockaddr_storage, UdpWorkspace::packets> names{};
  alignas(cmsghdr) std::array<std::array<std::uint8_t, control_octets>, UdpWorkspace::packets> controls;
  for (std::size_t i = 0; i < messages.size(); ++i) {
    rooms[i] = {workspace_.room[i].data(), workspace_.room[i].size()};
    messages[i].msg_hdr = {&names[i], sizeof names[i], &rooms[i], 1, controls[i].data(), controls[i].size(), 0};
  }
  const int count = ::recvmmsg(socket_.number(), messages.data(), messages.size(), MSG_DONTWAIT, nullptr);
  for (int i = 0; i < count; ++i) {
    const auto at = static_cast<std::size_t>(i);
    take(messages[at].msg_hdr, wire::MutableBytes(workspace_.room[at]).first(messages[at].msg_len));
  }
}

void UdpPort::take(msghdr& about, wire::MutableBytes packet) {
  const auto from = address_of(*static_cast<const sockaddr_storage*>(about.msg_name));
  if (!from || (about.msg_flags & MSG_TRUNC) != 0) return;
  const auto to = is_wildcard_ ? destination_of(about) : std::optional(address_.ip);
  if (to) user_.packet_received(*this, *from, *to, packet);
}

void UdpPort::read_errors() {
  for (int most = 16; most > 0; --most) {
    sockaddr_storage name{};
    alignas(cmsghdr) std::array<std::uint8_t, control_octets> control;
    std::array<std::uint8_t, 64> octets;
    iovec room{octets.data(), octets.size()};
    msghdr about{&name, sizeof name, &room, 1, control.data(), control.size(), 0};
    const ssize_t count = ::recvmsg(socket_.number(), &about, MSG_ERRQUEUE | MSG_DONTWAIT);
    if (count < 0) return;
    const auto peer = address_of(name);
    if (peer && says_refused(about))
      user_.peer_unreachable(*this, *peer, wire::Bytes(octets).first(static_cast<std::size_t>(count)));
  }
}

std::optional<std::size_t> udp_octets_to(const Address& peer) {
  const Endpoint endpoint = streams::drivers::endpoint_of(peer);
  const bool is_v6 = endpoint.address().is_v6();
  const runtime::drivers::Descriptor socket(::socket(endpoint.protocol().family(), SOCK_DGRAM | SOCK_CLOEXEC, 0));
  if (!socket || ::connect(socket.number(), endpoint.data(), static_cast<socklen_t>(endpoint.size())) != 0)
    return std::nullopt;
  int mtu = 0;
  socklen_t size = sizeof mtu;
  const int level = is_v6 ? IPPROTO_IPV6 : IPPROTO_IP, option = is_v6 ? IPV6_MTU : IP_MTU;
  if (::getsockopt(socket.number(), level, option, &mtu, &size) != 0) return std::nullopt;
  const std::size_t headers = (is_v6 ? sizeof(ip6_hdr) : sizeof(iphdr)) + sizeof(udphdr);
  return static_cast<std::size_t>(mtu) > headers ? std::optional(static_cast<std::size_t>(mtu) - headers)
                                                 : std::nullopt;
}

}  // namespace iwarp::drivers
