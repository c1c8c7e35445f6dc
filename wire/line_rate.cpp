#include "wire/line_rate.hpp"

namespace wire {
namespace {
struct LineRate {
  const char* name;
  std::uint64_t bytes_per_second;
};
// FC-PI: 8b/10b up to 8GFC, 64b/66b above.
constexpr LineRate line_rates[] = {
    LineRate{"1GFC", 106'250'000},    LineRate{"2GFC", 212'500'000},      LineRate{"4GFC", 425'000'000},
    LineRate{"8GFC", 850'000'000},    LineRate{"16GFC", 1'700'000'000},   LineRate{"32GFC", 3'400'000'000},
    LineRate{"64GFC", 7'000'000'000}, LineRate{"128GFC", 13'600'000'000},
};
}  // namespace

std::uint64_t line_rate_bytes_per_second(std::string_view name) {
  for (const auto& rate : line_rates)
    if (name == rate.name) return rate.bytes_per_second;
  return 0;
}

}  // namespace wire
