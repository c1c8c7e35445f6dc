#include "fc2_fabric/fcoe/fip_rules.hpp"

#include <algorithm>
#include <array>
#include <span>

namespace fc2::fcoe {
namespace fip = wire::fip;

namespace {
using Type = fip::DescriptorType;
enum class Times : std::uint8_t { Once, AtMostOnce, Any };

struct Rule {
  Type type{};
  Times times{};
};

constexpr std::array<Rule, 3> solicitation{Rule{Type::mac, Times::Once}, Rule{Type::name_id, Times::Once},
                                           Rule{Type::max_fcoe_size, Times::Once}};
constexpr std::array<Rule, 5> advertisement{Rule{Type::priority, Times::Once}, Rule{Type::mac, Times::Once},
                                            Rule{Type::name_id, Times::Once}, Rule{Type::fabric, Times::Once},
                                            Rule{Type::fka_adv_period, Times::Once}};
// One of the first three; LS_RJT comes without a MAC address, and so may a request, which does not depend on it.
constexpr std::array<Rule, 4> link_service{Rule{Type::flogi, Times::AtMostOnce}, Rule{Type::fdisc, Times::AtMostOnce},
                                           Rule{Type::logo, Times::AtMostOnce}, Rule{Type::mac, Times::AtMostOnce}};
constexpr std::array<Rule, 2> keep_alive{Rule{Type::mac, Times::Once}, Rule{Type::vn_port, Times::AtMostOnce}};
constexpr std::array<Rule, 3> clear_links{Rule{Type::mac, Times::Once}, Rule{Type::name_id, Times::Once},
                                          Rule{Type::vn_port, Times::Any}};
constexpr std::array<Rule, 2> vlan_request{Rule{Type::mac, Times::Once}, Rule{Type::name_id, Times::AtMostOnce}};
constexpr std::array<Rule, 2> vlan_notification{Rule{Type::mac, Times::Once}, Rule{Type::vlan, Times::Any}};
constexpr std::array<Rule, 5> vn2vn{Rule{Type::mac, Times::Once}, Rule{Type::name_id, Times::Once},
                                    Rule{Type::vn_port, Times::Once}, Rule{Type::fc4_features, Times::AtMostOnce},
                                    Rule{Type::max_fcoe_size, Times::AtMostOnce}};

std::span<const Rule> rules_of(fip::Operation operation, std::uint8_t subcode) {
  switch (operation) {
    case fip::Operation::discovery:
      if (subcode == fip::subcode::discovery_solicitation) return solicitation;
      return subcode == fip::subcode::discovery_advertisement ? std::span<const Rule>(advertisement)
                                                              : std::span<const Rule>{};
    case fip::Operation::link_service: return link_service;
    case fip::Operation::control:
      if (subcode == fip::subcode::keep_alive) return keep_alive;
      return subcode == fip::subcode::clear_virtual_links ? std::span<const Rule>(clear_links)
                                                          : std::span<const Rule>{};
    case fip::Operation::vlan:
      if (subcode == fip::subcode::vlan_request) return vlan_request;
      return subcode == fip::subcode::vlan_notification ? std::span<const Rule>(vlan_notification)
                                                        : std::span<const Rule>{};
    case fip::Operation::vn2vn: return vn2vn;
  }
  return {};
}

// A vendor's descriptor says whose the non-critical ones are.
bool is_free(const fip::Descriptor& descriptor) {
  if (const auto* unknown = std::get_if<fip::UnknownDescriptor>(&descriptor))
    return unknown->type >= fip::first_non_critical_type;
  return std::holds_alternative<fip::VendorId>(descriptor);
}

bool belongs(const fip::Descriptor& descriptor, std::span<const Rule> rules) {
  if (is_free(descriptor)) return true;
  if (std::holds_alternative<fip::UnknownDescriptor>(descriptor))
    return false;  // of another length, or a type that we do not know
  const std::uint8_t type = fip::type_of(descriptor);
  return std::any_of(rules.begin(), rules.end(),
                     [&](const Rule& rule) { return static_cast<std::uint8_t>(rule.type) == type; });
}

bool is_kept(const Rule& rule, const std::vector<fip::Descriptor>& descriptors) {
  const auto count = std::count_if(descriptors.begin(), descriptors.end(), [&](const fip::Descriptor& descriptor) {
    return fip::type_of(descriptor) == static_cast<std::uint8_t>(rule.type);
  });
  return rule.times == Times::Any || count == 1 || (count == 0 && rule.times == Times::AtMostOnce);
}
}  // namespace

bool is_sound(const fip::FipMessage& message) {
  const std::span<const Rule> rules = rules_of(message.operation, message.subcode);
  if (rules.empty()) return true;
  const auto& descriptors = message.descriptors;
  const bool pure = std::all_of(descriptors.begin(), descriptors.end(),
                                [&](const auto& descriptor) { return belongs(descriptor, rules); });
  return pure && std::all_of(rules.begin(), rules.end(), [&](const Rule& rule) { return is_kept(rule, descriptors); });
}

}  // namespace fc2::fcoe
