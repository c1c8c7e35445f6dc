// What a NIC on Ethernet tells of itself, for fcvi-fabricd status.
#pragma once
#include <string>

#include "fc2_fabric/fcoe/e_node.hpp"
#include "fc2_fabric/fcoe/ethernet_port.hpp"
#include "fc2_fabric/fcoe/vn2vn_node.hpp"

namespace vipl {

/// One of the nodes is not nullptr.
struct NicView {
  const fc2::NPort& port;
  fc2::fcoe::EthernetPort& ethernet;
  const fc2::fcoe::ENode* e_node = nullptr;
  const fc2::fcoe::Vn2vnNode* vn2vn_node = nullptr;
  runtime::TimeNs now = 0;
};
/// A JSON object.
[[nodiscard]] std::string describe(const NicView& nic);

}  // namespace vipl
