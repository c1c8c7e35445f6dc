// What must hold after every run, whatever happened to its frames. Written from the standards (FC-VI clauses 5 and 8,
// VI-ARCH 2.5, 5, 6) and checked against what programs see; it shares no code with the protocol.
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
/// Whether the invariant "order" applies to this run: it was not in order, and its faults are of the kinds
/// that it covers.
bool judges_order(const Record& record);

/// Its name and its statement.
struct Invariant {
  std::string_view name, says;
};
const std::vector<Invariant>& invariants();

}  // namespace sim::explore
