#include "runtime/scheduler.hpp"

#include <algorithm>
#include <cassert>

namespace runtime {

Event::~Event() {
  if (pending()) scheduler_->cancel(*this);
}

Scheduler::~Scheduler() {
  for (auto& entry : heap_) entry.event->position_ = Event::unscheduled;
}

void Scheduler::sift_up(std::size_t position, const Entry& entry) {
  while (position > 0) {
    const std::size_t parent = (position - 1) / 4;
    if (!entry.before(heap_[parent])) break;
    place(position, heap_[parent]);
    position = parent;
  }
  place(position, entry);
}

void Scheduler::sift_down(std::size_t position, const Entry& entry) {
  const std::size_t count = heap_.size();
  for (;;) {
    const std::size_t first = position * 4 + 1;
    if (first >= count) break;
    const std::size_t last = std::min(first + 4, count);
    std::size_t least = first;
    for (std::size_t child = first + 1; child < last; ++child)
      if (heap_[child].before(heap_[least])) least = child;
    if (!heap_[least].before(entry)) break;
    place(position, heap_[least]);
    position = least;
  }
  place(position, entry);
}

void Scheduler::schedule(Event& event, TimeNs at) {
  assert(!event.pending() || event.scheduler_ == this);
  const Entry entry{std::max(at, now_), next_order_++, &event};
  if (event.pending()) {  // a later order, and any time: it may move either way
    const std::size_t position = event.position_;
    if (position > 0 && entry.before(heap_[(position - 1) / 4]))
      sift_up(position, entry);
    else
      sift_down(position, entry);
    return;
  }
  event.scheduler_ = this;
  heap_.push_back(entry);
  sift_up(heap_.size() - 1, entry);
}

void Scheduler::remove(std::size_t position) {
  heap_[position].event->position_ = Event::unscheduled;
  const Entry last = heap_.back();
  heap_.pop_back();
  if (position == heap_.size()) return;
  if (position > 0 && last.before(heap_[(position - 1) / 4]))
    sift_up(position, last);
  else
    sift_down(position, last);
}

void Scheduler::cancel(Event& event) {
  if (event.pending()) remove(event.position_);
}

bool Scheduler::run_next(TimeNs limit) {
  if (heap_.empty() || heap_.front().at > limit) return false;
  const Entry entry = heap_.front();
  assert(entry.at >= now_ && "time goes forward only");
  now_ = entry.at;
  remove(0);
  ++fired_;
  entry.event->fire(now_);
  return true;
}

void Scheduler::run_until(TimeNs limit) {
  while (run_next(limit)) {}
  now_ = std::max(now_, limit);
}

}  // namespace runtime
