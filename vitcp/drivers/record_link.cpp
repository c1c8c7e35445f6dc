#include "vitcp/drivers/record_link.hpp"

#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace vitcp::drivers {
namespace {
constexpr int read_at_once = 64;  // then others have their turn

/// Room for the one open file that a record may have.
struct Control {
  alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof(int))> bytes{};
};

ssize_t send_packet(int socket, wire::Bytes record, int attached) {
  iovec piece{const_cast<std::uint8_t*>(record.data()), record.size()};
  Control control;
  msghdr message{};
  message.msg_iov = &piece;
  message.msg_iovlen = 1;
  if (attached >= 0) {
    message.msg_control = control.bytes.data();
    message.msg_controllen = control.bytes.size();
    cmsghdr* const header = CMSG_FIRSTHDR(&message);
    header->cmsg_level = SOL_SOCKET;
    header->cmsg_type = SCM_RIGHTS;
    header->cmsg_len = CMSG_LEN(sizeof attached);
    std::memcpy(CMSG_DATA(header), &attached, sizeof attached);
  }
  ssize_t sent = 0;
  do sent = ::sendmsg(socket, &message, MSG_NOSIGNAL | MSG_DONTWAIT);
  while (sent < 0 && errno == EINTR);
  return sent;
}

// The first; others, where the system let them in, are closed.
Descriptor file_in(msghdr& message) {
  Descriptor first;
  for (cmsghdr* header = CMSG_FIRSTHDR(&message); header != nullptr; header = CMSG_NXTHDR(&message, header)) {
    if (header->cmsg_level != SOL_SOCKET || header->cmsg_type != SCM_RIGHTS) continue;
    for (std::size_t end = CMSG_LEN(sizeof(int)); end <= header->cmsg_len; end += sizeof(int)) {
      int number = -1;
      std::memcpy(&number, CMSG_DATA(header) + (end - CMSG_LEN(sizeof(int))), sizeof number);
      Descriptor file(number);
      if (!first) first = std::move(file);
    }
  }
  return first;
}

ssize_t receive_packet(int socket, wire::MutableBytes room, Descriptor& attached) {
  iovec piece{room.data(), room.size()};
  Control control;
  msghdr message{};
  message.msg_iov = &piece;
  message.msg_iovlen = 1;
  message.msg_control = control.bytes.data();
  message.msg_controllen = CMSG_LEN(sizeof(int));  // the padding has room for another one
  const ssize_t got = ::recvmsg(socket, &message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
  if (got >= 0) attached = file_in(message);
  return got;
}
}  // namespace

std::shared_ptr<RecordLink> RecordLink::make(Sockets sockets, runtime::Scheduler& scheduler, Descriptor socket,
                                             RecordLinkUser& user) {
  std::shared_ptr<RecordLink> link(new RecordLink(std::move(sockets), scheduler, user));
  link->begin(std::move(socket));
  return link;
}

void RecordLink::begin(Descriptor socket) {
  socket_ = std::move(socket);
  known_.emplace(socket_.number());
  if (join(socket_.number(), For::reading)) return ask(For::reading);
  failure_ = std::strerror(errno);
  scheduler_.schedule(failure_event_, scheduler_.now());
}

void RecordLink::tell_failure() {
  const auto self = shared_from_this();  // the user may let go
  if (user_ != nullptr) fail(failure_);
}

void RecordLink::ready(For what) {
  const auto self = shared_from_this();
  what == For::reading ? read() : flush();
}

// --- out -----------------------------------------------------------------------------------------------------------

void RecordLink::send(Record record, Descriptor attached) {
  if (user_ == nullptr) return;
  out_.push_back({std::move(record), std::move(attached)});
  flush();
}

bool RecordLink::send_now(const Record& record, int attached) {
  return user_ != nullptr && out_.empty() && send_packet(socket_.number(), record, attached) >= 0;
}

bool RecordLink::unsend(const Record& record) {
  const auto same = [&](const Out& out) { return out.record == record; };
  const auto found = std::find_if(out_.begin(), out_.end(), same);
  if (found == out_.end()) return false;
  out_.erase(found);
  return true;
}

// A file that the system does not carry is left out.
void RecordLink::flush() {
  while (!out_.empty()) {
    Out& next = out_.front();
    if (send_packet(socket_.number(), next.record, next.attached.number()) >= 0)
      out_.pop_front();
    else if (errno == EAGAIN)
      return ask(For::writing);
    else if (next.attached)
      next.attached = {};
    else
      out_.clear();
  }
}

// --- in ------------------------------------------------------------------------------------------------------------

void RecordLink::read() {
  const auto self = shared_from_this();  // the user may let go
  for (int i = 0; i < read_at_once && user_ != nullptr; ++i)
    if (!read_one()) break;
  if (user_ != nullptr) ask(For::reading);
}

// ECONNRESET says that the other end closed with something unread; what it had sent comes behind that.
bool RecordLink::read_one() {
  std::array<std::uint8_t, port_service::max_record_bytes> room;
  Descriptor attached;
  const ssize_t got = receive_packet(socket_.number(), room, attached);
  if (got > 0) {
    const auto record = wire::Bytes(room).first(static_cast<std::size_t>(got));
    user_->record_received(static_cast<RecordKind>(record[0]), record.subspan(1), std::move(attached));
    return true;
  }
  if (got == 0) return fail("closed by the other end"), false;
  if (errno == ECONNRESET || errno == EINTR) return true;
  if (errno != EAGAIN) fail(std::strerror(errno));
  return false;
}

void RecordLink::fail(const std::string& reason) {
  RecordLinkUser* const user = user_;
  close();
  user->link_closed(reason);
}

void RecordLink::close() {
  user_ = nullptr;
  out_.clear();
  scheduler_.cancel(failure_event_);
  leave();
  known_.reset();
  Descriptor closed;
  std::swap(closed, socket_);
}

}  // namespace vitcp::drivers
