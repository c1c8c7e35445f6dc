#include "wire/fip/header.hpp"

namespace wire::fip {

std::string_view to_string(Operation value) {
  switch (value) {
    case Operation::discovery: return "discovery";
    case Operation::link_service: return "link_service";
    case Operation::control: return "control";
    case Operation::vlan: return "vlan";
    case Operation::vn2vn: return "vn2vn";
  }
  return text::unknown;
}

}  // namespace wire::fip
