// Values for a program that waits at a file descriptor: readable while there is one.
#pragma once
#include <fcntl.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <deque>
#include <mutex>

#pragma GCC visibility push(default)  // for both libraries
namespace verbs {

/// Any thread. The descriptor is the program's to poll, and to set O_NONBLOCK.
template <class T>
class EventQueue {
 public:
  EventQueue() : descriptor_(::eventfd(0, EFD_CLOEXEC)) {}
  ~EventQueue() {
    if (descriptor_ >= 0) ::close(descriptor_);
  }
  EventQueue(const EventQueue&) = delete;
  EventQueue& operator=(const EventQueue&) = delete;

  /// -1: the process has too many open files.
  [[nodiscard]] int descriptor() const { return descriptor_; }
  void push(T value) {
    const std::lock_guard lock(mutex_);
    values_.push_back(std::move(value));
    signal();
  }
  /// Waits for one, unless the descriptor has O_NONBLOCK: then EAGAIN. Else 0, or errno of read(). A thread that waits
  /// can be cancelled.
  [[nodiscard]] int pop(T& value) {
    for (;;) {
      eventfd_t count = 0;
      if (::read(descriptor_, &count, sizeof count) < 0) return errno;
      const std::lock_guard lock(mutex_);
      if (values_.empty()) continue;  // it was removed
      value = std::move(values_.front());
      values_.pop_front();
      if (!values_.empty()) signal();
      return 0;
    }
  }
  /// Those for which `is_gone(value)` holds. Who polls may be woken in vain.
  template <class Predicate>
  void remove_if(Predicate is_gone) {
    const std::lock_guard lock(mutex_);
    values_.erase(std::remove_if(values_.begin(), values_.end(), is_gone), values_.end());
  }

 private:
  void signal() {
    const eventfd_t one = 1;
    [[maybe_unused]] const ssize_t written = ::write(descriptor_, &one, sizeof one);
  }
  const int descriptor_;
  std::mutex mutex_;
  std::deque<T> values_;
};

/// What was handed to the program, and is not acknowledged yet: who destroys its source waits for that.
class Acknowledgements {
 public:
  void given();
  void taken(unsigned count = 1);
  void wait_for_all();

 private:
  unsigned open_ = 0;  // guarded by one mutex for all
};

}  // namespace verbs
#pragma GCC visibility pop
