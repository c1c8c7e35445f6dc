/* A program in the words of the examples that end the guide (VI-DG): CS, DS[n].Local and .Remote, IN and OUT in its own
 * prototypes, types as they stand in VI-DG 4. Compiled only. */
#include <vipl.h>

typedef struct _ECHO {
  VIP_NIC_HANDLE Nic;
  VIP_VI_HANDLE Vi;
  VIP_PROTECTION_HANDLE Ptag;
  VIP_MEM_HANDLE MemHandle;
  VIP_QOS Qos;
} ECHO;

static void ErrorHandler(IN VIP_PVOID Context, IN VIP_ERROR_DESCRIPTOR* ErrorDesc) {
  ECHO* Echo = (ECHO*)Context;
  switch (ErrorDesc->ErrorCode) {
    case VIP_ERROR_POST_DESC:
    case VIP_ERROR_CONN_LOST:
    case VIP_ERROR_RECVQ_EMPTY:
    case VIP_ERROR_VI_OVERRUN:
    case VIP_ERROR_RDMAW_PROT:
    case VIP_ERROR_RDMAW_DATA:
    case VIP_ERROR_RDMAW_ABORT:
    case VIP_ERROR_RDMAR_PROT:
    case VIP_ERROR_COMP_PROT:
    case VIP_ERROR_RDMA_TRANSPORT:
    case VIP_ERROR_CATASTROPHIC:
      if (ErrorDesc->ResourceCode == VIP_RESOURCE_VI) Echo->Vi = ErrorDesc->ViHandle;
      break;
  }
}

VIP_RETURN EchoOpen(IN OUT ECHO* Echo, IN VIP_PVOID Memory, IN VIP_ULONG Bytes);
VIP_RETURN EchoOpen(IN OUT ECHO* Echo, IN VIP_PVOID Memory, IN VIP_ULONG Bytes) {
  VIP_NIC_ATTRIBUTES NicAttributes;
  VIP_VI_ATTRIBUTES ViAttributes;
  VIP_MEM_ATTRIBUTES MemAttributes;
  VIP_RETURN Status = VipOpenNic("VINIC", &Echo->Nic);
  if (Status == VIP_SUCCESS) Status = VipErrorCallback(Echo->Nic, Echo, ErrorHandler);
  if (Status == VIP_SUCCESS) Status = VipQueryNic(Echo->Nic, &NicAttributes);
  if (Status == VIP_SUCCESS) Status = VipCreatePtag(Echo->Nic, &Echo->Ptag);
  MemAttributes.Ptag = Echo->Ptag;
  MemAttributes.EnableRdmaWrite = VIP_TRUE;
  MemAttributes.EnableRdmaRead = VIP_FALSE;
  if (Status == VIP_SUCCESS) Status = VipRegisterMem(Echo->Nic, Memory, Bytes, &MemAttributes, &Echo->MemHandle);
  ViAttributes.ReliabilityLevel = VIP_SERVICE_RELIABLE_DELIVERY;
  ViAttributes.MaxTransferSize = NicAttributes.MaxTransferSize;
  ViAttributes.QoS = (VIP_QOS)0;
  ViAttributes.Ptag = Echo->Ptag;
  ViAttributes.EnableRdmaWrite = VIP_TRUE;
  ViAttributes.EnableRdmaRead = VIP_FALSE;
  if ((NicAttributes.ReliabilityLevelSupport & VIP_SERVICE_RELIABLE_DELIVERY) == 0)
    return VIP_INVALID_RELIABILITY_LEVEL;
  if (Status == VIP_SUCCESS)
    Status = VipCreateVi(Echo->Nic, &ViAttributes, (VIP_CQ_HANDLE)0, (VIP_CQ_HANDLE)0, &Echo->Vi);
  return Status;
}

VIP_RETURN EchoWrite(IN ECHO* Echo, IN VIP_DESCRIPTOR* Descriptor, IN VIP_UINT64 Remote,
                     IN VIP_MEM_HANDLE RemoteHandle);
VIP_RETURN EchoWrite(IN ECHO* Echo, IN VIP_DESCRIPTOR* Descriptor, IN VIP_UINT64 Remote,
                     IN VIP_MEM_HANDLE RemoteHandle) {
  VIP_RETURN Status;
  Descriptor->CS.Next.AddressBits = 0;
  Descriptor->CS.NextHandle = 0;
  Descriptor->CS.SegCount = 2;
  Descriptor->CS.Control = VIP_CONTROL_OP_RDMAWRITE | VIP_CONTROL_IMMEDIATE | VIP_CONTROL_QFENCE;
  Descriptor->CS.Reserved = 0;
  Descriptor->CS.ImmediateData = 42;
  Descriptor->CS.Length = 64;
  Descriptor->CS.Status = 0;
  Descriptor->DS[0].Remote.Data.AddressBits = Remote;
  Descriptor->DS[0].Remote.Handle = RemoteHandle;
  Descriptor->DS[0].Remote.Reserved = 0;
  Descriptor->DS[1].Local.Data.Address = Descriptor + 1;
  Descriptor->DS[1].Local.Handle = Echo->MemHandle;
  Descriptor->DS[1].Local.Length = 64;
  Status = VipPostSend(Echo->Vi, Descriptor, Echo->MemHandle);
  if (Status != VIP_SUCCESS) return Status;
  Status = VipSendWait(Echo->Vi, VIP_INFINITE, &Descriptor);
  if (Descriptor != 0 && (Descriptor->CS.Status & VIP_STATUS_ERROR_MASK) != 0) return VIP_DESCRIPTOR_ERROR;
  return Status;
}
