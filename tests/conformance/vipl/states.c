/* VI-ARCH 5: what each call does in each of the four states of a VI. */
#include <string.h>

#include "far.h"

static const char* const state_names[] = {"Idle", "Connected", "Pending Connect", "Error"};

/* A client's request that a server has seen and not answered holds its VI in Pending Connect. */
static struct {
  VIP_VI_HANDLE vi;
  Address local, remote;
  VIP_RETURN code;
  pthread_t thread;
} pending;

static void* request_and_wait(void* unused) {
  VIP_VI_ATTRIBUTES attributes;
  (void)unused;
  pending.code = request_until_matched(pending.vi, &pending.local, &pending.remote, VIP_INFINITE, &attributes);
  return NULL;
}

static VIP_VI_HANDLE pending_vi(VIP_VI_HANDLE vi) {
  Order wait = far_order(ORDER_WAIT, 0);
  far_open();
  pending.vi = vi;
  pending.local = fresh_address(&near.attributes);
  pending.remote = wait.address = fresh_address(&far.nic);
  pending.thread = start_thread(request_and_wait, NULL);
  FAR_EXPECT(VIP_SUCCESS, wait);
  UNTIL(vi_state(vi) == VIP_STATE_CONNECT_PENDING);
  return vi;
}

/* A Reliable Delivery VI whose peer has disconnected is in Error (VI-DG 3.3.5). */
static VIP_VI_HANDLE vi_in(VIP_VI_STATE state) {
  VIP_VI_HANDLE vi;
  near_open();
  switch (state) {
    case VIP_STATE_CONNECTED: return make_pair(VIP_SERVICE_RELIABLE_DELIVERY);
    case VIP_STATE_CONNECT_PENDING: return pending_vi(create_vi(&near, VIP_SERVICE_RELIABLE_DELIVERY, NULL, NULL));
    case VIP_STATE_ERROR:
      vi = make_pair(VIP_SERVICE_RELIABLE_DELIVERY);
      FAR_EXPECT(VIP_SUCCESS, far_order(ORDER_DISCONNECT, 0));
      UNTIL(vi_state(vi) == VIP_STATE_ERROR);
      return vi;
    case VIP_STATE_IDLE: break;
  }
  return create_vi(&near, VIP_SERVICE_RELIABLE_DELIVERY, NULL, NULL);
}

/* Ends what pending_vi began: the server rejects, or the request was given up. */
static void leave(VIP_VI_STATE state, bool was_disconnected) {
  if (state != VIP_STATE_CONNECT_PENDING) return;
  if (!was_disconnected) FAR_EXPECT(VIP_SUCCESS, far_order(ORDER_REJECT, 0));
  join_thread(pending.thread);
  if (!was_disconnected)
    expect_code(__FILE__, __LINE__, ID_VipConnectRequest, VIP_REJECT, pending.code);
  else
    CHECK(pending.code != VIP_SUCCESS, "VipConnectRequest succeeded on a VI that was disconnected meanwhile");
}

static void check_state(VIP_VI_HANDLE vi, VIP_VI_STATE wanted) {
  const VIP_VI_STATE state = vi_state(vi);
  CHECK(state == wanted, "expected the VI to be %s, it is %s", state_names[wanted], state_names[state & 3]);
}

/* ---- One test per state and call --------------------------------------------------------------------- */

static void query(int state) {
  VIP_VI_HANDLE vi = vi_in((VIP_VI_STATE)state);
  check_state(vi, (VIP_VI_STATE)state);
  leave((VIP_VI_STATE)state, false);
}

static void destroy(int state) {
  VIP_VI_HANDLE vi = vi_in((VIP_VI_STATE)state);
  EXPECT(state == VIP_STATE_IDLE ? VIP_SUCCESS : VIP_INVALID_STATE, VipDestroyVi, vi);
  if (state != VIP_STATE_IDLE) check_state(vi, (VIP_VI_STATE)state);
  leave((VIP_VI_STATE)state, false);
}

/* In Idle nobody waits for the request, which is no matter of state. */
static void request(int state) {
  VIP_VI_HANDLE vi = vi_in((VIP_VI_STATE)state);
  Address local = fresh_address(&near.attributes), remote = fresh_address(&near.attributes);
  VIP_VI_ATTRIBUTES attributes;
  EXPECT(state == VIP_STATE_IDLE ? VIP_NO_MATCH : VIP_INVALID_STATE, VipConnectRequest, vi, &local.net, &remote.net,
         VIP_INFINITE, &attributes);
  check_state(vi, (VIP_VI_STATE)state);
  leave((VIP_VI_STATE)state, false);
}

static void accept(int state) {
  VIP_VI_HANDLE vi = vi_in((VIP_VI_STATE)state);
  VIP_CONN_HANDLE connection;
  far_create_vi(1, VIP_SERVICE_RELIABLE_DELIVERY);
  connection = receive_request(1, VIP_INFINITE);
  if (state == VIP_STATE_IDLE) {
    EXPECT(VIP_SUCCESS, VipConnectAccept, connection, vi);
    FAR_ANSWERS(VIP_SUCCESS);
    check_state(vi, VIP_STATE_CONNECTED);
    return;
  }
  EXPECT(VIP_INVALID_STATE, VipConnectAccept, connection, vi);
  check_state(vi, (VIP_VI_STATE)state);
  EXPECT(VIP_SUCCESS, VipConnectReject, connection); /* the request was still there */
  FAR_ANSWERS(VIP_REJECT);
  leave((VIP_VI_STATE)state, false);
}

static void peer_request(int state) {
  VIP_VI_HANDLE vi = vi_in((VIP_VI_STATE)state);
  Address local = fresh_address(&near.attributes), remote = fresh_address(&near.attributes);
  EXPECT(state == VIP_STATE_IDLE ? VIP_SUCCESS : VIP_INVALID_STATE, VipConnectPeerRequest, vi, &local.net, &remote.net,
         VIP_INFINITE);
  check_state(vi, state == VIP_STATE_IDLE ? VIP_STATE_CONNECT_PENDING : (VIP_VI_STATE)state);
  leave((VIP_VI_STATE)state, false);
}

/* Not in Pending Connect, these have nothing to tell. */
static void peer_done(int state) {
  VIP_VI_HANDLE vi = vi_in((VIP_VI_STATE)state);
  VIP_VI_ATTRIBUTES attributes;
  EXPECT(VIP_INVALID_STATE, VipConnectPeerDone, vi, &attributes);
  check_state(vi, (VIP_VI_STATE)state);
}

static void peer_wait(int state) {
  VIP_VI_HANDLE vi = vi_in((VIP_VI_STATE)state);
  VIP_VI_ATTRIBUTES attributes;
  EXPECT(VIP_INVALID_STATE, VipConnectPeerWait, vi, &attributes);
  check_state(vi, (VIP_VI_STATE)state);
}

static void set_attributes(int state) {
  VIP_VI_HANDLE vi = vi_in((VIP_VI_STATE)state);
  VIP_VI_ATTRIBUTES wanted = vi_attributes(&near, VIP_SERVICE_RELIABLE_DELIVERY), came;
  VIP_BOOLEAN send_empty, receive_empty;
  VIP_VI_STATE now;
  wanted.EnableRdmaWrite = VIP_FALSE;
  EXPECT(state == VIP_STATE_IDLE ? VIP_SUCCESS : VIP_INVALID_STATE, VipSetViAttributes, vi, &wanted);
  EXPECT(VIP_SUCCESS, VipQueryVi, vi, &now, &came, &send_empty, &receive_empty);
  CHECK((came.EnableRdmaWrite == VIP_FALSE) == (state == VIP_STATE_IDLE), "attributes %s",
        state == VIP_STATE_IDLE ? "were not set" : "changed though the VI is not Idle");
  leave((VIP_VI_STATE)state, false);
}

/* Only a Connected VI sends; else the descriptor is completed in error at once. */
static void send(int state) {
  VIP_VI_HANDLE vi = vi_in((VIP_VI_STATE)state);
  VIP_DESCRIPTOR* descriptor = NULL;
  if (state == VIP_STATE_CONNECTED) far_post_receive(0, message(0, 0, 64));
  post_send(vi, message(0, 0, 64));
  EXPECT(state == VIP_STATE_CONNECTED ? VIP_SUCCESS : VIP_DESCRIPTOR_ERROR, VipSendWait, vi, VIP_INFINITE, &descriptor);
  CHECK(descriptor == slot_at(&near, 0), "the descriptor that was posted did not come back");
  CHECK((descriptor->CS.Status & VIP_STATUS_DONE) != 0, "status %08X: not done", descriptor->CS.Status);
  CHECK(((descriptor->CS.Status & VIP_STATUS_ERROR_MASK) == 0) == (state == VIP_STATE_CONNECTED),
        "status %08X: expected %s", descriptor->CS.Status, state == VIP_STATE_CONNECTED ? "no error" : "an error");
  check_state(vi, (VIP_VI_STATE)state);
  leave((VIP_VI_STATE)state, false);
}

/* In Error a receive is completed in error at once; else it waits. */
static void receive(int state) {
  VIP_VI_HANDLE vi = vi_in((VIP_VI_STATE)state);
  VIP_DESCRIPTOR* descriptor = NULL;
  post_receive(vi, message(0, 0, 64));
  if (state == VIP_STATE_ERROR) {
    reap_receive(vi, 0, VIP_STATUS_DESC_FLUSHED_ERROR, VIP_STATUS_OP_RECEIVE);
  } else {
    EXPECT(VIP_NOT_DONE, VipRecvDone, vi, &descriptor);
  }
  check_state(vi, (VIP_VI_STATE)state);
  leave((VIP_VI_STATE)state, false);
}

/* From every state to Idle, with posted receives flushed. */
static void disconnect(int state) {
  VIP_VI_HANDLE vi = vi_in((VIP_VI_STATE)state);
  post_receive(vi, message(0, 0, 64));
  EXPECT(VIP_SUCCESS, VipDisconnect, vi);
  check_state(vi, VIP_STATE_IDLE);
  reap_receive(vi, 0, VIP_STATUS_DESC_FLUSHED_ERROR, VIP_STATUS_OP_RECEIVE);
  leave((VIP_VI_STATE)state, true);
  EXPECT(VIP_SUCCESS, VipDestroyVi, vi);
}

/* An accepted request ends the wait in Pending Connect. */
static void pending_to_connected(int unused) {
  VIP_VI_HANDLE vi = vi_in(VIP_STATE_CONNECT_PENDING);
  (void)unused;
  far_create_vi(0, VIP_SERVICE_RELIABLE_DELIVERY);
  FAR_EXPECT(VIP_SUCCESS, far_order(ORDER_ACCEPT, 0));
  join_thread(pending.thread);
  expect_code(__FILE__, __LINE__, ID_VipConnectRequest, VIP_SUCCESS, pending.code);
  check_state(vi, VIP_STATE_CONNECTED);
}

/* A rejected one too; receives that were posted before stay posted. */
static void pending_to_idle(int unused) {
  VIP_VI_HANDLE vi = vi_in(VIP_STATE_CONNECT_PENDING);
  VIP_DESCRIPTOR* descriptor = NULL;
  (void)unused;
  post_receive(vi, message(0, 0, 64));
  leave(VIP_STATE_CONNECT_PENDING, false);
  check_state(vi, VIP_STATE_IDLE);
  EXPECT(VIP_NOT_DONE, VipRecvDone, vi, &descriptor);
}

#define IN_STATE(name, call, clause, phase, codes, run, state) \
  { "state." name "." #call, ID_##call, clause, phase, codes, run, state }
#define IN_EACH_STATE(call, phase, in_idle, elsewhere, run) \
  IN_STATE("idle", call, "VI-ARCH 5.1", phase, in_idle, run, VIP_STATE_IDLE), \
      IN_STATE("pending_connect", call, "VI-ARCH 5.2", phase, elsewhere, run, VIP_STATE_CONNECT_PENDING), \
      IN_STATE("connected", call, "VI-ARCH 5.3", phase, elsewhere, run, VIP_STATE_CONNECTED), \
      IN_STATE("error", call, "VI-ARCH 5.4", phase, elsewhere, run, VIP_STATE_ERROR)
/* Each state but Pending Connect, on the page of the call. */
#define NOT_PENDING(call, run) \
  IN_STATE("idle", call, NULL, FUNCTIONAL, PROVES(VIP_INVALID_STATE), run, VIP_STATE_IDLE), \
      IN_STATE("connected", call, NULL, FUNCTIONAL, PROVES(VIP_INVALID_STATE), run, VIP_STATE_CONNECTED), \
      IN_STATE("error", call, NULL, FUNCTIONAL, PROVES(VIP_INVALID_STATE), run, VIP_STATE_ERROR)

const Test state_tests[] = {
    IN_EACH_STATE(VipQueryVi, EARLY, PROVES(VIP_SUCCESS), PROVES(VIP_SUCCESS), query),
    IN_EACH_STATE(VipDestroyVi, EARLY, PROVES(VIP_SUCCESS), PROVES(VIP_INVALID_STATE), destroy),
    IN_EACH_STATE(VipConnectRequest, EARLY, PROVES(VIP_NO_MATCH), PROVES(VIP_INVALID_STATE), request),
    IN_EACH_STATE(VipConnectAccept, EARLY, PROVES(VIP_SUCCESS), PROVES(VIP_INVALID_STATE), accept),
    IN_EACH_STATE(VipConnectPeerRequest, FUNCTIONAL, PROVES(VIP_SUCCESS), PROVES(VIP_INVALID_STATE), peer_request),
    NOT_PENDING(VipConnectPeerDone, peer_done),
    NOT_PENDING(VipConnectPeerWait, peer_wait),
    IN_EACH_STATE(VipSetViAttributes, FULL, PROVES(VIP_SUCCESS), PROVES(VIP_INVALID_STATE), set_attributes),
    IN_EACH_STATE(VipPostSend, EARLY, PROVES(VIP_SUCCESS), PROVES(VIP_SUCCESS), send),
    IN_EACH_STATE(VipPostRecv, EARLY, PROVES(VIP_SUCCESS), PROVES(VIP_SUCCESS), receive),
    IN_EACH_STATE(VipDisconnect, EARLY, PROVES(VIP_SUCCESS), PROVES(VIP_SUCCESS), disconnect),
    {"state.pending_connect.accepted", ID_VipConnectRequest, "VI-ARCH 5.2", EARLY, PROVES(VIP_SUCCESS),
     pending_to_connected, 0},
    {"state.pending_connect.rejected", ID_VipConnectRequest, "VI-ARCH 5.2", EARLY, PROVES(VIP_REJECT), pending_to_idle,
     0},
    {NULL, 0, NULL, 0, 0, NULL, 0}};
