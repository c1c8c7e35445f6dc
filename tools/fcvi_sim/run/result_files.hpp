// Results of runs for other programs. Nothing in them depends on real time: times are simulated ones.
#pragma once
#include <string>
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

/// JUnit's XML, as CI servers read it: a suite for each run, a case for each expectation.
class JunitResults {
 public:
  void add(const RunOfFile& run);
  [[nodiscard]] std::string text() const;

 private:
  struct Suite {
    std::string name;
    runtime::TimeNs simulated;
    std::vector<Verdict> cases;
  };
  std::vector<Suite> suites_;
};

}  // namespace sim
