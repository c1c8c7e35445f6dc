/* A program whose thread has polled a NIC of the local fabric forks; the child polls one of its own, without a fabric.
 * What the thread has learned about how to poll the parent's is of no use there. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "vipl.h"

static int failed(const char* what) {
  fprintf(stderr, "%s does not hold\n", what);
  return 1;
}

/* Polls a receive that nothing comes for, until it is flushed. */
static int poll_on(char* name) {
  VIP_NIC_HANDLE nic = NULL;
  VIP_VI_HANDLE vi = NULL;
  VIP_MEM_HANDLE memory;
  VIP_MEM_ATTRIBUTES plain;
  VIP_VI_ATTRIBUTES attributes;
  VIP_DESCRIPTOR *done, *receive = aligned_alloc(VIP_DESCRIPTOR_ALIGNMENT, sizeof *receive);
  int i;
  memset(&plain, 0, sizeof plain);
  memset(&attributes, 0, sizeof attributes);
  attributes.ReliabilityLevel = VIP_SERVICE_RELIABLE_DELIVERY;
  attributes.MaxTransferSize = 4096;
  if (receive == NULL || VipOpenNic(name, &nic) != VIP_SUCCESS) return failed("VipOpenNic");
  memset(receive, 0, sizeof *receive);
  if (VipRegisterMem(nic, receive, sizeof *receive, &plain, &memory) != VIP_SUCCESS) return failed("VipRegisterMem");
  if (VipCreateVi(nic, &attributes, NULL, NULL, &vi) != VIP_SUCCESS) return failed("VipCreateVi");
  if (VipPostRecv(vi, receive, memory) != VIP_SUCCESS) return failed("VipPostRecv");
  for (i = 0; i < 100; ++i)
    if (VipRecvDone(vi, &done) != VIP_NOT_DONE) return failed("VipRecvDone with nothing there");
  if (VipDisconnect(vi) != VIP_SUCCESS) return failed("VipDisconnect");
  if (VipRecvDone(vi, &done) != VIP_DESCRIPTOR_ERROR || done != receive)
    return failed("VipRecvDone of what was flushed");
  return 0;
}

int main(void) {
  static char fabric[] = "VINIC", loopback[] = "VILO";
  int status = 0;
  pid_t child;
  if (poll_on(fabric) != 0) return 1;
  child = fork();
  if (child == 0) exit(poll_on(loopback));
  if (child < 0 || waitpid(child, &status, 0) != child || status != 0) return failed("the child");
  return 0;
}
