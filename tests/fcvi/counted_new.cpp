#include "tests/fcvi/counted_new.hpp"

#include <malloc.h>

#include <cstdlib>
#include <new>

namespace support {
std::size_t allocations = 0;
std::size_t live_bytes = 0;
}  // namespace support

static constexpr std::size_t allocator_header = sizeof(std::size_t);

void* operator new(std::size_t size) {
  void* memory = std::malloc(size);
  if (memory == nullptr) throw std::bad_alloc();
  ++support::allocations;
  support::live_bytes += malloc_usable_size(memory) + allocator_header;
  return memory;
}
void operator delete(void* memory) noexcept {
  if (memory != nullptr) support::live_bytes -= malloc_usable_size(memory) + allocator_header;
  std::free(memory);
}
void operator delete(void* memory, std::size_t) noexcept { operator delete(memory); }
