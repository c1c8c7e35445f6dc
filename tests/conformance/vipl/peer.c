/* VI-DG 3.3.6 to 3.3.8, 6.7: connections between peers. */
#include <string.h>

#include "far.h"

typedef enum { DONE, WAIT } How; /* how the result of a request is asked for */

/* The near end's two addresses, and the far end's. Both remote addresses have the same discriminator. */
static Address near_local, near_remote, far_local, far_remote;

static void make_addresses(void) {
  near_local = fresh_address(&near.attributes);
  const unsigned char* discriminator = discriminator_of(&near_local);
  near_remote = address_of(&far.nic, discriminator, 16);
  far_remote = address_of(&near.attributes, discriminator, 16);
  far_local = fresh_address(&far.nic);
}

static VIP_VI_HANDLE make_ends(VIP_RELIABILITY_LEVEL level) {
  far_create_vi(0, level);
  make_addresses();
  return create_vi(&near, level, NULL, NULL);
}

static void request(VIP_VI_HANDLE vi, VIP_ULONG timeout) {
  EXPECT(VIP_SUCCESS, VipConnectPeerRequest, vi, &near_local.net, &near_remote.net, timeout);
}

static Order far_request_order(unsigned vi, VIP_ULONG timeout) {
  Order order = far_order(ORDER_PEER_REQUEST, vi);
  order.local = far_local;
  order.address = far_remote;
  order.timeout = timeout;
  return order;
}

/* The result of the near request, once there is one. */
static VIP_RETURN result(How how, VIP_VI_HANDLE vi, VIP_VI_ATTRIBUTES* attributes) {
  VIP_RETURN code;
  if (how == WAIT) return CALL(VipConnectPeerWait, vi, attributes);
  while ((code = CALL(VipConnectPeerDone, vi, attributes)) == VIP_NOT_DONE) pause_ms(1);
  return code;
}

static void expect_result(VIP_RETURN expected, How how, VIP_VI_HANDLE vi) {
  VIP_VI_ATTRIBUTES attributes;
  expect_code(__FILE__, __LINE__, how == DONE ? ID_VipConnectPeerDone : ID_VipConnectPeerWait, expected,
              result(how, vi, &attributes));
}

static void check_state(VIP_VI_HANDLE vi, VIP_VI_STATE wanted) {
  const VIP_VI_STATE state = vi_state(vi);
  CHECK(state == wanted, "expected the VI in state %d (VIP_VI_STATE), it is in %d", (int)wanted, (int)state);
}

static void exchange(VIP_VI_HANDLE vi, unsigned far_vi) {
  far_post_receive(far_vi, message(1, 2000, 100));
  fill(data_at(&near, 0), 100, far_vi);
  post_send(vi, message(1, 0, 100));
  reap_send(vi, 1, 0, VIP_STATUS_OP_SEND);
  far_reap_receive(far_vi, 1, 0);
  CHECK(far_matches(2000, 100, far_vi), "the data did not arrive");
}

/* ---- Success ----------------------------------------------------------------------------------------- */

/* The near end first: its request is under way until the far one comes. */
static void near_first(int how) {
  VIP_VI_HANDLE vi = make_ends(RELIABLE);
  VIP_VI_ATTRIBUTES attributes;
  request(vi, VIP_INFINITE);
  check_state(vi, VIP_STATE_CONNECT_PENDING);
  EXPECT(VIP_NOT_DONE, VipConnectPeerDone, vi, &attributes);
  FAR_EXPECT(VIP_SUCCESS, far_request_order(0, VIP_INFINITE));
  expect_result(VIP_SUCCESS, (How)how, vi);
  check_state(vi, VIP_STATE_CONNECTED);
  FAR_EXPECT(VIP_SUCCESS, far_order(ORDER_PEER_WAIT, 0));
  exchange(vi, 0);
}

static void far_first(int how) {
  VIP_VI_HANDLE vi = make_ends(RELIABLE);
  FAR_EXPECT(VIP_SUCCESS, far_request_order(0, VIP_INFINITE));
  request(vi, VIP_INFINITE);
  expect_result(VIP_SUCCESS, (How)how, vi);
  FAR_EXPECT(VIP_SUCCESS, far_order(ORDER_PEER_WAIT, 0));
  exchange(vi, 0);
}

/* Both learn the other's attributes. */
static void attributes_come(int level) {
  VIP_VI_HANDLE vi;
  VIP_VI_ATTRIBUTES wanted, came;
  need_level(level);
  far_create_vi(0, (VIP_RELIABILITY_LEVEL)level);
  make_addresses();
  wanted = vi_attributes(&near, (VIP_RELIABILITY_LEVEL)level);
  wanted.EnableRdmaWrite = VIP_FALSE;
  EXPECT(VIP_SUCCESS, VipCreateVi, near.nic, &wanted, NULL, NULL, &vi);
  request(vi, VIP_INFINITE);
  FAR_EXPECT(VIP_SUCCESS, far_request_order(0, VIP_INFINITE));
  EXPECT(VIP_SUCCESS, VipConnectPeerWait, vi, &came);
  CHECK(came.ReliabilityLevel == level && came.MaxTransferSize == TRANSFER_BYTES && came.EnableRdmaWrite,
        "the attributes of the far VI did not come");
  came = FAR_EXPECT(VIP_SUCCESS, far_order(ORDER_PEER_WAIT, 0)).attributes;
  CHECK(came.ReliabilityLevel == level && !came.EnableRdmaWrite, "the attributes of the near VI did not come");
}

/* Both at the same time, in every interleaving that comes. */
static void at_once(int unused) {
  VIP_VI_HANDLE vi = make_ends(RELIABLE);
  (void)unused;
  for (int round = 0; round < 30; ++round) {
    make_addresses();
    far_start(far_request_order(0, VIP_INFINITE));
    request(vi, VIP_INFINITE);
    expect_result(VIP_SUCCESS, round % 2 == 0 ? WAIT : DONE, vi);
    FAR_ANSWERS(VIP_SUCCESS);
    FAR_EXPECT(VIP_SUCCESS, far_order(ORDER_PEER_WAIT, 0));
    exchange(vi, 0);
    EXPECT(VIP_SUCCESS, VipDisconnect, vi);
    FAR_EXPECT(VIP_SUCCESS, far_order(ORDER_DISCONNECT, 0));
  }
}

/* Requests with different discriminators, given in opposite order. */
static void several(int unused) {
  VIP_VI_HANDLE vis[4];
  Address far_locals[4], far_remotes[4];
  (void)unused;
  for (unsigned i = 0; i < 4; ++i) {
    far_create_vi(i, RELIABLE);
    vis[i] = create_vi(&near, RELIABLE, NULL, NULL);
    make_addresses();
    far_locals[i] = far_local;
    far_remotes[i] = far_remote;
    request(vis[i], VIP_INFINITE);
  }
  for (unsigned i = 4; i-- > 0;) {
    far_local = far_locals[i];
    far_remote = far_remotes[i];
    FAR_EXPECT(VIP_SUCCESS, far_request_order(i, VIP_INFINITE));
  }
  for (unsigned i = 0; i < 4; ++i) {
    expect_result(VIP_SUCCESS, WAIT, vis[i]);
    FAR_EXPECT(VIP_SUCCESS, far_order(ORDER_PEER_WAIT, i));
  }
  for (unsigned i = 0; i < 4; ++i) exchange(vis[i], i);
}

/* Two pairs with one discriminator: who comes is matched with who waits. */
static void equal_discriminators(int unused) {
  VIP_VI_HANDLE vis[2];
  (void)unused;
  vis[0] = make_ends(RELIABLE);
  vis[1] = create_vi(&near, RELIABLE, NULL, NULL);
  far_create_vi(1, RELIABLE);
  if (memcmp(near_remote.net.HostAddress, far_remote.net.HostAddress, near_remote.net.HostAddressLen) == 0)
    skip("both ends have the same address: the two far requests match each other");
  for (unsigned i = 0; i < 2; ++i) FAR_EXPECT(VIP_SUCCESS, far_request_order(i, VIP_INFINITE));
  for (unsigned i = 0; i < 2; ++i) request(vis[i], VIP_INFINITE);
  for (unsigned i = 0; i < 2; ++i) expect_result(VIP_SUCCESS, WAIT, vis[i]);
  for (unsigned i = 0; i < 2; ++i) FAR_EXPECT(VIP_SUCCESS, far_order(ORDER_PEER_WAIT, i));
}

/* ---- The result is told once ------------------------------------------------------------------------- */

static void told_once(int how) {
  VIP_VI_HANDLE vi = make_ends(RELIABLE);
  FAR_EXPECT(VIP_SUCCESS, far_request_order(0, VIP_INFINITE));
  request(vi, VIP_INFINITE);
  expect_result(VIP_SUCCESS, (How)how, vi);
  expect_result(VIP_INVALID_STATE, (How)how, vi);
  FAR_EXPECT(VIP_SUCCESS, far_order(ORDER_PEER_WAIT, 0));
}

/* ---- Time-outs --------------------------------------------------------------------------------------- */

static void timeout(int how) {
  VIP_VI_HANDLE vi = make_ends(RELIABLE);
  const uint64_t start = now_ns();
  request(vi, 200);
  expect_result(VIP_TIMEOUT, (How)how, vi);
  CHECK(now_ns() - start >= 199000000U, "the request timed out too early");
  check_state(vi, VIP_STATE_IDLE);
  FAR_EXPECT(VIP_SUCCESS, far_request_order(0, VIP_INFINITE)); /* the VI can be used again */
  request(vi, VIP_INFINITE);
  expect_result(VIP_SUCCESS, WAIT, vi);
  FAR_EXPECT(VIP_SUCCESS, far_order(ORDER_PEER_WAIT, 0));
}

static void timeout_zero(int unused) {
  VIP_VI_HANDLE vi = make_ends(RELIABLE);
  (void)unused;
  EXPECT(VIP_INVALID_PARAMETER, VipConnectPeerRequest, vi, &near_local.net, &near_remote.net, 0);
  check_state(vi, VIP_STATE_IDLE);
}

static void foreign_host(int unused) {
  VIP_VI_HANDLE vi = make_ends(RELIABLE);
  (void)unused;
  near_local.net.HostAddress[0] ^= 0x5A;
  EXPECT(VIP_INVALID_PARAMETER, VipConnectPeerRequest, vi, &near_local.net, &near_remote.net, VIP_INFINITE);
  check_state(vi, VIP_STATE_IDLE);
}

/* The far end asks for another discriminator. */
static void other_discriminator(int unused) {
  VIP_VI_HANDLE vi = make_ends(RELIABLE);
  (void)unused;
  request(vi, 300);
  far_remote = fresh_address(&near.attributes);
  FAR_EXPECT(VIP_SUCCESS, far_request_order(0, 300));
  expect_result(VIP_TIMEOUT, WAIT, vi);
  FAR_EXPECT(VIP_TIMEOUT, far_order(ORDER_PEER_WAIT, 0));
}

/* The far end is a client: the two models are separate (3.3). */
static void not_a_server(int unused) {
  VIP_VI_HANDLE vi = make_ends(RELIABLE);
  Order order = far_order(ORDER_REQUEST, 0);
  (void)unused;
  request(vi, 300);
  order.local = far_local;
  order.address = far_remote;
  FAR_EXPECT(VIP_NO_MATCH, order);
  expect_result(VIP_TIMEOUT, WAIT, vi);
}

static void not_a_client(int unused) {
  VIP_VI_HANDLE vi = make_ends(RELIABLE);
  Order order = far_order(ORDER_WAIT, 0);
  (void)unused;
  order.address = near_remote;
  order.timeout = 400;
  far_start(order);
  request(vi, 300);
  expect_result(VIP_TIMEOUT, WAIT, vi);
  FAR_ANSWERS(VIP_TIMEOUT);
}

/* No node has this address. */
static void nobody(int how) {
  VIP_VI_HANDLE vi = make_ends(RELIABLE);
  VIP_VI_ATTRIBUTES attributes;
  make_foreign(&near_remote);
  request(vi, 2000);
  const VIP_RETURN code = result((How)how, vi, &attributes);
  if (code == VIP_TIMEOUT) skip("to an address that no node has, a peer request times out");
  expect_code(__FILE__, __LINE__, how == DONE ? ID_VipConnectPeerDone : ID_VipConnectPeerWait, VIP_NOT_REACHABLE, code);
  proven(how == DONE ? ID_VipConnectPeerDone : ID_VipConnectPeerWait, code);
  check_state(vi, VIP_STATE_ERROR);
}

/* ---- Attributes that conflict ------------------------------------------------------------------------ */

static void conflict(How how, VIP_RETURN code, VIP_VI_ATTRIBUTES wanted) {
  VIP_VI_HANDLE vi;
  far_create_vi(0, RELIABLE);
  make_addresses();
  EXPECT(VIP_SUCCESS, VipCreateVi, near.nic, &wanted, NULL, NULL, &vi);
  request(vi, VIP_INFINITE);
  FAR_EXPECT(VIP_SUCCESS, far_request_order(0, VIP_INFINITE));
  VIP_VI_ATTRIBUTES learned;
  const VIP_RETURN came = result(how, vi, &learned);
  if (code == VIP_INVALID_MTU && came == VIP_SUCCESS) {
    FAR_EXPECT(VIP_SUCCESS, far_order(ORDER_PEER_WAIT, 0));
    skip_smaller_size_binds(vi, wanted.MaxTransferSize, learned.MaxTransferSize);
  }
  expect_code(__FILE__, __LINE__, how == DONE ? ID_VipConnectPeerDone : ID_VipConnectPeerWait, code, came);
  check_state(vi, VIP_STATE_IDLE);
  FAR_EXPECT(code, far_order(ORDER_PEER_WAIT, 0));
}

static void other_level(int how) {
  near_open();
  for (unsigned level = VIP_SERVICE_UNRELIABLE; level <= VIP_SERVICE_RELIABLE_RECEPTION; level <<= 1)
    if (level != RELIABLE && supports_level(&near, (VIP_RELIABILITY_LEVEL)level)) {
      conflict((How)how, VIP_INVALID_RELIABILITY_LEVEL, vi_attributes(&near, (VIP_RELIABILITY_LEVEL)level));
      return;
    }
  skip("the NIC has one reliability level only");
}

static void other_size(int how) {
  VIP_VI_ATTRIBUTES wanted;
  near_open();
  wanted = vi_attributes(&near, RELIABLE);
  wanted.MaxTransferSize = TRANSFER_BYTES / 2;
  conflict((How)how, VIP_INVALID_MTU, wanted);
}

static void other_quality(int how) {
  static unsigned char nothing[256];
  VIP_VI_ATTRIBUTES wanted;
  VIP_VI_HANDLE vi;
  near_open();
  wanted = vi_attributes(&near, RELIABLE);
  wanted.QoS = nothing;
  if (CALL(VipCreateVi, near.nic, &wanted, NULL, NULL, &vi) != VIP_SUCCESS)
    skip("the library has no VI with another quality of service");
  conflict((How)how, VIP_INVALID_QOS, wanted);
}

/* ---- A request that is given up ---------------------------------------------------------------------- */

static void* wait_in_vain(void* vi) {
  VIP_VI_ATTRIBUTES attributes;
  const VIP_RETURN code = CALL(VipConnectPeerWait, vi, &attributes);
  CHECK(code != VIP_SUCCESS, "VipConnectPeerWait succeeded on a VI that was disconnected meanwhile");
  return NULL;
}

static void disconnect_pending(int unused) {
  VIP_VI_HANDLE vi = make_ends(RELIABLE);
  (void)unused;
  request(vi, VIP_INFINITE);
  pthread_t thread = start_thread(wait_in_vain, vi);
  pause_ms(20);
  EXPECT(VIP_SUCCESS, VipDisconnect, vi);
  join_thread(thread);
  check_state(vi, VIP_STATE_IDLE);
}

#define P(name, call, clause, codes, run, argument) \
  { name, ID_##call, clause, FUNCTIONAL, codes, run, argument }
#define DONE_AND_WAIT(name, codes, run) \
  P("VipConnectPeerDone." name, VipConnectPeerDone, "VI-DG 3.3.7", codes, run, DONE), \
      P("VipConnectPeerWait." name, VipConnectPeerWait, "VI-DG 3.3.8", codes, run, WAIT)

const Test peer_tests[] = {
    P("VipConnectPeerDone.near_first", VipConnectPeerDone, "VI-DG 3.3.7", PROVES(VIP_SUCCESS) | PROVES(VIP_NOT_DONE),
      near_first, DONE),
    P("VipConnectPeerWait.near_first", VipConnectPeerWait, "VI-DG 3.3.8", PROVES(VIP_SUCCESS), near_first, WAIT),
    DONE_AND_WAIT("far_first", PROVES(VIP_SUCCESS), far_first),
    AT_EACH_LEVEL("peer.attributes", ID_VipConnectPeerWait, "VI-DG 3.3.8", FUNCTIONAL, PROVES(VIP_SUCCESS),
                  attributes_come),
    P("peer.at_once", VipConnectPeerRequest, "VI-DG 3.3.6", PROVES(VIP_SUCCESS), at_once, 0),
    P("peer.several", VipConnectPeerRequest, "VI-DG 6.7", PROVES(VIP_SUCCESS), several, 0),
    P("peer.equal_discriminators", VipConnectPeerWait, "VI-DG 6.7", PROVES(VIP_SUCCESS), equal_discriminators, 0),
    DONE_AND_WAIT("told_once", PROVES(VIP_INVALID_STATE), told_once),
    DONE_AND_WAIT("timeout", PROVES(VIP_TIMEOUT), timeout),
    P("VipConnectPeerRequest.timeout_zero", VipConnectPeerRequest, "VI-DG 3.3.6", PROVES(VIP_INVALID_PARAMETER),
      timeout_zero, 0),
    P("VipConnectPeerRequest.foreign_host", VipConnectPeerRequest, "VI-DG 3.3.6", PROVES(VIP_INVALID_PARAMETER),
      foreign_host, 0),
    P("peer.other_discriminator", VipConnectPeerWait, "VI-DG 6.7", PROVES(VIP_TIMEOUT), other_discriminator, 0),
    P("peer.not_a_server", VipConnectPeerWait, "VI-DG 3.3", PROVES(VIP_TIMEOUT), not_a_server, 0),
    P("peer.not_a_client", VipConnectPeerWait, "VI-DG 3.3", PROVES(VIP_TIMEOUT), not_a_client, 0),
    DONE_AND_WAIT("nobody_there", PROVES(VIP_NOT_REACHABLE), nobody),
    DONE_AND_WAIT("other_level", PROVES(VIP_INVALID_RELIABILITY_LEVEL), other_level),
    DONE_AND_WAIT("other_transfer_size", PROVES(VIP_INVALID_MTU), other_size),
    DONE_AND_WAIT("other_quality", PROVES(VIP_INVALID_QOS), other_quality),
    P("peer.disconnect_pending", VipDisconnect, "VI-ARCH 5.2", PROVES(VIP_SUCCESS), disconnect_pending, 0),
    {NULL, 0, NULL, 0, 0, NULL, 0}};
