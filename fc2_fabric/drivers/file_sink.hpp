// A capture file. It is written under a temporary name and renamed when complete, so that it is never half-written.
#pragma once
#include <cstdio>
#include <string>

#include "fc2_fabric/frame/capture.hpp"

namespace fc2::drivers {

class FileSink final : public ByteSink {
 public:
  FileSink() = default;
  ~FileSink();  // without commit(): removes the temporary file
  FileSink(const FileSink&) = delete;
  FileSink& operator=(const FileSink&) = delete;

  /// False and error() set if the file cannot be created.
  bool open(std::string path);
  void write(std::span<const std::uint8_t> bytes) override;
  /// Flushes and renames the file. False and error() set if anything was not written.
  bool commit();
  [[nodiscard]] const std::string& error() const { return error_; }

 private:
  void fail(const char* what);
  std::string path_, temporary_path_, error_;
  std::FILE* file_ = nullptr;
};

}  // namespace fc2::drivers
