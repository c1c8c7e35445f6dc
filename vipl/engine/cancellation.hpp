// Where a program's pthread_cancel() may end a thread: in its handlers, and not inside the library.
#pragma once
#include <pthread.h>

namespace vipl {

/// Sets the cancellation state of this thread, and back. The library holds locks where it writes to sockets and logs,
/// which are cancellation points; none of its calls is one. No system call.
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

}  // namespace vipl
