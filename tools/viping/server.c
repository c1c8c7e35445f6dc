/* viping --listen: a thread accepts, the main thread echoes for all clients through one completion queue. */
#define _POSIX_C_SOURCE 200809L
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "viping.h"

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
  pthread_mutex_t mutex; /* guards sessions */
  session* sessions;
  unsigned count;
} server = {.mutex = PTHREAD_MUTEX_INITIALIZER};

static session* find_session(VIP_VI_HANDLE vi) {
  session* found;
  pthread_mutex_lock(&server.mutex);
  for (found = server.sessions; found != NULL && found->vi != vi;) found = found->next;
  pthread_mutex_unlock(&server.mutex);
  return found;
}

static void add_session(session* added) {
  pthread_mutex_lock(&server.mutex);
  added->next = server.sessions;
  server.sessions = added;
  ++server.count;
  pthread_mutex_unlock(&server.mutex);
}

static void close_session(session* closed) {
  session** link;
  pthread_mutex_lock(&server.mutex);
  for (link = &server.sessions; *link != NULL && *link != closed;) link = &(*link)->next;
  if (*link != NULL) {
    *link = closed->next;
    --server.count;
  }
  pthread_mutex_unlock(&server.mutex);
  destroy_vi(closed->vi);
  pool_close(&closed->pool);
  if (!server.job->quiet) printf("%s left, %lu messages answered\n", closed->name, closed->answered);
  free(closed);
}

static int has_room(void) {
  unsigned count;
  pthread_mutex_lock(&server.mutex);
  count = server.count;
  pthread_mutex_unlock(&server.mutex);
  return count < MAX_CLIENTS;
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
  opened->vi = create_vi(server.nic, theirs->ReliabilityLevel, theirs->MaxTransferSize, server.queue);
  pool_open(&opened->pool, server.nic, RECEIVES, length - message_bytes(0));
  for (i = 0; i < RECEIVES; ++i) check(pool_post_receive(&opened->pool, opened->vi, pool_at(&opened->pool, i)), "VipPostRecv");
  return opened;
}

static void take_client(VIP_CONN_HANDLE connection, const VIP_VI_ATTRIBUTES* theirs, const net_address* from) {
  session* opened = has_room() ? open_session(theirs, from) : NULL;
  VIP_RETURN result;
  if (opened == NULL) {
    VipConnectReject(connection);
    return;
  }
  add_session(opened);
  result = VipConnectAccept(connection, opened->vi);
  if (result == VIP_SUCCESS && !server.job->quiet) printf("%s came, %s\n", opened->name, level_text(theirs->ReliabilityLevel));
  if (result != VIP_SUCCESS) {
    say("%s: %s", opened->name, result_text(result));
    VipConnectReject(connection);
    VipDisconnect(opened->vi); /* the flushed receives make the main thread close it */
  }
}

static void* accept_clients(void* unused) {
  for (;;) {
    net_address local, remote;
    VIP_VI_ATTRIBUTES theirs;
    VIP_CONN_HANDLE connection;
    VIP_RETURN result;
    memset(&remote, 0, sizeof remote);
    local_address(server.nic, server.job->discriminator, &local);
    result = VipConnectWait(server.nic, &local.address, VIP_INFINITE, &remote.address, &theirs, &connection);
    if (result == VIP_SUCCESS) take_client(connection, &theirs, &remote);
    else if (result != VIP_TIMEOUT) return unused; /* the NIC is closed */
  }
}

/* ---- echoing --------------------------------------------------------------------------------------------- */

/* 0: the session is over. */
static int serve_completion(session* client, VIP_BOOLEAN received) {
  VIP_DESCRIPTOR* done = NULL;
  const VIP_RETURN result = received ? VipRecvDone(client->vi, &done) : VipSendDone(client->vi, &done);
  if (done == NULL) return 1;
  if (result != VIP_SUCCESS && (done->CS.Status & (VIP_STATUS_DESC_FLUSHED_ERROR | VIP_STATUS_TRANSPORT_ERROR)) != 0) return 0;
  if (received && result == VIP_SUCCESS) {
    ++client->answered;
    return pool_post_send(&client->pool, client->vi, (ping_message*)(void*)done, done->CS.Length) == VIP_SUCCESS;
  }
  return pool_post_receive(&client->pool, client->vi, (ping_message*)(void*)done) == VIP_SUCCESS;
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
    if (VipCQWait(server.queue, 200, &vi, &received) != VIP_SUCCESS) continue;
    client = find_session(vi);
    if (client != NULL && !serve_completion(client, received)) close_session(client);
  }
  while (server.sessions != NULL) close_session(server.sessions);
  return EXIT_DONE; /* the accepter ends with the process */
}
