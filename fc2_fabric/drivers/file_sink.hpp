// A capture file. Written under a temporary name and renamed when complete: never a half-written file in place.
#pragma once
#include <cstdio>
#include <string>

#include "fc2_fabric/frame/capture.hpp"

namespace fc2::drivers {

class FileSink final : public ByteSink {
 public:
  FileSink() = default;
  ~FileSink();  // without commit(): removes what was written
  FileSink(const FileSink&) = delete;
  FileSink& operator=(const FileSink&) = delete;

  /// False and error() set when the file cannot be made.
  bool open(std::string path);
  void write(std::span<const std::uint8_t> bytes) override;
  /// Flushes and puts the file in place. False and error() set when anything was not written.
  bool commit();
  [[nodiscard]] const std::string& error() const { return error_; }

 private:
  void fail(const char* what);
  std::string path_, temporary_path_, error_;
  std::FILE* file_ = nullptr;
};

}  // namespace fc2::drivers
