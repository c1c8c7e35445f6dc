/* VI-DG 3.5.9 to 3.5.12, 6.4: handlers of completions. */
#include <stdatomic.h>
#include <string.h>

#include "far.h"

/* What a handler was called with, in order. */
enum { MAX_CALLS = 64 };
typedef struct {
  VIP_PVOID context;
  VIP_NIC_HANDLE nic;
  VIP_VI_HANDLE vi;
  VIP_DESCRIPTOR* descriptor;
  VIP_BOOLEAN receive_queue;
  pthread_t thread;
} HandlerCall;
static HandlerCall calls[MAX_CALLS];
static _Atomic unsigned call_count;

static void record(HandlerCall call) {
  const unsigned index = call_count;
  call.thread = pthread_self();
  if (index < MAX_CALLS) calls[index] = call;
  call_count = index + 1;
}

static void on_work(VIP_PVOID context, VIP_NIC_HANDLE nic, VIP_VI_HANDLE vi, VIP_DESCRIPTOR* descriptor) {
  record((HandlerCall){.context = context, .nic = nic, .vi = vi, .descriptor = descriptor});
}

static void on_entry(VIP_PVOID context, VIP_NIC_HANDLE nic, VIP_VI_HANDLE vi, VIP_BOOLEAN receive_queue) {
  record((HandlerCall){.context = context, .nic = nic, .vi = vi, .receive_queue = receive_queue});
}

static void expect_call(unsigned index, VIP_PVOID context, VIP_VI_HANDLE vi, VIP_DESCRIPTOR* descriptor) {
  UNTIL(call_count > index);
  CHECK(calls[index].context == context, "handler call %u: it was given another context", index);
  CHECK(calls[index].nic == near.nic && calls[index].vi == vi, "handler call %u: another NIC or VI handle", index);
  CHECK(calls[index].descriptor == descriptor, "handler call %u: expected slot %u, came slot %u (%u: none)", index,
        slot_of(&near, descriptor), slot_of(&near, calls[index].descriptor), (unsigned)SLOTS);
}

/* ---- Work queues ------------------------------------------------------------------------------------- */

/* The descriptor has completed before: its handler is called, and it is off the queue. */
static void completed_before(int receive) {
  VIP_VI_HANDLE vi = idle_vi();
  VIP_DESCRIPTOR* descriptor = NULL;
  int context;
  if (receive) {
    post_receive(vi, message(0, 0, 64));
    EXPECT(VIP_SUCCESS, VipDisconnect, vi);
    EXPECT(VIP_SUCCESS, VipRecvNotify, vi, &context, on_work);
  } else {
    post_send(vi, message(0, 0, 64));
    EXPECT(VIP_SUCCESS, VipSendNotify, vi, &context, on_work);
  }
  expect_call(0, &context, vi, slot_at(&near, 0));
  check_status(slot_at(&near, 0), VIP_STATUS_DESC_FLUSHED_ERROR, receive ? VIP_STATUS_OP_RECEIVE : VIP_STATUS_OP_SEND);
  if (receive)
    EXPECT(VIP_DESCRIPTOR_ERROR, VipRecvDone, vi, &descriptor);
  else
    EXPECT(VIP_DESCRIPTOR_ERROR, VipSendDone, vi, &descriptor);
  CHECK(descriptor == NULL, "the handler was called, and the descriptor is still on its queue");
}

/* It completes later; the handler runs in another thread. */
static void completes_later(int unused) {
  VIP_VI_HANDLE vi = make_pair(VIP_SERVICE_RELIABLE_DELIVERY);
  int context;
  (void)unused;
  post_receive(vi, message(0, 0, 100));
  EXPECT(VIP_SUCCESS, VipRecvNotify, vi, &context, on_work);
  pause_ms(30);
  CHECK(call_count == 0, "the handler was called before a message came");
  far_post_send(0, message(0, 0, 100));
  expect_call(0, &context, vi, slot_at(&near, 0));
  check_status(slot_at(&near, 0), 0, VIP_STATUS_OP_RECEIVE);
  CHECK(!pthread_equal(calls[0].thread, pthread_self()), "the handler ran in the caller's thread");
}

static void send_completes(int unused) {
  VIP_VI_HANDLE vi = make_pair(VIP_SERVICE_RELIABLE_DELIVERY);
  int context;
  (void)unused;
  far_post_receive(0, message(0, 0, 100));
  post_send(vi, message(0, 0, 100));
  EXPECT(VIP_SUCCESS, VipSendNotify, vi, &context, on_work);
  expect_call(0, &context, vi, slot_at(&near, 0));
  check_status(slot_at(&near, 0), 0, VIP_STATUS_OP_SEND);
}

/* Several handlers wait: each gets one descriptor, in order, on one thread. */
static void several(int unused) {
  enum { COUNT = 10 };
  VIP_VI_HANDLE vi = make_pair(VIP_SERVICE_RELIABLE_DELIVERY);
  static int contexts[COUNT];
  (void)unused;
  for (unsigned slot = 0; slot < COUNT; ++slot) {
    post_receive(vi, message(slot, 0, 100));
    EXPECT(VIP_SUCCESS, VipRecvNotify, vi, &contexts[slot], on_work);
  }
  for (unsigned slot = 0; slot < COUNT; ++slot) far_post_send(0, message(slot, 0, 100));
  for (unsigned slot = 0; slot < COUNT; ++slot) {
    expect_call(slot, &contexts[slot], vi, slot_at(&near, slot));
    CHECK(pthread_equal(calls[slot].thread, calls[0].thread), "the handlers of one queue ran in different threads");
  }
}

/* One call for one registration: the next descriptor stays on its queue. */
static void one_call_each(int unused) {
  VIP_VI_HANDLE vi = make_pair(VIP_SERVICE_RELIABLE_DELIVERY);
  (void)unused;
  post_receive(vi, message(0, 0, 100));
  post_receive(vi, message(1, 0, 100));
  EXPECT(VIP_SUCCESS, VipRecvNotify, vi, NULL, on_work);
  far_post_send(0, message(0, 0, 100));
  expect_call(0, NULL, vi, slot_at(&near, 0));
  far_post_send(0, message(1, 0, 100));
  reap_receive(vi, 1, 0, VIP_STATUS_OP_RECEIVE);
  CHECK(call_count == 1, "one registration, and the handler was called %u times", (unsigned)call_count);
}

static void receive_empty(int unused) {
  VIP_VI_HANDLE vi = idle_vi();
  (void)unused;
  EXPECT(VIP_DESCRIPTOR_ERROR, VipRecvNotify, vi, NULL, on_work);
  pause_ms(30);
  CHECK(call_count == 0, "the handler of a refused registration was called");
}

static void send_empty(int unused) {
  VIP_VI_HANDLE vi = idle_vi();
  (void)unused;
  EXPECT(VIP_DESCRIPTOR_ERROR, VipSendNotify, vi, NULL, on_work);
}

/* More handlers than descriptors: those left are called with NULL when the queue is empty. */
static void becomes_empty(int receive) {
  VIP_VI_HANDLE vi = make_pair(VIP_SERVICE_RELIABLE_DELIVERY);
  static int contexts[3];
  if (receive) {
    post_receive(vi, message(0, 0, 100));
    for (int i = 0; i < 3; ++i) EXPECT(VIP_SUCCESS, VipRecvNotify, vi, &contexts[i], on_work);
    far_post_send(0, message(0, 0, 100));
  } else {
    /* A send may complete before the next registration, which then finds an empty queue. */
    far_post_receive(0, message(0, 0, 100));
    post_send(vi, message(0, 0, 100));
    for (int i = 0; i < 3; ++i) {
      const VIP_RETURN code = CALL(VipSendNotify, vi, &contexts[i], on_work);
      if (i > 0 && code == VIP_DESCRIPTOR_ERROR) return;
      expect_code(__FILE__, __LINE__, ID_VipSendNotify, VIP_SUCCESS, code);
    }
  }
  expect_call(0, &contexts[0], vi, slot_at(&near, 0));
  expect_call(1, &contexts[1], vi, NULL);
  expect_call(2, &contexts[2], vi, NULL);
}

static void with_completion_queue(int receive) {
  VIP_CQ_HANDLE queue;
  near_open();
  EXPECT(VIP_SUCCESS, VipCreateCQ, near.nic, 16, &queue);
  VIP_VI_HANDLE vi = create_vi(&near, VIP_SERVICE_RELIABLE_DELIVERY, queue, queue);
  post_receive(vi, message(0, 0, 64));
  post_send(vi, message(1, 0, 64));
  if (receive)
    EXPECT(VIP_ERROR_RESOURCE, VipRecvNotify, vi, NULL, on_work);
  else
    EXPECT(VIP_ERROR_RESOURCE, VipSendNotify, vi, NULL, on_work);
}

/* Flushed descriptors are completions, too. */
static void flushed(int unused) {
  VIP_VI_HANDLE vi = idle_vi();
  (void)unused;
  for (unsigned slot = 0; slot < 4; ++slot) {
    post_receive(vi, message(slot, 0, 64));
    EXPECT(VIP_SUCCESS, VipRecvNotify, vi, NULL, on_work);
  }
  EXPECT(VIP_SUCCESS, VipDisconnect, vi);
  for (unsigned slot = 0; slot < 4; ++slot) {
    expect_call(slot, NULL, vi, slot_at(&near, slot));
    check_status(slot_at(&near, slot), VIP_STATUS_DESC_FLUSHED_ERROR, VIP_STATUS_OP_RECEIVE);
  }
}

static VIP_MEM_HANDLE handler_memory;
/* Posts the descriptor again and asks for the next one, as an event-driven server does; not when it is
 * flushed by the end of the test. */
static void post_again(VIP_PVOID context, VIP_NIC_HANDLE nic, VIP_VI_HANDLE vi, VIP_DESCRIPTOR* descriptor) {
  if (descriptor == NULL || (descriptor->CS.Status & VIP_STATUS_ERROR_MASK) != 0) return;
  EXPECT(VIP_SUCCESS, VipPostRecv, vi, descriptor, handler_memory);
  EXPECT(VIP_SUCCESS, VipRecvNotify, vi, context, post_again);
  on_work(context, nic, vi, descriptor);
}

static void handler_calls_back(int unused) {
  VIP_VI_HANDLE vi = make_pair(VIP_SERVICE_RELIABLE_DELIVERY);
  (void)unused;
  handler_memory = near.handle;
  post_receive(vi, message(0, 0, 100));
  EXPECT(VIP_SUCCESS, VipRecvNotify, vi, NULL, post_again);
  for (unsigned i = 0; i < 30; ++i) {
    far_post_send(0, message(i, 0, 100));
    UNTIL(call_count == i + 1);
  }
}

static void destroy_in_handler(VIP_PVOID context, VIP_NIC_HANDLE nic, VIP_VI_HANDLE vi, VIP_DESCRIPTOR* descriptor) {
  EXPECT(VIP_SUCCESS, VipDisconnect, vi);
  EXPECT(VIP_SUCCESS, VipDestroyVi, vi);
  on_work(context, nic, vi, descriptor);
}

/* A handler may destroy its own VI. */
static void handler_destroys_vi(int unused) {
  VIP_VI_HANDLE vi = make_pair(VIP_SERVICE_RELIABLE_DELIVERY);
  VIP_VI_STATE state;
  VIP_VI_ATTRIBUTES attributes;
  VIP_BOOLEAN empty;
  (void)unused;
  post_receive(vi, message(0, 0, 100));
  EXPECT(VIP_SUCCESS, VipRecvNotify, vi, NULL, destroy_in_handler);
  far_post_send(0, message(0, 0, 100));
  UNTIL(call_count == 1);
  EXPECT(VIP_INVALID_PARAMETER, VipQueryVi, vi, &state, &attributes, &empty, &empty);
}

/* ---- Completion queues ------------------------------------------------------------------------------- */

static void expect_entry_call(unsigned index, VIP_PVOID context, VIP_VI_HANDLE vi, bool receive) {
  expect_call(index, context, vi, NULL);
  CHECK((calls[index].receive_queue != VIP_FALSE) == receive, "handler call %u is about the other queue", index);
}

/* The entry is there: it is taken, and the descriptor is still to be. */
static void entry_before(int unused) {
  VIP_CQ_HANDLE queue = make_queue(16);
  VIP_VI_HANDLE vi = create_vi(&near, VIP_SERVICE_RELIABLE_DELIVERY, queue, queue), which;
  VIP_DESCRIPTOR* descriptor = NULL;
  VIP_BOOLEAN receive_queue;
  int context;
  (void)unused;
  post_send(vi, message(0, 0, 64));
  EXPECT(VIP_SUCCESS, VipCQNotify, queue, &context, on_entry);
  expect_entry_call(0, &context, vi, false);
  EXPECT(VIP_NOT_DONE, VipCQDone, queue, &which, &receive_queue);
  EXPECT(VIP_DESCRIPTOR_ERROR, VipSendDone, vi, &descriptor);
  CHECK(descriptor == slot_at(&near, 0), "VipCQNotify took the descriptor off its queue");
}

static void entries_later(int unused) {
  enum { COUNT = 8 };
  VIP_CQ_HANDLE queue = make_queue(16);
  VIP_VI_HANDLE vi = make_pair_with_queues(VIP_SERVICE_RELIABLE_DELIVERY, queue, queue);
  static int contexts[COUNT];
  (void)unused;
  for (unsigned slot = 0; slot < COUNT; ++slot) {
    post_receive(vi, message(slot, 0, 100));
    EXPECT(VIP_SUCCESS, VipCQNotify, queue, &contexts[slot], on_entry);
  }
  pause_ms(30);
  CHECK(call_count == 0, "a handler was called before a message came");
  for (unsigned slot = 0; slot < COUNT; ++slot) far_post_send(0, message(slot, 0, 100));
  for (unsigned slot = 0; slot < COUNT; ++slot) {
    VIP_DESCRIPTOR* descriptor = NULL;
    expect_entry_call(slot, &contexts[slot], vi, true);
    EXPECT(VIP_SUCCESS, VipRecvDone, vi, &descriptor);
    CHECK(descriptor == slot_at(&near, slot), "descriptors and entries come in different orders");
    CHECK(pthread_equal(calls[slot].thread, calls[0].thread), "the handlers of one queue ran in different threads");
  }
}

/* Destroying the queue cancels what waits. */
static void queue_destroyed(int unused) {
  VIP_CQ_HANDLE queue = make_queue(16);
  (void)unused;
  EXPECT(VIP_SUCCESS, VipCQNotify, queue, NULL, on_entry);
  EXPECT(VIP_SUCCESS, VipDestroyCQ, queue);
  pause_ms(30);
  CHECK(call_count == 0, "a handler of a destroyed completion queue was called");
}

const Test notify_tests[] = {
    TEST(VipSendNotify, "completed_before", OK, completed_before),
    TEST_OF(VipRecvNotify, "completed_before", OK, completed_before, 1),
    TEST(VipSendNotify, "completes", OK, send_completes),
    TEST(VipRecvNotify, "completes_later", OK, completes_later),
    TEST_BY("VI-DG 3.5.12", FULL, VipRecvNotify, "several", OK, several, 0),
    TEST(VipRecvNotify, "one_call_each", OK, one_call_each),
    TEST(VipSendNotify, "empty_queue", PROVES(VIP_DESCRIPTOR_ERROR), send_empty),
    TEST(VipRecvNotify, "empty_queue", PROVES(VIP_DESCRIPTOR_ERROR), receive_empty),
    TEST(VipSendNotify, "becomes_empty", OK, becomes_empty),
    TEST_OF(VipRecvNotify, "becomes_empty", OK, becomes_empty, 1),
    TEST(VipSendNotify, "with_completion_queue", PROVES(VIP_ERROR_RESOURCE), with_completion_queue),
    TEST_OF(VipRecvNotify, "with_completion_queue", PROVES(VIP_ERROR_RESOURCE), with_completion_queue, 1),
    TEST(VipRecvNotify, "flushed", OK, flushed),
    TEST_BY("VI-DG 6.4", FULL, VipRecvNotify, "handler_calls_back", OK, handler_calls_back, 0),
    TEST_BY("VI-DG 3.5.10", PRACTICE, VipRecvNotify, "handler_destroys_vi", OK, handler_destroys_vi, 0),
    TEST(VipCQNotify, "entry_before", OK, entry_before),
    TEST(VipCQNotify, "entries_later", OK, entries_later),
    TEST(VipCQNotify, "queue_destroyed", OK, queue_destroyed),
    {NULL, 0, NULL, 0, 0, NULL, 0}};
