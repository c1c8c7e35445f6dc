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

// Who rings learns on which core the owner looks, and never more than that it does not know.
TEST(Doorbell, peers_see_where_the_owner_looks) {
  const auto bell = Doorbell::make();
  const PeerDoorbell peer = PeerDoorbell::map(bell->descriptors());
  EXPECT_EQ(peer.core(), -1);
  EXPECT_EQ(bell->peer_core(), -1);
  for (const int core : {0, 1, 1023, -1}) {
    bell->look_from(core);
    EXPECT_EQ(peer.core(), core);
    bell->set_peer_core(core);
    EXPECT_EQ(bell->peer_core(), core);
  }
}

// Descriptors that are no doorbell are refused.
TEST(Doorbell, other_memory_is_no_doorbell) {
  const auto bell = Doorbell::make();
  const SharedMemory small = SharedMemory::make(64);
  EXPECT_FALSE(PeerDoorbell::map({Descriptor(), Descriptor()}));
  EXPECT_FALSE(PeerDoorbell::map({bell->descriptors().attention, small.descriptor().duplicate()}));
  EXPECT_FALSE(PeerDoorbell::map({small.descriptor().duplicate(), bell->descriptors().rung}));
}

/// Each number is rung for; every third waits until it was read.
void count_up(PeerDoorbell& peer, std::uint32_t last, std::atomic<std::uint32_t>& written,
              const std::atomic<std::uint32_t>& read) {
  for (std::uint32_t i = 1; i <= last; ++i) {
    written.store(i, std::memory_order_release);
    peer.ring();
    while (i % 3 == 0 && read.load() < i) std::this_thread::yield();
  }
}

// A writer counts up and rings; a sleeper that saw the old count sleeps. Were one wake-up lost, it would sleep for
// ever.
TEST(Doorbell, no_wake_up_is_lost) {
  constexpr std::uint32_t messages = 20'000;
  const auto bell = Doorbell::make();
  std::atomic<std::uint32_t> written{0}, read{0};
  std::thread writer([&] {
    PeerDoorbell peer = PeerDoorbell::map(bell->descriptors());
    count_up(peer, messages, written, read);
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

// Rung and not awake since: the owner was woken, and nobody saw it. Another sleep is another matter.
TEST(Doorbell, unanswered_until_the_owner_is_awake) {
  const auto bell = Doorbell::make();
  PeerDoorbell peer = PeerDoorbell::map(bell->descriptors());
  EXPECT_FALSE(peer.ring());
  EXPECT_FALSE(peer.unanswered());
  static_cast<void>(bell->fall_asleep());
  EXPECT_FALSE(peer.unanswered());
  EXPECT_TRUE(peer.ring());
  EXPECT_FALSE(peer.ring());
  EXPECT_TRUE(peer.unanswered());
  bell->awake();
  EXPECT_FALSE(peer.unanswered());
  static_cast<void>(bell->fall_asleep());
  EXPECT_FALSE(peer.unanswered());
}

// --- notes

// Only where the owner wants them, and of those who have one: taken once, by group.
TEST(DoorbellNotes, are_left_where_they_are_wanted) {
  const auto bell = Doorbell::make();
  const unsigned group = *bell->take_group(), next = *bell->take_group();
  PeerDoorbell one = PeerDoorbell::map(bell->descriptors()), none = PeerDoorbell::map(bell->descriptors());
  one.set_note(next * Doorbell::notes_of_a_group + 5);
  none.set_note(Doorbell::no_note + 3);
  EXPECT_FALSE(one.ring());
  EXPECT_EQ(bell->take_notes(next), 0U);
  bell->want_notes(true);
  EXPECT_FALSE(one.ring());
  EXPECT_FALSE(one.ring());
  EXPECT_FALSE(none.ring());
  EXPECT_EQ(bell->take_notes(group), 0U);
  EXPECT_EQ(bell->take_notes(next), 1U << 5);
  EXPECT_EQ(bell->take_notes(next), 0U);
  static_cast<void>(bell->fall_asleep());
  EXPECT_TRUE(one.ring());
  EXPECT_EQ(bell->take_notes(next), 1U << 5);
  bell->want_notes(false);
  one.ring();
  EXPECT_EQ(bell->take_notes(next), 0U);
}

// Groups are given once, and again when they were given back, without the notes of who had them.
TEST(DoorbellNotes, groups_are_given_once) {
  const auto bell = Doorbell::make();
  for (unsigned group = 0; group < Doorbell::group_count; ++group) EXPECT_EQ(bell->take_group(), group);
  EXPECT_FALSE(bell->take_group());
  bell->want_notes(true);
  PeerDoorbell peer = PeerDoorbell::map(bell->descriptors());
  peer.set_note(7 * Doorbell::notes_of_a_group);
  peer.ring();
  bell->give_back_group(7);
  EXPECT_EQ(bell->take_group(), 7U);
  EXPECT_EQ(bell->take_notes(7), 0U);
}

// No note is lost: an owner that found none and sleeps is woken.
TEST(DoorbellNotes, none_is_lost) {
  constexpr std::uint32_t messages = 20'000;
  const auto bell = Doorbell::make();
  const unsigned group = *bell->take_group();
  bell->want_notes(true);
  std::atomic<std::uint32_t> written{0}, read{0};
  std::thread writer([&] {
    PeerDoorbell peer = PeerDoorbell::map(bell->descriptors());
    peer.set_note(group * Doorbell::notes_of_a_group);
    count_up(peer, messages, written, read);
  });
  while (read.load() < messages) {
    const std::uint32_t before = bell->fall_asleep();
    const bool noted = bell->take_notes(group) != 0;
    if (!noted) ::syscall(SYS_futex, &bell->word(), FUTEX_WAIT, before, nullptr, nullptr, 0);
    bell->awake();
    if (noted || bell->take_notes(group) != 0) read.store(written.load(std::memory_order_acquire));
  }
  writer.join();
  EXPECT_EQ(read.load(), messages);
}

}  // namespace
}  // namespace runtime::drivers
