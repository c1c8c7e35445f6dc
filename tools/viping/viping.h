/* What the parts of viping know of each other. */
#ifndef VIPING_H
#define VIPING_H
#include <signal.h>

#include "vip_common.h"

enum { MAX_PAYLOAD_BYTES = 1048576, RECEIVES = 8, MAX_CLIENTS = 1024 };

typedef struct {
  const char* device;
  const char* discriminator;
  int quiet, flood;
  unsigned long count; /* 0: until a signal */
  unsigned long interval_ms, timeout_ms, wait_ms;
  uint32_t payload_bytes;
  VIP_RELIABILITY_LEVEL level;
  target to;
} ping_job;

/* Set by SIGINT and SIGTERM. */
extern volatile sig_atomic_t stop_requested;

/* A registered message with its descriptor in front. */
typedef struct {
  VIP_DESCRIPTOR descriptor;
  uint32_t sequence, reserved;
  uint64_t sent_ns;
  unsigned char payload[];
} __attribute__((aligned(VIP_DESCRIPTOR_ALIGNMENT))) ping_message;

/* Registered messages of one size, side by side. Memory that no message was in costs nothing, and the system has all of
 * it back at once. */
typedef struct {
  VIP_NIC_HANDLE nic;
  VIP_MEM_HANDLE memory;
  unsigned char* room;
  size_t stride, bytes;
  uint32_t payload_bytes;
} message_pool;

/* What it says where there are no resources. */
VIP_RETURN pool_open(message_pool* pool, VIP_NIC_HANDLE nic, unsigned count, uint32_t payload_bytes);
void pool_close(message_pool* pool);
ping_message* pool_at(const message_pool* pool, unsigned number);
VIP_RETURN pool_post_receive(const message_pool* pool, VIP_VI_HANDLE vi, ping_message* into);
/* Sends `length` bytes behind the descriptor: the head and the payload. */
VIP_RETURN pool_post_send(const message_pool* pool, VIP_VI_HANDLE vi, ping_message* from, uint32_t length);
/* Bytes of the head and this payload. */
uint32_t message_bytes(uint32_t payload_bytes);

VIP_RETURN create_vi(VIP_NIC_HANDLE nic, VIP_RELIABILITY_LEVEL level, VIP_ULONG max_transfer_bytes, VIP_CQ_HANDLE queue,
                     VIP_VI_HANDLE* vi);
VIP_NIC_HANDLE open_nic(const char* device);
/* Ends the program unless it is VIP_SUCCESS. */
void check(VIP_RETURN result, const char* what);

int run_client(const ping_job* job);
int run_server(const ping_job* job);

#endif
