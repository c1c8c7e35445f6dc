/* What is printed: a line per test, then what each phase and each call attained. */
#include "report.h"

#include <stdio.h>

#include "board.h"
#include "options.h"
#include "suite.h"

static struct {
  size_t number;
  size_t passed[PHASE_COUNT], failed[PHASE_COUNT], skipped[PHASE_COUNT];
  unsigned proven[CALL_COUNT];
  size_t read_passed, read_failed;
} tally;

void report_begin(size_t selected) {
  if (options.tap) printf("TAP version 13\n1..%zu\n", selected);
}

static void print_tap(const Test* test, const Outcome* outcome) {
  printf("%s %zu - %s", outcome->verdict == FAILED ? "not ok" : "ok", tally.number, test->name);
  if (outcome->verdict == SKIPPED) printf(" # SKIP %s", outcome->text);
  printf("\n");
  if (outcome->verdict == FAILED) printf("# %s [%s]\n", outcome->text, test->clause);
}

static void print_line(const Test* test, const Outcome* outcome) {
  static const char* const words[] = {[PASSED] = "pass", [FAILED] = "FAIL", [SKIPPED] = "skip"};
  printf("%s  %s", words[outcome->verdict], test->name);
  if (outcome->verdict != PASSED) printf(": %s", outcome->text);
  if (outcome->verdict == FAILED || options.verbose)
    printf("  [%s, %s]", test->clause, phase_name(test->phase));
  printf("\n");
}

void report_test(const Test* test, const Outcome* outcome) {
  ++tally.number;
  (options.tap ? print_tap : print_line)(test, outcome);
  fflush(stdout);
  if (outcome->verdict == SKIPPED)
    ++tally.skipped[test->phase];
  else if (outcome->verdict == FAILED)
    ++tally.failed[test->phase];
  else
    ++tally.passed[test->phase];
  if (outcome->verdict != PASSED) return;
  for (int call = 0; call < CALL_COUNT; ++call) tally.proven[call] |= board->seen[call];
}

static void out(const char* format, ...) __attribute__((format(printf, 1, 2)));

#include <stdarg.h>

/* A line of the summary; TAP has it as a comment. */
static void out(const char* format, ...) {
  va_list arguments;
  if (options.tap) fputs("# ", stdout);
  va_start(arguments, format);
  vprintf(format, arguments);
  va_end(arguments);
  putchar('\n');
}

static void print_call(CallId call) {
  unsigned on_page = 0, provable = 0, proven = 0;
  for (size_t i = 0; i < cell_count; ++i) {
    if (cells[i].call != call) continue;
    ++on_page;
    provable += cells[i].why_not == NULL;
    proven += (tally.proven[call] & PROVES(cells[i].code)) != 0;
  }
  out("  %-29s %-11s %2u of %2u proven%s", call_name(call), call_clause(call), proven, on_page,
      !call_exists(call)   ? "  (the call is missing)"
      : proven >= provable ? ""
                           : "  (not all that can be provoked)");
}

static void print_cells(void) {
  for (size_t i = 0; i < cell_count; ++i) {
    const Cell* cell = &cells[i];
    if ((tally.proven[cell->call] & PROVES(cell->code)) != 0 || call_phase(cell->call) > options.phase)
      continue;
    if (cell->why_not == NULL)
      out("  %s of %s: its tests failed or were skipped", code_name(cell->code), call_name(cell->call));
    else if (options.verbose)
      out("  %s of %s: %s", code_name(cell->code), call_name(cell->call), cell->why_not);
  }
}

static bool attains(Phase phase) {
  for (int call = 0; call < CALL_COUNT; ++call)
    if (call_phase((CallId)call) <= phase && !call_exists((CallId)call)) return false;
  for (int below = 0; below <= (int)phase; ++below)
    if (tally.failed[below] != 0) return false;
  return true;
}

static void print_levels(const char* what, unsigned levels) {
  out("%s: %s%s%s%s", what, levels == 0 ? "no" : "",
      (levels & VIP_SERVICE_UNRELIABLE) ? "Unreliable Delivery " : "",
      (levels & VIP_SERVICE_RELIABLE_DELIVERY) ? "Reliable Delivery " : "",
      (levels & VIP_SERVICE_RELIABLE_RECEPTION) ? "Reliable Reception" : "");
}

static void print_phases(void) {
  for (int phase = 0; phase <= (int)options.phase; ++phase)
    out("  %-17s %4zu passed  %4zu failed  %4zu skipped", phase_name((Phase)phase), tally.passed[phase],
        tally.failed[phase], tally.skipped[phase]);
}

static void print_highest(void) {
  const char* highest = "none";
  for (int phase = EARLY; phase <= (int)options.phase && phase <= FULL; ++phase)
    if (attains((Phase)phase)) highest = phase_name((Phase)phase);
  print_levels("Reliability levels", board->levels);
  print_levels("RDMA Read", board->read_levels);
  out("Highest conformance phase attained: %s%s", highest,
      options.phase < FULL ? " (no higher one was asked for)" : "");
}

bool report_end(void) {
  out("Tests:");
  print_phases();
  if (options.filter != NULL) {
    for (int phase = 0; phase < PHASE_COUNT; ++phase)
      if (tally.failed[phase] != 0) return false;
    return true;
  }
  out("Return codes of the pages of VI-DG 3:");
  for (int call = 0; call < CALL_COUNT; ++call)
    if (call_phase((CallId)call) <= options.phase) print_call((CallId)call);
  out("Not proven:");
  print_cells();
  print_highest();
  return attains(options.phase);
}
