/* VI-DG 3.8.1, 4.4, 6.3.1: asynchronous errors. Those of the data of an incoming message
 * (VIP_ERROR_RDMAW_DATA, _ABORT, _RDMA_TRANSPORT) and of hardware (VIP_ERROR_CATASTROPHIC) no portable
 * program can provoke; refused RDMA is in rdma_write.c and rdma_read.c, lost connections are in disconnect.c.
 */
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "far.h"

/* ---- Post Descriptor Error --------------------------------------------------------------------------- */

/* The post itself succeeds (3.5.1 knows nothing else); the connection breaks at every level (6.3.1). */
static void expect_post_error(VIP_VI_HANDLE vi, bool receive, VIP_DESCRIPTOR* descriptor, VIP_MEM_HANDLE handle) {
  VIP_DESCRIPTOR* done = NULL;
  if (receive)
    EXPECT(VIP_SUCCESS, VipPostRecv, vi, descriptor, handle);
  else
    EXPECT(VIP_SUCCESS, VipPostSend, vi, descriptor, handle);
  const VIP_ERROR_DESCRIPTOR error = wait_for_error(&near, vi, VIP_ERROR_POST_DESC);
  CHECK(error.NicHandle == near.nic && error.ViHandle == vi, "the error is about another NIC or VI");
  UNTIL(vi_state(vi) == VIP_STATE_ERROR);
  EXPECT(VIP_SUCCESS, VipDisconnect, vi);
  if (receive)
    EXPECT(VIP_DESCRIPTOR_ERROR, VipRecvDone, vi, &done);
  else
    EXPECT(VIP_DESCRIPTOR_ERROR, VipSendDone, vi, &done);
}

static VIP_DESCRIPTOR* good_descriptor(void) {
  Message wanted = message(0, 0, 64);
  return describe(&near, &wanted);
}

static void misaligned(int receive) {
  VIP_VI_HANDLE vi = make_pair(VIP_SERVICE_RELIABLE_DELIVERY);
  unsigned char* bytes = (unsigned char*)good_descriptor();
  memmove(bytes + 32, bytes, 64);
  expect_post_error(vi, receive != 0, (VIP_DESCRIPTOR*)(void*)(bytes + 32), near.handle);
}

static void wrong_handle(int receive) {
  VIP_VI_HANDLE vi = make_pair(VIP_SERVICE_RELIABLE_DELIVERY);
  expect_post_error(vi, receive != 0, good_descriptor(), near.handle ^ 0x5A5A5A5A);
}

static void not_registered(int receive) {
  static unsigned char others[3 * 65536] __attribute__((aligned(VIP_DESCRIPTOR_ALIGNMENT)));
  VIP_VI_HANDLE vi = make_pair(VIP_SERVICE_RELIABLE_DELIVERY);
  expect_post_error(vi, receive != 0, (VIP_DESCRIPTOR*)(void*)(others + 65536), near.handle);
}

/* 3.8.1: "the virtual address [...] of the Descriptor was not valid when the Descriptor was posted". */
static void null_descriptor(int receive) {
  VIP_VI_HANDLE vi = make_pair(VIP_SERVICE_RELIABLE_DELIVERY);
  expect_post_error(vi, receive != 0, NULL, near.handle);
}

static void at_unreliable_level(int unused) {
  (void)unused;
  VIP_VI_HANDLE vi = make_pair(VIP_SERVICE_UNRELIABLE);
  expect_post_error(vi, false, good_descriptor(), near.handle ^ 0x5A5A5A5A);
}

/* 6.3.1 leaves out no state, and the attempt to connect reports the error (VI-ARCH 5.1): the receives of an Idle VI are
 * flushed, and it connects after VipDisconnect. In Idle nobody waits for the request, which is no matter of state. */
static void in_idle(int level) {
  VIP_VI_ATTRIBUTES attributes;
  VIP_DESCRIPTOR *posted, *done = NULL;
  near_open();
  VIP_VI_HANDLE vi = create_vi(&near, (VIP_RELIABILITY_LEVEL)level, NULL, NULL);
  Address local = fresh_address(&near.attributes), remote = fresh_address(&near.attributes);
  posted = good_descriptor();
  EXPECT(VIP_SUCCESS, VipPostRecv, vi, posted, near.handle);
  EXPECT(VIP_SUCCESS, VipPostRecv, vi, posted, near.handle ^ 0x5A5A5A5A);
  wait_for_error(&near, vi, VIP_ERROR_POST_DESC);
  UNTIL(vi_state(vi) == VIP_STATE_ERROR);
  EXPECT(VIP_DESCRIPTOR_ERROR, VipRecvDone, vi, &done);
  CHECK(done == posted, "the receive that was posted before was not flushed");
  EXPECT(VIP_INVALID_STATE, VipConnectRequest, vi, &local.net, &remote.net, VIP_INFINITE, &attributes);
  EXPECT(VIP_SUCCESS, VipDisconnect, vi);
  EXPECT(VIP_NO_MATCH, VipConnectRequest, vi, &local.net, &remote.net, VIP_INFINITE, &attributes);
}

/* ---- Others ------------------------------------------------------------------------------------------ */

/* More descriptors than a queue holds. */
static void overrun(int unused) {
  VIP_MEM_ATTRIBUTES attributes;
  VIP_MEM_HANDLE handle;
  void* memory = NULL;
  (void)unused;
  VIP_VI_HANDLE vi = make_pair(VIP_SERVICE_RELIABLE_DELIVERY);
  const VIP_ULONG count = near.attributes.MaxDescriptorsPerQueue + 1;
  if (count > 200000) skip("a queue holds %lu descriptors", near.attributes.MaxDescriptorsPerQueue);
  memory = aligned_alloc(4096, (count * 64 + 4095) / 4096 * 4096);
  if (memory == NULL) skip("there is no memory for %lu descriptors", count);
  memset(memory, 0, count * 64);
  attributes = memory_attributes(&near);
  EXPECT(VIP_SUCCESS, VipRegisterMem, near.nic, memory, count * 64, &attributes, &handle);
  for (VIP_ULONG i = 0; i < count; ++i) {
    CHECK(i + 1 < count || count_errors(&near, vi, VIP_ERROR_VI_OVERRUN) == 0, "a queue holds less than it claims");
    EXPECT(VIP_SUCCESS, VipPostRecv, vi, (VIP_DESCRIPTOR*)(void*)((unsigned char*)memory + i * 64), handle);
  }
  const VIP_ERROR_DESCRIPTOR error = wait_for_error(&near, vi, VIP_ERROR_VI_OVERRUN);
  CHECK(error.NicHandle == near.nic && error.ViHandle == vi, "the error is about another NIC or VI");
  UNTIL(vi_state(vi) == VIP_STATE_ERROR);
}

/* An error that a descriptor tells ends the connection; the handlers of both ends hear that, once (VI-ARCH 7.2, 7.3).
   */
static void lost_at_both_ends(int level) {
  VIP_VI_HANDLE vi = make_pair(level);
  Order order = far_order(ORDER_ERROR_COUNT, 0);
  far_post_receive(0, message(0, 0, 99));
  post_send(vi, message(0, 0, 100));
  wait_for_error(&near, vi, VIP_ERROR_CONN_LOST);
  far_wait_for_error(0, VIP_ERROR_CONN_LOST);
  pause_ms(50);
  CHECK(count_errors(&near, vi, VIP_ERROR_CONN_LOST) == 1,
        "the loss of one connection was told %zu times to the sender", count_errors(&near, vi, VIP_ERROR_CONN_LOST));
  order.error = VIP_ERROR_CONN_LOST;
  CHECK(far_do(order).count == 1, "the loss of one connection was told more than once to the receiver");
}

/* The memory of a posted descriptor is gone when it is used (VI-ARCH 3.2.1). */
static void descriptor_memory_gone(int unused) {
  static unsigned char bytes[4096] __attribute__((aligned(4096)));
  VIP_MEM_ATTRIBUTES attributes;
  VIP_MEM_HANDLE handle;
  (void)unused;
  VIP_VI_HANDLE vi = make_pair(VIP_SERVICE_RELIABLE_DELIVERY);
  attributes = memory_attributes(&near);
  EXPECT(VIP_SUCCESS, VipRegisterMem, near.nic, bytes, sizeof bytes, &attributes, &handle);
  memcpy(bytes, good_descriptor(), 64);
  EXPECT(VIP_SUCCESS, VipPostRecv, vi, (VIP_DESCRIPTOR*)(void*)bytes, handle);
  EXPECT(VIP_SUCCESS, VipDeregisterMem, near.nic, bytes, handle);
  memset(bytes, 0x55, sizeof bytes);
  far_post_send(0, message(0, 0, 64));
  waiting_for(__FILE__, __LINE__, "waits for a Completion Protection or Post Descriptor Error");
  while (count_errors(&near, vi, VIP_ERROR_COMP_PROT) + count_errors(&near, vi, VIP_ERROR_POST_DESC) == 0) pause_ms(1);
  waiting_for(NULL, 0, NULL);
  for (size_t i = 0; i < sizeof bytes; ++i) CHECK(bytes[i] == 0x55, "memory that was deregistered was written");
  UNTIL(vi_state(vi) == VIP_STATE_ERROR);
}

/* ---- Handlers ---------------------------------------------------------------------------------------- */

static _Atomic unsigned first_calls, second_calls;
static _Atomic(void*) last_context;
static void first_handler(VIP_PVOID context, VIP_ERROR_DESCRIPTOR* error) {
  (void)error;
  last_context = context;
  ++first_calls;
}
static void second_handler(VIP_PVOID context, VIP_ERROR_DESCRIPTOR* error) {
  (void)error;
  last_context = context;
  ++second_calls;
}

/* Any error at all. */
static void provoke(void) {
  VIP_VI_HANDLE vi = create_vi(&near, VIP_SERVICE_RELIABLE_DELIVERY, NULL, NULL);
  connect_pair(vi, 0);
  FAR_EXPECT(VIP_SUCCESS, far_order(ORDER_DISCONNECT, 0));
  UNTIL(vi_state(vi) == VIP_STATE_ERROR);
}

/* The handler that was set last is called, with its context. */
static void handler_replaced(int unused) {
  int one, other;
  (void)unused;
  far_create_vi(0, VIP_SERVICE_RELIABLE_DELIVERY);
  EXPECT(VIP_SUCCESS, VipErrorCallback, near.nic, &one, first_handler);
  provoke();
  UNTIL(first_calls == 1);
  CHECK(last_context == &one, "the handler was given another context");
  EXPECT(VIP_SUCCESS, VipErrorCallback, near.nic, &other, second_handler);
  provoke();
  UNTIL(second_calls == 1);
  CHECK(last_context == &other, "the handler was given another context");
  CHECK(first_calls == 1, "the handler that was replaced was called again");
}

/* NULL restores the default handler, which logs. */
static void default_restored(int unused) {
  (void)unused;
  far_create_vi(0, VIP_SERVICE_RELIABLE_DELIVERY);
  EXPECT(VIP_SUCCESS, VipErrorCallback, near.nic, NULL, first_handler);
  EXPECT(VIP_SUCCESS, VipErrorCallback, near.nic, NULL, NULL);
  provoke();
  EXPECT(VIP_SUCCESS, VipErrorCallback, near.nic, NULL, second_handler);
  provoke();
  UNTIL(second_calls >= 1); /* the first error may still have been on its way to a handler */
  CHECK(first_calls == 0, "the handler that was removed was called");
}

static _Atomic int handled_state = -1;
static void resetting_handler(VIP_PVOID context, VIP_ERROR_DESCRIPTOR* error) {
  (void)context;
  EXPECT(VIP_SUCCESS, VipDisconnect, error->ViHandle);
  handled_state = (int)vi_state(error->ViHandle);
}

/* A handler may call the library: here it brings its VI back to Idle. */
static void handler_calls_back(int unused) {
  (void)unused;
  VIP_VI_HANDLE vi = make_pair(VIP_SERVICE_RELIABLE_DELIVERY);
  EXPECT(VIP_SUCCESS, VipErrorCallback, near.nic, NULL, resetting_handler);
  FAR_EXPECT(VIP_SUCCESS, far_order(ORDER_DISCONNECT, 0));
  UNTIL(handled_state >= 0);
  CHECK(handled_state == VIP_STATE_IDLE && vi_state(vi) == VIP_STATE_IDLE, "VipDisconnect in a handler left state %d",
        (int)handled_state);
}

#define E(name, clause, phase, codes, run, argument) \
  { "error." name, ID_VipErrorCallback, "VI-DG " clause, phase, codes, run, argument }

const Test error_tests[] = {
    E("post_descriptor.misaligned_send", "3.8.1", FUNCTIONAL, RULE, misaligned, 0),
    E("post_descriptor.misaligned_receive", "3.8.1", FUNCTIONAL, RULE, misaligned, 1),
    E("post_descriptor.send_with_wrong_handle", "3.8.1", FUNCTIONAL, RULE, wrong_handle, 0),
    E("post_descriptor.receive_with_wrong_handle", "3.8.1", FUNCTIONAL, RULE, wrong_handle, 1),
    E("post_descriptor.send_not_registered", "3.8.1", FUNCTIONAL, RULE, not_registered, 0),
    E("post_descriptor.receive_not_registered", "3.8.1", FUNCTIONAL, RULE, not_registered, 1),
    E("post_descriptor.null_send", "3.8.1", PRACTICE, RULE, null_descriptor, 0),
    E("post_descriptor.null_receive", "3.8.1", PRACTICE, RULE, null_descriptor, 1),
    E("post_descriptor.unreliable_delivery", "6.3.1", FULL, RULE, at_unreliable_level, 0),
    E("post_descriptor.in_idle.unreliable_delivery", "6.3.1", FULL, RULE, in_idle, VIP_SERVICE_UNRELIABLE),
    E("post_descriptor.in_idle.reliable_delivery", "6.3.1", FULL, RULE, in_idle, VIP_SERVICE_RELIABLE_DELIVERY),
    E("both_ends.reliable_delivery", "6.2", FULL, RULE, lost_at_both_ends, VIP_SERVICE_RELIABLE_DELIVERY),
    E("both_ends.reliable_reception", "6.2", FULL, RULE, lost_at_both_ends, VIP_SERVICE_RELIABLE_RECEPTION),
    E("vi_overrun", "3.8.1", FUNCTIONAL, RULE, overrun, 0),
    E("descriptor_memory_gone", "3.8.1", FUNCTIONAL, RULE, descriptor_memory_gone, 0),
    E("handler_replaced", "3.8.1", FUNCTIONAL, PROVES(VIP_SUCCESS), handler_replaced, 0),
    E("default_restored", "3.8.1", FUNCTIONAL, PROVES(VIP_SUCCESS), default_restored, 0),
    E("handler_calls_back", "3.8.1", FUNCTIONAL, PROVES(VIP_SUCCESS), handler_calls_back, 0),
    {NULL, 0, NULL, 0, 0, NULL, 0}};
