#define _POSIX_C_SOURCE 200809L
#include "process.h"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "options.h"

extern char** environ;

enum { MAX_ARGUMENTS = 24 };

typedef struct {
  char* values[MAX_ARGUMENTS];
  char numbers[3][16];
  int count, numbers_count;
} Arguments;

/* posix_spawn takes char*, and does not write there. */
static void add(Arguments* arguments, const char* option, const char* value) {
  union {
    const char* given;
    char* wanted;
  } both[2] = {{option}, {value}};
  arguments->values[arguments->count++] = both[0].wanted;
  if (value != NULL) arguments->values[arguments->count++] = both[1].wanted;
}

static void add_number(Arguments* arguments, const char* option, int value) {
  char* text = arguments->numbers[arguments->numbers_count++];
  snprintf(text, sizeof arguments->numbers[0], "%d", value);
  add(arguments, option, text);
}

static void begin(Arguments* arguments, int board_file) {
  memset(arguments, 0, sizeof *arguments);
  add(arguments, options.program, NULL);
  add(arguments, "--nic", options.nic);
  add(arguments, "--peer-nic", options.peer_nic);
  add(arguments, "--partner", options.partner_is_process ? "process" : "thread");
  add_number(arguments, "--timeout", (int)options.timeout_s);
  add_number(arguments, "--board-file", board_file);
}

static pid_t spawn(Arguments* arguments, bool own_group, char** environment) {
  posix_spawnattr_t attributes;
  pid_t process = -1;
  posix_spawnattr_init(&attributes);
  if (own_group) posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP);
  if (posix_spawnp(&process, options.program, NULL, &attributes, arguments->values, environment) != 0) process = -1;
  posix_spawnattr_destroy(&attributes);
  return process;
}

pid_t start_test_process(const Test* test, int board_file) {
  Arguments arguments;
  begin(&arguments, board_file);
  if (options.partner_environment != NULL) add(&arguments, "--partner-env", options.partner_environment);
  add(&arguments, "--run", test->name);
  return spawn(&arguments, true, environ);
}

/* The environment with the variable that --partner-env gives; to be freed, the strings are others'. */
static char** environment_with(char* wanted) {
  size_t count = 0;
  const size_t name_length = (size_t)(strchr(wanted, '=') - wanted) + 1;
  while (environ[count] != NULL) ++count;
  char** copy = calloc(count + 2, sizeof *copy);
  if (copy == NULL) return NULL;
  count = 0;
  for (char** entry = environ; *entry != NULL; ++entry)
    if (strncmp(*entry, wanted, name_length) != 0) copy[count++] = *entry;
  copy[count] = wanted;
  return copy;
}

pid_t start_partner_process(int order_file) {
  Arguments arguments;
  begin(&arguments, options.board_file);
  add_number(&arguments, "--partner-file", order_file);
  if (options.partner_environment == NULL) return spawn(&arguments, false, environ);
  char** environment = environment_with(options.partner_environment);
  if (environment == NULL) return -1;
  const pid_t process = spawn(&arguments, false, environment);
  free(environment);
  return process;
}
