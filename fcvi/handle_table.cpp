#include "fcvi/handle_table.hpp"

#include "fcvi/connection.hpp"

namespace fcvi {

HandleTable::HandleTable(std::uint32_t first_handle, std::uint32_t limit) : first_handle_(first_handle), limit_(limit) {}
HandleTable::~HandleTable() = default;

std::uint32_t HandleTable::add_slot() {
  auto slot = static_cast<std::uint32_t>(slots_.size());
  if (first_handle_ + slot == wire::FcviHandle::unassigned.value) ++slot;  // that one stays empty for ever
  slots_.resize(slot + 1);
  return slot;
}

std::optional<wire::FcviHandle> HandleTable::reserve(fc2::TimeNs now, fc2::TimeNs r_a_tov) {
  const bool rested = !free_.empty() && now - free_.front().since >= r_a_tov;
  const bool room = slots_.size() < limit_;
  if (!rested && !room && free_.empty()) return std::nullopt;
  std::uint32_t slot = 0;
  if (rested || !room) {
    slot = free_.front().slot;
    free_.pop_front();
  } else {
    slot = add_slot();
  }
  ++in_use_;
  return wire::FcviHandle{first_handle_ + slot};
}

void HandleTable::occupy(wire::FcviHandle handle, std::unique_ptr<Connection> connection) {
  slots_[handle.value - first_handle_] = std::move(connection);
}

std::unique_ptr<Connection> HandleTable::vacate(wire::FcviHandle handle, fc2::TimeNs now) {
  const std::uint32_t slot = handle.value - first_handle_;
  free_.push_back({slot, now});
  --in_use_;
  return std::move(slots_[slot]);
}

}  // namespace fcvi
