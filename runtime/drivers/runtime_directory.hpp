// The directory where the services of a user and their clients meet; only that user can enter it.
#pragma once
#include <optional>
#include <string>
#include <string_view>

namespace runtime::drivers {

/// $FCVI_RUNTIME_DIR, else $XDG_RUNTIME_DIR/fcvi, else /tmp/fcvi-UID. Created with mode 0700 if it is missing. It must
/// be a directory (no symbolic link), owned by the user, and closed to others, since a process that can write there
/// could pose as a service.
class RuntimeDirectory {
 public:
  /// `path`: replaces the environment's; empty: as above. Without a result `error` says why, and what to do.
  static std::optional<RuntimeDirectory> open(const std::string& path, std::string& error);
  [[nodiscard]] static std::string default_path();

  [[nodiscard]] const std::string& path() const { return path_; }
  [[nodiscard]] std::string file(std::string_view name) const { return path_ + "/" + std::string(name); }

 private:
  explicit RuntimeDirectory(std::string path) : path_(std::move(path)) {}
  std::string path_;
};

/// What a service of that name has in the directory: a socket, a lock (tools/service_common/instance.hpp), a log.
class ServicePlace {
 public:
  ServicePlace(RuntimeDirectory directory, std::string name)
      : directory_(std::move(directory)), name_(std::move(name)) {}
  [[nodiscard]] const RuntimeDirectory& directory() const { return directory_; }
  [[nodiscard]] const std::string& name() const { return name_; }
  [[nodiscard]] std::string socket_path() const { return directory_.file(name_ + ".sock"); }
  [[nodiscard]] std::string lock_path() const { return directory_.file(name_ + ".lock"); }
  [[nodiscard]] std::string log_path() const { return directory_.file(name_ + ".log"); }
  /// Why there can be no such socket; empty: there can.
  [[nodiscard]] std::string fault() const;

 private:
  RuntimeDirectory directory_;
  std::string name_;
};

/// A socket of that type (SOCK_STREAM, SOCK_SEQPACKET) connected to the service, non-blocking, closed on exec. -1 with
/// errno: ENOENT or ECONNREFUSED, nobody listens; EAGAIN, too many connections wait to be accepted; EACCES, the
/// listener belongs to another user.
int connect_to_service(const ServicePlace& place, int type);
/// The process at the other end of a Unix socket belongs to our user.
[[nodiscard]] bool is_own_user(int descriptor);

}  // namespace runtime::drivers
