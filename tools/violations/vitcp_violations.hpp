// What a receiver of VI/TCP segments can see to be wrong: one list of names and texts.
#pragma once
#include "tools/violations/violations.hpp"

namespace violations::vitcp {

struct Row {
  std::string_view name;  // what is filtered on: "message_gap"
  std::string_view text;  // a sentence without its full stop; what exactly follows behind a colon
  Group group;
  Severity severity;
};

// clang-format off
inline constexpr std::array table{
    // one segment
    Row{"wrong_version", "Version is not 01h", Group::protocol, Severity::error},
    Row{"unknown_type", "Segment type that the draft does not have", Group::protocol, Severity::error},
    Row{"wrong_length", "Segment Length does not fit the segment's headers", Group::malformed, Severity::error},
    Row{"bad_crc", "Wrong CRC", Group::malformed, Severity::error},
    Row{"reserved_bits", "Reserved bits are set", Group::protocol, Severity::warning},
    Row{"wrong_flags", "Flags that the segment type does not have, or has to have", Group::protocol, Severity::warning},
    Row{"wrong_immediate", "Immediate Data of a segment type that has none", Group::protocol, Severity::warning},
    Row{"wrong_offset", "Data Offset that this segment cannot have", Group::protocol, Severity::error},
    Row{"urgent_data", "Urgent data that the draft does not allow", Group::protocol, Severity::warning},
    // the set-up
    Row{"wrong_level", "Not exactly one reliability level", Group::protocol, Severity::error},
    Row{"wrong_discriminator", "Discriminator longer than 64 octets", Group::protocol, Severity::error},
    Row{"wrong_mtu", "MTU Size that is not allowed", Group::protocol, Severity::error},
    Row{"wrong_option", "Option with a wrong length, or that was not asked for", Group::protocol, Severity::error},
    Row{"options_without_end", "No End of Option List before the CRC", Group::malformed, Severity::error},
    Row{"wrong_answer", "The answer contradicts the ConnectRequest", Group::sequence, Severity::error},
    Row{"repeated_setup", "Connection segment after the set-up", Group::sequence, Severity::error},
    Row{"no_request", "Segment before the ConnectRequest", Group::sequence, Severity::error},
    Row{"early_data", "Data before the ConnectAccept", Group::sequence, Severity::error},
    Row{"after_refusal", "Segment after the connection was refused", Group::sequence, Severity::error},
    // messages
    Row{"message_gap", "Message Number is not the next one", Group::sequence, Severity::error},
    Row{"nop_number", "NOP without the number of the last message", Group::sequence, Severity::warning},
    Row{"offset_gap", "Data Offset is not what was transferred", Group::sequence, Severity::error},
    Row{"mixed_messages", "Segments of two messages are mixed", Group::sequence, Severity::error},
    Row{"message_changed", "The segments of a message contradict one another", Group::sequence, Severity::error},
    Row{"wrong_extent", "The message does not end where its RDMA Length says", Group::sequence, Severity::error},
    Row{"too_large", "Message longer than the MTU Size", Group::sequence, Severity::error},
    Row{"not_allowed", "Message that the receiver does not allow", Group::sequence, Severity::error},
    Row{"no_descriptor", "Message for which the receiver has no descriptor", Group::sequence, Severity::error},
    Row{"wrong_posted", "Rx Descriptors Posted goes back", Group::sequence, Severity::error},
    Row{"read_window", "More RDMA Read Requests than the receiver can hold", Group::sequence, Severity::error},
    Row{"unknown_read", "RDMA Read Response without a request", Group::sequence, Severity::error},
    Row{"ack_of_unsent", "Message ACK of what was not sent", Group::sequence, Severity::error},
    Row{"ack_goes_back", "Message ACK goes back", Group::sequence, Severity::error},
    Row{"early_ack", "Message ACK before the end of the message", Group::sequence, Severity::error},
};
// clang-format on

}  // namespace violations::vitcp
