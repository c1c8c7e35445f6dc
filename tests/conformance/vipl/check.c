#define _POSIX_C_SOURCE 200809L
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "board.h"
#include "suite.h"

Board* board;

int board_create(void) {
  char name[] = "/tmp/vipl-conformance-XXXXXX";
  const int file = mkstemp(name);
  if (file < 0) return -1;
  unlink(name);
  if (ftruncate(file, sizeof(Board)) == 0) return file;
  close(file);
  return -1;
}

bool board_map(int file) {
  void* memory = mmap(NULL, sizeof(Board), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  if (memory == MAP_FAILED) return false;
  board = memory;
  return true;
}

void board_clear(void) {
  memset(board->calls, 0, sizeof board->calls);
  memset(board->waits, 0, sizeof board->waits);
  memset(board->text, 0, sizeof board->text);
  for (int call = 0; call < CALL_COUNT; ++call) board->seen[call] = 0;
  board->note_count = 0;
  board->verdict = RUNNING;
}

static const char* base_name(const char* file) {
  const char* slash = strrchr(file, '/');
  return slash == NULL ? file : slash + 1;
}

/* ---- Verdicts ---------------------------------------------------------------------------------------- */

/* The first verdict counts. Who comes later waits until it is written: its process may be the same. */
static void claim_verdict(int claim) {
  int running = RUNNING;
  if (atomic_compare_exchange_strong(&board->verdict, &running, claim)) return;
  for (int i = 0; i < 1000 && (board->verdict == FAILING || board->verdict == SKIPPING); ++i) pause_ms(1);
  _exit(1);
}

void fail(const char* file, int line, const char* format, ...) {
  va_list arguments;
  claim_verdict(FAILING);
  snprintf(board->file, sizeof board->file, "%s", base_name(file));
  board->line = line;
  va_start(arguments, format);
  vsnprintf(board->text, sizeof board->text, format, arguments);
  va_end(arguments);
  board->verdict = FAILED;
  _exit(1);
}

void skip(const char* format, ...) {
  va_list arguments;
  claim_verdict(SKIPPING);
  va_start(arguments, format);
  vsnprintf(board->text, sizeof board->text, format, arguments);
  va_end(arguments);
  board->verdict = SKIPPED;
  _exit(0);
}

bool has_failed(void) { return board->verdict == FAILED || board->verdict == FAILING; }

/* ---- Notes ------------------------------------------------------------------------------------------- */

static int my_index(void) {
  static _Thread_local int index = -1;
  if (index < 0) index = board->note_count++;
  return index < MAX_NOTES ? index : MAX_NOTES - 1;
}

static void note(Note* mine, const char* file, int line, const char* format, const char* what, const char* arguments) {
  mine->active = 0;
  snprintf(mine->file, sizeof mine->file, "%s", base_name(file));
  mine->line = line;
  snprintf(mine->text, sizeof mine->text, format, what, arguments);
  mine->active = 1;
}

void entering(const char* file, int line, CallId call, const char* arguments) {
  if (!call_exists(call)) fail(file, line, "%s is missing from the library", call_name(call));
  note(&board->calls[my_index()], file, line, "in %s(%s)", call_name(call), arguments);
}

VIP_RETURN returned(VIP_RETURN code) {
  board->calls[my_index()].active = 0;
  return code;
}

void waiting_for(const char* file, int line, const char* text) {
  Note* mine = &board->waits[my_index()];
  if (text == NULL)
    mine->active = 0;
  else
    note(mine, file, line, "%s%s", text, "");
}

/* ---- Expectations ------------------------------------------------------------------------------------ */

void proven(CallId call, VIP_RETURN code) { board->seen[call] |= PROVES(code); }

void expect_code(const char* file, int line, CallId call, VIP_RETURN expected, VIP_RETURN came) {
  if (came != expected)
    fail(file, line, "%s: expected %s, came %s", call_name(call), code_name(expected), code_name(came));
  proven(call, came);
}

/* ---- Time and threads -------------------------------------------------------------------------------- */

void pause_ms(unsigned milliseconds) {
  struct timespec left = {milliseconds / 1000, (long)(milliseconds % 1000) * 1000000L};
  while (nanosleep(&left, &left) != 0 && errno == EINTR) continue;
}

uint64_t now_ns(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (uint64_t)now.tv_sec * 1000000000U + (uint64_t)now.tv_nsec;
}

pthread_t start_thread(void* (*body)(void*), void* argument) {
  pthread_t thread;
  const int error = pthread_create(&thread, NULL, body, argument);
  if (error != 0) FAIL("the suite cannot start a thread: %s", strerror(error));
  return thread;
}

void join_thread(pthread_t thread) {
  waiting_for(__FILE__, __LINE__, "waits for the end of a thread");
  pthread_join(thread, NULL);
  waiting_for(NULL, 0, NULL);
}
