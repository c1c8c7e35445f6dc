/* What the command line says, for the suite, and handed on to the processes of tests and partners. */
#ifndef CONFORMANCE_VIPL_OPTIONS_H
#define CONFORMANCE_VIPL_OPTIONS_H

#include "registry.h"

typedef struct {
  const char* program; /* how this program was started */
  const char* nic;
  const char* peer_nic;
  Phase phase;
  const char* filter;        /* NULL: all */
  char* partner_environment; /* NAME=VALUE, or NULL */
  unsigned timeout_s;        /* of one test */
  bool list, partner_is_process, verbose, tap;
  /* Hidden: the roles of the processes that the suite starts. */
  const char* test; /* a test's process: its name */
  int board_file;
  int partner_file; /* the partner's process: where orders come from; else -1 */
} Options;

extern Options options;

/* False: the usage is wrong, and was told. */
bool parse_options(int count, char** arguments);

#endif
