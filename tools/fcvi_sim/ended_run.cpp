#include "tools/fcvi_sim/ended_run.hpp"

#include "tools/fcvi_sim/share/packing.hpp"

namespace sim {
namespace {
using share::Packer;
using share::Unpacker;

void pack(Packer& to, const Verdict& verdict) {
  to << std::uint64_t{verdict.held} << verdict.what << verdict.expected << verdict.got
     << std::uint64_t{verdict.conditions};
}

Verdict verdict_of(Unpacker& from) {
  Verdict verdict;
  verdict.held = from.number() != 0;
  verdict.what = from.text();
  verdict.expected = from.text();
  verdict.got = from.text();
  verdict.conditions = from.number();
  return verdict;
}

}  // namespace

std::string packed(const EndedRun& run) {
  Packer packer;
  packer << static_cast<std::uint64_t>(run.status) << run.said << run.json << run.suite.name
         << static_cast<std::uint64_t>(run.suite.simulated);
  packer << std::uint64_t{run.suite.cases.size()};
  for (const Verdict& verdict : run.suite.cases) pack(packer, verdict);
  for (const std::string& path : run.wrote) packer << path;
  return packer.text();
}

EndedRun ended_run_of(const std::string& text) {
  Unpacker unpacker(text);
  EndedRun run{.status = static_cast<int>(unpacker.number())};
  run.said = unpacker.text();
  run.json = unpacker.text();
  run.suite.name = unpacker.text();
  run.suite.simulated = static_cast<runtime::TimeNs>(unpacker.number());
  for (std::uint64_t left = unpacker.number(); left != 0 && unpacker.is_good(); --left)
    run.suite.cases.push_back(verdict_of(unpacker));
  while (unpacker.is_good() && !unpacker.at_end()) run.wrote.push_back(unpacker.text());
  return run;
}

}  // namespace sim
