// Part as bytes.
#include <algorithm>
#include <utility>

#include "tools/fcvi_sim/explore/pieces.hpp"
#include "tools/fcvi_sim/share/packing.hpp"

namespace sim::explore {
namespace {
using share::Packer;
using share::Unpacker;

/// The invariant's own text: a Violation refers to it.
std::string_view name_of_invariant(const std::string& name) {
  const auto found = std::ranges::find(invariants(), name, &Invariant::name);
  return found == invariants().end() ? std::string_view("?") : found->name;
}

void pack(Packer& to, const Failure& failure) {
  to << std::uint64_t{failure.faults.size()};
  for (const Fault& fault : failure.faults) to << to_string(fault);
  to << std::uint64_t{failure.violations.size()};
  for (const Violation& violation : failure.violations) to << violation.invariant << violation.what;
}

Failure failure_of(Unpacker& from) {
  Failure failure;
  for (std::uint64_t left = from.number(); left != 0 && from.is_good(); --left)
    if (const auto fault = parse_fault(from.text())) failure.faults.push_back(*fault);
  for (std::uint64_t left = from.number(); left != 0 && from.is_good(); --left) {
    const std::string_view name = name_of_invariant(from.text());
    failure.violations.push_back({name, from.text()});
  }
  return failure;
}

void pack(Packer& to, const Findings& findings) {
  to << std::uint64_t{findings.runs_by_depth.size()};
  for (const std::uint64_t runs : findings.runs_by_depth) to << runs;
  to << findings.runs << std::uint64_t{findings.frames} << std::uint64_t{findings.most_frames};
  to << findings.not_extended << findings.judged_for_order << std::uint64_t{findings.complete};
  to << std::uint64_t{findings.failed_runs.size()};
  for (const auto& [name, count] : findings.failed_runs) to << name << count;
  to << std::uint64_t{findings.failures.size()};
  for (const Failure& failure : findings.failures) pack(to, failure);
}

Findings findings_of(Unpacker& from) {
  Findings findings;
  for (std::uint64_t left = from.number(); left != 0 && from.is_good(); --left)
    findings.runs_by_depth.push_back(from.number());
  findings.runs = from.number();
  findings.frames = static_cast<std::uint32_t>(from.number());
  findings.most_frames = static_cast<std::uint32_t>(from.number());
  findings.not_extended = from.number();
  findings.judged_for_order = from.number();
  findings.complete = from.number() != 0;
  for (std::uint64_t left = from.number(); left != 0 && from.is_good(); --left) {
    const std::string name = from.text();
    findings.failed_runs[name] = from.number();
  }
  for (std::uint64_t left = from.number(); left != 0 && from.is_good(); --left)
    findings.failures.push_back(failure_of(from));
  return findings;
}

}  // namespace

std::string packed(const Part& part) {
  Packer packer;
  pack(packer, part.findings);
  for (const std::uint64_t course : part.courses) packer << course;
  return packer.text();
}

Part part_of(const std::string& text) {
  Unpacker unpacker(text);
  Part part{findings_of(unpacker), {}};
  while (unpacker.is_good() && !unpacker.at_end()) part.courses.push_back(unpacker.number());
  return part;
}

}  // namespace sim::explore
