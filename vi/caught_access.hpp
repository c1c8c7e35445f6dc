// Single reads and writes of a consumer's memory that may be gone, at no cost while it is there. The address of each
// instruction that may fault, and of the code to go on with, stand in a table; a handler of the fault looks it up
// (vipl/engine/memory_faults.cpp). Where the compiler or a sanitizer does not let us do so, CAUGHT_ACCESSES is 0: an
// access that faults does not return, and needs MemoryGuard::run around it.
#pragma once
#include <atomic>
#include <cstddef>
#include <cstdint>

#if defined(__x86_64__) && defined(__GNUC__) && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#define CAUGHT_ACCESSES 1
#else
#define CAUGHT_ACCESSES 0
#endif
#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer) || __has_feature(memory_sanitizer)
#undef CAUGHT_ACCESSES
#define CAUGHT_ACCESSES 0
#endif
#endif

namespace vi::caught {

/// Both are relative to themselves: the table needs no relocation, and lies in memory that nobody writes.
struct Entry {
  std::int32_t access, goes_on_at;
};

/// Aligned; others may write it at the same time. False: it cannot be read, and `value` is not to be looked at.
template <class T>
[[nodiscard, gnu::always_inline]] inline bool load(const std::byte* from, T& value) {
#if CAUGHT_ACCESSES
  // In the group of the function around it ("?"): what the linker drops takes its entries along.
  asm volatile goto(
      "1: mov %1, %0\n"
      ".pushsection vi_caught_accesses, \"a?\", @progbits\n"
      ".balign 4\n"
      ".long 1b - ., %l[gone] - .\n"
      ".popsection\n"
      : "=r"(value)
      : "m"(*reinterpret_cast<const T*>(from))
      : "memory"
      : gone);
  return true;
gone:
  return false;
#else
  value = std::atomic_ref<T>(*reinterpret_cast<T*>(const_cast<std::byte*>(from))).load(std::memory_order_relaxed);
  return true;
#endif
}

/// Aligned, with release semantics: who sees it sees what was written before. False: it cannot be written.
template <class T>
[[nodiscard, gnu::always_inline]] inline bool store(std::byte* to, T value) {
#if CAUGHT_ACCESSES
  asm volatile goto(
      "1: mov %0, %1\n"
      ".pushsection vi_caught_accesses, \"a?\", @progbits\n"
      ".balign 4\n"
      ".long 1b - ., %l[gone] - .\n"
      ".popsection\n"
      :
      : "r"(value), "m"(*reinterpret_cast<T*>(to))
      : "memory"
      : gone);
  return true;
gone:
  return false;
#else
#if defined(__SANITIZE_THREAD__) && defined(__x86_64__)
  asm volatile("lock orb $0, (%0)"
               :
               : "r"(to)
               : "memory", "cc");  // its atomic store would fault with a lock of its own held
#endif
  std::atomic_ref<T>(*reinterpret_cast<T*>(to)).store(value, std::memory_order_release);
  return true;
#endif
}

}  // namespace vi::caught
