// Events in time order. The protocol core's only clock: a driver decides how time passes (virtual, or real).
#pragma once
#include <cstdint>
#include <utility>
#include <vector>

#include "runtime/time.hpp"

namespace runtime {

class Scheduler;

/// An event that happens at a time. Owned by its user; at most once in the schedule.
class Event {
 public:
  Event(const Event&) = delete;
  Event& operator=(const Event&) = delete;
  [[nodiscard]] bool pending() const { return position_ != unscheduled; }

 protected:
  Event() = default;
  virtual ~Event();  // cancels itself
  /// The time has come. May schedule or cancel any event, itself included.
  virtual void fire(TimeNs now) = 0;

 private:
  friend class Scheduler;
  static constexpr std::uint32_t unscheduled = 0xFFFFFFFF;
  static constexpr std::uint32_t of_now = 0x80000000;  // position_ is a place among the events of now
  Scheduler* scheduler_ = nullptr;
  std::uint32_t position_ = unscheduled;
};

/// Calls a member function: `Timer<Link, &Link::on_timeout> timer{*this};`
template <class Owner, void (Owner::*on_expiry)()>
class Timer final : public Event {
 public:
  explicit Timer(Owner& owner) : owner_(owner) {}

 private:
  void fire(TimeNs) override { (owner_.*on_expiry)(); }
  Owner& owner_;
};

/// A four-ary heap of (time, order of scheduling): events of one instant fire in the order in which they were
/// scheduled, so that a run repeats exactly. schedule, cancel and run_next are O(log n) and allocate only to grow.
/// Events that are scheduled for the present instant stand in a queue beside the heap, where all of these are O(1).
class Scheduler {
 public:
  explicit Scheduler(TimeNs start = second) : now_(start) {}
  ~Scheduler();
  Scheduler(const Scheduler&) = delete;
  Scheduler& operator=(const Scheduler&) = delete;

  [[nodiscard]] TimeNs now() const { return now_; }
  /// Moves an event that is already pending. A time in the past counts as now.
  void schedule(Event& event, TimeNs at);
  /// The same, but before all events of that time that schedule() takes, and among its own kind in the order of `rank`,
  /// whenever and by whom they were scheduled: what happens then does not depend on the order of what happened before.
  /// No two events of one time may have the same rank.
  void schedule_first(Event& event, TimeNs at, std::uint32_t rank);
  /// As schedule(), for whoever does nothing more before the event is to fire. Where may_fire_at_once() was called and
  /// nothing else is due, it fires within this call.
  void schedule_at_once(Event& event, TimeNs at) {
    // What was scheduled since may_fire_at_once() is among the events of now, or due later.
    if (at > now_ || !std::exchange(fires_at_once_, false) || now_count_ != 0) return schedule(event, at);
    if (event.pending()) cancel(event);
    ++fired_;
    event.fire(now_);
  }
  /// The same for whoever does at once what an event of its own would do: true, and counted as fired, where that event
  /// would fire within schedule_at_once() for now.
  [[nodiscard]] bool may_go_at_once() {
    if (!fires_at_once_ || now_count_ != 0) return false;
    fires_at_once_ = false;
    ++fired_;
    return true;
  }
  /// The caller is about to do one thing, and then nothing before it runs what is due: the first event that this
  /// schedules for now may fire within it. `false`: that is over. Pre: is_at_rest(now()), or `false`.
  void may_fire_at_once(bool may) { fires_at_once_ = may; }
  /// Nothing is due at `limit` or before.
  [[nodiscard, gnu::always_inline]] bool is_at_rest(TimeNs limit) {
    close_gap();
    return now_count_ == 0 && (heap_.empty() || heap_.front().at > limit);
  }
  void schedule_after(Event& event, TimeNs delay) { schedule(event, delay >= never - now_ ? never : now_ + delay); }
  void cancel(Event& event);

  /// Time of the earliest event; `never` when there is none.
  [[nodiscard]] TimeNs next_time() const {
    if (now_count_ != 0) return now_;
    if (gap_) return time_below_gap();
    return heap_.empty() ? never : heap_.front().at;
  }
  [[nodiscard]] bool idle() const { return pending_count() == 0; }
  [[nodiscard]] std::size_t pending_count() const { return heap_.size() - (gap_ ? 1 : 0) + now_count_; }
  /// Fires the earliest event if it is due at or before `limit`, after setting the clock to its time.
  bool run_next(TimeNs limit);
  /// The same as run_until(to). Pre: is_at_rest(to).
  void rest_until(TimeNs to) { now_ = to > now_ ? to : now_; }
  /// Fires all that is due up to `limit` and leaves the clock there.
  void run_until(TimeNs limit);
  /// Events, and what count_more() added.
  [[nodiscard]] std::uint64_t fired_count() const { return fired_; }
  /// By an event that does the work of several, such as a burst of frames: who runs a number of events counts it so.
  void count_more(std::uint64_t events) { fired_ += events; }

 private:
  struct Entry {
    TimeNs at;
    std::uint64_t order;
    Event* event;
    [[nodiscard]] bool before(const Entry& other) const { return at != other.at ? at < other.at : order < other.order; }
  };
  void place(std::size_t position, const Entry& entry) {
    heap_[position].at = entry.at;
    heap_[position].order = entry.order;
    heap_[position].event = entry.event;
    entry.event->position_ = static_cast<std::uint32_t>(position);
  }
  void sift_up(std::size_t position, Entry entry);
  void sift_down(std::size_t position, Entry entry);
  void insert(TimeNs at, std::uint64_t order, Event* event);
  void move(std::size_t position, TimeNs at, std::uint64_t order, Event* event);
  void remove(std::size_t position);
  void close_gap();
  [[nodiscard]] TimeNs time_below_gap() const;

  /// An event of now; nullptr: it was cancelled.
  struct NowEntry {
    std::uint64_t order;
    Event* event;
  };
  [[nodiscard]] NowEntry& now_entry(std::uint32_t place) { return now_ring_[place & (now_ring_.size() - 1)]; }
  void push_now(Event& event);
  void grow_now();
  void remove_now(Event& event);
  [[nodiscard]] bool now_comes_first();
  Event& take_now();

  TimeNs now_;
  std::uint64_t next_order_ = std::uint64_t{1} << 32;  // those below are ranks
  std::uint64_t fired_ = 0;
  bool fires_at_once_ = false;
  std::vector<Entry> heap_;
  // The root's event fires, or has fired: the next one that is scheduled takes its place, which most often is the same
  // one again. Until then its entry stays, before all others, and is looked at for its time and order only.
  bool gap_ = false;
  // A ring of a power of two, the places count on. All of it is due at now_: the clock goes on when it is empty.
  std::vector<NowEntry> now_ring_;
  std::uint32_t now_first_ = 0, now_end_ = 0;
  std::size_t now_count_ = 0;  // without those that were cancelled
};

}  // namespace runtime
