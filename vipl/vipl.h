/*
 * vipl.h - the Virtual Interface Provider Library, as the Intel VI Architecture Developer's Guide 1.0 (VI-DG)
 * defines it in chapters 3 and 4, for C89, C11 and C++ programs.
 *
 * Threads: every call may be made from any thread at any time (VIP_NIC_ATTRIBUTES.ThreadSafe is VIP_TRUE).
 * Handlers run on threads of the library (VI-DG 3.5.12); they may call back into it.
 * Time-outs are milliseconds. Lengths are bytes. Every call returns VIP_INVALID_PARAMETER for a handle that
 * it does not know or a pointer that must not be NULL, and VIP_ERROR_RESOURCE when resources run out.
 */
#ifndef VIPL_H
#define VIPL_H

/* Parameter directions and calling convention. Sources written for VIPL use them in their own prototypes. */
#ifndef IN
#define IN
#endif
#ifndef OUT
#define OUT
#endif
#ifndef VI_CALL
#define VI_CALL
#endif

#if defined(__GNUC__)
#define VIPL_API __attribute__((visibility("default")))
#define VIPL_EXTENSION __extension__
#else
#define VIPL_API
#define VIPL_EXTENSION
#endif

/* C89 has no <stdint.h>, so the compiler's own names come first. */
#if defined(__UINT64_TYPE__) && defined(__UINT32_TYPE__) && defined(__UINT16_TYPE__) && defined(__UINT8_TYPE__)
#define VIPL_HAVE_UINT_MACROS
#else
#include <stdint.h>
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* ---- VI-DG 4.1: generic types -------------------------------------------------------------------------- */

typedef void* VIP_PVOID;
typedef int VIP_BOOLEAN;
typedef char VIP_CHAR;
typedef unsigned char VIP_UCHAR;
typedef unsigned short VIP_USHORT;
typedef unsigned long VIP_ULONG; /* 64 bits on LP64 hosts */
typedef short VIP_SHORT;
typedef long VIP_LONG;

#if defined(VIPL_HAVE_UINT_MACROS)
VIPL_EXTENSION typedef __UINT64_TYPE__ VIP_UINT64;
typedef __UINT32_TYPE__ VIP_UINT32;
typedef __UINT16_TYPE__ VIP_UINT16;
typedef __UINT8_TYPE__ VIP_UINT8;
#else
typedef uint64_t VIP_UINT64;
typedef uint32_t VIP_UINT32;
typedef uint16_t VIP_UINT16;
typedef uint8_t VIP_UINT8;
#endif

#define VIP_TRUE (1)
#define VIP_FALSE (0)

/* Alignment that descriptors need, in bytes. */
#define VIP_DESCRIPTOR_ALIGNMENT 64

/* A time-out without end. Any time-out of 0xFFFFFFFF or more is infinite. */
#define VIP_INFINITE (0xFFFFFFFFUL)

/* ---- Handles ------------------------------------------------------------------------------------------- */

typedef VIP_PVOID VIP_NIC_HANDLE;
typedef VIP_PVOID VIP_VI_HANDLE;
typedef VIP_PVOID VIP_CQ_HANDLE;
typedef VIP_PVOID VIP_CONN_HANDLE;
typedef VIP_PVOID VIP_PROTECTION_HANDLE;
typedef VIP_PVOID VIP_EVENT_HANDLE;
typedef VIP_UINT32 VIP_MEM_HANDLE; /* never 0 or 0xFFFFFFFF, never negative as an int */

/* ---- VI-DG 4.2: return codes --------------------------------------------------------------------------- */

typedef enum _VIP_RETURN {
  VIP_SUCCESS,                     /* the function completed successfully */
  VIP_NOT_DONE,                    /* no descriptor has completed on the queue */
  VIP_INVALID_PARAMETER,           /* one or more input parameters were invalid */
  VIP_ERROR_RESOURCE,              /* insufficient resources, or a resource conflict */
  VIP_TIMEOUT,                     /* the request timed out */
  VIP_REJECT,                      /* the remote end rejected the connection request */
  VIP_INVALID_RELIABILITY_LEVEL,   /* the reliability level was invalid or not supported, or conflicts */
  VIP_INVALID_MTU,                 /* the maximum transfer size was invalid or not supported, or conflicts */
  VIP_INVALID_QOS,                 /* the quality of service was invalid or not supported, or conflicts */
  VIP_INVALID_PTAG,                /* the protection tag was invalid */
  VIP_INVALID_RDMAREAD,            /* RDMA Read was requested and is not supported */
  VIP_DESCRIPTOR_ERROR,            /* a descriptor completed in error, or the work queue was empty */
  VIP_INVALID_STATE,               /* the operation is not valid in the current VI state */
  VIP_ERROR_NAMESERVICE,           /* the name service could not start, stop or resolve */
  VIP_NO_MATCH,                    /* no VipConnectWait has this discriminator */
  VIP_NOT_REACHABLE,               /* a network partition was detected */
  VIP_ERROR_NOT_SUPPORTED,         /* not in VI-DG: the request is not supported */
  VIP_ERROR = VIP_DESCRIPTOR_ERROR /* not in VI-DG: another vendor's name for it */
} VIP_RETURN;

/* ---- VI-DG 4.3 and 5: descriptors ---------------------------------------------------------------------- */

struct _VIP_DESCRIPTOR;

typedef union {
  VIP_UINT64 AddressBits;
  VIP_PVOID Address;
  struct _VIP_DESCRIPTOR* Descriptor;
} VIP_PVOID64;

/* VI-DG 5.2. All reserved bits and words are zero, else the descriptor completes with a format error. */
typedef struct {
  VIP_PVOID64 Next; /* the program's own while the descriptor is not posted */
  VIP_MEM_HANDLE NextHandle;
  VIP_UINT16 SegCount; /* segments after this one, an address segment included */
  VIP_UINT16 Control;  /* VIP_CONTROL_... */
  VIP_UINT32 Reserved; /* zero */
  VIP_UINT32 ImmediateData;
  VIP_UINT32 Length; /* posted on a send queue: sum of the data segments; completed: bytes transferred */
  VIP_UINT32 Status; /* VIP_STATUS_...; written last at completion */
} VIP_CONTROL_SEGMENT;

/* VI-DG 5.3: remote memory of an RDMA operation. */
typedef struct {
  VIP_PVOID64 Data;
  VIP_MEM_HANDLE Handle;
  VIP_UINT32 Reserved; /* zero */
} VIP_ADDRESS_SEGMENT;

/* VI-DG 5.4: local memory. */
typedef struct {
  VIP_PVOID64 Data;
  VIP_MEM_HANDLE Handle;
  VIP_UINT32 Length;
} VIP_DATA_SEGMENT;

typedef union {
  VIP_ADDRESS_SEGMENT Remote;
  VIP_DATA_SEGMENT Local;
} VIP_DESCRIPTOR_SEGMENT;

/*
 * 64 bytes; more segments may follow in memory. CS and DS are the guide's names. Control and Data are those
 * of another vendor's header, for the same bytes: DS[i].Local is Data[i], and DS[0].Remote has its Data and
 * Handle where Data[0] has them. There VIPL095 chose the guide's names; here both always work.
 */
VIPL_EXTENSION typedef struct _VIP_DESCRIPTOR {
  VIPL_EXTENSION union {
    VIP_CONTROL_SEGMENT CS;
    VIP_CONTROL_SEGMENT Control;
  };
  VIPL_EXTENSION union {
    VIP_DESCRIPTOR_SEGMENT DS[2];
    VIP_DATA_SEGMENT Data[2];
  };
} VIP_DESCRIPTOR;

/* Control field, VI-DG 5.2. The guide prints OPENCE for QFENCE, and one digit too many in RESERVED. */
#define VIP_CONTROL_OP_SENDRECV 0x0000
#define VIP_CONTROL_OP_RDMAWRITE 0x0001
#define VIP_CONTROL_OP_RDMAREAD 0x0002
#define VIP_CONTROL_OP_RESERVED 0x0003
#define VIP_CONTROL_OP_MASK 0x0003
#define VIP_CONTROL_IMMEDIATE 0x0004
#define VIP_CONTROL_QFENCE 0x0008
#define VIP_CONTROL_OPENCE VIP_CONTROL_QFENCE
#define VIP_CONTROL_RESERVED 0xFFF0

/* Status field, VI-DG 5.2. */
#define VIP_STATUS_DONE 0x00000001
#define VIP_STATUS_FORMAT_ERROR 0x00000002
#define VIP_STATUS_PROTECTION_ERROR 0x00000004
#define VIP_STATUS_LENGTH_ERROR 0x00000008
#define VIP_STATUS_PARTIAL_ERROR 0x00000010
#define VIP_STATUS_DESC_FLUSHED_ERROR 0x00000020
#define VIP_STATUS_TRANSPORT_ERROR 0x00000040
#define VIP_STATUS_RDMA_PROT_ERROR 0x00000080
#define VIP_STATUS_REMOTE_DESC_ERROR 0x00000100
#define VIP_STATUS_ERROR_MASK 0x000001FE
#define VIP_STATUS_OP_SEND 0x00000000
#define VIP_STATUS_OP_RECEIVE 0x00010000
#define VIP_STATUS_OP_RDMA_WRITE 0x00020000
#define VIP_STATUS_OP_REMOTE_RDMA_WRITE 0x00030000
#define VIP_STATUS_OP_RDMA_READ 0x00040000
#define VIP_STATUS_OP_MASK 0x00070000
#define VIP_STATUS_IMMEDIATE 0x00080000
#define VIP_STATUS_RESERVED 0xFFF0FE00

/* ---- VI-DG 4.4: error descriptor ----------------------------------------------------------------------- */

typedef enum _VIP_RESOURCE_CODE {
  VIP_RESOURCE_NIC,
  VIP_RESOURCE_VI,
  VIP_RESOURCE_CQ,
  VIP_RESOURCE_DESCRIPTOR
} VIP_RESOURCE_CODE;

/* VI-DG 3.8.1 explains each. */
typedef enum _VIP_ERROR_CODE {
  VIP_ERROR_POST_DESC,
  VIP_ERROR_CONN_LOST,
  VIP_ERROR_RECVQ_EMPTY,
  VIP_ERROR_VI_OVERRUN,
  VIP_ERROR_RDMAW_PROT,
  VIP_ERROR_RDMAW_DATA,
  VIP_ERROR_RDMAW_ABORT,
  VIP_ERROR_RDMAR_PROT,
  VIP_ERROR_COMP_PROT,
  VIP_ERROR_RDMA_TRANSPORT,
  VIP_ERROR_CATASTROPHIC
} VIP_ERROR_CODE;

typedef struct _VIP_ERROR_DESCRIPTOR {
  VIP_NIC_HANDLE NicHandle;
  VIP_VI_HANDLE ViHandle;        /* NULL: no VI is concerned */
  VIP_CQ_HANDLE CQHandle;        /* NULL: no completion queue is concerned */
  VIP_DESCRIPTOR* DescriptorPtr; /* NULL: no descriptor is concerned */
  VIP_ULONG OpCode;              /* VIP_STATUS_OP_... */
  VIP_RESOURCE_CODE ResourceCode;
  VIP_ERROR_CODE ErrorCode;
} VIP_ERROR_DESCRIPTOR;

/* ---- VI-DG 4.5 to 4.9: attributes, states, addresses --------------------------------------------------- */

/* One bit each, so that a NIC can tell a set of them. */
typedef VIP_USHORT VIP_RELIABILITY_LEVEL;
#define VIP_SERVICE_UNRELIABLE 0x01
#define VIP_SERVICE_RELIABLE_DELIVERY 0x02
#define VIP_SERVICE_RELIABLE_RECEPTION 0x04
#define VIP_BASE_SERVICES /* not in VI-DG: all of them */ \
  (VIP_SERVICE_UNRELIABLE + VIP_SERVICE_RELIABLE_DELIVERY + VIP_SERVICE_RELIABLE_RECEPTION)

typedef VIP_PVOID VIP_QOS; /* VI-DG 4.6 does not define it: NULL */

typedef struct _VIP_NIC_ATTRIBUTES {
  VIP_CHAR Name[64];
  VIP_ULONG HardwareVersion;
  VIP_ULONG ProviderVersion;
  VIP_UINT16 NicAddressLen;         /* bytes of LocalNicAddress */
  const VIP_UINT8* LocalNicAddress; /* valid until the NIC is closed */
  VIP_BOOLEAN ThreadSafe;
  VIP_UINT16 MaxDiscriminatorLen; /* bytes, at least 16 */
  VIP_ULONG MaxRegisterBytes;
  VIP_ULONG MaxRegisterRegions;
  VIP_ULONG MaxRegisterBlockBytes;
  VIP_ULONG MaxVI;
  VIP_ULONG MaxDescriptorsPerQueue;
  VIP_ULONG MaxSegmentsPerDesc; /* the address segment included */
  VIP_ULONG MaxCQ;
  VIP_ULONG MaxCQEntries;
  VIP_ULONG MaxTransferSize; /* bytes of one descriptor */
  VIP_ULONG NativeMTU;       /* bytes of one frame */
  VIP_ULONG MaxPtags;
  VIP_RELIABILITY_LEVEL ReliabilityLevelSupport; /* a set of VIP_SERVICE_... */
  VIP_RELIABILITY_LEVEL RDMAReadSupport;         /* a set of VIP_SERVICE_... */
} VIP_NIC_ATTRIBUTES;

typedef struct _VIP_VI_ATTRIBUTES {
  VIP_RELIABILITY_LEVEL ReliabilityLevel;
  VIP_ULONG MaxTransferSize; /* bytes; 0: the NIC's maximum */
  VIP_QOS QoS;
  VIP_PROTECTION_HANDLE Ptag;  /* NULL: matches every region of this process and NIC */
  VIP_BOOLEAN EnableRdmaWrite; /* accept RDMA Writes of the remote end */
  VIP_BOOLEAN EnableRdmaRead;  /* accept RDMA Reads of the remote end */
} VIP_VI_ATTRIBUTES;

typedef struct _VIP_MEM_ATTRIBUTES {
  VIP_PROTECTION_HANDLE Ptag;
  VIP_BOOLEAN EnableRdmaWrite;
  VIP_BOOLEAN EnableRdmaRead;
} VIP_MEM_ATTRIBUTES;

typedef enum _VIP_VI_STATE {
  VIP_STATE_IDLE,
  VIP_STATE_CONNECTED,
  VIP_STATE_CONNECT_PENDING,
  VIP_STATE_ERROR
} VIP_VI_STATE;

/* HostAddress holds HostAddressLen bytes of host address, then DiscriminatorLen bytes of discriminator. */
typedef struct _VIP_NET_ADDRESS {
  VIP_UINT16 HostAddressLen;
  VIP_UINT16 DiscriminatorLen;
  VIP_UINT8 HostAddress[1];
} VIP_NET_ADDRESS;

/* VI-DG 3.7.6. */
#define VIP_SMI_AUTODISCOVERY (1UL)

typedef struct _VIP_AUTODISCOVERY_LIST {
  VIP_ULONG NumberOfHops;        /* depth of interest, in links */
  VIP_NET_ADDRESS** ADAddrArray; /* the caller's addresses; HostAddressLen tells the room of each, in bytes */
  VIP_ULONG NumAdAddrs;          /* in: entries of ADAddrArray; out: entries found */
} VIP_AUTODISCOVERY_LIST;

/* ---- Handlers ------------------------------------------------------------------------------------------ */

/* Not in VI-DG: the names that another vendor's header has for them. VipSendNotify and VipRecvNotify,
 * VipCQNotify, VipErrorCallback. */
typedef void (*VIP_VI_CALLBACK)(VIP_PVOID Context, VIP_NIC_HANDLE NicHandle, VIP_VI_HANDLE ViHandle,
                                VIP_DESCRIPTOR* DescriptorPtr);
typedef void (*VIP_CQ_CALLBACK)(VIP_PVOID Context, VIP_NIC_HANDLE NicHandle, VIP_VI_HANDLE ViHandle,
                                VIP_BOOLEAN RecvQueue);
typedef void (*VIP_ERROR_HANDLER)(VIP_PVOID Context, VIP_ERROR_DESCRIPTOR* ErrorDesc);

/* ---- VI-DG 3.1: hardware connection -------------------------------------------------------------------- */

/* 3.1.1. Opens the NIC of this name; each call gives a new handle. */
VIPL_API VIP_RETURN VipOpenNic(const VIP_CHAR* DeviceName, VIP_NIC_HANDLE* NicHandle);

/* 3.1.2. Closes it and frees all that was created from the handle. */
VIPL_API VIP_RETURN VipCloseNic(VIP_NIC_HANDLE NicHandle);

/* ---- VI-DG 3.2: endpoints ------------------------------------------------------------------------------ */

/* 3.2.1. A completion queue handle may be NULL. Also VIP_INVALID_RELIABILITY_LEVEL, _MTU, _QOS, _PTAG,
 * _RDMAREAD. */
VIPL_API VIP_RETURN VipCreateVi(VIP_NIC_HANDLE NicHandle, VIP_VI_ATTRIBUTES* ViAttribs, VIP_CQ_HANDLE SendCQHandle,
                                VIP_CQ_HANDLE RecvCQHandle, VIP_VI_HANDLE* ViHandle);

/* 3.2.2. VIP_INVALID_STATE unless the VI is Idle and both its queues are empty. */
VIPL_API VIP_RETURN VipDestroyVi(VIP_VI_HANDLE ViHandle);

/* ---- VI-DG 3.3: connections ---------------------------------------------------------------------------- */

/* 3.3.1. Server: waits for a request with LocalAddr's discriminator; Timeout 0 only looks. RemoteAddr needs
 * room for NicAddressLen + MaxDiscriminatorLen bytes. VIP_TIMEOUT: no request came. */
VIPL_API VIP_RETURN VipConnectWait(VIP_NIC_HANDLE NicHandle, VIP_NET_ADDRESS* LocalAddr, VIP_ULONG Timeout,
                                   VIP_NET_ADDRESS* RemoteAddr, VIP_VI_ATTRIBUTES* RemoteViAttribs,
                                   VIP_CONN_HANDLE* ConnHandle);

/* 3.3.2. Server: accepts with an Idle VI. After VIP_INVALID_RELIABILITY_LEVEL, _MTU, _QOS or _STATE the
 * request is still there. Also VIP_TIMEOUT, VIP_NOT_REACHABLE. */
VIPL_API VIP_RETURN VipConnectAccept(VIP_CONN_HANDLE ConnHandle, VIP_VI_HANDLE ViHandle);

/* 3.3.3. Server: rejects; the client's call returns VIP_REJECT. */
VIPL_API VIP_RETURN VipConnectReject(VIP_CONN_HANDLE ConnHandle);

/* 3.3.4. Client: connects an Idle VI; Timeout must not be 0. VIP_TIMEOUT, VIP_REJECT, VIP_NO_MATCH,
 * VIP_INVALID_STATE, VIP_NOT_REACHABLE. */
VIPL_API VIP_RETURN VipConnectRequest(VIP_VI_HANDLE ViHandle, VIP_NET_ADDRESS* LocalAddr, VIP_NET_ADDRESS* RemoteAddr,
                                      VIP_ULONG Timeout, VIP_VI_ATTRIBUTES* RemoteViAttribs);

/* 3.3.5. Any state: flushes both queues; Idle then, but Error after VIP_NOT_REACHABLE (FC-VI 8.6.3). */
VIPL_API VIP_RETURN VipDisconnect(VIP_VI_HANDLE ViHandle);

/* 3.3.6. Peer: posts a request and returns; Timeout must not be 0. VIP_INVALID_STATE unless Idle. */
VIPL_API VIP_RETURN VipConnectPeerRequest(VIP_VI_HANDLE ViHandle, VIP_NET_ADDRESS* LocalAddr,
                                          VIP_NET_ADDRESS* RemoteAddr, VIP_ULONG Timeout);

/* 3.3.7. Peer: VIP_NOT_DONE while the request is under way, else its result. */
VIPL_API VIP_RETURN VipConnectPeerDone(VIP_VI_HANDLE ViHandle, VIP_VI_ATTRIBUTES* RemoteViAttribs);

/* 3.3.8. Peer: waits for the result. */
VIPL_API VIP_RETURN VipConnectPeerWait(VIP_VI_HANDLE ViHandle, VIP_VI_ATTRIBUTES* RemoteViAttribs);

/* ---- VI-DG 3.4: memory --------------------------------------------------------------------------------- */

/* 3.4.1. */
VIPL_API VIP_RETURN VipCreatePtag(VIP_NIC_HANDLE NicHandle, VIP_PROTECTION_HANDLE* Ptag);

/* 3.4.2. VIP_ERROR_RESOURCE while a VI or a region has the tag. */
VIPL_API VIP_RETURN VipDestroyPtag(VIP_NIC_HANDLE NicHandle, VIP_PROTECTION_HANDLE Ptag);

/* 3.4.3. Any address and length but 0. MemAttribs NULL means no tag and no RDMA. Also VIP_INVALID_PTAG. */
VIPL_API VIP_RETURN VipRegisterMem(VIP_NIC_HANDLE NicHandle, VIP_PVOID VirtualAddress, VIP_ULONG Length,
                                   VIP_MEM_ATTRIBUTES* MemAttribs, VIP_MEM_HANDLE* MemoryHandle);

/* 3.4.4. VirtualAddress may be any address within the region (ruling 252). */
VIPL_API VIP_RETURN VipDeregisterMem(VIP_NIC_HANDLE NicHandle, VIP_PVOID VirtualAddress, VIP_MEM_HANDLE MemoryHandle);

/* ---- VI-DG 3.5: data transfer and completion ----------------------------------------------------------- */

/* 3.5.1. Never blocks. Errors of the descriptor show in its status or at the error handler (3.8.1). */
VIPL_API VIP_RETURN VipPostSend(VIP_VI_HANDLE ViHandle, VIP_DESCRIPTOR* DescriptorPtr, VIP_MEM_HANDLE MemoryHandle);

/* 3.5.2. VIP_SUCCESS or VIP_DESCRIPTOR_ERROR with the head descriptor; VIP_NOT_DONE;
 * VIP_DESCRIPTOR_ERROR with NULL when the queue is empty. Does not wait for a completion: vipl(7), POLLING. */
VIPL_API VIP_RETURN VipSendDone(VIP_VI_HANDLE ViHandle, VIP_DESCRIPTOR** DescriptorPtr);

/* 3.5.3. The same, but waits: VIP_TIMEOUT. VIP_ERROR_RESOURCE if the queue has a completion queue. */
VIPL_API VIP_RETURN VipSendWait(VIP_VI_HANDLE ViHandle, VIP_ULONG TimeOut, VIP_DESCRIPTOR** DescriptorPtr);

/* 3.5.4 to 3.5.6. Likewise for the receive queue. */
VIPL_API VIP_RETURN VipPostRecv(VIP_VI_HANDLE ViHandle, VIP_DESCRIPTOR* DescriptorPtr, VIP_MEM_HANDLE MemoryHandle);
VIPL_API VIP_RETURN VipRecvDone(VIP_VI_HANDLE ViHandle, VIP_DESCRIPTOR** DescriptorPtr);
VIPL_API VIP_RETURN VipRecvWait(VIP_VI_HANDLE ViHandle, VIP_ULONG TimeOut, VIP_DESCRIPTOR** DescriptorPtr);

/* 3.5.7. VIP_NOT_DONE when empty. Only takes the entry: VipSendDone or VipRecvDone takes the descriptor. */
VIPL_API VIP_RETURN VipCQDone(VIP_CQ_HANDLE CQHandle, VIP_VI_HANDLE* ViHandle, VIP_BOOLEAN* RecvQueue);

/* 3.5.8. The same, but waits: VIP_TIMEOUT. */
VIPL_API VIP_RETURN VipCQWait(VIP_CQ_HANDLE CQHandle, VIP_ULONG Timeout, VIP_VI_HANDLE* ViHandle,
                              VIP_BOOLEAN* RecvQueue);

/* 3.5.9, 3.5.10. One call of Handler for one completed descriptor, on the queue's own thread; DescriptorPtr
 * is NULL if the queue became empty. VIP_DESCRIPTOR_ERROR: the queue is empty now. VIP_ERROR_RESOURCE: it has
 * a completion queue. */
VIPL_API VIP_RETURN VipSendNotify(VIP_VI_HANDLE ViHandle, VIP_PVOID Context,
                                  void (*Handler)(VIP_PVOID Context, VIP_NIC_HANDLE NicHandle, VIP_VI_HANDLE ViHandle,
                                                  VIP_DESCRIPTOR* DescriptorPtr));
VIPL_API VIP_RETURN VipRecvNotify(VIP_VI_HANDLE ViHandle, VIP_PVOID Context,
                                  void (*Handler)(VIP_PVOID Context, VIP_NIC_HANDLE NicHandle, VIP_VI_HANDLE ViHandle,
                                                  VIP_DESCRIPTOR* DescriptorPtr));

/* 3.5.11. One call of Handler for one completion queue entry. */
VIPL_API VIP_RETURN VipCQNotify(VIP_CQ_HANDLE CQHandle, VIP_PVOID Context,
                                void (*Handler)(VIP_PVOID Context, VIP_NIC_HANDLE NicHandle, VIP_VI_HANDLE ViHandle,
                                                VIP_BOOLEAN RecvQueue));

/* ---- VI-DG 3.6: completion queues ---------------------------------------------------------------------- */

/* 3.6.1. EntryCount is a minimum: the queue grows with its entries. */
VIPL_API VIP_RETURN VipCreateCQ(VIP_NIC_HANDLE NicHandle, VIP_ULONG EntryCount, VIP_CQ_HANDLE* CQHandle);

/* 3.6.2. VIP_ERROR_RESOURCE while work queues use it. */
VIPL_API VIP_RETURN VipDestroyCQ(VIP_CQ_HANDLE CQHandle);

/* 3.6.3. EntryCount is a minimum; queued entries stay. VIP_ERROR_RESOURCE above MaxCQEntries. */
VIPL_API VIP_RETURN VipResizeCQ(VIP_CQ_HANDLE CQHandle, VIP_ULONG EntryCount);

/* ---- VI-DG 3.7: queries -------------------------------------------------------------------------------- */

/* 3.7.1. */
VIPL_API VIP_RETURN VipQueryNic(VIP_NIC_HANDLE NicHandle, VIP_NIC_ATTRIBUTES* NicAttribs);

/* 3.7.2. All attributes or none. VIP_INVALID_STATE unless the VI is Idle; else the errors of VipCreateVi. */
VIPL_API VIP_RETURN VipSetViAttributes(VIP_VI_HANDLE ViHandle, VIP_VI_ATTRIBUTES* ViAttribs);

/* 3.7.3. */
VIPL_API VIP_RETURN VipQueryVi(VIP_VI_HANDLE ViHandle, VIP_VI_STATE* State, VIP_VI_ATTRIBUTES* ViAttribs,
                               VIP_BOOLEAN* ViSendQEmpty, VIP_BOOLEAN* ViRecvQEmpty);

/* 3.7.4. All attributes or none. Address is the first one of the region. */
VIPL_API VIP_RETURN VipSetMemAttributes(VIP_NIC_HANDLE NicHandle, VIP_PVOID Address, VIP_MEM_HANDLE MemHandle,
                                        VIP_MEM_ATTRIBUTES* MemAttribs);

/* 3.7.5. Address is the first one of the region. */
VIPL_API VIP_RETURN VipQueryMem(VIP_NIC_HANDLE NicHandle, VIP_PVOID Address, VIP_MEM_HANDLE MemHandle,
                                VIP_MEM_ATTRIBUTES* MemAttribs);

/* 3.7.6. InfoType VIP_SMI_AUTODISCOVERY with a VIP_AUTODISCOVERY_LIST. VIP_ERROR_RESOURCE: more addresses
 * were found than fit, and NumAdAddrs says how many, or the name server does not answer.
 * VIP_INVALID_PARAMETER: another InfoType, or an entry without room. */
VIPL_API VIP_RETURN VipQuerySystemManagementInfo(VIP_NIC_HANDLE NicHandle, VIP_ULONG InfoType, VIP_PVOID SysManInfo);

/* ---- VI-DG 3.8: error handling ------------------------------------------------------------------------- */

/* 3.8.1. Handler is called for each asynchronous error; NULL restores the default, which logs it, except that
 * a remote end disconnected or ended. */
VIPL_API VIP_RETURN VipErrorCallback(VIP_NIC_HANDLE NicHandle, VIP_PVOID Context,
                                     void (*Handler)(VIP_PVOID Context, VIP_ERROR_DESCRIPTOR* ErrorDesc));

/* ---- VI-DG 3.9: name service --------------------------------------------------------------------------- */

/* 3.9.1. NSInitInfo NULL: the default behaviour. VIP_ERROR_NAMESERVICE if it is initialised already. */
VIPL_API VIP_RETURN VipNSInit(VIP_NIC_HANDLE NicHandle, VIP_PVOID NSInitInfo);

/* 3.9.2. Any letter case. Address needs room for NicAddressLen bytes of host address. VIP_ERROR_NAMESERVICE:
 * no such name, or no address of this NameIndex (from 0). */
VIPL_API VIP_RETURN VipNSGetHostByName(VIP_NIC_HANDLE NicHandle, VIP_CHAR* Name, VIP_NET_ADDRESS* Address,
                                       VIP_ULONG NameIndex);

/* 3.9.3. NameLen in: bytes at Name; out: length of the name, or on VIP_INVALID_PARAMETER the bytes needed. */
VIPL_API VIP_RETURN VipNSGetHostByAddr(VIP_NIC_HANDLE NicHandle, VIP_NET_ADDRESS* Address, VIP_CHAR* Name,
                                       VIP_ULONG* NameLen);

/* 3.9.4. VIP_ERROR_NAMESERVICE if it is not initialised. */
VIPL_API VIP_RETURN VipNSShutdown(VIP_NIC_HANDLE NicHandle);

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* VIPL_H */
