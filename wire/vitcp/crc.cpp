#include "wire/vitcp/crc.hpp"

#include <array>

#ifdef __x86_64__
#include <immintrin.h>
#endif

namespace wire::vitcp {
namespace {

// ISA-L and zlib have the generators of Ethernet and iSCSI only. Sixteen tables let sixteen octets go in at once.
constexpr std::size_t slices = 16;
using Table = std::array<std::uint32_t, 256>;

/// DB710641h with the bits in the order in which they are transmitted: x^0 in the most significant one.
constexpr std::uint32_t generator = 0x82608EDB;

/// Times x, modulo the generator.
constexpr std::uint32_t times_x(std::uint32_t value) { return (value >> 1) ^ ((value & 1) != 0 ? generator : 0); }

constexpr std::array<Table, slices> make_tables() {
  std::array<Table, slices> tables{};
  for (std::uint32_t octet = 0; octet < 256; ++octet) {
    std::uint32_t remainder = octet;
    for (int bit = 0; bit < 8; ++bit) remainder = times_x(remainder);
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

std::uint32_t by_tables(std::uint32_t state, Bytes octets) {
  const std::uint8_t* at = octets.data();
  std::size_t left = octets.size();
  for (; left >= slices; left -= slices, at += slices)
    state = four(load_little(at) ^ state, 12) ^ four(load_little(at + 4), 8) ^ four(load_little(at + 8), 4) ^
            four(load_little(at + 12), 0);
  for (; left > 0; --left, ++at) state = (state >> 8) ^ tables[0][(state ^ *at) & 0xFF];
  return state;
}

#ifdef __x86_64__

// Sixteen octets, times x^n, are as much as what a multiplication without carries puts in the place of those that
// stand n bits behind them: so a block is folded into a later one, until sixteen octets with the same remainder are
// left (Gopal and others, "Fast CRC Computation for Generic Polynomials Using PCLMULQDQ Instruction").

constexpr std::size_t lane_octets = 16, block_octets = 4 * lane_octets;

/// x^exponent modulo the generator, as a factor of the instruction: its product of two mirrored numbers is one bit off.
constexpr long long power(int exponent) {
  std::uint32_t value = 0x80000000;
  for (int i = 0; i < exponent; ++i) value = times_x(value);
  return static_cast<long long>(std::uint64_t{value} << 1);
}

#define WIRE_VITCP_FOLDS [[gnu::target("pclmul,sse4.1")]]

WIRE_VITCP_FOLDS inline __m128i load_lane(const std::uint8_t* from) {
  return _mm_loadu_si128(reinterpret_cast<const __m128i*>(from));
}

/// `value` with `next`, which stands so many bits behind it as the powers say.
WIRE_VITCP_FOLDS inline __m128i fold(__m128i value, __m128i powers, __m128i next) {
  const __m128i first = _mm_clmulepi64_si128(value, powers, 0x00), second = _mm_clmulepi64_si128(value, powers, 0x11);
  return _mm_xor_si128(_mm_xor_si128(first, second), next);
}

/// Of whole blocks, at least one.
WIRE_VITCP_FOLDS std::uint32_t by_folding(std::uint32_t state, Bytes blocks) {
  constexpr int block_bits = 8 * block_octets, lane_bits = 8 * lane_octets;
  const __m128i by_block = _mm_set_epi64x(power(block_bits - 32), power(block_bits + 32));
  const __m128i by_lane = _mm_set_epi64x(power(lane_bits - 32), power(lane_bits + 32));
  const std::uint8_t* at = blocks.data();
  __m128i a = _mm_xor_si128(load_lane(at), _mm_cvtsi32_si128(static_cast<int>(state)));
  __m128i b = load_lane(at + 16), c = load_lane(at + 32), d = load_lane(at + 48);
  for (std::size_t left = blocks.size() - block_octets; left > 0; left -= block_octets) {
    at += block_octets;
    a = fold(a, by_block, load_lane(at));
    b = fold(b, by_block, load_lane(at + 16));
    c = fold(c, by_block, load_lane(at + 32));
    d = fold(d, by_block, load_lane(at + 48));
  }
  const __m128i all = fold(fold(fold(a, by_lane, b), by_lane, c), by_lane, d);
  std::array<std::uint8_t, lane_octets> folded;
  _mm_storeu_si128(reinterpret_cast<__m128i*>(folded.data()), all);
  return by_tables(0, folded);
}

#undef WIRE_VITCP_FOLDS

// The same with four lanes in each register: where the octets are in a near cache, about three times as fast.

constexpr std::size_t wide_lane_octets = 4 * lane_octets, wide_block_octets = 4 * wide_lane_octets;

#define WIRE_VITCP_FOLDS_WIDE [[gnu::target("vpclmulqdq,pclmul,avx512f,avx512vl,sse4.1")]]

/// For what stands so many bits behind.
template <int bits>
WIRE_VITCP_FOLDS_WIDE inline __m512i wide_powers() {
  constexpr long long high = power(bits - 32), low = power(bits + 32);
  return _mm512_set_epi64(high, low, high, low, high, low, high, low);
}

WIRE_VITCP_FOLDS_WIDE inline __m512i load_wide(const std::uint8_t* from) { return _mm512_loadu_si512(from); }

WIRE_VITCP_FOLDS_WIDE inline __m512i fold_wide(__m512i value, __m512i powers, __m512i next) {
  constexpr int exclusive_or_of_three = 0x96;
  const __m512i first = _mm512_clmulepi64_epi128(value, powers, 0x00);
  const __m512i second = _mm512_clmulepi64_epi128(value, powers, 0x11);
  return _mm512_ternarylogic_epi64(first, second, next, exclusive_or_of_three);
}

/// Of whole wide blocks, at least one.
WIRE_VITCP_FOLDS_WIDE std::uint32_t by_wide_folding(std::uint32_t state, Bytes blocks) {
  const __m512i by_block = wide_powers<8 * wide_block_octets>(), by_lane = wide_powers<8 * wide_lane_octets>();
  const std::uint8_t* at = blocks.data();
  __m512i a = _mm512_zextsi128_si512(_mm_cvtsi32_si128(static_cast<int>(state)));
  a = _mm512_xor_si512(a, load_wide(at));
  __m512i b = load_wide(at + 64), c = load_wide(at + 128), d = load_wide(at + 192);
  for (std::size_t left = blocks.size() - wide_block_octets; left > 0; left -= wide_block_octets) {
    at += wide_block_octets;
    a = fold_wide(a, by_block, load_wide(at));
    b = fold_wide(b, by_block, load_wide(at + 64));
    c = fold_wide(c, by_block, load_wide(at + 128));
    d = fold_wide(d, by_block, load_wide(at + 192));
  }
  std::array<std::uint8_t, wide_lane_octets> folded;
  _mm512_storeu_si512(folded.data(), fold_wide(fold_wide(fold_wide(a, by_lane, b), by_lane, c), by_lane, d));
  _mm256_zeroupper();  // what follows would wait for the upper halves (wire/vector_registers.hpp)
  return by_folding(0, folded);
}

#undef WIRE_VITCP_FOLDS_WIDE

// Read from what the loader noted of the processor: no state of ours.
bool folds_wide() {
  return __builtin_cpu_supports("vpclmulqdq") != 0 && __builtin_cpu_supports("avx512f") != 0 &&
         __builtin_cpu_supports("avx512vl") != 0;
}
bool folds() { return __builtin_cpu_supports("pclmul") != 0 && __builtin_cpu_supports("sse4.1") != 0; }

/// Of as many octets from the beginning as this takes, which is told.
std::size_t fold_blocks(std::uint32_t& state, Bytes octets, CrcWay widest) {
  const std::size_t whole = octets.size() / block_octets * block_octets;
  if (whole == 0 || widest == CrcWay::tables || !folds()) return 0;
  std::size_t wide = octets.size() / wide_block_octets * wide_block_octets;
  if (widest != CrcWay::wide_folding || !folds_wide()) wide = 0;
  if (wide != 0) state = by_wide_folding(state, octets.first(wide));
  if (wide != whole) state = by_folding(state, octets.subspan(wide, whole - wide));
  return whole;
}

#else

bool folds_wide() { return false; }
bool folds() { return false; }
std::size_t fold_blocks(std::uint32_t&, Bytes, CrcWay) { return 0; }

#endif

}  // namespace

std::uint32_t crc(Bytes octets, std::uint32_t before) noexcept { return crc_by(CrcWay::wide_folding, octets, before); }

CrcWay widest_crc_way() noexcept {
  if (!folds()) return CrcWay::tables;
  return folds_wide() ? CrcWay::wide_folding : CrcWay::folding;
}

std::uint32_t crc_by(CrcWay widest, Bytes octets, std::uint32_t before) noexcept {
  std::uint32_t state = ~before;
  const std::size_t folded = fold_blocks(state, octets, widest);
  return ~by_tables(state, octets.subspan(folded));
}

void store_crc(std::uint8_t* to, std::uint32_t crc) noexcept {
  boost::endian::endian_store<std::uint32_t, 4, boost::endian::order::little>(to, crc);
}

std::uint32_t load_crc(const std::uint8_t* from) noexcept { return load_little(from); }

}  // namespace wire::vitcp
