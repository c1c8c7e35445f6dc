// The common knowledge of switches that reach each other: names, logins, changes. Real switches keep replicas of it in
// step (FC-SW); here it is one object for all of them, and its records move when the fabric parts or grows together.
#pragma once
#include <optional>
#include <vector>

#include <boost/unordered/unordered_flat_map.hpp>

#include "fc2_fabric/switch/affected_addresses.hpp"
#include "fc2_fabric/switch/directory_change.hpp"
#include "fc2_fabric/switch/name_database.hpp"
#include "fc2_fabric/frame/time.hpp"
#include "wire/els/login.hpp"

namespace fc2 {
class FabricController;

class FabricDirectory final : private Event {
 public:
  /// Changes within `state_change_delay` of the first go into one notification.
  FabricDirectory(Scheduler& scheduler, TimeNs state_change_delay)
      : scheduler_(scheduler), delay_(state_change_delay) {}

  [[nodiscard]] NameDatabase& names() { return names_; }

  // --- logins
  /// nullopt: no port has that Port_Name.
  [[nodiscard]] std::optional<wire::FcId> find(wire::Wwn port_name) const;
  [[nodiscard]] std::size_t logged_in_ports() const { return logins_.size(); }
  void logged_in(wire::FcId id, const wire::els::Login& login, wire::Wwn fabric_port_name);
  void logged_out(wire::FcId id, wire::Wwn port_name);

  // --- the ports of one switch, whose changes reach the common directory later (DirectoryFeed)
  /// It hears of all changes; nobody is notified from here. Before the first change.
  void set_listener(DirectoryListener& listener) { listener_ = &listener; }
  /// The record of a port in names() may have changed.
  void registered(wire::FcId id);
  /// A change that another directory's listener heard.
  void apply(const DirectoryChange& change);

  // --- changes
  void add_controller(FabricController& controller) { controllers_.push_back(&controller); }
  void remove_controllers() { controllers_.clear(); }
  /// The fabric noticed that this port logged in or out.
  void state_changed(wire::FcId id);
  /// The port itself reported a change.
  void port_reported(wire::FcId id);

  // --- the fabric parts, or grows together
  /// Takes all records of one domain from `other`. Returns ports whose Port_Name is in use here: they are not taken.
  std::vector<wire::FcId> take_domain(FabricDirectory& other, std::uint8_t domain);

 private:
  void fire(TimeNs now) override;
  void notify_later();
  void tell(DirectoryChange::Kind kind, wire::FcId id, wire::Wwn port_name);

  Scheduler& scheduler_;
  const TimeNs delay_;
  DirectoryListener* listener_ = nullptr;
  NameDatabase names_;
  boost::unordered_flat_map<std::uint64_t, wire::FcId> logins_;  // by Port_Name
  std::vector<FabricController*> controllers_;                   // of all switches
  AffectedAddresses noticed_, reported_;                         // not reported yet
};

}  // namespace fc2
