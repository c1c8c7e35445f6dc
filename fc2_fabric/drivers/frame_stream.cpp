#include "fc2_fabric/drivers/frame_stream.hpp"

#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cassert>
#include <cerrno>
#include <cstring>
#include <utility>

#include "runtime/drivers/cancellation.hpp"

namespace fc2::drivers {

/// Open files that one record carries.
constexpr std::size_t files_of_a_record = 16;

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
  clear_out();
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

static OpenFiles files_of(msghdr& message) {
  OpenFiles files;
  for (cmsghdr* header = CMSG_FIRSTHDR(&message); header != nullptr; header = CMSG_NXTHDR(&message, header)) {
    if (header->cmsg_level != SOL_SOCKET || header->cmsg_type != SCM_RIGHTS) continue;
    const std::size_t number = (header->cmsg_len - CMSG_LEN(0)) / sizeof(int);
    for (std::size_t i = 0; i < number; ++i) {
      int descriptor = -1;
      std::memcpy(&descriptor, CMSG_DATA(header) + i * sizeof(int), sizeof descriptor);
      files.emplace_back(descriptor);
    }
  }
  return files;
}

// Of each call of the other end that sent some, no more than those come at once (unix(7)): the files of one record.
ssize_t FrameStream::receive(std::span<std::uint8_t> room) {
  iovec bytes{room.data(), room.size()};
  alignas(cmsghdr) std::array<char, CMSG_SPACE(files_of_a_record * sizeof(int))> control;
  msghdr message{};
  message.msg_iov = &bytes;
  message.msg_iovlen = 1;
  message.msg_control = control.data();
  message.msg_controllen = control.size();
  const ssize_t count = ::recvmsg(descriptor_.native_handle(), &message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
  if (count < 0) return count;
  const bool truncated = (message.msg_flags & MSG_CTRUNC) != 0;  // this process can have no more, or nobody asked
  OpenFiles files = files_of(message);
  if (truncated || !files.empty()) files_in_.push_back(std::move(files));
  check_files();
  return count;
}

void FrameStream::check_files() {
  if (files_in_.size() > may_be_untaken_) fail("the other end sent open files that nobody asked for");
}

void FrameStream::expect_no_files() {
  may_be_untaken_ = 0;
  check_files();
}

OpenFiles FrameStream::take_files() {
  if (files_in_.empty()) return {};
  OpenFiles files = std::move(files_in_.front());
  files_in_.pop_front();
  return files;
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

bool FrameStream::send_record(RecordKind kind, std::span<const std::uint8_t> body, OpenFiles files,
                              std::span<const std::uint8_t> without) {
  assert(files.size() <= files_of_a_record && without.size() == body.size());
  if (!has_room_for_records()) return false;
  // First: the record may go out at once.
  if (!goes_nowhere())
    files_out_.push_back({sent_bytes_ + out_.waiting().size(), std::move(files), {without.begin(), without.end()}});
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
    if (count >= 0) {
      out_.sent(static_cast<std::size_t>(count));
      sent_bytes_ += static_cast<std::uint64_t>(count);
    } else if (errno == EAGAIN) {
      return arm_write();
    } else if (errno == EPIPE || errno == ECONNRESET) {
      nobody_hears();
    } else if (errno != EINTR) {
      return fail(std::strerror(errno));
    }
  }
  if (finishing_ && !failed_) ::shutdown(descriptor_.native_handle(), SHUT_WR);
}

// What goes with one call: as far as the next record with open files, which go with its first byte. So they are there
// when it is, and not long before it.
ssize_t FrameStream::transmit(std::span<std::uint8_t> bytes) {
  const runtime::drivers::Cancellation held(runtime::drivers::Cancellation::Held);  // holds_cancellation_itself()
  const auto until = [&](const Attachment& next) {
    return std::min(bytes.size(), static_cast<std::size_t>(next.at - sent_bytes_));
  };
  if (files_out_.empty() || files_out_.front().at != sent_bytes_) {
    const std::size_t size = files_out_.empty() ? bytes.size() : until(files_out_.front());
    return ::send(descriptor_.native_handle(), bytes.data(), size, MSG_NOSIGNAL | MSG_DONTWAIT);
  }
  return transmit_with_files(files_out_.size() > 1 ? bytes.first(until(files_out_[1])) : bytes);
}

ssize_t FrameStream::transmit_with_files(std::span<std::uint8_t> bytes) {
  const Attachment& attachment = files_out_.front();
  iovec part{bytes.data(), bytes.size()};
  alignas(cmsghdr) std::array<char, CMSG_SPACE(files_of_a_record * sizeof(int))> control{};
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  message.msg_control = control.data();
  message.msg_controllen = CMSG_SPACE(attachment.files.size() * sizeof(int));
  cmsghdr* const header = CMSG_FIRSTHDR(&message);
  header->cmsg_level = SOL_SOCKET;
  header->cmsg_type = SCM_RIGHTS;
  header->cmsg_len = CMSG_LEN(attachment.files.size() * sizeof(int));
  for (std::size_t i = 0; i < attachment.files.size(); ++i) {
    const int descriptor = attachment.files[i].number();
    std::memcpy(CMSG_DATA(header) + i * sizeof(int), &descriptor, sizeof descriptor);
  }
  ssize_t count = ::sendmsg(descriptor_.native_handle(), &message, MSG_NOSIGNAL | MSG_DONTWAIT);
  if (count < 0 && (errno == ETOOMANYREFS || errno == ENOMEM || errno == EBADF)) {
    std::copy(attachment.without.begin(), attachment.without.end(), bytes.begin() + record_header_bytes);
    count = 0;
  }
  if (count >= 0) files_out_.pop_front();
  return count;
}

void FrameStream::clear_out() {
  out_.clear();
  files_out_.clear();
}

// A process that ended may have sent before it did: what it sent is read, and then its end.
void FrameStream::nobody_hears() {
  deaf_ = true;
  clear_out();
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
