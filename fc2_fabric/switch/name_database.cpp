#include "fc2_fabric/switch/name_database.hpp"

#include <algorithm>
#include <cassert>

namespace fc2 {
namespace {
template <class Map, class Key>
auto* find_in(Map& map, const Key& key) {
  const auto found = map.find(key);
  return found == map.end() ? nullptr : &found->second;
}

// Keeps the list of one owner and the index over all owners in step.
template <class Index, class Owner>
bool add_to(std::vector<wire::IpAddress>& list, Index& index, const wire::IpAddress& address, Owner owner) {
  if (address.is_unspecified()) {
    for (const auto& old : list) index.erase({old, owner});
    list.clear();
    return true;
  }
  if (std::find(list.begin(), list.end(), address) != list.end()) return true;
  if (list.size() == NameDatabase::max_addresses) return false;
  list.push_back(address);
  index.insert({address, owner});
  return true;
}
}  // namespace

void NameDatabase::add(wire::FcId id, wire::Wwn port_name, wire::Wwn node_name) {
  remove(id);
  Port& port = ports_[id];
  port.port_name = port_name;
  port.node_name = node_name;
  port_names_[port_name] = id;
  nodes_[node_name].ports.insert(id);
}

void NameDatabase::remove(wire::FcId id) {
  const auto found = ports_.find(id);
  if (found == ports_.end()) return;
  Port& port = found->second;
  add_to(port.addresses, port_addresses_, {}, id);
  leave_node(id, port.node_name);
  port_names_.erase(port.port_name);
  ports_.erase(found);
}

void NameDatabase::leave_node(wire::FcId id, wire::Wwn node_name) {
  Node& node = nodes_.at(node_name);
  node.ports.erase(id);
  if (!node.ports.empty()) return;
  add_to(node.addresses, node_addresses_, {}, node_name);
  nodes_.erase(node_name);
}

const NameDatabase::Port* NameDatabase::find(wire::FcId id) const { return find_in(ports_, id); }
const NameDatabase::Node* NameDatabase::find_node(wire::Wwn node_name) const { return find_in(nodes_, node_name); }
const wire::FcId* NameDatabase::find_port_name(wire::Wwn port_name) const { return find_in(port_names_, port_name); }

const std::pair<const wire::FcId, NameDatabase::Port>* NameDatabase::next_after(wire::FcId id) const {
  if (ports_.empty()) return nullptr;
  const auto next = ports_.upper_bound(id);
  return next == ports_.end() ? &*ports_.begin() : &*next;
}

const wire::Wwn* NameDatabase::find_node_with(const wire::IpAddress& address) const {
  const auto found = node_addresses_.lower_bound({address, {}});
  return found == node_addresses_.end() || found->first != address ? nullptr : &found->second;
}

std::vector<wire::FcId> NameDatabase::ports_with(const wire::IpAddress& address) const {
  std::vector<wire::FcId> ids;
  for (auto it = port_addresses_.lower_bound({address, {}}); it != port_addresses_.end() && it->first == address; ++it)
    ids.push_back(it->second);
  if (!ids.empty()) return ids;
  std::set<wire::FcId> of_nodes;
  for (auto it = node_addresses_.lower_bound({address, {}}); it != node_addresses_.end() && it->first == address; ++it)
    of_nodes.insert(nodes_.at(it->second).ports.begin(), nodes_.at(it->second).ports.end());
  return {of_nodes.begin(), of_nodes.end()};
}

void NameDatabase::set_node_name(wire::FcId id, wire::Wwn node_name) {
  Port& port = ports_.at(id);
  if (port.node_name == node_name) return;
  leave_node(id, port.node_name);
  port.node_name = node_name;
  nodes_[node_name].ports.insert(id);
}

bool NameDatabase::add_address(wire::FcId id, const wire::IpAddress& address) {
  return add_to(ports_.at(id).addresses, port_addresses_, address, id);
}

bool NameDatabase::add_node_address(wire::Wwn node_name, const wire::IpAddress& address) {
  return add_to(nodes_.at(node_name).addresses, node_addresses_, address, node_name);
}

void NameDatabase::take_domain(NameDatabase& other, std::uint8_t domain) {
  const wire::FcId first{std::uint32_t{domain} << 16};
  for (auto it = other.ports_.lower_bound(first); it != other.ports_.end() && it->first.domain() == domain;) {
    const wire::FcId id = it->first;
    ++it;
    take(other, id);
  }
}

// A node that has ports on both sides is known on both.
void NameDatabase::take(NameDatabase& other, wire::FcId id) {
  const Port& theirs = *other.find(id);
  const Node& their_node = other.nodes_.at(theirs.node_name);
  put(id, theirs, their_node.symbolic_name, their_node.addresses);
  other.remove(id);
}

void NameDatabase::put(wire::FcId id, const Port& record, const std::string& node_symbolic_name,
                       const std::vector<wire::IpAddress>& node_addresses) {
  add(id, record.port_name, record.node_name);
  Port& port = ports_.at(id);
  port = record;
  port.addresses.clear();
  for (const auto& address : record.addresses) add_address(id, address);
  Node& node = nodes_.at(record.node_name);
  if (node.symbolic_name.empty()) node.symbolic_name = node_symbolic_name;
  for (const auto& address : node_addresses) add_node_address(record.node_name, address);
}

}  // namespace fc2
