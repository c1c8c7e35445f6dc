/* VI-DG 5.2 to 5.4: descriptors with errors. On a reliable VI such an error breaks the connection; on an
 * Unreliable Delivery VI it is reported, and that is all (VI-ARCH 2.5). */
#include <string.h>

#include "far.h"

static void check_after_error(VIP_VI_HANDLE vi, int level) {
  if (level != VIP_SERVICE_UNRELIABLE) {
    UNTIL(vi_state(vi) == VIP_STATE_ERROR);
    UNTIL(far_state(0) == VIP_STATE_ERROR);
    return;
  }
  CHECK(vi_state(vi) == VIP_STATE_CONNECTED, "an error took an Unreliable Delivery VI out of Connected");
  fill(data_at(&near, 0), 100, 201);
  deliver_posted(vi, level, message(60, 0, 100), 0);
  CHECK(far_matches(0, 100, 201), "the message after the one with an error arrived changed");
}

/* ---- On the send queue ------------------------------------------------------------------------------- */

typedef void (*Spoil)(VIP_DESCRIPTOR* descriptor);

/* A good descriptor of this kind, spoilt, completes with these error bits, and nothing reaches the far end.
 */
static void send_spoilt(int level, Message wanted, Spoil spoil, VIP_UINT32 error_bits, VIP_UINT32 operation) {
  VIP_VI_HANDLE vi = make_pair(level);
  if ((wanted.control & VIP_CONTROL_OP_MASK) != VIP_CONTROL_OP_SENDRECV) {
    wanted.remote_address = far.memory;
    wanted.remote_handle = far.handle;
  }
  far_post_receive(0, message(0, 0, 100));
  far_fill(0, 100, 200);
  VIP_DESCRIPTOR* descriptor = describe(&near, &wanted);
  spoil(descriptor);
  EXPECT(VIP_SUCCESS, VipPostSend, vi, descriptor, near.handle);
  VIP_DESCRIPTOR* done = NULL;
  EXPECT(VIP_DESCRIPTOR_ERROR, VipSendWait, vi, VIP_INFINITE, &done);
  CHECK(done == descriptor, "the descriptor that was posted did not come back");
  CHECK((done->CS.Status & VIP_STATUS_ERROR_MASK) == error_bits, "status %08X: expected the error bits %03X",
        done->CS.Status, error_bits);
  if ((descriptor->CS.Control & VIP_CONTROL_OP_MASK) != VIP_CONTROL_OP_RESERVED)
    CHECK((done->CS.Status & VIP_STATUS_OP_MASK) == operation, "status %08X: expected the operation code %05X",
          done->CS.Status, operation);
  if (level != VIP_SERVICE_UNRELIABLE) far_reap_receive(0, 0, VIP_STATUS_DESC_FLUSHED_ERROR);
  CHECK(far_matches(0, 100, 200), "a descriptor with an error moved data");
  check_after_error(vi, level);
}

static void send_is_spoilt(int level, Spoil spoil, VIP_UINT32 error_bits) {
  send_spoilt(level, message(0, 0, 100), spoil, error_bits, VIP_STATUS_OP_SEND);
}

static void write_is_spoilt(int level, Spoil spoil, VIP_UINT32 error_bits) {
  Message wanted = message(0, 0, 100);
  wanted.control = VIP_CONTROL_OP_RDMAWRITE;
  send_spoilt(level, wanted, spoil, error_bits, VIP_STATUS_OP_RDMA_WRITE);
}

static void reserved_operation(VIP_DESCRIPTOR* descriptor) { descriptor->CS.Control |= VIP_CONTROL_OP_RESERVED; }
static void reserved_bits(VIP_DESCRIPTOR* descriptor) { descriptor->CS.Control |= 0x0010; }
static void top_reserved_bit(VIP_DESCRIPTOR* descriptor) { descriptor->CS.Control |= 0x8000; }
static void reserved_word(VIP_DESCRIPTOR* descriptor) { descriptor->CS.Reserved = 1; }
static void reserved_address_word(VIP_DESCRIPTOR* descriptor) { descriptor->DS[0].Remote.Reserved = 1; }
static void longer_length(VIP_DESCRIPTOR* descriptor) { ++descriptor->CS.Length; }
static void shorter_length(VIP_DESCRIPTOR* descriptor) { --descriptor->CS.Length; }
static void too_long(VIP_DESCRIPTOR* descriptor) {
  descriptor->CS.Length = descriptor->DS[0].Local.Length = TRANSFER_BYTES + 1;
}
static void wrong_handle(VIP_DESCRIPTOR* descriptor) { descriptor->DS[0].Local.Handle ^= 0x5A5A5A5A; }
static void null_handle(VIP_DESCRIPTOR* descriptor) { descriptor->DS[0].Local.Handle = 0; }
static void beyond_region(VIP_DESCRIPTOR* descriptor) {
  static unsigned char others[3 * 65536]; /* registered by nobody */
  descriptor->DS[0].Local.Data.Address = others + 65536;
}
static void wrapping_address(VIP_DESCRIPTOR* descriptor) { descriptor->DS[0].Local.Data.AddressBits = UINT64_MAX - 10; }
static void too_many_segments(VIP_DESCRIPTOR* descriptor) {
  const VIP_ULONG count = near.attributes.MaxSegmentsPerDesc + 1;
  if (count > 0xFFFF || (count + 2) * sizeof(VIP_DATA_SEGMENT) > SLOTS * SLOT_BYTES)
    skip("a descriptor can have %lu segments: the suite has no larger one", near.attributes.MaxSegmentsPerDesc);
  descriptor->CS.SegCount = (VIP_UINT16)count;
}
static void deregistered(VIP_DESCRIPTOR* descriptor) {
  static unsigned char bytes[100];
  VIP_MEM_ATTRIBUTES attributes = memory_attributes(&near);
  VIP_MEM_HANDLE handle;
  EXPECT(VIP_SUCCESS, VipRegisterMem, near.nic, bytes, sizeof bytes, &attributes, &handle);
  EXPECT(VIP_SUCCESS, VipDeregisterMem, near.nic, bytes, handle);
  descriptor->DS[0].Local.Data.Address = bytes;
  descriptor->DS[0].Local.Handle = handle;
}

#define SPOILT(spoil, error_bits) \
  static void send_##spoil(int level) { send_is_spoilt(level, spoil, error_bits); }
SPOILT(reserved_operation, VIP_STATUS_FORMAT_ERROR)
SPOILT(reserved_bits, VIP_STATUS_FORMAT_ERROR)
SPOILT(top_reserved_bit, VIP_STATUS_FORMAT_ERROR)
SPOILT(reserved_word, VIP_STATUS_FORMAT_ERROR)
SPOILT(longer_length, VIP_STATUS_LENGTH_ERROR)
SPOILT(shorter_length, VIP_STATUS_LENGTH_ERROR)
SPOILT(too_long, VIP_STATUS_LENGTH_ERROR)
SPOILT(too_many_segments, VIP_STATUS_LENGTH_ERROR)
SPOILT(wrong_handle, VIP_STATUS_PROTECTION_ERROR)
SPOILT(null_handle, VIP_STATUS_PROTECTION_ERROR)
SPOILT(beyond_region, VIP_STATUS_PROTECTION_ERROR)
SPOILT(wrapping_address, VIP_STATUS_PROTECTION_ERROR)
SPOILT(deregistered, VIP_STATUS_PROTECTION_ERROR)

static void write_reserved_address_word(int level) {
  write_is_spoilt(level, reserved_address_word, VIP_STATUS_FORMAT_ERROR);
}

static void unchanged(VIP_DESCRIPTOR* descriptor) { (void)descriptor; }

/* Unreliable Delivery has no RDMA Read, nor has a NIC that does not claim it. */
static void unsupported_read(int level) {
  Message wanted = message(0, 0, 100);
  need_level(level);
  if (supports_read(&near, (VIP_RELIABILITY_LEVEL)level))
    skip("the NIC supports RDMA Read on %s", level_name((VIP_RELIABILITY_LEVEL)level));
  wanted.control = VIP_CONTROL_OP_RDMAREAD;
  send_spoilt(level, wanted, unchanged, VIP_STATUS_FORMAT_ERROR, VIP_STATUS_OP_RDMA_READ);
}

/* ---- On the receive queue ---------------------------------------------------------------------------- */

/* The receive completes with these error bits when a message comes for it, or before; nothing is placed. */
static void receive_is_spoilt(int level, Spoil spoil, VIP_UINT32 error_bits) {
  VIP_VI_HANDLE vi = make_pair(level);
  Message wanted = message(0, 0, 100);
  VIP_DESCRIPTOR *descriptor = describe(&near, &wanted), *done = NULL;
  VIP_RETURN code = VIP_TIMEOUT;
  spoil(descriptor);
  EXPECT(VIP_SUCCESS, VipPostRecv, vi, descriptor, near.handle);
  far_fill(0, 100, 1);
  for (unsigned slot = 0; slot < 20 && code == VIP_TIMEOUT; ++slot) {
    far_post_send(0, message(slot, 0, 100));
    code = CALL(VipRecvWait, vi, level == VIP_SERVICE_UNRELIABLE ? 1000 : VIP_INFINITE, &done);
  }
  expect_code(__FILE__, __LINE__, ID_VipRecvWait, VIP_DESCRIPTOR_ERROR, code);
  CHECK(done == descriptor, "the descriptor that was posted did not come back");
  check_status(done, error_bits, VIP_STATUS_OP_RECEIVE);
  if (level != VIP_SERVICE_UNRELIABLE)
    UNTIL(vi_state(vi) == VIP_STATE_ERROR);
  else
    CHECK(vi_state(vi) == VIP_STATE_CONNECTED, "an error took an Unreliable Delivery VI out of Connected");
}

static void write_operation(VIP_DESCRIPTOR* descriptor) { descriptor->CS.Control |= VIP_CONTROL_OP_RDMAWRITE; }
static void read_operation(VIP_DESCRIPTOR* descriptor) { descriptor->CS.Control |= VIP_CONTROL_OP_RDMAREAD; }

#define RECEIVE_SPOILT(spoil, error_bits) \
  static void receive_##spoil(int level) { receive_is_spoilt(level, spoil, error_bits); }
RECEIVE_SPOILT(write_operation, VIP_STATUS_FORMAT_ERROR)
RECEIVE_SPOILT(read_operation, VIP_STATUS_FORMAT_ERROR)
RECEIVE_SPOILT(reserved_bits, VIP_STATUS_FORMAT_ERROR)
RECEIVE_SPOILT(reserved_word, VIP_STATUS_FORMAT_ERROR)
RECEIVE_SPOILT(wrong_handle, VIP_STATUS_PROTECTION_ERROR)
RECEIVE_SPOILT(beyond_region, VIP_STATUS_PROTECTION_ERROR)
RECEIVE_SPOILT(deregistered, VIP_STATUS_PROTECTION_ERROR)

#define SEND(spoil) \
  AT_EACH_LEVEL("send." #spoil, ID_VipSendWait, "VI-DG 5.2", EARLY, PROVES(VIP_DESCRIPTOR_ERROR), send_##spoil)
#define RECEIVE(spoil) \
  AT_EACH_LEVEL("receive." #spoil, ID_VipRecvWait, "VI-DG 5.2", EARLY, PROVES(VIP_DESCRIPTOR_ERROR), receive_##spoil)

const Test descriptor_tests[] = {SEND(reserved_operation),
                                 SEND(reserved_bits),
                                 SEND(top_reserved_bit),
                                 SEND(reserved_word),
                                 SEND(longer_length),
                                 SEND(shorter_length),
                                 SEND(too_long),
                                 SEND(too_many_segments),
                                 SEND(wrong_handle),
                                 SEND(null_handle),
                                 SEND(beyond_region),
                                 SEND(wrapping_address),
                                 SEND(deregistered),
                                 AT_EACH_LEVEL("rdma_write.reserved_address_word", ID_VipSendWait, "VI-DG 5.3", EARLY,
                                               PROVES(VIP_DESCRIPTOR_ERROR), write_reserved_address_word),
                                 AT_EACH_LEVEL("rdma_read.unsupported", ID_VipSendWait, "VI-ARCH 2.5.1", EARLY,
                                               PROVES(VIP_DESCRIPTOR_ERROR), unsupported_read),
                                 RECEIVE(write_operation),
                                 RECEIVE(read_operation),
                                 RECEIVE(reserved_bits),
                                 RECEIVE(reserved_word),
                                 RECEIVE(wrong_handle),
                                 RECEIVE(beyond_region),
                                 RECEIVE(deregistered),
                                 {NULL, 0, NULL, 0, 0, NULL, 0}};
