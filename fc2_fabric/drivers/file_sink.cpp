#include "fc2_fabric/drivers/file_sink.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
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
  if (file_ == nullptr) return;
  std::fclose(file_);
  if (!temporary_path_.empty()) std::remove(temporary_path_.c_str());
}

void FileSink::fail(const char* what) {
  if (error_.empty()) error_ = std::string("cannot ") + what + " " + path_ + ": " + std::strerror(errno);
}

// Two that write one file have a name each; whoever is complete last wins.
std::FILE* FileSink::create_temporary() {
  for (int i = 0; i < most_names; ++i) {
    temporary_path_ = target_ + "." + std::to_string(::getpid()) + "." + std::to_string(i) + ".part";
    const int descriptor = ::open(temporary_path_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (descriptor >= 0) return ::fdopen(descriptor, "wb");
    if (errno != EEXIST) break;
  }
  temporary_path_.clear();
  return nullptr;
}

bool FileSink::open(std::string path) {
  path_ = std::move(path);
  target_ = target_of(path_);
  file_ = is_written_directly(path_) ? std::fopen(path_.c_str(), "wbe") : create_temporary();
  if (file_ == nullptr) fail("create");
  return file_ != nullptr;
}

void FileSink::write(std::span<const std::uint8_t> bytes) {
  if (error_.empty() && std::fwrite(bytes.data(), 1, bytes.size(), file_) != bytes.size()) fail("write");
}

bool FileSink::commit() {
  if (std::fclose(std::exchange(file_, nullptr)) != 0) fail("write");
  if (temporary_path_.empty()) return error_.empty();
  if (error_.empty() && std::rename(temporary_path_.c_str(), target_.c_str()) != 0) fail("put in place");
  if (!error_.empty()) std::remove(temporary_path_.c_str());
  return error_.empty();
}

}  // namespace fc2::drivers
