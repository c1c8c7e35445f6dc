/* The layout of every structure of VI-DG 4 on LP64 hosts: programs that were built against another release of the
 * library go on working. The guide's layout of descriptors (VI-DG 5) is little-endian hardware's and the same
 * everywhere. */
#include <stddef.h>
#include <vipl.h>

#define SIZE(type, bytes) _Static_assert(sizeof(type) == (bytes), "size of " #type)
#define AT(type, member, bytes) _Static_assert(offsetof(type, member) == (bytes), "offset of " #type "." #member);
#define LAYOUT(name, bytes) name##_MEMBERS(AT, VIP_##name) SIZE(VIP_##name, bytes)
/* Nothing follows the last member: no padding in which another release might put something. */
#define LAYOUT_TO_THE_END(name, bytes, last) \
  _Static_assert(sizeof(((VIP_##name*)0)->last) + offsetof(VIP_##name, last) == (bytes), #name " has a tail"); \
  LAYOUT(name, bytes)

/* VI-DG 5.1 to 5.4 */
SIZE(VIP_PVOID64, 8);
/* clang-format off */
#define CONTROL_SEGMENT_MEMBERS(AT, T) \
  AT(T, Next, 0) AT(T, NextHandle, 8) AT(T, SegCount, 12) AT(T, Control, 14) AT(T, Reserved, 16) \
  AT(T, ImmediateData, 20) AT(T, Length, 24) AT(T, Status, 28)
LAYOUT(CONTROL_SEGMENT, 32);
#define ADDRESS_SEGMENT_MEMBERS(AT, T) AT(T, Data, 0) AT(T, Handle, 8) AT(T, Reserved, 12)
LAYOUT(ADDRESS_SEGMENT, 16);
#define DATA_SEGMENT_MEMBERS(AT, T) AT(T, Data, 0) AT(T, Handle, 8) AT(T, Length, 12)
LAYOUT(DATA_SEGMENT, 16);
SIZE(VIP_DESCRIPTOR_SEGMENT, 16);
#define DESCRIPTOR_MEMBERS(AT, T) AT(T, CS, 0) AT(T, Control, 0) AT(T, DS, 32) AT(T, Data, 32)
LAYOUT(DESCRIPTOR, 64);
/* The same member under each name. */
#define SEGMENT_MEMBERS(AT, i, at) \
  AT(VIP_DESCRIPTOR, Data[i].Data, at) AT(VIP_DESCRIPTOR, DS[i].Local.Data, at) AT(VIP_DESCRIPTOR, DS[i].Remote.Data, at) \
  AT(VIP_DESCRIPTOR, Data[i].Handle, at + 8) AT(VIP_DESCRIPTOR, DS[i].Local.Handle, at + 8) \
  AT(VIP_DESCRIPTOR, DS[i].Remote.Handle, at + 8) AT(VIP_DESCRIPTOR, Data[i].Length, at + 12) \
  AT(VIP_DESCRIPTOR, DS[i].Local.Length, at + 12)
SEGMENT_MEMBERS(AT, 0, 32)
SEGMENT_MEMBERS(AT, 1, 48)

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
#define NET_ADDRESS_MEMBERS(AT, T) AT(T, HostAddressLen, 0) AT(T, DiscriminatorLen, 2) AT(T, HostAddress, 4)
LAYOUT(NET_ADDRESS, 6);

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
#define ERROR_DESCRIPTOR_MEMBERS(AT, T) \
  AT(T, NicHandle, 0) AT(T, ViHandle, 8) AT(T, CQHandle, 16) AT(T, DescriptorPtr, 24) AT(T, OpCode, 32) \
  AT(T, ResourceCode, 40) AT(T, ErrorCode, 44)
LAYOUT_TO_THE_END(ERROR_DESCRIPTOR, 48, ErrorCode);

/* VI-DG 4.5 */
#define NIC_ATTRIBUTES_MEMBERS(AT, T) \
  AT(T, Name, 0) AT(T, HardwareVersion, 64) AT(T, ProviderVersion, 72) AT(T, NicAddressLen, 80) \
  AT(T, LocalNicAddress, 88) AT(T, ThreadSafe, 96) AT(T, MaxDiscriminatorLen, 100) AT(T, MaxRegisterBytes, 104) \
  AT(T, MaxRegisterRegions, 112) AT(T, MaxRegisterBlockBytes, 120) AT(T, MaxVI, 128) \
  AT(T, MaxDescriptorsPerQueue, 136) AT(T, MaxSegmentsPerDesc, 144) AT(T, MaxCQ, 152) AT(T, MaxCQEntries, 160) \
  AT(T, MaxTransferSize, 168) AT(T, NativeMTU, 176) AT(T, MaxPtags, 184) AT(T, ReliabilityLevelSupport, 192) \
  AT(T, RDMAReadSupport, 194)
LAYOUT(NIC_ATTRIBUTES, 200);

/* VI-DG 4.6 */
#define VI_ATTRIBUTES_MEMBERS(AT, T) \
  AT(T, ReliabilityLevel, 0) AT(T, MaxTransferSize, 8) AT(T, QoS, 16) AT(T, Ptag, 24) AT(T, EnableRdmaWrite, 32) \
  AT(T, EnableRdmaRead, 36)
LAYOUT_TO_THE_END(VI_ATTRIBUTES, 40, EnableRdmaRead);

/* VI-DG 4.7 */
#define MEM_ATTRIBUTES_MEMBERS(AT, T) AT(T, Ptag, 0) AT(T, EnableRdmaWrite, 8) AT(T, EnableRdmaRead, 12)
LAYOUT_TO_THE_END(MEM_ATTRIBUTES, 16, EnableRdmaRead);

/* VI-DG 3.7.6 */
#define AUTODISCOVERY_LIST_MEMBERS(AT, T) AT(T, NumberOfHops, 0) AT(T, ADAddrArray, 8) AT(T, NumAdAddrs, 16)
LAYOUT_TO_THE_END(AUTODISCOVERY_LIST, 24, NumAdAddrs);
#endif

typedef int not_an_empty_file;
/* clang-format on */
