// fcvi-sim run and check: the command line. Exit status: 0, 1 an expectation failed, 2 bad input.
#pragma once
#include <CLI/CLI.hpp>

#include <memory>
#include <string>
#include <vector>

#include "tools/fcvi_sim/scenario/loader.hpp"
#include "tools/fcvi_sim/share/company.hpp"

namespace sim {

struct RunOptions {
  std::string scenario, capture, ladder, report, json, junit;
  std::size_t report_frames = 200'000;
  Overrides overrides;
  bool check = false;
  bool matrix = false;
  std::size_t jobs = 1;   // of the matrix: processes
  std::size_t parts = 1;  // threads that simulate one fabric
  std::uint32_t patience_s = 600;
};
CLI::App* add_run_command(CLI::App& app, RunOptions& options);
/// `company`: the ranks, if there are several. They share the runs with options.matrix, and else the fabric of one run;
/// rank 0 alone prints and writes. Of a matrix the status of the others is always 0.
int run_command(const RunOptions& options, std::unique_ptr<share::Company> company);

struct CheckOptions {
  std::vector<std::string> scenarios;
  Overrides overrides;
};
CLI::App* add_check_command(CLI::App& app, CheckOptions& options);
int check_command(const CheckOptions& options);

}  // namespace sim
