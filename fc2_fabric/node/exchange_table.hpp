// The exchanges of an N_Port: slots that are used again and again, found by OX_ID and RX_ID (FC-FS).
#pragma once
#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include <boost/unordered/unordered_flat_map.hpp>

#include "fc2_fabric/node/basic_links.hpp"
#include "fc2_fabric/node/exchange.hpp"
#include "fc2_fabric/node/recovery_qualifiers.hpp"

namespace fc2 {
class RemotePorts;

class ExchangeTable {
 public:
  ExchangeTable(const PortServices& port, RemotePorts& remote_ports)
      : port_(port), remote_ports_(remote_ports), basic_links_(port, remote_ports) {}
  ~ExchangeTable();

  // --- for users (see NPort) -----------------------------------------------------------------------------------
  Exchange* originate(wire::FcId d_id, wire::Type type, ExchangeUser& user);
  /// For an exchange that begins and ends at once (OneFrameExchange): the OX_ID that originate() would have given,
  /// which rests from now on. nullopt: there is none.
  std::optional<wire::OxId> pass_ox_id();
  Exchange* open_for_reply(const ReceivedFrame& frame, DataFrameUser& user);
  void abort(Exchange& exchange);
  void abort_and_report(Exchange& exchange, ExchangeUser& listener);
  void forget_abort(const ExchangeUser& listener);
  void release(Exchange& exchange) { recycle(exchange); }
  /// It goes away; what it has left are answers of class 2 that are not acknowledged yet.
  void forget_user(const ExchangeUser& user);
  /// Exchanges of its TYPE are opened by its rules.
  void add_fc4(const Fc4& fc4) { fc4s_.add(fc4); }
  void remove_fc4(wire::Type type) { fc4s_.remove(type); }
  [[nodiscard]] const Fc4Table& fc4s() const { return fc4s_; }
  [[nodiscard]] std::size_t open_exchanges() const { return exchanges_.size() - free_; }
  [[nodiscard]] std::size_t assembled_bytes() const { return assembled_bytes_; }

  // --- for frames ----------------------------------------------------------------------------------------------
  /// The one that a frame with this header belongs to. nullptr: none.
  [[nodiscard]] Exchange* find(const wire::FcHeader& header);
  /// A new one of a peer, in place of an old one with that OX_ID. nullptr: there are as many as may be; counted.
  Exchange* accept(const wire::FcHeader& header, ExchangeUser& user);
  /// ABTS of one that never came here, or is still on its way (FC-FS 23.6.1.1): it is not opened for R_A_TOV.
  void abts_without_exchange(const wire::FcHeader& abts);
  [[nodiscard]] bool was_aborted(const wire::FcHeader& header);
  /// RRQ: the peer frees an aborted exchange of its own before R_A_TOV.
  void reinstate(wire::FcId peer, wire::OxId ox_id);
  /// All with that port fail, but its link services.
  void logged_out(wire::FcId peer);

  // --- for exchanges -------------------------------------------------------------------------------------------
  [[nodiscard]] const PortServices& services() const { return port_; }
  [[nodiscard]] RemotePorts& remote_ports() { return remote_ports_; }
  [[nodiscard]] const BasicLinks& basic_links() const { return basic_links_; }
  void recycle(Exchange& exchange);
  /// Between its members, whenever none of its functions runs.
  [[nodiscard]] bool is_consistent() const;
  /// For an IU of a peer (NPortConfig::max_assembled_bytes). False: there is none left.
  [[nodiscard]] bool take_room(std::size_t bytes);
  void give_room(std::size_t bytes) { assembled_bytes_ -= bytes; }
  /// For a sequence to a port that is not known.
  [[nodiscard]] wire::SeqId next_seq_id() { return {next_seq_id_++}; }

 private:
  using ResponderKey = std::uint64_t;  // S_ID << 16 | OX_ID
  static ResponderKey key(wire::FcId peer, wire::OxId ox_id) { return std::uint64_t{peer.value} << 16 | ox_id.value; }
  [[nodiscard]] Exchange* find_responder(wire::FcId peer, wire::OxId ox_id);
  Exchange* open_responder(const wire::FcHeader& header, ExchangeUser& user, bool for_reply);
  [[nodiscard]] bool may_open(std::size_t opened_by_peer) const;
  [[nodiscard]] wire::FcId local_address(const wire::FcHeader& of_peer) const;
  Exchange* take(bool originator);
  void put_back(Exchange& exchange);
  [[nodiscard]] wire::OxId own_ox_id(const Exchange& exchange) const;

  const PortServices& port_;
  RemotePorts& remote_ports_;
  BasicLinks basic_links_;
  Fc4Table fc4s_;
  std::vector<std::unique_ptr<Exchange>> exchanges_;  // by slot; OX_ID (originator) and RX_ID (responder) name the slot
  Exchange* longest_free_ = nullptr;                  // a list: ids rest before they come round again
  Exchange* latest_free_ = nullptr;
  std::size_t free_ = 0;
  std::array<std::size_t, 2> open_{};  // [0] of peers, [1] of ours
  std::size_t assembled_bytes_ = 0;
  std::size_t opened_by_strangers_ = 0;  // ... of peers that are not known
  boost::unordered_flat_map<ResponderKey, Exchange*> responders_;
  RecoveryQualifiers recovery_qualifiers_;
  std::uint8_t next_seq_id_ = 0;
};

}  // namespace fc2
