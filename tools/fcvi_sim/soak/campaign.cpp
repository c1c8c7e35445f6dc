#include "tools/fcvi_sim/soak/campaign.hpp"

#include <poll.h>

#include <algorithm>
#include <utility>

namespace sim::soak {
namespace {

constexpr std::uint64_t at_once = 16;      // seeds for a worker
constexpr std::uint64_t window = 1 << 16;  // so far a worker may be ahead of the slowest
constexpr int poll_ms = 200;

/// So that there is a number behind the last.
Plan ending(Plan plan) {
  plan.last = std::min(plan.last, Plan::no_end - 1);
  return plan;
}

}  // namespace

Campaign::Campaign(Plan plan, Totals done, Worker::Run run)
    : plan_(ending(plan)), totals_(std::move(done)), run_(std::move(run)), fresh_(totals_.next) {}
Campaign::~Campaign() = default;

bool Campaign::has_work() const { return !again_.empty() || (fresh_ <= plan_.last && fresh_ - totals_.next < window); }

Seeds Campaign::next_work() {
  if (!again_.empty()) {
    const Seeds seeds = again_.front();
    again_.pop_front();
    return seeds;
  }
  const Seeds seeds{fresh_, std::min(at_once - 1, plan_.last - fresh_) + 1};
  fresh_ += seeds.count;
  return seeds;
}

void Campaign::hand_out() {
  for (auto& worker : workers_) {
    if (!has_work()) return;
    if (worker == nullptr) worker = std::make_unique<Worker>(run_);
    if (worker->is_idle()) worker->give(next_work());
  }
}

bool Campaign::wait_for_results() {
  std::vector<pollfd> polled;
  std::vector<std::unique_ptr<Worker>*> busy;
  for (auto& worker : workers_) {
    if (worker == nullptr || worker->is_idle()) continue;
    polled.push_back({worker->descriptor(), POLLIN, 0});
    busy.push_back(&worker);
  }
  if (polled.empty()) return false;
  if (::poll(polled.data(), polled.size(), poll_ms) <= 0) return true;
  for (std::size_t i = 0; i < polled.size(); ++i)
    if (polled[i].revents != 0) take_from(*busy[i]);
  return true;
}

void Campaign::take_from(std::unique_ptr<Worker>& worker) {
  std::vector<Worker::Result> results;
  worker->take(results);
  for (Worker::Result& result : results) early_.emplace(result.seed, std::move(result.outcome));
  if (!worker->is_dead()) return;
  if (worker->left().count != 0) again_.push_back(worker->left());
  worker.reset();
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
  workers_.resize(plan_.jobs);
  while (!is_complete() && stop < 2) {
    const bool over = stop != 0 || (plan_.until && std::chrono::steady_clock::now() >= *plan_.until);
    if (!over) hand_out();
    const bool anybody = wait_for_results();
    merge();
    if (over && !anybody) break;
    tell(totals_);
  }
  workers_.clear();
  tell(totals_);
  return totals_;
}

}  // namespace sim::soak
