// Data for the scripts of a page: JSON that can stand within HTML.
#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace sim::report {

/// A string of JSON without '<', which could end the element that it stands in.
[[nodiscard]] std::string script_text(std::string_view text);
/// RFC 4648, of all bytes.
[[nodiscard]] std::string base64(std::span<const std::uint8_t> bytes);

/// Members of an object, one after the other: the braces come with beginning and end().
class JsonObject {
 public:
  JsonObject& text(std::string_view name, std::string_view value) { return raw(name, script_text(value)); }
  JsonObject& number(std::string_view name, std::int64_t value) { return raw(name, std::to_string(value)); }
  JsonObject& flag(std::string_view name, bool value) { return raw(name, value ? "true" : "false"); }
  JsonObject& raw(std::string_view name, std::string_view json);
  [[nodiscard]] std::string end() const { return out_ + "}"; }

 private:
  std::string out_ = "{";
};

/// "[a,b]"; `each` makes the JSON of an item.
template <class List, class Each>
[[nodiscard]] std::string json_list(const List& list, Each each) {
  std::string out = "[";
  for (const auto& item : list) {
    if (out.size() > 1) out += ',';
    out += each(item);
  }
  return out + "]";
}
template <class Number>
[[nodiscard]] std::string json_numbers(const std::vector<Number>& numbers) {
  return json_list(numbers, [](Number number) { return std::to_string(number); });
}
[[nodiscard]] std::string json_texts(const std::vector<std::string>& texts);

/// Texts by number, each kept once, in the order of their first use.
class Interner {
 public:
  std::uint32_t operator()(std::string_view text);
  [[nodiscard]] const std::vector<std::string>& texts() const { return texts_; }

 private:
  std::vector<std::string> texts_;
  std::unordered_map<std::string, std::uint32_t> numbers_;
};

}  // namespace sim::report
