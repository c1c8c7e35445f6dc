// The yardstick of FCoE: packet sockets and nothing else, with the frames that a message of 64 KiB takes.
#pragma once
#include <arpa/inet.h>
#include <linux/if_packet.h>
#include <net/ethernet.h>
#include <net/if.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <vector>

#include "wire/ethernet.hpp"
#include "wire/fcoe.hpp"

namespace bench {

inline constexpr std::uint32_t message_bytes = 65536;

/// Bytes on the wire of each: 2080 of data in a full frame, FC and Device_Header before them (FC-VI 5.4).
inline const std::vector<std::size_t> frames_of_message = [] {
  constexpr std::uint32_t data_bytes = 2080, headers = 24 + 32;
  std::vector<std::size_t> sizes;
  for (std::uint32_t left = message_bytes; left > 0; left -= std::min(left, data_bytes))
    sizes.push_back(wire::fcoe::frame_size(headers + std::min(left, data_bytes)));
  return sizes;
}();

/// -1: none, the reason is printed. Bound to the interface; what is sent there elsewhere is shown for `protocol` alone.
inline int open_packet_socket(const char* interface, int protocol) {
  const int descriptor = ::socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC, 0);
  sockaddr_ll address{};
  address.sll_family = AF_PACKET;
  address.sll_protocol = htons(static_cast<std::uint16_t>(protocol));
  address.sll_ifindex = static_cast<int>(::if_nametoindex(interface));
  if (descriptor < 0 || ::bind(descriptor, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) {
    std::perror(interface);
    return -1;
  }
  return descriptor;
}

/// Sixty-four frames a system call; waits where the kernel takes no more.
class RawSender {
 public:
  RawSender(const char* interface, const wire::MacAddress& to, const wire::MacAddress& from)
      : descriptor_(open_packet_socket(interface, 0)) {
    for (std::size_t i = 0; i < batch; ++i) {
      wire::EthernetHeader{to, from, wire::EtherType::fcoe}.write(bytes_[i]);
      vectors_[i] = {bytes_[i].data(), frames_of_message[i % frames_of_message.size()]};
      headers_[i].msg_hdr.msg_iov = &vectors_[i];
      headers_[i].msg_hdr.msg_iovlen = 1;
    }
  }
  ~RawSender() { ::close(descriptor_); }
  RawSender(const RawSender&) = delete;
  RawSender& operator=(const RawSender&) = delete;

  bool send(std::uint64_t messages) {
    for (std::uint64_t left = messages * frames_of_message.size(), at = 0; left > 0;) {
      const std::uint64_t count = std::min<std::uint64_t>(left, batch - at);
      const int sent = ::sendmmsg(descriptor_, headers_.data() + at, static_cast<unsigned>(count), 0);
      if (sent < 0 && errno != ENOBUFS && errno != EINTR) return false;
      if (sent < 0) continue;
      left -= static_cast<std::uint64_t>(sent);
      at = (at + static_cast<std::uint64_t>(sent)) % batch;
    }
    return true;
  }

 private:
  static constexpr std::size_t batch = 64;
  int descriptor_;
  std::array<std::array<std::uint8_t, 2172>, batch> bytes_{};
  std::array<iovec, batch> vectors_{};
  std::array<mmsghdr, batch> headers_{};
};

/// Reads all that comes until `end` can be read, which is when its other end was closed.
inline void receive_raw(const char* interface, int end) {
  constexpr std::size_t batch = 64;
  const int descriptor = open_packet_socket(interface, ETH_P_ALL);
  const int buffer_bytes = 32 << 20;
  ::setsockopt(descriptor, SOL_SOCKET, SO_RCVBUFFORCE, &buffer_bytes, sizeof buffer_bytes);
  std::vector<std::array<std::uint8_t, 2172>> bytes(batch);
  std::array<iovec, batch> vectors{};
  std::array<mmsghdr, batch> headers{};
  for (std::size_t i = 0; i < batch; ++i) {
    vectors[i] = {bytes[i].data(), bytes[i].size()};
    headers[i].msg_hdr.msg_iov = &vectors[i];
    headers[i].msg_hdr.msg_iovlen = 1;
  }
  for (std::array<pollfd, 2> wanted{{{descriptor, POLLIN, 0}, {end, POLLIN, 0}}}; wanted[1].revents == 0;) {
    ::poll(wanted.data(), wanted.size(), -1);
    ::recvmmsg(descriptor, headers.data(), batch, MSG_DONTWAIT, nullptr);
  }
  ::close(descriptor);
}

}  // namespace bench
