#include "tools/vitcp_portd/incoming_stream.hpp"

#include <poll.h>
#include <sys/socket.h>

#include <array>
#include <cerrno>

namespace vitcp_portd {
namespace {
// The system may wake us for fewer octets than were asked for, where it is short of memory: not again at once then.
constexpr runtime::TimeNs look_again = 10 * runtime::millisecond;
constexpr int drained_at_once = 16;

// The other end has closed its side.
bool has_ended(int socket) {
  pollfd wanted{socket, POLLRDHUP, 0};
  return ::poll(&wanted, 1, 0) > 0 && (wanted.revents & (POLLRDHUP | POLLHUP)) != 0;
}

void wake_for(int socket, std::size_t octets) {
  const int count = static_cast<int>(octets);
  ::setsockopt(socket, SOL_SOCKET, SO_RCVLOWAT, &count, sizeof count);
}

using Octets = std::array<std::uint8_t, wire::vitcp::max_segment_bytes>;

/// What came so far; it stays where it is.
ssize_t peek(int socket, Octets& octets) {
  return ::recv(socket, octets.data(), octets.size(), MSG_PEEK | MSG_DONTWAIT);
}

}  // namespace

IncomingStream::IncomingStream(runtime::drivers::RealTimeCore& core, Port& port, ConnectionId id, Descriptor socket,
                               const wire::IpAddress& from)
    : core_(core), port_(port), id_(id), from_(from), socket_(core.io()) {
  boost::system::error_code error;
  socket_.assign(socket.number(), error);
  if (!error) static_cast<void>(socket.release());
}

void IncomingStream::look() {
  Octets octets;
  const ssize_t got = peek(socket_.native_handle(), octets);
  if (got < 0 && errno != EAGAIN && errno != EINTR) return port_.broken(id_);
  const std::size_t count = got > 0 ? static_cast<std::size_t>(got) : 0;
  const wire::Bytes so_far = wire::Bytes(octets).first(count);
  auto needed = port_.arrived(id_, so_far, got == 0);
  if (needed && got > 0 && has_ended(socket_.native_handle())) needed = port_.arrived(id_, so_far, true);
  if (needed) wait_for(*needed);
}

void IncomingStream::wait_for(std::size_t octets) {
  const std::size_t before = std::exchange(seen_octets_, octets);
  wake_for(socket_.native_handle(), octets);
  if (before == octets)
    core_.scheduler().schedule_after(pause_, look_again);
  else
    await();
}

void IncomingStream::await() {
  socket_.async_wait(socket_.wait_read, [self = shared_from_this()](const boost::system::error_code& error) {
    if (error) return;  // closed
    const runtime::CoreSection section(self->core_);
    if (self->open_) self->woken();
  });
}

int IncomingStream::prepared_socket() {
  wake_for(socket_.native_handle(), 1);
  return socket_.native_handle();
}

// Who closes with something unread resets the stream, and the other end may never read why.
void IncomingStream::refuse(wire::vitcp::SegmentType type) {
  refused_ = true;
  core_.scheduler().cancel(pause_);
  Octets octets;
  const ssize_t got = peek(socket_.native_handle(), octets);
  const wire::Bytes so_far = wire::Bytes(octets).first(got > 0 ? static_cast<std::size_t>(got) : 0);
  const auto segment = vitcp::port_service::refusal_segment(type, so_far);
  // There is room: it is the first that is sent.
  [[maybe_unused]] const ssize_t sent = ::send(prepared_socket(), segment.data(), segment.size(), MSG_NOSIGNAL);
  ::shutdown(socket_.native_handle(), SHUT_WR);
  await();
}

void IncomingStream::drain() {
  std::array<std::uint8_t, 4096> octets;
  for (int i = 0; i < drained_at_once; ++i) {
    const ssize_t got = ::recv(socket_.native_handle(), octets.data(), octets.size(), MSG_DONTWAIT);
    if (got < 0 && errno == EAGAIN) break;
    if (got == 0 || (got < 0 && errno != EINTR)) return port_.drained(id_);
  }
  await();
}

void IncomingStream::close() {
  open_ = false;
  core_.scheduler().cancel(pause_);
  boost::system::error_code ignored;
  socket_.close(ignored);
}

}  // namespace vitcp_portd
