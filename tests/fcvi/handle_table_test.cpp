// FCVI_HANDLEs: which number comes next.
#include <gtest/gtest.h>

#include "fcvi/connection.hpp"
#include "fcvi/handle_table.hpp"

namespace fcvi {
namespace {
constexpr fc2::TimeNs r_a_tov = 10 * fc2::second;

TEST(HandleTable, a_freed_number_comes_round_after_R_A_TOV) {
  // FC-VI 8.4.2 f, g: frames of a connection that a logout ended may be under way for R_A_TOV.
  HandleTable table(100, 1000);
  const auto first = table.reserve(fc2::second, r_a_tov);
  ASSERT_EQ(first, wire::FcviHandle{100});
  table.vacate(*first, 2 * fc2::second);
  EXPECT_EQ(table.in_use(), 0u);
  EXPECT_EQ(table.reserve(2 * fc2::second + r_a_tov - 1, r_a_tov), wire::FcviHandle{101});
  EXPECT_EQ(table.reserve(2 * fc2::second + r_a_tov, r_a_tov), wire::FcviHandle{100});
}

TEST(HandleTable, the_longest_free_number_serves_when_no_other_is_left) {
  HandleTable table(7, 2);
  const auto first = table.reserve(1, r_a_tov), second = table.reserve(1, r_a_tov);
  ASSERT_TRUE(first && second);
  EXPECT_EQ(table.reserve(1, r_a_tov), std::nullopt);
  table.vacate(*second, 2);
  table.vacate(*first, 3);
  EXPECT_EQ(table.reserve(4, r_a_tov), second);
  EXPECT_EQ(table.reserve(4, r_a_tov), first);
  EXPECT_EQ(table.reserve(4, r_a_tov), std::nullopt);
}

TEST(HandleTable, FFFFFFFFh_is_never_allocated) {
  // Ruling 2, FC-VI 5.9.2.
  HandleTable table(0xFFFFFFFE, 4);
  EXPECT_EQ(table.reserve(1, r_a_tov), wire::FcviHandle{0xFFFFFFFE});
  EXPECT_EQ(table.reserve(1, r_a_tov), wire::FcviHandle{0});
}

}  // namespace
}  // namespace fcvi
