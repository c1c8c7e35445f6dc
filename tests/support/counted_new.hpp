// Every operator new of the program that counted_new.cpp is a source of, counted.
#pragma once
#include <atomic>
#include <cstddef>

namespace support {
extern std::atomic<std::size_t> allocations;  // so far
extern std::atomic<std::size_t> live_bytes;   // with what the allocator adds to each
extern std::atomic<bool> no_memory;           // every one fails
}  // namespace support
