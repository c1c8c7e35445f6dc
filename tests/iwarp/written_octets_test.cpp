// Which memory streams have written, and so where something may be placed before its turn (IFT 8.2).
#include "iwarp/written_octets.hpp"

#include "tests/iwarp/two_ends.hpp"

namespace iwarp::testing {
namespace {
using Octets = std::vector<std::uint8_t>;

// Who makes more ranges than are kept has track lost: nothing is early any more, what was is void. IFT 8.2.
TEST(WrittenOctetsTest, too_many_ranges) {
  WrittenOctets written;
  Octets memory(3 * WrittenOctets::most_ranges);
  const auto octet = [&memory](std::size_t at) { return wire::MutableBytes(memory).subspan(at, 1); };
  const WrittenOctets::Id id = written.place_early({octet(1)});
  for (std::size_t i = 1; i < WrittenOctets::most_ranges; ++i) written.place(octet(2 * i + 1));
  EXPECT_FALSE(written.lost_track());
  EXPECT_TRUE(written.is_whole(id));
  EXPECT_TRUE(written.may_place_early({octet(0)}));
  written.place(octet(2 * WrittenOctets::most_ranges + 1));
  EXPECT_TRUE(written.lost_track());
  EXPECT_FALSE(written.is_whole(id));
  EXPECT_FALSE(written.may_place_early({octet(0)}));
  written.end_early(id);
}

// An early placement that was voided does not live up again where another one takes its memory. IFT 8.2.
TEST(WrittenOctetsTest, void_for_good) {
  WrittenOctets written;
  Octets memory(100);
  const wire::MutableBytes all(memory);
  const WrittenOctets::Id first = written.place_early({all});
  EXPECT_FALSE(written.may_place_early({all.first(1)}));
  written.place(all.subspan(10, 5));
  EXPECT_FALSE(written.is_whole(first));
  EXPECT_TRUE(written.may_place_early({all.first(10)}));
  EXPECT_FALSE(written.may_place_early({all.subspan(14, 2)}));
  written.renew(all);
  const WrittenOctets::Id second = written.place_early({all});
  EXPECT_FALSE(written.is_whole(first));
  written.end_early(first);
  EXPECT_TRUE(written.is_whole(second));
  EXPECT_FALSE(written.may_place_early({all.last(1)}));
}

// Memory is new again when its last region is removed, or its owner says so. IFT 8.2.
TEST(WrittenOctetsTest, regions_that_share_memory) {
  MemoryTable table;
  table.track_writes();
  Octets memory(100);
  const auto is_new = [&] { return table.written()->may_place_early({wire::MutableBytes(memory).first(1)}); };
  const STag one = *table.add(domain, memory, 0, {true, true, true, true});
  const STag other = *table.add(domain, wire::MutableBytes(memory).first(50), 0, {true, true, true, true});
  table.written()->place(wire::MutableBytes(memory).first(10));
  EXPECT_FALSE(is_new());
  table.remove(one);
  EXPECT_FALSE(is_new());
  table.renew(other);
  EXPECT_TRUE(is_new());
  table.written()->place(wire::MutableBytes(memory).first(10));
  table.remove(other);
  EXPECT_TRUE(is_new());
}

// A region that is valid again counts as written, and so does what another one has of its memory. IFT 8.2.
TEST(WrittenOctetsTest, region_that_is_valid_again) {
  MemoryTable table;
  table.track_writes();
  Octets memory(100);
  const wire::MutableBytes all(memory);
  const STag one = *table.add(domain, all, 0, {true, true, true, true});
  table.add(domain, all.first(50), 0, {true, true, true, true});
  table.written()->place(all.first(10));
  ASSERT_FALSE(table.invalidate(one, domain, Right::remote_write));
  ASSERT_TRUE(table.revalidate(one, 7));
  EXPECT_FALSE(table.written()->may_place_early({all.first(1)}));
  EXPECT_FALSE(table.written()->may_place_early({all.last(1)}));
}

}  // namespace
}  // namespace iwarp::testing
