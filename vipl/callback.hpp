// Whether this thread is inside a handler of the program.
#pragma once

namespace vipl {

/// Around each call of a handler. Calls that wait for handlers to return do not when they come from one: two of them
/// could wait for each other.
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
};

}  // namespace vipl
