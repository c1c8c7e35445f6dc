#include "tools/fcvi_sim/share/workers.hpp"

#include <poll.h>

#include <algorithm>
#include <ranges>

namespace sim::share {
namespace {

bool is_free(const std::unique_ptr<Worker>& worker) { return worker == nullptr || worker->is_idle(); }

}  // namespace

bool Workers::is_wanting() const {
  return static_cast<std::size_t>(std::ranges::count_if(workers_, is_free)) > queue_.size();
}

bool Workers::is_busy() const { return !queue_.empty() || !std::ranges::all_of(workers_, is_free); }

void Workers::add(Pieces pieces) {
  queue_.push_back(pieces);
  hand_out();
}

void Workers::hand_out() {
  for (auto& worker : workers_) {
    if (queue_.empty()) return;
    if (!is_free(worker)) continue;
    if (worker == nullptr) worker = std::make_unique<Worker>(run_);
    worker->give(queue_.front());
    queue_.pop_front();
  }
}

void Workers::wait(int milliseconds, std::vector<Result>& to) {
  std::vector<pollfd> polled;
  std::vector<std::unique_ptr<Worker>*> busy;
  for (auto& worker : workers_) {
    if (is_free(worker)) continue;
    polled.push_back({worker->descriptor(), POLLIN, 0});
    busy.push_back(&worker);
  }
  if (::poll(polled.data(), polled.size(), milliseconds) <= 0) return;
  for (std::size_t i = 0; i < polled.size(); ++i)
    if (polled[i].revents != 0) take_from(*busy[i], to);
  hand_out();
}

void Workers::stop() {
  queue_.clear();
  for (auto& worker : workers_) worker.reset();
}

void Workers::take_from(std::unique_ptr<Worker>& worker, std::vector<Result>& to) {
  worker->take(to);
  if (!worker->is_dead()) return;
  if (worker->left().count != 0) queue_.push_front(worker->left());
  worker.reset();
}

}  // namespace sim::share
