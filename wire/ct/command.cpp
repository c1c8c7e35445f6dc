#include "wire/ct/command.hpp"

#include "wire/text.hpp"

namespace wire::ct {

// One line a code.
// clang-format off
std::string_view to_string(Command value) {
  switch (value) {
    case Command::ga_nxt: return "GA_NXT";
    case Command::gpn_id: return "GPN_ID";
    case Command::gnn_id: return "GNN_ID";
    case Command::gcs_id: return "GCS_ID";
    case Command::gft_id: return "GFT_ID";
    case Command::gspn_id: return "GSPN_ID";
    case Command::gpt_id: return "GPT_ID";
    case Command::gipp_id: return "GIPP_ID";
    case Command::gfpn_id: return "GFPN_ID";
    case Command::gff_id: return "GFF_ID";
    case Command::gid_pn: return "GID_PN";
    case Command::gipp_pn: return "GIPP_PN";
    case Command::gid_nn: return "GID_NN";
    case Command::gip_nn: return "GIP_NN";
    case Command::gipa_nn: return "GIPA_NN";
    case Command::gsnn_nn: return "GSNN_NN";
    case Command::gnn_ip: return "GNN_IP";
    case Command::gid_ft: return "GID_FT";
    case Command::gpn_ft: return "GPN_FT";
    case Command::gnn_ft: return "GNN_FT";
    case Command::gid_pt: return "GID_PT";
    case Command::gid_ipp: return "GID_IPP";
    case Command::gpn_ipp: return "GPN_IPP";
    case Command::gid_ff: return "GID_FF";
    case Command::rpn_id: return "RPN_ID";
    case Command::rnn_id: return "RNN_ID";
    case Command::rft_id: return "RFT_ID";
    case Command::rspn_id: return "RSPN_ID";
    case Command::rpt_id: return "RPT_ID";
    case Command::ripp_id: return "RIPP_ID";
    case Command::rff_id: return "RFF_ID";
    case Command::rip_nn: return "RIP_NN";
    case Command::rsnn_nn: return "RSNN_NN";
    case Command::da_id: return "DA_ID";
    case Command::reject: return "CT_RJT";
    case Command::accept: return "CT_ACC";
  }
  return text::unknown;
}
// clang-format on

std::string_view to_string(RejectReason value) {
  switch (value) {
    case RejectReason::none: return "none";
    case RejectReason::invalid_command: return "invalid_command";
    case RejectReason::invalid_version: return "invalid_version";
    case RejectReason::logical_error: return "logical_error";
    case RejectReason::invalid_size: return "invalid_size";
    case RejectReason::logical_busy: return "logical_busy";
    case RejectReason::protocol_error: return "protocol_error";
    case RejectReason::unable_to_perform: return "unable_to_perform";
    case RejectReason::not_supported: return "not_supported";
    case RejectReason::server_not_available: return "server_not_available";
    case RejectReason::session_not_established: return "session_not_established";
    case RejectReason::vendor_unique: return "vendor_unique";
  }
  return text::unknown;
}

std::string_view to_string(RejectExplanation value) {
  switch (value) {
    case RejectExplanation::none: return "none";
    case RejectExplanation::n_port_id_not_registered: return "n_port_id_not_registered";
    case RejectExplanation::port_name_not_registered: return "port_name_not_registered";
    case RejectExplanation::node_name_not_registered: return "node_name_not_registered";
    case RejectExplanation::class_of_service_not_registered: return "class_of_service_not_registered";
    case RejectExplanation::ip_address_node_not_registered: return "ip_address_node_not_registered";
    case RejectExplanation::ipa_not_registered: return "ipa_not_registered";
    case RejectExplanation::fc4_types_not_registered: return "fc4_types_not_registered";
    case RejectExplanation::symbolic_port_name_not_registered: return "symbolic_port_name_not_registered";
    case RejectExplanation::symbolic_node_name_not_registered: return "symbolic_node_name_not_registered";
    case RejectExplanation::port_type_not_registered: return "port_type_not_registered";
    case RejectExplanation::ip_address_port_not_registered: return "ip_address_port_not_registered";
    case RejectExplanation::fabric_port_name_not_registered: return "fabric_port_name_not_registered";
    case RejectExplanation::hard_address_not_registered: return "hard_address_not_registered";
    case RejectExplanation::fc4_descriptor_not_registered: return "fc4_descriptor_not_registered";
    case RejectExplanation::fc4_features_not_registered: return "fc4_features_not_registered";
    case RejectExplanation::access_denied: return "access_denied";
    case RejectExplanation::unacceptable_n_port_id: return "unacceptable_n_port_id";
    case RejectExplanation::database_empty: return "database_empty";
    case RejectExplanation::no_object_in_scope: return "no_object_in_scope";
  }
  return text::unknown;
}

}  // namespace wire::ct
