/* The page of memory that a test's process, its partner's and the suite's own share. */
#ifndef CONFORMANCE_VIPL_BOARD_H
#define CONFORMANCE_VIPL_BOARD_H

#include <stdatomic.h>

#include "registry.h"

enum { MAX_NOTES = 16 };

typedef enum { RUNNING, FAILING, SKIPPING, PASSED, FAILED, SKIPPED } Verdict;

/* What a thread is in: a call that has not returned, or a wait of the suite. */
typedef struct {
  _Atomic int active;
  char file[32];
  int line;
  char text[200];
} Note;

typedef struct {
  _Atomic int verdict;
  char file[32]; /* where it failed */
  int line;
  char text[800];
  _Atomic int note_count;
  Note calls[MAX_NOTES], waits[MAX_NOTES]; /* of each thread */
  _Atomic unsigned seen[CALL_COUNT];       /* return codes that came and were expected */
  _Atomic unsigned levels, read_levels;    /* what the NIC claims */
} Board;

extern Board* board;

/* A new board, as the descriptor of a file without name; -1 on failure. */
int board_create(void);
/* Maps it as `board`; false on failure. */
bool board_map(int file);
void board_clear(void);

#endif
