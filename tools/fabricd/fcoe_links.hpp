// The links of the Ethernet side, for faults and for an operator: of each interface, and of each ENode at it.
#pragma once
#include <deque>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "fc2_fabric/fcoe/fcf.hpp"
#include "tools/fabricd/downed_links.hpp"
#include "tools/fabricd/live_faults.hpp"
#include "tools/fabricd/port_names.hpp"
#include "tools/fabricd/tapped_ethernet.hpp"

namespace fabricd {

/// Faults befall the virtual link of an ENode, with all of its VN_Ports, from its login (FIP FLOGI) on: what is
/// inside FIP is not on it. An ENode is called as its interface, its MAC address, or a N_Port_ID or Port_Name of one of
/// its VN_Ports. Calls are made inside the core.
class FcoeLinks {
 public:
  /// Both outlive it.
  FcoeLinks(LiveFaults& faults, std::deque<TappedEthernet>& ports);
  FcoeLinks(const FcoeLinks&) = delete;
  FcoeLinks& operator=(const FcoeLinks&) = delete;
  ~FcoeLinks();

  /// nullptr: there is none any more.
  void set_fcf(const fc2::fcoe::Fcf* fcf);
  /// ENodes or their VN_Ports have come or gone.
  void look();

  [[nodiscard]] std::vector<std::string> names() const;
  /// The interface of that name, or else the ENodes, each by its interface and MAC address; also those that are down.
  [[nodiscard]] std::vector<std::string> called(std::string_view name) const;
  /// Of the one that is called so. An interface that is down is as one without carrier. An ENode's link goes down by
  /// Clear Virtual Links, and nothing of it is heard while it is down; a reset clears the links and no more.
  void set_link(std::string_view name, LinkAction action);
  [[nodiscard]] std::vector<std::string> down() const;

 private:
  class ENodeLink;
  struct Place {
    TappedEthernet* port;
    const fc2::fcoe::FcfInterface* interface;
    wire::MacAddress e_node;
  };
  [[nodiscard]] TappedEthernet* interface_called(std::string_view name) const;
  [[nodiscard]] std::vector<Place> e_nodes_called(std::string_view name) const;
  [[nodiscard]] std::vector<Place> places() const;
  using ENodeKey = std::pair<const TappedEthernet*, wire::MacAddress>;
  [[nodiscard]] bool was_called(const ENodeKey& e_node, std::string_view name) const;
  void block(const Place& place, const fc2::fcoe::FcfLink* link);
  void unblock(const Place& place);

  LiveFaults& faults_;
  std::deque<TappedEthernet>& ports_;  // as the FCF's interfaces, one for one
  const fc2::fcoe::Fcf* fcf_ = nullptr;
  std::map<ENodeKey, std::unique_ptr<ENodeLink>> links_;
  std::map<ENodeKey, std::vector<NamedPort>> former_;  // what those were called that are blocked
};

}  // namespace fabricd
