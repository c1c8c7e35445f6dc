#include "tools/fcvi_sim/capture/twice.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>

namespace sim::capture {
namespace {

/// What is gone when it was read.
bool is_stream(const std::string& path) {
  struct stat about {};
  return ::stat(path.c_str(), &about) == 0 && (S_ISFIFO(about.st_mode) || S_ISCHR(about.st_mode));
}

}  // namespace

Twice::Twice(const std::string& path) : path_(path), told_(path == "-" ? "standard input" : path) {
  if (path == "-") {
    keep(STDIN_FILENO);
    return;
  }
  if (!is_stream(path)) return;
  const int stream = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (stream < 0) return;
  keep(stream);
  ::close(stream);
}

void Twice::keep(int stream) {
  file_.reset(std::tmpfile());
  std::array<char, 65536> buffer{};
  ssize_t got = 0;
  while (file_ && ((got = ::read(stream, buffer.data(), buffer.size())) > 0 || (got < 0 && errno == EINTR)))
    if (got > 0) std::fwrite(buffer.data(), 1, static_cast<std::size_t>(got), file_.get());
  if (!file_ || std::fflush(file_.get()) != 0) return;
  path_ = "/proc/self/fd/" + std::to_string(::fileno(file_.get()));
}

std::string Twice::told_as(std::string message) const {
  if (file_ && message.starts_with(path_)) message.replace(0, path_.size(), told_);
  return message;
}

}  // namespace sim::capture
