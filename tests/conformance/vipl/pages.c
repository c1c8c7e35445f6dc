/* The return codes on the pages of VI-DG chapter 3, one cell each. */
#include "registry.h"

static const char scarce[] = "needs insufficient resources, and no NIC attribute names the limit";
static const char partition[] = "needs a network partition, which no portable program can make";

#define PAGE(call, code) \
  { ID_##call, code, NULL }
#define PAGE_BUT(call, code, why_not) \
  { ID_##call, code, why_not }

/* clang-format off */
const Cell cells[] = {
  PAGE(VipOpenNic, VIP_SUCCESS),
  PAGE_BUT(VipOpenNic, VIP_ERROR_RESOURCE, scarce),
  PAGE(VipOpenNic, VIP_INVALID_PARAMETER),

  PAGE(VipCloseNic, VIP_SUCCESS),
  PAGE(VipCloseNic, VIP_INVALID_PARAMETER),

  PAGE(VipCreateVi, VIP_SUCCESS),
  PAGE(VipCreateVi, VIP_ERROR_RESOURCE),
  PAGE(VipCreateVi, VIP_INVALID_PARAMETER),
  PAGE(VipCreateVi, VIP_INVALID_RELIABILITY_LEVEL),
  PAGE(VipCreateVi, VIP_INVALID_MTU),
  PAGE(VipCreateVi, VIP_INVALID_QOS),
  PAGE(VipCreateVi, VIP_INVALID_PTAG),
  PAGE(VipCreateVi, VIP_INVALID_RDMAREAD),

  PAGE(VipDestroyVi, VIP_SUCCESS),
  PAGE(VipDestroyVi, VIP_INVALID_PARAMETER),
  PAGE(VipDestroyVi, VIP_INVALID_STATE),
  PAGE_BUT(VipDestroyVi, VIP_ERROR_RESOURCE, scarce),

  PAGE(VipConnectWait, VIP_SUCCESS),
  PAGE(VipConnectWait, VIP_TIMEOUT),
  PAGE_BUT(VipConnectWait, VIP_ERROR_RESOURCE, scarce),
  PAGE(VipConnectWait, VIP_INVALID_PARAMETER),

  PAGE(VipConnectAccept, VIP_SUCCESS),
  PAGE(VipConnectAccept, VIP_INVALID_PARAMETER),
  PAGE(VipConnectAccept, VIP_INVALID_RELIABILITY_LEVEL),
  PAGE(VipConnectAccept, VIP_INVALID_MTU),
  PAGE(VipConnectAccept, VIP_INVALID_QOS),
  PAGE(VipConnectAccept, VIP_TIMEOUT),
  PAGE_BUT(VipConnectAccept, VIP_ERROR_RESOURCE, scarce),
  PAGE(VipConnectAccept, VIP_INVALID_STATE),
  PAGE_BUT(VipConnectAccept, VIP_NOT_REACHABLE, partition),

  PAGE(VipConnectReject, VIP_SUCCESS),
  PAGE(VipConnectReject, VIP_INVALID_PARAMETER),
  PAGE_BUT(VipConnectReject, VIP_ERROR_RESOURCE, scarce),
  PAGE_BUT(VipConnectReject, VIP_NOT_REACHABLE, partition),

  PAGE(VipConnectRequest, VIP_SUCCESS),
  PAGE(VipConnectRequest, VIP_TIMEOUT),
  PAGE_BUT(VipConnectRequest, VIP_ERROR_RESOURCE, scarce),
  PAGE(VipConnectRequest, VIP_INVALID_PARAMETER),
  PAGE(VipConnectRequest, VIP_REJECT),
  PAGE(VipConnectRequest, VIP_NO_MATCH),
  PAGE(VipConnectRequest, VIP_INVALID_STATE),
  PAGE(VipConnectRequest, VIP_NOT_REACHABLE),

  PAGE(VipDisconnect, VIP_SUCCESS),
  PAGE(VipDisconnect, VIP_INVALID_PARAMETER),
  PAGE_BUT(VipDisconnect, VIP_ERROR_RESOURCE, scarce),
  PAGE_BUT(VipDisconnect, VIP_NOT_REACHABLE, partition),

  PAGE(VipConnectPeerRequest, VIP_SUCCESS),
  PAGE_BUT(VipConnectPeerRequest, VIP_ERROR_RESOURCE, scarce),
  PAGE(VipConnectPeerRequest, VIP_INVALID_STATE),
  PAGE(VipConnectPeerRequest, VIP_INVALID_PARAMETER),

  PAGE(VipConnectPeerDone, VIP_SUCCESS),
  PAGE(VipConnectPeerDone, VIP_INVALID_PARAMETER),
  PAGE(VipConnectPeerDone, VIP_INVALID_RELIABILITY_LEVEL),
  PAGE(VipConnectPeerDone, VIP_INVALID_MTU),
  PAGE(VipConnectPeerDone, VIP_INVALID_QOS),
  PAGE(VipConnectPeerDone, VIP_TIMEOUT),
  PAGE(VipConnectPeerDone, VIP_NOT_DONE),
  PAGE_BUT(VipConnectPeerDone, VIP_ERROR_RESOURCE, scarce),
  PAGE(VipConnectPeerDone, VIP_INVALID_STATE),
  PAGE(VipConnectPeerDone, VIP_NOT_REACHABLE),

  PAGE(VipConnectPeerWait, VIP_SUCCESS),
  PAGE(VipConnectPeerWait, VIP_INVALID_PARAMETER),
  PAGE(VipConnectPeerWait, VIP_INVALID_RELIABILITY_LEVEL),
  PAGE(VipConnectPeerWait, VIP_INVALID_MTU),
  PAGE(VipConnectPeerWait, VIP_INVALID_QOS),
  PAGE(VipConnectPeerWait, VIP_TIMEOUT),
  PAGE_BUT(VipConnectPeerWait, VIP_ERROR_RESOURCE, scarce),
  PAGE(VipConnectPeerWait, VIP_INVALID_STATE),
  PAGE(VipConnectPeerWait, VIP_NOT_REACHABLE),

  PAGE(VipCreatePtag, VIP_SUCCESS),
  PAGE(VipCreatePtag, VIP_ERROR_RESOURCE),
  PAGE(VipCreatePtag, VIP_INVALID_PARAMETER),

  PAGE(VipDestroyPtag, VIP_SUCCESS),
  PAGE(VipDestroyPtag, VIP_ERROR_RESOURCE),
  PAGE(VipDestroyPtag, VIP_INVALID_PARAMETER),

  PAGE(VipRegisterMem, VIP_SUCCESS),
  PAGE(VipRegisterMem, VIP_ERROR_RESOURCE),
  PAGE(VipRegisterMem, VIP_INVALID_PARAMETER),
  PAGE(VipRegisterMem, VIP_INVALID_PTAG),
  PAGE(VipRegisterMem, VIP_INVALID_RDMAREAD),

  PAGE(VipDeregisterMem, VIP_SUCCESS),
  PAGE(VipDeregisterMem, VIP_INVALID_PARAMETER),
  PAGE_BUT(VipDeregisterMem, VIP_ERROR_RESOURCE, scarce),

  PAGE(VipPostSend, VIP_SUCCESS),
  PAGE(VipPostSend, VIP_INVALID_PARAMETER),

  PAGE(VipSendDone, VIP_SUCCESS),
  PAGE(VipSendDone, VIP_DESCRIPTOR_ERROR),
  PAGE(VipSendDone, VIP_NOT_DONE),
  PAGE(VipSendDone, VIP_INVALID_PARAMETER),

  PAGE(VipSendWait, VIP_SUCCESS),
  PAGE(VipSendWait, VIP_DESCRIPTOR_ERROR),
  PAGE(VipSendWait, VIP_INVALID_PARAMETER),
  PAGE(VipSendWait, VIP_TIMEOUT),
  PAGE(VipSendWait, VIP_ERROR_RESOURCE),

  PAGE(VipPostRecv, VIP_SUCCESS),
  PAGE(VipPostRecv, VIP_INVALID_PARAMETER),

  PAGE(VipRecvDone, VIP_SUCCESS),
  PAGE(VipRecvDone, VIP_DESCRIPTOR_ERROR),
  PAGE(VipRecvDone, VIP_NOT_DONE),
  PAGE(VipRecvDone, VIP_INVALID_PARAMETER),

  PAGE(VipRecvWait, VIP_SUCCESS),
  PAGE(VipRecvWait, VIP_DESCRIPTOR_ERROR),
  PAGE(VipRecvWait, VIP_INVALID_PARAMETER),
  PAGE(VipRecvWait, VIP_TIMEOUT),
  PAGE(VipRecvWait, VIP_ERROR_RESOURCE),

  PAGE(VipCQDone, VIP_SUCCESS),
  PAGE(VipCQDone, VIP_NOT_DONE),
  PAGE(VipCQDone, VIP_INVALID_PARAMETER),

  PAGE(VipCQWait, VIP_SUCCESS),
  PAGE(VipCQWait, VIP_INVALID_PARAMETER),
  PAGE(VipCQWait, VIP_TIMEOUT),
  PAGE_BUT(VipCQWait, VIP_ERROR_RESOURCE, scarce),

  PAGE(VipSendNotify, VIP_SUCCESS),
  PAGE(VipSendNotify, VIP_INVALID_PARAMETER),
  PAGE(VipSendNotify, VIP_DESCRIPTOR_ERROR),
  PAGE(VipSendNotify, VIP_ERROR_RESOURCE),

  PAGE(VipRecvNotify, VIP_SUCCESS),
  PAGE(VipRecvNotify, VIP_INVALID_PARAMETER),
  PAGE(VipRecvNotify, VIP_DESCRIPTOR_ERROR),
  PAGE(VipRecvNotify, VIP_ERROR_RESOURCE),

  PAGE(VipCQNotify, VIP_SUCCESS),
  PAGE(VipCQNotify, VIP_INVALID_PARAMETER),
  PAGE_BUT(VipCQNotify, VIP_ERROR_RESOURCE, scarce),

  PAGE(VipCreateCQ, VIP_SUCCESS),
  PAGE(VipCreateCQ, VIP_INVALID_PARAMETER),
  PAGE(VipCreateCQ, VIP_ERROR_RESOURCE),

  PAGE(VipDestroyCQ, VIP_SUCCESS),
  PAGE(VipDestroyCQ, VIP_INVALID_PARAMETER),
  PAGE(VipDestroyCQ, VIP_ERROR_RESOURCE),

  PAGE(VipResizeCQ, VIP_SUCCESS),
  PAGE(VipResizeCQ, VIP_INVALID_PARAMETER),
  PAGE(VipResizeCQ, VIP_ERROR_RESOURCE),

  PAGE(VipQueryNic, VIP_SUCCESS),
  PAGE(VipQueryNic, VIP_INVALID_PARAMETER),
  PAGE_BUT(VipQueryNic, VIP_ERROR_RESOURCE, scarce),

  PAGE(VipSetViAttributes, VIP_SUCCESS),
  PAGE(VipSetViAttributes, VIP_INVALID_PARAMETER),
  PAGE(VipSetViAttributes, VIP_INVALID_STATE),
  PAGE(VipSetViAttributes, VIP_INVALID_RELIABILITY_LEVEL),
  PAGE(VipSetViAttributes, VIP_INVALID_MTU),
  PAGE(VipSetViAttributes, VIP_INVALID_QOS),
  PAGE(VipSetViAttributes, VIP_INVALID_PTAG),
  PAGE(VipSetViAttributes, VIP_INVALID_RDMAREAD),
  PAGE_BUT(VipSetViAttributes, VIP_ERROR_RESOURCE, scarce),

  PAGE(VipQueryVi, VIP_SUCCESS),
  PAGE(VipQueryVi, VIP_INVALID_PARAMETER),
  PAGE_BUT(VipQueryVi, VIP_ERROR_RESOURCE, scarce),

  PAGE(VipSetMemAttributes, VIP_SUCCESS),
  PAGE(VipSetMemAttributes, VIP_INVALID_PARAMETER),
  PAGE(VipSetMemAttributes, VIP_INVALID_PTAG),
  PAGE(VipSetMemAttributes, VIP_INVALID_RDMAREAD),
  PAGE_BUT(VipSetMemAttributes, VIP_ERROR_RESOURCE, scarce),

  PAGE(VipQueryMem, VIP_SUCCESS),
  PAGE(VipQueryMem, VIP_INVALID_PARAMETER),
  PAGE_BUT(VipQueryMem, VIP_ERROR_RESOURCE, scarce),

  PAGE(VipQuerySystemManagementInfo, VIP_SUCCESS),
  PAGE(VipQuerySystemManagementInfo, VIP_INVALID_PARAMETER),
  PAGE(VipQuerySystemManagementInfo, VIP_ERROR_RESOURCE),

  PAGE(VipErrorCallback, VIP_SUCCESS),
  PAGE(VipErrorCallback, VIP_INVALID_PARAMETER),
  PAGE_BUT(VipErrorCallback, VIP_ERROR_RESOURCE, scarce),

  PAGE(VipNSInit, VIP_SUCCESS),
  PAGE(VipNSInit, VIP_INVALID_PARAMETER),
  PAGE(VipNSInit, VIP_ERROR_NAMESERVICE),
  PAGE_BUT(VipNSInit, VIP_ERROR_RESOURCE, scarce),

  PAGE(VipNSGetHostByName, VIP_SUCCESS),
  PAGE(VipNSGetHostByName, VIP_ERROR_NAMESERVICE),
  PAGE(VipNSGetHostByName, VIP_INVALID_PARAMETER),
  PAGE_BUT(VipNSGetHostByName, VIP_ERROR_RESOURCE, scarce),

  PAGE(VipNSGetHostByAddr, VIP_SUCCESS),
  PAGE(VipNSGetHostByAddr, VIP_ERROR_NAMESERVICE),
  PAGE(VipNSGetHostByAddr, VIP_INVALID_PARAMETER),
  PAGE_BUT(VipNSGetHostByAddr, VIP_ERROR_RESOURCE, scarce),

  PAGE(VipNSShutdown, VIP_SUCCESS),
  PAGE(VipNSShutdown, VIP_ERROR_NAMESERVICE),
  PAGE(VipNSShutdown, VIP_INVALID_PARAMETER),
  PAGE_BUT(VipNSShutdown, VIP_ERROR_RESOURCE, scarce),
};
/* clang-format on */
const size_t cell_count = sizeof cells / sizeof *cells;
