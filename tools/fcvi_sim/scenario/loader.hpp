// Reads YAML into a Scenario, with every check that can be made before the run.
#pragma once
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "settings/tree.hpp"
#include "tools/fcvi_sim/scenario/matrix.hpp"
#include "tools/fcvi_sim/scenario/scenario.hpp"

namespace sim {
using settings::BadInput;
using settings::Result;

/// Changes by the command line.
struct Overrides {
  std::optional<std::uint64_t> seed;
  std::string file;
  std::vector<std::string> assignments;  // "key.key=value", in order
  ParameterChoices parameters = {};
};

/// A file, and the runs that it describes.
class ScenarioFile {
 public:
  /// Paths in the scenario are relative to the scenario's own folder.
  static Result<ScenarioFile> load(const std::string& path, const Overrides& overrides);
  /// `name` names the file in messages; paths in the text are relative to `folder`.
  static Result<ScenarioFile> read(const std::string& text, const std::string& name, const std::string& folder,
                                   const Overrides& overrides);
  [[nodiscard]] std::size_t size() const { return matrix_.size(); }
  /// "level=unreliable, size=64KiB"; empty without `for_each`.
  [[nodiscard]] std::string label(std::size_t run) const { return matrix_.label(run); }
  [[nodiscard]] Result<Scenario> scenario(std::size_t run) const;
  /// The files that it includes.
  [[nodiscard]] const std::vector<std::string>& included() const { return matrix_.included(); }
  /// What the file says of a run, with what it includes.
  [[nodiscard]] Result<settings::Tree> tree(std::size_t run) const { return matrix_.tree(run); }
  /// The only run. Where there are several: an error that says how to choose.
  [[nodiscard]] Result<Scenario> only_run() const;

 private:
  ScenarioFile(Matrix matrix, std::string name, std::string folder, Overrides overrides)
      : matrix_(std::move(matrix)), name_(std::move(name)), folder_(std::move(folder)),
        overrides_(std::move(overrides)) {}
  Matrix matrix_;
  std::string name_, folder_;
  Overrides overrides_;
};

/// The file's only run.
Result<Scenario> load_scenario(const std::string& path, const Overrides& overrides);
Result<Scenario> read_scenario(const std::string& text, const std::string& name, const std::string& folder,
                               const Overrides& overrides);

}  // namespace sim
