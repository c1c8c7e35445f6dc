#include "tools/fcvi_sim/soak/campaign.hpp"

#include <algorithm>
#include <utility>

#include "tools/fcvi_sim/share/packing.hpp"
#include "tools/fcvi_sim/share/process.hpp"

namespace sim::soak {
namespace {

constexpr std::uint64_t at_once = 16;      // seeds for one process
constexpr std::uint64_t window = 1 << 16;  // so far one process may be ahead of the slowest
constexpr int wait_ms = 200;

/// All but the turns: who shrinks a failure runs it again.
std::string packed(const Outcome& outcome) {
  share::Packer packer;
  packer << outcome.frames << outcome.digest << outcome.kind << outcome.what;
  return packer.text();
}

Outcome outcome_of(const share::Result& result) {
  if (!result.death.empty()) return {.kind = result.death, .what = result.death + "\n"};
  share::Unpacker unpacker(result.text);
  Outcome outcome{.frames = unpacker.number()};
  outcome.digest = unpacker.number();
  outcome.kind = unpacker.text();
  outcome.what = unpacker.text();
  return outcome;
}

/// So that there is a number behind the last.
Plan ending(Plan plan) {
  plan.last = std::min(plan.last, Plan::no_end - 1);
  return plan;
}

}  // namespace

share::Run as_pieces(RunSeed run) {
  return [run = std::move(run)](std::uint64_t seed) {
    share::limit_processor_time(share::most_seconds_of_a_run);
    return packed(run(seed));
  };
}

Campaign::Campaign(Plan plan, Totals done, RunSeed run, const share::Team& team)
    : plan_(ending(plan)), totals_(std::move(done)), hands_(as_pieces(std::move(run)), team), fresh_(totals_.next) {}

bool Campaign::has_work() const { return fresh_ <= plan_.last && fresh_ - totals_.next < window; }

share::Pieces Campaign::next_work() {
  const share::Pieces seeds{fresh_, std::min(at_once - 1, plan_.last - fresh_) + 1};
  fresh_ += seeds.count;
  return seeds;
}

void Campaign::hand_out() {
  while (has_work() && hands_.is_wanting()) hands_.give(next_work());
}

bool Campaign::wait_for_results() {
  if (!hands_.is_busy()) return false;
  std::vector<share::Result> results;
  hands_.wait(wait_ms, results);
  for (const share::Result& result : results) early_.emplace(result.piece, outcome_of(result));
  return true;
}

void Campaign::merge() {
  for (auto next = early_.find(totals_.next); next != early_.end() && !is_enough(); next = early_.find(totals_.next)) {
    const Outcome& outcome = next->second;
    ++totals_.runs;
    totals_.frames += outcome.frames;
    totals_.digest = (totals_.digest ^ outcome.digest) * 0x100000001B3;
    if (!outcome.passed()) totals_.failures.push_back({totals_.next, outcome.kind, outcome.what});
    early_.erase(next);
    ++totals_.next;
  }
}

const Totals& Campaign::carry_out(const Tell& tell, const volatile std::sig_atomic_t& stop) {
  while (!is_complete() && stop < 2) {
    const bool over = stop != 0 || (plan_.until && std::chrono::steady_clock::now() >= *plan_.until);
    if (!over) hand_out();
    const bool anybody = wait_for_results();
    merge();
    if (over && !anybody) break;
    tell(totals_);
  }
  hands_.end(stop > 1);
  tell(totals_);
  return totals_;
}

}  // namespace sim::soak
