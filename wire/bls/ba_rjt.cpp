#include "wire/bls/ba_rjt.hpp"

namespace wire::bls {

std::string_view to_string(RejectReason value) {
  switch (value) {
    case RejectReason::invalid_command: return "invalid_command";
    case RejectReason::logical_error: return "logical_error";
    case RejectReason::logical_busy: return "logical_busy";
    case RejectReason::protocol_error: return "protocol_error";
    case RejectReason::unable_to_perform: return "unable_to_perform";
    case RejectReason::vendor_unique: return "vendor_unique";
  }
  return text::unknown;
}

std::string_view to_string(RejectExplanation value) {
  switch (value) {
    case RejectExplanation::none: return "none";
    case RejectExplanation::invalid_ox_id_rx_id: return "invalid_ox_id_rx_id";
    case RejectExplanation::sequence_aborted: return "sequence_aborted";
  }
  return text::unknown;
}

}  // namespace wire::bls
