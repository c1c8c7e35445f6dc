/* Two connected VIs in one process, for programs on vipl.h alone: what each idiom needs and nothing more. */
#ifndef TESTS_PROGRAMS_IDIOMS_PAIR_H
#define TESTS_PROGRAMS_IDIOMS_PAIR_H
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "vipl.h"

/* One end: a NIC, a VI, and registered memory for descriptors and data. */
typedef struct {
  VIP_NIC_HANDLE nic;
  VIP_VI_HANDLE vi;
  VIP_MEM_HANDLE handle;
  char* memory; /* 64 descriptors of 128 bytes, then data */
  size_t data_bytes;
} end_t;

#define DESCRIPTORS 64
#define DESCRIPTOR_BYTES 128

static inline void require(int holds, const char* what) {
  if (holds) return;
  fprintf(stderr, "%s: does not hold\n", what);
  _exit(1);
}
static inline void require_code(VIP_RETURN expected, VIP_RETURN came, const char* what) {
  if (expected == came) return;
  fprintf(stderr, "%s: expected %d, came %d\n", what, (int)expected, (int)came);
  _exit(1);
}
#define REQUIRE(holds) require((holds) != 0, #holds)
#define SUCCEEDS(call) require_code(VIP_SUCCESS, call, #call)

static inline char* data_of(const end_t* end) { return end->memory + DESCRIPTORS * DESCRIPTOR_BYTES; }
static inline VIP_DESCRIPTOR* descriptor_of(const end_t* end, int index) {
  return (VIP_DESCRIPTOR*)(void*)(end->memory + index * DESCRIPTOR_BYTES);
}

static inline void open_end(end_t* end, const char* nic, VIP_RELIABILITY_LEVEL level, size_t data_bytes) {
  VIP_VI_ATTRIBUTES attributes;
  VIP_MEM_ATTRIBUTES remote;
  void* memory = NULL;
  memset(&attributes, 0, sizeof attributes);
  attributes.ReliabilityLevel = level;
  attributes.EnableRdmaWrite = VIP_TRUE;
  attributes.EnableRdmaRead = level != VIP_SERVICE_UNRELIABLE;
  memset(&remote, 0, sizeof remote);
  remote.EnableRdmaWrite = remote.EnableRdmaRead = VIP_TRUE;
  REQUIRE(posix_memalign(&memory, 4096, DESCRIPTORS * DESCRIPTOR_BYTES + data_bytes) == 0);
  end->memory = memory;
  end->data_bytes = data_bytes;
  memset(memory, 0, DESCRIPTORS * DESCRIPTOR_BYTES + data_bytes);
  SUCCEEDS(VipOpenNic(nic, &end->nic));
  SUCCEEDS(VipRegisterMem(end->nic, memory, DESCRIPTORS * DESCRIPTOR_BYTES + data_bytes, &remote, &end->handle));
  SUCCEEDS(VipCreateVi(end->nic, &attributes, NULL, NULL, &end->vi));
}

typedef struct {
  VIP_NET_ADDRESS net;
  char bytes[160];
} address_t;

/* The NIC's own address and a discriminator of one byte. */
static inline void name_end(const end_t* end, address_t* address) {
  VIP_NIC_ATTRIBUTES nic;
  SUCCEEDS(VipQueryNic(end->nic, &nic));
  memset(address, 0, sizeof *address);
  address->net.HostAddressLen = nic.NicAddressLen;
  address->net.DiscriminatorLen = 1;
  VIP_UINT8* const host = address->net.HostAddress; /* [1] in the Guide: the discriminator lies behind it */
  memcpy(host, nic.LocalNicAddress, nic.NicAddressLen);
  host[nic.NicAddressLen] = 7;
}

static inline void* accept_one(void* context) {
  end_t* end = context;
  address_t local, remote;
  VIP_VI_ATTRIBUTES ignored;
  VIP_CONN_HANDLE connection;
  name_end(end, &local);
  SUCCEEDS(VipConnectWait(end->nic, &local.net, VIP_INFINITE, &remote.net, &ignored, &connection));
  SUCCEEDS(VipConnectAccept(connection, end->vi));
  return NULL;
}

static inline void connect_ends(end_t* client, end_t* server) {
  address_t local, remote;
  VIP_VI_ATTRIBUTES ignored;
  VIP_RETURN result;
  pthread_t thread;
  REQUIRE(pthread_create(&thread, NULL, accept_one, server) == 0);
  name_end(client, &local);
  name_end(server, &remote);
  do {
    result = VipConnectRequest(client->vi, &local.net, &remote.net, VIP_INFINITE, &ignored);
  } while (result == VIP_NO_MATCH);
  require_code(VIP_SUCCESS, result, "VipConnectRequest");
  REQUIRE(pthread_join(thread, NULL) == 0);
}

/* A descriptor of one data segment. */
static inline VIP_DESCRIPTOR* describe(const end_t* end, int index, void* address, VIP_MEM_HANDLE handle,
                                       VIP_UINT32 length) {
  VIP_DESCRIPTOR* descriptor = descriptor_of(end, index);
  memset(descriptor, 0, sizeof *descriptor);
  descriptor->CS.SegCount = 1;
  descriptor->CS.Length = length;
  descriptor->DS[0].Local.Data.Address = address;
  descriptor->DS[0].Local.Handle = handle;
  descriptor->DS[0].Local.Length = length;
  return descriptor;
}

static inline VIP_VI_STATE state_of(const end_t* end) {
  VIP_VI_STATE state;
  VIP_VI_ATTRIBUTES ignored;
  VIP_BOOLEAN send_empty, receive_empty;
  SUCCEEDS(VipQueryVi(end->vi, &state, &ignored, &send_empty, &receive_empty));
  return state;
}
#endif
