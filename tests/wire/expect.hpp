// Checks that every message test makes.
#pragma once
#include <gtest/gtest.h>

#include <ostream>

#include "hex.hpp"
#include "wire/result.hpp"

namespace wire {
/// For GoogleTest's messages.
template <class Message>
requires requires(const Message& m) { m.to_string(); }
void PrintTo(const Message& message, std::ostream* out) { *out << message.to_string(); }
inline void PrintTo(const ParseError& error, std::ostream* out) { *out << to_string(error); }
}  // namespace wire

namespace wire::test {

/// The bytes parse to the message, and the message writes the bytes.
template <class Message>
void expect_known(const std::vector<std::uint8_t>& bytes, const Message& message) {
  const auto parsed = Message::parse(bytes);
  ASSERT_TRUE(parsed.has_value()) << to_string(parsed.error());
  EXPECT_EQ(*parsed, message);
  EXPECT_EQ(message.size(), bytes.size());
  EXPECT_EQ(written(message), bytes);
}

template <class Message>
void expect_error(const std::vector<std::uint8_t>& bytes, ParseCode code, std::string_view field) {
  const auto parsed = Message::parse(bytes);
  ASSERT_FALSE(parsed.has_value()) << parsed->to_string();
  EXPECT_EQ(parsed.error().code, code) << to_string(parsed.error());
  EXPECT_EQ(parsed.error().field, field);
}

}  // namespace wire::test
