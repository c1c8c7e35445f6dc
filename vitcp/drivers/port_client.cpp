#include "vitcp/drivers/port_client.hpp"

#include <sys/socket.h>
#include <unistd.h>

#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <list>

#include "streams/drivers/listening_socket.hpp"
#include "streams/drivers/socket_set.hpp"
#include "vitcp/drivers/place.hpp"
#include "vitcp/drivers/record_link.hpp"
#include "vitcp/port_service/first_segment.hpp"

namespace vitcp::drivers {
using namespace port_service;  // records

namespace {
using Clock = std::chrono::steady_clock;
using namespace std::chrono_literals;
using runtime::drivers::LinkDescriptor;
using runtime::drivers::RuntimeDirectory;
using runtime::drivers::ServiceConnector;

/// What accept() says while connections wait for which this process has no room.
bool no_file_is_left(int error) { return error == EMFILE || error == ENFILE || error == ENOBUFS || error == ENOMEM; }

constexpr auto first_retry = 2ms, longest_retry = 200ms, retry_when_refused = 1000ms;
constexpr auto welcome_limit = 5000ms;  // somebody listens, but does not answer

/// The child of a fork() closes its own.
class KeptSocket {
 public:
  explicit KeptSocket(Descriptor socket) : socket_(std::move(socket)), known_(std::in_place, socket_.number()) {}
  [[nodiscard]] Descriptor copy() const { return socket_.duplicate(); }
  /// It is kept no longer.
  [[nodiscard]] Descriptor release() {
    known_.reset();
    return std::move(socket_);
  }

 private:
  Descriptor socket_;
  std::optional<LinkDescriptor> known_;
};
}  // namespace

constexpr int most_taken_at_once = 16;       // then others have their turn
constexpr std::size_t most_looked_at = 16;   // streams that were taken and are not known yet
constexpr std::size_t most_given_back = 64;  // records that a service which does not run has not read
constexpr runtime::TimeNs known_by_then = 10 * runtime::millisecond;
constexpr runtime::TimeNs spare_time = 5 * runtime::millisecond;

/// A socket that tells its owner when it can be read.
template <class Owner>
class Watched final : private streams::drivers::SetMember {
 public:
  using Told = void (Owner::*)(Watched&);
  Watched(const std::shared_ptr<streams::drivers::SocketSet>& sockets, Descriptor socket, Owner& owner, Told told)
      : SetMember(sockets), socket_(std::move(socket)), known_(socket_.number()), owner_(owner), told_(told),
        joined_(join(socket_.number(), For::reading)) {}
  ~Watched() override { leave(); }
  [[nodiscard]] bool joined() const { return joined_; }
  void ask() { SetMember::ask(For::reading); }
  [[nodiscard]] int number() const { return socket_.number(); }
  /// It is watched no longer.
  [[nodiscard]] Descriptor release() {
    leave();
    return std::move(socket_);
  }

 private:
  void ready(For) override { (owner_.*told_)(*this); }
  Descriptor socket_;
  LinkDescriptor known_;
  Owner& owner_;
  const Told told_;
  const bool joined_;
};

// Lives as long as its handlers. `user_` and `streams_` are looked at while not closed only.
class PortClient::Core final : public RecordLinkUser, public std::enable_shared_from_this<Core> {
 public:
  Core(boost::asio::io_context& io, runtime::CoreGuard& guard, streams::drivers::SocketStreams& streams,
       PortClientOptions options, PortUser& user)
      : io_(io), guard_(guard), streams_(streams), options_(std::move(options)), user_(user), timer_(io) {
    if (options_.process_name.empty()) options_.process_name = program_invocation_short_name;
  }
  void begin() {
    boost::asio::post(io_, [self = shared_from_this()] { self->attempt(); });
  }
  void close();
  WaitId wait(const Wanted& wanted);
  void cancel(WaitId id);
  [[nodiscard]] const PortState& state() const { return state_; }

 private:
  // Outside of the core: the file system is asked, a program is started.
  void attempt();
  ServiceConnector::Outcome connect();
  [[nodiscard]] ServiceConnector::Program program(const RuntimeDirectory& directory) const;
  // Inside.
  void finish(const ServiceConnector::Outcome& outcome);
  void adopt(Descriptor socket);
  void retry_after(Clock::duration delay);
  void give_up_waiting();
  void record_received(RecordKind kind, wire::Bytes body, Descriptor attached) override;
  void link_closed(const std::string& reason) override;
  void drop_link(const std::string& reason);
  [[nodiscard]] bool speaks_older(std::string_view why);
  void welcome(wire::Bytes body, Descriptor attached);
  void hand_over(wire::Bytes body, Descriptor attached);
  // What the process accepts itself.
  using Socket = Watched<Core>;
  void keep(Descriptor listener);
  void take_if_let();
  void take_streams(Socket& listener);
  void look_again(Socket& stream);
  void look_at(Descriptor stream);
  void found(Descriptor stream, const wire::vitcp::CeHeader& request);
  void give_back(Descriptor stream, WaitId id = 0);
  void give_all_back();
  void cancel_spares();
  void tell_over(WaitId id, const Wanted& wanted);
  void set_state(PortState state);

  boost::asio::io_context& io_;
  runtime::CoreGuard& guard_;
  streams::drivers::SocketStreams& streams_;
  PortClientOptions options_;
  PortUser& user_;
  bool closed_ = false, welcome_ = false, refused_ = false;
  PortState state_;
  std::map<WaitId, Wanted> waits_;
  WaitId last_id_ = 0;
  std::optional<KeptSocket> listener_;         // a copy
  bool may_take_ = false;                      // so the service said; it counts once the socket is there
  std::unique_ptr<Socket> taking_;             // another copy of that socket, while it may
  std::list<std::unique_ptr<Socket>> looked_;  // streams that were taken, and whose request has not come yet
  runtime::Timer<Core, &Core::give_all_back> patience_{*this};
  std::list<KeptSocket> for_the_next_;  // streams to give back, while there is no service; no more than were looked at
  std::map<WaitId, Wanted> spares_;     // waits that are over, which the service does not know: most programs wait anew
  runtime::Timer<Core, &Core::cancel_spares> spares_over_{*this};
  std::shared_ptr<RecordLink> link_;
  boost::asio::steady_timer timer_;  // next attempt, or the end of our patience with a service that does not answer
  Clock::duration delay_ = first_retry;
  Clock::time_point without_since_ = Clock::now();
  std::uint16_t version_ = protocol_version;   // of the next Hello
  std::optional<ServiceConnector> connector_;  // of the handlers alone
};

// --- one try to connect, outside of the core -----------------------------------------------------------------------

void PortClient::Core::attempt() {
  {
    const runtime::CoreSection section(guard_);
    if (closed_ || link_ != nullptr) return;
  }
  const ServiceConnector::Outcome outcome = connect();
  const runtime::CoreSection section(guard_);
  finish(outcome);
}

ServiceConnector::Outcome PortClient::Core::connect() {
  ServiceConnector::Outcome outcome;
  const auto directory = RuntimeDirectory::open(options_.runtime_directory, outcome.trouble);
  if (!directory) return outcome;
  const auto place = port_place(*directory, options_.listen);
  outcome.trouble = place.fault();
  if (!outcome.trouble.empty()) return outcome;
  if (!connector_) connector_.emplace(program(*directory), SOCK_SEQPACKET);
  return connector_->connect(place);
}

ServiceConnector::Program PortClient::Core::program(const RuntimeDirectory& directory) const {
  auto program = port_program(options_.service_program);
  program.arguments = {"--daemonize",
                       "--listen",
                       to_string(options_.listen),
                       "--runtime-directory",
                       directory.path(),
                       "--idle-seconds",
                       std::to_string(options_.service_idle_seconds),
                       "--half-open",
                       std::to_string(options_.half_open),
                       "--request-time",
                       std::to_string(options_.request_time / runtime::millisecond) + "ms"};
  program.start = options_.start_service;
  return program;
}

// --- inside the core -----------------------------------------------------------------------------------------------

void PortClient::Core::finish(const ServiceConnector::Outcome& outcome) {
  Descriptor socket(outcome.descriptor);
  if (closed_) return;
  if (socket) return adopt(std::move(socket));
  const bool too_long = Clock::now() - without_since_ >= std::chrono::nanoseconds(options_.connect_limit);
  if (too_long) for_the_next_.clear();
  if (too_long) set_state({.listens = false, .trouble = outcome.trouble});
  retry_after(delay_);
}

void PortClient::Core::retry_after(Clock::duration delay) {
  if (closed_) return;
  delay_ = std::min<Clock::duration>(2 * delay_, longest_retry);
  timer_.expires_after(std::exchange(refused_, false) ? retry_when_refused : delay);
  timer_.async_wait([self = shared_from_this()](const boost::system::error_code& error) {
    if (!error) self->attempt();
  });
}

// What is waited for goes out with the Hello: a service that was started anew has it before it takes a stream.
void PortClient::Core::adopt(Descriptor socket) {
  link_ = RecordLink::make(streams_.sockets(), streams_.scheduler(), std::move(socket), *this);
  link_->send(Hello{.version = version_, .name = options_.process_name}.write(),
              listener_ ? listener_->copy() : Descriptor());
  for (const auto& [id, wanted] : waits_) link_->send(Wait{id, wanted}.write());
  for (KeptSocket& stream : std::exchange(for_the_next_, {})) give_back(stream.release());
  give_all_back();
  timer_.expires_after(welcome_limit);
  timer_.async_wait([self = shared_from_this()](const boost::system::error_code& error) {
    if (error) return;
    const runtime::CoreSection section(self->guard_);
    self->give_up_waiting();
  });
}

void PortClient::Core::give_up_waiting() {
  if (!closed_ && !welcome_ && link_ != nullptr) drop_link("the service of the port does not answer");
}

void PortClient::Core::set_state(PortState state) {
  if (std::exchange(state_, state) != state) user_.port_changed(state_.listens, state_.trouble);
}

void PortClient::Core::record_received(RecordKind kind, wire::Bytes body, Descriptor attached) {
  const auto self = shared_from_this();  // the user may let go
  if (kind == RecordKind::welcome) return welcome(body, std::move(attached));
  if (kind == RecordKind::hand_over && welcome_) return hand_over(body, std::move(attached));
  const auto may_take = kind == RecordKind::take && welcome_ ? parse_take(body) : std::nullopt;
  if (may_take) return may_take_ = *may_take, take_if_let();
  const auto state = kind == RecordKind::port_state && welcome_ ? PortState::parse(body) : std::nullopt;
  if (state) {
    keep(std::move(attached));
    return set_state(*state);
  }
  if (kind == RecordKind::refusal && speaks_older(text_of(body))) return drop_link({});
  refused_ = kind == RecordKind::refusal;
  drop_link(refused_ ? text_of(body) : "the service of the port sent a record out of turn");
}

// The service may be of an earlier build that still runs: until it ends this process speaks as that one does. Each
// build names its version in such a refusal.
bool PortClient::Core::speaks_older(std::string_view why) {
  const bool is_older = !welcome_ && version_ > oldest_version && why.find("version") != why.npos;
  version_ = is_older ? version_ - 1 : protocol_version;
  return is_older;
}

void PortClient::Core::welcome(wire::Bytes body, Descriptor attached) {
  const auto state = PortState::parse(body);
  refused_ = !state || welcome_;
  if (refused_) return drop_link("the welcome of the port's service cannot be understood");
  welcome_ = true;
  delay_ = first_retry;
  timer_.cancel();
  keep(std::move(attached));
  set_state(*state);
}

// The service may have said before that this process may take streams.
void PortClient::Core::keep(Descriptor listener) {
  if (!listener) return;
  listener_.emplace(std::move(listener));
  take_if_let();
}

// A stream that comes for a wait that was cancelled goes back. Without open files left it was lost: the other end sets
// up another (ruling V-15).
void PortClient::Core::hand_over(wire::Bytes body, Descriptor attached) {
  const auto id = parse_id(body);
  if (!id) return drop_link("the service of the port sent what cannot be understood");
  const auto found = waits_.find(*id);
  if (found == waits_.end()) {
    spares_.erase(*id);  // the service has forgotten it
    if (attached) give_back(std::move(attached), *id);
    return;
  }
  auto stream = attached ? streams_.adopt(std::move(attached)) : nullptr;
  if (stream == nullptr) return link_->send(Wait{*id, found->second}.write());
  waits_.erase(found);
  user_.handed_over(*id, std::move(stream));
}

// --- streams that the process takes itself -------------------------------------------------------------------------

void PortClient::Core::take_if_let() {
  taking_.reset();
  if (!may_take_) return give_all_back();
  auto copy = listener_ ? listener_->copy() : Descriptor();
  if (!copy) return;
  taking_ = std::make_unique<Socket>(streams_.sockets(), std::move(copy), *this, &Core::take_streams);
  if (!taking_->joined()) return taking_.reset();
  if (!waits_.empty()) taking_->ask();
}

// Who waits for nothing takes nothing.
void PortClient::Core::take_streams(Socket& listener) {
  const auto self = shared_from_this();  // the user may let go
  for (int taken = 0; taken < most_taken_at_once && !waits_.empty() && &listener == taking_.get(); ++taken) {
    Descriptor stream(::accept4(listener.number(), nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC));
    if (!stream && no_file_is_left(errno)) return;  // the service takes it; the next wait asks again
    if (!stream) break;
    look_at(std::move(stream));
  }
  if (taking_ != nullptr && !waits_.empty()) taking_->ask();
}

/// Its octets stay where they are, so one that has some is not asked about again: it would be ready at once. The
/// service waits for the rest, and counts and times such streams.
void PortClient::Core::look_at(Descriptor stream) {
  std::array<std::uint8_t, wire::vitcp::max_segment_bytes> octets;
  const ssize_t got = ::recv(stream.number(), octets.data(), octets.size(), MSG_PEEK | MSG_DONTWAIT);
  const bool is_silent = got < 0 && errno == EAGAIN;
  const FirstSegment first = examine(wire::Bytes(octets).first(static_cast<std::size_t>(std::max<ssize_t>(got, 0))));
  if (got > 0 && first.finding == Finding::connect_request) return found(std::move(stream), first.request.ce);
  if (!is_silent || looked_.size() >= most_looked_at) return give_back(std::move(stream));
  auto socket = std::make_unique<Socket>(streams_.sockets(), std::move(stream), *this, &Core::look_again);
  if (!socket->joined()) return give_back(socket->release());
  looked_.push_back(std::move(socket));
  looked_.back()->ask();
  if (!patience_.pending()) streams_.scheduler().schedule_after(patience_, known_by_then);
}

void PortClient::Core::look_again(Socket& stream) {
  const auto self = shared_from_this();  // the user may let go
  const auto place = std::ranges::find_if(looked_, [&](const auto& one) { return one.get() == &stream; });
  const std::unique_ptr<Socket> socket = std::move(*place);
  looked_.erase(place);
  look_at(socket->release());
}

void PortClient::Core::found(Descriptor stream, const wire::vitcp::CeHeader& request) {
  const auto from = streams::drivers::remote_address_of(stream.number());
  const auto at = streams::drivers::local_address_of(stream.number());
  const auto wait = std::ranges::find_if(waits_, [&](const auto& one) {
    return from && at && one.second.meets(request, {from->ip, at->ip});
  });
  if (wait == waits_.end()) return give_back(std::move(stream));
  const WaitId id = wait->first;
  auto over = waits_.extract(wait);
  if (link_ != nullptr) spares_.insert(std::move(over));  // else no service knows it
  if (!spares_over_.pending()) streams_.scheduler().schedule_after(spares_over_, spare_time);
  user_.handed_over(id, streams_.take(std::move(stream), *from));
}

// What the service hands over for one of them meanwhile comes too late, and goes back.
void PortClient::Core::cancel_spares() {
  for (const auto& [id, wanted] : std::exchange(spares_, {})) tell_over(id, wanted);
}

// The service answers it, or gives it to who waits. One that does not run gets so many: the others are closed, and
// their other ends set up others (ruling V-15).
void PortClient::Core::give_back(Descriptor stream, WaitId id) {
  if (link_ == nullptr)
    for_the_next_.emplace_back(std::move(stream));
  else if (link_->waiting() < most_given_back)
    link_->send(id_record(RecordKind::give_back, id), std::move(stream));
}

// While there is no service to wait for their rest they are looked at on.
void PortClient::Core::give_all_back() {
  streams_.scheduler().cancel(patience_);
  if (link_ == nullptr && !closed_) return;
  for (const auto& socket : std::exchange(looked_, {})) give_back(socket->release());
}

void PortClient::Core::drop_link(const std::string& reason) {
  std::exchange(link_, nullptr)->close();
  link_closed(reason);
}

// The port listens on, in the copies of its socket: nobody need know. Streams that are being looked at are for this
// process, or for the next service.
void PortClient::Core::link_closed(const std::string& reason) {
  const auto self = shared_from_this();  // the user may let go
  link_ = nullptr;
  spares_.clear();
  may_take_ = false;
  taking_.reset();
  timer_.cancel();
  if (std::exchange(welcome_, false)) {
    without_since_ = Clock::now();
    delay_ = first_retry;
    version_ = protocol_version;
  }
  if (refused_) set_state({.listens = false, .trouble = reason});
  retry_after(delay_);
}

WaitId PortClient::Core::wait(const Wanted& wanted) {
  if (taking_ != nullptr) taking_->ask();
  const auto spare = std::ranges::find_if(spares_, [&](const auto& one) { return one.second == wanted; });
  if (spare != spares_.end()) return waits_.insert(spares_.extract(spare)).position->first;
  const WaitId id = ++last_id_;
  waits_.emplace(id, wanted);
  if (link_ != nullptr) link_->send(Wait{id, wanted}.write());
  return id;
}

void PortClient::Core::cancel(WaitId id) {
  const auto found = waits_.find(id);
  if (found == waits_.end()) return;
  const Wanted wanted = found->second;
  waits_.erase(found);
  tell_over(id, wanted);
}

void PortClient::Core::tell_over(WaitId id, const Wanted& wanted) {
  if (link_ != nullptr && !link_->unsend(Wait{id, wanted}.write())) link_->send(id_record(RecordKind::cancel, id));
}

void PortClient::Core::close() {
  closed_ = true;
  timer_.cancel();
  taking_.reset();
  give_all_back();
  for_the_next_.clear();
  streams_.scheduler().cancel(spares_over_);
  listener_.reset();
  if (link_ != nullptr) std::exchange(link_, nullptr)->close();
}

// --- the public face -----------------------------------------------------------------------------------------------

PortClient::PortClient(boost::asio::io_context& io, runtime::CoreGuard& guard, streams::drivers::SocketStreams& streams,
                       PortClientOptions options, PortUser& user)
    : core_(std::make_shared<Core>(io, guard, streams, std::move(options), user)) {
  core_->begin();
}
PortClient::~PortClient() { core_->close(); }
WaitId PortClient::wait(const Wanted& wanted) { return core_->wait(wanted); }
void PortClient::cancel(WaitId id) { core_->cancel(id); }
bool PortClient::listens() const { return core_->state().listens; }
const std::string& PortClient::trouble() const { return core_->state().trouble; }

}  // namespace vitcp::drivers
