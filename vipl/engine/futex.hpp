// Sleeps on a 32-bit word and wakes sleepers: the basis of the library's locks and event counts.
#pragma once
#include <atomic>
#include <cstdint>

#include "runtime/scheduler.hpp"

namespace vipl {
using runtime::TimeNs;

/// Sleeps while `word` is `expected`, at most until `deadline` (CLOCK_MONOTONIC; runtime::never: for ever). May return
/// early for no reason. False: the deadline came.
bool futex_wait(const std::atomic<std::uint32_t>& word, std::uint32_t expected, TimeNs deadline = runtime::never);
/// Sleeps while `shared`, a word that other processes wake too, is as expected, and `word`. A kernel that cannot wait
/// for two waits for the first alone.
void futex_wait_shared(const std::atomic<std::uint32_t>& shared, std::uint32_t shared_expected,
                       const std::atomic<std::uint32_t>& word, std::uint32_t expected);
/// Sleeps while both words are as expected. `other_is_shared`: other processes wake it. A kernel that cannot wait for
/// two (before Linux 5.16) waits for the first alone, a millisecond at most.
bool futex_wait_either(const std::atomic<std::uint32_t>& word, std::uint32_t expected,
                       const std::atomic<std::uint32_t>& other, std::uint32_t other_expected, bool other_is_shared,
                       TimeNs deadline);
void futex_wake_one(const std::atomic<std::uint32_t>& word);
void futex_wake_all(const std::atomic<std::uint32_t>& word);

/// CLOCK_MONOTONIC, the clock of all deadlines.
TimeNs monotonic_now();
/// The same as the system's last tick saw it, some milliseconds ago: without reading the processor's clock, which takes
/// four times as long, more in a virtual machine.
TimeNs monotonic_tick();

}  // namespace vipl
