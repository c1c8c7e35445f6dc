// Results of runs for other programs. Nothing in them depends on real time: times are simulated ones.
#pragma once
#include <string>
#include <utility>
#include <vector>

#include "tools/fcvi_sim/run/expectations.hpp"

namespace sim {

/// A run of a file. `label` sets it apart from others of the same file: "level=unreliable"; empty where it is the only
/// one.
struct RunOfFile {
  const std::string& file;
  const std::string& label;
  const Scenario& scenario;
  const RunResult& result;
  const Verdicts& verdicts;
};

/// A line of JSON, with its end of line: what ran, whether all expectations held, each of them with what was seen,
/// what each workload and fault did. Keys are never taken away.
std::string json_line(const RunOfFile& run);

/// The line of a run whose process ended before the run did: "held" is false, "died" says how.
std::string json_line_of_death(const std::string& file, const std::string& label, const std::string& how);

/// JUnit's XML, as CI servers read it: a suite for each run, a case for each expectation.
class JunitResults {
 public:
  struct Suite {
    std::string name = {};
    runtime::TimeNs simulated = 0;
    std::vector<Verdict> cases = {};
  };
  static Suite suite_of(const RunOfFile& run);
  void add(Suite suite) { suites_.push_back(std::move(suite)); }
  [[nodiscard]] std::string text() const;

 private:
  std::vector<Suite> suites_;
};

}  // namespace sim
