// What must hold of every run, whatever befell its frames. Written from the standards (FC-VI clauses 5 and 8, VI-ARCH
// 2.5, 5, 6) and against what programs see; it shares no code with the protocol.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "tools/fcvi_sim/explore/record.hpp"

namespace sim::explore {

struct Violation {
  std::string_view invariant;  // its short name: one of invariant_names()
  std::string what;
};

std::vector<Violation> check_invariants(const Record& record);
/// Whether the invariant "order" says something of this run: not in order, and its faults are what it speaks of.
bool judges_order(const Record& record);

/// For each its name and what it says.
struct Invariant {
  std::string_view name, says;
};
const std::vector<Invariant>& invariants();

}  // namespace sim::explore
