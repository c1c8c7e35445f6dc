// How other processes wake this one when they have written to memory that it shares with them.
//
// Two words, each in memory of its own. `attention` is written by the owner alone: even while some thread of the owner
// looks at its memory, odd while all sleep. Others cannot write it, so that none of them can keep the rest from waking
// the owner. `rung` is counted up by whoever rings, and is the word on which the owner sleeps.
//
//   owner                                        who has written something
//     rung = fall_asleep()                         publish it
//     if (nothing was written) wait(word, rung)    ring()
//     awake()
//
// Either the owner sees what was written, or the writer sees that the owner sleeps: no wake-up is lost.
#pragma once
#include <atomic>
#include <cstdint>
#include <memory>

#include "runtime/drivers/shared_memory.hpp"

namespace runtime::drivers {

/// What is handed to other processes.
struct DoorbellDescriptors {
  Descriptor attention, rung;
  explicit operator bool() const { return attention && rung; }
};

/// The owner's side: one for each process. One thread at a time calls fall_asleep() and awake().
class Doorbell {
 public:
  static constexpr std::size_t size_bytes = 4096;  // of each memory

  /// nullptr: the system has no memory or descriptor left.
  static std::unique_ptr<Doorbell> make();

  [[nodiscard]] DoorbellDescriptors descriptors() const {
    return {attention_.descriptor().duplicate(), rung_.descriptor().duplicate()};
  }
  /// From here on writers ring. Gives what word() must still be for the sleep to begin.
  [[nodiscard]] std::uint32_t fall_asleep();
  void awake();
  /// Any thread of the owner: ends its sleep.
  void ring_self();
  [[nodiscard]] const std::atomic<std::uint32_t>& word() const { return *reinterpret_cast<Word*>(rung_.data()); }

 private:
  using Word = std::atomic<std::uint32_t>;
  Doorbell(SharedMemory attention, SharedMemory rung) : attention_(std::move(attention)), rung_(std::move(rung)) {}

  SharedMemory attention_, rung_;
  std::uint32_t state_ = 0;  // of attention
};

/// Another process's.
class PeerDoorbell {
 public:
  PeerDoorbell() = default;
  /// Nothing: these descriptors are no doorbell.
  static PeerDoorbell map(const DoorbellDescriptors& descriptors);
  explicit operator bool() const { return static_cast<bool>(attention_); }
  /// After something was written: wakes the owner if it sleeps, once each time. A fence, a load, and a system call only
  /// if it sleeps.
  void ring();

 private:
  using Word = std::atomic<std::uint32_t>;
  void wake(std::uint32_t attention);

  SharedMemory attention_, rung_;
  std::uint32_t rung_for_ = 0;  // the state of attention in which it was rung last
};

}  // namespace runtime::drivers
