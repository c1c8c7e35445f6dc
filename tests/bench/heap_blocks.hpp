// The heap of the program that heap_blocks.cpp is a source of: how much is in use, and in blocks of what size.
#pragma once
#include <cstddef>
#include <vector>

namespace bench {

/// As the allocator counts them: what it adds to each block is in it, what was freed is not.
std::size_t heap_bytes();

/// Blocks of operator new that were made since start_counting() and live.
struct Blocks {
  std::size_t bytes = 0;  // of one, that the program may use
  std::size_t count = 0;
};
void start_counting();
void stop_counting();
/// Those that take most together first.
std::vector<Blocks> counted_blocks();

}  // namespace bench
