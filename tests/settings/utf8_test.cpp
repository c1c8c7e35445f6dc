// Which bytes are a character of UTF-8 (RFC 3629).
#include "settings/utf8.hpp"

#include <gtest/gtest.h>

namespace settings {
namespace {

TEST(Utf8, characters_of_each_length) {
  EXPECT_EQ(utf8_character_bytes("a"), 1U);
  EXPECT_EQ(utf8_character_bytes("\xC3\xA4x"), 2U);
  EXPECT_EQ(utf8_character_bytes("\xE2\x82\xAC"), 3U);
  EXPECT_EQ(utf8_character_bytes("\xF0\x9F\x98\x80"), 4U);
  EXPECT_EQ(utf8_character_bytes("\xF4\x8F\xBF\xBF"), 4U);
}

TEST(Utf8, what_is_none) {
  EXPECT_EQ(utf8_character_bytes(""), 0U);
  for (const char* text : {"\x80", "\xC3", "\xC3x", "\xC1\xBF", "\xE0\x9F\xBF", "\xED\xA0\x80", "\xE2\x82",
                           "\xF0\x8F\xBF\xBF", "\xF4\x90\x80\x80", "\xF5\x80\x80\x80", "\xF0\x9F\x98"})
    EXPECT_EQ(utf8_character_bytes(text), 0U) << text;
}

}  // namespace
}  // namespace settings
