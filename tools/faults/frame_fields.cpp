#include "tools/faults/frame_fields.hpp"

#include <algorithm>
#include <array>

#include "wire/fc_header.hpp"

namespace faults {
namespace {

constexpr std::uint16_t device_header = 24, payload = 24 + 32;
// clang-format off
constexpr std::array fields{  // FC-FS; FC-VI Tables 3 and 4, 13 and 14
    FrameField{"r_ctl", 0, 1},                              FrameField{"d_id", 1, 3},
    FrameField{"cs_ctl", 4, 1},                             FrameField{"s_id", 5, 3},
    FrameField{"type", 8, 1},                               FrameField{"f_ctl", 9, 3},
    FrameField{"seq_id", 12, 1},                            FrameField{"df_ctl", 13, 1},
    FrameField{"seq_cnt", 14, 2},                           FrameField{"ox_id", 16, 2},
    FrameField{"rx_id", 18, 2},                             FrameField{"parameter", 20, 4},
    FrameField{"fcvi_handle", device_header, 4, true},      FrameField{"fcvi_opcode", device_header + 4, 1, true},
    FrameField{"fcvi_flags", device_header + 5, 1, true},   FrameField{"fcvi_msg_id", device_header + 8, 4, true},
    FrameField{"fcvi_parameter", device_header + 12, 4, true},
    FrameField{"fcvi_rmt_va", device_header + 16, 8, true}, FrameField{"fcvi_rmt_va_handle", device_header + 24, 4, true},
    FrameField{"fcvi_tot_len", device_header + 28, 4, true},
    FrameField{"fcvi_connection_id", device_header + 28, 4, true},
    FrameField{"fcvi_payload_handle", payload + 8, 4, true},  // FCVI_RQST_HANDLE, FCVI_RESP_HANDLE
};
// clang-format on
constexpr std::size_t type_offset = 8;

}  // namespace

std::optional<std::uint64_t> FrameField::read(std::span<const std::uint8_t> frame) const {
  if (frame.size() < std::size_t{offset} + size) return std::nullopt;
  if (fcvi && frame[type_offset] != static_cast<std::uint8_t>(wire::Type::fc_vi)) return std::nullopt;
  std::uint64_t value = 0;
  for (const std::uint8_t byte : frame.subspan(offset, size)) value = value << 8 | byte;
  return value;
}

const FrameField* find_field(std::string_view name) {
  const auto found =
      std::find_if(fields.begin(), fields.end(), [&](const FrameField& field) { return field.name == name; });
  return found == fields.end() ? nullptr : &*found;
}

std::vector<std::string_view> field_names() {
  std::vector<std::string_view> names;
  for (const FrameField& field : fields) names.push_back(field.name);
  return names;
}

}  // namespace faults
