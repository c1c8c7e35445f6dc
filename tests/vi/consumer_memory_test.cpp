// Copies of a few bytes between frames and a consumer's memory, which others read and write meanwhile (VI-ARCH 3.2.1,
// 6.4.1). What happens where the memory is gone: tests/vipl/memory_test.cpp.
#include "vi/consumer_memory.hpp"

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <cstring>
#include <numeric>
#include <thread>

namespace vi::testing {
namespace {

constexpr std::size_t border = 16;
/// Room for a copy at any place of two words, with a border that stays as it is.
struct Room {
  alignas(16) std::array<std::uint8_t, 128> bytes;
  const std::uint8_t untouched;
  explicit Room(std::uint8_t filled_with) : untouched(filled_with) { bytes.fill(untouched); }
  [[nodiscard]] std::byte* at(std::size_t offset) {
    return reinterpret_cast<std::byte*>(bytes.data() + border + offset);
  }
  void expect(std::size_t offset, std::span<const std::uint8_t> copied) const {
    for (std::size_t i = 0; i < bytes.size(); ++i) {
      const bool inside = i >= border + offset && i < border + offset + copied.size();
      ASSERT_EQ(bytes[i], inside ? copied[i - border - offset] : untouched) << "offset " << offset << ", byte " << i;
    }
  }
};

std::array<std::uint8_t, 64> numbers() {
  std::array<std::uint8_t, 64> data{};
  std::iota(data.begin(), data.end(), std::uint8_t{1});
  return data;
}

TEST(ConsumerMemory, copies_of_every_length_to_and_from_every_place) {
  const auto data = numbers();
  for (std::size_t offset = 0; offset < 16; ++offset)
    for (std::size_t length = 1; length <= consumer_memory::few_bytes; ++length) {
      const auto from = std::span(data).first(length);
      Room few(0xEE), plain(0xEE), read(0xDD);
      EXPECT_TRUE(consumer_memory::place_few(few.at(offset), from));
      few.expect(offset, from);
      consumer_memory::place(plain.at(offset), from);
      plain.expect(offset, from);
      EXPECT_TRUE(consumer_memory::read_few(std::span(read.bytes).subspan(border, length), few.at(offset)));
      read.expect(0, from);
    }
}

/// One thread writes a word of zeros and of ones in turn, another reads it: neither ever sees a part of each.
template <class Word, class Write, class Read>
void expect_whole(Write write, Read read) {
  std::atomic<bool> stop{false};
  std::thread writer([&] {
    for (Word value = 0; !stop; value = static_cast<Word>(~value)) write(value);
  });
  int torn = 0;
  for (int i = 0; i < 1'000'000; ++i) {
    const Word seen = read();
    torn += seen != 0 && seen != static_cast<Word>(~Word{0}) ? 1 : 0;
  }
  stop = true;
  writer.join();
  EXPECT_EQ(torn, 0) << sizeof(Word);
}

/// The word that is looked at lies behind `before` others, so that all of it is aligned where it is the
/// last aligned one.
template <class Word>
void expect_whole_words(std::size_t before, std::size_t behind) {
  alignas(16) std::array<std::uint8_t, 64> memory{};
  const std::size_t place = 32, begin = place - before, length = before + sizeof(Word) + behind;
  const std::atomic_ref<Word> word(*reinterpret_cast<Word*>(memory.data() + place));
  const auto atomically = [&] { return word.load(std::memory_order_relaxed); };
  std::array<std::uint8_t, 32> zeros{}, ones{};
  ones.fill(0xFF);
  auto* const host = reinterpret_cast<std::byte*>(memory.data() + begin);
  const auto place_few = [&](Word value) {
    EXPECT_TRUE(consumer_memory::place_few(host, std::span(value == 0 ? zeros : ones).first(length)));
  };
  expect_whole<Word>(place_few, atomically);
  const auto place_all = [&](Word value) {
    consumer_memory::place(host, std::span(value == 0 ? zeros : ones).first(length));
  };
  if (behind == 0) expect_whole<Word>(place_all, atomically);
  expect_whole<Word>([&](Word value) { word.store(value, std::memory_order_relaxed); },
                     [&] {
                       std::array<std::uint8_t, 32> copy{};
                       EXPECT_TRUE(consumer_memory::read_few(std::span(copy).first(length), host));
                       Word value;
                       std::memcpy(&value, copy.data() + before, sizeof value);
                       return value;
                     });
}

// VI-ARCH 3.2.1: programs spin on the last word of an RDMA Write, and write while they are read: each aligned word
// is one access.
TEST(ConsumerMemory, aligned_words_are_whole) {
  expect_whole_words<std::uint64_t>(0, 0);
  expect_whole_words<std::uint64_t>(4, 3);
  expect_whole_words<std::uint64_t>(8, 0);
  expect_whole_words<std::uint32_t>(0, 0);
  expect_whole_words<std::uint32_t>(3, 1);
  expect_whole_words<std::uint32_t>(2, 0);
  expect_whole_words<std::uint32_t>(6, 2);
  expect_whole_words<std::uint16_t>(0, 0);
  expect_whole_words<std::uint16_t>(1, 1);
}

}  // namespace
}  // namespace vi::testing
