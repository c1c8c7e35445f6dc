// Port types as the name server knows them.
#pragma once
#include <cstdint>
#include <string_view>

namespace wire::ct {

/// FC-GS 5.2.3.1.
enum class PortType : std::uint8_t {
  unidentified = 0x00,
  n_port = 0x01,
  nl_port = 0x02,
  f_nl_port = 0x03,
  nx_port = 0x7F,  // in GID_PT: any of those above
  f_port = 0x81,
  fl_port = 0x82,
  e_port = 0x84,
  b_port = 0x85,
};
[[nodiscard]] std::string_view to_string(PortType type);

}  // namespace wire::ct
