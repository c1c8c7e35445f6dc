#include "vipl/engine/memory_probe.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <fstream>
#include <optional>
#include <string>

namespace vipl {
namespace {

#ifndef MADV_POPULATE_WRITE  // Linux 5.14
constexpr int MADV_POPULATE_READ = 22, MADV_POPULATE_WRITE = 23;
#endif
// Larger regions are looked up instead: they need not be in memory as a whole.
constexpr std::uintptr_t max_populated_bytes = 4u << 20;

/// Empty: this kernel cannot tell.
std::optional<bool> can_populate(std::uintptr_t begin, std::uintptr_t size, int how) {
  if (madvise(reinterpret_cast<void*>(begin), size, how) == 0) return true;
  return errno == ENOMEM || errno == EFAULT ? std::optional(false) : std::nullopt;
}

struct Mapping {
  std::uintptr_t begin = 0, end = 0;
  MemoryKind kind = MemoryKind::NotThere;
};

// A line of /proc/self/maps: "begin-end rwxp ...".
Mapping parse(const std::string& line) {
  Mapping mapping;
  const char* last = line.data() + line.size();
  auto next = std::from_chars(line.data(), last, mapping.begin, 16);
  if (next.ptr == last) return {};
  next = std::from_chars(next.ptr + 1, last, mapping.end, 16);
  if (last - next.ptr > 3 && next.ptr[1] == 'r')
    mapping.kind = next.ptr[2] == 'w' ? MemoryKind::Writable : MemoryKind::ReadOnly;
  return mapping;
}

MemoryKind look_up(std::uintptr_t begin, std::uintptr_t end) {
  std::ifstream maps("/proc/self/maps");
  if (!maps) return MemoryKind::Writable;  // nobody can tell
  MemoryKind kind = MemoryKind::Writable;
  for (std::string line; begin < end && std::getline(maps, line);) {
    const Mapping mapping = parse(line);
    if (mapping.end <= begin) continue;
    if (mapping.begin > begin) return MemoryKind::NotThere;
    kind = std::min(kind, mapping.kind);
    begin = mapping.end;
  }
  return begin >= end ? kind : MemoryKind::NotThere;
}

}  // namespace

MemoryKind probe_memory(const void* address, std::uint64_t length_bytes) {
  static const auto page = static_cast<std::uintptr_t>(sysconf(_SC_PAGESIZE));
  const auto first = reinterpret_cast<std::uintptr_t>(address);
  if (address == nullptr || length_bytes == 0 || first + length_bytes < first) return MemoryKind::NotThere;
  const std::uintptr_t begin = first & ~(page - 1);
  const std::uintptr_t size = first + length_bytes - begin;
  if (size <= max_populated_bytes) {
    const auto writable = can_populate(begin, size, MADV_POPULATE_WRITE);
    if (writable == true) return MemoryKind::Writable;
    const auto readable = writable.has_value() ? can_populate(begin, size, MADV_POPULATE_READ) : std::nullopt;
    if (readable.has_value()) return *readable ? MemoryKind::ReadOnly : MemoryKind::NotThere;
  }
  return look_up(begin, begin + size);
}

}  // namespace vipl
