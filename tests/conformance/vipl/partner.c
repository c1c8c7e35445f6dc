/* The partner: one node, some VIs, and a loop that does what it is ordered. */
#define _POSIX_C_SOURCE 200809L
#include "partner.h"

#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "far.h"
#include "options.h"

static Node node = {.mutex = PTHREAD_MUTEX_INITIALIZER};
static VIP_VI_HANDLE vis[FAR_VIS];
static VIP_CONN_HANDLE connections[FAR_CONNECTIONS];

static VIP_RETURN open_node(Answer* answer) {
  node_open(&node, options.peer_nic);
  answer->nic = node.attributes;
  if (node.attributes.NicAddressLen > sizeof answer->nic_address)
    skip("the NIC's addresses are longer than the suite provides for");
  memcpy(answer->nic_address, node.attributes.LocalNicAddress, node.attributes.NicAddressLen);
  answer->memory = (VIP_UINT64)(uintptr_t)data_at(&node, 0);
  answer->handle = node.handle;
  return VIP_SUCCESS;
}

static VIP_RETURN create(const Order* order) {
  VIP_VI_ATTRIBUTES attributes = order->attributes;
  attributes.Ptag = node.tag;
  return CALL(VipCreateVi, node.nic, &attributes, NULL, NULL, &vis[order->vi]);
}

static VIP_RETURN query(const Order* order, Answer* answer) {
  VIP_BOOLEAN send_empty, receive_empty;
  return CALL(VipQueryVi, vis[order->vi], &answer->state, &answer->attributes, &send_empty, &receive_empty);
}

static VIP_RETURN wait_for_request(Order* order, Answer* answer) {
  answer->address.net.HostAddressLen = node.attributes.NicAddressLen;
  return CALL(VipConnectWait, node.nic, &order->address.net, order->timeout, &answer->address.net, &answer->attributes,
              &connections[order->connection]);
}

static VIP_RETURN request(Order* order, Answer* answer) {
  if (order->persistent)
    return request_until_matched(vis[order->vi], &order->local, &order->address, order->timeout, &answer->attributes);
  return CALL(VipConnectRequest, vis[order->vi], &order->local.net, &order->address.net, order->timeout,
              &answer->attributes);
}

static VIP_RETURN post(const Order* order) {
  VIP_DESCRIPTOR* descriptor = describe(&node, &order->message);
  if (order->kind == ORDER_POST_SEND) return CALL(VipPostSend, vis[order->vi], descriptor, node.handle);
  return CALL(VipPostRecv, vis[order->vi], descriptor, node.handle);
}

static VIP_RETURN reap(const Order* order, Answer* answer) {
  VIP_DESCRIPTOR* descriptor = NULL;
  const VIP_RETURN code = order->kind == ORDER_REAP_SEND
                              ? CALL(VipSendWait, vis[order->vi], order->timeout, &descriptor)
                              : CALL(VipRecvWait, vis[order->vi], order->timeout, &descriptor);
  answer->slot = slot_of(&node, descriptor);
  if (answer->slot == SLOTS) return code;
  answer->status = descriptor->CS.Status;
  answer->length = descriptor->CS.Length;
  answer->immediate = descriptor->CS.ImmediateData;
  return code;
}

static VIP_RETURN set_memory(const Order* order) {
  VIP_MEM_ATTRIBUTES attributes = {node.tag, order->enable_write, order->enable_read};
  return CALL(VipSetMemAttributes, node.nic, node.memory, node.handle, &attributes);
}

static VIP_RETURN carry_out(Order* order, Answer* answer) {
  unsigned char* data = node.memory == NULL ? NULL : data_at(&node, order->message.offset);
  switch (order->kind) {
    case ORDER_OPEN: return open_node(answer);
    case ORDER_CREATE_VI: return create(order);
    case ORDER_DESTROY_VI: return CALL(VipDestroyVi, vis[order->vi]);
    case ORDER_QUERY_VI: return query(order, answer);
    case ORDER_WAIT: return wait_for_request(order, answer);
    case ORDER_ACCEPT: return CALL(VipConnectAccept, connections[order->connection], vis[order->vi]);
    case ORDER_REJECT: return CALL(VipConnectReject, connections[order->connection]);
    case ORDER_REQUEST: return request(order, answer);
    case ORDER_PEER_REQUEST:
      return CALL(VipConnectPeerRequest, vis[order->vi], &order->local.net, &order->address.net, order->timeout);
    case ORDER_PEER_WAIT: return CALL(VipConnectPeerWait, vis[order->vi], &answer->attributes);
    case ORDER_DISCONNECT: return CALL(VipDisconnect, vis[order->vi]);
    case ORDER_POST_RECEIVE:
    case ORDER_POST_SEND: return post(order);
    case ORDER_REAP_SEND:
    case ORDER_REAP_RECEIVE: return reap(order, answer);
    case ORDER_FILL: fill(data, order->message.length, order->seed); return VIP_SUCCESS;
    case ORDER_MATCHES: answer->yes = is_filled(data, order->message.length, order->seed); return VIP_SUCCESS;
    case ORDER_ERROR: wait_for_error(&node, vis[order->vi], order->error); return VIP_SUCCESS;
    case ORDER_ERROR_COUNT: answer->count = count_errors(&node, vis[order->vi], order->error); return VIP_SUCCESS;
    case ORDER_MEMORY: return set_memory(order);
    case ORDER_CLOSE:
    case ORDER_QUIT: node_close(&node); return VIP_SUCCESS;
  }
  return VIP_INVALID_PARAMETER;
}

void partner_serve(int file) {
  Order order;
  Answer answer;
  do {
    if (recv(file, &order, sizeof order, MSG_WAITALL) != (ssize_t)sizeof order) return;
    memset(&answer, 0, sizeof answer);
    answer.code = carry_out(&order, &answer);
    if (send(file, &answer, sizeof answer, MSG_NOSIGNAL) != (ssize_t)sizeof answer) return;
  } while (order.kind != ORDER_QUIT);
}
