// ${NAME} in the values of a file.
#pragma once
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "settings/tree.hpp"

namespace sim {

/// Letters, digits and "_", the first no digit; else BadInput that names the place of `value`.
void check_parameter_name(const std::string& name, const settings::Tree& value);

/// A value that is ${NAME} and nothing else becomes the parameter's, which may be a list or a mapping; within other
/// text stands the parameter's text. $${ is ${. A mapping under the key << gives what its mapping does not say.
class Placeholders {
 public:
  using Values = std::vector<std::pair<std::string, settings::Tree>>;
  explicit Placeholders(Values values) : values_(std::move(values)) {}
  /// In place of, or beside, the one that is there.
  void set(const std::string& name, const settings::Tree& value);
  /// Throws BadInput: an unknown parameter, one that stands in itself, a list within text, too large.
  [[nodiscard]] settings::Tree put_into(const settings::Tree& tree);

 private:
  [[nodiscard]] settings::Tree put_into_map(const settings::Tree& map);
  [[nodiscard]] settings::Tree put_into_text(const settings::Tree& text);
  [[nodiscard]] settings::Tree value_of(std::string_view name, const settings::Tree& use);

  void add_use(settings::Tree& value, const std::string& use);
  void count_bytes(std::size_t bytes, const settings::Tree& tree);

  Values values_;
  std::vector<std::string_view> open_;  // those whose values are being looked up, one in another
  std::size_t count_ = 0, bytes_ = 0, place_bytes_ = 0;
};

}  // namespace sim
