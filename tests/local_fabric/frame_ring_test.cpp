// The rings between two processes, with threads standing in for them, and with a far end that does what it may not.
#include "fc2_fabric/drivers/frame_ring.hpp"

#include <gtest/gtest.h>

#include <cstring>
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

TEST_F(FrameRingTest, threads_lose_nothing) { pass_frames(near.outbound(), far.inbound()); }
// In one mapping, where ThreadSanitizer sees that both touch the same memory: a slot's bytes are the writer's or the
// reader's, never both's.
TEST_F(FrameRingTest, threads_race_nowhere) { pass_frames(near.outbound(), near.outbound()); }

}  // namespace
}  // namespace fc2::drivers
