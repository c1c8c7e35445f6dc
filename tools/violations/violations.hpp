// What a receiver of FC-VI frames can see to be wrong: one list of names and texts, for fcvi-sim decode and, written as
// Lua by the build, for the Wireshark plugin.
#pragma once
#include <array>
#include <cstdint>
#include <string_view>

namespace violations {

enum class Violation : std::uint8_t {
  // one frame
  unknown_opcode,
  truncated,
  wrong_device_header,
  wrong_r_ctl,
  wrong_f_ctl,
  reserved_bits,
  wrong_payload_length,
  wrong_error_flags,
  wrong_reason,
  wrong_mode,
  wrong_revision,
  wrong_address,
  wrong_level,
  wrong_qos,
  wrong_preference,
  // a set-up, a Disconnect
  wrong_retry,
  wrong_connection_id,
  wrong_handle,
  wrong_answer,
  unknown_handle,
  no_request,
  repeated_answer,
  after_disconnect,
  // messages
  seq_cnt_gap,
  offset_gap,
  wrong_seq_id,
  message_order,
  message_incomplete,
  message_changed,
  beyond_length,
  too_large,
  not_allowed,
  window,
  unexpected_response,
  early_response,
  early_completion,
};

/// As Wireshark groups expert information.
enum class Group : std::uint8_t { protocol, malformed, sequence };
[[nodiscard]] std::string_view to_string(Group group);
enum class Severity : std::uint8_t { error, warning };
[[nodiscard]] std::string_view to_string(Severity severity);

struct Row {
  Violation violation;
  std::string_view name;  // what is filtered on: "wrong_retry"
  std::string_view text;  // a sentence without its full stop; what exactly follows behind a colon
  Group group;
  Severity severity;
};

// clang-format off
inline constexpr std::array table{
    Row{Violation::unknown_opcode, "unknown_opcode", "FCVI_OPCODE that the standard does not have", Group::protocol, Severity::error},
    Row{Violation::truncated, "truncated", "The frame ends before its Device_Header does", Group::malformed, Severity::error},
    Row{Violation::wrong_device_header, "wrong_device_header", "DF_CTL announces another Device_Header than the IU has", Group::protocol, Severity::error},
    Row{Violation::wrong_r_ctl, "wrong_r_ctl", "R_CTL is not that of the IU", Group::protocol, Severity::error},
    Row{Violation::wrong_f_ctl, "wrong_f_ctl", "F_CTL is not that of the IU", Group::protocol, Severity::error},
    Row{Violation::reserved_bits, "reserved_bits", "Reserved bits are set", Group::protocol, Severity::warning},
    Row{Violation::wrong_payload_length, "wrong_payload_length", "Unexpected payload length", Group::protocol, Severity::error},
    Row{Violation::wrong_error_flags, "wrong_error_flags", "RESP_ERR and its causes contradict one another", Group::protocol, Severity::warning},
    Row{Violation::wrong_reason, "wrong_reason", "Reason code that this IU may not have", Group::protocol, Severity::warning},
    Row{Violation::wrong_mode, "wrong_mode", "CONN_MODE is reserved", Group::protocol, Severity::error},
    Row{Violation::wrong_revision, "wrong_revision", "FCVI_REVISION is not 0001h", Group::protocol, Severity::warning},
    Row{Violation::wrong_address, "wrong_address", "Lengths of an address that the standard does not allow", Group::protocol, Severity::error},
    Row{Violation::wrong_level, "wrong_level", "FCVI_RELIABILITY_LVL is none of the three", Group::protocol, Severity::error},
    Row{Violation::wrong_qos, "wrong_qos", "FCVI_QOS value that this version of the standard does not allow", Group::protocol, Severity::warning},
    Row{Violation::wrong_preference, "wrong_preference", "CS_CTL preference is not what the endpoint announced", Group::protocol, Severity::warning},
    Row{Violation::wrong_retry, "wrong_retry", "Wrong RETRY", Group::sequence, Severity::error},
    Row{Violation::wrong_connection_id, "wrong_connection_id", "Wrong FCVI_CONNECTION_ID", Group::sequence, Severity::error},
    Row{Violation::wrong_handle, "wrong_handle", "Wrong FCVI_HANDLE", Group::sequence, Severity::error},
    Row{Violation::wrong_answer, "wrong_answer", "The answer contradicts its request", Group::sequence, Severity::error},
    Row{Violation::unknown_handle, "unknown_handle", "No connection has this FCVI_HANDLE", Group::sequence, Severity::error},
    Row{Violation::no_request, "no_request", "Answer without a request", Group::sequence, Severity::error},
    Row{Violation::repeated_answer, "repeated_answer", "Answered before", Group::sequence, Severity::warning},
    Row{Violation::after_disconnect, "after_disconnect", "Message after the sender's Disconnect", Group::sequence, Severity::error},
    Row{Violation::seq_cnt_gap, "seq_cnt_gap", "SEQ_CNT gap", Group::sequence, Severity::warning},
    Row{Violation::offset_gap, "offset_gap", "Relative offset gap", Group::sequence, Severity::warning},
    Row{Violation::wrong_seq_id, "wrong_seq_id", "SEQ_ID changes within a Sequence", Group::sequence, Severity::warning},
    Row{Violation::message_order, "message_order", "Message numbers out of order", Group::sequence, Severity::warning},
    Row{Violation::message_incomplete, "message_incomplete", "A message ends before its last frame", Group::sequence, Severity::warning},
    Row{Violation::message_changed, "message_changed", "The frames of a message contradict one another", Group::sequence, Severity::error},
    Row{Violation::beyond_length, "beyond_length", "Data beyond FCVI_TOT_LEN", Group::sequence, Severity::error},
    Row{Violation::too_large, "too_large", "Message longer than the receiver takes", Group::sequence, Severity::error},
    Row{Violation::not_allowed, "not_allowed", "Message that the connection does not allow", Group::sequence, Severity::error},
    Row{Violation::window, "window", "More open messages than the window allows", Group::sequence, Severity::warning},
    Row{Violation::unexpected_response, "unexpected_response", "Response that the reliability level does not have", Group::sequence, Severity::error},
    Row{Violation::early_response, "early_response", "Response before the end of its request", Group::sequence, Severity::error},
    Row{Violation::early_completion, "early_completion", "Completion before its response", Group::sequence, Severity::error},
};
// clang-format on

[[nodiscard]] constexpr const Row& row_of(Violation violation) { return table[static_cast<std::size_t>(violation)]; }
[[nodiscard]] constexpr std::string_view to_string(Violation violation) { return row_of(violation).name; }

}  // namespace violations
