// Fields of a frame as a tree of names and values, for people and for programs.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "wire/codec.hpp"

namespace sim::capture {

struct Field {
  std::string name;
  std::string value;  // empty where it has fields
  std::vector<Field> fields;
};

/// The tree of a text as wire's to_string makes it: "LS_ACC a=1 page={b=2} c=The text" becomes LS_ACC with a, page
/// with b, and c. What stands behind the name in words before the first field is its value: "FIP Discovery
/// Advertisement".
[[nodiscard]] Field parse_description(std::string_view text);

/// One field of a message: numbers that count something in decimal, texts in quotes.
[[nodiscard]] std::string shown_value(std::string_view name, std::string_view text, std::uint64_t number);
/// A discriminator as text, without the zeros behind it.
[[nodiscard]] std::string shown_text(wire::Bytes bytes);

/// The fields of a layout, in its order.
template <class Message>
class LayoutFields {
 public:
  explicit LayoutFields(const Message& message) : message_(message) {}
  [[nodiscard]] std::vector<Field> list() {
    Message::layout.visit([&](const auto& item) { add(item); });
    return std::move(list_);
  }

 private:
  template <std::size_t Offset, std::size_t Size, class Value>
  void add(const wire::codec::Field<Offset, Size, Message, Value>& field) {
    const Value& value = message_.*field.member;
    if constexpr (wire::codec::Nested<Value>)
      list_.push_back({field.name, "", LayoutFields<Value>(value).list()});
    else if constexpr (wire::codec::ByteArray<Value>)
      list_.push_back({field.name, shown_text(value), {}});
    else
      add_value(field.name, value, 8 * Size);
  }
  template <std::size_t Offset, std::size_t Size, wire::codec::Kind Kind>
  void add(const wire::codec::Constant<Offset, Size, Kind>&) {}
  template <std::size_t Offset, std::size_t Size, class Indices, class... Parts>
  void add(const wire::codec::WordOf<Offset, Size, Indices, Parts...>& word) {
    word.visit([&](const auto& part) { add_part(part); });
  }
  template <unsigned High, unsigned Low, class Value>
  void add_part(const wire::codec::Part<High, Low, Message, Value>& part) {
    add_value(part.name, message_.*part.member, High - Low + 1);
  }
  template <class Value>
  void add_value(const char* name, const Value& value, unsigned bits) {
    std::string text = wire::codec::text_of(value, bits);
    if constexpr (std::unsigned_integral<Value> || wire::StrongInteger<Value>)
      text = shown_value(name, text, wire::codec::to_integer(value));
    list_.push_back({name, std::move(text), {}});
  }

  const Message& message_;
  std::vector<Field> list_;
};

}  // namespace sim::capture
