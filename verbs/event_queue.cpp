#include "verbs/event_queue.hpp"

#include <condition_variable>

namespace verbs {
namespace {

struct Waiting {
  std::mutex mutex;
  std::condition_variable changed;
};
/// Never destroyed: threads of the program may wait while it ends.
Waiting& waiting() {
  static auto& one = *new Waiting;
  return one;
}

}  // namespace

void Acknowledgements::given() {
  const std::lock_guard lock(waiting().mutex);
  ++open_;
}

void Acknowledgements::taken(unsigned count) {
  const std::lock_guard lock(waiting().mutex);
  open_ -= std::min(count, open_);
  waiting().changed.notify_all();
}

void Acknowledgements::wait_for_all() {
  std::unique_lock lock(waiting().mutex);
  waiting().changed.wait(lock, [this] { return open_ == 0; });
}

}  // namespace verbs
