// The simulator's random numbers: one seed, and a generator for each subsystem, so that they do not affect each other.
#pragma once
#include <cstdint>
#include <random>
#include <span>
#include <string_view>

namespace sim {

class Random {
 public:
  /// The same seed and subsystem name draw the same numbers, on every machine.
  Random(std::uint64_t seed, std::string_view subsystem);
  std::uint64_t next() { return engine_(); }
  /// 0 to limit - 1, evenly as far as 64 bits allow.
  std::uint64_t below(std::uint64_t limit) { return engine_() % limit; }
  void fill(std::span<std::uint8_t> bytes);

 private:
  std::mt19937_64 engine_;
};

}  // namespace sim
