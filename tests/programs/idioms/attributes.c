/* usage: attributes NIC. Prints all that VipQueryNic says, a line each (VI-DG 4.5), and tries that its limits are true:
 * what each allows is done, one more is refused. */
#define _GNU_SOURCE
#include "pair.h"

static VIP_NIC_HANDLE nic;
static VIP_NIC_ATTRIBUTES told;

static VIP_RETURN create_vi(VIP_RELIABILITY_LEVEL level, VIP_ULONG bytes, VIP_BOOLEAN reads) {
  VIP_VI_ATTRIBUTES wanted;
  VIP_VI_HANDLE vi;
  VIP_RETURN result;
  memset(&wanted, 0, sizeof wanted);
  wanted.ReliabilityLevel = level;
  wanted.MaxTransferSize = bytes;
  wanted.EnableRdmaRead = reads;
  result = VipCreateVi(nic, &wanted, NULL, NULL, &vi);
  if (result == VIP_SUCCESS) SUCCEEDS(VipDestroyVi(vi));
  return result;
}

static VIP_RETURN wait_at(VIP_UINT16 discriminator_bytes) {
  union {
    VIP_NET_ADDRESS address;
    char room[256];
  } local;
  char remote_room[256];
  VIP_NET_ADDRESS* const remote = (VIP_NET_ADDRESS*)(void*)remote_room;
  VIP_VI_ATTRIBUTES attributes;
  VIP_CONN_HANDLE connection;
  memset(&local, 0, sizeof local);
  memset(remote_room, 0, sizeof remote_room);
  local.address.HostAddressLen = told.NicAddressLen;
  local.address.DiscriminatorLen = discriminator_bytes;
  memcpy(local.address.HostAddress, told.LocalNicAddress, told.NicAddressLen);
  return VipConnectWait(nic, &local.address, 1, remote, &attributes, &connection);
}

static void try_limits(void) {
  VIP_CQ_HANDLE queue;
  VIP_RELIABILITY_LEVEL level;
  for (level = 1; level <= 4; level = (VIP_RELIABILITY_LEVEL)(level * 2)) {
    REQUIRE((told.ReliabilityLevelSupport & level) != 0);
    require_code(VIP_SUCCESS, create_vi(level, told.MaxTransferSize, VIP_FALSE), "a VI of MaxTransferSize");
    require_code((told.RDMAReadSupport & level) != 0 ? VIP_SUCCESS : VIP_INVALID_RDMAREAD,
                 create_vi(level, told.MaxTransferSize, VIP_TRUE), "RDMA Read");
  }
  require_code(VIP_INVALID_MTU, create_vi(VIP_SERVICE_RELIABLE_DELIVERY, told.MaxTransferSize + 1, VIP_FALSE),
               "above MaxTransferSize");
  SUCCEEDS(VipCreateCQ(nic, told.MaxCQEntries, &queue));
  SUCCEEDS(VipDestroyCQ(queue));
  require_code(VIP_ERROR_RESOURCE, VipCreateCQ(nic, told.MaxCQEntries + 1, &queue), "above MaxCQEntries");
  require_code(VIP_TIMEOUT, wait_at(told.MaxDiscriminatorLen), "a discriminator of MaxDiscriminatorLen");
  require_code(VIP_INVALID_PARAMETER, wait_at((VIP_UINT16)(told.MaxDiscriminatorLen + 1)), "above MaxDiscriminatorLen");
}

#define SAY(name) printf(#name " %lu\n", (unsigned long)told.name)

int main(int count, char** words) {
  int i;
  alarm(60);
  REQUIRE(count == 2);
  SUCCEEDS(VipOpenNic(words[1], &nic));
  SUCCEEDS(VipQueryNic(nic, &told));
  printf("Name %s\nLocalNicAddress ", told.Name);
  for (i = 0; i != told.NicAddressLen; ++i) printf("%02x", told.LocalNicAddress[i]);
  printf("\n");
  SAY(HardwareVersion), SAY(ProviderVersion), SAY(NicAddressLen), SAY(ThreadSafe), SAY(MaxDiscriminatorLen);
  SAY(MaxRegisterBytes), SAY(MaxRegisterRegions), SAY(MaxRegisterBlockBytes), SAY(MaxVI), SAY(MaxDescriptorsPerQueue);
  SAY(MaxSegmentsPerDesc), SAY(MaxCQ), SAY(MaxCQEntries), SAY(MaxTransferSize), SAY(NativeMTU), SAY(MaxPtags);
  SAY(ReliabilityLevelSupport), SAY(RDMAReadSupport);
  try_limits();
  SUCCEEDS(VipCloseNic(nic));
  return 0;
}
