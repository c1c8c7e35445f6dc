// Views over bytes, and bounded big-endian loads and stores of 1 to 8 bytes.
#pragma once
#include <boost/endian/conversion.hpp>
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <span>
#include <type_traits>

namespace wire {

using Bytes = std::span<const std::uint8_t>;
using MutableBytes = std::span<std::uint8_t>;

/// Lengths of Fibre Channel payloads and FIP descriptors count words.
inline constexpr std::size_t word_size = 4;

/// The smallest unsigned type that holds Size bytes.
template <std::size_t Size>
using UnsignedOf = std::conditional_t<
    Size == 1, std::uint8_t,
    std::conditional_t<Size == 2, std::uint16_t, std::conditional_t<Size <= 4, std::uint32_t, std::uint64_t>>>;

/// Size big-endian bytes at `from`, which the caller has bounded.
template <std::size_t Size>
[[nodiscard]] inline UnsignedOf<Size> load_big(const std::uint8_t* from) noexcept {
  static_assert(Size >= 1 && Size <= 8);
  return boost::endian::endian_load<UnsignedOf<Size>, Size, boost::endian::order::big>(from);
}

/// The low Size bytes of `value`, big-endian, at `to`, which the caller has bounded.
template <std::size_t Size>
inline void store_big(std::uint8_t* to, UnsignedOf<Size> value) noexcept {
  static_assert(Size >= 1 && Size <= 8);
  boost::endian::endian_store<UnsignedOf<Size>, Size, boost::endian::order::big>(to, value);
}

/// As load_big, at an offset that is checked in debug and simulation builds.
template <std::size_t Size>
[[nodiscard]] inline UnsignedOf<Size> load_big(Bytes bytes, std::size_t offset) noexcept {
  assert(offset + Size <= bytes.size());
  return load_big<Size>(bytes.data() + offset);
}
template <std::size_t Size>
inline void store_big(MutableBytes bytes, std::size_t offset, UnsignedOf<Size> value) noexcept {
  assert(offset + Size <= bytes.size());
  store_big<Size>(bytes.data() + offset, value);
}

}  // namespace wire
