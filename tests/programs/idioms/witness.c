/* Two ends that send each other numbered messages without an end, both at once, until one of them dies. What arrived,
 * and what was acknowledged, stand in files that outlive both.
 *
 * usage: witness server NAME      LEVEL send|write BYTES wait|poll|silent OWN_FILE PEERS_FILE
 *        witness client HOST:NAME LEVEL send|write BYTES wait|poll|silent OWN_FILE PEERS_FILE
 * Message n, from 0, is made of 64-bit words of n + 1. With `send` it goes into the (n % PLACES)-th BYTES of the
 * receiver's file, and the receiver looks at all of it; with `write` an RDMA Write has it there, of which the receiver
 * hears nothing. An end has WINDOW under way, so that none overwrites the last WINDOW that are acknowledged.
 * Both files exist, with room for header and places. An end learns from the peer's file how many receives are posted
 * there, and where its memory lies. Prints "connected", then "lost"; keeps its NIC until its standard input ends. One
 * that is silent sends nothing, and calls nothing of the library once it is connected. */
#define _POSIX_C_SOURCE 200809L
#include <fcntl.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "tools/vip_common/vip_common.h"

enum { WINDOW = 16, PLACES = 2 * WINDOW, HEADER = 4096, PATIENCE_MS = 60000, NAP_MS = 1 };

/* Of an end, in the first page of its file; path_deaths_test.py reads the first four. */
typedef struct {
  _Atomic uint64_t acknowledged; /* of its messages, those that completed */
  _Atomic uint64_t taken;        /* of the peer's (`send`) */
  _Atomic uint64_t wrong;        /* of them: not the next one, or not whole */
  _Atomic uint64_t sent;         /* of its messages, those that were posted */
  _Atomic uint64_t posted;       /* receives, from the first on */
  uint64_t address;              /* of its places, for RDMA Writes */
  uint64_t handle;
} header_t;

static VIP_NIC_HANDLE nic;
static VIP_VI_HANDLE vi;
static VIP_CQ_HANDLE queue;
static VIP_MEM_HANDLE of_descriptors, of_places, of_messages;
static VIP_DESCRIPTOR* descriptors; /* WINDOW to send, WINDOW + 1 to receive */
static header_t *own, *peer;
static char *places, *messages;
static size_t bytes;
static int writes, waits;

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

static VIP_MEM_HANDLE register_memory(void* memory, size_t size) {
  VIP_MEM_ATTRIBUTES writable;
  VIP_MEM_HANDLE handle;
  memset(&writable, 0, sizeof writable);
  writable.EnableRdmaWrite = VIP_TRUE;
  check(VipRegisterMem(nic, memory, size, &writable, &handle), "VipRegisterMem");
  return handle;
}

static void* map_file(const char* path) {
  const size_t size = HEADER + PLACES * bytes;
  const int file = open(path, O_RDWR);
  void* memory = file < 0 ? MAP_FAILED : mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  if (memory == MAP_FAILED) refuse("%s cannot be mapped", path);
  close(file);
  return memory;
}

static void* pages(size_t size) {
  void* memory = aligned_alloc(4096, (size + 4095) / 4096 * 4096);
  if (memory == NULL) exit(EXIT_FAILED);
  memset(memory, 0, size);
  return memory;
}

static void open_all(VIP_RELIABILITY_LEVEL level) {
  char name[] = "VINIC";
  VIP_VI_ATTRIBUTES attributes;
  check(VipOpenNic(name, &nic), "VipOpenNic");
  check(VipNSInit(nic, NULL), "VipNSInit");
  check(VipErrorCallback(nic, NULL, ignore), "VipErrorCallback");
  check(VipCreateCQ(nic, 4 * WINDOW, &queue), "VipCreateCQ");
  descriptors = pages((2 * WINDOW + 1) * sizeof *descriptors);
  messages = pages(WINDOW * bytes);
  of_descriptors = register_memory(descriptors, (2 * WINDOW + 1) * sizeof *descriptors);
  of_messages = register_memory(messages, WINDOW * bytes);
  of_places = register_memory(places, PLACES * bytes);
  own->address = (uint64_t)(uintptr_t)places;
  own->handle = of_places;
  memset(&attributes, 0, sizeof attributes);
  attributes.ReliabilityLevel = level;
  attributes.MaxTransferSize = bytes;
  attributes.EnableRdmaWrite = VIP_TRUE;
  check(VipCreateVi(nic, &attributes, queue, queue, &vi), "VipCreateVi");
}

/* Of one data segment, the last. */
static VIP_DESCRIPTOR* describe(unsigned index, void* data, VIP_MEM_HANDLE handle, unsigned segments) {
  VIP_DESCRIPTOR* one = &descriptors[index];
  VIP_DESCRIPTOR_SEGMENT* local = &one->DS[segments - 1];
  memset(one, 0, sizeof *one);
  one->CS.SegCount = (VIP_UINT16)segments;
  one->CS.Length = local->Local.Length = (VIP_UINT32)bytes;
  local->Local.Data.Address = data;
  local->Local.Handle = handle;
  return one;
}

/* The receive of the peer's next message; with `write` there is one, for which nothing comes. 0: the connection is
 * lost. */
static int post_receive(void) {
  const uint64_t number = atomic_load(&own->posted);
  VIP_DESCRIPTOR* one = describe(WINDOW + (unsigned)(number % WINDOW), places + number % PLACES * bytes, of_places, 1);
  if (VipPostRecv(vi, one, of_descriptors) != VIP_SUCCESS) return 0;
  atomic_store(&own->posted, number + 1);
  return 1;
}

static int is_message(const char* place, uint64_t number) {
  const uint64_t* words = (const uint64_t*)(const void*)place;
  uint64_t differ = 0;
  for (size_t i = 0; i < bytes / sizeof *words; ++i) differ |= words[i] ^ (number + 1);
  return differ == 0;
}

static void fill(char* data, uint64_t number) {
  uint64_t* words = (uint64_t*)(void*)data;
  for (size_t i = 0; i < bytes / sizeof *words; ++i) words[i] = number + 1;
}

/* 0: the connection is lost. */
static int post_message(void) {
  const uint64_t number = atomic_load(&own->sent);
  char* data = messages + number % WINDOW * bytes;
  VIP_DESCRIPTOR* one = describe((unsigned)(number % WINDOW), data, of_messages, writes ? 2 : 1);
  fill(data, number);
  if (writes) {
    one->CS.Control = VIP_CONTROL_OP_RDMAWRITE;
    one->DS[0].Remote.Data.AddressBits = peer->address + number % PLACES * bytes;
    one->DS[0].Remote.Handle = (VIP_MEM_HANDLE)peer->handle;
  }
  if (VipPostSend(vi, one, of_descriptors) != VIP_SUCCESS) return 0;
  atomic_store(&own->sent, number + 1);
  return 1;
}

static int may_post(void) {
  const uint64_t number = atomic_load(&own->sent);
  return number < atomic_load(&own->acknowledged) + WINDOW && (writes || number < atomic_load(&peer->posted));
}

/* The same. */
static int take_message(void) {
  VIP_DESCRIPTOR* done;
  const uint64_t number = atomic_load(&own->taken);
  if (VipRecvDone(vi, &done) != VIP_SUCCESS) return 0;
  if (!is_message(places + number % PLACES * bytes, number)) atomic_fetch_add(&own->wrong, 1);
  atomic_store(&own->taken, number + 1);
  return post_receive();
}

/* The same. */
static int take_acknowledgement(void) {
  VIP_DESCRIPTOR* done;
  if (VipSendDone(vi, &done) != VIP_SUCCESS) return 0;
  atomic_fetch_add(&own->acknowledged, 1);
  return 1;
}

/* Until the connection is lost and all that had come is taken. */
static void talk(void) {
  VIP_VI_HANDLE which;
  VIP_BOOLEAN received;
  for (int lost = 0;;) {
    while (!lost && may_post()) lost = !post_message();
    const VIP_RETURN result = waits ? VipCQWait(queue, NAP_MS, &which, &received) : VipCQDone(queue, &which, &received);
    if (result == VIP_TIMEOUT || result == VIP_NOT_DONE) {
      if (lost) return;
      continue;
    }
    check(result, "VipCQWait");
    if (!(received ? take_message() : take_acknowledgement())) lost = 1;
  }
}

static void accept_one(const char* name) {
  VIP_VI_ATTRIBUTES attributes;
  VIP_CONN_HANDLE request;
  net_address local, client;
  local_address(nic, name, &local);
  memset(&client, 0, sizeof client);
  client.address.HostAddressLen = 16;
  client.address.DiscriminatorLen = 128;
  check(VipConnectWait(nic, &local.address, VIP_INFINITE, &client.address, &attributes, &request), "VipConnectWait");
  check(VipConnectAccept(request, vi), "VipConnectAccept");
}

static void connect_to(const char* service) {
  VIP_VI_ATTRIBUTES attributes;
  net_address local, remote;
  const char* why;
  target to;
  if (!target_from_word(service, 1, &to, &why)) refuse("%s: %s", service, why);
  local_address(nic, "client", &local);
  check(remote_address(nic, to.host, to.discriminator, &remote), "VipNSGetHostByName");
  check(connect_patiently(vi, &local, &remote, PATIENCE_MS, &attributes), "VipConnectRequest");
}

int main(int count, char** words) {
  int i;
  program_name = "witness";
  if (count != 9)
    refuse("usage: witness server|client [HOST:]NAME LEVEL send|write BYTES wait|poll|silent OWN_FILE PEERS_FILE");
  bytes = number_from_word("BYTES", words[5], 8, 1UL << 20) / 8 * 8;
  writes = strcmp(words[4], "write") == 0;
  waits = strcmp(words[6], "wait") == 0;
  own = map_file(words[7]);
  peer = map_file(words[8]);
  places = (char*)own + HEADER;
  open_all(level_from_word(words[3]));
  for (i = 0; i < (writes ? 1 : WINDOW); ++i) check(post_receive() ? VIP_SUCCESS : VIP_ERROR_RESOURCE, "VipPostRecv");
  if (strcmp(words[1], "server") == 0)
    accept_one(words[2]);
  else
    connect_to(words[2]);
  tell("connected");
  if (strcmp(words[6], "silent") != 0) {
    talk();
    tell("lost");
  }
  while (getchar() != EOF) continue;
  return EXIT_DONE;
}
