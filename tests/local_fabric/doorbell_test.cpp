// How one process wakes another: no wake-up is lost, and none is made while the other is awake.
#include "runtime/drivers/doorbell.hpp"

#include <gtest/gtest.h>
#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <thread>

namespace runtime::drivers {
namespace {

std::uint32_t rung(const Doorbell& bell) { return bell.word().load(); }

// Awake: not a system call, not even a count. Asleep: once, until it was awake again.
TEST(Doorbell, rings_once_for_each_sleep) {
  const auto bell = Doorbell::make();
  ASSERT_NE(bell, nullptr);
  PeerDoorbell peer = PeerDoorbell::map(bell->descriptors());
  ASSERT_TRUE(peer);
  peer.ring();
  EXPECT_EQ(rung(*bell), 0U);
  EXPECT_EQ(bell->fall_asleep(), 0U);
  peer.ring();
  peer.ring();
  EXPECT_EQ(rung(*bell), 1U);
  bell->awake();
  peer.ring();
  EXPECT_EQ(rung(*bell), 1U);
  EXPECT_EQ(bell->fall_asleep(), 1U);
  peer.ring();
  EXPECT_EQ(rung(*bell), 2U);
}

// Each peer rings for itself: what one did does not keep another from it.
TEST(Doorbell, every_peer_rings) {
  const auto bell = Doorbell::make();
  PeerDoorbell one = PeerDoorbell::map(bell->descriptors()), other = PeerDoorbell::map(bell->descriptors());
  static_cast<void>(bell->fall_asleep());
  one.ring();
  other.ring();
  EXPECT_EQ(rung(*bell), 2U);
}

// Descriptors that are no doorbell are refused.
TEST(Doorbell, other_memory_is_no_doorbell) {
  const auto bell = Doorbell::make();
  const SharedMemory small = SharedMemory::make(64);
  EXPECT_FALSE(PeerDoorbell::map({Descriptor(), Descriptor()}));
  EXPECT_FALSE(PeerDoorbell::map({bell->descriptors().attention, small.descriptor().duplicate()}));
  EXPECT_FALSE(PeerDoorbell::map({small.descriptor().duplicate(), bell->descriptors().rung}));
}

// A writer counts up and rings; a sleeper that saw the old count sleeps. Were one wake-up lost, it would sleep for
// ever.
TEST(Doorbell, no_wake_up_is_lost) {
  constexpr std::uint32_t messages = 20'000;
  const auto bell = Doorbell::make();
  std::atomic<std::uint32_t> written{0}, read{0};
  std::thread writer([&] {
    PeerDoorbell peer = PeerDoorbell::map(bell->descriptors());
    for (std::uint32_t i = 1; i <= messages; ++i) {
      written.store(i, std::memory_order_release);
      peer.ring();
      while (i % 3 == 0 && read.load() < i) std::this_thread::yield();
    }
  });
  while (read.load() < messages) {
    const std::uint32_t before = bell->fall_asleep();
    if (written.load(std::memory_order_acquire) == read.load())
      ::syscall(SYS_futex, &bell->word(), FUTEX_WAIT, before, nullptr, nullptr, 0);
    bell->awake();
    read.store(written.load(std::memory_order_acquire));
  }
  writer.join();
  EXPECT_EQ(read.load(), messages);
}

}  // namespace
}  // namespace runtime::drivers
