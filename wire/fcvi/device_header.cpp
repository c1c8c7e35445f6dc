#include "wire/fcvi/device_header.hpp"

namespace wire::fcvi {

std::string DeviceHeader::to_string() const {
  std::string line(name);
  if (device_header_size(opcode) == 16)
    layout_16.describe(*this, line);
  else
    layout.describe(*this, line);
  return line;
}

}  // namespace wire::fcvi
