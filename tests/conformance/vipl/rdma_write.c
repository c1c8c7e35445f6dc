/* VI-DG 5.3, VI-ARCH 2.3.2, 3.2.2.2: RDMA Write. */
#include <stdatomic.h>
#include <string.h>

#include "far.h"

#define WRITE VIP_CONTROL_OP_RDMAWRITE

/* A write, and a Send after it: it does not pass the write, so when it is received the data are there. */
static void write_and_check(VIP_VI_HANDLE vi, int level, Message write, size_t far_offset) {
  static unsigned seed = 50;
  fill(data_at(&near, write.offset), write.length, ++seed);
  for (int attempt = 0;; ++attempt) {
    post_send(vi, write);
    reap_send(vi, write.slot, 0, VIP_STATUS_OP_RDMA_WRITE);
    const Answer answer = deliver(vi, level, message(60, 900000, 8), message(60, 900000, 8));
    CHECK((answer.status & VIP_STATUS_OP_MASK) == VIP_STATUS_OP_RECEIVE, "the RDMA Write consumed a receive");
    if (far_matches(far_offset, write.length, seed)) return;
    CHECK(level == VIP_SERVICE_UNRELIABLE && attempt < 20, "%u bytes were not written before the Send after them",
          write.length);
  }
}

static void success(int level) {
  static const VIP_UINT32 lengths[] = {1, 2, 63, 64, 65, 4096, 4097, TRANSFER_BYTES};
  VIP_VI_HANDLE vi = make_pair(level);
  for (unsigned i = 0; i < sizeof lengths / sizeof *lengths; ++i) {
    write_and_check(vi, level, rdma_message(WRITE, i, 0, lengths[i], 5000), 5000);
    CHECK(slot_at(&near, i)->CS.Length == lengths[i], "%u bytes were written, and the length is %u", lengths[i],
          slot_at(&near, i)->CS.Length);
  }
}

static void odd_addresses(int level) {
  VIP_VI_HANDLE vi = make_pair(level);
  for (unsigned i = 0; i < 16; ++i)
    write_and_check(vi, level, rdma_message(WRITE, i, 100 + i, 3001 + i, 70001 + 3 * i), 70001 + 3 * i);
}

static void gathers(int level) {
  VIP_VI_HANDLE vi = make_pair(level);
  for (unsigned segments = 1; segments < 60; segments += 13) {
    Message write = rdma_message(WRITE, 0, 0, 12345, 100);
    write.segments = segments;
    write_and_check(vi, level, write, 100);
  }
}

/* Not a byte before or after the target. */
static void stays_in_its_target(int level) {
  VIP_VI_HANDLE vi = make_pair(level);
  far_fill(0, 1000, 1);
  far_fill(1000 + 4321, 1000, 2);
  write_and_check(vi, level, rdma_message(WRITE, 0, 0, 4321, 1000), 1000);
  CHECK(far_matches(0, 1000, 1) && far_matches(1000 + 4321, 1000, 2), "bytes beside the target were written");
}

/* With immediate data it consumes a receive, which tells the length and touches no buffer. */
static void immediate(int level) {
  VIP_VI_HANDLE vi = make_pair(level);
  for (unsigned i = 0; i < 3; ++i) {
    Message write = rdma_message(WRITE | VIP_CONTROL_IMMEDIATE, 0, 0, i * 1000, 5000);
    write.immediate = 0xBEEF0000U + i;
    write.segments = i == 0 ? 0 : 1;
    fill(data_at(&near, 0), write.length, i + 5);
    far_fill(0, 100, 99);
    const Answer answer = deliver(vi, level, write, message(i, 0, 100));
    CHECK((answer.status & VIP_STATUS_OP_MASK) == VIP_STATUS_OP_REMOTE_RDMA_WRITE,
          "status %08X: expected the operation code of a remote RDMA Write", answer.status);
    CHECK((answer.status & VIP_STATUS_IMMEDIATE) != 0 && answer.immediate == write.immediate,
          "immediate data %08X came as %08X, status %08X", write.immediate, answer.immediate, answer.status);
    CHECK(answer.length == write.length, "%u bytes were written, and the length is %u", write.length, answer.length);
    CHECK(far_matches(5000, write.length, i + 5), "the data did not arrive");
    CHECK(far_matches(0, 100, 99), "the buffer of the consumed receive was written");
  }
}

/* Programs spin on the last byte of the target: then all bytes before it are there. */
NO_ORDER static void last_byte_last(int level) {
  VIP_VI_HANDLE vi = make_pair(level);
  const volatile unsigned char* last = data_at(&near, TRANSFER_BYTES - 1);
  for (unsigned seed = 1; seed < 100; ++seed) {
    unsigned char expected[TRANSFER_BYTES];
    Message write = message(seed % 60, 0, TRANSFER_BYTES);
    write.control = WRITE;
    write.remote_address = (VIP_UINT64)(uintptr_t)data_at(&near, 0);
    write.remote_handle = near.handle;
    fill(expected, TRANSFER_BYTES, seed);
    if (*last == expected[TRANSFER_BYTES - 1]) continue;
    far_fill(0, TRANSFER_BYTES, seed);
    far_post_send(0, write);
    waiting_for(__FILE__, __LINE__, "polls the last byte of the target");
    while (*last != expected[TRANSFER_BYTES - 1]) continue;
    waiting_for(NULL, 0, NULL);
    atomic_thread_fence(memory_order_acquire);
    CHECK(is_filled(data_at(&near, 0), TRANSFER_BYTES, seed), "the last byte came before others");
    far_reap_send(0, seed % 60, 0);
  }
  CHECK(vi_state(vi) == VIP_STATE_CONNECTED, "the VI is not Connected any more");
}

/* ---- Protection: the near end is the target ---------------------------------------------------------- */

static unsigned char target[8192];
static VIP_MEM_HANDLE target_handle;

static void register_target(VIP_BOOLEAN enable_write) {
  VIP_MEM_ATTRIBUTES attributes = memory_attributes(&near);
  attributes.EnableRdmaWrite = enable_write;
  EXPECT(VIP_SUCCESS, VipRegisterMem, near.nic, target, 4096, &attributes, &target_handle);
}

static Message far_write(void* address, VIP_MEM_HANDLE handle) {
  Message write = message(0, 0, 64);
  write.control = WRITE;
  write.remote_address = (VIP_UINT64)(uintptr_t)address;
  write.remote_handle = handle;
  return write;
}

/* The write is refused: the target is told, and on Reliable Reception the initiator is. */
static void expect_refused(VIP_VI_HANDLE vi, int level, Message write) {
  far_fill(0, 64, 1);
  far_post_send(0, write);
  if (level == VIP_SERVICE_RELIABLE_RECEPTION) far_reap_send(0, 0, VIP_STATUS_RDMA_PROT_ERROR);
  const VIP_ERROR_DESCRIPTOR error = wait_for_error(&near, vi, VIP_ERROR_RDMAW_PROT);
  CHECK(error.NicHandle == near.nic && error.ViHandle == vi, "the error is about another NIC or VI");
  for (size_t i = 0; i < sizeof target; ++i) CHECK(target[i] == 0, "a refused RDMA Write wrote data");
  UNTIL(vi_state(vi) == VIP_STATE_ERROR);
  UNTIL(far_state(0) == VIP_STATE_ERROR);
}

static void memory_not_enabled(int level) {
  VIP_VI_HANDLE vi = make_pair(level);
  register_target(VIP_FALSE);
  expect_refused(vi, level, far_write(target, target_handle));
}

static void vi_not_enabled(int level) {
  VIP_VI_ATTRIBUTES attributes;
  VIP_VI_HANDLE vi;
  need_level(level);
  far_create_vi(0, (VIP_RELIABILITY_LEVEL)level);
  attributes = vi_attributes(&near, (VIP_RELIABILITY_LEVEL)level);
  attributes.EnableRdmaWrite = VIP_FALSE;
  EXPECT(VIP_SUCCESS, VipCreateVi, near.nic, &attributes, NULL, NULL, &vi);
  connect_pair(vi, 0);
  register_target(VIP_TRUE);
  expect_refused(vi, level, far_write(target, target_handle));
}

static void wrong_handle(int level) {
  VIP_VI_HANDLE vi = make_pair(level);
  register_target(VIP_TRUE);
  expect_refused(vi, level, far_write(target, target_handle ^ 0x5A5A5A5A));
}

static void wrong_address(int level) {
  static unsigned char others[3 * 65536];
  VIP_VI_HANDLE vi = make_pair(level);
  register_target(VIP_TRUE);
  expect_refused(vi, level, far_write(others + 65536, target_handle));
}

static void deregistered(int level) {
  VIP_VI_HANDLE vi = make_pair(level);
  register_target(VIP_TRUE);
  EXPECT(VIP_SUCCESS, VipDeregisterMem, near.nic, target, target_handle);
  expect_refused(vi, level, far_write(target, target_handle));
}

/* With immediate data the target's receive tells it. */
static void refused_with_immediate(int level) {
  VIP_VI_HANDLE vi = make_pair(level);
  register_target(VIP_FALSE);
  post_receive(vi, message(0, 0, 64));
  Message write = far_write(target, target_handle);
  write.control |= VIP_CONTROL_IMMEDIATE;
  far_post_send(0, write);
  reap_receive(vi, 0, VIP_STATUS_PROTECTION_ERROR, VIP_STATUS_OP_REMOTE_RDMA_WRITE);
  CHECK(count_errors(&near, vi, VIP_ERROR_RDMAW_PROT) == 0, "the error came twice: in the receive and asynchronously");
  UNTIL(vi_state(vi) == VIP_STATE_ERROR);
}

/* Unreliable Delivery: nothing is written, and the connection stays. */
static void refused_unreliable(int unused) {
  (void)unused;
  VIP_VI_HANDLE vi = make_pair(VIP_SERVICE_UNRELIABLE);
  register_target(VIP_FALSE);
  far_fill(0, 64, 1);
  far_post_send(0, far_write(target, target_handle));
  far_reap_send(0, 0, 0);
  deliver(vi, VIP_SERVICE_UNRELIABLE, message(1, 0, 10), message(1, 0, 10));
  for (size_t i = 0; i < sizeof target; ++i) CHECK(target[i] == 0, "a refused RDMA Write wrote data");
  CHECK(vi_state(vi) == VIP_STATE_CONNECTED, "a refused RDMA Write broke an Unreliable Delivery connection");
}

#define EACH(name, clause, run) \
  AT_EACH_LEVEL("rdma_write." name, ID_VipPostSend, clause, EARLY, PROVES(VIP_SUCCESS), run)
#define REFUSED(name, run) \
  AT_RELIABLE_LEVELS("rdma_write." name, ID_VipErrorCallback, "VI-ARCH 3.2.2.2", FUNCTIONAL, RULE, run)

const Test rdma_write_tests[] = {
    EACH("success", "VI-ARCH 2.3.2", success),
    EACH("odd_addresses", "VI-ARCH 3.2.1", odd_addresses),
    EACH("gathers", "VI-ARCH 2.3.2", gathers),
    EACH("stays_in_its_target", "VI-ARCH 2.3.2", stays_in_its_target),
    EACH("immediate", "VI-DG 5.2", immediate),
    AT_RELIABLE_LEVELS("rdma_write.last_byte_last", ID_VipPostSend, "programs", PRACTICE, RULE, last_byte_last),
    REFUSED("memory_not_enabled", memory_not_enabled),
    REFUSED("vi_not_enabled", vi_not_enabled),
    REFUSED("wrong_handle", wrong_handle),
    REFUSED("wrong_address", wrong_address),
    REFUSED("deregistered", deregistered),
    AT_RELIABLE_LEVELS("rdma_write.refused_with_immediate", ID_VipRecvWait, "VI-DG 5.2", EARLY,
                       PROVES(VIP_DESCRIPTOR_ERROR), refused_with_immediate),
    {"rdma_write.refused.unreliable_delivery", ID_VipPostSend, "VI-ARCH 2.5.1", FULL, RULE, refused_unreliable, 0},
    {NULL, 0, NULL, 0, 0, NULL, 0}};
