#include "vipl/engine/engine.hpp"

#include <algorithm>
#include <chrono>
#include <exception>
#include <new>
#include <thread>
#include <utility>

#include "vipl/engine/cancellation.hpp"
#include "vipl/engine/memory_faults.hpp"
#include "vipl/engine/polling.hpp"

namespace vipl {
namespace {

// A caller that serves others' submissions runs none of the events these make.
constexpr std::size_t bells_of_a_slice = 1024;
constexpr std::size_t events_of_a_service_slice = 1024;
// Of one poll, in turn: a process with many links still returns soon.
constexpr std::size_t inputs_of_a_poll = 4;
// A loop that polls makes one system call of some hundred nanoseconds in this time, not one each time round.
constexpr TimeNs input_interval = runtime::microsecond;
// Where messages come by memory, sockets bring little, for which the service thread is woken as well.
constexpr TimeNs interval_beside_memory = 50 * runtime::microsecond;

}  // namespace

/// Always false.
[[gnu::noinline, gnu::cold]] bool Engine::end_for_others() {
  end();
  serve_rung();
  return false;
}

void Engine::begin() {
  lock_.lock();
  MemoryFaults::enter();
}

void Engine::notify_after(std::shared_ptr<EventCount> point) {
  try {
    notified_.push_back(point);
  } catch (const std::bad_alloc&) {
    runtime_.notify_all(*point);
  }
}

void Engine::end_and_notify() {
  const auto notified = std::exchange(notified_, {});
  free_lock();
  for (const auto& point : notified) runtime_.notify_all(*point);
}

// --- data plane ------------------------------------------------------------------------------------------

/// With the lock: no exception leaves from here.
[[gnu::noinline, gnu::cold]] void Engine::tell_alarm_at_rest(TimeNs now) {
  try {
    tell_alarm(now);
  } catch (const std::exception&) {
    tell_failure();
  }
}

/// Always true.
[[gnu::noinline]] bool Engine::settle_and_end(TimeNs now) {
  const Cancellation held(Cancellation::Held);
  const bool more = slice(runtime_.slice_events(), now);
  end();
  after_unlock(more);
  return true;
}

[[gnu::noinline, gnu::cold]] void Engine::tell_failure() {
  const Cancellation held(Cancellation::Held);  // it may write to a log
  if (failed_) failed_();
}

[[gnu::noinline, gnu::cold]] void Engine::serve_rung() {
  const Cancellation held(Cancellation::Held);
  after_unlock(false);
}

void Engine::ring(Bell& bell) {
  const Cancellation held(Cancellation::Held);
  if (bell.rung_.load() == Bell::Rung::No && control_calls_.load() == 0 && try_begin()) [[likely]]
    return serve_at_once(bell);
  // The server clears the mark first and then looks: it sees this submission, or the mark was clear.
  if (bell.rung_.exchange(Bell::Rung::Now) == Bell::Rung::No) link(bell);
  after_unlock(false);
}

// Who has the lock anyway needs no list: others that ring it meanwhile put it there.
void Engine::serve_at_once(Bell& bell) {
  const bool more = slice(runtime_.slice_events(), runtime_.now(), &bell);
  end();
  after_unlock(more);
}

void Engine::ring_later(Bell& bell) {
  // Written where it is rung already, too: its server then sees this submission.
  auto seen = Bell::Rung::No;
  auto wanted = Bell::Rung::Later;
  while (!bell.rung_.compare_exchange_weak(seen, wanted)) wanted = seen == Bell::Rung::No ? Bell::Rung::Later : seen;
  if (seen != Bell::Rung::No) return;
  link(bell);
  // Another thread has rung between, and found nothing on the list.
  if (bell.rung_.load() == Bell::Rung::Now) [[unlikely]] {
    const Cancellation held(Cancellation::Held);
    after_unlock(false);
  }
}

// Where it is rung Now already, whoever did it, or has the lock, sees to it.
void Engine::ring_soon(Bell& bell) {
  const Cancellation held(Cancellation::Held);
  const Bell::Rung before = bell.rung_.exchange(Bell::Rung::Now);
  if (before == Bell::Rung::No) link(bell);
  if (before != Bell::Rung::Now) call_service();
}

void Engine::link(Bell& bell) {
  bell.next_ = rung_.load();
  while (!rung_.compare_exchange_weak(bell.next_, &bell)) {}
}

bool Engine::help(TimeNs now) {
  if (rung_.load() == nullptr && !backlog_.load()) return look_at_memory(now);
  if (control_calls_.load() != 0 || !try_begin()) return false;
  settle(now);
  if (has_memory_inputs()) {
    set_looked(now);
    if (has_input(runtime::Input::Look::Told)) read_memory_inside(now);
  }
  const bool more = more_;
  end();
  after_unlock(more);
  return true;
}

bool Engine::look_at_memory(TimeNs now) {
  if (!has_memory_inputs()) return false;
  set_looked(now);
  return read_memory(now);
}

bool Engine::read_memory(TimeNs now) {
  if (control_calls_.load() != 0 || !try_begin()) return false;
  const bool looks = has_input(runtime::Input::Look::Told);
  const bool found = looks && read_memory_inside(now);
  const bool more = looks && more_;
  end();
  after_unlock(more);
  return found;
}

bool Engine::has_input(runtime::Input::Look look) const {
  return std::any_of(memory_inputs_.begin(), memory_inputs_.end(),
                     [look](const auto* input) { return input->has_input(look); });
}

// Due events first, so that input is processed at the right time.
bool Engine::read_memory_inside(TimeNs looked_at) {
  const TimeNs now = not_before_the_core(looked_at);
  bool found = false;
  try {
    scheduler_.run_until(now);
    for (std::size_t i = 0; i < memory_inputs_.size(); ++i) found |= memory_inputs_[i]->read_now();
  } catch (const std::exception&) {
    if (failed_) failed_();
  }
  settle(now);
  return found;
}

bool Engine::input_waits(TimeNs deadline) {
  if (!lock_.lock_until(deadline)) return false;
  MemoryFaults::enter();
  const bool waits = has_input(runtime::Input::Look::Everywhere);
  end();
  after_unlock(false);
  return waits;
}

bool Engine::poll(TimeNs now) {
  if (help(now)) return true;
  if (now < inputs_due_.load(std::memory_order_relaxed)) return false;
  if (control_calls_.load() != 0 || !try_begin()) return false;
  const TimeNs interval = has_memory_inputs() ? interval_beside_memory : input_interval;
  if (!inputs_.empty()) inputs_due_.store(now + interval, std::memory_order_relaxed);
  const bool found = poll_inside(now);
  const bool more = more_;
  end();
  after_unlock(more);
  return found;
}

// Where another thread has the lock, the input finds it out by itself a little later (runtime::Input).
void Engine::wait_for_input() {
  if (inputs_due_.load(std::memory_order_relaxed) == runtime::never) return;
  if (control_calls_.load() != 0 || !try_begin()) return;
  for (runtime::Input* const input : inputs_) input->wait_for_input();
  const bool more = more_;
  end();
  after_unlock(more);
}

// Due events first, so that input is processed at the right time.
bool Engine::poll_inside(TimeNs now) {
  settle(now);
  if (more_) return true;
  try {
    if (!read_inputs()) return false;
  } catch (const std::exception&) {
    if (failed_) failed_();
  }
  settle();
  return true;
}

bool Engine::read_inputs() {
  bool found = false;
  for (std::size_t left = std::min(inputs_.size(), inputs_of_a_poll); left != 0 && !inputs_.empty(); --left) {
    next_input_ = (next_input_ + 1) % inputs_.size();
    found |= inputs_[next_input_]->read_now();
  }
  return found;
}

void Engine::add_input(runtime::Input& input) {
  inputs_.push_back(&input);
  if (!input.holds_cancellation_itself()) unheld_inputs_.fetch_add(1);
  inputs_due_.store(0);
  if (watched_.load()) runtime_.interrupt_wait_at();
}

void Engine::remove_input(runtime::Input& input) {
  if (std::erase(inputs_, &input) != 0 && !input.holds_cancellation_itself()) unheld_inputs_.fetch_sub(1);
  if (inputs_.empty()) inputs_due_.store(runtime::never);
  if (watched_.load()) runtime_.interrupt_wait_at();
}

void Engine::add_memory_input(runtime::Input& input) {
  if (!has_memory_inputs() && memory_begins_) memory_begins_();  // may throw: then nothing has happened
  memory_inputs_.push_back(&input);
  if (!input.holds_cancellation_itself()) unheld_inputs_.fetch_add(1);
  has_memory_inputs_.store(true);
}

void Engine::remove_memory_input(runtime::Input& input) {
  if (std::erase(memory_inputs_, &input) != 0 && !input.holds_cancellation_itself()) unheld_inputs_.fetch_sub(1);
}

void Engine::after_unlock(bool more) {
  // All accesses to the list and the lock are sequentially consistent: a ring without the lock comes before this look.
  // A thread that waits for the lock serves them; the rest is left to the service thread, so that no caller stays for
  // ever.
  bool served = false;
  while (rung_.load() != nullptr && control_calls_.load() == 0) {
    if (served) return call_service();
    if (!try_begin()) break;
    more = slice(runtime_.slice_events(), runtime_.now());
    end();
    served = true;
  }
  if (more) call_service();
}

void Engine::call_service() {
  if (service_called_.exchange(true)) return;
  try {
    runtime_.call_service();
  } catch (const std::exception&) {
    service_called_.store(false);  // no memory: the next one tries again
  }
}

// --- control calls ---------------------------------------------------------------------------------------

void Engine::enter() {
  control_calls_.fetch_add(1);
  turn_.lock();
  begin();
  turn_.unlock();
  control_calls_.fetch_sub(1);
  take_all_posts();
  settle();
}

// A call sees all that its thread has posted, however much that is: a slice takes so many at a time.
void Engine::take_all_posts() {
  try {
    clock_goes_towards(runtime_.now());
    catch_up();
  } catch (const std::exception&) {
    if (failed_) failed_();
  }
}

bool Engine::try_enter() {
  using namespace std::chrono_literals;
  for (int i = 0; i < 200; ++i) {
    if (try_begin()) {
      take_all_posts();
      settle();
      return true;
    }
    std::this_thread::sleep_for(1ms);
  }
  return false;
}

void Engine::leave() {
  settle();
  const bool more = more_;
  end();
  after_unlock(more);
}

// Where others take the core, whoever brings it may be one of them: the thread sleeps, and one wake-up is all it costs.
bool Engine::look_for_input(const EventCount& point, std::uint32_t key, TimeNs deadline) {
  WaitSpin* const spin = has_inputs() ? runtime_.call_spin() : nullptr;
  if (spin == nullptr || !spin->may_begin(Place::Apart)) return false;
  const TimeNs start = runtime_.now(), end = std::min(deadline, start + spin->longest);
  for (TimeNs now = start, before = start; now < end && now - before <= Patience::others_ran;) {
    poll(now);
    if (point.is_notified(key)) {
      spin->found();
      return true;
    }
    before = std::exchange(now, runtime_.now());
  }
  spin->in_vain();
  return false;
}

/// One thread at a time sleeps at the sockets, so that what comes for it costs one wake-up and no thread between.
bool Engine::begin_watch(std::array<int, most_watched>& descriptors, std::size_t& count) {
  if (has_memory_inputs() || !runtime_.can_wait_at() || watched_.exchange(true)) return false;
  begin();
  const bool fits = !inputs_.empty() && inputs_.size() <= descriptors.size() &&
                    std::ranges::all_of(inputs_, [](const auto* input) { return input->descriptor() >= 0; });
  for (runtime::Input* const input : inputs_) {
    if (!fits) break;
    descriptors[count++] = input->descriptor();
    input->set_watched(true);
  }
  end();
  after_unlock(false);
  if (!fits) watched_.store(false);
  return fits;
}

template <class Work>
void Engine::try_each_input(Work work) {
  for (std::size_t i = 0; i < inputs_.size(); ++i) {
    try {
      work(*inputs_[i]);
    } catch (const std::exception&) {
      if (failed_) failed_();
    }
  }
}

// Who has begun to sleep meanwhile sees that nobody watches, or is seen. What fails for one input keeps no other from
// being watched.
void Engine::end_watch() {
  enter();
  try_each_input([](runtime::Input& input) { input.set_watched(false); });
  try {
    static_cast<void>(read_inputs());
  } catch (const std::exception&) {
    if (failed_) failed_();
  }
  watched_.store(false);
  if (sleepers_.load() != 0) try_each_input([](runtime::Input& input) { input.wait_for_input(); });
  leave();
}

bool Engine::wait_at_inputs(EventCount& point, std::uint32_t key, TimeNs deadline) {
  std::array<int, most_watched> descriptors{};
  std::size_t count = 0;
  if (begin_watch(descriptors, count)) {
    const bool woken = runtime_.wait_at(std::span(descriptors).first(count), point, key, deadline);
    end_watch();
    return woken;
  }
  return wait_beside(point, key, deadline);
}

/// Until others tell: the library's thread, which watches the sockets, or the call that sleeps there.
bool Engine::wait_beside(EventCount& point, std::uint32_t key, TimeNs deadline) {
  const Sleeper sleeper(*this);
  if (!watched_.load()) wait_for_input();
  return runtime_.wait(point, key, deadline);
}

void Engine::serve() {
  service_called_.store(false);
  for (bool more = true; more;) {
    turn_.lock();
    begin();
    turn_.unlock();
    more = slice(events_of_a_service_slice, runtime_.now());
    end();
    more = more || (rung_.load() != nullptr && control_calls_.load() == 0);
  }
}

// --- inside ----------------------------------------------------------------------------------------------

// Another thread may have run a slice since this one looked at the clock.
bool Engine::slice(std::size_t events, TimeNs looked_at, Bell* own) {
  const TimeNs now = not_before_the_core(looked_at);
  bool more = true;
  try {
    clock_goes_towards(now);  // what is served times from now on
    const std::uint64_t fired = scheduler_.fired_count();
    const std::uint64_t last = fired + std::min<std::uint64_t>(events, ~fired);  // a simulation's slice has no end
    std::size_t served = serve_bells();
    if (own != nullptr) served += std::exchange(own, nullptr)->serve();  // after what the caller rang before
    for (; served < bells_of_a_slice; served = serve_bells()) {
      run_later();
      while (scheduler_.fired_count() < last && scheduler_.run_next(now)) {}
      if (scheduler_.fired_count() >= last) break;
      if (take_bells() || !later_.empty()) continue;
      scheduler_.run_until(now);
      more = false;
      break;
    }
    if (!more) tell_alarm(now);
  } catch (const std::exception&) {
    if (own != nullptr && own->rung_.exchange(Bell::Rung::Now) == Bell::Rung::No) link(*own);  // not served yet
    if (failed_) failed_();
  }
  if (backlog_.load(std::memory_order_relaxed) != more) backlog_.store(more);
  return more;
}

void Engine::catch_up() {
  for (int lists = 0; lists < 2 && take_bells();
       ++lists)  // what is left of an earlier one, and all that was rung since
    while (taken_ != nullptr) serve_next_bell();
}

std::size_t Engine::serve_next_bell() {
  Bell& bell = *std::exchange(taken_, taken_->next_);
  bell.rung_.exchange(Bell::Rung::No);  // reads the mark: what was submitted before it is seen
  return bell.serve();
}

std::size_t Engine::serve_bells() {
  std::size_t served = 0;
  // All before any event: what one thread submitted to one VI before another is there when the other's is acted upon.
  while (served < bells_of_a_slice && take_bells()) served += serve_next_bell();
  return served;
}

bool Engine::take_bells() {
  if (taken_ != nullptr) return true;
  if (rung_.load() == nullptr) return false;
  for (Bell* newest = rung_.exchange(nullptr); newest != nullptr;) {
    Bell* const older = std::exchange(newest->next_, taken_);
    taken_ = std::exchange(newest, older);
  }
  return true;
}

void Engine::run_later() {
  while (!later_.empty())
    for (const auto& call : std::exchange(later_, {})) call();
}

}  // namespace vipl
