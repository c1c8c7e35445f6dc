// The vocabulary of the VI model: return codes, attributes, network addresses, asynchronous errors.
// Values are those of the VI Developer's Guide chapter 4, so that the C API converts by a cast.
#pragma once
#include <array>
#include <cstdint>
#include <limits>
#include <span>
#include <string_view>

#include "runtime/time.hpp"
#include "wire/types.hpp"

namespace vi {

/// VIP_RETURN, VI-DG 4.2, in the guide's order.
enum class Return : int {
  Success,
  NotDone,
  InvalidParameter,
  ErrorResource,
  Timeout,
  Reject,
  InvalidReliabilityLevel,
  InvalidMtu,
  InvalidQos,
  InvalidPtag,
  InvalidRdmaRead,
  DescriptorError,
  InvalidState,
  ErrorNameservice,
  NoMatch,
  NotReachable,
};
std::string_view to_string(Return value);

/// VI-DG 4.6: one bit each, so that a NIC can tell a set of them.
enum class ReliabilityLevel : std::uint16_t { UnreliableDelivery = 1, ReliableDelivery = 2, ReliableReception = 4 };
std::string_view to_string(ReliabilityLevel value);
/// Several of them, as VIP_NIC_ATTRIBUTES tells them.
using ReliabilityLevels = std::uint16_t;
constexpr ReliabilityLevels bit_of(ReliabilityLevel level) { return static_cast<ReliabilityLevels>(level); }
inline constexpr ReliabilityLevels reliable_levels =
    bit_of(ReliabilityLevel::ReliableDelivery) | bit_of(ReliabilityLevel::ReliableReception);
inline constexpr ReliabilityLevels all_levels = bit_of(ReliabilityLevel::UnreliableDelivery) | reliable_levels;
constexpr bool is_reliable(ReliabilityLevel level) { return level != ReliabilityLevel::UnreliableDelivery; }

/// VI-DG 4.8. What a transport tells apart within it (Transport::pending_state_name) shows as ConnectPending.
enum class State : int { Idle, Connected, ConnectPending, Error };
std::string_view to_string(State value);

/// A memory protection tag of one NIC (VI-ARCH 3.2.2.1). Zero is the NULL tag (ruling 22).
struct Ptag {
  std::uint32_t value = 0;
  [[nodiscard]] constexpr bool is_null() const { return value == 0; }
  friend constexpr bool operator==(Ptag, Ptag) = default;
};

/// VI-DG 4.7.
struct MemoryAttributes {
  Ptag ptag = {};
  bool enable_rdma_write = false;
  bool enable_rdma_read = false;
  friend constexpr bool operator==(const MemoryAttributes&, const MemoryAttributes&) = default;
};

/// VI-DG 4.6, without QoS, which is undefined there.
struct ViAttributes {
  ReliabilityLevel reliability = ReliabilityLevel::ReliableDelivery;
  std::uint32_t max_transfer_size_bytes = 0;
  Ptag ptag = {};
  bool enable_rdma_write = false;
  bool enable_rdma_read = false;
};

/// As a peer is told of them: a tag means something to its own NIC only.
inline ViAttributes shown(ViAttributes attributes) {
  attributes.ptag = {};
  return attributes;
}

/// InvalidReliabilityLevel or InvalidMtu where the attributes of two VIs cannot connect (VI-DG 6.7); else Success.
Return conflict_between(const ViAttributes& ours, const ViAttributes& theirs);

/// Host address and discriminator (VI-DG 4.9). The discriminator keeps the consumer's own length, 0 to 128
/// bytes.
struct NetAddress {
  static constexpr std::size_t max_discriminator_bytes = 128;  // of any transport; FC-VI 7.2
  wire::IpAddress host{};
  std::uint8_t discriminator_length = 0;
  std::array<std::uint8_t, max_discriminator_bytes> discriminator{};

  /// What exceeds max_discriminator_bytes is cut off: callers check first.
  static NetAddress make(const wire::IpAddress& host, std::span<const std::uint8_t> discriminator);
  [[nodiscard]] std::span<const std::uint8_t> discriminator_bytes() const {
    return std::span(discriminator).first(discriminator_length);
  }
  /// Equal on the padded 128-byte field (ruling 21).
  [[nodiscard]] bool same_discriminator(const NetAddress& other) const { return discriminator == other.discriminator; }
};

/// VI-DG 4.4 ErrorCode, in the guide's order.
enum class ErrorCode : int {
  PostDesc,
  ConnLost,
  RecvQEmpty,
  ViOverrun,
  RdmaWProt,
  RdmaWData,
  RdmaWAbort,
  RdmaRProt,
  CompProt,
  RdmaTransport,
  Catastrophic,
};
std::string_view to_string(ErrorCode value);

/// VI-DG 4.4 ResourceCode.
enum class ResourceCode : int { Nic, Vi, Cq, Descriptor };
std::string_view to_string(ResourceCode value);

using runtime::TimeNs;

}  // namespace vi
