/* Pointers that must not be NULL. Where the page of a call says that any parameter may be invalid this
 * belongs to its phase; where it speaks of the handle only it is practice. */
#include <string.h>

#include "options.h"
#include "suite.h"

static void open_nic(int unused) {
  VIP_NIC_HANDLE nic;
  (void)unused;
  EXPECT(VIP_INVALID_PARAMETER, VipOpenNic, NULL, &nic);
  EXPECT(VIP_INVALID_PARAMETER, VipOpenNic, options.nic, NULL);
}

static void create(int unused) {
  VIP_VI_ATTRIBUTES attributes;
  VIP_VI_HANDLE vi;
  (void)unused;
  near_open();
  attributes = vi_attributes(&near, VIP_SERVICE_RELIABLE_DELIVERY);
  EXPECT(VIP_INVALID_PARAMETER, VipCreateVi, near.nic, NULL, NULL, NULL, &vi);
  EXPECT(VIP_INVALID_PARAMETER, VipCreateVi, near.nic, &attributes, NULL, NULL, NULL);
}

static void wait_for_request(int unused) {
  Address local, remote;
  VIP_VI_ATTRIBUTES attributes;
  VIP_CONN_HANDLE connection;
  (void)unused;
  near_open();
  local = remote = fresh_address(&near.attributes);
  EXPECT(VIP_INVALID_PARAMETER, VipConnectWait, near.nic, NULL, 0, &remote.net, &attributes, &connection);
  EXPECT(VIP_INVALID_PARAMETER, VipConnectWait, near.nic, &local.net, 0, NULL, &attributes, &connection);
  EXPECT(VIP_INVALID_PARAMETER, VipConnectWait, near.nic, &local.net, 0, &remote.net, NULL, &connection);
  EXPECT(VIP_INVALID_PARAMETER, VipConnectWait, near.nic, &local.net, 0, &remote.net, &attributes, NULL);
}

static void request(int unused) {
  VIP_VI_HANDLE vi = idle_vi();
  Address address = fresh_address(&near.attributes);
  VIP_VI_ATTRIBUTES attributes;
  (void)unused;
  EXPECT(VIP_INVALID_PARAMETER, VipConnectRequest, vi, NULL, &address.net, 1000, &attributes);
  EXPECT(VIP_INVALID_PARAMETER, VipConnectRequest, vi, &address.net, NULL, 1000, &attributes);
  EXPECT(VIP_INVALID_PARAMETER, VipConnectRequest, vi, &address.net, &address.net, 1000, NULL);
  CHECK(vi_state(vi) == VIP_STATE_IDLE, "the VI is not Idle after a request with an invalid parameter");
}

static void peer_request(int unused) {
  VIP_VI_HANDLE vi = idle_vi();
  Address address = fresh_address(&near.attributes);
  (void)unused;
  EXPECT(VIP_INVALID_PARAMETER, VipConnectPeerRequest, vi, NULL, &address.net, 1000);
  EXPECT(VIP_INVALID_PARAMETER, VipConnectPeerRequest, vi, &address.net, NULL, 1000);
  CHECK(vi_state(vi) == VIP_STATE_IDLE, "the VI is not Idle after a request with an invalid parameter");
}

static void create_tag(int unused) {
  (void)unused;
  near_open();
  EXPECT(VIP_INVALID_PARAMETER, VipCreatePtag, near.nic, NULL);
}

static void register_memory(int unused) {
  VIP_MEM_ATTRIBUTES attributes;
  VIP_MEM_HANDLE handle;
  (void)unused;
  near_open();
  attributes = memory_attributes(&near);
  EXPECT(VIP_INVALID_PARAMETER, VipRegisterMem, near.nic, NULL, 4096, &attributes, &handle);
  EXPECT(VIP_INVALID_PARAMETER, VipRegisterMem, near.nic, near.memory, 4096, &attributes, NULL);
}

static void set_vi(int unused) {
  VIP_VI_HANDLE vi = idle_vi();
  (void)unused;
  EXPECT(VIP_INVALID_PARAMETER, VipSetViAttributes, vi, NULL);
}

static void notify(int unused) {
  VIP_VI_HANDLE vi = idle_vi();
  (void)unused;
  post_receive(vi, message(0, 0, 64));
  EXPECT(VIP_INVALID_PARAMETER, VipRecvNotify, vi, NULL, NULL);
}

static void send_notify(int unused) {
  VIP_VI_HANDLE vi = idle_vi();
  (void)unused;
  post_send(vi, message(0, 0, 64)); /* completes with an error and stays on the queue */
  EXPECT(VIP_INVALID_PARAMETER, VipSendNotify, vi, NULL, NULL);
}

static void queue_notify(int unused) {
  VIP_CQ_HANDLE queue;
  (void)unused;
  near_open();
  EXPECT(VIP_SUCCESS, VipCreateCQ, near.nic, 16, &queue);
  EXPECT(VIP_INVALID_PARAMETER, VipCQNotify, queue, NULL, NULL);
}

static void by_name(int unused) {
  static char name[] = "localhost";
  Address address;
  (void)unused;
  near_open();
  address = fresh_address(&near.attributes);
  EXPECT(VIP_SUCCESS, VipNSInit, near.nic, NULL);
  EXPECT(VIP_INVALID_PARAMETER, VipNSGetHostByName, near.nic, NULL, &address.net, 0);
  EXPECT(VIP_INVALID_PARAMETER, VipNSGetHostByName, near.nic, name, NULL, 0);
}

static void by_address(int unused) {
  Address address;
  char name[256];
  VIP_ULONG length = sizeof name;
  (void)unused;
  near_open();
  address = fresh_address(&near.attributes);
  EXPECT(VIP_SUCCESS, VipNSInit, near.nic, NULL);
  EXPECT(VIP_INVALID_PARAMETER, VipNSGetHostByAddr, near.nic, NULL, name, &length);
  EXPECT(VIP_INVALID_PARAMETER, VipNSGetHostByAddr, near.nic, &address.net, NULL, &length);
  EXPECT(VIP_INVALID_PARAMETER, VipNSGetHostByAddr, near.nic, &address.net, name, NULL);
}

/* ---- Pages that speak of the handle only ------------------------------------------------------------- */

static void query_nic(int unused) {
  (void)unused;
  near_open();
  EXPECT(VIP_INVALID_PARAMETER, VipQueryNic, near.nic, NULL);
}

static void query_vi(int unused) {
  VIP_VI_HANDLE vi = idle_vi();
  VIP_VI_STATE state;
  VIP_VI_ATTRIBUTES attributes;
  VIP_BOOLEAN empty;
  (void)unused;
  EXPECT(VIP_INVALID_PARAMETER, VipQueryVi, vi, NULL, &attributes, &empty, &empty);
  EXPECT(VIP_INVALID_PARAMETER, VipQueryVi, vi, &state, NULL, &empty, &empty);
  EXPECT(VIP_INVALID_PARAMETER, VipQueryVi, vi, &state, &attributes, NULL, &empty);
  EXPECT(VIP_INVALID_PARAMETER, VipQueryVi, vi, &state, &attributes, &empty, NULL);
}

static void query_memory(int unused) {
  (void)unused;
  near_open();
  EXPECT(VIP_INVALID_PARAMETER, VipQueryMem, near.nic, near.memory, near.handle, NULL);
}

static void set_memory(int unused) {
  (void)unused;
  near_open();
  EXPECT(VIP_INVALID_PARAMETER, VipSetMemAttributes, near.nic, near.memory, near.handle, NULL);
}

static void work_queues(int unused) {
  VIP_VI_HANDLE vi = idle_vi();
  (void)unused;
  EXPECT(VIP_INVALID_PARAMETER, VipSendDone, vi, NULL);
  EXPECT(VIP_INVALID_PARAMETER, VipRecvDone, vi, NULL);
  EXPECT(VIP_INVALID_PARAMETER, VipSendWait, vi, 0, NULL);
  EXPECT(VIP_INVALID_PARAMETER, VipRecvWait, vi, 0, NULL);
}

static void completion_queues(int unused) {
  VIP_CQ_HANDLE queue;
  VIP_VI_HANDLE vi;
  VIP_BOOLEAN receive_queue;
  (void)unused;
  near_open();
  EXPECT(VIP_INVALID_PARAMETER, VipCreateCQ, near.nic, 16, NULL);
  EXPECT(VIP_SUCCESS, VipCreateCQ, near.nic, 16, &queue);
  EXPECT(VIP_INVALID_PARAMETER, VipCQDone, queue, NULL, &receive_queue);
  EXPECT(VIP_INVALID_PARAMETER, VipCQDone, queue, &vi, NULL);
  EXPECT(VIP_INVALID_PARAMETER, VipCQWait, queue, 0, NULL, &receive_queue);
  EXPECT(VIP_INVALID_PARAMETER, VipCQWait, queue, 0, &vi, NULL);
}

static void system_management(int unused) {
  (void)unused;
  near_open();
  EXPECT(VIP_INVALID_PARAMETER, VipQuerySystemManagementInfo, near.nic, VIP_SMI_AUTODISCOVERY, NULL);
}

#define NULLS(call, clause, phase, run) \
  { #call ".null_arguments", ID_##call, "VI-DG " clause, phase, PROVES(VIP_INVALID_PARAMETER), run, 0 }

const Test argument_tests[] = {NULLS(VipOpenNic, "3.1.1", EARLY, open_nic),
                               NULLS(VipCreateVi, "3.2.1", EARLY, create),
                               NULLS(VipConnectWait, "3.3.1", EARLY, wait_for_request),
                               NULLS(VipConnectRequest, "3.3.4", EARLY, request),
                               NULLS(VipConnectPeerRequest, "3.3.6", FUNCTIONAL, peer_request),
                               NULLS(VipCreatePtag, "3.4.1", FUNCTIONAL, create_tag),
                               NULLS(VipRegisterMem, "3.4.3", EARLY, register_memory),
                               NULLS(VipSetViAttributes, "3.7.2", FULL, set_vi),
                               NULLS(VipRecvNotify, "3.5.10", FULL, notify),
                               NULLS(VipSendNotify, "3.5.9", FULL, send_notify),
                               NULLS(VipCQNotify, "3.5.11", FULL, queue_notify),
                               NULLS(VipNSGetHostByName, "3.9.2", FUNCTIONAL, by_name),
                               NULLS(VipNSGetHostByAddr, "3.9.3", FUNCTIONAL, by_address),
                               NULLS(VipQueryNic, "3.7.1", PRACTICE, query_nic),
                               NULLS(VipQueryVi, "3.7.3", PRACTICE, query_vi),
                               NULLS(VipQueryMem, "3.7.5", PRACTICE, query_memory),
                               NULLS(VipSetMemAttributes, "3.7.4", PRACTICE, set_memory),
                               NULLS(VipSendDone, "3.5.2", PRACTICE, work_queues),
                               NULLS(VipCQDone, "3.5.7", PRACTICE, completion_queues),
                               NULLS(VipQuerySystemManagementInfo, "3.7.6", PRACTICE, system_management),
                               {NULL, 0, NULL, 0, 0, NULL, 0}};
