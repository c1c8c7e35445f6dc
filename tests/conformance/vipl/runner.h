#ifndef CONFORMANCE_VIPL_RUNNER_H
#define CONFORMANCE_VIPL_RUNNER_H

#include "board.h"

/* What became of a test. */
typedef struct {
  Verdict verdict; /* PASSED, FAILED or SKIPPED */
  char text[1600]; /* why, if it did not pass */
} Outcome;

/* Runs the test in a process of its own; one that hangs is killed and has failed. */
Outcome run_test(const Test* test, int board_file);

/* In the test's own process: does not return. */
_Noreturn void be_test(const char* name);
/* In the partner's process: does not return. */
_Noreturn void be_partner(void);

#endif
