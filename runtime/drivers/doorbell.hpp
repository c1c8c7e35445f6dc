// How other processes wake this one when they have written to memory that it shares with them.
//
// Two words, each in memory of its own. `attention` is written by the owner alone: whether some thread of the owner
// looks at its memory, or all sleep; and beside it, on which core the one that looks does so. Others cannot write it,
// so that none of them can keep the rest from waking the owner. `rung` is counted up by whoever rings, and is the word
// on which the owner sleeps.
//
//   owner                                        who has written something
//     rung = fall_asleep()                         publish it
//     if (nothing was written) wait(word, rung)    ring()
//     awake()
//
// Either the owner sees what was written, or the writer sees that the owner sleeps: no wake-up is lost among honest
// processes. One that has mapped `rung` can spoil the wake-ups of others (take the sleeper off that word, turn it
// back); who rang sees that the owner sleeps on (unanswered()), and tells it by another way.
//
// An owner with many places to look at wants notes: then who has written leaves one, too, and the owner looks where
// notes are. They lie beside `rung`, so that others can take them off: before it sleeps the owner looks everywhere.
#pragma once
#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>

#include "runtime/drivers/fence.hpp"
#include "runtime/drivers/shared_memory.hpp"

namespace runtime::drivers {

/// What is handed to other processes.
struct DoorbellDescriptors {
  Descriptor attention, rung;
  explicit operator bool() const { return attention && rung; }
};

/// The owner's side: one for each process. One thread at a time calls fall_asleep() and awake(), one at a time what
/// concerns notes.
class Doorbell {
 public:
  static constexpr std::size_t size_bytes = 4096;  // of each memory
  static constexpr unsigned group_count = 128, notes_of_a_group = 64;
  static constexpr unsigned no_note = group_count * notes_of_a_group;

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

  /// Any thread of the owner that begins to look at its memory: the core on which it does, -1 for none.
  void look_from(int core) {
    Core& place = core_of(attention_);
    if (place.load(std::memory_order_relaxed) != core + 1) place.store(core + 1, std::memory_order_relaxed);
  }
  /// Any thread: that of the process which was written to last, as its PeerDoorbell told.
  [[nodiscard]] int peer_core() const { return peer_core_.load(std::memory_order_relaxed); }
  void set_peer_core(int core) { peer_core_.store(core, std::memory_order_relaxed); }

  /// The notes `group * notes_of_a_group` and so on are the caller's. Nothing: all are given.
  [[nodiscard]] std::optional<unsigned> take_group();
  void give_back_group(unsigned group) { groups_taken_[group] = false; }
  /// Notes are wanted from here on, until as many calls say that they are not. What was written before has none.
  void want_notes(bool want);
  /// Takes the notes of a group, a bit each. What was written before them is visible.
  [[nodiscard]] std::uint64_t take_notes(unsigned group);

 private:
  friend class PeerDoorbell;
  using Word = std::atomic<std::uint32_t>;
  using Notes = std::atomic<std::uint64_t>;
  using Core = std::atomic<std::int32_t>;  // one more than its number, so that new memory says none
  // Of attention; the rest counts the sleeps.
  static constexpr std::uint32_t asleep = 1, wants_notes = 2, one_sleep = 4;
  static constexpr std::size_t notes_offset = 64, core_offset = sizeof(Word);
  static_assert(notes_offset + group_count * sizeof(Notes) <= size_bytes);

  Doorbell(SharedMemory attention, SharedMemory rung) : attention_(std::move(attention)), rung_(std::move(rung)) {}
  [[nodiscard]] Word& attention() { return *reinterpret_cast<Word*>(attention_.data()); }
  [[nodiscard]] static Core& core_of(const SharedMemory& attention) {
    return *reinterpret_cast<Core*>(attention.data() + core_offset);
  }
  [[nodiscard]] static Notes& notes(const SharedMemory& rung, unsigned group) {
    return reinterpret_cast<Notes*>(rung.data() + notes_offset)[group];
  }

  SharedMemory attention_, rung_;
  bool groups_taken_[group_count] = {};
  unsigned wanting_ = 0;
  std::atomic<int> peer_core_{-1};
};

/// Another process's.
class PeerDoorbell {
 public:
  PeerDoorbell() = default;
  /// Nothing: these descriptors are no doorbell.
  static PeerDoorbell map(const DoorbellDescriptors& descriptors);
  explicit operator bool() const { return static_cast<bool>(attention_); }
  /// That the owner gave for what is written here. Any that it has not leaves none.
  void set_note(unsigned note) { note_ = note < Doorbell::no_note ? note : Doorbell::no_note; }
  /// After something was written: wakes the owner if it sleeps, once each time, and leaves a note where it wants one. A
  /// fence, a load, and a system call only if it sleeps. True: it was woken.
  bool ring() {
    full_fence();
    const std::uint32_t attention = this->attention(std::memory_order_relaxed);
    return (attention & (Doorbell::asleep | Doorbell::wants_notes)) != 0 && ring(attention);
  }
  /// On which core the owner looked last, -1 when it never did. Any value, where the owner lies.
  [[nodiscard]] int core() const {
    const std::int32_t place = Doorbell::core_of(attention_).load(std::memory_order_relaxed);
    return place > 0 ? place - 1 : -1;
  }
  /// It was woken, and still is in the same sleep.
  [[nodiscard]] bool unanswered() const { return rung_for_ != 0 && attention(std::memory_order_relaxed) == rung_for_; }

 private:
  using Word = std::atomic<std::uint32_t>;
  [[nodiscard]] std::uint32_t attention(std::memory_order order) const {
    return reinterpret_cast<const Word*>(attention_.data())->load(order);
  }
  bool ring(std::uint32_t attention);

  SharedMemory attention_, rung_;
  unsigned note_ = Doorbell::no_note;
  std::uint32_t rung_for_ = 0;  // the state of attention in which it was rung last
};

}  // namespace runtime::drivers
