// fcvi-sim report, and fcvi-sim run --report: a capture, or a run with its capture, as a page of HTML.
#pragma once
#include <string>

#include "tools/fcvi_sim/run/expectations.hpp"
#include "tools/fcvi_sim/run/record.hpp"
#include "tools/fcvi_sim/run/results.hpp"

namespace sim::report {

struct Report {
  std::string page;   // empty: error says why
  std::string error;  // what is wrong with the capture, naming the frame; those before it are in the page
};

/// `path`: as for decode; "-" is standard input, to its end. `most`: frames in the page.
[[nodiscard]] Report of_capture(const std::string& path, std::size_t most);

/// What a run left.
struct Run {
  const Scenario& scenario;
  const RunResult& result;
  const Verdicts& verdicts;
  const RunRecord& record;
  runtime::TimeNs start;  // times of the page count from here
};
/// `capture`: a path that can be read twice.
[[nodiscard]] Report of_run(const Run& run, const std::string& capture, std::size_t most);

}  // namespace sim::report
