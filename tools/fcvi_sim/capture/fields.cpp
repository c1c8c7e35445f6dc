#include "tools/fcvi_sim/capture/fields.hpp"

#include <algorithm>
#include <array>

#include "wire/text.hpp"

namespace sim::capture {
namespace {

bool is_name_char(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

/// Reads "name=value" one after the other. A value ends before the next " name=" or " {" of its level.
class DescriptionParser {
 public:
  explicit DescriptionParser(std::string_view text) : text_(text) {}

  Field message() {
    Field field;
    while (at_ < text_.size() && is_name_char(text_[at_])) field.name += text_[at_++];
    field.value = words();
    field.fields = list();
    return field;
  }

 private:
  std::vector<Field> list() {
    std::vector<Field> fields;
    while (at_ < text_.size() && text_[at_] != '}') {
      if (text_[at_] == ' ') {
        ++at_;
      } else if (text_[at_] == '{') {
        fields.push_back(group());
      } else {
        fields.push_back(field());
      }
    }
    return fields;
  }

  /// "{PRI priority=128}"
  Field group() {
    ++at_;
    Field field = begins_field() ? Field{"", "", list()} : message();
    if (at_ < text_.size()) ++at_;  // }
    return field;
  }

  Field field() {
    Field field;
    if (begins_field()) {
      while (text_[at_] != '=') field.name += text_[at_++];
      ++at_;
    }
    if (at_ < text_.size() && text_[at_] == '{') {
      const Field inner = group();
      field.fields = inner.fields;
      field.value = inner.name.empty() || inner.value.empty() ? inner.name : inner.name + " " + inner.value;
    }
    const std::string behind = words();
    field.value += field.value.empty() || behind.empty() ? behind : " " + behind;
    return field;
  }

  [[nodiscard]] bool begins_field() const {
    std::size_t end = at_;
    while (end < text_.size() && is_name_char(text_[end])) ++end;
    return end > at_ && end < text_.size() && text_[end] == '=';
  }

  /// Up to the next field.
  std::string words() {
    std::string value;
    bool quoted = false;
    for (; at_ < text_.size(); ++at_) {
      const char c = text_[at_];
      if (c == '"') quoted = !quoted;
      if (!quoted && c == '}') break;
      if (!quoted && c == ' ' && ends_value()) break;
      if (c != ' ' || !value.empty()) value += c;
    }
    return value;
  }
  bool ends_value() {
    ++at_;
    const bool ends = begins_field() || (at_ < text_.size() && text_[at_] == '{');
    --at_;
    return ends;
  }

  std::string_view text_;
  std::size_t at_ = 0;
};

}  // namespace

Field parse_description(std::string_view text) { return DescriptionParser(text).message(); }

std::string shown_value(std::string_view name, std::string_view text, std::uint64_t number) {
  constexpr std::array<std::string_view, 7> counts{"length", "size",   "bandwidth", "delay",
                                                   "depth",  "msg_id", "seq_cnt"};
  const bool counts_something = std::any_of(
      counts.begin(), counts.end(), [&](std::string_view part) { return name.find(part) != std::string_view::npos; });
  return counts_something ? std::to_string(number) : std::string(text);
}

std::string shown_text(wire::Bytes bytes) {
  std::size_t length = bytes.size();
  while (length > 0 && bytes[length - 1] == 0) --length;
  const wire::Bytes text = bytes.first(length);
  const bool printable = std::all_of(text.begin(), text.end(), [](std::uint8_t c) { return c >= 0x20 && c < 0x7F; });
  return printable ? wire::text::quoted(text) : wire::text::bytes(text);
}

}  // namespace sim::capture
