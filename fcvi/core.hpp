// What the parts of one provider share, and where received IUs find theirs.
#pragma once
#include <map>
#include <memory>
#include <set>
#include <vector>

#include <boost/unordered/unordered_flat_map.hpp>

#include "fcvi/connection_ids.hpp"
#include "fcvi/handle_table.hpp"
#include "fcvi/peer_pool.hpp"
#include "fcvi/provider.hpp"
#include "fcvi/reorder_pool.hpp"
#include "vi/connection_points.hpp"
#include "vi/vi.hpp"
#include "wire/fcvi/device_header.hpp"

namespace fcvi {
class Connection;
class OriginatedSetup;
class ReceivedSetup;

class Core final : public fc2::DataFrameUser, private fc2::PortListener, private farp::ResolveListener {
 public:
  Core(fc2::NPort& port, farp::Resolver& resolver, const ProviderConfig& config);
  ~Core();

  // --- calls of the VI model -----------------------------------------------------------------------------------
  void connect_request(vi::Vi& vi, const vi::NetAddress& local, const vi::NetAddress& remote, vi::TimeNs timeout_ns,
                       vi::ConnectOperation& operation);
  vi::Return connect_peer_request(vi::Vi& vi, const vi::NetAddress& local, const vi::NetAddress& remote,
                                  vi::TimeNs timeout_ns, vi::ConnectOperation& operation);
  void connect_accept(vi::ConnectionToken token, vi::Vi& vi, vi::Operation& operation);
  void connect_reject(vi::ConnectionToken token, vi::Operation& operation);
  void disconnect(vi::Vi& vi, vi::Operation& operation);
  void detach(vi::Vi& vi);
  void set_options(const vi::Vi& vi, ConnectionOptions options) { options_[&vi] = options; }

  // --- for the parts -------------------------------------------------------------------------------------------
  fc2::NPort& port() { return port_; }
  runtime::Scheduler& scheduler() { return port_.scheduler(); }
  farp::Resolver& resolver() { return resolver_; }
  vi::ConnectionPoints& connection_points() { return connection_points_; }
  PeerPool& peer_pool() { return peer_pool_; }
  [[nodiscard]] const ProviderConfig& config() const { return config_; }
  [[nodiscard]] bool is_own(const wire::IpAddress& host) const;
  [[nodiscard]] ConnectionOptions options_of(const vi::Vi& vi) const;
  ReorderPool reorder_pool;  // of all connections
  ProviderCounters counters;
  std::size_t pending_requests = 0;  // offered, not decided
  [[nodiscard]] std::size_t handles_in_use() const { return handles_.in_use(); }
  [[nodiscard]] std::size_t open_setups() const { return originated_.size() + received_.size(); }
  [[nodiscard]] runtime::TimeNs ulp_timeout() const {
    return config_.ulp_timeout > 0 ? config_.ulp_timeout : port_.r_a_tov();
  }
  wire::ConnectionId open_connection_id() { return connection_ids_.open(scheduler().now()); }
  void close_connection_id(wire::ConnectionId id) { connection_ids_.close(id); }
  /// CSerr (C.2): for R_A_TOV, and until the Disconnect of `endpoint`'s VI, if it has one.
  void set_setup_error(const ConnectionIds::Id& id, Connection* endpoint);
  /// The Disconnect of that handle of ours is over.
  void end_setup_errors(wire::FcviHandle endpoint) { connection_ids_.disconnected(endpoint); }
  [[nodiscard]] std::size_t open_connection_ids() const { return connection_ids_.in_use(); }
  [[nodiscard]] std::size_t resting_connection_ids() { return connection_ids_.resting(scheduler().now()); }
  void discard(fc2::Discard reason) { port_.counters().discard(reason); }
  /// A frame finds no room there, and is lost or busied.
  void reorder_pool_full() {
    ++counters.reorder_pool_full;
    discard(fc2::Discard::NoResources);
  }
  void unexpected() { ++port_.counters().unexpected_events; }
  ResolveListener& resolve_listener() { return *this; }

  /// A message of this exchange begins, or waits, at `connection`: an ABTS of it goes there.
  void message_opened(wire::FcId originator, wire::OxId ox_id, const Connection& connection);
  /// nullptr when no handle is free.
  Connection* open_connection(vi::Vi& vi);
  OriginatedSetup& add_setup(Connection& connection, const vi::NetAddress& local, const vi::NetAddress& remote,
                             runtime::TimeNs deadline, vi::ConnectOperation& operation, PeerRequest* peer);
  /// Objects that are over go later, when nothing of them is under way. A connection's handle may be used again.
  void bury_soon() { scheduler().schedule(burial_, scheduler().now()); }
  void retire(Connection& connection);
  void retire(OriginatedSetup& setup);
  void retire(ReceivedSetup& setup);
  /// What the peer's DISCONNECT IU says of the connection of this VI; kept until it connects again.
  PeerReport& report_of(const vi::Vi& vi) { return told_by_peer_[&vi]; }
  [[nodiscard]] std::optional<PeerReport> told_by_peer(const vi::Vi& vi) const;
  /// Its client's port was logged out while the request was offered: who answers it learns that (VI-DG 3.3.2, 3.3.3).
  void offer_unreachable(std::uint64_t token) { unreachable_offers_.insert(token); }

 private:
  using ExchangeFailure = fc2::ExchangeFailure;
  // fc2::DataFrameUser
  void data_frame_received(const fc2::ReceivedFrame& frame) override;
  bool abort_received(wire::FcId source, wire::OxId ox_id) override;
  void sequence_received(fc2::Exchange& exchange, const wire::FcHeader& first,
                         std::span<const std::uint8_t> iu) override;
  void exchange_failed(fc2::Exchange& exchange, ExchangeFailure failure) override;
  // fc2::PortListener
  void fabric_logged_in() override;
  void fabric_login_failed() override {}
  void remote_port_logged_in(fc2::RemotePort& port) override;
  void remote_port_login_failed(fc2::RemotePort& port) override;
  void remote_port_logged_out(fc2::RemotePort& port) override;
  // farp::ResolveListener
  void resolved(const wire::IpAddress& address, std::span<const wire::FcId> n_port_ids) override;
  void not_resolved(const wire::IpAddress& address) override;

  void connect_rqst_received(fc2::Exchange& exchange, const wire::FcHeader& header, std::span<const std::uint8_t> iu);
  void connection_wanted(ReceivedSetup& setup, const vi::ViAttributes& attributes);
  void peer_wanted(ReceivedSetup& setup);
  void disconnect_rqst_received(fc2::Exchange& exchange, const wire::fcvi::DeviceHeader& header);
  template <class Predicate>
  ReceivedSetup* find_received(Predicate matches);
  ReceivedSetup* find_setup(wire::FcId peer, wire::ConnectionId connection_id);
  /// The newest that the peer originated with that handle of its own, and that a retry may mean; nullptr if there is
  /// none.
  ReceivedSetup* find_open(wire::FcId peer, wire::FcviHandle handle);
  Connection* find_disconnected(wire::FcId peer, const wire::fcvi::DeviceHeader& header);
  [[nodiscard]] bool is_dead(const wire::fcvi::ConnectRqst& request, wire::FcId peer);
  void discard_frame(const fc2::ReceivedFrame& frame, fc2::Discard reason);
  void stray_frame(wire::FcId source);
  template <class Function>
  void for_each_waiting(Function function);
  Connection* begin_request(vi::Vi& vi, const vi::NetAddress& local, vi::TimeNs timeout_ns, vi::Return& refusal);
  [[nodiscard]] runtime::TimeNs deadline_after(vi::TimeNs timeout_ns);
  [[nodiscard]] vi::Return accept_without_offer(vi::ConnectionToken token, vi::Vi& vi);
  [[nodiscard]] bool was_issued(vi::ConnectionToken token) const {
    return token.value != 0 && token.value < next_token_;
  }
  void bury();

  fc2::NPort& port_;
  farp::Resolver& resolver_;
  ProviderConfig config_;
  HandleTable handles_;
  vi::ConnectionPoints connection_points_;
  PeerPool peer_pool_;
  std::map<const vi::Vi*, ConnectionOptions> options_;  // of VIs that have their own
  std::map<const vi::Vi*, PeerReport> told_by_peer_;
  ConnectionIds connection_ids_;
  std::set<std::uint64_t> unreachable_offers_;  // by token; until they are answered
  std::uint64_t next_token_ = 1;
  std::map<std::uint64_t, std::unique_ptr<OriginatedSetup>> originated_;  // by number; also in order of age
  std::map<std::uint64_t, std::unique_ptr<ReceivedSetup>> received_;      // by token
  /// The connection to which an exchange of a peer brought a message last; of what is over it says nothing.
  struct MessageExchange {
    wire::FcviHandle receiver;
    wire::FcId originator;
  };
  boost::unordered_flat_map<std::uint64_t, MessageExchange> message_exchanges_;
  boost::unordered_flat_map<std::uint64_t, std::uint64_t> newest_received_;  // token, by the peer's port and handle
  std::uint64_t next_setup_ = 1;
  std::vector<wire::FcviHandle> retired_handles_;
  std::vector<std::uint64_t> retired_originated_, retired_received_;
  runtime::Timer<Core, &Core::bury> burial_{*this};
};

}  // namespace fcvi
