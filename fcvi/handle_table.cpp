#include "fcvi/handle_table.hpp"

#include <algorithm>
#include <bit>

#include "fcvi/connection.hpp"

namespace fcvi {

HandleTable::HandleTable(std::uint32_t first_handle, std::uint32_t limit)
    : first_handle_(first_handle), limit_(limit), slot_mask_(std::bit_ceil(std::min(limit, 1u << 31)) - 1) {}
HandleTable::~HandleTable() = default;

void HandleTable::next_number(Slot& slot) const {
  do slot.number += slot_mask_ + 1;
  while (first_handle_ + slot.number == wire::FcviHandle::unassigned.value);
}

std::optional<wire::FcviHandle> HandleTable::reserve() {
  if (in_use_ == limit_) return std::nullopt;
  ++in_use_;
  if (free_.empty()) {
    const auto number = static_cast<std::uint32_t>(slots_.size());
    Slot& slot = slots_.emplace_back(Slot{number, nullptr});
    if (first_handle_ + number == wire::FcviHandle::unassigned.value) next_number(slot);
    return wire::FcviHandle{first_handle_ + slot.number};
  }
  Slot& slot = slots_[free_.front()];
  free_.pop_front();
  next_number(slot);
  return wire::FcviHandle{first_handle_ + slot.number};
}

void HandleTable::occupy(wire::FcviHandle handle, std::unique_ptr<Connection> connection) {
  slot_of(handle).connection = std::move(connection);
}

std::unique_ptr<Connection> HandleTable::vacate(wire::FcviHandle handle) {
  Slot& slot = slot_of(handle);
  free_.push_back(slot.number & slot_mask_);
  --in_use_;
  return std::move(slot.connection);
}

}  // namespace fcvi
