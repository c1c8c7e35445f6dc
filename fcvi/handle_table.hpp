// FCVI_HANDLEs of one FC-VI Port (FC-VI 4.2, 5.9.2): which connection each names.
#pragma once
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <vector>

#include "wire/types.hpp"

namespace fcvi {
class Connection;

/// A handle names one connection from the first IU of its set-up until R_A_TOV after its end (8.4.2 f). It is a slot
/// and how often that slot was used, above a base that the driver draws from the seed: a slot serves again at once, its
/// number only after all others of that slot. What a peer still sends to the old number meets nobody, however late:
/// frames after a logout (8.4.2 g), and the DISCONNECT_RQST of a VI that stayed in Error (D.2). FFFFFFFFh is never
/// allocated (ruling 2). find() is on the frame path: one bounds check, one load and compare.
class HandleTable {
 public:
  HandleTable(std::uint32_t first_handle, std::uint32_t limit);
  ~HandleTable();

  /// A handle that is not in use; empty when `limit` are. occupy() must follow.
  std::optional<wire::FcviHandle> reserve();
  void occupy(wire::FcviHandle handle, std::unique_ptr<Connection> connection);
  /// The slot may be used again.
  std::unique_ptr<Connection> vacate(wire::FcviHandle handle);
  [[nodiscard]] Connection* find(wire::FcviHandle handle) const {
    const std::uint32_t number = handle.value - first_handle_;
    const std::uint32_t slot = number & slot_mask_;
    return slot < slots_.size() && slots_[slot].number == number ? slots_[slot].connection.get() : nullptr;
  }
  [[nodiscard]] std::size_t in_use() const { return in_use_; }

  struct Slot {
    std::uint32_t number = 0;  // of the handle that it has, or had last: the slot itself in the low bits
    std::unique_ptr<Connection> connection;
  };
  /// In order; some are empty.
  [[nodiscard]] const std::vector<Slot>& slots() const { return slots_; }

 private:
  Slot& slot_of(wire::FcviHandle handle) { return slots_[(handle.value - first_handle_) & slot_mask_]; }
  void next_number(Slot& slot) const;

  const std::uint32_t first_handle_, limit_, slot_mask_;
  std::size_t in_use_ = 0;
  std::vector<Slot> slots_;
  std::deque<std::uint32_t> free_;  // longest free first
};

}  // namespace fcvi
