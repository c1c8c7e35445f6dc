#include "fcvi/connection_ids.hpp"

#include <algorithm>

namespace fcvi {

wire::ConnectionId ConnectionIds::open(runtime::TimeNs now) {
  while (next_ == wire::ConnectionId::unassigned.value || next_ == 0 || open_.contains(next_) || rests(next_, now))
    ++next_;
  open_.insert(next_);
  return {next_++};
}

/// Ours, to whatever peer it went.
bool ConnectionIds::rests(std::uint32_t id, runtime::TimeNs now) const {
  for (auto error = errors_.lower_bound({Originator::Us, {id}, {}}); error != errors_.end(); ++error) {
    if (error->first.originator != Originator::Us || error->first.id.value != id) return false;
    if (error->second.is_set(now)) return true;
  }
  return false;
}

void ConnectionIds::set_error(const Id& id, wire::FcviHandle endpoint, runtime::TimeNs now, runtime::TimeNs r_a_tov) {
  if (errors_.size() >= forget_at_ || (is_full(id) && now >= earliest_)) forget_old(now);
  if (is_full(id)) return;
  const bool owed = endpoint != wire::FcviHandle::unassigned;
  const Error error{now + r_a_tov, owed};
  if (errors_.insert_or_assign(id, error).second && id.originator == Originator::Peer) ++of_peer_[id.peer.value];
  if (owed)
    owed_[endpoint.value].push_back(id);
  else
    earliest_ = std::min(earliest_, error.until);
}

bool ConnectionIds::is_full(const Id& id) const {
  if (id.originator == Originator::Us || errors_.contains(id)) return false;
  const auto of_peer = of_peer_.find(id.peer.value);
  return errors_.size() >= max_peers_errors || (of_peer != of_peer_.end() && of_peer->second >= max_of_one_peer);
}

bool ConnectionIds::in_error(const Id& id, runtime::TimeNs now) const {
  const auto found = errors_.find(id);
  return found != errors_.end() && found->second.is_set(now);
}

void ConnectionIds::disconnected(wire::FcviHandle endpoint) {
  const auto owed = owed_.find(endpoint.value);
  if (owed == owed_.end()) return;
  for (const Id& id : owed->second)
    if (const auto found = errors_.find(id); found != errors_.end()) {
      found->second.owes_disconnect = false;
      earliest_ = std::min(earliest_, found->second.until);
    }
  owed_.erase(owed);
}

void ConnectionIds::logged_out(wire::FcId peer) {
  std::erase_if(errors_, [&](const auto& error) { return error.first.peer == peer; });
  of_peer_.erase(peer.value);
}

std::size_t ConnectionIds::resting(runtime::TimeNs now) const {
  const auto rest = [&](const auto& error) { return error.second.is_set(now); };
  return static_cast<std::size_t>(std::count_if(errors_.begin(), errors_.end(), rest));
}

void ConnectionIds::forget_old(runtime::TimeNs now) {
  std::erase_if(errors_, [&](const auto& error) { return !error.second.is_set(now); });
  forget_at_ = std::max<std::size_t>(64, 2 * errors_.size());
  earliest_ = runtime::never;
  of_peer_.clear();
  for (const auto& [id, error] : errors_) {
    if (!error.owes_disconnect) earliest_ = std::min(earliest_, error.until);
    if (id.originator == Originator::Peer) ++of_peer_[id.peer.value];
  }
}

}  // namespace fcvi
