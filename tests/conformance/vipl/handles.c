/* Every call answers a handle that is none with VIP_INVALID_PARAMETER: NULL, one of what is gone, an address
 * of something else, and a valid one of another kind. */
#include <string.h>

#include "far.h"
#include "options.h"

typedef enum { NIC, VI, CQ, CONNECTION, TAG } HandleKind;
typedef enum { NULL_HANDLE, STALE, FORGED, WRONG_KIND, BADNESS_COUNT } Badness;

/* ---- Invalid handles --------------------------------------------------------------------------------- */

static void* stale_nic(void) {
  VIP_NIC_HANDLE nic = NULL;
  EXPECT(VIP_SUCCESS, VipOpenNic, options.nic, &nic);
  EXPECT(VIP_SUCCESS, VipCloseNic, nic);
  return nic;
}

static void* stale_vi(void) {
  VIP_VI_HANDLE vi = create_vi(&near, VIP_SERVICE_RELIABLE_DELIVERY, NULL, NULL);
  EXPECT(VIP_SUCCESS, VipDestroyVi, vi);
  return vi;
}

static void* stale_queue(void) {
  VIP_CQ_HANDLE queue = NULL;
  EXPECT(VIP_SUCCESS, VipCreateCQ, near.nic, 16, &queue);
  EXPECT(VIP_SUCCESS, VipDestroyCQ, queue);
  return queue;
}

static void* stale_connection(void) {
  VIP_CONN_HANDLE connection;
  far_create_vi(0, VIP_SERVICE_RELIABLE_DELIVERY);
  connection = receive_request(0, VIP_INFINITE);
  EXPECT(VIP_SUCCESS, VipConnectReject, connection);
  FAR_ANSWERS(VIP_REJECT);
  return connection;
}

static void* stale_tag(void) {
  VIP_PROTECTION_HANDLE tag = NULL;
  EXPECT(VIP_SUCCESS, VipCreatePtag, near.nic, &tag);
  EXPECT(VIP_SUCCESS, VipDestroyPtag, near.nic, tag);
  return tag;
}

static void* bad_handle(HandleKind kind, Badness badness) {
  static void* (*const stale[])(void) = {stale_nic, stale_vi, stale_queue, stale_connection, stale_tag};
  static unsigned char nothing[4096];
  switch (badness) {
    case STALE: return stale[kind]();
    case FORGED: return nothing + 64;
    case WRONG_KIND:
      return kind == NIC || kind == CQ || kind == CONNECTION
                 ? create_vi(&near, VIP_SERVICE_RELIABLE_DELIVERY, NULL, NULL)
                 : near.nic;
    case NULL_HANDLE:
    case BADNESS_COUNT: break;
  }
  return NULL;
}

/* ---- Calls with a handle in question and all else valid ---------------------------------------------- */

static VIP_VI_ATTRIBUTES vi_attribs;
static VIP_MEM_ATTRIBUTES memory_attribs;
static Address here, there;
static VIP_DESCRIPTOR* descriptor;
static VIP_VI_HANDLE vi_out;
static VIP_BOOLEAN flag, other_flag;

static void on_work(VIP_PVOID context, VIP_NIC_HANDLE nic, VIP_VI_HANDLE vi, VIP_DESCRIPTOR* done) {
  (void)context, (void)nic, (void)vi, (void)done;
}
static void on_entry(VIP_PVOID context, VIP_NIC_HANDLE nic, VIP_VI_HANDLE vi, VIP_BOOLEAN receive_queue) {
  (void)context, (void)nic, (void)vi, (void)receive_queue;
}
static VIP_VI_HANDLE good_vi(void) { return create_vi(&near, VIP_SERVICE_RELIABLE_DELIVERY, NULL, NULL); }
static VIP_CONN_HANDLE good_connection(void) {
  far_create_vi(0, VIP_SERVICE_RELIABLE_DELIVERY);
  return receive_request(0, 2000); /* the far end gives up by itself */
}

#define INVOKE(id, call, ...) \
  static VIP_RETURN id(void* bad) { return CALL(call, __VA_ARGS__); }
INVOKE(close_nic, VipCloseNic, bad)
INVOKE(create_vi_nic, VipCreateVi, bad, &vi_attribs, NULL, NULL, &vi_out)
INVOKE(create_vi_send, VipCreateVi, near.nic, &vi_attribs, bad, NULL, &vi_out)
INVOKE(create_vi_receive, VipCreateVi, near.nic, &vi_attribs, NULL, bad, &vi_out)
INVOKE(destroy_vi, VipDestroyVi, bad)
INVOKE(connect_accept_vi, VipConnectAccept, good_connection(), bad)
INVOKE(connect_accept, VipConnectAccept, bad, good_vi())
INVOKE(connect_reject, VipConnectReject, bad)
INVOKE(connect_request, VipConnectRequest, bad, &here.net, &there.net, 1000, &vi_attribs)
INVOKE(disconnect, VipDisconnect, bad)
INVOKE(peer_request, VipConnectPeerRequest, bad, &here.net, &there.net, 1000)
INVOKE(peer_done, VipConnectPeerDone, bad, &vi_attribs)
INVOKE(peer_wait, VipConnectPeerWait, bad, &vi_attribs)
INVOKE(destroy_tag_nic, VipDestroyPtag, bad, near.tag)
INVOKE(destroy_tag, VipDestroyPtag, near.nic, bad)
INVOKE(deregister, VipDeregisterMem, bad, near.memory, near.handle)
INVOKE(post_to_send, VipPostSend, bad, describe(&near, &(Message){.slot = 1}), near.handle)
INVOKE(post_to_receive, VipPostRecv, bad, describe(&near, &(Message){.slot = 1}), near.handle)
INVOKE(send_done, VipSendDone, bad, &descriptor)
INVOKE(receive_done, VipRecvDone, bad, &descriptor)
INVOKE(send_wait, VipSendWait, bad, 0, &descriptor)
INVOKE(receive_wait, VipRecvWait, bad, 0, &descriptor)
INVOKE(queue_done, VipCQDone, bad, &vi_out, &flag)
INVOKE(queue_wait, VipCQWait, bad, 0, &vi_out, &flag)
INVOKE(send_notify, VipSendNotify, bad, NULL, on_work)
INVOKE(receive_notify, VipRecvNotify, bad, NULL, on_work)
INVOKE(queue_notify, VipCQNotify, bad, NULL, on_entry)
INVOKE(create_queue, VipCreateCQ, bad, 16, &vi_out)
INVOKE(destroy_queue, VipDestroyCQ, bad)
INVOKE(resize_queue, VipResizeCQ, bad, 16)
INVOKE(set_vi, VipSetViAttributes, bad, &vi_attribs)
INVOKE(set_memory, VipSetMemAttributes, bad, near.memory, near.handle, &memory_attribs)
INVOKE(query_memory, VipQueryMem, bad, near.memory, near.handle, &memory_attribs)
INVOKE(error_callback, VipErrorCallback, bad, NULL, NULL)
INVOKE(name_init, VipNSInit, bad, NULL)
INVOKE(name_shutdown, VipNSShutdown, bad)
INVOKE(create_tag, VipCreatePtag, bad, &vi_out)

static VIP_RETURN connect_wait(void* bad) {
  VIP_CONN_HANDLE connection;
  return CALL(VipConnectWait, bad, &here.net, 0, &there.net, &vi_attribs, &connection);
}
static VIP_RETURN register_memory(void* bad) {
  VIP_MEM_HANDLE handle;
  return CALL(VipRegisterMem, bad, near.memory, 64, &memory_attribs, &handle);
}
static VIP_RETURN query_nic(void* bad) {
  VIP_NIC_ATTRIBUTES attributes;
  return CALL(VipQueryNic, bad, &attributes);
}
static VIP_RETURN query_vi(void* bad) {
  VIP_VI_STATE state;
  return CALL(VipQueryVi, bad, &state, &vi_attribs, &flag, &other_flag);
}
static VIP_RETURN query_system(void* bad) {
  VIP_AUTODISCOVERY_LIST list = {1, NULL, 0};
  return CALL(VipQuerySystemManagementInfo, bad, VIP_SMI_AUTODISCOVERY, &list);
}
static VIP_RETURN name_by_name(void* bad) {
  static char name[] = "localhost";
  return CALL(VipNSGetHostByName, bad, name, &there.net, 0);
}
static VIP_RETURN name_by_address(void* bad) {
  char name[256];
  VIP_ULONG length = sizeof name;
  return CALL(VipNSGetHostByAddr, bad, &there.net, name, &length);
}

/* ---- The tests --------------------------------------------------------------------------------------- */

/* call, what is appended to its name, page, phase, kind of the handle, function */
#define HANDLES(X) \
  X(VipCloseNic, "", "3.1.2", EARLY, NIC, close_nic) \
  X(VipCreateVi, "", "3.2.1", EARLY, NIC, create_vi_nic) \
  X(VipDestroyVi, "", "3.2.2", EARLY, VI, destroy_vi) \
  X(VipConnectWait, "", "3.3.1", EARLY, NIC, connect_wait) \
  X(VipConnectAccept, "", "3.3.2", EARLY, CONNECTION, connect_accept) \
  X(VipConnectAccept, ".vi", "3.3.2", EARLY, VI, connect_accept_vi) \
  X(VipConnectReject, "", "3.3.3", EARLY, CONNECTION, connect_reject) \
  X(VipConnectRequest, "", "3.3.4", EARLY, VI, connect_request) \
  X(VipDisconnect, "", "3.3.5", EARLY, VI, disconnect) \
  X(VipConnectPeerRequest, "", "3.3.6", FUNCTIONAL, VI, peer_request) \
  X(VipConnectPeerDone, "", "3.3.7", FUNCTIONAL, VI, peer_done) \
  X(VipConnectPeerWait, "", "3.3.8", FUNCTIONAL, VI, peer_wait) \
  X(VipCreatePtag, "", "3.4.1", FUNCTIONAL, NIC, create_tag) \
  X(VipDestroyPtag, "", "3.4.2", FUNCTIONAL, NIC, destroy_tag_nic) \
  X(VipDestroyPtag, ".tag", "3.4.2", FUNCTIONAL, TAG, destroy_tag) \
  X(VipRegisterMem, "", "3.4.3", EARLY, NIC, register_memory) \
  X(VipDeregisterMem, "", "3.4.4", EARLY, NIC, deregister) \
  X(VipPostSend, "", "3.5.1", EARLY, VI, post_to_send) \
  X(VipSendDone, "", "3.5.2", EARLY, VI, send_done) \
  X(VipSendWait, "", "3.5.3", EARLY, VI, send_wait) \
  X(VipPostRecv, "", "3.5.4", EARLY, VI, post_to_receive) \
  X(VipRecvDone, "", "3.5.5", EARLY, VI, receive_done) \
  X(VipRecvWait, "", "3.5.6", EARLY, VI, receive_wait) \
  X(VipCQDone, "", "3.5.7", FUNCTIONAL, CQ, queue_done) \
  X(VipCQWait, "", "3.5.8", FUNCTIONAL, CQ, queue_wait) \
  X(VipSendNotify, "", "3.5.9", FULL, VI, send_notify) \
  X(VipRecvNotify, "", "3.5.10", FULL, VI, receive_notify) \
  X(VipCQNotify, "", "3.5.11", FULL, CQ, queue_notify) \
  X(VipCreateCQ, "", "3.6.1", FUNCTIONAL, NIC, create_queue) \
  X(VipDestroyCQ, "", "3.6.2", FUNCTIONAL, CQ, destroy_queue) \
  X(VipResizeCQ, "", "3.6.3", FUNCTIONAL, CQ, resize_queue) \
  X(VipQueryNic, "", "3.7.1", EARLY, NIC, query_nic) \
  X(VipSetViAttributes, "", "3.7.2", FULL, VI, set_vi) \
  X(VipQueryVi, "", "3.7.3", EARLY, VI, query_vi) \
  X(VipSetMemAttributes, "", "3.7.4", FULL, NIC, set_memory) \
  X(VipQueryMem, "", "3.7.5", EARLY, NIC, query_memory) \
  X(VipQuerySystemManagementInfo, "", "3.7.6", FULL, NIC, query_system) \
  X(VipErrorCallback, "", "3.8.1", FUNCTIONAL, NIC, error_callback) \
  X(VipNSInit, "", "3.9.1", FUNCTIONAL, NIC, name_init) \
  X(VipNSGetHostByName, "", "3.9.2", FUNCTIONAL, NIC, name_by_name) \
  X(VipNSGetHostByAddr, "", "3.9.3", FUNCTIONAL, NIC, name_by_address) \
  X(VipNSShutdown, "", "3.9.4", FUNCTIONAL, NIC, name_shutdown)

/* A completion queue handle of VipCreateVi may be NULL. */
#define OPTIONAL_HANDLES(X) \
  X(VipCreateVi, ".send_queue", "3.2.1", FUNCTIONAL, CQ, create_vi_send) \
  X(VipCreateVi, ".receive_queue", "3.2.1", FUNCTIONAL, CQ, create_vi_receive)

enum {
#define X(call, suffix, clause, phase, kind, function) INDEX_##function,
  HANDLES(X) OPTIONAL_HANDLES(X)
#undef X
};

static const struct {
  CallId call;
  HandleKind kind;
  VIP_RETURN (*function)(void* bad);
} invocations[] = {
#define X(call, suffix, clause, phase, kind, function) {ID_##call, kind, function},
    HANDLES(X) OPTIONAL_HANDLES(X)
#undef X
};

static void invalid_handle(int argument) {
  const int index = argument / BADNESS_COUNT;
  near_open();
  vi_attribs = vi_attributes(&near, VIP_SERVICE_RELIABLE_DELIVERY);
  memory_attribs = memory_attributes(&near);
  here = fresh_address(&near.attributes);
  there = fresh_address(&near.attributes);
  void* bad = bad_handle(invocations[index].kind, (Badness)(argument % BADNESS_COUNT));
  expect_code(__FILE__, __LINE__, invocations[index].call, VIP_INVALID_PARAMETER, invocations[index].function(bad));
  if (invocations[index].function == connect_accept_vi) FAR_ANSWERS(VIP_TIMEOUT);
}

#define BAD(call, suffix, clause, phase, function, what, badness) \
  {#call suffix "." what, \
   ID_##call, \
   "VI-DG " clause, \
   phase, \
   PROVES(VIP_INVALID_PARAMETER), \
   invalid_handle, \
   INDEX_##function * BADNESS_COUNT + badness},

const Test handle_tests[] = {
#define X(call, suffix, clause, phase, kind, function) \
  BAD(call, suffix, clause, phase, function, "null_handle", NULL_HANDLE) \
  BAD(call, suffix, clause, phase, function, "stale_handle", STALE) \
  BAD(call, suffix, clause, phase, function, "forged_handle", FORGED) \
  BAD(call, suffix, clause, phase, function, "handle_of_another_kind", WRONG_KIND)
    HANDLES(X)
#undef X
#define X(call, suffix, clause, phase, kind, function) \
  BAD(call, suffix, clause, phase, function, "stale_handle", STALE) \
  BAD(call, suffix, clause, phase, function, "forged_handle", FORGED) \
  BAD(call, suffix, clause, phase, function, "handle_of_another_kind", WRONG_KIND)
        OPTIONAL_HANDLES(X)
#undef X
            {NULL, 0, NULL, 0, 0, NULL, 0}};
