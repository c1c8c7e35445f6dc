// Fields of a frame as a tree of names and values, for people and for programs.
#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "wire/codec.hpp"

namespace sim::capture {

/// The bytes of a packet that hold a field.
struct Place {
  std::size_t offset = 0, bytes = 0;  // no bytes: no fixed place, or not in this packet
  std::uint64_t mask = 0;             // the bits of them that are the field's; 0: all
};

struct Field {
  std::string name;
  std::string value;  // empty where it has fields
  std::vector<Field> fields;
  Place place = {};
};

/// The tree of a text as wire's to_string makes it: "LS_ACC a=1 page={b=2} c=The text" becomes LS_ACC with a, page
/// with b, and c. What stands behind the name in words before the first field is its value: "FIP Discovery
/// Advertisement".
[[nodiscard]] Field parse_description(std::string_view text);

/// One field of a message: numbers that count something in decimal, texts in quotes.
[[nodiscard]] std::string shown_value(std::string_view name, std::string_view text, std::uint64_t number);
/// A discriminator as text, without the zeros behind it.
[[nodiscard]] std::string shown_text(wire::Bytes bytes);

/// The place of a part within a word that begins at `offset`: of its bytes only those that hold it.
template <unsigned High, unsigned Low>
[[nodiscard]] constexpr Place place_of_part(std::size_t offset, std::size_t size) {
  constexpr std::size_t first = Low / 8, last = High / 8;  // from the word's end
  constexpr bool whole = Low % 8 == 0 && High % 8 == 7;
  constexpr std::uint64_t mask = (~std::uint64_t{0} >> (63 - (High - Low))) << Low % 8;
  return {offset + size - 1 - last, last - first + 1, whole ? 0 : mask};
}

/// The fields of a layout, in its order. `base`: where the message begins in its packet; none: the fields get no place.
template <class Message>
class LayoutFields {
 public:
  explicit LayoutFields(const Message& message, std::optional<std::size_t> base = {})
      : message_(message), base_(base) {}
  [[nodiscard]] std::vector<Field> list() {
    Message::layout.visit([&](const auto& item) { add(item); });
    return std::move(list_);
  }

 private:
  template <std::size_t Offset, std::size_t Size, class Value>
  void add(const wire::codec::Field<Offset, Size, Message, Value>& field) {
    const Value& value = message_.*field.member;
    const Place place = at({Offset, Size, 0});
    if constexpr (wire::codec::Nested<Value>)
      list_.push_back({field.name, "", LayoutFields<Value>(value, within(Offset)).list(), place});
    else if constexpr (wire::codec::ByteArray<Value>)
      list_.push_back({field.name, shown_text(value), {}, place});
    else
      add_value(field.name, value, 8 * Size, place);
  }
  template <std::size_t Offset, std::size_t Size, wire::codec::Kind Kind>
  void add(const wire::codec::Constant<Offset, Size, Kind>&) {}
  template <std::size_t Offset, std::size_t Size, class Indices, class... Parts>
  void add(const wire::codec::WordOf<Offset, Size, Indices, Parts...>& word) {
    word.visit([&](const auto& part) { add_part(part, Offset, Size); });
  }
  template <unsigned High, unsigned Low, class Value>
  void add_part(const wire::codec::Part<High, Low, Message, Value>& part, std::size_t offset, std::size_t size) {
    add_value(part.name, message_.*part.member, High - Low + 1, at(place_of_part<High, Low>(offset, size)));
  }
  template <class Value>
  void add_value(const char* name, const Value& value, unsigned bits, Place place) {
    std::string text = wire::codec::text_of(value, bits);
    if constexpr (std::unsigned_integral<Value> || wire::StrongInteger<Value>)
      text = shown_value(name, text, wire::codec::to_integer(value));
    list_.push_back({name, std::move(text), {}, place});
  }
  [[nodiscard]] std::optional<std::size_t> within(std::size_t offset) const {
    return base_ ? std::optional(*base_ + offset) : std::nullopt;
  }
  [[nodiscard]] Place at(Place place) const {
    if (!base_) return {};
    place.offset += *base_;
    return place;
  }

  const Message& message_;
  std::optional<std::size_t> base_;
  std::vector<Field> list_;
};

}  // namespace sim::capture
