#include "fc2_fabric/fcoe/fcf_table.hpp"

#include <algorithm>
#include <cassert>
#include <tuple>

namespace fc2::fcoe {
namespace fip = wire::fip;

namespace {
bool is_allowed(const fip::Descriptor& descriptor) {
  if (const auto* unknown = std::get_if<fip::UnknownDescriptor>(&descriptor)) return unknown->type >= fip::first_non_critical_type;
  return std::holds_alternative<fip::Priority>(descriptor) || std::holds_alternative<fip::Mac>(descriptor) ||
         std::holds_alternative<fip::NameId>(descriptor) || std::holds_alternative<fip::Fabric>(descriptor) ||
         std::holds_alternative<fip::FkaAdvPeriod>(descriptor) || std::holds_alternative<fip::VendorId>(descriptor);
}
}  // namespace

std::optional<KnownFcf> FcfTable::read(const fip::FipMessage& advertisement) {
  const auto& descriptors = advertisement.descriptors;
  if (!std::all_of(descriptors.begin(), descriptors.end(), is_allowed)) return {};
  const auto* priority = advertisement.find<fip::Priority>();
  const auto* mac = advertisement.find<fip::Mac>();
  const auto* name = advertisement.find<fip::NameId>();
  const auto* fabric = advertisement.find<fip::Fabric>();
  const auto* period = advertisement.find<fip::FkaAdvPeriod>();
  if (priority == nullptr || mac == nullptr || name == nullptr || fabric == nullptr || period == nullptr) return {};
  const TimeNs period_ns = period->period_ms * millisecond;
  const bool mac_usable = !mac->address.is_group() && mac->address != wire::MacAddress{};
  if (!mac_usable || fabric->fabric_name.value == 0 || name->name_id.value == 0 || period_ns < least_period) return {};
  KnownFcf fcf{.mac = mac->address, .switch_name = name->name_id, .fabric_name = fabric->fabric_name};
  fcf.vf_id = fabric->vf_id;
  fcf.fc_map = fabric->fc_map;
  fcf.priority = priority->priority;
  fcf.period = period_ns;
  fcf.keep_alives_wanted = !period->no_keep_alive;
  fcf.available = advertisement.has(fip::flag::available | fip::flag::fpma);  // we know fabric-provided addresses only
  return fcf;
}

void FcfTable::make_room(const wire::MacAddress& in_use) {
  const auto rank = [&](const KnownFcf& fcf) {
    return std::tuple(fcf.mac == in_use, fcf.usable(), fcf.expires - patience(fcf.period));
  };
  const auto least = std::min_element(fcfs_.begin(), fcfs_.end(), [&](const auto& one, const auto& other) { return rank(one) < rank(other); });
  if (least != fcfs_.end()) fcfs_.erase(least);
}

KnownFcf& FcfTable::update(const KnownFcf& heard) {
  KnownFcf* known = find(heard.mac);
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

KnownFcf* FcfTable::find(const wire::MacAddress& mac) {
  const auto found = std::find_if(fcfs_.begin(), fcfs_.end(), [&](const KnownFcf& fcf) { return fcf.mac == mac; });
  return found == fcfs_.end() ? nullptr : &*found;
}

const KnownFcf* FcfTable::best(wire::Wwn preferred) const {
  const auto rank = [&](const KnownFcf& fcf) {
    return std::tuple(fcf.priority, fcf.fabric_name != preferred, fcf.fabric_name, fcf.switch_name, fcf.mac);
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

std::vector<wire::MacAddress> FcfTable::expire(TimeNs now) {
  std::vector<wire::MacAddress> gone;
  for (const KnownFcf& fcf : fcfs_)
    if (fcf.expires <= now) gone.push_back(fcf.mac);
  std::erase_if(fcfs_, [&](const KnownFcf& fcf) { return fcf.expires <= now; });
  return gone;
}

}  // namespace fc2::fcoe
