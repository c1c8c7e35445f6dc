#include "tests/support/source_dir.hpp"

namespace support {

std::string source_dir() { return FCVI_SOURCE_DIR; }

}  // namespace support
