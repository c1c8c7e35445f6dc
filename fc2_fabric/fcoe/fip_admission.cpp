#include "fc2_fabric/fcoe/fip_admission.hpp"

#include <algorithm>

#include "fc2_fabric/fcoe/fcf_listener.hpp"

namespace fc2::fcoe {

std::string_view to_string(FcfEvent::Kind kind) {
  switch (kind) {
    case FcfEvent::Kind::LoggedIn: return "logged in";
    case FcfEvent::Kind::LoggedOut: return "logged out";
    case FcfEvent::Kind::Rejected: return "rejected";
    case FcfEvent::Kind::Cleared: return "links cleared";
    case FcfEvent::Kind::Evicted: return "evicted";
  }
  return "?";
}

bool FipAdmission::allows(const wire::MacAddress& e_node, wire::Wwn port_name, wire::Wwn node_name) const {
  const auto& macs = limits_.allowed_macs;
  const auto& names = limits_.allowed_names;
  if (macs.empty() && names.empty()) return true;
  const bool named =
      std::any_of(names.begin(), names.end(), [&](wire::Wwn name) { return name == port_name || name == node_name; });
  return named || std::find(macs.begin(), macs.end(), e_node) != macs.end();
}

TimeNs& FipAdmission::due_of(const wire::MacAddress& source) {
  const auto [entry, is_new] = due_.try_emplace(source, TimeNs{0});
  if (!is_new) return entry->second;
  oldest_.push_back(source);
  if (oldest_.size() > max_sources) {
    due_.erase(oldest_.front());
    oldest_.pop_front();
  }
  return entry->second;
}

// What is ahead of its time by more than two seconds is too much.
bool FipAdmission::take(const wire::MacAddress& source, TimeNs now) {
  if (limits_.requests_per_second == 0) return true;
  TimeNs& due = due_of(source);
  const TimeNs next = std::max(due, now) + second / limits_.requests_per_second;
  if (next - now > 2 * second) return false;
  due = next;
  return true;
}

}  // namespace fc2::fcoe
