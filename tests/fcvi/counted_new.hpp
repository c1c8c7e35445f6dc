// Every operator new of the program, counted.
#pragma once
#include <cstddef>

namespace support {
extern std::size_t allocations;  // so far
extern std::size_t live_bytes;   // with what the allocator adds to each
}  // namespace support
