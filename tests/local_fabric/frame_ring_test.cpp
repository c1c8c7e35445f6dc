// The rings between two processes, with threads standing in for them, and with a far end that does what it may not.
#include "fc2_fabric/drivers/frame_ring.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <random>
#include <thread>

namespace fc2::drivers {
namespace {
using runtime::drivers::Descriptor;
using runtime::drivers::SharedMemory;

constexpr std::uint32_t slots = 64;

class FrameRingTest : public testing::Test {
 public:
  FrameRingTest()
      : memory_(SharedMemory::make(RingPair::size_bytes(slots))), descriptor_(memory_.descriptor().duplicate()),
        near(std::move(memory_), slots, 0),
        far(SharedMemory::map(descriptor_, RingPair::size_bytes(slots), SharedMemory::Access::ReadWrite), slots, 1) {}

 private:
  SharedMemory memory_;
  Descriptor descriptor_;

 public:
  RingPair near, far;
};

void write(RingWriter& writer, std::uint32_t value, std::uint16_t size_bytes = 32) {
  std::memset(writer.place().data(), 0, size_bytes);
  std::memcpy(writer.place().data() + frame_header_bytes, &value, sizeof value);
  writer.publish(size_bytes, wire::Sof::i3, wire::Eof::t);
}

std::uint32_t value_of(const RingReader::Slot& slot) {
  std::uint32_t value = 0;
  std::memcpy(&value, slot.bytes.data() + frame_header_bytes, sizeof value);
  return value;
}

// What is written is read, with its delimiters, and each direction by itself.
TEST_F(FrameRingTest, written_is_read) {
  RingWriter writer(near.outbound()), back(far.outbound());
  RingReader reader(far.inbound()), answers(near.inbound());
  EXPECT_FALSE(reader.ready());
  write(writer, 7, 64);
  ASSERT_TRUE(reader.ready());
  EXPECT_FALSE(answers.ready());
  const auto slot = reader.next();
  ASSERT_TRUE(slot);
  EXPECT_EQ(value_of(*slot), 7U);
  EXPECT_EQ(slot->size_bytes, 64);
  EXPECT_EQ(slot->sof, wire::Sof::i3);
  EXPECT_EQ(slot->eof, wire::Eof::t);
  EXPECT_FALSE(reader.ready());
  write(back, 8);
  EXPECT_TRUE(answers.ready());
}

// Credit: as many frames as slots; those that are given back can be written again, round after round.
TEST_F(FrameRingTest, full_until_slots_are_given_back) {
  RingWriter writer(near.outbound());
  RingReader reader(far.inbound());
  std::uint32_t written = 0, read = 0;
  for (int round = 0; round < 5; ++round) {
    while (writer.room() != 0) write(writer, written++);
    EXPECT_EQ(written - read, slots);
    while (reader.ready()) EXPECT_EQ(value_of(*reader.next()), read++);
    EXPECT_EQ(read, written);
    EXPECT_EQ(writer.room(), 0U) << "not given back yet";
    EXPECT_FALSE(reader.release()) << "nobody waits";
  }
}

// Those that are there one behind another, round the end of the memory too, and no more than are asked for.
TEST_F(FrameRingTest, frames_that_are_ready_are_counted) {
  RingWriter writer(near.outbound());
  RingReader reader(far.inbound());
  EXPECT_EQ(reader.count_ready(16), 0U);
  for (std::uint32_t round = 0; round != slots; ++round) {
    for (std::uint32_t i = 0; i != 3; ++i) write(writer, i);
    EXPECT_EQ(reader.count_ready(16), 3U);
    EXPECT_EQ(reader.count_ready(2), 2U);
    for (std::uint32_t i = 0; i != 3; ++i) EXPECT_EQ(value_of(*reader.next()), i);
    static_cast<void>(reader.release());
    EXPECT_NE(writer.room(slots), 0U);
  }
  while (writer.room() != 0) write(writer, 0);
  EXPECT_EQ(reader.count_ready(slots), slots);
}

// A writer that waits is told once; one that finds room at once does not wait.
TEST_F(FrameRingTest, waiting_writer_is_told) {
  RingWriter writer(near.outbound());
  RingReader reader(far.inbound());
  EXPECT_TRUE(writer.want_room(1));
  while (writer.room() != 0) write(writer, 0);
  EXPECT_FALSE(writer.want_room(1));
  static_cast<void>(reader.next());
  EXPECT_TRUE(reader.release());
  EXPECT_TRUE(writer.want_room(1));
  static_cast<void>(reader.next());
  EXPECT_FALSE(reader.release());
}

// The end comes behind the last frame.
TEST_F(FrameRingTest, over_when_all_was_read) {
  RingWriter writer(near.outbound());
  RingReader reader(far.inbound());
  write(writer, 1);
  writer.end();
  EXPECT_FALSE(reader.is_over());
  static_cast<void>(reader.next());
  EXPECT_TRUE(reader.is_over());
}

// A hostile writer: lengths and delimiters that no frame has. Each is passed over, and what follows is read.
TEST_F(FrameRingTest, slot_that_is_no_frame_is_passed_over) {
  RingWriter writer(near.outbound());
  RingReader reader(far.inbound());
  RingSlot* const at = near.outbound().slots;
  const struct {
    std::uint16_t size_bytes;
    std::uint8_t sof, eof;
  } wrong[] = {{0, 0x2E, 0x42},     {20, 0x2E, 0x42}, {26, 0x2E, 0x42}, {2140, 0x2E, 0x42},
               {65535, 0x2E, 0x42}, {32, 0, 0x42},    {32, 0x2E, 0}};
  std::size_t number = 0;
  for (const auto& slot : wrong) {
    write(writer, 0);
    at[number].size_bytes = slot.size_bytes;
    at[number].sof = slot.sof;
    at[number++].eof = slot.eof;
  }
  write(writer, 9);
  for (std::size_t i = 0; i < number; ++i) {
    ASSERT_TRUE(reader.ready());
    EXPECT_FALSE(reader.next()) << i;
  }
  ASSERT_TRUE(reader.ready());
  EXPECT_EQ(value_of(*reader.next()), 9U);
}

// A hostile reader: it gives back slots that it never had, or takes some back. The writer stops, and stays so.
TEST_F(FrameRingTest, impossible_count_stops_the_writer) {
  for (const std::uint32_t count : {5U, 0xFFFFFFFFU, 0x80000000U}) {
    RingWriter writer(near.outbound());
    for (int i = 0; i < 4; ++i) write(writer, 0);
    near.outbound().header->given_back.store(count);
    EXPECT_EQ(writer.room(slots), 0U) << count;
    EXPECT_TRUE(writer.is_broken());
    near.outbound().header->given_back.store(4);
    EXPECT_EQ(writer.room(slots), 0U);
    near.outbound().header->given_back.store(0);
  }
}

/// A run of `frames` with `data_bytes` each, all of `value`.
void write_run(RingWriter& writer, std::uint32_t frames, std::size_t data_bytes, std::uint8_t value) {
  std::memset(writer.place().data(), value, run_header_bytes);
  const auto data = writer.run_place(frames, data_bytes);
  ASSERT_EQ(data.size(), frames * data_bytes);
  std::memset(data.data(), value, data.size());
  writer.publish_run(static_cast<std::uint16_t>(run_header_bytes + data_bytes), frames);
}

// A run takes the credit of its frames, stands in one slot, and ends where the memory does; the room beside it is no
// other's.
TEST_F(FrameRingTest, run_takes_a_slot_for_each_frame) {
  RingWriter writer(near.outbound());
  RingReader reader(far.inbound());
  std::uint8_t value = 0;
  for (std::uint32_t at = 0; at < 10 * slots;) {
    const std::uint32_t before = writer.room(slots);
    const std::uint32_t frames = writer.run_room(7, 0);
    EXPECT_EQ(frames, std::min(7U, slots - at % slots)) << at;
    write_run(writer, frames, run_data_bytes, ++value);
    write(writer, value, max_frame_bytes);
    EXPECT_EQ(writer.room(slots), before - frames - 1);
    const auto run = reader.next();
    ASSERT_TRUE(run);
    EXPECT_EQ(run->run_frames, frames);
    EXPECT_EQ(run->size_bytes, max_frame_bytes);
    EXPECT_TRUE(run->sof == wire::Sof::n3 && run->eof == wire::Eof::n);
    EXPECT_EQ(run->bytes[run_header_bytes - 1], value);
    ASSERT_EQ(reader.data_of(*run).size(), frames * run_data_bytes);
    for (const std::uint8_t octet : reader.data_of(*run)) ASSERT_EQ(octet, value);
    ASSERT_TRUE(reader.ready());
    const auto single = reader.next();
    EXPECT_EQ(value_of(*single), value);
    EXPECT_FALSE(single->is_run());
    EXPECT_FALSE(reader.ready());
    static_cast<void>(reader.release());
    at += frames + 1;
  }
}

// Some slots are left over where there are so many; else one frame goes, if any can.
TEST_F(FrameRingTest, run_leaves_slots_over) {
  RingWriter writer(near.outbound());
  EXPECT_EQ(writer.run_room(100, 15), max_run_frames);
  for (std::uint32_t i = 0; i < slots - 20; ++i) write(writer, i);
  EXPECT_EQ(writer.run_room(100, 15), 5U);
  for (int i = 0; i < 5; ++i) write(writer, 0);
  EXPECT_EQ(writer.run_room(100, 15), 1U);
  for (int i = 0; i < 15; ++i) write(writer, 0);
  EXPECT_EQ(writer.run_room(100, 15), 0U);
}

// A hostile writer: no frames, more than there may be or than lie before the end of the memory, no data in them.
TEST_F(FrameRingTest, slot_that_is_no_run_is_passed_over) {
  RingWriter writer(near.outbound());
  RingReader reader(far.inbound());
  RingSlot* const at = near.outbound().slots;
  constexpr std::uint16_t size_bytes = max_frame_bytes;
  const struct {
    std::uint32_t index;
    std::uint16_t size_bytes;
    std::uint8_t frames;
  } wrong[] = {{0, size_bytes, 0},        {1, size_bytes, max_run_frames + 1},
               {2, size_bytes, 255},      {3, run_header_bytes, 2},
               {4, size_bytes + 4, 2},    {5, size_bytes - 1, 2},
               {slots - 2, size_bytes, 3}};
  std::uint32_t written = 0;
  for (const auto& slot : wrong) {
    for (; written != slot.index; ++written) write(writer, 0), static_cast<void>(reader.next());
    write_run(writer, 1, run_data_bytes, 1);
    at[written].size_bytes = slot.size_bytes;
    at[written++].eof = slot.frames;
    ASSERT_TRUE(reader.ready());
    EXPECT_FALSE(reader.peek(0));
    EXPECT_FALSE(reader.next()) << slot.index;
    EXPECT_FALSE(reader.ready());
  }
  write(writer, 9);
  ASSERT_TRUE(reader.ready());
  EXPECT_EQ(value_of(*reader.next()), 9U);
}

// A hostile writer: any field of a slot, at any place. What the reader gives lies within slots and slab, and it stays
// in step: behind as many slots as it took.
TEST_F(FrameRingTest, any_slot_stays_within_the_memory) {
  RingReader reader(far.inbound());
  const RingView own = near.outbound(), seen = far.inbound();
  std::mt19937 chance(15);
  const auto one_of = [&](std::initializer_list<std::uint32_t> usual) {
    return chance() % 8 == 0 ? chance() : usual.begin()[chance() % usual.size()];
  };
  int runs = 0, frames = 0, none = 0;
  std::uint32_t read = 0;
  for (int i = 0; i != 20'000; ++i) {
    RingSlot& slot = own.slots[read & (slots - 1)];
    slot.size_bytes = static_cast<std::uint16_t>(one_of({24, 32, 56, 60, 100, max_frame_bytes, max_frame_bytes + 4}));
    slot.sof = static_cast<std::uint8_t>(one_of({run_mark, run_mark, 0x2E, 0x36}));
    slot.eof = static_cast<std::uint8_t>(one_of({0, 1, 2, max_run_frames, max_run_frames + 1, 0x41, 0x42}));
    slot.turn.store(read + 1);
    ASSERT_TRUE(reader.ready());
    const auto found = reader.next();
    ++(!found ? none : found->is_run() ? runs : frames);
    read += found && found->is_run() ? found->run_frames : 1;
    ASSERT_EQ(reader.unreleased(), found && found->is_run() ? found->run_frames : 1U);
    static_cast<void>(reader.release());
    ASSERT_EQ(own.header->given_back.load(), read);
    if (!found) continue;
    ASSERT_LE(found->size_bytes, max_frame_bytes);
    ASSERT_GE(found->size_bytes, found->is_run() ? run_header_bytes + 1 : frame_header_bytes);
    if (!found->is_run()) continue;
    const auto data = reader.data_of(*found);
    ASSERT_GE(data.data(), seen.slab);
    ASSERT_LE(data.data() + data.size(), seen.slab + slots * slab_share_bytes);
  }
  EXPECT_GT(std::min({runs, frames, none}), 1000);
}

// Memory of another size, or that may shrink, is not mapped; a ring has a power of two of slots.
TEST(SharedMemory, what_is_not_as_agreed_is_refused) {
  const SharedMemory memory = SharedMemory::make(8192);
  ASSERT_TRUE(memory);
  EXPECT_TRUE(SharedMemory::map(memory.descriptor(), 8192, SharedMemory::Access::ReadWrite));
  EXPECT_FALSE(SharedMemory::map(memory.descriptor(), 4096, SharedMemory::Access::ReadWrite));
  EXPECT_FALSE(SharedMemory::map(Descriptor(), 8192, SharedMemory::Access::ReadWrite));
  EXPECT_FALSE(SharedMemory::map(Descriptor(::dup(0)), 8192, SharedMemory::Access::ReadOnly));
  const SharedMemory guarded = SharedMemory::make(4096, true);
  EXPECT_FALSE(SharedMemory::map(guarded.descriptor(), 4096, SharedMemory::Access::ReadWrite));
  EXPECT_TRUE(SharedMemory::map(guarded.descriptor(), 4096, SharedMemory::Access::ReadOnly));
  for (const std::uint32_t count : {0U, 1U, 32U, 65U, 96U, RingPair::max_slots * 2})
    EXPECT_FALSE(RingPair::is_slot_count(count)) << count;
  EXPECT_TRUE(RingPair::is_slot_count(64));
}

/// Two threads, many frames of all lengths: each comes once, whole and in order.
void pass_frames(RingView to_write, RingView to_read) {
  constexpr std::uint32_t frames = 200'000;
  std::thread other([&] {
    RingWriter writer(to_write);
    for (std::uint32_t i = 0; i < frames; ++i) {
      while (writer.room() == 0) std::this_thread::yield();
      const auto size = static_cast<std::uint16_t>(frame_header_bytes + 4 + 4 * (i % 520));
      std::memset(writer.place().data(), static_cast<int>(i & 0xFF), size);
      std::memcpy(writer.place().data() + frame_header_bytes, &i, sizeof i);
      writer.publish(size, wire::Sof::n3, wire::Eof::n);
    }
    writer.end();
  });
  RingReader reader(to_read);
  std::uint32_t expected = 0, wrong = 0;
  while (!reader.is_over()) {
    if (!reader.ready()) {
      std::this_thread::yield();
      continue;
    }
    const auto slot = reader.next();
    ASSERT_TRUE(slot);
    const bool right =
        value_of(*slot) == expected && slot->size_bytes == frame_header_bytes + 4 + 4 * (expected % 520) &&
        slot->bytes[0] == (expected & 0xFF) &&
        (slot->size_bytes == frame_header_bytes + 4 || slot->bytes[slot->size_bytes - 1U] == (expected & 0xFF));
    wrong += right ? 0 : 1;
    if (++expected % 16 == 0) static_cast<void>(reader.release());
  }
  other.join();
  EXPECT_EQ(expected, frames);
  EXPECT_EQ(wrong, 0U);
}

/// Runs of changing lengths between two threads: all whole and in order.
void pass_runs(RingView to_write, RingView to_read) {
  constexpr std::uint32_t runs = 20'000;
  std::thread other([&] {
    RingWriter writer(to_write);
    for (std::uint32_t i = 0; i < runs; ++i) {
      std::uint32_t frames = 0;
      while ((frames = writer.run_room(1 + i % 20, 0)) == 0) std::this_thread::yield();
      write_run(writer, frames, 64, static_cast<std::uint8_t>(i));
    }
    writer.end();
  });
  RingReader reader(to_read);
  std::uint32_t expected = 0, wrong = 0;
  while (!reader.is_over()) {
    if (!reader.ready()) {
      std::this_thread::yield();
      continue;
    }
    const auto run = reader.next();
    ASSERT_TRUE(run && run->is_run());
    const auto data = reader.data_of(*run);
    const auto value = static_cast<std::uint8_t>(expected++);
    wrong += run->bytes[0] != value || std::any_of(data.begin(), data.end(), [&](auto octet) { return octet != value; })
                 ? 1
                 : 0;
    static_cast<void>(reader.release());
  }
  other.join();
  EXPECT_EQ(expected, runs);
  EXPECT_EQ(wrong, 0U);
}

/// A frame, or every third time a run, of `i`. Pre: room for two.
void write_any(RingWriter& writer, std::uint32_t i) {
  if (i % 3 != 0) return write(writer, i);
  write_run(writer, writer.run_room(2 + i % 7, 1), 256, static_cast<std::uint8_t>(i));
}

/// What write_any() wrote.
bool is_as_written(RingReader& reader, const RingReader::Slot& slot, std::uint32_t i) {
  if (slot.is_run() != (i % 3 == 0)) return false;
  if (!slot.is_run()) return value_of(slot) == i;
  const auto data = reader.data_of(slot);
  return std::all_of(data.begin(), data.end(), [&](auto octet) { return octet == static_cast<std::uint8_t>(i); });
}

/// As the crossbar does: those that are there are counted, single ones looked at one behind another and taken together.
/// How many were not the next one, or not whole.
std::uint32_t read_all_there(RingReader& reader, std::uint32_t& expected) {
  std::uint32_t wrong = 0;
  const std::uint32_t there = reader.count_ready(16);
  for (std::uint32_t count = 0; count < there;) {
    std::uint32_t ahead = 0;
    for (; count + ahead < there; ++ahead) {
      const auto single = reader.peek(ahead);
      if (!single) break;
      wrong += is_as_written(reader, *single, expected++) ? 0 : 1;
    }
    reader.take(ahead);
    count += ahead;
    if (ahead != 0) continue;
    const auto slot = reader.next();  // a run, which is the last one of those that were counted; or at the memory's end
    wrong += slot && is_as_written(reader, *slot, expected++) ? 0 : 1;
    ++count;
  }
  return wrong;
}

/// Single frames and runs between two threads. The writer waits for room until it is told.
void pass_all_kinds(RingView to_write, RingView to_read) {
  constexpr std::uint32_t pieces = 20'000;
  std::atomic<bool> told{false};
  std::thread other([&] {
    RingWriter writer(to_write);
    for (std::uint32_t i = 0; i < pieces; ++i) {
      while (writer.room(2) < 2 && !writer.want_room(2))
        while (!told.exchange(false, std::memory_order_relaxed)) std::this_thread::yield();
      write_any(writer, i);
    }
    writer.end();
  });
  RingReader reader(to_read);
  std::uint32_t expected = 0, wrong = 0;
  while (!reader.is_over()) {
    wrong += read_all_there(reader, expected);
    if (reader.release()) told.store(true, std::memory_order_relaxed);
    if (!reader.ready()) std::this_thread::yield();
  }
  other.join();
  EXPECT_EQ(expected, pieces);
  EXPECT_EQ(wrong, 0U);
}

TEST_F(FrameRingTest, threads_lose_nothing_of_all_kinds) { pass_all_kinds(near.outbound(), far.inbound()); }
TEST_F(FrameRingTest, threads_race_in_no_kind) { pass_all_kinds(near.outbound(), near.outbound()); }
TEST_F(FrameRingTest, threads_lose_no_run) { pass_runs(near.outbound(), far.inbound()); }
TEST_F(FrameRingTest, threads_race_in_no_run) { pass_runs(near.outbound(), near.outbound()); }
TEST_F(FrameRingTest, threads_lose_nothing) { pass_frames(near.outbound(), far.inbound()); }
// In one mapping, where ThreadSanitizer sees that both touch the same memory: a slot's bytes are the writer's or the
// reader's, never both's.
TEST_F(FrameRingTest, threads_race_nowhere) { pass_frames(near.outbound(), near.outbound()); }

}  // namespace
}  // namespace fc2::drivers
