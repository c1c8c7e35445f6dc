// Where two frames differ, field by field.
#pragma once
#include <string>
#include <vector>

#include "tools/fcvi_sim/replay/conversation.hpp"

namespace sim::replay {

struct FieldDifference {
  std::string field, captured, now;  // "FCVI_CONNECT_RESP1.payload.handle"; a text that is empty: there is none
};

/// One frame of the port as it is now: header, data field, its delimiters, and whether its CRC is wrong.
struct SentFrame {
  std::vector<std::uint8_t> bytes;
  wire::Sof sof{};
  wire::Eof eof{};
  bool crc_error = false;
};

/// Not equal to the last bit; of SOF the class. What the capture has not is equal.
[[nodiscard]] bool differ(const CapturedFrame& captured, const SentFrame& now);
/// In the order of the frame; empty where they do not differ.
[[nodiscard]] std::vector<FieldDifference> differences(const CapturedFrame& captured, const SentFrame& now);
/// "FCVI_CONNECT_RQST id 7DB8C1BAh, reliable_delivery, "connection"".
[[nodiscard]] std::string words_of(wire::Bytes frame);
/// All fields, a line each.
[[nodiscard]] std::string fields_of(wire::Bytes frame, std::string_view indent);

}  // namespace sim::replay
