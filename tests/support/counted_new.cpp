#include "tests/support/counted_new.hpp"

#include <malloc.h>

#include <cstdlib>
#include <new>

namespace support {
std::atomic<std::size_t> allocations = 0;
std::atomic<std::size_t> live_bytes = 0;
std::atomic<bool> no_memory = false;
}  // namespace support

static constexpr std::size_t allocator_header = sizeof(std::size_t);

void* operator new(std::size_t size, const std::nothrow_t& /*unused*/) noexcept {
  void* memory = support::no_memory ? nullptr : std::malloc(size);
  if (memory == nullptr) return nullptr;
  ++support::allocations;
  support::live_bytes += malloc_usable_size(memory) + allocator_header;
  return memory;
}
void* operator new(std::size_t size) {
  if (void* memory = operator new(size, std::nothrow)) return memory;
  throw std::bad_alloc();
}
void operator delete(void* memory) noexcept {
  if (memory != nullptr) support::live_bytes -= malloc_usable_size(memory) + allocator_header;
  std::free(memory);
}
void operator delete(void* memory, std::size_t) noexcept { operator delete(memory); }
