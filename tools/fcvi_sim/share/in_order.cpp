#include "tools/fcvi_sim/share/in_order.hpp"

#include <map>

namespace sim::share {
namespace {

constexpr int wait_ms = 200;

/// False: `take` wants no more.
bool take_those_due(std::map<std::uint64_t, Result>& early, std::uint64_t& taken, const Take& take) {
  for (auto next = early.find(taken); next != early.end(); next = early.find(taken)) {
    if (!take(next->second)) return false;
    early.erase(next);
    ++taken;
  }
  return true;
}

}  // namespace

void carry_out_in_order(Hands& hands, std::uint64_t count, const Take& take, const volatile std::sig_atomic_t& stop) {
  std::map<std::uint64_t, Result> early;
  std::vector<Result> results;
  std::uint64_t given = 0, taken = 0;
  while (taken < count && stop == 0) {
    while (given < count && hands.is_wanting()) hands.give({given++, 1});
    results.clear();
    hands.wait(wait_ms, results);
    for (Result& result : results) early.emplace(result.piece, std::move(result));
    if (!take_those_due(early, taken, take)) break;
  }
  hands.end(stop != 0);
}

}  // namespace sim::share
