// A JSON object as text, for what NICs tell of themselves.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>

#include "runtime/time.hpp"

namespace vipl {

/// As JSON has it: printable ASCII, the rest escaped.
[[nodiscard]] inline std::string quoted(std::string_view text) {
  constexpr std::string_view digits = "0123456789abcdef";
  std::string out = "\"";
  for (const char c : text) {
    const auto code = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\')
      out += '\\', out += c;
    else if (code < 0x20 || code >= 0x7F)
      out += "\\u00", out += digits[code >> 4], out += digits[code & 15];
    else
      out += c;
  }
  return out + '"';
}

/// Members in the order of the calls.
class JsonObject {
 public:
  JsonObject& text(std::string_view key, std::string_view value) { return raw(key, quoted(value)); }
  JsonObject& number(std::string_view key, std::uint64_t value) { return raw(key, std::to_string(value)); }
  JsonObject& flag(std::string_view key, bool value) { return raw(key, value ? "true" : "false"); }
  /// Milliseconds that have passed since.
  JsonObject& since(std::string_view key, runtime::TimeNs then, runtime::TimeNs now) {
    return number(key, static_cast<std::uint64_t>((now - then) / runtime::millisecond));
  }
  JsonObject& raw(std::string_view key, const std::string& value) {
    members_ += (members_.empty() ? "" : ",") + quoted(key) + ":" + value;
    return *this;
  }
  [[nodiscard]] std::string end() const { return "{" + members_ + "}"; }

 private:
  std::string members_;
};

}  // namespace vipl
