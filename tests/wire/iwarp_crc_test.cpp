// CRC-32C: the vectors of RFC 3720 B.4, the two FPDUs that RFC 5044 prints, and pieces.
#include <gtest/gtest.h>

#include <array>

#include "hex.hpp"
#include "wire/iwarp/crc.hpp"

namespace wire::test {
namespace {

using Octets = std::vector<std::uint8_t>;

Octets stored(std::uint32_t crc) {
  Octets field(iwarp::crc_bytes);
  iwarp::store_crc(field.data(), crc);
  EXPECT_EQ(iwarp::load_crc(field.data()), crc);
  return field;
}

// RFC 5044 Figure 5: the first FPDU, which begins with a marker.
TEST(IwarpCrc, fpdu_of_figure_5) {
  const Octets covered = join(hex("0000 0000"                                    // marker: reserved, FPDUPTR
                                  "002A"                                         // ULPDU Length
                                  "41 43 00000000 00000000 00000001 00000000"),  // DDP header: Send, last
                              zeros(24));                                        // Send data
  EXPECT_EQ(stored(iwarp::crc32c(covered)), hex("52239983"));
}

// RFC 5044 Figure 6: the second FPDU, at octet 492, with a marker at octet 512. RFC 5044 4.4.
TEST(IwarpCrc, fpdu_of_figure_6) {
  const Octets covered = join(hex("002A"                                       // ULPDU Length
                                  "41 43 00000000 00000000 00000002 00000000"  // DDP header: Send, last
                                  "0000 0014"),                                // marker: reserved, FPDUPTR
                              zeros(24));                                      // Send data
  EXPECT_EQ(stored(iwarp::crc32c(covered)), hex("84925898"));
}

// RFC 3720 B.4 CRC Examples, in the order of the wire. RFC 5044 4.4.
TEST(IwarpCrc, examples_of_iscsi) {
  Octets up, down;
  for (std::uint8_t octet = 0; octet < 32; ++octet) up.push_back(octet);
  down.assign(up.rbegin(), up.rend());
  EXPECT_EQ(stored(iwarp::crc32c(zeros(32))), hex("AA36918A"));
  EXPECT_EQ(stored(iwarp::crc32c(Octets(32, 0xFF))), hex("43ABA862"));
  EXPECT_EQ(stored(iwarp::crc32c(up)), hex("4E79DD46"));
  EXPECT_EQ(stored(iwarp::crc32c(down)), hex("5CDB3F11"));
  const auto read_command = hex(
      "01C00000 00000000 00000000 00000000 14000000 00000400 00000014 00000018 28000000 00000000 02000000 00000000");
  EXPECT_EQ(stored(iwarp::crc32c(read_command)), hex("563A96D9"));
}

// Ruling I-6.
TEST(IwarpCrc, of_nothing_is_zero) {
  EXPECT_EQ(iwarp::crc32c(Bytes{}), 0U);
  EXPECT_EQ(iwarp::crc32c(std::span<const Bytes>{}), 0U);
}

/// Bit by bit: the register that RFC 3720 describes, reflected.
std::uint32_t by_bits(Bytes octets) {
  std::uint32_t state = 0xFFFFFFFF;
  for (const std::uint8_t octet : octets) {
    state ^= octet;
    for (int bit = 0; bit < 8; ++bit) state = (state >> 1) ^ ((state & 1) != 0 ? 0x82F63B78U : 0U);
  }
  return ~state;
}

TEST(IwarpCrc, any_length_is_as_bit_by_bit) {
  Noise noise(5);
  for (std::size_t length = 0; length <= 600; ++length) {
    const auto octets = noise.bytes(length);
    ASSERT_EQ(iwarp::crc32c(octets), by_bits(octets)) << length;
  }
}

TEST(IwarpCrc, pieces_give_the_crc_of_the_whole) {
  const auto octets = Noise(6).bytes(150);
  const Bytes whole = octets;
  for (std::size_t cut = 0; cut <= whole.size(); ++cut) {
    const std::array<Bytes, 3> pieces{whole.first(cut / 2), whole.subspan(cut / 2, cut - cut / 2), whole.subspan(cut)};
    ASSERT_EQ(iwarp::crc32c(pieces), iwarp::crc32c(whole)) << cut;
    ASSERT_EQ(iwarp::crc32c(whole.subspan(cut), iwarp::crc32c(whole.first(cut))), iwarp::crc32c(whole)) << cut;
  }
}

}  // namespace
}  // namespace wire::test
