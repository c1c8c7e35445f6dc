/* viping --listen: a thread accepts, the main thread echoes for all clients through one completion queue; a thread for
 * each client that left waits for what it has to say to that. */
#define _POSIX_C_SOURCE 200809L
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "viping.h"

enum {
  GOODBYES_MS = 2000,       /* so long the end waits for the answers of clients */
  POOLED_BYTES = 512 << 20, /* for the messages of all clients: a client says how large its are */
};

/* A connected client. Its messages take turns: received, echoed, posted again. */
typedef struct session {
  struct session* next;
  VIP_VI_HANDLE vi;
  message_pool pool;
  unsigned long answered;
  char name[256];
} session;

static struct {
  const ping_job* job;
  VIP_NIC_HANDLE nic;
  VIP_CQ_HANDLE queue;
  pthread_mutex_t mutex; /* guards sessions, count, pooled, ending */
  session* sessions;
  size_t pooled;     /* bytes of all pools */
  unsigned count;    /* those in the list, and those that have left it and are not buried yet */
  int ending;        /* nobody comes in any more */
  session* unburied; /* the main thread's: there was no thread to bury them */
} server = {.mutex = PTHREAD_MUTEX_INITIALIZER};

static session* find_session(VIP_VI_HANDLE vi) {
  session* found;
  pthread_mutex_lock(&server.mutex);
  for (found = server.sessions; found != NULL && found->vi != vi;) found = found->next;
  pthread_mutex_unlock(&server.mutex);
  return found;
}

/* 0: the server ends. */
static int add_session(session* added) {
  int taken;
  pthread_mutex_lock(&server.mutex);
  taken = !server.ending;
  if (taken) {
    added->next = server.sessions;
    server.sessions = added;
    ++server.count;
  }
  pthread_mutex_unlock(&server.mutex);
  return taken;
}

/* 0: there is no room for this pool beside the others. */
static int add_pool(const message_pool* added) {
  int taken;
  pthread_mutex_lock(&server.mutex);
  taken = added->bytes <= POOLED_BYTES - server.pooled;
  if (taken) server.pooled += added->bytes;
  pthread_mutex_unlock(&server.mutex);
  return taken;
}

static void remove_pool(message_pool* removed) {
  pthread_mutex_lock(&server.mutex);
  server.pooled -= removed->bytes;
  pthread_mutex_unlock(&server.mutex);
  pool_close(removed);
}

/* From here on there is none that is not in the list. */
static session* first_session_at_the_end(void) {
  session* first;
  pthread_mutex_lock(&server.mutex);
  server.ending = 1;
  first = server.sessions;
  pthread_mutex_unlock(&server.mutex);
  return first;
}

/* 1: it was in the list; whoever is told so buries it. */
static int remove_session(session* removed) {
  session** link;
  int found;
  pthread_mutex_lock(&server.mutex);
  for (link = &server.sessions; *link != NULL && *link != removed;) link = &(*link)->next;
  found = *link != NULL;
  if (found) *link = removed->next;
  pthread_mutex_unlock(&server.mutex);
  return found;
}

/* A client that does not answer may have gone without the fabric's telling: it is asked until it answers or the login
 * with its port ends, which the library sees to when nothing comes from there. */
static void* bury(void* argument) {
  session* dead = argument;
  const struct timespec pause = {1, 0};
  while (!end_vi(dead->vi)) nanosleep(&pause, NULL);
  remove_pool(&dead->pool);
  free(dead);
  pthread_mutex_lock(&server.mutex);
  --server.count;
  pthread_mutex_unlock(&server.mutex);
  return NULL;
}

/* Never by the main thread itself: the others would wait for one that does not answer. */
static void start_burial(session* dead) {
  pthread_t burial;
  if (pthread_create(&burial, NULL, bury, dead) == 0) {
    pthread_detach(burial);
  } else {
    dead->next = server.unburied;
    server.unburied = dead;
  }
}

static void start_burials(void) {
  session* dead = server.unburied;
  server.unburied = NULL;
  while (dead != NULL) {
    session* const next = dead->next;
    start_burial(dead);
    dead = next;
  }
}

static void close_session(session* closed) {
  if (!remove_session(closed)) return;
  if (!server.job->quiet) printf("%s left, %lu messages answered\n", closed->name, closed->answered);
  start_burial(closed);
}

static unsigned session_count(void) {
  unsigned count;
  pthread_mutex_lock(&server.mutex);
  count = server.count;
  pthread_mutex_unlock(&server.mutex);
  return count;
}

/* ---- accepting ------------------------------------------------------------------------------------------- */

static session* open_session(const VIP_VI_ATTRIBUTES* theirs, const net_address* from) {
  const VIP_ULONG most = message_bytes(MAX_PAYLOAD_BYTES);
  const uint32_t length = (uint32_t)(theirs->MaxTransferSize < most ? theirs->MaxTransferSize : most);
  session* opened;
  unsigned i;
  if (length < message_bytes(0)) return NULL; /* no client of ours */
  opened = calloc(1, sizeof *opened);
  if (opened == NULL) return NULL;
  host_name_of(server.nic, from, opened->name, sizeof opened->name);
  if (pool_open(&opened->pool, server.nic, RECEIVES, length - message_bytes(0)) != VIP_SUCCESS)
    return free(opened), NULL;
  if (!add_pool(&opened->pool)) {
    pool_close(&opened->pool);
    return free(opened), NULL;
  }
  if (create_vi(server.nic, theirs->ReliabilityLevel, theirs->MaxTransferSize, server.queue, &opened->vi) !=
      VIP_SUCCESS) {
    remove_pool(&opened->pool);
    return free(opened), NULL;
  }
  for (i = 0; i < RECEIVES; ++i)
    check(pool_post_receive(&opened->pool, opened->vi, pool_at(&opened->pool, i)), "VipPostRecv");
  return opened;
}

/* In the Error state its receives are back, and the main thread closes it; in the Idle state this brings them back, at
   once. */
static void give_up_client(VIP_VI_HANDLE vi) {
  VIP_VI_STATE state;
  VIP_VI_ATTRIBUTES attributes;
  VIP_BOOLEAN send_empty, receive_empty;
  if (VipQueryVi(vi, &state, &attributes, &send_empty, &receive_empty) == VIP_SUCCESS && state == VIP_STATE_IDLE)
    VipDisconnect(vi);
}

static void take_client(VIP_CONN_HANDLE connection, const VIP_VI_ATTRIBUTES* theirs, const net_address* from) {
  session* opened = session_count() < MAX_CLIENTS ? open_session(theirs, from) : NULL;
  char name[sizeof opened->name];
  VIP_VI_HANDLE vi;
  VIP_RETURN result;
  if (opened == NULL) {
    VipConnectReject(connection);
    return;
  }
  snprintf(name, sizeof name, "%s", opened->name); /* the session may end at any time */
  vi = opened->vi;
  if (!add_session(opened)) {
    VipConnectReject(connection); /* the VI ends with the process */
    return;
  }
  result = VipConnectAccept(connection, vi);
  if (result == VIP_SUCCESS && !server.job->quiet) printf("%s came, %s\n", name, level_text(theirs->ReliabilityLevel));
  if (result != VIP_SUCCESS) {
    say("%s: %s", name, result_text(result));
    VipConnectReject(connection);
    give_up_client(vi);
  }
}

static void* accept_clients(void* unused) {
  const struct timespec pause = {0, 100 * 1000 * 1000};
  for (;;) {
    net_address local, remote;
    VIP_VI_ATTRIBUTES theirs;
    VIP_CONN_HANDLE connection;
    VIP_RETURN result;
    memset(&remote, 0, sizeof remote);
    local_address(server.nic, server.job->discriminator, &local);
    result = VipConnectWait(server.nic, &local.address, VIP_INFINITE, &remote.address, &theirs, &connection);
    if (result == VIP_SUCCESS)
      take_client(connection, &theirs, &remote);
    else if (result == VIP_INVALID_PARAMETER)
      return unused; /* the NIC is closed */
    else if (result != VIP_TIMEOUT)
      nanosleep(&pause, NULL); /* no resources just now */
  }
}

/* ---- echoing --------------------------------------------------------------------------------------------- */

/* 0: the session is over. */
static int serve_completion(session* client, VIP_BOOLEAN received) {
  VIP_DESCRIPTOR* done = NULL;
  const VIP_RETURN result = received ? VipRecvDone(client->vi, &done) : VipSendDone(client->vi, &done);
  if (done == NULL) return 1;
  if (result != VIP_SUCCESS && (done->CS.Status & (VIP_STATUS_DESC_FLUSHED_ERROR | VIP_STATUS_TRANSPORT_ERROR)) != 0)
    return 0;
  if (received && result == VIP_SUCCESS) {
    ++client->answered;
    return pool_post_send(&client->pool, client->vi, (ping_message*)(void*)done, done->CS.Length) == VIP_SUCCESS;
  }
  return pool_post_receive(&client->pool, client->vi, (ping_message*)(void*)done) == VIP_SUCCESS;
}

/* Whoever does not answer hears of the process's end from the fabric. */
static void say_goodbye(void) {
  const struct timespec pause = {0, 1000 * 1000};
  const uint64_t deadline = now_ns() + GOODBYES_MS * 1000000ULL;
  session* left;
  while ((left = first_session_at_the_end()) != NULL) close_session(left);
  while (session_count() != 0 && now_ns() < deadline) {
    nanosleep(&pause, NULL);
    start_burials();
  }
}

int run_server(const ping_job* job) {
  pthread_t accepter;
  char name[256];
  net_address own;
  server.job = job;
  server.nic = open_nic(job->device);
  check(VipCreateCQ(server.nic, 2 * RECEIVES * MAX_CLIENTS, &server.queue), "VipCreateCQ");
  local_address(server.nic, "", &own);
  host_name_of(server.nic, &own, name, sizeof name);
  if (pthread_create(&accepter, NULL, accept_clients, NULL) != 0) check(VIP_ERROR_RESOURCE, "thread");
  if (!job->quiet) printf("viping: answering as %s:%s\n", name, job->discriminator);
  while (!stop_requested) {
    VIP_VI_HANDLE vi;
    VIP_BOOLEAN received;
    session* client;
    start_burials();
    if (VipCQWait(server.queue, 200, &vi, &received) != VIP_SUCCESS) continue;
    client = find_session(vi);
    if (client != NULL && !serve_completion(client, received)) close_session(client);
  }
  say_goodbye();
  return EXIT_DONE; /* the accepter ends with the process */
}
