// A capture file that is read twice.
#pragma once
#include <cstdio>
#include <memory>
#include <string>

namespace sim::capture {

/// Standard input, a pipe or a device is put into a temporary file, which goes with this object.
class Twice {
 public:
  /// "-": standard input. It and other streams are read to their end.
  explicit Twice(const std::string& path);
  [[nodiscard]] const std::string& path() const { return path_; }
  /// A message that begins with path(), by the name that the user knows.
  [[nodiscard]] std::string told_as(std::string message) const;

 private:
  struct CloseFile {
    void operator()(std::FILE* file) const { std::fclose(file); }
  };
  void keep(int stream);
  std::string path_, told_;
  std::unique_ptr<std::FILE, CloseFile> file_;
};

}  // namespace sim::capture
