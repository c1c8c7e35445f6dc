#include "fc2_fabric/drivers/file_sink.hpp"

#include <cerrno>
#include <cstring>
#include <utility>

namespace fc2::drivers {

FileSink::~FileSink() {
  if (file_ == nullptr) return;
  std::fclose(file_);
  std::remove(temporary_path_.c_str());
}

void FileSink::fail(const char* what) {
  if (error_.empty()) error_ = std::string("cannot ") + what + " " + path_ + ": " + std::strerror(errno);
}

bool FileSink::open(std::string path) {
  path_ = std::move(path);
  temporary_path_ = path_ + ".part";
  file_ = std::fopen(temporary_path_.c_str(), "wb");
  if (file_ == nullptr) fail("create");
  return file_ != nullptr;
}

void FileSink::write(std::span<const std::uint8_t> bytes) {
  if (error_.empty() && std::fwrite(bytes.data(), 1, bytes.size(), file_) != bytes.size()) fail("write");
}

bool FileSink::commit() {
  if (std::fclose(std::exchange(file_, nullptr)) != 0) fail("write");
  if (error_.empty() && std::rename(temporary_path_.c_str(), path_.c_str()) != 0) fail("put in place");
  if (!error_.empty()) std::remove(temporary_path_.c_str());
  return error_.empty();
}

}  // namespace fc2::drivers
