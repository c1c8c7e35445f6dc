// The addresses that a state change notification is about. Bounded: many ports are replaced by areas, areas by domains,
// and at last by the whole fabric.
#pragma once
#include <cstdint>
#include <set>
#include <vector>

#include "wire/els/rscn.hpp"

namespace fc2 {

class AffectedAddresses {
 public:
  /// Above this number of pages, wider address formats stand for several of them: an RSCN stays one frame.
  static constexpr std::size_t max_pages = 64;

  void add_port(wire::FcId id);
  void add_domain(std::uint8_t domain);
  void add(const AffectedAddresses& others);
  void clear() { *this = {}; }
  [[nodiscard]] bool empty() const { return !fabric_ && size() == 0; }
  /// As a port, not by its area or domain.
  [[nodiscard]] bool names(wire::FcId id) const { return ports_.contains(id); }
  /// `without`: a port is not notified of itself.
  [[nodiscard]] std::vector<wire::els::RscnPage> pages(wire::FcId without = {}) const;

 private:
  using Area = std::uint16_t;  // domain and area
  static Area area_of(wire::FcId id) { return static_cast<Area>(id.value >> 8); }
  [[nodiscard]] std::size_t size() const { return ports_.size() + areas_.size() + domains_.size(); }
  [[nodiscard]] bool covers(Area area) const;
  void coalesce();
  void merge_ports();
  void merge_areas();

  std::set<wire::FcId> ports_;
  std::set<Area> areas_;
  std::set<std::uint8_t> domains_;
  bool fabric_ = false;
};

}  // namespace fc2
