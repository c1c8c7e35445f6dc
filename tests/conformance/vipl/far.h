/*
 * The far side: a partner that owns a node of its own and does what tests order it to do, one order at a
 * time. It is a thread of the test's process or a process of its own; tests cannot tell which, and need not.
 */
#ifndef CONFORMANCE_VIPL_FAR_H
#define CONFORMANCE_VIPL_FAR_H

#include "suite.h"

enum { FAR_VIS = 8, FAR_CONNECTIONS = 4 };

typedef enum {
  ORDER_OPEN,         /* opens the node: Answer.nic, .address, .memory, .handle */
  ORDER_CREATE_VI,    /* .vi .attributes .queues */
  ORDER_DESTROY_VI,   /* .vi */
  ORDER_QUERY_VI,     /* .vi: Answer.state */
  ORDER_WAIT,         /* VipConnectWait: .address .timeout .connection: Answer.address, .attributes */
  ORDER_ACCEPT,       /* .connection .vi */
  ORDER_REJECT,       /* .connection */
  ORDER_REQUEST,      /* VipConnectRequest: .vi .local .address .timeout, again while nobody waits if .persistent
                  */
  ORDER_PEER_REQUEST, /* .vi .local .address .timeout */
  ORDER_PEER_WAIT,    /* .vi */
  ORDER_DISCONNECT,   /* .vi */
  ORDER_POST_RECEIVE, /* .vi .message */
  ORDER_POST_SEND,    /* .vi .message */
  ORDER_REAP_SEND,    /* VipSendWait: .vi .timeout: Answer.slot, .status, .length */
  ORDER_REAP_RECEIVE, /* VipRecvWait: the same and Answer.immediate */
  ORDER_FILL,         /* .message.offset .message.length .seed */
  ORDER_MATCHES,      /* the same: Answer.yes */
  ORDER_ERROR,        /* waits for an asynchronous error: .vi .error */
  ORDER_ERROR_COUNT,  /* .vi .error: Answer.count */
  ORDER_MEMORY,       /* VipSetMemAttributes of its memory: .memory_enables */
  ORDER_CLOSE,        /* VipCloseNic */
  ORDER_QUIT          /* closes what is open and ends */
} OrderKind;

typedef struct {
  OrderKind kind;
  unsigned vi, connection;
  VIP_VI_ATTRIBUTES attributes; /* the tag is the partner's */
  Address local, address;
  VIP_ULONG timeout;
  bool persistent;
  Message message;
  unsigned seed;
  VIP_ERROR_CODE error;
  VIP_BOOLEAN enable_write, enable_read;
} Order;

typedef struct {
  VIP_RETURN code;
  VIP_NIC_ATTRIBUTES nic; /* LocalNicAddress is set by the receiver */
  unsigned char nic_address[64];
  VIP_UINT64 memory; /* address of the data */
  VIP_MEM_HANDLE handle;
  VIP_VI_STATE state;
  VIP_VI_ATTRIBUTES attributes;
  Address address;
  unsigned slot;
  VIP_UINT32 status, length, immediate;
  bool yes;
  size_t count;
} Answer;

/* What the partner told when it opened its NIC. */
extern Answer far;

/* Starts the partner if there is none and opens both nodes. */
void far_open(void);
/* Orders and waits for the answer. */
Answer far_do(Order order);
/* Orders only, so that the near side can act meanwhile; far_answer waits for the answer. */
void far_start(Order order);
Answer far_answer(void);
/* Orders, and fails unless the partner's call returned this code. */
#define FAR_EXPECT(code, order) far_expect(__FILE__, __LINE__, (code), far_do(order))
#define FAR_ANSWERS(code) far_expect(__FILE__, __LINE__, (code), far_answer())
#define FAR_EXPECT_ANSWER(code, answer) far_expect(__FILE__, __LINE__, (code), (answer))
Answer far_expect(const char* file, int line, VIP_RETURN code, Answer answer);
/* Ends the partner in good order. */
void far_end(void);
/* Ends the partner as if it had crashed; skips the test if it is a thread. */
void far_kill(void);

/* ---- What most tests need ---------------------------------------------------------------------------- */

Order far_order(OrderKind kind, unsigned vi);
void far_create_vi(unsigned vi, VIP_RELIABILITY_LEVEL level);
void far_post_receive(unsigned vi, Message wanted);
void far_post_send(unsigned vi, Message wanted);
/* Waits for the next completion of the far queue, which must be this slot with these error bits. */
Answer far_reap_send(unsigned vi, unsigned slot, VIP_UINT32 error_bits);
Answer far_reap_receive(unsigned vi, unsigned slot, VIP_UINT32 error_bits);
void far_fill(size_t offset, VIP_UINT32 length, unsigned seed);
bool far_matches(size_t offset, VIP_UINT32 length, unsigned seed);
VIP_VI_STATE far_state(unsigned vi);
void far_wait_for_error(unsigned vi, VIP_ERROR_CODE code);

/* A message to or from the far node's data. */
Message rdma_message(VIP_UINT16 operation, unsigned slot, size_t offset, VIP_UINT32 length, size_t far_offset);

/* Connects the near VI, which is Idle, with far VI `far_vi`, which the partner accepts with. */
void connect_pair(VIP_VI_HANDLE vi, unsigned far_vi);
/* Creates both, far VI 0 at the far end, and connects them. Skips the test if the NIC has no such level. */
VIP_VI_HANDLE make_pair(int level);
VIP_VI_HANDLE make_pair_with_queues(int level, VIP_CQ_HANDLE send_queue, VIP_CQ_HANDLE receive_queue);
/* For a test whose VIs, the near one and far VI 0, have unlike MaxTransferSize, and are connected all the same: a
 * transport may agree on the smaller one (VI-TCP 2.2.1). Both VIs must show it, and the end that was told of the other
 * must have learned it. Skips the test. */
_Noreturn void skip_smaller_size_binds(VIP_VI_HANDLE vi, VIP_ULONG smaller, VIP_ULONG learned);
/* Skips the test where a Send at this level waits until the peer has a receive for it (VI-TCP 2.2.1, 3.3), and then
 * succeeds: nothing comes without a receive. */
void need_unheld_sends(int level);
/* Requests again while nobody waits (VIP_NO_MATCH); the last code. */
VIP_RETURN request_until_matched(VIP_VI_HANDLE vi, Address* local, Address* remote, VIP_ULONG timeout,
                                 VIP_VI_ATTRIBUTES* attributes);
/* Starts a thread that waits for one request at this address of the near node and accepts it with the VI. */
pthread_t serve_one(VIP_VI_HANDLE vi, const Address* address);
/* The far VI requests a connection with the near node, which gets the request's handle. The partner's answer
 * is to be fetched by far_answer. */
VIP_CONN_HANDLE receive_request(unsigned far_vi, VIP_ULONG far_timeout);

/* Sends to far VI 0, where slot `far_slot` with as many bytes is posted first, until it is received: only on
 * Unreliable Delivery may a message be lost (VI-ARCH 2.5.1). The far completion is returned. */
Answer deliver(VIP_VI_HANDLE vi, int level, Message wanted, Message at_far);
/* The same with a receive that is posted already. */
Answer deliver_posted(VIP_VI_HANDLE vi, int level, Message wanted, unsigned far_slot);

#endif
