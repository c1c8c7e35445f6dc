#include "fcvi/handle_table.hpp"

#include "fcvi/connection.hpp"

namespace fcvi {

HandleTable::HandleTable(std::uint32_t first_handle, std::uint32_t limit) : first_handle_(first_handle), limit_(limit) {}
HandleTable::~HandleTable() = default;

std::optional<wire::FcviHandle> HandleTable::reserve() {
  if (free_.empty()) {
    if (slots_.size() >= limit_) return std::nullopt;
    auto slot = static_cast<std::uint32_t>(slots_.size());
    if (first_handle_ + slot == wire::FcviHandle::unassigned.value) ++slot;  // that one stays empty for ever
    slots_.resize(slot + 1);
    free_.push_back(slot);
  }
  const std::uint32_t slot = free_.front();
  free_.pop_front();
  ++in_use_;
  return wire::FcviHandle{first_handle_ + slot};
}

void HandleTable::occupy(wire::FcviHandle handle, std::unique_ptr<Connection> connection) {
  slots_[handle.value - first_handle_] = std::move(connection);
}

std::unique_ptr<Connection> HandleTable::vacate(wire::FcviHandle handle) {
  const std::uint32_t slot = handle.value - first_handle_;
  free_.push_back(slot);
  --in_use_;
  return std::move(slots_[slot]);
}

}  // namespace fcvi
