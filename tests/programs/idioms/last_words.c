/* exit() of a program whose peer does not read: what was reported as sent has to be on its way.
 *
 * usage: last_words sink NAME FILE     FILE becomes memory that the source may write
 *        last_words source HOST:NAME   after SIGUSR1: RDMA Writes until none completes; prints how many did; exits
 * Both print "connected" first, the sink "lost" when the source is gone. */
#define _POSIX_C_SOURCE 200809L
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "tools/vip_common/vip_common.h"

enum { BYTES = 4096, WRITES = 16384, WINDOW = 64, FULL_MS = 500, PATIENCE_MS = 60000 };

/* Where the source writes. */
typedef struct {
  uint64_t address;
  VIP_MEM_HANDLE handle;
} place_t;

static VIP_NIC_HANDLE nic;
static VIP_VI_HANDLE vi;
static VIP_DESCRIPTOR* descriptors;
static VIP_MEM_HANDLE of_descriptors, of_data;
static void* data;

static void check(VIP_RETURN result, const char* call) {
  if (result == VIP_SUCCESS) return;
  say("%s: %s", call, result_text(result));
  exit(EXIT_FAILED);
}

static void ignore(VIP_PVOID context, VIP_ERROR_DESCRIPTOR* error) { (void)context, (void)error; }

static void register_memory(void* memory, size_t size, VIP_MEM_HANDLE* handle) {
  VIP_MEM_ATTRIBUTES writable;
  memset(&writable, 0, sizeof writable);
  writable.EnableRdmaWrite = VIP_TRUE;
  check(VipRegisterMem(nic, memory, size, &writable, handle), "VipRegisterMem");
}

static void open_all(const char* name, size_t size) {
  VIP_VI_ATTRIBUTES attributes;
  check(VipOpenNic(name, &nic), "VipOpenNic");
  check(VipNSInit(nic, NULL), "VipNSInit");
  check(VipErrorCallback(nic, NULL, ignore), "VipErrorCallback");
  descriptors = aligned_alloc(VIP_DESCRIPTOR_ALIGNMENT, WINDOW * sizeof *descriptors);
  if (descriptors == NULL) exit(EXIT_FAILED);
  register_memory(descriptors, WINDOW * sizeof *descriptors, &of_descriptors);
  register_memory(data, size, &of_data);
  memset(&attributes, 0, sizeof attributes);
  attributes.ReliabilityLevel = VIP_SERVICE_RELIABLE_DELIVERY;
  attributes.MaxTransferSize = BYTES;
  attributes.EnableRdmaWrite = VIP_TRUE;
  check(VipCreateVi(nic, &attributes, NULL, NULL, &vi), "VipCreateVi");
}

static VIP_DESCRIPTOR* describe(int index, const place_t* to, VIP_UINT32 length) {
  VIP_DESCRIPTOR* one = &descriptors[index % WINDOW];
  VIP_DESCRIPTOR_SEGMENT* local = &one->DS[to != NULL];
  memset(one, 0, sizeof *one);
  one->CS.Length = local->Local.Length = length;
  one->CS.SegCount = to != NULL ? 2 : 1;
  local->Local.Data.Address = data;
  local->Local.Handle = of_data;
  if (to == NULL) return one;
  one->CS.Control = VIP_CONTROL_OP_RDMAWRITE;
  one->DS[0].Remote.Data.AddressBits = to->address + (uint64_t)index * BYTES;
  one->DS[0].Remote.Handle = to->handle;
  return one;
}

static void sink(const char* name, const char* path) {
  const size_t size = (size_t)WRITES * BYTES;
  const int file = open(path, O_RDWR | O_CREAT, 0600);
  VIP_DESCRIPTOR* done;
  VIP_VI_ATTRIBUTES attributes;
  VIP_CONN_HANDLE request;
  net_address local, client;
  place_t place;
  data = file < 0 || ftruncate(file, (off_t)size) != 0 ? MAP_FAILED
                                                       : mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  if (data == MAP_FAILED) exit(EXIT_FAILED);
  open_all("VINIC", size);
  local_address(nic, name, &local);
  memset(&client, 0, sizeof client);
  client.address.HostAddressLen = 16;
  client.address.DiscriminatorLen = 128;
  check(VipConnectWait(nic, &local.address, VIP_INFINITE, &client.address, &attributes, &request), "VipConnectWait");
  check(VipPostRecv(vi, describe(0, NULL, BYTES), of_descriptors), "VipPostRecv");
  check(VipConnectAccept(request, vi), "VipConnectAccept");
  place.address = (uint64_t)(uintptr_t)data;
  place.handle = of_data;
  memcpy(data, &place, sizeof place);
  check(VipPostSend(vi, describe(1, NULL, sizeof place), of_descriptors), "VipPostSend");
  check(VipSendWait(vi, VIP_INFINITE, &done), "VipSendWait");
  puts("connected");
  fflush(stdout);
  VipRecvWait(vi, VIP_INFINITE, &done);
  puts("lost");
}

static void source(const char* service) {
  unsigned long posted = 0, complete = 0;
  const char* why;
  target to;
  VIP_DESCRIPTOR* done;
  VIP_VI_ATTRIBUTES attributes;
  net_address local, remote;
  place_t place;
  sigset_t go;
  int signal;
  sigemptyset(&go);
  sigaddset(&go, SIGUSR1);
  sigprocmask(SIG_BLOCK, &go, NULL);
  if (!target_from_word(service, 1, &to, &why)) exit(EXIT_USAGE);
  data = aligned_alloc(4096, BYTES);
  if (data == NULL) exit(EXIT_FAILED);
  open_all("VINIC", BYTES);
  local_address(nic, "source", &local);
  check(remote_address(nic, to.host, to.discriminator, &remote), "VipNSGetHostByName");
  check(VipPostRecv(vi, describe(0, NULL, BYTES), of_descriptors), "VipPostRecv");
  check(connect_patiently(vi, &local, &remote, PATIENCE_MS, &attributes), "VipConnectRequest");
  check(VipRecvWait(vi, VIP_INFINITE, &done), "VipRecvWait");
  memcpy(&place, data, sizeof place);
  puts("connected");
  fflush(stdout);
  sigwait(&go, &signal);
  memset(data, 'x', BYTES);
  do {
    for (; posted < complete + WINDOW && posted < WRITES; ++posted)
      check(VipPostSend(vi, describe((int)posted, &place, BYTES), of_descriptors), "VipPostSend");
  } while (VipSendWait(vi, FULL_MS, &done) == VIP_SUCCESS && ++complete < WRITES);
  printf("%lu\n", complete);
  fflush(stdout); /* exit() would do so behind the goodbye */
  exit(EXIT_DONE);
}

int main(int count, char** words) {
  program_name = "last_words";
  if (count == 4 && strcmp(words[1], "sink") == 0) sink(words[2], words[3]);
  if (count == 3 && strcmp(words[1], "source") == 0) source(words[2]);
  exit(count < 3 ? EXIT_USAGE : EXIT_DONE);
}
