/* VI-DG 3.3.2, 3.3.3, 6.7: what a server does with a request. */
#include <string.h>

#include "far.h"

/* ---- Accepting --------------------------------------------------------------------------------------- */

/* Both are Connected, and the client learns the server's attributes. */
static void accept_success(int level) {
  VIP_VI_HANDLE vi;
  VIP_VI_ATTRIBUTES attributes;
  VIP_CONN_HANDLE connection;
  need_level(level);
  far_create_vi(0, (VIP_RELIABILITY_LEVEL)level);
  connection = receive_request(0, VIP_INFINITE);
  attributes = vi_attributes(&near, (VIP_RELIABILITY_LEVEL)level);
  attributes.EnableRdmaWrite = VIP_FALSE;
  EXPECT(VIP_SUCCESS, VipCreateVi, near.nic, &attributes, NULL, NULL, &vi);
  EXPECT(VIP_SUCCESS, VipConnectAccept, connection, vi);
  attributes = FAR_ANSWERS(VIP_SUCCESS).attributes;
  CHECK(attributes.ReliabilityLevel == level && !attributes.EnableRdmaWrite &&
            attributes.MaxTransferSize == TRANSFER_BYTES,
        "the client learned other attributes than those of the server's VI");
  CHECK(vi_state(vi) == VIP_STATE_CONNECTED, "the server's VI is not Connected");
  CHECK(far_state(0) == VIP_STATE_CONNECTED, "the client's VI is not Connected");
}

/* The request outlives the refusal: it is accepted with another VI. */
static void accept_mismatch(VIP_RETURN code, VIP_VI_ATTRIBUTES wrong) {
  VIP_VI_HANDLE vi;
  VIP_CONN_HANDLE connection;
  far_create_vi(0, RELIABLE);
  connection = receive_request(0, VIP_INFINITE);
  EXPECT(VIP_SUCCESS, VipCreateVi, near.nic, &wrong, NULL, NULL, &vi);
  const VIP_RETURN came = CALL(VipConnectAccept, connection, vi);
  if (code == VIP_INVALID_MTU && came == VIP_SUCCESS)
    skip_smaller_size_binds(vi, wrong.MaxTransferSize, FAR_ANSWERS(VIP_SUCCESS).attributes.MaxTransferSize);
  expect_code(__FILE__, __LINE__, ID_VipConnectAccept, code, came);
  proven(ID_VipConnectAccept, came);
  check_idle(vi);
  EXPECT(VIP_SUCCESS, VipConnectAccept, connection, idle_vi());
  FAR_ANSWERS(VIP_SUCCESS);
}

static void accept_other_level(int level) {
  need_level(level);
  accept_mismatch(VIP_INVALID_RELIABILITY_LEVEL, vi_attributes(&near, (VIP_RELIABILITY_LEVEL)level));
}

static void accept_other_size(int unused) {
  VIP_VI_ATTRIBUTES wrong;
  (void)unused;
  near_open();
  wrong = vi_attributes(&near, RELIABLE);
  wrong.MaxTransferSize = TRANSFER_BYTES / 2;
  accept_mismatch(VIP_INVALID_MTU, wrong);
}

static void accept_other_quality(int unused) {
  static unsigned char nothing[256];
  VIP_VI_ATTRIBUTES wrong;
  VIP_VI_HANDLE vi;
  (void)unused;
  near_open();
  wrong = vi_attributes(&near, RELIABLE);
  wrong.QoS = nothing;
  if (CALL(VipCreateVi, near.nic, &wrong, NULL, NULL, &vi) != VIP_SUCCESS)
    skip("the library has no VI with another quality of service");
  accept_mismatch(VIP_INVALID_QOS, wrong);
}

/* Tags and RDMA attributes need not match (VI-DG 4.6). */
static void accept_other_rdma(int unused) {
  VIP_VI_ATTRIBUTES other;
  VIP_VI_HANDLE vi;
  VIP_CONN_HANDLE connection;
  (void)unused;
  far_create_vi(0, RELIABLE);
  other = vi_attributes(&near, RELIABLE);
  other.EnableRdmaWrite = VIP_FALSE;
  other.EnableRdmaRead = VIP_FALSE;
  connection = receive_request(0, VIP_INFINITE);
  EXPECT(VIP_SUCCESS, VipCreateVi, near.nic, &other, NULL, NULL, &vi);
  EXPECT(VIP_SUCCESS, VipConnectAccept, connection, vi);
  FAR_ANSWERS(VIP_SUCCESS);
}

/* The client has given up: both sides agree that there is no connection. */
static void accept_late(int unused) {
  VIP_VI_HANDLE vi;
  VIP_CONN_HANDLE connection;
  (void)unused;
  far_create_vi(0, RELIABLE);
  connection = receive_request(0, 200);
  vi = idle_vi();
  FAR_ANSWERS(VIP_TIMEOUT);
  EXPECT(VIP_TIMEOUT, VipConnectAccept, connection, vi);
  check_idle(vi);
  CHECK(far_state(0) == VIP_STATE_IDLE, "the client's VI is not Idle after its time-out");
  connect_pair(vi, 0); /* both VIs can be used again */
}

static void reject_late(int unused) {
  VIP_CONN_HANDLE connection;
  (void)unused;
  far_create_vi(0, RELIABLE);
  connection = receive_request(0, 200);
  FAR_ANSWERS(VIP_TIMEOUT);
  EXPECT(VIP_SUCCESS, VipConnectReject, connection);
}

static void reject_success(int unused) {
  VIP_CONN_HANDLE connection;
  (void)unused;
  far_create_vi(0, RELIABLE);
  connection = receive_request(0, VIP_INFINITE);
  EXPECT(VIP_SUCCESS, VipConnectReject, connection);
  FAR_ANSWERS(VIP_REJECT);
  CHECK(far_state(0) == VIP_STATE_IDLE, "the client's VI is not Idle after a rejection");
  connect_pair(idle_vi(), 0);
}

const Test accept_tests[] = {
    AT_EACH_LEVEL("VipConnectAccept.success", ID_VipConnectAccept, "VI-DG 3.3.2", EARLY, PROVES(VIP_SUCCESS),
                  accept_success),
    {"VipConnectAccept.other_level.unreliable_delivery", ID_VipConnectAccept, "VI-DG 3.3.2", FULL,
     PROVES(VIP_INVALID_RELIABILITY_LEVEL), accept_other_level, VIP_SERVICE_UNRELIABLE},
    {"VipConnectAccept.other_level.reliable_reception", ID_VipConnectAccept, "VI-DG 3.3.2", FULL,
     PROVES(VIP_INVALID_RELIABILITY_LEVEL), accept_other_level, VIP_SERVICE_RELIABLE_RECEPTION},
    TEST(VipConnectAccept, "other_transfer_size", PROVES(VIP_INVALID_MTU) | PROVES(VIP_SUCCESS), accept_other_size),
    TEST(VipConnectAccept, "other_quality", PROVES(VIP_INVALID_QOS), accept_other_quality),
    TEST_BY("VI-DG 4.6", EARLY, VipConnectAccept, "other_rdma", PROVES(VIP_SUCCESS), accept_other_rdma, 0),
    TEST_BY("VI-DG 6.7", EARLY, VipConnectAccept, "client_gave_up", PROVES(VIP_TIMEOUT), accept_late, 0),
    TEST_BY("VI-DG 6.7", EARLY, VipConnectReject, "client_gave_up", PROVES(VIP_SUCCESS), reject_late, 0),
    TEST(VipConnectReject, "success", PROVES(VIP_SUCCESS), reject_success),
    {NULL, 0, NULL, 0, 0, NULL, 0}};
