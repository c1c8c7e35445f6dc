/* VI-DG 3.3.1 to 3.3.4: connections between a client and a server. */
#include <string.h>

#include "far.h"

static VIP_RETURN wait_for(Address* local, VIP_ULONG timeout) {
  Address remote;
  VIP_VI_ATTRIBUTES attributes;
  VIP_CONN_HANDLE connection;
  return CALL(VipConnectWait, near.nic, &local->net, timeout, &remote.net, &attributes, &connection);
}

static VIP_RETURN request(VIP_VI_HANDLE vi, Address* remote, VIP_ULONG timeout) {
  Address local = fresh_address(&near.attributes);
  VIP_VI_ATTRIBUTES attributes;
  return CALL(VipConnectRequest, vi, &local.net, &remote->net, timeout, &attributes);
}

/* ---- Waiting ----------------------------------------------------------------------------------------- */

/* The server learns the client's address and attributes. */
static void wait_success(int unused) {
  Address server, client;
  VIP_VI_ATTRIBUTES attributes;
  VIP_CONN_HANDLE connection = NULL;
  Order order = far_order(ORDER_CREATE_VI, 0);
  (void)unused;
  far_open();
  order.attributes = vi_attributes(&near, RELIABLE);
  order.attributes.MaxTransferSize = 4000;
  order.attributes.EnableRdmaWrite = VIP_FALSE;
  FAR_EXPECT(VIP_SUCCESS, order);
  server = fresh_address(&near.attributes);
  order = far_order(ORDER_REQUEST, 0);
  order.persistent = true;
  order.local = fresh_address(&far.nic);
  order.address = server;
  far_start(order);
  memset(&client, 0, sizeof client);
  EXPECT(VIP_SUCCESS, VipConnectWait, near.nic, &server.net, VIP_INFINITE, &client.net, &attributes, &connection);
  CHECK(same_address(&client, &order.local), "the address of the client is not the one that it gave");
  CHECK(attributes.ReliabilityLevel == RELIABLE && attributes.MaxTransferSize == 4000 && !attributes.EnableRdmaWrite,
        "the attributes of the client's VI came as level %u, transfer size %lu, RDMA Write %d",
        attributes.ReliabilityLevel, attributes.MaxTransferSize, attributes.EnableRdmaWrite);
  EXPECT(VIP_SUCCESS, VipConnectReject, connection);
  FAR_ANSWERS(VIP_REJECT);
}

static void wait_zero(int unused) {
  Address local;
  (void)unused;
  near_open();
  local = fresh_address(&near.attributes);
  expect_code(__FILE__, __LINE__, ID_VipConnectWait, VIP_TIMEOUT, wait_for(&local, 0));
}

static void wait_finite(int unused) {
  Address local;
  (void)unused;
  near_open();
  local = fresh_address(&near.attributes);
  const uint64_t start = now_ns();
  expect_code(__FILE__, __LINE__, ID_VipConnectWait, VIP_TIMEOUT, wait_for(&local, 100));
  CHECK(now_ns() - start >= 99000000U, "VipConnectWait returned VIP_TIMEOUT too early");
}

/* The host portion of LocalAddr must be the NIC's own. */
static void wait_foreign_host(int unused) {
  Address local;
  (void)unused;
  near_open();
  local = fresh_address(&near.attributes);
  local.net.HostAddress[0] ^= 0x5A;
  expect_code(__FILE__, __LINE__, ID_VipConnectWait, VIP_INVALID_PARAMETER, wait_for(&local, 0));
}

static void wait_short_host(int unused) {
  Address local;
  (void)unused;
  near_open();
  local = fresh_address(&near.attributes);
  --local.net.HostAddressLen;
  expect_code(__FILE__, __LINE__, ID_VipConnectWait, VIP_INVALID_PARAMETER, wait_for(&local, 0));
}

/* ---- Requesting -------------------------------------------------------------------------------------- */

static void request_success(int unused) {
  (void)unused;
  make_pair(RELIABLE);
  proven(ID_VipConnectRequest, VIP_SUCCESS);
}

static void request_zero(int unused) {
  VIP_VI_HANDLE vi = idle_vi();
  Address remote = fresh_address(&near.attributes);
  (void)unused;
  expect_code(__FILE__, __LINE__, ID_VipConnectRequest, VIP_INVALID_PARAMETER, request(vi, &remote, 0));
  check_idle(vi);
}

/* Requests a connection with the far node, which takes the request and rejects it or does not answer. */
static VIP_RETURN request_taken(VIP_VI_HANDLE vi, bool rejected, VIP_ULONG timeout) {
  Order wait = far_order(ORDER_WAIT, 0);
  VIP_VI_ATTRIBUTES attributes;
  far_open();
  Address local = fresh_address(&near.attributes);
  wait.address = fresh_address(&far.nic);
  far_start(wait);
  if (rejected) far_start(far_order(ORDER_REJECT, 0));
  const VIP_RETURN code = request_until_matched(vi, &local, &wait.address, timeout, &attributes);
  FAR_ANSWERS(VIP_SUCCESS);
  if (rejected) FAR_ANSWERS(VIP_SUCCESS);
  return code;
}

static void request_rejected(int unused) {
  VIP_VI_HANDLE vi = idle_vi();
  (void)unused;
  expect_code(__FILE__, __LINE__, ID_VipConnectRequest, VIP_REJECT, request_taken(vi, true, VIP_INFINITE));
  check_idle(vi);
}

static void request_timeout(int unused) {
  VIP_VI_HANDLE vi = idle_vi();
  (void)unused;
  const uint64_t start = now_ns();
  expect_code(__FILE__, __LINE__, ID_VipConnectRequest, VIP_TIMEOUT, request_taken(vi, false, 200));
  CHECK(now_ns() - start >= 199000000U, "VipConnectRequest returned VIP_TIMEOUT too early");
  check_idle(vi);
}

/* With an infinite time-out: it is told at once. Posted receives stay posted. */
static void request_no_match(int unused) {
  VIP_VI_HANDLE vi = idle_vi();
  VIP_DESCRIPTOR* descriptor = NULL;
  (void)unused;
  far_open();
  Address remote = fresh_address(&far.nic);
  post_receive(vi, message(0, 0, 64));
  for (int i = 0; i < 20; ++i)
    expect_code(__FILE__, __LINE__, ID_VipConnectRequest, VIP_NO_MATCH, request(vi, &remote, VIP_INFINITE));
  check_idle(vi);
  EXPECT(VIP_NOT_DONE, VipRecvDone, vi, &descriptor);
}

static void request_foreign_host(int unused) {
  VIP_VI_HANDLE vi = idle_vi();
  Address local = fresh_address(&near.attributes), remote = fresh_address(&near.attributes);
  VIP_VI_ATTRIBUTES attributes;
  (void)unused;
  local.net.HostAddress[0] ^= 0x5A;
  EXPECT(VIP_INVALID_PARAMETER, VipConnectRequest, vi, &local.net, &remote.net, 1000, &attributes);
  check_idle(vi);
}

/* No node has this address. A NIC that cannot detect it lets the time pass. */
static void request_nobody(int unused) {
  VIP_VI_HANDLE vi = idle_vi();
  Address remote = fresh_address(&near.attributes);
  (void)unused;
  make_foreign(&remote);
  const VIP_RETURN code = request(vi, &remote, 2000);
  if (code == VIP_TIMEOUT) skip("to an address that no node has, VipConnectRequest times out");
  expect_code(__FILE__, __LINE__, ID_VipConnectRequest, VIP_NOT_REACHABLE, code);
  proven(ID_VipConnectRequest, code);
  CHECK(vi_state(vi) == VIP_STATE_ERROR, "a Reliable Delivery VI is not in Error after VIP_NOT_REACHABLE");
  EXPECT(VIP_SUCCESS, VipDisconnect, vi);
  check_idle(vi);
}

/* ---- Both -------------------------------------------------------------------------------------------- */

/* Both ends on one NIC, in one process. */
static void loopback(int unused) {
  VIP_VI_HANDLE vi = idle_vi(), server_vi = idle_vi();
  Address server = fresh_address(&near.attributes), local = fresh_address(&near.attributes);
  VIP_VI_ATTRIBUTES attributes;
  (void)unused;
  pthread_t thread = serve_one(server_vi, &server);
  expect_code(__FILE__, __LINE__, ID_VipConnectRequest, VIP_SUCCESS,
              request_until_matched(vi, &local, &server, VIP_INFINITE, &attributes));
  join_thread(thread);
  post_receive(server_vi, message(0, 0, 100));
  fill(data_at(&near, 1000), 100, 5);
  post_send(vi, message(1, 1000, 100));
  reap_receive(server_vi, 0, 0, VIP_STATUS_OP_RECEIVE);
  CHECK(is_filled(data_at(&near, 0), 100, 5), "the data did not arrive");
}

/* One wait serves one request: it is matched, and gone (6.7). */
static void wait_serves_once(int unused) {
  Address server, local;
  VIP_VI_ATTRIBUTES attributes;
  VIP_CONN_HANDLE connection;
  Order order = far_order(ORDER_REQUEST, 0);
  (void)unused;
  far_create_vi(0, RELIABLE);
  server = order.address = fresh_address(&near.attributes);
  order.local = local = fresh_address(&far.nic);
  order.persistent = true;
  far_start(order);
  EXPECT(VIP_SUCCESS, VipConnectWait, near.nic, &server.net, VIP_INFINITE, &local.net, &attributes, &connection);
  expect_code(__FILE__, __LINE__, ID_VipConnectRequest, VIP_NO_MATCH, request(idle_vi(), &server, VIP_INFINITE));
  EXPECT(VIP_SUCCESS, VipConnectAccept, connection, idle_vi());
  FAR_ANSWERS(VIP_SUCCESS);
}

/* The same pair of VIs again and again, and then many at once. */
static void reconnect(int unused) {
  VIP_VI_HANDLE vi = make_pair(RELIABLE);
  (void)unused;
  for (int i = 0; i < 20; ++i) {
    EXPECT(VIP_SUCCESS, VipDisconnect, vi);
    FAR_EXPECT(VIP_SUCCESS, far_order(ORDER_DISCONNECT, 0));
    connect_pair(vi, 0);
  }
}

static void many(int unused) {
  VIP_VI_HANDLE vis[FAR_VIS];
  (void)unused;
  for (unsigned i = 0; i < FAR_VIS; ++i) {
    far_create_vi(i, RELIABLE);
    vis[i] = idle_vi();
    connect_pair(vis[i], i);
  }
  for (unsigned i = 0; i < FAR_VIS; ++i) {
    far_post_receive(i, message(i, i * 100, 100));
    fill(data_at(&near, i * 100), 100, i);
    post_send(vis[i], message(i, i * 100, 100));
    far_reap_receive(i, i, 0);
    CHECK(far_matches(i * 100, 100, i), "connection %u did not get its own message", i);
  }
}

const Test connect_tests[] = {
    TEST(VipConnectWait, "success", PROVES(VIP_SUCCESS), wait_success),
    TEST(VipConnectWait, "timeout_zero", PROVES(VIP_TIMEOUT), wait_zero),
    TEST(VipConnectWait, "timeout", PROVES(VIP_TIMEOUT), wait_finite),
    TEST(VipConnectWait, "foreign_host", PROVES(VIP_INVALID_PARAMETER), wait_foreign_host),
    TEST(VipConnectWait, "short_host", PROVES(VIP_INVALID_PARAMETER), wait_short_host),
    TEST_BY("VI-DG 6.7", EARLY, VipConnectWait, "serves_once", PROVES(VIP_SUCCESS), wait_serves_once, 0),
    TEST(VipConnectRequest, "success", PROVES(VIP_SUCCESS), request_success),
    TEST(VipConnectRequest, "timeout_zero", PROVES(VIP_INVALID_PARAMETER), request_zero),
    TEST(VipConnectRequest, "rejected", PROVES(VIP_REJECT), request_rejected),
    TEST(VipConnectRequest, "timeout", PROVES(VIP_TIMEOUT), request_timeout),
    TEST_BY("VI-DG 6.7", EARLY, VipConnectRequest, "no_match", PROVES(VIP_NO_MATCH), request_no_match, 0),
    TEST(VipConnectRequest, "foreign_host", PROVES(VIP_INVALID_PARAMETER), request_foreign_host),
    TEST_BY("VI-DG 3.3.4", EARLY, VipConnectRequest, "nobody_there", PROVES(VIP_NOT_REACHABLE), request_nobody, 0),
    {"connect.loopback", ID_VipConnectRequest, "VI-ARCH 4.1", EARLY, PROVES(VIP_SUCCESS), loopback, 0},
    {"connect.again", ID_VipConnectRequest, "VI-ARCH 4.1", EARLY, PROVES(VIP_SUCCESS), reconnect, 0},
    {"connect.many", ID_VipConnectRequest, "VI-ARCH 4.1", EARLY, RULE, many, 0},
    {NULL, 0, NULL, 0, 0, NULL, 0}};
