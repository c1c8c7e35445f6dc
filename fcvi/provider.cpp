#include "fcvi/provider.hpp"

#include <algorithm>

#include "fcvi/connections.hpp"
#include "fcvi/dispatcher.hpp"
#include "fcvi/setup_book.hpp"
#include "vi/connection_points.hpp"

namespace fcvi {

/// The parts of a provider, of which it has one each. They are constructed in the order of declaration and destroyed in
/// the reverse order. A constructor may call parts that are declared above it; of those below it keeps references only.
struct Provider::Parts {
  Parts(fc2::NPort& port, farp::Resolver& resolver, const ProviderConfig& chosen)
      : config(chosen), reorder_pool(chosen.reorder_pool_bytes),
        connection_ids(chosen.first_connection_id), services{.port = port,
                                                             .scheduler = port.scheduler(),
                                                             .resolver = resolver,
                                                             .config = config,
                                                             .counters = counters,
                                                             .reorder_pool = reorder_pool,
                                                             .connection_ids = connection_ids,
                                                             .message_exchanges = message_exchanges,
                                                             .peer_reports = peer_reports,
                                                             .connection_owner = connections,
                                                             .replies = dispatcher,
                                                             .burial = burial} {
    dispatcher.begin();
  }
  ~Parts() { dispatcher.end(); }
  void bury() {
    setups.bury();
    connections.bury();
  }
  [[nodiscard]] bool is_own(const wire::IpAddress& host) const;
  Connection* begin_request(vi::Vi& vi, const vi::NetAddress& local, vi::TimeNs timeout_ns, vi::Return& refusal);
  [[nodiscard]] runtime::TimeNs deadline_after(vi::TimeNs timeout_ns) const;

  const ProviderConfig config;
  ProviderCounters counters;
  ReorderPool reorder_pool;
  ConnectionIds connection_ids;
  MessageExchanges message_exchanges;
  PeerReports peer_reports;
  runtime::Timer<Parts, &Parts::bury> burial{*this};
  Connections connections{services, config};
  Dispatcher dispatcher{services, connections, setups};  // keeps references: begin() follows
  const Services services;
  vi::ConnectionPoints connection_points{services.scheduler};
  SetupBook setups{services, connection_points, connections};
};

bool Provider::Parts::is_own(const wire::IpAddress& host) const {
  const auto& more = config.more_addresses;
  return host == config.address || std::find(more.begin(), more.end(), host) != more.end();
}

/// VipConnectRequest and VipConnectPeerRequest: the VI is Pending Connect, or nullptr and why not.
Connection* Provider::Parts::begin_request(vi::Vi& vi, const vi::NetAddress& local, vi::TimeNs timeout_ns,
                                           vi::Return& refusal) {
  refusal = vi.may_request(is_own(local.host), timeout_ns);
  if (refusal != vi::Return::Success) return nullptr;
  refusal = vi::Return::ErrorResource;
  Connection* connection = connections.open(vi);
  if (connection != nullptr) connection->feed(machines::vi_endpoint::ConnectRequested{});
  return connection;
}

runtime::TimeNs Provider::Parts::deadline_after(vi::TimeNs timeout_ns) const {
  const runtime::TimeNs now = services.now();
  return timeout_ns >= runtime::never - now ? runtime::never : now + timeout_ns;
}

Provider::Provider(fc2::NPort& port, farp::Resolver& resolver, ProviderConfig config)
    : parts_(std::make_unique<Parts>(port, resolver, config)) {}
Provider::~Provider() = default;

// --- vi::Transport -----------------------------------------------------------------------------------------------

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

void Provider::detach(vi::Vi& vi) {
  if (auto* connection = static_cast<Connection*>(vi.transport_context)) connection->abandon();
  parts_->connections.forget(vi);
}

void Provider::connect_request(vi::Vi& vi, const vi::NetAddress& local, const vi::NetAddress& remote,
                               vi::TimeNs timeout_ns, vi::ConnectOperation& operation) {
  vi::Return refusal{};
  Connection* connection = parts_->begin_request(vi, local, timeout_ns, refusal);
  if (connection == nullptr) return operation.done(refusal);
  const runtime::TimeNs deadline = parts_->deadline_after(timeout_ns);
  parts_->setups.add_setup(*connection, local, remote, deadline, operation, nullptr).start();
}

void Provider::connect_wait(const vi::NetAddress& local, vi::TimeNs timeout_ns, vi::ConnectWaitOperation& operation) {
  if (!is_own(local.host)) return operation.done(vi::Return::InvalidParameter);
  parts_->connection_points.wait(local, timeout_ns, operation);
}

void Provider::connect_accept(vi::ConnectionToken token, vi::Vi& vi, vi::Operation& operation) {
  parts_->setups.accept(token, vi, operation);
}
void Provider::connect_reject(vi::ConnectionToken token, vi::Operation& operation) {
  parts_->setups.reject(token, operation);
}

vi::Return Provider::connect_peer_request(vi::Vi& vi, const vi::NetAddress& local, const vi::NetAddress& remote,
                                          vi::TimeNs timeout_ns, vi::ConnectOperation& operation) {
  vi::Return refusal{};
  Connection* connection = parts_->begin_request(vi, local, timeout_ns, refusal);
  if (connection == nullptr) return refusal;
  parts_->setups.request_peer(*connection, local, remote, parts_->deadline_after(timeout_ns), operation);
  return vi::Return::Success;
}

void Provider::withdraw(vi::ConnectWaitOperation& operation) { parts_->connection_points.withdraw(operation); }

void Provider::disconnect(vi::Vi& vi, vi::Operation& operation) {
  if (auto* connection = static_cast<Connection*>(vi.transport_context))
    return connection->request_disconnect(operation);
  vi.disconnect();  // of no connection: nobody to ask
  operation.done(vi::Return::Success);
}

std::string_view Provider::pending_state_name(const vi::Vi& vi) const {
  const auto* connection = static_cast<const Connection*>(vi.transport_context);
  return connection != nullptr && connection->is_retrying() ? "PendingConnectRetry" : std::string_view{};
}

void Provider::send_posted(vi::Vi& vi) {
  if (auto* connection = static_cast<Connection*>(vi.transport_context)) connection->sender().wake();
}
void Provider::stopped(vi::Vi& vi, vi::StopCause cause) {
  if (auto* connection = static_cast<Connection*>(vi.transport_context)) connection->stopped_by_model(cause);
}

// --- beside it ---------------------------------------------------------------------------------------------------

void Provider::set_options(const vi::Vi& vi, ConnectionOptions options) {
  parts_->connections.set_options(vi, options);
}

std::optional<PeerReport> Provider::told_by_peer(const vi::Vi& vi) const {
  const auto found = parts_->peer_reports.find(&vi);
  return found == parts_->peer_reports.end() ? std::nullopt : std::optional(found->second);
}
EndCause Provider::end_cause(const vi::Vi& vi) {
  const auto* connection = static_cast<const Connection*>(vi.transport_context);
  return connection == nullptr ? EndCause{} : connection->end_cause();
}

const ProviderConfig& Provider::config() const { return parts_->config; }
bool Provider::is_own(const wire::IpAddress& host) const { return parts_->is_own(host); }
const ProviderCounters& Provider::counters() const { return parts_->counters; }
std::size_t Provider::handles_in_use() const { return parts_->connections.handles_in_use(); }
std::size_t Provider::open_setups() const { return parts_->setups.size(); }
std::size_t Provider::resting_connection_ids() const { return parts_->connection_ids.resting(parts_->services.now()); }
bool Provider::is_consistent() const {
  return parts_->setups.is_consistent_throughout() && parts_->connections.is_consistent();
}
std::uint64_t Provider::reorder_bytes() const { return parts_->reorder_pool.held_bytes(); }
std::uint64_t Provider::reorder_peak_bytes() const { return parts_->reorder_pool.peak_bytes(); }
std::size_t Provider::open_connection_ids() const { return parts_->connection_ids.in_use(); }
fc2::NPort& Provider::port() { return parts_->services.port; }

}  // namespace fcvi
