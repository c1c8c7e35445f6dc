#include "fc2_fabric/switch/fabric_directory.hpp"

#include <algorithm>
#include <utility>

#include "fc2_fabric/switch/fabric_controller.hpp"

namespace fc2 {

std::optional<wire::FcId> FabricDirectory::find(wire::Wwn port_name) const {
  const auto found = logins_.find(port_name.value);
  if (found == logins_.end()) return std::nullopt;
  return found->second;
}

// FC-GS: the login registers names, classes of service and port type.
void FabricDirectory::logged_in(wire::FcId id, const wire::els::Login& login, wire::Wwn fabric_port_name) {
  logins_[login.port_name.value] = id;
  names_.add(id, login.port_name, login.node_name);
  NameDatabase::Port& port = names_.change(id);
  port.classes_of_service = (login.class_2.valid() ? 1U << 2 : 0U) | (login.class_3.valid() ? 1U << 3 : 0U);
  port.fabric_port_name = fabric_port_name;
  if (listener_ != nullptr) return tell(DirectoryChange::Kind::LoggedIn, id, login.port_name);
  state_changed(id);
}

// A port whose name is in use already (the fabrics grew together) keeps no records.
void FabricDirectory::logged_out(wire::FcId id, wire::Wwn port_name) {
  const auto found = logins_.find(port_name.value);
  if (found == logins_.end() || found->second != id) return;
  logins_.erase(found);
  names_.remove(id);
  if (listener_ != nullptr) return tell(DirectoryChange::Kind::LoggedOut, id, port_name);
  state_changed(id);
}

void FabricDirectory::notify_later() {
  if (!pending()) scheduler_.schedule_after(*this, delay_);
}

void FabricDirectory::state_changed(wire::FcId id) {
  noticed_.add_port(id);
  notify_later();
}

void FabricDirectory::port_reported(wire::FcId id) {
  if (listener_ != nullptr) return tell(DirectoryChange::Kind::Reported, id, {});
  reported_.add_port(id);
  notify_later();
}

// --- from one directory to another -------------------------------------------------------------------------------

void FabricDirectory::registered(wire::FcId id) {
  const NameDatabase::Port* port = names_.find(id);
  tell(DirectoryChange::Kind::Registered, id, port == nullptr ? wire::Wwn{} : port->port_name);
}

void FabricDirectory::tell(DirectoryChange::Kind kind, wire::FcId id, wire::Wwn port_name) {
  DirectoryChange change{.kind = kind, .id = id, .port_name = port_name};
  if (const NameDatabase::Port* port = names_.find(id); port != nullptr && kind != DirectoryChange::Kind::Reported) {
    const NameDatabase::Node& node = *names_.find_node(port->node_name);
    change.record = *port;
    change.node_symbolic_name = node.symbolic_name;
    change.node_addresses = node.addresses;
  }
  listener_->directory_changed(std::move(change));
}

void FabricDirectory::apply(const DirectoryChange& change) {
  using Kind = DirectoryChange::Kind;
  if (change.kind == Kind::Reported) return port_reported(change.id);
  if (change.kind == Kind::LoggedOut) return logged_out(change.id, change.port_name);
  if (change.kind == Kind::LoggedIn) logins_[change.port_name.value] = change.id;
  if (change.record)
    names_.put(change.id, *change.record, change.node_symbolic_name, change.node_addresses);
  else
    names_.remove(change.id);
  if (change.kind == Kind::LoggedIn) state_changed(change.id);
}

// --- what ports are told -----------------------------------------------------------------------------------------

void FabricDirectory::fire(TimeNs) {
  const AffectedAddresses noticed = std::exchange(noticed_, {}), reported = std::exchange(reported_, {});
  for (FabricController* controller : controllers_) controller->notify(noticed, reported);
}

std::vector<wire::FcId> FabricDirectory::take_domain(FabricDirectory& other, std::uint8_t domain) {
  std::vector<std::pair<wire::FcId, std::uint64_t>> moving;
  for (const auto& [name, id] : other.logins_)
    if (id.domain() == domain) moving.emplace_back(id, name);
  std::sort(moving.begin(), moving.end());
  std::vector<wire::FcId> refused;
  for (const auto& [id, name] : moving) {
    other.logins_.erase(name);
    if (logins_.emplace(name, id).second) continue;
    refused.push_back(id);
    other.names_.remove(id);
  }
  names_.take_domain(other.names_, domain);
  noticed_.add(other.noticed_);
  reported_.add(other.reported_);
  if (!noticed_.empty() || !reported_.empty()) notify_later();
  return refused;
}

}  // namespace fc2
