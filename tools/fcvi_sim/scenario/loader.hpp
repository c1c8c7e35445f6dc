// Reads YAML into a Scenario, with every check that can be made before the run.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "settings/tree.hpp"
#include "tools/fcvi_sim/scenario/scenario.hpp"

namespace sim {
using settings::BadInput;
using settings::Result;

/// Changes by the command line.
struct Overrides {
  std::optional<std::uint64_t> seed;
  std::string file;
  std::vector<std::string> assignments;  // "key.key=value", in order
};

/// Paths in the scenario are relative to the scenario's own folder.
Result<Scenario> load_scenario(const std::string& path, const Overrides& overrides);
/// `name` names the file in messages; paths in the text are relative to `folder`.
Result<Scenario> read_scenario(const std::string& text, const std::string& name, const std::string& folder,
                               const Overrides& overrides);

}  // namespace sim
