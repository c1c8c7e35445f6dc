// The Name Server's records of ports and nodes (FC-GS). Lists are in the order of N_Port_IDs.
#pragma once
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "wire/ct/port_type.hpp"
#include "wire/ct/rft_id.hpp"
#include "wire/types.hpp"

namespace fc2 {

class NameDatabase {
 public:
  static constexpr std::size_t max_addresses = 16;  // of a port, and of a node

  struct Port {
    wire::ct::PortType type = wire::ct::PortType::n_port;
    wire::Wwn port_name{};
    wire::Wwn node_name{};
    std::string symbolic_name;
    wire::ct::Fc4Types types;
    std::map<wire::Type, std::uint8_t> features;  // by FC-4
    std::vector<wire::IpAddress> addresses;
    std::uint32_t classes_of_service = 0;  // bit n: class n
    wire::Wwn fabric_port_name{};          // of the F_Port
  };
  struct Node {
    std::set<wire::FcId> ports;
    std::string symbolic_name;
    std::vector<wire::IpAddress> addresses;
  };

  void add(wire::FcId id, wire::Wwn port_name, wire::Wwn node_name);
  void remove(wire::FcId id);
  [[nodiscard]] std::size_t size() const { return ports_.size(); }

  /// nullptr: not there.
  [[nodiscard]] const Port* find(wire::FcId id) const;
  [[nodiscard]] const Node* find_node(wire::Wwn node_name) const;
  [[nodiscard]] const wire::FcId* find_port_name(wire::Wwn port_name) const;
  /// The port with the next higher N_Port_ID; after the highest comes the lowest. nullptr: there is no port.
  [[nodiscard]] const std::pair<const wire::FcId, Port>* next_after(wire::FcId id) const;
  /// nullptr: no node has that address. If several have it, the one with the lowest name.
  [[nodiscard]] const wire::Wwn* find_node_with(const wire::IpAddress& address) const;
  /// All, by N_Port_ID.
  [[nodiscard]] const std::map<wire::FcId, Port>& ports() const { return ports_; }
  /// Ports that have this address; if there is none, those of the nodes that have it.
  [[nodiscard]] std::vector<wire::FcId> ports_with(const wire::IpAddress& address) const;

  /// The port must exist.
  Port& change(wire::FcId id) { return ports_.at(id); }
  Node& change_node(wire::Wwn node_name) { return nodes_.at(node_name); }
  void set_node_name(wire::FcId id, wire::Wwn node_name);
  /// False: the limit is reached. An unspecified address removes all addresses of the port (the node).
  bool add_address(wire::FcId id, const wire::IpAddress& address);
  bool add_node_address(wire::Wwn node_name, const wire::IpAddress& address);
  /// The record of a port, whatever it was before; what is known of its node adds up.
  void put(wire::FcId id, const Port& record, const std::string& node_symbolic_name,
           const std::vector<wire::IpAddress>& node_addresses);
  /// Takes over all ports of a domain, with their records and those of their nodes.
  void take_domain(NameDatabase& other, std::uint8_t domain);

 private:
  void take(NameDatabase& other, wire::FcId id);
  void leave_node(wire::FcId id, wire::Wwn node_name);

  std::map<wire::FcId, Port> ports_;
  std::map<wire::Wwn, wire::FcId> port_names_;
  std::map<wire::Wwn, Node> nodes_;  // with a port each, at least
  std::set<std::pair<wire::IpAddress, wire::FcId>> port_addresses_;
  std::set<std::pair<wire::IpAddress, wire::Wwn>> node_addresses_;
};

}  // namespace fc2
