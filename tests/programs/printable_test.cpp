// What vicp and viping show of text that others made.
#include <gtest/gtest.h>

#include <string>

#define _Noreturn [[noreturn]]  // the header is C's
extern "C" {
#include "vip_common.h"
}

namespace {

std::string printable(const std::string& text, std::size_t room = 256) {
  std::string shown(room, '?');
  to_printable(text.c_str(), shown.data(), shown.size());
  return shown.c_str();
}

TEST(Printable, text_stays_as_it_is) {
  EXPECT_EQ(printable(""), "");
  EXPECT_EQ(printable(" a~b\\c"), " a~b\\c");
  for (const std::string text : {"gr\u00FC\u00DF", "\u20AC", "\u65E5\u672C", "\U0001F600", "\u00A0"})
    EXPECT_EQ(printable(text), text);
}

// Of ASCII, of ISO 6429 as bytes and as UTF-8, and UTF-8 that hides one behind a longer encoding.
TEST(Printable, control_characters_become_numbers) {
  EXPECT_EQ(printable("\x1B[31mred\a\n\x7F"), "\\x1B[31mred\\x07\\x0A\\x7F");
  EXPECT_EQ(printable("\x9B"
                      "1A"),
            "\\x9B1A");
  EXPECT_EQ(printable("\xC2\x9B"
                      "1A"),
            "\\xC2\\x9B1A");
  EXPECT_EQ(printable("\xC0\x9B"), "\\xC0\\x9B");
  EXPECT_EQ(printable("\xE0\x80\x9B"), "\\xE0\\x80\\x9B");
  EXPECT_EQ(printable("\xF0\x80\x80\x9B"), "\\xF0\\x80\\x80\\x9B");
}

TEST(Printable, broken_utf_8_becomes_numbers) {
  EXPECT_EQ(printable("\xC3"), "\\xC3");
  EXPECT_EQ(printable("\xE2\x82"), "\\xE2\\x82");
  EXPECT_EQ(printable("\xE2\x1B\x82"), "\\xE2\\x1B\\x82");
  EXPECT_EQ(printable("\xF5\x80\x80\x80\xFF"), "\\xF5\\x80\\x80\\x80\\xFF");
}

// A character is shown as a whole or not at all.
TEST(Printable, what_does_not_fit_is_left_out) {
  EXPECT_EQ(printable("abc", 1), "");
  EXPECT_EQ(printable("abc", 3), "ab");
  EXPECT_EQ(printable("a\x1B", 5), "a");
  EXPECT_EQ(printable("a\x1B", 6), "a\\x1B");
  EXPECT_EQ(printable("a\u20AC", 4), "a");
  EXPECT_EQ(printable("a\u20AC", 5), "a\u20AC");
}

}  // namespace
