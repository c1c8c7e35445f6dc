/* VI-ARCH 6.3.1.1, VI-DG 6.1: the order of descriptors, of messages and of completions. */
#include <string.h>

#include "far.h"

enum { BURST = 24 };

/* Sends are received in the order of posting, and all come back in it. */
static void sends(int level) {
  VIP_VI_HANDLE vi = make_pair(level);
  for (unsigned round = 0; round < 10; ++round) {
    for (unsigned slot = 0; slot < BURST; ++slot) far_post_receive(0, message(slot, 0, 4000));
    for (unsigned slot = 0; slot < BURST; ++slot) {
      Message send = message(slot, 0, slot % 3 == 0 ? 4000 : slot);
      send.control = VIP_CONTROL_IMMEDIATE;
      send.immediate = round * BURST + slot;
      post_send(vi, send);
    }
    for (unsigned slot = 0; slot < BURST; ++slot) reap_send(vi, slot, 0, VIP_STATUS_OP_SEND);
    for (unsigned slot = 0; slot < BURST; ++slot) {
      const Answer answer = far_reap_receive(0, slot, 0);
      CHECK(answer.immediate == round * BURST + slot, "message %u came where message %u was due", answer.immediate,
            round * BURST + slot);
    }
  }
}

/* Sends and RDMA Writes do not pass each other: those with immediate data show it. */
static void sends_and_writes(int level) {
  VIP_VI_HANDLE vi = make_pair(level);
  for (unsigned slot = 0; slot < BURST; ++slot) far_post_receive(0, message(slot, 0, 4000));
  for (unsigned slot = 0; slot < BURST; ++slot) {
    Message wanted = message(slot, 0, slot * 100);
    if (slot % 2 == 1) wanted = rdma_message(VIP_CONTROL_OP_RDMAWRITE, slot, 0, 4000, 9000);
    wanted.control |= VIP_CONTROL_IMMEDIATE;
    wanted.immediate = slot;
    post_send(vi, wanted);
  }
  for (unsigned slot = 0; slot < BURST; ++slot) {
    const Answer answer = far_reap_receive(0, slot, 0);
    const VIP_UINT32 operation = slot % 2 == 1 ? VIP_STATUS_OP_REMOTE_RDMA_WRITE : VIP_STATUS_OP_RECEIVE;
    CHECK(answer.immediate == slot && (answer.status & VIP_STATUS_OP_MASK) == operation,
          "message %u (status %08X) came where message %u was due", answer.immediate, answer.status, slot);
    reap_send(vi, slot, 0, slot % 2 == 1 ? VIP_STATUS_OP_RDMA_WRITE : VIP_STATUS_OP_SEND);
  }
}

/* A Send behind an RDMA Write is received after the data were placed. */
static void write_then_send(int level) {
  VIP_VI_HANDLE vi = make_pair(level);
  for (unsigned seed = 1; seed < 40; ++seed) {
    fill(data_at(&near, 0), TRANSFER_BYTES, seed);
    far_post_receive(0, message(seed, 900000, 8));
    post_send(vi, rdma_message(VIP_CONTROL_OP_RDMAWRITE, 0, 0, TRANSFER_BYTES, 1000));
    post_send(vi, message(1, 900000, 8));
    far_reap_receive(0, seed, 0);
    CHECK(far_matches(1000, TRANSFER_BYTES, seed), "a Send passed the RDMA Write before it");
    reap_send(vi, 0, 0, VIP_STATUS_OP_RDMA_WRITE);
    reap_send(vi, 1, 0, VIP_STATUS_OP_SEND);
  }
}

/* A fence without an RDMA Read before it holds nothing up. */
static void fence_alone(int level) {
  VIP_VI_HANDLE vi = make_pair(level);
  for (unsigned slot = 0; slot < BURST; ++slot) {
    Message send = message(slot, 0, 100);
    send.control = VIP_CONTROL_QFENCE;
    far_post_receive(0, message(slot, 0, 100));
    post_send(vi, send);
  }
  for (unsigned slot = 0; slot < BURST; ++slot) {
    reap_send(vi, slot, 0, VIP_STATUS_OP_SEND);
    far_reap_receive(0, slot, 0);
  }
}

/* What was posted before a bad descriptor is sent, what was posted behind it is flushed; all in order. */
static void error_in_the_middle(int level) {
  VIP_VI_HANDLE vi = make_pair(level);
  for (unsigned slot = 0; slot < 4; ++slot) far_post_receive(0, message(slot, 0, 100));
  for (unsigned slot = 0; slot < 4; ++slot) {
    Message send = message(slot, 0, 100);
    VIP_DESCRIPTOR* descriptor = describe(&near, &send);
    if (slot == 2) descriptor->CS.Reserved = 1;
    EXPECT(VIP_SUCCESS, VipPostSend, vi, descriptor, near.handle);
  }
  reap_send(vi, 0, 0, VIP_STATUS_OP_SEND);
  reap_send(vi, 1, 0, VIP_STATUS_OP_SEND);
  reap_send(vi, 2, VIP_STATUS_FORMAT_ERROR, VIP_STATUS_OP_SEND);
  reap_send(vi, 3, VIP_STATUS_DESC_FLUSHED_ERROR, VIP_STATUS_OP_SEND);
}

/* An Unreliable Delivery VI goes on behind it. */
static void error_in_the_middle_unreliable(int unused) {
  VIP_VI_HANDLE vi = make_pair(VIP_SERVICE_UNRELIABLE);
  (void)unused;
  for (unsigned slot = 0; slot < 4; ++slot) far_post_receive(0, message(slot, 0, 100));
  for (unsigned slot = 0; slot < 4; ++slot) {
    Message send = message(slot, 0, 100);
    VIP_DESCRIPTOR* descriptor = describe(&near, &send);
    if (slot == 2) descriptor->CS.Reserved = 1;
    EXPECT(VIP_SUCCESS, VipPostSend, vi, descriptor, near.handle);
  }
  for (unsigned slot = 0; slot < 4; ++slot)
    reap_send(vi, slot, slot == 2 ? VIP_STATUS_FORMAT_ERROR : 0, VIP_STATUS_OP_SEND);
}

/* Entries come on a completion queue in the order of the work queue. */
static void completion_queue(int level) {
  VIP_CQ_HANDLE queue;
  VIP_VI_HANDLE vi, which;
  VIP_BOOLEAN receive_queue;
  need_level(level);
  EXPECT(VIP_SUCCESS, VipCreateCQ, near.nic, 64, &queue);
  vi = make_pair_with_queues(level, queue, NULL);
  const bool reads = supports_read(&near, (VIP_RELIABILITY_LEVEL)level);
  for (unsigned slot = 0; slot < BURST; ++slot) {
    far_post_receive(0, message(slot, 0, 100));
    post_send(vi, reads && slot % 4 == 0 ? rdma_message(VIP_CONTROL_OP_RDMAREAD, slot, 0, TRANSFER_BYTES, 0)
                                         : message(slot, 0, 100));
  }
  for (unsigned slot = 0; slot < BURST; ++slot) {
    VIP_DESCRIPTOR* descriptor = NULL;
    EXPECT(VIP_SUCCESS, VipCQWait, queue, VIP_INFINITE, &which, &receive_queue);
    CHECK(which == vi && !receive_queue, "the entry is about another queue");
    EXPECT(VIP_SUCCESS, VipSendDone, vi, &descriptor); /* the entry's descriptor is done when it comes */
    CHECK(descriptor == slot_at(&near, slot), "expected slot %u, came slot %u", slot, slot_of(&near, descriptor));
  }
}

#define EACH(name, call, clause, phase, codes, run) \
  AT_RELIABLE_LEVELS("order." name, ID_##call, clause, phase, codes, run)

const Test order_tests[] = {EACH("sends", VipPostSend, "VI-ARCH 6.3.1.1", EARLY, OK, sends),
                            EACH("sends_and_writes", VipPostSend, "VI-ARCH 6.3.1.1", EARLY, OK, sends_and_writes),
                            EACH("write_then_send", VipPostSend, "VI-ARCH 6.3.1.1", EARLY, OK, write_then_send),
                            EACH("fence_alone", VipPostSend, "VI-ARCH 6.3.1.2", EARLY, OK, fence_alone),
                            EACH("error_in_the_middle", VipSendWait, "VI-ARCH 6.3.1.1", EARLY,
                                 PROVES(VIP_DESCRIPTOR_ERROR) | OK, error_in_the_middle),
                            {"order.error_in_the_middle.unreliable_delivery", ID_VipSendWait, "VI-ARCH 2.5.1", FULL,
                             PROVES(VIP_DESCRIPTOR_ERROR) | OK, error_in_the_middle_unreliable, 0},
                            EACH("completion_queue", VipCQWait, "VI-DG 6.1", FUNCTIONAL, OK, completion_queue),
                            {NULL, 0, NULL, 0, 0, NULL, 0}};
