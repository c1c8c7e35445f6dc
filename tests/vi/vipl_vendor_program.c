/* A program written for another vendor's header: Control and Data[n], IN and OUT of its own, that vendor's types and
 * constants, global names that a library likes to have for itself. Compiled only. */
#define IN  /* what its headers have */
#define OUT /* the same */
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
  VIP_DATA_SEGMENT* segment;
  int count = 0;
  for (next = first; next != 0; next = next->Control.Next.Descriptor) {
    next->Control.SegCount = 1;
    next->Control.Control = VIP_CONTROL_OP_SENDRECV | VIP_CONTROL_OPENCE;
    next->Control.Length = 4;
    next->Control.Status = 0;
    next->Data[0].Data.Address = &count;
    next->Data[0].Handle = 0;
    next->Data[0].Length = 4;
    segment = &next->Data[1];
    segment->Data.AddressBits = 0;
    ++count;
  }
  return count;
}

/* What it writes into an RDMA Write: Data[0] tells the remote end's memory, Data[1] its own. */
void put(VIP_DESCRIPTOR* descriptor, VIP_PVOID to, VIP_MEM_HANDLE to_handle);
void put(VIP_DESCRIPTOR* descriptor, VIP_PVOID to, VIP_MEM_HANDLE to_handle) {
  VIP_ADDRESS_SEGMENT* remote = (VIP_ADDRESS_SEGMENT*)(void*)&descriptor->Data[0];
  descriptor->Control.Control = VIP_CONTROL_OP_RDMAWRITE;
  descriptor->Data[0].Data.Address = to;
  descriptor->Data[0].Handle = to_handle;
  remote->Reserved = 0;
}

/* Its names for handlers and for the calling convention. */
static void VI_CALL on_error(VIP_PVOID Context, VIP_ERROR_DESCRIPTOR* error) {
  *(VIP_ERROR_CODE*)Context = error->ErrorCode;
}
static void on_descriptor(VIP_PVOID context, VIP_NIC_HANDLE nic, VIP_VI_HANDLE vi, VIP_DESCRIPTOR* descriptor) {
  *(VIP_DESCRIPTOR**)context = nic == vi ? 0 : descriptor;
}
static void on_entry(VIP_PVOID context, VIP_NIC_HANDLE nic, VIP_VI_HANDLE vi, VIP_BOOLEAN receive) {
  *(VIP_BOOLEAN*)context = nic == vi ? VIP_FALSE : receive;
}
VIP_RETURN(VI_CALL* post_send)(IN VIP_VI_HANDLE, IN VIP_DESCRIPTOR*, IN VIP_MEM_HANDLE) = VipPostSend;
VIP_RETURN set_handlers(VIP_NIC_HANDLE nic, VIP_VI_HANDLE vi, VIP_CQ_HANDLE queue, VIP_PVOID context);
VIP_RETURN set_handlers(VIP_NIC_HANDLE nic, VIP_VI_HANDLE vi, VIP_CQ_HANDLE queue, VIP_PVOID context) {
  VIP_ERROR_HANDLER error_handler = on_error;
  VIP_VI_CALLBACK descriptor_handler = on_descriptor;
  VIP_CQ_CALLBACK entry_handler = on_entry;
  VIP_RETURN result = VipErrorCallback(nic, context, error_handler);
  if (result == VIP_SUCCESS) result = VipRecvNotify(vi, context, descriptor_handler);
  return result == VIP_SUCCESS ? VipCQNotify(queue, context, entry_handler) : result;
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
int has_base_services(const struct _VIP_NIC_ATTRIBUTES* nic);
int has_base_services(const struct _VIP_NIC_ATTRIBUTES* nic) {
  return (nic->ReliabilityLevelSupport & VIP_BASE_SERVICES) == VIP_BASE_SERVICES;
}

/* Time-outs as 32-bit and as 64-bit "all bits" are both infinite here; the constant fits either. */
VIP_ULONG time_out(void);
VIP_ULONG time_out(void) { return VIP_INFINITE == 0xFFFFFFFFUL ? VIP_INFINITE : (VIP_ULONG)-1; }
