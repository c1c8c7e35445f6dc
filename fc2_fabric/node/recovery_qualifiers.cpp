#include "fc2_fabric/node/recovery_qualifiers.hpp"

#include <algorithm>
#include <utility>

namespace fc2 {

void RecoveryQualifiers::set(wire::FcId peer, wire::OxId ox_id, TimeNs now, TimeNs r_a_tov) {
  const Id id{peer, ox_id};
  const auto of_peer = [&](const auto& entry) { return entry.first.peer == peer; };
  if (std::count_if(in_order_.begin(), in_order_.end(), of_peer) >= std::ptrdiff_t{limit / 2}) {
    const auto oldest = std::find_if(in_order_.begin(), in_order_.end(), of_peer);
    const auto found = until_.find(key(oldest->first));
    if (found != until_.end() && found->second == oldest->second) until_.erase(found);
    in_order_.erase(oldest);
  }
  make_room(now);
  until_[key(id)] = now + r_a_tov;
  in_order_.emplace_back(id, now + r_a_tov);
}

void RecoveryQualifiers::make_room(TimeNs now) {
  while (!in_order_.empty() && (in_order_.front().second <= now || in_order_.size() >= limit)) {
    const auto [id, end] = in_order_.front();
    in_order_.pop_front();
    const auto found = until_.find(key(id));
    if (found != until_.end() && found->second == end) until_.erase(found);
  }
}

bool RecoveryQualifiers::covers(wire::FcId peer, wire::OxId ox_id, TimeNs now) const {
  const auto found = until_.find(key({peer, ox_id}));
  return found != until_.end() && now < found->second;
}

void RecoveryQualifiers::clear(wire::FcId peer, wire::OxId ox_id) { until_.erase(key({peer, ox_id})); }

void RecoveryQualifiers::logged_out(wire::FcId peer) {
  std::erase_if(in_order_, [&](const auto& entry) {
    if (entry.first.peer == peer) clear(peer, entry.first.ox_id);
    return entry.first.peer == peer;
  });
}

}  // namespace fc2
