// FCVI_HANDLEs of one FC-VI Port (FC-VI 4.2, 5.9.2): which endpoint each names, and which must rest before reuse.
#pragma once
#include <cstdint>
#include <deque>
#include <vector>

#include "fc2_fabric/scheduler.hpp"
#include "wire/types.hpp"

namespace fcvi {
class Endpoint;

/// A handle is slot number + a base that the driver draws from the seed; FFFFFFFFh is never allocated (ruling 2).
class HandleTable {
 public:
  HandleTable(std::uint32_t first_handle, std::uint32_t limit) : first_handle_(first_handle), limit_(limit) {}

  /// False when `limit` handles are in use or resting.
  bool allocate(Endpoint& endpoint, fc2::TimeNs now, wire::FcviHandle& handle);
  /// Free again at once.
  void release(wire::FcviHandle handle);
  /// Free again at `until` (8.4.2 f: R_A_TOV after a Disconnect).
  void release_after(wire::FcviHandle handle, fc2::TimeNs until);
  [[nodiscard]] Endpoint* find(wire::FcviHandle handle) const {
    const std::uint32_t slot = handle.value - first_handle_;
    return slot < slots_.size() ? slots_[slot].endpoint : nullptr;
  }
  [[nodiscard]] std::size_t in_use() const { return in_use_; }

 private:
  struct Slot { Endpoint* endpoint = nullptr; };
  struct Resting { std::uint32_t slot; fc2::TimeNs until; };
  [[nodiscard]] bool usable(std::uint32_t slot) const { return slot + first_handle_ != wire::FcviHandle::unassigned.value; }

  std::uint32_t first_handle_, limit_;
  std::size_t in_use_ = 0;
  std::vector<Slot> slots_;
  std::deque<std::uint32_t> free_;     // longest free first
  std::deque<Resting> resting_;        // R_A_TOV is the same for all: in order of `until`
};

}  // namespace fcvi
