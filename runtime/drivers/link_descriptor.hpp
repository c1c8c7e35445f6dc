// The sockets of this process's links, streams and listeners, so that the child of a fork() can close its copies.
#pragma once
#include <atomic>

namespace runtime::drivers {

/// Registers the descriptor, which it does not own, for its own lifetime. Destroy it before the descriptor is closed.
/// Any thread. Where there is no memory to register it, it is only not closed in a child.
class LinkDescriptor {
 public:
  explicit LinkDescriptor(int descriptor);
  ~LinkDescriptor();
  LinkDescriptor(const LinkDescriptor&) = delete;
  LinkDescriptor& operator=(const LinkDescriptor&) = delete;

  /// In the child, right after fork(), where only async-signal-safe calls are allowed: closes all registered
  /// descriptors. While a copy is open the far end does not notice that the parent has ended.
  static void close_all_in_child();

 private:
  int descriptor_;
  std::atomic<int>* place_;  // none: not registered
};

}  // namespace runtime::drivers
