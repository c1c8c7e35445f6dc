// fcvi-sim: runs scenarios on a simulated fabric; prints, draws and reports captures. Exit status: 0, 1 an expectation
// failed, 2 bad input.
#include <malloc.h>

#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <utility>

#include "tools/fcvi_sim/capture_commands.hpp"
#include "tools/fcvi_sim/explore_command.hpp"
#include "tools/fcvi_sim/join.hpp"
#include "tools/fcvi_sim/replay_command.hpp"
#include "tools/fcvi_sim/report_command.hpp"
#include "tools/fcvi_sim/run_command.hpp"
#include "tools/fcvi_sim/schema_command.hpp"
#include "tools/fcvi_sim/soak_command.hpp"

namespace {

/// What was printed must have arrived. Else 2, and not `status`.
int checked_output(int status) {
  std::cout.flush();
  if (std::fflush(stdout) == 0 && std::ferror(stdout) == 0 && std::cout.good()) return status;
  std::fputs("fcvi-sim: standard output: cannot be written\n", stderr);
  return 2;
}

/// Of ranks only 0 says what is wrong with the command line, and how it is used.
int say_to_user(const CLI::App& app, const CLI::ParseError& error, int rank) {
  if (rank == 0) return app.exit(error) == 0 ? 0 : 2;
  return error.get_exit_code() == 0 ? 0 : 2;
}

int refuse_ranks(const std::string& wrong, int rank) {
  if (rank == 0) std::fprintf(stderr, "fcvi-sim: %s\n", wrong.c_str());
  return 2;
}

/// `status` as it is; says what mpirun makes of it, who returns 0 where ranks may die.
int tell_status(int status, bool of_ranks) {
  const char* recovery = std::getenv("OMPI_MCA_orte_enable_recovery");
  if (of_ranks && status != 0 && recovery != nullptr && *recovery == '1')
    std::fprintf(stderr, "fcvi-sim: exit status %d, which mpirun --enable-recovery does not pass on\n", status);
  return status;
}

int carry_out(int argc, char** argv) {
  // Transfers come and go: their memory is used again, not given back to the kernel and faulted in anew.
  mallopt(M_MMAP_THRESHOLD, 32 << 20);
  mallopt(M_TRIM_THRESHOLD, 1 << 30);
  CLI::App app{"Simulates FC-VI (ISO/IEC 14165-331) on a Fibre Channel fabric: same scenario, same seed, same bytes.",
               "fcvi-sim"};
  app.set_version_flag("--version", std::string("fcvi-sim ") + FCVI_VERSION);
  app.require_subcommand(1);
  sim::RunOptions run;
  const CLI::App* runner = sim::add_run_command(app, run);
  sim::CheckOptions checked;
  const CLI::App* checker = sim::add_check_command(app, checked);
  const CLI::App* schema = sim::add_schema_command(app);
  sim::explore::CommandOptions exploration;
  const CLI::App* explorer = sim::explore::add_command(app, exploration);
  sim::soak::CommandOptions soaked;
  const CLI::App* soaker = sim::soak::add_command(app, soaked);
  sim::report::CommandOptions reported;
  const CLI::App* reporter = sim::report::add_command(app, reported);
  sim::capture::CommandOptions captured;
  const sim::capture::Commands commands = sim::capture::add_commands(app, captured);
  sim::replay::ReplayOptions replayed;
  const CLI::App* replayer = sim::replay::add_command(app, replayed);
  const auto launch = sim::ranks::launch();
  const int rank = launch ? launch->rank : 0;
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return say_to_user(app, error, rank);
  }
  sim::Joined joined;
  if (launch) {
    const bool shares = (soaker->parsed() && sim::soak::shares(soaked)) ||
                        (explorer->parsed() && sim::explore::shares(exploration)) || runner->parsed();
    joined = sim::join(*launch, app.get_subcommands().front()->get_name(), shares);
    if (!joined.wrong.empty()) return refuse_ranks(joined.wrong, rank);
  }
  if (checker->parsed()) return sim::check_command(checked);
  if (schema->parsed()) return sim::schema_command();
  const bool of_ranks = joined.company != nullptr;
  if (explorer->parsed())
    return tell_status(sim::explore::run_command(exploration, std::move(joined.company)), of_ranks);
  if (soaker->parsed()) return tell_status(sim::soak::run_command(soaked, std::move(joined.company)), of_ranks);
  if (reporter->parsed()) return sim::report::run_command(reported);
  if (replayer->parsed()) return sim::replay::run_command(replayed);
  if (commands.parsed()) return sim::capture::run_command(commands, captured);
  return tell_status(sim::run_command(run, std::move(joined.company)), of_ranks);
}

}  // namespace

int main(int argc, char** argv) { return checked_output(carry_out(argc, argv)); }
