/* Two connected VIs, and what is done with them again and again. */
#include <string.h>

#include "far.h"

VIP_RETURN request_until_matched(VIP_VI_HANDLE vi, Address* local, Address* remote, VIP_ULONG timeout,
                                 VIP_VI_ATTRIBUTES* attributes) {
  VIP_RETURN code;
  while ((code = CALL(VipConnectRequest, vi, &local->net, &remote->net, timeout, attributes)) == VIP_NO_MATCH)
    pause_ms(1);
  return code;
}

void connect_pair(VIP_VI_HANDLE vi, unsigned far_vi) {
  Address local = fresh_address(&near.attributes), remote = fresh_address(&far.nic);
  VIP_VI_ATTRIBUTES attributes;
  Order wait = far_order(ORDER_WAIT, far_vi);
  wait.address = remote;
  far_start(wait);
  /* The partner accepts as soon as the request is there; meanwhile this thread requests. */
  Order accept = far_order(ORDER_ACCEPT, far_vi);
  far_start(accept);
  expect_code(__FILE__, __LINE__, ID_VipConnectRequest, VIP_SUCCESS,
              request_until_matched(vi, &local, &remote, VIP_INFINITE, &attributes));
  FAR_ANSWERS(VIP_SUCCESS);
  FAR_ANSWERS(VIP_SUCCESS);
}

static struct {
  VIP_VI_HANDLE vi;
  Address address;
} accepting;

static void* wait_and_accept(void* unused) {
  Address client;
  VIP_VI_ATTRIBUTES attributes;
  VIP_CONN_HANDLE connection;
  (void)unused;
  EXPECT(VIP_SUCCESS, VipConnectWait, near.nic, &accepting.address.net, VIP_INFINITE, &client.net, &attributes,
         &connection);
  EXPECT(VIP_SUCCESS, VipConnectAccept, connection, accepting.vi);
  return NULL;
}

pthread_t serve_one(VIP_VI_HANDLE vi, const Address* address) {
  accepting.vi = vi;
  accepting.address = *address;
  return start_thread(wait_and_accept, NULL);
}

VIP_VI_HANDLE make_pair_with_queues(int level, VIP_CQ_HANDLE send_queue, VIP_CQ_HANDLE receive_queue) {
  VIP_VI_HANDLE vi;
  need_level(level);
  far_create_vi(0, (VIP_RELIABILITY_LEVEL)level);
  vi = create_vi(&near, (VIP_RELIABILITY_LEVEL)level, send_queue, receive_queue);
  connect_pair(vi, 0);
  return vi;
}

VIP_VI_HANDLE make_pair(int level) { return make_pair_with_queues(level, NULL, NULL); }

VIP_CONN_HANDLE receive_request(unsigned far_vi, VIP_ULONG far_timeout) {
  Address server = fresh_address(&near.attributes), client;
  VIP_VI_ATTRIBUTES attributes;
  VIP_CONN_HANDLE connection = NULL;
  Order request = far_order(ORDER_REQUEST, far_vi);
  request.local = fresh_address(&far.nic);
  request.address = server;
  request.timeout = far_timeout;
  request.persistent = true;
  far_start(request);
  memset(&client, 0, sizeof client);
  EXPECT(VIP_SUCCESS, VipConnectWait, near.nic, &server.net, VIP_INFINITE, &client.net, &attributes, &connection);
  CHECK(same_address(&client, &request.local), "VipConnectWait: the client's address did not come through");
  return connection;
}

Answer deliver(VIP_VI_HANDLE vi, int level, Message wanted, Message at_far) {
  far_post_receive(0, at_far);
  return deliver_posted(vi, level, wanted, at_far.slot);
}

Answer deliver_posted(VIP_VI_HANDLE vi, int level, Message wanted, unsigned far_slot) {
  const bool may_be_lost = level == VIP_SERVICE_UNRELIABLE;
  Order reap = far_order(ORDER_REAP_RECEIVE, 0);
  Answer answer;
  if (may_be_lost) reap.timeout = 1000;
  for (int attempt = 0;; ++attempt) {
    const VIP_UINT32 operation = (wanted.control & VIP_CONTROL_OP_MASK) == VIP_CONTROL_OP_RDMAWRITE
                                     ? VIP_STATUS_OP_RDMA_WRITE
                                     : VIP_STATUS_OP_SEND;
    post_send(vi, wanted);
    reap_send(vi, wanted.slot, 0, operation);
    answer = far_do(reap);
    if (answer.code != VIP_TIMEOUT) break;
    CHECK(may_be_lost && attempt < 20, "message lost %d times in a row", attempt + 1);
  }
  CHECK(answer.code != VIP_DESCRIPTOR_ERROR, "the far receive ended with status %#x", (unsigned)answer.status);
  FAR_EXPECT_ANSWER(VIP_SUCCESS, answer);
  CHECK(answer.slot == far_slot, "at the far end: expected slot %u, came slot %u", far_slot, answer.slot);
  return answer;
}

void skip_smaller_size_binds(VIP_VI_HANDLE vi, VIP_ULONG smaller, VIP_ULONG learned) {
  VIP_VI_STATE state;
  VIP_VI_ATTRIBUTES attributes;
  VIP_BOOLEAN send_empty, receive_empty;
  const VIP_ULONG far_size = FAR_EXPECT(VIP_SUCCESS, far_order(ORDER_QUERY_VI, 0)).attributes.MaxTransferSize;
  EXPECT(VIP_SUCCESS, VipQueryVi, vi, &state, &attributes, &send_empty, &receive_empty);
  CHECK(state == VIP_STATE_CONNECTED && attributes.MaxTransferSize == smaller && far_size == smaller &&
            learned == smaller,
        "unlike sizes were accepted, and the smaller, %lu, does not bind both: %lu here, %lu at the far end, told %lu",
        (unsigned long)smaller, (unsigned long)attributes.MaxTransferSize, (unsigned long)far_size,
        (unsigned long)learned);
  skip("the NIC agrees on the smaller MaxTransferSize");
}

void need_unheld_sends(int level) {
  VIP_VI_HANDLE vi = make_pair(level);
  VIP_DESCRIPTOR* descriptor;
  Order receive = far_order(ORDER_POST_RECEIVE, 0);
  post_send(vi, message(0, 0, 100));
  const bool waits = CALL(VipSendWait, vi, 500, &descriptor) == VIP_TIMEOUT;
  receive.message = message(0, 0, 100);
  if (waits && far_do(receive).code == VIP_SUCCESS && CALL(VipSendWait, vi, VIP_INFINITE, &descriptor) == VIP_SUCCESS) {
    far_reap_receive(0, 0, 0);
    skip("the NIC holds a Send until the peer has a receive for it");
  }
}
