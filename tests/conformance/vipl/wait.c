/* VI-DG 3.5.2, 3.5.3, 3.5.5, 3.5.6: Done and Wait. */
#include <stdatomic.h>
#include <string.h>

#include "far.h"

static VIP_DESCRIPTOR* const garbage = (VIP_DESCRIPTOR*)(void*)&near;

/* ---- Done -------------------------------------------------------------------------------------------- */

static void done_success(int unused) {
  VIP_VI_HANDLE vi = make_pair(VIP_SERVICE_RELIABLE_DELIVERY);
  VIP_DESCRIPTOR* descriptor = NULL;
  VIP_RETURN code;
  (void)unused;
  far_post_receive(0, message(0, 0, 100));
  post_receive(vi, message(1, 0, 100));
  post_send(vi, message(0, 0, 100));
  while ((code = CALL(VipSendDone, vi, &descriptor)) == VIP_NOT_DONE) continue;
  expect_code(__FILE__, __LINE__, ID_VipSendDone, VIP_SUCCESS, code);
  CHECK(descriptor == slot_at(&near, 0), "VipSendDone did not return the descriptor that was posted");
  far_post_send(0, message(1, 0, 100));
  while ((code = CALL(VipRecvDone, vi, &descriptor)) == VIP_NOT_DONE) continue;
  expect_code(__FILE__, __LINE__, ID_VipRecvDone, VIP_SUCCESS, code);
  CHECK(descriptor == slot_at(&near, 1), "VipRecvDone did not return the descriptor that was posted");
}

static void send_done_empty(int unused) {
  VIP_VI_HANDLE vi = idle_vi();
  VIP_DESCRIPTOR* descriptor = garbage;
  (void)unused;
  EXPECT(VIP_DESCRIPTOR_ERROR, VipSendDone, vi, &descriptor);
  CHECK(descriptor == NULL, "VipSendDone on an empty queue did not set the descriptor pointer to NULL");
}

static void receive_done_empty(int unused) {
  VIP_VI_HANDLE vi = idle_vi();
  VIP_DESCRIPTOR* descriptor = garbage;
  (void)unused;
  EXPECT(VIP_DESCRIPTOR_ERROR, VipRecvDone, vi, &descriptor);
  CHECK(descriptor == NULL, "VipRecvDone on an empty queue did not set the descriptor pointer to NULL");
}

static void send_done_error(int unused) {
  VIP_VI_HANDLE vi = idle_vi();
  VIP_DESCRIPTOR* descriptor = NULL;
  VIP_RETURN result = VIP_NOT_DONE;
  (void)unused;
  post_send(vi, message(0, 0, 64)); /* not connected: in error, without a word to anybody else */
  UNTIL((result = VipSendDone(vi, &descriptor)) != VIP_NOT_DONE);
  CHECK(result == VIP_DESCRIPTOR_ERROR, "VipSendDone returned %d for a descriptor in error", (int)result);
  CHECK(descriptor == slot_at(&near, 0), "VipSendDone did not return the descriptor that failed");
  EXPECT(VIP_DESCRIPTOR_ERROR, VipSendDone, vi, &descriptor);
  CHECK(descriptor == NULL, "the descriptor was returned, and is still on the queue");
}

static void receive_done_error(int unused) {
  VIP_VI_HANDLE vi = idle_vi();
  VIP_DESCRIPTOR* descriptor = NULL;
  (void)unused;
  post_receive(vi, message(0, 0, 64));
  EXPECT(VIP_NOT_DONE, VipRecvDone, vi, &descriptor);
  EXPECT(VIP_SUCCESS, VipDisconnect, vi);
  EXPECT(VIP_DESCRIPTOR_ERROR, VipRecvDone, vi, &descriptor);
  CHECK(descriptor == slot_at(&near, 0), "VipRecvDone did not return the descriptor that was flushed");
}

/* ---- Sends that take a while ------------------------------------------------------------------------- */

/* Long messages on the most reliable level: with luck one is under way when it is asked for. */
static VIP_VI_HANDLE make_slow_pair(void) {
  VIP_VI_ATTRIBUTES attributes;
  VIP_VI_HANDLE vi;
  Order order = far_order(ORDER_CREATE_VI, 0);
  near_open();
  const VIP_RELIABILITY_LEVEL level = supports_level(&near, VIP_SERVICE_RELIABLE_RECEPTION)
                                          ? VIP_SERVICE_RELIABLE_RECEPTION
                                          : VIP_SERVICE_RELIABLE_DELIVERY;
  far_open();
  attributes = vi_attributes(&near, level);
  attributes.MaxTransferSize =
      near.attributes.MaxTransferSize < DATA_BYTES ? near.attributes.MaxTransferSize : DATA_BYTES;
  order.attributes = attributes;
  FAR_EXPECT(VIP_SUCCESS, order);
  EXPECT(VIP_SUCCESS, VipCreateVi, near.nic, &attributes, NULL, NULL, &vi);
  connect_pair(vi, 0);
  return vi;
}

static VIP_UINT32 slow_length(void) {
  return near.attributes.MaxTransferSize < DATA_BYTES ? (VIP_UINT32)near.attributes.MaxTransferSize : DATA_BYTES;
}

static VIP_RETURN look(VIP_VI_HANDLE vi, int with_wait, VIP_DESCRIPTOR** descriptor) {
  return with_wait ? CALL(VipSendWait, vi, 0, descriptor) : CALL(VipSendDone, vi, descriptor);
}

/* VipSendDone says VIP_NOT_DONE then, and VipSendWait VIP_TIMEOUT when it may not wait. */
static void send_under_way(int with_wait) {
  enum { BURST = 8, ROUNDS = 50 };
  VIP_VI_HANDLE vi = make_slow_pair();
  const VIP_RETURN wanted = with_wait ? VIP_TIMEOUT : VIP_NOT_DONE;
  bool seen = false;
  for (int round = 0; round < ROUNDS && !seen; ++round) {
    for (unsigned slot = 0; slot < BURST; ++slot) far_post_receive(0, message(slot, 0, slow_length()));
    for (unsigned slot = 0; slot < BURST; ++slot) post_send(vi, message(slot, 0, slow_length()));
    for (unsigned slot = 0; slot < BURST; ++slot) {
      VIP_DESCRIPTOR* descriptor = garbage;
      VIP_RETURN code;
      while ((code = look(vi, with_wait, &descriptor)) == wanted) seen = true;
      CHECK(code == VIP_SUCCESS && descriptor == slot_at(&near, slot), "expected slot %u, came %s", slot,
            code_name(code));
    }
    for (unsigned slot = 0; slot < BURST; ++slot) far_reap_receive(0, slot, 0);
  }
  if (!seen) skip("every send was complete when it was asked for");
  proven(with_wait ? ID_VipSendWait : ID_VipSendDone, wanted);
}

/* ---- Wait -------------------------------------------------------------------------------------------- */

static void send_wait_empty(int unused) {
  VIP_VI_HANDLE vi = idle_vi();
  VIP_DESCRIPTOR* descriptor = garbage;
  (void)unused;
  EXPECT(VIP_DESCRIPTOR_ERROR, VipSendWait, vi, VIP_INFINITE, &descriptor); /* at once */
  CHECK(descriptor == NULL, "VipSendWait on an empty queue did not set the descriptor pointer to NULL");
}

static void receive_wait_empty(int unused) {
  VIP_VI_HANDLE vi = idle_vi();
  VIP_DESCRIPTOR* descriptor = garbage;
  (void)unused;
  EXPECT(VIP_DESCRIPTOR_ERROR, VipRecvWait, vi, VIP_INFINITE, &descriptor);
  CHECK(descriptor == NULL, "VipRecvWait on an empty queue did not set the descriptor pointer to NULL");
}

static void receive_wait_zero(int unused) {
  VIP_VI_HANDLE vi = idle_vi();
  VIP_DESCRIPTOR* descriptor = NULL;
  (void)unused;
  post_receive(vi, message(0, 0, 64));
  EXPECT(VIP_TIMEOUT, VipRecvWait, vi, 0, &descriptor);
}

static void receive_wait_finite(int unused) {
  VIP_VI_HANDLE vi = idle_vi();
  VIP_DESCRIPTOR* descriptor = NULL;
  (void)unused;
  post_receive(vi, message(0, 0, 64));
  for (VIP_ULONG timeout = 1; timeout < 200; timeout *= 10) {
    const uint64_t start = now_ns();
    EXPECT(VIP_TIMEOUT, VipRecvWait, vi, timeout, &descriptor);
    CHECK(now_ns() - start >= (timeout - 1) * 1000000U, "VipRecvWait returned VIP_TIMEOUT too early");
  }
}

static void wait_success(int unused) {
  VIP_VI_HANDLE vi = make_pair(VIP_SERVICE_RELIABLE_DELIVERY);
  (void)unused;
  far_post_receive(0, message(0, 0, 100));
  post_receive(vi, message(1, 0, 100));
  post_send(vi, message(0, 0, 100));
  reap_send(vi, 0, 0, VIP_STATUS_OP_SEND);
  far_post_send(0, message(1, 0, 100));
  reap_receive(vi, 1, 0, VIP_STATUS_OP_RECEIVE);
}

static atomic_bool receiver_ended;
static void* receive_one(void* vi) {
  reap_receive(vi, 0, 0, VIP_STATUS_OP_RECEIVE);
  receiver_ended = true;
  return NULL;
}

/* Blocked without end, then a message comes. */
static void receive_wait_infinite(int unused) {
  VIP_VI_HANDLE vi = make_pair(VIP_SERVICE_RELIABLE_DELIVERY);
  (void)unused;
  post_receive(vi, message(0, 0, 100));
  pthread_t thread = start_thread(receive_one, vi);
  pause_ms(50);
  CHECK(!receiver_ended, "VipRecvWait returned before a message came");
  far_post_send(0, message(0, 0, 100));
  join_thread(thread);
  proven(ID_VipRecvWait, VIP_SUCCESS);
}

/* Done answers while another thread is blocked in Wait on the same queue. */
static void done_beside_wait(int unused) {
  VIP_VI_HANDLE vi;
  VIP_DESCRIPTOR* descriptor;
  (void)unused;
  near_open();
  if (!near.attributes.ThreadSafe) skip("the library is not thread-safe: no two threads may use one queue");
  vi = make_pair(VIP_SERVICE_RELIABLE_DELIVERY);
  post_receive(vi, message(0, 0, 100));
  pthread_t thread = start_thread(receive_one, vi);
  for (int i = 0; i < 50; ++i) {
    EXPECT(VIP_NOT_DONE, VipRecvDone, vi, &descriptor);
    EXPECT(VIP_DESCRIPTOR_ERROR, VipSendDone, vi, &descriptor);
    pause_ms(1);
  }
  far_post_send(0, message(0, 0, 100));
  join_thread(thread);
}

/* A queue with a completion queue has no Wait of its own; Done works. */
static void wait_with_completion_queue(int receive) {
  VIP_CQ_HANDLE queue;
  VIP_VI_HANDLE vi;
  VIP_VI_HANDLE which;
  VIP_BOOLEAN receive_queue;
  VIP_DESCRIPTOR* descriptor = NULL;
  near_open();
  EXPECT(VIP_SUCCESS, VipCreateCQ, near.nic, 16, &queue);
  vi = create_vi(&near, VIP_SERVICE_RELIABLE_DELIVERY, receive ? NULL : queue, receive ? queue : NULL);
  post_receive(vi, message(0, 0, 64));
  post_send(vi, message(1, 0, 64));
  if (receive) {
    EXPECT(VIP_ERROR_RESOURCE, VipRecvWait, vi, 0, &descriptor);
    EXPECT(VIP_ERROR_RESOURCE, VipRecvWait, vi, VIP_INFINITE, &descriptor);
    EXPECT(VIP_NOT_DONE, VipRecvDone, vi, &descriptor);
    reap_send(vi, 1, VIP_STATUS_DESC_FLUSHED_ERROR, VIP_STATUS_OP_SEND); /* the other queue has none */
  } else {
    EXPECT(VIP_ERROR_RESOURCE, VipSendWait, vi, 0, &descriptor);
    EXPECT(VIP_ERROR_RESOURCE, VipSendWait, vi, VIP_INFINITE, &descriptor);
    EXPECT(VIP_SUCCESS, VipCQWait, queue, VIP_INFINITE, &which, &receive_queue); /* a post may be carried out later */
    EXPECT(VIP_DESCRIPTOR_ERROR, VipSendDone, vi, &descriptor);
    EXPECT(VIP_TIMEOUT, VipRecvWait, vi, 0, &descriptor);
  }
}

#define ERROR PROVES(VIP_DESCRIPTOR_ERROR)

const Test wait_tests[] = {TEST(VipSendDone, "success", PROVES(VIP_SUCCESS), done_success),
                           TEST(VipRecvDone, "success", PROVES(VIP_SUCCESS), done_success),
                           TEST(VipSendDone, "empty_queue", ERROR, send_done_empty),
                           TEST(VipRecvDone, "empty_queue", ERROR, receive_done_empty),
                           TEST(VipSendDone, "descriptor_in_error", ERROR, send_done_error),
                           TEST(VipRecvDone, "descriptor_in_error", ERROR | PROVES(VIP_NOT_DONE), receive_done_error),
                           TEST(VipSendDone, "under_way", PROVES(VIP_NOT_DONE), send_under_way),
                           TEST_OF(VipSendWait, "under_way", PROVES(VIP_TIMEOUT), send_under_way, 1),
                           TEST(VipSendWait, "success", PROVES(VIP_SUCCESS), wait_success),
                           TEST(VipRecvWait, "success", PROVES(VIP_SUCCESS), wait_success),
                           TEST(VipSendWait, "empty_queue", ERROR, send_wait_empty),
                           TEST(VipRecvWait, "empty_queue", ERROR, receive_wait_empty),
                           TEST(VipRecvWait, "timeout_zero", PROVES(VIP_TIMEOUT), receive_wait_zero),
                           TEST(VipRecvWait, "timeout", PROVES(VIP_TIMEOUT), receive_wait_finite),
                           TEST(VipRecvWait, "infinite", PROVES(VIP_SUCCESS), receive_wait_infinite),
                           TEST(VipRecvDone, "does_not_block_behind_wait", PROVES(VIP_NOT_DONE), done_beside_wait),
                           {"VipSendWait.with_completion_queue", ID_VipSendWait, "VI-DG 3.5.3", FUNCTIONAL,
                            PROVES(VIP_ERROR_RESOURCE), wait_with_completion_queue, 0},
                           {"VipRecvWait.with_completion_queue", ID_VipRecvWait, "VI-DG 3.5.6", FUNCTIONAL,
                            PROVES(VIP_ERROR_RESOURCE), wait_with_completion_queue, 1},
                           {NULL, 0, NULL, 0, 0, NULL, 0}};
