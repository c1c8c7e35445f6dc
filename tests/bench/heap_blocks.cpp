#include "tests/bench/heap_blocks.hpp"

#include <malloc.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <new>

namespace bench {
namespace {
constexpr std::size_t step = 16, sizes = 4096;  // glibc's blocks grow by 16 bytes; the last stands for all above it
bool counting = false;
std::int64_t live[sizes];  // a block from before that goes while it is counted takes one away

void count(void* block, int change) {
  if (counting) live[std::min(malloc_usable_size(block) / step, sizes - 1)] += change;
}
}  // namespace

std::size_t heap_bytes() {
  const struct mallinfo2 info = ::mallinfo2();
  return info.uordblks + info.hblkhd;
}

void start_counting() {
  std::fill(std::begin(live), std::end(live), 0);
  counting = true;
}
void stop_counting() { counting = false; }

std::vector<Blocks> counted_blocks() {
  std::vector<Blocks> found;
  for (std::size_t i = 0; i < sizes; ++i)
    if (live[i] > 0) found.push_back({.bytes = i * step + step / 2, .count = static_cast<std::size_t>(live[i])});
  std::sort(found.begin(), found.end(),
            [](const Blocks& a, const Blocks& b) { return a.bytes * a.count > b.bytes * b.count; });
  return found;
}

}  // namespace bench

void* operator new(std::size_t size, const std::nothrow_t& /*unused*/) noexcept {
  void* block = std::malloc(size);
  if (block != nullptr) bench::count(block, 1);
  return block;
}
void* operator new(std::size_t size) {
  if (void* block = operator new(size, std::nothrow)) return block;
  throw std::bad_alloc();
}
void operator delete(void* block) noexcept {
  if (block != nullptr) bench::count(block, -1);
  std::free(block);
}
void operator delete(void* block, std::size_t) noexcept { operator delete(block); }
