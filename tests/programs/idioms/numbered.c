/* A stream of numbered messages, for tests in which one end dies: what arrived, and what was acknowledged, stand in
 * files that outlive it.
 *
 * usage: numbered sink NIC NAME LEVEL COUNT BYTES FILE PAUSE_MS
 *        numbered source NIC HOST:NAME LEVEL COUNT BYTES FILE
 * The sink receives message n into the n-th BYTES of FILE; it begins to take them after PAUSE_MS. The source writes
 * into FILE how many messages are complete; it exits without VipDisconnect. Both print "connected", then "all", or
 * "lost". */
#define _POSIX_C_SOURCE 200809L
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "tools/vip_common/vip_common.h"

enum { WINDOW = 64, PATIENCE_MS = 60000 };

static VIP_NIC_HANDLE nic;
static VIP_VI_HANDLE vi;
static VIP_RELIABILITY_LEVEL level;
static unsigned long messages, bytes;
static VIP_DESCRIPTOR* descriptors; /* of message n the n % WINDOW-th */
static VIP_MEM_HANDLE of_descriptors, of_data;

static void check(VIP_RETURN result, const char* call) {
  if (result == VIP_SUCCESS) return;
  say("%s: %s", call, result_text(result));
  exit(EXIT_FAILED);
}

static void tell(const char* word) {
  puts(word);
  fflush(stdout);
}

static void ignore(VIP_PVOID context, VIP_ERROR_DESCRIPTOR* error) { (void)context, (void)error; }

static void register_memory(void* memory, size_t size, VIP_MEM_HANDLE* handle) {
  VIP_MEM_ATTRIBUTES plain;
  memset(&plain, 0, sizeof plain);
  check(VipRegisterMem(nic, memory, size, &plain, handle), "VipRegisterMem");
}

static void open_all(const char* name) {
  VIP_VI_ATTRIBUTES attributes;
  check(VipOpenNic(name, &nic), "VipOpenNic");
  check(VipNSInit(nic, NULL), "VipNSInit");
  check(VipErrorCallback(nic, NULL, ignore), "VipErrorCallback");
  descriptors = aligned_alloc(VIP_DESCRIPTOR_ALIGNMENT, WINDOW * sizeof *descriptors);
  memset(descriptors, 0, WINDOW * sizeof *descriptors);
  register_memory(descriptors, WINDOW * sizeof *descriptors, &of_descriptors);
  memset(&attributes, 0, sizeof attributes);
  attributes.ReliabilityLevel = level;
  attributes.MaxTransferSize = bytes;
  check(VipCreateVi(nic, &attributes, NULL, NULL, &vi), "VipCreateVi");
}

static void* map_file(const char* path, size_t size) {
  const int file = open(path, O_RDWR | O_CREAT, 0600);
  void* memory = file < 0 || ftruncate(file, (off_t)size) != 0
                     ? MAP_FAILED
                     : mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  if (memory == MAP_FAILED) exit(EXIT_FAILED);
  close(file);
  return memory;
}

static VIP_DESCRIPTOR* describe(unsigned long number, void* data) {
  VIP_DESCRIPTOR* one = &descriptors[number % WINDOW];
  memset(one, 0, sizeof *one);
  one->CS.SegCount = 1;
  one->CS.Length = one->DS[0].Local.Length = (VIP_UINT32)bytes;
  one->DS[0].Local.Data.Address = data;
  one->DS[0].Local.Handle = of_data;
  return one;
}

static void fill(char* data, unsigned long number) {
  const uint64_t value = number + 1;
  for (unsigned long at = 0; at + sizeof value <= bytes; at += sizeof value) memcpy(data + at, &value, sizeof value);
}

/* 0: the connection is lost. */
static int sink(const char* name, const char* path, unsigned long pause_ms) {
  const struct timespec pause = {(time_t)(pause_ms / 1000), (long)(pause_ms % 1000) * 1000000};
  char* data = map_file(path, messages * bytes);
  unsigned long posted = 0;
  VIP_DESCRIPTOR* done;
  VIP_VI_ATTRIBUTES attributes;
  VIP_CONN_HANDLE request;
  net_address local, client;
  register_memory(data, messages * bytes, &of_data);
  for (; posted < WINDOW && posted < messages; ++posted)
    check(VipPostRecv(vi, describe(posted, data + posted * bytes), of_descriptors), "VipPostRecv");
  local_address(nic, name, &local);
  memset(&client, 0, sizeof client);
  client.address.HostAddressLen = 16;
  client.address.DiscriminatorLen = 128;
  check(VipConnectWait(nic, &local.address, VIP_INFINITE, &client.address, &attributes, &request), "VipConnectWait");
  check(VipConnectAccept(request, vi), "VipConnectAccept");
  tell("connected");
  nanosleep(&pause, NULL);
  for (unsigned long taken = 0; taken < messages; ++taken) {
    if (VipRecvWait(vi, VIP_INFINITE, &done) != VIP_SUCCESS) return 0;
    if (posted == messages) continue;
    if (VipPostRecv(vi, describe(posted, data + posted * bytes), of_descriptors) != VIP_SUCCESS) return 0;
    ++posted;
  }
  return 1;
}

/* The same. */
static int source(const char* service, const char* path) {
  uint64_t* complete = map_file(path, sizeof *complete);
  char* data = aligned_alloc(4096, (WINDOW * bytes + 4095) / 4096 * 4096);
  unsigned long posted = 0;
  const char* why;
  target to;
  VIP_DESCRIPTOR* done;
  VIP_VI_ATTRIBUTES attributes;
  net_address local, remote;
  if (data == NULL || !target_from_word(service, 1, &to, &why)) exit(EXIT_USAGE);
  register_memory(data, WINDOW * bytes, &of_data);
  local_address(nic, "source", &local);
  check(remote_address(nic, to.host, to.discriminator, &remote), "VipNSGetHostByName");
  check(connect_patiently(vi, &local, &remote, PATIENCE_MS, &attributes), "VipConnectRequest");
  tell("connected");
  while (*complete < messages) {
    for (; posted < messages && posted < *complete + WINDOW; ++posted) {
      char* room = data + posted % WINDOW * bytes;
      fill(room, posted);
      if (VipPostSend(vi, describe(posted, room), of_descriptors) != VIP_SUCCESS) return 0;
    }
    if (VipSendWait(vi, VIP_INFINITE, &done) != VIP_SUCCESS) return 0;
    ++*complete;
  }
  return 1;
}

int main(int count, char** words) {
  int whole;
  program_name = "numbered";
  if (count < 8) refuse("usage: numbered sink|source NIC NAME LEVEL COUNT BYTES FILE [PAUSE_MS]");
  level = level_from_word(words[4]);
  messages = number_from_word("COUNT", words[5], 1, 1UL << 32);
  bytes = number_from_word("BYTES", words[6], 8, 1UL << 20);
  open_all(words[2]);
  if (strcmp(words[1], "sink") == 0)
    whole = sink(words[3], words[7], count > 8 ? number_from_word("PAUSE_MS", words[8], 0, 60000) : 0);
  else
    whole = source(words[3], words[7]);
  tell(whole ? "all" : "lost");
  exit(EXIT_DONE);
}
