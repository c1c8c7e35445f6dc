#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "tools/fcvi_sim/host/arrivals.hpp"
#include "tools/fcvi_sim/host/content.hpp"
#include "tools/fcvi_sim/host/memory.hpp"
#include "tools/fcvi_sim/scenario/random.hpp"

namespace sim {
namespace {

struct Shape {
  std::uint64_t total, message;
  std::uint32_t segments;
};

class LayoutOf : public testing::TestWithParam<Shape> {};

TEST_P(LayoutOf, pieces_are_whole_disjoint_and_within_the_memory) {
  // Every byte has its place, no two the same, none outside.
  const Layout layout(GetParam().total, GetParam().message, GetParam().segments);
  std::set<std::uint64_t> taken;
  std::uint64_t total = 0;
  std::vector<Piece> pieces;
  for (std::uint64_t message = 0; message < layout.message_count(); ++message) {
    layout.pieces(message, pieces);
    EXPECT_EQ(pieces.size(), GetParam().segments);
    std::uint64_t length = 0;
    for (const Piece& piece : pieces) {
      length += piece.length_bytes;
      for (std::uint64_t i = 0; i < piece.length_bytes; ++i) EXPECT_TRUE(taken.insert(piece.address + i).second);
    }
    EXPECT_EQ(length, layout.message_length(message));
    total += length;
  }
  EXPECT_EQ(total, GetParam().total);
  if (!taken.empty()) {
    EXPECT_LT(*taken.rbegin(), layout.size_bytes());
  }
}

INSTANTIATE_TEST_SUITE_P(shapes, LayoutOf,
                         testing::Values(Shape{0, 100, 1}, Shape{0, 100, 3}, Shape{1, 100, 7}, Shape{100, 100, 1},
                                         Shape{101, 100, 2}, Shape{2049, 2049, 5}, Shape{10'000, 1'000, 13},
                                         Shape{6, 6, 250}, Shape{999, 333, 9}));

TEST(Layout, several_segments_lie_in_reverse_and_apart) {
  // A transport that copies from the first segment straight on would be wrong.
  std::vector<Piece> pieces;
  Layout(1000, 1000, 3).pieces(0, pieces);
  for (std::size_t i = 1; i < pieces.size(); ++i)
    EXPECT_LT(pieces[i].address + pieces[i].length_bytes, pieces[i - 1].address);
  EXPECT_EQ(pieces[0].length_bytes % 2, 1u);
}

TEST(Layout, messages_share_places_in_turn) {
  // Four places for eleven messages: the fifth lies where the first lay, and none of four overlaps another.
  const Layout few(1050, 100, 3, 4), all(1050, 100, 3);
  EXPECT_EQ(few.message_count(), 11u);
  EXPECT_EQ(few.size_bytes() * 11, all.size_bytes() * 4);
  std::vector<Piece> pieces, before;
  for (std::uint64_t message = 0; message < 11; ++message) {
    few.pieces(message, pieces);
    all.pieces(message % 4, before);
    for (std::size_t i = 0; i < 3; ++i)
      EXPECT_EQ(pieces[i].address, message < 10 ? before[i].address : pieces[i].address);
    EXPECT_LE(pieces[0].address + pieces[0].length_bytes, few.size_bytes());
    EXPECT_EQ(few.message_start(message), message * 100);
  }
  EXPECT_EQ(few.message_start(11), 1050u);
  EXPECT_EQ(Layout(300, 100, 1, 4).size_bytes(), 300u);  // no more places than messages
}

TEST(Random, same_seed_same_draws_another_seed_or_subsystem_others) {
  // The numbers themselves are part of "same seed, same bytes", on every machine.
  EXPECT_EQ(Random(1, "ports").next(), Random(1, "ports").next());
  EXPECT_NE(Random(1, "ports").next(), Random(2, "ports").next());
  EXPECT_NE(Random(1, "ports").next(), Random(1, "data").next());
}

TEST(ContentStore, both_ends_of_a_transfer_get_what_was_made_once) {
  // The same name, size and seed: the same bytes, and for the last ones not made anew. It keeps no more than it says.
  const ContentStore store(7), other(8);
  const DataSpec data{.path = "", .size_bytes = 1000};
  const auto first = store.get(data, "w 0 0");
  EXPECT_EQ(store.get(data, "w 0 0"), first);
  EXPECT_NE(store.get(data, "w 0 1")->bytes, first->bytes);
  EXPECT_NE(other.get(data, "w 0 0")->bytes, first->bytes);
  EXPECT_EQ(store.get({.path = "", .size_bytes = 999}, "w 0 0")->bytes.size(), 999u);
  EXPECT_EQ(first->digest, sha256(first->bytes));
  const std::weak_ptr<const Content> last = first;
  for (std::size_t i = 0; i < ContentStore::most_kept; ++i)
    EXPECT_EQ(store.get(data, "w 1 " + std::to_string(i))->bytes.size(), 1000u);
  const std::vector<std::uint8_t> bytes = first->bytes;
  EXPECT_EQ(last.use_count(), 1);  // ours alone
  const auto made_again = store.get(data, "w 0 0");
  EXPECT_NE(made_again, first);
  EXPECT_EQ(made_again->bytes, bytes);
}

TEST(ContentStore, large_content_is_kept_alone) {
  const ContentStore store(7);
  const auto large = store.get({.path = "", .size_bytes = ContentStore::most_kept_bytes + 1}, "w 0 0");
  EXPECT_EQ(large.use_count(), 2);
  EXPECT_EQ(store.get({.path = "", .size_bytes = 1}, "w 0 1").use_count(), 2);
  EXPECT_EQ(large.use_count(), 1);
}

TEST(HostMemory, memory_that_comes_again_has_the_pattern_again) {
  // A message that does not arrive must not be found in what another one left.
  HostMemory memory;
  constexpr std::size_t size = 1u << 20;
  std::uint8_t* const first = memory.take(size);
  std::fill_n(first, size, std::uint8_t{1});
  memory.give_back(first, size);
  std::uint8_t* const again = memory.take(size);
  EXPECT_EQ(std::count(again, again + size, std::uint8_t{0xA5}), static_cast<std::ptrdiff_t>(size));
  std::uint8_t* const other = memory.take(size);
  EXPECT_NE(other, again);
  memory.give_back(again, size);
  memory.give_back(other, size);
}

WorkloadSpec workload_of(std::vector<TransferSpec> transfers, std::uint32_t depth) {
  WorkloadSpec workload;
  workload.queue_depth = depth;
  workload.transfers = std::move(transfers);
  return workload;
}

std::string arrivals_of(const WorkloadSpec& workload, Side side) {
  Arrivals arrivals(workload, side);
  std::string text;
  while (const auto arrival = arrivals.next()) text += "CDI"[static_cast<int>(arrival->kind)];
  return text;
}

TEST(Arrivals, each_side_knows_what_comes) {
  // Offer, messages, Done, Verdict; immediate data takes a receive at the target, plain RDMA none.
  const TransferSpec send{.operation = Operation::Send, .data = {"", 3}, .message_bytes = 1};
  const TransferSpec write{.operation = Operation::RdmaWrite, .data = {"", 2}, .message_bytes = 1};
  TransferSpec immediate = write;
  immediate.immediate = 7;
  immediate.initiator = Side::Server;
  const WorkloadSpec workload = workload_of({send, write, immediate}, 4);
  EXPECT_EQ(arrivals_of(workload, Side::Server),
            "DDDC"
            "C"
            "CC");
  EXPECT_EQ(arrivals_of(workload, Side::Client),
            "CC"
            "CC"
            "IIC");
}

TEST(Arrivals, credits_cover_all_messages_and_no_more_than_needed) {
  for (const std::uint32_t window : {2u, 3u, 5u, 64u}) {
    for (std::uint64_t messages = 1; messages < 300; ++messages) {
      const TransferSpec send{.operation = Operation::Send, .data = {"", messages}, .message_bytes = 1};
      const std::uint64_t half = window / 2, credits = credit_count(send, window);
      EXPECT_GE(window + credits * half, messages);
      if (credits > 0) {
        EXPECT_LT(window + (credits - 1) * half, messages);
      }
      EXPECT_LE(credits * half, messages);  // the target can earn every one
    }
  }
}

}  // namespace
}  // namespace sim
