#include "tools/fcvi_sim/scenario/random.hpp"

#include <cstring>

namespace sim {
namespace {

// splitmix64: seeds that differ little must not make sequences that are alike.
std::uint64_t mix(std::uint64_t value) {
  value += 0x9E3779B97F4A7C15;
  value = (value ^ value >> 30) * 0xBF58476D1CE4E5B9;
  value = (value ^ value >> 27) * 0x94D049BB133111EB;
  return value ^ value >> 31;
}

std::uint64_t engine_seed(std::uint64_t seed, std::string_view subsystem) {
  std::uint64_t hash = mix(seed);
  for (const char c : subsystem) hash = mix(hash ^ static_cast<unsigned char>(c));
  return hash;
}

}  // namespace

Random::Random(std::uint64_t seed, std::string_view subsystem) : engine_(engine_seed(seed, subsystem)) {}

void Random::fill(std::span<std::uint8_t> bytes) {
  while (!bytes.empty()) {
    const std::uint64_t word = next();
    const std::size_t size = std::min(bytes.size(), sizeof word);
    std::memcpy(bytes.data(), &word, size);
    bytes = bytes.subspan(size);
  }
}

}  // namespace sim
