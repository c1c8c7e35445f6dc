#include "wire/iwarp/rdmap/opcode.hpp"

#include "wire/define_coded.hpp"

namespace wire::rdmap {

WIRE_DEFINE_CODED(Control)

std::string_view to_string(Opcode opcode) { return is_known(opcode) ? info_of(opcode).name : text::unknown; }

std::string_view to_string(RdmaHeader header) {
  switch (header) {
    case RdmaHeader::none: return "none";
    case RdmaHeader::read_request: return "RDMA Read Request Header";
    case RdmaHeader::terminate: return "Terminate Header";
    case RdmaHeader::immediate_data: return "Immediate Data Header";
    case RdmaHeader::atomic: return "Atomic Header";
  }
  return text::unknown;
}

}  // namespace wire::rdmap
