// What the checksums leave behind in the processor: the upper halves of its vector registers are not in use.
#include <gtest/gtest.h>

#ifdef __x86_64__
#include <cpuid.h>

#include <array>
#include <cstdint>

#include "wire/crc.hpp"
#include "wire/iwarp/crc.hpp"

namespace wire {
namespace {

bool can_tell() {
  unsigned a = 0, b = 0, c = 0, d = 0;
  if (__get_cpuid_count(1, 0, &a, &b, &c, &d) == 0 || (c & bit_OSXSAVE) == 0 || (c & bit_AVX) == 0) return false;
  return __get_cpuid_count(0xD, 1, &a, &b, &c, &d) != 0 && (a & 4) != 0;  // XGETBV with ECX 1: what is in use
}

bool upper_halves_in_use() {
  std::uint32_t low = 0, high = 0;
  asm volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(1));
  return (low & 4) != 0;
}

void use_upper_halves() { asm volatile("vpcmpeqd %%ymm9, %%ymm9, %%ymm9" ::: "xmm9"); }

TEST(VectorRegisters, checksum_leaves_no_upper_halves_in_use) {
  // 2,136 bytes: the C library's and the compiler's SSE instructions behind it would wait for them.
  if (!can_tell() || !__builtin_cpu_supports("avx2")) GTEST_SKIP() << "the processor does not tell what is in use";
  asm volatile("vzeroupper" ::: "xmm0");
  const bool before = upper_halves_in_use();
  use_upper_halves();
  const bool used = upper_halves_in_use();
  asm volatile("vzeroupper" ::: "xmm0");
  if (before || !used) GTEST_SKIP() << "the processor does not follow what is in use";
  static std::array<std::uint8_t, 2136> bytes{1, 2, 3};
  use_upper_halves();
  [[maybe_unused]] volatile std::uint32_t crc = crc32(bytes);
  EXPECT_FALSE(upper_halves_in_use());
  use_upper_halves();
  crc = iwarp::crc32c(Bytes(bytes));
  EXPECT_FALSE(upper_halves_in_use());
}

}  // namespace
}  // namespace wire
#endif
