#include "settings/file.hpp"

#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <system_error>

#include "settings/units.hpp"

namespace settings {

Result<std::string> read_file(const std::string& path, std::uint64_t max_bytes) {
  std::error_code error;
  if (std::filesystem::is_directory(path, error)) return BadInput{path + ": is a folder, expected a file"};
  std::ifstream file(path, std::ios::binary);
  if (!file) return BadInput{path + ": cannot read: " + std::strerror(errno)};
  std::string text;
  std::array<char, 65536> part{};
  while (file.read(part.data(), part.size()) || file.gcount() > 0) {
    text.append(part.data(), static_cast<std::size_t>(file.gcount()));
    if (text.size() > max_bytes) return BadInput{path + ": more than " + format_count(max_bytes) + " bytes"};
  }
  if (file.bad()) return BadInput{path + ": cannot read: " + std::strerror(errno)};
  return Result<std::string>(boost::system::in_place_value, std::move(text));
}

}  // namespace settings
