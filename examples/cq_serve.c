/* cq_server's server. See cq_server.c for its three threads. */
#define _POSIX_C_SOURCE 200809L
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "cq_server.h"

enum { RECEIVES = WINDOW, SENDS = 2 * WINDOW, SLOTS = RECEIVES + SENDS };
enum { LOOK_UP_MS = 500 }; /* so often a thread that waits looks if it is to stop */

/* One client. While it lives, its messages and descriptors are the worker's. */
typedef struct client {
  VIP_VI_HANDLE vi;
  VIP_MEM_HANDLE handle;
  cq_slot* slots; /* RECEIVES to receive, SENDS to answer */
  cq_slot* free_sends[SENDS];
  unsigned free_count;
  unsigned posted;   /* descriptors that the library has */
  uint64_t expected; /* number of the next message */
  uint32_t id;
  int finished, broken;
  /* Under the server's mutex: */
  int refused;                    /* never connected */
  unsigned holders;               /* acceptor and worker: who still needs it */
  struct client *next, *previous; /* of the list that it is in */
} client;

typedef struct {
  const cq_options* chosen;
  VIP_NIC_HANDLE nic;
  VIP_CQ_HANDLE queue;
  pthread_mutex_t mutex; /* for all that follows */
  pthread_cond_t changed;
  client *living, *dead;
  unsigned long created, destroyed, refused, finished, lost, messages, wrong;
  int stop;
} server;

static volatile sig_atomic_t interrupted;
static void on_signal(int number) {
  (void)number;
  interrupted = 1;
}

/* ---- clients -------------------------------------------------------------------------------------------- */

static void post_receive(client* to, cq_slot* into) {
  describe(&into->descriptor, &into->message, to->handle, sizeof into->message);
  check(VipPostRecv(to->vi, &into->descriptor, to->handle), "VipPostRecv");
  ++to->posted;
}

static client* new_client(server* self) {
  client* created = calloc(1, sizeof *created);
  unsigned i;
  if (created == NULL) die("no memory");
  created->slots = alloc_registered(self->nic, SLOTS * sizeof(cq_slot), VIP_FALSE, &created->handle);
  created->vi = create_vi(self->nic, self->chosen->common.level, VIP_FALSE, self->queue);
  created->holders = 2;
  for (i = 0; i < SLOTS; ++i) created->slots[i].owner = created;
  for (i = 0; i < SENDS; ++i) created->free_sends[created->free_count++] = &created->slots[RECEIVES + i];
  for (i = 0; i < RECEIVES; ++i) post_receive(created, &created->slots[i]);
  pthread_mutex_lock(&self->mutex);
  created->next = self->living;
  if (created->next != NULL) created->next->previous = created;
  self->living = created;
  ++self->created;
  pthread_mutex_unlock(&self->mutex);
  return created;
}

static void count_end(server* self, const client* gone) {
  if (gone->refused) {
    ++self->refused;
  } else if (gone->finished) {
    ++self->finished;
  } else {
    ++self->lost;
    printf("client %lu lost after %lu messages\n", (unsigned long)gone->id, (unsigned long)gone->expected);
  }
}

/* Acceptor and worker, each when it is done with the client: the last one leaves it to the main thread. */
static void let_go(server* self, client* gone, int refused) {
  pthread_mutex_lock(&self->mutex);
  gone->refused |= refused;
  if (--gone->holders == 0) {
    if (gone->next != NULL) gone->next->previous = gone->previous;
    if (gone->previous != NULL) gone->previous->next = gone->next;
    if (self->living == gone) self->living = gone->next;
    gone->next = self->dead;
    self->dead = gone;
    count_end(self, gone);
    pthread_cond_broadcast(&self->changed);
  }
  pthread_mutex_unlock(&self->mutex);
}

/* ---- the acceptor --------------------------------------------------------------------------------------- */

static int stopped(server* self) {
  int stop;
  pthread_mutex_lock(&self->mutex);
  stop = self->stop;
  pthread_mutex_unlock(&self->mutex);
  return stop;
}

/* The completion queue has room for so many clients and no more. */
static void wait_for_room(server* self) {
  pthread_mutex_lock(&self->mutex);
  while (!self->stop && self->created - self->destroyed >= self->chosen->most)
    pthread_cond_wait(&self->changed, &self->mutex);
  pthread_mutex_unlock(&self->mutex);
}

static void* accept_clients(void* argument) {
  server* self = argument;
  const char* name = self->chosen->service == NULL ? CQ_DEFAULT_NAME : self->chosen->service;
  client* next = NULL; /* the VI for the next client, ready before it comes */
  while (!stopped(self)) {
    VIP_CONN_HANDLE request;
    VIP_RETURN result;
    if (next == NULL) {
      wait_for_room(self);
      next = new_client(self);
    }
    result = wait_for_client(self->nic, name, LOOK_UP_MS, &request);
    if (result == VIP_TIMEOUT) continue;
    check(result, "VipConnectWait");
    result = VipConnectAccept(request, next->vi);
    if (result != VIP_SUCCESS) {
      VipConnectReject(request);
      VipDisconnect(next->vi); /* its receives come back flushed, and the worker lets it go */
    }
    let_go(self, next, result != VIP_SUCCESS);
    next = NULL;
  }
  return NULL;
}

/* ---- the worker ----------------------------------------------------------------------------------------- */

static int is_right(const client* from, const cq_message* message) {
  size_t i;
  if (message->number != from->expected || (from->expected != 0 && message->client != from->id)) return 0;
  for (i = 0; i < CONTENT_BYTES; ++i)
    if (message->content[i] != cq_content(message->client, message->number, i)) return 0;
  return 1;
}

static void answer(client* to, const cq_message* message) {
  cq_slot* slot;
  if (to->free_count == 0) return; /* it has sent more than its window, and waits for this answer in vain */
  slot = to->free_sends[--to->free_count];
  slot->message = *message;
  describe(&slot->descriptor, &slot->message, to->handle, sizeof slot->message);
  check(VipPostSend(to->vi, &slot->descriptor, to->handle), "VipPostSend");
  ++to->posted;
}

/* Its receive is posted again before the answer gives the client the right to send another. */
static void take_message(server* self, client* from, cq_slot* slot) {
  const cq_message message = slot->message;
  const int right = is_right(from, &message);
  pthread_mutex_lock(&self->mutex);
  self->messages += (unsigned long)right;
  self->wrong += (unsigned long)!right;
  pthread_mutex_unlock(&self->mutex);
  from->id = message.client;
  from->expected = message.number + 1;
  from->finished |= message.last != 0;
  post_receive(from, slot);
  answer(from, &message);
}

static void take_completion(server* self, VIP_VI_HANDLE vi, VIP_BOOLEAN receive) {
  VIP_DESCRIPTOR* done;
  const VIP_RETURN result = receive ? VipRecvDone(vi, &done) : VipSendDone(vi, &done);
  cq_slot* slot = (cq_slot*)(void*)done; /* the descriptor is its first member */
  client* of;
  if (slot == NULL) die("an entry without a descriptor");
  of = slot->owner;
  --of->posted;
  if (result != VIP_SUCCESS) {
    of->broken = 1; /* disconnected or lost: everything comes back flushed */
  } else if (receive) {
    take_message(self, of, slot);
  } else {
    of->free_sends[of->free_count++] = slot;
  }
  if (of->broken && of->posted == 0) let_go(self, of, 0);
}

static void* work(void* argument) {
  server* self = argument;
  while (!stopped(self)) {
    VIP_VI_HANDLE vi;
    VIP_BOOLEAN receive;
    const VIP_RETURN result = VipCQWait(self->queue, LOOK_UP_MS, &vi, &receive);
    if (result == VIP_TIMEOUT) continue;
    check(result, "VipCQWait");
    take_completion(self, vi, receive);
  }
  return NULL;
}

/* ---- the main thread ------------------------------------------------------------------------------------ */

static unsigned long resident_kib(void) {
  char line[128];
  unsigned long kib = 0;
  FILE* status = fopen("/proc/self/status", "r");
  while (status != NULL && fgets(line, sizeof line, status) != NULL)
    if (sscanf(line, "VmRSS: %lu", &kib) == 1) break;
  if (status != NULL) fclose(status);
  return kib;
}

static void report(server* self, const char* title) {
  pthread_mutex_lock(&self->mutex);
  printf("%s created=%lu destroyed=%lu finished=%lu lost=%lu messages=%lu wrong=%lu rss_kib=%lu\n", title,
         self->created, self->destroyed, self->finished, self->lost, self->messages, self->wrong, resident_kib());
  pthread_mutex_unlock(&self->mutex);
  fflush(stdout);
}

static void count_burial(void* argument) {
  server* self = argument;
  pthread_mutex_lock(&self->mutex);
  ++self->destroyed;
  pthread_cond_broadcast(&self->changed);
  pthread_mutex_unlock(&self->mutex);
}

static void bury_the_dead(server* self) {
  client *dead, *next;
  pthread_mutex_lock(&self->mutex);
  dead = self->dead;
  self->dead = NULL;
  pthread_mutex_unlock(&self->mutex);
  for (; dead != NULL; dead = next) {
    next = dead->next;
    bury(self->nic, dead->vi, dead->slots, dead->handle, count_burial, self);
    free(dead);
  }
}

/* Until a client has died or the second is over. */
static void wait_for_work(server* self) {
  struct timespec until;
  clock_gettime(CLOCK_REALTIME, &until);
  ++until.tv_sec;
  pthread_mutex_lock(&self->mutex);
  while (self->dead == NULL && !interrupted)
    if (pthread_cond_timedwait(&self->changed, &self->mutex, &until) != 0) break;
  pthread_mutex_unlock(&self->mutex);
}

static int is_over(server* self) {
  const unsigned long wanted = self->chosen->clients;
  int over;
  pthread_mutex_lock(&self->mutex);
  over = interrupted || (wanted != 0 && self->destroyed - self->refused >= wanted);
  pthread_mutex_unlock(&self->mutex);
  return over;
}

static void run(server* self) {
  double reported = now_seconds();
  while (!is_over(self)) {
    wait_for_work(self);
    bury_the_dead(self);
    if (now_seconds() - reported < 1) continue;
    reported = now_seconds();
    report(self, "now");
  }
}

static void start(pthread_t* thread, void* (*function)(void*), server* self) {
  if (pthread_create(thread, NULL, function, self) != 0) die("no thread");
}

/* The threads first; closing the NIC then ends the connections that are left. */
static int finish(server* self, pthread_t worker, pthread_t acceptor) {
  client* next;
  pthread_mutex_lock(&self->mutex);
  self->stop = 1;
  pthread_cond_broadcast(&self->changed);
  pthread_mutex_unlock(&self->mutex);
  pthread_join(acceptor, NULL);
  pthread_join(worker, NULL);
  bury_the_dead(self);
  wait_for_burials();
  check(VipCloseNic(self->nic), "VipCloseNic");
  for (; self->living != NULL; self->living = next) {
    next = self->living->next;
    free(self->living->slots);
    free(self->living);
  }
  report(self, "end");
  return self->wrong == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}

int cq_serve(const cq_options* chosen) {
  server self;
  pthread_t worker, acceptor;
  const struct sigaction stop = {.sa_handler = on_signal};
  memset(&self, 0, sizeof self);
  self.chosen = chosen;
  pthread_mutex_init(&self.mutex, NULL);
  pthread_cond_init(&self.changed, NULL);
  sigaction(SIGINT, &stop, NULL);
  sigaction(SIGTERM, &stop, NULL);
  self.nic = open_nic(chosen->common.device);
  check(VipCreateCQ(self.nic, chosen->most * SLOTS, &self.queue), "VipCreateCQ");
  start(&worker, work, &self);
  start(&acceptor, accept_clients, &self);
  report(&self, "ready");
  run(&self);
  return finish(&self, worker, acceptor);
}
