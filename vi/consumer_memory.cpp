#include "vi/consumer_memory.hpp"

#include <atomic>
#include <cstring>

namespace vi::consumer_memory {
namespace {

template <class Word>
bool place_ending_in(std::byte* to, std::span<const std::uint8_t> from) {
  const auto end = reinterpret_cast<std::uintptr_t>(to) + from.size();
  if (from.size() < sizeof(Word) || end % sizeof(Word) != 0) return false;
  const std::size_t body = from.size() - sizeof(Word);
  Word last;
  std::memcpy(&last, from.data() + body, sizeof last);
  std::memcpy(to, from.data(), body);
  std::atomic_ref<Word>(*reinterpret_cast<Word*>(to + body)).store(last, std::memory_order_release);
  return true;
}

/// A single access of the largest size that the address allows and that is not too much.
template <class Call>
std::size_t largest_word(std::uintptr_t address, std::size_t left, bool& there, Call call) {
  if (address % 8 == 0 && left >= 8) return there = call(std::uint64_t{}), 8;
  if (address % 4 == 0 && left >= 4) return there = call(std::uint32_t{}), 4;
  if (address % 2 == 0 && left >= 2) return there = call(std::uint16_t{}), 2;
  return there = call(std::uint8_t{}), 1;
}

#if CAUGHT_ACCESSES
using caught::Wide;
constexpr std::size_t step = sizeof(Wide), block = 4 * step;  // two cache lines

#define CAUGHT(label) \
  ".pushsection vi_caught_accesses, \"a?\", @progbits\n.balign 4\n.long " label " - ., %l[gone] - .\n.popsection\n"
#define COPY_BLOCKS(caught) \
  asm volatile goto( \
      "1: prefetcht0 (%[ahead], %[at])\n   prefetcht0 64(%[ahead], %[at])\n" \
      "2: vmovdqu   (%[from], %[at]), %%ymm0\n3: vmovdqu 32(%[from], %[at]), %%ymm1\n" \
      "4: vmovdqu 64(%[from], %[at]), %%ymm2\n5: vmovdqu 96(%[from], %[at]), %%ymm3\n" \
      "6: vmovdqu %%ymm0,   (%[to], %[at])\n  7: vmovdqu %%ymm1, 32(%[to], %[at])\n" \
      "8: vmovdqu %%ymm2, 64(%[to], %[at])\n  9: vmovdqu %%ymm3, 96(%[to], %[at])\n" \
      "   add $128, %[at]\n   jnz 1b\n" caught \
      : [at] "+r"(at) \
      : [to] "r"(to), [from] "r"(from), [ahead] "r"(ahead) \
      : "memory", "cc", "xmm0", "xmm1", "xmm2", "xmm3" \
      : gone)

/// Whole blocks, at least one, the last of which ends at `from` and `to`; of the consumer's memory, which is either of
/// the two, what lies at `ahead` is fetched besides. A loop of its own: the compiler would not unroll it.
template <bool reads>
[[gnu::always_inline, gnu::target("avx")]] inline bool copy_blocks(void* to, const void* from, const void* ahead,
                                                                   std::ptrdiff_t at) {
  if constexpr (reads)
    COPY_BLOCKS(CAUGHT("2b") CAUGHT("3b") CAUGHT("4b") CAUGHT("5b"));
  else
    COPY_BLOCKS(CAUGHT("6b") CAUGHT("7b") CAUGHT("8b") CAUGHT("9b"));
  return true;
gone:
  return false;
}
#undef COPY_BLOCKS
#undef CAUGHT

template <bool reads>
[[gnu::always_inline, gnu::target("avx")]] inline bool copy_step(std::uint8_t* to, const std::uint8_t* from) {
  Wide piece;
  if constexpr (reads) {
    if (!caught::load_wide(reinterpret_cast<const std::byte*>(from), piece)) return false;
    *reinterpret_cast<Wide*>(to) = piece;
    return true;
  }
  piece = *reinterpret_cast<const Wide*>(from);
  return caught::store_wide(reinterpret_cast<std::byte*>(to), piece);
}

/// A piece at each end, which may overlap what lies between, and between them blocks whose targets do not straddle
/// cache lines.
template <bool reads>
[[gnu::always_inline, gnu::target("avx")]] inline bool copy_wide(std::uint8_t* to, const std::uint8_t* from,
                                                                 std::size_t size, std::size_t ahead_bytes) {
  if (!copy_step<reads>(to, from)) return false;
  const std::size_t first = step - reinterpret_cast<std::uintptr_t>(to) % step;
  const std::size_t blocks = (size - first) / block * block;
  std::size_t at = first + blocks;
  const std::uint8_t* const ahead = (reads ? from : to) + at + ahead_bytes;
  if (!copy_blocks<reads>(to + at, from + at, ahead, -static_cast<std::ptrdiff_t>(blocks))) return false;
  for (; at + step <= size; at += step)
    if (!copy_step<reads>(to + at, from + at)) return false;
  return copy_step<reads>(to + size - step, from + size - step);
}
#endif
}  // namespace

#if CAUGHT_ACCESSES
bool has_wide_copies() { return __builtin_cpu_supports("avx") != 0; }

[[gnu::target("avx")]] bool read_wide(std::span<std::uint8_t> to, const std::byte* from, std::size_t ahead_bytes) {
  return copy_wide<true>(to.data(), reinterpret_cast<const std::uint8_t*>(from), to.size(), ahead_bytes);
}

[[gnu::target("avx")]] bool place_wide(std::byte* to, std::span<const std::uint8_t> from, std::size_t ahead_bytes) {
  const std::size_t body = from.size() - sizeof(std::uint64_t);
  return copy_wide<false>(reinterpret_cast<std::uint8_t*>(to), from.data(), body, ahead_bytes) &&
         place_few(to + body, from.subspan(body));
}
#else
bool has_wide_copies() { return false; }
bool read_wide(std::span<std::uint8_t>, const std::byte*, std::size_t) { return false; }
bool place_wide(std::byte*, std::span<const std::uint8_t>, std::size_t) { return false; }
#endif

void place(std::byte* to, std::span<const std::uint8_t> from) {
  place_ending_in<std::uint64_t>(to, from) || place_ending_in<std::uint32_t>(to, from) ||
      place_ending_in<std::uint16_t>(to, from) || place_ending_in<std::uint8_t>(to, from);
}

bool read_few(std::span<std::uint8_t> to, const std::byte* from) {
  bool there = true;
  for (std::size_t at = 0; there && at < to.size();) {
    const auto read = [&](auto word) {
      if (!caught::load(from + at, word)) return false;
      std::memcpy(to.data() + at, &word, sizeof word);
      return true;
    };
    at += largest_word(reinterpret_cast<std::uintptr_t>(from + at), to.size() - at, there, read);
  }
  return there;
}

// Upwards, in the largest words that end where they may: the last one is the last aligned one, and each is a release.
bool place_few(std::byte* to, std::span<const std::uint8_t> from) {
  bool there = true;
  for (std::size_t at = 0; there && at < from.size();) {
    const auto write = [&](auto word) {
      std::memcpy(&word, from.data() + at, sizeof word);
      return caught::store(to + at, word);
    };
    at += largest_word(reinterpret_cast<std::uintptr_t>(to + at), from.size() - at, there, write);
  }
  return there;
}

}  // namespace vi::consumer_memory
