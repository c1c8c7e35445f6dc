// VI descriptors in the consumer's memory, byte for byte as VI-DG 5 draws them (little-endian hosts
// only: 5.1).
#pragma once
#include <bit>
#include <cstdint>
#include <span>

#include "vi/types.hpp"

namespace vi {
static_assert(std::endian::native == std::endian::little, "VI-DG 5.1: descriptors are little-endian");

/// VI-DG 5.2, Control field.
namespace control {
inline constexpr std::uint16_t op_send_receive = 0x0000, op_rdma_write = 0x0001, op_rdma_read = 0x0002;
inline constexpr std::uint16_t op_mask = 0x0003, immediate = 0x0004, queue_fence = 0x0008, reserved = 0xFFF0;
}  // namespace control

/// VI-DG 5.2, Status field.
namespace status {
inline constexpr std::uint32_t done = 0x1, format_error = 0x2, protection_error = 0x4, length_error = 0x8;
inline constexpr std::uint32_t partial_error = 0x10, flushed = 0x20, transport_error = 0x40;
inline constexpr std::uint32_t rdma_protection_error = 0x80, remote_descriptor_error = 0x100, error_mask = 0x1FE;
inline constexpr std::uint32_t op_send = 0x00000, op_receive = 0x10000, op_rdma_write = 0x20000;
inline constexpr std::uint32_t op_remote_rdma_write = 0x30000, op_rdma_read = 0x40000, op_mask = 0x70000;
inline constexpr std::uint32_t immediate = 0x80000;
}  // namespace status

struct ControlSegment {    // 32 bytes, VI-DG 5.2
  std::uint64_t next = 0;  // the consumer's when not posted; we do not use it
  std::uint32_t next_handle = 0;
  std::uint16_t segment_count = 0;
  std::uint16_t control = 0;
  std::uint32_t reserved = 0;
  std::uint32_t immediate_data = 0;
  std::uint32_t length_bytes = 0;
  std::uint32_t status = 0;
};
struct Segment {  // 16 bytes: an Address Segment (VI-DG 5.3) or a Data Segment (5.4)
  std::uint64_t address = 0;
  std::uint32_t handle = 0;
  std::uint32_t length_or_reserved = 0;
};
struct alignas(16) Descriptor {  // 64-byte aligned in consumer memory; segments follow the control segment
  ControlSegment control_segment;
  Segment segments[2];
};
static_assert(sizeof(ControlSegment) == 32 && sizeof(Segment) == 16 && sizeof(Descriptor) == 64);
inline constexpr std::uint64_t descriptor_alignment_bytes = 64;  // VI-ARCH 6.1

}  // namespace vi
