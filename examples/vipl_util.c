#define _POSIX_C_SOURCE 200809L
#include "vipl_util.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { CONNECT_SECONDS = 10, TIMEOUT_MS = 10000 };

/* ---- errors ---------------------------------------------------------------------------------------------- */

const char* vu_result(VIP_RETURN result) {
  static const char* const names[] = {
      "VIP_SUCCESS", "VIP_NOT_DONE", "VIP_INVALID_PARAMETER", "VIP_ERROR_RESOURCE", "VIP_TIMEOUT", "VIP_REJECT",
      "VIP_INVALID_RELIABILITY_LEVEL", "VIP_INVALID_MTU", "VIP_INVALID_QOS", "VIP_INVALID_PTAG", "VIP_INVALID_RDMAREAD",
      "VIP_DESCRIPTOR_ERROR", "VIP_INVALID_STATE", "VIP_ERROR_NAMESERVICE", "VIP_NO_MATCH", "VIP_NOT_REACHABLE",
      "VIP_ERROR_NOT_SUPPORTED"};
  return (unsigned)result < sizeof names / sizeof *names ? names[result] : "an unknown result";
}

const char* vu_status(VIP_UINT32 status) {
  static const struct { VIP_UINT32 bit; const char* text; } bits[] = {
      {VIP_STATUS_FORMAT_ERROR, "format error"},       {VIP_STATUS_PROTECTION_ERROR, "protection error"},
      {VIP_STATUS_LENGTH_ERROR, "length error"},       {VIP_STATUS_PARTIAL_ERROR, "partial packet"},
      {VIP_STATUS_TRANSPORT_ERROR, "transport error"}, {VIP_STATUS_RDMA_PROT_ERROR, "RDMA protection error"},
      {VIP_STATUS_REMOTE_DESC_ERROR, "remote descriptor error"}, {VIP_STATUS_DESC_FLUSHED_ERROR, "flushed"}};
  size_t i;
  for (i = 0; i < sizeof bits / sizeof *bits; ++i)
    if (status & bits[i].bit) return bits[i].text;
  return "no error";
}

void vu_must(VIP_RETURN result, const char* call, const char* file, int line) {
  if (result == VIP_SUCCESS) return;
  fprintf(stderr, "%s:%d: %s: %s\n", file, line, call, vu_result(result));
  exit(1);
}

static void on_error(VIP_PVOID context, VIP_ERROR_DESCRIPTOR* error) {
  (void)context;
  if (error->ErrorCode != VIP_ERROR_CONN_LOST) fprintf(stderr, "asynchronous error %d\n", (int)error->ErrorCode);
}

/* ---- NIC and addresses ----------------------------------------------------------------------------------- */

VIP_NIC_HANDLE vu_open_nic(const char* device) {
  VIP_NIC_HANDLE nic;
  MUST(VipOpenNic(device, &nic));
  MUST(VipErrorCallback(nic, NULL, on_error));
  MUST(VipNSInit(nic, NULL));
  return nic;
}

void vu_close_nic(VIP_NIC_HANDLE nic) {
  MUST(VipNSShutdown(nic));
  MUST(VipCloseNic(nic));
}

static VIP_UINT8* host_bytes(vu_address* of) { return of->room + offsetof(VIP_NET_ADDRESS, HostAddress); }

static void set_discriminator(vu_address* to, const char* discriminator) {
  to->net.DiscriminatorLen = (VIP_UINT16)strlen(discriminator);
  memcpy(host_bytes(to) + to->net.HostAddressLen, discriminator, to->net.DiscriminatorLen);
}

void vu_local_address(VIP_NIC_HANDLE nic, const char* discriminator, vu_address* to) {
  VIP_NIC_ATTRIBUTES attributes;
  MUST(VipQueryNic(nic, &attributes));
  memset(to, 0, sizeof *to);
  to->net.HostAddressLen = attributes.NicAddressLen;
  memcpy(host_bytes(to), attributes.LocalNicAddress, attributes.NicAddressLen);
  set_discriminator(to, discriminator);
}

void vu_remote_address(VIP_NIC_HANDLE nic, const char* host, const char* discriminator, vu_address* to) {
  char name[256];
  vu_local_address(nic, "", to); /* its HostAddressLen is what the look-up needs */
  snprintf(name, sizeof name, "%s", host);
  MUST(VipNSGetHostByName(nic, name, &to->net, 0));
  set_discriminator(to, discriminator);
}

double vu_seconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

/* ---- VIs ------------------------------------------------------------------------------------------------- */

VIP_VI_HANDLE vu_create_vi(VIP_NIC_HANDLE nic, VIP_RELIABILITY_LEVEL level, VIP_CQ_HANDLE queue, VIP_BOOLEAN enable_rdma) {
  VIP_VI_ATTRIBUTES attributes;
  VIP_NIC_ATTRIBUTES limits;
  VIP_VI_HANDLE vi;
  MUST(VipQueryNic(nic, &limits));
  memset(&attributes, 0, sizeof attributes);
  attributes.ReliabilityLevel = level;
  attributes.MaxTransferSize = limits.MaxTransferSize; /* both ends of a connection must have the same */
  attributes.EnableRdmaWrite = enable_rdma;
  attributes.EnableRdmaRead = enable_rdma;
  MUST(VipCreateVi(nic, &attributes, queue, queue, &vi));
  return vi;
}

VIP_VI_HANDLE vu_accept(VIP_NIC_HANDLE nic, const char* discriminator, VIP_CQ_HANDLE queue, VIP_BOOLEAN enable_rdma,
                        void (*prepare)(VIP_VI_HANDLE vi, void* context), void* context) {
  for (;;) {
    vu_address local, remote;
    VIP_VI_ATTRIBUTES theirs;
    VIP_CONN_HANDLE connection;
    VIP_VI_HANDLE vi;
    VIP_RETURN result;
    memset(&remote, 0, sizeof remote);
    vu_local_address(nic, discriminator, &local);
    MUST(VipConnectWait(nic, &local.net, VIP_INFINITE, &remote.net, &theirs, &connection));
    vi = vu_create_vi(nic, theirs.ReliabilityLevel, queue, enable_rdma);
    prepare(vi, context);
    result = VipConnectAccept(connection, vi);
    if (result == VIP_SUCCESS) return vi;
    fprintf(stderr, "VipConnectAccept: %s\n", vu_result(result)); /* the client gave up, or wants other attributes */
    VipConnectReject(connection);
    vu_destroy_vi(vi);
  }
}

void vu_connect(VIP_NIC_HANDLE nic, VIP_VI_HANDLE vi, const char* host, const char* discriminator) {
  const struct timespec pause = {0, 20 * 1000 * 1000};
  const double until = vu_seconds() + CONNECT_SECONDS;
  vu_address local, remote;
  VIP_VI_ATTRIBUTES theirs;
  VIP_RETURN result;
  vu_local_address(nic, discriminator, &local);
  vu_remote_address(nic, host, discriminator, &remote);
  while ((result = VipConnectRequest(vi, &local.net, &remote.net, TIMEOUT_MS, &theirs)) == VIP_NO_MATCH && vu_seconds() < until)
    nanosleep(&pause, NULL);
  MUST(result);
}

static void drain(VIP_VI_HANDLE vi, VIP_RETURN (*done)(VIP_VI_HANDLE, VIP_DESCRIPTOR**)) {
  VIP_DESCRIPTOR* left = NULL;
  do done(vi, &left);
  while (left != NULL);
}

void vu_destroy_vi(VIP_VI_HANDLE vi) {
  VipDisconnect(vi);
  drain(vi, VipSendDone);
  drain(vi, VipRecvDone);
  MUST(VipDestroyVi(vi));
}

/* ---- memory and descriptors ------------------------------------------------------------------------------ */

vu_memory vu_register(VIP_NIC_HANDLE nic, size_t length, VIP_BOOLEAN enable_rdma) {
  VIP_MEM_ATTRIBUTES attributes = {NULL, VIP_FALSE, VIP_FALSE};
  vu_memory memory = {NULL, length, 0};
  void* room = NULL;
  attributes.EnableRdmaWrite = enable_rdma;
  attributes.EnableRdmaRead = enable_rdma;
  if (posix_memalign(&room, VIP_DESCRIPTOR_ALIGNMENT, length) != 0) MUST(VIP_ERROR_RESOURCE);
  memset(room, 0, length);
  memory.bytes = room;
  MUST(VipRegisterMem(nic, room, length, &attributes, &memory.handle));
  return memory;
}

void vu_release(VIP_NIC_HANDLE nic, vu_memory* memory) {
  MUST(VipDeregisterMem(nic, memory->bytes, memory->handle));
  free(memory->bytes);
  memory->bytes = NULL;
}

void vu_describe(VIP_DESCRIPTOR* descriptor, void* data, uint32_t length, VIP_MEM_HANDLE handle) {
  memset(descriptor, 0, sizeof *descriptor);
  descriptor->CS.SegCount = 1;
  descriptor->CS.Length = length;
  descriptor->DS[0].Local.Data.Address = data;
  descriptor->DS[0].Local.Handle = handle;
  descriptor->DS[0].Local.Length = length;
}

void vu_describe_rdma(VIP_DESCRIPTOR* descriptor, VIP_UINT16 operation, void* data, uint32_t length, VIP_MEM_HANDLE handle,
                      uint64_t remote_address, VIP_MEM_HANDLE remote_handle) {
  memset(descriptor, 0, sizeof *descriptor);
  descriptor->CS.SegCount = 2;
  descriptor->CS.Control = operation;
  descriptor->CS.Length = length;
  descriptor->DS[0].Remote.Data.AddressBits = remote_address;
  descriptor->DS[0].Remote.Handle = remote_handle;
  descriptor->DS[1].Local.Data.Address = data;
  descriptor->DS[1].Local.Handle = handle;
  descriptor->DS[1].Local.Length = length;
}
