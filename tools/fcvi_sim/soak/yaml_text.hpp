// A tree of values as YAML, in few lines.
#pragma once
#include <string>

#include "settings/tree.hpp"

namespace sim::soak {

/// Pre: the root is a mapping. A line for each of its keys; lists of several mappings, and mappings that do not fit into
/// 120 columns, have a line for each item.
std::string yaml_text(const settings::Tree& root);

}  // namespace sim::soak
