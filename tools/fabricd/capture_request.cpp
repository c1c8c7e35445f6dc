#include "tools/fabricd/capture_request.hpp"

#include <fmt/format.h>

#include <charconv>

namespace fabricd {
namespace {

std::string_view next_line(std::string_view& text) {
  const std::size_t end = std::min(text.find('\n'), text.size());
  const std::string_view line = text.substr(0, end);
  text.remove_prefix(std::min(end + 1, text.size()));
  return line;
}

template <class Number>
bool read_number(std::string_view text, Number& number) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc{} && end == text.data() + text.size() && number >= 0;
}

bool read_option(CaptureRequest& request, std::string_view line) {
  const std::string_view key = line.substr(0, line.find('='));
  const std::string_view value = line.substr(std::min(key.size() + 1, line.size()));
  if (key == "both-ends") return request.choice.both_ends = true;
  if (key == "from-first") return request.from_first = true;
  if (key == "count") return read_number(value, request.count);
  if (key == "last") return read_number(value, request.last.emplace());
  if (key != "port" || value.empty()) return false;
  request.choice.ports.emplace_back(value);
  return true;
}
}  // namespace

std::string CaptureRequest::to_text() const {
  std::string text(word);
  if (choice.both_ends) text += "\nboth-ends";
  if (count != 0) text += fmt::format("\ncount={}", count);
  if (last) text += fmt::format("\nlast={}", *last);
  if (from_first) text += "\nfrom-first";
  for (const std::string& port : choice.ports) text += "\nport=" + port;
  return text;
}

std::optional<CaptureRequest> CaptureRequest::parse(std::string_view text) {
  CaptureRequest request;
  if (next_line(text) != word) return std::nullopt;
  while (!text.empty())
    if (!read_option(request, next_line(text))) return std::nullopt;
  return request;
}

}  // namespace fabricd
