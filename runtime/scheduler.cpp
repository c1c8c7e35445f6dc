#include "runtime/scheduler.hpp"

#include <algorithm>
#include <cassert>
#include <utility>

namespace runtime {

Event::~Event() {
  if (pending()) scheduler_->cancel(*this);
}

Scheduler::~Scheduler() {
  close_gap();
  for (auto& entry : heap_) entry.event->position_ = Event::unscheduled;
  for (; now_first_ != now_end_; ++now_first_)
    if (Event* event = now_entry(now_first_).event) event->position_ = Event::unscheduled;
}

// --- the heap ----------------------------------------------------------------------------------------------------

// An entry goes through them in parts, which stay in registers. As a whole it would be written to memory in halves and
// read at once, which a processor waits for: 5 % of a simulation's time.
[[gnu::always_inline]] inline void Scheduler::sift_up(std::size_t position, Entry entry) {
  while (position > 0) {
    const std::size_t parent = (position - 1) / 4;
    if (!entry.before(heap_[parent])) break;
    place(position, heap_[parent]);
    position = parent;
  }
  place(position, entry);
}

[[gnu::always_inline]] inline void Scheduler::sift_down(std::size_t position, Entry entry) {
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

void Scheduler::insert(TimeNs at, std::uint64_t order, Event* event) {
  if (gap_) {
    gap_ = false;
    return sift_down(0, {at, order, event});
  }
  heap_.emplace_back();
  sift_up(heap_.size() - 1, {at, order, event});
}

/// From anywhere but the root's gap.
void Scheduler::move(std::size_t position, TimeNs at, std::uint64_t order, Event* event) {
  const Entry entry{at, order, event};
  if (position > 0 && entry.before(heap_[(position - 1) / 4])) return sift_up(position, entry);
  sift_down(position, entry);
}

void Scheduler::remove(std::size_t position) {
  heap_[position].event->position_ = Event::unscheduled;
  const Entry last = heap_.back();
  heap_.pop_back();
  if (position != heap_.size()) move(position, last.at, last.order, last.event);
}

void Scheduler::close_gap() {
  if (!gap_) return;
  gap_ = false;
  const Entry last = heap_.back();
  heap_.pop_back();
  if (!heap_.empty()) sift_down(0, last);
}

TimeNs Scheduler::time_below_gap() const {
  TimeNs least = never;
  for (std::size_t child = 1; child < std::min<std::size_t>(5, heap_.size()); ++child)
    least = std::min(least, heap_[child].at);
  return least;
}

// --- events of now -----------------------------------------------------------------------------------------------

inline void Scheduler::remove_now(Event& event) {
  now_entry(event.position_ & ~Event::of_now).event = nullptr;
  event.position_ = Event::unscheduled;
  --now_count_;
}

inline void Scheduler::push_now(Event& event) {
  if (event.pending()) cancel(event);
  if (now_count_ == 0) now_first_ = now_end_;
  if (now_end_ - now_first_ == now_ring_.size()) grow_now();
  const std::uint32_t place = now_end_++ & static_cast<std::uint32_t>(now_ring_.size() - 1);
  now_ring_[place] = {next_order_++, &event};
  ++now_count_;
  event.scheduler_ = this;
  event.position_ = Event::of_now | place;
}

// Those that were cancelled are left behind.
void Scheduler::grow_now() {
  std::vector<NowEntry> larger(std::max<std::size_t>(16, 2 * now_ring_.size()));
  std::uint32_t end = 0;
  for (; now_first_ != now_end_; ++now_first_) {
    const NowEntry& entry = now_entry(now_first_);
    if (entry.event == nullptr) continue;
    entry.event->position_ = Event::of_now | end;
    larger[end++] = entry;
  }
  now_ring_ = std::move(larger);
  now_first_ = 0;
  now_end_ = end;
}

/// Pre: there is one. Those that were cancelled before it are dropped.
inline bool Scheduler::now_comes_first() {
  while (now_entry(now_first_).event == nullptr) ++now_first_;
  return heap_.empty() || heap_.front().at > now_ || heap_.front().order > now_entry(now_first_).order;
}

inline Event& Scheduler::take_now() {
  Event& event = *now_entry(now_first_++).event;
  event.position_ = Event::unscheduled;
  --now_count_;
  return event;
}

// --- both --------------------------------------------------------------------------------------------------------

void Scheduler::schedule(Event& event, TimeNs at) {
  assert(!event.pending() || event.scheduler_ == this);
  if (at <= now_) return push_now(event);
  if (event.pending() && event.position_ >= Event::of_now) remove_now(event);
  const std::uint64_t order = next_order_++;
  if (event.pending()) return move(event.position_, at, order, &event);  // any time: it may move either way
  event.scheduler_ = this;
  insert(at, order, &event);
}

void Scheduler::schedule_first(Event& event, TimeNs at, std::uint32_t rank) {
  cancel(event);
  event.scheduler_ = this;
  insert(std::max(at, now_), rank, &event);
}

void Scheduler::cancel(Event& event) {
  if (!event.pending()) return;
  if (event.position_ >= Event::of_now)
    remove_now(event);
  else
    remove(event.position_);
}

bool Scheduler::run_next(TimeNs limit) {
  close_gap();
  if (now_count_ != 0) {
    if (now_ > limit) return false;
    if (now_comes_first()) {
      ++fired_;
      take_now().fire(now_);
      return true;
    }
  } else if (heap_.empty() || heap_.front().at > limit) {
    return false;
  }
  Event& event = *heap_.front().event;
  assert(heap_.front().at >= now_ && "time goes forward only");
  now_ = heap_.front().at;
  event.position_ = Event::unscheduled;
  gap_ = true;
  ++fired_;
  event.fire(now_);
  return true;
}

void Scheduler::run_until(TimeNs limit) {
  while (run_next(limit)) {}
  now_ = std::max(now_, limit);
}

}  // namespace runtime
