#include "fc2_fabric/drivers/ethernet_socket.hpp"

#include <linux/if_packet.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <deque>
#include <optional>
#include <utility>

#include <boost/asio/posix/stream_descriptor.hpp>

#include "runtime/drivers/link_descriptor.hpp"

namespace fc2::drivers {
using fcoe::EthernetFrame;

namespace {
constexpr std::size_t tag_bytes = 4;                                   // 802.1Q: EtherType 8100h, priority, VID
constexpr std::size_t addresses_bytes = 2 * sizeof(wire::MacAddress);  // what stands before it
constexpr std::uint16_t vid_mask = 0x0FFF;

// What comes in, and room for a tag that stands within it.
struct IncomingVectors {
  std::array<iovec, 4> parts;
  std::array<std::uint8_t, tag_bytes> rest;  // of the frame's tail, while the tag is in it
  alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof(tpacket_auxdata))> control;

  void point_to(EthernetFrame& frame, msghdr& header) {
    const auto bytes = frame.parts(EthernetFrame::max_bytes);
    for (std::size_t i = 0; i < bytes.size(); ++i) parts[i] = {bytes[i].data(), bytes[i].size()};
    parts.back() = {rest.data(), rest.size()};
    header = {};
    header.msg_iov = parts.data();
    header.msg_iovlen = parts.size();
    header.msg_control = control.data();
    header.msg_controllen = control.size();
  }
};

// What goes out; the tag between the addresses and the type.
struct OutgoingVectors {
  std::array<iovec, 5> parts;
  std::array<std::uint8_t, tag_bytes> tag;

  void point_to(EthernetFrame& frame, unsigned priority, msghdr& header) {
    const auto bytes = frame.parts(frame.size_bytes);
    std::size_t count = 0;
    const auto add = [&](wire::MutableBytes part) { parts[count++] = {part.data(), part.size()}; };
    const bool tagged = frame.vlan != 0 && bytes[0].size() >= addresses_bytes;
    if (tagged) {
      wire::store_big<2>(tag.data(), static_cast<std::uint16_t>(wire::EtherType::vlan));
      wire::store_big<2>(tag.data() + 2, static_cast<std::uint16_t>(priority << 13 | frame.vlan));
      add(bytes[0].first(addresses_bytes));
      add(tag);
    }
    add(tagged ? bytes[0].subspan(addresses_bytes) : bytes[0]);
    add(bytes[1]);
    add(bytes[2]);
    header = {};
    header.msg_iov = parts.data();
    header.msg_iovlen = count;
  }
};

// The kernel takes the tag off what an interface received, and tells it beside.
std::optional<std::uint16_t> vlan_beside(msghdr& header) {
  for (cmsghdr* entry = CMSG_FIRSTHDR(&header); entry != nullptr; entry = CMSG_NXTHDR(&header, entry)) {
    if (entry->cmsg_level != SOL_PACKET || entry->cmsg_type != PACKET_AUXDATA) continue;
    tpacket_auxdata about{};
    std::memcpy(&about, CMSG_DATA(entry), sizeof about);
    if ((about.tp_status & TP_STATUS_VLAN_VALID) != 0) return about.tp_vlan_tci & vid_mask;
  }
  return {};
}

// It stands within what other sockets of this host send, and in datagrams: all that follows moves up. A second tag
// stays: it is not for whoever uses the first one's VLAN to say what is another's.
void take_tag_off(EthernetFrame& frame, std::span<const std::uint8_t, tag_bytes> rest) {
  frame.vlan = wire::load_big<2>(frame.head.data() + addresses_bytes + 2) & vid_mask;
  const auto move_up = [](wire::MutableBytes part, wire::Bytes from, std::size_t at) {
    std::memmove(part.data() + at, part.data() + at + tag_bytes, part.size() - at - tag_bytes);
    std::copy_n(from.begin(), tag_bytes, part.end() - tag_bytes);
  };
  move_up(frame.head, frame.body->bytes, addresses_bytes);
  move_up(frame.body->bytes, frame.tail, 0);
  move_up(frame.tail, rest, 0);
  frame.size_bytes = static_cast<std::uint16_t>(frame.size_bytes - tag_bytes);
}
// Errors that a queue or a buffer that is full may give.
bool is_lack_of_room(int error) { return error == EAGAIN || error == ENOBUFS || error == ENOMEM; }
}  // namespace

/// Shared with Asio's handlers; the port that owns it may go at any time.
class EthernetSocket::Core final : public runtime::Input, public std::enable_shared_from_this<Core> {
 public:
  Core(EthernetSocket& port, int descriptor, const CoreAccess& access)
      : port_(&port), guard_(access.guard), scheduler_(access.scheduler), pool_(access.pool),
        priority_(port.interface().priority), descriptor_(access.io, descriptor), known_(descriptor) {
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
  [[nodiscard]] bool make_whole(std::size_t i);
  void settled();
  void flush();
  [[nodiscard]] int transmit();
  void send_failed(int error);
  void arm_write();
  void writable();

  EthernetSocket* port_;  // nullptr: closed
  runtime::CoreGuard& guard_;
  Scheduler& scheduler_;
  FramePool& pool_;
  const unsigned priority_;  // of tagged frames
  boost::asio::posix::stream_descriptor descriptor_;
  std::optional<runtime::drivers::LinkDescriptor>
      known_;  // while that is open: a child's copy would keep a UDP port, and filters, from others
  // in
  std::array<EthernetFrame, batch_frames> incoming_;
  std::array<IncomingVectors, batch_frames> incoming_vectors_{};
  std::array<mmsghdr, batch_frames> incoming_headers_{};
  bool reading_ = false;
  // out
  std::deque<EthernetFrame> waiting_;
  std::array<OutgoingVectors, batch_frames> outgoing_vectors_{};
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
    const runtime::CoreSection section(self->guard_);
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
  for (std::size_t i = 0; i < batch_frames; ++i)
    incoming_vectors_[i].point_to(incoming_[i], incoming_headers_[i].msg_hdr);
  const int count = ::recvmmsg(native(), incoming_headers_.data(), batch_frames, MSG_DONTWAIT, nullptr);
  if (count < 0 && errno != EAGAIN && errno != EINTR) port_->socket_failed(errno);
  return count;
}

// The port may go while it tells its receiver.
void EthernetSocket::Core::deliver(std::size_t count) {
  for (std::size_t i = 0; i < count && port_ != nullptr; ++i) {
    if (!make_whole(i)) {
      ++port_->counters_.over_long;
      continue;
    }
    port_->deliver(std::exchange(incoming_[i], EthernetFrame::take(pool_)));
  }
}

bool EthernetSocket::Core::make_whole(std::size_t i) {
  EthernetFrame& frame = incoming_[i];
  mmsghdr& message = incoming_headers_[i];
  if ((message.msg_hdr.msg_flags & MSG_TRUNC) != 0) return false;
  frame.size_bytes = static_cast<std::uint16_t>(message.msg_len);
  const auto beside = vlan_beside(message.msg_hdr);
  frame.vlan = beside.value_or(0);
  const bool tagged =
      !beside && frame.size_bytes >= wire::EthernetHeader::size() + tag_bytes && frame.type() == wire::EtherType::vlan;
  if (tagged) take_tag_off(frame, incoming_vectors_[i].rest);
  return frame.size_bytes <= EthernetFrame::max_bytes;
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
  for (std::size_t i = 0; i < count; ++i)
    outgoing_vectors_[i].point_to(waiting_[i], priority_, outgoing_headers_[i].msg_hdr);
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
    const runtime::CoreSection section(self->guard_);
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
