// All Connection Setups of one port (FC-VI 5.3, 8.5), ours and the peers', with the tokens of those that are offered to
// the application (VI-DG 3.3.1 to 3.3.3), and the requests of the peer pool (3.3.6).
#pragma once
#include <map>
#include <memory>
#include <set>
#include <vector>

#include <boost/unordered/unordered_flat_map.hpp>

#include "fcvi/connections.hpp"
#include "fcvi/originated_setup.hpp"
#include "fcvi/peer_pool.hpp"
#include "fcvi/received_setup.hpp"
#include "vi/connection_points.hpp"
#include "vi/offer_tokens.hpp"

namespace fcvi {

class SetupBook final : public SetupOwner, private farp::ResolveListener {
 public:
  SetupBook(const Services& services, vi::ConnectionPoints& connection_points, Connections& connections);
  ~SetupBook();

  // --- calls -----------------------------------------------------------------------------------------------------
  /// VipConnectPeerRequest: `connection` is Pending Connect.
  void request_peer(Connection& connection, const vi::NetAddress& local, const vi::NetAddress& remote,
                    runtime::TimeNs deadline, vi::ConnectOperation& operation);
  void accept(vi::ConnectionToken token, vi::Vi& vi, vi::Operation& operation);
  void reject(vi::ConnectionToken token, vi::Operation& operation);

  // --- IUs -------------------------------------------------------------------------------------------------------
  /// A CONNECT_RQST: the first of a set-up, or a retry. `payload` stands behind its Device_Header.
  void connect_rqst_received(fc2::Exchange& exchange, const wire::fcvi::DeviceHeader& header,
                             std::span<const std::uint8_t> payload);
  /// The newest that `peer` originated with that FCVI_CONNECTION_ID and that is not over; nullptr if there is none.
  [[nodiscard]] ReceivedSetup* find(wire::FcId peer, wire::ConnectionId connection_id);

  // --- the port --------------------------------------------------------------------------------------------------
  void fabric_logged_in();
  void port_logged_in(wire::FcId port);
  void port_login_failed(wire::FcId port);
  /// After the connections heard of it.
  void port_logged_out(wire::FcId port);

  // SetupOwner
  OriginatedSetup& add_setup(Connection& connection, const vi::NetAddress& local, const vi::NetAddress& remote,
                             runtime::TimeNs deadline, vi::ConnectOperation& operation, SetupListener* peer) override;
  void resolve(const wire::IpAddress& host) override { services_.resolver.resolve(host, *this); }
  void superseded_resp1_received(std::uint64_t setup, machines::peer_arbitration::Resp1 resp1,
                                 wire::FcId port) override;
  vi::ConnectionToken offer_made(ReceivedSetup& setup) override { return offers_.add(setup); }
  void offer_over(vi::ConnectionToken token) override { offers_.remove(token); }
  void offer_unreachable(vi::ConnectionToken token) override { unreachable_offers_.insert(token.value); }
  [[nodiscard]] ConnectionOptions options_of(const vi::Vi& vi) const override { return connections_.options_of(vi); }
  void has_connected(ReceivedSetup& setup) override;
  void retire(OriginatedSetup& setup) override;
  void retire(ReceivedSetup& setup) override;

  /// Destroys what is over, and of what rests now what it needed before.
  void bury();
  [[nodiscard]] std::size_t size() const { return originated_.size() + received_.size(); }
  [[nodiscard]] bool is_consistent() const;
  /// Its set-ups and requests as well: whenever no function of any runs. Linear.
  [[nodiscard]] bool is_consistent_throughout() const;

 private:
  // farp::ResolveListener
  void resolved(const wire::IpAddress& address, std::span<const wire::FcId> n_port_ids) override;
  void not_resolved(const wire::IpAddress& address) override;

  ReceivedSetup& add_received(std::uint64_t number, fc2::Exchange& exchange, const wire::fcvi::ConnectRqst& request);
  void begin(ReceivedSetup& setup);
  void connection_wanted(ReceivedSetup& setup, const vi::ViAttributes& attributes);
  void peer_wanted(ReceivedSetup& setup);
  [[nodiscard]] ReceivedSetup* find_open(wire::FcId peer, wire::FcviHandle handle);
  [[nodiscard]] bool is_dead(const wire::fcvi::ConnectRqst& request, wire::FcId peer, ReceivedSetup* open);
  [[nodiscard]] vi::Return accept_without_offer(vi::ConnectionToken token, vi::Vi& vi);
  template <class Function>
  void for_each_waiting(Function function);

  const Services& services_;
  vi::ConnectionPoints& connection_points_;
  Connections& connections_;
  PeerPool peer_pool_;
  // By number, which is also in order of age.
  std::map<std::uint64_t, std::unique_ptr<OriginatedSetup>> originated_;
  std::map<std::uint64_t, std::unique_ptr<ReceivedSetup>> received_;
  boost::unordered_flat_map<std::uint64_t, std::uint64_t> newest_received_;  // number, by the peer's port and handle
  std::uint64_t next_setup_ = 1;
  vi::OfferTokens<ReceivedSetup> offers_;
  std::set<std::uint64_t> unreachable_offers_;  // by token; until they are answered
  std::vector<std::uint64_t> retired_originated_, retired_received_;
  std::vector<std::uint64_t> connected_;  // of received_, that are to rest
};

}  // namespace fcvi
