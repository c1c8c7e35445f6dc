#define _POSIX_C_SOURCE 200809L
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "board.h"
#include "options.h"
#include "suite.h"

Node near = {.mutex = PTHREAD_MUTEX_INITIALIZER};

static void record_error(VIP_PVOID context, VIP_ERROR_DESCRIPTOR* error) {
  Node* node = context;
  pthread_mutex_lock(&node->mutex);
  if (node->error_count < MAX_ERRORS) node->errors[node->error_count++] = *error;
  pthread_mutex_unlock(&node->mutex);
}

void node_open(Node* node, const char* device_name) {
  void* memory = NULL;
  VIP_MEM_ATTRIBUTES wanted;
  EXPECT(VIP_SUCCESS, VipOpenNic, device_name, &node->nic);
  EXPECT(VIP_SUCCESS, VipQueryNic, node->nic, &node->attributes);
  if (call_exists(ID_VipErrorCallback)) EXPECT(VIP_SUCCESS, VipErrorCallback, node->nic, node, record_error);
  if (call_exists(ID_VipCreatePtag)) EXPECT(VIP_SUCCESS, VipCreatePtag, node->nic, &node->tag);
  if (posix_memalign(&memory, 4096, SLOTS * SLOT_BYTES + DATA_BYTES) != 0) FAIL("the suite has no memory");
  memset(memory, 0, SLOTS * SLOT_BYTES + DATA_BYTES);
  node->memory = memory;
  wanted = memory_attributes(node);
  EXPECT(VIP_SUCCESS, VipRegisterMem, node->nic, memory, SLOTS * SLOT_BYTES + DATA_BYTES, &wanted, &node->handle);
}

void node_close(Node* node) {
  if (node->nic == NULL) return;
  EXPECT(VIP_SUCCESS, VipCloseNic, node->nic);
  node->nic = NULL;
  free(node->memory);
  node->memory = NULL;
}

void near_open(void) {
  if (near.nic != NULL) return;
  node_open(&near, options.nic);
  board->levels = near.attributes.ReliabilityLevelSupport;
  board->read_levels = near.attributes.RDMAReadSupport;
}

/* ---- Attributes -------------------------------------------------------------------------------------- */

bool supports_level(const Node* node, VIP_RELIABILITY_LEVEL level) {
  return (node->attributes.ReliabilityLevelSupport & level) != 0;
}

bool supports_read(const Node* node, VIP_RELIABILITY_LEVEL level) {
  return (node->attributes.RDMAReadSupport & level) != 0;
}

const char* level_name(VIP_RELIABILITY_LEVEL level) {
  switch (level) {
    case VIP_SERVICE_UNRELIABLE: return "Unreliable Delivery";
    case VIP_SERVICE_RELIABLE_DELIVERY: return "Reliable Delivery";
    case VIP_SERVICE_RELIABLE_RECEPTION: return "Reliable Reception";
    default: return "no reliability level";
  }
}

void need_level(int level) {
  near_open();
  if (!supports_level(&near, (VIP_RELIABILITY_LEVEL)level))
    skip("the NIC does not support %s", level_name((VIP_RELIABILITY_LEVEL)level));
}

void need_read(int level) {
  need_level(level);
  if (!supports_read(&near, (VIP_RELIABILITY_LEVEL)level))
    skip("the NIC does not support RDMA Read on %s", level_name((VIP_RELIABILITY_LEVEL)level));
}

VIP_VI_ATTRIBUTES vi_attributes(const Node* node, VIP_RELIABILITY_LEVEL level) {
  VIP_VI_ATTRIBUTES attributes;
  memset(&attributes, 0, sizeof attributes);
  attributes.ReliabilityLevel = level;
  attributes.MaxTransferSize = TRANSFER_BYTES;
  attributes.Ptag = node->tag;
  attributes.EnableRdmaWrite = VIP_TRUE;
  attributes.EnableRdmaRead = supports_read(node, level) ? VIP_TRUE : VIP_FALSE;
  return attributes;
}

VIP_MEM_ATTRIBUTES memory_attributes(const Node* node) {
  VIP_MEM_ATTRIBUTES attributes;
  memset(&attributes, 0, sizeof attributes);
  attributes.Ptag = node->tag;
  attributes.EnableRdmaWrite = VIP_TRUE;
  attributes.EnableRdmaRead = node->attributes.RDMAReadSupport != 0 ? VIP_TRUE : VIP_FALSE;
  return attributes;
}

VIP_VI_HANDLE create_vi(const Node* node, VIP_RELIABILITY_LEVEL level, VIP_CQ_HANDLE send_queue,
                        VIP_CQ_HANDLE receive_queue) {
  VIP_VI_ATTRIBUTES attributes = vi_attributes(node, level);
  VIP_VI_HANDLE vi = NULL;
  EXPECT(VIP_SUCCESS, VipCreateVi, node->nic, &attributes, send_queue, receive_queue, &vi);
  return vi;
}

VIP_VI_HANDLE idle_vi(void) {
  near_open();
  return create_vi(&near, RELIABLE, NULL, NULL);
}

VIP_VI_STATE vi_state(VIP_VI_HANDLE vi) {
  VIP_VI_STATE state = VIP_STATE_ERROR;
  VIP_VI_ATTRIBUTES attributes;
  VIP_BOOLEAN send_empty, receive_empty;
  EXPECT(VIP_SUCCESS, VipQueryVi, vi, &state, &attributes, &send_empty, &receive_empty);
  return state;
}

void check_idle(VIP_VI_HANDLE vi) { CHECK(vi_state(vi) == VIP_STATE_IDLE, "the VI is not Idle"); }

VIP_CQ_HANDLE make_queue(VIP_ULONG entries) {
  VIP_CQ_HANDLE queue = NULL;
  near_open();
  EXPECT(VIP_SUCCESS, VipCreateCQ, near.nic, entries, &queue);
  return queue;
}

/* ---- Data -------------------------------------------------------------------------------------------- */

unsigned char* data_at(const Node* node, size_t offset) { return node->memory + SLOTS * SLOT_BYTES + offset; }

static unsigned char content(size_t place, unsigned seed) {
  return (unsigned char)((place * 2654435761U >> 7) + place + seed * 37U + 1U);
}

NO_ORDER void fill(unsigned char* bytes, size_t length, unsigned seed) {
  for (size_t i = 0; i < length; ++i) bytes[i] = content(i, seed);
}

NO_ORDER bool is_filled(const unsigned char* bytes, size_t length, unsigned seed) {
  for (size_t i = 0; i < length; ++i)
    if (bytes[i] != content(i, seed)) return false;
  return true;
}

/* ---- Asynchronous errors ----------------------------------------------------------------------------- */

static bool is_about(const VIP_ERROR_DESCRIPTOR* error, VIP_VI_HANDLE vi, VIP_ERROR_CODE code) {
  return error->ErrorCode == code && (vi == NULL || error->ViHandle == vi);
}

size_t count_errors(Node* node, VIP_VI_HANDLE vi, VIP_ERROR_CODE code) {
  size_t count = 0;
  pthread_mutex_lock(&node->mutex);
  for (size_t i = 0; i < node->error_count; ++i) count += is_about(&node->errors[i], vi, code);
  pthread_mutex_unlock(&node->mutex);
  return count;
}

VIP_ERROR_DESCRIPTOR wait_for_error(Node* node, VIP_VI_HANDLE vi, VIP_ERROR_CODE code) {
  VIP_ERROR_DESCRIPTOR found;
  memset(&found, 0, sizeof found);
  if (!call_exists(ID_VipErrorCallback)) FAIL("VipErrorCallback is missing from the library");
  waiting_for(__FILE__, __LINE__, "waits for an asynchronous error");
  while (count_errors(node, vi, code) == 0) pause_ms(1);
  waiting_for(NULL, 0, NULL);
  pthread_mutex_lock(&node->mutex);
  for (size_t i = node->error_count; i-- > 0;)
    if (is_about(&node->errors[i], vi, code)) found = node->errors[i];
  pthread_mutex_unlock(&node->mutex);
  return found;
}

/* ---- Addresses --------------------------------------------------------------------------------------- */

Address address_of(const VIP_NIC_ATTRIBUTES* nic, const void* discriminator, size_t length) {
  Address address;
  memset(&address, 0, sizeof address);
  if (offsetof(VIP_NET_ADDRESS, HostAddress) + nic->NicAddressLen + length > sizeof address)
    skip("the NIC's addresses are longer than the suite provides for");
  address.net.HostAddressLen = nic->NicAddressLen;
  address.net.DiscriminatorLen = (VIP_UINT16)length;
  memcpy(address.bytes + offsetof(VIP_NET_ADDRESS, HostAddress), nic->LocalNicAddress, nic->NicAddressLen);
  memcpy(address.bytes + offsetof(VIP_NET_ADDRESS, HostAddress) + nic->NicAddressLen, discriminator, length);
  return address;
}

Address fresh_address(const VIP_NIC_ATTRIBUTES* nic) {
  static _Atomic unsigned count;
  unsigned char discriminator[16] = "suite";
  const long process = (long)getpid();
  const unsigned number = ++count;
  memcpy(discriminator + 5, &process, 4);
  memcpy(discriminator + 9, &number, 4);
  return address_of(nic, discriminator, sizeof discriminator);
}

void make_foreign(Address* address) {
  unsigned char* host = address->bytes + offsetof(VIP_NET_ADDRESS, HostAddress);
  for (unsigned i = 0; i < address->net.HostAddressLen; ++i) host[i] ^= 0x5A;
}

const unsigned char* discriminator_of(const Address* address) {
  return address->bytes + offsetof(VIP_NET_ADDRESS, HostAddress) + address->net.HostAddressLen;
}

bool same_address(const Address* one, const Address* other) {
  const size_t length = offsetof(VIP_NET_ADDRESS, HostAddress) + one->net.HostAddressLen + one->net.DiscriminatorLen;
  return one->net.HostAddressLen == other->net.HostAddressLen &&
         one->net.DiscriminatorLen == other->net.DiscriminatorLen && memcmp(one, other, length) == 0;
}
