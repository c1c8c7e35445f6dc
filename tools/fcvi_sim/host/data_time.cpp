#include "tools/fcvi_sim/host/data_time.hpp"

#include <time.h>

#include <algorithm>

namespace sim {
namespace {
thread_local Clocks spent;

std::chrono::nanoseconds read_clock(clockid_t clock) {
  timespec time{};
  ::clock_gettime(clock, &time);
  return std::chrono::seconds(time.tv_sec) + std::chrono::nanoseconds(time.tv_nsec);
}

/// Of reading the clocks once, at least: the processor's is asked of the system, a microsecond and more.
Clocks reading_time() {
  Clocks least{std::chrono::seconds(1), std::chrono::seconds(1)};
  Clocks before = Clocks::now();
  for (int i = 0; i < 16; ++i) {
    const Clocks now = Clocks::now();
    least = {std::min(least.real, now.real - before.real), std::min(least.processor, now.processor - before.processor)};
    before = now;
  }
  return least;
}
}  // namespace

Clocks Clocks::now() { return {read_clock(CLOCK_MONOTONIC), read_clock(CLOCK_PROCESS_CPUTIME_ID)}; }

Clocks time_spent_on_data() { return spent; }

OnData::OnData(std::size_t size_bytes) {
  if (size_bytes >= least_bytes) begin_ = Clocks::now();
}

OnData::~OnData() {
  if (!begin_) return;
  static const Clocks reading = reading_time();
  spent = spent + (Clocks::now() - *begin_) + reading;  // half of the first, and half of the second
}

}  // namespace sim
