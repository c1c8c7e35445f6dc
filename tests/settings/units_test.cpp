#include "settings/units.hpp"

#include <gtest/gtest.h>

namespace settings {
namespace {

TEST(Units, bytes) {
  // Whole bytes with binary units; anything else is refused, not guessed.
  EXPECT_EQ(parse_bytes("0"), 0u);
  EXPECT_EQ(parse_bytes("2048"), 2048u);
  EXPECT_EQ(parse_bytes("64KiB"), 65536u);
  EXPECT_EQ(parse_bytes("1.5 MiB"), 1572864u);
  EXPECT_EQ(parse_bytes("16GiB"), 17179869184u);
  EXPECT_EQ(parse_bytes("18446744073709551615"), 18446744073709551615u);
  for (const char* bad : {"", "KiB", "64KB", "64 kib", "-1", "1.KiB", ".5KiB", "0.3", "1.0001KiB",
                          "18446744073709551616", "99999999999GiB", "64  KiB", "0x10", "1.5", "1e3"})
    EXPECT_EQ(parse_bytes(bad), std::nullopt) << bad;
}

TEST(Units, durations) {
  // A time needs its unit; only zero goes without.
  EXPECT_EQ(parse_duration("0"), 0);
  EXPECT_EQ(parse_duration("500ns"), 500);
  EXPECT_EQ(parse_duration("2.5ms"), 2'500'000);
  EXPECT_EQ(parse_duration("1 s"), 1'000'000'000);
  EXPECT_EQ(parse_duration("0.000000001s"), 1);
  for (const char* bad : {"", "1", "5 parsecs", "1.5ns", "-1s", "0.0000000001s", "1m", "99999999999999s"})
    EXPECT_EQ(parse_duration(bad), std::nullopt) << bad;
}

TEST(Units, line_rates) {
  // Names of FC-PI, or bytes per second.
  EXPECT_EQ(parse_line_rate("16GFC"), 1'700'000'000u);
  EXPECT_EQ(parse_line_rate("400MB/s"), 400'000'000u);
  EXPECT_EQ(parse_line_rate("106250000"), 106'250'000u);
  EXPECT_EQ(parse_line_rate("unlimited"), 0u);
  for (const char* bad : {"", "0", "3GFC", "16gfc", "1MB"}) EXPECT_EQ(parse_line_rate(bad), std::nullopt) << bad;
}

TEST(Units, numbers) {
  EXPECT_EQ(parse_number("0xCAFE"), 0xCAFEu);
  EXPECT_EQ(parse_number("10"), 10u);
  for (const char* bad : {"", "0x", "1 ", "-1", "1.0", "0xG"}) EXPECT_EQ(parse_number(bad), std::nullopt) << bad;
}

TEST(Units, formats) {
  // What summaries and diagrams show.
  EXPECT_EQ(format_bytes(0), "0 B");
  EXPECT_EQ(format_bytes(65536), "64 KiB");
  EXPECT_EQ(format_bytes(2047), "2047 B");
  EXPECT_EQ(format_bytes(2048), "2 KiB");
  EXPECT_EQ(format_bytes(6831736), "6.5 MiB");
  EXPECT_EQ(format_duration(999), "999 ns");
  EXPECT_EQ(format_duration(12'345), "12.345 us");
  EXPECT_EQ(format_duration(2'500'000'000), "2.500 s");
  EXPECT_EQ(format_rate(1'580'000'000, 1'000'000'000), "1.58 GB/s");
  EXPECT_EQ(format_rate(10, 0), "-");
  EXPECT_EQ(format_count(1234567), "1,234,567");
  EXPECT_EQ(format_count(999), "999");
}

}  // namespace
}  // namespace settings
