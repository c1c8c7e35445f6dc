#include "tools/vitcp_portd/listener.hpp"

#include <spdlog/spdlog.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "streams/drivers/listening_socket.hpp"
#include "tools/vitcp_portd/port_owner.hpp"
#include "vitcp/drivers/place.hpp"

namespace vitcp_portd {
using runtime::CoreSection;

namespace {
constexpr int accepted_at_once = 64;  // then what came has its turn
// For a process that takes streams itself: longer than it takes one that runs, too short to be noticed if it does not.
constexpr runtime::TimeNs moment = 2 * runtime::millisecond;
constexpr runtime::TimeNs try_again = 250 * runtime::millisecond;  // somebody else has the port
// For the processes that kept the socket of an earlier service to bring it.
constexpr runtime::TimeNs kept_is_brought = 500 * runtime::millisecond;
// Who has the port is looked for less and less often, while the answer of bind() is the same.
constexpr runtime::TimeNs longest_look_interval = 30 * runtime::second;

bool listens_at(int socket, const streams::Address& at) {
  int accepts = 0;
  socklen_t size = sizeof accepts;
  return ::getsockopt(socket, SOL_SOCKET, SO_ACCEPTCONN, &accepts, &size) == 0 && accepts != 0 &&
         streams::drivers::local_address_of(socket) == at;
}
}  // namespace

Listener::Listener(runtime::drivers::RealTimeCore& core, const streams::Address& at,
                   const runtime::drivers::RuntimeDirectory& directory, ListenerUser& user)
    : core_(core), at_(at), directory_(directory), user_(user), watched_(core.io()), started_at_(core.now()) {}

void Listener::attempt() {
  if (socket_ || closed_) return;
  auto socket = streams::drivers::listening_socket(at_);
  if (!socket) return failed(socket.error().value());
  if (const int error = use(std::move(*socket)); error != 0) return failed(error);
  user_.listens();
}

void Listener::failed(int error) {
  core_.scheduler().schedule_after(again_, try_again);
  const bool is_new = std::exchange(failure_, error) != error;
  if (!is_new && core_.now() < look_at_) return;
  look_interval_ = is_new ? kept_is_brought : std::min(2 * look_interval_, longest_look_interval);
  look_at_ = core_.now() + look_interval_;
  look_who_has_it(error);
}

void Listener::look_who_has_it(int error) {
  const bool in_use = error == EADDRINUSE;
  const auto owner = in_use ? owner_of(at_) : std::nullopt;
  const bool may_be_kept = in_use && owner == ::geteuid() && core_.now() - started_at_ < kept_is_brought;
  if (!may_be_kept) tell(listen_trouble(at_, error, owner, in_use ? neighbour() : std::nullopt));
}

void Listener::tell(const std::string& trouble) {
  if (told_ == trouble) return;
  told_ = trouble;
  spdlog::error("{}", trouble);
  user_.cannot_listen(trouble);
}

std::optional<streams::Address> Listener::neighbour() const {
  for (const streams::Address& other : vitcp::drivers::known_ports(directory_)) {
    if (other.port != at_.port || other == at_) continue;
    const auto place = vitcp::drivers::port_place(directory_, other);
    if (const Descriptor found(runtime::drivers::connect_to_service(place, SOCK_SEQPACKET)); found) return other;
  }
  return std::nullopt;
}

bool Listener::offer(Descriptor kept) {
  if (socket_ || closed_ || !kept || !listens_at(kept.number(), at_)) return false;
  if (use(std::move(kept)) != 0) return false;
  core_.scheduler().cancel(again_);
  spdlog::info("goes on with the socket of an earlier service");
  return true;
}

int Listener::use(Descriptor socket) {
  socket_ = std::move(socket);
  const int error = await();
  if (error != 0) socket_ = Descriptor();
  return error;
}

int Listener::await() {
  if (closed_) return 0;
  boost::system::error_code failure;
  if (!watched_.is_open()) watched_.assign(socket_.number(), failure);
  if (failure) return failure.value();
  watched_.async_wait(watched_.wait_read, [this](const boost::system::error_code& error) {
    if (error) return;
    const CoreSection section(core_);
    if (!closed_) came();
  });
  return 0;
}

// Where another takes what comes the socket is not watched for that moment: else each connection would wake this
// process.
void Listener::came() {
  if (!user_.others_take()) return accept();
  static_cast<void>(watched_.release());
  core_.scheduler().schedule_after(moment_, moment);
}

void Listener::hurry() {
  if (!moment_.pending()) return;
  core_.scheduler().cancel(moment_);
  accept();
}

void Listener::accept() {
  for (int i = 0; i < accepted_at_once; ++i) {
    boost::asio::ip::tcp::endpoint from;
    auto size = static_cast<socklen_t>(from.capacity());
    Descriptor stream(::accept4(socket_.number(), from.data(), &size, SOCK_NONBLOCK | SOCK_CLOEXEC));
    if (!stream && errno == EAGAIN) break;
    if (!stream && (errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM)) {
      const int error = errno;
      if (no_room_log_.allows(core_.now())) spdlog::error("cannot accept a connection: {}", std::strerror(error));
      return core_.scheduler().schedule_after(pause_, longest_pause);
    }
    if (!stream) continue;  // accept(2): an error of the network is one of that connection
    from.resize(size);
    user_.accepted(std::move(stream), streams::drivers::address_of(from).ip);
  }
  go_on();
}

void Listener::close() {
  closed_ = true;
  core_.scheduler().cancel(moment_);
  core_.scheduler().cancel(pause_);
  if (watched_.is_open()) static_cast<void>(watched_.release());
  socket_ = Descriptor();
}

}  // namespace vitcp_portd
