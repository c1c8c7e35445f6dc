#include "wire/ct/port_details.hpp"

#include <algorithm>

namespace wire::ct {

// One line a code.
// clang-format off
std::string_view to_string(PortType type) {
  switch (type) {
    case PortType::unidentified: return "unidentified";
    case PortType::n_port: return "N_Port";
    case PortType::nl_port: return "NL_Port";
    case PortType::f_nl_port: return "F/NL_Port";
    case PortType::nx_port: return "Nx_Port";
    case PortType::f_port: return "F_Port";
    case PortType::fl_port: return "FL_Port";
    case PortType::e_port: return "E_Port";
    case PortType::b_port: return "B_Port";
  }
  return text::unknown;
}
// clang-format on

std::string to_string(const Fc4Features& features) {
  std::string out;
  for (unsigned code = 0; code < 256; ++code) {
    const std::uint8_t bits = features.of(static_cast<Type>(code));
    if (bits == 0) continue;
    if (!out.empty()) out += ',';
    out += text::hex(code, 2) + ':' + text::hex(bits, 1);
  }
  return out.empty() ? "none" : out;
}

SymbolicNameField SymbolicNameField::of(std::string_view text) {
  SymbolicNameField field;
  const std::size_t length = std::min<std::size_t>(text.size(), 255);
  field.bytes[0] = static_cast<std::uint8_t>(length);
  std::copy_n(text.begin(), length, field.bytes.begin() + 1);
  return field;
}

std::string SymbolicNameField::text() const { return {bytes.begin() + 1, bytes.begin() + 1 + bytes[0]}; }

std::string to_string(const SymbolicNameField& field) {
  return text::quoted(Bytes(field.bytes).subspan(1, field.bytes[0]));
}

}  // namespace wire::ct
