// The one service of a runtime directory: holds the lock, and alone may bind the socket.
#pragma once
#include <optional>
#include <string>

#include "fc2_fabric/drivers/runtime_directory.hpp"

namespace fabricd {

/// Holds an flock on the lock file for its life; the kernel releases it however the process ends. Its holder may remove
/// a socket that was left behind, so that nobody has to clean up. The lock file itself stays: removing it would let two
/// processes lock two files of one name.
class Instance {
 public:
  enum class Failure { AnotherRuns, System };
  struct Result;
  /// Waits a little for another one that is about to end.
  static Result take(const fc2::drivers::RuntimeDirectory& directory);
  Instance(Instance&& other) noexcept;
  Instance& operator=(Instance&&) = delete;
  ~Instance();

  /// A listening stream socket, non-blocking. The caller closes it.
  [[nodiscard]] int listener() const { return listener_; }
  [[nodiscard]] const fc2::drivers::RuntimeDirectory& directory() const { return directory_; }
  /// From now on nobody can connect.
  void remove_socket();

 private:
  Instance(fc2::drivers::RuntimeDirectory directory, int lock) : directory_(std::move(directory)), lock_(lock) {}
  std::string listen();

  fc2::drivers::RuntimeDirectory directory_;
  int lock_ = -1;
  int listener_ = -1;
  bool bound_ = false;
};

struct Instance::Result {
  std::optional<Instance> instance;
  Failure failure = Failure::System;
  std::string error;
};

}  // namespace fabricd
