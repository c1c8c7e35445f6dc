#include "runtime/drivers/status_socket.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <optional>
#include <string_view>
#include <utility>

#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/steady_timer.hpp>

#include "runtime/drivers/link_descriptor.hpp"

namespace runtime::drivers {
namespace {
constexpr std::string_view first_suffix = ".new";
constexpr int backlog = 16, names_tried = 100;
constexpr std::chrono::milliseconds patience{2000}, accept_pause{100};
constexpr std::size_t longest_answer = 1u << 20;

sockaddr_un address_of(const std::string& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::memcpy(address.sun_path, path.data(), std::min(path.size(), sizeof address.sun_path - 1));
  return address;
}

int connect_to(const std::string& path) {
  const sockaddr_un address = address_of(path);
  const int descriptor = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  const void* generic = &address;
  if (descriptor < 0) return -1;
  if (::connect(descriptor, static_cast<const sockaddr*>(generic), sizeof address) == 0 && is_own_user(descriptor))
    return descriptor;
  const int error = errno;
  ::close(descriptor);
  errno = error;
  return -1;
}

// A socket of that name that listens; -1: the name is taken, or there is no descriptor. It gets the name when it
// listens: one that refuses is of a process that is gone, and whoever asks removes it.
int listen_at(const std::string& path) {
  const std::string first_path = path + std::string(first_suffix);
  const sockaddr_un address = address_of(first_path);
  const void* generic = &address;
  const int descriptor = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (descriptor < 0) return -1;
  ::unlink(first_path.c_str());  // of an earlier process with our number, that ended here
  if (::bind(descriptor, static_cast<const sockaddr*>(generic), sizeof address) == 0) {
    const bool listens = ::chmod(first_path.c_str(), 0600) == 0 && ::listen(descriptor, backlog) == 0;
    if (listens && ::renameat2(AT_FDCWD, first_path.c_str(), AT_FDCWD, path.c_str(), RENAME_NOREPLACE) == 0)
      return descriptor;
    ::unlink(first_path.c_str());
  }
  ::close(descriptor);
  return -1;
}

// Of a socket that listens, or did.
bool is_name(std::string_view file, const std::string& prefix) {
  return file.starts_with(prefix) && !file.ends_with(first_suffix);
}

std::string prefix_of(std::string_view kind) { return std::string(kind) + "."; }

// Until its end, or until patience is over.
std::string read_all(int descriptor) {
  const auto end = std::chrono::steady_clock::now() + patience;
  std::string text;
  std::array<char, 4096> part;
  while (text.size() < longest_answer) {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(end - std::chrono::steady_clock::now());
    pollfd wanted{descriptor, POLLIN, 0};
    if (left.count() <= 0 || ::poll(&wanted, 1, static_cast<int>(left.count())) == 0) return {};
    const ssize_t got = ::recv(descriptor, part.data(), part.size(), 0);
    if (got == 0) return text;
    if (got < 0 && errno != EINTR && errno != EAGAIN) return {};
    if (got > 0) text.append(part.data(), static_cast<std::size_t>(got));
  }
  return {};
}
}  // namespace

/// Shared with Asio's handlers; the StatusSocket may go at any time.
class StatusSocket::Core : public std::enable_shared_from_this<Core> {
 public:
  Core(boost::asio::io_context& io, CoreGuard& guard, Answer answer)
      : guard_(guard), answer_(std::move(answer)), listener_(io) {}

  void open(const RuntimeDirectory& directory, std::string_view kind) {
    const std::string stem = directory.path() + "/" + prefix_of(kind) + std::to_string(::getpid()) + ".";
    for (int number = 0; number < names_tried; ++number) {
      const std::string path = stem + std::to_string(number);
      if (path.size() + first_suffix.size() >= sizeof(sockaddr_un::sun_path)) return;
      const int descriptor = listen_at(path);
      if (descriptor < 0) continue;
      path_ = path;
      known_.emplace(descriptor);
      listener_.assign(descriptor);
      return await();
    }
  }
  void close() {
    closed_ = true;
    if (!path_.empty()) ::unlink(path_.c_str());
    known_.reset();
    boost::system::error_code ignored;
    listener_.close(ignored);
    pause_.cancel();
  }
  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  void await() {
    listener_.async_wait(listener_.wait_read, [self = shared_from_this()](const boost::system::error_code& error) {
      if (error) return;  // closed
      const CoreSection section(self->guard_);
      if (!self->closed_) self->serve();
    });
  }
  // Out of descriptors or memory: who asks stays in the queue, and would wake us again at once.
  void await_later() {
    pause_.expires_after(accept_pause);
    pause_.async_wait([self = shared_from_this()](const boost::system::error_code& error) {
      if (error) return;  // closed
      const CoreSection section(self->guard_);
      if (!self->closed_) self->await();
    });
  }
  // A text fits into the socket's buffer: nobody is waited for.
  void serve() {
    const int descriptor = ::accept4(listener_.native_handle(), nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC);
    if (descriptor < 0 && errno != EAGAIN && errno != EINTR && errno != ECONNABORTED) return await_later();
    if (descriptor >= 0 && is_own_user(descriptor)) {
      const std::string text = answer_();
      [[maybe_unused]] const ssize_t sent =
          ::send(descriptor, text.data(), text.size(), MSG_NOSIGNAL);  // else it hears nothing
    }
    if (descriptor >= 0) ::close(descriptor);
    await();
  }

  CoreGuard& guard_;
  const Answer answer_;
  boost::asio::posix::stream_descriptor listener_;
  boost::asio::steady_timer pause_{listener_.get_executor()};
  std::optional<LinkDescriptor> known_;
  std::string path_;
  bool closed_ = false;
};

StatusSocket::StatusSocket(boost::asio::io_context& io, CoreGuard& guard, const RuntimeDirectory& directory,
                           std::string_view kind, Answer answer)
    : core_(std::make_shared<Core>(io, guard, std::move(answer))) {
  core_->open(directory, kind);
}
StatusSocket::~StatusSocket() { core_->close(); }
const std::string& StatusSocket::path() const { return core_->path(); }

std::vector<std::string> StatusSocket::ask(const RuntimeDirectory& directory, std::string_view kind) {
  std::vector<std::string> paths, answers;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(directory.path(), error))
    if (is_name(entry.path().filename().string(), prefix_of(kind))) paths.push_back(entry.path());
  std::sort(paths.begin(), paths.end());
  for (const std::string& path : paths) {
    const int descriptor = connect_to(path);
    if (descriptor < 0 && errno == ECONNREFUSED) ::unlink(path.c_str());  // of a process that is gone
    if (descriptor < 0) continue;
    if (std::string text = read_all(descriptor); !text.empty()) answers.push_back(std::move(text));
    ::close(descriptor);
  }
  return answers;
}

}  // namespace runtime::drivers
