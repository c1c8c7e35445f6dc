/* What the suite is made of: tests, the calls of VI-DG chapter 3, and the return codes on their pages. */
#ifndef CONFORMANCE_VIPL_REGISTRY_H
#define CONFORMANCE_VIPL_REGISTRY_H

#include <stdbool.h>
#include <stddef.h>

#include "calls.h"

/* VI-DG 2.2. PRACTICE: what programs rely on and the guide does not promise; it counts for no phase. */
typedef enum { EARLY, FUNCTIONAL, FULL, PRACTICE, PHASE_COUNT } Phase;

/* One test. It runs in a process of its own, after which nothing is left. */
typedef struct {
  const char* name;
  CallId call;        /* what it is about */
  const char* clause; /* where it is written */
  Phase phase;        /* the phase that is not attained when it fails */
  unsigned codes;     /* PROVES(...): return codes of `call` that the test must have seen */
  void (*run)(int argument);
  int argument;
} Test;

#define PROVES(code) (1u << (code))
#define RULE 0u /* proves no code of its own: a rule of states, order or content */

/* The same test at each reliability level, given as its argument. Unreliable Delivery belongs to Full
 * Conformance (VI-DG 2.2.3); Reliable Reception is optional, but what a NIC claims must work. */
#define AT_EACH_LEVEL(name, call, clause, phase, codes, run)                               \
  {name ".unreliable_delivery", call, clause, (phase) > FULL ? (phase) : FULL, codes, run, \
   VIP_SERVICE_UNRELIABLE},                                                                \
      AT_RELIABLE_LEVELS(name, call, clause, phase, codes, run)
#define AT_RELIABLE_LEVELS(name, call, clause, phase, codes, run)                                \
  {name ".reliable_delivery", call, clause, phase, codes, run, VIP_SERVICE_RELIABLE_DELIVERY}, { \
    name ".reliable_reception", call, clause, (phase) > FULL ? (phase) : FULL, codes, run,       \
        VIP_SERVICE_RELIABLE_RECEPTION                                                           \
  }

/* All tests, chapter by chapter, and their number. */
const Test* test_at(size_t index);
size_t test_count(void);
const Test* test_named(const char* name);

const char* call_name(CallId call);
const char* call_clause(CallId call);
Phase call_phase(CallId call);
bool call_exists(CallId call); /* in the library */
const char* code_name(VIP_RETURN code);
const char* phase_name(Phase phase);

/* A return code on the page of a call. why_not: why no portable program can provoke it; else NULL. */
typedef struct {
  CallId call;
  VIP_RETURN code;
  const char* why_not;
} Cell;
extern const Cell cells[];
extern const size_t cell_count;

/* Every cell has a test or a reason, and every test its cells. Prints what is wrong; true if nothing is. */
bool registry_is_complete(void);

#endif
