/* VI-DG 3.3.1 to 3.3.4: connections between a client and a server. */
#include <string.h>

#include "far.h"

#define RELIABLE VIP_SERVICE_RELIABLE_DELIVERY

static VIP_RETURN wait_for(Address* local, VIP_ULONG timeout) {
  Address remote;
  VIP_VI_ATTRIBUTES attributes;
  VIP_CONN_HANDLE connection;
  return CALL(VipConnectWait, near.nic, &local->net, timeout, &remote.net, &attributes, &connection);
}

static VIP_VI_HANDLE idle_vi(void) {
  near_open();
  return create_vi(&near, RELIABLE, NULL, NULL);
}

static VIP_RETURN request(VIP_VI_HANDLE vi, Address* remote, VIP_ULONG timeout) {
  Address local = fresh_address(&near.attributes);
  VIP_VI_ATTRIBUTES attributes;
  return CALL(VipConnectRequest, vi, &local.net, &remote->net, timeout, &attributes);
}

static void check_idle(VIP_VI_HANDLE vi) { CHECK(vi_state(vi) == VIP_STATE_IDLE, "the VI is not Idle"); }

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
  EXPECT(VIP_SUCCESS, VipConnectWait, near.nic, &server.net, VIP_INFINITE, &client.net, &attributes,
         &connection);
  CHECK(same_address(&client, &order.local), "the address of the client is not the one that it gave");
  CHECK(attributes.ReliabilityLevel == RELIABLE && attributes.MaxTransferSize == 4000 &&
            !attributes.EnableRdmaWrite,
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

static void request_rejected(int unused) {
  VIP_VI_HANDLE vi = idle_vi();
  Order order = far_order(ORDER_WAIT, 0);
  Address local;
  VIP_VI_ATTRIBUTES attributes;
  (void)unused;
  far_open();
  order.address = fresh_address(&far.nic);
  far_start(order);
  far_start(far_order(ORDER_REJECT, 0));
  local = fresh_address(&near.attributes);
  expect_code(__FILE__, __LINE__, ID_VipConnectRequest, VIP_REJECT,
              request_until_matched(vi, &local, &order.address, VIP_INFINITE, &attributes));
  FAR_ANSWERS(VIP_SUCCESS);
  FAR_ANSWERS(VIP_SUCCESS);
  check_idle(vi);
}

/* The server has taken the request and does not answer. */
static void request_timeout(int unused) {
  VIP_VI_HANDLE vi = idle_vi();
  Order order = far_order(ORDER_WAIT, 0);
  Address local;
  VIP_VI_ATTRIBUTES attributes;
  (void)unused;
  far_open();
  order.address = fresh_address(&far.nic);
  far_start(order);
  local = fresh_address(&near.attributes);
  const uint64_t start = now_ns();
  expect_code(__FILE__, __LINE__, ID_VipConnectRequest, VIP_TIMEOUT,
              request_until_matched(vi, &local, &order.address, 200, &attributes));
  CHECK(now_ns() - start >= 199000000U, "VipConnectRequest returned VIP_TIMEOUT too early");
  FAR_ANSWERS(VIP_SUCCESS);
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
  CHECK(code == VIP_NOT_REACHABLE || code == VIP_TIMEOUT || code == VIP_NO_MATCH ||
            code == VIP_INVALID_PARAMETER,
        "VipConnectRequest to an address that no node has: came %s", code_name(code));
  if (code != VIP_NOT_REACHABLE)
    skip("to an address that no node has, VipConnectRequest returns %s", code_name(code));
  proven(ID_VipConnectRequest, code);
  CHECK(vi_state(vi) == VIP_STATE_ERROR, "a Reliable Delivery VI is not in Error after VIP_NOT_REACHABLE");
  EXPECT(VIP_SUCCESS, VipDisconnect, vi);
  check_idle(vi);
}

/* ---- Both -------------------------------------------------------------------------------------------- */

static VIP_VI_HANDLE server_vi;
static Address server_address;

static void* serve(void* unused) {
  Address client;
  VIP_VI_ATTRIBUTES attributes;
  VIP_CONN_HANDLE connection;
  (void)unused;
  EXPECT(VIP_SUCCESS, VipConnectWait, near.nic, &server_address.net, VIP_INFINITE, &client.net, &attributes,
         &connection);
  EXPECT(VIP_SUCCESS, VipConnectAccept, connection, server_vi);
  return NULL;
}

/* Both ends on one NIC, in one process. */
static void loopback(int unused) {
  VIP_VI_HANDLE vi = idle_vi();
  Address local;
  VIP_VI_ATTRIBUTES attributes;
  (void)unused;
  server_vi = idle_vi();
  server_address = fresh_address(&near.attributes);
  local = fresh_address(&near.attributes);
  pthread_t thread = start_thread(serve, NULL);
  expect_code(__FILE__, __LINE__, ID_VipConnectRequest, VIP_SUCCESS,
              request_until_matched(vi, &local, &server_address, VIP_INFINITE, &attributes));
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
  EXPECT(VIP_SUCCESS, VipConnectWait, near.nic, &server.net, VIP_INFINITE, &local.net, &attributes,
         &connection);
  expect_code(__FILE__, __LINE__, ID_VipConnectRequest, VIP_NO_MATCH,
              request(idle_vi(), &server, VIP_INFINITE));
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

#define T(name, call, clause, phase, codes, run) \
  { name, ID_##call, "VI-DG " clause, phase, codes, run, 0 }

const Test connect_tests[] = {
    T("VipConnectWait.success", VipConnectWait, "3.3.1", EARLY, PROVES(VIP_SUCCESS), wait_success),
    T("VipConnectWait.timeout_zero", VipConnectWait, "3.3.1", EARLY, PROVES(VIP_TIMEOUT), wait_zero),
    T("VipConnectWait.timeout", VipConnectWait, "3.3.1", EARLY, PROVES(VIP_TIMEOUT), wait_finite),
    T("VipConnectWait.foreign_host", VipConnectWait, "3.3.1", EARLY, PROVES(VIP_INVALID_PARAMETER),
      wait_foreign_host),
    T("VipConnectWait.short_host", VipConnectWait, "3.3.1", EARLY, PROVES(VIP_INVALID_PARAMETER),
      wait_short_host),
    T("VipConnectWait.serves_once", VipConnectWait, "6.7", EARLY, PROVES(VIP_SUCCESS), wait_serves_once),
    T("VipConnectRequest.success", VipConnectRequest, "3.3.4", EARLY, PROVES(VIP_SUCCESS), request_success),
    T("VipConnectRequest.timeout_zero", VipConnectRequest, "3.3.4", EARLY, PROVES(VIP_INVALID_PARAMETER),
      request_zero),
    T("VipConnectRequest.rejected", VipConnectRequest, "3.3.4", EARLY, PROVES(VIP_REJECT), request_rejected),
    T("VipConnectRequest.timeout", VipConnectRequest, "3.3.4", EARLY, PROVES(VIP_TIMEOUT), request_timeout),
    T("VipConnectRequest.no_match", VipConnectRequest, "6.7", EARLY, PROVES(VIP_NO_MATCH), request_no_match),
    T("VipConnectRequest.foreign_host", VipConnectRequest, "3.3.4", EARLY, PROVES(VIP_INVALID_PARAMETER),
      request_foreign_host),
    T("VipConnectRequest.nobody_there", VipConnectRequest, "6.8", EARLY, PROVES(VIP_NOT_REACHABLE),
      request_nobody),
    {"connect.loopback", ID_VipConnectRequest, "VI-ARCH 4.1", EARLY, PROVES(VIP_SUCCESS), loopback, 0},
    {"connect.again", ID_VipConnectRequest, "VI-ARCH 4.1", EARLY, PROVES(VIP_SUCCESS), reconnect, 0},
    {"connect.many", ID_VipConnectRequest, "VI-ARCH 4", EARLY, RULE, many, 0},
    {NULL, 0, NULL, 0, 0, NULL, 0}};
