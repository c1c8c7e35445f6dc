/* Two NICs of unlike transports in one process: takes a connection on one, connects on the other, and passes each
 * message on, both ways, from the memory where it was received.
 *
 * usage: relay NIC DISCRIMINATOR OTHER_NIC HOST OTHER_DISCRIMINATOR */
#define _POSIX_C_SOURCE 200809L
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools/vip_common/vip_common.h"

enum { SLOTS = 64, PATIENCE_MS = 60000 };

typedef struct {
  VIP_NIC_HANDLE nic;
  VIP_VI_HANDLE vi;
  VIP_MEM_HANDLE memory;
} end;

/* What a message is received in, and sent from. */
typedef struct {
  VIP_DESCRIPTOR receive, send;
} slot;

typedef struct {
  end *from, *to;
  slot* slots;
  char* data;
  VIP_ULONG size;
} way;

static void check(VIP_RETURN result, const char* call) {
  if (result == VIP_SUCCESS) return;
  say("%s: %s", call, result_text(result));
  exit(EXIT_FAILED);
}

static void ignore(VIP_PVOID context, VIP_ERROR_DESCRIPTOR* error) { (void)context, (void)error; }

static void describe(VIP_DESCRIPTOR* descriptor, VIP_UINT16 operation, void* data, VIP_MEM_HANDLE handle,
                     VIP_ULONG size) {
  memset(descriptor, 0, sizeof *descriptor);
  descriptor->CS.Control = operation;
  descriptor->CS.SegCount = 1;
  descriptor->CS.Length = (VIP_UINT32)size;
  descriptor->DS[0].Local.Data.Address = data;
  descriptor->DS[0].Local.Handle = handle;
  descriptor->DS[0].Local.Length = (VIP_UINT32)size;
}

static void post_receive(way* self, slot* one) {
  char* data = self->data + (size_t)(one - self->slots) * self->size;
  describe(&one->receive, VIP_CONTROL_OP_SENDRECV, data, self->from->memory, self->size);
  check(VipPostRecv(self->from->vi, &one->receive, self->from->memory), "VipPostRecv");
}

/* Ends when one of the connections does, and then ends the other. */
static void* pass_on(void* argument) {
  way* self = argument;
  VIP_DESCRIPTOR *received, *sent;
  while (VipRecvWait(self->from->vi, VIP_INFINITE, &received) == VIP_SUCCESS) {
    slot* one = (slot*)(void*)received;
    describe(&one->send, VIP_CONTROL_OP_SENDRECV, received->DS[0].Local.Data.Address, self->to->memory,
             received->CS.Length);
    if ((received->CS.Status & VIP_STATUS_IMMEDIATE) != 0) {
      one->send.CS.Control |= VIP_CONTROL_IMMEDIATE;
      one->send.CS.ImmediateData = received->CS.ImmediateData;
    }
    if (VipPostSend(self->to->vi, &one->send, self->to->memory) != VIP_SUCCESS ||
        VipSendWait(self->to->vi, VIP_INFINITE, &sent) != VIP_SUCCESS)
      break;
    post_receive(self, one);
  }
  VipDisconnect(self->to->vi);
  return NULL;
}

static void open_end(end* self, const char* name) {
  check(VipOpenNic(name, &self->nic), "VipOpenNic");
  check(VipNSInit(self->nic, NULL), "VipNSInit");
  check(VipErrorCallback(self->nic, NULL, ignore), "VipErrorCallback");
}

static void register_at(end* self, void* memory, size_t bytes) {
  VIP_MEM_ATTRIBUTES plain;
  memset(&plain, 0, sizeof plain);
  check(VipRegisterMem(self->nic, memory, bytes, &plain, &self->memory), "VipRegisterMem");
}

/* Both ways in one piece of memory, which both NICs know. */
static void prepare(way ways[2], VIP_ULONG size) {
  const size_t slots_bytes = SLOTS * sizeof(slot), bytes = 2 * (slots_bytes + SLOTS * (size_t)size);
  char* memory = aligned_alloc(4096, (bytes + 4095) / 4096 * 4096);
  if (memory == NULL) exit(EXIT_FAILED);
  register_at(ways[0].from, memory, bytes);
  register_at(ways[1].from, memory, bytes);
  for (int i = 0; i < 2; ++i) {
    ways[i].slots = (slot*)(void*)(memory + (size_t)i * slots_bytes);
    ways[i].data = memory + 2 * slots_bytes + (size_t)i * SLOTS * size;
    ways[i].size = size;
    for (int one = 0; one < SLOTS; ++one) post_receive(&ways[i], &ways[i].slots[one]);
  }
}

int main(int count, char** words) {
  end here, there;
  way ways[2] = {{.from = &here, .to = &there}, {.from = &there, .to = &here}};
  net_address local, remote, client;
  VIP_VI_ATTRIBUTES attributes, learned;
  VIP_CONN_HANDLE request;
  pthread_t back;
  program_name = "relay";
  if (count != 6) refuse("usage: relay NIC DISCRIMINATOR OTHER_NIC HOST OTHER_DISCRIMINATOR");
  open_end(&here, words[1]);
  open_end(&there, words[3]);
  local_address(here.nic, words[2], &local);
  memset(&client, 0, sizeof client);
  client.address.HostAddressLen = 16;
  client.address.DiscriminatorLen = 128;
  check(VipConnectWait(here.nic, &local.address, VIP_INFINITE, &client.address, &attributes, &request),
        "VipConnectWait");
  attributes.Ptag = NULL;
  check(VipCreateVi(here.nic, &attributes, NULL, NULL, &here.vi), "VipCreateVi");
  check(VipCreateVi(there.nic, &attributes, NULL, NULL, &there.vi), "VipCreateVi");
  prepare(ways, attributes.MaxTransferSize);
  local_address(there.nic, "relay", &local);
  check(remote_address(there.nic, words[4], words[5], &remote), "VipNSGetHostByName");
  check(connect_patiently(there.vi, &local, &remote, PATIENCE_MS, &learned), "VipConnectRequest");
  check(VipConnectAccept(request, here.vi), "VipConnectAccept");
  pthread_create(&back, NULL, pass_on, &ways[1]);
  pass_on(&ways[0]);
  pthread_join(back, NULL);
  VipCloseNic(here.nic);
  VipCloseNic(there.nic);
  return 0;
}
