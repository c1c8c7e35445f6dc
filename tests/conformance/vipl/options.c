#define _POSIX_C_SOURCE 200809L
#include "options.h"

#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

Options options = {
    .nic = "VINIC", .phase = FULL, .timeout_s = 30, .partner_is_process = true, .board_file = -1, .partner_file = -1};

static const char usage[] =
    "usage: vipl-conformance [OPTION]...\n"
    "Judges a VIPL library: which conformance phase of the VI Architecture Developer's Guide (2.2) it "
    "attains.\n"
    "\n"
    "  --nic NAME          the NIC to test (default VINIC)\n"
    "  --peer-nic NAME     the partner's NIC (default: the same)\n"
    "  --partner KIND      the far side is a \"process\" (default) or a \"thread\" of the test's process\n"
    "  --partner-env N=V   an environment variable of the partner's process alone\n"
    "  --phase PHASE       the wanted phase: early, functional, full (default), or all: what programs rely "
    "on, too\n"
    "  --filter GLOB       only tests whose name, or the call that they are about, matches\n"
    "  --list              list the tests and run none\n"
    "  --timeout SECONDS   a test that runs longer hangs and fails (default 30)\n"
    "  --tap               print the Test Anything Protocol\n"
    "  -v, --verbose       tell the clause of each test, and why return codes have no test\n"
    "  -h, --help          print this\n"
    "\n"
    "Exit status: 0 the phase is attained (with --filter: nothing failed), 1 it is not, 2 wrong usage.\n";

static bool wrong(const char* what, const char* value) {
  fprintf(stderr, "vipl-conformance: %s: %s\n%s", what, value, usage);
  return false;
}

static bool parse_phase(const char* text) {
  static const char* const names[] = {"early", "functional", "full", "all"};
  for (size_t phase = 0; phase < sizeof names / sizeof *names; ++phase)
    if (strcmp(text, names[phase]) == 0) {
      options.phase = (Phase)phase;
      return true;
    }
  return wrong("--phase is early, functional, full or all, not", text);
}

static bool parse_partner(const char* text) {
  options.partner_is_process = strcmp(text, "process") == 0;
  return options.partner_is_process || strcmp(text, "thread") == 0 ||
         wrong("--partner is process or thread, not", text);
}

static bool parse_number(const char* text, int least, int most, int* number) {
  char* end;
  const long value = strtol(text, &end, 10);
  if (*text == '\0' || *end != '\0' || value < least || value > most) return wrong("not a number in its range", text);
  *number = (int)value;
  return true;
}

static bool parse_environment(char* text) {
  options.partner_environment = text;
  return (strchr(text, '=') != NULL && *text != '=') || wrong("--partner-env is NAME=VALUE, not", text);
}

static bool parse_timeout(const char* text) {
  int seconds = 0;
  if (!parse_number(text, 1, 86400, &seconds)) return false;
  options.timeout_s = (unsigned)seconds;
  return true;
}

static bool parse_option(int option) {
  switch (option) {
    case 'n': options.nic = optarg; return true;
    case 'p': options.peer_nic = optarg; return true;
    case 'k': return parse_partner(optarg);
    case 'e': return parse_environment(optarg);
    case 'P': return parse_phase(optarg);
    case 'f': options.filter = optarg; return true;
    case 'l': options.list = true; return true;
    case 't': return parse_timeout(optarg);
    case 'T': options.tap = true; return true;
    case 'v': options.verbose = true; return true;
    case 'h': fputs(usage, stdout); exit(0);
    case 'R': options.test = optarg; return true;
    case 'B': return parse_number(optarg, 0, 1 << 20, &options.board_file);
    case 'O': return parse_number(optarg, 0, 1 << 20, &options.partner_file);
    default: fputs(usage, stderr); return false;
  }
}

bool parse_options(int count, char** arguments) {
  static const struct option known[] = {{"nic", required_argument, NULL, 'n'},
                                        {"peer-nic", required_argument, NULL, 'p'},
                                        {"partner", required_argument, NULL, 'k'},
                                        {"partner-env", required_argument, NULL, 'e'},
                                        {"phase", required_argument, NULL, 'P'},
                                        {"filter", required_argument, NULL, 'f'},
                                        {"list", no_argument, NULL, 'l'},
                                        {"timeout", required_argument, NULL, 't'},
                                        {"tap", no_argument, NULL, 'T'},
                                        {"verbose", no_argument, NULL, 'v'},
                                        {"help", no_argument, NULL, 'h'},
                                        {"run", required_argument, NULL, 'R'},
                                        {"board-file", required_argument, NULL, 'B'},
                                        {"partner-file", required_argument, NULL, 'O'},
                                        {NULL, 0, NULL, 0}};
  int option;
  options.program = arguments[0];
  while ((option = getopt_long(count, arguments, "vh", known, NULL)) != -1)
    if (!parse_option(option)) return false;
  if (optind != count) return wrong("no argument is expected, but there is", arguments[optind]);
  if (options.peer_nic == NULL) options.peer_nic = options.nic;
  return true;
}
