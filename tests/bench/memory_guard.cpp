// What it costs that registered memory may be gone: plain copies beside guarded ones and beside the kernel's,
// in one run.
#include <benchmark/benchmark.h>
#include <sys/uio.h>
#include <unistd.h>

#include <array>
#include <cstring>

#include "vipl/engine/memory_faults.hpp"

namespace {

constexpr std::size_t most_bytes = 65536, frame_bytes = 2048;
std::array<std::byte, most_bytes> from, to;

struct Piece {
  std::size_t at, size;
};
void copy(void* context) {
  const auto& piece = *static_cast<const Piece*>(context);
  std::memcpy(to.data() + piece.at, from.data() + piece.at, piece.size);
}

/// A message, frame by frame.
template <class Move>
void run(benchmark::State& state, Move move) {
  const auto size = static_cast<std::size_t>(state.range(0));
  for (auto _ : state) {
    for (std::size_t at = 0; at < size; at += frame_bytes) {
      Piece piece{at, std::min(size, frame_bytes)};
      if (!move(piece)) state.SkipWithError("the memory is there");
      benchmark::ClobberMemory();
    }
  }
}

void plain(benchmark::State& state) {
  run(state, [](Piece& piece) {
    copy(&piece);
    return true;
  });
}
void guarded(benchmark::State& state) {
  const vi::MemoryGuard* guard = &vipl::memory_faults();
  benchmark::DoNotOptimize(guard);
  run(state, [guard](Piece& piece) { return guard->run(to.data() + piece.at, piece.size, copy, &piece); });
}
void by_the_kernel(benchmark::State& state) {
  run(state, [](Piece& piece) {
    iovec there{from.data() + piece.at, piece.size}, here{to.data() + piece.at, piece.size};
    return process_vm_readv(getpid(), &here, 1, &there, 1, 0) == static_cast<ssize_t>(piece.size);
  });
}

BENCHMARK(plain)->Arg(8)->Arg(most_bytes);
BENCHMARK(guarded)->Arg(8)->Arg(most_bytes);
BENCHMARK(by_the_kernel)->Arg(8)->Arg(most_bytes);

}  // namespace

BENCHMARK_MAIN();
