// The folder that --out names. Of what is there only what this process made goes again.
#pragma once
#include <filesystem>
#include <string>
#include <vector>

namespace sim::soak {

class OutFolder {
 public:
  enum class Use : unsigned char { Shared, Alone };  // Alone: no other process has it Alone at the same time
  OutFolder() = default;
  /// Folders that open() made go where they are empty.
  ~OutFolder();
  OutFolder(const OutFolder&) = delete;
  OutFolder& operator=(const OutFolder&) = delete;

  /// Makes it where it is missing, and sees that files can be written there. "" or what is wrong: it is no folder, it
  /// cannot be written to, another process has it.
  std::string open(const std::string& path, Use use);

 private:
  std::string make(const std::filesystem::path& path);
  std::vector<std::filesystem::path> made_;
  int descriptor_ = -1;
};

}  // namespace sim::soak
