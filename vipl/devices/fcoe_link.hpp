// The link of a NIC to Ethernet: an ENode of a fabric, or a VN2VN node where there is none.
#pragma once
#include <memory>
#include <string>

#include "fc2_fabric/drivers/ethernet_name.hpp"
#include "fc2_fabric/fcoe/e_node.hpp"
#include "fc2_fabric/fcoe/vn2vn_node.hpp"
#include "runtime/drivers/status_socket.hpp"
#include "vipl/configuration/configuration.hpp"
#include "vipl/devices/fc_link.hpp"

namespace vipl {

class FcoeLink final : public FcLink {
 public:
  /// `port_name` decides the MAC address where the configuration gives none.
  FcoeLink(const fc2::drivers::CoreAccess& access, const FcoeChoices& choices, wire::Wwn port_name);

  void limit(fc2::NPortConfig& config) const override;
  void attach(fc2::NPort& port) override;
  /// Why the interface could not be opened.
  [[nodiscard]] std::string failure() const override { return failure_; }
  [[nodiscard]] std::string trouble() const override;
  void say_goodbye() override;
  [[nodiscard]] bool has_name_server() const override { return choices_.mode == FcoeMode::Fabric; }
  /// Hosts may be busy.
  [[nodiscard]] runtime::TimeNs farp_timeout() const override { return 500 * runtime::millisecond; }

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
  std::unique_ptr<runtime::drivers::StatusSocket>
      status_;  // nullptr: there is no runtime directory; goes first, it looks at the others
};

}  // namespace vipl
