// The sockets of this process's links, so that the child of a fork() can let go of its copies.
#pragma once

namespace fc2::drivers {

/// While it lives the descriptor, which it does not own, is known here. End it before the descriptor is closed.
class LinkDescriptor {
 public:
  explicit LinkDescriptor(int descriptor);
  ~LinkDescriptor();
  LinkDescriptor(const LinkDescriptor&) = delete;
  LinkDescriptor& operator=(const LinkDescriptor&) = delete;

  /// In the child, right after fork(), where it is async-signal-safe: closes all that are known. As long as a copy is
  /// open nobody notices that the parent, whose link it is, has ended.
  static void close_all_in_child();

 private:
  int descriptor_;
};

}  // namespace fc2::drivers
