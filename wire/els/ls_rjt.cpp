#include "wire/els/ls_rjt.hpp"

namespace wire::els {

std::string_view to_string(RejectReason value) {
  switch (value) {
    case RejectReason::invalid_command: return "invalid_command";
    case RejectReason::logical_error: return "logical_error";
    case RejectReason::logical_busy: return "logical_busy";
    case RejectReason::protocol_error: return "protocol_error";
    case RejectReason::unable_to_perform: return "unable_to_perform";
    case RejectReason::not_supported: return "not_supported";
    case RejectReason::command_in_progress: return "command_in_progress";
    case RejectReason::fip_error: return "fip_error";
    case RejectReason::vendor_unique: return "vendor_unique";
  }
  return text::unknown;
}

std::string_view to_string(RejectExplanation value) {
  switch (value) {
    case RejectExplanation::none: return "none";
    case RejectExplanation::service_parameter_options: return "service_parameter_options";
    case RejectExplanation::service_parameter_initiator_control: return "service_parameter_initiator_control";
    case RejectExplanation::service_parameter_recipient_control: return "service_parameter_recipient_control";
    case RejectExplanation::service_parameter_receive_data_field_size:
      return "service_parameter_receive_data_field_size";
    case RejectExplanation::service_parameter_concurrent_sequences: return "service_parameter_concurrent_sequences";
    case RejectExplanation::service_parameter_credit: return "service_parameter_credit";
    case RejectExplanation::invalid_port_or_fabric_name: return "invalid_port_or_fabric_name";
    case RejectExplanation::invalid_node_or_fabric_name: return "invalid_node_or_fabric_name";
    case RejectExplanation::invalid_common_service_parameters: return "invalid_common_service_parameters";
    case RejectExplanation::invalid_association_header: return "invalid_association_header";
    case RejectExplanation::association_header_required: return "association_header_required";
    case RejectExplanation::invalid_originator_s_id: return "invalid_originator_s_id";
    case RejectExplanation::invalid_ox_id_rx_id: return "invalid_ox_id_rx_id";
    case RejectExplanation::command_in_progress: return "command_in_progress";
    case RejectExplanation::n_port_login_required: return "n_port_login_required";
    case RejectExplanation::invalid_n_port_id: return "invalid_n_port_id";
    case RejectExplanation::insufficient_resources: return "insufficient_resources";
    case RejectExplanation::unable_to_supply_data: return "unable_to_supply_data";
    case RejectExplanation::request_not_supported: return "request_not_supported";
    case RejectExplanation::invalid_payload_length: return "invalid_payload_length";
    case RejectExplanation::mac_addressing_mode_not_supported: return "mac_addressing_mode_not_supported";
  }
  return text::unknown;
}

}  // namespace wire::els
