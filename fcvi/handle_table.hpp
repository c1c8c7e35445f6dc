// FCVI_HANDLEs of one FC-VI Port (FC-VI 4.2, 5.9.2): which connection each names.
#pragma once
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <vector>

#include "fc2_fabric/scheduler.hpp"
#include "wire/types.hpp"

namespace fcvi {
class Connection;

/// A handle names one connection from the first IU of its set-up until R_A_TOV after its end (8.4.2 f); it is a slot
/// number above a base that the driver draws from the seed. FFFFFFFFh is never allocated (ruling 2). A handle that a logout
/// freed at once (8.4.2 g) may still stand in frames that are under way: its number comes round again R_A_TOV later, unless
/// no other is left. find() is on the frame path: one bounds check, one load.
class HandleTable {
 public:
  HandleTable(std::uint32_t first_handle, std::uint32_t limit);
  ~HandleTable();

  /// A handle that is not in use; empty when `limit` are. occupy() must follow.
  std::optional<wire::FcviHandle> reserve(fc2::TimeNs now, fc2::TimeNs r_a_tov);
  void occupy(wire::FcviHandle handle, std::unique_ptr<Connection> connection);
  /// The handle may be used again.
  std::unique_ptr<Connection> vacate(wire::FcviHandle handle, fc2::TimeNs now);
  [[nodiscard]] Connection* find(wire::FcviHandle handle) const {
    const std::uint32_t slot = handle.value - first_handle_;
    return slot < slots_.size() ? slots_[slot].get() : nullptr;
  }
  [[nodiscard]] std::size_t in_use() const { return in_use_; }
  /// In order of slots; some are empty.
  [[nodiscard]] const std::vector<std::unique_ptr<Connection>>& slots() const { return slots_; }

 private:
  std::uint32_t first_handle_, limit_;
  std::size_t in_use_ = 0;
  std::vector<std::unique_ptr<Connection>> slots_;
  struct Free {
    std::uint32_t slot;
    fc2::TimeNs since;
  };
  [[nodiscard]] std::uint32_t add_slot();

  std::deque<Free> free_;  // longest free first
};

}  // namespace fcvi
