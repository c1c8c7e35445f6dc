#include "fc2_fabric/fcoe/fcf_table.hpp"

#include <algorithm>
#include <cassert>
#include <tuple>

#include "fc2_fabric/fcoe/fip_rules.hpp"

namespace fc2::fcoe {
namespace fip = wire::fip;

namespace {
// FC-BB-5: what nobody may ask for counts as the default, as Linux has it; what is too long, as the longest. Such an
// FCF is no use to itself, but it is one.
TimeNs period_of(const fip::FkaAdvPeriod& told) {
  const TimeNs period = told.period_ms * millisecond;
  return period < FcfTable::least_period ? FcfTable::default_period : std::min(period, FcfTable::greatest_period);
}
}  // namespace

std::optional<KnownFcf> FcfTable::read(const fip::FipMessage& advertisement) {
  if (!is_sound(advertisement)) return {};
  const auto* priority = advertisement.find<fip::Priority>();
  const auto* mac = advertisement.find<fip::Mac>();
  const auto* name = advertisement.find<fip::NameId>();
  const auto* fabric = advertisement.find<fip::Fabric>();
  const auto* period = advertisement.find<fip::FkaAdvPeriod>();
  const bool mac_usable = !mac->address.is_group() && mac->address != wire::MacAddress{};
  if (!mac_usable || fabric->fabric_name.value == 0 || name->name_id.value == 0) return {};
  KnownFcf fcf{.mac = mac->address, .switch_name = name->name_id, .fabric_name = fabric->fabric_name};
  fcf.vf_id = fabric->vf_id;
  fcf.fc_map = fabric->fc_map;
  fcf.priority = priority->priority;
  fcf.period = period_of(*period);
  fcf.keep_alives_wanted = !period->no_keep_alive;
  fcf.available = advertisement.has(fip::flag::available | fip::flag::fpma);  // we know fabric-provided addresses only
  return fcf;
}

void FcfTable::make_room(const FcfAddress& in_use) {
  const auto rank = [&](const KnownFcf& fcf) {
    return std::tuple(fcf.address() == in_use, fcf.usable(), fcf.expires - patience(fcf.period));
  };
  const auto least = std::min_element(fcfs_.begin(), fcfs_.end(),
                                      [&](const auto& one, const auto& other) { return rank(one) < rank(other); });
  if (least != fcfs_.end()) fcfs_.erase(least);
}

KnownFcf& FcfTable::update(const KnownFcf& heard) {
  KnownFcf* known = find(heard.address());
  if (known == nullptr) {
    assert(!full());
    return fcfs_.emplace_back(heard);
  }
  const bool same_fabric = known->fabric_name == heard.fabric_name && known->switch_name == heard.switch_name &&
                           known->fc_map == heard.fc_map && known->vf_id == heard.vf_id;
  const bool verified = known->verified && same_fabric;
  const TimeNs expires = known->expires, solicited = known->solicited;
  *known = heard;
  known->verified = verified;
  known->expires = expires;
  known->solicited = solicited;
  return *known;
}

KnownFcf* FcfTable::find(const FcfAddress& address) {
  const auto found =
      std::find_if(fcfs_.begin(), fcfs_.end(), [&](const KnownFcf& fcf) { return fcf.address() == address; });
  return found == fcfs_.end() ? nullptr : &*found;
}

const KnownFcf* FcfTable::best(wire::Wwn preferred) const {
  const auto rank = [&](const KnownFcf& fcf) {
    return std::tuple(fcf.priority, fcf.fabric_name != preferred, fcf.fabric_name, fcf.switch_name, fcf.mac, fcf.vlan);
  };
  const KnownFcf* best = nullptr;
  for (const KnownFcf& fcf : fcfs_)
    if (fcf.usable() && (best == nullptr || rank(fcf) < rank(*best))) best = &fcf;
  return best;
}

TimeNs FcfTable::next_expiry() const {
  TimeNs first = never;
  for (const KnownFcf& fcf : fcfs_) first = std::min(first, fcf.expires);
  return first;
}

std::vector<FcfAddress> FcfTable::expire(TimeNs now) {
  std::vector<FcfAddress> gone;
  for (const KnownFcf& fcf : fcfs_)
    if (fcf.expires <= now) gone.push_back(fcf.address());
  std::erase_if(fcfs_, [&](const KnownFcf& fcf) { return fcf.expires <= now; });
  return gone;
}

}  // namespace fc2::fcoe
