// Things of one kind named by 32-bit handles: what a NIC hands out for memory regions and protection tags.
#pragma once
#include <bit>
#include <cstdint>
#include <utility>
#include <vector>

namespace vi {

/// Handles are unique while in use, never 0 or FFFFFFFFh, and not negative as an int. A freed slot waits
/// behind at least `quarantine_slots` others and then comes back with another generation, so that a stale
/// handle stays invalid for long. find() is one compare; nothing but insert() allocates.
template <class T>
class HandleTable {
 public:
  static constexpr std::uint32_t limit_of_limits = 1u << 24;  // leaves seven bits of generation
  static constexpr std::uint32_t quarantine_slots = 256;

  explicit HandleTable(std::uint32_t limit)
      : limit_(limit < limit_of_limits ? limit : limit_of_limits),
        index_bits_(static_cast<std::uint32_t>(std::bit_width(limit_))) {}

  /// 0 when full.
  std::uint32_t insert(T value) {
    std::uint32_t index = take_slot();
    if (index == 0) return 0;
    Slot& slot = slots_[index];
    slot.value = std::move(value);
    slot.in_use = true;
    ++size_;
    return slot.handle;
  }
  [[nodiscard]] const T* find(std::uint32_t handle) const {
    const std::uint32_t index = index_of(handle);
    if (index >= slots_.size()) return nullptr;
    const Slot& slot = slots_[index];
    return slot.in_use && slot.handle == handle ? &slot.value : nullptr;
  }
  [[nodiscard]] T* find(std::uint32_t handle) { return const_cast<T*>(std::as_const(*this).find(handle)); }
  /// Pre: `handle` is in use.
  void erase(std::uint32_t handle) {
    const std::uint32_t index = index_of(handle);
    Slot& slot = slots_[index];
    slot.in_use = false;
    slot.handle = (slot.handle + (1u << index_bits_)) & 0x7FFFFFFFu;
    slot.next_free = 0;
    if (free_count_ == 0)
      first_free_ = index;
    else
      slots_[last_free_].next_free = index;
    last_free_ = index;
    ++free_count_;
    --size_;
  }
  [[nodiscard]] std::size_t size() const { return size_; }

 private:
  struct Slot {
    T value{};
    std::uint32_t handle = 0;     // of the present user, or of the next one
    std::uint32_t next_free = 0;  // oldest freed first
    bool in_use = false;
  };
  [[nodiscard]] std::uint32_t index_of(std::uint32_t handle) const { return handle & ((1u << index_bits_) - 1); }

  std::uint32_t take_slot() {
    if (size_ >= limit_) return 0;
    const bool may_grow = slots_.size() <= limit_;  // slot 0 is never used
    if (free_count_ > quarantine_slots || !may_grow) {
      const std::uint32_t index = first_free_;
      first_free_ = slots_[index].next_free;
      --free_count_;
      return index;
    }
    if (slots_.empty()) slots_.emplace_back();
    slots_.emplace_back();
    const auto index = static_cast<std::uint32_t>(slots_.size() - 1);
    slots_[index].handle = index;
    return index;
  }

  std::uint32_t limit_;
  std::uint32_t index_bits_;
  std::vector<Slot> slots_;
  std::size_t size_ = 0;
  std::uint32_t free_count_ = 0, first_free_ = 0, last_free_ = 0;
};

}  // namespace vi
