#include "fcvi/provider.hpp"

#include "fcvi/connection.hpp"
#include "fcvi/core.hpp"

namespace fcvi {

Provider::Provider(fc2::NPort& port, farp::Resolver& resolver, ProviderConfig config)
    : core_(std::make_unique<Core>(port, resolver, config)) {}
Provider::~Provider() = default;

/// FC-VI 5.7, 7.2: a frame has 2112 bytes, 32 of them the device header; 16 addresses are what a name server keeps
/// of a port.
vi::Capabilities Provider::capabilities() const {
  constexpr std::uint32_t device_header_bytes = 32;
  constexpr std::size_t registered_addresses = 16;
  return {.native_mtu_bytes = fc2::max_data_field_bytes - device_header_bytes,
          .max_transfer_size_bytes = 0xFFFFFFFF,
          .max_discriminator_bytes = vi::NetAddress::max_discriminator_bytes,
          .levels = vi::all_levels,
          .rdma_read_levels = vi::reliable_levels,
          .max_addresses = registered_addresses};
}

vi::Return Provider::attach(vi::Vi&) { return vi::Return::Success; }
void Provider::detach(vi::Vi& vi) { core_->detach(vi); }

void Provider::connect_request(vi::Vi& vi, const vi::NetAddress& local, const vi::NetAddress& remote,
                               vi::TimeNs timeout_ns, vi::ConnectOperation& operation) {
  core_->connect_request(vi, local, remote, timeout_ns, operation);
}

void Provider::connect_wait(const vi::NetAddress& local, vi::TimeNs timeout_ns, vi::ConnectWaitOperation& operation) {
  if (!core_->is_own(local.host)) return operation.done(vi::Return::InvalidParameter);
  core_->connection_points().wait(local, timeout_ns, operation);
}

void Provider::connect_accept(vi::ConnectionToken token, vi::Vi& vi, vi::Operation& operation) {
  core_->connect_accept(token, vi, operation);
}
void Provider::connect_reject(vi::ConnectionToken token, vi::Operation& operation) {
  core_->connect_reject(token, operation);
}
vi::Return Provider::connect_peer_request(vi::Vi& vi, const vi::NetAddress& local, const vi::NetAddress& remote,
                                          vi::TimeNs timeout_ns, vi::ConnectOperation& operation) {
  return core_->connect_peer_request(vi, local, remote, timeout_ns, operation);
}
void Provider::withdraw(vi::ConnectWaitOperation& operation) { core_->connection_points().withdraw(operation); }
void Provider::disconnect(vi::Vi& vi, vi::Operation& operation) { core_->disconnect(vi, operation); }

void Provider::send_posted(vi::Vi& vi) {
  if (auto* connection = static_cast<Connection*>(vi.transport_context)) connection->sender().wake();
}
void Provider::stopped(vi::Vi& vi, vi::StopCause cause) {
  if (auto* connection = static_cast<Connection*>(vi.transport_context)) connection->stopped_by_model(cause);
}

void Provider::set_options(const vi::Vi& vi, ConnectionOptions options) { core_->set_options(vi, options); }

std::optional<PeerReport> Provider::told_by_peer(const vi::Vi& vi) const { return core_->told_by_peer(vi); }
EndCause Provider::end_cause(const vi::Vi& vi) {
  const auto* connection = static_cast<const Connection*>(vi.transport_context);
  return connection == nullptr ? EndCause{} : connection->end_cause();
}

const ProviderConfig& Provider::config() const { return core_->config(); }
bool Provider::is_own(const wire::IpAddress& host) const { return core_->is_own(host); }
const ProviderCounters& Provider::counters() const { return core_->counters; }
std::size_t Provider::handles_in_use() const { return core_->handles_in_use(); }
std::size_t Provider::open_setups() const { return core_->open_setups(); }
std::size_t Provider::resting_connection_ids() const { return core_->resting_connection_ids(); }
std::uint64_t Provider::reorder_bytes() const { return core_->reorder_pool.held_bytes(); }
std::uint64_t Provider::reorder_peak_bytes() const { return core_->reorder_pool.peak_bytes(); }
std::size_t Provider::open_connection_ids() const { return core_->open_connection_ids(); }
fc2::NPort& Provider::port() { return core_->port(); }

}  // namespace fcvi
