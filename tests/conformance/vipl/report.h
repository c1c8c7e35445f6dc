#ifndef CONFORMANCE_VIPL_REPORT_H
#define CONFORMANCE_VIPL_REPORT_H

#include "runner.h"

void report_begin(size_t selected);
void report_test(const Test* test, const Outcome* outcome);
/* Prints the summary. True if what was wanted is attained. */
bool report_end(void);

#endif
