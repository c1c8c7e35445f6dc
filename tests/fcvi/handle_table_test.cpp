// FCVI_HANDLEs: which number comes next.
#include <gtest/gtest.h>

#include <set>

#include "fcvi/connection.hpp"
#include "fcvi/handle_table.hpp"

namespace fcvi {
namespace {

// FC-VI 8.4.2 f, g, D.2: what is still sent to a handle that was freed meets nobody: its slot serves again,
// with another number.
TEST(HandleTable, a_freed_slot_serves_with_another_number) {
  HandleTable table(100, 1000);
  const auto first = table.reserve();
  ASSERT_EQ(first, wire::FcviHandle{100});
  table.vacate(*first);
  EXPECT_EQ(table.in_use(), 0u);
  EXPECT_EQ(table.reserve(), wire::FcviHandle{100 + 1024});
  EXPECT_EQ(table.reserve(), wire::FcviHandle{101});
  EXPECT_EQ(table.find(*first), nullptr);
}

// FC-VI 4.2: an FCVI_HANDLE is unique among all that are open, whatever was opened and closed before.
TEST(HandleTable, open_numbers_are_unique) {
  HandleTable table(0xFFFFF000, 5000);  // wraps
  std::set<std::uint32_t> open;
  for (std::uint32_t round = 0; round < 20; ++round) {
    while (open.size() < 4000) {
      const auto handle = table.reserve();
      ASSERT_TRUE(handle);
      ASSERT_TRUE(open.insert(handle->value).second) << "twice: " << handle->value;
    }
    EXPECT_EQ(table.in_use(), open.size());
    for (auto number = open.begin(); number != open.end();) {
      if (*number * 2654435761u >> 31 == round % 2) {
        table.vacate(wire::FcviHandle{*number});
        number = open.erase(number);
      } else {
        ++number;
      }
    }
  }
}

// Ruling 110: a number comes round after all others of its slot: 2^32 numbers for 2^20 slots.
TEST(HandleTable, a_number_comes_round_after_all_others_of_its_slot) {
  constexpr std::uint32_t slots = 1u << 20;
  HandleTable table(7, slots);
  for (std::uint32_t i = 0; i < 4096; ++i) {
    const auto handle = table.reserve();
    ASSERT_EQ(handle, wire::FcviHandle{7 + i * slots});
    table.vacate(*handle);
  }
  EXPECT_EQ(table.reserve(), wire::FcviHandle{7});
}

// ... and of the largest table: two numbers for each of 2^31 slots.
TEST(HandleTable, the_largest_table_has_two_numbers_for_a_slot) {
  for (const std::uint32_t limit : {0x80000000u, 0xFFFFFFFFu}) {
    HandleTable table(7, limit);
    for (const std::uint32_t expected : {7u, 0x80000007u, 7u}) {
      const auto handle = table.reserve();
      ASSERT_EQ(handle, wire::FcviHandle{expected});
      table.vacate(*handle);
    }
  }
}

TEST(HandleTable, the_longest_free_slot_serves_when_all_were_used) {
  HandleTable table(7, 2);
  const auto first = table.reserve(), second = table.reserve();
  ASSERT_TRUE(first && second);
  EXPECT_EQ(table.reserve(), std::nullopt);
  table.vacate(*second);
  table.vacate(*first);
  EXPECT_EQ(table.reserve(), wire::FcviHandle{second->value + 2});
  EXPECT_EQ(table.reserve(), wire::FcviHandle{first->value + 2});
  EXPECT_EQ(table.reserve(), std::nullopt);
}

// A limit that is no power of two is kept.
TEST(HandleTable, no_more_than_the_limit) {
  HandleTable table(1, 3);
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(table.reserve());
  EXPECT_EQ(table.reserve(), std::nullopt);
}

// Ruling 2, FC-VI 5.9.2.
TEST(HandleTable, FFFFFFFFh_is_never_allocated) {
  HandleTable table(0xFFFFFFFE, 2);
  EXPECT_EQ(table.reserve(), wire::FcviHandle{0xFFFFFFFE});
  EXPECT_EQ(table.reserve(), wire::FcviHandle{1});
  HandleTable round(0xFFFFFFFD, 2);
  const auto first = round.reserve();
  round.vacate(*first);
  EXPECT_EQ(round.reserve(), wire::FcviHandle{1});  // FFFFFFFFh would be next
}

// FC-VI 4.2: another number of the same slot names nobody.
TEST(HandleTable, a_handle_never_given_names_nobody) {
  HandleTable table(100, 4);
  const auto handle = table.reserve();
  EXPECT_EQ(handle, wire::FcviHandle{100});
  for (const std::uint32_t other : {99u, 101u, 104u, 108u, 0xFFFFFFFFu}) EXPECT_EQ(table.find({other}), nullptr);
}

}  // namespace
}  // namespace fcvi
