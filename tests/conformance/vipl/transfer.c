/* VI-DG 3.5.1, 3.5.4, 5, VI-ARCH 2.3.1: Send and Receive. */
#include <string.h>

#include "far.h"

/* One message of this length from an offset to another, with these numbers of segments at either end. */
static Answer transfer(VIP_VI_HANDLE vi, int level, Message send, Message receive) {
  static unsigned seed;
  fill(data_at(&near, send.offset), send.length, ++seed);
  const Answer answer = deliver(vi, level, send, receive);
  CHECK(answer.length == send.length, "%u bytes were sent, and the receive's length is %u", send.length, answer.length);
  CHECK((answer.status & VIP_STATUS_ERROR_MASK) == 0 && (answer.status & VIP_STATUS_OP_MASK) == VIP_STATUS_OP_RECEIVE,
        "the receive's status is %08X", answer.status);
  CHECK((answer.status & VIP_STATUS_RESERVED) == 0, "the receive's status is %08X: reserved bits", answer.status);
  CHECK(far_matches(receive.offset, send.length, seed), "%u bytes arrived changed", send.length);
  CHECK(slot_at(&near, send.slot)->CS.Length == send.length, "%u bytes were sent, and the send's length is %u",
        send.length, slot_at(&near, send.slot)->CS.Length);
  return answer;
}

static void lengths(int level) {
  static const VIP_UINT32 wanted[] = {0, 1, 2, 7, 63, 64, 65, 1000, 2048, 4096, 4097, 30000, TRANSFER_BYTES};
  VIP_VI_HANDLE vi = make_pair(level);
  for (unsigned i = 0; i < sizeof wanted / sizeof *wanted; ++i)
    transfer(vi, level, message(i, 0, wanted[i]), message(i, 0, wanted[i]));
}

/* Buffers begin and end anywhere. */
static void odd_addresses(int level) {
  VIP_VI_HANDLE vi = make_pair(level);
  for (unsigned i = 0; i < 16; ++i)
    transfer(vi, level, message(i, 4096 + i, 1001 + i * 3), message(i, 8192 + i * 5, 1001 + i * 3));
}

/* The buffer of the receive may be larger than the message. */
static void larger_receive(int level) {
  VIP_VI_HANDLE vi = make_pair(level);
  transfer(vi, level, message(0, 0, 100), message(0, 0, 5000));
}

static void segments(int level) {
  static const unsigned counts[] = {1, 2, 3, 5, 17, 62};
  VIP_VI_HANDLE vi = make_pair(level);
  for (unsigned i = 0; i < 6; ++i)
    for (unsigned j = 0; j < 6; ++j) {
      Message send = message(i, 100, 12345), receive = message(j, 300, 12345);
      send.segments = counts[i];
      receive.segments = counts[j];
      transfer(vi, level, send, receive);
    }
}

/* Segments without bytes among others: here 62 segments share 10 bytes, and the last one has them. */
static void empty_segments(int level) {
  VIP_VI_HANDLE vi = make_pair(level);
  Message send = message(0, 0, 10), receive = message(0, 0, 10);
  send.segments = 62;
  receive.segments = 5;
  transfer(vi, level, send, receive);
}

static void no_segments(int level) {
  VIP_VI_HANDLE vi = make_pair(level);
  Message send = message(0, 0, 0), receive = message(0, 0, 0);
  send.segments = receive.segments = 0;
  const Answer answer = transfer(vi, level, send, receive);
  CHECK((answer.status & VIP_STATUS_IMMEDIATE) == 0, "an immediate flag came that was not sent");
}

/* Immediate data come with data and alone. */
static void immediate(int level) {
  VIP_VI_HANDLE vi = make_pair(level);
  for (unsigned i = 0; i < 3; ++i) {
    Message send = message(i, 0, i * 100), receive = message(i, 0, 300);
    send.segments = receive.segments = i;
    receive.length = i == 0 ? 0 : 300;
    send.control = VIP_CONTROL_IMMEDIATE;
    send.immediate = 0xCAFE0000U + i;
    const Answer answer = transfer(vi, level, send, receive);
    CHECK((answer.status & VIP_STATUS_IMMEDIATE) != 0, "the immediate flag did not come");
    CHECK(answer.immediate == send.immediate, "immediate data %08X came as %08X", send.immediate, answer.immediate);
  }
}

static void no_immediate(int level) {
  VIP_VI_HANDLE vi = make_pair(level);
  const Answer answer = transfer(vi, level, message(0, 0, 100), message(0, 0, 100));
  CHECK((answer.status & VIP_STATUS_IMMEDIATE) == 0, "an immediate flag came that was not sent");
}

/* Programs keep an identifier in the immediate data of their sends. */
static void immediate_survives(int level) {
  VIP_VI_HANDLE vi = make_pair(level);
  Message send = message(0, 0, 100);
  send.immediate = 0x12345678;
  transfer(vi, level, send, message(0, 0, 100));
  CHECK(slot_at(&near, 0)->CS.ImmediateData == 0x12345678, "the immediate data of a send changed");
}

/* The library sets the status to zero when a descriptor is posted (5.5). */
static void status_is_cleared(int unused) {
  Message wanted = message(0, 0, 64);
  VIP_DESCRIPTOR* descriptor;
  (void)unused;
  near_open();
  VIP_VI_HANDLE vi = create_vi(&near, VIP_SERVICE_RELIABLE_DELIVERY, NULL, NULL);
  descriptor = describe(&near, &wanted);
  descriptor->CS.Status = 0xFFFFFFFF;
  EXPECT(VIP_SUCCESS, VipPostRecv, vi, descriptor, near.handle);
  EXPECT(VIP_NOT_DONE, VipRecvDone, vi, &descriptor);
  descriptor = slot_at(&near, 0);
  CHECK(descriptor->CS.Status == 0, "the status of a pending descriptor is %08X, not 0", descriptor->CS.Status);
}

/* Bits that say nothing on a receive are ignored (5.2). */
static void receive_ignores_bits(int level) {
  VIP_VI_HANDLE vi = make_pair(level);
  Message receive = message(0, 0, 100);
  receive.control = VIP_CONTROL_IMMEDIATE | VIP_CONTROL_QFENCE;
  transfer(vi, level, message(0, 0, 100), receive);
}

/* In both directions at once, more than any queue holds. */
static void both_directions(int level) {
  enum { ROUNDS = 50, WINDOW = 16 };
  VIP_VI_HANDLE vi = make_pair(level);
  for (int round = 0; round < ROUNDS; ++round) {
    for (unsigned slot = 0; slot < WINDOW; ++slot) {
      post_receive(vi, message(slot, slot * 1000, 1000));
      far_post_receive(0, message(slot, slot * 1000, 1000));
    }
    for (unsigned slot = WINDOW; slot < 2 * WINDOW; ++slot) {
      far_post_send(0, message(slot, slot * 1000, 1000));
      post_send(vi, message(slot, slot * 1000, 1000));
    }
    for (unsigned slot = 0; slot < WINDOW; ++slot) {
      reap_receive(vi, slot, 0, VIP_STATUS_OP_RECEIVE);
      reap_send(vi, WINDOW + slot, 0, VIP_STATUS_OP_SEND);
      far_reap_receive(0, slot, 0);
      far_reap_send(0, WINDOW + slot, 0);
    }
  }
}

/* A long message and a short one: neither is mixed with the other. */
static void messages_stay_apart(int level) {
  VIP_VI_HANDLE vi = make_pair(level);
  for (unsigned i = 0; i < 20; ++i) {
    far_post_receive(0, message(2 * i, 0, TRANSFER_BYTES));
    far_post_receive(0, message(2 * i + 1, TRANSFER_BYTES, 10));
    fill(data_at(&near, 0), TRANSFER_BYTES, i);
    fill(data_at(&near, TRANSFER_BYTES), 10, i + 100);
    post_send(vi, message(0, 0, TRANSFER_BYTES));
    post_send(vi, message(1, TRANSFER_BYTES, 10));
    reap_send(vi, 0, 0, VIP_STATUS_OP_SEND);
    reap_send(vi, 1, 0, VIP_STATUS_OP_SEND);
    far_reap_receive(0, 2 * i, 0);
    far_reap_receive(0, 2 * i + 1, 0);
    CHECK(far_matches(0, TRANSFER_BYTES, i) && far_matches(TRANSFER_BYTES, 10, i + 100), "messages are mixed up");
  }
}

#define EACH(name, call, clause, codes, run) AT_EACH_LEVEL(name, ID_##call, clause, EARLY, codes, run)

const Test transfer_tests[] = {
    EACH("send.lengths", VipPostSend, "VI-ARCH 6.1.1.2", RULE, lengths),
    EACH("send.odd_addresses", VipPostSend, "VI-ARCH 3.2.1", RULE, odd_addresses),
    EACH("send.larger_receive", VipRecvWait, "VI-DG 5.2", RULE, larger_receive),
    EACH("send.segments", VipPostSend, "VI-DG 5.4", RULE, segments),
    EACH("send.empty_segments", VipPostSend, "VI-DG 5.4", RULE, empty_segments),
    EACH("send.no_segments", VipPostSend, "VI-DG 5.4", RULE, no_segments),
    EACH("send.immediate", VipPostSend, "VI-DG 5.2", RULE, immediate),
    EACH("send.no_immediate", VipPostSend, "VI-DG 5.2", RULE, no_immediate),
    AT_EACH_LEVEL("send.immediate_survives", ID_VipPostSend, "programs", PRACTICE, RULE, immediate_survives),
    {"VipPostRecv.clears_status", ID_VipPostRecv, "VI-DG 5.5", EARLY, OK, status_is_cleared, 0},
    EACH("VipPostRecv.ignores_bits", VipPostRecv, "VI-DG 5.2", RULE, receive_ignores_bits),
    AT_RELIABLE_LEVELS("send.both_directions", ID_VipPostSend, "VI-ARCH 2.5.2", EARLY, OK, both_directions),
    AT_RELIABLE_LEVELS("send.messages_stay_apart", ID_VipPostSend, "VI-ARCH 2.5.2", EARLY, OK, messages_stay_apart),
    {NULL, 0, NULL, 0, 0, NULL, 0}};
