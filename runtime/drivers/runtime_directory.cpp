#include "runtime/drivers/runtime_directory.hpp"

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>

namespace runtime::drivers {
namespace {

// A socket's path has 107 characters at most. Symbolic links have no part in ours, so that a longer path is refused
// rather than worked around.
constexpr std::size_t longest_socket_path = sizeof(sockaddr_un::sun_path) - 1;
constexpr std::size_t longest_path = longest_socket_path - sizeof("/nic.4194304.99");

// What keeps the directory from being used; "" if nothing.
std::string fault_of(const std::string& path) {
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  if (descriptor < 0) {
    if (errno == ELOOP || errno == ENOTDIR) return "is no directory (symbolic links are not followed)";
    return std::strerror(errno);
  }
  struct stat status {};
  const int failed = ::fstat(descriptor, &status);
  ::close(descriptor);
  if (failed != 0) return std::strerror(errno);
  if (status.st_uid != ::geteuid())
    return "belongs to user " + std::to_string(status.st_uid) + ", not to user " + std::to_string(::geteuid());
  if ((status.st_mode & 077) != 0) return "is open to others; expected mode 0700 (chmod 700 " + path + ")";
  return {};
}

}  // namespace

std::string RuntimeDirectory::default_path() {
  if (const char* path = ::secure_getenv("FCVI_RUNTIME_DIR"); path != nullptr && *path != '\0') return path;
  if (const char* path = ::secure_getenv("XDG_RUNTIME_DIR"); path != nullptr && *path == '/')
    return std::string(path) + "/fcvi";
  return "/tmp/fcvi-" + std::to_string(::geteuid());
}

std::optional<RuntimeDirectory> RuntimeDirectory::open(const std::string& wanted, std::string& error) {
  const std::string path = wanted.empty() ? default_path() : wanted;
  if (path.size() > longest_path) {
    error = path + ": is too long for a socket's path, at most " + std::to_string(longest_path) + " characters";
    return std::nullopt;
  }
  if (::mkdir(path.c_str(), 0700) != 0 && errno != EEXIST) {
    error = path + ": cannot be made: " + std::strerror(errno);
    return std::nullopt;
  }
  error = fault_of(path);
  if (error.empty()) return RuntimeDirectory(path);
  error = path + ": " + error;
  return std::nullopt;
}

bool is_own_user(int descriptor) {
  ucred peer{};
  socklen_t size = sizeof peer;
  return ::getsockopt(descriptor, SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0 && peer.uid == ::geteuid();
}

std::string ServicePlace::fault() const {
  if (socket_path().size() <= longest_socket_path) return {};
  return socket_path() + ": is too long for a socket's path, at most " + std::to_string(longest_socket_path) +
         " characters";
}

int connect_to_service(const ServicePlace& place, int type) {
  const std::string path = place.socket_path();
  if (path.size() > longest_socket_path) return errno = ENAMETOOLONG, -1;
  const int descriptor = ::socket(AF_UNIX, type | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  if (descriptor < 0) return -1;
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::memcpy(address.sun_path, path.data(), path.size());
  const void* generic = &address;
  int error = 0;
  if (::connect(descriptor, static_cast<const sockaddr*>(generic), sizeof address) != 0)
    error = errno;
  else if (!is_own_user(descriptor))
    error = EACCES;
  if (error == 0) return descriptor;
  ::close(descriptor);
  errno = error;
  return -1;
}

}  // namespace runtime::drivers
