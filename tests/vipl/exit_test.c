/* Programs call exit() with a thread blocked in VipRecvWait and never close anything: the process ends at once. */
#define _POSIX_C_SOURCE 200809L
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "vipl.h"

static VIP_NIC_HANDLE nic;
static VIP_VI_HANDLE vi;

/* A program's own symbol must not meet one of the library's. */
int sem_post(void* unused);
int sem_post(void* unused) {
  (void)unused;
  abort();
}

static void check(VIP_RETURN result, const char* what) {
  if (result == VIP_SUCCESS) return;
  fprintf(stderr, "%s: %d\n", what, (int)result);
  _exit(1);
}

static void* wait_for_ever(void* unused) {
  VIP_DESCRIPTOR* done;
  (void)unused;
  VipRecvWait(vi, VIP_INFINITE, &done);
  fprintf(stderr, "VipRecvWait returned\n");
  _exit(1);
}

int main(void) {
  static VIP_DESCRIPTOR descriptor __attribute__((aligned(VIP_DESCRIPTOR_ALIGNMENT)));
  const struct timespec pause = {0, 100000000};
  VIP_VI_ATTRIBUTES attributes;
  VIP_MEM_HANDLE memory;
  pthread_t thread;
  memset(&attributes, 0, sizeof attributes);
  attributes.ReliabilityLevel = VIP_SERVICE_RELIABLE_DELIVERY;
  check(VipOpenNic("nic0", &nic), "VipOpenNic");
  check(VipRegisterMem(nic, &descriptor, sizeof descriptor, NULL, &memory), "VipRegisterMem");
  check(VipCreateVi(nic, &attributes, NULL, NULL, &vi), "VipCreateVi");
  check(VipPostRecv(vi, &descriptor, memory), "VipPostRecv");
  if (pthread_create(&thread, NULL, wait_for_ever, NULL) != 0) return 1;
  nanosleep(&pause, NULL);
  alarm(10); /* an exit that waits is killed */
  exit(0);
}
