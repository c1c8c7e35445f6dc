#include "runtime/drivers/doorbell.hpp"

#include <linux/futex.h>
#include <sys/syscall.h>

#include <climits>
#include <utility>

namespace runtime::drivers {
static_assert(sizeof(std::atomic<std::uint32_t>) == sizeof(std::uint32_t));
static_assert(std::atomic<std::uint32_t>::is_always_lock_free);

static void wake_all(std::atomic<std::uint32_t>& word) {
  ::syscall(SYS_futex, &word, FUTEX_WAKE, INT_MAX, nullptr, nullptr, 0);
}

std::unique_ptr<Doorbell> Doorbell::make() {
  SharedMemory attention = SharedMemory::make(size_bytes, true);
  SharedMemory rung = SharedMemory::make(size_bytes);
  if (!attention || !rung) return nullptr;
  return std::unique_ptr<Doorbell>(new Doorbell(std::move(attention), std::move(rung)));
}

std::uint32_t Doorbell::fall_asleep() {
  const std::uint32_t rung = word().load();
  attention().fetch_or(asleep);
  full_fence();
  return rung;
}

void Doorbell::awake() {
  if ((attention().load(std::memory_order_relaxed) & asleep) != 0) attention().fetch_add(one_sleep - asleep);
}

void Doorbell::ring_self() {
  Word& rung = *reinterpret_cast<Word*>(rung_.data());
  rung.fetch_add(1);
  wake_all(rung);
}

// --- notes -------------------------------------------------------------------------------------------------------

std::optional<unsigned> Doorbell::take_group() {
  for (unsigned group = 0; group < group_count; ++group) {
    if (groups_taken_[group]) continue;
    groups_taken_[group] = true;
    notes(rung_, group).store(0);  // of who had it before
    return group;
  }
  return std::nullopt;
}

void Doorbell::want_notes(bool want) {
  if (want && wanting_++ == 0) attention().fetch_or(wants_notes);
  if (!want && --wanting_ == 0) attention().fetch_and(~wants_notes);
  full_fence();
}

std::uint64_t Doorbell::take_notes(unsigned group) {
  if (notes(rung_, group).load(std::memory_order_relaxed) == 0) return 0;
  const std::uint64_t taken = notes(rung_, group).exchange(0);
  full_fence();  // a writer that found its note still here wrote before this
  return taken;
}

// --- another process's -------------------------------------------------------------------------------------------

PeerDoorbell PeerDoorbell::map(const DoorbellDescriptors& descriptors) {
  using Access = SharedMemory::Access;
  PeerDoorbell peer;
  SharedMemory rung = SharedMemory::map(descriptors.rung, Doorbell::size_bytes, Access::ReadWrite);
  if (!rung) return peer;
  peer.attention_ = SharedMemory::map(descriptors.attention, Doorbell::size_bytes, Access::ReadOnly);
  peer.rung_ = std::move(rung);
  return peer;
}

// The owner falls asleep and then takes the notes; here the note comes first.
bool PeerDoorbell::ring(std::uint32_t attention) {
  if ((attention & Doorbell::wants_notes) != 0 && note_ != Doorbell::no_note) {
    Doorbell::Notes& notes = Doorbell::notes(rung_, note_ / Doorbell::notes_of_a_group);
    const std::uint64_t note = std::uint64_t{1} << note_ % Doorbell::notes_of_a_group;
    if ((notes.load() & note) == 0) notes.fetch_or(note);
    full_fence();
    attention = this->attention(std::memory_order_relaxed);
  }
  if ((attention & Doorbell::asleep) == 0 || attention == rung_for_) return false;
  rung_for_ = attention;
  Word& rung = *reinterpret_cast<Word*>(rung_.data());
  rung.fetch_add(1);
  wake_all(rung);
  return true;
}

}  // namespace runtime::drivers
