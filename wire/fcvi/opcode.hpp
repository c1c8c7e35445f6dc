// The information units of FC-VI Table 1.
#pragma once
#include <array>
#include <cstdint>
#include <string_view>

#include "wire/fc_header.hpp"

namespace wire::fcvi {

/// FCVI_OPCODE (FC-VI 5.9.3).
enum class Opcode : std::uint8_t {
  send_rqst = 0x00,
  write_rqst = 0x01,
  read_rqst = 0x02,
  send_resp = 0x08,
  write_resp = 0x09,
  read_resp = 0x0A,
  connect_rqst = 0x10,
  disconnect_rqst = 0x12,
  connect_resp1 = 0x18,
  connect_resp2 = 0x19,
  connect_resp3 = 0x1A,
  disconnect_resp = 0x1B,
};
/// "FCVI_SEND_RQST"; "unknown" for an opcode that Table 1 does not list.
[[nodiscard]] std::string_view to_string(Opcode opcode);

enum class Category : std::uint8_t { message_request, message_response, connect_request, connect_response };
[[nodiscard]] std::string_view to_string(Category category);

enum class Payload : std::uint8_t { none, message_data, connect_info };
[[nodiscard]] std::string_view to_string(Payload payload);

/// A row of FC-VI Table 1. Size in bytes.
struct IuInfo {
  Opcode opcode;
  std::string_view name;
  RCtl r_ctl;
  std::uint8_t device_header_size;
  Category category;
  Payload payload;
  bool mandatory;
};

/// FC-VI Table 1, in its order.
// clang-format off
inline constexpr std::array<IuInfo, 12> iu_table{{
    {Opcode::send_rqst, "FCVI_SEND_RQST", RCtl::solicited_data, 32, Category::message_request, Payload::message_data, true},
    {Opcode::write_rqst, "FCVI_WRITE_RQST", RCtl::solicited_data, 32, Category::message_request, Payload::message_data, true},
    {Opcode::read_rqst, "FCVI_READ_RQST", RCtl::unsolicited_command, 32, Category::message_request, Payload::none, false},
    {Opcode::send_resp, "FCVI_SEND_RESP", RCtl::command_status, 16, Category::message_response, Payload::none, false},
    {Opcode::write_resp, "FCVI_WRITE_RESP", RCtl::command_status, 16, Category::message_response, Payload::none, false},
    {Opcode::read_resp, "FCVI_READ_RESP", RCtl::solicited_data, 32, Category::message_response, Payload::message_data, false},
    {Opcode::connect_rqst, "FCVI_CONNECT_RQST", RCtl::unsolicited_control, 32, Category::connect_request, Payload::connect_info, true},
    {Opcode::disconnect_rqst, "FCVI_DISCONNECT_RQST", RCtl::unsolicited_control, 32, Category::connect_request, Payload::none, true},
    {Opcode::connect_resp1, "FCVI_CONNECT_RESP1", RCtl::solicited_control, 32, Category::connect_response, Payload::connect_info, true},
    {Opcode::connect_resp2, "FCVI_CONNECT_RESP2", RCtl::solicited_control, 32, Category::connect_response, Payload::none, true},
    {Opcode::connect_resp3, "FCVI_CONNECT_RESP3", RCtl::solicited_control, 32, Category::connect_response, Payload::none, true},
    {Opcode::disconnect_resp, "FCVI_DISCONNECT_RESP", RCtl::solicited_control, 32, Category::connect_response, Payload::none, true},
}};
// clang-format on

/// The row of an opcode; null for one that the table does not list.
[[nodiscard]] constexpr const IuInfo* find_iu(Opcode opcode) {
  for (const IuInfo& row : iu_table)
    if (row.opcode == opcode) return &row;
  return nullptr;
}

/// Bytes of Device_Header of an IU: 16, 32, or 0 for an unknown opcode (FC-VI Table 1). Constant time.
[[nodiscard]] constexpr std::size_t device_header_size(Opcode opcode) {
  constexpr std::uint32_t with_16 = 1U << 0x08 | 1U << 0x09;
  constexpr std::uint32_t with_32 = 1U << 0x00 | 1U << 0x01 | 1U << 0x02 | 1U << 0x0A | 1U << 0x10 | 1U << 0x12 |
                                    1U << 0x18 | 1U << 0x19 | 1U << 0x1A | 1U << 0x1B;
  const auto code = static_cast<unsigned>(opcode);
  if (code > 31) return 0;
  return (with_32 >> code & 1) != 0 ? 32 : (with_16 >> code & 1) != 0 ? 16 : 0;
}

}  // namespace wire::fcvi
