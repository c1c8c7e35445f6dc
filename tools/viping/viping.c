/*
 * viping - measures round trips of VI messages, through VIPL alone.
 *
 * The client sends a numbered message and waits for its echo; a server echoes for any number of clients.
 */
#define _DEFAULT_SOURCE /* MAP_ANONYMOUS */
#include "viping.h"

#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

static const char usage[] =
    "usage: viping [options] HOST[:DISCRIMINATOR]    sends messages and prints the round trips\n"
    "       viping [options] --listen                answers\n"
    "\n"
    "  -c, --count N              stop after N messages (default: until interrupted)\n"
    "  -i, --interval SECONDS     time between messages (default 1)\n"
    "  -f, --flood                send when the message before came back; print the statistics only\n"
    "  -s, --size BYTES           data in a message, 0 to 1048576 (default 56)\n"
    "  -l, --level LEVEL          unreliable, delivery (default) or reception\n"
    "  -t, --timeout SECONDS      how long to try to connect (default 10)\n"
    "  -W, --wait SECONDS         how long an answer may take before it counts as lost (default 1)\n"
    "  -q, --quiet                print the statistics only\n"
    "  -d, --discriminator TEXT   with --listen: the name that clients give after HOST: (default viping)\n"
    "      --nic NAME             the VI NIC to open (default VINIC)\n"
    "  -h, --help                 this text\n"
    "\n"
    "Exit status: 0 if every message came back, 1 if not or nobody answered, 2 wrong arguments.\n";

volatile sig_atomic_t stop_requested;
static void on_signal(int number) {
  (void)number;
  stop_requested = 1;
}

enum { OPTION_LISTEN = 256, OPTION_NIC };
static const struct option options[] = {{"count", required_argument, NULL, 'c'},
                                        {"interval", required_argument, NULL, 'i'},
                                        {"flood", no_argument, NULL, 'f'},
                                        {"size", required_argument, NULL, 's'},
                                        {"level", required_argument, NULL, 'l'},
                                        {"timeout", required_argument, NULL, 't'},
                                        {"wait", required_argument, NULL, 'W'},
                                        {"quiet", no_argument, NULL, 'q'},
                                        {"discriminator", required_argument, NULL, 'd'},
                                        {"nic", required_argument, NULL, OPTION_NIC},
                                        {"listen", no_argument, NULL, OPTION_LISTEN},
                                        {"help", no_argument, NULL, 'h'},
                                        {NULL, 0, NULL, 0}};

static void take_option(int option, ping_job* job, int* listens) {
  switch (option) {
    case 'c': job->count = number_from_word("--count", optarg, 1, 1000000000); return;
    case 'i': job->interval_ms = milliseconds_from_word("--interval", optarg); return;
    case 'f': job->flood = 1; return;
    case 's': job->payload_bytes = (uint32_t)number_from_word("--size", optarg, 0, MAX_PAYLOAD_BYTES); return;
    case 'l':
      if ((job->level = level_from_word(optarg)) == 0)
        refuse("unknown level '%s': unreliable, delivery or reception expected", optarg);
      return;
    case 't': job->timeout_ms = milliseconds_from_word("--timeout", optarg); return;
    case 'W': job->wait_ms = milliseconds_from_word("--wait", optarg); return;
    case 'q': job->quiet = 1; return;
    case 'd':
      if (optarg[0] == '\0' || strlen(optarg) > 127) refuse("--discriminator: 1 to 127 bytes expected");
      job->discriminator = optarg;
      return;
    case OPTION_NIC: job->device = optarg; return;
    case OPTION_LISTEN: *listens = 1; return;
    case 'h': fputs(usage, stdout); exit(EXIT_DONE);
    default: fprintf(stderr, "Try 'viping --help'.\n"); exit(EXIT_USAGE);
  }
}

static void read_host(int count, char** words, ping_job* job) {
  const char* why = NULL;
  if (count - optind != 1) refuse("HOST[:DISCRIMINATOR] is needed");
  if (!target_from_word(words[optind], 0, &job->to, &why)) refuse("'%s': %s", words[optind], why);
  if (job->to.discriminator[0] != '\0') job->discriminator = job->to.discriminator;
}

static void catch_signals(void) {
  struct sigaction action;
  memset(&action, 0, sizeof action);
  action.sa_handler = on_signal;
  sigaction(SIGINT, &action, NULL);
  sigaction(SIGTERM, &action, NULL);
}

int main(int count, char** words) {
  ping_job job = {.device = "VINIC",
                  .discriminator = "viping",
                  .interval_ms = 1000,
                  .timeout_ms = 10000,
                  .wait_ms = 1000,
                  .payload_bytes = 56,
                  .level = VIP_SERVICE_RELIABLE_DELIVERY};
  int listens = 0, option;
  program_name = "viping";
  setvbuf(stdout, NULL, _IOLBF, 0);
  while ((option = getopt_long(count, words, "c:i:fs:l:t:W:qd:h", options, NULL)) != -1)
    take_option(option, &job, &listens);
  if (listens && count != optind) refuse("--listen takes no HOST");
  if (!listens) read_host(count, words, &job);
  catch_signals();
  return listens ? run_server(&job) : run_client(&job);
}

/* ---- shared ---------------------------------------------------------------------------------------------- */

void check(VIP_RETURN result, const char* what) {
  if (result == VIP_SUCCESS) return;
  say("%s: %s", what, result_text(result));
  exit(EXIT_FAILED);
}

/* A lost connection shows in the descriptors; a message to a full server is lost, and counted as such. */
static void on_error(VIP_PVOID context, VIP_ERROR_DESCRIPTOR* error) {
  (void)context;
  if (error->ErrorCode != VIP_ERROR_CONN_LOST && error->ErrorCode != VIP_ERROR_RECVQ_EMPTY)
    say("%s", error_text(error->ErrorCode));
}

VIP_NIC_HANDLE open_nic(const char* device) {
  VIP_NIC_HANDLE nic;
  check(VipOpenNic(device, &nic), device);
  check(VipErrorCallback(nic, NULL, on_error), "VipErrorCallback");
  check(VipNSInit(nic, NULL), "VipNSInit");
  return nic;
}

VIP_RETURN create_vi(VIP_NIC_HANDLE nic, VIP_RELIABILITY_LEVEL level, VIP_ULONG max_transfer_bytes, VIP_CQ_HANDLE queue,
                     VIP_VI_HANDLE* vi) {
  VIP_VI_ATTRIBUTES attributes;
  memset(&attributes, 0, sizeof attributes);
  attributes.ReliabilityLevel = level;
  attributes.MaxTransferSize = max_transfer_bytes;
  return VipCreateVi(nic, &attributes, queue, queue, vi);
}

uint32_t message_bytes(uint32_t payload_bytes) {
  return (uint32_t)(sizeof(ping_message) - sizeof(VIP_DESCRIPTOR)) + payload_bytes;
}

VIP_RETURN pool_open(message_pool* pool, VIP_NIC_HANDLE nic, unsigned count, uint32_t payload_bytes) {
  VIP_MEM_ATTRIBUTES local = {NULL, VIP_FALSE, VIP_FALSE};
  VIP_RETURN result;
  void* room;
  pool->nic = nic;
  pool->payload_bytes = payload_bytes;
  pool->stride =
      (sizeof(ping_message) + payload_bytes + VIP_DESCRIPTOR_ALIGNMENT - 1) & ~(size_t)(VIP_DESCRIPTOR_ALIGNMENT - 1);
  pool->bytes = count * pool->stride;
  room = mmap(NULL, pool->bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (room == MAP_FAILED) return VIP_ERROR_RESOURCE;
  result = VipRegisterMem(nic, room, pool->bytes, &local, &pool->memory);
  if (result == VIP_SUCCESS)
    pool->room = room;
  else
    munmap(room, pool->bytes);
  return result;
}

void pool_close(message_pool* pool) {
  check(VipDeregisterMem(pool->nic, pool->room, pool->memory), "VipDeregisterMem");
  munmap(pool->room, pool->bytes);
}

ping_message* pool_at(const message_pool* pool, unsigned number) {
  return (ping_message*)(void*)(pool->room + number * pool->stride);
}

static void describe(const message_pool* pool, ping_message* at, uint32_t length) {
  memset(&at->descriptor, 0, sizeof at->descriptor);
  at->descriptor.CS.SegCount = 1;
  at->descriptor.CS.Length = length;
  at->descriptor.DS[0].Local.Data.Address = &at->sequence;
  at->descriptor.DS[0].Local.Handle = pool->memory;
  at->descriptor.DS[0].Local.Length = length;
}

VIP_RETURN pool_post_receive(const message_pool* pool, VIP_VI_HANDLE vi, ping_message* into) {
  describe(pool, into, message_bytes(pool->payload_bytes));
  return VipPostRecv(vi, &into->descriptor, pool->memory);
}

VIP_RETURN pool_post_send(const message_pool* pool, VIP_VI_HANDLE vi, ping_message* from, uint32_t length) {
  describe(pool, from, length);
  return VipPostSend(vi, &from->descriptor, pool->memory);
}
