/* The idiom of message-passing libraries of the time: one registered buffer, and receives of 65,472 bytes posted into
 * whatever is left of it. Messages are short. What a message does not touch is not judged (VI-ARCH 3.2.1, 3.2.2); one
 * that does touch memory beyond the region is a protection error. */
#define _GNU_SOURCE
#include "pair.h"

#define LONGEST 65472
#define TAIL 1000

static void send_bytes(end_t* from, VIP_UINT32 length, VIP_RETURN expected) {
  VIP_DESCRIPTOR* done;
  VIP_DESCRIPTOR* descriptor = describe(from, 0, data_of(from), from->handle, length);
  SUCCEEDS(VipPostSend(from->vi, descriptor, from->handle));
  require_code(expected, VipSendWait(from->vi, VIP_INFINITE, &done), "VipSendWait");
}

static void post_into_tail(end_t* end, int index, VIP_UINT32 tail) {
  VIP_DESCRIPTOR* descriptor = describe(end, index, data_of(end) + end->data_bytes - tail, end->handle, LONGEST);
  SUCCEEDS(VipPostRecv(end->vi, descriptor, end->handle));
}

static void receive_bytes(end_t* end, VIP_UINT32 length) {
  VIP_DESCRIPTOR* done;
  require_code(VIP_SUCCESS, VipRecvWait(end->vi, VIP_INFINITE, &done), "VipRecvWait");
  REQUIRE(done->CS.Length == length);
  REQUIRE((done->CS.Status & VIP_STATUS_ERROR_MASK) == 0);
}

static void short_messages_arrive(end_t* client, end_t* server) {
  static const VIP_UINT32 lengths[] = {0, 1, 8, TAIL - 1, TAIL};
  const int count = sizeof lengths / sizeof lengths[0];
  int i;
  for (i = 0; i < count; ++i) post_into_tail(server, 1 + i, TAIL);
  for (i = 0; i < count; ++i) {
    memset(data_of(client), 'a' + i, TAIL);
    send_bytes(client, lengths[i], VIP_SUCCESS);
    receive_bytes(server, lengths[i]);
    if (lengths[i] != 0) REQUIRE(data_of(server)[server->data_bytes - TAIL + lengths[i] - 1] == 'a' + i);
  }
  post_into_tail(server, 1, 0); /* nothing of it lies in the region; nothing is needed */
  send_bytes(client, 0, VIP_SUCCESS);
  receive_bytes(server, 0);
}

/* An RDMA Write with immediate data consumes a descriptor and touches none of its segments. */
static void immediate_data_arrive(end_t* client, end_t* server) {
  VIP_DESCRIPTOR* done;
  VIP_DESCRIPTOR* descriptor = describe(client, 0, data_of(client), client->handle, 4);
  descriptor->DS[1] = descriptor->DS[0];
  descriptor->DS[0].Remote.Data.Address = data_of(server);
  descriptor->DS[0].Remote.Handle = server->handle;
  descriptor->DS[0].Remote.Reserved = 0;
  descriptor->CS.SegCount = 2;
  descriptor->CS.Control = VIP_CONTROL_OP_RDMAWRITE | VIP_CONTROL_IMMEDIATE;
  descriptor->CS.ImmediateData = 77;
  post_into_tail(server, 1, 0);
  SUCCEEDS(VipPostSend(client->vi, descriptor, client->handle));
  require_code(VIP_SUCCESS, VipSendWait(client->vi, VIP_INFINITE, &done), "VipSendWait");
  require_code(VIP_SUCCESS, VipRecvWait(server->vi, VIP_INFINITE, &done), "VipRecvWait");
  REQUIRE(done->CS.ImmediateData == 77);
}

/* At the unreliable level the connection outlives it; at the others it does not (VI-ARCH 2.5). */
static void long_message_is_refused(end_t* client, end_t* server, VIP_RELIABILITY_LEVEL level) {
  VIP_DESCRIPTOR* done;
  post_into_tail(server, 1, TAIL);
  send_bytes(client, TAIL + 1, level == VIP_SERVICE_RELIABLE_RECEPTION ? VIP_DESCRIPTOR_ERROR : VIP_SUCCESS);
  require_code(VIP_DESCRIPTOR_ERROR, VipRecvWait(server->vi, VIP_INFINITE, &done), "VipRecvWait");
  REQUIRE((done->CS.Status & VIP_STATUS_ERROR_MASK) == VIP_STATUS_PROTECTION_ERROR);
  REQUIRE(state_of(server) == (level == VIP_SERVICE_UNRELIABLE ? VIP_STATE_CONNECTED : VIP_STATE_ERROR));
}

/* What a Send or an RDMA Write reads, and what an RDMA Read writes, is all of their segments: one that ends with its
 * region is good, one that reaches a byte past it is a protection error. */
static VIP_DESCRIPTOR* at_the_end(end_t* from, end_t* to, VIP_UINT16 operation, VIP_UINT32 beyond) {
  VIP_DESCRIPTOR* descriptor = describe(from, 0, data_of(from) + from->data_bytes - 10, from->handle, 10 + beyond);
  descriptor->CS.Control = operation;
  if (operation == VIP_CONTROL_OP_SENDRECV) return descriptor;
  descriptor->DS[1] = descriptor->DS[0];
  descriptor->DS[0].Remote.Data.Address = data_of(to);
  descriptor->DS[0].Remote.Handle = to->handle;
  descriptor->DS[0].Remote.Reserved = 0;
  descriptor->CS.SegCount = 2;
  return descriptor;
}

static void own_memory_is_judged(end_t* client, end_t* server, VIP_RELIABILITY_LEVEL level, VIP_UINT16 operation) {
  VIP_DESCRIPTOR* done;
  if (operation == VIP_CONTROL_OP_SENDRECV) post_into_tail(server, 1, TAIL);
  SUCCEEDS(VipPostSend(client->vi, at_the_end(client, server, operation, 0), client->handle));
  require_code(VIP_SUCCESS, VipSendWait(client->vi, VIP_INFINITE, &done), "VipSendWait");
  SUCCEEDS(VipPostSend(client->vi, at_the_end(client, server, operation, 1), client->handle));
  require_code(VIP_DESCRIPTOR_ERROR, VipSendWait(client->vi, VIP_INFINITE, &done), "VipSendWait");
  REQUIRE((done->CS.Status & VIP_STATUS_ERROR_MASK) == VIP_STATUS_PROTECTION_ERROR);
  REQUIRE(state_of(client) == (level == VIP_SERVICE_UNRELIABLE ? VIP_STATE_CONNECTED : VIP_STATE_ERROR));
}

static void open_pair(end_t* client, end_t* server, VIP_RELIABILITY_LEVEL level) {
  open_end(client, "VINIC0", level, 100000);
  open_end(server, "VINIC1", level, 100000);
  connect_ends(client, server);
}

static void close_pair(end_t* client, end_t* server) {
  SUCCEEDS(VipCloseNic(client->nic));
  SUCCEEDS(VipCloseNic(server->nic));
  free(client->memory);
  free(server->memory);
}

int main(void) {
  static const VIP_RELIABILITY_LEVEL levels[] = {VIP_SERVICE_UNRELIABLE, VIP_SERVICE_RELIABLE_DELIVERY,
                                                 VIP_SERVICE_RELIABLE_RECEPTION};
  static const VIP_UINT16 operations[] = {VIP_CONTROL_OP_SENDRECV, VIP_CONTROL_OP_RDMAWRITE, VIP_CONTROL_OP_RDMAREAD};
  end_t client, server;
  int i, j;
  alarm(60);
  for (i = 0; i < 3; ++i) {
    open_pair(&client, &server, levels[i]);
    short_messages_arrive(&client, &server);
    immediate_data_arrive(&client, &server);
    long_message_is_refused(&client, &server, levels[i]);
    close_pair(&client, &server);
    for (j = 0; j < 3; ++j) {
      if (levels[i] == VIP_SERVICE_UNRELIABLE && operations[j] == VIP_CONTROL_OP_RDMAREAD) continue; /* VI-ARCH 2.5.1 */
      open_pair(&client, &server, levels[i]);
      own_memory_is_judged(&client, &server, levels[i], operations[j]);
      close_pair(&client, &server);
    }
  }
  return 0;
}
