// Name server commands, reject reasons and explanations (FC-GS).
#pragma once
#include <cstdint>
#include <string_view>

namespace wire::ct {

enum class Command : std::uint16_t {
  ga_nxt = 0x0100,
  gpn_id = 0x0112,
  gnn_id = 0x0113,
  gcs_id = 0x0114,
  gft_id = 0x0117,
  gspn_id = 0x0118,
  gpt_id = 0x011A,
  gipp_id = 0x011B,
  gfpn_id = 0x011C,
  gff_id = 0x011F,
  gid_pn = 0x0121,
  gipp_pn = 0x012B,
  gid_nn = 0x0131,
  gip_nn = 0x0135,
  gipa_nn = 0x0136,
  gsnn_nn = 0x0139,
  gnn_ip = 0x0153,
  gid_ft = 0x0171,
  gpn_ft = 0x0172,
  gnn_ft = 0x0173,
  gid_pt = 0x01A1,
  gid_ipp = 0x01B1,
  gpn_ipp = 0x01B2,
  gid_ff = 0x01F1,
  rpn_id = 0x0212,
  rnn_id = 0x0213,
  rft_id = 0x0217,
  rspn_id = 0x0218,
  rpt_id = 0x021A,
  ripp_id = 0x021B,
  rff_id = 0x021F,
  rip_nn = 0x0235,
  rsnn_nn = 0x0239,
  da_id = 0x0300,
  reject = 0x8001,
  accept = 0x8002,
};
/// "GID_IPP"; "CT_ACC" and "CT_RJT" for the answers; "unknown" for a code without a name.
[[nodiscard]] std::string_view to_string(Command command);

enum class RejectReason : std::uint8_t {
  none = 0x00,
  invalid_command = 0x01,
  invalid_version = 0x02,
  logical_error = 0x03,
  invalid_size = 0x04,
  logical_busy = 0x05,
  protocol_error = 0x07,
  unable_to_perform = 0x09,
  not_supported = 0x0B,
  server_not_available = 0x0D,
  session_not_established = 0x0E,
  vendor_unique = 0xFF,
};
[[nodiscard]] std::string_view to_string(RejectReason reason);

/// Explanations of the name server, with reason unable_to_perform.
enum class RejectExplanation : std::uint8_t {
  none = 0x00,
  n_port_id_not_registered = 0x01,
  port_name_not_registered = 0x02,
  node_name_not_registered = 0x03,
  class_of_service_not_registered = 0x04,
  ip_address_node_not_registered = 0x05,
  ipa_not_registered = 0x06,
  fc4_types_not_registered = 0x07,
  symbolic_port_name_not_registered = 0x08,
  symbolic_node_name_not_registered = 0x09,
  port_type_not_registered = 0x0A,
  ip_address_port_not_registered = 0x0B,
  fabric_port_name_not_registered = 0x0C,
  hard_address_not_registered = 0x0D,
  fc4_descriptor_not_registered = 0x0E,
  fc4_features_not_registered = 0x0F,
  access_denied = 0x10,
  unacceptable_n_port_id = 0x11,
  database_empty = 0x12,
  no_object_in_scope = 0x13,
};
[[nodiscard]] std::string_view to_string(RejectExplanation explanation);

}  // namespace wire::ct
