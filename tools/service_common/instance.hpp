// The one service of a place in a runtime directory: holds the lock, and alone may bind the socket.
#pragma once
#include <optional>
#include <string>

#include "runtime/drivers/runtime_directory.hpp"

namespace services {

/// Holds an flock on the lock file for its life; the kernel releases it however the process ends. Its holder may remove
/// a socket that was left behind, so that nobody has to clean up. The lock file itself stays: removing it would let two
/// processes lock two files of one name.
class Instance {
 public:
  enum class Failure { AnotherRuns, System };
  struct Result;
  /// Waits a little for another one that is about to end. `program`: its name, for messages; `type`: of the socket.
  static Result take(const runtime::drivers::ServicePlace& place, const char* program, int type);
  Instance(Instance&& other) noexcept;
  Instance& operator=(Instance&&) = delete;
  ~Instance();

  /// A listening socket, non-blocking. The caller closes it.
  [[nodiscard]] int listener() const { return listener_; }
  [[nodiscard]] const runtime::drivers::ServicePlace& place() const { return place_; }
  /// From now on nobody can connect.
  void remove_socket();

 private:
  Instance(runtime::drivers::ServicePlace place, int type, int lock)
      : place_(std::move(place)), type_(type), lock_(lock) {}
  std::string listen();

  runtime::drivers::ServicePlace place_;
  int type_;
  int lock_ = -1;
  int listener_ = -1;
  bool bound_ = false;
};

struct Instance::Result {
  std::optional<Instance> instance;
  Failure failure = Failure::System;
  std::string error;
};

}  // namespace services
