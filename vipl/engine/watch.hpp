// Who sleeps at the doorbell: the word on which other processes wake this one when they have written to memory that it
// shares with them (runtime/drivers/doorbell.hpp).
//
// The thread that waits for something sleeps there itself, so that a message costs one wake-up and no thread between.
// Of several threads that wait one does, the others follow when it leaves. Where no call waits a thread of the library
// makes sure that what arrives is found all the same (RDMA into a program that makes no call):
//
//   while calls come (`Engine::take_looked`)   it looks once in a tick (2 ms) whether they still do
//   none came for a tick                       it sleeps at the doorbell, until a call wants to, or looks itself
//   a call sleeps there for many ticks         it sleeps, too, until that call leaves
//
// So in an idle process no thread runs.
#pragma once
#include <atomic>
#include <cstdint>

#include "runtime/drivers/doorbell.hpp"
#include "vipl/engine/engine.hpp"
#include "vipl/engine/event_count.hpp"

namespace vipl {

class Watch {
 public:
  /// Both live as long as the process.
  Watch(Engine& engine, runtime::drivers::Doorbell& doorbell) : engine_(engine), doorbell_(doorbell) {}
  Watch(const Watch&) = delete;
  Watch& operator=(const Watch&) = delete;

  /// As Runtime::wait(); returns early when there is input, which the caller then reads. Without the engine's lock.
  bool wait(EventCount& point, std::uint32_t key, TimeNs deadline);
  /// Body of the library's thread.
  [[noreturn]] void run();

 private:
  bool sleep_at_doorbell(EventCount& point, std::uint32_t key, TimeNs deadline);
  void leave();
  void call_back_thread();
  void kick();
  void watch_in_thread();
  void park();

  Engine& engine_;
  runtime::drivers::Doorbell& doorbell_;
  /// Who sleeps at the doorbell, or is about to. Each arrow is one atomic step:
  ///
  ///   Nobody -> Call -> Nobody                     wait(), leave()
  ///   Nobody -> Thread -> Nobody                   watch_in_thread(), leave()
  ///             Thread -> ThreadToLeave -> Nobody  a call wants the place: call_back_thread()
  enum class Sleeper : std::uint8_t { Nobody, Call, Thread, ThreadToLeave };
  [[nodiscard]] bool begin_as(Sleeper sleeper);

  std::atomic<Sleeper> sleeper_{Sleeper::Nobody};
  std::atomic<bool> parked_{false};  // the library's thread waits for kick_
  std::atomic<std::uint32_t> kick_{0}, follow_{0};
  std::atomic<std::uint32_t> leave_{0};  // the library's thread leaves; no other process reaches this word
  std::atomic<std::uint32_t> followers_{0};
};

}  // namespace vipl
