#include "verbs/cm_id.hpp"

#include <algorithm>
#include <cerrno>

#include "streams/drivers/listening_socket.hpp"
#include "verbs/framings.hpp"
#include "verbs/queue_pair.hpp"

namespace verbs {
using machines::iwarp::Failure;
using runtime::CoreSection;

namespace {

constexpr std::size_t most_backlog = 1024, most_depth = 255;

std::uint8_t depth_of(std::uint16_t told) { return static_cast<std::uint8_t>(std::min<std::size_t>(told, most_depth)); }

/// What the program is told of a start-up that failed.
struct Outcome {
  rdma_cm_event_type event;
  int status;
};

Outcome not_reachable(std::optional<streams::Reason> reason) {
  const int error = errno_of(reason.value_or(streams::Reason::unreachable));
  const bool refused = error == ECONNREFUSED || error == ECONNRESET;
  return {refused ? RDMA_CM_EVENT_REJECTED : RDMA_CM_EVENT_UNREACHABLE, -error};
}

Outcome outcome_of(Failure failure, std::optional<streams::Reason> reason) {
  switch (failure) {
    case Failure::NotReachable: return not_reachable(reason);
    case Failure::TimedOut: return {RDMA_CM_EVENT_UNREACHABLE, -ETIMEDOUT};
    case Failure::PeerClosed: return {RDMA_CM_EVENT_REJECTED, -ECONNRESET};
    case Failure::Rejected:
    case Failure::NotAdmitted: return {RDMA_CM_EVENT_REJECTED, -ECONNREFUSED};
    case Failure::Invalid:
    case Failure::Crossing: return {RDMA_CM_EVENT_CONNECT_ERROR, -EPROTO};
    case Failure::NotAgreed: return {RDMA_CM_EVENT_CONNECT_ERROR, -EOPNOTSUPP};
    case Failure::Withdrawn: break;
  }
  return {RDMA_CM_EVENT_CONNECT_ERROR, -ECONNABORTED};
}

std::vector<std::uint8_t> private_data_of(const rdma_conn_param* parameters) {
  if (parameters == nullptr || parameters->private_data == nullptr) return {};
  const auto* const first = static_cast<const std::uint8_t*>(parameters->private_data);
  return {first, first + parameters->private_data_len};
}

}  // namespace

// --- made, and gone ------------------------------------------------------------------------------------------------

CmId::CmId(Process& process, EventChannel* to, void* own)
    : rdma_cm_id{}, process_(process), own_channel_(to == nullptr ? new EventChannel : nullptr),
      channel_(to == nullptr ? own_channel_.get() : to) {
  rdma_cm_id::channel = channel_;
  rdma_cm_id::context = own;
  ps = RDMA_PS_TCP;
  qp_type = IBV_QPT_RC;
}

CmId::~CmId() {
  {
    const CoreSection section(process_.host());
    if (startup_ != nullptr) listener_->reject(*std::exchange(startup_, nullptr), {});
    if (state_ == State::listening) listener_->user_gone();
    if (connection_ != nullptr) connection_->user_gone();
  }
  withdraw_events();
  if (event != nullptr) acknowledge(std::exchange(event, nullptr));
  acknowledgements_.wait_for_all();
}

/// Those that the program has not got; requests among them are rejected.
void CmId::withdraw_events() {
  std::vector<rdma_cm_id*> requests;
  channel_->events().remove_if([&](const std::shared_ptr<CmEvent>& one) {
    if (one->event == RDMA_CM_EVENT_CONNECT_REQUEST && one->listen_id == this) return requests.push_back(one->id), true;
    return one->id == this;
  });
  for (rdma_cm_id* const request : requests) delete &CmId::of(request);
}

// --- events --------------------------------------------------------------------------------------------------------

void CmId::tell(rdma_cm_event_type type, int status) {
  tell(std::make_shared<CmEvent>(*this, acknowledgements_, type, status));
}

std::shared_ptr<CmEvent> CmId::event_of(rdma_cm_event_type type, int status, const iwarp::PeerOffer& peer) {
  auto made = std::make_shared<CmEvent>(*this, acknowledgements_, type, status);
  rdma_conn_param& told = made->param.conn;
  const auto ours = static_cast<std::uint16_t>(process_.configuration().reads);
  told.responder_resources = depth_of(peer.enhanced ? peer.enhanced->ord : ours);
  told.initiator_depth = depth_of(peer.enhanced ? peer.enhanced->ird : ours);
  made->set_private_data(peer.private_data);
  return made;
}

int CmId::complete(int error) {
  if (error != 0 || !own_channel_) return error;
  if (event != nullptr) acknowledge(std::exchange(event, nullptr));
  if (const int failed = get_event(channel_, &event); failed != 0) return failed;
  return event->status == 0 ? 0 : std::abs(event->status);
}

int CmId::migrate(EventChannel* to) {
  const CoreSection section(process_.host());
  EventChannel* const from = channel_;
  auto own = to == nullptr ? std::make_unique<EventChannel>() : nullptr;
  channel_ = to == nullptr ? own.get() : to;
  rdma_cm_id::channel = channel_;
  std::vector<std::shared_ptr<CmEvent>> moved;
  from->events().remove_if([&](const std::shared_ptr<CmEvent>& one) {
    const bool is_own = one->event == RDMA_CM_EVENT_CONNECT_REQUEST ? one->listen_id == this : one->id == this;
    if (is_own) moved.push_back(one);
    return is_own;
  });
  for (auto& one : moved) tell(std::move(one));
  own_channel_ = std::move(own);
  return 0;
}

// --- addresses -----------------------------------------------------------------------------------------------------

void CmId::set_local(const streams::Address& address) {
  local_ = address;
  write_address(address, route.addr.src_storage);
}

void CmId::set_remote(const streams::Address& address) {
  remote_ = address;
  write_address(address, route.addr.dst_storage);
}

void CmId::set_device(Device& device) {
  device_ = &device;
  verbs = device.shared_context();
  pd = device.shared_domain();
  port_num = 1;
}

/// The system's port is taken here, so that it is told by the call that asks for it. SCTP's is UDP's, where
/// SO_REUSEADDR would have it twice.
int CmId::reserve(const streams::Address& address) {
  const bool is_udp = process_.configuration().terms_for({}, address.port).framing == Framing::sctp;
  iwarp::SctpPeers* const peers = is_udp ? process_.sctp_peers() : nullptr;
  if (peers != nullptr && peers->keeps(address)) return set_local(address), 0;
  const auto endpoint = streams::drivers::endpoint_of(address);
  const int kind = is_udp ? SOCK_DGRAM : SOCK_STREAM;
  runtime::drivers::Descriptor socket(::socket(endpoint.protocol().family(), kind | SOCK_CLOEXEC, 0));
  if (!socket) return errno;
  const int one = 1;
  if (!is_udp) ::setsockopt(socket.number(), SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
  if (::bind(socket.number(), endpoint.data(), static_cast<socklen_t>(endpoint.size())) != 0) return errno;
  set_local(streams::drivers::local_address_of(socket.number()).value_or(address));
  reservation_ = std::move(socket);
  return 0;
}

int CmId::bind_inside(const streams::Address& address) {
  if (state_ != State::idle) return EINVAL;
  Device* const device = is_wildcard(address.ip) ? nullptr : device_at(process_, address.ip);
  if (device == nullptr && !is_wildcard(address.ip)) return ENODEV;
  if (const int error = reserve(address); error != 0) return error;
  if (device != nullptr) set_device(*device);
  state_ = State::bound;
  return 0;
}

int CmId::bind(const sockaddr* address) {
  const auto parsed = address_of(address);
  if (!parsed) return EAFNOSUPPORT;
  const CoreSection section(process_.host());
  return bind_inside(*parsed);
}

int CmId::resolve_inside(const streams::Address& to) {
  if (state_ != State::idle && state_ != State::bound) return EINVAL;
  set_remote(to);
  const auto source = source_address_to(to);
  if (!source) return tell(RDMA_CM_EVENT_ADDR_ERROR, -source.error().value()), 0;
  const wire::IpAddress ip = is_wildcard(local_.ip) ? *source : local_.ip;
  Device* const device = device_at(process_, ip);
  if (device == nullptr) return tell(RDMA_CM_EVENT_ADDR_ERROR, -ENODEV), 0;
  set_local({ip, local_.port});
  set_device(*device);
  state_ = State::address_resolved;
  tell(RDMA_CM_EVENT_ADDR_RESOLVED);
  return 0;
}

int CmId::resolve_address(const sockaddr* from, const sockaddr* to) {
  const auto remote = address_of(to);
  if (!remote) return EAFNOSUPPORT;
  if (from != nullptr && from->sa_family != AF_UNSPEC && state_ == State::idle)
    if (const int error = bind(from); error != 0) return error;
  int error = 0;
  {
    const CoreSection section(process_.host());
    error = resolve_inside(*remote);
  }
  return complete(error);
}

/// TCP finds its way by itself.
int CmId::resolve_route() {
  {
    const CoreSection section(process_.host());
    if (state_ != State::address_resolved) return EINVAL;
    state_ = State::route_resolved;
    tell(RDMA_CM_EVENT_ROUTE_RESOLVED);
  }
  return complete(0);
}

// --- listening -----------------------------------------------------------------------------------------------------

int CmId::listen(int backlog) {
  const CoreSection section(process_.host());
  if (state_ == State::idle)
    if (const int error = bind_inside({wire::IpAddress::v4(0, 0, 0, 0), 0}); error != 0) return error;
  if (state_ != State::bound) return EINVAL;
  const std::size_t limit = backlog <= 0 ? most_backlog : std::min(static_cast<std::size_t>(backlog), most_backlog);
  PortUser& own = *this;
  const Terms& terms = process_.configuration().terms_for({}, local_.port);
  const auto listener = std::make_shared<PortListener>(process_, own, terms, limit);
  reservation_ = {};
  if (const int error = listener->listen(local_); error != 0) return error;
  set_local(listener->address());
  listener_ = listener.get();
  process_.keep(listener);
  state_ = State::listening;
  return 0;
}

RequestOwner* CmId::requested(PortListener& listener, iwarp::PassiveStartup& startup, const iwarp::PeerOffer& offer) {
  Device* const device = device_at(process_, startup.local().ip);
  if (device == nullptr) return nullptr;
  auto* const request = new CmId(process_, channel_, rdma_cm_id::context);
  request->set_device(*device);
  request->set_local(startup.local());
  request->set_remote(startup.remote());
  request->listener_ = &listener;
  request->startup_ = &startup;
  request->offer_ = offer;
  request->state_ = State::requested;
  auto made = request->event_of(RDMA_CM_EVENT_CONNECT_REQUEST, 0, offer);
  made->set_listener(*this, acknowledgements_);
  tell(std::move(made));
  return request;
}

int CmId::get_request(rdma_cm_id** request) {
  if (!own_channel_ || state_ != State::listening) return EINVAL;
  if (event != nullptr) acknowledge(std::exchange(event, nullptr));
  rdma_cm_event* got = nullptr;
  if (const int error = get_event(channel_, &got); error != 0) return error;
  if (got->event != RDMA_CM_EVENT_CONNECT_REQUEST) return acknowledge(got), EINVAL;
  CmId& made = CmId::of(got->id);
  made.event = got;
  made.migrate(nullptr);
  if (endpoint_) {
    ibv_qp_init_attr wanted = *endpoint_;
    ProtectionDomain* const domain = endpoint_domain_ == nullptr ? nullptr : &ProtectionDomain::of(endpoint_domain_);
    if (const int error = made.create_queue_pair(domain, wanted, false); error != 0) return delete &made, error;
  }
  *request = &made;
  return 0;
}

// --- connections ---------------------------------------------------------------------------------------------------

/// Where the other end is not told how many RDMA Reads this one holds, it is as many as are configured (ruling I-14).
int CmId::depths_of(const rdma_conn_param* parameters, bool are_told, Depths& depths) const {
  const std::size_t most = process_.configuration().reads;
  depths = {most, most};
  if (parameters == nullptr) return 0;
  if (parameters->responder_resources != RDMA_MAX_RESP_RES) depths.ird = parameters->responder_resources;
  if (parameters->initiator_depth != RDMA_MAX_INIT_DEPTH) depths.ord = parameters->initiator_depth;
  if (depths.ird > most || depths.ord > most) return EINVAL;
  if (!are_told) depths.ird = most;
  return 0;
}

QueuePair* CmId::queue_pair_of(const rdma_conn_param* parameters) const {
  QueuePair* const found = qp != nullptr           ? &QueuePair::of(qp)
                           : parameters != nullptr ? process_.queue_pair(parameters->qp_num)
                                                   : nullptr;
  return found != nullptr && found->is_free() ? found : nullptr;
}

void CmId::begin(QueuePair& queue_pair, const Depths& depths, const Terms& terms) {
  ConnectionUser& own = *this;
  const auto connection = std::make_shared<Connection>(*device_, own, queue_pair, depths, terms.immediate_data);
  connection_ = connection.get();
  process_.keep(connection);
}

int CmId::connect_inside(const rdma_conn_param* parameters) {
  if (state_ != State::route_resolved) return EINVAL;
  const Terms& terms = process_.configuration().terms_for(remote_.ip, remote_.port);
  const bool carries = carries_private_data(terms.framing);
  std::vector<std::uint8_t> private_data = private_data_of(parameters);
  if (!carries && !private_data.empty()) return EINVAL;
  Depths depths;
  if (const int error = depths_of(parameters, carries, depths); error != 0) return error;
  QueuePair* const queue_pair = queue_pair_of(parameters);
  if (queue_pair == nullptr) return EINVAL;
  reservation_ = {};
  begin(*queue_pair, depths, terms);
  state_ = State::connecting;
  connection_->connect({remote_, local_, std::move(private_data), terms});
  return 0;
}

int CmId::connect(const rdma_conn_param* parameters) {
  int error = 0;
  {
    const CoreSection section(process_.host());
    error = connect_inside(parameters);
  }
  return complete(error);
}

int CmId::accept_inside(const rdma_conn_param* parameters) {
  if (state_ != State::requested) return EINVAL;
  if (startup_ == nullptr) return ECONNRESET;
  const bool carries = startup_->carries_private_data();
  std::vector<std::uint8_t> private_data = private_data_of(parameters);
  if (!carries && !private_data.empty()) return EINVAL;
  Depths depths;
  if (const int error = depths_of(parameters, carries, depths); error != 0) return error;
  QueuePair* const queue_pair = queue_pair_of(parameters);
  if (queue_pair == nullptr) return EINVAL;
  const Terms& terms = process_.configuration().terms_for({}, local_.port);
  begin(*queue_pair, depths, terms);
  state_ = State::connecting;
  iwarp::PassiveStartup& startup = *std::exchange(startup_, nullptr);
  listener_->prepare_accept(startup, *device_);
  connection_->accept(startup, std::move(private_data), terms.await_first_fpdu ? 0 : terms.first_fpdu_delay);
  return 0;
}

int CmId::accept(const rdma_conn_param* parameters) {
  int error = 0;
  {
    const CoreSection section(process_.host());
    error = accept_inside(parameters);
  }
  return complete(error);
}

int CmId::reject(wire::Bytes private_data) {
  const CoreSection section(process_.host());
  if (state_ != State::requested) return EINVAL;
  if (startup_ == nullptr) return ECONNRESET;
  if (!startup_->carries_private_data() && !private_data.empty()) return EINVAL;
  listener_->reject(*std::exchange(startup_, nullptr), {private_data.begin(), private_data.end()});
  return 0;
}

int CmId::disconnect() {
  {
    const CoreSection section(process_.host());
    if (state_ != State::connected && state_ != State::connecting) return EINVAL;
    if (connection_ == nullptr) return 0;  // the other end was first
    connection_->disconnect();
  }
  return complete(0);
}

void CmId::established(const iwarp::PeerOffer& peer) {
  state_ = State::connected;
  tell(event_of(RDMA_CM_EVENT_ESTABLISHED, 0, peer));
}

void CmId::startup_failed(Failure failure, std::optional<streams::Reason> reason, const iwarp::PeerOffer& peer) {
  const Outcome outcome = outcome_of(failure, reason);
  tell(event_of(outcome.event, outcome.status, peer));
}

void CmId::disconnected() { tell(RDMA_CM_EVENT_DISCONNECTED); }

// --- queue pairs ---------------------------------------------------------------------------------------------------

void CmId::set_endpoint(ibv_pd* domain, const ibv_qp_init_attr* wanted) {
  endpoint_domain_ = domain;
  if (wanted != nullptr) endpoint_ = *wanted;
}

int CmId::create_completion_queues(ibv_qp_init_attr& wanted) {
  const auto make = [this](std::uint32_t size, ibv_comp_channel*& channel_of, ibv_cq*& queue) {
    channel_of = new CompletionChannel(*verbs);
    rdma_cm_id* const context = this;  // which the inline functions of rdma_verbs.h expect
    queue = new CompletionQueue(*verbs, static_cast<int>(std::max(size, 1U)), context, channel_of);
    return queue;
  };
  if (wanted.recv_cq == nullptr) wanted.recv_cq = make(wanted.cap.max_recv_wr, recv_cq_channel, recv_cq);
  if (wanted.send_cq == nullptr) wanted.send_cq = make(wanted.cap.max_send_wr, send_cq_channel, send_cq);
  return 0;
}

int CmId::create_queue_pair(ProtectionDomain* domain, ibv_qp_init_attr& wanted, bool has_builders) {
  if (verbs == nullptr || qp != nullptr) return EINVAL;
  if (domain == nullptr) domain = &ProtectionDomain::of(pd);
  if (domain->context->device != verbs->device) return EINVAL;
  if (wanted.srq == nullptr) wanted.srq = srq;  // the id's own: rdma_create_srq(3)
  create_completion_queues(wanted);
  const auto made = QueuePair::make(*domain, {wanted, has_builders});
  if (!made) return destroy_queue_pair(), made.error().value();
  ibv_qp_attr attributes{};
  attributes.qp_state = IBV_QPS_INIT;
  (*made)->modify(attributes, IBV_QP_STATE);
  qp = &(*made)->qp_base;
  pd = domain;
  return 0;
}

void CmId::destroy_queue_pair() {
  if (ibv_qp* const old = std::exchange(qp, nullptr)) delete &QueuePair::of(old);
  const auto destroy = [](ibv_cq*& queue, ibv_comp_channel*& channel_of) {
    if (ibv_cq* const old = std::exchange(queue, nullptr)) delete &CompletionQueue::of(old);
    if (ibv_comp_channel* const old = std::exchange(channel_of, nullptr)) delete &CompletionChannel::of(old);
  };
  destroy(send_cq, send_cq_channel);
  destroy(recv_cq, recv_cq_channel);
}

}  // namespace verbs
