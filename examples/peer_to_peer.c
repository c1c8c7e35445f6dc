/*
 * peer_to_peer - two equal processes meet and exchange messages.
 *
 *   one shell:      FCVI_NODE=ann peer_to_peer bob
 *   another shell:  FCVI_NODE=bob peer_to_peer ann
 *
 * Neither is the server: both name the other's host and the same meeting point, in any order, and the library joins
 * them. Both send at the same time. At Reliable Reception a send is complete when the message is in the peer's memory,
 * so that a peer whose sends are complete and that has received everything may disconnect.
 */
#define _POSIX_C_SOURCE 200809L
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "vipl_util.h"

const char* const program_name = "peer_to_peer";
static const char* const default_meeting = "peer_to_peer";
static const char* const usage =
    "usage: peer_to_peer HOST[:MEETING] [options]\n"
    "Exchanges messages with another peer_to_peer that names this HOST and the same MEETING.\n"
    "  -n MESSAGES     messages in each direction (default 100)\n"
    "  -t SECONDS      how long to wait for the other peer (default 30)\n" COMMON_OPTIONS_TEXT
    "Exit status: 0 all messages were exchanged, 1 failed, 2 wrong use.\n";

enum { WINDOW = 16 };

typedef struct {
  VIP_DESCRIPTOR descriptor;
  unsigned long number;
  char greeting[VIP_DESCRIPTOR_ALIGNMENT * 2 - sizeof(unsigned long)];
} message;

typedef struct {
  common_options common;
  const char* service;
  unsigned long messages, seconds;
} options;

typedef struct {
  VIP_NIC_HANDLE nic;
  VIP_VI_HANDLE vi;
  VIP_MEM_HANDLE handle;
  message* messages; /* WINDOW to receive, WINDOW to send */
} peer;

static const VIP_UINT32 text_bytes = sizeof(message) - sizeof(VIP_DESCRIPTOR);

static void post_receive(peer* self, message* into) {
  describe(&into->descriptor, &into->number, self->handle, text_bytes);
  check(VipPostRecv(self->vi, &into->descriptor, self->handle), "VipPostRecv");
}

static void send_number(peer* self, unsigned long number) {
  message* from = &self->messages[WINDOW + number % WINDOW];
  from->number = number;
  snprintf(from->greeting, sizeof from->greeting, "message %lu", number);
  describe(&from->descriptor, &from->number, self->handle, text_bytes);
  check(VipPostSend(self->vi, &from->descriptor, self->handle), "VipPostSend");
}

static void take_sent(peer* self) {
  VIP_DESCRIPTOR* done;
  check(VipSendWait(self->vi, WAIT_MS, &done), "send");
}

static void take_received(peer* self, unsigned long expected) {
  char greeting[sizeof self->messages->greeting];
  VIP_DESCRIPTOR* done;
  message* from;
  check(VipRecvWait(self->vi, WAIT_MS, &done), "receive");
  from = (message*)(void*)done; /* the descriptor is its first member */
  snprintf(greeting, sizeof greeting, "message %lu", expected);
  if (from->number != expected || strcmp(from->greeting, greeting) != 0)
    die("message %lu is not as it was sent", expected);
  post_receive(self, from);
}

/* Posts the receives and meets the other peer. */
static void meet(peer* self, const options* chosen) {
  VIP_NET_ADDRESS *local = local_address(self->nic, default_meeting),
                  *remote = remote_address(self->nic, chosen->service, default_meeting);
  VIP_VI_ATTRIBUTES attributes;
  VIP_RETURN result;
  unsigned i;
  for (i = 0; i < WINDOW; ++i) post_receive(self, &self->messages[i]);
  check(VipConnectPeerRequest(self->vi, local, remote, chosen->seconds * 1000), "VipConnectPeerRequest");
  result =
      VipConnectPeerDone(self->vi, &attributes); /* only looks: a program with other work would do that meanwhile */
  if (result == VIP_NOT_DONE) result = VipConnectPeerWait(self->vi, &attributes);
  check(result, chosen->service);
  free(local);
  free(remote);
}

/* At most WINDOW messages are under way: before another one, one of the peer's is taken, for which it has posted a
 * receive again by the time that it takes ours. */
static void exchange(peer* self, unsigned long messages) {
  unsigned long sent = 0, completed = 0, received = 0;
  while (received < messages) {
    while (sent < messages && sent < received + WINDOW / 2) send_number(self, sent++);
    take_received(self, received++);
    while (completed < sent && completed + WINDOW / 2 <= sent) take_sent(self), ++completed;
  }
  for (; completed < messages; ++completed) take_sent(self);
}

static options read_options(int count, char** words) {
  static const struct option known[] = {COMMON_LONG_OPTIONS, {NULL, 0, NULL, 0}};
  options chosen = {{"VINIC", VIP_SERVICE_RELIABLE_RECEPTION}, NULL, 100, 30};
  int option;
  while ((option = getopt_long(count, words, "n:t:", known, NULL)) != -1) {
    switch (option) {
      case 'n': chosen.messages = number_option(optarg, "-n", 1, 100000000); break;
      case 't': chosen.seconds = number_option(optarg, "-t", 1, 86400); break;
      default: common_option(option, optarg, &chosen.common, usage);
    }
  }
  if (optind + 1 != count) wrong_use(usage, "one HOST is needed");
  chosen.service = words[optind];
  return chosen;
}

int main(int count, char** words) {
  const options chosen = read_options(count, words);
  peer self;
  self.nic = open_nic(chosen.common.device);
  self.messages = alloc_registered(self.nic, 2 * WINDOW * sizeof(message), VIP_FALSE, &self.handle);
  self.vi = create_vi(self.nic, chosen.common.level, VIP_FALSE, NULL);
  meet(&self, &chosen);
  exchange(&self, chosen.messages);
  printf("%lu messages exchanged with %s\n", chosen.messages, chosen.service);
  destroy_vi(self.vi);
  free_registered(self.nic, self.messages, self.handle);
  check(VipCloseNic(self.nic), "VipCloseNic");
  return EXIT_SUCCESS;
}
