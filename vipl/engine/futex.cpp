#include "vipl/engine/futex.hpp"

#include <linux/futex.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <cerrno>
#include <climits>

namespace vipl {
namespace {

static_assert(sizeof(std::atomic<std::uint32_t>) == sizeof(std::uint32_t));
static_assert(std::atomic<std::uint32_t>::is_always_lock_free);

long futex(const std::atomic<std::uint32_t>& word, int operation, std::uint32_t value, const timespec* until) {
  return syscall(SYS_futex, &word, operation | FUTEX_PRIVATE_FLAG, value, until, nullptr, FUTEX_BITSET_MATCH_ANY);
}

}  // namespace

bool futex_wait(const std::atomic<std::uint32_t>& word, std::uint32_t expected, TimeNs deadline) {
  timespec until{};
  until.tv_sec = static_cast<time_t>(deadline / runtime::second);
  until.tv_nsec = static_cast<long>(deadline % runtime::second);
  // FUTEX_WAIT_BITSET takes an absolute time, of CLOCK_MONOTONIC.
  const long result = futex(word, FUTEX_WAIT_BITSET, expected, deadline == runtime::never ? nullptr : &until);
  return result == 0 || errno != ETIMEDOUT;
}

void futex_wake_one(const std::atomic<std::uint32_t>& word) { futex(word, FUTEX_WAKE, 1, nullptr); }
void futex_wake_all(const std::atomic<std::uint32_t>& word) { futex(word, FUTEX_WAKE, INT_MAX, nullptr); }

TimeNs monotonic_now() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<TimeNs>(now.tv_sec) * runtime::second + now.tv_nsec;
}

}  // namespace vipl
