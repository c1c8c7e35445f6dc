#include "fcvi/connection_ids.hpp"

#include <algorithm>

namespace fcvi {

wire::ConnectionId ConnectionIds::open(fc2::TimeNs now) {
  while (next_ == wire::ConnectionId::unassigned.value || next_ == 0 || open_.contains(next_) || rests(next_, now)) ++next_;
  open_.insert(next_);
  return {next_++};
}

/// Ours, to whatever peer it went.
bool ConnectionIds::rests(std::uint32_t id, fc2::TimeNs now) const {
  for (auto error = errors_.lower_bound({Originator::Us, {id}, {}}); error != errors_.end(); ++error) {
    if (error->first.originator != Originator::Us || error->first.id.value != id) return false;
    if (error->second.is_set(now)) return true;
  }
  return false;
}

void ConnectionIds::set_error(const Id& id, wire::FcviHandle endpoint, fc2::TimeNs now, fc2::TimeNs r_a_tov) {
  if (errors_.size() >= forget_at_ || (errors_.size() >= max_peers_errors && now >= earliest_)) forget_old(now);
  if (id.originator == Originator::Peer && errors_.size() >= max_peers_errors) return;
  const bool owed = endpoint != wire::FcviHandle::unassigned;
  errors_[id] = {now + r_a_tov, owed};
  if (owed) owed_[endpoint.value].push_back(id);
}

bool ConnectionIds::in_error(const Id& id, fc2::TimeNs now) const {
  const auto found = errors_.find(id);
  return found != errors_.end() && found->second.is_set(now);
}

void ConnectionIds::disconnected(wire::FcviHandle endpoint) {
  const auto owed = owed_.find(endpoint.value);
  if (owed == owed_.end()) return;
  for (const Id& id : owed->second)
    if (const auto found = errors_.find(id); found != errors_.end()) found->second.owes_disconnect = false;
  owed_.erase(owed);
}

void ConnectionIds::logged_out(wire::FcId peer) {
  std::erase_if(errors_, [&](const auto& error) { return error.first.peer == peer; });
}

std::size_t ConnectionIds::resting(fc2::TimeNs now) const {
  const auto rest = [&](const auto& error) { return error.second.is_set(now); };
  return static_cast<std::size_t>(std::count_if(errors_.begin(), errors_.end(), rest));
}

void ConnectionIds::forget_old(fc2::TimeNs now) {
  std::erase_if(errors_, [&](const auto& error) { return !error.second.is_set(now); });
  forget_at_ = std::max<std::size_t>(64, 2 * errors_.size());
  earliest_ = fc2::never;
  for (const auto& [id, error] : errors_)
    if (!error.owes_disconnect) earliest_ = std::min(earliest_, error.until);
}

}  // namespace fcvi
