/*
 * cq_server - one completion queue for many clients.
 *
 *   cq_server serve [CLIENTS]        serves until SIGTERM, or until CLIENTS clients came and went; then prints its counts
 *   cq_server client HOST [MESSAGES] sends MESSAGES (1000) numbered messages, at most WINDOW unanswered, and checks the answers
 *
 * The server has one thread that accepts and one that does all the rest: VipCQWait tells it which queue of which VI has
 * something. A client that disconnects or dies shows as flushed descriptors of its VI. No message may be lost: each client
 * numbers its own, the server checks the numbers, and answers only what came in order.
 */
#define _POSIX_C_SOURCE 200809L
#include "vipl_util.h"

#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WINDOW = 8, RECEIVES = WINDOW, SENDS = WINDOW, SLOTS = RECEIVES + SENDS, TIMEOUT_MS = 20000, WORDS = 30, MOST_CLIENTS = 1000 };
static const char* const discriminator = "cq_server";

typedef struct {
  VIP_DESCRIPTOR descriptor;
  uint32_t number, is_last;
  uint32_t words[WORDS];
} slot; /* 192 bytes: the next descriptor is aligned too */
enum { MESSAGE_BYTES = sizeof(slot) - sizeof(VIP_DESCRIPTOR) };

static uint32_t word_of(uint32_t number, unsigned i) { return number * 2654435761u + i * 40503u; }

static void fill(slot* message, uint32_t number) {
  unsigned i;
  message->number = number;
  for (i = 0; i < WORDS; ++i) message->words[i] = word_of(number, i);
}

static int is_intact(const slot* message, uint32_t number) {
  unsigned i;
  for (i = 0; i < WORDS; ++i)
    if (message->words[i] != word_of(number, i)) return 0;
  return message->number == number && message->descriptor.CS.Length == MESSAGE_BYTES;
}

static void post(VIP_VI_HANDLE vi, const vu_memory* memory, slot* message, int receive) {
  vu_describe(&message->descriptor, &message->number, MESSAGE_BYTES, memory->handle);
  MUST(receive ? VipPostRecv(vi, &message->descriptor, memory->handle) : VipPostSend(vi, &message->descriptor, memory->handle));
}

/* ---- server ---------------------------------------------------------------------------------------------- */

/* A client's messages: RECEIVES to receive into, then SENDS to answer from. */
typedef struct session {
  struct session* next;
  VIP_VI_HANDLE vi;
  vu_memory memory;
  uint32_t expected; /* number of its next message */
  int finished;      /* its last message was answered */
} session;

static struct {
  VIP_NIC_HANDLE nic;
  VIP_CQ_HANDLE queue;
  pthread_mutex_t mutex;
  session* sessions; /* guarded by the mutex, as the counts are */
  unsigned long came, finished, died, messages, damaged;
} server = {.mutex = PTHREAD_MUTEX_INITIALIZER};

static volatile sig_atomic_t stop_requested;
static void on_signal(int number) {
  (void)number;
  stop_requested = 1;
}

static slot* slot_of(const session* of, unsigned number) { return (slot*)(void*)of->memory.bytes + number; }

static void prepare(VIP_VI_HANDLE vi, void* context) {
  session* client = context;
  unsigned i;
  client->vi = vi;
  for (i = 0; i < RECEIVES; ++i) post(vi, &client->memory, slot_of(client, i), 1);
  pthread_mutex_lock(&server.mutex); /* from here on its completions may come */
  client->next = server.sessions;
  server.sessions = client;
  pthread_mutex_unlock(&server.mutex);
}

static void* accept_clients(void* unused) {
  for (;;) {
    session* client = calloc(1, sizeof *client);
    if (client == NULL) return unused;
    client->memory = vu_register(server.nic, SLOTS * sizeof(slot), VIP_FALSE);
    vu_accept(server.nic, discriminator, server.queue, VIP_FALSE, prepare, client);
    pthread_mutex_lock(&server.mutex);
    ++server.came;
    pthread_mutex_unlock(&server.mutex);
  }
}

static session* find_session(VIP_VI_HANDLE vi) {
  session* found;
  pthread_mutex_lock(&server.mutex);
  for (found = server.sessions; found != NULL && found->vi != vi;) found = found->next;
  pthread_mutex_unlock(&server.mutex);
  return found;
}

static void close_session(session* closed) {
  session** link;
  pthread_mutex_lock(&server.mutex);
  for (link = &server.sessions; *link != closed;) link = &(*link)->next;
  *link = closed->next;
  if (closed->finished) ++server.finished;
  else ++server.died;
  pthread_mutex_unlock(&server.mutex);
  vu_destroy_vi(closed->vi);
  vu_release(server.nic, &closed->memory);
  free(closed);
}

static void answer(session* client, slot* question) {
  slot* reply = slot_of(client, RECEIVES + client->expected % SENDS); /* free: the client waits for it */
  ++server.messages;
  if (!is_intact(question, client->expected)) ++server.damaged;
  client->finished = question->is_last != 0;
  fill(reply, question->number);
  ++client->expected;
  post(client->vi, &client->memory, question, 1);
  post(client->vi, &client->memory, reply, 0);
}

/* 0: the client is gone. */
static int serve_completion(session* client, VIP_BOOLEAN received) {
  VIP_DESCRIPTOR* done = NULL;
  const VIP_RETURN result = received ? VipRecvDone(client->vi, &done) : VipSendDone(client->vi, &done);
  if (result == VIP_SUCCESS && received) answer(client, (slot*)(void*)done);
  return result == VIP_SUCCESS || done == NULL;
}

static int is_over(unsigned long clients) {
  int over;
  pthread_mutex_lock(&server.mutex);
  over = stop_requested || (clients != 0 && server.finished + server.died >= clients);
  pthread_mutex_unlock(&server.mutex);
  return over;
}

static int serve(unsigned long clients) {
  pthread_t accepter;
  struct sigaction action;
  memset(&action, 0, sizeof action);
  action.sa_handler = on_signal;
  sigaction(SIGTERM, &action, NULL);
  sigaction(SIGINT, &action, NULL);
  server.nic = vu_open_nic("VINIC");
  MUST(VipCreateCQ(server.nic, MOST_CLIENTS * SLOTS, &server.queue));
  if (pthread_create(&accepter, NULL, accept_clients, NULL) != 0) MUST(VIP_ERROR_RESOURCE);
  puts("serving");
  fflush(stdout);
  while (!is_over(clients)) {
    VIP_VI_HANDLE vi;
    VIP_BOOLEAN received;
    session* client;
    if (VipCQWait(server.queue, 100, &vi, &received) != VIP_SUCCESS) continue;
    client = find_session(vi);
    if (client != NULL && !serve_completion(client, received)) close_session(client);
  }
  while (server.sessions != NULL) close_session(server.sessions);
  printf("clients: %lu came, %lu finished, %lu died; messages: %lu, damaged: %lu\n", server.came, server.finished,
         server.died, server.messages, server.damaged);
  return server.damaged == 0 ? 0 : 1;
}

/* ---- client ---------------------------------------------------------------------------------------------- */

static int run_client(const char* host, uint32_t messages) {
  VIP_NIC_HANDLE nic = vu_open_nic("VINIC");
  VIP_VI_HANDLE vi = vu_create_vi(nic, VIP_SERVICE_RELIABLE_DELIVERY, NULL, VIP_FALSE);
  vu_memory memory = vu_register(nic, SLOTS * sizeof(slot), VIP_FALSE);
  slot* slots = (slot*)(void*)memory.bytes;
  uint32_t sent = 0, answered = 0;
  unsigned i;
  for (i = 0; i < RECEIVES; ++i) post(vi, &memory, &slots[i], 1);
  vu_connect(nic, vi, host, discriminator);
  while (answered < messages) {
    VIP_DESCRIPTOR* done;
    for (; sent < messages && sent - answered < WINDOW; ++sent) {
      slot* message = &slots[RECEIVES + sent % SENDS];
      if (sent >= SENDS) MUST(VipSendWait(vi, TIMEOUT_MS, &done)); /* they complete in order */
      fill(message, sent);
      message->is_last = sent + 1 == messages;
      post(vi, &memory, message, 0);
    }
    MUST(VipRecvWait(vi, TIMEOUT_MS, &done));
    if (!is_intact((slot*)(void*)done, answered)) {
      fprintf(stderr, "answer %u is wrong\n", (unsigned)answered);
      return 1;
    }
    ++answered;
    post(vi, &memory, (slot*)(void*)done, 1);
  }
  printf("%u messages answered\n", (unsigned)answered);
  vu_destroy_vi(vi);
  vu_release(nic, &memory);
  vu_close_nic(nic);
  return 0;
}

int main(int argc, char** argv) {
  if (argc >= 2 && argc <= 3 && strcmp(argv[1], "serve") == 0) return serve(argc == 3 ? strtoul(argv[2], NULL, 10) : 0);
  if (argc >= 3 && argc <= 4 && strcmp(argv[1], "client") == 0)
    return run_client(argv[2], argc == 4 ? (uint32_t)strtoul(argv[3], NULL, 10) : 1000);
  fputs("usage: cq_server serve [CLIENTS]\n       cq_server client HOST [MESSAGES]\n",
        argc == 2 && strcmp(argv[1], "--help") == 0 ? stdout : stderr);
  return argc == 2 && strcmp(argv[1], "--help") == 0 ? 0 : 2;
}
