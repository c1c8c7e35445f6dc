#define _POSIX_C_SOURCE 200809L
#include "link.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "vicp.h"

static const char magic[4] = {'v', 'i', 'c', 'p'};

static void check(VIP_RETURN result, const char* what) {
  if (result != VIP_SUCCESS) fail("%s: %s", what, result_text(result));
}

/* A lost connection shows in the descriptors too. */
static void on_error(VIP_PVOID context, VIP_ERROR_DESCRIPTOR* error) {
  (void)context;
  if (error->ErrorCode != VIP_ERROR_CONN_LOST) say("%s", error_text(error->ErrorCode));
}

/* ---- beginning and end ----------------------------------------------------------------------------------- */

static uint32_t smaller(VIP_ULONG limit, uint32_t value) { return limit < value ? (uint32_t)limit : value; }

void link_open(vicp_link* link, const char* device) {
  VIP_MEM_ATTRIBUTES rdma = {NULL, VIP_TRUE, VIP_TRUE};
  VIP_NIC_ATTRIBUTES nic;
  VIP_RETURN result;
  void* room = NULL;
  memset(link, 0, sizeof *link);
  check(VipOpenNic(device, &link->nic), device);
  check(VipQueryNic(link->nic, &nic), "VipQueryNic");
  check(VipErrorCallback(link->nic, NULL, on_error), "VipErrorCallback");
  result = VipNSInit(link->nic, NULL);
  if (result != VIP_ERROR_NAMESERVICE) check(result, "VipNSInit");
  link->max_block_bytes = smaller(nic.MaxTransferSize, BLOCK_BYTES + sizeof(message)) - (uint32_t)sizeof(message);
  if (posix_memalign(&room, VIP_DESCRIPTOR_ALIGNMENT, SLOTS * sizeof(slot)) != 0) fail("buffers: %s", strerror(ENOMEM));
  memset(room, 0, SLOTS * sizeof(slot));
  link->slots = room;
  check(VipRegisterMem(link->nic, room, SLOTS * sizeof(slot), &rdma, &link->memory), "VipRegisterMem");
  check(VipCreateCQ(link->nic, 2 * SLOTS + 2 * WINDOW, &link->queue), "VipCreateCQ");
}

void link_create_vi(vicp_link* link, VIP_RELIABILITY_LEVEL level, VIP_ULONG max_transfer_bytes) {
  VIP_VI_ATTRIBUTES attributes;
  memset(&attributes, 0, sizeof attributes);
  attributes.ReliabilityLevel = level;
  attributes.MaxTransferSize = max_transfer_bytes;
  attributes.EnableRdmaWrite = VIP_TRUE;
  attributes.EnableRdmaRead = level == VIP_SERVICE_UNRELIABLE ? VIP_FALSE : VIP_TRUE;
  link->level = level;
  check(VipCreateVi(link->nic, &attributes, link->queue, link->queue, &link->vi), "VipCreateVi");
}

static int is_in_error(VIP_VI_HANDLE vi) {
  VIP_VI_STATE state;
  VIP_VI_ATTRIBUTES attributes;
  VIP_BOOLEAN send_empty, receive_empty;
  return VipQueryVi(vi, &state, &attributes, &send_empty, &receive_empty) == VIP_SUCCESS && state == VIP_STATE_ERROR;
}

void link_drop_vi(vicp_link* link) {
  unsigned i;
  if (is_in_error(link->vi)) {
    drain_vi(link->vi); /* it stays so until the end: nobody may be there to answer a disconnect */
    link->dropped = 1;
  } else if (!end_vi(link->vi)) {
    link->dropped = 1;
  }
  link->vi = NULL;
  for (i = 0; i < SLOTS; ++i) link->slots[i].posted = 0;
}

/* All is stored, or all is lost: an end that does not answer is not waited for twice. */
void link_close(vicp_link* link) {
  if ((link->vi != NULL && !end_vi(link->vi)) || link->dropped) return;
  VipDestroyCQ(link->queue);
  VipDeregisterMem(link->nic, link->slots, link->memory);
  VipCloseNic(link->nic);
  free(link->slots);
}

/* ---- descriptors ----------------------------------------------------------------------------------------- */

static void describe_message(const vicp_link* link, slot* from, uint32_t data_bytes) {
  VIP_DESCRIPTOR* descriptor = &from->descriptors[1];
  memset(descriptor, 0, sizeof *descriptor);
  descriptor->CS.SegCount = 1;
  descriptor->CS.Length = (uint32_t)sizeof(message) + data_bytes;
  descriptor->DS[0].Local.Data.Address = &from->head;
  descriptor->DS[0].Local.Handle = link->memory;
  descriptor->DS[0].Local.Length = descriptor->CS.Length;
}

void link_repost(vicp_link* link, slot* received) {
  describe_message(link, received, BLOCK_BYTES);
  check(VipPostRecv(link->vi, &received->descriptors[1], link->memory), "VipPostRecv");
}

void link_post_receives(vicp_link* link) {
  unsigned i;
  for (i = 0; i < RECEIVE_SLOTS; ++i) link_repost(link, &link->slots[WINDOW + CONTROL_SLOTS + i]);
}

slot* link_control_slot(vicp_link* link, message_kind kind) {
  slot* chosen = &link->slots[WINDOW + link->next_control];
  if (chosen->posted != 0) return NULL;
  link->next_control = (link->next_control + 1) % CONTROL_SLOTS;
  message_begin(&chosen->head, kind);
  return chosen;
}

void link_send(vicp_link* link, slot* from, uint32_t data_bytes) {
  describe_message(link, from, data_bytes);
  ++from->posted;
  check(VipPostSend(link->vi, &from->descriptors[1], link->memory), "VipPostSend");
}

void link_send_from(vicp_link* link, slot* from, const void* data, VIP_MEM_HANDLE memory, uint32_t data_bytes) {
  VIP_DESCRIPTOR* descriptor = &from->descriptors[1];
  describe_message(link, from, 0);
  descriptor->CS.SegCount = 2;
  descriptor->CS.Length += data_bytes;
  descriptor->DS[1].Local.Data.Address = (void*)(uintptr_t)data;
  descriptor->DS[1].Local.Handle = memory;
  descriptor->DS[1].Local.Length = data_bytes;
  ++from->posted;
  check(VipPostSend(link->vi, descriptor, link->memory), "VipPostSend");
}

static void move(vicp_link* link, slot* here, void* data, VIP_MEM_HANDLE memory, uint32_t length,
                 VIP_UINT16 operation) {
  VIP_DESCRIPTOR* descriptor = &here->descriptors[0];
  memset(descriptor, 0, sizeof *descriptor);
  descriptor->CS.SegCount = 2;
  descriptor->CS.Control = operation;
  descriptor->CS.Length = length;
  descriptor->DS[0].Remote.Data.AddressBits =
      link->peer_slots_address + (uint64_t)(here - link->slots) * sizeof(slot) + offsetof(slot, block);
  descriptor->DS[0].Remote.Handle = link->peer_slots_handle;
  descriptor->DS[1].Local.Data.Address = data;
  descriptor->DS[1].Local.Handle = memory;
  descriptor->DS[1].Local.Length = length;
  ++here->posted;
  check(VipPostSend(link->vi, descriptor, link->memory), "VipPostSend");
}

void link_move(vicp_link* link, slot* here, uint32_t length, VIP_UINT16 operation) {
  move(link, here, here->block, link->memory, length, operation);
}

void link_write_from(vicp_link* link, slot* here, const void* data, VIP_MEM_HANDLE memory, uint32_t length) {
  move(link, here, (void*)(uintptr_t)data, memory, length, VIP_CONTROL_OP_RDMAWRITE);
}

/* ---- events ---------------------------------------------------------------------------------------------- */

static slot* slot_of(const vicp_link* link, const VIP_DESCRIPTOR* descriptor) {
  const size_t offset = (size_t)((const char*)descriptor - (const char*)link->slots);
  return &link->slots[offset / sizeof(slot)];
}

/* Unreliable Delivery goes on after a lost or damaged packet; whatever else failed was the connection. */
static link_event classify(vicp_link* link, VIP_DESCRIPTOR* done, int received) {
  link_event event = {received ? EVENT_RECEIVED : EVENT_SENT, slot_of(link, done), done->CS.Status, NULL};
  const VIP_UINT32 errors = done->CS.Status & VIP_STATUS_ERROR_MASK;
  const int ends = link->level != VIP_SERVICE_UNRELIABLE || (errors & VIP_STATUS_DESC_FLUSHED_ERROR) != 0;
  if (!received) --event.from->posted;
  if (errors != 0 && ends) {
    event.kind = EVENT_LOST;
    event.why = status_text(errors);
  } else if (errors != 0 && received) {
    event.from->head.kind = 0; /* nobody takes it for a message */
  }
  return event;
}

link_event link_next(vicp_link* link, unsigned long timeout_ms) {
  link_event event = {EVENT_TIMEOUT, NULL, 0, NULL};
  VIP_VI_HANDLE vi;
  VIP_BOOLEAN received;
  VIP_DESCRIPTOR* done = NULL;
  const VIP_RETURN result = VipCQWait(link->queue, timeout_ms, &vi, &received);
  if (result == VIP_TIMEOUT) return event;
  check(result, "VipCQWait");
  if (received)
    VipRecvDone(link->vi, &done);
  else
    VipSendDone(link->vi, &done);
  return done == NULL ? event : classify(link, done, received);
}

/* ---- messages -------------------------------------------------------------------------------------------- */

void message_begin(message* head, message_kind kind) {
  memset(head, 0, sizeof *head);
  memcpy(head->magic, magic, sizeof magic);
  head->version = VERSION;
  head->kind = (uint16_t)kind;
}

int message_is_valid(const slot* received) {
  const message* head = &received->head;
  return received->descriptors[1].CS.Length >= sizeof(message) && memcmp(head->magic, magic, sizeof magic) == 0 &&
         head->version == VERSION;
}

void message_add_slots(message* head, const vicp_link* link) {
  head->slots_address = (uint64_t)(uintptr_t)link->slots;
  head->slots_handle = link->memory;
}

void link_take_peer_slots(vicp_link* link, const message* head) {
  link->peer_slots_address = head->slots_address;
  link->peer_slots_handle = head->slots_handle;
}

void message_text(const slot* received, char* text, size_t room) {
  size_t length = received->descriptors[1].CS.Length - sizeof(message);
  if (length > received->head.length) length = received->head.length;
  if (length >= room) length = room - 1;
  memcpy(text, received->block, length);
  text[length] = '\0';
}
