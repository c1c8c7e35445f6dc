#include "wire/ct/rft_id.hpp"

namespace wire::ct {

std::string to_string(const Fc4Types& types) {
  std::string out;
  for (unsigned code = 0; code < 256; ++code) {
    if (!types.has(static_cast<Type>(code))) continue;
    if (!out.empty()) out += ',';
    out += text::hex(code, 2);
  }
  return out.empty() ? "none" : out + "h";
}

}  // namespace wire::ct
