#include "wire/vitcp/crc.hpp"

#include <array>

namespace wire::vitcp {
namespace {

// ISA-L and zlib have the generators of Ethernet and iSCSI only. Sixteen tables let sixteen octets go in at once.
constexpr std::size_t slices = 16;
using Table = std::array<std::uint32_t, 256>;

/// DB710641h with the bits in the order in which they are transmitted: x^0 in the most significant one.
constexpr std::uint32_t generator = 0x82608EDB;

constexpr std::array<Table, slices> make_tables() {
  std::array<Table, slices> tables{};
  for (std::uint32_t octet = 0; octet < 256; ++octet) {
    std::uint32_t remainder = octet;
    for (int bit = 0; bit < 8; ++bit) remainder = (remainder >> 1) ^ ((remainder & 1) != 0 ? generator : 0);
    tables[0][octet] = remainder;
  }
  for (std::size_t slice = 1; slice < slices; ++slice)
    for (std::size_t octet = 0; octet < 256; ++octet) {
      const std::uint32_t before = tables[slice - 1][octet];
      tables[slice][octet] = (before >> 8) ^ tables[0][before & 0xFF];
    }
  return tables;
}
constexpr std::array<Table, slices> tables = make_tables();

std::uint32_t load_little(const std::uint8_t* from) {
  return boost::endian::endian_load<std::uint32_t, 4, boost::endian::order::little>(from);
}

/// What the four octets of `word` leave, with `behind` more octets of the same step behind them.
std::uint32_t four(std::uint32_t word, std::size_t behind) {
  return tables[behind + 3][word & 0xFF] ^ tables[behind + 2][word >> 8 & 0xFF] ^
         tables[behind + 1][word >> 16 & 0xFF] ^ tables[behind][word >> 24];
}

}  // namespace

std::uint32_t crc(Bytes octets, std::uint32_t before) noexcept {
  std::uint32_t state = ~before;
  const std::uint8_t* at = octets.data();
  std::size_t left = octets.size();
  for (; left >= slices; left -= slices, at += slices)
    state = four(load_little(at) ^ state, 12) ^ four(load_little(at + 4), 8) ^ four(load_little(at + 8), 4) ^
            four(load_little(at + 12), 0);
  for (; left > 0; --left, ++at) state = (state >> 8) ^ tables[0][(state ^ *at) & 0xFF];
  return ~state;
}

void store_crc(std::uint8_t* to, std::uint32_t crc) noexcept {
  boost::endian::endian_store<std::uint32_t, 4, boost::endian::order::little>(to, crc);
}

std::uint32_t load_crc(const std::uint8_t* from) noexcept { return load_little(from); }

}  // namespace wire::vitcp
