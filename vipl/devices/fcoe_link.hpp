// The link of a NIC to Ethernet: an ENode of a fabric, or a VN2VN node where there is none.
#pragma once
#include <memory>
#include <string>

#include "fc2_fabric/drivers/ethernet_name.hpp"
#include "fc2_fabric/drivers/status_socket.hpp"
#include "fc2_fabric/fcoe/e_node.hpp"
#include "fc2_fabric/fcoe/vn2vn_node.hpp"
#include "vipl/configuration/configuration.hpp"

namespace vipl {

/// Made, used and destroyed inside the engine. The N_Port must know how large frames may be before it exists: first the
/// interface is opened, then the port made, then attach().
class FcoeLink {
 public:
  /// `port_name` decides the MAC address where the configuration gives none.
  FcoeLink(const fc2::drivers::CoreAccess& access, const FcoeChoices& choices, wire::Wwn port_name);
  /// Why the interface could not be opened: there is no sense in waiting. Empty: it is open.
  [[nodiscard]] const std::string& failure() const { return failure_; }
  /// Of an interface that is open.
  [[nodiscard]] std::uint16_t data_field_bytes() const;
  /// The port is brought up as soon as the Ethernet lets it. It outlives this.
  void attach(fc2::NPort& port);
  /// For people: what is not there yet. Empty: the port has an address.
  [[nodiscard]] std::string trouble() const;
  /// The process ends: others are told, nothing is waited for.
  void say_goodbye();

 private:
  void tell_status();
  [[nodiscard]] std::string fabric_trouble(const fc2::fcoe::ENode& node) const;

  const fc2::drivers::CoreAccess access_;
  const FcoeChoices choices_;
  std::string failure_;
  fc2::NPort* port_ = nullptr;
  std::unique_ptr<fc2::fcoe::EthernetPort> ethernet_;
  std::unique_ptr<fc2::fcoe::ENode> e_node_;  // one of them
  std::unique_ptr<fc2::fcoe::Vn2vnNode> vn2vn_node_;
  std::unique_ptr<fc2::drivers::StatusSocket>
      status_;  // nullptr: there is no runtime directory; goes first, it looks at the others
};

}  // namespace vipl
