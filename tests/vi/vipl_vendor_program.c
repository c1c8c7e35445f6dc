/* A program written for another vendor's header: Control and Data[n], IN and OUT of its own, that vendor's types and
 * constants, global names that a library likes to have for itself. Compiled only. */
#define IN  /* what its headers have */
#define OUT /* the same */
#define VIPL095
#include <vipl.h>

VIP_EVENT_HANDLE event_handle;
VIP_SHORT short_number;
VIP_LONG long_number;

int post(struct _VIP_DESCRIPTOR* first);
int sem_open(VIP_LONG count);
int sem_open(VIP_LONG count) { return count > short_number; }

/* Descriptors in a chain, by the third member of VIP_PVOID64. */
int post(struct _VIP_DESCRIPTOR* first) {
  VIP_DESCRIPTOR* next;
  int count = 0;
  for (next = first; next != 0; next = next->Control.Next.Descriptor) {
    next->Control.SegCount = 1;
    next->Control.Control = VIP_CONTROL_OP_SENDRECV | VIP_CONTROL_OPENCE;
    next->Control.Length = 4;
    next->Control.Status = 0;
    next->Data[0].Local.Data.Address = &count;
    next->Data[0].Local.Handle = 0;
    next->Data[0].Local.Length = 4;
    next->Data[1].Remote.Data.AddressBits = 0;
    ++count;
  }
  return count;
}

/* VIP_RETURN: enumerators and no macros, so that a program may test them with #ifdef; VIP_ERROR as one more name. */
#ifdef VIP_NO_MATCH
#error "VIP_NO_MATCH is a macro"
#endif
int is_error(OUT VIP_RETURN result);
int is_error(OUT VIP_RETURN result) {
  switch (result) {
    case VIP_SUCCESS:
    case VIP_NOT_DONE: return 0;
    case VIP_ERROR: return 2;
    default: return 1;
  }
}

/* The best level that the NIC has, by comparison of its mask. */
VIP_RELIABILITY_LEVEL best_level(const struct _VIP_NIC_ATTRIBUTES* nic);
VIP_RELIABILITY_LEVEL best_level(const struct _VIP_NIC_ATTRIBUTES* nic) {
  if (nic->ReliabilityLevelSupport >= VIP_SERVICE_RELIABLE_RECEPTION) return VIP_SERVICE_RELIABLE_RECEPTION;
  if (nic->ReliabilityLevelSupport >= VIP_SERVICE_RELIABLE_DELIVERY) return VIP_SERVICE_RELIABLE_DELIVERY;
  return VIP_SERVICE_UNRELIABLE;
}

/* Time-outs as 32-bit and as 64-bit "all bits" are both infinite here; the constant fits either. */
VIP_ULONG time_out(void);
VIP_ULONG time_out(void) { return VIP_INFINITE == 0xFFFFFFFFUL ? VIP_INFINITE : (VIP_ULONG)-1; }
