// A scenario file as the runs that it describes: what `include`, `parameters`, `for_each` and ${NAME} stand for is put
// in place, before anything else is read.
#pragma once
#include <functional>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "settings/tree.hpp"
#include "tools/fcvi_sim/scenario/keys.hpp"

namespace sim {

/// The keys that it takes: include, parameters, for_each.
const std::vector<Key>& matrix_keys();

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
  /// The files that it includes.
  [[nodiscard]] const std::vector<std::string>& included() const { return included_; }
  /// Parameters that nothing uses, with their places.
  [[nodiscard]] const std::vector<std::string>& warnings() const { return warnings_; }
  /// The names that `for_each` varies, joined by ", ".
  [[nodiscard]] std::string varied() const;
  /// The scenario of that run, without the keys that are named above.
  [[nodiscard]] settings::Result<settings::Tree> tree(std::size_t run) const;

 private:
  /// Names and values, in the file's order.
  using Values = std::vector<std::pair<std::string, settings::Tree>>;
  /// A value of a run: many runs share it.
  struct Varied {
    std::string name;
    std::shared_ptr<const settings::Tree> value;
    std::string shown;         // in labels and for --only
    std::size_t position = 0;  // in its list
  };
  using Run = std::vector<Varied>;
  static Matrix of_tree(settings::Tree root, const ParameterChoices& choices);
  void take_parameters();
  void choose(const std::string& choice);
  void take_for_each();
  void name_values();
  void warn_of_unused();
  void take_all_with_all(const settings::Tree& each);
  void take_list(const settings::Tree& each);
  void check_varied(const settings::Tree& each) const;
  /// Of parameters, by anything.
  [[nodiscard]] std::set<std::string, std::less<>> used_names() const;
  void keep_only(const std::string& text);
  [[nodiscard]] std::vector<std::string> choices_of(const std::string& text) const;
  void keep_those_with(const std::string& choice);
  [[nodiscard]] std::vector<std::string_view> varied_names() const;

  settings::Tree root_;
  Values parameters_;
  std::vector<Run> runs_;
  std::vector<std::string> included_, warnings_;
};

}  // namespace sim
