// A scenario file as the runs that it describes: what `include`, `parameters`, `for_each` and ${NAME} stand for is put
// in place, before anything else is read.
#pragma once
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "settings/tree.hpp"

namespace sim {

/// What the command line says of a file's parameters.
struct ParameterChoices {
  std::vector<std::string> values = {};  // --param NAME=VALUE
  std::vector<std::string> only = {};    // --only NAME=VALUE[,VALUE]
};

/// Functions that can fail return the place: "FILE:LINE: ...", "--only level=x: ...".
class Matrix {
 public:
  /// `name` names the file in messages; paths of `include` in it are relative to `folder`.
  static settings::Result<Matrix> read(const std::string& text, const std::string& name, const std::string& folder,
                                       const ParameterChoices& choices);
  /// How many runs; at least one.
  [[nodiscard]] std::size_t size() const { return runs_.size(); }
  /// "level=unreliable, size=64KiB": what sets a run apart. Empty without `for_each`.
  [[nodiscard]] std::string label(std::size_t run) const;
  /// The names that `for_each` varies, joined by ", ".
  [[nodiscard]] std::string varied() const;
  /// The scenario of that run, without the keys that are named above.
  [[nodiscard]] settings::Result<settings::Tree> tree(std::size_t run) const;

 private:
  /// Names and values, in the file's order.
  using Values = std::vector<std::pair<std::string, settings::Tree>>;
  static Matrix of_tree(settings::Tree root, const ParameterChoices& choices);
  void take_parameters();
  void choose(const std::string& choice);
  void take_for_each();
  void keep_only(const std::string& choice);
  [[nodiscard]] std::vector<std::string_view> varied_names() const;

  settings::Tree root_;
  Values parameters_;
  std::vector<Values> runs_;
};

}  // namespace sim
