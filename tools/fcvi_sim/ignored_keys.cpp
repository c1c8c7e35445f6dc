#include "tools/fcvi_sim/ignored_keys.hpp"

#include <cstdio>

namespace sim {
namespace {

/// The keys of `known` that stand somewhere in the tree.
void find_keys(const settings::Tree& tree, const std::set<std::string>& known, std::set<std::string>& found) {
  for (const settings::Tree& item : tree.items) find_keys(item, known, found);
  for (const auto& [key, value] : tree.entries)
    known.contains(key) ? static_cast<void>(found.insert(key)) : find_keys(value, known, found);
}

}  // namespace

void warn_of_ignored(const std::string& path, const settings::Tree& tree, const std::string& command,
                     const std::set<std::string>& ignored) {
  std::set<std::string> found;
  find_keys(tree, ignored, found);
  if (found.empty()) return;
  std::string names;
  for (const std::string& key : found) names += (names.empty() ? "" : ", ") + key;
  std::fprintf(stderr, "fcvi-sim: %s: warning: %s ignores %s\n", path.c_str(), command.c_str(), names.c_str());
}

}  // namespace sim
