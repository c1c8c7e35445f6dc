/*
 * What the examples share: opening a NIC, addresses, registered messages, errors that end the program.
 * Copy it, or take it as a first lesson: every call of VIPL that a small program needs is in vipl_util.c.
 */
#ifndef VIPL_UTIL_H
#define VIPL_UTIL_H
#include <stddef.h>
#include <stdint.h>
#include <vipl.h>

/* Ends the program with file, line and reason unless the call returned VIP_SUCCESS. */
#define MUST(call) vu_must((call), #call, __FILE__, __LINE__)
void vu_must(VIP_RETURN result, const char* call, const char* file, int line);
const char* vu_result(VIP_RETURN result);
/* The first error bit of a descriptor's status, in words. */
const char* vu_status(VIP_UINT32 status);

/* Opens the NIC and its name service. Connection Lost stays silent: it shows in flushed descriptors too. */
VIP_NIC_HANDLE vu_open_nic(const char* device);
void vu_close_nic(VIP_NIC_HANDLE nic);

/* A net address with room for any host address and discriminator. */
typedef union {
  VIP_NET_ADDRESS net;
  VIP_UINT8 room[sizeof(VIP_NET_ADDRESS) + 64 + 128];
} vu_address;
/* This NIC with this discriminator; a host of the name service with this discriminator. */
void vu_local_address(VIP_NIC_HANDLE nic, const char* discriminator, vu_address* to);
void vu_remote_address(VIP_NIC_HANDLE nic, const char* host, const char* discriminator, vu_address* to);

/* Waits for one client and makes a VI for it, of the client's reliability level. Receives are posted by `prepare` before
 * the connection is accepted, so that no message comes too early. */
VIP_VI_HANDLE vu_accept(VIP_NIC_HANDLE nic, const char* discriminator, VIP_CQ_HANDLE queue, VIP_BOOLEAN enable_rdma,
                        void (*prepare)(VIP_VI_HANDLE vi, void* context), void* context);
/* Connects as a client; tries again for ten seconds while nobody waits there. */
void vu_connect(VIP_NIC_HANDLE nic, VIP_VI_HANDLE vi, const char* host, const char* discriminator);
VIP_VI_HANDLE vu_create_vi(VIP_NIC_HANDLE nic, VIP_RELIABILITY_LEVEL level, VIP_CQ_HANDLE queue, VIP_BOOLEAN enable_rdma);
/* Disconnects, takes what is left from both queues, destroys. */
void vu_destroy_vi(VIP_VI_HANDLE vi);

/* Registered memory, aligned for descriptors. */
typedef struct {
  unsigned char* bytes;
  size_t length;
  VIP_MEM_HANDLE handle;
} vu_memory;
vu_memory vu_register(VIP_NIC_HANDLE nic, size_t length, VIP_BOOLEAN enable_rdma);
void vu_release(VIP_NIC_HANDLE nic, vu_memory* memory);

/* Fills in a descriptor of one data segment; for RDMA also the address segment. */
void vu_describe(VIP_DESCRIPTOR* descriptor, void* data, uint32_t length, VIP_MEM_HANDLE handle);
void vu_describe_rdma(VIP_DESCRIPTOR* descriptor, VIP_UINT16 operation, void* data, uint32_t length, VIP_MEM_HANDLE handle,
                      uint64_t remote_address, VIP_MEM_HANDLE remote_handle);

double vu_seconds(void); /* of a steady clock */

#endif
