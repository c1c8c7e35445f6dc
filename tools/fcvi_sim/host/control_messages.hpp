// What the programs tell each other besides the data: each message of a size of its own, in the host's byte
// order as programs of that time wrote them.
#pragma once
#include <array>
#include <cstdint>

#include "tools/fcvi_sim/scenario/digest.hpp"
#include "tools/fcvi_sim/scenario/workload.hpp"

namespace sim {

enum class ControlKind : std::uint32_t {
  Offer = 0x4F464652,
  Credit = 0x43524544,
  Done = 0x444F4E45,
  Verdict = 0x56455244
};

/// Target: go ahead. Buffer address and handle for RDMA; length and digest of its content for RDMA Read.
struct Offer {
  ControlKind kind = ControlKind::Offer;
  std::uint32_t run = 0;
  std::uint64_t address = 0;
  std::uint64_t length_bytes = 0;
  Sha256 digest{};
  std::uint32_t handle = 0;
  std::uint32_t window = 0;  // messages that may come before the first Credit
};
/// Target: this many messages more.
struct Credit {
  ControlKind kind = ControlKind::Credit;
  std::uint32_t run = 0;
  std::uint64_t messages = 0;
};
/// Initiator: all descriptors are completed.
struct Done {
  ControlKind kind = ControlKind::Done;
  std::uint32_t run = 0;
  std::uint64_t length_bytes = 0;
  Sha256 digest{};
  std::uint32_t failed = 0;  // error bits, where the scenario expects them
  std::uint32_t reserved = 0;
};
/// Target: what arrived.
struct Verdict {
  ControlKind kind = ControlKind::Verdict;
  std::uint32_t run = 0;
  Sha256 digest{};
};
static_assert(sizeof(Offer) == 64 && sizeof(Credit) == 16 && sizeof(Done) == 56 && sizeof(Verdict) == 40);

inline constexpr std::uint32_t control_bytes = 64;  // the largest
static_assert(least_lost_bytes >= control_bytes);
using ControlBytes = std::array<std::uint8_t, control_bytes>;

}  // namespace sim
