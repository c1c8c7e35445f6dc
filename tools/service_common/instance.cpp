#include "tools/service_common/instance.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstring>
#include <thread>
#include <utility>

namespace services {
namespace {
using namespace std::chrono_literals;
constexpr std::chrono::milliseconds wait_for_end = 2s, look_again = 10ms;
constexpr int backlog = 128;

std::string trouble(const std::string& path, const char* what) {
  return path + ": cannot " + what + ": " + std::strerror(errno);
}

bool somebody_listens(const runtime::drivers::ServicePlace& place, int type) {
  const int descriptor = runtime::drivers::connect_to_service(place, type);
  const bool busy = descriptor < 0 && errno == EAGAIN;
  if (descriptor >= 0) ::close(descriptor);
  return busy || descriptor >= 0;
}
}  // namespace

Instance::Instance(Instance&& other) noexcept
    : place_(std::move(other.place_)), type_(other.type_), lock_(std::exchange(other.lock_, -1)),
      listener_(other.listener_), bound_(std::exchange(other.bound_, false)) {}

Instance::Result Instance::take(const runtime::drivers::ServicePlace& place, const char* program, int type) {
  if (std::string fault = place.fault(); !fault.empty()) return {std::nullopt, Failure::System, std::move(fault)};
  const std::string path = place.lock_path();
  const int lock = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
  if (lock < 0) return {std::nullopt, Failure::System, trouble(path, "open")};
  Instance instance(place, type, lock);
  const auto end = std::chrono::steady_clock::now() + wait_for_end;
  while (::flock(lock, LOCK_EX | LOCK_NB) != 0) {
    if (errno != EWOULDBLOCK && errno != EINTR) return {std::nullopt, Failure::System, trouble(path, "lock")};
    if (somebody_listens(place, type) || std::chrono::steady_clock::now() >= end)
      return {std::nullopt, Failure::AnotherRuns, path + ": another " + program + " holds it"};
    std::this_thread::sleep_for(look_again);
  }
  if (std::string error = instance.listen(); !error.empty()) return {std::nullopt, Failure::System, std::move(error)};
  return {std::move(instance), {}, {}};
}

// The lock is ours: a socket that is there belongs to nobody.
std::string Instance::listen() {
  const std::string path = place_.socket_path();
  if (::unlink(path.c_str()) != 0 && errno != ENOENT) return trouble(path, "remove what was left behind");
  listener_ = ::socket(AF_UNIX, type_ | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  if (listener_ < 0) return trouble(path, "make a socket");
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::memcpy(address.sun_path, path.data(), path.size());
  const void* generic = &address;
  if (::bind(listener_, static_cast<const sockaddr*>(generic), sizeof address) != 0) return trouble(path, "bind");
  bound_ = true;
  if (::chmod(path.c_str(), 0600) != 0) return trouble(path, "close it to others");
  return ::listen(listener_, backlog) == 0 ? std::string() : trouble(path, "listen");
}

void Instance::remove_socket() {
  if (std::exchange(bound_, false)) ::unlink(place_.socket_path().c_str());
}

Instance::~Instance() {
  remove_socket();
  if (lock_ >= 0) ::close(lock_);
}

}  // namespace services
