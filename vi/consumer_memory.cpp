#include "vi/consumer_memory.hpp"

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
  store(to + body, last, std::memory_order_release);
  return true;
}

}  // namespace

void place(std::byte* to, std::span<const std::uint8_t> from) {
  place_ending_in<std::uint64_t>(to, from) || place_ending_in<std::uint32_t>(to, from) ||
      place_ending_in<std::uint16_t>(to, from) || place_ending_in<std::uint8_t>(to, from);
}

}  // namespace vi::consumer_memory
