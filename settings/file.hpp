// Files as text.
#pragma once
#include <cstdint>
#include <string>

#include "settings/tree.hpp"

namespace settings {

/// The whole file, or why not: "PATH: cannot read: No such file or directory", "PATH: more than 4,194,304 bytes", ...
Result<std::string> read_file(const std::string& path, std::uint64_t max_bytes);

}  // namespace settings
