/* VI-DG 4, 5.1: the layout of descriptors, the values of constants, and both spellings that programs use. */
#include <stddef.h>
#include <string.h>

#include "far.h"

/* Byte offsets of VI-DG 5.1, Figures 4 and 5: hardware reads them. */
static void layout(int unused) {
  (void)unused;
  CHECK(sizeof(VIP_CONTROL_SEGMENT) == 32 && sizeof(VIP_ADDRESS_SEGMENT) == 16 && sizeof(VIP_DATA_SEGMENT) == 16,
        "segments have %zu, %zu and %zu bytes", sizeof(VIP_CONTROL_SEGMENT), sizeof(VIP_ADDRESS_SEGMENT),
        sizeof(VIP_DATA_SEGMENT));
  CHECK(sizeof(VIP_DESCRIPTOR) == 64, "a descriptor with two segments has %zu bytes", sizeof(VIP_DESCRIPTOR));
  CHECK(offsetof(VIP_CONTROL_SEGMENT, Next) == 0 && offsetof(VIP_CONTROL_SEGMENT, NextHandle) == 8 &&
            offsetof(VIP_CONTROL_SEGMENT, SegCount) == 12 && offsetof(VIP_CONTROL_SEGMENT, Control) == 14 &&
            offsetof(VIP_CONTROL_SEGMENT, Reserved) == 16 && offsetof(VIP_CONTROL_SEGMENT, ImmediateData) == 20 &&
            offsetof(VIP_CONTROL_SEGMENT, Length) == 24 && offsetof(VIP_CONTROL_SEGMENT, Status) == 28,
        "the fields of the control segment are not where VI-DG 5.2 has them");
  CHECK(offsetof(VIP_DATA_SEGMENT, Handle) == 8 && offsetof(VIP_DATA_SEGMENT, Length) == 12 &&
            offsetof(VIP_ADDRESS_SEGMENT, Handle) == 8 && offsetof(VIP_ADDRESS_SEGMENT, Reserved) == 12,
        "the fields of the other segments are not where VI-DG 5.3 and 5.4 have them");
}

/* VI-DG 4.1, 4.2, 4.3, 4.6, 4.8 */
static void constants(int unused) {
  (void)unused;
  CHECK(VIP_SUCCESS == 0 && VIP_NOT_DONE == 1 && VIP_INVALID_PARAMETER == 2 && VIP_TIMEOUT == 4 &&
            VIP_NOT_REACHABLE == 15,
        "return codes have other values than VI-DG 4.2 gives");
  CHECK(VIP_STATE_IDLE == 0 && VIP_STATE_CONNECTED == 1 && VIP_STATE_CONNECT_PENDING == 2 && VIP_STATE_ERROR == 3,
        "states have other values than VI-DG 4.8 gives");
  CHECK(VIP_SERVICE_UNRELIABLE == 1 && VIP_SERVICE_RELIABLE_DELIVERY == 2 && VIP_SERVICE_RELIABLE_RECEPTION == 4,
        "reliability levels have other values than VI-DG 4.6 gives");
  CHECK(VIP_CONTROL_RESERVED == 0xFFF0 && VIP_STATUS_RESERVED == 0xFFF0FE00U && VIP_CONTROL_QFENCE == 0x0008,
        "the masks that VI-DG 4.3 misprints have other values");
  CHECK(VIP_DESCRIPTOR_ALIGNMENT == 64, "descriptors are aligned to %d bytes", VIP_DESCRIPTOR_ALIGNMENT);
}

/* A program in the spelling of the other vendor's header: Control and Data for CS and DS. */
static void other_spelling(int unused) {
  VIP_DESCRIPTOR* descriptor;
  (void)unused;
  VIP_VI_HANDLE vi = make_pair(VIP_SERVICE_RELIABLE_DELIVERY);
  far_post_receive(0, message(0, 0, 100));
  fill(data_at(&near, 0), 100, 4);
  descriptor = slot_at(&near, 0);
  memset(descriptor, 0, sizeof *descriptor);
  descriptor->Control.SegCount = 1;
  descriptor->Control.Control = VIP_CONTROL_OP_SENDRECV | VIP_CONTROL_OPENCE;
  descriptor->Control.Length = 100;
  descriptor->Data[0].Data.Address = data_at(&near, 0);
  descriptor->Data[0].Handle = near.handle;
  descriptor->Data[0].Length = 100;
  EXPECT(VIP_SUCCESS, VipPostSend, vi, descriptor, near.handle);
  reap_send(vi, 0, 0, VIP_STATUS_OP_SEND);
  far_reap_receive(0, 0, 0);
  CHECK(far_matches(0, 100, 4), "the data did not arrive");
  CHECK(descriptor->Control.Status == descriptor->CS.Status, "the two spellings are not the same bytes");
}

/* Time-outs of all bits of a VIP_ULONG are infinite, whatever its size: a message that comes late is
 * received. */
static void* send_late(void* unused) {
  (void)unused;
  pause_ms(100);
  far_post_send(0, message(0, 0, 100));
  return NULL;
}

static void infinite(int unused) {
  VIP_DESCRIPTOR* done = NULL;
  (void)unused;
  VIP_VI_HANDLE vi = make_pair(VIP_SERVICE_RELIABLE_DELIVERY);
  post_receive(vi, message(0, 0, 100));
  pthread_t thread = start_thread(send_late, NULL);
  EXPECT(VIP_SUCCESS, VipRecvWait, vi, (VIP_ULONG)-1, &done);
  join_thread(thread);
}

const Test compatibility_tests[] = {
    {"header.layout", ID_VipPostSend, "VI-DG 5.1", EARLY, RULE, layout, 0},
    {"header.constants", ID_VipPostSend, "VI-DG 4", EARLY, RULE, constants, 0},
    {"header.other_spelling", ID_VipPostSend, "programs", PRACTICE, PROVES(VIP_SUCCESS), other_spelling, 0},
    {"header.infinite", ID_VipRecvWait, "programs", PRACTICE, PROVES(VIP_SUCCESS), infinite, 0},
    {NULL, 0, NULL, 0, 0, NULL, 0}};
