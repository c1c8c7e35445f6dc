// Restricts pthread_cancel() by a program to its own handlers; it never ends a thread inside the library.
#pragma once
#include <pthread.h>

namespace runtime::drivers {

/// Sets the cancellation state of this thread, and restores it. The library holds locks where it writes to sockets and
/// logs, which are cancellation points; so none of its calls may be one. No system call, but a locked instruction each
/// time: what is no cancellation point, as posting a receive or taking a completion that is there, does without.
class Cancellation {
 public:
  enum State { Allowed = PTHREAD_CANCEL_ENABLE, Held = PTHREAD_CANCEL_DISABLE };
  explicit Cancellation(State state) { pthread_setcancelstate(state, &before_); }
  ~Cancellation() { pthread_setcancelstate(before_, nullptr); }
  Cancellation(const Cancellation&) = delete;
  Cancellation& operator=(const Cancellation&) = delete;

 private:
  int before_ = Allowed;
};

}  // namespace runtime::drivers
