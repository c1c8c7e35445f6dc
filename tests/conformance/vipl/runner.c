#define _POSIX_C_SOURCE 200809L
#include "runner.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "far.h"
#include "options.h"
#include "partner.h"
#include "process.h"

/* ---- The suite's own process ------------------------------------------------------------------------- */

static volatile sig_atomic_t running_group;

static void end_with_group(int signal_number) {
  if (running_group > 0) kill(-(pid_t)running_group, SIGKILL);
  signal(signal_number, SIG_DFL);
  raise(signal_number);
}

/* False when the time is up. */
static bool wait_for_end(pid_t process, int* status) {
  const uint64_t deadline = now_ns() + (uint64_t)options.timeout_s * 1000000000U;
  for (;;) {
    const pid_t ended = waitpid(process, status, WNOHANG);
    if (ended == process || (ended < 0 && errno != EINTR)) return true;
    if (now_ns() >= deadline) return false;
    pause_ms(1);
  }
}

static void tell_note(const Note* note, char* text, size_t size) {
  const size_t used = strlen(text);
  if (note->active) snprintf(text + used, size - used, "; %s (%s:%d)", note->text, note->file, note->line);
}

/* Appends what every thread of the test and of its partner was in. */
static void tell_notes(char* text, size_t size) {
  for (int i = 0; i < MAX_NOTES; ++i) {
    tell_note(&board->calls[i], text, size);
    tell_note(&board->waits[i], text, size);
  }
}

static Outcome failure(const char* format, int number, const char* what, bool with_notes) {
  Outcome outcome = {.verdict = FAILED};
  snprintf(outcome.text, sizeof outcome.text, format, number, what);
  if (with_notes) tell_notes(outcome.text, sizeof outcome.text);
  return outcome;
}

static Outcome judge(bool ended, int status) {
  Outcome outcome = {.verdict = (Verdict)board->verdict};
  switch (outcome.verdict) {
    case FAILED:
      snprintf(outcome.text, sizeof outcome.text, "%s:%d: %s", board->file, board->line, board->text);
      return outcome;
    case SKIPPED: snprintf(outcome.text, sizeof outcome.text, "%s", board->text); return outcome;
    case PASSED:
    case RUNNING:
    case FAILING:
    case SKIPPING: break;
  }
  const char* when = outcome.verdict == PASSED ? ", after the test had passed" : "";
  if (!ended) return failure("hangs: no end after %d s%s", (int)options.timeout_s, when, true);
  if (WIFSIGNALED(status)) return failure("crashes: signal %d%s", WTERMSIG(status), when, true);
  if (status != 0 || outcome.verdict != PASSED)
    return failure("its process ends with status %d%s", WEXITSTATUS(status), when, true);
  return outcome;
}

Outcome run_test(const Test* test, int board_file) {
  int status = 0;
  board_clear();
  signal(SIGINT, end_with_group);
  signal(SIGTERM, end_with_group);
  const pid_t process = start_test_process(test, board_file);
  if (process < 0) return failure("%d: cannot start the process%s", errno, "", false);
  running_group = process;
  const bool ended = wait_for_end(process, &status);
  kill(-process, SIGKILL); /* the partner's process, if it is left, is in the same group */
  if (!ended) waitpid(process, &status, 0);
  running_group = 0;
  return judge(ended, status);
}

/* ---- A test's process, and its partner's ------------------------------------------------------------- */

/* If the suite itself is killed, nobody else ends a process that hangs. */
static void end_some_time(void) { alarm(options.timeout_s + 10); }

static void check_proofs(const Test* test) {
  for (unsigned code = 0; code < 32; ++code)
    if ((test->codes & PROVES(code)) != 0 && (board->seen[test->call] & PROVES(code)) == 0)
      FAIL("the test should have proven %s of %s, and did not see it", code_name((VIP_RETURN)code),
           call_name(test->call));
}

void be_test(const char* name) {
  const Test* test = test_named(name);
  if (test == NULL || !board_map(options.board_file)) exit(2);
  end_some_time();
  if (!call_exists(test->call)) FAIL("%s is missing from the library", call_name(test->call));
  test->run(test->argument);
  far_end();
  node_close(&near);
  check_proofs(test);
  int running = RUNNING;
  atomic_compare_exchange_strong(&board->verdict, &running, PASSED);
  exit(0);
}

void be_partner(void) {
  if (!board_map(options.board_file)) exit(2);
  end_some_time();
  partner_serve(options.partner_file);
  exit(0);
}
