/* What is printed: a line per test, then what each phase and each call attained. */
#define _POSIX_C_SOURCE 200809L
#include "report.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "board.h"
#include "options.h"
#include "suite.h"

static struct {
  size_t number;
  size_t passed[PHASE_COUNT], failed[PHASE_COUNT], skipped_tests[PHASE_COUNT];
  unsigned proven[CALL_COUNT];
  char* skipped[CALL_COUNT][32]; /* why no test could provoke a code */
} tally;

void report_begin(size_t selected) {
  if (options.tap) printf("TAP version 13\n1..%zu\n", selected);
}

static void print_tap(const Test* test, const Outcome* outcome) {
  printf("%s %zu - %s", outcome->verdict == FAILED ? "not ok" : "ok", tally.number, test->name);
  if (outcome->verdict == SKIPPED) printf(" # SKIP %s", outcome->text);
  printf("\n");
  if (outcome->verdict == FAILED) printf("# %s [%s]\n", outcome->text, test_clause(test));
}

static void print_line(const Test* test, const Outcome* outcome) {
  static const char* const words[] = {[PASSED] = "pass", [FAILED] = "FAIL", [SKIPPED] = "skip"};
  printf("%s  %s", words[outcome->verdict], test->name);
  if (outcome->verdict != PASSED) printf(": %s", outcome->text);
  if (outcome->verdict == FAILED || options.verbose) printf("  [%s, %s]", test_clause(test), phase_name(test->phase));
  printf("\n");
}

static void note_skipped(const Test* test, const Outcome* outcome) {
  ++tally.skipped_tests[test->phase];
  for (unsigned code = 0; code < 32; ++code)
    if ((test->codes & PROVES(code)) != 0 && tally.skipped[test->call][code] == NULL)
      tally.skipped[test->call][code] = strdup(outcome->text);
}

void report_test(const Test* test, const Outcome* outcome) {
  ++tally.number;
  (options.tap ? print_tap : print_line)(test, outcome);
  fflush(stdout);
  if (outcome->verdict == SKIPPED)
    note_skipped(test, outcome);
  else if (outcome->verdict == FAILED)
    ++tally.failed[test->phase];
  else
    ++tally.passed[test->phase];
  if (outcome->verdict != PASSED) return;
  for (int call = 0; call < CALL_COUNT; ++call) tally.proven[call] |= board->seen[call];
}

/* A line of the summary; TAP has it as a comment. */
__attribute__((format(printf, 1, 2))) static void out(const char* format, ...) {
  va_list arguments;
  if (options.tap) fputs("# ", stdout);
  va_start(arguments, format);
  vprintf(format, arguments);
  va_end(arguments);
  putchar('\n');
}

static bool is_proven(CallId call, unsigned code) { return (tally.proven[call] & PROVES(code)) != 0; }

/* Why a code was not seen; NULL: a test should have seen it. */
static const char* excuse(CallId call, unsigned code) {
  return why_not(call, code) != NULL ? why_not(call, code) : tally.skipped[call][code];
}

static void print_call(CallId call) {
  unsigned on_page = 0, proven = 0, owed = 0;
  for (unsigned code = 0; code < 32; ++code) {
    if ((codes_of(call) & PROVES(code)) == 0) continue;
    ++on_page;
    proven += is_proven(call, code);
    owed += !is_proven(call, code) && excuse(call, code) == NULL;
  }
  out("  %-29s %-13s %2u of %2u proven%s", call_name(call), call_clause(call), proven, on_page,
      !call_exists(call) ? "  (the call is missing)"
      : owed != 0        ? "  (not all that can be provoked)"
                         : "");
}

/* What failed; with -v also what cannot be provoked in general. */
static void print_unproved(CallId call) {
  for (unsigned code = 0; code < 32; ++code) {
    if ((codes_of(call) & PROVES(code)) == 0 || is_proven(call, code)) continue;
    if (excuse(call, code) == NULL)
      out("  %s of %s: its tests failed", code_name((VIP_RETURN)code), call_name(call));
    else if (why_not(call, code) == NULL || options.verbose)
      out("  %s of %s: %s", code_name((VIP_RETURN)code), call_name(call), excuse(call, code));
  }
}

/* Does something with each call of the phases that are asked for. */
static void for_each_call(void (*visit)(CallId call)) {
  for (int call = 0; call < CALL_COUNT; ++call)
    if (call_phase((CallId)call) <= options.phase) visit((CallId)call);
}

static bool attains(Phase phase) {
  for (int call = 0; call < CALL_COUNT; ++call)
    if (call_phase((CallId)call) <= phase && !call_exists((CallId)call)) return false;
  for (int below = 0; below <= (int)phase; ++below)
    if (tally.failed[below] != 0) return false;
  return true;
}

static void print_levels(const char* what, unsigned levels) {
  out("%s: %s%s%s%s", what, levels == 0 ? "no" : "", (levels & VIP_SERVICE_UNRELIABLE) ? "Unreliable Delivery " : "",
      (levels & VIP_SERVICE_RELIABLE_DELIVERY) ? "Reliable Delivery " : "",
      (levels & VIP_SERVICE_RELIABLE_RECEPTION) ? "Reliable Reception" : "");
}

static void print_phases(void) {
  for (int phase = 0; phase <= (int)options.phase; ++phase)
    out("  %-17s %4zu passed  %4zu failed  %4zu skipped", phase_name((Phase)phase), tally.passed[phase],
        tally.failed[phase], tally.skipped_tests[phase]);
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
  for_each_call(print_call);
  out("Not proven:");
  for_each_call(print_unproved);
  print_highest();
  return attains(options.phase);
}
