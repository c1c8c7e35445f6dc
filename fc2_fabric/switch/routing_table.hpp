// Next hops of frames for other domains: one look-up, no allocation. The Fabric fills it in.
#pragma once
#include <array>
#include <cstdint>
#include <vector>

#include "fc2_fabric/frame/frame.hpp"
#include "fc2_fabric/switch/fabric_config.hpp"
#include "fc2_fabric/switch/switch_config.hpp"
#include "wire/types.hpp"

namespace fc2 {
class EPort;

class RoutingTable {
 public:
  explicit RoutingTable(Multipath multipath = Multipath::PortPair) : multipath_(multipath) {}
  void clear();
  /// Removes the paths to all domains for which `known` is false.
  void keep_only(const std::vector<bool>& known);
  void set_paths(std::uint8_t domain, std::vector<EPort*> first_hops);
  void set_tree(std::vector<EPort*> links) { tree_ = std::move(links); }

  /// nullptr: no path to that domain.
  [[nodiscard]] EPort* first_hop(const Frame& frame, wire::FcId d_id, wire::FcId s_id) {
    const std::vector<EPort*>& hops = paths_[d_id.domain()];
    if (hops.size() <= 1) return hops.empty() ? nullptr : hops.front();
    return hops[choice(frame, d_id, s_id) % hops.size()];
  }
  [[nodiscard]] const std::vector<EPort*>& paths(std::uint8_t domain) const { return paths_[domain]; }
  /// The links of the tree by which broadcast frames reach every switch once.
  [[nodiscard]] const std::vector<EPort*>& tree() const { return tree_; }

 private:
  [[nodiscard]] std::uint32_t choice(const Frame& frame, wire::FcId d_id, wire::FcId s_id);

  const Multipath multipath_;
  std::array<std::vector<EPort*>, 256> paths_;  // by domain; well-known addresses and 0 have none
  std::vector<EPort*> tree_;
  std::uint32_t turn_ = 0;
};

/// The configuration of the fabric since which each path is unchanged: a frame that entered before may be
/// on another path.
class PathAges {
 public:
  [[nodiscard]] std::uint32_t of(std::uint8_t from, std::uint8_t to) const { return rows_[row_of_[from]][to]; }
  void set(std::uint8_t from, std::uint8_t to, std::uint32_t age) {
    if (row_of_[from] == 0) {
      row_of_[from] = static_cast<std::uint8_t>(rows_.size());
      rows_.emplace_back();
    }
    rows_[row_of_[from]][to] = age;
  }
  std::uint32_t now = 1;   // this configuration
  std::uint32_t tree = 1;  // since when the broadcast tree is as it is

 private:
  using Row = std::array<std::uint32_t, 256>;  // by the domain where a path ends
  std::array<std::uint8_t, 256> row_of_{};     // by the domain where it begins; 0: no path was ever found from there
  std::vector<Row> rows_ = std::vector<Row>(1);
};

}  // namespace fc2
