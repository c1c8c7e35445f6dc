#include "vi/consumer_memory.hpp"

#include <atomic>
#include <cstring>

namespace vi::consumer_memory {
namespace {

template <class Word>
bool place_ending_in(std::byte* to, std::span<const std::uint8_t> from) {
  const auto end = reinterpret_cast<std::uintptr_t>(to) + from.size();
  if (from.size() < sizeof(Word) || end % sizeof(Word) != 0) return false;
  const std::size_t body = from.size() - sizeof(Word);
  Word last;
  std::memcpy(&last, from.data() + body, sizeof last);
  std::memcpy(to, from.data(), body);
  std::atomic_ref<Word>(*reinterpret_cast<Word*>(to + body)).store(last, std::memory_order_release);
  return true;
}

/// A single access of the largest size that the address allows and that is not too much.
template <class Call>
std::size_t largest_word(std::uintptr_t address, std::size_t left, bool& there, Call call) {
  if (address % 8 == 0 && left >= 8) return there = call(std::uint64_t{}), 8;
  if (address % 4 == 0 && left >= 4) return there = call(std::uint32_t{}), 4;
  if (address % 2 == 0 && left >= 2) return there = call(std::uint16_t{}), 2;
  return there = call(std::uint8_t{}), 1;
}

}  // namespace

void place(std::byte* to, std::span<const std::uint8_t> from) {
  place_ending_in<std::uint64_t>(to, from) || place_ending_in<std::uint32_t>(to, from) ||
      place_ending_in<std::uint16_t>(to, from) || place_ending_in<std::uint8_t>(to, from);
}

bool read_few(std::span<std::uint8_t> to, const std::byte* from) {
  bool there = true;
  for (std::size_t at = 0; there && at < to.size();) {
    const auto read = [&](auto word) {
      if (!caught::load(from + at, word)) return false;
      std::memcpy(to.data() + at, &word, sizeof word);
      return true;
    };
    at += largest_word(reinterpret_cast<std::uintptr_t>(from + at), to.size() - at, there, read);
  }
  return there;
}

// Upwards, in the largest words that end where they may: the last one is the last aligned one, and each is a release.
bool place_few(std::byte* to, std::span<const std::uint8_t> from) {
  bool there = true;
  for (std::size_t at = 0; there && at < from.size();) {
    const auto write = [&](auto word) {
      std::memcpy(&word, from.data() + at, sizeof word);
      return caught::store(to + at, word);
    };
    at += largest_word(reinterpret_cast<std::uintptr_t>(to + at), from.size() - at, there, write);
  }
  return there;
}

}  // namespace vi::consumer_memory
