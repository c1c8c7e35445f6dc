// The errors of MPA and of its enhanced set-up.
#pragma once
#include <cstdint>
#include <string_view>

namespace wire::mpa {

/// Error codes of layer LLP, error type 0 (RFC 5044 8, RFC 6581 8). IFT uses them too (ruling I-10).
enum class ErrorCode : std::uint8_t {
  connection_lost = 1,
  crc_mismatch = 2,
  marker_and_length_disagree = 3,
  invalid_startup_frame = 4,
  local_catastrophic = 5,
  insufficient_ird = 6,
  no_matching_rtr = 7,
};
[[nodiscard]] std::string_view to_string(ErrorCode code);

}  // namespace wire::mpa
