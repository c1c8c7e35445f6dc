#include "fc2_fabric/switch/routing_table.hpp"

#include <utility>

#include "fc2_fabric/frame/frame_header.hpp"

namespace fc2 {

void RoutingTable::clear() {
  for (auto& paths : paths_) paths.clear();
  tree_.clear();
}

void RoutingTable::keep_only(const std::vector<bool>& known) {
  for (std::size_t domain = 0; domain < paths_.size(); ++domain)
    if (!known[domain]) paths_[domain].clear();
}

void RoutingTable::set_paths(std::uint8_t domain, std::vector<EPort*> first_hops) {
  paths_[domain] = std::move(first_hops);
}

// Both directions of an exchange may take different ways: each keeps its own order. Switches on the way must not all
// cut the same flows together, but the low bits of a sum would; a multiplication (Knuth) spreads them.
std::uint32_t RoutingTable::choice(const Frame& frame, wire::FcId d_id, wire::FcId s_id) {
  if (multipath_ == Multipath::Frame) return turn_++;
  std::uint32_t flow = d_id.value * 31 + s_id.value;
  if (multipath_ == Multipath::Exchange) flow = flow * 31 + ox_id_of(frame).value;
  return flow * 2'654'435'761U >> 16;
}

}  // namespace fc2
