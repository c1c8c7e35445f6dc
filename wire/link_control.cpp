#include "wire/link_control.hpp"

namespace wire {

std::string_view to_string(RejectAction value) {
  switch (value) {
    case RejectAction::retryable: return "retryable";
    case RejectAction::non_retryable: return "non_retryable";
  }
  return text::unknown;
}

// One line a code.
// clang-format off
std::string_view to_string(LinkRejectReason value) {
  switch (value) {
    case LinkRejectReason::invalid_d_id: return "invalid_d_id";
    case LinkRejectReason::invalid_s_id: return "invalid_s_id";
    case LinkRejectReason::n_port_not_available_temporarily: return "n_port_not_available_temporarily";
    case LinkRejectReason::n_port_not_available_permanently: return "n_port_not_available_permanently";
    case LinkRejectReason::class_not_supported: return "class_not_supported";
    case LinkRejectReason::delimiter_usage_error: return "delimiter_usage_error";
    case LinkRejectReason::type_not_supported: return "type_not_supported";
    case LinkRejectReason::invalid_link_control: return "invalid_link_control";
    case LinkRejectReason::invalid_r_ctl: return "invalid_r_ctl";
    case LinkRejectReason::invalid_f_ctl: return "invalid_f_ctl";
    case LinkRejectReason::invalid_ox_id: return "invalid_ox_id";
    case LinkRejectReason::invalid_rx_id: return "invalid_rx_id";
    case LinkRejectReason::invalid_seq_id: return "invalid_seq_id";
    case LinkRejectReason::invalid_df_ctl: return "invalid_df_ctl";
    case LinkRejectReason::invalid_seq_cnt: return "invalid_seq_cnt";
    case LinkRejectReason::invalid_parameter: return "invalid_parameter";
    case LinkRejectReason::exchange_error: return "exchange_error";
    case LinkRejectReason::protocol_error: return "protocol_error";
    case LinkRejectReason::incorrect_length: return "incorrect_length";
    case LinkRejectReason::unexpected_ack: return "unexpected_ack";
    case LinkRejectReason::class_not_supported_by_fabric_port: return "class_not_supported_by_fabric_port";
    case LinkRejectReason::login_required: return "login_required";
    case LinkRejectReason::excessive_sequences: return "excessive_sequences";
    case LinkRejectReason::unable_to_establish_exchange: return "unable_to_establish_exchange";
    case LinkRejectReason::fabric_path_not_available: return "fabric_path_not_available";
    case LinkRejectReason::invalid_vc_id: return "invalid_vc_id";
    case LinkRejectReason::invalid_cs_ctl: return "invalid_cs_ctl";
    case LinkRejectReason::insufficient_vc_resources: return "insufficient_vc_resources";
    case LinkRejectReason::invalid_class_of_service: return "invalid_class_of_service";
    case LinkRejectReason::preemption_request_rejected: return "preemption_request_rejected";
    case LinkRejectReason::preemption_not_enabled: return "preemption_not_enabled";
    case LinkRejectReason::multicast_error: return "multicast_error";
    case LinkRejectReason::multicast_error_terminate: return "multicast_error_terminate";
    case LinkRejectReason::process_login_required: return "process_login_required";
    case LinkRejectReason::invalid_attachment: return "invalid_attachment";
    case LinkRejectReason::vendor_unique: return "vendor_unique";
  }
  return text::unknown;
}
// clang-format on

std::string_view to_string(LinkBusyReason value) {
  switch (value) {
    case LinkBusyReason::n_port_busy: return "n_port_busy";
    case LinkBusyReason::n_port_resource_busy: return "n_port_resource_busy";
    case LinkBusyReason::vendor_unique: return "vendor_unique";
  }
  return text::unknown;
}

LinkReject LinkReject::from_parameter(std::uint32_t parameter) {
  std::array<std::uint8_t, 4> bytes{};
  store_big<4>(bytes.data(), parameter);
  return codec::read<LinkReject>(bytes.data());
}
std::uint32_t LinkReject::to_parameter() const {
  std::array<std::uint8_t, 4> bytes{};
  write(bytes);
  return load_big<4>(bytes.data());
}
LinkBusy LinkBusy::from_parameter(std::uint32_t parameter) {
  std::array<std::uint8_t, 4> bytes{};
  store_big<4>(bytes.data(), parameter);
  return codec::read<LinkBusy>(bytes.data());
}
std::uint32_t LinkBusy::to_parameter() const {
  std::array<std::uint8_t, 4> bytes{};
  write(bytes);
  return load_big<4>(bytes.data());
}

}  // namespace wire
