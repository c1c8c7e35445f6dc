#include "fcvi/setup_book.hpp"

#include <algorithm>
#include <new>
#include <utility>

#include "fc2_fabric/node/remote_port.hpp"
#include "fcvi/conversions.hpp"
#include "fcvi/fc4.hpp"
#include "state_machines/consistency.hpp"

namespace fcvi {
using Answer = machines::connect_responder::Answer;

namespace {
std::uint64_t endpoint_key(wire::FcId peer, wire::FcviHandle handle) {
  return std::uint64_t{handle.value} << 28 | peer.value;
}

bool is_valid(const wire::fcvi::ConnectPayload& payload) {
  return payload.local_address.is_valid() && payload.remote_address.is_valid() &&
         payload.handle != wire::FcviHandle::unassigned;
}
}  // namespace

SetupBook::SetupBook(const Services& services, vi::ConnectionPoints& connection_points, Connections& connections)
    : services_(services), connection_points_(connection_points), connections_(connections),
      offers_(services.config.max_pending_requests) {}

SetupBook::~SetupBook() { services_.resolver.forget(*this); }

/// Numbers were given, the newest set-up of each of the peers' handles is here, and each open offer is a set-up's.
bool SetupBook::is_consistent() const {
  const auto offers = static_cast<std::size_t>(
      std::count_if(received_.begin(), received_.end(), [](const auto& entry) { return entry.second->offered(); }));
  const bool given = (originated_.empty() || originated_.rbegin()->first < next_setup_) &&
                     (received_.empty() || received_.rbegin()->first < next_setup_);
  const bool newest = std::all_of(newest_received_.begin(), newest_received_.end(),
                                  [&](const auto& entry) { return received_.contains(entry.second); });
  return given && newest && offers == offers_.open_count();
}

bool SetupBook::is_consistent_throughout() const {
  const auto each = [](const auto& setups) {
    return std::all_of(setups.begin(), setups.end(), [](const auto& entry) { return entry.second->is_consistent(); });
  };
  return is_consistent() && each(originated_) && each(received_) && peer_pool_.is_consistent();
}

// --- calls -------------------------------------------------------------------------------------------------------

OriginatedSetup& SetupBook::add_setup(Connection& connection, const vi::NetAddress& local, const vi::NetAddress& remote,
                                      runtime::TimeNs deadline, vi::ConnectOperation& operation, SetupListener* peer) {
  const std::uint64_t number = next_setup_++;
  auto& setup = originated_[number];
  setup =
      std::make_unique<OriginatedSetup>(services_, *this, number, connection, local, remote, deadline, operation, peer);
  connection.attach_setup(*setup);
  if (peer != nullptr) peer->set_up_by(*setup);
  return *setup;
}

void SetupBook::request_peer(Connection& connection, const vi::NetAddress& local, const vi::NetAddress& remote,
                             runtime::TimeNs deadline, vi::ConnectOperation& operation) {
  fc2::NPort& port = services_.port;
  if (port.online()) port.remote_port(port.n_port_id());  // its logout tells that the link is down
  peer_pool_.add(std::make_unique<PeerRequest>(services_, *this, peer_pool_, connection, local, remote, operation))
      .start(deadline);
}

void SetupBook::accept(vi::ConnectionToken token, vi::Vi& vi, vi::Operation& operation) {
  ReceivedSetup* setup = offers_.find(token);
  if (setup == nullptr) return operation.done(accept_without_offer(token, vi));
  const auto remote = from_wire(setup->request().payload.local_attributes);
  // VI-DG 3.3.2: ReliabilityLevel, MaxTransferSize and QoS must match; the offer stays valid if they do not.
  if (const auto refusal = vi.may_accept(*remote); refusal != vi::Return::Success) return operation.done(refusal);
  Connection* connection = connections_.open(vi);
  if (connection == nullptr) return operation.done(vi::Return::ErrorResource);
  setup->accept(*connection, operation);
}

/// The client gave up (VI-DG 6.7), or cannot be reached any more (3.3.2), or there never was a request.
vi::Return SetupBook::accept_without_offer(vi::ConnectionToken token, vi::Vi& vi) {
  if (!unreachable_offers_.contains(token.value)) return offers_.refusal_of(token);
  if (vi.state() != vi::State::Idle) return vi::Return::InvalidState;
  unreachable_offers_.erase(token.value);
  if (vi::is_reliable(vi.attributes().reliability)) {
    vi.endpoint_event(machines::vi_endpoint::AcceptRequested{});
    vi.endpoint_event(machines::vi_endpoint::SetupFailed{});
  }
  return vi::Return::NotReachable;
}

void SetupBook::reject(vi::ConnectionToken token, vi::Operation& operation) {
  if (ReceivedSetup* setup = offers_.find(token)) setup->reject(Answer::ConnectReject);
  if (unreachable_offers_.erase(token.value) != 0) return operation.done(vi::Return::NotReachable);
  // VI-DG 6.7: rejecting a request whose client gave up is a success: both agree that it failed.
  operation.done(offers_.was_issued(token) ? vi::Return::Success : vi::Return::InvalidParameter);
}

// --- IUs ---------------------------------------------------------------------------------------------------------

void SetupBook::connect_rqst_received(fc2::Exchange& exchange, const wire::fcvi::DeviceHeader& header,
                                      std::span<const std::uint8_t> payload) {
  const auto request = wire::fcvi::ConnectRqst::from(header, payload);
  if (!request) {
    services_.discard(fc2::Discard::BadPayload);
    return services_.port.release(exchange);
  }
  const wire::FcId peer = exchange.peer();
  ReceivedSetup* open = find_open(peer, request->payload.handle);
  if (is_dead(*request, peer, open)) {
    services_.discard(Discard::DeadSetup);
    return services_.port.release(exchange);
  }
  ReceivedSetup* retried = request->retry ? open : nullptr;
  if (retried != nullptr && retried->is_retry(*request)) return retried->retried(exchange, *request);  // C.4 rules 8, 9
  const std::uint64_t number = next_setup_++;
  ReceivedSetup& setup = add_received(number, exchange, *request);
  if (retried != nullptr)
    return setup.refuse(Answer::ProtocolError);  // that set-up goes on, and waits for its own retry
  newest_received_[endpoint_key(peer, request->payload.handle)] = number;
  begin(setup);
  FCVI_ASSERT_CONSISTENT(*this);
}

/// Where there is no memory, there is no such set-up, and the Exchange is free.
ReceivedSetup& SetupBook::add_received(std::uint64_t number, fc2::Exchange& exchange,
                                       const wire::fcvi::ConnectRqst& request) {
  const auto place = received_.try_emplace(number).first;
  try {
    place->second = std::make_unique<ReceivedSetup>(services_, *this, number, exchange, request);
  } catch (const std::bad_alloc&) {
    received_.erase(place);
    services_.port.release(exchange);
    throw;
  }
  return *place->second;
}

void SetupBook::begin(ReceivedSetup& setup) {
  const wire::fcvi::ConnectPayload& payload = setup.request().payload;
  const wire::FcId peer = setup.peer_port();
  const bool capable = peer == services_.port.n_port_id() || services_.port.remote_port(peer).supports(fc4);
  if (!capable) return setup.refuse(Answer::InvalidServiceParm);  // 5.6; the port itself asks for the login (7.7.2)
  const auto attributes = from_wire(payload.local_attributes);
  if (!is_valid(payload) || !attributes) return setup.refuse(Answer::ProtocolError);
  if (setup.is_peer_to_peer())
    peer_wanted(setup);
  else
    connection_wanted(setup, *attributes);
}

/// A request that cannot begin a set-up any more, late or twice: its id rests (CSerr, C.2 rule 1 a), or its set-up is
/// here, or a retry of it was faster (C.4 rule 8 a 5). An endpoint that is in Error says nothing: the peer may have
/// reused its handle.
bool SetupBook::is_dead(const wire::fcvi::ConnectRqst& request, wire::FcId peer, ReceivedSetup* open) {
  using Originator = ConnectionIds::Originator;
  if (services_.connection_ids.in_error({Originator::Peer, request.connection_id, peer}, services_.now())) return true;
  if (open == nullptr) return false;
  const bool lives = open->offered() || open->connection() != nullptr;  // one that was refused frees the peer's handle
  return open->connection_id() == request.connection_id || (lives && open->is_retried() && !request.retry);
}

/// The newest that the peer originated with that handle of its own, and that a retry may mean; nullptr if there is
/// none.
ReceivedSetup* SetupBook::find_open(wire::FcId peer, wire::FcviHandle handle) {
  const auto newest = newest_received_.find(endpoint_key(peer, handle));
  if (newest == newest_received_.end()) return nullptr;
  ReceivedSetup* setup = received_.at(newest->second).get();
  return setup->awaits_retry() ? setup : nullptr;
}

/// Client to server (VI-DG 3.3.1), and the reserved modes, for which nobody waits.
void SetupBook::connection_wanted(ReceivedSetup& setup, const vi::ViAttributes& attributes) {
  const bool known_mode = setup.request().mode == wire::fcvi::ConnectMode::client_server;
  if (!known_mode || offers_.full() || !connection_points_.anybody_waits())
    return setup.refuse(Answer::NoWaitingConnectionpoint);
  vi::ConnectWaitOperation* waiting = connection_points_.take(remote_address(setup.request().payload));
  if (waiting == nullptr) return setup.refuse(Answer::NoDiscriminatorMatch);
  setup.matched(*waiting, attributes);
}

/// Peer to peer: only requests of the peer pool match (VI-DG 3.3, 6.7).
void SetupBook::peer_wanted(ReceivedSetup& setup) {
  if (!peer_pool_.anybody_waits()) return setup.refuse(Answer::NoWaitingConnectionpoint);
  PeerRequest* match = peer_pool_.match(setup.request(), setup.peer_port());
  if (match == nullptr) return setup.refuse(Answer::NoDiscriminatorMatch);
  setup.matched(*match);
}

/// A peer's ids come round again, and older set-ups live with their connections.
ReceivedSetup* SetupBook::find(wire::FcId peer, wire::ConnectionId connection_id) {
  const auto found = std::find_if(received_.rbegin(), received_.rend(), [&](const auto& entry) {
    const ReceivedSetup& setup = *entry.second;
    return !setup.is_over() && setup.peer_port() == peer && setup.connection_id() == connection_id;
  });
  return found == received_.rend() ? nullptr : found->second.get();
}

// --- the port, and addresses -------------------------------------------------------------------------------------

/// Setups may come and go while `function` runs: by number, which only grows.
template <class Function>
void SetupBook::for_each_waiting(Function function) {
  for (std::uint64_t number = 0;;) {
    const auto next = originated_.upper_bound(number);
    if (next == originated_.end()) return;
    number = next->first;
    function(*next->second);
  }
}

void SetupBook::port_logged_in(wire::FcId port) {
  for_each_waiting([&](OriginatedSetup& setup) {
    if (setup.waits_for(port)) setup.port_logged_in(port);
  });
}

void SetupBook::port_login_failed(wire::FcId port) {
  for_each_waiting([&](OriginatedSetup& setup) {
    if (setup.waits_for(port)) setup.port_login_failed(port);
  });
}

void SetupBook::port_logged_out(wire::FcId port) {
  for (auto next = received_.begin(); next != received_.end();) {
    ReceivedSetup& setup = *(next++)->second;
    if (setup.peer_port() == port && !setup.is_over()) setup.port_logged_out();
  }
  for_each_waiting([&](OriginatedSetup& setup) {
    if (setup.stands_alone_with(port)) setup.port_logged_out();
  });
  if (port == services_.port.n_port_id()) peer_pool_.link_lost();
}

void SetupBook::fabric_logged_in() {
  if (peer_pool_.anybody_waits()) services_.port.remote_port(services_.port.n_port_id());
  peer_pool_.fabric_logged_in();
}

void SetupBook::resolved(const wire::IpAddress& address, std::span<const wire::FcId> n_port_ids) {
  for_each_waiting([&](OriginatedSetup& setup) {
    if (setup.waits_for(address)) setup.resolved(n_port_ids);
  });
}

void SetupBook::not_resolved(const wire::IpAddress& address) {
  for_each_waiting([&](OriginatedSetup& setup) {
    if (setup.waits_for(address)) setup.not_resolved();
  });
}

void SetupBook::superseded_resp1_received(std::uint64_t setup, machines::peer_arbitration::Resp1 resp1,
                                          wire::FcId port) {
  peer_pool_.superseded_resp1_received(setup, resp1, port);
}

// --- the end -----------------------------------------------------------------------------------------------------

void SetupBook::has_connected(ReceivedSetup& setup) {
  connected_.push_back(setup.number());
  services_.bury_soon();
}

void SetupBook::retire(OriginatedSetup& setup) {
  retired_originated_.push_back(setup.number());
  services_.bury_soon();
}

void SetupBook::retire(ReceivedSetup& setup) {
  const auto newest = newest_received_.find(endpoint_key(setup.peer_port(), setup.peer_handle()));
  if (newest != newest_received_.end() && newest->second == setup.number()) newest_received_.erase(newest);
  retired_received_.push_back(setup.number());
  services_.bury_soon();
}

void SetupBook::bury() {
  peer_pool_.bury();
  for (const std::uint64_t number : std::exchange(retired_originated_, {})) originated_.erase(number);
  for (const std::uint64_t number : std::exchange(retired_received_, {})) received_.erase(number);
  for (const std::uint64_t number : std::exchange(connected_, {}))
    if (const auto connected = received_.find(number); connected != received_.end()) connected->second->rest();
  FCVI_ASSERT_CONSISTENT(*this);
}

}  // namespace fcvi
