#include "vipl/engine/futex.hpp"

#include <linux/futex.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>

namespace vipl {
namespace {

static_assert(sizeof(std::atomic<std::uint32_t>) == sizeof(std::uint32_t));
static_assert(std::atomic<std::uint32_t>::is_always_lock_free);

long futex(const std::atomic<std::uint32_t>& word, int operation, std::uint32_t value, const timespec* until) {
  return syscall(SYS_futex, &word, operation | FUTEX_PRIVATE_FLAG, value, until, nullptr, FUTEX_BITSET_MATCH_ANY);
}

timespec to_timespec(TimeNs time) {
  timespec converted{};
  converted.tv_sec = static_cast<time_t>(time / runtime::second);
  converted.tv_nsec = static_cast<long>(time % runtime::second);
  return converted;
}

}  // namespace

static long wait_for_both(const std::atomic<std::uint32_t>& word, std::uint32_t expected,
                          const std::atomic<std::uint32_t>& other, std::uint32_t other_expected, bool other_is_shared,
                          const timespec* until) {
  const auto address = [](const auto& of) { return reinterpret_cast<std::uintptr_t>(&of); };
  futex_waitv both[2] = {
      {expected, address(word), FUTEX_32 | FUTEX_PRIVATE_FLAG, 0},
      {other_expected, address(other), other_is_shared ? std::uint32_t{FUTEX_32} : FUTEX_32 | FUTEX_PRIVATE_FLAG, 0}};
  return syscall(SYS_futex_waitv, both, 2, 0, until, CLOCK_MONOTONIC);
}

void futex_wait_shared(const std::atomic<std::uint32_t>& shared, std::uint32_t shared_expected,
                       const std::atomic<std::uint32_t>& word, std::uint32_t expected) {
  const long result = wait_for_both(word, expected, shared, shared_expected, true, nullptr);
  if (result < 0 && (errno == ENOSYS || errno == EPERM))
    syscall(SYS_futex, &shared, FUTEX_WAIT, shared_expected, nullptr, nullptr, 0);
}

bool futex_wait_either(const std::atomic<std::uint32_t>& word, std::uint32_t expected,
                       const std::atomic<std::uint32_t>& other, std::uint32_t other_expected, bool other_is_shared,
                       TimeNs deadline) {
  const timespec until = to_timespec(deadline);
  const long result = wait_for_both(word, expected, other, other_expected, other_is_shared,
                                    deadline == runtime::never ? nullptr : &until);
  if (result >= 0 || (errno != ENOSYS && errno != EPERM)) return result >= 0 || errno != ETIMEDOUT;
  const TimeNs soon = monotonic_now() + runtime::millisecond;
  return futex_wait(word, expected, std::min(soon, deadline)) || soon < deadline;
}

bool futex_wait(const std::atomic<std::uint32_t>& word, std::uint32_t expected, TimeNs deadline) {
  const timespec until = to_timespec(deadline);
  // FUTEX_WAIT_BITSET takes an absolute time, of CLOCK_MONOTONIC.
  const long result = futex(word, FUTEX_WAIT_BITSET, expected, deadline == runtime::never ? nullptr : &until);
  return result == 0 || errno != ETIMEDOUT;
}

void futex_wake_one(const std::atomic<std::uint32_t>& word) { futex(word, FUTEX_WAKE, 1, nullptr); }
void futex_wake_all(const std::atomic<std::uint32_t>& word) { futex(word, FUTEX_WAKE, INT_MAX, nullptr); }

static TimeNs read_clock(clockid_t clock) {
  timespec now{};
  clock_gettime(clock, &now);
  return static_cast<TimeNs>(now.tv_sec) * runtime::second + now.tv_nsec;
}

TimeNs monotonic_now() { return read_clock(CLOCK_MONOTONIC); }
TimeNs monotonic_tick() { return read_clock(CLOCK_MONOTONIC_COARSE); }

}  // namespace vipl
