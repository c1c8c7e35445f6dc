// A tree of values as YAML, in few lines.
#pragma once
#include <string>

#include "settings/tree.hpp"

namespace sim::soak {

/// Pre: the root is a mapping. A line for each of its keys; a list that does not fit into 120 columns has one for each
/// item.
std::string yaml_text(const settings::Tree& root);

}  // namespace sim::soak
