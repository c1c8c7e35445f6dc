#include "tools/fcvi_sim/host/pace.hpp"

namespace sim {
namespace {

std::uint32_t fraction(Random& random) { return static_cast<std::uint32_t>(random.next() >> 32); }

struct Exponential {
  std::uint64_t whole;
  std::uint32_t fraction;  // in 2^-32
};

// Of mean 1, by J. von Neumann's comparisons of evenly distributed numbers (1951): without a logarithm, whose last
// digit is not the same on all machines.
Exponential draw_exponential(Random& random) {
  for (std::uint64_t whole = 0;; ++whole) {
    const std::uint32_t first = fraction(random);
    bool odd = true;
    for (std::uint32_t last = first, next = fraction(random); next < last; next = fraction(random)) {
      last = next;
      odd = !odd;
    }
    if (odd) return {whole, first};
  }
}

}  // namespace

std::uint64_t Pace::drawn() {
  const auto [whole, fraction] = draw_exponential(random_);
  const std::uint64_t high = spec_.gap >> 32, low = spec_.gap & 0xFFFFFFFF;
  return spec_.gap * whole + high * fraction + (low * fraction >> 32);
}

runtime::TimeNs Pace::next_gap() {
  rest_ += spec_.poisson ? drawn() : spec_.gap;
  const std::uint64_t whole = rest_ / PaceSpec::gap_units;
  rest_ %= PaceSpec::gap_units;
  return static_cast<runtime::TimeNs>(whole);
}

}  // namespace sim
