// Exchanges of peers that were aborted before they began here (FC-FS 23.6.1.1, Recovery_Qualifier): an ABTS may
// overtake what it aborts. BA_ACC promises that no frame of such an exchange counts for R_A_TOV, after which the fabric
// delivers none.
#pragma once
#include <cstdint>
#include <deque>

#include <boost/unordered/unordered_flat_map.hpp>

#include "fc2_fabric/frame/time.hpp"
#include "wire/fc_header.hpp"

namespace fc2 {

class RecoveryQualifiers {
 public:
  /// The oldest makes room for the newest, for it rested longest: of a peer that has half of them, its own oldest.
  static constexpr std::size_t limit = 1024;

  void set(wire::FcId peer, wire::OxId ox_id, TimeNs now, TimeNs r_a_tov);
  [[nodiscard]] bool covers(wire::FcId peer, wire::OxId ox_id, TimeNs now) const;
  /// RRQ: the peer uses the OX_ID again.
  void clear(wire::FcId peer, wire::OxId ox_id);
  /// A logout ends them with the exchanges.
  void logged_out(wire::FcId peer);
  [[nodiscard]] std::size_t size() const { return until_.size(); }

 private:
  struct Id {
    wire::FcId peer;
    wire::OxId ox_id;
  };
  static std::uint64_t key(Id id) { return std::uint64_t{id.peer.value} << 16 | id.ox_id.value; }
  void make_room(TimeNs now);

  boost::unordered_flat_map<std::uint64_t, TimeNs> until_;
  std::deque<std::pair<Id, TimeNs>> in_order_;  // as they end; some were renewed or cleared since
};

}  // namespace fc2
