#include "fc2_fabric/switch/fabric_paths.hpp"

#include <algorithm>
#include <numeric>

#include "fc2_fabric/switch/inter_switch_link.hpp"

namespace fc2 {

FabricPaths::FabricPaths(std::span<const PathNode> nodes)
    : nodes_(nodes), distances_(nodes.size() * nodes.size(), unreachable) {
  for (Node node = 0; node < nodes_.size(); ++node) index_[nodes_[node].device] = node;
  for (Node node = 0; node < nodes_.size(); ++node) measure(node);
}

FabricPaths::Node FabricPaths::behind(EPort& port) const { return index_.at(&port.far_end().owner()); }

// Dijkstra's algorithm; at most 239 nodes.
void FabricPaths::measure(Node from) {
  std::vector<bool> done(nodes_.size());
  distance(from, from) = 0;
  for (std::size_t round = 0; round < nodes_.size(); ++round) {
    Node nearest = nodes_.size();
    for (Node node = 0; node < nodes_.size(); ++node) {
      const bool nearer = nearest == nodes_.size() || distance(from, node) < distance(from, nearest);
      if (!done[node] && nearer) nearest = node;
    }
    if (distance(from, nearest) == unreachable) return;  // a switch between them has no Domain_ID
    done[nearest] = true;
    for (EPort* port : nodes_[nearest].ports) {
      Cost& known = distance(from, behind(*port));
      known = std::min(known, distance(from, nearest) + port->link().cost());
    }
  }
}

std::vector<EPort*> FabricPaths::first_hops(Node from, Node to) {
  std::vector<EPort*> hops;
  if (distance(from, to) == unreachable) return hops;
  for (EPort* port : nodes_[from].ports)
    if (port->link().cost() + distance(behind(*port), to) == distance(from, to)) hops.push_back(port);
  return hops;
}

// Nearest first: the path from a switch changed if its first hops did, or that from one of them.
void FabricPaths::set_paths_to(Node to, PathAges& ages) {
  std::vector<Node> order(nodes_.size());
  std::iota(order.begin(), order.end(), Node{0});
  std::stable_sort(order.begin(), order.end(), [&](Node a, Node b) { return distance(a, to) < distance(b, to); });
  std::vector<bool> path_changed(nodes_.size());
  for (const Node from : order) {
    if (from == to) continue;
    std::vector<EPort*> hops = first_hops(from, to);
    const std::uint8_t domain = nodes_[to].domain;
    path_changed[from] = hops != nodes_[from].routes->paths(domain) ||
                         std::any_of(hops.begin(), hops.end(), [&](EPort* hop) { return path_changed[behind(*hop)]; });
    if (path_changed[from]) ages.set(nodes_[from].domain, domain, ages.now);
    nodes_[from].routes->set_paths(domain, std::move(hops));
  }
}

// The shortest path of each switch to the root; where there are several, the first.
void FabricPaths::set_tree(PathAges& ages) {
  std::vector<std::vector<EPort*>> links(nodes_.size());
  for (Node node = 1; node < nodes_.size(); ++node) {
    const std::vector<EPort*> hops = first_hops(node, 0);
    if (hops.empty()) continue;
    EPort* up = hops.front();
    links[node].push_back(up);
    links[behind(*up)].push_back(&up->far_end());
  }
  for (Node node = 0; node < nodes_.size(); ++node) {
    if (links[node] == nodes_[node].routes->tree()) continue;
    ages.tree = ages.now;
    nodes_[node].routes->set_tree(std::move(links[node]));
  }
}

void FabricPaths::apply(PathAges& ages) {
  std::vector<bool> known(256);
  for (const PathNode& node : nodes_) known[node.domain] = true;
  for (const PathNode& node : nodes_) {
    known[node.domain] = false;  // no path to oneself
    node.routes->keep_only(known);
    known[node.domain] = true;
  }
  for (Node to = 0; to < nodes_.size(); ++to) set_paths_to(to, ages);
  set_tree(ages);
}

}  // namespace fc2
