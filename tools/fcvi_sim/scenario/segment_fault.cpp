#include "tools/fcvi_sim/scenario/segment_fault.hpp"

#include <algorithm>

#include "tools/faults/frame_fields.hpp"
#include "wire/iwarp/ift/frame.hpp"
#include "wire/iwarp/mpa/fpdu.hpp"
#include "wire/iwarp/mpa/startup_frame.hpp"
#include "wire/iwarp/rdmap/opcode.hpp"
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
    {"rdma_address", behind, 8, 0, 0, Of::ViRdma},
    {"memory_handle", behind + 8, 4, 0, 0, Of::ViRdma},
    {"rdma_length", behind + 12, 4, 0, 0, Of::ViRdma},
    {"peer_to_peer", behind, 2, 6, 1, Of::ViCe},
    {"descriptor_flow_control", behind, 2, 5, 1, Of::ViCe},
    {"rdma_read_enable", behind, 2, 4, 1, Of::ViCe},
    {"rdma_write_enable", behind, 2, 3, 1, Of::ViCe},
    {"reliability_level", behind, 2, 0, 3, Of::ViCe},
    {"calling_discriminator_length", behind + 2, 2, 0, 0, Of::ViCe},
    {"mtu_size", behind + 4, 4, 0, 0, Of::ViCe},
    {"rdma_read_window", behind + 72, 2, 0, 0, Of::ViCe},
    {"called_discriminator_length", behind + 74, 2, 0, 0, Of::ViCe},
    // wire/iwarp/mpa/fpdu.hpp, ift/frame.hpp
    {"ulpdu_length", 0, 2, 0, 0, Of::Fpdu},
    {"ift_header_size", 0, 2, 0, 0, Of::IftFrame},
    {"ift_payload_size", 2, 2, 0, 0, Of::IftFrame},
    {"ift_vtag", 4, 2, 0, 0, Of::IftFrame},
    // wire/iwarp/ddp/header.hpp, rdmap/opcode.hpp, rdmap/headers.hpp, rdmap/terminate.hpp
    {"tagged", 0, 1, 7, 1, Of::Ddp},
    {"last", 0, 1, 6, 1, Of::Ddp},
    {"ddp_reserved", 0, 1, 2, 4, Of::Ddp},
    {"ddp_version", 0, 1, 0, 2, Of::Ddp},
    {"rdmap_version", 1, 1, 6, 2, Of::Ddp},
    {"rdmap_reserved", 1, 1, 4, 2, Of::Ddp},
    {"opcode", 1, 1, 0, 4, Of::Ddp},
    {"stag", 2, 4, 0, 0, Of::Tagged},
    {"tagged_offset", 6, 8, 0, 0, Of::Tagged},
    {"invalidate_stag", 2, 4, 0, 0, Of::Untagged},
    {"queue_number", 6, 4, 0, 0, Of::Untagged},
    {"msn", 10, 4, 0, 0, Of::Untagged},
    {"message_offset", 14, 4, 0, 0, Of::Untagged},
    {"sink_stag", 0, 4, 0, 0, Of::ReadRequest},
    {"sink_offset", 4, 8, 0, 0, Of::ReadRequest},
    {"read_size", 12, 4, 0, 0, Of::ReadRequest},
    {"source_stag", 16, 4, 0, 0, Of::ReadRequest},
    {"source_offset", 20, 8, 0, 0, Of::ReadRequest},
    {"terminate_layer", 0, 1, 4, 4, Of::Terminate},
    {"terminate_type", 0, 1, 0, 4, Of::Terminate},
    {"terminate_code", 1, 1, 0, 0, Of::Terminate},
    // wire/iwarp/mpa/startup_frame.hpp
    {"mpa_markers", 16, 1, 7, 1, Of::MpaStartup},
    {"mpa_crc", 16, 1, 6, 1, Of::MpaStartup},
    {"mpa_rejected", 16, 1, 5, 1, Of::MpaStartup},
    {"mpa_enhanced", 16, 1, 4, 1, Of::MpaStartup},
    {"mpa_revision", 17, 1, 0, 0, Of::MpaStartup},
    {"mpa_private_data_length", 18, 2, 0, 0, Of::MpaStartup},
    {"mpa_peer_to_peer", 20, 2, 15, 1, Of::MpaEnhanced},
    {"mpa_send_rtr", 20, 2, 14, 1, Of::MpaEnhanced},
    {"mpa_ird", 20, 2, 0, 14, Of::MpaEnhanced},
    {"mpa_rdma_write_rtr", 22, 2, 15, 1, Of::MpaEnhanced},
    {"mpa_rdma_read_rtr", 22, 2, 14, 1, Of::MpaEnhanced},
    {"mpa_ord", 22, 2, 0, 14, Of::MpaEnhanced},
    // wire/iwarp/ift/adaption_indication.hpp
    {"ift_magic", 0, 4, 0, 0, Of::Adaption},
    {"ift_version", 4, 2, 0, 0, Of::Adaption},
    {"ift_bc_version", 6, 2, 0, 0, Of::Adaption},
    {"ift_phase_1", 8, 4, 31, 1, Of::Adaption},
    {"ift_rdma_mode", 8, 4, 30, 1, Of::Adaption},
    {"ift_header_crc", 8, 4, 29, 1, Of::Adaption},
    {"ift_payload_crc", 8, 4, 28, 1, Of::Adaption},
    {"ift_ignores_header_crc", 8, 4, 27, 1, Of::Adaption},
    {"ift_ignores_payload_crc", 8, 4, 26, 1, Of::Adaption},
    {"ift_sends_markers", 8, 4, 24, 1, Of::Adaption},
    {"ift_wants_markers", 8, 4, 23, 1, Of::Adaption},
    {"ift_sender_vtag", 12, 2, 0, 0, Of::Adaption}};
// clang-format on

constexpr std::string_view adaption_name = "Adaption Indication", reserved_name = "reserved opcode";

/// Of a segment with a DDP header: the RDMA Message.
std::optional<wire::rdmap::Opcode> opcode_of(SegmentForm form, wire::Bytes octets) {
  const std::size_t at = ddp_offset(form) + 1;
  if (octets.size() <= at) return std::nullopt;
  return wire::rdmap::Control::of(octets[at]).opcode;
}

std::uint64_t load(const std::uint8_t* at, std::size_t size) {
  std::uint64_t value = 0;
  for (std::size_t i = 0; i < size; ++i) value = value << 8 | at[i];
  return value;
}

}  // namespace

std::vector<std::string_view> vi_segment_names() {
  std::vector<std::string_view> names;
  for (const wire::vitcp::TypeInfo& row : wire::vitcp::segment_types) names.push_back(row.name);
  return names;
}

std::vector<std::string_view> rdma_segment_names() {
  using wire::mpa::FrameKind;
  std::vector<std::string_view> names{to_string(FrameKind::request), to_string(FrameKind::reply), adaption_name};
  for (const wire::rdmap::OpcodeInfo& row : wire::rdmap::opcodes) names.push_back(row.name);
  names.push_back(reserved_name);
  return names;
}

std::vector<std::string_view> segment_names() {
  std::vector<std::string_view> names = vi_segment_names();
  for (const std::string_view own : rdma_segment_names())
    if (std::ranges::find(names, own) == names.end()) names.push_back(own);
  return names;
}

std::string_view rdma_segment_name(SegmentForm form, wire::Bytes octets) {
  constexpr std::size_t telling_octet = 9;  // of Key
  if (form == SegmentForm::Adaption) return adaption_name;
  if (form == SegmentForm::MpaStartup)
    return to_string(octets[telling_octet] == 'q' ? wire::mpa::FrameKind::request : wire::mpa::FrameKind::reply);
  const auto opcode = opcode_of(form, octets);
  return opcode && wire::rdmap::is_known(*opcode) ? wire::rdmap::info_of(*opcode).name : reserved_name;
}

std::size_t ddp_offset(SegmentForm form) {
  return form == SegmentForm::IftFrame ? wire::ift::FrameHeader::size() : wire::mpa::ulpdu_length_bytes;
}

std::uint64_t SegmentField::max() const { return mask() >> low; }

std::uint64_t SegmentField::mask() const {
  const unsigned all = 8U * size, width = bits == 0 ? all : bits;
  return (width == 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << width) - 1) << low;
}

std::optional<std::size_t> ulp_offset(SegmentForm form, wire::Bytes octets) {
  constexpr std::uint8_t tagged_bit = 0x80;
  const std::size_t ddp = ddp_offset(form);
  if (octets.size() <= ddp) return std::nullopt;
  std::size_t at = ddp + wire::ddp::header_bytes((octets[ddp] & tagged_bit) != 0);
  if (form == SegmentForm::IftFrame) {
    const std::size_t bare = at + wire::load_big<2>(octets, 2);
    if (octets.size() == bare + 2 * wire::iwarp::crc_bytes) at += wire::iwarp::crc_bytes;
  }
  return at <= octets.size() ? std::optional(at) : std::nullopt;
}

namespace {

bool is_of_vi(SegmentField::Of of) { return of == Of::Vi || of == Of::ViRdma || of == Of::ViCe; }

bool has_vi_header(SegmentField::Of of, wire::Bytes segment) {
  if (of == Of::Vi) return true;
  const auto type = static_cast<wire::vitcp::SegmentType>(segment[1] & 0x1F);
  if (!wire::vitcp::is_known(type)) return false;
  return wire::vitcp::info_of(type).following == (of == Of::ViRdma ? FollowingHeader::rdma : FollowingHeader::ce);
}

/// Where the header `of` begins in a segment with a DDP header; nullopt: it is not there.
std::optional<std::size_t> place_of(SegmentField::Of of, SegmentForm form, wire::Bytes octets) {
  using wire::rdmap::Opcode;
  constexpr std::uint8_t tagged_bit = 0x80;
  const std::size_t ddp = ddp_offset(form);
  if (of == (form == SegmentForm::Fpdu ? Of::Fpdu : Of::IftFrame)) return 0;
  if (octets.size() <= ddp) return std::nullopt;
  const bool tagged = (octets[ddp] & tagged_bit) != 0;
  if (of == Of::Ddp || (of == Of::Tagged && tagged) || (of == Of::Untagged && !tagged)) return ddp;
  const auto opcode = opcode_of(form, octets);
  const bool there = (of == Of::ReadRequest && opcode == Opcode::rdma_read_request) ||
                     (of == Of::Terminate && opcode == Opcode::terminate);
  return there && !tagged ? ulp_offset(form, octets) : std::nullopt;
}

}  // namespace

std::optional<std::size_t> SegmentField::place(SegmentForm form, wire::Bytes segment) const {
  constexpr std::uint8_t enhanced_bit = 0x10;
  std::optional<std::size_t> header;
  switch (form) {
    case SegmentForm::Vi:
      if (is_of_vi(of) && segment.size() > 1 && has_vi_header(of, segment)) header = 0;
      break;
    case SegmentForm::MpaStartup:
      if (of == Of::MpaStartup || (of == Of::MpaEnhanced && (segment[16] & enhanced_bit) != 0)) header = 0;
      break;
    case SegmentForm::Adaption:
      if (of == Of::Adaption) header = 0;
      break;
    case SegmentForm::Fpdu:
    case SegmentForm::IftFrame: header = place_of(of, form, segment); break;
  }
  if (!header || segment.size() < *header + offset + size) return std::nullopt;
  return *header + offset;
}

std::optional<std::uint64_t> SegmentField::read(SegmentForm form, wire::Bytes segment) const {
  const auto at = place(form, segment);
  return at ? std::optional((load(segment.data() + *at, size) & mask()) >> low) : std::nullopt;
}

void SegmentField::write(SegmentForm form, wire::MutableBytes segment, std::uint64_t value) const {
  const auto at = place(form, segment);
  if (!at) return;
  std::uint64_t whole = (load(segment.data() + *at, size) & ~mask()) | (value << low & mask());
  for (std::size_t i = size; i > 0; --i, whole >>= 8) segment[*at + i - 1] = static_cast<std::uint8_t>(whole);
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
