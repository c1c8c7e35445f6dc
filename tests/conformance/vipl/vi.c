/* VI-DG 3.2, 3.7.2, 3.7.3, 4.6: creating, destroying, querying and changing VIs. */
#include <string.h>

#include "options.h"
#include "suite.h"

/* VipCreateVi and VipSetViAttributes refuse the same attributes. */
typedef enum { CREATE, SET } How;

static bool equal(const VIP_VI_ATTRIBUTES* one, const VIP_VI_ATTRIBUTES* other) {
  return one->ReliabilityLevel == other->ReliabilityLevel && one->MaxTransferSize == other->MaxTransferSize &&
         one->QoS == other->QoS && one->Ptag == other->Ptag && one->EnableRdmaWrite == other->EnableRdmaWrite &&
         one->EnableRdmaRead == other->EnableRdmaRead;
}

static VIP_VI_ATTRIBUTES attributes_of(VIP_VI_HANDLE vi) {
  VIP_VI_STATE state;
  VIP_VI_ATTRIBUTES attributes;
  VIP_BOOLEAN send_empty, receive_empty;
  memset(&attributes, 0, sizeof attributes);
  EXPECT(VIP_SUCCESS, VipQueryVi, vi, &state, &attributes, &send_empty, &receive_empty);
  return attributes;
}

/* ---- Creating ---------------------------------------------------------------------------------------- */

static void create_success(int level) {
  VIP_VI_ATTRIBUTES wanted, came;
  VIP_VI_HANDLE vi;
  need_level(level);
  wanted = vi_attributes(&near, (VIP_RELIABILITY_LEVEL)level);
  wanted.EnableRdmaWrite = VIP_FALSE;
  EXPECT(VIP_SUCCESS, VipCreateVi, near.nic, &wanted, NULL, NULL, &vi);
  CHECK(vi_state(vi) == VIP_STATE_IDLE, "a new VI is not Idle");
  came = attributes_of(vi);
  CHECK(equal(&wanted, &came), "a new VI does not have the attributes that it was created with");
}

static void create_with_queues(int unused) {
  VIP_CQ_HANDLE sends, receives;
  (void)unused;
  near_open();
  EXPECT(VIP_SUCCESS, VipCreateCQ, near.nic, 16, &sends);
  EXPECT(VIP_SUCCESS, VipCreateCQ, near.nic, 16, &receives);
  create_vi(&near, VIP_SERVICE_RELIABLE_DELIVERY, sends, receives);
  create_vi(&near, VIP_SERVICE_RELIABLE_DELIVERY, sends, sends);
  create_vi(&near, VIP_SERVICE_RELIABLE_DELIVERY, NULL, receives);
  proven(ID_VipCreateVi, VIP_SUCCESS);
}

/* ---- Attributes that are refused --------------------------------------------------------------------- */

static VIP_RETURN try(How how, VIP_VI_ATTRIBUTES* attributes) {
  VIP_VI_HANDLE vi = NULL;
  if (how == CREATE) return CALL(VipCreateVi, near.nic, attributes, NULL, NULL, &vi);
  return CALL(VipSetViAttributes, idle_vi(), attributes);
}

static void expect_refused(How how, VIP_RETURN code, VIP_VI_ATTRIBUTES* attributes) {
  expect_code(__FILE__, __LINE__, how == CREATE ? ID_VipCreateVi : ID_VipSetViAttributes, code, try(how, attributes));
}

static void invalid_level(int how) {
  VIP_VI_ATTRIBUTES attributes;
  near_open();
  attributes = vi_attributes(&near, VIP_SERVICE_RELIABLE_DELIVERY);
  attributes.EnableRdmaRead = VIP_FALSE;
  attributes.ReliabilityLevel = 0;
  expect_refused((How)how, VIP_INVALID_RELIABILITY_LEVEL, &attributes);
  attributes.ReliabilityLevel = 0x4000;
  expect_refused((How)how, VIP_INVALID_RELIABILITY_LEVEL, &attributes);
  attributes.ReliabilityLevel = VIP_SERVICE_UNRELIABLE | VIP_SERVICE_RELIABLE_DELIVERY; /* one level, not a set */
  expect_refused((How)how, VIP_INVALID_RELIABILITY_LEVEL, &attributes);
}

static void invalid_transfer_size(int how) {
  VIP_VI_ATTRIBUTES attributes;
  near_open();
  attributes = vi_attributes(&near, VIP_SERVICE_RELIABLE_DELIVERY);
  if (near.attributes.MaxTransferSize + 1 == 0) skip("every size is supported");
  attributes.MaxTransferSize = near.attributes.MaxTransferSize + 1;
  expect_refused((How)how, VIP_INVALID_MTU, &attributes);
}

/* The guide does not define qualities of service (4.6), so a library may accept any. */
static void invalid_qos(int how) {
  static unsigned char nothing[256];
  VIP_VI_ATTRIBUTES attributes;
  near_open();
  attributes = vi_attributes(&near, VIP_SERVICE_RELIABLE_DELIVERY);
  attributes.QoS = nothing;
  if (try((How)how, &attributes) == VIP_SUCCESS) skip("the library accepts a quality of service that says nothing");
  expect_refused((How)how, VIP_INVALID_QOS, &attributes);
}

static void invalid_tag(int how) {
  static unsigned char nothing[256];
  VIP_VI_ATTRIBUTES attributes;
  VIP_PROTECTION_HANDLE stale;
  near_open();
  attributes = vi_attributes(&near, VIP_SERVICE_RELIABLE_DELIVERY);
  EXPECT(VIP_SUCCESS, VipCreatePtag, near.nic, &stale);
  EXPECT(VIP_SUCCESS, VipDestroyPtag, near.nic, stale);
  attributes.Ptag = stale;
  expect_refused((How)how, VIP_INVALID_PTAG, &attributes);
  attributes.Ptag = nothing + 64;
  expect_refused((How)how, VIP_INVALID_PTAG, &attributes);
}

static void tag_of_another_open(int how) {
  VIP_VI_ATTRIBUTES attributes;
  static Node other = {.mutex = PTHREAD_MUTEX_INITIALIZER};
  near_open();
  node_open(&other, options.nic);
  attributes = vi_attributes(&near, VIP_SERVICE_RELIABLE_DELIVERY);
  attributes.Ptag = other.tag;
  expect_refused((How)how, VIP_INVALID_PTAG, &attributes);
  node_close(&other);
}

static void invalid_read(int how) {
  VIP_VI_ATTRIBUTES attributes;
  VIP_RELIABILITY_LEVEL without = 0;
  near_open();
  for (unsigned level = VIP_SERVICE_UNRELIABLE; level <= VIP_SERVICE_RELIABLE_RECEPTION; level <<= 1)
    if (supports_level(&near, (VIP_RELIABILITY_LEVEL)level) && !supports_read(&near, (VIP_RELIABILITY_LEVEL)level))
      without = (VIP_RELIABILITY_LEVEL)level;
  if (without == 0) skip("the NIC supports RDMA Read at each of its reliability levels");
  attributes = vi_attributes(&near, without);
  attributes.EnableRdmaRead = VIP_TRUE;
  expect_refused((How)how, VIP_INVALID_RDMAREAD, &attributes);
}

/* ---- Destroying -------------------------------------------------------------------------------------- */

static void destroy_success(int unused) {
  VIP_VI_HANDLE vi = idle_vi();
  VIP_DESCRIPTOR* descriptor;
  (void)unused;
  EXPECT(VIP_SUCCESS, VipDestroyVi, vi);
  EXPECT(VIP_INVALID_PARAMETER, VipRecvDone, vi, &descriptor);
}

/* Descriptors that have completed are on the queue until they are taken. */
static void destroy_with_completed_send(int unused) {
  VIP_VI_HANDLE vi = idle_vi();
  (void)unused;
  post_send(vi, message(0, 0, 64));
  EXPECT(VIP_INVALID_STATE, VipDestroyVi, vi);
  reap_send(vi, 0, VIP_STATUS_DESC_FLUSHED_ERROR, VIP_STATUS_OP_SEND);
  EXPECT(VIP_SUCCESS, VipDestroyVi, vi);
}

static void destroy_with_pending_receive(int unused) {
  VIP_VI_HANDLE vi = idle_vi();
  (void)unused;
  post_receive(vi, message(0, 0, 64));
  EXPECT(VIP_INVALID_STATE, VipDestroyVi, vi);
  EXPECT(VIP_SUCCESS, VipDisconnect, vi);
  EXPECT(VIP_INVALID_STATE, VipDestroyVi, vi);
  reap_receive(vi, 0, VIP_STATUS_DESC_FLUSHED_ERROR, VIP_STATUS_OP_RECEIVE);
  EXPECT(VIP_SUCCESS, VipDestroyVi, vi);
}

/* ---- Querying ---------------------------------------------------------------------------------------- */

static void query_empty(int unused) {
  VIP_VI_HANDLE vi = idle_vi();
  VIP_VI_STATE state;
  VIP_VI_ATTRIBUTES attributes;
  VIP_BOOLEAN send_empty, receive_empty;
  (void)unused;
  EXPECT(VIP_SUCCESS, VipQueryVi, vi, &state, &attributes, &send_empty, &receive_empty);
  CHECK(send_empty && receive_empty, "the queues of a new VI are not empty");
  post_receive(vi, message(0, 0, 64));
  EXPECT(VIP_SUCCESS, VipQueryVi, vi, &state, &attributes, &send_empty, &receive_empty);
  CHECK(send_empty && !receive_empty, "one receive is posted: expected only the send queue empty");
  post_send(vi, message(1, 0, 64));
  EXPECT(VIP_SUCCESS, VipQueryVi, vi, &state, &attributes, &send_empty, &receive_empty);
  CHECK(!send_empty && !receive_empty, "a completed descriptor is on its queue until it is taken");
  reap_send(vi, 1, VIP_STATUS_DESC_FLUSHED_ERROR, VIP_STATUS_OP_SEND);
  EXPECT(VIP_SUCCESS, VipQueryVi, vi, &state, &attributes, &send_empty, &receive_empty);
  CHECK(send_empty && !receive_empty, "the send was taken: expected an empty send queue");
}

/* ---- Changing ---------------------------------------------------------------------------------------- */

static void set_success(int unused) {
  VIP_VI_HANDLE vi = idle_vi();
  VIP_VI_ATTRIBUTES wanted, came;
  (void)unused;
  wanted = vi_attributes(&near, VIP_SERVICE_RELIABLE_DELIVERY);
  wanted.MaxTransferSize = 1000;
  wanted.EnableRdmaWrite = VIP_FALSE;
  EXPECT(VIP_SUCCESS, VipSetViAttributes, vi, &wanted);
  came = attributes_of(vi);
  CHECK(equal(&wanted, &came), "VipQueryVi does not tell the attributes that were set");
}

/* One attribute is refused: all others stay as they were. */
static void set_is_all_or_nothing(int unused) {
  VIP_VI_HANDLE vi = idle_vi();
  VIP_VI_ATTRIBUTES before, wanted, came;
  VIP_PROTECTION_HANDLE tag;
  (void)unused;
  before = attributes_of(vi);
  EXPECT(VIP_SUCCESS, VipCreatePtag, near.nic, &tag);
  wanted = before;
  wanted.EnableRdmaWrite = VIP_FALSE;
  wanted.Ptag = tag;
  wanted.MaxTransferSize = near.attributes.MaxTransferSize + 1;
  EXPECT(VIP_INVALID_MTU, VipSetViAttributes, vi, &wanted);
  came = attributes_of(vi);
  CHECK(equal(&before, &came), "a refused VipSetViAttributes changed attributes");
  wanted.MaxTransferSize = 1000;
  wanted.ReliabilityLevel = 0;
  EXPECT(VIP_INVALID_RELIABILITY_LEVEL, VipSetViAttributes, vi, &wanted);
  came = attributes_of(vi);
  CHECK(equal(&before, &came), "a refused VipSetViAttributes changed attributes");
  EXPECT(VIP_SUCCESS, VipDestroyPtag, near.nic, tag); /* not in use: the VI did not take it */
}

#define REFUSED(name, code, phase, run) \
  {"VipCreateVi." name, ID_VipCreateVi, "VI-DG 3.2.1", phase, PROVES(code), run, CREATE}, { \
    "VipSetViAttributes." name, ID_VipSetViAttributes, "VI-DG 3.7.2", FULL, PROVES(code), run, SET \
  }

const Test vi_tests[] = {
    AT_EACH_LEVEL("VipCreateVi.success", ID_VipCreateVi, "VI-DG 3.2.1", EARLY, PROVES(VIP_SUCCESS), create_success),
    {"VipCreateVi.with_completion_queues", ID_VipCreateVi, "VI-DG 3.2.1", FUNCTIONAL, PROVES(VIP_SUCCESS),
     create_with_queues, 0},
    REFUSED("invalid_reliability_level", VIP_INVALID_RELIABILITY_LEVEL, EARLY, invalid_level),
    REFUSED("invalid_mtu", VIP_INVALID_MTU, EARLY, invalid_transfer_size),
    REFUSED("invalid_qos", VIP_INVALID_QOS, EARLY, invalid_qos),
    REFUSED("invalid_ptag", VIP_INVALID_PTAG, FUNCTIONAL, invalid_tag),
    {"VipCreateVi.ptag_of_another_open", ID_VipCreateVi, "VI-ARCH 3.2.2.1", PRACTICE, PROVES(VIP_INVALID_PTAG),
     tag_of_another_open, CREATE},
    REFUSED("invalid_rdmaread", VIP_INVALID_RDMAREAD, EARLY, invalid_read),
    {"VipDestroyVi.success", ID_VipDestroyVi, "VI-DG 3.2.2", EARLY, PROVES(VIP_SUCCESS), destroy_success, 0},
    {"VipDestroyVi.completed_send", ID_VipDestroyVi, "VI-DG 3.2.2", EARLY,
     PROVES(VIP_INVALID_STATE) | PROVES(VIP_SUCCESS), destroy_with_completed_send, 0},
    {"VipDestroyVi.pending_receive", ID_VipDestroyVi, "VI-DG 3.2.2", EARLY,
     PROVES(VIP_INVALID_STATE) | PROVES(VIP_SUCCESS), destroy_with_pending_receive, 0},
    {"VipQueryVi.queues_empty", ID_VipQueryVi, "VI-DG 3.7.3", EARLY, PROVES(VIP_SUCCESS), query_empty, 0},
    {"VipSetViAttributes.success", ID_VipSetViAttributes, "VI-DG 3.7.2", FULL, PROVES(VIP_SUCCESS), set_success, 0},
    {"VipSetViAttributes.all_or_nothing", ID_VipSetViAttributes, "VI-DG 3.7.2", FULL, PROVES(VIP_INVALID_MTU),
     set_is_all_or_nothing, 0},
    {NULL, 0, NULL, 0, 0, NULL, 0}};
