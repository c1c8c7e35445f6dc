/* The processes that the suite starts: itself again, in another role. */
#ifndef CONFORMANCE_VIPL_PROCESS_H
#define CONFORMANCE_VIPL_PROCESS_H

#include <sys/types.h>

#include "registry.h"

/* Runs one test in a process, in a process group of its own; its number, or -1. */
pid_t start_test_process(const Test* test, int board_file);
/* The partner of this test's process; it takes its orders from this socket. */
pid_t start_partner_process(int order_file);

#endif
