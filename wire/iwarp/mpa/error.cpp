#include "wire/iwarp/mpa/error.hpp"

#include "wire/text.hpp"

namespace wire::mpa {

std::string_view to_string(ErrorCode code) {
  switch (code) {
    case ErrorCode::connection_lost: return "TCP connection closed, terminated, or lost";
    case ErrorCode::crc_mismatch: return "MPA CRC does not match";
    case ErrorCode::marker_and_length_disagree: return "MPA Marker and ULPDU Length do not agree";
    case ErrorCode::invalid_startup_frame: return "Invalid MPA Request Frame or MPA Response Frame";
    case ErrorCode::local_catastrophic: return "Local catastrophic";
    case ErrorCode::insufficient_ird: return "Insufficient IRD resources";
    case ErrorCode::no_matching_rtr: return "No matching RTR option";
  }
  return text::unknown;
}

}  // namespace wire::mpa
