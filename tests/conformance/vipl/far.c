/* The test's end of the socket to its partner. */
#define _POSIX_C_SOURCE 200809L
#include "far.h"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "options.h"
#include "partner.h"
#include "process.h"

Answer far;

static struct {
  int file;
  pid_t process; /* 0: a thread */
  pthread_t thread;
  bool alive;
} partner;

static void* serve(void* argument) {
  partner_serve(*(int*)argument);
  return NULL;
}

static void start_partner(void) {
  static int files[2];
  if (socketpair(AF_UNIX, SOCK_STREAM, 0, files) != 0) FAIL("the suite cannot make a socket pair");
  partner.file = files[0];
  fcntl(files[0], F_SETFD, FD_CLOEXEC);
  if (options.partner_is_process) {
    partner.process = start_partner_process(files[1]);
    if (partner.process <= 0) FAIL("the suite cannot start the partner's process");
    close(files[1]);
  } else {
    partner.thread = start_thread(serve, &files[1]);
  }
  partner.alive = true;
}

void far_open(void) {
  if (partner.alive) return;
  start_partner();
  near_open();
  far = FAR_EXPECT(VIP_SUCCESS, far_order(ORDER_OPEN, 0));
  far.nic.LocalNicAddress = far.nic_address;
}

void far_start(Order order) {
  if (send(partner.file, &order, sizeof order, MSG_NOSIGNAL) != (ssize_t)sizeof order)
    FAIL("the partner is gone: it has ended or crashed");
}

Answer far_answer(void) {
  Answer answer;
  waiting_for(__FILE__, __LINE__, "waits for the partner's answer");
  if (recv(partner.file, &answer, sizeof answer, MSG_WAITALL) != (ssize_t)sizeof answer)
    FAIL("the partner is gone: it has ended or crashed");
  waiting_for(NULL, 0, NULL);
  return answer;
}

Answer far_do(Order order) {
  far_start(order);
  return far_answer();
}

Answer far_expect(const char* file, int line, VIP_RETURN code, Answer answer) {
  if (answer.code != code)
    fail(file, line, "at the far end: expected %s, came %s", code_name(code), code_name(answer.code));
  return answer;
}

void far_end(void) {
  int status = 0;
  if (!partner.alive) return;
  FAR_EXPECT(VIP_SUCCESS, far_order(ORDER_QUIT, 0));
  partner.alive = false;
  if (partner.process == 0) {
    join_thread(partner.thread);
    return;
  }
  waiting_for(__FILE__, __LINE__, "waits for the end of the partner's process");
  if (waitpid(partner.process, &status, 0) != partner.process || status != 0)
    FAIL("the partner's process ended with the wait status %d", status);
  waiting_for(NULL, 0, NULL);
}

void far_kill(void) {
  if (partner.process == 0) skip("the partner is a thread: it cannot crash alone");
  kill(partner.process, SIGKILL);
  waitpid(partner.process, NULL, 0);
  partner.alive = false;
}

/* ---- Orders ------------------------------------------------------------------------------------------ */

Order far_order(OrderKind kind, unsigned vi) {
  Order order;
  memset(&order, 0, sizeof order);
  order.kind = kind;
  order.vi = vi;
  order.timeout = VIP_INFINITE;
  return order;
}

void far_create_vi(unsigned vi, VIP_RELIABILITY_LEVEL level) {
  Order order = far_order(ORDER_CREATE_VI, vi);
  far_open();
  order.attributes = vi_attributes(&near, level);
  FAR_EXPECT(VIP_SUCCESS, order);
}

static Order message_order(OrderKind kind, unsigned vi, Message wanted) {
  Order order = far_order(kind, vi);
  order.message = wanted;
  return order;
}

void far_post_receive(unsigned vi, Message wanted) {
  FAR_EXPECT(VIP_SUCCESS, message_order(ORDER_POST_RECEIVE, vi, wanted));
}

void far_post_send(unsigned vi, Message wanted) { FAR_EXPECT(VIP_SUCCESS, message_order(ORDER_POST_SEND, vi, wanted)); }

static Answer far_reap(OrderKind kind, unsigned vi, unsigned slot, VIP_UINT32 error_bits) {
  const Answer answer = FAR_EXPECT(completion_code(error_bits), far_order(kind, vi));
  CHECK(answer.slot == slot, "at the far end: expected slot %u, came slot %u", slot, answer.slot);
  CHECK((answer.status & VIP_STATUS_ERROR_MASK) == error_bits,
        "at the far end: expected the error bits %03X, came %08X", error_bits, answer.status);
  return answer;
}

Answer far_reap_send(unsigned vi, unsigned slot, VIP_UINT32 error_bits) {
  return far_reap(ORDER_REAP_SEND, vi, slot, error_bits);
}

Answer far_reap_receive(unsigned vi, unsigned slot, VIP_UINT32 error_bits) {
  return far_reap(ORDER_REAP_RECEIVE, vi, slot, error_bits);
}

void far_fill(size_t offset, VIP_UINT32 length, unsigned seed) {
  Order order = message_order(ORDER_FILL, 0, message(0, offset, length));
  order.seed = seed;
  far_do(order);
}

bool far_matches(size_t offset, VIP_UINT32 length, unsigned seed) {
  Order order = message_order(ORDER_MATCHES, 0, message(0, offset, length));
  order.seed = seed;
  return far_do(order).yes;
}

VIP_VI_STATE far_state(unsigned vi) { return FAR_EXPECT(VIP_SUCCESS, far_order(ORDER_QUERY_VI, vi)).state; }

void far_wait_for_error(unsigned vi, VIP_ERROR_CODE code) {
  Order order = far_order(ORDER_ERROR, vi);
  order.error = code;
  far_do(order);
}

Message rdma_message(VIP_UINT16 operation, unsigned slot, size_t offset, VIP_UINT32 length, size_t far_offset) {
  Message made = message(slot, offset, length);
  made.control = operation;
  made.remote_address = far.memory + far_offset;
  made.remote_handle = far.handle;
  return made;
}
