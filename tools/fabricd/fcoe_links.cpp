#include "tools/fabricd/fcoe_links.hpp"

#include <algorithm>
#include <utility>

#include "tools/fabricd/port_names.hpp"

namespace fabricd {
using fc2::fcoe::FcfLink;

namespace {
FcfLink* link_at(const fc2::fcoe::FcfInterface& interface, const wire::MacAddress& e_node) {
  const auto found = interface.links().find(e_node);
  return found == interface.links().end() ? nullptr : found->second.get();
}

std::string text_of(const TappedEthernet& port, const wire::MacAddress& e_node) {
  return port.interface().name + " " + to_string(e_node);
}

bool is_called(const FcfLink* link, const wire::MacAddress& e_node, std::string_view name) {
  if (wire::MacAddress::from_string(std::string(name)) == e_node) return true;
  if (link == nullptr) return false;
  return std::any_of(link->vn_ports().begin(), link->vn_ports().end(), [&](const auto& port) {
    return address_of(name) == port.id || to_string(port.port_name) == name;
  });
}
}  // namespace

/// The FCF makes and destroys its link at its own times: it is looked up each time.
class FcoeLinks::ENodeLink final : public FaultLink {
 public:
  ENodeLink(LiveFaults& faults, const Place& place) : faults_(faults), place_(place) { faults_.add(*this); }
  ~ENodeLink() { faults_.remove(*this); }
  ENodeLink(const ENodeLink&) = delete;
  ENodeLink& operator=(const ENodeLink&) = delete;
  [[nodiscard]] bool is_there() const { return link() != nullptr; }

  void set_faults(fc2::FrameFault* sent, fc2::FrameFault* received) override {
    if (FcfLink* const found = link()) found->set_faults(sent, received);
  }
  [[nodiscard]] std::size_t in_flight() const override { return link() != nullptr ? link()->in_flight() : 0; }
  void hasten() override {
    if (FcfLink* const found = link()) found->hasten();
  }
  void watch(bool) override {}
  [[nodiscard]] bool is_passed_by() const override { return false; }
  [[nodiscard]] bool is_called(std::string_view name) const override {
    return name == place_.port->interface().name || fabricd::is_called(link(), place_.e_node, name);
  }
  [[nodiscard]] std::string text() const override { return text_of(*place_.port, place_.e_node); }
  [[nodiscard]] bool has_address(wire::FcId id) const override {
    const FcfLink* const found = link();
    return found != nullptr && std::any_of(found->vn_ports().begin(), found->vn_ports().end(),
                                           [&](const auto& port) { return port.id == id; });
  }

 private:
  [[nodiscard]] FcfLink* link() const { return link_at(*place_.interface, place_.e_node); }

  LiveFaults& faults_;
  const Place place_;
};

FcoeLinks::FcoeLinks(LiveFaults& faults, std::deque<TappedEthernet>& ports) : faults_(faults), ports_(ports) {}
FcoeLinks::~FcoeLinks() = default;

void FcoeLinks::set_fcf(const fc2::fcoe::Fcf* fcf) {
  links_.clear();
  fcf_ = fcf;
}

std::vector<FcoeLinks::Place> FcoeLinks::places() const {
  std::vector<Place> places;
  for (std::size_t i = 0; fcf_ != nullptr && i < fcf_->interfaces().size(); ++i)
    for (const auto& [e_node, link] : fcf_->interfaces()[i]->links())
      places.push_back({&ports_[i], fcf_->interfaces()[i].get(), e_node});
  return places;
}

void FcoeLinks::look() {
  std::erase_if(links_, [](const auto& entry) { return !entry.second->is_there(); });
  for (const Place& place : places()) {
    auto& link = links_[{place.port, place.e_node}];
    if (link == nullptr)
      link = std::make_unique<ENodeLink>(faults_, place);
    else
      faults_.look_at(*link);
  }
}

// --- for an operator ---------------------------------------------------------------------------------------------

std::vector<std::string> FcoeLinks::names() const {
  std::vector<std::string> names;
  for (const TappedEthernet& port : ports_) names.push_back(port.interface().name);
  for (const Place& place : places()) names.push_back(to_string(place.e_node));
  return names;
}

TappedEthernet* FcoeLinks::interface_called(std::string_view name) const {
  const auto found =
      std::find_if(ports_.begin(), ports_.end(), [&](const auto& port) { return port.interface().name == name; });
  return found == ports_.end() ? nullptr : &*found;
}

std::vector<FcoeLinks::Place> FcoeLinks::e_nodes_called(std::string_view name) const {
  std::vector<Place> found;
  for (const Place& place : places())
    if (is_called(link_at(*place.interface, place.e_node), place.e_node, name)) found.push_back(place);
  if (!found.empty()) return found;
  for (std::size_t i = 0; fcf_ != nullptr && i < ports_.size(); ++i)
    for (const wire::MacAddress& e_node : ports_[i].blocked())
      if (was_called({&ports_[i], e_node}, name)) found.push_back({&ports_[i], fcf_->interfaces()[i].get(), e_node});
  return found;
}

// Its names of when it went down.
bool FcoeLinks::was_called(const ENodeKey& e_node, std::string_view name) const {
  if (wire::MacAddress::from_string(std::string(name)) == e_node.second) return true;
  const auto known = former_.find(e_node);
  return known != former_.end() && std::any_of(known->second.begin(), known->second.end(),
                                               [&](const NamedPort& port) { return PortNames::is_called(port, name); });
}

void FcoeLinks::block(const Place& place, const FcfLink* link) {
  place.port->block(place.e_node, true);
  if (link == nullptr) return;
  auto& names = former_[{place.port, place.e_node}];
  for (const auto& port : link->vn_ports())
    names.push_back({.text = text_of(*place.port, place.e_node),
                     .name = {},
                     .address = port.id,
                     .more_names = {to_string(port.port_name)}});
}

void FcoeLinks::unblock(const Place& place) {
  place.port->block(place.e_node, false);
  former_.erase({place.port, place.e_node});
}

std::vector<std::string> FcoeLinks::called(std::string_view name) const {
  if (const TappedEthernet* port = interface_called(name)) return {port->interface().name};
  std::vector<std::string> texts;
  for (const Place& place : e_nodes_called(name)) texts.push_back(text_of(*place.port, place.e_node));
  return texts;
}

void FcoeLinks::set_link(std::string_view name, LinkAction action) {
  if (TappedEthernet* port = interface_called(name)) {
    if (action != LinkAction::Up) port->set_cut(true);
    if (action != LinkAction::Down) port->set_cut(false);
    return;
  }
  for (const Place& place : e_nodes_called(name)) {
    FcfLink* const link = link_at(*place.interface, place.e_node);
    if (action == LinkAction::Down)
      block(place, link);
    else
      unblock(place);
    if (action != LinkAction::Up && link != nullptr) link->clear("by fcvi-ctl");
  }
}

std::vector<std::string> FcoeLinks::down() const {
  std::vector<std::string> texts;
  for (const TappedEthernet& port : ports_) {
    if (port.is_cut()) texts.push_back(port.interface().name);
    for (const wire::MacAddress& e_node : port.blocked()) texts.push_back(text_of(port, e_node));
  }
  return texts;
}

}  // namespace fabricd
