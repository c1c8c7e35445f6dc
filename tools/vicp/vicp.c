/*
 * vicp - copies a file between two NICs of one process, through VIPL alone.
 *
 * A server thread owns the target file and VINIC1, the main thread the source file and VINIC. Blocks travel in
 * registered slots, one descriptor each, at most WINDOW at a time. Each end tells the other about its slots in the
 * first message; each block ends with a message that carries its number, length and checksum.
 *   send:  the block itself is the message;
 *   write: RDMA Write into the server's slot, then the message;
 *   read:  the message, then the server's RDMA Read from the client's slot.
 * The server answers each block, which gives its slot back.
 */
#define _POSIX_C_SOURCE 200809L
#include <errno.h>
#include <getopt.h>
#include <pthread.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "vipl.h"

enum { EXIT_DONE = 0, EXIT_FAILED = 1, EXIT_USAGE = 2 };
enum { WINDOW = 8, BLOCK_BYTES = 65536, DISCRIMINATOR_BYTES = 4, TIMEOUT_MS = 20000, ADDRESS_ROOM = 256 };
typedef enum { MODE_SEND, MODE_WRITE, MODE_READ } mode_kind;

/* What a message says; in send mode the block follows. */
typedef struct {
  uint64_t slots_address; /* first message: where RDMA finds the sender's slots */
  uint32_t slots_handle;
  uint32_t slot;
  uint32_t length; /* of the block; 0 ends the file */
  uint32_t checksum;
  uint64_t total; /* last message: bytes of the file */
} message;

typedef struct {
  VIP_DESCRIPTOR descriptor;
  message head;
  unsigned char block[BLOCK_BYTES];
} __attribute__((aligned(VIP_DESCRIPTOR_ALIGNMENT))) slot;

/* One end of the connection. */
typedef struct {
  VIP_NIC_HANDLE nic;
  VIP_VI_HANDLE vi;
  VIP_MEM_HANDLE memory;
  slot* slots; /* WINDOW to send from, then WINDOW to receive into */
  message peer;
} endpoint;

typedef struct {
  VIP_RELIABILITY_LEVEL level;
  mode_kind mode;
  const char* source;
  const char* target;
  char* temporary;
  pthread_mutex_t mutex;
  pthread_cond_t changed;
  int server_ready;
  VIP_UINT8 server_address[64];
} job;

static const char* const discriminator = "vicp";

static const char* result_text(VIP_RETURN result) {
  static const char* const texts[] = {
      "success",         "not done",   "invalid parameter",       "insufficient resources", "timeout",
      "rejected",        "invalid reliability level", "invalid MTU", "invalid QoS",         "invalid protection tag",
      "no RDMA Read",    "descriptor error", "invalid state",     "name service error",     "nobody waits",
      "not reachable",   "not supported"};
  return (unsigned)result < sizeof texts / sizeof *texts ? texts[result] : "unknown result";
}

static void say(const char* format, ...) __attribute__((format(printf, 1, 2)));
static void say(const char* format, ...) {
  va_list arguments;
  fputs("vicp: ", stderr);
  va_start(arguments, format);
  vfprintf(stderr, format, arguments);
  va_end(arguments);
  fputc('\n', stderr);
}

static job* the_job; /* for fail() alone */

/* Nothing half-written stays; the other thread need not be asked. */
static _Noreturn void fail(const char* what, const char* why) {
  say("%s: %s", what, why);
  if (the_job->temporary != NULL) unlink(the_job->temporary);
  _exit(EXIT_FAILED);
}

static void check(VIP_RETURN result, const char* what) {
  if (result != VIP_SUCCESS) fail(what, result_text(result));
}

/* Adler-32 (RFC 1950 8.2). */
static uint32_t checksum(const unsigned char* bytes, uint32_t length) {
  uint32_t low = 1, high = 0, i;
  for (i = 0; i < length; ++i) {
    low = (low + bytes[i]) % 65521;
    high = (high + low) % 65521;
  }
  return high << 16 | low;
}

/* A lost connection shows in a descriptor too, unless all is over. */
static void on_error(VIP_PVOID context, VIP_ERROR_DESCRIPTOR* error) {
  (void)context;
  if (error->ErrorCode != VIP_ERROR_CONN_LOST) say("asynchronous error %d", (int)error->ErrorCode);
}

/* ---- one end -------------------------------------------------------------------------------------------- */

static void open_endpoint(endpoint* end, const char* device, const job* work) {
  VIP_MEM_ATTRIBUTES memory = {NULL, VIP_TRUE, VIP_TRUE};
  VIP_VI_ATTRIBUTES attributes;
  void* room = NULL;
  memset(&attributes, 0, sizeof attributes);
  attributes.ReliabilityLevel = work->level;
  attributes.MaxTransferSize = BLOCK_BYTES + sizeof(message);
  attributes.EnableRdmaWrite = VIP_TRUE;
  attributes.EnableRdmaRead = work->level == VIP_SERVICE_UNRELIABLE ? VIP_FALSE : VIP_TRUE;
  check(VipOpenNic(device, &end->nic), device);
  check(VipErrorCallback(end->nic, NULL, on_error), "VipErrorCallback");
  if (posix_memalign(&room, VIP_DESCRIPTOR_ALIGNMENT, 2 * WINDOW * sizeof(slot)) != 0) fail("buffers", strerror(ENOMEM));
  memset(room, 0, 2 * WINDOW * sizeof(slot));
  end->slots = room;
  check(VipRegisterMem(end->nic, room, 2 * WINDOW * sizeof(slot), &memory, &end->memory), "VipRegisterMem");
  check(VipCreateVi(end->nic, &attributes, NULL, NULL, &end->vi), "VipCreateVi");
}

static void close_endpoint(endpoint* end) {
  VIP_DESCRIPTOR* left;
  VIP_RETURN result;
  check(VipDisconnect(end->vi), "VipDisconnect");
  do result = VipRecvDone(end->vi, &left);
  while (left != NULL);
  do result = VipSendDone(end->vi, &left);
  while (left != NULL);
  (void)result;
  check(VipDestroyVi(end->vi), "VipDestroyVi");
  check(VipDeregisterMem(end->nic, end->slots, end->memory), "VipDeregisterMem");
  check(VipCloseNic(end->nic), "VipCloseNic");
  free(end->slots);
}

/* Head and block are neighbours in a slot: one data segment. */
static void describe(const endpoint* end, slot* from, uint32_t length) {
  VIP_DESCRIPTOR* descriptor = &from->descriptor;
  memset(descriptor, 0, sizeof *descriptor);
  descriptor->CS.SegCount = 1;
  descriptor->CS.Length = length;
  descriptor->DS[0].Local.Data.Address = &from->head;
  descriptor->DS[0].Local.Handle = end->memory;
  descriptor->DS[0].Local.Length = length;
}

static void post_receive(endpoint* end, slot* into) {
  describe(end, into, (uint32_t)(sizeof(message) + BLOCK_BYTES));
  check(VipPostRecv(end->vi, &into->descriptor, end->memory), "VipPostRecv");
}

static void post_receives(endpoint* end) {
  unsigned i;
  for (i = 0; i < WINDOW; ++i) post_receive(end, &end->slots[WINDOW + i]);
}

static void wait_sent(endpoint* end, const char* what) {
  VIP_DESCRIPTOR* done;
  check(VipSendWait(end->vi, TIMEOUT_MS, &done), what);
}

static void send_message(endpoint* end, slot* from, uint32_t block_bytes) {
  describe(end, from, (uint32_t)sizeof(message) + block_bytes);
  check(VipPostSend(end->vi, &from->descriptor, end->memory), "VipPostSend");
  wait_sent(end, "send");
}

static void send_hello(endpoint* end) {
  message* head = &end->slots[0].head;
  memset(head, 0, sizeof *head);
  head->slots_address = (uint64_t)(uintptr_t)end->slots;
  head->slots_handle = end->memory;
  send_message(end, &end->slots[0], 0);
}

/* Slots are received in posting order. */
static slot* wait_received(endpoint* end) {
  VIP_DESCRIPTOR* done;
  check(VipRecvWait(end->vi, TIMEOUT_MS, &done), "receive");
  return (slot*)(void*)done; /* the descriptor is its first member */
}

static void receive_hello(endpoint* end) {
  slot* from = wait_received(end);
  end->peer = from->head;
  post_receive(end, from);
}

/* Moves the block between this end's slot and the one of the same number at the peer. */
static void move_block(endpoint* end, unsigned number, uint32_t length, VIP_UINT16 operation) {
  slot* here = &end->slots[number];
  VIP_DESCRIPTOR* descriptor = &here->descriptor;
  memset(descriptor, 0, sizeof *descriptor);
  descriptor->CS.SegCount = 2;
  descriptor->CS.Control = operation;
  descriptor->CS.Length = length;
  descriptor->DS[0].Remote.Data.AddressBits =
      end->peer.slots_address + number * sizeof(slot) + offsetof(slot, block);
  descriptor->DS[0].Remote.Handle = end->peer.slots_handle;
  descriptor->DS[1].Local.Data.Address = here->block;
  descriptor->DS[1].Local.Handle = end->memory;
  descriptor->DS[1].Local.Length = length;
  check(VipPostSend(end->vi, descriptor, end->memory), "VipPostSend");
  wait_sent(end, operation == VIP_CONTROL_OP_RDMAREAD ? "RDMA Read" : "RDMA Write");
}

static VIP_NET_ADDRESS* net_address(void* room, const VIP_UINT8* host, VIP_UINT16 host_bytes) {
  VIP_NET_ADDRESS* address = room;
  VIP_UINT8* bytes = (VIP_UINT8*)room + offsetof(VIP_NET_ADDRESS, HostAddress);
  address->HostAddressLen = host_bytes;
  address->DiscriminatorLen = DISCRIMINATOR_BYTES;
  memcpy(bytes, host, host_bytes);
  memcpy(bytes + host_bytes, discriminator, DISCRIMINATOR_BYTES);
  return address;
}

/* ---- server --------------------------------------------------------------------------------------------- */

static void announce_server(job* work, const VIP_NIC_ATTRIBUTES* nic) {
  pthread_mutex_lock(&work->mutex);
  memcpy(work->server_address, nic->LocalNicAddress, nic->NicAddressLen);
  work->server_ready = 1;
  pthread_cond_signal(&work->changed);
  pthread_mutex_unlock(&work->mutex);
}

static void accept_client(endpoint* end, job* work) {
  long local[ADDRESS_ROOM / sizeof(long)], remote[ADDRESS_ROOM / sizeof(long)];
  VIP_NIC_ATTRIBUTES nic;
  VIP_VI_ATTRIBUTES attributes;
  VIP_CONN_HANDLE connection;
  check(VipQueryNic(end->nic, &nic), "VipQueryNic");
  net_address(local, nic.LocalNicAddress, nic.NicAddressLen);
  announce_server(work, &nic);
  check(VipConnectWait(end->nic, (VIP_NET_ADDRESS*)(void*)local, TIMEOUT_MS, (VIP_NET_ADDRESS*)(void*)remote,
                       &attributes, &connection),
        "VipConnectWait");
  check(VipConnectAccept(connection, end->vi), "VipConnectAccept");
}

/* Where the block of this message is, after it was fetched and checked. */
static const unsigned char* take_block(endpoint* end, const job* work, const slot* from) {
  const unsigned char* block = from->block;
  const unsigned number = from->head.slot;
  if (number >= WINDOW || from->head.length > BLOCK_BYTES) fail("block", "the message makes no sense");
  if (work->mode != MODE_SEND) block = end->slots[number].block;
  if (work->mode == MODE_READ) move_block(end, number, from->head.length, VIP_CONTROL_OP_RDMAREAD);
  if (checksum(block, from->head.length) != from->head.checksum) fail("block", "the checksum is wrong");
  return block;
}

static void store_file(endpoint* end, const job* work, FILE* file) {
  uint64_t total = 0;
  for (;;) {
    slot* from = wait_received(end);
    const message head = from->head;
    if (head.length == 0) {
      if (head.total != total) fail(work->target, "the length is wrong");
      send_message(end, &end->slots[0], 0);
      return;
    }
    if (fwrite(take_block(end, work, from), 1, head.length, file) != head.length) fail(work->temporary, strerror(errno));
    total += head.length;
    end->slots[head.slot].head = head;
    post_receive(end, from);
    send_message(end, &end->slots[head.slot], 0);
  }
}

static void* serve(void* argument) {
  job* work = argument;
  FILE* file = fopen(work->temporary, "wb");
  endpoint end;
  if (file == NULL) fail(work->temporary, strerror(errno));
  open_endpoint(&end, "VINIC1", work);
  post_receives(&end);
  accept_client(&end, work);
  receive_hello(&end);
  send_hello(&end);
  store_file(&end, work, file);
  if (fclose(file) != 0) fail(work->temporary, strerror(errno));
  close_endpoint(&end);
  return NULL;
}

/* ---- client --------------------------------------------------------------------------------------------- */

static void connect_to_server(endpoint* end, job* work) {
  long local[ADDRESS_ROOM / sizeof(long)], remote[ADDRESS_ROOM / sizeof(long)];
  VIP_NIC_ATTRIBUTES nic;
  VIP_VI_ATTRIBUTES attributes;
  VIP_RETURN result;
  check(VipQueryNic(end->nic, &nic), "VipQueryNic");
  pthread_mutex_lock(&work->mutex);
  while (!work->server_ready) pthread_cond_wait(&work->changed, &work->mutex);
  pthread_mutex_unlock(&work->mutex);
  do { /* it announces itself just before it waits */
    result = VipConnectRequest(end->vi, net_address(local, nic.LocalNicAddress, nic.NicAddressLen),
                               net_address(remote, work->server_address, nic.NicAddressLen), TIMEOUT_MS, &attributes);
  } while (result == VIP_NO_MATCH);
  check(result, "VipConnectRequest");
}

/* An answer gives the oldest slot back; they come in order. */
static void take_answer(endpoint* end) { post_receive(end, wait_received(end)); }

static void send_block(endpoint* end, const job* work, slot* from, unsigned number, uint32_t length) {
  memset(&from->head, 0, sizeof from->head);
  from->head.slot = number;
  from->head.length = length;
  from->head.checksum = checksum(from->block, length);
  if (work->mode == MODE_WRITE) move_block(end, number, length, VIP_CONTROL_OP_RDMAWRITE);
  send_message(end, from, work->mode == MODE_SEND ? length : 0);
}

static uint64_t send_file(endpoint* end, const job* work, FILE* file) {
  uint64_t total = 0;
  unsigned blocks = 0, answered = 0;
  for (;; ++blocks) {
    slot* from = &end->slots[blocks % WINDOW];
    uint32_t length;
    if (blocks - answered == WINDOW) take_answer(end), ++answered;
    length = (uint32_t)fread(from->block, 1, BLOCK_BYTES, file);
    if (length == 0) break;
    total += length;
    send_block(end, work, from, blocks % WINDOW, length);
  }
  if (ferror(file)) fail(work->source, strerror(errno));
  for (; answered != blocks; ++answered) take_answer(end);
  memset(&end->slots[0].head, 0, sizeof(message));
  end->slots[0].head.total = total;
  send_message(end, &end->slots[0], 0);
  take_answer(end); /* all is stored */
  return total;
}

static uint64_t copy(job* work, FILE* file) {
  pthread_t server;
  endpoint end;
  uint64_t total;
  if (pthread_create(&server, NULL, serve, work) != 0) fail("thread", strerror(EAGAIN));
  open_endpoint(&end, "VINIC", work);
  post_receives(&end);
  connect_to_server(&end, work);
  send_hello(&end);
  receive_hello(&end);
  total = send_file(&end, work, file);
  pthread_join(server, NULL);
  close_endpoint(&end);
  return total;
}

/* ---- command line --------------------------------------------------------------------------------------- */

static const char* const usage =
    "usage: vicp [-l LEVEL] [-m MODE] FILE OUT\n"
    "Copies FILE to OUT between two NICs of this process, through VIPL.\n"
    "  -l LEVEL  unreliable, delivery (default) or reception\n"
    "  -m MODE   send (default), write (RDMA Write) or read (RDMA Read; not with -l unreliable)\n"
    "  --help    this text\n"
    "Exit status: 0 copied, 1 failed, 2 wrong arguments.\n";

static int find_word(const char* word, const char* const* words, int count) {
  int i;
  for (i = 0; i < count; ++i)
    if (strcmp(word, words[i]) == 0) return i;
  return -1;
}

static _Noreturn void refuse(const char* format, const char* word) {
  fputs("vicp: ", stderr);
  fprintf(stderr, strcmp(format, "level") == 0  ? "unknown level '%s': unreliable, delivery or reception expected\n"
                  : strcmp(format, "mode") == 0 ? "unknown mode '%s': send, write or read expected\n"
                                                : "%s\n",
          word);
  fputs(usage, stderr);
  exit(EXIT_USAGE);
}

static void read_arguments(int count, char** words, job* work) {
  static const char* const levels[] = {"unreliable", "delivery", "reception"};
  static const char* const modes[] = {"send", "write", "read"};
  static const struct option options[] = {{"help", no_argument, NULL, 'h'}, {NULL, 0, NULL, 0}};
  int option, found;
  while ((option = getopt_long(count, words, "l:m:h", options, NULL)) != -1) {
    if (option == 'h') {
      fputs(usage, stdout);
      exit(EXIT_DONE);
    } else if (option == 'l') {
      if ((found = find_word(optarg, levels, 3)) < 0) refuse("level", optarg);
      work->level = (VIP_RELIABILITY_LEVEL)(1u << found);
    } else if (option == 'm') {
      if ((found = find_word(optarg, modes, 3)) < 0) refuse("mode", optarg);
      work->mode = (mode_kind)found;
    } else {
      fputs(usage, stderr);
      exit(EXIT_USAGE);
    }
  }
  if (count - optind != 2) refuse("", "FILE and OUT are needed");
  if (work->mode == MODE_READ && work->level == VIP_SERVICE_UNRELIABLE)
    refuse("", "RDMA Read needs a reliable level");
  work->source = words[optind];
  work->target = words[optind + 1];
}

static FILE* open_source(const job* work) {
  struct stat about;
  FILE* file = fopen(work->source, "rb");
  if (file == NULL || fstat(fileno(file), &about) != 0 || S_ISDIR(about.st_mode)) {
    say("%s: %s", work->source, file == NULL ? strerror(errno) : "not a file");
    exit(EXIT_USAGE);
  }
  return file;
}

int main(int count, char** words) {
  job work = {.level = VIP_SERVICE_RELIABLE_DELIVERY, .mutex = PTHREAD_MUTEX_INITIALIZER,
              .changed = PTHREAD_COND_INITIALIZER};
  FILE* file;
  size_t room;
  uint64_t total;
  the_job = &work;
  read_arguments(count, words, &work);
  file = open_source(&work);
  room = strlen(work.target) + 32;
  work.temporary = malloc(room);
  if (work.temporary == NULL) fail("memory", strerror(ENOMEM));
  snprintf(work.temporary, room, "%s.vicp-%ld", work.target, (long)getpid());
  total = copy(&work, file);
  fclose(file);
  if (rename(work.temporary, work.target) != 0) fail(work.target, strerror(errno));
  free(work.temporary);
  printf("%llu bytes copied\n", (unsigned long long)total);
  return EXIT_DONE;
}
