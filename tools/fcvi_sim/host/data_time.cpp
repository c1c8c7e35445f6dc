#include "tools/fcvi_sim/host/data_time.hpp"

#include <time.h>

namespace sim {
namespace {
thread_local Clocks spent;

std::chrono::nanoseconds read_clock(clockid_t clock) {
  timespec time{};
  ::clock_gettime(clock, &time);
  return std::chrono::seconds(time.tv_sec) + std::chrono::nanoseconds(time.tv_nsec);
}
}  // namespace

Clocks Clocks::now() { return {read_clock(CLOCK_MONOTONIC), read_clock(CLOCK_PROCESS_CPUTIME_ID)}; }

Clocks time_spent_on_data() { return spent; }

OnData::OnData(std::size_t size_bytes) {
  if (size_bytes >= least_bytes) begin_ = Clocks::now();
}

OnData::~OnData() {
  if (begin_) spent = spent + (Clocks::now() - *begin_);
}

}  // namespace sim
