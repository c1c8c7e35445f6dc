#include "streams/drivers/socket_streams.hpp"

#include <fcntl.h>
#include <sys/socket.h>

#include <array>
#include <boost/asio/bind_allocator.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <cassert>
#include <cerrno>

#include "runtime/drivers/link_descriptor.hpp"
#include "streams/drivers/handler_memory.hpp"
#include "streams/drivers/listening_socket.hpp"

namespace streams::drivers {
namespace {

using Tcp = boost::asio::ip::tcp;
using Error = boost::system::error_code;
constexpr std::size_t pieces_at_once = 64;  // of one system call; what is left goes with the next
constexpr runtime::TimeNs accept_pause = 100 * runtime::millisecond;

Reason reason_of(int error) {
  switch (error) {
    case ECONNREFUSED: return Reason::refused;
    case EHOSTUNREACH:
    case ENETUNREACH:
    case ENETDOWN: return Reason::unreachable;
    case ETIMEDOUT: return Reason::timed_out;
    case ECONNRESET:
    case EPIPE:
    case ECONNABORTED: return Reason::reset;
    case EADDRINUSE: return Reason::address_in_use;
    case EADDRNOTAVAIL: return Reason::no_such_address;
    case EACCES:
    case EPERM: return Reason::not_permitted;
    case EMFILE:
    case ENFILE:
    case ENOBUFS:
    case ENOMEM: return Reason::no_resources;
    default: return Reason::failed;
  }
}

void stay_with_this_program(int descriptor) { ::fcntl(descriptor, F_SETFD, FD_CLOEXEC); }

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

/// The socket, shared with the handlers that wait for it.
class Socket : public std::enable_shared_from_this<Socket> {
 public:
  Socket(Tcp::socket socket, runtime::CoreGuard& guard, runtime::Scheduler& scheduler)
      : socket_(std::move(socket)), guard_(guard), scheduler_(scheduler) {}

  void set_user(StreamUser& user) { user_ = &user; }
  [[nodiscard]] Address local() const { return local_; }
  [[nodiscard]] Address remote() const { return remote_; }
  void begin(const Address& to, const Address& from);
  void accepted();
  std::size_t write(std::span<const wire::Bytes> pieces);
  ReadResult read(std::span<const wire::MutableBytes> pieces);
  void ask_readable();
  void ask_writable();
  void shut_down();
  void close(bool with_reset);

 private:
  [[nodiscard]] bool usable() const { return up_ && !failed_; }
  void prepare();
  void open(const Tcp::endpoint& to, const Address& from, Error& error);
  void connected(const Error& error);
  void learn_addresses();
  ssize_t send(std::span<const wire::Bytes> pieces);
  ssize_t receive(std::span<const wire::MutableBytes> pieces);
  /// Later: nobody may be told where it was noticed.
  void fail(int error);
  void tell_failure();

  Tcp::socket socket_;
  runtime::CoreGuard& guard_;
  runtime::Scheduler& scheduler_;
  StreamUser* user_ = nullptr;
  std::optional<runtime::drivers::LinkDescriptor> known_;  // while it is open
  Address local_{}, remote_{};
  bool up_ = false, shut_ = false, reads_wait_ = false, writes_wait_ = false;
  std::optional<Reason> failed_;
  HandlerMemory read_memory_, write_memory_;
  runtime::Timer<Socket, &Socket::tell_failure> failure_event_{*this};
};

void Socket::prepare() {
  known_.emplace(socket_.native_handle());
  stay_with_this_program(socket_.native_handle());
  Error ignored;
  socket_.non_blocking(true, ignored);
  socket_.set_option(Tcp::no_delay(true), ignored);
  socket_.set_option(boost::asio::detail::socket_option::boolean<SOL_SOCKET, SO_OOBINLINE>(true), ignored);
}

void Socket::open(const Tcp::endpoint& to, const Address& from, Error& error) {
  socket_.open(to.protocol(), error);
  if (error) return;
  prepare();
  if (from == Address{}) return;
  Tcp::endpoint own = endpoint_of(from);
  if (from.ip.is_unspecified()) own = {to.protocol(), from.port};
  socket_.bind(own, error);
}

void Socket::begin(const Address& to, const Address& from) {
  remote_ = to;
  local_ = from;
  const Tcp::endpoint endpoint = endpoint_of(to);
  Error error;
  open(endpoint, from, error);
  if (error) return fail(error.value());
  socket_.async_connect(endpoint, [self = shared_from_this()](const Error& failure) {
    if (!self->socket_.is_open()) return;  // given up
    const runtime::CoreSection section(self->guard_);
    self->connected(failure);
  });
}

void Socket::connected(const Error& error) {
  if (!socket_.is_open()) return;  // given up while this waited for the core
  if (error) return fail(error.value());
  up_ = true;
  learn_addresses();
  if (user_ != nullptr) user_->connected();
}

void Socket::accepted() {
  prepare();
  up_ = true;
  learn_addresses();
}

void Socket::learn_addresses() {
  Error error;
  if (const Tcp::endpoint own = socket_.local_endpoint(error); !error) local_ = address_of(own);
  if (const Tcp::endpoint other = socket_.remote_endpoint(error); !error) remote_ = address_of(other);
}

ssize_t Socket::send(std::span<const wire::Bytes> pieces) {
  std::array<iovec, pieces_at_once> vectors;
  msghdr message{};
  message.msg_iovlen = fill(vectors, pieces);
  message.msg_iov = vectors.data();
  return ::sendmsg(socket_.native_handle(), &message, MSG_NOSIGNAL | MSG_DONTWAIT);
}

// A call that took less than all of its pieces says that there is no more room.
std::size_t Socket::write(std::span<const wire::Bytes> pieces) {
  assert(!shut_ && "nothing is written after shut_down()");
  std::size_t taken = 0;
  while (usable() && !pieces.empty()) {
    const ssize_t count = send(pieces);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0 && errno != EAGAIN && errno != EFAULT) fail(errno);
    if (count > 0) taken += static_cast<std::size_t>(count);
    if (count < 0 || static_cast<std::size_t>(count) < octets_in(pieces)) break;
    pieces = pieces.subspan(std::min(pieces.size(), pieces_at_once));
  }
  return taken;
}

ssize_t Socket::receive(std::span<const wire::MutableBytes> pieces) {
  std::array<iovec, pieces_at_once> vectors;
  msghdr message{};
  message.msg_iovlen = fill(vectors, pieces);
  message.msg_iov = vectors.data();
  return ::recvmsg(socket_.native_handle(), &message, MSG_DONTWAIT);
}

ReadResult Socket::read(std::span<const wire::MutableBytes> pieces) {
  ReadResult result;
  while (usable() && octets_in(pieces) > 0) {
    const ssize_t count = receive(pieces);
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

void Socket::ask_readable() {
  if (!usable() || std::exchange(reads_wait_, true)) return;
  auto handler = [self = shared_from_this()](const Error& error) {
    if (error) return;  // closed
    const runtime::CoreSection section(self->guard_);
    self->reads_wait_ = false;
    if (self->user_ != nullptr && !self->failed_) self->user_->readable();
  };
  socket_.async_wait(Tcp::socket::wait_read,
                     boost::asio::bind_allocator(HandlerAllocator<>(read_memory_), std::move(handler)));
}

void Socket::ask_writable() {
  if (!usable() || std::exchange(writes_wait_, true)) return;
  auto handler = [self = shared_from_this()](const Error& error) {
    if (error) return;  // closed
    const runtime::CoreSection section(self->guard_);
    self->writes_wait_ = false;
    if (self->user_ != nullptr && !self->failed_) self->user_->writable();
  };
  socket_.async_wait(Tcp::socket::wait_write,
                     boost::asio::bind_allocator(HandlerAllocator<>(write_memory_), std::move(handler)));
}

void Socket::shut_down() {
  if (!usable() || std::exchange(shut_, true)) return;
  ::shutdown(socket_.native_handle(), SHUT_WR);
}

void Socket::close(bool with_reset) {
  user_ = nullptr;
  scheduler_.cancel(failure_event_);
  known_.reset();
  Error ignored;
  if (with_reset && socket_.is_open()) socket_.set_option(boost::asio::socket_base::linger(true, 0), ignored);
  socket_.close(ignored);
}

void Socket::fail(int error) {
  if (failed_) return;
  failed_ = reason_of(error);
  scheduler_.schedule(failure_event_, scheduler_.now());
}

void Socket::tell_failure() {
  const auto self = shared_from_this();  // the user may let go
  if (user_ != nullptr) user_->closed(*failed_);
}

class SocketStream final : public Stream {
 public:
  explicit SocketStream(std::shared_ptr<Socket> socket) : socket_(std::move(socket)) {}
  ~SocketStream() override { socket_->close(false); }
  void set_user(StreamUser& user) override { socket_->set_user(user); }
  [[nodiscard]] Address local() const override { return socket_->local(); }
  [[nodiscard]] Address remote() const override { return socket_->remote(); }
  std::size_t write(std::span<const wire::Bytes> pieces) override { return socket_->write(pieces); }
  ReadResult read(std::span<const wire::MutableBytes> pieces) override { return socket_->read(pieces); }
  void ask_readable() override { socket_->ask_readable(); }
  void ask_writable() override { socket_->ask_writable(); }
  bool mark_urgent() override { return false; }
  void shut_down() override { socket_->shut_down(); }
  void reset() override { socket_->close(true); }

 private:
  std::shared_ptr<Socket> socket_;
};

class Acceptor : public std::enable_shared_from_this<Acceptor> {
 public:
  Acceptor(boost::asio::io_context& io, runtime::CoreGuard& guard, runtime::Scheduler& scheduler, ListenerUser& user)
      : acceptor_(io), guard_(guard), scheduler_(scheduler), user_(&user) {}
  Error open(const Address& at);
  void wait();
  void close();
  [[nodiscard]] Address address() const { return address_; }

 private:
  void accept();
  void took(Tcp::socket socket);

  Tcp::acceptor acceptor_;
  runtime::CoreGuard& guard_;
  runtime::Scheduler& scheduler_;
  ListenerUser* user_;
  Address address_{};
  std::optional<runtime::drivers::LinkDescriptor> known_;
  runtime::Timer<Acceptor, &Acceptor::wait> again_{*this};
};

Error Acceptor::open(const Address& at) {
  auto socket = listening_socket(at);
  if (!socket) return socket.error();
  Error error;
  acceptor_.assign(endpoint_of(at).protocol(), socket->number(), error);
  if (error) return error;
  known_.emplace(socket->release());
  acceptor_.non_blocking(true, error);
  address_ = address_of(acceptor_.local_endpoint(error));
  return error;
}

void Acceptor::wait() {
  acceptor_.async_wait(Tcp::acceptor::wait_read, [self = shared_from_this()](const Error& error) {
    if (error) return;  // closed
    const runtime::CoreSection section(self->guard_);
    self->accept();
  });
}

void Acceptor::accept() {
  if (user_ == nullptr) return;
  Error error;
  Tcp::socket socket(acceptor_.get_executor());
  acceptor_.accept(socket, error);
  const auto self = shared_from_this();  // the user may let go
  if (!error)
    took(std::move(socket));
  else if (error != boost::asio::error::would_block && error != boost::asio::error::connection_aborted)
    user_->accept_failed(reason_of(error.value()));
  if (user_ == nullptr) return;
  if (reason_of(error.value()) == Reason::no_resources && error) return scheduler_.schedule_after(again_, accept_pause);
  wait();
}

void Acceptor::took(Tcp::socket socket) {
  auto shared = std::make_shared<Socket>(std::move(socket), guard_, scheduler_);
  shared->accepted();
  user_->accepted(std::make_unique<SocketStream>(std::move(shared)));
}

void Acceptor::close() {
  user_ = nullptr;
  scheduler_.cancel(again_);
  known_.reset();
  Error ignored;
  acceptor_.close(ignored);
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

std::unique_ptr<Stream> SocketStreams::adopt(runtime::drivers::Descriptor accepted) {
  const auto local = local_address_of(accepted.number());
  Tcp::socket socket(io_);
  Error error;
  if (local) socket.assign(endpoint_of(*local).protocol(), accepted.number(), error);
  if (!local || error) return nullptr;
  static_cast<void>(accepted.release());
  auto shared = std::make_shared<Socket>(std::move(socket), guard_, scheduler_);
  shared->accepted();
  return std::make_unique<SocketStream>(std::move(shared));
}

std::unique_ptr<Stream> SocketStreams::connect(const Address& to, const Address& from, StreamUser& user) {
  auto socket = std::make_shared<Socket>(Tcp::socket(io_), guard_, scheduler_);
  socket->set_user(user);
  socket->begin(to, from);
  return std::make_unique<SocketStream>(std::move(socket));
}

boost::system::result<std::unique_ptr<Listener>, Reason> SocketStreams::listen(const Address& at, ListenerUser& user) {
  auto acceptor = std::make_shared<Acceptor>(io_, guard_, scheduler_, user);
  if (const Error error = acceptor->open(at)) {
    acceptor->close();
    return reason_of(error.value());
  }
  acceptor->wait();
  return std::unique_ptr<Listener>(std::make_unique<SocketListener>(std::move(acceptor)));
}

}  // namespace streams::drivers
