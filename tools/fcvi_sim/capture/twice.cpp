#include "tools/fcvi_sim/capture/twice.hpp"

#include <unistd.h>

#include <array>

namespace sim::capture {

Twice::Twice(const std::string& path) : path_(path) {
  if (path != "-") return;
  file_.reset(std::tmpfile());
  std::array<char, 65536> buffer{};
  ssize_t got = 0;
  while (file_ && (got = ::read(STDIN_FILENO, buffer.data(), buffer.size())) > 0)
    std::fwrite(buffer.data(), 1, static_cast<std::size_t>(got), file_.get());
  if (!file_ || std::fflush(file_.get()) != 0) return;
  path_ = "/proc/self/fd/" + std::to_string(::fileno(file_.get()));
}

std::string Twice::told_as(std::string message) const {
  if (file_ && message.starts_with(path_)) message.replace(0, path_.size(), "standard input");
  return message;
}

}  // namespace sim::capture
