// Checks memory that a program registers: VipRegisterMem must refuse memory on which the library would
// crash (VI-DG 3.4.3).
#pragma once
#include <cstdint>

namespace vipl {

enum class MemoryKind {
  NotThere,  // some of it is not mapped, or cannot be read
  ReadOnly,  // some of it cannot be written
  Writable,
};

MemoryKind probe_memory(const void* address, std::uint64_t length_bytes);

}  // namespace vipl
