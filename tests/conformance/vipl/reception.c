/* VI-ARCH 2.5, VI-DG 2.4, 5.2: messages that find no receive, or one that is too small. */
#include <string.h>

#include "far.h"

static bool is_reliable(int level) { return level != VIP_SERVICE_UNRELIABLE; }

/* The far end sends `length` bytes until the near receive completes. */
static VIP_DESCRIPTOR* receive_from_far(VIP_VI_HANDLE vi, int level, VIP_UINT32 length) {
  VIP_DESCRIPTOR* done = NULL;
  VIP_RETURN code = VIP_TIMEOUT;
  for (unsigned slot = 0; slot < 20 && code == VIP_TIMEOUT; ++slot) {
    far_post_send(0, message(slot, 0, length));
    code = CALL(VipRecvWait, vi, is_reliable(level) ? VIP_INFINITE : 1000, &done);
  }
  CHECK(done != NULL, "VipRecvWait returned %s without a descriptor", code_name(code));
  return done;
}

/* The message is longer than the buffers: a length error, with length zero, and nothing beyond the buffers.
 */
static void too_small(int level) {
  VIP_VI_HANDLE vi = make_pair(level);
  post_receive(vi, message(0, 0, 99));
  post_receive(vi, message(1, 1000, 200));
  memset(data_at(&near, 99), 0x77, 500);
  far_fill(0, 100, 1);
  const VIP_DESCRIPTOR* done = receive_from_far(vi, level, 100);
  CHECK(done == slot_at(&near, 0), "the first receive did not come back");
  check_status(done, VIP_STATUS_LENGTH_ERROR, VIP_STATUS_OP_RECEIVE);
  CHECK(done->CS.Length == 0, "the length after an overrun is %u, not 0", done->CS.Length);
  for (size_t i = 99; i < 599; ++i) CHECK(*data_at(&near, i) == 0x77, "byte %zu beyond the buffer was written", i - 99);
  if (is_reliable(level)) {
    reap_receive(vi, 1, VIP_STATUS_DESC_FLUSHED_ERROR, VIP_STATUS_OP_RECEIVE);
    UNTIL(vi_state(vi) == VIP_STATE_ERROR);
    return;
  }
  CHECK(vi_state(vi) == VIP_STATE_CONNECTED, "an error took an Unreliable Delivery VI out of Connected");
  done = receive_from_far(vi, level, 100);
  CHECK(done == slot_at(&near, 1), "the second receive did not come back");
  check_status(done, 0, VIP_STATUS_OP_RECEIVE);
}

/* A long message for a small receive: it is noticed somewhere in the middle. */
static void much_too_small(int level) {
  VIP_VI_HANDLE vi = make_pair(level);
  post_receive(vi, message(0, 0, 5000));
  const VIP_DESCRIPTOR* done = receive_from_far(vi, level, TRANSFER_BYTES);
  CHECK((done->CS.Status & VIP_STATUS_LENGTH_ERROR) != 0, "status %08X: expected a length error", done->CS.Status);
  CHECK(done->CS.Length == 0, "the length after an overrun is %u, not 0", done->CS.Length);
}

/* On Reliable Reception the sender learns it from its descriptor. */
static void sender_learns(int unused) {
  (void)unused;
  VIP_VI_HANDLE vi = make_pair(VIP_SERVICE_RELIABLE_RECEPTION);
  far_post_receive(0, message(0, 0, 99));
  post_send(vi, message(0, 0, 100));
  post_send(vi, message(1, 0, 100));
  reap_send(vi, 0, VIP_STATUS_REMOTE_DESC_ERROR, VIP_STATUS_OP_SEND);
  reap_send(vi, 1, VIP_STATUS_DESC_FLUSHED_ERROR, VIP_STATUS_OP_SEND);
  far_reap_receive(0, 0, VIP_STATUS_LENGTH_ERROR);
  UNTIL(vi_state(vi) == VIP_STATE_ERROR);
}

static void sender_learns_empty(int unused) {
  (void)unused;
  need_unheld_sends(VIP_SERVICE_RELIABLE_RECEPTION);
  VIP_VI_HANDLE vi = make_pair(VIP_SERVICE_RELIABLE_RECEPTION);
  post_send(vi, message(0, 0, 100));
  reap_send(vi, 0, VIP_STATUS_REMOTE_DESC_ERROR, VIP_STATUS_OP_SEND);
  UNTIL(vi_state(vi) == VIP_STATE_ERROR);
}

/* On Reliable Delivery both ends lose the connection. */
static void delivery_breaks(int unused) {
  (void)unused;
  VIP_VI_HANDLE vi = make_pair(VIP_SERVICE_RELIABLE_DELIVERY);
  far_post_receive(0, message(0, 0, 99));
  post_send(vi, message(0, 0, 100));
  far_reap_receive(0, 0, VIP_STATUS_LENGTH_ERROR);
  UNTIL(far_state(0) == VIP_STATE_ERROR);
  wait_for_error(&near, vi, VIP_ERROR_CONN_LOST);
  UNTIL(vi_state(vi) == VIP_STATE_ERROR);
}

/* No receive is posted: the reliable connection breaks, and the receiver is told. */
static void queue_empty(int level) {
  need_unheld_sends(level);
  VIP_VI_HANDLE vi = make_pair(level);
  far_post_send(0, message(0, 0, 100));
  wait_for_error(&near, vi, VIP_ERROR_RECVQ_EMPTY);
  UNTIL(vi_state(vi) == VIP_STATE_ERROR);
  UNTIL(far_state(0) == VIP_STATE_ERROR);
}

/* On Unreliable Delivery the message is dropped, and the next one is received. */
static void queue_empty_unreliable(int unused) {
  (void)unused;
  need_unheld_sends(VIP_SERVICE_UNRELIABLE);
  VIP_VI_HANDLE vi = make_pair(VIP_SERVICE_UNRELIABLE);
  for (unsigned slot = 20; slot < 30; ++slot) {
    far_post_send(0, message(slot, 0, 100));
    far_reap_send(0, slot, 0);
  }
  pause_ms(50);
  post_receive(vi, message(0, 0, 200));
  const VIP_DESCRIPTOR* done = receive_from_far(vi, VIP_SERVICE_UNRELIABLE, 100);
  check_status(done, 0, VIP_STATUS_OP_RECEIVE);
  CHECK(vi_state(vi) == VIP_STATE_CONNECTED, "an error took an Unreliable Delivery VI out of Connected");
}

/* Receives that are posted before the connection is there are used by it. */
static void posted_before_connection(int level) {
  need_level(level);
  far_create_vi(0, (VIP_RELIABILITY_LEVEL)level);
  VIP_VI_HANDLE vi = create_vi(&near, (VIP_RELIABILITY_LEVEL)level, NULL, NULL);
  far_post_receive(0, message(0, 0, 100));
  post_receive(vi, message(0, 0, 100));
  connect_pair(vi, 0);
  const VIP_DESCRIPTOR* done = receive_from_far(vi, level, 100);
  check_status(done, 0, VIP_STATUS_OP_RECEIVE);
  if (!is_reliable(level)) return;
  post_send(vi, message(1, 0, 100));
  far_reap_receive(0, 0, 0);
}

#define FAILED PROVES(VIP_DESCRIPTOR_ERROR)

const Test reception_tests[] = {
    AT_EACH_LEVEL("receive.too_small", ID_VipRecvWait, "VI-DG 5.2", EARLY, RULE, too_small),
    AT_EACH_LEVEL("receive.much_too_small", ID_VipRecvWait, "VI-DG 5.2", EARLY, RULE, much_too_small),
    {"receive.too_small_tells_sender", ID_VipSendWait, "VI-ARCH 2.5.3", FULL, FAILED, sender_learns, 0},
    {"receive.queue_empty_tells_sender", ID_VipSendWait, "VI-DG 5.2", FULL, FAILED, sender_learns_empty, 0},
    {"receive.too_small_breaks_connection", ID_VipErrorCallback, "VI-ARCH 2.5.2", FUNCTIONAL, RULE, delivery_breaks, 0},
    AT_RELIABLE_LEVELS("receive.queue_empty", ID_VipErrorCallback, "VI-DG 3.8.1", FUNCTIONAL, RULE, queue_empty),
    {"receive.queue_empty.unreliable_delivery", ID_VipRecvWait, "VI-ARCH 2.5.1", FULL, RULE, queue_empty_unreliable, 0},
    AT_EACH_LEVEL("receive.posted_before_connection", ID_VipPostRecv, "VI-ARCH 6.2", EARLY, PROVES(VIP_SUCCESS),
                  posted_before_connection),
    {NULL, 0, NULL, 0, 0, NULL, 0}};
