// DDP Stream Session Control messages: a DATA chunk with Payload Protocol Identifier 17 (RFC 5043 5.2.3, RFC 6581 7).
#pragma once
#include <optional>
#include <vector>

#include "wire/iwarp/mpa/startup_frame.hpp"
#include "wire/iwarp/sctp/adaptation.hpp"

namespace wire::sctp {

enum class FunctionCode : std::uint16_t {
  initiate = 1,
  accept = 2,
  reject = 3,
  terminate = 4,
  enhanced_initiate = 5,
  enhanced_accept = 6,
  enhanced_reject = 7,
};
/// "Initiate", "Enhanced Accept".
[[nodiscard]] std::string_view to_string(FunctionCode code);
[[nodiscard]] constexpr bool is_enhanced(FunctionCode code) { return code >= FunctionCode::enhanced_initiate; }

/// octet | 0-1     | 2-3           | 4 to the chunk's end
///  0    | DDP-SSN | function code | Private Data, at most 512 octets; of an enhanced one it begins with the enhanced
///       |         |               | data, 4 octets; of Terminate there is none
struct SessionControl {
  std::uint16_t ssn = 0;
  FunctionCode function = FunctionCode::initiate;
  std::optional<mpa::EnhancedData> enhanced{};  // there if, and only if, the function is an enhanced one
  std::vector<std::uint8_t> private_data{};     // of the ULP

  static constexpr std::string_view name = "SESSION_CONTROL";
  static constexpr std::size_t header_bytes = 4, max_private_data_bytes = 512;
  static constexpr std::size_t max_bytes = header_bytes + max_private_data_bytes;

  /// `chunk`: all of its User Data. Memory: at most 512 octets. Errors, in this order: truncated "ddp_ssn" and
  /// "function_code"; a "function_code" that is none of these; "private_data" above 512 octets, or of Terminate;
  /// truncated "enhanced_data".
  [[nodiscard]] static Result<SessionControl> parse(Bytes chunk);
  [[nodiscard]] std::size_t size() const;
  void write(MutableBytes to) const;
  [[nodiscard]] std::string to_string() const;
  friend bool operator==(const SessionControl&, const SessionControl&) = default;
};

}  // namespace wire::sctp
