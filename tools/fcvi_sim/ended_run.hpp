// What one run of a file came to, for the process that prints it: of a matrix other processes carry them out.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "tools/fcvi_sim/run/result_files.hpp"

namespace sim {

struct EndedRun {
  int status = 0;         // 0 all held, 1 an expectation failed, 2 bad input, or a file could not be written
  std::string said = {};  // for standard output
  std::string json = {};  // its line; empty without --json
  JunitResults::Suite suite = {};
  std::vector<std::string> wrote = {};  // paths
};

/// As bytes, between processes of this program.
std::string packed(const EndedRun& run);
EndedRun ended_run_of(const std::string& text);

}  // namespace sim
