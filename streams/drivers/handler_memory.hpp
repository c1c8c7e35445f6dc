// Memory for the one handler that an operation of Boost.Asio keeps while it waits.
#pragma once
#include <array>
#include <cstddef>
#include <new>

namespace streams::drivers {

/// Room for one handler at a time, used again and again; a second one, or a larger one, comes from the heap.
class HandlerMemory {
 public:
  HandlerMemory() = default;
  HandlerMemory(const HandlerMemory&) = delete;
  HandlerMemory& operator=(const HandlerMemory&) = delete;
  void* take(std::size_t bytes) {
    if (taken_ || bytes > room_.size()) return ::operator new(bytes);
    taken_ = true;
    return room_.data();
  }
  void give_back(void* memory) {
    if (memory == room_.data())
      taken_ = false;
    else
      ::operator delete(memory);
  }

 private:
  alignas(std::max_align_t) std::array<std::byte, 512> room_;
  bool taken_ = false;
};

/// For boost::asio::bind_allocator.
template <class T = std::byte>
class HandlerAllocator {
 public:
  using value_type = T;
  explicit HandlerAllocator(HandlerMemory& memory) : memory_(&memory) {}
  template <class U>
  HandlerAllocator(const HandlerAllocator<U>& other) : memory_(other.memory_) {}  // NOLINT: as allocators are
  T* allocate(std::size_t count) { return static_cast<T*>(memory_->take(count * sizeof(T))); }
  void deallocate(T* at, std::size_t) { memory_->give_back(at); }
  template <class U>
  bool operator==(const HandlerAllocator<U>& other) const {
    return memory_ == other.memory_;
  }

 private:
  template <class U>
  friend class HandlerAllocator;
  HandlerMemory* memory_;
};

}  // namespace streams::drivers
