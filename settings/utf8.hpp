// UTF-8, as texts of files and of frames should be.
#pragma once
#include <cstddef>
#include <string_view>

namespace settings {

/// How many bytes the first character of the text has: 1 to 4; 0 where it is none of UTF-8 (RFC 3629), or the text is
/// empty.
[[nodiscard]] std::size_t utf8_character_bytes(std::string_view text);

}  // namespace settings
