// Reads the values of a tree with their types, units and ranges. Every error is thrown as BadInput and caught where the
// whole file is loaded.
#pragma once
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/scheduler.hpp"
#include "settings/tree.hpp"
#include "wire/types.hpp"

namespace settings {

struct Range {
  std::uint64_t min = 0;
  std::uint64_t max = std::numeric_limits<std::uint64_t>::max();
};

/// One name of a set, and the value that it means.
template <class T>
struct Choice {
  std::string_view name;
  T value;
};

/// Throws "WHERE: KEY: expected WHAT, got VALUE".
[[noreturn]] void fail_expected(const Tree& tree, std::string_view key, std::string_view what);

/// `key` only names the value in messages.
std::string read_text(const Tree& tree, std::string_view key);
bool read_bool(const Tree& tree, std::string_view key);
std::uint64_t read_number(const Tree& tree, std::string_view key, Range range = {});
std::uint64_t read_bytes(const Tree& tree, std::string_view key, Range range);
runtime::TimeNs read_duration(const Tree& tree, std::string_view key, runtime::TimeNs min, runtime::TimeNs max);
std::uint64_t read_line_rate(const Tree& tree, std::string_view key);
wire::Wwn read_name(const Tree& tree, std::string_view key);
wire::IpAddress read_address(const Tree& tree, std::string_view key);
const std::vector<Tree>& read_list(const Tree& tree, std::string_view key);
/// Throws the message of read_choice: what was expected, and the nearest name.
[[noreturn]] void fail_choice(const Tree& tree, std::string_view key, const std::vector<std::string_view>& known);

template <class T, std::size_t Size>
T read_choice(const Tree& tree, std::string_view key, const Choice<T> (&choices)[Size]) {
  std::vector<std::string_view> known;
  for (const Choice<T>& choice : choices) {
    if (tree.kind == Tree::Kind::Scalar && tree.scalar == choice.name) return choice.value;
    known.push_back(choice.name);
  }
  fail_choice(tree, key, known);
}

/// A mapping whose keys are all known: construct it with them, then ask for each.
class MapReader {
 public:
  /// `what` names the mapping in messages: "ports[1]". An absent value counts as an empty mapping.
  MapReader(const Tree& tree, std::string what, std::vector<std::string_view> known);
  [[nodiscard]] const Tree* find(std::string_view key) const { return tree_.find(key); }
  [[nodiscard]] const Tree& require(std::string_view key) const;
  [[nodiscard]] const Tree& tree() const { return tree_; }
  /// If the key is present, `target` = read(value, key, arguments...).
  template <class T, class Read, class... Arguments>
  void optional(std::string_view key, T& target, Read read, Arguments... arguments) const {
    if (const Tree* value = find(key); value != nullptr) target = static_cast<T>(read(*value, key, arguments...));
  }

 private:
  const Tree& tree_;
  std::string what_;
};

}  // namespace settings
