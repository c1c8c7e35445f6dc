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
  state_ |= 1;
  reinterpret_cast<Word*>(attention_.data())->store(state_);
  std::atomic_thread_fence(std::memory_order_seq_cst);
  return rung;
}

void Doorbell::ring_self() {
  Word& rung = *reinterpret_cast<Word*>(rung_.data());
  rung.fetch_add(1);
  wake_all(rung);
}

void Doorbell::awake() { reinterpret_cast<Word*>(attention_.data())->store(++state_); }

PeerDoorbell PeerDoorbell::map(const DoorbellDescriptors& descriptors) {
  using Access = SharedMemory::Access;
  PeerDoorbell peer;
  SharedMemory rung = SharedMemory::map(descriptors.rung, Doorbell::size_bytes, Access::ReadWrite);
  if (!rung) return peer;
  peer.attention_ = SharedMemory::map(descriptors.attention, Doorbell::size_bytes, Access::ReadOnly);
  peer.rung_ = std::move(rung);
  return peer;
}

void PeerDoorbell::ring() {
  std::atomic_thread_fence(std::memory_order_seq_cst);
  const std::uint32_t attention = reinterpret_cast<const Word*>(attention_.data())->load(std::memory_order_relaxed);
  if ((attention & 1) != 0 && attention != rung_for_) [[unlikely]]
    wake(attention);
}

void PeerDoorbell::wake(std::uint32_t attention) {
  rung_for_ = attention;
  Word& rung = *reinterpret_cast<Word*>(rung_.data());
  rung.fetch_add(1);
  wake_all(rung);
}

}  // namespace runtime::drivers
