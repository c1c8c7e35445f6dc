/* A VIPL library with one fault: loaded before a good one, it answers some calls wrongly. The environment variable
 * FAULT names the fault. The conformance suite has to find each. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "vipl.h"

static int has(const char* fault) {
  const char* wanted = getenv("FAULT");
  return wanted != NULL && strcmp(wanted, fault) == 0;
}

/* The good library's function; the union is the portable way from an object pointer to a function pointer. */
typedef union {
  void* found;
  VIP_RETURN (*with_vi)(VIP_VI_HANDLE);
  VIP_RETURN (*done)(VIP_VI_HANDLE, VIP_DESCRIPTOR**);
  VIP_RETURN (*wait)(VIP_VI_HANDLE, VIP_ULONG, VIP_DESCRIPTOR**);
  VIP_RETURN (*queue_wait)(VIP_CQ_HANDLE, VIP_ULONG, VIP_VI_HANDLE*, VIP_BOOLEAN*);
  VIP_RETURN (*query)(VIP_VI_HANDLE, VIP_VI_STATE*, VIP_VI_ATTRIBUTES*, VIP_BOOLEAN*, VIP_BOOLEAN*);
  VIP_RETURN (*query_memory)(VIP_NIC_HANDLE, VIP_PVOID, VIP_MEM_HANDLE, VIP_MEM_ATTRIBUTES*);
  VIP_RETURN (*set)(VIP_VI_HANDLE, VIP_VI_ATTRIBUTES*);
  VIP_RETURN (*accept)(VIP_CONN_HANDLE, VIP_VI_HANDLE);
  VIP_RETURN (*post)(VIP_VI_HANDLE, VIP_DESCRIPTOR*, VIP_MEM_HANDLE);
} Good;

static Good good(const char* name) {
  Good function;
  function.found = dlsym(RTLD_NEXT, name);
  if (function.found == NULL) abort();
  return function;
}

VIP_RETURN VipCQWait(VIP_CQ_HANDLE queue, VIP_ULONG timeout, VIP_VI_HANDLE* vi, VIP_BOOLEAN* receive_queue) {
  while (has("hangs")) pause();
  const VIP_RETURN code = good("VipCQWait").queue_wait(queue, timeout, vi, receive_queue);
  if (code == VIP_SUCCESS && has("names the other queue")) *receive_queue = !*receive_queue;
  return code;
}

VIP_RETURN VipQueryMem(VIP_NIC_HANDLE nic, VIP_PVOID address, VIP_MEM_HANDLE handle, VIP_MEM_ATTRIBUTES* attributes) {
  if (has("crashes")) raise(SIGSEGV);
  if (has("exits")) _exit(7);
  return good("VipQueryMem").query_memory(nic, address, handle, attributes);
}

VIP_RETURN VipDestroyVi(VIP_VI_HANDLE vi) {
  const VIP_RETURN code = good("VipDestroyVi").with_vi(vi);
  return has("always succeeds") ? VIP_SUCCESS : code;
}

VIP_RETURN VipRecvWait(VIP_VI_HANDLE vi, VIP_ULONG timeout, VIP_DESCRIPTOR** descriptor) {
  if (has("times out early") && timeout < VIP_INFINITE) timeout = 0;
  const VIP_RETURN code = good("VipRecvWait").wait(vi, timeout, descriptor);
  if (code != VIP_SUCCESS) return code;
  if (has("changes data") && (*descriptor)->CS.Length > 60)
    ++((unsigned char*)(*descriptor)->DS[0].Local.Data.Address)[60];
  if (has("sets reserved bits")) (*descriptor)->CS.Status |= 0x80000000U;
  return code;
}

VIP_RETURN VipRecvDone(VIP_VI_HANDLE vi, VIP_DESCRIPTOR** descriptor) {
  if (has("blocks in Done")) return good("VipRecvWait").wait(vi, VIP_INFINITE, descriptor);
  return good("VipRecvDone").done(vi, descriptor);
}

VIP_RETURN VipQueryVi(VIP_VI_HANDLE vi, VIP_VI_STATE* state, VIP_VI_ATTRIBUTES* attributes, VIP_BOOLEAN* send_empty,
                      VIP_BOOLEAN* receive_empty) {
  const VIP_RETURN code = good("VipQueryVi").query(vi, state, attributes, send_empty, receive_empty);
  if (has("is always Idle")) *state = VIP_STATE_IDLE;
  return code;
}

VIP_RETURN VipSetViAttributes(VIP_VI_HANDLE vi, VIP_VI_ATTRIBUTES* attributes) {
  const VIP_RETURN code = good("VipSetViAttributes").set(vi, attributes);
  if (code == VIP_INVALID_MTU && has("sets the half")) {
    VIP_VI_ATTRIBUTES half = *attributes;
    half.MaxTransferSize = 100;
    good("VipSetViAttributes").set(vi, &half);
  }
  return code;
}

VIP_RETURN VipConnectAccept(VIP_CONN_HANDLE connection, VIP_VI_HANDLE vi) {
  if (has("ends the server")) _exit(7);
  return good("VipConnectAccept").accept(connection, vi);
}

/* Every second Send. */
VIP_RETURN VipPostSend(VIP_VI_HANDLE vi, VIP_DESCRIPTOR* descriptor, VIP_MEM_HANDLE handle) {
  static int count;
  if (has("loses immediate data") && ++count % 2 == 0) descriptor->CS.Control &= (VIP_UINT16)~VIP_CONTROL_IMMEDIATE;
  return good("VipPostSend").post(vi, descriptor, handle);
}
