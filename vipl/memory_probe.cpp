#include "vipl/memory_probe.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <fstream>
#include <string>

namespace vipl {
namespace {

#ifndef MADV_POPULATE_WRITE
constexpr int MADV_POPULATE_WRITE = 23;  // Linux 5.14
#endif
// Larger regions are looked up instead: they need not be in memory as a whole.
constexpr std::uintptr_t max_populated_bytes = 4u << 20;

struct Mapping {
  std::uintptr_t begin = 0, end = 0;
  bool writable = false;
};

// A line of /proc/self/maps: "begin-end rwxp ...".
Mapping parse(const std::string& line) {
  Mapping mapping;
  const char* last = line.data() + line.size();
  auto next = std::from_chars(line.data(), last, mapping.begin, 16);
  if (next.ptr == last) return {};
  next = std::from_chars(next.ptr + 1, last, mapping.end, 16);
  mapping.writable = last - next.ptr > 3 && next.ptr[1] == 'r' && next.ptr[2] == 'w';
  return mapping;
}

bool is_mapped_writable(std::uintptr_t begin, std::uintptr_t end) {
  std::ifstream maps("/proc/self/maps");
  if (!maps) return true;  // nobody can tell
  for (std::string line; begin < end && std::getline(maps, line);) {
    const Mapping mapping = parse(line);
    if (mapping.end <= begin) continue;
    if (mapping.begin > begin || !mapping.writable) return false;
    begin = mapping.end;
  }
  return begin >= end;
}

}  // namespace

bool is_writable_memory(const void* address, std::uint64_t length_bytes) {
  static const auto page = static_cast<std::uintptr_t>(sysconf(_SC_PAGESIZE));
  const auto first = reinterpret_cast<std::uintptr_t>(address);
  if (address == nullptr || length_bytes == 0 || first + length_bytes < first) return false;
  const std::uintptr_t begin = first & ~(page - 1);
  const std::uintptr_t size = first + length_bytes - begin;
  if (size <= max_populated_bytes) {
    if (madvise(reinterpret_cast<void*>(begin), size, MADV_POPULATE_WRITE) == 0) return true;
    if (errno == ENOMEM || errno == EFAULT) return false;
  }
  return is_mapped_writable(begin, begin + size);
}

}  // namespace vipl
