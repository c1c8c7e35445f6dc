#include "fc2_fabric/drivers/packet_socket.hpp"

#include <linux/filter.h>
#include <linux/if_packet.h>
#include <net/ethernet.h>
#include <net/if.h>
#include <net/if_arp.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <utility>

namespace fc2::drivers {
namespace {

constexpr TimeNs watch_interval = 250 * millisecond;

// FCoE and FIP, also behind an 802.1Q tag: accept the whole frame, else nothing. Run by the kernel on every frame
// of the interface.
constexpr std::array<sock_filter, 9> filter{{{BPF_LD | BPF_H | BPF_ABS, 0, 0, 12},
                                             {BPF_JMP | BPF_JEQ | BPF_K, 5, 0, 0x8906},
                                             {BPF_JMP | BPF_JEQ | BPF_K, 4, 0, 0x8914},
                                             {BPF_JMP | BPF_JEQ | BPF_K, 0, 4, 0x8100},
                                             {BPF_LD | BPF_H | BPF_ABS, 0, 0, 16},
                                             {BPF_JMP | BPF_JEQ | BPF_K, 1, 0, 0x8906},
                                             {BPF_JMP | BPF_JEQ | BPF_K, 0, 1, 0x8914},
                                             {BPF_RET | BPF_K, 0, 0, 0x40000},
                                             {BPF_RET | BPF_K, 0, 0, 0}}};

ifreq request_for(const std::string& name) {
  ifreq request{};
  std::copy_n(name.begin(), std::min(name.size(), sizeof request.ifr_name - 1), request.ifr_name);
  return request;
}

bool has_carrier(int descriptor, const std::string& name) {
  ifreq request = request_for(name);
  if (::ioctl(descriptor, SIOCGIFFLAGS, &request) != 0) return false;
  return (request.ifr_flags & (IFF_UP | IFF_RUNNING)) == (IFF_UP | IFF_RUNNING);
}

// A socket under construction; what fails is told with the interface's name.
struct Builder {
  const PacketSocketOptions& options;
  int descriptor = -1, index = 0;
  fcoe::EthernetInterface interface {};
  std::string error{};

  bool fail(const std::string& what, int number) {
    error = options.interface + ": " + what + ": " + std::strerror(number);
    if (number == EPERM) error += " (packet sockets need CAP_NET_RAW)";
    return false;
  }
  bool create() {
    descriptor = ::socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);  // nothing comes before bind()
    return descriptor >= 0 || fail("packet socket", errno);
  }
  bool look_up() {
    ifreq request = request_for(options.interface);
    if (options.interface.empty() || options.interface.size() >= sizeof request.ifr_name)
      return fail("interface", ENODEV);
    if (::ioctl(descriptor, SIOCGIFINDEX, &request) != 0) return fail("interface", errno);
    index = request.ifr_ifindex;
    if (::ioctl(descriptor, SIOCGIFMTU, &request) != 0) return fail("its MTU", errno);
    interface.mtu = static_cast<std::uint16_t>(std::min<int>(request.ifr_mtu, options.max_mtu));
    if (::ioctl(descriptor, SIOCGIFHWADDR, &request) != 0) return fail("its MAC address", errno);
    if (request.ifr_hwaddr.sa_family != ARPHRD_ETHER) {
      error = options.interface + ": is no Ethernet interface";
      return false;
    }
    for (std::size_t i = 0; i < interface.mac.bytes.size(); ++i)
      interface.mac.bytes[i] = static_cast<std::uint8_t>(request.ifr_hwaddr.sa_data[i]);
    interface.mac = options.mac.value_or(interface.mac);
    interface.name = options.interface;
    interface.priority = options.priority;
    return true;
  }
  // An untagged frame has no priority, but the kernel has one for it: a VLAN interface tags by it (egress-qos-map), and
  // a NIC with several queues or PFC chooses by it (mqprio, DCB). 7 needs CAP_NET_ADMIN; without it the frames go with
  // the kernel's default.
  void set_priority() const {
    const int priority = options.priority;
    ::setsockopt(descriptor, SOL_SOCKET, SO_PRIORITY, &priority, sizeof priority);
  }
  // As far as the kernel grants it: beyond its limit with CAP_NET_ADMIN only.
  void size_buffers() const {
    const auto set = [&](int force, int plain, int bytes) {
      if (::setsockopt(descriptor, SOL_SOCKET, force, &bytes, sizeof bytes) != 0)
        ::setsockopt(descriptor, SOL_SOCKET, plain, &bytes, sizeof bytes);
    };
    set(SO_RCVBUFFORCE, SO_RCVBUF, options.receive_buffer_bytes);
    set(SO_SNDBUFFORCE, SO_SNDBUF, options.send_buffer_bytes);
  }
  bool attach_filter() {
    auto program = filter;
    const sock_fprog described{static_cast<unsigned short>(program.size()), program.data()};
    return ::setsockopt(descriptor, SOL_SOCKET, SO_ATTACH_FILTER, &described, sizeof described) == 0 ||
           fail("filter", errno);
  }
  // Which VLAN a frame came on.
  bool ask_for_tags() {
    const int wanted = 1;
    return ::setsockopt(descriptor, SOL_PACKET, PACKET_AUXDATA, &wanted, sizeof wanted) == 0 || fail("tags", errno);
  }
  // All protocols, not the two: only so the kernel shows what other sockets of this host send.
  bool bind_to_interface() {
    sockaddr_ll address{};
    address.sll_family = AF_PACKET;
    address.sll_protocol = htons(ETH_P_ALL);
    address.sll_ifindex = index;
    return ::bind(descriptor, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0 || fail("bind", errno);
  }
};

}  // namespace

PacketSocket::Opened PacketSocket::open(const CoreAccess& access, const PacketSocketOptions& options) {
  Builder builder{options};
  if (!builder.create()) return {nullptr, builder.error};
  builder.size_buffers();
  builder.set_priority();
  if (!builder.look_up() || !builder.attach_filter() || !builder.ask_for_tags() || !builder.bind_to_interface()) {
    ::close(builder.descriptor);
    return {nullptr, builder.error};
  }
  Opened opened{
      std::unique_ptr<PacketSocket>(new PacketSocket(builder.interface, builder.descriptor, builder.index, access)),
      {}};
  if (options.promiscuous) opened.port->use_vlan(0);
  if (options.mac) opened.port->listen(*options.mac);
  return opened;
}

PacketSocket::PacketSocket(fcoe::EthernetInterface interface, int descriptor, int index, const CoreAccess& access)
    : EthernetSocket(std::move(interface), descriptor, access), index_(index) {
  watch();
}

PacketSocket::~PacketSocket() = default;

void PacketSocket::listen(const wire::MacAddress& address) {
  if (++wanted_[address] == 1) change_membership(PACKET_ADD_MEMBERSHIP, address);
}

void PacketSocket::ignore(const wire::MacAddress& address) {
  const auto found = wanted_.find(address);
  if (found == wanted_.end() || --found->second != 0) return;
  wanted_.erase(found);
  change_membership(PACKET_DROP_MEMBERSHIP, address);
}

// An interface may filter VLANs that it has no device for, unless it is promiscuous.
void PacketSocket::use_vlan(std::uint16_t) {
  if (!std::exchange(promiscuous_, true)) change_membership(PACKET_ADD_MEMBERSHIP, {});
}

// The interface's own filter; no address means promiscuous. It ends with the socket.
void PacketSocket::change_membership(int option, const wire::MacAddress& address) {
  packet_mreq request{};
  request.mr_ifindex = index_;
  request.mr_type = address.is_group() ? PACKET_MR_MULTICAST : PACKET_MR_UNICAST;
  if (address == wire::MacAddress{}) request.mr_type = PACKET_MR_PROMISC;
  request.mr_alen = static_cast<unsigned short>(address.bytes.size());
  std::copy(address.bytes.begin(), address.bytes.end(), request.mr_address);
  ::setsockopt(descriptor(), SOL_PACKET, option, &request, sizeof request);
}

void PacketSocket::watch() {
  set_up(has_carrier(descriptor(), interface().name));
  scheduler().schedule_after(watch_timer_, watch_interval);
}

// ENETDOWN, ENXIO: the carrier tells the rest.
void PacketSocket::socket_failed(int) {
  if (up()) scheduler().schedule(watch_timer_, scheduler().now());
}

std::uint64_t PacketSocket::kernel_drops() {
  tpacket_stats statistics{};  // since the last call
  socklen_t size = sizeof statistics;
  if (::getsockopt(descriptor(), SOL_PACKET, PACKET_STATISTICS, &statistics, &size) == 0)
    kernel_drops_ += statistics.tp_drops;
  return kernel_drops_;
}

}  // namespace fc2::drivers
