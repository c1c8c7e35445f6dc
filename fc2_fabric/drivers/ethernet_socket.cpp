#include "fc2_fabric/drivers/ethernet_socket.hpp"

#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <deque>
#include <optional>
#include <utility>

#include <boost/asio/posix/stream_descriptor.hpp>

#include "fc2_fabric/drivers/link_descriptor.hpp"

namespace fc2::drivers {
using fcoe::EthernetFrame;

namespace {
// The parts of one frame, as system calls take them.
struct Vectors {
  std::array<iovec, 3> parts;

  void point_to(const std::array<wire::MutableBytes, 3>& bytes) {
    for (std::size_t i = 0; i < parts.size(); ++i) parts[i] = {bytes[i].data(), bytes[i].size()};
  }
};
// Errors that a queue or a buffer that is full may give.
bool is_lack_of_room(int error) { return error == EAGAIN || error == ENOBUFS || error == ENOMEM; }
}  // namespace

/// Shared with Asio's handlers; the port that owns it may go at any time.
class EthernetSocket::Core final : public Input, public std::enable_shared_from_this<Core> {
 public:
  Core(EthernetSocket& port, int descriptor, const CoreAccess& access)
      : port_(&port), guard_(access.guard), scheduler_(access.scheduler), pool_(access.pool),
        descriptor_(access.io, descriptor), known_(descriptor) {
    descriptor_.non_blocking(true);
    for (EthernetFrame& frame : incoming_) frame = EthernetFrame::take(pool_);
  }
  void open() {
    arm_read();
    guard_.add_input(*this);
  }
  void send(EthernetFrame frame);
  void close();
  [[nodiscard]] int native() { return descriptor_.native_handle(); }
  [[nodiscard]] Scheduler& scheduler() { return scheduler_; }

 private:
  void arm_read();
  void readable();
  bool read_now() override;
  [[nodiscard]] int receive();
  void deliver(std::size_t count);
  void settled();
  void flush();
  [[nodiscard]] int transmit();
  void send_failed(int error);
  void arm_write();
  void writable();

  EthernetSocket* port_;  // nullptr: closed
  CoreGuard& guard_;
  Scheduler& scheduler_;
  FramePool& pool_;
  boost::asio::posix::stream_descriptor descriptor_;
  std::optional<LinkDescriptor> known_;  // while that is open: a child's copy would keep a UDP port, and filters, from others
  // in
  std::array<EthernetFrame, batch_frames> incoming_;
  std::array<Vectors, batch_frames> incoming_vectors_{};
  std::array<mmsghdr, batch_frames> incoming_headers_{};
  bool reading_ = false;
  // out
  std::deque<EthernetFrame> waiting_;
  std::array<Vectors, batch_frames> outgoing_vectors_{};
  std::array<mmsghdr, batch_frames> outgoing_headers_{};
  bool writing_ = false;
  std::size_t waiting_before_ = 0;  // when settled() looked last
  Timer<Core, &Core::settled> settled_{*this};
};

// --- in ----------------------------------------------------------------------------------------------------------

void EthernetSocket::Core::arm_read() {
  if (port_ == nullptr || std::exchange(reading_, true)) return;
  descriptor_.async_wait(descriptor_.wait_read, [self = shared_from_this()](const boost::system::error_code& error) {
    if (error) return;  // closed
    const CoreSection section(self->guard_);
    self->readable();
  });
}

// Never more than one batch: others wait for the core too.
void EthernetSocket::Core::readable() {
  reading_ = false;
  read_now();
  arm_read();
}

bool EthernetSocket::Core::read_now() {
  if (port_ == nullptr) return false;
  const int count = receive();
  if (count <= 0) return false;
  const auto self = shared_from_this();  // the port may go
  guard_.catch_up();
  deliver(static_cast<std::size_t>(count));
  return true;
}

int EthernetSocket::Core::receive() {
  for (std::size_t i = 0; i < batch_frames; ++i) {
    incoming_vectors_[i].point_to(incoming_[i].parts(EthernetFrame::max_bytes));
    incoming_headers_[i].msg_hdr = {};
    incoming_headers_[i].msg_hdr.msg_iov = incoming_vectors_[i].parts.data();
    incoming_headers_[i].msg_hdr.msg_iovlen = incoming_vectors_[i].parts.size();
  }
  const int count = ::recvmmsg(native(), incoming_headers_.data(), batch_frames, MSG_DONTWAIT, nullptr);
  if (count < 0 && errno != EAGAIN && errno != EINTR) port_->socket_failed(errno);
  return count;
}

// The port may go while it tells its receiver.
void EthernetSocket::Core::deliver(std::size_t count) {
  for (std::size_t i = 0; i < count && port_ != nullptr; ++i) {
    if ((incoming_headers_[i].msg_hdr.msg_flags & MSG_TRUNC) != 0) {
      ++port_->counters_.over_long;
      continue;
    }
    incoming_[i].size_bytes = static_cast<std::uint16_t>(incoming_headers_[i].msg_len);
    port_->deliver(std::exchange(incoming_[i], EthernetFrame::take(pool_)));
  }
}

// --- out ---------------------------------------------------------------------------------------------------------

void EthernetSocket::Core::send(EthernetFrame frame) {
  if (!port_->up() || waiting_.size() >= max_waiting) {
    ++port_->counters_.send_drops;
    return;
  }
  waiting_.push_back(std::move(frame));
  if (writing_) {
    if (waiting_.size() >= batch_frames) port_->pause();
  } else if (waiting_.size() >= batch_frames) {
    flush();
  } else if (!settled_.pending()) {
    waiting_before_ = 0;
    scheduler_.schedule(settled_, scheduler_.now());
  }
}

// While more comes, more goes with one call.
void EthernetSocket::Core::settled() {
  if (waiting_.empty() || writing_) return;
  if (std::exchange(waiting_before_, waiting_.size()) == waiting_.size()) return flush();
  scheduler_.schedule(settled_, scheduler_.now());
}

void EthernetSocket::Core::flush() {
  while (!waiting_.empty() && port_ != nullptr) {
    const int sent = transmit();
    if (sent > 0) {
      port_->counters_.frames_sent += static_cast<std::uint64_t>(sent);
      waiting_.erase(waiting_.begin(), waiting_.begin() + sent);
    } else if (errno != EINTR && is_lack_of_room(errno)) {
      return arm_write();
    } else if (errno != EINTR) {
      send_failed(errno);
    }
  }
}

int EthernetSocket::Core::transmit() {
  const std::size_t count = std::min(waiting_.size(), batch_frames);
  for (std::size_t i = 0; i < count; ++i) {
    outgoing_vectors_[i].point_to(waiting_[i].parts(waiting_[i].size_bytes));
    outgoing_headers_[i].msg_hdr = {};
    outgoing_headers_[i].msg_hdr.msg_iov = outgoing_vectors_[i].parts.data();
    outgoing_headers_[i].msg_hdr.msg_iovlen = outgoing_vectors_[i].parts.size();
  }
  return ::sendmmsg(native(), outgoing_headers_.data(), static_cast<unsigned>(count), MSG_DONTWAIT | MSG_NOSIGNAL);
}

// The first one cannot go: it is lost, the others may.
void EthernetSocket::Core::send_failed(int error) {
  waiting_.pop_front();
  ++port_->counters_.send_drops;
  port_->socket_failed(error);
}

void EthernetSocket::Core::arm_write() {
  if (waiting_.size() >= batch_frames / 2) port_->pause();
  if (std::exchange(writing_, true)) return;
  descriptor_.async_wait(descriptor_.wait_write, [self = shared_from_this()](const boost::system::error_code& error) {
    if (error) return;  // closed
    const CoreSection section(self->guard_);
    self->writable();
  });
}

void EthernetSocket::Core::writable() {
  writing_ = false;
  if (port_ == nullptr) return;
  flush();
  if (port_ != nullptr && !writing_) port_->resume();
}

// What waits goes as far as the kernel takes it at once; nobody is told any more.
void EthernetSocket::Core::close() {
  for (int sent = 1; sent > 0 && !writing_ && !waiting_.empty();) {
    sent = transmit();
    if (sent > 0) waiting_.erase(waiting_.begin(), waiting_.begin() + sent);
  }
  port_ = nullptr;
  guard_.remove_input(*this);
  scheduler_.cancel(settled_);
  waiting_.clear();
  for (EthernetFrame& frame : incoming_) frame.body.reset();
  known_.reset();
  boost::system::error_code ignored;
  descriptor_.close(ignored);
}

// --- the port ----------------------------------------------------------------------------------------------------

EthernetSocket::EthernetSocket(fcoe::EthernetInterface interface, int descriptor, const CoreAccess& access)
    : EthernetPort(std::move(interface)), core_(std::make_shared<Core>(*this, descriptor, access)) {
  core_->open();
}

EthernetSocket::~EthernetSocket() { core_->close(); }

void EthernetSocket::send(EthernetFrame frame) { core_->send(std::move(frame)); }
int EthernetSocket::descriptor() const { return core_->native(); }
Scheduler& EthernetSocket::scheduler() const { return core_->scheduler(); }

}  // namespace fc2::drivers
