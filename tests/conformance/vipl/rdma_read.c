/* VI-ARCH 2.3.2, 6.3.1: RDMA Read, which is optional. */
#include <string.h>

#include "far.h"

#define READ VIP_CONTROL_OP_RDMAREAD

static VIP_VI_HANDLE make_reading_pair(int level) {
  need_read(level);
  return make_pair(level);
}

static void read_and_check(VIP_VI_HANDLE vi, Message read, size_t far_offset) {
  static unsigned seed = 90;
  far_fill(far_offset, read.length, ++seed);
  memset(data_at(&near, read.offset), 0, read.length);
  post_send(vi, read);
  reap_send(vi, read.slot, 0, VIP_STATUS_OP_RDMA_READ);
  CHECK(is_filled(data_at(&near, read.offset), read.length, seed), "%u bytes were read wrongly", read.length);
  CHECK(slot_at(&near, read.slot)->CS.Length == read.length, "%u bytes were read, and the length is %u", read.length,
        slot_at(&near, read.slot)->CS.Length);
}

static void success(int level) {
  static const VIP_UINT32 lengths[] = {1, 2, 63, 64, 65, 4096, 4097, TRANSFER_BYTES};
  VIP_VI_HANDLE vi = make_reading_pair(level);
  for (unsigned i = 0; i < sizeof lengths / sizeof *lengths; ++i)
    read_and_check(vi, rdma_message(READ, i, 0, lengths[i], 5000), 5000);
}

static void odd_addresses(int level) {
  VIP_VI_HANDLE vi = make_reading_pair(level);
  for (unsigned i = 0; i < 16; ++i)
    read_and_check(vi, rdma_message(READ, i, 100 + i, 3001 + i, 70001 + 3 * i), 70001 + 3 * i);
}

static void scatters(int level) {
  VIP_VI_HANDLE vi = make_reading_pair(level);
  for (unsigned segments = 1; segments < 60; segments += 13) {
    Message read = rdma_message(READ, 0, 0, 12345, 100);
    read.segments = segments;
    read_and_check(vi, read, 100);
  }
}

/* Immediate data are not transferred, which is no error; no receive is consumed. */
static void ignores_immediate(int level) {
  VIP_VI_HANDLE vi = make_reading_pair(level);
  far_post_receive(0, message(0, 0, 100));
  read_and_check(vi, rdma_message(READ | VIP_CONTROL_IMMEDIATE, 0, 0, 1000, 0), 0);
  post_send(vi, message(1, 0, 100));
  const Answer answer = far_reap_receive(0, 0, 0);
  CHECK((answer.status & VIP_STATUS_OP_MASK) == VIP_STATUS_OP_RECEIVE && (answer.status & VIP_STATUS_IMMEDIATE) == 0,
        "status %08X: the RDMA Read consumed a receive", answer.status);
}

/* A read, and at once a fenced Send: when it is received the data are here. */
static void fence(int level) {
  VIP_VI_HANDLE vi = make_reading_pair(level);
  for (unsigned seed = 1; seed < 30; ++seed) {
    Message send = message(1, 500000, 8);
    send.control = VIP_CONTROL_QFENCE;
    far_fill(0, TRANSFER_BYTES, seed);
    far_post_receive(0, message(seed, 900000, 8));
    post_send(vi, rdma_message(READ, 0, 0, TRANSFER_BYTES, 0));
    post_send(vi, send);
    far_reap_receive(0, seed, 0);
    CHECK(is_filled(data_at(&near, 0), TRANSFER_BYTES, seed), "a fenced Send passed an RDMA Read");
    reap_send(vi, 0, 0, VIP_STATUS_OP_RDMA_READ);
    reap_send(vi, 1, 0, VIP_STATUS_OP_SEND);
  }
}

/* What is dequeued comes in the order of posting, whatever completes first. */
static void dequeued_in_order(int level) {
  VIP_VI_HANDLE vi = make_reading_pair(level);
  for (int round = 0; round < 10; ++round) {
    for (unsigned slot = 0; slot < 8; ++slot) {
      const size_t offset = slot * (size_t)TRANSFER_BYTES;
      if (slot % 2 == 0) {
        post_send(vi, rdma_message(READ, slot, offset, TRANSFER_BYTES, 0));
      } else {
        far_post_receive(0, message(slot, 900000, 8));
        post_send(vi, message(slot, offset, 8));
      }
    }
    for (unsigned slot = 0; slot < 8; ++slot)
      reap_send(vi, slot, 0, slot % 2 == 0 ? VIP_STATUS_OP_RDMA_READ : VIP_STATUS_OP_SEND);
    for (unsigned slot = 1; slot < 8; slot += 2) far_reap_receive(0, slot, 0);
  }
}

/* A read behind a write of the same bytes sees them: reads do not pass writes. */
static void does_not_pass_writes(int level) {
  VIP_VI_HANDLE vi = make_reading_pair(level);
  for (unsigned seed = 1; seed < 20; ++seed) {
    fill(data_at(&near, 0), TRANSFER_BYTES, seed);
    post_send(vi, rdma_message(VIP_CONTROL_OP_RDMAWRITE, 0, 0, TRANSFER_BYTES, 1000));
    post_send(vi, rdma_message(READ, 1, 100000, TRANSFER_BYTES, 1000));
    reap_send(vi, 0, 0, VIP_STATUS_OP_RDMA_WRITE);
    reap_send(vi, 1, 0, VIP_STATUS_OP_RDMA_READ);
    CHECK(is_filled(data_at(&near, 100000), TRANSFER_BYTES, seed), "an RDMA Read passed an RDMA Write");
  }
}

/* ---- Protection: the near end is the source ---------------------------------------------------------- */

static unsigned char source[4096];
static VIP_MEM_HANDLE source_handle;

static void register_source(VIP_BOOLEAN enable_read) {
  VIP_MEM_ATTRIBUTES attributes = memory_attributes(&near);
  attributes.EnableRdmaRead = enable_read;
  fill(source, sizeof source, 7);
  EXPECT(VIP_SUCCESS, VipRegisterMem, near.nic, source, sizeof source, &attributes, &source_handle);
}

/* The initiator's descriptor tells it, and the other end is told asynchronously; nothing is read. */
static void expect_refused(VIP_VI_HANDLE vi, void* address, VIP_MEM_HANDLE handle) {
  Message read = message(0, 0, 64);
  read.control = READ;
  read.remote_address = (VIP_UINT64)(uintptr_t)address;
  read.remote_handle = handle;
  far_fill(0, 64, 1);
  far_post_send(0, read);
  far_reap_send(0, 0, VIP_STATUS_RDMA_PROT_ERROR);
  wait_for_error(&near, vi, VIP_ERROR_RDMAR_PROT);
  CHECK(far_matches(0, 64, 1), "a refused RDMA Read read data");
  UNTIL(vi_state(vi) == VIP_STATE_ERROR);
  UNTIL(far_state(0) == VIP_STATE_ERROR);
}

static void memory_not_enabled(int level) {
  VIP_VI_HANDLE vi = make_reading_pair(level);
  register_source(VIP_FALSE);
  expect_refused(vi, source, source_handle);
}

static void vi_not_enabled(int level) {
  VIP_VI_ATTRIBUTES attributes;
  VIP_VI_HANDLE vi;
  need_read(level);
  far_create_vi(0, (VIP_RELIABILITY_LEVEL)level);
  attributes = vi_attributes(&near, (VIP_RELIABILITY_LEVEL)level);
  attributes.EnableRdmaRead = VIP_FALSE;
  EXPECT(VIP_SUCCESS, VipCreateVi, near.nic, &attributes, NULL, NULL, &vi);
  connect_pair(vi, 0);
  register_source(VIP_TRUE);
  expect_refused(vi, source, source_handle);
}

static void wrong_handle(int level) {
  VIP_VI_HANDLE vi = make_reading_pair(level);
  register_source(VIP_TRUE);
  expect_refused(vi, source, source_handle ^ 0x5A5A5A5A);
}

static void wrong_address(int level) {
  static unsigned char others[3 * 65536];
  VIP_VI_HANDLE vi = make_reading_pair(level);
  register_source(VIP_TRUE);
  expect_refused(vi, others + 65536, source_handle);
}

#define EACH(name, clause, run) \
  AT_RELIABLE_LEVELS("rdma_read." name, ID_VipPostSend, clause, FULL, PROVES(VIP_SUCCESS), run)
#define REFUSED(name, run) \
  AT_RELIABLE_LEVELS("rdma_read." name, ID_VipErrorCallback, "VI-ARCH 3.2.2.2", FULL, RULE, run)

const Test rdma_read_tests[] = {EACH("success", "VI-ARCH 2.3.2", success),
                                EACH("odd_addresses", "VI-ARCH 3.2.1", odd_addresses),
                                EACH("scatters", "VI-ARCH 2.3.2", scatters),
                                EACH("ignores_immediate", "VI-DG 5.2", ignores_immediate),
                                EACH("fence", "VI-ARCH 6.3.1.2", fence),
                                EACH("dequeued_in_order", "VI-ARCH 6.3.1.1", dequeued_in_order),
                                EACH("does_not_pass_writes", "VI-ARCH 6.3.1.1", does_not_pass_writes),
                                REFUSED("memory_not_enabled", memory_not_enabled),
                                REFUSED("vi_not_enabled", vi_not_enabled),
                                REFUSED("wrong_handle", wrong_handle),
                                REFUSED("wrong_address", wrong_address),
                                {NULL, 0, NULL, 0, 0, NULL, 0}};
