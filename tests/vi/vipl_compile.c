/* Compiles with every C and C++ standard that programs use: the whole of vipl.h in the words of such a
 * program. */
#define VIPL095
#include <vipl.h>
#include <vipl.h> /* twice */

struct _VIP_DESCRIPTOR* tag_descriptor;
struct _VIP_NET_ADDRESS* tag_net_address;
struct _VIP_MEM_ATTRIBUTES* tag_mem_attributes;
struct _VIP_VI_ATTRIBUTES* tag_vi_attributes;
struct _VIP_NIC_ATTRIBUTES* tag_nic_attributes;
struct _VIP_ERROR_DESCRIPTOR* tag_error_descriptor;
VIP_AUTODISCOVERY_LIST* discovered;
VIP_EVENT_HANDLE event_handle;
VIP_UCHAR unsigned_char;
VIP_SHORT short_number;
VIP_LONG long_number;

static void on_error(IN VIP_PVOID Context, IN VIP_ERROR_DESCRIPTOR* ErrorDesc) {
  (void)Context;
  (void)ErrorDesc->ErrorCode;
}

VIP_RETURN ping(IN VIP_NIC_HANDLE nic, IN VIP_VI_HANDLE vi, IN VIP_MEM_HANDLE memory, VIP_DESCRIPTOR* descriptor,
                OUT VIP_DESCRIPTOR** done);

VIP_RETURN ping(IN VIP_NIC_HANDLE nic, IN VIP_VI_HANDLE vi, IN VIP_MEM_HANDLE memory, VIP_DESCRIPTOR* descriptor,
                OUT VIP_DESCRIPTOR** done) {
  VIP_RETURN result = VipErrorCallback(nic, (VIP_PVOID)0, on_error);
  if (result == VIP_DESCRIPTOR_ERROR || result == VIP_ERROR_NOT_SUPPORTED) return result;
  descriptor->CS.Control = VIP_CONTROL_OP_SENDRECV | VIP_CONTROL_IMMEDIATE | VIP_CONTROL_OPENCE;
  descriptor->Control.SegCount = 1;
  descriptor->CS.Length = descriptor->DS[0].Local.Length = 64;
  descriptor->Data[0].Handle = memory;
  descriptor->DS[0].Local.Data.Address = descriptor->CS.Next.Descriptor + 1;
  descriptor->DS[1].Remote.Data.AddressBits = 0;
  result = VipPostSend(vi, descriptor, memory);
  return result == VIP_SUCCESS ? VipSendWait(vi, VIP_INFINITE, done) : result;
}
