// Text for traces, ladder diagrams and the decoder.
#pragma once
#include <string>
#include <string_view>

#include "wire/fc_header.hpp"

namespace wire {

/// The standard's name of what the frame carries: "PLOGI", "LS_ACC", "GID_IPP", "CT_ACC", "FCVI_SEND_RQST",
/// "ABTS", "ACK_1"; for what has no name the protocol: "ELS", "CT", "FC-VI", "FCP", "FC". Static storage;
/// never fails. `data_field`: as in the frame, Device_Header included; may be cut short.
[[nodiscard]] std::string_view message_name(const FcHeader& header, Bytes data_field);

/// The message with its fields, or why it does not parse: "ADISC hard_address=000000 ...". The form of
/// the text is that of wire/text.hpp. `data_field`: as FcFrameView has it.
[[nodiscard]] std::string describe_message(const FcHeader& header, Bytes data_field);
/// One line for any bytes: source and destination, the message with its fields, or why it does not parse.
[[nodiscard]] std::string describe(Bytes fc_frame);
/// The beginning of that line: source and destination, and the numbers of Exchange and Sequence.
[[nodiscard]] std::string describe_route(const FcHeader& header);
/// The same for a whole Ethernet frame, FCoE or FIP.
[[nodiscard]] std::string describe_ethernet(Bytes ethernet_frame);

}  // namespace wire
