// How a switch is made.
#pragma once
#include <cstdint>
#include <string>

#include "fc2_fabric/frame/frame.hpp"
#include "wire/types.hpp"

namespace fsm {
class RowListener;
}

namespace fc2 {

inline constexpr std::uint8_t max_domain = 239;  // FC-SW: EFh

struct SwitchConfig {
  std::string name = "switch";
  /// Hears of each row that fires in the machines of its services, F_Ports and ends of links.
  fsm::RowListener* rows = nullptr;
  std::uint8_t domain = 1;      // 1 to 239; in a Fabric: preferred, another one where it is taken
  std::uint8_t priority = 128;  // in a Fabric: the lowest is principal switch (FC-SW), then the lowest name
  wire::Wwn switch_name{0x1000'02FC'FA00'0001};
  wire::Wwn fabric_name{0x1000'02FC'FA00'0001};  // Node_Name in the accept of FLOGI
  TimeNs e_d_tov = 2 * second;
  TimeNs r_a_tov = 10 * second;
  std::uint16_t receive_data_field_bytes = max_data_field_bytes;
  std::size_t max_ports = 65280;                 // addresses of a domain: 255 areas of 256 ports
  std::size_t max_virtual_ports = 255;           // further N_Port_IDs of one F_Port (FDISC)
  TimeNs state_change_delay = 10 * millisecond;  // RSCNs of one burst of changes go out together
  std::size_t egress_queue_frames = 256;         // waiting for a port; above that its senders are held back
  // For Ethernet: frames of all flows of one ingress that wait for ports that take no more. A flow may use half of what
  // the others leave; frames above that are lost.
  std::size_t flow_queue_frames = 1024;
  bool in_order = true;           // what FLOGI promises; what becomes of frames is the links' (FrameFault)
  TimeNs hold_time = 2 * second;  // the longest wait of a frame for a port, also if its link is gone: E_D_TOV
};

}  // namespace fc2
