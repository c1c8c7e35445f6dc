#include "fc2_fabric/drivers/frame_stream.hpp"

#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cassert>
#include <cerrno>
#include <cstring>
#include <utility>

namespace fc2::drivers {

/// Open files that one system call carries, either way.
constexpr std::size_t descriptors_of_a_call = 16;

std::shared_ptr<FrameStream> FrameStream::make(boost::asio::io_context& io, runtime::CoreGuard& guard,
                                               Scheduler& scheduler, FramePool& pool, StreamUser& user,
                                               int descriptor) {
  std::shared_ptr<FrameStream> stream(new FrameStream(io, guard, scheduler, pool, user, descriptor));
  stream->arm_read();
  guard.add_input(*stream);
  return stream;
}

FrameStream::FrameStream(boost::asio::io_context& io, runtime::CoreGuard& guard, Scheduler& scheduler, FramePool& pool,
                         StreamUser& user, int descriptor)
    : guard_(guard), scheduler_(scheduler), pool_(pool), user_(&user), descriptor_(io, descriptor),
      known_(std::in_place, descriptor) {
  descriptor_.non_blocking(true);
}

void FrameStream::close() {
  if (user_ == nullptr) return;
  flush();
  user_ = nullptr;
  guard_.remove_input(*this);
  for (Event* event :
       {static_cast<Event*>(&flush_), static_cast<Event*>(&delivery_), static_cast<Event*>(&failure_event_)})
    scheduler_.cancel(*event);
  known_.reset();
  boost::system::error_code ignored;
  descriptor_.close(ignored);
}

void FrameStream::fail(std::string reason) {
  if (std::exchange(failed_, true)) return;
  failure_ = std::move(reason);
  scheduler_.schedule(failure_event_, scheduler_.now());
}

void FrameStream::tell_failure() {
  StreamUser* user = user_;
  out_.clear();
  const auto self = shared_from_this();  // the user may let go
  close();
  user->stream_closed(failure_);
}

// --- in ----------------------------------------------------------------------------------------------------------

void FrameStream::arm_read() {
  if (user_ == nullptr || held_ || failed_ || std::exchange(reading_, true)) return;
  descriptor_.async_wait(descriptor_.wait_read, [self = shared_from_this()](const boost::system::error_code& error) {
    if (error) return;  // closed
    const runtime::CoreSection section(self->guard_);
    self->readable();
  });
}

void FrameStream::readable() {
  reading_ = false;
  read_now();
  arm_read();
}

bool FrameStream::read_now() {
  if (user_ == nullptr || held_ || failed_) return false;
  if (!fill()) return failed_;
  const auto self = shared_from_this();  // the user may let go
  guard_.catch_up();
  deliver();
  return true;
}

// Never more than one call: others wait for the core too.
bool FrameStream::fill() {
  const std::span<std::uint8_t> room = in_.room();
  const ssize_t count = receive(room);
  if (count > 0) {
    in_.filled(static_cast<std::size_t>(count));
    return true;
  }
  if (count == 0 || errno == ECONNRESET)
    fail(in_.empty() ? "closed by the other end" : "closed by the other end within a record");
  else if (errno != EAGAIN && errno != EINTR)
    fail(std::strerror(errno));
  return false;
}

// Open files come with the bytes that they were sent with.
ssize_t FrameStream::receive(std::span<std::uint8_t> room) {
  iovec bytes{room.data(), room.size()};
  alignas(cmsghdr) std::array<char, CMSG_SPACE(descriptors_of_a_call * sizeof(int))> control;
  msghdr message{};
  message.msg_iov = &bytes;
  message.msg_iovlen = 1;
  message.msg_control = control.data();
  message.msg_controllen = control.size();
  const ssize_t count = ::recvmsg(descriptor_.native_handle(), &message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
  if (count < 0) return count;
  if ((message.msg_flags & MSG_CTRUNC) != 0) fail("open files came, and this process can have no more");
  for (const cmsghdr* header = CMSG_FIRSTHDR(&message); header != nullptr;
       header = CMSG_NXTHDR(&message, const_cast<cmsghdr*>(header))) {
    if (header->cmsg_level != SOL_SOCKET || header->cmsg_type != SCM_RIGHTS) continue;
    const std::size_t number = (header->cmsg_len - CMSG_LEN(0)) / sizeof(int);
    for (std::size_t i = 0; i < number; ++i) {
      int descriptor = -1;
      std::memcpy(&descriptor, CMSG_DATA(header) + i * sizeof(int), sizeof descriptor);
      descriptors_in_.emplace_back(descriptor);
    }
  }
  if (descriptors_in_.size() > max_descriptors) fail("the other end sent open files that nobody asked for");
  return count;
}

runtime::drivers::Descriptor FrameStream::take_descriptor() {
  if (descriptors_in_.empty()) return {};
  runtime::drivers::Descriptor descriptor = std::move(descriptors_in_.front());
  descriptors_in_.pop_front();
  return descriptor;
}

void FrameStream::deliver() {
  while (user_ != nullptr && !held_ && !failed_) {
    const auto record = in_.next();
    if (record)
      deliver_record(*record);
    else if (in_.fault() != nullptr)
      fail(std::string("the other end sent ") + in_.fault());
    else
      return;
  }
}

// A frame that nobody kept was never copied here.
void FrameStream::deliver_record(const RecordReader::Record& record) {
  if (record.header.kind != RecordKind::Frame) return user_->record_received(record.header.kind, record.body);
  user_->frame_received(in_.frame_of(record, pool_));
  in_.take_back();
}

void FrameStream::proceed() {
  held_ = false;
  if (user_ != nullptr) scheduler_.schedule(delivery_, scheduler_.now());
}

void FrameStream::deliver_held() {
  const auto self = shared_from_this();  // the user may let go
  deliver();
  arm_read();
}

// --- out ---------------------------------------------------------------------------------------------------------

FramePtr FrameStream::make_frame(FramePool& pool, wire::FcId) {
  FramePtr frame = pool.take();
  if (!goes_nowhere()) out_.lend_place(*frame);
  return frame;
}

void FrameStream::send(FramePtr frame) {
  if (goes_nowhere()) return;
  assert(out_.has_room() && "a paused output is waited for");
  out_.add(*frame);
  sent_something();
}

bool FrameStream::has_room_for_records() {
  wants_room_ = !goes_nowhere() && !out_.has_room();
  return !wants_room_;
}

bool FrameStream::send_record(RecordKind kind, std::span<const std::uint8_t> body) {
  if (goes_nowhere()) return true;
  if (!has_room_for_records()) return false;
  out_.add(kind, body);
  sent_something();
  return true;
}

bool FrameStream::send_record(RecordKind kind, std::span<const std::uint8_t> body,
                              std::vector<runtime::drivers::Descriptor> descriptors) {
  if (!has_room_for_records()) return false;
  // First: the record may go out at once.
  if (!goes_nowhere())
    for (runtime::drivers::Descriptor& descriptor : descriptors) descriptors_out_.push_back(std::move(descriptor));
  return send_record(kind, body);
}

bool FrameStream::send_record(RecordKind kind, std::string_view text) {
  std::vector<std::uint8_t> body(
      text.begin(), text.begin() + static_cast<std::ptrdiff_t>(std::min(text.size(), max_record_body_bytes)));
  return send_record(kind, body);
}

void FrameStream::hold_for(wire::FcId id) {
  held_destinations_.hold(id);
  tell_held();
}

void FrameStream::proceed_for(wire::FcId id) {
  held_destinations_.proceed(id);
  tell_held();
}

// Also while frames have to wait: these are a few octets.
void FrameStream::tell_held() {
  if (goes_nowhere() || !out_.has_room()) return;
  const auto first = held_destinations_.untold();
  if (!first) return;
  for (auto change = first; change && out_.has_room(); change = held_destinations_.untold()) {
    out_.add(change->held ? RecordKind::Hold : RecordKind::Proceed, Destination{change->id}.write());
    held_destinations_.told(*change);
  }
  sent_something();
}

// Together, when the core has settled; at once where the buffer is full.
void FrameStream::sent_something() {
  if (out_.has_room()) {
    if (!writing_ && !flush_.pending()) scheduler_.schedule(flush_, scheduler_.now());
    return;
  }
  if (!writing_) flush();
  if (!out_.has_room()) pause();
}

void FrameStream::flush() {
  while (!out_.empty() && !failed_) {
    const auto bytes = out_.waiting();
    const ssize_t count = transmit(bytes);
    if (count >= 0)
      out_.sent(static_cast<std::size_t>(count));
    else if (errno == EAGAIN)
      return arm_write();
    else if (errno == EPIPE || errno == ECONNRESET)
      nobody_hears();
    else if (errno != EINTR)
      return fail(std::strerror(errno));
  }
  if (finishing_ && !failed_) ::shutdown(descriptor_.native_handle(), SHUT_WR);
}

// Open files go with the first bytes that are sent after them: never later than their record.
ssize_t FrameStream::transmit(std::span<const std::uint8_t> bytes) {
  constexpr int flags = MSG_NOSIGNAL | MSG_DONTWAIT;
  if (descriptors_out_.empty()) return ::send(descriptor_.native_handle(), bytes.data(), bytes.size(), flags);
  const std::size_t number = std::min(descriptors_out_.size(), descriptors_of_a_call);
  // All of them with the first bytes: where there are more, one byte goes with each call's.
  iovec part{const_cast<std::uint8_t*>(bytes.data()), descriptors_out_.size() > number ? 1 : bytes.size()};
  alignas(cmsghdr) std::array<char, CMSG_SPACE(descriptors_of_a_call * sizeof(int))> control{};
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  message.msg_control = control.data();
  message.msg_controllen = CMSG_SPACE(number * sizeof(int));
  cmsghdr* const header = CMSG_FIRSTHDR(&message);
  header->cmsg_level = SOL_SOCKET;
  header->cmsg_type = SCM_RIGHTS;
  header->cmsg_len = CMSG_LEN(number * sizeof(int));
  for (std::size_t i = 0; i < number; ++i) {
    const int descriptor = descriptors_out_[i].number();
    std::memcpy(CMSG_DATA(header) + i * sizeof(int), &descriptor, sizeof descriptor);
  }
  const ssize_t count = ::sendmsg(descriptor_.native_handle(), &message, flags);
  if (count > 0)
    descriptors_out_.erase(descriptors_out_.begin(), descriptors_out_.begin() + static_cast<std::ptrdiff_t>(number));
  return count;
}

// A process that ended may have sent before it did: what it sent is read, and then its end.
void FrameStream::nobody_hears() {
  deaf_ = true;
  out_.clear();
}

void FrameStream::drain(std::chrono::milliseconds limit) {
  const auto end = std::chrono::steady_clock::now() + limit;
  for (;;) {
    if (user_ == nullptr || failed_) return;
    flush();
    if (!failed_ && paused() && out_.room() >= buffer_bytes / 2) resume();  // what waits behind goes, too
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(end - std::chrono::steady_clock::now());
    if (out_.empty() || left.count() <= 0) return;
    pollfd socket{descriptor_.native_handle(), POLLOUT, 0};
    ::poll(&socket, 1, static_cast<int>(left.count()));
  }
}

void FrameStream::finish() {
  finishing_ = true;
  if (user_ != nullptr && !writing_) flush();
}

void FrameStream::arm_write() {
  if (std::exchange(writing_, true)) return;
  descriptor_.async_wait(descriptor_.wait_write, [self = shared_from_this()](const boost::system::error_code& error) {
    if (error) return;  // closed
    const runtime::CoreSection section(self->guard_);
    self->writable();
  });
}

void FrameStream::writable() {
  writing_ = false;
  if (user_ == nullptr || failed_) return;
  flush();
  tell_held();
  if (out_.room() < buffer_bytes / 2) return;
  const auto self = shared_from_this();  // the user may let go
  // Records before frames, which would take all the room again.
  if (std::exchange(wants_room_, false)) user_->stream_has_room();
  if (user_ != nullptr) resume();
}

}  // namespace fc2::drivers
