// Runs a program and keeps what it says.
#pragma once
#include <string>
#include <vector>

namespace scenarios {

struct Finished {
  int status = -1;
  std::string output, errors;
};
/// argv[0] is looked for in the PATH unless it has a slash.
Finished run(const std::vector<std::string>& arguments);
Finished fcvi_sim(std::vector<std::string> arguments);
/// The text of a file; empty if there is none.
std::string content_of(const std::string& path);

/// A folder of its own for each test, gone afterwards.
class Folder {
 public:
  Folder();
  ~Folder();
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  [[nodiscard]] std::string operator/(const std::string& name) const { return path_ + "/" + name; }
  std::string write(const std::string& name, const std::string& text) const;
  /// Names of the files in it, sorted.
  [[nodiscard]] std::vector<std::string> files() const;

 private:
  std::string path_;
};

}  // namespace scenarios
