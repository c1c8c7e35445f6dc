#include "vipl/names/fabric_names.hpp"

#include <algorithm>

#include "vipl/configuration/node_identity.hpp"

namespace vipl {
namespace {

constexpr runtime::TimeNs first_rest = 20 * runtime::millisecond;

void add_matching(const std::vector<NodeEntry>& nodes, const std::string& name, NameMatch wanted,
                  std::vector<wire::IpAddress>& found) {
  for (const NodeEntry& node : nodes)
    if (!node.node_name.empty() && match(name, node.node_name) == wanted)
      found.insert(found.end(), node.addresses.begin(), node.addresses.end());
}

bool contains(const std::vector<wire::IpAddress>& list, const wire::IpAddress& address) {
  return std::find(list.begin(), list.end(), address) != list.end();
}

}  // namespace

NameSource::Answer FabricNames::addresses_of(const std::string& name, std::vector<wire::IpAddress>& found) const {
  const bool may_appear = is_node_name(name) && !wire::IpAddress::from_string(name);
  runtime::TimeNs left = may_appear ? appears_ : 0;
  for (runtime::TimeNs pause = first_rest;; pause *= 2) {
    const auto nodes = fabric_->nodes(name);
    if (!nodes) return Answer::Unavailable;
    add_matching(*nodes, name, NameMatch::Exact, found);
    if (found.empty()) add_matching(*nodes, name, NameMatch::Short, found);
    if (!found.empty()) return Answer::Found;
    if (left == 0) return Answer::Unknown;
    pause = std::min(pause, left);
    left -= pause;
    if (!fabric_->rest(pause)) return Answer::Unavailable;
  }
}

NameSource::Answer FabricNames::name_of(const wire::IpAddress& address, std::string& found) const {
  const auto nodes = fabric_->nodes({});
  if (!nodes) return Answer::Unavailable;
  for (const NodeEntry& node : *nodes) {
    if (node.node_name.empty() || !contains(node.addresses, address)) continue;
    found = node.node_name;
    return Answer::Found;
  }
  return Answer::Unknown;
}

NameSource::Answer KnownHosts::addresses_of(const std::string& name, std::vector<wire::IpAddress>& found) const {
  const Answer answer = system_->addresses_of(name, found);
  const bool is_name = is_node_name(name) && !wire::IpAddress::from_string(name);
  if (answer == Answer::Found && is_name && !some_node_has(found)) found.insert(found.begin(), default_address(name));
  return answer;
}

bool KnownHosts::some_node_has(const std::vector<wire::IpAddress>& addresses) const {
  const auto nodes = fabric_->nodes({});
  if (!nodes) return false;
  return std::any_of(nodes->begin(), nodes->end(), [&](const NodeEntry& node) {
    return std::any_of(node.addresses.begin(), node.addresses.end(),
                       [&](const auto& one) { return contains(addresses, one); });
  });
}

std::vector<wire::IpAddress> discover(const std::vector<NodeEntry>& nodes,
                                      const std::vector<wire::IpAddress>& own_addresses, unsigned long depth) {
  std::vector<wire::IpAddress> found;
  for (const NodeEntry& node : nodes) {
    if (node.depth > depth) continue;
    for (const wire::IpAddress& address : node.addresses)
      if (!contains(own_addresses, address) && !contains(found, address)) found.push_back(address);
  }
  return found;
}

}  // namespace vipl
