// What is left to do behind code in assembly that used the wide vector registers.
#pragma once

namespace wire {

/// ISA-L's CRCs leave the upper halves of the registers as they were (no VZEROUPPER, seen in 2.30 with AVX-512). Then
/// each SSE instruction behind them, the compiler's and the C library's, waits for those halves: on an Intel Xeon a CRC
/// of 2,136 bytes and what follows took 250 to 300 ns instead of 45 (tests/bench/README.md, FCoE).
inline void clear_upper_halves() noexcept {
#ifdef __x86_64__
  if (__builtin_cpu_supports("avx"))
    asm volatile("vzeroupper" ::
                     : "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7", "xmm8", "xmm9", "xmm10", "xmm11",
                       "xmm12", "xmm13", "xmm14", "xmm15");
#endif
}

}  // namespace wire
