#include "vitcp/provider.hpp"

#include <algorithm>
#include <utility>

#include "state_machines/consistency.hpp"
#include "vitcp/conversions.hpp"

namespace vitcp {

Provider::Provider(streams::Streams& streams, runtime::Scheduler& scheduler, ProviderConfig config)
    : config_(std::move(config)), services_{streams, scheduler, config_, counters_, *workspace_, numbers_} {
  acceptor_.points().set_listener(wait_book_);
}

Provider::~Provider() = default;

bool Provider::is_consistent() const {
  const bool endpoints = std::all_of(endpoints_.begin(), endpoints_.end(), [](const auto& entry) {
    return entry.first->transport_context == entry.second.get() && entry.second->is_consistent();
  });
  const bool orphans =
      std::all_of(orphans_.begin(), orphans_.end(), [](const auto& orphan) { return orphan->is_consistent(); });
  return endpoints && orphans && acceptor_.is_consistent();
}

vi::Capabilities Provider::capabilities() const {
  return {.native_mtu_bytes = static_cast<std::uint32_t>(config_.segment_bytes - wire::vitcp::segment_header_bytes),
          .max_discriminator_bytes = wire::vitcp::Discriminator::max_bytes,  // ruling V-14
          .max_addresses = 16,
          .needs_receives_at_once = true};  // the peer waits for them (VI-TCP 3.2)
}

vi::Return Provider::attach(vi::Vi& vi) {
  EndpointOwner& owner = *this;
  auto endpoint = std::make_unique<Endpoint>(services_, owner, vi);  // without memory: nothing of it is kept
  vi.transport_context = endpoints_.insert_or_assign(&vi, std::move(endpoint)).first->second.get();
  return vi::Return::Success;
}

void Provider::detach(vi::Vi& vi) {
  const auto found = endpoints_.find(&vi);
  if (found == endpoints_.end()) return;
  found->second->abandon();
  vi.transport_context = nullptr;
  endpoints_.erase(found);
  FCVI_ASSERT_CONSISTENT(*this);
}

void Provider::detach_all() {
  while (!endpoints_.empty()) detach(endpoints_.begin()->second->vi());
}

bool Provider::is_own(const wire::IpAddress& host) const {
  return std::find(config_.addresses.begin(), config_.addresses.end(), host) != config_.addresses.end();
}

/// impl: no connection leads from IPv4 to IPv6. A program that connects from LocalNicAddress to an address of the other
/// family connects from the NIC's first address of that.
vi::NetAddress Provider::from_family_of(const vi::NetAddress& remote, vi::NetAddress local) const {
  const bool v4 = remote.host.is_v4_mapped();
  if (local.host.is_v4_mapped() == v4) return local;
  const auto same = [v4](const wire::IpAddress& own) { return own.is_v4_mapped() == v4; };
  const auto found = std::find_if(config_.addresses.begin(), config_.addresses.end(), same);
  if (found != config_.addresses.end()) local.host = *found;
  return local;
}

std::size_t Provider::connected() const {
  return static_cast<std::size_t>(std::count_if(endpoints_.begin(), endpoints_.end(),
                                                [](const auto& entry) { return entry.second->has_connection(); }));
}

void Provider::say_goodbye() {
  for (const auto& [vi, endpoint] : endpoints_) endpoint->say_goodbye();
}

void Provider::connect_request(vi::Vi& vi, const vi::NetAddress& local, const vi::NetAddress& remote,
                               vi::TimeNs timeout_ns, vi::ConnectOperation& operation) {
  const vi::Return refusal = request(vi, {local, remote, timeout_ns}, operation);
  if (refusal != vi::Return::Success) operation.done(refusal);
}

vi::Return Provider::connect_peer_request(vi::Vi& vi, const vi::NetAddress& local, const vi::NetAddress& remote,
                                          vi::TimeNs timeout_ns, vi::ConnectOperation& operation) {
  return request(vi, {local, remote, timeout_ns, true}, operation);
}

vi::Return Provider::request(vi::Vi& vi, ActiveSetup::Request request, vi::ConnectOperation& operation) {
  const bool addresses = is_own(request.local.host) && fits(request.local) && fits(request.remote);
  const vi::Return refusal = vi.may_request(addresses, request.timeout);
  request.local = from_family_of(request.remote, request.local);
  if (refusal == vi::Return::Success) of(vi).connect(request, operation);
  FCVI_ASSERT_CONSISTENT(*this);
  return refusal;
}

void Provider::connect_wait(const vi::NetAddress& local, vi::TimeNs timeout_ns, vi::ConnectWaitOperation& operation) {
  if (!is_own(local.host) || !fits(local)) return operation.done(vi::Return::InvalidParameter);
  acceptor_.points().wait(local, timeout_ns, operation);
}

void Provider::connect_accept(vi::ConnectionToken token, vi::Vi& vi, vi::Operation& operation) {
  operation.done(accept(token, vi));
  FCVI_ASSERT_CONSISTENT(*this);
}

/// VI-DG 3.3.2, but that the transfer sizes need not be the same (VI-TCP 2.2.1): where the levels do not match the
/// offer stays.
vi::Return Provider::accept(vi::ConnectionToken token, vi::Vi& vi) {
  IncomingSetup* const setup = acceptor_.offers().find(token);
  if (setup == nullptr) return acceptor_.offers().refusal_of(token);
  if (vi.state() != vi::State::Idle) return vi::Return::InvalidState;
  setup->look_for_end();
  if (acceptor_.offers().find(token) == nullptr) return acceptor_.offers().refusal_of(token);
  Established established;
  const vi::Return refusal = setup->accept(vi, established);
  if (refusal == vi::Return::Success) of(vi).accepted(acceptor_.release(*setup), std::move(established));
  return refusal;
}

/// VI-DG 6.7: to reject a request whose client gave up is a success: both agree that it failed.
void Provider::connect_reject(vi::ConnectionToken token, vi::Operation& operation) {
  if (IncomingSetup* const setup = acceptor_.offers().find(token); setup != nullptr) {
    acceptor_.decided(*setup);
    setup->reject();
  }
  operation.done(acceptor_.offers().was_issued(token) ? vi::Return::Success : vi::Return::InvalidParameter);
  FCVI_ASSERT_CONSISTENT(*this);
}

void Provider::disconnect(vi::Vi& vi, vi::Operation& operation) {
  of(vi).disconnect(operation);
  FCVI_ASSERT_CONSISTENT(*this);
}

void Provider::stopped(vi::Vi& vi, vi::StopCause) {
  if (vi.transport_context != nullptr) of(vi).stopped();
}

vi::EndCause Provider::cause_of_end(const vi::Vi& vi) const {
  return vi.transport_context == nullptr ? vi::EndCause{} : of(vi).end_cause();
}

void Provider::bury(std::unique_ptr<ActiveSetup> setup) {
  dead_setups_.push_back(std::move(setup));
  bury_soon();
}

void Provider::bury(std::unique_ptr<PeerRequest> request) {
  dead_requests_.push_back(std::move(request));
  bury_soon();
}

void Provider::bury(std::unique_ptr<Connection> connection) {
  dead_connections_.push_back(std::move(connection));
  bury_soon();
}

void Provider::bury_all() {
  dead_setups_.clear();
  dead_requests_.clear();
  dead_connections_.clear();
  orphans_.remove_if([](const auto& connection) { return connection->is_over(); });
}

}  // namespace vitcp
