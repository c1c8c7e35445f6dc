/* VI-DG 3.6: creating, destroying and resizing completion queues. */
#include <stdatomic.h>
#include <string.h>

#include "far.h"

/* Takes `count` entries of the VI's receives, and finds no more. */
static void expect_entries(VIP_CQ_HANDLE queue, VIP_VI_HANDLE vi, unsigned count) {
  VIP_VI_HANDLE which;
  VIP_BOOLEAN receive_queue;
  VIP_DESCRIPTOR* descriptor;
  for (unsigned i = 0; i < count; ++i) {
    EXPECT(VIP_SUCCESS, VipCQDone, queue, &which, &receive_queue);
    CHECK(which == vi && receive_queue, "the entry is about another queue");
    EXPECT(VIP_DESCRIPTOR_ERROR, VipRecvDone, vi, &descriptor);
  }
  EXPECT(VIP_NOT_DONE, VipCQDone, queue, &which, &receive_queue);
}

/* `count` flushed receives, and so many entries. */
static void make_entries(VIP_VI_HANDLE vi, unsigned count) {
  for (unsigned slot = 0; slot < count; ++slot) post_receive(vi, message(slot, 0, 64));
  EXPECT(VIP_SUCCESS, VipDisconnect, vi);
}

static void create_success(int unused) {
  (void)unused;
  make_queue(1);
  make_queue(1000);
  make_queue(1024);
  proven(ID_VipCreateCQ, VIP_SUCCESS);
}

static void create_largest(int unused) {
  (void)unused;
  near_open();
  if (near.attributes.MaxCQEntries > 10000000) skip("MaxCQEntries is %lu", near.attributes.MaxCQEntries);
  make_queue(near.attributes.MaxCQEntries);
  proven(ID_VipCreateCQ, VIP_SUCCESS);
}

static void create_too_large(int unused) {
  VIP_CQ_HANDLE queue = NULL;
  (void)unused;
  near_open();
  if (near.attributes.MaxCQEntries + 1 == 0) skip("MaxCQEntries is as large as a number can be");
  EXPECT(VIP_ERROR_RESOURCE, VipCreateCQ, near.nic, near.attributes.MaxCQEntries + 1, &queue);
}

static void destroy_success(int unused) {
  VIP_CQ_HANDLE queue = make_queue(16);
  VIP_VI_HANDLE vi;
  VIP_BOOLEAN receive_queue;
  (void)unused;
  EXPECT(VIP_SUCCESS, VipDestroyCQ, queue);
  EXPECT(VIP_INVALID_PARAMETER, VipCQDone, queue, &vi, &receive_queue);
}

/* While a work queue uses it. */
static void destroy_in_use(int receive) {
  VIP_CQ_HANDLE queue = make_queue(16);
  VIP_VI_HANDLE vi = create_vi(&near, VIP_SERVICE_RELIABLE_DELIVERY, receive ? NULL : queue, receive ? queue : NULL);
  VIP_BOOLEAN receive_queue;
  VIP_VI_HANDLE which;
  EXPECT(VIP_ERROR_RESOURCE, VipDestroyCQ, queue);
  EXPECT(VIP_NOT_DONE, VipCQDone, queue, &which, &receive_queue);
  EXPECT(VIP_SUCCESS, VipDestroyVi, vi);
  EXPECT(VIP_SUCCESS, VipDestroyCQ, queue);
}

static void resize_success(int unused) {
  VIP_CQ_HANDLE queue = make_queue(16);
  (void)unused;
  EXPECT(VIP_SUCCESS, VipResizeCQ, queue, 1024);
  EXPECT(VIP_SUCCESS, VipResizeCQ, queue, 1);
  EXPECT(VIP_SUCCESS, VipResizeCQ, queue, 64);
  VIP_VI_HANDLE vi = create_vi(&near, VIP_SERVICE_RELIABLE_DELIVERY, NULL, queue);
  make_entries(vi, 60);
  expect_entries(queue, vi, 60);
}

static void resize_too_large(int unused) {
  VIP_CQ_HANDLE queue = make_queue(16);
  (void)unused;
  if (near.attributes.MaxCQEntries + 1 == 0) skip("MaxCQEntries is as large as a number can be");
  EXPECT(VIP_ERROR_RESOURCE, VipResizeCQ, queue, near.attributes.MaxCQEntries + 1);
  VIP_VI_HANDLE vi = create_vi(&near, VIP_SERVICE_RELIABLE_DELIVERY, NULL, queue);
  make_entries(vi, 16);
  expect_entries(queue, vi, 16); /* it is what it was */
}

/* Entries that are there stay there. */
static void resize_keeps_entries(int unused) {
  VIP_CQ_HANDLE queue = make_queue(32);
  VIP_VI_HANDLE vi = create_vi(&near, VIP_SERVICE_RELIABLE_DELIVERY, NULL, queue);
  (void)unused;
  make_entries(vi, 20);
  EXPECT(VIP_SUCCESS, VipResizeCQ, queue, 500);
  EXPECT(VIP_SUCCESS, VipResizeCQ, queue, 20);
  expect_entries(queue, vi, 20);
}

/* Smaller than what it holds: refused, or held nevertheless ("at least" so many entries); nothing is lost. */
static void resize_below_entries(int unused) {
  VIP_CQ_HANDLE queue = make_queue(32);
  VIP_VI_HANDLE vi = create_vi(&near, VIP_SERVICE_RELIABLE_DELIVERY, NULL, queue);
  (void)unused;
  make_entries(vi, 20);
  EXPECT(VIP_SUCCESS, VipResizeCQ, queue,
         5); /* the "minimum [...] that it must hold": it holds more, and no resource lacks */
  expect_entries(queue, vi, 20);
}

static atomic_bool stop_resizing;
static void* resize_again_and_again(void* queue) {
  for (VIP_ULONG size = 64; !stop_resizing; size = size == 64 ? 1000 : 64)
    EXPECT(VIP_SUCCESS, VipResizeCQ, queue, size);
  return NULL;
}

/* While entries come and go: none is lost. */
static void resize_under_load(int unused) {
  enum { ROUNDS = 200, BURST = 16 };
  VIP_CQ_HANDLE queue = make_queue(64);
  VIP_VI_HANDLE vi = make_pair_with_queues(VIP_SERVICE_RELIABLE_DELIVERY, queue, queue), which;
  VIP_BOOLEAN receive_queue;
  (void)unused;
  if (!near.attributes.ThreadSafe) skip("the library is not thread-safe: no two threads may use one queue");
  pthread_t thread = start_thread(resize_again_and_again, queue);
  for (int round = 0; round < ROUNDS; ++round) {
    for (unsigned slot = 0; slot < BURST; ++slot) far_post_receive(0, message(slot, 0, 64));
    for (unsigned slot = 0; slot < BURST; ++slot) post_send(vi, message(slot, 0, 64));
    for (unsigned slot = 0; slot < BURST; ++slot) {
      VIP_DESCRIPTOR* descriptor = NULL;
      EXPECT(VIP_SUCCESS, VipCQWait, queue, VIP_INFINITE, &which, &receive_queue);
      EXPECT(VIP_SUCCESS, VipSendDone, vi, &descriptor);
      far_reap_receive(0, slot, 0);
    }
  }
  stop_resizing = true;
  join_thread(thread);
}

/* Entries of a VI that was destroyed name no VI that is not there. */
static void entries_of_destroyed_vi(int unused) {
  VIP_CQ_HANDLE queue = make_queue(32);
  VIP_VI_HANDLE vi = create_vi(&near, VIP_SERVICE_RELIABLE_DELIVERY, NULL, queue), which;
  VIP_DESCRIPTOR* descriptor;
  VIP_BOOLEAN receive_queue;
  (void)unused;
  make_entries(vi, 4);
  for (int i = 0; i < 4; ++i) EXPECT(VIP_DESCRIPTOR_ERROR, VipRecvDone, vi, &descriptor);
  EXPECT(VIP_SUCCESS, VipDestroyVi, vi);
  EXPECT(VIP_NOT_DONE, VipCQDone, queue, &which, &receive_queue);
}

const Test cq_resource_tests[] = {
    TEST(VipCreateCQ, "success", OK, create_success),
    TEST_BY("VI-DG 4.5", FUNCTIONAL, VipCreateCQ, "largest", OK, create_largest, 0),
    TEST(VipCreateCQ, "too_large", PROVES(VIP_ERROR_RESOURCE), create_too_large),
    TEST(VipDestroyCQ, "success", OK, destroy_success),
    TEST(VipDestroyCQ, "used_by_send_queue", OK | PROVES(VIP_ERROR_RESOURCE), destroy_in_use),
    TEST_OF(VipDestroyCQ, "used_by_receive_queue", OK | PROVES(VIP_ERROR_RESOURCE), destroy_in_use, 1),
    TEST(VipResizeCQ, "success", OK, resize_success),
    TEST(VipResizeCQ, "too_large", PROVES(VIP_ERROR_RESOURCE), resize_too_large),
    TEST(VipResizeCQ, "keeps_entries", OK, resize_keeps_entries),
    TEST(VipResizeCQ, "below_entries", RULE, resize_below_entries),
    TEST_BY("VI-ARCH 3.4", FUNCTIONAL, VipResizeCQ, "under_load", OK, resize_under_load, 0),
    TEST_BY("programs", PRACTICE, VipDestroyVi, "entries_of_destroyed_vi", OK, entries_of_destroyed_vi, 0),
    {NULL, 0, NULL, 0, 0, NULL, 0}};
