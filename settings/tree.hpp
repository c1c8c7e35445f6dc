// A YAML file (a scenario, a NIC configuration) as a tree of values that know their place in it, for messages. --set
// changes it before it is read.
#pragma once
#include <boost/assert/source_location.hpp>
#include <boost/system/result.hpp>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace settings {

/// What was wrong with an input and where: "FILE:LINE: ...", "--set KEY=VALUE: ...".
struct BadInput {
  std::string message;
};
[[noreturn]] void throw_exception_from_error(const BadInput& error, const boost::source_location& location);
template <class T>
using Result = boost::system::result<T, BadInput>;

struct Tree {
  enum class Kind { Null, Scalar, List, Map };
  Kind kind = Kind::Null;
  std::string where;  // "FILE:LINE", "FILE:LINE:COLUMN" or "--set KEY=VALUE"
  std::string scalar = {};
  bool quoted = false;  // "12" in quotes is text
  std::vector<Tree> items = {};
  std::vector<std::pair<std::string, Tree>> entries = {};  // in the file's order

  [[nodiscard]] Tree* find(std::string_view key);
  [[nodiscard]] const Tree* find(std::string_view key) const { return const_cast<Tree*>(this)->find(key); }
  /// "a list", "a mapping", "\"text\"", "nothing".
  [[nodiscard]] std::string describe() const;
};

/// How exactly messages give the place: by line, or by line and column.
enum class Places { Lines, Columns };

/// `name` names the file in messages. Errors: YAML syntax, a key twice in a mapping, too many values.
Result<Tree> parse_yaml(const std::string& text, const std::string& name, Places places = Places::Lines);
/// `assignment` is "key.key=value"; items of lists are named by position from 0 or by their name. Adds missing keys
/// (the reader refuses unknown ones), never items.
Result<void> assign(Tree& root, std::string_view assignment);
/// The known word that is most like `word`, or empty if none is near.
std::string_view nearest(std::string_view word, const std::vector<std::string_view>& known);

}  // namespace settings
