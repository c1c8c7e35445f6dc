/* Handlers end their threads: pthread_exit, or pthread_cancel by others. Later errors and completions are told all the
 * same, and VipCloseNic returns (VI-DG 3.1.2, 3.5.9, 3.8.1). Threads of the program are cancelled at any point of their
 * calls; the library stays usable. With $FCVI_TRACE, which writes lines at the end of calls and amid them, too. */
#define _GNU_SOURCE
#include <errno.h>
#include <sched.h>
#include <time.h>

#include "pair.h"

static end_t client, server;
static int told; /* by handlers, on threads of their own */
static int now(const int* counter) { return __atomic_load_n(counter, __ATOMIC_ACQUIRE); }
static void set(int* counter, int value) { __atomic_store_n(counter, value, __ATOMIC_RELEASE); }
static void count(int* counter) { __atomic_add_fetch(counter, 1, __ATOMIC_ACQ_REL); }

static void await(const int* counter, int value, const char* what) {
  int tries;
  for (tries = 0; tries < 5000 && now(counter) < value; ++tries) usleep(1000);
  require(now(counter) >= value, what);
}

/* ---- error handlers --------------------------------------------------------------------------------------- */

static void exit_at_each(VIP_PVOID context, VIP_ERROR_DESCRIPTOR* error) {
  (void)context;
  (void)error;
  count(&told);
  pthread_exit(NULL);
}
static int cancelled_may_go;
static pthread_t in_handler;
static void be_cancelled(VIP_PVOID context, VIP_ERROR_DESCRIPTOR* error) {
  (void)context;
  (void)error;
  __atomic_store_n(&in_handler, pthread_self(), __ATOMIC_RELEASE);
  count(&told);
  /* A cancellation point that ThreadSanitizer of g++ 12 understands: of a thread that is cancelled in usleep() it
   * misses all that it releases and acquires from there on, also in a program of a thread and a mutex. */
  for (; !now(&cancelled_may_go); pthread_testcancel()) sched_yield();
}

/* A descriptor that is not aligned: Post Descriptor Error. */
static void cause_error(const end_t* end) {
  SUCCEEDS(VipPostRecv(end->vi, (VIP_DESCRIPTOR*)(void*)(end->memory + 4), end->handle));
}

static void error_handler_exits(void) {
  set(&told, 0);
  open_end(&client, "VINIC0", VIP_SERVICE_RELIABLE_DELIVERY, 4096);
  SUCCEEDS(VipErrorCallback(client.nic, NULL, exit_at_each));
  cause_error(&client);
  await(&told, 1, "the first error is told");
  cause_error(&client);
  cause_error(&client);
  await(&told, 3, "the next ones are told");
  SUCCEEDS(VipCloseNic(client.nic));
  free(client.memory);
}
static void error_handler_is_cancelled(void) {
  set(&told, 0);
  open_end(&client, "VINIC0", VIP_SERVICE_RELIABLE_DELIVERY, 4096);
  SUCCEEDS(VipErrorCallback(client.nic, NULL, be_cancelled));
  cause_error(&client);
  cause_error(&client);
  await(&told, 1, "the first error is told");
  REQUIRE(pthread_cancel(__atomic_load_n(&in_handler, __ATOMIC_ACQUIRE)) == 0);
  await(&told, 2, "the next one is told by another thread");
  set(&cancelled_may_go, 1);
  SUCCEEDS(VipCloseNic(client.nic));
  free(client.memory);
}
static void error_handler_exits_while_the_nic_is_closed(void) {
  set(&told, 0);
  set(&cancelled_may_go, 0);
  open_end(&client, "VINIC0", VIP_SERVICE_RELIABLE_DELIVERY, 4096);
  SUCCEEDS(VipErrorCallback(client.nic, NULL, be_cancelled));
  cause_error(&client);
  await(&told, 1, "the error is told");
  REQUIRE(pthread_cancel(__atomic_load_n(&in_handler, __ATOMIC_ACQUIRE)) == 0);
  SUCCEEDS(VipCloseNic(client.nic)); /* waits for the handler's end, which is not a return */
  free(client.memory);
}

/* ---- completion handlers ----------------------------------------------------------------------------------- */

static void exit_at_completion(VIP_PVOID context, VIP_NIC_HANDLE nic, VIP_VI_HANDLE vi, VIP_DESCRIPTOR* descriptor) {
  (void)context;
  (void)nic;
  (void)vi;
  REQUIRE(descriptor != NULL);
  count(&told);
  pthread_exit(NULL);
}
static void completion_handler_exits(void) {
  int i;
  set(&told, 0);
  open_end(&client, "VINIC0", VIP_SERVICE_RELIABLE_DELIVERY, 4096);
  open_end(&server, "VINIC1", VIP_SERVICE_RELIABLE_DELIVERY, 4096);
  connect_ends(&client, &server);
  for (i = 0; i < 3; ++i) {
    SUCCEEDS(VipPostRecv(server.vi, describe(&server, i, data_of(&server), server.handle, 8), server.handle));
    SUCCEEDS(VipRecvNotify(server.vi, NULL, exit_at_completion));
  }
  for (i = 0; i < 3; ++i)
    SUCCEEDS(VipPostSend(client.vi, describe(&client, i, data_of(&client), client.handle, 8), client.handle));
  await(&told, 3, "each completion is told");
  SUCCEEDS(VipCloseNic(server.nic));
  free(server.memory);
  SUCCEEDS(VipCloseNic(client.nic));
  free(client.memory);
}

/* ---- threads of the program ---------------------------------------------------------------------------------- */

static void* post_for_ever(void* unused) {
  VIP_DESCRIPTOR* done;
  (void)unused;
  for (;;) {
    SUCCEEDS(VipPostRecv(server.vi, describe(&server, 0, data_of(&server), server.handle, 2048), server.handle));
    SUCCEEDS(VipPostSend(client.vi, describe(&client, 0, data_of(&client), client.handle, 2048), client.handle));
    SUCCEEDS(VipSendWait(client.vi, VIP_INFINITE, &done));
    SUCCEEDS(VipRecvWait(server.vi, VIP_INFINITE, &done));
    pthread_testcancel();
  }
  return NULL;
}
static void caller_is_cancelled(void) {
  int i;
  open_end(&client, "VINIC0", VIP_SERVICE_RELIABLE_DELIVERY, 4096);
  open_end(&server, "VINIC1", VIP_SERVICE_RELIABLE_DELIVERY, 4096);
  connect_ends(&client, &server);
  for (i = 0; i < 30; ++i) {
    const struct timespec pause = {0, 2000000 + i * 30000};
    pthread_t thread;
    void* result;
    REQUIRE(pthread_create(&thread, NULL, post_for_ever, NULL) == 0);
    nanosleep(&pause, NULL);
    REQUIRE(pthread_cancel(thread) == 0);
    REQUIRE(pthread_join(thread, &result) == 0 && result == PTHREAD_CANCELED);
    REQUIRE(state_of(&client) == VIP_STATE_CONNECTED && state_of(&server) == VIP_STATE_CONNECTED);
  }
  SUCCEEDS(VipCloseNic(client.nic));
  free(client.memory);
  SUCCEEDS(VipCloseNic(server.nic));
  free(server.memory);
}

/* Pending from before the first call: whatever they meet in the library, the thread ends where the program says. */
static void* call_with_cancellation_pending(void* unused) {
  VIP_DESCRIPTOR* done;
  VIP_RETURN result;
  int i;
  (void)unused;
  REQUIRE(pthread_cancel(pthread_self()) == 0);
  for (i = 0; i < 2; ++i)
    SUCCEEDS(VipPostRecv(server.vi, describe(&server, i, data_of(&server), server.handle, 8), server.handle));
  SUCCEEDS(VipPostSend(client.vi, describe(&client, 0, data_of(&client), client.handle, 8), client.handle));
  SUCCEEDS(VipSendWait(client.vi, VIP_INFINITE, &done));
  SUCCEEDS(VipRecvWait(server.vi, VIP_INFINITE, &done));
  REQUIRE(VipRecvWait(server.vi, 20, &done) == VIP_TIMEOUT);
  for (i = 0; i < 1000; ++i) REQUIRE(VipRecvDone(server.vi, &done) == VIP_NOT_DONE);
  SUCCEEDS(VipPostSend(client.vi, describe(&client, 0, data_of(&client), client.handle, 8), client.handle));
  while ((result = VipSendDone(client.vi, &done)) == VIP_NOT_DONE) {}
  REQUIRE(result == VIP_SUCCESS);
  while ((result = VipRecvDone(server.vi, &done)) == VIP_NOT_DONE) {}
  REQUIRE(result == VIP_SUCCESS);
  /* The same post is refused, told and traced, by who has the engine. */
  SUCCEEDS(VipPostSend(client.vi, describe(&client, 0, data_of(&client), ~client.handle, 8), client.handle));
  require_code(VIP_DESCRIPTOR_ERROR, VipSendWait(client.vi, VIP_INFINITE, &done), "a wrong memory handle");
  cause_error(&client);
  REQUIRE(VipQueryVi(NULL, NULL, NULL, NULL, NULL) == VIP_INVALID_PARAMETER);
  count(&told);
  pthread_testcancel();
  return NULL;
}
static void cancellation_is_pending(void) {
  pthread_t thread;
  void* result;
  set(&told, 0);
  open_end(&client, "VINIC0", VIP_SERVICE_RELIABLE_DELIVERY, 4096);
  open_end(&server, "VINIC1", VIP_SERVICE_RELIABLE_DELIVERY, 4096);
  connect_ends(&client, &server);
  REQUIRE(pthread_create(&thread, NULL, call_with_cancellation_pending, NULL) == 0);
  REQUIRE(pthread_join(thread, &result) == 0 && result == PTHREAD_CANCELED);
  await(&told, 1, "the thread ends behind its calls");
  SUCCEEDS(VipCloseNic(client.nic));
  free(client.memory);
  SUCCEEDS(VipCloseNic(server.nic));
  free(server.memory);
}

int main(int count, char** arguments) {
  const char* only = count > 1 ? arguments[1] : "";
  alarm(60); /* what hangs is killed */
  if (*only == '\0' || strcmp(only, "exit") == 0) error_handler_exits();
  if (*only == '\0' || strcmp(only, "cancel") == 0) error_handler_is_cancelled();
  if (*only == '\0' || strcmp(only, "close") == 0) error_handler_exits_while_the_nic_is_closed();
  if (*only == '\0' || strcmp(only, "notify") == 0) completion_handler_exits();
  if (*only == '\0' || strcmp(only, "caller") == 0) caller_is_cancelled();
  if (*only == '\0' || strcmp(only, "caller") == 0 || strcmp(only, "pending") == 0) cancellation_is_pending();
  return 0;
}
