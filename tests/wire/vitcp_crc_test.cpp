// The CRC of VI-TCP 3.6 against long division, bit by bit as the draft describes it (ruling V-20).
#include <gtest/gtest.h>

#include "hex.hpp"
#include "wire/vitcp/crc.hpp"

namespace wire::test {
namespace {

constexpr std::uint32_t ethernet = 0x04C11DB7, vitcp_generator = 0xDB710641;
using Bits = std::vector<bool>;

/// As Ethernet transmits: the least significant bit of each octet first.
Bits bits_of(const std::vector<std::uint8_t>& octets) {
  Bits bits;
  for (const std::uint8_t octet : octets)
    for (int bit = 0; bit < 8; ++bit) bits.push_back((octet >> bit & 1) != 0);
  return bits;
}

std::vector<std::uint8_t> octets_of(const Bits& bits) {
  std::vector<std::uint8_t> octets(bits.size() / 8);
  for (std::size_t i = 0; i < bits.size(); ++i)
    if (bits[i]) octets[i / 8] = static_cast<std::uint8_t>(octets[i / 8] | 1U << i % 8);
  return octets;
}

/// Divides in place by x^32 and the terms of `generator`, its most significant bit x^31; what is left are the last 32.
Bits remainder(Bits dividend, std::uint32_t generator) {
  for (std::size_t i = 0; i + 32 < dividend.size(); ++i) {
    if (!dividend[i]) continue;
    dividend[i] = false;
    for (std::size_t term = 0; term < 32; ++term)
      if ((generator >> (31 - term) & 1) != 0) dividend[i + 1 + term] = !dividend[i + 1 + term];
  }
  return {dividend.end() - 32, dividend.end()};
}

/// VI-TCP 3.6 a) to e). `covered`: at least four octets, without the CRC field.
std::vector<std::uint8_t> crc_field(std::vector<std::uint8_t> covered, std::uint32_t generator) {
  covered.insert(covered.end(), 4, 0);                      // a)
  Bits bits = bits_of(covered);                             // c)
  for (std::size_t i = 0; i < 32; ++i) bits[i] = !bits[i];  // b)
  Bits rest = remainder(bits, generator);                   // d)
  rest.flip();                                              // e)
  return octets_of(rest);
}

std::vector<std::uint8_t> stored(std::uint32_t crc) {
  std::vector<std::uint8_t> field(4);
  vitcp::store_crc(field.data(), crc);
  EXPECT_EQ(vitcp::load_crc(field.data()), crc);
  return field;
}

const auto nop = hex("0184001c 00000000 00000000 00000001 00000000 00050000");

TEST(VitcpCrc, division_gives_what_ethernet_is_known_for) {
  const std::string_view digits = "123456789";
  const std::vector<std::uint8_t> octets(digits.begin(), digits.end());
  EXPECT_EQ(crc_field(octets, ethernet), hex("2639F4CB"));  // CBF43926h, lowest octet first
}

TEST(VitcpCrc, nop_of_the_ruling) {
  EXPECT_EQ(crc_field(nop, vitcp_generator), hex("5FC534A8"));
  EXPECT_EQ(stored(vitcp::crc(nop)), hex("5FC534A8"));
}

// VI-TCP 3.6: "a left-right reversal" of the Ethernet polynomial, x^32 included.
TEST(VitcpCrc, generator_is_that_of_ethernet_reversed) {
  const std::uint64_t forward = std::uint64_t{1} << 32 | ethernet;
  std::uint64_t reversed = 0;
  for (int term = 0; term <= 32; ++term) reversed |= (forward >> term & 1) << (32 - term);
  EXPECT_EQ(reversed, std::uint64_t{1} << 32 | vitcp_generator);
}

// Every length around the sixteen octets that go in at once, and around blocks of 64 of which there are none to four.
TEST(VitcpCrc, any_length_is_as_divided) {
  Noise noise(7);
  for (std::size_t length = 4; length <= 300; ++length) {
    const auto octets = noise.bytes(length);
    ASSERT_EQ(stored(vitcp::crc(octets)), crc_field(octets, vitcp_generator)) << length;
  }
}

// The same around blocks of 256, with blocks of 64 and less behind them.
TEST(VitcpCrc, any_length_of_wide_blocks_is_as_divided) {
  Noise noise(11);
  for (const std::size_t blocks : {1U, 2U, 3U, 5U})
    for (const std::size_t behind : {0U, 1U, 15U, 63U, 64U, 130U, 192U, 255U}) {
      const auto octets = noise.bytes(256 * blocks + behind);
      ASSERT_EQ(stored(vitcp::crc(octets)), crc_field(octets, vitcp_generator)) << octets.size();
    }
}

// Each way that this processor has, also where it has a wider one.
void expect_each_way_as_divided(const std::vector<std::uint8_t>& octets) {
  const auto divided = crc_field(octets, vitcp_generator);
  const Bytes all(octets);
  const std::size_t cut = octets.size() / 3;
  for (const auto way : {vitcp::CrcWay::tables, vitcp::CrcWay::folding, vitcp::CrcWay::wide_folding}) {
    ASSERT_EQ(stored(vitcp::crc_by(way, octets)), divided) << octets.size() << " by way " << static_cast<int>(way);
    const std::uint32_t pieced = vitcp::crc_by(way, all.subspan(cut), vitcp::crc_by(way, all.first(cut)));
    ASSERT_EQ(stored(pieced), divided) << octets.size() << " by way " << static_cast<int>(way);
  }
}

// Around blocks of sixteen, of 64 and of 256 octets.
TEST(VitcpCrc, each_way_is_as_divided) {
  Noise noise(12);
  for (std::size_t length = 4; length <= 200; ++length) expect_each_way_as_divided(noise.bytes(length));
  for (const std::size_t block : {256U, 512U, 1024U})
    for (const std::size_t behind : {0U, 1U, 16U, 63U, 64U, 130U, 192U, 255U})
      expect_each_way_as_divided(noise.bytes(block + behind));
  RecordProperty("widest", static_cast<int>(vitcp::widest_crc_way()));
}

TEST(VitcpCrc, longest_segment_is_as_divided) { expect_each_way_as_divided(Noise(9).bytes(65'531)); }

TEST(VitcpCrc, pieces_give_the_crc_of_the_whole) {
  const auto octets = Noise(8).bytes(150);
  const std::uint32_t whole = vitcp::crc(octets);
  for (std::size_t cut = 0; cut <= octets.size(); ++cut)
    ASSERT_EQ(vitcp::crc(Bytes(octets).subspan(cut), vitcp::crc(Bytes(octets).first(cut))), whole) << cut;
}

// Blocks that are folded, at any address, against pieces that are too short to be.
TEST(VitcpCrc, long_pieces_are_as_short_ones) {
  const auto octets = Noise(10).bytes(1'000);
  for (std::size_t from = 0; from < 70; ++from) {
    const Bytes whole = Bytes(octets).subspan(from);
    std::uint32_t pieced = 0;
    for (std::size_t at = 0; at < whole.size(); at += 63)
      pieced = vitcp::crc(whole.subspan(at, std::min<std::size_t>(63, whole.size() - at)), pieced);
    ASSERT_EQ(vitcp::crc(whole), pieced) << from;
  }
}

TEST(VitcpCrc, every_bit_counts) {
  for (std::size_t bit = 0; bit < 8 * nop.size(); ++bit) {
    auto changed = nop;
    changed[bit / 8] = static_cast<std::uint8_t>(changed[bit / 8] ^ 1U << bit % 8);
    EXPECT_NE(vitcp::crc(changed), vitcp::crc(nop)) << bit;
  }
}

}  // namespace
}  // namespace wire::test
