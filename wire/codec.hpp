// Compile-time field layouts: a message lists its fields once; parse, write and to_string follow from the list.
//
//   struct Adisc {
//     FcId hard_address; ...
//     static constexpr auto layout = codec::layout<28>(
//         codec::constant<0, 4>(0x52000000, "command"),
//         codec::field<5, 3>(&Adisc::hard_address, "hard_address"), ...);
//   };
//
// Offsets and sizes are bytes. Bytes and bits that no item covers are reserved: written 0, ignored on receipt
// (FC-VI 5.9.5). That items fit the message and do not overlap is checked by the compiler.
#pragma once
#include <algorithm>
#include <array>
#include <concepts>
#include <cstring>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>

#include "wire/bytes.hpp"
#include "wire/result.hpp"
#include "wire/text.hpp"
#include "wire/types.hpp"

namespace wire::codec {

/// A value that is an array of bytes: MacAddress, IpAddress, std::array.
template <class V>
concept ByteArray = std::same_as<std::remove_cvref_t<decltype(std::declval<V>()[0])>, std::uint8_t>;
template <class V>
concept ByteBlock = ByteArray<decltype(V::bytes)>;
/// A message within a message.
template <class V>
concept Nested = requires {
  V::layout.size();
};

template <class V>
[[nodiscard]] constexpr std::uint64_t to_integer(const V& value) noexcept {
  if constexpr (std::is_enum_v<V>)
    return static_cast<std::uint64_t>(static_cast<std::underlying_type_t<V>>(value));
  else if constexpr (StrongInteger<V>)
    return value.value;
  else
    return value;
}

template <class V>
[[nodiscard]] constexpr V from_integer(std::uint64_t integer) noexcept {
  if constexpr (std::is_enum_v<V>)
    return static_cast<V>(integer);
  else if constexpr (StrongInteger<V>)
    return V{static_cast<decltype(V::value)>(integer)};
  else if constexpr (std::same_as<V, bool>)
    return integer != 0;
  else
    return static_cast<V>(integer);
}

/// Bits that a V can hold.
template <class V>
[[nodiscard]] consteval unsigned width_of() {
  if constexpr (std::same_as<V, bool>)
    return 1;
  else if constexpr (StrongInteger<V>)
    return 8 * sizeof(V::value);
  else
    return 8 * sizeof(V);
}

template <class V>
[[nodiscard]] std::string text_of(const V& value, unsigned bits) {
  if constexpr (std::same_as<V, bool>)
    return value ? "1" : "0";
  else if constexpr (std::is_enum_v<V>) {
    const auto name = to_string(value);
    return name == text::unknown ? text::hex_h(to_integer(value), (bits + 3) / 4) : std::string(name);
  } else if constexpr (Nested<V>)
    return "{" + value.to_string() + "}";
  else if constexpr (ByteArray<V>)
    return text::bytes(value);
  else if constexpr (std::unsigned_integral<V>)
    return text::hex_h(value, (bits + 3) / 4);
  else
    return to_string(value);
}

enum class Kind : std::uint8_t {
  field,     // a member
  constant,  // one value, verified and written
  check,     // verified only: the bytes belong to a nested message, which writes them
};

/// A member of Size bytes at Offset.
template <std::size_t Offset, std::size_t Size, class Message, class Value>
struct Field {
  static constexpr std::size_t offset = Offset, bytes = Size;
  static constexpr Kind kind = Kind::field;
  Value Message::*member;
  const char* name;

  void load(Message& message, const std::uint8_t* at) const noexcept {
    Value& value = message.*member;
    if constexpr (Nested<Value>)
      Value::layout.load(value, at);
    else if constexpr (ByteArray<Value>)
      std::memcpy(value.data(), at, Size);
    else if constexpr (ByteBlock<Value>)
      std::memcpy(value.bytes.data(), at, Size);
    else
      value = from_integer<Value>(load_big<Size>(at));
  }
  void store(const Message& message, std::uint8_t* at) const noexcept {
    const Value& value = message.*member;
    if constexpr (Nested<Value>)
      Value::layout.store(value, at);
    else if constexpr (ByteArray<Value>)
      std::memcpy(at, value.data(), Size);
    else if constexpr (ByteBlock<Value>)
      std::memcpy(at, value.bytes.data(), Size);
    else
      store_big<Size>(at, static_cast<UnsignedOf<Size>>(to_integer(value)));
  }
  [[nodiscard]] std::optional<ParseError> verify(const std::uint8_t* at) const noexcept {
    if constexpr (Nested<Value>)
      return Value::layout.verify(at);
    else
      return std::nullopt;
  }
  void describe(const Message& message, std::string& line) const {
    text::append(line, name, text_of(message.*member, 8 * Size));
  }
  static void cover(std::uint8_t* mask) {
    if constexpr (Nested<Value>)
      Value::layout.cover(mask);
    else
      std::fill_n(mask, Size, std::uint8_t{0xFF});
  }
  void store_constants(std::uint8_t* at) const noexcept {
    if constexpr (Nested<Value>) Value::layout.store_constants(at);
  }
  [[nodiscard]] constexpr const char* first_name() const { return name; }
};

/// A field that has one of N values; any other is bad_value.
template <std::size_t Offset, std::size_t Size, class Message, class Value, std::size_t N>
struct Choice : Field<Offset, Size, Message, Value> {
  using Base = Field<Offset, Size, Message, Value>;
  std::array<Value, N> allowed;

  constexpr Choice(Base base, std::array<Value, N> values) : Base(base), allowed(values) {}
  [[nodiscard]] std::optional<ParseError> verify(const std::uint8_t* at) const noexcept {
    const auto value = from_integer<Value>(load_big<Size>(at));
    if (std::find(allowed.begin(), allowed.end(), value) != allowed.end()) return std::nullopt;
    return ParseError{ParseCode::bad_value, Base::name};
  }
  void store_constants(std::uint8_t* at) const noexcept {
    store_big<Size>(at, static_cast<UnsignedOf<Size>>(to_integer(allowed[0])));
  }
};

/// Size bytes at Offset that always have one value.
template <std::size_t Offset, std::size_t Size, Kind K>
struct Constant {
  static constexpr std::size_t offset = Offset, bytes = Size;
  static constexpr Kind kind = K;
  UnsignedOf<Size> value;
  const char* name;

  template <class Message>
  void load(Message&, const std::uint8_t*) const noexcept {}
  template <class Message>
  void store(const Message&, std::uint8_t* at) const noexcept {
    if constexpr (K == Kind::constant) store_big<Size>(at, value);
  }
  [[nodiscard]] std::optional<ParseError> verify(const std::uint8_t* at) const noexcept {
    if (load_big<Size>(at) == value) return std::nullopt;
    return ParseError{ParseCode::bad_value, name};
  }
  template <class Message>
  void describe(const Message&, std::string&) const {}
  static void cover(std::uint8_t* mask) { std::fill_n(mask, Size, std::uint8_t{0xFF}); }
  void store_constants(std::uint8_t* at) const noexcept { store_big<Size>(at, value); }
  [[nodiscard]] constexpr const char* first_name() const { return name; }
};

/// Bits High to Low of a word, as the standards' tables number them.
template <unsigned High, unsigned Low, class Message, class Value>
struct Part {
  static constexpr unsigned high = High, low = Low;
  static constexpr std::uint64_t mask = (~std::uint64_t{0} >> (63 - (High - Low))) << Low;
  Value Message::*member;
  const char* name;

  void load(Message& message, std::uint64_t word) const noexcept {
    message.*member = from_integer<Value>((word & mask) >> Low);
  }
  [[nodiscard]] std::uint64_t store(const Message& message) const noexcept {
    return (to_integer(message.*member) << Low) & mask;
  }
  void describe(const Message& message, std::string& line) const {
    text::append(line, name, text_of(message.*member, High - Low + 1));
  }
};

/// One entry of a list. Lists are bases in a row and not a std::tuple with std::apply: of what a source that includes
/// messages takes to compile, that was a third.
template <std::size_t Index, class T>
struct Entry {
  T entry;
};

template <std::size_t Offset, std::size_t Size, class Indices, class... Parts>
struct WordOf;
/// Size bytes at Offset that several members share; read and written in one go.
template <std::size_t Offset, std::size_t Size, class... Parts>
using Word = WordOf<Offset, Size, std::index_sequence_for<Parts...>, Parts...>;

template <std::size_t Offset, std::size_t Size, std::size_t... Indices, class... Parts>
struct WordOf<Offset, Size, std::index_sequence<Indices...>, Parts...> : Entry<Indices, Parts>... {
  static constexpr std::size_t offset = Offset, bytes = Size;
  static constexpr Kind kind = Kind::field;
  static constexpr std::uint64_t mask = (Parts::mask | ...);

  constexpr explicit WordOf(const Parts&... parts) : Entry<Indices, Parts>{parts}... {}

  /// visitor(part) for each, in order.
  template <class Visitor>
  constexpr void visit(Visitor&& visitor) const {
    (visitor(Entry<Indices, Parts>::entry), ...);
  }

  template <class Message>
  void load(Message& message, const std::uint8_t* at) const noexcept {
    const std::uint64_t word = load_big<Size>(at);
    (Entry<Indices, Parts>::entry.load(message, word), ...);
  }
  template <class Message>
  void store(const Message& message, std::uint8_t* at) const noexcept {
    const std::uint64_t word = (Entry<Indices, Parts>::entry.store(message) | ...);
    store_big<Size>(at, static_cast<UnsignedOf<Size>>(word));
  }
  [[nodiscard]] std::optional<ParseError> verify(const std::uint8_t*) const noexcept { return std::nullopt; }
  template <class Message>
  void describe(const Message& message, std::string& line) const {
    (Entry<Indices, Parts>::entry.describe(message, line), ...);
  }
  static void cover(std::uint8_t* to) { store_big<Size>(to, static_cast<UnsignedOf<Size>>(mask)); }
  void store_constants(std::uint8_t*) const noexcept {}
  [[nodiscard]] constexpr const char* first_name() const {
    const char* name = nullptr;
    static_cast<void>(((name = Entry<Indices, Parts>::entry.name) || ...));
    return name;
  }
};

template <std::size_t Size, class Indices, class... Items>
struct LayoutOf;
/// The whole list; Size is the message's length in bytes.
template <std::size_t Size, class... Items>
using Layout = LayoutOf<Size, std::index_sequence_for<Items...>, Items...>;

template <std::size_t Size, std::size_t... Indices, class... Items>
struct LayoutOf<Size, std::index_sequence<Indices...>, Items...> : Entry<Indices, Items>... {
  static constexpr std::size_t written_bytes = ((Items::kind == Kind::check ? 0 : Items::bytes) + ... + 0);

  constexpr explicit LayoutOf(const Items&... items) : Entry<Indices, Items>{items}... {}

  [[nodiscard]] static constexpr std::size_t size() { return Size; }

  /// visitor(item) for each, in order.
  template <class Visitor>
  constexpr void visit([[maybe_unused]] Visitor&& visitor) const {
    (visitor(Entry<Indices, Items>::entry), ...);
  }
  template <class Message>
  void load([[maybe_unused]] Message& message, [[maybe_unused]] const std::uint8_t* from) const noexcept {
    (Entry<Indices, Items>::entry.load(message, from + Items::offset), ...);
  }
  template <class Message>
  void store([[maybe_unused]] const Message& message, [[maybe_unused]] std::uint8_t* to) const noexcept {
    if constexpr (written_bytes != Size) std::memset(to, 0, Size);
    (Entry<Indices, Items>::entry.store(message, to + Items::offset), ...);
  }
  /// The first constant that does not hold, in the order of the list.
  [[nodiscard]] std::optional<ParseError> verify([[maybe_unused]] const std::uint8_t* from) const noexcept {
    std::optional<ParseError> error;
    static_cast<void>(((error = Entry<Indices, Items>::entry.verify(from + Items::offset)).has_value() || ...));
    return error;
  }
  template <class Message>
  void describe([[maybe_unused]] const Message& message, [[maybe_unused]] std::string& line) const {
    (Entry<Indices, Items>::entry.describe(message, line), ...);
  }
  /// Sets the bits that the message uses; those left are reserved. For tests.
  static void cover([[maybe_unused]] std::uint8_t* mask) { (Items::cover(mask + Items::offset), ...); }
  /// Puts the constants over other bytes, which makes them a valid message. For tests.
  void store_constants([[maybe_unused]] std::uint8_t* to) const noexcept {
    (Entry<Indices, Items>::entry.store_constants(to + Items::offset), ...);
  }
  /// Name of the item whose bytes begin at or before `length` and do not all fit; for ParseCode::truncated.
  [[nodiscard]] constexpr const char* field_at([[maybe_unused]] std::size_t length) const {
    const char* name = "reserved";
    [[maybe_unused]] std::size_t best = Size + 1;
    ((Items::offset + Items::bytes > length && Items::offset + Items::bytes < best
          ? (name = Entry<Indices, Items>::entry.first_name(), best = Items::offset + Items::bytes)
          : 0),
     ...);
    return name;
  }
};

/// A member of Size bytes at Offset: unsigned integer, enum, strong type, byte array, or message with a layout.
template <std::size_t Offset, std::size_t Size, class Message, class Value>
[[nodiscard]] constexpr auto field(Value Message::*member, const char* name) {
  if constexpr (Nested<Value>)
    static_assert(Value::layout.size() == Size, "a nested message has one size");
  else if constexpr (ByteArray<Value> || ByteBlock<Value>)
    static_assert(sizeof(Value) == Size);
  else
    static_assert(Size <= 8 && 8 * Size <= ((width_of<Value>() + 7) / 8) * 8, "the member is too narrow");
  return Field<Offset, Size, Message, Value>{member, name};
}
/// As field, but only `allowed` values parse.
template <std::size_t Offset, std::size_t Size, class Message, class Value, class... Values>
[[nodiscard]] constexpr auto choice(Value Message::*member, const char* name, Values... allowed) {
  return Choice<Offset, Size, Message, Value, sizeof...(allowed)>(field<Offset, Size>(member, name), {allowed...});
}
template <std::size_t Offset, std::size_t Size>
[[nodiscard]] constexpr auto constant(UnsignedOf<Size> value, const char* name) {
  return Constant<Offset, Size, Kind::constant>{value, name};
}
template <std::size_t Offset, std::size_t Size>
[[nodiscard]] constexpr auto check(UnsignedOf<Size> value, const char* name) {
  return Constant<Offset, Size, Kind::check>{value, name};
}
template <unsigned High, unsigned Low, class Message, class Value>
[[nodiscard]] constexpr auto part(Value Message::*member, const char* name) {
  static_assert(High >= Low && High < 64 && High - Low + 1 <= width_of<Value>(), "the member is too narrow");
  return Part<High, Low, Message, Value>{member, name};
}
template <std::size_t Offset, std::size_t Size, class... Parts>
[[nodiscard]] constexpr auto word(Parts... parts) {
  static_assert(((Parts::high < 8 * Size) && ...), "a part lies outside its word");
  constexpr std::uint64_t all = (Parts::mask | ...), sum = (Parts::mask + ...);
  static_assert(all == sum, "parts overlap");
  return Word<Offset, Size, Parts...>{parts...};
}

template <class... Items>
[[nodiscard]] consteval bool all_disjoint() {
  constexpr std::size_t count = sizeof...(Items);
  constexpr std::array<std::size_t, count + 1> begins{(Items::kind == Kind::check ? 0 : Items::offset)..., 0};
  constexpr std::array<std::size_t, count + 1> ends{(Items::kind == Kind::check ? 0 : Items::offset + Items::bytes)...,
                                                    0};
  for (std::size_t i = 0; i < count; ++i)
    for (std::size_t j = i + 1; j < count; ++j)
      if (begins[i] < ends[j] && begins[j] < ends[i]) return false;
  return true;
}

template <std::size_t Size, class... Items>
[[nodiscard]] constexpr auto layout(Items... items) {
  static_assert(((Items::offset + Items::bytes <= Size) && ...), "an item lies outside the message");
  static_assert(all_disjoint<Items...>(), "items overlap");
  return Layout<Size, Items...>{items...};
}

/// The fields of a message from bytes that begin with it, whose size the caller has checked; constants
/// are not verified.
template <class Message>
[[nodiscard]] inline Message read(const std::uint8_t* from) noexcept {
  Message message;
  Message::layout.load(message, from);
  return message;
}

/// As read. The one return lets the result be filled where it ends up: a copy costs more than the parse.
template <class Message, class Layout>
[[nodiscard]] inline Result<Message> load_result(const Layout& layout, const std::uint8_t* from) noexcept {
  Result<Message> message(boost::system::in_place_value);
  layout.load(*message, from);
  return message;
}

/// Bytes beyond the message are the caller's business (fill bytes, a list that follows).
template <class Message>
[[nodiscard]] inline Result<Message> parse(Bytes bytes) noexcept {
  constexpr std::size_t size = Message::layout.size();
  if (bytes.size() < size) [[unlikely]]
    return ParseError{ParseCode::truncated, Message::layout.field_at(bytes.size())};
  if (const auto error = Message::layout.verify(bytes.data())) [[unlikely]]
    return *error;
  return load_result<Message>(Message::layout, bytes.data());
}

template <class Message>
inline void write(const Message& message, MutableBytes to) noexcept {
  assert(to.size() >= Message::layout.size());
  Message::layout.store(message, to.data());
}

/// "ADISC hard_address=000000 port_name=..."
template <class Message>
[[nodiscard]] std::string describe(const Message& message) {
  std::string line(Message::name);
  Message::layout.describe(message, line);
  return line;
}

}  // namespace wire::codec
