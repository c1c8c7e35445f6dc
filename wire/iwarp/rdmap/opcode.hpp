// RDMA Messages: their opcodes, and what each takes of DDP (RFC 5040 4.1, 4.2; RFC 7306 4).
#pragma once
#include <array>
#include <optional>

#include "wire/codec.hpp"

namespace wire::rdmap {

/// RFC 5040 Figure 4, RFC 7306 Figure 2.
enum class Opcode : std::uint8_t {
  rdma_write = 0,
  rdma_read_request = 1,
  rdma_read_response = 2,
  send = 3,
  send_with_invalidate = 4,
  send_with_se = 5,
  send_with_se_and_invalidate = 6,
  terminate = 7,
  immediate_data = 8,
  immediate_data_with_se = 9,
  atomic_request = 10,
  atomic_response = 11,
};
/// The standards' name: "Send with SE and Invalidate".
[[nodiscard]] std::string_view to_string(Opcode opcode);

/// The header behind the DDP header (RFC 5040 Figure 5, RFC 7306 Figure 3).
enum class RdmaHeader : std::uint8_t { none, read_request, terminate, immediate_data, atomic };
[[nodiscard]] std::string_view to_string(RdmaHeader header);

/// Queue Numbers of Untagged messages.
inline constexpr std::uint32_t send_queue = 0, read_request_queue = 1, terminate_queue = 2, atomic_response_queue = 3;

/// One row of the table.
struct OpcodeInfo {
  Opcode opcode;
  std::string_view name;
  bool tagged;
  std::uint32_t queue_number;  // of the Untagged
  RdmaHeader header;
  bool has_payload;  // a ULP Message is allowed
  bool invalidates;  // Invalidate STag is valid
  bool solicited_event;
};

// clang-format off
inline constexpr std::array<OpcodeInfo, 12> opcodes{{
  OpcodeInfo{Opcode::rdma_write,                  "RDMA Write",                  true,  0,                     RdmaHeader::none,           true,  false, false},
  OpcodeInfo{Opcode::rdma_read_request,           "RDMA Read Request",           false, read_request_queue,    RdmaHeader::read_request,   false, false, false},
  OpcodeInfo{Opcode::rdma_read_response,          "RDMA Read Response",          true,  0,                     RdmaHeader::none,           true,  false, false},
  OpcodeInfo{Opcode::send,                        "Send",                        false, send_queue,            RdmaHeader::none,           true,  false, false},
  OpcodeInfo{Opcode::send_with_invalidate,        "Send with Invalidate",        false, send_queue,            RdmaHeader::none,           true,  true,  false},
  OpcodeInfo{Opcode::send_with_se,                "Send with SE",                false, send_queue,            RdmaHeader::none,           true,  false, true},
  OpcodeInfo{Opcode::send_with_se_and_invalidate, "Send with SE and Invalidate", false, send_queue,            RdmaHeader::none,           true,  true,  true},
  OpcodeInfo{Opcode::terminate,                   "Terminate",                   false, terminate_queue,       RdmaHeader::terminate,      false, false, false},
  OpcodeInfo{Opcode::immediate_data,              "Immediate Data",              false, send_queue,            RdmaHeader::immediate_data, false, false, false},
  OpcodeInfo{Opcode::immediate_data_with_se,      "Immediate Data with SE",      false, send_queue,            RdmaHeader::immediate_data, false, false, true},
  OpcodeInfo{Opcode::atomic_request,              "Atomic Request",              false, read_request_queue,    RdmaHeader::atomic,         false, false, false},
  OpcodeInfo{Opcode::atomic_response,             "Atomic Response",             false, atomic_response_queue, RdmaHeader::atomic,         false, false, false},
}};
// clang-format on

/// Of the twelve; 1100b to 1111b are reserved.
[[nodiscard]] constexpr bool is_known(Opcode opcode) { return static_cast<std::size_t>(opcode) < opcodes.size(); }
/// The row of a known opcode.
[[nodiscard]] constexpr const OpcodeInfo& info_of(Opcode opcode) { return opcodes[static_cast<std::size_t>(opcode)]; }

/// RDMAP Control Field (RFC 5040 4.1): the first octet of DDP's RsvdULP
/// bits | 7-6 | 5-4      | 3-0
///      | RV  | reserved | Opcode
struct Control {
  std::uint8_t version = 1;  // RV, 0 to 3: the caller compares (RFC 5040 4.1: 1; 0 of the Consortium)
  Opcode opcode{};           // 0 to 15, not always one of the table

  static constexpr std::string_view name = "RDMAP";
  static constexpr auto layout = codec::layout<1>(codec::word<0, 1>(
      codec::part<7, 6>(&Control::version, "rdmap_control"), codec::part<3, 0>(&Control::opcode, "opcode")));
  [[nodiscard]] static constexpr std::size_t size() { return layout.size(); }
  /// The only error is truncated.
  [[nodiscard]] static Result<Control> parse(Bytes bytes);
  void write(MutableBytes to) const;
  [[nodiscard]] std::string to_string() const;
  friend bool operator==(const Control&, const Control&) = default;

  /// As ddp::Header::rsvd_ulp has it.
  [[nodiscard]] static constexpr Control of(std::uint8_t rsvd_ulp) {
    return {static_cast<std::uint8_t>(rsvd_ulp >> 6), static_cast<Opcode>(rsvd_ulp & 0x0F)};
  }
  [[nodiscard]] constexpr std::uint8_t to_rsvd_ulp() const {
    return static_cast<std::uint8_t>(version << 6 | static_cast<unsigned>(opcode));
  }
};

}  // namespace wire::rdmap
