// Keys of a scenario that a command does not ask for.
#pragma once
#include <set>
#include <string>

#include "settings/tree.hpp"

namespace sim {

/// Those that stand somewhere in the tree get a line on standard error: "fcvi-sim: FILE: warning: soak ignores expect,
/// linger".
void warn_of_ignored(const std::string& path, const settings::Tree& tree, const std::string& command,
                     const std::set<std::string>& ignored);

}  // namespace sim
