/* What the suite is made of: tests, the calls of VI-DG chapter 3, and the return codes on their pages. */
#ifndef CONFORMANCE_VIPL_REGISTRY_H
#define CONFORMANCE_VIPL_REGISTRY_H

#include <stdbool.h>
#include <stddef.h>

#include "calls.h"

/* VI-DG 2.2. PRACTICE: what programs rely on and the guide does not promise; it counts for no phase. */
typedef enum { EARLY, FUNCTIONAL, FULL, PRACTICE, PHASE_COUNT } Phase;

enum {
#define X(name, clause, phase) PHASE_##name = (phase),
  CONFORMANCE_CALLS(X)
#undef X
};

/* One test. It runs in a process of its own, after which nothing is left. */
typedef struct {
  const char* name;
  CallId call;        /* what it is about */
  const char* clause; /* where it is written; NULL: on the page of the call */
  Phase phase;        /* the phase that is not attained when it fails */
  unsigned codes;     /* PROVES(...): return codes of `call` that the test must have seen */
  void (*run)(int argument);
  int argument;
} Test;

#define PROVES(code) (1u << (code))
#define OK PROVES(VIP_SUCCESS)
#define RULE 0u /* proves no code of its own: a rule of states, order or content */

/* Entries of the arrays. The clause and the phase are those of the call, but in TEST_BY. */
#define TEST(call, name, codes, run) TEST_OF(call, name, codes, run, 0)
#define TEST_OF(call, name, codes, run, argument) TEST_BY(NULL, (Phase)PHASE_##call, call, name, codes, run, argument)
#define TEST_BY(clause, phase, call, name, codes, run, argument) \
  { #call "." name, ID_##call, clause, phase, codes, run, argument }

/* The same test at each reliability level, given as its argument. Unreliable Delivery belongs to Full
 * Conformance (VI-DG 2.2.3); Reliable Reception is optional, but what a NIC claims must work. */
#define AT_EACH_LEVEL(name, call, clause, phase, codes, run) \
  {name ".unreliable_delivery", call, clause, (phase) > FULL ? (phase) : FULL, codes, run, VIP_SERVICE_UNRELIABLE}, \
      AT_RELIABLE_LEVELS(name, call, clause, phase, codes, run)
#define AT_RELIABLE_LEVELS(name, call, clause, phase, codes, run) \
  {name ".reliable_delivery", call, clause, phase, codes, run, VIP_SERVICE_RELIABLE_DELIVERY}, { \
    name ".reliable_reception", call, clause, (phase) > FULL ? (phase) : FULL, codes, run, \
        VIP_SERVICE_RELIABLE_RECEPTION \
  }

/* All tests, chapter by chapter, and their number. */
const Test* test_at(size_t index);
size_t test_count(void);
const Test* test_named(const char* name);
const char* test_clause(const Test* test);

const char* call_name(CallId call);
const char* call_clause(CallId call);
Phase call_phase(CallId call);
bool call_exists(CallId call); /* in the library */
const char* code_name(VIP_RETURN code);
const char* phase_name(Phase phase);

/* The return codes on the page of a call, as PROVES(...). */
unsigned codes_of(CallId call);
/* Why no portable program can provoke the code; NULL: one can. */
const char* why_not(CallId call, unsigned code);

/* Every code of every page has a test or a reason, and every test its codes. Prints what is wrong; true if
 * nothing is. */
bool registry_is_complete(void);

#endif
