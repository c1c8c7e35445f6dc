// A fault rule from the words of a command line.
#pragma once
#include <optional>
#include <string>
#include <vector>

namespace ctl {

/// YAML: a list of the rules that the words are. A word that begins with a brace is a rule; those KEY=VALUE that
/// follow each other are one together. nullopt: a word is neither, which is in `error`.
[[nodiscard]] std::optional<std::string> rules_of_words(const std::vector<std::string>& words, std::string& error);

}  // namespace ctl
