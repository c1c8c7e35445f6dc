#include "tools/ctl/rule_words.hpp"

#include <algorithm>
#include <cctype>
#include <utility>

namespace ctl {
namespace {

// Names and numbers stand as they are, and so do lists and mappings; all else is text.
std::string value_of(const std::string& text) {
  const auto is_plain = [](unsigned char letter) {
    return std::isalnum(letter) != 0 || letter == '_' || letter == '.' || letter == '+' || letter == '-';
  };
  const bool flow = !text.empty() && (text.front() == '[' || text.front() == '{' || text.front() == '"');
  if (flow || (!text.empty() && std::all_of(text.begin(), text.end(), is_plain))) return text;
  std::string quoted = "\"";
  for (const char letter : text) {
    if (letter == '"' || letter == '\\') quoted += '\\';
    quoted += letter;
  }
  return quoted + "\"";
}

}  // namespace

std::optional<std::string> rules_of_words(const std::vector<std::string>& words, std::string& error) {
  std::string rules, pairs;
  const auto end_pairs = [&] {
    if (!pairs.empty()) rules += "- {" + std::exchange(pairs, {}) + "}\n";
  };
  for (const std::string& word : words) {
    const std::size_t equals = word.find('=');
    if (!word.empty() && word.front() == '{') {
      end_pairs();
      rules += "- " + word + "\n";
    } else if (equals != std::string::npos && equals != 0) {
      pairs += (pairs.empty() ? "" : ", ") + word.substr(0, equals) + ": " + value_of(word.substr(equals + 1));
    } else {
      error = "\"" + word + "\": expected KEY=VALUE, or a rule in braces such as '{action: drop, nth: 2}'";
      return std::nullopt;
    }
  }
  end_pairs();
  return rules;
}

}  // namespace ctl
