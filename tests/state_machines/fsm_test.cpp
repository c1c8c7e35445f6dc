#include "fsm_test.hpp"
#include "tests/support/source_dir.hpp"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>

namespace fsm::testing {
namespace {

struct Line {
  std::string condition;  // "Event(sample) [guards]"
  std::string outcome;
};

// One line per guard valuation; the samples are named only where they make a difference to the outcome.
std::vector<Line> lines_of(const Cell& cell) {
  std::vector<std::string> valuations;
  for (const auto& trial : cell.trials) {
    if (std::find(valuations.begin(), valuations.end(), trial.guards) == valuations.end()) {
      valuations.push_back(trial.guards);
    }
  }
  std::vector<Line> lines;
  for (const auto& valuation : valuations) {
    std::vector<std::pair<std::string, std::string>> by_sample;  // sample, outcome
    bool differ = false;
    for (const auto& trial : cell.trials) {
      if (trial.guards != valuation) continue;
      std::pair entry{trial.sample, trial.outcome};
      if (std::find(by_sample.begin(), by_sample.end(), entry) == by_sample.end()) by_sample.push_back(entry);
      differ = differ || trial.outcome != by_sample.front().second;
    }
    const std::string suffix = valuation.empty() ? "" : " [" + valuation + "]";
    if (!differ) by_sample = {{"", by_sample.front().second}};
    for (const auto& [sample, outcome] : by_sample) {
      lines.push_back({cell.event + (sample.empty() ? "" : "(" + sample + ")") + suffix, outcome});
    }
  }
  return lines;
}

std::string read_file(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

std::string first_difference(const std::string& expected, const std::string& actual) {
  std::istringstream left(expected);
  std::istringstream right(actual);
  std::string a;
  std::string b;
  for (int line = 1;; ++line) {
    const bool more_left = static_cast<bool>(std::getline(left, a));
    const bool more_right = static_cast<bool>(std::getline(right, b));
    if (!more_left && !more_right) return "no line differs";
    if (!more_left) a = "(end of file)";
    if (!more_right) b = "(end of file)";
    if (a != b) return "line " + std::to_string(line) + "\n  golden: " + a + "\n  now:    " + b;
  }
}

}  // namespace

std::string outcome_text(const Row* row, const std::vector<std::string>& calls) {
  if (row == nullptr) return "UNEXPECTED";
  std::string text = (row->source == row->target ? "stays" : "-> " + std::string(row->target));
  for (const auto& call : calls) text += (&call == &calls.front() ? " / " : ", ") + call;
  return text + "  {" + std::string(row->clause) + "}";
}

std::string matrix_text(const Survey& survey) {
  std::size_t width = 0;
  for (const auto& events : survey.cells) {
    for (const auto& cell : events) {
      for (const auto& line : lines_of(cell)) width = std::max(width, line.condition.size());
    }
  }
  std::ostringstream text;
  text << "# " << survey.machine << ": " << survey.states.size() << " states x " << survey.cells.front().size()
       << " events, " << survey.rows.size() << " rows. UNEXPECTED: the caller guarantees that it cannot happen.\n";
  for (std::size_t state = 0; state < survey.states.size(); ++state) {
    text << "\n" << survey.states[state] << (state == survey.initial ? " (initial)" : "") << "\n";
    for (const auto& cell : survey.cells[state]) {
      for (const auto& line : lines_of(cell)) {
        text << "  " << line.condition << std::string(width - line.condition.size(), ' ') << "  " << line.outcome
             << "\n";
      }
    }
  }
  return text.str();
}

void check_golden(const std::string& file_name, const std::string& actual) {
  const auto path = std::filesystem::path(support::source_dir()) / "state_machines" / "golden" / file_name;
  if (const char* update = std::getenv("FCVI_UPDATE_GOLDEN"); update != nullptr && std::string_view(update) == "1") {
    std::filesystem::create_directories(path.parent_path());
    std::ofstream(path, std::ios::binary) << actual;
    return;
  }
  ASSERT_TRUE(std::filesystem::exists(path)) << path << " is missing: run this test with FCVI_UPDATE_GOLDEN=1, then "
                                             << "review and commit the file";
  const std::string golden = read_file(path);
  EXPECT_TRUE(golden == actual)
      << file_name << " differs at " << first_difference(golden, actual)
      << "\nIf the change is meant, run this test with FCVI_UPDATE_GOLDEN=1 and review the diff "
         "against the standard.";
}

void check_every_row_fires(const Survey& survey) {
  std::vector<bool> fired(survey.rows.size(), false);
  for (const auto& events : survey.cells) {
    for (const auto& cell : events) {
      for (const auto& trial : cell.trials) {
        if (trial.row != no_row) fired[trial.row] = true;
      }
    }
  }
  for (const auto& row : survey.rows) {
    EXPECT_TRUE(fired[row.index]) << "row " << row.index << " never fires: " << row.source << " x " << row.event << " {"
                                  << row.clause << "}";
  }
  // tools/coverage collects these lines.
  std::printf("coverage: %s %td/%zu rows\n", survey.machine.c_str(), std::count(fired.begin(), fired.end(), true),
              fired.size());
}

void check_every_state_is_reachable(const Survey& survey) {
  std::vector<bool> reached(survey.states.size(), false);
  std::vector<std::uint8_t> open{survey.initial};
  while (!open.empty()) {
    const auto state = open.back();
    open.pop_back();
    if (reached[state]) continue;
    reached[state] = true;
    for (const auto& cell : survey.cells[state]) {
      for (const auto& trial : cell.trials) open.push_back(trial.target);
    }
  }
  for (std::size_t state = 0; state < survey.states.size(); ++state) {
    EXPECT_TRUE(reached[state]) << survey.states[state] << " cannot be reached from " << survey.states[survey.initial];
  }
}

void check_clauses(const Survey& survey) {
  static constexpr std::array documents{"FC-VI ", "VI-ARCH ", "VI-DG ", "VI-TCP ", "FC-FS", "FC-AL",
                                        "FC-LS",  "FC-GS",    "FC-BB",  "RFC ",    "IFT ",  "impl: "};
  for (const auto& row : survey.rows) {
    const bool known = std::any_of(documents.begin(), documents.end(),
                                   [&](const char* document) { return row.clause.starts_with(document); });
    EXPECT_TRUE(known) << row.source << " x " << row.event << " names no document: {" << row.clause << "}";
  }
}

}  // namespace fsm::testing
