#include "iwarp/drivers/udp_associations.hpp"

#include <algorithm>
#include <utility>

#include "wire/iwarp/sctp/adaptation.hpp"

namespace iwarp::drivers {

using streams::Address;
using streams::Reason;

namespace {

constexpr std::size_t room_octets = 128 * 1024;     // of the largest message, and more
constexpr std::size_t most_packet_octets = 32'768;  // a UDP socket of the system holds few that are larger
constexpr std::size_t least_packet_octets = 576;
constexpr std::size_t half_open_paths = 256;  // of a port: addresses that packets came from, without an association
constexpr runtime::TimeNs tick_of_traffic = 10 * runtime::millisecond, tick_of_rest = 100 * runtime::millisecond;
constexpr runtime::TimeNs traffic_time = runtime::second;  // without packets, until it is rest
constexpr runtime::TimeNs closing_time = 5 * runtime::second;
constexpr std::uint32_t no_protocol = 0;  // of a message that is too large: none that DDP has

/// The verification tag of a packet, which only the peer knows: of an INIT the Initiate Tag (RFC 6951 5.5). None of an
/// INIT ACK, ABORT, ERROR or SHUTDOWN COMPLETE: they may have the tag of a stranger's packet.
std::optional<std::uint32_t> tag_of(wire::Bytes packet) {
  constexpr std::size_t type_at = 12, initiate_tag_at = 16, tag_at = 4;
  constexpr std::uint8_t init = 1, init_ack = 2, abort = 6, error = 9, shutdown_complete = 14;
  if (packet.size() < initiate_tag_at + 4) return std::nullopt;
  const std::uint8_t type = packet[type_at];
  if (type == init_ack || type == abort || type == error || type == shutdown_complete) return std::nullopt;
  return wire::load_big<4>(packet.data() + (type == init ? initiate_tag_at : tag_at));
}

bool is_wildcard(const wire::IpAddress& ip) { return ip.is_unspecified() || ip == wire::IpAddress::v4(0, 0, 0, 0); }

std::size_t packet_octets_to(const Address& peer) {
  return std::clamp(udp_octets_to(peer).value_or(least_packet_octets), least_packet_octets, most_packet_octets);
}

}  // namespace

// --- parts ---------------------------------------------------------------------------------------------------------

/// A UDP port, and the addresses of its peers.
class UdpAssociations::Port final : private UdpPortUser {
 public:
  explicit Port(UdpAssociations& all) : udp(all.set_, *this, *all.workspace_), all_(all) {}
  UdpPort udp;
  Listener* listener = nullptr;
  bool takes_strangers = false;         // it is, or was, a listener's
  std::map<Address, SctpPath> paths{};  // by peer
  std::deque<SctpPath> half_open{};     // of them: those without an association, the oldest first
  [[nodiscard]] bool is_used() const { return listener != nullptr || paths.size() > half_open.size(); }

 private:
  void packet_received(UdpPort& port, const Address& from, const wire::IpAddress& to,
                       wire::MutableBytes packet) override;
  void peer_unreachable(UdpPort& port, const Address& peer, wire::Bytes sent) override;
  void packets_received(UdpPort&) override {}
  UdpAssociations& all_;
};

struct UdpAssociations::Path {
  Port* port = nullptr;
  Address remote{};
  wire::IpAddress local{};             // of this host
  std::size_t associations = 0;        // that are not over
  std::optional<std::uint32_t> tag{};  // of the last packet that was sent
};

/// An association, from its beginning to its end, which may come after that of its Handle.
struct UdpAssociations::Endpoint {
  enum class State : std::uint8_t { beginning, up, closing, over };
  Port& port;
  SctpSocketNumber number;
  SctpPath path;
  SctpSocket socket;  // none: there is a failure
  Address local{}, remote{};
  AssociationUser* user = nullptr;
  Handle* handle = nullptr;
  State state = State::beginning;
  bool begun_here = false, associated = false, changed = false;
  bool asks_room = false, skips = false;  // the latter: the rest of a message that is too large
  std::uint16_t streams = 0;
  std::size_t max_message = 0;
  std::optional<Reason> failure{};  // to be told
  runtime::TimeNs ends_by = runtime::never;
};

class UdpAssociations::Handle final : public Association {
 public:
  Handle(UdpAssociations& all, Endpoint& endpoint) : all_(all), endpoint_(&endpoint) { endpoint.handle = this; }
  ~Handle() override {
    if (endpoint_ != nullptr) all_.close(*endpoint_);
  }
  /// It is over.
  void forget() { endpoint_ = nullptr; }

  void set_user(AssociationUser& user) override {
    if (endpoint_ != nullptr) endpoint_->user = &user, all_.socket_changed(endpoint_->number);
  }
  [[nodiscard]] Address local() const override { return endpoint_ == nullptr ? Address{} : endpoint_->local; }
  [[nodiscard]] Address remote() const override { return endpoint_ == nullptr ? Address{} : endpoint_->remote; }
  [[nodiscard]] std::uint16_t stream_count() const override { return endpoint_ == nullptr ? 0 : endpoint_->streams; }
  [[nodiscard]] std::size_t max_message() const override { return endpoint_ == nullptr ? 0 : endpoint_->max_message; }
  bool send(std::uint16_t stream, std::uint32_t protocol, wire::Bytes octets) override;
  /// The stack does not tell of a notice that it makes within the call.
  void ask_acknowledged() override {
    if (endpoint_ == nullptr) return;
    endpoint_->socket.ask_acknowledged();
    all_.socket_changed(endpoint_->number);
  }

 private:
  UdpAssociations& all_;
  Endpoint* endpoint_;
};

class UdpAssociations::Listener final : public AssociationListener {
 public:
  Listener(UdpAssociations& all, Port& of, AssociationListenerUser& its_user) : port(of), user(its_user), all_(all) {
    port.listener = this;
  }
  ~Listener() override { all_.unlisten(*this); }
  [[nodiscard]] Address address() const override { return port.udp.address(); }
  Port& port;
  AssociationListenerUser& user;

 private:
  UdpAssociations& all_;
};

/// What has failed tells by the socket's change.
bool UdpAssociations::Handle::send(std::uint16_t stream, std::uint32_t protocol, wire::Bytes octets) {
  if (endpoint_ == nullptr || endpoint_->state != Endpoint::State::up) return false;
  all_.note_traffic();
  switch (endpoint_->socket.send(stream, protocol, octets)) {
    case SctpSocket::Sent::taken: return true;
    case SctpSocket::Sent::full: return endpoint_->asks_room = true, false;
    case SctpSocket::Sent::failed: break;
  }
  endpoint_->failure = Reason::reset;
  return all_.socket_changed(endpoint_->number), false;
}

// --- packets -------------------------------------------------------------------------------------------------------

void UdpAssociations::Port::packet_received(UdpPort&, const Address& from, const wire::IpAddress& to,
                                            wire::MutableBytes packet) {
  const auto known = paths.find(from);
  if (known == paths.end() && !takes_strangers) return;
  all_.note_traffic();
  SctpStack::packet_in(known == paths.end() ? all_.open_path(*this, from, to) : known->second, packet);
}

/// RFC 6951 5.5: anybody can send ICMP.
void UdpAssociations::Port::peer_unreachable(UdpPort&, const Address& peer, wire::Bytes sent) {
  const auto known = paths.find(peer);
  if (known == paths.end()) return;
  const auto tag = tag_of(sent);
  if (!tag || all_.paths_.at(known->second)->tag != tag) return;
  for (const auto& [number, endpoint] : all_.endpoints_) {
    if (endpoint->path != known->second) continue;
    endpoint->failure = endpoint->state == Endpoint::State::beginning ? Reason::refused : Reason::reset;
    all_.socket_changed(number);
  }
}

void UdpAssociations::packet_out(SctpPath path, wire::Bytes packet) {
  const auto known = paths_.find(path);
  if (known == paths_.end()) return;
  if (const auto tag = tag_of(packet)) known->second->tag = tag;
  known->second->port->udp.send(known->second->remote, known->second->local, packet);
}

SctpPath UdpAssociations::open_path(Port& port, const Address& remote, const wire::IpAddress& local) {
  const SctpPath path = SctpStack::open_path();
  paths_.emplace(path, std::make_unique<Path>(Path{&port, remote, local}));
  port.paths.emplace(remote, path);
  port.half_open.push_back(path);
  if (port.half_open.size() > half_open_paths) close_path(port.half_open.front());
  return path;
}

void UdpAssociations::close_path(SctpPath path) {
  const auto known = paths_.find(path);
  if (known == paths_.end()) return;
  Port& port = *known->second->port;
  port.paths.erase(known->second->remote);
  std::erase(port.half_open, path);
  paths_.erase(known);
  SctpStack::close_path(path);
}

// --- begun, and over -----------------------------------------------------------------------------------------------

UdpAssociations::UdpAssociations(std::shared_ptr<streams::drivers::SocketSet> set, runtime::Scheduler& scheduler)
    : set_(std::move(set)), scheduler_(scheduler), room_(room_octets) {}

UdpAssociations::~UdpAssociations() {
  for (const auto& [number, endpoint] : endpoints_)
    if (endpoint->handle != nullptr) endpoint->handle->forget();
  endpoints_.clear();
  listening_.clear();
  for (const auto& [path, known] : paths_) SctpStack::close_path(path);
  if (has_stack_) SctpStack::release(*this);
}

bool UdpAssociations::has_stack() { return has_stack_ || (has_stack_ = SctpStack::claim(*this)); }

void UdpAssociations::abandon_in_child() {
  if (std::exchange(has_stack_, false)) SctpStack::abandon_in_child();
}

UdpAssociations::Endpoint& UdpAssociations::begin(Port& port, SctpPath path, SctpSocket socket) {
  const SctpSocketNumber number = socket ? socket.number() : SctpStack::next_socket();
  auto made = std::make_unique<Endpoint>(Endpoint{port, number, path, std::move(socket)});
  if (const auto known = paths_.find(path); known != paths_.end()) {
    made->remote = known->second->remote;
    made->local = {known->second->local, port.udp.address().port};
    if (known->second->associations++ == 0) std::erase(port.half_open, path);
  }
  Endpoint& endpoint = *made;
  if (endpoints_.empty()) told_time_ = scheduler_.now();
  endpoints_.emplace(number, std::move(made));
  tick_later();
  return endpoint;
}

std::unique_ptr<Association> UdpAssociations::connect(const Address& to, const Address& from, AssociationUser& user) {
  auto& port = *ports_.emplace_back(std::make_unique<Port>(*this));
  const bool has_one = has_stack();
  Address at = from;
  if (is_wildcard(at.ip)) at.ip = to.ip.is_v4_mapped() ? wire::IpAddress::v4(0, 0, 0, 0) : wire::IpAddress{};
  std::optional<Reason> failure = has_one ? port.udp.open(at) : Reason::no_resources;
  const SctpPath path = failure ? SctpPath{} : open_path(port, to, at.ip);
  Endpoint& endpoint = begin(port, path, failure ? SctpSocket{} : SctpSocket::make());
  endpoint.begun_here = true;
  endpoint.user = &user;
  auto handle = std::make_unique<Handle>(*this, endpoint);
  if (!failure && !endpoint.socket) failure = Reason::no_resources;
  if (!failure) {
    endpoint.socket.limit_packets(packet_octets_to(to));
    if (!endpoint.socket.connect(path, port.udp.address().port, to.port)) failure = Reason::failed;
  }
  endpoint.failure = failure;
  if (failure) socket_changed(endpoint.number);
  return handle;
}

void UdpAssociations::close(Endpoint& endpoint) {
  endpoint.handle = nullptr;
  endpoint.user = nullptr;
  if (endpoint.state == Endpoint::State::closing) return;
  if (endpoint.state != Endpoint::State::up) return end(endpoint);
  endpoint.state = Endpoint::State::closing;
  endpoint.ends_by = scheduler_.now() + closing_time;
  endpoint.socket.shut_down();
}

void UdpAssociations::end(Endpoint& endpoint) {
  if (endpoint.state == Endpoint::State::over) return;
  endpoint.state = Endpoint::State::over;
  scheduler_.schedule(sweep_, scheduler_.now());
}

/// What the other end ended in order is let end so here, too.
void UdpAssociations::lose(Endpoint& endpoint, Reason reason) {
  AssociationUser* const user = std::exchange(endpoint.user, nullptr);
  if (Handle* const handle = std::exchange(endpoint.handle, nullptr)) handle->forget();
  if (user != nullptr) user->association_lost(reason);
}

void UdpAssociations::sweep() {
  std::erase_if(endpoints_, [this](const auto& one) {
    Endpoint& endpoint = *one.second;
    if (endpoint.state != Endpoint::State::over) return false;
    endpoint.socket = {};
    const auto known = paths_.find(endpoint.path);
    if (known != paths_.end() && --known->second->associations == 0) close_path(endpoint.path);
    return true;
  });
  for (const auto& port : ports_)
    while (!port->is_used() && !port->half_open.empty()) close_path(port->half_open.front());
  std::erase_if(ports_, [](const auto& port) { return !port->is_used(); });
}

void UdpAssociations::end_all() {
  for (const auto& [number, endpoint] : endpoints_) {
    if (Handle* const handle = endpoint->handle) handle->forget();
    close(*endpoint);
  }
}

// --- listening -----------------------------------------------------------------------------------------------------

UdpAssociations::Port* UdpAssociations::port_at(const Address& at) const {
  const auto found =
      std::find_if(ports_.begin(), ports_.end(), [&](const auto& one) { return one->udp.address() == at; });
  return found == ports_.end() ? nullptr : found->get();
}

bool UdpAssociations::keeps(const Address& at) const {
  const Port* const known = port_at(at);
  return known != nullptr && known->listener == nullptr && known->takes_strangers;
}

/// A port stays while there are associations of an earlier listener.
boost::system::result<UdpAssociations::Port*, Reason> UdpAssociations::listening_port(const Address& at) {
  Port* const known = at.port == 0 ? nullptr : port_at(at);
  if (known != nullptr && !keeps(at)) return Reason::address_in_use;
  if (known != nullptr) return known;
  auto made = std::make_unique<Port>(*this);
  if (const auto reason = made->udp.open(at)) return *reason;
  made->takes_strangers = true;
  return ports_.emplace_back(std::move(made)).get();
}

boost::system::result<std::unique_ptr<AssociationListener>, Reason> UdpAssociations::listen(
    const Address& at, AssociationListenerUser& user) {
  if (!has_stack()) return Reason::no_resources;
  const auto port = listening_port(at);
  if (!port) return port.error();
  auto listener = std::make_unique<Listener>(*this, **port, user);
  const std::uint16_t number = listener->address().port;
  if (listening_.contains(number)) return listener;
  SctpSocket socket = SctpSocket::make();
  if (!socket || !socket.listen(number)) return Reason::no_resources;
  listening_.emplace(number, std::move(socket));
  return listener;
}

void UdpAssociations::unlisten(Listener& listener) {
  listener.port.listener = nullptr;
  const std::uint16_t number = listener.port.udp.address().port;
  const bool others = std::any_of(ports_.begin(), ports_.end(), [&](const auto& one) {
    return one->listener != nullptr && one->udp.address().port == number;
  });
  if (!others) listening_.erase(number);
  scheduler_.schedule(sweep_, scheduler_.now());
}

/// Who is told of one may destroy the listener.
void UdpAssociations::accept_all(SctpSocketNumber number) {
  for (;;) {
    const auto listening = std::find_if(listening_.begin(), listening_.end(),
                                        [&](const auto& one) { return one.second.number() == number; });
    if (listening == listening_.end()) return;
    SctpSocket::Accepted accepted = listening->second.accept();
    if (!accepted.socket) return;
    accept(std::move(accepted));
  }
}

/// Who listens at another address of the same port number is not asked.
void UdpAssociations::accept(SctpSocket::Accepted accepted) {
  const auto known = paths_.find(accepted.path);
  if (known == paths_.end() || known->second->port->listener == nullptr) return;
  accepted.socket.limit_packets(packet_octets_to(known->second->remote));
  Endpoint& endpoint = begin(*known->second->port, accepted.path, std::move(accepted.socket));
  process(endpoint);
}

// --- what the stack tells ------------------------------------------------------------------------------------------

void UdpAssociations::socket_changed(SctpSocketNumber socket) {
  const auto known = endpoints_.find(socket);
  if (known != endpoints_.end() && std::exchange(known->second->changed, true)) return;
  changed_.push_back(socket);
  scheduler_.schedule(process_, scheduler_.now());
}

void UdpAssociations::process() {
  for (const SctpSocketNumber number : std::exchange(changed_, {})) {
    const auto endpoint = endpoints_.find(number);
    if (endpoint != endpoints_.end()) {
      endpoint->second->changed = false;
      process(*endpoint->second);
      continue;
    }
    accept_all(number);
  }
}

/// An accepted one that has no user yet tells nothing.
void UdpAssociations::process(Endpoint& endpoint) {
  const auto hears = [&] {
    const bool waits = endpoint.state == Endpoint::State::up && endpoint.user == nullptr;
    return endpoint.state != Endpoint::State::over && !endpoint.failure && !waits;
  };
  while (hears()) {
    const SctpReceived received = endpoint.socket.receive(wire::MutableBytes(room_));
    if (received.kind == SctpReceived::Kind::nothing) break;
    take(endpoint, received);
  }
  if (endpoint.associated && endpoint.state == Endpoint::State::beginning) return refuse(endpoint);  // no indication
  if (endpoint.failure && endpoint.state != Endpoint::State::over) {
    end(endpoint);
    return lose(endpoint, *endpoint.failure);
  }
  if (!endpoint.asks_room || endpoint.user == nullptr || !endpoint.socket.can_send()) return;
  endpoint.asks_room = false;
  endpoint.user->room_again();
}

void UdpAssociations::take(Endpoint& endpoint, const SctpReceived& received) {
  switch (received.kind) {
    case SctpReceived::Kind::message:
    case SctpReceived::Kind::part: return take_message(endpoint, received);
    case SctpReceived::Kind::associated:
      endpoint.associated = true;
      endpoint.streams = received.streams;
      endpoint.max_message = endpoint.socket.max_message();
      return;
    case SctpReceived::Kind::indication: return judge_indication(endpoint, received.indication);
    case SctpReceived::Kind::all_acknowledged:
      endpoint.socket.end_asking();
      return endpoint.user == nullptr ? void() : endpoint.user->acknowledged();
    case SctpReceived::Kind::shut_down:
      if (endpoint.state != Endpoint::State::up) return end(endpoint), lose(endpoint, Reason::reset);
      endpoint.state = Endpoint::State::closing;
      endpoint.ends_by = scheduler_.now() + closing_time;
      return lose(endpoint, Reason::reset);
    case SctpReceived::Kind::lost: endpoint.failure = received.reason; return;
    case SctpReceived::Kind::nothing:
    case SctpReceived::Kind::other: return;
  }
}

void UdpAssociations::take_message(Endpoint& endpoint, const SctpReceived& received) {
  if (endpoint.state == Endpoint::State::beginning) return refuse(endpoint);  // before any indication
  const bool whole = received.kind == SctpReceived::Kind::message;
  const bool is_rest = std::exchange(endpoint.skips, !whole);
  if (is_rest || endpoint.user == nullptr) return;
  endpoint.user->message_received(received.stream, whole ? received.protocol : no_protocol, received.octets);
}

/// RFC 5043 11.1.
void UdpAssociations::judge_indication(Endpoint& endpoint, std::uint32_t indication) {
  if (endpoint.state != Endpoint::State::beginning) return;
  if (indication != wire::sctp::AdaptationIndication::ddp || !endpoint.associated) return refuse(endpoint);
  endpoint.state = Endpoint::State::up;
  if (endpoint.begun_here) return endpoint.user->associated();
  if (endpoint.port.listener == nullptr) return refuse(endpoint);
  endpoint.port.listener->user.accepted(std::make_unique<Handle>(*this, endpoint));
}

void UdpAssociations::refuse(Endpoint& endpoint) {
  end(endpoint);
  lose(endpoint, Reason::refused);
}

// --- time ----------------------------------------------------------------------------------------------------------

void UdpAssociations::tick_later() {
  if (tick_.pending() || endpoints_.empty()) return;
  const bool rests = scheduler_.now() - traffic_at_ > traffic_time;
  scheduler_.schedule_after(tick_, rests ? tick_of_rest : tick_of_traffic);
}

void UdpAssociations::note_traffic() {
  const bool rested = scheduler_.now() - traffic_at_ > traffic_time;
  traffic_at_ = scheduler_.now();
  if (!rested) return;
  scheduler_.cancel(tick_);
  tick_later();
}

void UdpAssociations::tick() {
  const runtime::TimeNs now = scheduler_.now();
  const runtime::TimeNs passed = (now - told_time_) / runtime::millisecond;
  told_time_ += passed * runtime::millisecond;
  SctpStack::time_passed(static_cast<std::uint32_t>(std::min(passed, runtime::TimeNs{1000})));
  for (const auto& [number, endpoint] : endpoints_)
    if (endpoint->state == Endpoint::State::closing && now >= endpoint->ends_by) end(*endpoint);
  tick_later();
}

}  // namespace iwarp::drivers
