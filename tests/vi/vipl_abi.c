/* The layout of every structure of VI-DG 4 on LP64 hosts: programs that were built against another release of the library
 * go on working. The guide's layout of descriptors (VI-DG 5) is little-endian hardware's and the same everywhere. */
#include <stddef.h>
#include <vipl.h>

#define SIZE(type, bytes) _Static_assert(sizeof(type) == (bytes), "size of " #type)
#define AT(type, member, bytes) _Static_assert(offsetof(type, member) == (bytes), "offset of " #type "." #member)
#define LAST(type, member) \
  _Static_assert(sizeof(((type*)0)->member) + offsetof(type, member) == sizeof(type), #type " ends with " #member)

/* VI-DG 5.1 to 5.4 */
SIZE(VIP_PVOID64, 8);
SIZE(VIP_CONTROL_SEGMENT, 32);
AT(VIP_CONTROL_SEGMENT, Next, 0);
AT(VIP_CONTROL_SEGMENT, NextHandle, 8);
AT(VIP_CONTROL_SEGMENT, SegCount, 12);
AT(VIP_CONTROL_SEGMENT, Control, 14);
AT(VIP_CONTROL_SEGMENT, Reserved, 16);
AT(VIP_CONTROL_SEGMENT, ImmediateData, 20);
AT(VIP_CONTROL_SEGMENT, Length, 24);
AT(VIP_CONTROL_SEGMENT, Status, 28);
SIZE(VIP_ADDRESS_SEGMENT, 16);
AT(VIP_ADDRESS_SEGMENT, Data, 0);
AT(VIP_ADDRESS_SEGMENT, Handle, 8);
AT(VIP_ADDRESS_SEGMENT, Reserved, 12);
SIZE(VIP_DATA_SEGMENT, 16);
AT(VIP_DATA_SEGMENT, Data, 0);
AT(VIP_DATA_SEGMENT, Handle, 8);
AT(VIP_DATA_SEGMENT, Length, 12);
SIZE(VIP_DESCRIPTOR_SEGMENT, 16);
SIZE(VIP_DESCRIPTOR, 64);
AT(VIP_DESCRIPTOR, CS, 0);
AT(VIP_DESCRIPTOR, Control, 0);
AT(VIP_DESCRIPTOR, DS, 32);
AT(VIP_DESCRIPTOR, Data, 32);

/* VI-DG 4.1, 4.2, 4.4, 4.6, 4.8: what the others are made of */
SIZE(VIP_UINT64, 8);
SIZE(VIP_UINT32, 4);
SIZE(VIP_UINT16, 2);
SIZE(VIP_UINT8, 1);
SIZE(VIP_BOOLEAN, 4);
SIZE(VIP_MEM_HANDLE, 4);
SIZE(VIP_RELIABILITY_LEVEL, 2);
SIZE(VIP_RETURN, 4);
SIZE(VIP_RESOURCE_CODE, 4);
SIZE(VIP_ERROR_CODE, 4);
SIZE(VIP_VI_STATE, 4);

/* VI-DG 4.9 */
SIZE(VIP_NET_ADDRESS, 6);
AT(VIP_NET_ADDRESS, HostAddressLen, 0);
AT(VIP_NET_ADDRESS, DiscriminatorLen, 2);
AT(VIP_NET_ADDRESS, HostAddress, 4);

#if defined(__LP64__)
SIZE(VIP_PVOID, 8);
SIZE(VIP_ULONG, 8);
SIZE(VIP_NIC_HANDLE, 8);
SIZE(VIP_VI_HANDLE, 8);
SIZE(VIP_CQ_HANDLE, 8);
SIZE(VIP_CONN_HANDLE, 8);
SIZE(VIP_PROTECTION_HANDLE, 8);
SIZE(VIP_QOS, 8);

/* VI-DG 4.4 */
SIZE(VIP_ERROR_DESCRIPTOR, 48);
AT(VIP_ERROR_DESCRIPTOR, NicHandle, 0);
AT(VIP_ERROR_DESCRIPTOR, ViHandle, 8);
AT(VIP_ERROR_DESCRIPTOR, CQHandle, 16);
AT(VIP_ERROR_DESCRIPTOR, DescriptorPtr, 24);
AT(VIP_ERROR_DESCRIPTOR, OpCode, 32);
AT(VIP_ERROR_DESCRIPTOR, ResourceCode, 40);
AT(VIP_ERROR_DESCRIPTOR, ErrorCode, 44);
LAST(VIP_ERROR_DESCRIPTOR, ErrorCode);

/* VI-DG 4.5 */
SIZE(VIP_NIC_ATTRIBUTES, 200);
AT(VIP_NIC_ATTRIBUTES, Name, 0);
AT(VIP_NIC_ATTRIBUTES, HardwareVersion, 64);
AT(VIP_NIC_ATTRIBUTES, ProviderVersion, 72);
AT(VIP_NIC_ATTRIBUTES, NicAddressLen, 80);
AT(VIP_NIC_ATTRIBUTES, LocalNicAddress, 88);
AT(VIP_NIC_ATTRIBUTES, ThreadSafe, 96);
AT(VIP_NIC_ATTRIBUTES, MaxDiscriminatorLen, 100);
AT(VIP_NIC_ATTRIBUTES, MaxRegisterBytes, 104);
AT(VIP_NIC_ATTRIBUTES, MaxRegisterRegions, 112);
AT(VIP_NIC_ATTRIBUTES, MaxRegisterBlockBytes, 120);
AT(VIP_NIC_ATTRIBUTES, MaxVI, 128);
AT(VIP_NIC_ATTRIBUTES, MaxDescriptorsPerQueue, 136);
AT(VIP_NIC_ATTRIBUTES, MaxSegmentsPerDesc, 144);
AT(VIP_NIC_ATTRIBUTES, MaxCQ, 152);
AT(VIP_NIC_ATTRIBUTES, MaxCQEntries, 160);
AT(VIP_NIC_ATTRIBUTES, MaxTransferSize, 168);
AT(VIP_NIC_ATTRIBUTES, NativeMTU, 176);
AT(VIP_NIC_ATTRIBUTES, MaxPtags, 184);
AT(VIP_NIC_ATTRIBUTES, ReliabilityLevelSupport, 192);
AT(VIP_NIC_ATTRIBUTES, RDMAReadSupport, 194);

/* VI-DG 4.6 */
SIZE(VIP_VI_ATTRIBUTES, 40);
AT(VIP_VI_ATTRIBUTES, ReliabilityLevel, 0);
AT(VIP_VI_ATTRIBUTES, MaxTransferSize, 8);
AT(VIP_VI_ATTRIBUTES, QoS, 16);
AT(VIP_VI_ATTRIBUTES, Ptag, 24);
AT(VIP_VI_ATTRIBUTES, EnableRdmaWrite, 32);
AT(VIP_VI_ATTRIBUTES, EnableRdmaRead, 36);
LAST(VIP_VI_ATTRIBUTES, EnableRdmaRead);

/* VI-DG 4.7 */
SIZE(VIP_MEM_ATTRIBUTES, 16);
AT(VIP_MEM_ATTRIBUTES, Ptag, 0);
AT(VIP_MEM_ATTRIBUTES, EnableRdmaWrite, 8);
AT(VIP_MEM_ATTRIBUTES, EnableRdmaRead, 12);
LAST(VIP_MEM_ATTRIBUTES, EnableRdmaRead);

/* VI-DG 3.7.6 */
SIZE(VIP_AUTODISCOVERY_LIST, 24);
AT(VIP_AUTODISCOVERY_LIST, NumberOfHops, 0);
AT(VIP_AUTODISCOVERY_LIST, ADAddrArray, 8);
AT(VIP_AUTODISCOVERY_LIST, NumAdAddrs, 16);
LAST(VIP_AUTODISCOVERY_LIST, NumAdAddrs);
#endif

typedef int not_an_empty_file;
