/* VI-DG 3.3.5, 6.2, 6.3.3: ending a connection, and how each end learns it. */
#include "far.h"

static void disconnect_far(void) { FAR_EXPECT(VIP_SUCCESS, far_order(ORDER_DISCONNECT, 0)); }

/* The local end is Idle; the remote one is in Error and is told once; who asked is not told. */
static void tells_the_other_end(int level) {
  VIP_VI_HANDLE vi = make_pair(level);
  VIP_ERROR_DESCRIPTOR error;
  disconnect_far();
  CHECK(far_state(0) == VIP_STATE_IDLE, "the VI that was disconnected is not Idle");
  error = wait_for_error(&near, vi, VIP_ERROR_CONN_LOST);
  CHECK(error.NicHandle == near.nic, "the error names another NIC handle");
  CHECK(vi_state(vi) == VIP_STATE_ERROR, "the VI whose connection was lost is not in Error");
  EXPECT(VIP_SUCCESS, VipDisconnect, vi);
  CHECK(vi_state(vi) == VIP_STATE_IDLE, "VipDisconnect did not take the VI from Error to Idle");
  connect_pair(vi, 0);
  CHECK(count_errors(&near, vi, VIP_ERROR_CONN_LOST) == 1, "the loss of one connection was told %zu times",
        count_errors(&near, vi, VIP_ERROR_CONN_LOST));
  Order order = far_order(ORDER_ERROR_COUNT, 0);
  order.error = VIP_ERROR_CONN_LOST;
  CHECK(far_do(order).count == 0, "who called VipDisconnect was told that the connection is lost");
}

/* Without a handler the VI shows it (VI-ARCH 4.2). */
static void shows_in_the_state(int level) {
  VIP_VI_HANDLE vi = make_pair(level);
  disconnect_far();
  UNTIL(vi_state(vi) == VIP_STATE_ERROR);
  EXPECT(VIP_SUCCESS, VipDisconnect, vi);
  CHECK(vi_state(vi) == VIP_STATE_IDLE, "VipDisconnect did not take the VI from Error to Idle");
}

/* Posted receives come back in their order, with the flushed bit, at both ends. */
static void flushes(int level) {
  VIP_VI_HANDLE vi = make_pair(level);
  for (unsigned slot = 0; slot < 8; ++slot) {
    post_receive(vi, message(slot, 0, 64));
    far_post_receive(0, message(slot, 0, 64));
  }
  EXPECT(VIP_SUCCESS, VipDisconnect, vi);
  for (unsigned slot = 0; slot < 8; ++slot) {
    reap_receive(vi, slot, VIP_STATUS_DESC_FLUSHED_ERROR, VIP_STATUS_OP_RECEIVE);
    far_reap_receive(0, slot, VIP_STATUS_DESC_FLUSHED_ERROR);
  }
}

/* Nothing was posted, nothing is connected: there is nothing to do. */
static void idle_twice(int unused) {
  (void)unused;
  near_open();
  VIP_VI_HANDLE vi = create_vi(&near, VIP_SERVICE_RELIABLE_DELIVERY, NULL, NULL);
  EXPECT(VIP_SUCCESS, VipDisconnect, vi);
  EXPECT(VIP_SUCCESS, VipDisconnect, vi);
  EXPECT(VIP_SUCCESS, VipDestroyVi, vi);
}

static void both_at_once(int level) {
  for (int round = 0; round < 10; ++round) {
    VIP_VI_HANDLE vi = make_pair(level);
    far_start(far_order(ORDER_DISCONNECT, 0));
    EXPECT(VIP_SUCCESS, VipDisconnect, vi);
    FAR_ANSWERS(VIP_SUCCESS);
    CHECK(vi_state(vi) == VIP_STATE_IDLE && far_state(0) == VIP_STATE_IDLE, "a VI is not Idle after VipDisconnect");
    EXPECT(VIP_SUCCESS, VipDestroyVi, vi);
    FAR_EXPECT(VIP_SUCCESS, far_order(ORDER_DESTROY_VI, 0));
  }
}

static void* receive_for_ever(void* vi) {
  VIP_DESCRIPTOR* descriptor = NULL;
  EXPECT(VIP_DESCRIPTOR_ERROR, VipRecvWait, vi, VIP_INFINITE, &descriptor);
  CHECK(descriptor == slot_at(&near, 0), "VipRecvWait did not return the descriptor that was flushed");
  check_status(descriptor, VIP_STATUS_DESC_FLUSHED_ERROR, VIP_STATUS_OP_RECEIVE);
  return NULL;
}

/* The other end disconnects, or this one: a blocked VipRecvWait returns. */
static void wakes_receiver(int far_disconnects) {
  VIP_VI_HANDLE vi = make_pair(VIP_SERVICE_RELIABLE_DELIVERY);
  post_receive(vi, message(0, 0, 64));
  pthread_t thread = start_thread(receive_for_ever, vi);
  pause_ms(20);
  if (far_disconnects)
    disconnect_far();
  else
    EXPECT(VIP_SUCCESS, VipDisconnect, vi);
  join_thread(thread);
}

/* Closing the NIC ends its connections: the other end learns it. */
static void far_closes_its_nic(int level) {
  VIP_VI_HANDLE vi = make_pair(level);
  post_receive(vi, message(0, 0, 64));
  FAR_EXPECT(VIP_SUCCESS, far_order(ORDER_CLOSE, 0));
  reap_receive(vi, 0, VIP_STATUS_DESC_FLUSHED_ERROR, VIP_STATUS_OP_RECEIVE);
  wait_for_error(&near, vi, VIP_ERROR_CONN_LOST);
  CHECK(vi_state(vi) == VIP_STATE_ERROR, "the VI whose connection was lost is not in Error");
}

/* Programs end without closing anything, or are killed (VI-ARCH 3.1). */
static void far_process_dies(int level) {
  VIP_VI_HANDLE vi = make_pair(level);
  post_receive(vi, message(0, 0, 64));
  far_kill();
  reap_receive(vi, 0, VIP_STATUS_DESC_FLUSHED_ERROR, VIP_STATUS_OP_RECEIVE);
  wait_for_error(&near, vi, VIP_ERROR_CONN_LOST);
  CHECK(vi_state(vi) == VIP_STATE_ERROR, "the VI whose connection was lost is not in Error");
  EXPECT(VIP_SUCCESS, VipDisconnect, vi);
  CHECK(vi_state(vi) == VIP_STATE_IDLE, "VipDisconnect did not take the VI from Error to Idle");
}

const Test disconnect_tests[] = {
    AT_EACH_LEVEL("disconnect.tells_the_other_end", ID_VipDisconnect, "VI-DG 6.2", FUNCTIONAL, OK, tells_the_other_end),
    AT_EACH_LEVEL("disconnect.shows_in_the_state", ID_VipDisconnect, "VI-DG 3.3.5", EARLY, OK, shows_in_the_state),
    AT_EACH_LEVEL("disconnect.flushes", ID_VipDisconnect, "VI-DG 3.3.5", EARLY, OK, flushes),
    AT_EACH_LEVEL("disconnect.both_at_once", ID_VipDisconnect, "VI-DG 3.3.5", EARLY, OK, both_at_once),
    {"disconnect.idle_twice", ID_VipDisconnect, "VI-DG 3.3.5", EARLY, OK, idle_twice, 0},
    {"disconnect.wakes_own_receiver", ID_VipRecvWait, "VI-DG 3.5.6", EARLY, PROVES(VIP_DESCRIPTOR_ERROR),
     wakes_receiver, 0},
    {"disconnect.wakes_other_receiver", ID_VipRecvWait, "VI-DG 3.5.6", EARLY, PROVES(VIP_DESCRIPTOR_ERROR),
     wakes_receiver, 1},
    AT_EACH_LEVEL("disconnect.far_closes_its_nic", ID_VipCloseNic, "VI-DG 3.3.5", FUNCTIONAL, RULE, far_closes_its_nic),
    AT_EACH_LEVEL("disconnect.far_process_dies", ID_VipRecvWait, "programs", PRACTICE, PROVES(VIP_DESCRIPTOR_ERROR),
                  far_process_dies),
    {NULL, 0, NULL, 0, 0, NULL, 0}};
