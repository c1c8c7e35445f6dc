#include "fc2_fabric/drivers/file_sink.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <utility>

namespace fc2::drivers {
namespace {
constexpr int most_names = 1000;  // of files that others left, or write just now

// What a symbolic link leads to, so that the link stays one; the path itself where nothing is there.
std::string target_of(const std::string& path) {
  const std::unique_ptr<char, decltype(&std::free)> found(::realpath(path.c_str(), nullptr), &std::free);
  return found ? found.get() : path;
}
}  // namespace

// To rename a file to its name would replace it, not write to it.
bool FileSink::is_written_directly(const std::string& path) {
  struct stat found {};
  return ::stat(path.c_str(), &found) == 0 && !S_ISREG(found.st_mode);
}

FileSink::~FileSink() {
  if (descriptor_ < 0) return;
  ::close(descriptor_);
  if (!temporary_path_.empty()) std::remove(temporary_path_.c_str());
}

void FileSink::fail(const char* what) {
  if (error_.empty()) error_ = std::string("cannot ") + what + " " + path_ + ": " + std::strerror(errno);
}

// Two that write one file have a name each; whoever is complete last wins.
int FileSink::create_temporary() {
  for (int i = 0; i < most_names; ++i) {
    temporary_path_ = target_ + "." + std::to_string(::getpid()) + "." + std::to_string(i) + ".part";
    const int descriptor = ::open(temporary_path_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (descriptor >= 0) return descriptor;
    if (errno != EEXIST) break;
  }
  temporary_path_.clear();
  return -1;
}

bool FileSink::open(std::string path, std::size_t buffer_bytes) {
  path_ = std::move(path);
  target_ = target_of(path_);
  const bool direct = is_written_directly(path_);
  descriptor_ = direct ? ::open(path_.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666) : create_temporary();
  if (descriptor_ < 0) fail("create");
  buffer_bytes_ = direct ? live_buffer_bytes : buffer_bytes;  // a reader waits
  buffer_ = std::make_unique_for_overwrite<std::uint8_t[]>(buffer_bytes_);
  return descriptor_ >= 0;
}

void FileSink::write(std::span<const std::uint8_t> bytes) {
  if (bytes.data() == buffer_.get() + used_bytes_) {  // in its room
    used_bytes_ += bytes.size();
    return;
  }
  while (!bytes.empty()) {
    if (used_bytes_ == buffer_bytes_) write_out();
    const std::size_t size = std::min(bytes.size(), buffer_bytes_ - used_bytes_);
    std::memcpy(buffer_.get() + used_bytes_, bytes.data(), size);
    used_bytes_ += size;
    bytes = bytes.subspan(size);
  }
}

std::span<std::uint8_t> FileSink::room(std::size_t size_bytes) {
  if (size_bytes > buffer_bytes_) return {};
  if (size_bytes > buffer_bytes_ - used_bytes_) write_out();
  return {buffer_.get() + used_bytes_, buffer_bytes_ - used_bytes_};
}

// After an error nothing more is written.
void FileSink::write_out() {
  for (std::size_t done = 0; done < used_bytes_ && error_.empty();) {
    const ssize_t size = ::write(descriptor_, buffer_.get() + done, used_bytes_ - done);
    if (size > 0) done += static_cast<std::size_t>(size);
    if (size < 0 && errno != EINTR) fail("write");
  }
  used_bytes_ = 0;
}

void FileSink::put_in_place() {
  if (temporary_path_.empty()) return;
  if (error_.empty() && std::rename(temporary_path_.c_str(), target_.c_str()) != 0) fail("put in place");
  if (!error_.empty()) std::remove(temporary_path_.c_str());
  temporary_path_.clear();
}

bool FileSink::publish() {
  write_out();
  put_in_place();
  return error_.empty();
}

bool FileSink::commit() {
  write_out();
  if (::close(std::exchange(descriptor_, -1)) != 0) fail("write");
  put_in_place();
  return error_.empty();
}

}  // namespace fc2::drivers
