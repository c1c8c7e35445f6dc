#include "fcvi/core.hpp"

#include <algorithm>
#include <cassert>
#include <utility>

#include "fc2_fabric/node/class_2.hpp"
#include "fc2_fabric/node/remote_port.hpp"
#include "fcvi/connection.hpp"
#include "fcvi/conversions.hpp"
#include "fcvi/originated_setup.hpp"
#include "fcvi/received_setup.hpp"
#include "wire/fcvi/disconnect_resp.hpp"

namespace fcvi {
using wire::fcvi::Category;
using wire::fcvi::DeviceHeader;
using wire::fcvi::Opcode;
using Answer = machines::connect_responder::Answer;

Core::Core(fc2::NPort& port, farp::Resolver& resolver, const ProviderConfig& config)
    : reorder_pool(config.reorder_pool_bytes), port_(port), resolver_(resolver), config_(config),
      handles_(config.first_handle, config.max_endpoints), connection_points_(port.scheduler()),
      connection_ids_(config.first_connection_id) {
  port_.set_data_user(wire::Type::fc_vi, *this);
  port_.add_listener(*this);
}

Core::~Core() {
  resolver_.forget(*this);
  port_.remove_listener(*this);
  port_.remove_data_user();
}

void Core::set_setup_error(const ConnectionIds::Id& id, Connection* endpoint) {
  const bool owes_disconnect = endpoint != nullptr && endpoint->vi() != nullptr;
  connection_ids_.set_error(id, owes_disconnect ? endpoint->handle() : wire::FcviHandle::unassigned, scheduler().now(),
                            port_.r_a_tov());
}

// --- calls of the VI model ---------------------------------------------------------------------------------------

Connection* Core::open_connection(vi::Vi& vi) {
  assert(vi.transport_context == nullptr);  // who is Idle has no connection
  told_by_peer_.erase(&vi);
  const auto handle = handles_.reserve();
  if (!handle) return nullptr;
  handles_.occupy(*handle, std::make_unique<Connection>(*this, vi, *handle));
  return handles_.find(*handle);
}

void Core::connect_request(vi::Vi& vi, const vi::NetAddress& local, const vi::NetAddress& remote, vi::TimeNs timeout_ns,
                           vi::ConnectOperation& operation) {
  vi::Return refusal{};
  Connection* connection = begin_request(vi, local, timeout_ns, refusal);
  if (connection == nullptr) return operation.done(refusal);
  add_setup(*connection, local, remote, deadline_after(timeout_ns), operation, nullptr).start();
}

vi::Return Core::connect_peer_request(vi::Vi& vi, const vi::NetAddress& local, const vi::NetAddress& remote,
                                      vi::TimeNs timeout_ns, vi::ConnectOperation& operation) {
  vi::Return refusal{};
  Connection* connection = begin_request(vi, local, timeout_ns, refusal);
  if (connection == nullptr) return refusal;
  if (port_.online()) port_.remote_port(port_.n_port_id());  // its logout tells that the link is down
  peer_pool_.add(std::make_unique<PeerRequest>(*this, *connection, local, remote, operation))
      .start(deadline_after(timeout_ns));
  return vi::Return::Success;
}

bool Core::is_own(const wire::IpAddress& host) const {
  const auto& more = config_.more_addresses;
  return host == config_.address || std::find(more.begin(), more.end(), host) != more.end();
}

/// VipConnectRequest and VipConnectPeerRequest: the VI is Pending Connect, or nullptr and why not.
Connection* Core::begin_request(vi::Vi& vi, const vi::NetAddress& local, vi::TimeNs timeout_ns, vi::Return& refusal) {
  refusal = vi::Return::InvalidParameter;
  if (timeout_ns <= 0 || !is_own(local.host)) return nullptr;
  refusal = vi::Return::InvalidState;
  if (vi.state() != vi::State::Idle) return nullptr;
  refusal = vi::Return::ErrorResource;
  Connection* connection = open_connection(vi);
  if (connection != nullptr) connection->feed(machines::vi_endpoint::ConnectRequested{});
  return connection;
}

runtime::TimeNs Core::deadline_after(vi::TimeNs timeout_ns) {
  const runtime::TimeNs now = scheduler().now();
  return timeout_ns >= runtime::never - now ? runtime::never : now + timeout_ns;
}

OriginatedSetup& Core::add_setup(Connection& connection, const vi::NetAddress& local, const vi::NetAddress& remote,
                                 runtime::TimeNs deadline, vi::ConnectOperation& operation, PeerRequest* peer) {
  const std::uint64_t number = next_setup_++;
  auto& setup = originated_[number];
  setup = std::make_unique<OriginatedSetup>(*this, connection, local, remote, deadline, operation, peer);
  setup->number = number;
  connection.set_setup(setup.get(), nullptr);
  if (peer != nullptr) peer->set_up_by(*setup);
  return *setup;
}

void Core::connect_accept(vi::ConnectionToken token, vi::Vi& vi, vi::Operation& operation) {
  const auto found = received_.find(token.value);
  if (found == received_.end() || !found->second->offered()) return operation.done(accept_without_offer(token, vi));
  ReceivedSetup& setup = *found->second;
  const auto remote = from_wire(setup.request().payload.local_attributes);
  if (vi.state() != vi::State::Idle) return operation.done(vi::Return::InvalidState);
  // VI-DG 3.3.2: ReliabilityLevel, MaxTransferSize and QoS must match; the offer stays valid if they do not.
  if (const auto conflict = conflict_between(vi.attributes(), *remote); conflict != vi::Return::Success)
    return operation.done(conflict);
  Connection* connection = open_connection(vi);
  if (connection == nullptr) return operation.done(vi::Return::ErrorResource);
  setup.accept(*connection, operation);
}

/// The client gave up (VI-DG 6.7), or cannot be reached any more (3.3.2), or there never was a request.
vi::Return Core::accept_without_offer(vi::ConnectionToken token, vi::Vi& vi) {
  if (!was_issued(token)) return vi::Return::InvalidParameter;
  if (!unreachable_offers_.contains(token.value)) return vi::Return::Timeout;
  if (vi.state() != vi::State::Idle) return vi::Return::InvalidState;
  unreachable_offers_.erase(token.value);
  if (vi::is_reliable(vi.attributes().reliability)) {
    vi.endpoint_event(machines::vi_endpoint::AcceptRequested{});
    vi.endpoint_event(machines::vi_endpoint::SetupFailed{});
  }
  return vi::Return::NotReachable;
}

void Core::connect_reject(vi::ConnectionToken token, vi::Operation& operation) {
  const auto found = received_.find(token.value);
  const bool offered = found != received_.end() && found->second->offered();
  if (offered) found->second->reject(Answer::ConnectReject);
  if (unreachable_offers_.erase(token.value) != 0) return operation.done(vi::Return::NotReachable);
  // VI-DG 6.7: rejecting a request whose client gave up is a success: both agree that it failed.
  operation.done(was_issued(token) ? vi::Return::Success : vi::Return::InvalidParameter);
}

void Core::disconnect(vi::Vi& vi, vi::Operation& operation) {
  if (auto* connection = static_cast<Connection*>(vi.transport_context))
    return connection->request_disconnect(operation);
  const auto outcome =
      vi.endpoint_event(machines::vi_endpoint::DisconnectRequested{});  // VI-DG 3.3.5: Idle; flushes the receives
  if (outcome.disconnect_requested)
    vi.endpoint_event(machines::vi_endpoint::DisconnectAnswered{});  // of no connection: nobody to ask
  operation.done(vi::Return::Success);
}

void Core::detach(vi::Vi& vi) {
  auto* connection = static_cast<Connection*>(vi.transport_context);
  if (connection != nullptr) connection->abandon();
  options_.erase(&vi);
  told_by_peer_.erase(&vi);
}

std::optional<PeerReport> Core::told_by_peer(const vi::Vi& vi) const {
  const auto found = told_by_peer_.find(&vi);
  return found == told_by_peer_.end() ? std::nullopt : std::optional(found->second);
}

ConnectionOptions Core::options_of(const vi::Vi& vi) const {
  const auto own = options_.find(&vi);
  return own != options_.end() ? own->second : ConnectionOptions{config_.preference, config_.class_2};
}

// --- frames and IUs ----------------------------------------------------------------------------------------------

void Core::data_frame_received(const fc2::ReceivedFrame& frame) {
  const auto header = DeviceHeader::parse(frame.header.device_header_size(), frame.data_field);
  if (!header) return discard_frame(frame, fc2::Discard::BadPayload);
  const wire::fcvi::IuInfo& iu = *wire::fcvi::find_iu(header->opcode);
  if (iu.r_ctl != frame.header.r_ctl) return discard_frame(frame, fc2::Discard::BadHeader);
  Connection* connection = handles_.find(header->handle);
  if (connection == nullptr || connection->peer_port() != frame.header.s_id) {
    port_.acknowledger().abort_sequence(frame);  // as while it had Herr (B.2.4 rule 1 a)
    return stray_frame(frame.header.s_id);
  }
  const auto payload = frame.data_field.subspan(header->size());
  // FQMID: the Exchange Context tells answers to us from requests of the peer (5.2.5).
  const bool answer = frame.header.has(wire::f_ctl::exchange_responder);
  if (answer != (iu.category == Category::message_response)) return discard_frame(frame, fc2::Discard::BadHeader);
  if (answer)
    connection->sender().response_received(frame, *header, payload);
  else
    connection->receiver().request_received(frame, *header, payload);
}

/// It is missing in the message that its originator sends (8.4.1 c, d): 8.4.2 h. A plain ACK of the last one would tell
/// the originator that all arrived (5.5).
void Core::discard_frame(const fc2::ReceivedFrame& frame, fc2::Discard reason) {
  discard(reason);
  if (!frame.header.has(wire::f_ctl::exchange_responder)) port_.acknowledger().abort_sequence(frame);
}

void Core::stray_frame(wire::FcId source) {
  discard(fc2::Discard::UnknownHandle);
  if (source != port_.n_port_id()) port_.deny(source);  // there is no login with oneself (FC-VI 7.7.2)
}

static std::uint64_t exchange_key(wire::FcId originator, wire::OxId ox_id) {
  return std::uint64_t{originator.value} << 32 | ox_id.value;
}

void Core::message_opened(wire::FcId originator, wire::OxId ox_id, const Connection& connection) {
  message_exchanges_[exchange_key(originator, ox_id)] = {connection.handle(), originator};
}

bool Core::abort_received(wire::FcId source, wire::OxId ox_id) {
  const auto found = message_exchanges_.find(exchange_key(source, ox_id));
  Connection* connection = found != message_exchanges_.end() ? handles_.find(found->second.receiver) : nullptr;
  return connection != nullptr && connection->peer_port() == source && connection->abort_received(ox_id);
}

void Core::sequence_received(fc2::Exchange& exchange, const wire::FcHeader& first, std::span<const std::uint8_t> iu) {
  const auto header = DeviceHeader::parse(first.device_header_size(), iu);
  const bool rqst = header && (header->opcode == Opcode::connect_rqst || header->opcode == Opcode::disconnect_rqst);
  if (!rqst || first.r_ctl != wire::RCtl::unsolicited_control || !exchange.has_initiative()) {
    discard(header ? fc2::Discard::UnexpectedIu : fc2::Discard::BadPayload);
    return port_.release(exchange);
  }
  ++counters.ius_received;
  if (header->opcode == Opcode::connect_rqst)
    connect_rqst_received(exchange, first, iu);
  else
    disconnect_rqst_received(exchange, *header);
}

void Core::exchange_failed(fc2::Exchange& exchange, ExchangeFailure failure) {
  if (auto* responder = static_cast<ReadResponder*>(exchange.context)) responder->exchange_failed(failure);
}

/// The newest that matches: a peer's handles and ids come round again, and older set-ups live with their connections.
template <class Predicate>
ReceivedSetup* Core::find_received(Predicate matches) {
  const auto found =
      std::find_if(received_.rbegin(), received_.rend(), [&](const auto& entry) { return matches(*entry.second); });
  return found == received_.rend() ? nullptr : found->second.get();
}

/// A request that cannot begin a set-up any more, late or twice: its id rests (CSerr, C.2 rule 1 a), or its set-up is
/// here, or a retry of it was faster (C.4 rule 8 a 5). An endpoint that is in Error says nothing: the peer may have
/// reused its handle.
bool Core::is_dead(const wire::fcvi::ConnectRqst& request, wire::FcId peer) {
  using Originator = ConnectionIds::Originator;
  if (connection_ids_.in_error({Originator::Peer, request.connection_id, peer}, scheduler().now())) return true;
  ReceivedSetup* setup = find_open(peer, request.payload.handle);
  if (setup == nullptr) return false;
  const bool lives =
      setup->offered() || setup->connection() != nullptr;  // one that was refused frees the peer's handle
  return setup->request().connection_id == request.connection_id || (lives && setup->request().retry && !request.retry);
}

static std::uint64_t endpoint_key(wire::FcId peer, wire::FcviHandle handle) {
  return std::uint64_t{handle.value} << 28 | peer.value;
}

ReceivedSetup* Core::find_open(wire::FcId peer, wire::FcviHandle handle) {
  const auto newest = newest_received_.find(endpoint_key(peer, handle));
  if (newest == newest_received_.end()) return nullptr;
  ReceivedSetup* setup = received_.at(newest->second).get();
  return setup->awaits_retry() ? setup : nullptr;
}

static bool is_valid(const wire::fcvi::ConnectPayload& payload) {
  return payload.local_address.is_valid() && payload.remote_address.is_valid() &&
         payload.handle != wire::FcviHandle::unassigned;
}

void Core::connect_rqst_received(fc2::Exchange& exchange, const wire::FcHeader& header,
                                 std::span<const std::uint8_t> iu) {
  const auto request =
      wire::fcvi::ConnectRqst::from(*DeviceHeader::parse(header.device_header_size(), iu), iu.subspan(32));
  if (!request) {
    discard(fc2::Discard::BadPayload);
    return port_.release(exchange);
  }
  if (is_dead(*request, header.s_id)) {
    discard(fc2::Discard::DeadSetup);
    return port_.release(exchange);
  }
  ReceivedSetup* retried = request->retry ? find_open(header.s_id, request->payload.handle) : nullptr;
  if (retried != nullptr && retried->is_retry(*request)) return retried->retried(exchange, *request);  // C.4 rules 8, 9
  const std::uint64_t token = next_token_++;
  auto& setup = received_[token];
  setup = std::make_unique<ReceivedSetup>(*this, token, exchange, *request);
  if (retried != nullptr)
    return setup->refuse(Answer::ProtocolError);  // that set-up goes on, and waits for its own retry
  newest_received_[endpoint_key(header.s_id, request->payload.handle)] = token;
  const bool capable = header.s_id == port_.n_port_id() || port_.remote_port(header.s_id).supports_fc_vi();
  if (!capable) return setup->refuse(Answer::InvalidServiceParm);  // 5.6; the port itself asks for the login (7.7.2)
  const auto attributes = from_wire(request->payload.local_attributes);
  if (!is_valid(request->payload) || !attributes) return setup->refuse(Answer::ProtocolError);
  if (setup->is_peer_to_peer())
    peer_wanted(*setup);
  else
    connection_wanted(*setup, *attributes);
}

/// Client to server (VI-DG 3.3.1), and the reserved modes, for which nobody waits.
void Core::connection_wanted(ReceivedSetup& setup, const vi::ViAttributes& attributes) {
  const bool known_mode = setup.request().mode == wire::fcvi::ConnectMode::client_server;
  if (!known_mode || pending_requests >= config_.max_pending_requests || !connection_points_.anybody_waits())
    return setup.refuse(Answer::NoWaitingConnectionpoint);
  vi::ConnectWaitOperation* waiting = connection_points_.take(remote_address(setup.request().payload));
  if (waiting == nullptr) return setup.refuse(Answer::NoDiscriminatorMatch);
  setup.matched(*waiting, attributes);
}

/// Peer to peer: only requests of the peer pool match (VI-DG 3.3, 6.7).
void Core::peer_wanted(ReceivedSetup& setup) {
  if (!peer_pool_.anybody_waits()) return setup.refuse(Answer::NoWaitingConnectionpoint);
  PeerRequest* match = peer_pool_.match(setup.request(), setup.peer_port());
  if (match == nullptr) return setup.refuse(Answer::NoDiscriminatorMatch);
  setup.matched(*match);
}

Connection* Core::find_disconnected(wire::FcId peer, const DeviceHeader& header) {
  const auto request = wire::fcvi::DisconnectRqst::from(header);
  Connection* connection = handles_.find(header.handle);
  if (connection != nullptr && connection->peer_port() != peer) connection = nullptr;
  // An aborted setup by its id: the peer does not know our handle (6.12.2), or tells its own (C.5.7.2). Each end
  // numbers the set-ups that it originates: our handle with the id of its own set-up names no other, though the peer's
  // may have that id too.
  const bool named = connection != nullptr && connection->setup_id() == request.connection_id;
  ReceivedSetup* setup = request.conn_setup_abort ? find_setup(peer, request.connection_id) : nullptr;
  if (setup != nullptr && !(named && setup->connection() != connection))
    return setup->has_endpoint() ? setup->connection() : nullptr;
  return connection;
}

ReceivedSetup* Core::find_setup(wire::FcId peer, wire::ConnectionId connection_id) {
  return find_received([&](const ReceivedSetup& setup) {
    return !setup.is_over() && setup.peer_port() == peer && setup.request().connection_id == connection_id;
  });
}

void Core::disconnect_rqst_received(fc2::Exchange& exchange, const DeviceHeader& header) {
  const auto request = wire::fcvi::DisconnectRqst::from(header);
  if (Connection* connection = find_disconnected(exchange.peer(), header))
    return connection->disconnect_rqst_received(exchange, request);
  wire::fcvi::DisconnectResp response;  // D.1 rule 3; the id as received: 5.9.10, 6.13.2 and C.5.7.2 say so
  response.conn_setup_abort = request.conn_setup_abort;
  response.vi_app_discon = request.vi_app_discon;
  response.connection_id = request.connection_id;
  response.status = {.reason = wire::fcvi::Reason::connection_does_not_exist};
  ReceivedSetup* setup = request.conn_setup_abort ? find_setup(exchange.peer(), request.connection_id) : nullptr;
  if (setup != nullptr) {  // offered, refused or withdrawn, no VI (5.9.4.6)
    response.status = {.reason = wire::fcvi::Reason::disconnect_accept};
    setup->disconnect_received();
  }
  std::array<std::uint8_t, 32> bytes;
  response.write(bytes);
  port_.send(exchange, wire::RCtl::solicited_control, bytes, {}, {.last_of_exchange = true});
  ++counters.ius_sent;
}

// --- logins and addresses ----------------------------------------------------------------------------------------

/// Setups may come and go while `function` runs: by number, which only grows.
template <class Function>
void Core::for_each_waiting(Function function) {
  for (std::uint64_t number = 0;;) {
    const auto next = originated_.upper_bound(number);
    if (next == originated_.end()) return;
    number = next->first;
    function(*next->second);
  }
}

void Core::remote_port_logged_in(fc2::RemotePort& port) {
  for_each_waiting([&](OriginatedSetup& setup) {
    if (setup.waits_for(port.peer())) setup.port_logged_in(port.peer());
  });
}

void Core::remote_port_login_failed(fc2::RemotePort& port) {
  for_each_waiting([&](OriginatedSetup& setup) {
    if (setup.waits_for(port.peer())) setup.port_login_failed(port.peer());
  });
}

void Core::remote_port_logged_out(fc2::RemotePort& port) {
  connection_ids_.logged_out(port.peer());
  boost::unordered::erase_if(message_exchanges_,
                             [&](const auto& entry) { return entry.second.originator == port.peer(); });
  for (std::size_t slot = 0; slot < handles_.slots().size(); ++slot) {
    Connection* connection = handles_.slots()[slot].connection.get();
    if (connection != nullptr && connection->peer_port() == port.peer()) connection->port_logged_out();
  }
  for (auto next = received_.begin(); next != received_.end();) {
    ReceivedSetup& setup = *(next++)->second;
    if (setup.peer_port() == port.peer() && !setup.is_over()) setup.port_logged_out();
  }
  for_each_waiting([&](OriginatedSetup& setup) {
    if (setup.stands_alone_with(port.peer())) setup.port_logged_out();
  });
  if (port.peer() == port_.n_port_id()) peer_pool_.link_lost();
}

void Core::fabric_logged_in() {
  if (peer_pool_.anybody_waits()) port_.remote_port(port_.n_port_id());
  peer_pool_.fabric_logged_in();
}

void Core::resolved(const wire::IpAddress& address, std::span<const wire::FcId> n_port_ids) {
  for_each_waiting([&](OriginatedSetup& setup) {
    if (setup.waits_for(address)) setup.resolved(n_port_ids);
  });
}

void Core::not_resolved(const wire::IpAddress& address) {
  for_each_waiting([&](OriginatedSetup& setup) {
    if (setup.waits_for(address)) setup.not_resolved();
  });
}

// --- the end -----------------------------------------------------------------------------------------------------

void Core::retire(Connection& connection) {
  retired_handles_.push_back(connection.handle());
  bury_soon();
}

void Core::retire(OriginatedSetup& setup) {
  retired_originated_.push_back(setup.number);
  bury_soon();
}

void Core::retire(ReceivedSetup& setup) {
  const auto newest = newest_received_.find(endpoint_key(setup.peer_port(), setup.request().payload.handle));
  if (newest != newest_received_.end() && newest->second == setup.token()) newest_received_.erase(newest);
  retired_received_.push_back(setup.token());
  bury_soon();
}

void Core::bury() {
  peer_pool_.bury();
  for (const std::uint64_t number : std::exchange(retired_originated_, {})) originated_.erase(number);
  for (const std::uint64_t token : std::exchange(retired_received_, {})) received_.erase(token);
  for (const wire::FcviHandle handle : std::exchange(retired_handles_, {})) handles_.vacate(handle);
}

}  // namespace fcvi
