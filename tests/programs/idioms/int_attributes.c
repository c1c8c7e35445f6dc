/* Programs keep attributes in an int, in which VI-DG's VIP_ULONG once fitted: each is positive there, and no larger
 * than what the NIC really has (VI-DG 4.5). */
#define _GNU_SOURCE
#include "pair.h"

static void fits(int kept, VIP_ULONG told, const char* name) {
  if (kept > 0 && (VIP_ULONG)kept <= told) return;
  fprintf(stderr, "%s: %lu is %d in an int\n", name, told, kept);
  _exit(1);
}
#define FITS(name) fits((int)attributes.name, attributes.name, #name)

int main(void) {
  VIP_NIC_ATTRIBUTES attributes;
  VIP_VI_ATTRIBUTES wanted, found;
  VIP_VI_STATE state;
  VIP_BOOLEAN send_empty, receive_empty;
  VIP_NIC_HANDLE nic;
  VIP_VI_HANDLE vi;
  int mtu;
  alarm(60);
  SUCCEEDS(VipOpenNic("VINIC", &nic));
  SUCCEEDS(VipQueryNic(nic, &attributes));
  FITS(MaxRegisterBytes);
  FITS(MaxRegisterRegions);
  FITS(MaxRegisterBlockBytes);
  FITS(MaxVI);
  FITS(MaxDescriptorsPerQueue);
  FITS(MaxSegmentsPerDesc);
  FITS(MaxCQ);
  FITS(MaxCQEntries);
  FITS(MaxTransferSize);
  FITS(NativeMTU);
  FITS(MaxPtags);
  REQUIRE(attributes.MaxTransferSize <= 0x7FFFFFFF); /* room for a header: the sum is an int, too */
  mtu = (int)attributes.MaxTransferSize + 64;
  REQUIRE(mtu > 64);
  memset(&wanted, 0, sizeof wanted);
  wanted.ReliabilityLevel = VIP_SERVICE_RELIABLE_DELIVERY;
  SUCCEEDS(VipCreateVi(nic, &wanted, NULL, NULL, &vi)); /* the NIC's maximum */
  SUCCEEDS(VipQueryVi(vi, &state, &found, &send_empty, &receive_empty));
  mtu = (int)found.MaxTransferSize;
  REQUIRE(mtu > 0 && (VIP_ULONG)mtu == attributes.MaxTransferSize);
  wanted.MaxTransferSize = attributes.MaxTransferSize + 1;
  require_code(VIP_INVALID_MTU, VipCreateVi(nic, &wanted, NULL, NULL, &vi), "VipCreateVi");
  SUCCEEDS(VipCloseNic(nic));
  return 0;
}
