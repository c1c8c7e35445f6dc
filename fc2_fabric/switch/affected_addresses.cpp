#include "fc2_fabric/switch/affected_addresses.hpp"

#include <map>

namespace fc2 {
using wire::els::AddressFormat;

bool AffectedAddresses::covers(Area area) const {
  return fabric_ || domains_.contains(static_cast<std::uint8_t>(area >> 8)) || areas_.contains(area);
}

void AffectedAddresses::add_port(wire::FcId id) {
  if (covers(area_of(id))) return;
  ports_.insert(id);
  coalesce();
}

void AffectedAddresses::add_domain(std::uint8_t domain) {
  if (fabric_) return;
  std::erase_if(ports_, [&](wire::FcId id) { return id.domain() == domain; });
  std::erase_if(areas_, [&](Area area) { return area >> 8 == domain; });
  domains_.insert(domain);
  coalesce();
}

void AffectedAddresses::add(const AffectedAddresses& others) {
  if (others.fabric_) {
    *this = others;
    return;
  }
  for (const std::uint8_t domain : others.domains_) add_domain(domain);
  for (const Area area : others.areas_) {
    if (covers(area)) continue;
    std::erase_if(ports_, [&](wire::FcId id) { return area_of(id) == area; });
    areas_.insert(area);
    coalesce();
  }
  for (const wire::FcId id : others.ports_) add_port(id);
}

// The narrowest formats that are few enough.
void AffectedAddresses::coalesce() {
  if (size() > max_pages) merge_ports();
  if (size() > max_pages) merge_areas();
  if (size() <= max_pages) return;
  *this = {};
  fabric_ = true;
}

// Ports of one area become the area.
void AffectedAddresses::merge_ports() {
  std::map<Area, int> count;
  for (const wire::FcId id : ports_) ++count[area_of(id)];
  for (const auto& [area, ports] : count)
    if (ports > 1) areas_.insert(area);
  std::erase_if(ports_, [&](wire::FcId id) { return areas_.contains(area_of(id)); });
}

// What is of one domain becomes the domain.
void AffectedAddresses::merge_areas() {
  std::map<std::uint8_t, int> count;
  for (const wire::FcId id : ports_) ++count[id.domain()];
  for (const Area area : areas_) ++count[static_cast<std::uint8_t>(area >> 8)];
  for (const auto& [domain, parts] : count)
    if (parts > 1) domains_.insert(domain);
  std::erase_if(ports_, [&](wire::FcId id) { return domains_.contains(id.domain()); });
  std::erase_if(areas_, [&](Area area) { return domains_.contains(static_cast<std::uint8_t>(area >> 8)); });
}

std::vector<wire::els::RscnPage> AffectedAddresses::pages(wire::FcId without) const {
  std::vector<wire::els::RscnPage> pages;
  if (fabric_) pages.push_back({.format = AddressFormat::fabric});
  for (const std::uint8_t domain : domains_)
    pages.push_back({.format = AddressFormat::domain, .address = {std::uint32_t{domain} << 16}});
  for (const Area area : areas_)
    pages.push_back({.format = AddressFormat::area, .address = {std::uint32_t{area} << 8}});
  for (const wire::FcId id : ports_)
    if (id != without) pages.push_back({.format = AddressFormat::port, .address = id});
  return pages;
}

}  // namespace fc2
