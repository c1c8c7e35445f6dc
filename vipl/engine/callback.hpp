// Whether this thread is inside a handler of the program.
#pragma once
#include "vipl/engine/cancellation.hpp"

namespace vipl {

/// Guards each call of a handler. Calls that wait for handlers to return do not wait inside a handler: two of them
/// could wait for each other. A handler may end its thread, by pthread_exit or by being cancelled; the caller of a
/// handler keeps its state consistent in that case too.
class Callback {
 public:
  Callback() { ++depth(); }
  ~Callback() { --depth(); }
  Callback(const Callback&) = delete;
  Callback& operator=(const Callback&) = delete;
  [[nodiscard]] static bool running() { return depth() != 0; }

 private:
  static int& depth() {
    thread_local int value = 0;
    return value;
  }
  const Cancellation allowed_{Cancellation::Allowed};
};

}  // namespace vipl
