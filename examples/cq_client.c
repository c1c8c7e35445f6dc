/* cq_server's client: sends numbered messages and expects each of them back. */
#define _POSIX_C_SOURCE 200809L
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "cq_server.h"

typedef struct {
  VIP_NIC_HANDLE nic;
  VIP_VI_HANDLE vi;
  VIP_MEM_HANDLE handle;
  cq_slot* slots; /* WINDOW to receive, WINDOW to send */
  uint32_t id;
} client;

static void post_receive(client* self, cq_slot* into) {
  describe(&into->descriptor, &into->message, self->handle, sizeof into->message);
  check(VipPostRecv(self->vi, &into->descriptor, self->handle), "VipPostRecv");
}

static void send_number(client* self, uint64_t number, uint32_t last) {
  cq_slot* from = &self->slots[WINDOW + number % WINDOW];
  size_t i;
  memset(&from->message, 0, sizeof from->message);
  from->message.number = number;
  from->message.client = self->id;
  from->message.last = last;
  for (i = 0; i < CONTENT_BYTES; ++i) from->message.content[i] = cq_content(self->id, number, i);
  describe(&from->descriptor, &from->message, self->handle, sizeof from->message);
  check(VipPostSend(self->vi, &from->descriptor, self->handle), "VipPostSend");
}

/* The answer to the oldest message, and that message's own descriptor. */
static void take_answer(client* self, uint64_t number) {
  VIP_DESCRIPTOR *sent, *received;
  const cq_message* answer;
  size_t i;
  check(VipRecvWait(self->vi, WAIT_MS, &received), "answer");
  check(VipSendWait(self->vi, WAIT_MS, &sent), "send");
  answer = &((const cq_slot*)(const void*)received)->message;
  if (answer->number != number || answer->client != self->id)
    die("message %lu: the answer is for another", (unsigned long)number);
  for (i = 0; i < CONTENT_BYTES; ++i)
    if (answer->content[i] != cq_content(self->id, number, i))
      die("message %lu came back changed", (unsigned long)number);
  post_receive(self, (cq_slot*)(void*)received);
}

static void send_all(client* self, const cq_options* chosen) {
  const struct timespec pace = {0, (long)chosen->pace_us * 1000};
  uint64_t sent = 0, answered = 0;
  while (answered < chosen->messages) {
    while (sent < chosen->messages && sent < answered + WINDOW) {
      if (chosen->pace_us != 0) nanosleep(&pace, NULL);
      send_number(self, sent, sent + 1 == chosen->messages);
      ++sent;
    }
    take_answer(self, answered++);
  }
}

int cq_send(const cq_options* chosen) {
  client self;
  unsigned i;
  self.id = (uint32_t)getpid();
  self.nic = open_nic(chosen->common.device);
  self.slots = alloc_registered(self.nic, 2 * WINDOW * sizeof(cq_slot), VIP_FALSE, &self.handle);
  self.vi = create_vi(self.nic, chosen->common.level, VIP_FALSE, NULL);
  for (i = 0; i < WINDOW; ++i) post_receive(&self, &self.slots[i]);
  check(connect_to(self.nic, self.vi, chosen->service, CQ_DEFAULT_NAME, chosen->patience_s * 1000), chosen->service);
  send_all(&self, chosen);
  printf("%lu messages answered\n", chosen->messages);
  destroy_vi(self.vi);
  free_registered(self.nic, self.slots, self.handle);
  check(VipCloseNic(self.nic), "VipCloseNic");
  return EXIT_SUCCESS;
}
