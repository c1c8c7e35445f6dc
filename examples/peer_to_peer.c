/*
 * peer_to_peer - two equal processes find each other, in whatever order they start, and exchange messages.
 *
 *   peer_to_peer OTHER_HOST [MEETING [COUNT]]
 *
 * Both name each other's host and the same MEETING (the discriminator, "peer_to_peer" unless given). While the other is not there,
 * VipConnectPeerDone says VIP_NOT_DONE, and a program could do other work. Each then sends COUNT (1000) squares, and both print the
 * sum of what they received: the two lines are equal.
 */
#define _POSIX_C_SOURCE 200809L
#include "vipl_util.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { RECEIVES = 4, CONNECT_MS = 30000, TIMEOUT_MS = 10000 };

typedef struct {
  VIP_DESCRIPTOR descriptor;
  uint64_t number;
  uint64_t unused[7]; /* the next descriptor is aligned too */
} slot;
enum { MESSAGE_BYTES = sizeof(uint64_t) };

static void meet(VIP_NIC_HANDLE nic, VIP_VI_HANDLE vi, const char* host, const char* meeting) {
  const struct timespec pause = {0, 1000000};
  vu_address local, remote;
  VIP_VI_ATTRIBUTES theirs;
  VIP_RETURN result;
  unsigned long looks = 0;
  vu_local_address(nic, meeting, &local);
  vu_remote_address(nic, host, meeting, &remote);
  MUST(VipConnectPeerRequest(vi, &local.net, &remote.net, CONNECT_MS));
  for (; (result = VipConnectPeerDone(vi, &theirs)) == VIP_NOT_DONE; ++looks) nanosleep(&pause, NULL);
  MUST(result);
  printf("met %s after %lu looks\n", host, looks);
}

static void post(VIP_VI_HANDLE vi, const vu_memory* memory, slot* message, int receive) {
  vu_describe(&message->descriptor, &message->number, MESSAGE_BYTES, memory->handle);
  MUST(receive ? VipPostRecv(vi, &message->descriptor, memory->handle) : VipPostSend(vi, &message->descriptor, memory->handle));
}

/* In each round both send a number and take the other's, so that none is ever two ahead. */
static uint64_t exchange(VIP_VI_HANDLE vi, const vu_memory* memory, uint64_t count) {
  slot* slots = (slot*)(void*)memory->bytes; /* RECEIVES to receive into, one to send from */
  uint64_t round, sum = 0;
  for (round = 1; round <= count; ++round) {
    VIP_DESCRIPTOR* done;
    slots[RECEIVES].number = round * round;
    post(vi, memory, &slots[RECEIVES], 0);
    MUST(VipSendWait(vi, TIMEOUT_MS, &done));
    MUST(VipRecvWait(vi, TIMEOUT_MS, &done));
    sum += ((slot*)(void*)done)->number;
    post(vi, memory, (slot*)(void*)done, 1);
  }
  return sum;
}

int main(int argc, char** argv) {
  const char* meeting = argc > 2 ? argv[2] : "peer_to_peer";
  const uint64_t count = argc > 3 ? strtoul(argv[3], NULL, 10) : 1000;
  VIP_NIC_HANDLE nic;
  VIP_VI_HANDLE vi;
  vu_memory memory;
  unsigned i;
  if (argc < 2 || argc > 4 || argv[1][0] == '-') {
    const int asked = argc == 2 && strcmp(argv[1], "--help") == 0;
    fputs("usage: peer_to_peer OTHER_HOST [MEETING [COUNT]]\n", asked ? stdout : stderr);
    return asked ? 0 : 2;
  }
  nic = vu_open_nic("VINIC");
  vi = vu_create_vi(nic, VIP_SERVICE_RELIABLE_RECEPTION, NULL, VIP_FALSE);
  memory = vu_register(nic, (RECEIVES + 1) * sizeof(slot), VIP_FALSE);
  for (i = 0; i < RECEIVES; ++i) post(vi, &memory, (slot*)(void*)memory.bytes + i, 1);
  meet(nic, vi, argv[1], meeting);
  printf("sum of %llu numbers: %llu\n", (unsigned long long)count, (unsigned long long)exchange(vi, &memory, count));
  vu_destroy_vi(vi);
  vu_release(nic, &memory);
  vu_close_nic(nic);
  return 0;
}
