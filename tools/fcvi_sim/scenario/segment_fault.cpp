#include "tools/fcvi_sim/scenario/segment_fault.hpp"

#include <algorithm>

#include "tools/faults/frame_fields.hpp"
#include "wire/vitcp/segment_header.hpp"

namespace sim {
namespace {

using wire::vitcp::FollowingHeader;
using Of = SegmentField::Of;
constexpr std::uint16_t behind = wire::vitcp::segment_header_bytes;

// clang-format off
/// wire/vitcp/segment_header.hpp, rdma_header.hpp, ce_header.hpp (VI-TCP 3.2 to 3.4).
constexpr SegmentField fields[] = {
    {"version", 0, 1},
    {"end_of_message", 1, 1, 7, 1},
    {"immediate_data_valid", 1, 1, 6, 1},
    {"transmit_error", 1, 1, 5, 1},
    {"type", 1, 1, 0, 5},
    {"segment_length", 2, 2},
    {"data_offset", 4, 4},
    {"immediate_data", 8, 4},
    {"message_number", 12, 4},
    {"message_ack", 16, 4},
    {"rx_descriptors_posted", 20, 2},
    {"implementation_specific", 22, 2, 8, 8},
    {"transport_error", 22, 2, 2, 1},
    {"descriptor_error", 22, 2, 1, 1},
    {"protection_error", 22, 2, 0, 1},
    {"rdma_address", behind, 8, 0, 0, Of::Rdma},
    {"memory_handle", behind + 8, 4, 0, 0, Of::Rdma},
    {"rdma_length", behind + 12, 4, 0, 0, Of::Rdma},
    {"peer_to_peer", behind, 2, 6, 1, Of::Ce},
    {"descriptor_flow_control", behind, 2, 5, 1, Of::Ce},
    {"rdma_read_enable", behind, 2, 4, 1, Of::Ce},
    {"rdma_write_enable", behind, 2, 3, 1, Of::Ce},
    {"reliability_level", behind, 2, 0, 3, Of::Ce},
    {"calling_discriminator_length", behind + 2, 2, 0, 0, Of::Ce},
    {"mtu_size", behind + 4, 4, 0, 0, Of::Ce},
    {"rdma_read_window", behind + 72, 2, 0, 0, Of::Ce},
    {"called_discriminator_length", behind + 74, 2, 0, 0, Of::Ce}};
// clang-format on

std::uint64_t load(const std::uint8_t* at, std::size_t size) {
  std::uint64_t value = 0;
  for (std::size_t i = 0; i < size; ++i) value = value << 8 | at[i];
  return value;
}

}  // namespace

std::vector<std::string_view> segment_names() {
  std::vector<std::string_view> names;
  for (const wire::vitcp::TypeInfo& row : wire::vitcp::segment_types) names.push_back(row.name);
  return names;
}

std::uint64_t SegmentField::max() const { return mask() >> low; }

std::uint64_t SegmentField::mask() const {
  const unsigned all = 8U * size, width = bits == 0 ? all : bits;
  return (width == 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << width) - 1) << low;
}

bool SegmentField::is_in(wire::Bytes segment) const {
  if (segment.size() < std::size_t{offset} + size) return false;
  if (of == Of::Any) return true;
  const auto type = static_cast<wire::vitcp::SegmentType>(segment[1] & 0x1F);
  if (!wire::vitcp::is_known(type)) return false;
  return wire::vitcp::info_of(type).following == (of == Of::Rdma ? FollowingHeader::rdma : FollowingHeader::ce);
}

std::optional<std::uint64_t> SegmentField::read(wire::Bytes segment) const {
  if (!is_in(segment)) return std::nullopt;
  return (load(segment.data() + offset, size) & mask()) >> low;
}

void SegmentField::write(wire::MutableBytes segment, std::uint64_t value) const {
  if (!is_in(segment)) return;
  std::uint64_t whole = (load(segment.data() + offset, size) & ~mask()) | (value << low & mask());
  for (std::size_t i = size; i > 0; --i, whole >>= 8) segment[offset + i - 1] = static_cast<std::uint8_t>(whole);
}

const SegmentField* find_segment_field(std::string_view name) {
  const auto found = std::ranges::find(fields, name, &SegmentField::name);
  return found == std::end(fields) ? nullptr : found;
}

std::vector<std::string_view> segment_field_names() {
  std::vector<std::string_view> names;
  for (const SegmentField& field : fields) names.push_back(field.name);
  return names;
}

std::vector<std::string_view> all_field_names() {
  std::vector<std::string_view> names = faults::field_names();
  for (const std::string_view own : segment_field_names())
    if (std::ranges::find(names, own) == names.end()) names.push_back(own);
  return names;
}

}  // namespace sim
