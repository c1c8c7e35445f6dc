/* Descriptors: made from messages, posted, and looked at when they come back. */
#include <string.h>

#include "suite.h"

Message message(unsigned slot, size_t offset, VIP_UINT32 length) {
  Message made;
  memset(&made, 0, sizeof made);
  made.slot = slot;
  made.segments = 1;
  made.offset = offset;
  made.length = length;
  return made;
}

VIP_DESCRIPTOR* slot_at(const Node* node, unsigned slot) {
  return (VIP_DESCRIPTOR*)(void*)(node->memory + (size_t)slot * SLOT_BYTES);
}

unsigned slot_of(const Node* node, const VIP_DESCRIPTOR* descriptor) {
  for (unsigned slot = 0; slot < SLOTS; ++slot)
    if (slot_at(node, slot) == descriptor) return slot;
  return SLOTS;
}

VIP_DESCRIPTOR* describe(const Node* node, const Message* wanted) {
  VIP_DESCRIPTOR* descriptor = slot_at(node, wanted->slot);
  VIP_DESCRIPTOR_SEGMENT* segment = descriptor->DS;
  const bool is_rdma = (wanted->control & VIP_CONTROL_OP_MASK) != VIP_CONTROL_OP_SENDRECV;
  const VIP_UINT32 share = wanted->segments == 0 ? 0 : wanted->length / wanted->segments;
  size_t offset = wanted->offset;
  memset(descriptor, 0, SLOT_BYTES);
  descriptor->CS.SegCount = (VIP_UINT16)(wanted->segments + (is_rdma ? 1 : 0));
  descriptor->CS.Control = wanted->control;
  descriptor->CS.Length = wanted->length;
  descriptor->CS.ImmediateData = wanted->immediate;
  if (is_rdma) {
    segment->Remote.Data.AddressBits = wanted->remote_address;
    segment->Remote.Handle = wanted->remote_handle;
    ++segment;
  }
  for (unsigned i = 0; i < wanted->segments; ++i, ++segment, offset += share) {
    segment->Local.Data.Address = data_at(node, offset);
    segment->Local.Handle = node->handle;
    segment->Local.Length = i + 1 == wanted->segments ? wanted->length - share * i : share;
  }
  return descriptor;
}

void post_send(VIP_VI_HANDLE vi, Message wanted) {
  EXPECT(VIP_SUCCESS, VipPostSend, vi, describe(&near, &wanted), near.handle);
}

void post_receive(VIP_VI_HANDLE vi, Message wanted) {
  EXPECT(VIP_SUCCESS, VipPostRecv, vi, describe(&near, &wanted), near.handle);
}

VIP_RETURN completion_code(VIP_UINT32 error_bits) { return error_bits == 0 ? VIP_SUCCESS : VIP_DESCRIPTOR_ERROR; }

void check_status(const VIP_DESCRIPTOR* descriptor, VIP_UINT32 error_bits, VIP_UINT32 operation) {
  const VIP_UINT32 status = descriptor->CS.Status;
  CHECK((status & VIP_STATUS_DONE) != 0, "status %08X: the Done bit is not set", status);
  CHECK((status & VIP_STATUS_RESERVED) == 0, "status %08X: reserved bits are set", status);
  CHECK((status & VIP_STATUS_ERROR_MASK) == error_bits, "status %08X: expected the error bits %03X", status,
        error_bits);
  CHECK((status & VIP_STATUS_OP_MASK) == operation, "status %08X: expected the operation code %05X", status, operation);
}

/* What Wait told: its code and its descriptor. */
static VIP_UINT32 check_reaped(CallId call, VIP_RETURN code, const VIP_DESCRIPTOR* descriptor, unsigned slot,
                               VIP_UINT32 error_bits, VIP_UINT32 operation) {
  if (descriptor == NULL)
    FAIL("%s: expected slot %u, came %s without a descriptor", call_name(call), slot, code_name(code));
  CHECK(descriptor == slot_at(&near, slot), "expected the descriptor of slot %u, came slot %u (%u: none)", slot,
        slot_of(&near, descriptor), (unsigned)SLOTS);
  check_status(descriptor, error_bits, operation);
  expect_code(__FILE__, __LINE__, call, completion_code(error_bits), code);
  return descriptor->CS.Status;
}

VIP_UINT32 reap_send(VIP_VI_HANDLE vi, unsigned slot, VIP_UINT32 error_bits, VIP_UINT32 operation) {
  VIP_DESCRIPTOR* descriptor = NULL;
  const VIP_RETURN code = CALL(VipSendWait, vi, VIP_INFINITE, &descriptor);
  return check_reaped(ID_VipSendWait, code, descriptor, slot, error_bits, operation);
}

VIP_UINT32 reap_receive(VIP_VI_HANDLE vi, unsigned slot, VIP_UINT32 error_bits, VIP_UINT32 operation) {
  VIP_DESCRIPTOR* descriptor = NULL;
  const VIP_RETURN code = CALL(VipRecvWait, vi, VIP_INFINITE, &descriptor);
  return check_reaped(ID_VipRecvWait, code, descriptor, slot, error_bits, operation);
}
