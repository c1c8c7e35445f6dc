// Shortest paths between the switches of one fabric, and the tree for broadcasts (as FSPF, FC-SW).
#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include <boost/unordered/unordered_flat_map.hpp>

#include "fc2_fabric/switch/routing_table.hpp"

namespace fc2 {
class Switch;

/// A switch as a node of the graph.
struct PathNode {
  const Switch* device;
  std::uint8_t domain;
  RoutingTable* routes;       // to be filled in
  std::vector<EPort*> ports;  // to other nodes, in the order of their ISLs
};

class FabricPaths {
 public:
  /// All nodes reach each other. The first, the principal switch, is the root of the tree.
  explicit FabricPaths(std::span<const PathNode> nodes);
  /// Fills in the tables, and notes in `ages` which paths changed.
  void apply(PathAges& ages);

 private:
  using Node = std::size_t;
  using Cost = std::uint32_t;
  static constexpr Cost unreachable = ~Cost{0};

  void measure(Node from);
  [[nodiscard]] Cost& distance(Node from, Node to) { return distances_[from * nodes_.size() + to]; }
  [[nodiscard]] Node behind(EPort& port) const;
  [[nodiscard]] std::vector<EPort*> first_hops(Node from, Node to);
  void set_paths_to(Node to, PathAges& ages);
  void set_tree(PathAges& ages);

  const std::span<const PathNode> nodes_;
  boost::unordered_flat_map<const Switch*, Node> index_;
  std::vector<Cost> distances_;
};

}  // namespace fc2
