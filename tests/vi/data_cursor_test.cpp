// Data segments (VI-DG 5.4) walked in pieces of any size, and memory placed for readers that poll (wild 8).
#include "vi/data_cursor.hpp"

#include <array>
#include <cstring>
#include <thread>

#include "tests/vi/bench.hpp"
#include "vi/consumer_memory.hpp"

namespace vi::testing {
namespace {

DataCursor cursor(Bench& bench, const Posted& posted, Ptag tag = {}) {
  return {bench.nic.memory(), tag, bench.arena_handle, posted.address() + sizeof(ControlSegment),
          posted.control().segment_count};
}
std::string gathered(DataCursor& walk, std::size_t length) {
  std::string text(length, '?');
  EXPECT_TRUE(walk.gather({reinterpret_cast<std::uint8_t*>(text.data()), length}));
  return text;
}
std::span<const std::uint8_t> bytes_of(std::string_view text) {
  return {reinterpret_cast<const std::uint8_t*>(text.data()), text.size()};
}

TEST(Cursor, segments_gather_odd_pieces) {
  // VI-ARCH 6.1.1.1: any lengths and alignments, empty segments between.
  Bench bench;
  const auto posted = bench.descriptor(
      0, 0,
      {bench.segment(bench.allocate("a")), bench.segment(bench.allocate("")), bench.segment(bench.allocate("bcdef")),
       bench.segment(bench.allocate("ghi")), bench.segment(bench.allocate(""))});
  for (std::size_t piece = 1; piece != 10; ++piece) {
    DataCursor walk = cursor(bench, posted);
    std::string all;
    while (all.size() < 9) all += gathered(walk, std::min(piece, 9 - all.size()));
    EXPECT_EQ(all, "abcdefghi") << piece;
  }
}

TEST(Cursor, segments_scatter_odd_pieces) {
  // VI-ARCH 6.1.1.1: data go in order, and not past what came.
  for (std::size_t piece = 1; piece != 10; ++piece) {
    Bench bench;
    const Piece first = bench.allocate(2, 1), second = bench.allocate(5, 1), third = bench.allocate(4, 1);
    const auto posted = bench.descriptor(0, 0, {bench.segment(first), bench.segment(second), bench.segment(third)});
    DataCursor walk = cursor(bench, posted);
    const std::string_view text = "abcdefghi";
    for (std::size_t at = 0; at < text.size(); at += piece) EXPECT_TRUE(walk.scatter(bytes_of(text.substr(at, piece))));
    EXPECT_EQ(first.text(), "ab");
    EXPECT_EQ(second.text(), "cdefg");
    EXPECT_EQ(third.text(), std::string_view("hi\0\0", 4));
  }
}

/// All that a window shows.
std::string text_of(const DataCursor::Window& window) {
  std::string text;
  for (const auto piece : window.pieces()) text.append(reinterpret_cast<const char*>(piece.data()), piece.size());
  return text;
}

TEST(Cursor, peek_showsHostMemory_consumeMovesByWhatWasMoved) {
  // VI-ARCH 6.1.1.1: a system call that moves any number of the bytes that it was given; empty segments between.
  Bench bench;
  const auto posted = bench.descriptor(
      0, 0,
      {bench.segment(bench.allocate("a")), bench.segment(bench.allocate("")), bench.segment(bench.allocate("bcdef")),
       bench.segment(bench.allocate("ghi")), bench.segment(bench.allocate(""))});
  for (std::size_t shown = 1; shown != 11; ++shown) {
    for (std::size_t moved = 1; moved <= shown; ++moved) {
      DataCursor walk = cursor(bench, posted);
      std::string all;
      while (all.size() < 9) {
        const DataCursor::Window window = walk.peek(shown, Access::Local);
        EXPECT_EQ(window.bytes(), std::min(shown, 9 - all.size()));
        EXPECT_EQ(text_of(window), text_of(walk.peek(shown, Access::Local)));  // it does not move
        const std::size_t bytes = std::min<std::size_t>(moved, window.bytes());
        all += text_of(window).substr(0, bytes);
        walk.consume(window, bytes);
      }
      EXPECT_EQ(all, "abcdefghi") << shown << " " << moved;
      EXPECT_EQ(walk.peek(1, Access::Local).bytes(), 0u);
    }
  }
}

TEST(Cursor, peek_tellsWhereItEnds) {
  // VI-ARCH 3.2.1: what comes before the end of the segments, or before memory that is not allowed, is shown.
  Bench bench;
  Segment wrong = bench.segment(bench.allocate("xy"));
  wrong.handle ^= 1;
  const auto good = bench.descriptor(0, 0, {bench.segment(bench.allocate("abc"))});
  const auto bad = bench.descriptor(0, 0, {bench.segment(bench.allocate("abc")), wrong});
  const auto three = cursor(bench, good).peek(3, Access::Local);
  EXPECT_EQ(text_of(three), "abc");
  EXPECT_EQ(three.end(), DataCursor::Reach::Allowed);
  const auto more = cursor(bench, good).peek(4, Access::Local);
  EXPECT_EQ(text_of(more), "abc");
  EXPECT_EQ(more.end(), DataCursor::Reach::TooShort);
  const auto refused = cursor(bench, bad).peek(4, Access::Local);
  EXPECT_EQ(text_of(refused), "abc");
  EXPECT_EQ(refused.end(), DataCursor::Reach::Refused);
  Ptag other;
  ASSERT_EQ(bench.nic.memory().create_ptag(other), Return::Success);
  EXPECT_EQ(cursor(bench, good, other).peek(3, Access::Local).end(), DataCursor::Reach::Refused);  // not the VI's tag
}

TEST(Cursor, peek_aFullWindow_goesOnBehindIt) {
  // More pieces than a window holds: it ends there without an error.
  Bench bench;
  constexpr std::size_t pieces = DataCursor::Window::max_pieces;
  std::vector<Segment> segments(pieces + 1, bench.segment(bench.allocate("z")));
  const Piece list = bench.allocate(segments.size() * sizeof(Segment), 64);
  std::memcpy(list.host, segments.data(), list.size);
  DataCursor walk(bench.nic.memory(), {}, bench.arena_handle, list.address(), pieces + 1);
  const auto window = walk.peek(pieces + 1, Access::Local);
  EXPECT_EQ(window.pieces().size(), pieces);
  EXPECT_EQ(window.end(), DataCursor::Reach::Allowed);
  walk.consume(window, window.bytes());
  EXPECT_EQ(text_of(walk.peek(2, Access::Local)), "z");
}

TEST(Cursor, consume_segmentsAreReadOnce) {
  // VI-ARCH 6.1: the consumer changes a segment between peek and consume; what was read counts.
  Bench bench;
  const auto posted =
      bench.descriptor(0, 0, {bench.segment(bench.allocate("abc")), bench.segment(bench.allocate("defg"))});
  DataCursor walk = cursor(bench, posted);
  const auto window = walk.peek(5, Access::Local);
  posted.segment(1) = bench.segment(bench.allocate("XY"));
  walk.consume(window, 4);
  EXPECT_EQ(gathered(walk, 3), "efg");
}

TEST(Cursor, segments_reach) {
  // VI-ARCH 3.2.1: judged is what the bytes touch, in 64 bits; the cursor does not move.
  using enum DataCursor::Reach;
  Bench bench;
  wire::MemHandle huge{};
  bench.nic.memory().register_region(0x10000, bench.allocate(64).host, std::uint64_t{1} << 32, {}, huge);
  const Segment piece{0x10000, huge.value, 0xFFFFFFFF}, nowhere{16, 0, 10};
  const auto posted = bench.descriptor(0, 0, {bench.segment(bench.allocate("ab")), {0, 0, 0}, piece, piece, nowhere});
  DataCursor walk = cursor(bench, posted);
  for (const std::uint64_t length : {std::uint64_t{0}, std::uint64_t{2}, std::uint64_t{3}, std::uint64_t{0x200000000}})
    EXPECT_EQ(walk.reach(length, Access::LocalWrite), Allowed) << length;
  EXPECT_EQ(walk.reach(0x200000001, Access::LocalWrite), Refused);
  EXPECT_EQ(walk.reach(0x20000000A, Access::LocalWrite), Refused);
  EXPECT_EQ(walk.reach(0x20000000B, Access::LocalWrite), TooShort);
  EXPECT_EQ(gathered(walk, 2), "ab");
  EXPECT_EQ(walk.reach(0x1FFFFFFFE, Access::LocalWrite), Allowed);
  EXPECT_EQ(walk.reach(0x1FFFFFFFF, Access::LocalWrite), Refused);
  EXPECT_EQ(DataCursor().reach(0, Access::Local), Allowed);
  EXPECT_EQ(DataCursor().reach(1, Access::Local), TooShort);
}

TEST(Cursor, segments_reach_their_memory_deregistered) {
  // VI-ARCH 3.2.1: the segments themselves are memory that is referred to, as far as the bytes need them.
  Bench bench;
  const auto posted =
      bench.descriptor(0, 0, {bench.segment(bench.allocate("ab")), bench.segment(bench.allocate("cde"))});
  wire::MemHandle own{};
  const std::uint64_t segments = posted.address() + sizeof(ControlSegment);
  bench.nic.memory().register_region(segments, posted.host + sizeof(ControlSegment), sizeof(Segment), {}, own);
  const DataCursor walk(bench.nic.memory(), {}, own, segments, 2);
  EXPECT_EQ(walk.reach(2, Access::Local), DataCursor::Reach::Allowed);
  EXPECT_EQ(walk.reach(3, Access::Local), DataCursor::Reach::Refused);
}

TEST(Cursor, segments_check) {
  // VI-DG 5.4: the sum of all lengths, in 64 bits; the cursor does not move.
  Bench bench;
  const auto posted =
      bench.descriptor(0, 0, {bench.segment(bench.allocate("ab")), bench.segment(bench.allocate("cde"))});
  DataCursor walk = cursor(bench, posted);
  std::uint64_t sum = 0;
  EXPECT_TRUE(walk.check(sum));
  EXPECT_EQ(sum, 5u);
  EXPECT_EQ(gathered(walk, 3), "abc");
  EXPECT_TRUE(walk.check(sum));
  EXPECT_EQ(sum, 2u);
  EXPECT_TRUE(DataCursor().check(sum));
  EXPECT_EQ(sum, 0u);
}

TEST(Cursor, empty_segment_garbage_reference) {
  // VI-DG 5.4: zero is a valid length; nothing is referenced, so nothing is checked.
  Bench bench;
  const auto posted = bench.descriptor(0, 0, {Segment{0xDEAD, 0xBEEF, 0}, bench.segment(bench.allocate("x"))});
  DataCursor walk = cursor(bench, posted);
  std::uint64_t sum = 0;
  EXPECT_TRUE(walk.check(sum));
  EXPECT_EQ(gathered(walk, 1), "x");
}

TEST(Cursor, segments_data_deregistered) {
  // VI-ARCH 3.2.1: the error arises at the reference; what was placed before stays.
  Bench bench;
  std::array<std::byte, 8> other{};
  const auto address = reinterpret_cast<std::uint64_t>(other.data());
  wire::MemHandle handle{};
  bench.nic.memory().register_region(address, other.data(), other.size(), {}, handle);
  const Piece first = bench.allocate(2);
  const auto posted = bench.descriptor(0, 0, {bench.segment(first), Segment{address, handle.value, 8}});
  DataCursor walk = cursor(bench, posted);
  EXPECT_TRUE(walk.scatter(bytes_of("ab1234")));
  bench.nic.memory().deregister(address, handle);
  EXPECT_FALSE(walk.scatter(bytes_of("5678")));
  EXPECT_EQ(first.text(), "ab");
  EXPECT_EQ(std::memcmp(other.data(), "1234\0\0\0\0", 8), 0);
}

TEST(Cursor, begun_attributes_taken_away) {
  // VI-ARCH 3.2.2.1: the tag of the memory changes between two pieces of a segment: judged at each reference, although
  // the handle was looked up before.
  Bench bench;
  MemoryTable& memory = bench.nic.memory();
  Ptag one, two;
  memory.create_ptag(one), memory.create_ptag(two);
  std::array<std::byte, 8> other{};
  const auto address = reinterpret_cast<std::uint64_t>(other.data());
  wire::MemHandle handle{}, unrelated{};
  memory.register_region(address, other.data(), other.size(), {.ptag = one}, handle);
  Segment segment{address, handle.value, 8};
  wire::MemHandle of_segment{};
  const auto at = reinterpret_cast<std::uint64_t>(&segment);
  memory.register_region(at, reinterpret_cast<std::byte*>(&segment), sizeof segment, {.ptag = one}, of_segment);
  DataCursor walk(memory, one, of_segment, at, 1);
  walk.begin(reinterpret_cast<const std::byte*>(&segment), Access::LocalWrite);
  segment.length_or_reserved = 0;  // it was read
  memory.register_region(address, other.data(), other.size(), {}, unrelated);
  memory.deregister(address, unrelated);
  EXPECT_TRUE(walk.scatter(bytes_of("1234")));
  EXPECT_EQ(walk.reach(4, Access::LocalWrite), DataCursor::Reach::Allowed);
  memory.set_attributes(address, handle, {.ptag = two});
  EXPECT_EQ(walk.reach(4, Access::LocalWrite), DataCursor::Reach::Refused);
  EXPECT_FALSE(walk.scatter(bytes_of("5678")));
  memory.set_attributes(address, handle, {.ptag = one});
  EXPECT_TRUE(walk.scatter(bytes_of("5678")));
  EXPECT_EQ(std::memcmp(other.data(), "12345678", 8), 0);
}

TEST(Cursor, begun_for_reading_writes_no_read_only_memory) {
  // VI-DG 3.4.3: what was looked up for reading is not granted for writing.
  Bench bench;
  std::array<std::byte, 8> other{};
  const auto address = reinterpret_cast<std::uint64_t>(other.data());
  wire::MemHandle handle{};
  bench.nic.memory().register_region(address, other.data(), other.size(), {}, handle, false);
  const auto posted = bench.descriptor(0, 0, {Segment{address, handle.value, 8}});
  DataCursor walk = cursor(bench, posted);
  walk.begin(posted.host + sizeof(ControlSegment), Access::Local);
  EXPECT_EQ(gathered(walk, 2), std::string(2, '\0'));
  EXPECT_EQ(walk.reach(2, Access::LocalWrite), DataCursor::Reach::Refused);
  EXPECT_FALSE(walk.scatter(bytes_of("ab")));
  EXPECT_EQ(gathered(walk, 2), std::string(2, '\0'));
}

TEST(Cursor, segment_that_leaves_its_region_allows_what_is_touched) {
  // VI-ARCH 3.2.1: the end of the segment is no memory, but no message reaches it.
  Bench bench;
  std::array<std::byte, 8> other{};
  const auto address = reinterpret_cast<std::uint64_t>(other.data());
  wire::MemHandle handle{};
  bench.nic.memory().register_region(address, other.data(), other.size(), {}, handle);
  const auto posted = bench.descriptor(0, 0, {Segment{address, handle.value, 9}});
  DataCursor walk = cursor(bench, posted);
  walk.begin(posted.host + sizeof(ControlSegment), Access::LocalWrite);
  EXPECT_EQ(walk.reach(8, Access::LocalWrite), DataCursor::Reach::Allowed);
  EXPECT_TRUE(walk.scatter(bytes_of("1234")));
  EXPECT_TRUE(walk.scatter(bytes_of("5678")));
  EXPECT_FALSE(walk.scatter(bytes_of("9")));
}

TEST(Cursor, segments_descriptor_deregistered) {
  // VI-ARCH 3.2.1: memory that contains a posted descriptor may go too.
  Bench bench;
  const auto posted = bench.send("abc");
  DataCursor walk = cursor(bench, posted);
  bench.nic.memory().deregister(posted.address(), bench.arena_handle);
  std::array<std::uint8_t, 3> frame{};
  EXPECT_FALSE(walk.gather(frame));
  std::uint64_t sum = 0;
  EXPECT_FALSE(cursor(bench, posted).check(sum));
}

TEST(Cursor, segments_shrunk_after_check) {
  // impl: a consumer that shortens a posted segment gets a protection error, not an overrun.
  Bench bench;
  const auto posted = bench.send("abcdef");
  DataCursor walk = cursor(bench, posted);
  posted.segment(0).length_or_reserved = 2;
  std::array<std::uint8_t, 6> frame{};
  EXPECT_FALSE(walk.gather(frame));
}

TEST(Cursor, segments_changed_after_read) {
  // impl: a segment counts as it was when it was read.
  Bench bench;
  const auto posted = bench.send("abcdef");
  DataCursor walk = cursor(bench, posted);
  EXPECT_EQ(gathered(walk, 1), "a");
  posted.segment(0) = {1, 2, 0xFFFFFFFF};
  EXPECT_EQ(gathered(walk, 5), "bcdef");
}

TEST(Cursor, segments_wrong_tag) {
  // VI-ARCH 3.2.2.1: data and descriptor need the VI's tag.
  Bench bench;
  Ptag tag;
  bench.nic.memory().create_ptag(tag);
  DataCursor walk = cursor(bench, bench.send("a"), tag);
  std::array<std::uint8_t, 1> frame{};
  EXPECT_FALSE(walk.gather(frame));
}

TEST(Cursor, default_gather_nothing) {
  // impl: a cursor over nothing gives nothing.
  DataCursor walk;
  EXPECT_TRUE(walk.gather({}));
  std::array<std::uint8_t, 1> frame{};
  EXPECT_FALSE(walk.gather(frame));
}

TEST(Place, any_alignment_and_length) {
  // wild 10: odd addresses and lengths; the bytes around stay.
  std::array<std::uint8_t, 32> source{};
  for (std::size_t i = 0; i != source.size(); ++i) source[i] = static_cast<std::uint8_t>(i + 1);
  for (std::size_t start = 0; start != 16; ++start) {
    for (std::size_t length = 0; length <= source.size(); ++length) {
      alignas(16) std::array<std::byte, 64> target{};
      consumer_memory::place(target.data() + start, std::span(source).first(length));
      for (std::size_t i = 0; i != target.size(); ++i) {
        const bool inside = i >= start && i < start + length;
        ASSERT_EQ(target[i], inside ? std::byte{source[i - start]} : std::byte{0}) << start << ' ' << length;
      }
    }
  }
}

TEST(Place, few_bytes_of_any_alignment_and_length) {
  // wild 10, by single accesses: there and back, and the bytes around stay.
  std::array<std::uint8_t, consumer_memory::few_bytes> source{};
  for (std::size_t i = 0; i != source.size(); ++i) source[i] = static_cast<std::uint8_t>(i + 1);
  for (std::size_t start = 0; start != 9; ++start) {
    for (std::size_t length = 0; length <= source.size(); ++length) {
      alignas(8) std::array<std::byte, consumer_memory::few_bytes + 16> target{};
      ASSERT_TRUE(consumer_memory::place_few(target.data() + start, std::span(source).first(length)));
      for (std::size_t i = 0; i != target.size(); ++i) {
        const bool inside = i >= start && i < start + length;
        ASSERT_EQ(target[i], inside ? std::byte{source[i - start]} : std::byte{0}) << start << ' ' << length;
      }
      std::array<std::uint8_t, consumer_memory::few_bytes> back{};
      ASSERT_TRUE(consumer_memory::read_few(std::span(back).first(length), target.data() + start));
      ASSERT_TRUE(std::equal(back.begin(), back.begin() + static_cast<std::ptrdiff_t>(length), source.begin()));
    }
  }
}

TEST(Place, last_word_polled) {
  // wild 8: who sees the last word sees all the bytes before it.
  constexpr std::size_t words = 16;
  alignas(8) std::array<std::uint32_t, words> target{};
  constexpr std::uint32_t rounds = 2000;
  std::atomic<std::uint32_t> consumed{0};
  std::thread writer([&] {
    std::array<std::uint32_t, words> source{};
    for (std::uint32_t round = 1; round <= rounds; ++round) {
      source.fill(round);
      const auto bytes = std::as_bytes(std::span(source));
      consumer_memory::place(reinterpret_cast<std::byte*>(target.data()),
                             {reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size()});
      while (consumed.load(std::memory_order_acquire) != round) std::this_thread::yield();
    }
  });
  bool torn = false;
  for (std::uint32_t round = 1; round <= rounds; ++round) {
    // The last aligned word has eight bytes; a reader of its upper half needs an access of that size to be defined.
    auto& last = *reinterpret_cast<std::uint64_t*>(&target[words - 2]);
    while (static_cast<std::uint32_t>(std::atomic_ref(last).load(std::memory_order_acquire) >> 32) != round)
      std::this_thread::yield();
    for (std::size_t i = 0; i != words - 2; ++i) torn |= target[i] != round;
    consumed.store(round, std::memory_order_release);
  }
  writer.join();
  EXPECT_FALSE(torn);
}

}  // namespace
}  // namespace vi::testing
