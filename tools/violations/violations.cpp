#include "tools/violations/violations.hpp"

namespace violations {
namespace {

consteval bool is_in_order() {
  for (std::size_t i = 0; i < table.size(); ++i)
    if (static_cast<std::size_t>(table[i].violation) != i) return false;
  return table.back().violation == Violation::early_completion;
}
static_assert(is_in_order(), "a row for each violation, in the order of the enum");

}  // namespace

std::string_view to_string(Group group) {
  switch (group) {
    case Group::protocol: return "protocol";
    case Group::malformed: return "malformed";
    case Group::sequence: return "sequence";
  }
  return "?";
}

std::string_view to_string(Severity severity) {
  switch (severity) {
    case Severity::error: return "error";
    case Severity::warning: return "warning";
  }
  return "?";
}

}  // namespace violations
