// Tells in words why a descriptor failed: which segment, which check, and at which end.
#pragma once
#include <string>

#include "vi/nic.hpp"

namespace vipl {

/// The facts about a failed descriptor.
struct FailedDescriptor {
  const vi::Vi& vi;
  const vi::MemoryTable& memory;
  const vi::NicLimits& limits;
  bool receive_queue;
  std::uint64_t address;
  std::string_view end_cause;  // why the connection ended; empty: unknown
  bool overrun = false;        // it was not posted because its queue was full
};

/// Checks the descriptor once more, as it is now. For people; never faults, whatever the program did to its memory.
[[nodiscard]] std::string explain(const FailedDescriptor& failed);

/// Why a descriptor could not be posted (VI-DG 3.8.1, VIP_ERROR_POST_DESC, VIP_ERROR_VI_OVERRUN).
[[nodiscard]] std::string explain_post(const FailedDescriptor& failed, wire::MemHandle handle);

}  // namespace vipl
