/*
 * word_count_test - the unit tests of words.c: client and server in one process, without a fabric.
 *
 * Both open VILO, the loop-back NIC of the library, each with a handle of its own, as two processes would open VINIC.
 * No service, no network and no configuration is needed, and tests that run at the same time do not meet. The server
 * runs in a thread. Where a test needs a client that does what ours never does, it makes the calls of VIPL itself.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "words.h"

const char* const program_name = "word_count_test";
static const char* const host = "localhost";
static const VIP_RELIABILITY_LEVEL level = VIP_SERVICE_RELIABLE_DELIVERY;

/* ---- in place of a test framework ----------------------------------------------------------------------- */

static unsigned long failures;

#define EXPECT_EQUAL(actual, expected) expect_equal(actual, expected, #actual, __LINE__)
static void expect_equal(unsigned long actual, unsigned long expected, const char* what, int line) {
  if (actual == expected) return;
  ++failures;
  fprintf(stderr, "%s:%d: %s is %lu, not %lu\n", __FILE__, line, what, actual, expected);
}

/* ---- the server, in a thread ---------------------------------------------------------------------------- */

typedef struct {
  pthread_t thread;
  VIP_NIC_HANDLE nic;
  unsigned long clients, answered;
} server;

static void* run_server(void* argument) {
  server* self = argument;
  self->answered = serve_words(self->nic, WORDS_DEFAULT_NAME, level, self->clients);
  return NULL;
}

/* The client need not wait until it is ready: it tries again after VIP_NO_MATCH. */
static void start_server(server* self, unsigned long clients) {
  self->clients = clients;
  self->nic = open_nic("VILO");
  if (pthread_create(&self->thread, NULL, run_server, self) != 0) die("no thread");
}

/* When it has served its clients: the texts that it has answered. */
static unsigned long end_server(server* self) {
  pthread_join(self->thread, NULL);
  check(VipCloseNic(self->nic), "VipCloseNic");
  return self->answered;
}

/* ---- the tests ------------------------------------------------------------------------------------------ */

/* Without a connection the test has nothing to go on with. */
static void connect_client(words_end* end, VIP_NIC_HANDLE nic) {
  check(connect_words(end, nic, host, level, CONNECT_TIMEOUT_MS), "connect_words");
}

/* 1000: the question failed. */
static unsigned long answer_to(words_end* end, const char* text, size_t bytes) {
  unsigned long words = 0;
  return ask_words(end, text, bytes, &words) == VIP_SUCCESS ? words : 1000;
}

static void expect_served(VIP_NIC_HANDLE nic) {
  words_end end;
  connect_client(&end, nic);
  EXPECT_EQUAL(answer_to(&end, "still here", 10), 2);
  close_words(&end);
}

/* What needs no connection is tested without one. */
static void words_are_what_white_space_separates(VIP_NIC_HANDLE nic) {
  (void)nic;
  EXPECT_EQUAL(count_words("", 0), 0);
  EXPECT_EQUAL(count_words(" \t\n", 3), 0);
  EXPECT_EQUAL(count_words("a b", 3), 2);
  EXPECT_EQUAL(count_words("  two\nwords ", 12), 2);
}

static void each_text_is_answered(VIP_NIC_HANDLE nic) {
  char longest[WORDS_TEXT_BYTES + 1];
  server self;
  words_end end;
  memset(longest, 'x', sizeof longest);
  start_server(&self, 1);
  connect_client(&end, nic);
  EXPECT_EQUAL(answer_to(&end, "to be or not to be", 18), 6);
  EXPECT_EQUAL(answer_to(&end, "", 0), 0);
  EXPECT_EQUAL(answer_to(&end, longest, WORDS_TEXT_BYTES), 1);
  EXPECT_EQUAL(ask_words(&end, longest, WORDS_TEXT_BYTES + 1, NULL), VIP_INVALID_PARAMETER);
  EXPECT_EQUAL(answer_to(&end, "and on", 6), 2);
  close_words(&end);
  EXPECT_EQUAL(end_server(&self), 4);
}

static void client_that_leaves_makes_room_for_the_next(VIP_NIC_HANDLE nic) {
  server self;
  words_end end;
  start_server(&self, 2);
  connect_client(&end, nic);
  close_words(&end);
  expect_served(nic);
  EXPECT_EQUAL(end_server(&self), 1);
}

/* No client of ours sends so much: the test posts the descriptor itself. The receive that it does not fit into ends the
 * connection, not the server. */
static void text_that_is_too_long_ends_the_connection(VIP_NIC_HANDLE nic) {
  server self;
  words_end end;
  VIP_DESCRIPTOR* done;
  start_server(&self, 2);
  connect_client(&end, nic);
  describe(&end.memory->receive, end.memory->in, end.handle, sizeof end.memory->in);
  EXPECT_EQUAL(VipPostRecv(end.vi, &end.memory->receive, end.handle), VIP_SUCCESS);
  describe(&end.memory->send, end.memory->out, end.handle, WORDS_TEXT_BYTES + 1);
  EXPECT_EQUAL(VipPostSend(end.vi, &end.memory->send, end.handle), VIP_SUCCESS);
  EXPECT_EQUAL(VipRecvWait(end.vi, WAIT_MS, &done), VIP_DESCRIPTOR_ERROR);
  EXPECT_EQUAL(done->CS.Status & VIP_STATUS_ERROR_MASK, VIP_STATUS_DESC_FLUSHED_ERROR);
  close_words(&end);
  expect_served(nic);
  EXPECT_EQUAL(end_server(&self), 1);
}

static void client_of_another_level_is_rejected(VIP_NIC_HANDLE nic) {
  server self;
  words_end end;
  start_server(&self, 2);
  EXPECT_EQUAL(connect_words(&end, nic, host, VIP_SERVICE_RELIABLE_RECEPTION, CONNECT_TIMEOUT_MS), VIP_REJECT);
  expect_served(nic);
  EXPECT_EQUAL(end_server(&self), 1);
}

static void nobody_is_there(VIP_NIC_HANDLE nic) {
  words_end end;
  EXPECT_EQUAL(connect_words(&end, nic, "localhost:nobody", level, 1), VIP_NO_MATCH);
}

#define CASE(name) \
  { #name, name }
static const struct {
  const char* name;
  void (*run)(VIP_NIC_HANDLE);
} cases[] = {CASE(words_are_what_white_space_separates),       CASE(each_text_is_answered),
             CASE(client_that_leaves_makes_room_for_the_next), CASE(text_that_is_too_long_ends_the_connection),
             CASE(client_of_another_level_is_rejected),        CASE(nobody_is_there)};

int main(void) {
  size_t i;
  for (i = 0; i < sizeof cases / sizeof *cases; ++i) {
    const unsigned long before = failures;
    VIP_NIC_HANDLE nic = open_nic("VILO");
    cases[i].run(nic);
    check(VipCloseNic(nic), "VipCloseNic");
    printf("%s %s\n", failures == before ? "ok    " : "FAILED", cases[i].name);
  }
  return failures == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
