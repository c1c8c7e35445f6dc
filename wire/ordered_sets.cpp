#include "wire/ordered_sets.hpp"

#include <array>

namespace wire {
namespace {

struct OrderedSet {
  std::uint32_t word;
  std::uint8_t code;
};
// The last two bytes tell SOFs apart; of an EOF the second one depends on the running disparity.
constexpr std::array<OrderedSet, 8> sofs{{{0x5858, 0x28},
                                          {0x5959, 0x29},
                                          {0x5555, 0x2D},
                                          {0x5656, 0x2E},
                                          {0x3939, 0x31},
                                          {0x3535, 0x35},
                                          {0x3636, 0x36},
                                          {0x1919, 0x39}}};
constexpr std::array<OrderedSet, 16> eofs{{{0x95D5D5, 0x41},
                                           {0xB5D5D5, 0x41},
                                           {0x957575, 0x42},
                                           {0xB57575, 0x42},
                                           {0x959999, 0x44},
                                           {0xB59999, 0x44},
                                           {0x959595, 0x46},
                                           {0xB59595, 0x46},
                                           {0x8AD5D5, 0x49},
                                           {0xAAD5D5, 0x49},
                                           {0x8A9595, 0x4E},
                                           {0xAA9595, 0x4E},
                                           {0x8A9999, 0x4F},
                                           {0xAA9999, 0x4F},
                                           {0x95F5F5, 0x50},
                                           {0xB5F5F5, 0x50}}};

template <class Code, std::size_t Count>
std::optional<Code> code_of(const std::array<OrderedSet, Count>& sets, std::uint32_t word) {
  for (const OrderedSet& set : sets)
    if (set.word == word) return static_cast<Code>(set.code);
  return std::nullopt;
}

}  // namespace

std::optional<Sof> sof_of_ordered_set(std::span<const std::uint8_t, 4> set) {
  return code_of<Sof>(sofs, load_big<2>(set.data() + 2));
}

std::optional<Eof> eof_of_ordered_set(std::span<const std::uint8_t, 4> set) {
  return code_of<Eof>(eofs, load_big<3>(set.data() + 1));
}

}  // namespace wire
