// Lua source of the field lists of wire/: what a dissector needs to know about a message.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>

#include "wire/codec.hpp"
#include "wire/text.hpp"

namespace wireshark {

/// A string as Lua writes it.
[[nodiscard]] std::string quoted(std::string_view text);
/// "[1]=\"name\"": an entry of a table of texts.
[[nodiscard]] std::string entry(std::uint64_t key, std::string_view text);
/// Two digits a byte.
[[nodiscard]] std::string hex(wire::Bytes bytes);

/// The names of an enum as a Lua table; its values have at most 16 bits.
template <class Enum>
[[nodiscard]] std::string values_of() {
  constexpr std::uint32_t end = std::uint32_t{1} << (8 * sizeof(Enum));
  static_assert(sizeof(Enum) <= 2);
  std::string table = "{";
  for (std::uint32_t code = 0; code < end; ++code)
    if (const auto name = to_string(static_cast<Enum>(code)); name != wire::text::unknown) table += entry(code, name);
  return table + "}";
}

/// How the dissector shows a value: "id" a number by which things are known, "count" one that counts something.
template <class Value>
[[nodiscard]] constexpr std::string_view kind_of() {
  namespace codec = wire::codec;
  if constexpr (std::is_same_v<Value, bool>) return "bool";
  if constexpr (std::is_enum_v<Value>) return "enum";
  if constexpr (std::is_same_v<Value, wire::IpAddress>) return "ip";
  if constexpr (std::is_same_v<Value, wire::FcId>) return "fc_id";
  if constexpr (std::is_same_v<Value, wire::Wwn>) return "wwn";
  if constexpr (std::is_same_v<Value, wire::MsgId>) return "count";
  if constexpr (codec::Nested<Value>) return "group";
  if constexpr (codec::ByteArray<Value> || codec::ByteBlock<Value>) return "bytes";
  return wire::StrongInteger<Value> ? "id" : "number";
}

/// The fields of a message as a Lua list, in the order of its layout: name, offset and bytes from the start of the
/// message, kind, mask where the field has a part of its bytes, values of an enum, fields of a message within it.
class LayoutWriter {
 public:
  template <class Layout>
  [[nodiscard]] static std::string fields(const Layout& layout, std::size_t base = 0) {
    LayoutWriter writer(base);
    layout.visit([&](const auto& item) { writer.add(item); });
    return "{" + writer.list_ + "}";
  }
  /// Bits of the message that no field covers.
  template <class Layout>
  [[nodiscard]] static std::string reserved(const Layout& layout) {
    std::array<std::uint8_t, Layout::size()> mask{};
    layout.cover(mask.data());
    for (std::uint8_t& byte : mask) byte = static_cast<std::uint8_t>(~byte);
    return quoted(hex(mask));
  }

 private:
  explicit LayoutWriter(std::size_t base) : base_(base) {}

  template <std::size_t Offset, std::size_t Size, class Message, class Value>
  void add(const wire::codec::Field<Offset, Size, Message, Value>& field) {
    begin(field.name, Offset, Size, kind_of<Value>());
    if constexpr (wire::codec::Nested<Value>) list_ += ",fields=" + fields(Value::layout, base_ + Offset);
    end<Value>();
  }
  template <std::size_t Offset, std::size_t Size, wire::codec::Kind Kind>
  void add(const wire::codec::Constant<Offset, Size, Kind>& constant) {
    if constexpr (Kind == wire::codec::Kind::check) return;  // its bytes belong to a message within this one
    begin(constant.name, Offset, Size, "number");
    list_ += ",constant=" + std::to_string(constant.value) + "},";
  }
  template <std::size_t Offset, std::size_t Size, class Indices, class... Parts>
  void add(const wire::codec::WordOf<Offset, Size, Indices, Parts...>& word) {
    word.visit([&](const auto& part) { add_part(Offset, Size, part); });
  }
  /// Of the bytes of a word only those that hold the part.
  template <unsigned High, unsigned Low, class Message, class Value>
  void add_part(std::size_t offset, std::size_t size, const wire::codec::Part<High, Low, Message, Value>& part) {
    constexpr unsigned first = Low / 8, last = High / 8;  // from the word's end
    begin(part.name, offset + size - 1 - last, last - first + 1, kind_of<Value>());
    constexpr std::uint64_t mask = wire::codec::Part<High, Low, Message, Value>::mask >> 8 * first;
    if (Low % 8 != 0 || High % 8 != 7) list_ += ",mask=" + std::to_string(mask);
    end<Value>();
  }
  template <class Value>
  void end() {
    if constexpr (std::is_enum_v<Value>) list_ += ",values=" + values_of<Value>();
    list_ += "},";
  }
  void begin(std::string_view name, std::size_t offset, std::size_t bytes, std::string_view kind);

  std::size_t base_;
  std::string list_;
};

}  // namespace wireshark
