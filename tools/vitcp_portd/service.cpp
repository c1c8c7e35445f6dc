#include "tools/vitcp_portd/service.hpp"

#include <fmt/format.h>
#include <spdlog/spdlog.h>
#include <sys/socket.h>
#include <unistd.h>

#include <boost/asio/post.hpp>

#include <cerrno>
#include <csignal>
#include <cstring>

#include "streams/drivers/listening_socket.hpp"
#include "tools/vitcp_portd/status.hpp"

namespace vitcp_portd {
using runtime::CoreSection;

namespace {
constexpr runtime::TimeNs admit_pause = 100 * runtime::millisecond;  // when no descriptor is left
}

Service::Service(boost::asio::io_context& io, services::Instance instance, const ServiceConfig& config)
    : io_(io), instance_(std::move(instance)), config_(config), core_(io), started_at_(core_.now()),
      sockets_(std::make_shared<streams::drivers::SocketSet>(io, core_)),
      port_(core_.scheduler(), config.limits, *this),
      listener_(core_, config.listen, instance_.place().directory(), *this),
      session_listener_(io, instance_.listener()), signals_(io, SIGTERM, SIGINT) {
  const CoreSection section(core_);
  listener_.start();
  await_sessions();
  await_signals();
  client_count_changed();
}

Service::~Service() {
  sessions_.clear();
  sockets_->close();
  for (auto& [id, stream] : streams_) stream->close();
}

void Service::stop(const std::string& reason) {
  if (std::exchange(stopping_, true)) return;
  spdlog::info("ends: {}", reason);
  instance_.remove_socket();
  boost::system::error_code ignored;
  session_listener_.close(ignored);
  signals_.cancel(ignored);
  listener_.close();
  boost::asio::post(io_, [this] { io_.stop(); });
}

void Service::await_signals() {
  signals_.async_wait([this](const boost::system::error_code& error, int signal) {
    if (error) return;
    const CoreSection section(core_);
    stop(std::string("signal ") + ::strsignal(signal));
  });
}

// --- the port ------------------------------------------------------------------------------------------------------

void Service::listens() {
  if (!std::exchange(ever_listened_, true)) spdlog::info("listens at {}", to_string(config_.listen));
  state_ = {.listens = true};
  tell_all();
}

void Service::cannot_listen(const std::string& trouble) {
  state_ = {.listens = false, .trouble = trouble};
  tell_all();
}

void Service::tell_all() {
  state_known_ = true;
  const auto clients = clients_;  // one may go while it is told
  for (const auto& [id, session] : clients) session->tell(state_, listener_.socket());
}

// Where its other end connected to; of one that is gone already, nowhere.
static vitcp::port_service::Ends ends_of(int socket, const wire::IpAddress& from) {
  const auto own = streams::drivers::local_address_of(socket);
  return {from, own ? own->ip : wire::IpAddress{}};
}

void Service::accepted(Descriptor stream, const wire::IpAddress& from) {
  const auto ends = ends_of(stream.number(), from);
  IncomingStream& added = add_stream(std::move(stream), from);
  port_.accepted(last_stream_, ends);
  added.look();
}

// What a process gives may be anything that is open.
void Service::given_back(Descriptor stream) {
  const auto sender = streams::drivers::remote_address_of(stream.number());
  if (!sender) return;
  const auto ends = ends_of(stream.number(), sender->ip);
  IncomingStream& added = add_stream(std::move(stream), sender->ip);
  port_.returned(last_stream_, ends);
  added.look();
}

// Who waits alone takes what comes: the service would only be one step more on the way. Of several, which wait for
// different requests, none may look at all streams. While nobody waits the last one may still: it will again.
void Service::waits_changed() {
  if (port_.waiters().size() == 0) return;
  const auto only = clients_.find(port_.waiters().only_client().value_or(0));
  const ClientId taker = only != clients_.end() && only->second->may_be_let_take() ? only->first : 0;
  if (taker == taker_) return;
  const ClientId before = std::exchange(taker_, taker);
  if (const auto found = clients_.find(before); found != clients_.end()) found->second->let_take(false);
  if (const auto found = clients_.find(taker); found != clients_.end()) found->second->let_take(true);
  if (taker == 0) listener_.hurry();
}

IncomingStream& Service::add_stream(Descriptor stream, const wire::IpAddress& from) {
  auto added = std::make_shared<IncomingStream>(core_, port_, ++last_stream_, std::move(stream), from);
  return *(streams_[last_stream_] = std::move(added));
}

// What was sent is the process's alone: the copy here is closed at once.
bool Service::hand_over(ConnectionId stream, const vitcp::port_service::Waiter& waiter) {
  const auto client = clients_.find(waiter.client);
  const auto found = streams_.find(stream);
  if (client == clients_.end() || found == streams_.end()) return false;
  if (!client->second->hand_over(waiter.id, found->second->prepared_socket())) return false;
  close(stream);
  return true;
}

void Service::refuse(ConnectionId stream, wire::vitcp::SegmentType type) {
  if (const auto found = streams_.find(stream); found != streams_.end()) found->second->refuse(type);
}

void Service::close(ConnectionId stream) {
  const auto found = streams_.find(stream);
  if (found == streams_.end()) return;
  found->second->close();
  streams_.erase(found);
}

// --- processes -----------------------------------------------------------------------------------------------------

void Service::await_sessions() {
  if (stopping_) return;
  session_listener_.async_wait(session_listener_.wait_read, [this](const boost::system::error_code& error) {
    if (error) return;
    const CoreSection section(core_);
    accept_sessions();
  });
}

void Service::accept_sessions() {
  while (!stopping_) {
    Descriptor link(::accept4(session_listener_.native_handle(), nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC));
    if (!link && (errno == EAGAIN || errno == EINTR || errno == ECONNABORTED)) break;
    if (!link) {
      const int error = errno;
      if (no_room_log_.allows(core_.now()))
        spdlog::error("cannot accept the link of a process: {}", std::strerror(error));
      return core_.scheduler().schedule_after(accept_pause_, admit_pause);
    }
    const ClientId id = ++last_session_;
    if (runtime::drivers::is_own_user(link.number()) && sessions_.size() < config_.max_sessions)
      sessions_[id] = std::make_unique<Session>(*this, core_, sockets_, id, std::move(link));
    else
      spdlog::warn("the link of a process was refused: of another user, or one too many");
  }
  await_sessions();
}

void Service::joined(Session& session, Descriptor kept) {
  clients_[session.id()] = &session;
  client_count_changed();
  spdlog::info("process {} ({}) has joined", session.process_id(), session.name());
  if (listener_.offer(std::move(kept))) {
    port_.expect_waiters_until(core_.scheduler().now() + reunion);
    listens();
  } else if (state_known_) {
    session.tell(state_, listener_.socket());
  }
}

void Service::end(Session& session) {
  clients_.erase(session.id());
  port_.client_gone(session.id());
  if (taker_ == session.id()) taker_ = 0;
  listener_.hurry();
  waits_changed();
  ended_.push_back(session.id());
  core_.scheduler().schedule(burial_, core_.scheduler().now());
  client_count_changed();
}

void Service::bury() {
  for (const ClientId id : ended_) sessions_.erase(id);
  ended_.clear();
}

void Service::client_count_changed() {
  if (!clients_.empty() || config_.idle_seconds == 0)
    core_.scheduler().cancel(idle_timer_);
  else if (!idle_timer_.pending())
    core_.scheduler().schedule_after(idle_timer_, config_.idle_seconds * runtime::second);
}

// A process that comes just now finds its link closed without a word, and tries again.
void Service::idle_for_too_long() { stop(fmt::format("no process for {} s", config_.idle_seconds)); }

std::string Service::status() {
  Status status;
  status.listen = config_.listen;
  status.state = state_;
  status.process_id = static_cast<std::uint32_t>(::getpid());
  status.now = core_.scheduler().now();
  status.started_at = started_at_;
  status.limits = config_.limits;
  status.counters = port_.counters();
  status.half_open = port_.half_open();
  for (const auto& [id, session] : clients_)
    status.clients.push_back({id, session->process_id(), session->name(), port_.waiters().count_of(id)});
  status.waiters = port_.waiters().all();
  return to_json(status);
}

}  // namespace vitcp_portd
