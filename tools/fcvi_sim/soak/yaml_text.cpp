#include "tools/fcvi_sim/soak/yaml_text.hpp"

#include <algorithm>
#include <cctype>

namespace sim::soak {
namespace {
using settings::Tree;

bool is_plain(const std::string& text) {
  const auto harmless = [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '-' || c == '.' || c == '/' ||
           c == ' ' || c == ':';
  };
  if (text.empty() || text.front() == ' ' || text.front() == '-' || text.back() == ' ' || text.back() == ':')
    return false;
  return text.find(": ") == std::string::npos && std::all_of(text.begin(), text.end(), harmless);
}

std::string scalar(const Tree& tree) {
  if (!tree.quoted && is_plain(tree.scalar)) return tree.scalar;
  std::string text = "\"";
  for (const char c : tree.scalar) {
    if (c == '"' || c == '\\') text += '\\';
    if (c == '\n')
      text += "\\n";
    else
      text += c;
  }
  return text + "\"";
}

std::string flow(const Tree& tree) {
  if (tree.kind == Tree::Kind::Null) return "~";
  if (tree.kind == Tree::Kind::Scalar) return scalar(tree);
  const bool list = tree.kind == Tree::Kind::List;
  std::string text;
  for (const Tree& item : tree.items) text += (text.empty() ? "" : ", ") + flow(item);
  for (const auto& [key, value] : tree.entries) text += (text.empty() ? "" : ", ") + key + ": " + flow(value);
  return list ? "[" + text + "]" : "{" + text + "}";
}

}  // namespace

std::string yaml_text(const Tree& root) {
  constexpr std::size_t columns = 120;
  std::string text;
  for (const auto& [key, value] : root.entries) {
    const std::string line = key + ": " + flow(value);
    const bool long_list = value.kind == Tree::Kind::List && value.items.size() > 1 && line.size() > columns;
    text += (long_list ? key + ":" : line) + "\n";
    if (!long_list) continue;
    for (const Tree& item : value.items) text += "  - " + flow(item) + "\n";
  }
  return text;
}

}  // namespace sim::soak
