#include "loopback/provider.hpp"

#include <algorithm>
#include <utility>

#include "state_machines/consistency.hpp"

namespace loopback {

Provider::Provider(Hub& hub, std::vector<wire::IpAddress> addresses) : hub_(hub), addresses_(std::move(addresses)) {
  hub_.add_hosts(addresses_);
}

Provider::~Provider() { hub_.remove_hosts(addresses_); }

bool Provider::is_consistent() const {
  const bool endpoints = std::all_of(endpoints_.begin(), endpoints_.end(), [](const auto& entry) {
    return entry.first->transport_context == entry.second.get() && &entry.second->vi() == entry.first &&
           entry.second->is_consistent();
  });
  const bool hosts = std::all_of(addresses_.begin(), addresses_.end(),
                                 [&](const wire::IpAddress& host) { return hub_.has_host(host); });
  return endpoints && hosts && hub_.is_consistent();
}

vi::Capabilities Provider::capabilities() const {
  return {.native_mtu_bytes = chunk_bytes, .max_addresses = 16};  // of the configuration; here there is no limit
}

vi::Return Provider::attach(vi::Vi& vi) {
  auto endpoint = std::make_unique<Endpoint>(hub_, vi);  // without memory: nothing of it is kept
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

bool Provider::is_own(const wire::IpAddress& host) const {
  return std::find(addresses_.begin(), addresses_.end(), host) != addresses_.end();
}

vi::Return Provider::request(vi::Vi& vi, const Endpoint::Request& request, vi::TimeNs timeout_ns) {
  const vi::Return refusal = vi.may_request(is_own(request.local.host), timeout_ns);
  if (refusal == vi::Return::Success) of(vi).connect(request, timeout_ns);
  FCVI_ASSERT_CONSISTENT(*this);
  return refusal;
}

void Provider::connect_request(vi::Vi& vi, const vi::NetAddress& local, const vi::NetAddress& remote,
                               vi::TimeNs timeout_ns, vi::ConnectOperation& operation) {
  const vi::Return refusal = request(vi, {local, remote, &operation}, timeout_ns);
  if (refusal != vi::Return::Success) operation.done(refusal);
}

vi::Return Provider::connect_peer_request(vi::Vi& vi, const vi::NetAddress& local, const vi::NetAddress& remote,
                                          vi::TimeNs timeout_ns, vi::ConnectOperation& operation) {
  return request(vi, {local, remote, &operation, true}, timeout_ns);
}

void Provider::connect_wait(const vi::NetAddress& local, vi::TimeNs timeout_ns, vi::ConnectWaitOperation& operation) {
  if (!is_own(local.host)) return operation.done(vi::Return::InvalidParameter);
  hub_.points().wait(local, timeout_ns, operation);
}

void Provider::connect_accept(vi::ConnectionToken token, vi::Vi& vi, vi::Operation& operation) {
  operation.done(accept(token, vi));
  FCVI_ASSERT_CONSISTENT(*this);
}

/// VI-DG 3.3.2: where the attributes do not match the offer stays.
vi::Return Provider::accept(vi::ConnectionToken token, vi::Vi& vi) {
  Endpoint* client = hub_.offers().find(token);
  if (client == nullptr) return hub_.offers().refusal_of(token);
  const vi::Return refusal = vi.may_accept(client->vi().attributes());
  if (refusal == vi::Return::Success) client->accepted_by(of(vi));
  return refusal;
}

/// VI-DG 6.7: to reject a request whose client gave up is a success: both agree that it failed.
void Provider::connect_reject(vi::ConnectionToken token, vi::Operation& operation) {
  Endpoint* client = hub_.offers().find(token);
  if (client != nullptr) client->rejected();
  operation.done(hub_.offers().was_issued(token) ? vi::Return::Success : vi::Return::InvalidParameter);
  FCVI_ASSERT_CONSISTENT(*this);
}

void Provider::disconnect(vi::Vi& vi, vi::Operation& operation) {
  of(vi).disconnect();
  operation.done(vi::Return::Success);
  FCVI_ASSERT_CONSISTENT(*this);
}

void Provider::stopped(vi::Vi& vi, vi::StopCause) {
  if (vi.transport_context != nullptr) of(vi).stopped();
}

vi::EndCause Provider::cause_of_end(const vi::Vi& vi) const {
  return vi.transport_context == nullptr ? vi::EndCause{} : of(vi).end_cause();
}

}  // namespace loopback
