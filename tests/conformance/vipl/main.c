/* vipl-conformance: judges a VIPL library. README.md tells how it works. */
#define _POSIX_C_SOURCE 200809L
#include <fnmatch.h>
#include <stdio.h>

#include "options.h"
#include "report.h"

static bool is_selected(const Test* test) {
  if (test->phase > options.phase) return false;
  return options.filter == NULL || fnmatch(options.filter, test->name, 0) == 0 ||
         fnmatch(options.filter, call_name(test->call), 0) == 0;
}

static void list_tests(void) {
  const Test* test;
  for (size_t i = 0; (test = test_at(i)) != NULL; ++i) {
    if (!is_selected(test)) continue;
    printf("%-58s %-30s %-22s %s", test->name, call_name(test->call), test_clause(test), phase_name(test->phase));
    for (unsigned code = 0; code < 32; ++code)
      if ((test->codes & PROVES(code)) != 0) printf(" %s", code_name((VIP_RETURN)code));
    printf("\n");
  }
}

static size_t count_selected(void) {
  const Test* test;
  size_t count = 0;
  for (size_t i = 0; (test = test_at(i)) != NULL; ++i) count += is_selected(test);
  return count;
}

static bool run_tests(int board_file) {
  const Test* test;
  report_begin(count_selected());
  for (size_t i = 0; (test = test_at(i)) != NULL; ++i) {
    if (!is_selected(test)) continue;
    const Outcome outcome = run_test(test, board_file);
    report_test(test, &outcome);
  }
  return report_end();
}

int main(int count, char** arguments) {
  if (!parse_options(count, arguments)) return 2;
  if (options.test != NULL) be_test(options.test);
  if (options.partner_file >= 0) be_partner();
  if (!registry_is_complete()) return 1;
  if (count_selected() == 0) {
    fprintf(stderr, "vipl-conformance: no test matches %s\n", options.filter);
    return 2;
  }
  if (options.list) {
    list_tests();
    return 0;
  }
  const int file = board_create();
  if (file < 0 || !board_map(file)) {
    perror("vipl-conformance: cannot make a shared file");
    return 1;
  }
  return run_tests(file) ? 0 : 1;
}
