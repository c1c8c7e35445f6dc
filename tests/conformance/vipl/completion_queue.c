/* VI-DG 3.5.7, 3.5.8, VI-ARCH 2.4, 6.4: what completion queues tell. */
#include <stdatomic.h>
#include <string.h>

#include "far.h"

/* Waits for the next entry, which must be this one. */
static void expect_entry(VIP_CQ_HANDLE queue, VIP_VI_HANDLE vi, bool receive) {
  VIP_VI_HANDLE which = NULL;
  VIP_BOOLEAN receive_queue = VIP_FALSE;
  EXPECT(VIP_SUCCESS, VipCQWait, queue, VIP_INFINITE, &which, &receive_queue);
  CHECK(which == vi, "the entry is about another VI");
  CHECK((receive_queue != VIP_FALSE) == receive, "the entry is about the %s queue", receive ? "send" : "receive");
}

static void expect_empty(VIP_CQ_HANDLE queue) {
  VIP_VI_HANDLE vi;
  VIP_BOOLEAN receive_queue;
  EXPECT(VIP_NOT_DONE, VipCQDone, queue, &vi, &receive_queue);
}

/* VI-DG 3.5.2, 3.5.5. */
static VIP_RETURN code_of(const VIP_DESCRIPTOR* descriptor) {
  return (descriptor->CS.Status & VIP_STATUS_ERROR_MASK) == 0 ? VIP_SUCCESS : VIP_DESCRIPTOR_ERROR;
}

static void take_send(VIP_VI_HANDLE vi, unsigned slot) {
  VIP_DESCRIPTOR* descriptor = NULL;
  const VIP_RETURN code = CALL(VipSendDone, vi, &descriptor);
  CHECK(descriptor == slot_at(&near, slot), "after its entry came, VipSendDone returned another descriptor, %s",
        code_name(code));
  CHECK(code == code_of(descriptor), "VipSendDone returned %s, which the status does not say", code_name(code));
}

static void take_receive(VIP_VI_HANDLE vi, unsigned slot) {
  VIP_DESCRIPTOR* descriptor = NULL;
  const VIP_RETURN code = CALL(VipRecvDone, vi, &descriptor);
  CHECK(descriptor == slot_at(&near, slot), "after its entry came, VipRecvDone returned another descriptor, %s",
        code_name(code));
  CHECK(code == code_of(descriptor), "VipRecvDone returned %s, which the status does not say", code_name(code));
}

/* Polled: nothing, then the entry, then nothing; the descriptor stays on its queue until it is taken there.
 */
static void done(int unused) {
  VIP_CQ_HANDLE queue = make_queue(16);
  VIP_VI_HANDLE vi = make_pair_with_queues(VIP_SERVICE_RELIABLE_DELIVERY, queue, queue), which = NULL;
  VIP_BOOLEAN receive_queue = VIP_TRUE;
  VIP_RETURN code;
  (void)unused;
  expect_empty(queue);
  far_post_receive(0, message(0, 0, 100));
  post_send(vi, message(0, 0, 100));
  while ((code = CALL(VipCQDone, queue, &which, &receive_queue)) == VIP_NOT_DONE) continue;
  expect_code(__FILE__, __LINE__, ID_VipCQDone, VIP_SUCCESS, code);
  CHECK(which == vi && !receive_queue, "the entry is not about the send queue of the VI");
  expect_empty(queue);
  take_send(vi, 0);
}

static void wait_success(int unused) {
  VIP_CQ_HANDLE queue = make_queue(16);
  VIP_VI_HANDLE vi = make_pair_with_queues(VIP_SERVICE_RELIABLE_DELIVERY, queue, queue);
  (void)unused;
  post_receive(vi, message(0, 0, 100));
  far_post_send(0, message(0, 0, 100));
  expect_entry(queue, vi, true);
  take_receive(vi, 0);
  expect_empty(queue);
}

static void wait_zero(int unused) {
  VIP_CQ_HANDLE queue = make_queue(16);
  VIP_VI_HANDLE vi;
  VIP_BOOLEAN receive_queue;
  (void)unused;
  EXPECT(VIP_TIMEOUT, VipCQWait, queue, 0, &vi, &receive_queue);
}

static void wait_finite(int unused) {
  VIP_CQ_HANDLE queue = make_queue(16);
  VIP_VI_HANDLE vi;
  VIP_BOOLEAN receive_queue;
  (void)unused;
  for (VIP_ULONG timeout = 1; timeout < 200; timeout *= 10) {
    const uint64_t start = now_ns();
    EXPECT(VIP_TIMEOUT, VipCQWait, queue, timeout, &vi, &receive_queue);
    CHECK(now_ns() - start >= (timeout - 1) * 1000000U, "VipCQWait returned VIP_TIMEOUT too early");
  }
}

static VIP_VI_HANDLE woken_by;
static atomic_bool is_woken;
static void* wait_for_entry(void* queue) {
  VIP_BOOLEAN receive_queue;
  EXPECT(VIP_SUCCESS, VipCQWait, queue, VIP_INFINITE, &woken_by, &receive_queue);
  is_woken = true;
  return NULL;
}

static void wait_infinite(int unused) {
  VIP_CQ_HANDLE queue = make_queue(16);
  VIP_VI_HANDLE vi = make_pair_with_queues(VIP_SERVICE_RELIABLE_DELIVERY, NULL, queue);
  (void)unused;
  post_receive(vi, message(0, 0, 100));
  pthread_t thread = start_thread(wait_for_entry, queue);
  pause_ms(50);
  CHECK(!is_woken, "VipCQWait returned before a message came");
  far_post_send(0, message(0, 0, 100));
  join_thread(thread);
  CHECK(woken_by == vi, "the entry is about another VI");
}

/* VipCQDone answers while another thread is blocked in VipCQWait. */
static void done_beside_wait(int unused) {
  VIP_CQ_HANDLE queue = make_queue(16);
  (void)unused;
  if (!near.attributes.ThreadSafe) skip("the library is not thread-safe: no two threads may use one queue");
  VIP_VI_HANDLE vi = create_vi(&near, VIP_SERVICE_RELIABLE_DELIVERY, NULL, queue);
  post_receive(vi, message(0, 0, 100));
  pthread_t thread = start_thread(wait_for_entry, queue);
  for (int i = 0; i < 50; ++i) {
    expect_empty(queue);
    pause_ms(1);
  }
  EXPECT(VIP_SUCCESS, VipDisconnect, vi); /* the flushed receive wakes it */
  join_thread(thread);
}

/* Both queues of a VI on completion queues of their own. */
static void two_queues(int unused) {
  VIP_CQ_HANDLE sends = make_queue(16), receives = make_queue(16);
  VIP_VI_HANDLE vi = make_pair_with_queues(VIP_SERVICE_RELIABLE_DELIVERY, sends, receives);
  (void)unused;
  far_post_receive(0, message(0, 0, 100));
  post_receive(vi, message(1, 0, 100));
  post_send(vi, message(0, 0, 100));
  far_post_send(0, message(1, 0, 100));
  expect_entry(sends, vi, false);
  expect_entry(receives, vi, true);
  take_send(vi, 0);
  take_receive(vi, 1);
  expect_empty(sends);
  expect_empty(receives);
}

/* Many VIs on one completion queue: each entry names its own. */
static void many_vis(int unused) {
  VIP_CQ_HANDLE queue = make_queue(64);
  VIP_VI_HANDLE vis[FAR_VIS];
  (void)unused;
  for (unsigned i = 0; i < FAR_VIS; ++i) {
    far_create_vi(i, VIP_SERVICE_RELIABLE_DELIVERY);
    vis[i] = create_vi(&near, VIP_SERVICE_RELIABLE_DELIVERY, NULL, queue);
    connect_pair(vis[i], i);
    post_receive(vis[i], message(i, 0, 100));
  }
  for (unsigned i = FAR_VIS; i-- > 0;) {
    far_post_send(i, message(i, 0, 100));
    expect_entry(queue, vis[i], true);
    take_receive(vis[i], i);
  }
  expect_empty(queue);
}

/* Descriptors that are flushed have their entries (VI-DG 6.2). */
static void flushed(int unused) {
  VIP_CQ_HANDLE queue = make_queue(16);
  VIP_VI_HANDLE vi = make_pair_with_queues(VIP_SERVICE_RELIABLE_DELIVERY, queue, queue);
  (void)unused;
  for (unsigned slot = 0; slot < 4; ++slot) post_receive(vi, message(slot, 0, 100));
  FAR_EXPECT(VIP_SUCCESS, far_order(ORDER_DISCONNECT, 0));
  for (unsigned slot = 0; slot < 4; ++slot) {
    expect_entry(queue, vi, true);
    take_receive(vi, slot);
    CHECK((slot_at(&near, slot)->CS.Status & VIP_STATUS_DESC_FLUSHED_ERROR) != 0, "status %08X: not flushed",
          slot_at(&near, slot)->CS.Status);
  }
}

/* And those that fail when they are posted. */
static void failed_at_post(int unused) {
  VIP_CQ_HANDLE queue = make_queue(16);
  VIP_VI_HANDLE vi = create_vi(&near, VIP_SERVICE_RELIABLE_DELIVERY, queue, queue);
  (void)unused;
  post_send(vi, message(0, 0, 100));
  expect_entry(queue, vi, false);
  take_send(vi, 0);
}

/* An RDMA Write with immediate data is told as a receive; without, it is not told at all. */
static void rdma_write(int unused) {
  VIP_CQ_HANDLE queue = make_queue(16);
  VIP_VI_HANDLE vi = make_pair_with_queues(VIP_SERVICE_RELIABLE_DELIVERY, NULL, queue);
  Message write = message(0, 0, 100);
  (void)unused;
  post_receive(vi, message(0, 0, 100));
  write.control = VIP_CONTROL_OP_RDMAWRITE;
  write.remote_address = (VIP_UINT64)(uintptr_t)data_at(&near, 5000);
  write.remote_handle = near.handle;
  far_post_send(0, write);
  write.slot = 1;
  write.control |= VIP_CONTROL_IMMEDIATE;
  far_post_send(0, write);
  expect_entry(queue, vi, true);
  take_receive(vi, 0);
  expect_empty(queue);
}

/* As many entries as it was created for. */
static void capacity(int unused) {
  enum { ENTRIES = 1024 };
  static unsigned char descriptors[ENTRIES * 64] __attribute__((aligned(VIP_DESCRIPTOR_ALIGNMENT)));
  VIP_MEM_ATTRIBUTES attributes;
  VIP_MEM_HANDLE handle;
  (void)unused;
  VIP_CQ_HANDLE queue = make_queue(ENTRIES);
  VIP_VI_HANDLE vi = create_vi(&near, VIP_SERVICE_RELIABLE_DELIVERY, NULL, queue);
  const VIP_ULONG count =
      near.attributes.MaxDescriptorsPerQueue < ENTRIES ? near.attributes.MaxDescriptorsPerQueue : ENTRIES;
  attributes = memory_attributes(&near);
  EXPECT(VIP_SUCCESS, VipRegisterMem, near.nic, descriptors, sizeof descriptors, &attributes, &handle);
  for (VIP_ULONG i = 0; i < count; ++i)
    EXPECT(VIP_SUCCESS, VipPostRecv, vi, (VIP_DESCRIPTOR*)(void*)(descriptors + i * 64), handle);
  EXPECT(VIP_SUCCESS, VipDisconnect, vi);
  for (VIP_ULONG i = 0; i < count; ++i) {
    VIP_DESCRIPTOR* descriptor = NULL;
    expect_entry(queue, vi, true);
    EXPECT(VIP_DESCRIPTOR_ERROR, VipRecvDone, vi, &descriptor);
    CHECK((unsigned char*)descriptor == descriptors + i * 64, "descriptor %lu came out of order", i);
  }
  expect_empty(queue);
}

/* The work queue may be asked directly; the entry tells of what was taken already (3.5.7). */
static void taken_before(int unused) {
  VIP_CQ_HANDLE queue = make_queue(16);
  VIP_VI_HANDLE vi = make_pair_with_queues(VIP_SERVICE_RELIABLE_DELIVERY, NULL, queue);
  VIP_DESCRIPTOR* descriptor = NULL;
  VIP_RETURN code;
  (void)unused;
  post_receive(vi, message(0, 0, 100));
  far_post_send(0, message(0, 0, 100));
  while ((code = CALL(VipRecvDone, vi, &descriptor)) == VIP_NOT_DONE) continue;
  expect_code(__FILE__, __LINE__, ID_VipRecvDone, VIP_SUCCESS, code);
  expect_entry(queue, vi, true);
  EXPECT(VIP_DESCRIPTOR_ERROR, VipRecvDone, vi, &descriptor);
}

const Test cq_tests[] = {
    TEST(VipCQDone, "success", OK | PROVES(VIP_NOT_DONE), done),
    TEST(VipCQDone, "does_not_block_behind_wait", PROVES(VIP_NOT_DONE), done_beside_wait),
    TEST(VipCQWait, "success", OK, wait_success),
    TEST(VipCQWait, "timeout_zero", PROVES(VIP_TIMEOUT), wait_zero),
    TEST(VipCQWait, "timeout", PROVES(VIP_TIMEOUT), wait_finite),
    TEST(VipCQWait, "infinite", OK, wait_infinite),
    {"completion_queue.two_queues", ID_VipCQWait, "VI-ARCH 3.4", FUNCTIONAL, OK, two_queues, 0},
    {"completion_queue.many_vis", ID_VipCQWait, "VI-ARCH 2.4", FUNCTIONAL, OK, many_vis, 0},
    {"completion_queue.flushed", ID_VipCQWait, "VI-DG 6.2", FUNCTIONAL, OK, flushed, 0},
    {"completion_queue.failed_at_post", ID_VipCQWait, "VI-ARCH 6.4.1", FUNCTIONAL, OK, failed_at_post, 0},
    {"completion_queue.rdma_write", ID_VipCQWait, "VI-ARCH 2.3.2", FUNCTIONAL, OK, rdma_write, 0},
    {"completion_queue.capacity", ID_VipCQWait, "VI-DG 3.6.1", FUNCTIONAL, OK, capacity, 0},
    {"completion_queue.taken_before", ID_VipCQWait, "VI-DG 3.5.7", FUNCTIONAL, OK, taken_before, 0},
    {NULL, 0, NULL, 0, 0, NULL, 0}};
