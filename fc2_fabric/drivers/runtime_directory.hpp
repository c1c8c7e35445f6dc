// The directory where the fabric service of a user and its clients meet; only that user can enter it.
#pragma once
#include <optional>
#include <string>

namespace fc2::drivers {

/// $FCVI_RUNTIME_DIR, else $XDG_RUNTIME_DIR/fcvi, else /tmp/fcvi-UID. Created with mode 0700 if it is missing. It must
/// be a directory (no symbolic link), owned by the user, and closed to others, since a process that can write there
/// could pose as the fabric.
class RuntimeDirectory {
 public:
  /// `path`: replaces the environment's; empty: as above. Without a result `error` says why, and what to do.
  static std::optional<RuntimeDirectory> open(const std::string& path, std::string& error);
  [[nodiscard]] static std::string default_path();

  [[nodiscard]] const std::string& path() const { return path_; }
  [[nodiscard]] std::string socket_path() const { return path_ + "/fabricd.sock"; }
  [[nodiscard]] std::string lock_path() const { return path_ + "/fabricd.lock"; }
  [[nodiscard]] std::string log_path() const { return path_ + "/fabricd.log"; }
  [[nodiscard]] std::string logins_path() const { return path_ + "/fcf.logins"; }

 private:
  explicit RuntimeDirectory(std::string path) : path_(std::move(path)) {}
  std::string path_;
};

/// A stream socket connected to the service, non-blocking, closed on exec. -1 with errno: ENOENT or ECONNREFUSED,
/// nobody listens; EAGAIN, too many connections wait to be accepted; EACCES, the listener belongs to another user.
int connect_to_service(const RuntimeDirectory& directory);
/// The process at the other end of a Unix socket belongs to our user.
[[nodiscard]] bool is_own_user(int descriptor);

}  // namespace fc2::drivers
