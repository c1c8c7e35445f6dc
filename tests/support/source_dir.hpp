// Where the project's sources stand: scenarios, test data, golden files.
#pragma once

#include <string>

namespace support {

// An absolute path, without a '/' at its end. One source knows it, so that no other test's command line depends on it.
[[nodiscard]] std::string source_dir();

}  // namespace support
