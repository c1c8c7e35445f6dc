#include "registry.h"

#include <stdio.h>
#include <string.h>

/* One array per file of tests, each ended by an entry without name. */
/* clang-format off */
#define CHAPTERS(X) \
  X(nic_tests) X(handle_tests) X(argument_tests) X(vi_tests) X(state_tests) X(connect_tests) X(accept_tests) \
  X(match_tests) X(disconnect_tests) X(peer_tests) X(memory_tests) X(tag_tests) X(transfer_tests) \
  X(descriptor_tests) X(reception_tests) X(rdma_write_tests) X(rdma_read_tests) X(order_tests) X(wait_tests) \
  X(cq_tests) X(cq_resource_tests) X(notify_tests) X(error_tests) X(management_tests) X(name_service_tests) \
  X(thread_tests) X(limit_tests) X(compatibility_tests)
/* clang-format on */

#define X(array) extern const Test array[];
CHAPTERS(X)
#undef X

static const Test* const chapters[] = {
#define X(array) array,
    CHAPTERS(X)
#undef X
};

static const struct {
  const char* name;
  const char* clause;
  Phase phase;
  void (*function)(void);
} calls[] = {
#define X(name, clause, phase) {#name, "VI-DG " clause, phase, (void (*)(void))name},
    CONFORMANCE_CALLS(X)
#undef X
};

static const char* const code_names[] = {"VIP_SUCCESS",
                                         "VIP_NOT_DONE",
                                         "VIP_INVALID_PARAMETER",
                                         "VIP_ERROR_RESOURCE",
                                         "VIP_TIMEOUT",
                                         "VIP_REJECT",
                                         "VIP_INVALID_RELIABILITY_LEVEL",
                                         "VIP_INVALID_MTU",
                                         "VIP_INVALID_QOS",
                                         "VIP_INVALID_PTAG",
                                         "VIP_INVALID_RDMAREAD",
                                         "VIP_DESCRIPTOR_ERROR",
                                         "VIP_INVALID_STATE",
                                         "VIP_ERROR_NAMESERVICE",
                                         "VIP_NO_MATCH",
                                         "VIP_NOT_REACHABLE",
                                         "VIP_ERROR_NOT_SUPPORTED"};

static const Test* find(size_t index, size_t* count) {
  size_t seen = 0;
  for (size_t chapter = 0; chapter < sizeof chapters / sizeof *chapters; ++chapter)
    for (const Test* test = chapters[chapter]; test->name != NULL; ++test)
      if (seen++ == index) return test;
  if (count != NULL) *count = seen;
  return NULL;
}

const Test* test_at(size_t index) { return find(index, NULL); }

size_t test_count(void) {
  size_t count = 0;
  find((size_t)-1, &count);
  return count;
}

const Test* test_named(const char* name) {
  const Test* test;
  for (size_t i = 0; (test = test_at(i)) != NULL; ++i)
    if (strcmp(test->name, name) == 0) return test;
  return NULL;
}

const char* test_clause(const Test* test) { return test->clause != NULL ? test->clause : call_clause(test->call); }

const char* call_name(CallId call) { return calls[call].name; }
const char* call_clause(CallId call) { return calls[call].clause; }
Phase call_phase(CallId call) { return calls[call].phase; }
bool call_exists(CallId call) { return calls[call].function != NULL; }

const char* code_name(VIP_RETURN code) {
  const size_t index = (size_t)code;
  return index < sizeof code_names / sizeof *code_names ? code_names[index] : "no VIP_RETURN";
}

const char* phase_name(Phase phase) {
  static const char* const names[] = {"Early Adopter", "Functional", "Full Conformance", "practice"};
  return names[phase];
}

static bool is_tested(CallId call, unsigned code) {
  const Test* test;
  for (size_t i = 0; (test = test_at(i)) != NULL; ++i)
    if (test->call == call && (test->codes & PROVES(code)) != 0) return true;
  return false;
}

static bool page_is_complete(CallId call) {
  bool complete = true;
  for (unsigned code = 0; code < 32; ++code) {
    if ((codes_of(call) & PROVES(code)) == 0) continue;
    const bool tested = is_tested(call, code);
    if (tested != (why_not(call, code) != NULL)) continue;
    fprintf(stderr, "suite: %s of %s has %s\n", code_name((VIP_RETURN)code), call_name(call),
            tested ? "a test, and a reason why there is none" : "no test and no reason");
    complete = false;
  }
  return complete;
}

static bool tests_are_right(void) {
  bool right = true;
  const Test* test;
  for (size_t i = 0; (test = test_at(i)) != NULL; ++i) {
    if (test_named(test->name) != test) {
      fprintf(stderr, "suite: two tests are named %s\n", test->name);
      right = false;
    }
    for (unsigned code = 0; code < 32; ++code)
      if ((test->codes & ~codes_of(test->call) & PROVES(code)) != 0) {
        fprintf(stderr, "suite: %s proves %s, which is not on the page of %s\n", test->name,
                code_name((VIP_RETURN)code), call_name(test->call));
        right = false;
      }
  }
  return right;
}

bool registry_is_complete(void) {
  bool complete = tests_are_right();
  for (int call = 0; call < CALL_COUNT; ++call) complete &= page_is_complete((CallId)call);
  return complete;
}
