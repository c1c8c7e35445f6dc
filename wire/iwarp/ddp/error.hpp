// DDP error numbers (RFC 5041 7.2).
#pragma once
#include <cstdint>
#include <string_view>

namespace wire::ddp {

/// Error Type of layer DDP.
enum class ErrorType : std::uint8_t { local_catastrophic = 0, tagged_buffer = 1, untagged_buffer = 2, llp = 3 };
[[nodiscard]] std::string_view to_string(ErrorType type);

/// Error Code of a Tagged Buffer Error.
enum class TaggedError : std::uint8_t {
  invalid_stag = 0,
  base_or_bounds = 1,
  stag_not_associated = 2,
  to_wrap = 3,
  invalid_version = 4,
};
[[nodiscard]] std::string_view to_string(TaggedError code);

/// Error Code of an Untagged Buffer Error.
enum class UntaggedError : std::uint8_t {
  invalid_qn = 1,
  no_buffer = 2,
  msn_range = 3,
  invalid_mo = 4,
  message_too_long = 5,
  invalid_version = 6,
};
[[nodiscard]] std::string_view to_string(UntaggedError code);

}  // namespace wire::ddp
