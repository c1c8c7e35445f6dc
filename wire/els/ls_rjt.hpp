// LS_RJT: the refusal of any ELS.
#pragma once
#include "wire/codec.hpp"
#include "wire/els/command.hpp"

namespace wire::els {

/// LS_RJT reason codes (FC-LS 4.4.4).
enum class RejectReason : std::uint8_t {
  invalid_command = 0x01,
  logical_error = 0x03,
  logical_busy = 0x05,
  protocol_error = 0x07,
  unable_to_perform = 0x09,
  not_supported = 0x0B,
  command_in_progress = 0x0E,
  fip_error = 0x20,
  vendor_unique = 0xFF,
};
[[nodiscard]] std::string_view to_string(RejectReason reason);

/// LS_RJT reason explanations (FC-LS 4.4.4).
enum class RejectExplanation : std::uint8_t {
  none = 0x00,
  service_parameter_options = 0x01,
  service_parameter_initiator_control = 0x03,
  service_parameter_recipient_control = 0x05,
  service_parameter_receive_data_field_size = 0x07,
  service_parameter_concurrent_sequences = 0x09,
  service_parameter_credit = 0x0B,
  invalid_port_or_fabric_name = 0x0D,
  invalid_node_or_fabric_name = 0x0E,
  invalid_common_service_parameters = 0x0F,
  invalid_association_header = 0x11,
  association_header_required = 0x13,
  invalid_originator_s_id = 0x15,
  invalid_ox_id_rx_id = 0x17,
  command_in_progress = 0x19,
  n_port_login_required = 0x1E,
  invalid_n_port_id = 0x1F,
  insufficient_resources = 0x29,
  unable_to_supply_data = 0x2A,
  request_not_supported = 0x2C,
  invalid_payload_length = 0x2D,
  mac_addressing_mode_not_supported = 0x60,  // FIP: neither the ENode's own MAC address nor one of the fabric's
};
[[nodiscard]] std::string_view to_string(RejectExplanation explanation);

/// LS_RJT (FC-LS 4.4.4), 8 bytes
/// word | 31-24    | 23-16  | 15-8        | 7-0
///  0   | 01h      | 0
///  1   | reserved | reason | explanation | vendor unique
struct LsRjt {
  RejectReason reason{};
  RejectExplanation explanation{};
  std::uint8_t vendor_unique = 0;

  static constexpr std::string_view name = "LS_RJT";
  static constexpr auto layout =
      codec::layout<8>(codec::constant<0, 1>(0x01, "command"), codec::field<5, 1>(&LsRjt::reason, "reason"),
                       codec::field<6, 1>(&LsRjt::explanation, "explanation"),
                       codec::field<7, 1>(&LsRjt::vendor_unique, "vendor_unique"));
  [[nodiscard]] static constexpr std::size_t size() { return layout.size(); }
  [[nodiscard]] static Result<LsRjt> parse(Bytes bytes);
  void write(MutableBytes to) const;
  [[nodiscard]] std::string to_string() const;
  friend bool operator==(const LsRjt&, const LsRjt&) = default;
};

}  // namespace wire::els
