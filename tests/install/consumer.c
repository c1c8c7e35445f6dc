/* A program of somebody else: vipl.h and -lvipl, and nothing of ours. Succeeds if the library answers as VI-DG 3.1.1
   says. */
#include <stdio.h>
#include <vipl.h>

int main(void) {
  VIP_NIC_HANDLE nic = NULL;
  VIP_RETURN result = VipOpenNic("no such NIC", &nic);
  printf("VipOpenNic: %d\n", (int)result);
  return result == VIP_INVALID_PARAMETER ? 0 : 1;
}
