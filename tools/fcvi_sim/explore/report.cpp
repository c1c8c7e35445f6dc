#include "tools/fcvi_sim/explore/report.hpp"

#include <algorithm>

#include "settings/units.hpp"

namespace sim::explore {
namespace {
using settings::format_count;

constexpr std::size_t time_width = 12, number_width = 9, lane_width = 10;

std::string padded(std::string text, std::size_t width, bool right = false) {
  if (text.size() < width) text.insert(right ? 0 : text.size(), width - text.size(), ' ');
  return text;
}

std::string lane_name(const Ladder& ladder, std::size_t lane) {
  return lane < ladder.lanes().size() ? ladder.lanes()[lane].title : "?";
}

std::string row_text(const Ladder& ladder, const LadderRow& row) {
  if (row.shape == LadderRow::Shape::Gap) return "...";
  if (row.shape == LadderRow::Shape::State)
    return padded(lane_name(ladder, row.from), lane_width) + "            * " + row.text;
  return padded(lane_name(ladder, row.from), lane_width) + " --> " + padded(lane_name(ladder, row.to), lane_width - 3) +
         "  " + row.text;
}

/// As `--fault` names them: "7", "7-9".
std::string numbers_text(const LadderRow& row) {
  if (row.first_number == 0) return "";
  const std::string first = std::to_string(row.first_number);
  return row.first_number == row.last_number ? first : first + "-" + std::to_string(row.last_number);
}

std::string quoted(const std::string& path) {
  if (path.find_first_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789/._-") == std::string::npos)
    return path;
  std::string text = "'";
  for (const char c : path) text += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return text + "'";
}

std::string violation_lines(const std::vector<Violation>& violations) {
  std::string text;
  for (const Violation& violation : violations)
    text.append("  ").append(violation.invariant).append(": ").append(violation.what).append("\n");
  return text;
}

std::string failure_text(const Scenario& scenario, const std::string& path, const Failure& failure) {
  fc2::FramePool pool;
  Ladder ladder(scenario);
  World world(scenario, failure.faults, pool, {});
  const runtime::TimeNs start = world.driver().now();
  world.run(&ladder);
  return "\nFAILED with " + to_string(failure.faults) + "\n" + violation_lines(failure.violations) +
         to_text(ladder, start) + "again: " + replay_command(path, failure.faults) + "\n";
}

/// It is not run again here: this process would die, too.
std::string death_text(const std::string& path, const Death& death) {
  return "\nFAILED: the process " + death.how + (death.faults.empty() ? " without a fault" : " with" + death.faults) +
         "; what else began with that first fault is not known\nagain: fcvi-sim explore " + quoted(path) +
         (death.faults.empty() ? " --faults 0" : death.faults) + "\n";
}

}  // namespace

std::string replay_command(const std::string& path, const FaultList& faults) {
  std::string command = "fcvi-sim explore " + quoted(path);
  if (faults.empty()) command += " --faults 0";
  for (const Fault& fault : faults) command += " --fault " + to_string(fault);
  return command;
}

// When the programs have ended no more are counted: what follows has the number of the last.
std::string to_text(const Ladder& ladder, runtime::TimeNs start) {
  std::uint32_t last = 0;
  for (const LadderRow& row : ladder.rows()) last = std::max(last, row.last_number);
  std::string text;
  bool ended = false;
  for (const LadderRow& row : ladder.rows()) {
    const std::string numbers = ended && row.first_number == last ? "" : numbers_text(row);
    ended = ended || (last != 0 && row.last_number == last);
    text += padded(settings::format_duration(row.at - start), time_width, true) + padded(numbers, number_width, true) +
            "  " + row_text(ladder, row) + "\n";
  }
  return text;
}

std::string report(const Scenario& scenario, const std::string& path, const Findings& findings) {
  const std::string what = scenario.topology == TopologyKind::Tcp ? " octets" : " frames";
  std::string text = scenario.name + ": " + format_count(findings.frames) + what + " without a fault, at most " +
                     format_count(findings.most_frames) + " with\n";
  text += format_count(findings.runs) + " runs, each with another list of faults (";
  for (std::size_t k = 0; k < findings.runs_by_depth.size(); ++k)
    text += (k == 0 ? "" : ", ") + format_count(findings.runs_by_depth[k]) + " of " + std::to_string(k);
  text += "), " + format_count(findings.distinct_courses) + " different courses\n";
  if (!findings.complete)
    text += findings.interrupted ? "not all: it was interrupted\n" : "not all: --max-runs ended it\n";
  for (const Invariant& invariant : invariants()) {
    const auto found = findings.failed_runs.find(std::string(invariant.name));
    text += padded(std::string(invariant.name), 16) +
            (found == findings.failed_runs.end() ? "held: " : "BROKEN in " + format_count(found->second) + " runs: ") +
            std::string(invariant.says) +
            (invariant.name == "order" ? " (" + format_count(findings.judged_for_order) + " runs with such faults)\n"
                                       : "\n");
  }
  if (findings.not_extended != 0)
    text += format_count(findings.not_extended) + " runs that failed were not tried with a further fault\n";
  for (const Failure& failure : findings.failures) text += failure_text(scenario, path, failure);
  for (const Death& death : findings.deaths) text += death_text(path, death);
  return text;
}

std::string report_run(const Record& record, const std::vector<Violation>& violations, const Ladder& ladder,
                       runtime::TimeNs start) {
  std::string text =
      to_text(ladder, start) + "with " + to_string(record.faults) + ": " + format_count(record.frames) + " frames";
  if (record.faults_applied != record.faults.size())
    text +=
        "; " + std::to_string(record.faults.size() - record.faults_applied) + " faults name a frame that was not sent";
  text += "\n" + violation_lines(violations);
  const bool all = violations.empty() && record.faults_applied == record.faults.size();
  return text + (all ? "all invariants held\n" : "");
}

}  // namespace sim::explore
