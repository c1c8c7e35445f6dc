#include "streams/drivers/socket_streams.hpp"

#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <array>
#include <boost/asio/ip/tcp.hpp>
#include <cassert>
#include <cerrno>

#include "runtime/drivers/link_descriptor.hpp"
#include "streams/drivers/listening_socket.hpp"
#include "streams/drivers/socket_set.hpp"

namespace streams::drivers {
namespace {

using Tcp = boost::asio::ip::tcp;
using Error = boost::system::error_code;
using runtime::drivers::Descriptor;
constexpr std::size_t pieces_at_once = 256;  // of one system call; what is left goes with the next
constexpr int accepts_at_once = 16;          // then others have their turn
constexpr runtime::TimeNs accept_pause = 100 * runtime::millisecond;

/// The spans of one system call; iovec has no constant bases.
template <class Piece>
std::size_t fill(std::array<iovec, pieces_at_once>& vectors, std::span<const Piece> pieces) {
  std::size_t count = 0;
  for (const Piece& piece : pieces.first(std::min(pieces.size(), pieces_at_once)))
    vectors[count++] = {const_cast<std::uint8_t*>(piece.data()), piece.size()};
  return count;
}

template <class Piece>
std::size_t octets_in(std::span<const Piece> pieces) {
  std::size_t octets = 0;
  for (const Piece& piece : pieces.first(std::min(pieces.size(), pieces_at_once))) octets += piece.size();
  return octets;
}

/// `more`: flags besides those of all.
ssize_t send(int socket, std::span<const wire::Bytes> pieces, int more) {
  const int flags = MSG_NOSIGNAL | MSG_DONTWAIT | more;
  if (pieces.size() == 1) return ::send(socket, pieces.front().data(), pieces.front().size(), flags);
  std::array<iovec, pieces_at_once> vectors;
  msghdr message{};
  message.msg_iovlen = fill(vectors, pieces);
  message.msg_iov = vectors.data();
  return ::sendmsg(socket, &message, flags);
}

ssize_t receive(int socket, std::span<const wire::MutableBytes> pieces) {
  if (pieces.size() == 1) return ::recv(socket, pieces.front().data(), pieces.front().size(), MSG_DONTWAIT);
  std::array<iovec, pieces_at_once> vectors;
  msghdr message{};
  message.msg_iovlen = fill(vectors, pieces);
  message.msg_iov = vectors.data();
  return ::recvmsg(socket, &message, MSG_DONTWAIT);
}

template <class Value>
void set(int socket, int level, int option, const Value& value) {
  ::setsockopt(socket, level, option, &value, sizeof value);
}

void prepare_stream(int socket) {
  set(socket, IPPROTO_TCP, TCP_NODELAY, 1);
  set(socket, SOL_SOCKET, SO_OOBINLINE, 1);
}

/// Not at bind(), where one port would serve one stream to anywhere.
void let_connect_choose_port(int socket) { set(socket, IPPROTO_IP, IP_BIND_ADDRESS_NO_PORT, 1); }

void end_with_reset(int socket) { set(socket, SOL_SOCKET, SO_LINGER, linger{1, 0}); }

int pending_error(int socket) {
  int error = 0;
  socklen_t size = sizeof error;
  return ::getsockopt(socket, SOL_SOCKET, SO_ERROR, &error, &size) == 0 ? error : errno;
}

class SocketStream final : public Stream, private SetMember {
 public:
  SocketStream(std::shared_ptr<SocketSet> set, runtime::Scheduler& scheduler)
      : SetMember(std::move(set)), scheduler_(scheduler) {}
  ~SocketStream() override { leave_and_close(); }
  /// Once, one of these.
  void begin(const Address& to, const Address& from, StreamUser& user);
  void take(Descriptor accepted, const Address& remote);

  void set_user(StreamUser& user) override { user_ = &user; }
  [[nodiscard]] Address local() const override;
  [[nodiscard]] Address remote() const override { return remote_; }
  std::size_t write(std::span<const wire::Bytes> pieces) override;
  ReadResult read(std::span<const wire::MutableBytes> pieces) override;
  void ask_readable() override;
  void ask_writable() override;
  bool mark_urgent() override { return false; }
  [[nodiscard]] std::optional<std::size_t> segment_octets() const override;
  void separate_writes() override { separate_ = true; }
  void shut_down() override;
  void reset() override;

 private:
  [[nodiscard]] bool usable() const { return up_ && !failed_; }
  [[nodiscard]] int open(const Tcp::endpoint& to, const Address& from);
  [[nodiscard]] int connect();
  void ready(For what) override;
  void connected();
  void own(Descriptor socket);
  void leave_and_close();
  /// Later: nobody may be told where it was noticed.
  void fail(int error) { fail(reason_of(error)); }
  void fail(Reason reason);
  void tell_failure();

  runtime::Scheduler& scheduler_;
  Descriptor socket_;
  StreamUser* user_ = nullptr;
  std::optional<runtime::drivers::LinkDescriptor> known_;  // while it is open
  Address asked_local_{}, remote_{};
  mutable std::optional<Address> local_;                  // once somebody asked
  bool has_address_ = false, up_ = false, shut_ = false;  // the first: bind() gave it
  bool separate_ = false;                                 // writes end segments
  std::optional<Reason> failed_;
  runtime::Timer<SocketStream, &SocketStream::connected> connected_event_{*this};
  runtime::Timer<SocketStream, &SocketStream::tell_failure> failure_event_{*this};
};

void SocketStream::own(Descriptor socket) {
  socket_ = std::move(socket);
  known_.emplace(socket_.number());
}

int SocketStream::open(const Tcp::endpoint& to, const Address& from) {
  own(Descriptor(::socket(to.protocol().family(), SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, IPPROTO_TCP)));
  if (!socket_) return errno;
  prepare_stream(socket_.number());
  if (from == Address{}) return 0;
  if (from.port == 0) let_connect_choose_port(socket_.number());
  Tcp::endpoint own = endpoint_of(from);
  if (from.ip.is_unspecified()) own = {to.protocol(), from.port};
  has_address_ = ::bind(socket_.number(), own.data(), static_cast<socklen_t>(own.size())) == 0;
  return has_address_ ? 0 : errno;
}

int SocketStream::connect() {
  const Tcp::endpoint to = endpoint_of(remote_);
  return ::connect(socket_.number(), to.data(), static_cast<socklen_t>(to.size())) == 0 ? 0 : errno;
}

// Within a host the other end's kernel has answered by the time that the second call asks.
void SocketStream::begin(const Address& to, const Address& from, StreamUser& user) {
  user_ = &user;
  remote_ = to;
  asked_local_ = from;
  int error = open(endpoint_of(to), from);
  if (error == 0) error = connect();
  if (error == EINPROGRESS) error = connect();
  const bool under_way = error == EALREADY || error == EINPROGRESS;
  if (error == EADDRNOTAVAIL && has_address_) return fail(Reason::no_resources);  // it is the port that is lacking
  if (error != 0 && !under_way) return fail(error);
  if (!join(socket_.number(), under_way ? For::writing : For::reading)) return fail(errno);
  under_way ? ask(For::writing) : scheduler_.schedule(connected_event_, scheduler_.now());
}

void SocketStream::connected() {
  if (const int error = pending_error(socket_.number()); error != 0) return fail(error);
  up_ = true;
  if (remote_.ip.is_unspecified()) remote_ = remote_address_of(socket_.number()).value_or(remote_);
  if (user_ != nullptr) user_->connected();
}

void SocketStream::take(Descriptor accepted, const Address& remote) {
  own(std::move(accepted));
  remote_ = remote;
  if (!join(socket_.number(), For::reading)) return fail(errno);
  up_ = true;
}

Address SocketStream::local() const {
  if (!up_) return asked_local_;
  if (!local_) local_ = local_address_of(socket_.number()).value_or(asked_local_);
  return *local_;
}

// A call that took less than all of its pieces says that there is no more room.
std::size_t SocketStream::write(std::span<const wire::Bytes> pieces) {
  assert(!shut_ && "nothing is written after shut_down()");
  std::size_t taken = 0;
  while (usable() && !pieces.empty()) {
    const bool last = pieces.size() <= pieces_at_once;
    const ssize_t count = send(socket_.number(), pieces, last ? (separate_ ? MSG_EOR : 0) : MSG_MORE);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0 && errno != EAGAIN && errno != EFAULT) fail(errno);
    if (count > 0) taken += static_cast<std::size_t>(count);
    if (count < 0 || static_cast<std::size_t>(count) < octets_in(pieces)) break;
    pieces = pieces.subspan(std::min(pieces.size(), pieces_at_once));
  }
  return taken;
}

ReadResult SocketStream::read(std::span<const wire::MutableBytes> pieces) {
  ReadResult result;
  while (usable() && octets_in(pieces) > 0) {
    const ssize_t count = receive(socket_.number(), pieces);
    if (count < 0 && errno == EINTR) continue;
    result.fault = count < 0 && errno == EFAULT;
    if (count < 0 && errno != EAGAIN && !result.fault) fail(errno);
    result.end = count == 0;
    if (count > 0) result.octets += static_cast<std::size_t>(count);
    if (count <= 0 || static_cast<std::size_t>(count) < octets_in(pieces)) break;
    pieces = pieces.subspan(std::min(pieces.size(), pieces_at_once));
  }
  return result;
}

void SocketStream::ask_readable() {
  if (usable()) ask(For::reading);
}

void SocketStream::ask_writable() {
  if (usable()) ask(For::writing);
}

void SocketStream::ready(For what) {
  if (!up_ && !failed_) return connected();
  if (user_ == nullptr || failed_) return;
  what == For::reading ? user_->readable() : user_->writable();
}

/// Without TCP's options: time stamps take room in each segment.
std::optional<std::size_t> SocketStream::segment_octets() const {
  int octets = 0;
  socklen_t size = sizeof octets;
  if (!usable() || ::getsockopt(socket_.number(), IPPROTO_TCP, TCP_MAXSEG, &octets, &size) != 0 || octets <= 0)
    return std::nullopt;
  return static_cast<std::size_t>(octets);
}

void SocketStream::shut_down() {
  if (!usable() || std::exchange(shut_, true)) return;
  ::shutdown(socket_.number(), SHUT_WR);
}

void SocketStream::reset() {
  if (socket_) end_with_reset(socket_.number());
  leave_and_close();
}

void SocketStream::leave_and_close() {
  user_ = nullptr;
  up_ = false;
  failed_ = Reason::failed;
  scheduler_.cancel(connected_event_);
  scheduler_.cancel(failure_event_);
  leave();
  known_.reset();
  Descriptor closed;
  std::swap(closed, socket_);
}

void SocketStream::fail(Reason reason) {
  if (failed_) return;
  failed_ = reason;
  scheduler_.schedule(failure_event_, scheduler_.now());
}

void SocketStream::tell_failure() {
  if (user_ != nullptr) user_->closed(*failed_);
}

/// A listening socket, kept until no accept() of it is under way.
class Acceptor : public std::enable_shared_from_this<Acceptor>, private SetMember {
 public:
  Acceptor(std::shared_ptr<SocketSet> set, runtime::Scheduler& scheduler, ListenerUser& user)
      : SetMember(set), set_(std::move(set)), scheduler_(scheduler), user_(&user) {}
  ~Acceptor() override { close(); }
  [[nodiscard]] Error open(const Address& at);
  void close();
  [[nodiscard]] Address address() const { return address_; }

 private:
  void ready(For) override;
  /// False: none is left, or the user wants none any more.
  [[nodiscard]] bool accept();
  void wait() { ask(For::reading); }

  std::shared_ptr<SocketSet> set_;
  runtime::Scheduler& scheduler_;
  ListenerUser* user_;
  Descriptor socket_;
  Address address_{};
  std::optional<runtime::drivers::LinkDescriptor> known_;
  runtime::Timer<Acceptor, &Acceptor::wait> again_{*this};
};

Error Acceptor::open(const Address& at) {
  auto socket = listening_socket(at);
  if (!socket) return socket.error();
  socket_ = std::move(*socket);
  known_.emplace(socket_.number());
  address_ = local_address_of(socket_.number()).value_or(at);
  if (!join(socket_.number(), For::reading)) return {errno, boost::system::system_category()};
  wait();
  return {};
}

void Acceptor::ready(For) {
  const auto self = shared_from_this();  // the user may let go
  for (int accepted = 0; accepted < accepts_at_once && accept(); ++accepted) {}
  if (user_ != nullptr && !again_.pending()) wait();
}

bool Acceptor::accept() {
  Tcp::endpoint remote;
  auto size = static_cast<socklen_t>(remote.capacity());
  Descriptor accepted(::accept4(socket_.number(), remote.data(), &size, SOCK_NONBLOCK | SOCK_CLOEXEC));
  if (!accepted) {
    const int error = errno;
    if (error == EAGAIN || error == ECONNABORTED || error == EINTR) return error != EAGAIN;
    const Reason reason = reason_of(error);
    if (reason == Reason::no_resources) scheduler_.schedule_after(again_, accept_pause);
    user_->accept_failed(reason);
    return false;
  }
  remote.resize(size);
  auto stream = std::make_unique<SocketStream>(set_, scheduler_);
  stream->take(std::move(accepted), address_of(remote));
  user_->accepted(std::move(stream));
  return user_ != nullptr;
}

void Acceptor::close() {
  user_ = nullptr;
  scheduler_.cancel(again_);
  leave();
  known_.reset();
  Descriptor closed;
  std::swap(closed, socket_);
}

class SocketListener final : public Listener {
 public:
  explicit SocketListener(std::shared_ptr<Acceptor> acceptor) : acceptor_(std::move(acceptor)) {}
  ~SocketListener() override { acceptor_->close(); }
  [[nodiscard]] Address address() const override { return acceptor_->address(); }

 private:
  std::shared_ptr<Acceptor> acceptor_;
};

}  // namespace

SocketStreams::SocketStreams(boost::asio::io_context& io, runtime::CoreGuard& guard, runtime::Scheduler& scheduler)
    : set_(std::make_shared<SocketSet>(io, guard)), scheduler_(scheduler) {}

SocketStreams::~SocketStreams() { set_->close(); }

std::unique_ptr<Stream> SocketStreams::adopt(runtime::drivers::Descriptor accepted) {
  const auto remote = remote_address_of(accepted.number());
  if (!remote) return nullptr;
  prepare_stream(accepted.number());
  ::fcntl(accepted.number(), F_SETFD, FD_CLOEXEC);
  ::fcntl(accepted.number(), F_SETFL, O_NONBLOCK);
  return take(std::move(accepted), *remote);
}

std::unique_ptr<Stream> SocketStreams::take(runtime::drivers::Descriptor accepted, const Address& remote) {
  auto stream = std::make_unique<SocketStream>(set_, scheduler_);
  stream->take(std::move(accepted), remote);
  return stream;
}

std::unique_ptr<Stream> SocketStreams::connect(const Address& to, const Address& from, StreamUser& user) {
  auto stream = std::make_unique<SocketStream>(set_, scheduler_);
  stream->begin(to, from, user);
  return stream;
}

boost::system::result<std::unique_ptr<Listener>, Reason> SocketStreams::listen(const Address& at, ListenerUser& user) {
  auto acceptor = std::make_shared<Acceptor>(set_, scheduler_, user);
  if (const Error error = acceptor->open(at)) return reason_of(error.value());
  return std::unique_ptr<Listener>(std::make_unique<SocketListener>(std::move(acceptor)));
}

}  // namespace streams::drivers
