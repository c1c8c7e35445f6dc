#include "tools/fcvi_sim/report/script_text.hpp"

#include <algorithm>

#include "tools/fcvi_sim/capture/printer.hpp"

namespace sim::report {

std::string script_text(std::string_view text) {
  const std::string json = capture::json_text(text);
  std::string out;
  out.reserve(json.size());
  for (const char c : json) {
    if (c == '<')
      out += "\\u003c";
    else
      out += c;
  }
  return out;
}

std::string base64(std::span<const std::uint8_t> bytes) {
  constexpr std::string_view digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string out;
  out.reserve((bytes.size() + 2) / 3 * 4);
  for (std::size_t at = 0; at < bytes.size(); at += 3) {
    const std::size_t count = std::min<std::size_t>(3, bytes.size() - at);
    std::uint32_t word = 0;
    for (std::size_t i = 0; i < 3; ++i) word = word << 8 | (i < count ? bytes[at + i] : 0U);
    for (std::size_t i = 0; i < 4; ++i) out += i <= count ? digits[word >> (18 - 6 * i) & 63] : '=';
  }
  return out;
}

JsonObject& JsonObject::raw(std::string_view name, std::string_view json) {
  if (out_.size() > 1) out_ += ',';
  out_.append(script_text(name)).append(":").append(json);
  return *this;
}

std::string json_texts(const std::vector<std::string>& texts) {
  return json_list(texts, [](const std::string& text) { return script_text(text); });
}

std::uint32_t Interner::operator()(std::string_view text) {
  const auto [found, added] = numbers_.try_emplace(std::string(text), static_cast<std::uint32_t>(texts_.size()));
  if (added) texts_.emplace_back(text);
  return found->second;
}

}  // namespace sim::report
