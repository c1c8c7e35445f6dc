// The Terminate Header, and the errors that it tells (RFC 5040 4.8).
#pragma once
#include <optional>

#include "wire/iwarp/ddp/error.hpp"
#include "wire/iwarp/mpa/error.hpp"
#include "wire/iwarp/rdmap/headers.hpp"

namespace wire::rdmap {

/// Layer that encountered the error.
enum class Layer : std::uint8_t { rdma = 0, ddp = 1, llp = 2 };
[[nodiscard]] std::string_view to_string(Layer layer);

/// Error Type of layer RDMA.
enum class ErrorType : std::uint8_t { local_catastrophic = 0, remote_protection = 1, remote_operation = 2 };
[[nodiscard]] std::string_view to_string(ErrorType type);

/// Error Code of a Remote Protection Error.
enum class ProtectionError : std::uint8_t {
  invalid_stag = 0x00,
  base_or_bounds = 0x01,
  access_rights = 0x02,
  stag_not_associated = 0x03,
  to_wrap = 0x04,
  stag_cannot_be_invalidated = 0x09,
  unspecified = 0xFF,
};
[[nodiscard]] std::string_view to_string(ProtectionError code);

/// Error Code of a Remote Operation Error.
enum class OperationError : std::uint8_t {
  invalid_version = 0x05,
  unexpected_opcode = 0x06,
  catastrophic_stream = 0x07,
  catastrophic_global = 0x08,
  stag_cannot_be_invalidated = 0x09,
  unspecified = 0xFF,
};
[[nodiscard]] std::string_view to_string(OperationError code);

/// What a Terminate says went wrong; of a received one any values (ruling M-6).
struct Cause {
  Layer layer{};          // 4 bits
  std::uint8_t type = 0;  // 4 bits, by the layer
  std::uint8_t code = 0;  // by layer and type
  friend constexpr bool operator==(const Cause&, const Cause&) = default;

  [[nodiscard]] static constexpr Cause local_catastrophic(Layer layer) { return {layer, 0, 0}; }
  [[nodiscard]] static constexpr Cause of(ProtectionError code) {
    return {Layer::rdma, static_cast<std::uint8_t>(ErrorType::remote_protection), static_cast<std::uint8_t>(code)};
  }
  [[nodiscard]] static constexpr Cause of(OperationError code) {
    return {Layer::rdma, static_cast<std::uint8_t>(ErrorType::remote_operation), static_cast<std::uint8_t>(code)};
  }
  [[nodiscard]] static constexpr Cause of(ddp::TaggedError code) {
    return {Layer::ddp, static_cast<std::uint8_t>(ddp::ErrorType::tagged_buffer), static_cast<std::uint8_t>(code)};
  }
  [[nodiscard]] static constexpr Cause of(ddp::UntaggedError code) {
    return {Layer::ddp, static_cast<std::uint8_t>(ddp::ErrorType::untagged_buffer), static_cast<std::uint8_t>(code)};
  }
  [[nodiscard]] static constexpr Cause of(mpa::ErrorCode code) {
    return {Layer::llp, 0, static_cast<std::uint8_t>(code)};
  }
};
/// "DDP/Tagged Buffer Error/Invalid STag"; "unknown" for each part that has no name, with its value.
[[nodiscard]] std::string to_string(const Cause& cause);

/// Terminate Header (RFC 5040 4.8), 4 octets, or 6 and the terminated headers
/// octet
///  0    | 31-28 Layer, 27-24 EType, 23-16 Error Code, 15 M, 14 D, 13 R, 12-0 reserved
///  4    | DDP Segment Length, with M or D
///  6    | Terminated DDP Header, with D: 14 octets if its T is set, else 18
///       | Terminated RDMA Header, with R: that of the RDMA Read Request
struct Terminate {
  Cause cause{};
  std::optional<std::uint16_t> segment_length{};  // M: octets of the DDP segment in error
  std::optional<ddp::Header> ddp_header{};        // D
  std::optional<ReadRequest> read_request{};      // R; ours only for a Read Request (ruling M-7)

  static constexpr std::string_view name = "TERMINATE";
  static constexpr std::size_t control_bytes = 4, segment_length_bytes = 2;
  static constexpr std::size_t max_bytes =
      control_bytes + segment_length_bytes + ddp::untagged_header_bytes + ReadRequest::size();

  /// Reserved bits are ignored, and what is behind. Errors: truncated only, with "terminate_control",
  /// "ddp_segment_length", or the field of the terminated header that is cut. That a Terminate came counts even then
  /// (ruling M-6): cause_of() tells as much as is there.
  [[nodiscard]] static Result<Terminate> parse(Bytes bytes);
  /// Layer, type and code of a Terminate that may be cut behind them; zeros for octets that are not there.
  [[nodiscard]] static Cause cause_of(Bytes bytes);
  /// Octets, at most max_bytes.
  [[nodiscard]] std::size_t size() const;
  void write(MutableBytes to) const;
  [[nodiscard]] std::string to_string() const;
  friend bool operator==(const Terminate&, const Terminate&) = default;
};

}  // namespace wire::rdmap
