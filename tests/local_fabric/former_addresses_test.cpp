// What the stand-in remembers (issue 5, "memory stays bounded").
#include <gtest/gtest.h>

#include "tools/fabricd/stand_in.hpp"

namespace fabricd {
namespace {

wire::IpAddress address(std::size_t number) {
  return wire::IpAddress::v4(10, 0, static_cast<std::uint8_t>(number >> 8), static_cast<std::uint8_t>(number));
}

// Whoever registers one address after the other shuts out none that comes after them.
TEST(FormerAddresses, flood_shuts_none_out) {
  FormerAddresses former(100);
  for (std::size_t i = 0; i < 5000; ++i) former.add(address(i));
  former.add(address(9999));
  EXPECT_TRUE(former.contains(address(9999)));
  EXPECT_TRUE(former.contains(address(4999)));
  EXPECT_FALSE(former.contains(address(0)));
  EXPECT_EQ(former.size(), 100U);
}

// The same one again takes no room.
TEST(FormerAddresses, known_address_takes_no_room) {
  FormerAddresses former(2);
  former.add(address(1));
  for (int i = 0; i < 10; ++i) former.add(address(2));
  EXPECT_TRUE(former.contains(address(1)));
  EXPECT_EQ(former.size(), 2U);
}

}  // namespace
}  // namespace fabricd
