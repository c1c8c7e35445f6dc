// Records through a plain socket.
#pragma once
#include <gtest/gtest.h>

#include <sys/socket.h>

#include <cstring>

#include "runtime/drivers/descriptor.hpp"
#include "vitcp/port_service/records.hpp"

namespace vitcp::port_service::test {

/// With a file, or -1. As sendmsg(2).
inline ssize_t try_to_send(const runtime::drivers::Descriptor& link, const Record& record, int file = -1) {
  iovec piece{const_cast<std::uint8_t*>(record.data()), record.size()};
  alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof file)> control{};
  msghdr message{};
  message.msg_iov = &piece;
  message.msg_iovlen = 1;
  if (file >= 0) {
    message.msg_control = control.data();
    message.msg_controllen = control.size();
    cmsghdr* const header = CMSG_FIRSTHDR(&message);
    *header = {CMSG_LEN(sizeof file), SOL_SOCKET, SCM_RIGHTS};
    std::memcpy(CMSG_DATA(header), &file, sizeof file);
  }
  return ::sendmsg(link.number(), &message, MSG_NOSIGNAL);
}

inline void send_record(const runtime::drivers::Descriptor& link, const Record& record, int file = -1) {
  EXPECT_EQ(try_to_send(link, record, file), static_cast<ssize_t>(record.size()));
}

/// False: none is there. Empty: the end.
inline bool receive_record(const runtime::drivers::Descriptor& link, Record& record,
                           runtime::drivers::Descriptor& attached) {
  record.assign(max_record_bytes, 0);
  iovec piece{record.data(), record.size()};
  alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof(int))> control{};
  msghdr message{};
  message.msg_iov = &piece;
  message.msg_iovlen = 1;
  message.msg_control = control.data();
  message.msg_controllen = control.size();
  const ssize_t got = ::recvmsg(link.number(), &message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
  if (got < 0) return false;
  record.resize(static_cast<std::size_t>(got));
  int file = -1;
  if (const cmsghdr* header = CMSG_FIRSTHDR(&message)) std::memcpy(&file, CMSG_DATA(header), sizeof file);
  attached = runtime::drivers::Descriptor(file);
  return true;
}

}  // namespace vitcp::port_service::test
