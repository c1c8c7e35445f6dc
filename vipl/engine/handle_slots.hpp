// Maps the handles of programs to objects; any thread may look one up without a lock.
#pragma once
#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

namespace vipl {

inline constexpr unsigned handle_kind_bits = 3, handle_index_bits = 20;
/// Distinguishes the users of a slot, for a long time.
inline std::uint32_t handle_generation(void* handle) {
  return static_cast<std::uint32_t>(reinterpret_cast<std::uintptr_t>(handle) >> (handle_kind_bits + handle_index_bits));
}

/// A handle is a number: generation, slot, kind. No two handles of a table are ever equal, so that a stale handle, a
/// forged one or one of another kind finds nothing. Slots never move and are never freed: a thread can always read one.
/// The object found may be destroyed the next moment: objects that are looked up without the engine's lock are
/// therefore kept in pools (pool.hpp) and know their owner (work_port.hpp).
template <class Object>
class HandleSlots {
 public:
  static constexpr unsigned kind_bits = handle_kind_bits, index_bits = handle_index_bits;
  static constexpr std::uint32_t max_handles = 1u << index_bits;

  /// Generations of different tables differ, so that a child process does not accept its parent's handles.
  explicit HandleSlots(std::uint64_t first_generation = 0) : generation_(first_generation) {}
  HandleSlots(const HandleSlots&) = delete;
  HandleSlots& operator=(const HandleSlots&) = delete;

  /// nullptr: too many. Not thread-safe with itself or erase. Pre: 0 < kind < 8.
  void* insert(Object& object, unsigned kind) {
    std::uint32_t index = 0;
    if (!free_.empty()) {
      index = free_.back();
      free_.pop_back();
    } else {
      if (used_ == max_handles) return nullptr;
      make_chunk(used_);
      index = used_++;
    }
    const std::uintptr_t handle =
        (static_cast<std::uintptr_t>(++generation_) << (kind_bits + index_bits)) | index << kind_bits | kind;
    Slot& slot = (*chunks_[index / chunk_slots].load(std::memory_order_relaxed))[index % chunk_slots];
    slot.object.store(&object);
    slot.handle.store(handle);
    return reinterpret_cast<void*>(handle);  // a number: NOLINT(performance-no-int-to-ptr)
  }
  /// Pre: `handle` is in use.
  void erase(void* handle) {
    const std::uint32_t index = index_of(reinterpret_cast<std::uintptr_t>(handle));
    free_.push_back(index);
    slot_of(index)->handle.store(0);
  }

  /// Any thread. nullptr for anything but a handle of this kind that is in use.
  [[nodiscard]] Object* find(void* handle, unsigned kind) const {
    const auto number = reinterpret_cast<std::uintptr_t>(handle);
    if ((number & kind_mask) != kind) return nullptr;
    const Slot* slot = slot_of(index_of(number));
    if (slot == nullptr || slot->handle.load() != number) return nullptr;
    Object* const object = slot->object.load();
    return slot->handle.load() == number ? object : nullptr;  // else it belongs to the slot's next user
  }

 private:
  struct Slot {
    std::atomic<std::uintptr_t> handle{0};  // 0: free
    std::atomic<Object*> object{nullptr};
  };
  static constexpr std::uint32_t chunk_slots = 1024;
  static constexpr std::uintptr_t kind_mask = (1u << kind_bits) - 1;
  using Chunk = std::array<Slot, chunk_slots>;

  static std::uint32_t index_of(std::uintptr_t handle) {
    return static_cast<std::uint32_t>(handle >> kind_bits) & (max_handles - 1);
  }
  [[nodiscard]] const Slot* slot_of(std::uint32_t index) const {
    const Chunk* chunk = chunks_[index / chunk_slots].load();
    return chunk == nullptr ? nullptr : &(*chunk)[index % chunk_slots];
  }
  Slot* slot_of(std::uint32_t index) { return const_cast<Slot*>(std::as_const(*this).slot_of(index)); }
  void make_chunk(std::uint32_t index) {
    if (index % chunk_slots != 0) return;
    owned_.push_back(std::make_unique<Chunk>());
    free_.reserve(owned_.size() * chunk_slots);  // so that erase cannot fail
    chunks_[index / chunk_slots].store(owned_.back().get());
  }

  std::array<std::atomic<Chunk*>, max_handles / chunk_slots> chunks_{};
  std::vector<std::unique_ptr<Chunk>> owned_;
  std::vector<std::uint32_t> free_;
  std::uint32_t used_ = 0;
  std::uint64_t generation_;
};

}  // namespace vipl
