// Records in a buffer, without a socket: what is whole comes out whole, wherever in the memory it lies.
#include "fc2_fabric/drivers/record_buffer.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

namespace fc2::drivers {
namespace {
using Bytes = std::vector<std::uint8_t>;

Bytes copy_of(std::span<const std::uint8_t> bytes) { return {bytes.begin(), bytes.end()}; }

// --- bytes

class ByteQueueTest : public testing::Test {
 protected:
  void add(std::size_t count, std::size_t least_room = 0) {
    const auto room = queue.room_for(std::max(count, least_room));
    for (std::size_t i = 0; i < count; ++i) room[i] = next_in++;
    queue.added(count);
  }
  void take(std::size_t count) {
    for (const std::uint8_t byte : queue.content().first(count)) ASSERT_EQ(byte, next_out++);
    queue.taken(count);
  }
  ByteQueue queue{100};
  std::uint8_t next_in = 0, next_out = 0;
};

// All of its room can be used, and is told.
TEST_F(ByteQueueTest, empty_filled_has_no_room) {
  EXPECT_EQ(queue.room(), 100U);
  add(100);
  EXPECT_EQ(queue.room(), 0U);
  EXPECT_EQ(queue.size(), 100U);
  take(100);
  EXPECT_EQ(queue.room(), 100U);
}

// The room left lies before what is queued: that moves, and stays in one piece and in order.
TEST_F(ByteQueueTest, nearly_at_the_end_wraps_around) {
  add(90);
  take(60);
  add(65);
  EXPECT_EQ(queue.size(), 95U);
  take(95);
}

// No byte moves while there is room behind.
TEST_F(ByteQueueTest, room_behind_moves_nothing) {
  add(90);
  take(60);
  const std::uint8_t* before = queue.content().data();
  add(10);
  EXPECT_EQ(queue.content().data(), before);
  add(0, 60);
  EXPECT_NE(queue.content().data(), before);
  take(40);
}

// Ten thousand steps of chance: nothing lost, nothing out of order.
TEST_F(ByteQueueTest, chance_steps_keep_the_order) {
  std::mt19937 chance(3);
  for (int i = 0; i < 10'000; ++i) {
    add(chance() % (queue.room() + 1));
    take(chance() % (queue.size() + 1));
  }
  take(queue.size());
}

// --- out and in again

class RecordBufferTest : public testing::Test {
 protected:
  static constexpr std::size_t capacity = 3 * max_record_bytes;
  /// A frame that says its number all over.
  FramePtr make(std::uint8_t number, std::size_t size = max_frame_bytes, bool in_place = true) {
    FramePtr frame = pool.take();
    if (in_place) writer.lend_place(*frame);
    frame->size_bytes = static_cast<std::uint16_t>(size);
    frame->sof = wire::Sof::i3;
    frame->eof = wire::Eof::t;
    std::fill_n(frame->bytes.begin(), size, number);
    return frame;
  }
  /// All that waits goes to the reader, at most `most` bytes at a time.
  void carry(std::size_t most = capacity) {
    while (!writer.empty()) {
      const auto room = reader.room();
      const auto bytes = writer.waiting();
      const std::size_t count = std::min({most, room.size(), bytes.size()});
      std::copy_n(bytes.begin(), count, room.begin());
      writer.sent(count);
      reader.filled(count);
      read();
    }
  }
  void read() {
    while (const auto record = reader.next()) {
      if (record->header.kind != RecordKind::Frame) {
        texts.emplace_back(record->body.begin(), record->body.end());
        continue;
      }
      const FramePtr frame = reader.frame_of(*record, pool);
      frames.push_back(copy_of(frame->content()));
      EXPECT_EQ(frame->sof, wire::Sof::i3);
      EXPECT_EQ(frame->eof, wire::Eof::t);
    }
  }
  /// Into the reader as they are.
  void feed(const Bytes& bytes) {
    std::copy(bytes.begin(), bytes.end(), reader.room().begin());
    reader.filled(bytes.size());
  }

  FramePool pool;
  RecordWriter writer{capacity};
  RecordReader reader{capacity};
  std::vector<Bytes> frames;
  std::vector<std::string> texts;
};

Bytes text(std::string_view value) { return {value.begin(), value.end()}; }

// The source writes behind the record's header; nothing is copied.
TEST_F(RecordBufferTest, frame_is_made_where_it_is_sent_from) {
  const FramePtr frame = make(5, 64);
  const std::uint8_t* at = frame->bytes.data();
  writer.add(*frame);
  ASSERT_EQ(writer.waiting().size(), record_header_bytes + 64);
  EXPECT_EQ(writer.waiting().data() + record_header_bytes, at);
  EXPECT_EQ(frame->lender, nullptr);
  carry();
  EXPECT_EQ(frames, (std::vector<Bytes>{Bytes(64, 5)}));
}

// One that was made elsewhere is copied into its record.
TEST_F(RecordBufferTest, frame_from_elsewhere_is_copied) {
  const FramePtr frame = make(6, 28, false);
  writer.add(*frame);
  carry();
  EXPECT_EQ(frames, (std::vector<Bytes>{Bytes(28, 6)}));
}

// Another record comes first: the frame that was begun leaves its place, and follows it whole.
TEST_F(RecordBufferTest, frame_begun_another_record_comes_first) {
  const FramePtr begun = make(1, 40);
  const FramePtr other = make(2, 40);  // one place at a time
  EXPECT_EQ(other->lender, nullptr);
  writer.add(*other);
  EXPECT_EQ(begun->lender, nullptr);
  writer.add(*begun);
  const FramePtr third = make(3, 40);
  writer.add(RecordKind::Reply, text("word"));
  writer.add(*third);
  carry();
  EXPECT_EQ(frames, (std::vector<Bytes>{Bytes(40, 2), Bytes(40, 1), Bytes(40, 3)}));
  EXPECT_EQ(texts, (std::vector<std::string>{"word"}));
}

// All that waits was sent meanwhile, or is given up: the frame that was begun has its bytes.
TEST_F(RecordBufferTest, frame_begun_all_else_is_sent) {
  writer.add(*make(1, 40));
  FramePtr begun = make(2, 40);
  carry();
  writer.add(*begun);
  begun = make(3, 40);
  writer.clear();
  EXPECT_TRUE(writer.empty());
  writer.add(*begun);
  carry();
  EXPECT_EQ(frames, (std::vector<Bytes>{Bytes(40, 1), Bytes(40, 3)}));
}

// A frame that nobody sends leaves no trace.
TEST_F(RecordBufferTest, frame_begun_given_up) {
  make(1).reset();
  EXPECT_TRUE(writer.empty());
  writer.add(*make(2, 24));
  carry();
  EXPECT_EQ(frames, (std::vector<Bytes>{Bytes(24, 2)}));
}

// Full: no place, no room; when some was sent there is again, at the other end of the memory.
TEST_F(RecordBufferTest, full_buffer_lends_no_place) {
  std::uint8_t number = 0;
  while (writer.has_room()) writer.add(*make(number++));
  EXPECT_LT(writer.room(), max_record_bytes);
  EXPECT_GE(number, 2);
  EXPECT_EQ(make(0)->lender, nullptr);
  carry(max_record_bytes);
  EXPECT_TRUE(writer.has_room());
  EXPECT_EQ(frames.size(), number);
  for (std::uint8_t i = 0; i < number; ++i) EXPECT_EQ(frames[i], Bytes(max_frame_bytes, i));
}

// Every size at every place: what waits moves to the beginning while a frame is about to be made.
TEST_F(RecordBufferTest, wrap_around_loses_and_reorders_nothing) {
  std::mt19937 chance(5);
  std::vector<Bytes> expected;
  for (int i = 0; i < 5000; ++i) {
    while (writer.has_room() && chance() % 4 != 0) {
      const auto number = static_cast<std::uint8_t>(chance());
      const std::size_t size = 24 + 4 * (chance() % 529);
      writer.add(*make(number, size, chance() % 8 != 0));
      expected.emplace_back(size, number);
    }
    const std::size_t count = std::min<std::size_t>(chance() % 6000, writer.waiting().size());
    const auto room = reader.room();
    ASSERT_GE(room.size(), count);
    std::copy_n(writer.waiting().begin(), count, room.begin());
    writer.sent(count);
    reader.filled(count);
    read();
  }
  carry();
  EXPECT_EQ(frames, expected);
}

// Byte by byte: a record comes when its last byte is here, not before.
TEST_F(RecordBufferTest, partial_record_waits_for_the_rest) {
  writer.add(RecordKind::Reply, text("abc"));
  writer.add(RecordKind::Done, {});
  const Bytes bytes = copy_of(writer.waiting());
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    feed({bytes[i]});
    read();
    EXPECT_EQ(texts.size(), i + 1 == bytes.size() ? 2U : i + 1 >= record_header_bytes + 3 ? 1U : 0U) << i;
    EXPECT_EQ(reader.fault(), nullptr);
  }
  EXPECT_EQ(texts, (std::vector<std::string>{"abc", ""}));
  EXPECT_TRUE(reader.empty());
}

// The largest record of another kind passes; what its header says is longer is a fault at once, without its body.
TEST_F(RecordBufferTest, over_long_record_is_a_fault) {
  writer.add(RecordKind::Reply, Bytes(max_record_body_bytes, 'x'));
  carry();
  EXPECT_EQ(texts.at(0).size(), max_record_body_bytes);
  feed({static_cast<std::uint8_t>(RecordKind::Reply), 0, 0, 0, 0, 0, 0x10, 1});
  EXPECT_FALSE(reader.next());
  EXPECT_STREQ(reader.fault(), "a record that is too long");
  EXPECT_FALSE(reader.next());
}
TEST_F(RecordBufferTest, over_long_frame_is_a_fault) {
  feed({static_cast<std::uint8_t>(RecordKind::Frame), 0x2E, 0x42, 0, 0, 0, 0x08, 0x5C});
  EXPECT_FALSE(reader.next());
  EXPECT_STREQ(reader.fault(), "a frame that is too long");
}

// What comes is looked at where it is; who keeps it has a copy when the place is needed.
TEST_F(RecordBufferTest, received_frame_stands_in_the_buffer_until_it_is_needed) {
  writer.add(*make(1, 48));
  writer.add(*make(2, 48));
  const Bytes bytes = copy_of(writer.waiting());
  feed(bytes);
  const auto record = reader.next();
  ASSERT_TRUE(record);
  const FramePtr kept = reader.frame_of(*record, pool);
  EXPECT_EQ(kept->bytes.data(), record->body.data());
  reader.take_back();
  EXPECT_EQ(kept->lender, nullptr);
  std::fill(record->body.begin(), record->body.end(), std::uint8_t{0});
  EXPECT_EQ(copy_of(kept->content()), Bytes(48, 1));
  read();
  EXPECT_EQ(frames, (std::vector<Bytes>{Bytes(48, 2)}));
}

// Room for more is asked for, or the next frame comes, while one stands: it keeps its bytes.
TEST_F(RecordBufferTest, received_frame_kept_place_is_used_again) {
  for (std::uint8_t number = 1; number <= 3; ++number) writer.add(*make(number, 48));
  feed(copy_of(writer.waiting()));
  const FramePtr first = reader.frame_of(*reader.next(), pool);
  const FramePtr second = reader.frame_of(*reader.next(), pool);
  EXPECT_EQ(first->lender, nullptr);
  feed(Bytes(2, 9));
  EXPECT_EQ(second->lender, nullptr);
  EXPECT_EQ(copy_of(first->content()), Bytes(48, 1));
  EXPECT_EQ(copy_of(second->content()), Bytes(48, 2));
}

}  // namespace
}  // namespace fc2::drivers
