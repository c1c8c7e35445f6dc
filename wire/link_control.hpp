// The Parameter field of link control frames: P_RJT, F_RJT, P_BSY, F_BSY (FC-FS). ACK_1: Parameter 1.
#pragma once
#include "wire/codec.hpp"

namespace wire {

/// Action code of P_RJT and F_RJT.
enum class RejectAction : std::uint8_t { retryable = 0x01, non_retryable = 0x02 };
[[nodiscard]] std::string_view to_string(RejectAction action);

/// Reason code of P_RJT and F_RJT.
enum class LinkRejectReason : std::uint8_t {
  invalid_d_id = 0x01,
  invalid_s_id = 0x02,
  n_port_not_available_temporarily = 0x03,
  n_port_not_available_permanently = 0x04,
  class_not_supported = 0x05,
  delimiter_usage_error = 0x06,
  type_not_supported = 0x07,
  invalid_link_control = 0x08,
  invalid_r_ctl = 0x09,
  invalid_f_ctl = 0x0A,
  invalid_ox_id = 0x0B,
  invalid_rx_id = 0x0C,
  invalid_seq_id = 0x0D,
  invalid_df_ctl = 0x0E,
  invalid_seq_cnt = 0x0F,
  invalid_parameter = 0x10,
  exchange_error = 0x11,
  protocol_error = 0x12,
  incorrect_length = 0x13,
  unexpected_ack = 0x14,
  class_not_supported_by_fabric_port = 0x15,
  login_required = 0x16,
  excessive_sequences = 0x17,
  unable_to_establish_exchange = 0x18,
  fabric_path_not_available = 0x1A,
  invalid_vc_id = 0x1B,
  invalid_cs_ctl = 0x1C,
  insufficient_vc_resources = 0x1D,
  invalid_class_of_service = 0x1F,
  preemption_request_rejected = 0x20,
  preemption_not_enabled = 0x21,
  multicast_error = 0x22,
  multicast_error_terminate = 0x23,
  process_login_required = 0x24,
  invalid_attachment = 0x25,
  vendor_unique = 0xFF,
};
[[nodiscard]] std::string_view to_string(LinkRejectReason reason);

/// Reason code of P_BSY; F_BSY uses n_port_busy (the N_Port) and fabric_busy.
enum class LinkBusyReason : std::uint8_t { n_port_busy = 0x01, n_port_resource_busy = 0x03, vendor_unique = 0xFF };
[[nodiscard]] std::string_view to_string(LinkBusyReason reason);

/// Parameter of P_RJT and F_RJT, 4 bytes
/// word | 31-24  | 23-16  | 15-8     | 7-0
///  0   | action | reason | reserved | vendor unique
struct LinkReject {
  RejectAction action = RejectAction::retryable;
  LinkRejectReason reason{};
  std::uint8_t vendor_unique = 0;

  static constexpr std::string_view name = "RJT";
  static constexpr auto layout = codec::layout<4>(codec::field<0, 1>(&LinkReject::action, "action"),
                                                  codec::field<1, 1>(&LinkReject::reason, "reason"),
                                                  codec::field<3, 1>(&LinkReject::vendor_unique, "vendor_unique"));
  [[nodiscard]] static constexpr std::size_t size() { return layout.size(); }
  [[nodiscard]] static Result<LinkReject> parse(Bytes bytes);
  void write(MutableBytes to) const;
  [[nodiscard]] std::string to_string() const;
  friend bool operator==(const LinkReject&, const LinkReject&) = default;
  [[nodiscard]] static LinkReject from_parameter(std::uint32_t parameter);
  [[nodiscard]] std::uint32_t to_parameter() const;
};

/// Parameter of P_BSY, 4 bytes; action 1: the sequence is terminated, 2: it stays active.
struct LinkBusy {
  static constexpr std::uint8_t sequence_terminated = 0x01;
  static constexpr std::uint8_t sequence_active = 0x02;

  std::uint8_t action = sequence_active;
  LinkBusyReason reason{};
  std::uint8_t vendor_unique = 0;

  static constexpr std::string_view name = "BSY";
  static constexpr auto layout =
      codec::layout<4>(codec::field<0, 1>(&LinkBusy::action, "action"), codec::field<1, 1>(&LinkBusy::reason, "reason"),
                       codec::field<3, 1>(&LinkBusy::vendor_unique, "vendor_unique"));
  [[nodiscard]] static constexpr std::size_t size() { return layout.size(); }
  [[nodiscard]] static Result<LinkBusy> parse(Bytes bytes);
  void write(MutableBytes to) const;
  [[nodiscard]] std::string to_string() const;
  friend bool operator==(const LinkBusy&, const LinkBusy&) = default;
  [[nodiscard]] static LinkBusy from_parameter(std::uint32_t parameter);
  [[nodiscard]] std::uint32_t to_parameter() const;
};

}  // namespace wire
