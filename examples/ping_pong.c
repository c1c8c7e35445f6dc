/*
 * ping_pong - how long a message takes between two processes.
 *
 *   one shell:      ping_pong --server
 *   another shell:  ping_pong localhost
 *
 * The client sends a message, the server sends it back, and so on; half of the time of a round is the latency. The
 * receive for the answer is posted before its question is sent, so that there always is one.
 */
#define _POSIX_C_SOURCE 200809L
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "vipl_util.h"

const char* const program_name = "ping_pong";
static const char* const default_name = "ping_pong";
static const char* const usage =
    "usage: ping_pong --server [NAME] [options]\n"
    "       ping_pong HOST[:NAME] [options]\n"
    "Measures the latency of messages between two processes, the client (HOST) and the server.\n"
    "  -n ROUNDS       rounds to measure (default 10000)\n"
    "  -s BYTES        size of a message (default 8)\n"
    "  --poll          poll with VipRecvDone instead of waiting with VipRecvWait\n"
    "  --once          the server ends after its first client\n" COMMON_OPTIONS_TEXT
    "Exit status: 0 all messages came back unchanged, 1 failed, 2 wrong use.\n";

enum { WARM_UP_ROUNDS = 100, MAX_BYTES = 1 << 20 };

typedef struct {
  common_options common;
  const char* service; /* HOST[:NAME] of the client, NAME of the server */
  unsigned long rounds, bytes;
  int server, poll, once;
} options;

/* One VI with a message to send and a message to receive, each behind its descriptor. */
typedef struct {
  VIP_NIC_HANDLE nic;
  VIP_VI_HANDLE vi;
  VIP_MEM_HANDLE handle;
  VIP_DESCRIPTOR* descriptors; /* 0: send, 1: receive */
  unsigned char *out, *in;
  const options* chosen;
} endpoint;

static void open_endpoint(endpoint* end, VIP_NIC_HANDLE nic, const options* chosen) {
  end->nic = nic;
  end->chosen = chosen;
  end->descriptors = alloc_registered(nic, 2 * sizeof(VIP_DESCRIPTOR) + 2 * MAX_BYTES, VIP_FALSE, &end->handle);
  end->out = (unsigned char*)(end->descriptors + 2);
  end->in = end->out + MAX_BYTES;
  end->vi = create_vi(nic, chosen->common.level, VIP_FALSE, NULL);
}

static void close_endpoint(endpoint* end) {
  destroy_vi(end->vi);
  free_registered(end->nic, end->descriptors, end->handle);
}

static void leave_endpoint(endpoint* end) { bury(end->nic, end->vi, end->descriptors, end->handle, NULL, NULL); }

static void post_receive(endpoint* end) {
  describe(&end->descriptors[1], end->in, end->handle, MAX_BYTES);
  check(VipPostRecv(end->vi, &end->descriptors[1], end->handle), "VipPostRecv");
}

static VIP_RETURN send_message(endpoint* end, unsigned long bytes) {
  VIP_DESCRIPTOR* done;
  describe(&end->descriptors[0], end->out, end->handle, (VIP_UINT32)bytes);
  check(VipPostSend(end->vi, &end->descriptors[0], end->handle), "VipPostSend");
  return VipSendWait(end->vi, WAIT_MS, &done);
}

/* The descriptor of the next message; its status says if it is one. */
static VIP_RETURN receive(endpoint* end, VIP_DESCRIPTOR** done) {
  VIP_RETURN result;
  if (!end->chosen->poll) return VipRecvWait(end->vi, WAIT_MS, done);
  do result = VipRecvDone(end->vi, done);
  while (result == VIP_NOT_DONE);
  return result;
}

/* Sends back what comes until the client disconnects, which flushes the receive, or is silent for WAIT_MS. */
static unsigned long answer_client(endpoint* end) {
  unsigned long answered = 0;
  VIP_DESCRIPTOR* done;
  while (receive(end, &done) == VIP_SUCCESS) {
    const VIP_UINT32 length = done->CS.Length;
    memcpy(end->out, end->in, length);
    post_receive(end);
    if (send_message(end, length) != VIP_SUCCESS) break;
    ++answered;
  }
  return answered;
}

/* A client that gives up meanwhile makes room for the next. */
static void await_client(endpoint* end, const char* name) {
  VIP_RETURN result;
  while ((result = accept_client(end->nic, name, VIP_INFINITE, end->vi)) != VIP_SUCCESS) {
    fprintf(stderr, "%s: accept: %s\n", program_name, result_text(result));
    leave_endpoint(end);
    open_endpoint(end, end->nic, end->chosen);
    post_receive(end);
  }
}

static void serve(const options* chosen) {
  const char* name = chosen->service == NULL ? default_name : chosen->service;
  VIP_NIC_HANDLE nic = open_nic(chosen->common.device);
  do {
    endpoint end;
    open_endpoint(&end, nic, chosen);
    post_receive(&end);
    await_client(&end, name);
    printf("%lu messages answered\n", answer_client(&end));
    fflush(stdout);
    leave_endpoint(&end);
  } while (!chosen->once);
  wait_for_burials();
  check(VipCloseNic(nic), "VipCloseNic");
}

static double one_round(endpoint* end, unsigned long number) {
  const size_t bytes = end->chosen->bytes;
  VIP_DESCRIPTOR* done;
  double started;
  memset(end->out, (int)(number & 0xFF), bytes);
  post_receive(end);
  started = now_seconds();
  check(send_message(end, bytes), "send");
  check(receive(end, &done), "answer");
  started = now_seconds() - started;
  if (done->CS.Length != bytes || memcmp(end->in, end->out, bytes) != 0)
    die("round %lu: another message came back", number);
  return started;
}

static int by_size(const void* left, const void* right) {
  const double a = *(const double*)left, b = *(const double*)right;
  return (a > b) - (a < b);
}

static void report(double* seconds, unsigned long rounds, unsigned long bytes) {
  double sum = 0;
  unsigned long i;
  for (i = 0; i < rounds; ++i) sum += seconds[i];
  qsort(seconds, rounds, sizeof *seconds, by_size);
  printf("%lu rounds of %lu bytes; latency in us: least %.2f, mean %.2f, median %.2f, 99%% %.2f, most %.2f\n", rounds,
         bytes, seconds[0] / 2 * 1e6, sum / (double)rounds / 2 * 1e6, seconds[rounds / 2] / 2 * 1e6,
         seconds[rounds - 1 - rounds / 100] / 2 * 1e6, seconds[rounds - 1] / 2 * 1e6);
}

static void measure(const options* chosen) {
  double* seconds = calloc(chosen->rounds, sizeof *seconds);
  VIP_NIC_HANDLE nic = open_nic(chosen->common.device);
  unsigned long i;
  endpoint end;
  if (seconds == NULL) die("no memory");
  open_endpoint(&end, nic, chosen);
  check(connect_to(nic, end.vi, chosen->service, default_name, CONNECT_TIMEOUT_MS), chosen->service);
  for (i = 0; i < WARM_UP_ROUNDS; ++i) one_round(&end, i);
  for (i = 0; i < chosen->rounds; ++i) seconds[i] = one_round(&end, i);
  report(seconds, chosen->rounds, chosen->bytes);
  close_endpoint(&end);
  check(VipCloseNic(nic), "VipCloseNic");
  free(seconds);
}

static options read_options(int count, char** words) {
  enum { SERVER = 1, POLL, ONCE };
  static const struct option known[] = {{"server", no_argument, NULL, SERVER},
                                        {"poll", no_argument, NULL, POLL},
                                        {"once", no_argument, NULL, ONCE},
                                        COMMON_LONG_OPTIONS,
                                        {NULL, 0, NULL, 0}};
  options chosen = {{"VINIC", VIP_SERVICE_RELIABLE_DELIVERY}, NULL, 10000, 8, 0, 0, 0};
  int option;
  while ((option = getopt_long(count, words, "n:s:", known, NULL)) != -1) {
    switch (option) {
      case SERVER: chosen.server = 1; break;
      case POLL: chosen.poll = 1; break;
      case ONCE: chosen.once = 1; break;
      case 'n': chosen.rounds = number_option(optarg, "-n", 1, 100000000); break;
      case 's': chosen.bytes = number_option(optarg, "-s", 0, MAX_BYTES); break;
      default: common_option(option, optarg, &chosen.common, usage);
    }
  }
  if (optind < count) chosen.service = words[optind++];
  if (optind < count || (chosen.service == NULL && !chosen.server)) wrong_use(usage, "one HOST is needed, or --server");
  return chosen;
}

int main(int count, char** words) {
  const options chosen = read_options(count, words);
  if (chosen.server) {
    serve(&chosen);
  } else {
    measure(&chosen);
  }
  return EXIT_SUCCESS;
}
