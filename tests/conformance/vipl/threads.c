/* VI-DG 2.3, 6.4: several threads. Different queues and VIs may be used at once with every library; one queue
 * by several threads with one that is thread-safe. */
#include <semaphore.h>
#include <stdatomic.h>
#include <string.h>

#include "far.h"
#include "options.h"

enum { THREADS = 4, ROUNDS = 200 };

static VIP_VI_HANDLE thread_vis[THREADS];

/* A client and a server VI in this process, connected. */
static VIP_VI_HANDLE accepting_vi;
static Address accepting_address;
static void* accept_one(void* unused) {
  Address client;
  VIP_VI_ATTRIBUTES attributes;
  VIP_CONN_HANDLE connection;
  (void)unused;
  EXPECT(VIP_SUCCESS, VipConnectWait, near.nic, &accepting_address.net, VIP_INFINITE, &client.net, &attributes,
         &connection);
  EXPECT(VIP_SUCCESS, VipConnectAccept, connection, accepting_vi);
  return NULL;
}

static void connect_here(VIP_VI_HANDLE client, VIP_VI_HANDLE server) {
  Address local = fresh_address(&near.attributes);
  VIP_VI_ATTRIBUTES attributes;
  accepting_vi = server;
  accepting_address = fresh_address(&near.attributes);
  pthread_t thread = start_thread(accept_one, NULL);
  expect_code(__FILE__, __LINE__, ID_VipConnectRequest, VIP_SUCCESS,
              request_until_matched(client, &local, &accepting_address, VIP_INFINITE, &attributes));
  join_thread(thread);
}

/* ---- Each thread has VIs of its own ------------------------------------------------------------------ */

static void* ping(void* argument) {
  const unsigned index = *(const unsigned*)argument;
  VIP_VI_HANDLE client = idle_vi(), server = thread_vis[index];
  const unsigned slot = index * 8;
  const size_t offset = index * 10000UL;
  static pthread_mutex_t connecting = PTHREAD_MUTEX_INITIALIZER;
  pthread_mutex_lock(&connecting); /* connect_here has one server's address */
  connect_here(client, server);
  pthread_mutex_unlock(&connecting);
  for (unsigned round = 0; round < ROUNDS; ++round) {
    post_receive(server, message(slot, offset, 1000));
    fill(data_at(&near, offset + 5000), 1000, round);
    post_send(client, message(slot + 1, offset + 5000, 1000));
    reap_receive(server, slot, 0, VIP_STATUS_OP_RECEIVE);
    reap_send(client, slot + 1, 0, VIP_STATUS_OP_SEND);
    CHECK(is_filled(data_at(&near, offset), 1000, round), "thread %u got another content", index);
  }
  return NULL;
}

static void own_vis(int unused) {
  static unsigned indices[THREADS];
  pthread_t threads[THREADS];
  (void)unused;
  for (unsigned i = 0; i < THREADS; ++i) {
    indices[i] = i;
    thread_vis[i] = idle_vi();
  }
  for (unsigned i = 0; i < THREADS; ++i) threads[i] = start_thread(ping, &indices[i]);
  for (unsigned i = 0; i < THREADS; ++i) join_thread(threads[i]);
}

/* ---- One thread sends on a VI, another receives on it ------------------------------------------------ */

static sem_t credits; /* receives at the other end */

static void* send_all(void* vi) {
  for (unsigned round = 0; round < ROUNDS * 8; ++round) {
    waiting_for(__FILE__, __LINE__, "waits for an answer");
    sem_wait(&credits);
    waiting_for(NULL, 0, NULL);
    post_send(vi, message(round % 8, 0, 500));
    reap_send(vi, round % 8, 0, VIP_STATUS_OP_SEND);
  }
  return NULL;
}

static void two_queues(int unused) {
  enum { WINDOW = 16, TOTAL = ROUNDS * 8 };
  VIP_VI_HANDLE vi = idle_vi(), other = idle_vi();
  (void)unused;
  for (unsigned i = 0; i < WINDOW; ++i) {
    post_receive(vi, message(16 + i, 10000, 500));
    post_receive(other, message(32 + i, 20000, 500));
  }
  connect_here(vi, other);
  sem_init(&credits, 0, WINDOW);
  pthread_t thread = start_thread(send_all, vi);
  for (unsigned round = 0; round < TOTAL; ++round) {
    VIP_DESCRIPTOR* done = NULL;
    EXPECT(VIP_SUCCESS, VipRecvWait, other, VIP_INFINITE, &done);
    EXPECT(VIP_SUCCESS, VipPostRecv, other, done, near.handle);
    post_send(other, message(8, 0, 500));
    reap_send(other, 8, 0, VIP_STATUS_OP_SEND);
    EXPECT(VIP_SUCCESS, VipRecvWait, vi, VIP_INFINITE, &done);
    EXPECT(VIP_SUCCESS, VipPostRecv, vi, done, near.handle);
    sem_post(&credits);
  }
  join_thread(thread);
}

/* ---- Several threads on one queue -------------------------------------------------------------------- */

static void need_thread_safety(void) {
  near_open();
  if (!near.attributes.ThreadSafe) skip("the library is not thread-safe: no two threads may use one queue");
}

static _Atomic unsigned taken[SLOTS];

static void* take_receives(void* vi) {
  for (;;) {
    VIP_DESCRIPTOR* done = NULL;
    const VIP_RETURN code = CALL(VipRecvWait, vi, VIP_INFINITE, &done);
    if (done == NULL) return NULL; /* the queue is empty: all were taken */
    expect_code(__FILE__, __LINE__, ID_VipRecvWait, VIP_SUCCESS, code);
    ++taken[slot_of(&near, done)];
  }
}

/* Threads wait on one queue: each descriptor goes to one of them. */
static void one_queue(int unused) {
  enum { COUNT = 48 };
  pthread_t threads[THREADS];
  (void)unused;
  need_thread_safety();
  VIP_VI_HANDLE vi = make_pair(VIP_SERVICE_RELIABLE_DELIVERY);
  for (unsigned slot = 0; slot < COUNT; ++slot) post_receive(vi, message(slot, slot * 100, 100));
  for (unsigned i = 0; i < THREADS; ++i) threads[i] = start_thread(take_receives, vi);
  for (unsigned slot = 0; slot < COUNT; ++slot) far_post_send(0, message(slot, 0, 100));
  for (unsigned i = 0; i < THREADS; ++i) join_thread(threads[i]);
  for (unsigned slot = 0; slot < COUNT; ++slot)
    CHECK(taken[slot] == 1, "a descriptor was returned %u times", taken[slot]);
}

static void* post_many(void* argument) {
  const unsigned index = *(const unsigned*)argument;
  for (unsigned i = 0; i < 10; ++i) post_send(thread_vis[0], message(index * 10 + i, 0, 100));
  return NULL;
}

/* Threads post on one queue: every descriptor comes back once. */
static void one_send_queue(int unused) {
  static unsigned indices[THREADS];
  pthread_t threads[THREADS];
  (void)unused;
  need_thread_safety();
  VIP_VI_HANDLE vi = make_pair(VIP_SERVICE_RELIABLE_DELIVERY);
  thread_vis[0] = vi;
  for (unsigned slot = 0; slot < 10 * THREADS; ++slot) far_post_receive(0, message(slot, 0, 100));
  for (unsigned i = 0; i < THREADS; ++i) {
    indices[i] = i;
    threads[i] = start_thread(post_many, &indices[i]);
  }
  for (unsigned i = 0; i < THREADS; ++i) join_thread(threads[i]);
  for (unsigned i = 0; i < 10 * THREADS; ++i) {
    VIP_DESCRIPTOR* done = NULL;
    EXPECT(VIP_SUCCESS, VipSendWait, vi, VIP_INFINITE, &done);
    ++taken[slot_of(&near, done)];
  }
  for (unsigned slot = 0; slot < 10 * THREADS; ++slot)
    CHECK(taken[slot] == 1, "a descriptor was returned %u times", taken[slot]);
}

/* ---- Resources --------------------------------------------------------------------------------------- */

/* Opening, registering, creating and destroying are safe in every library (2.3). */
static void* make_resources(void* unused) {
  (void)unused;
  for (int round = 0; round < 50; ++round) {
    Node node = {.mutex = PTHREAD_MUTEX_INITIALIZER};
    node_open(&node, options.nic);
    VIP_VI_HANDLE vi = create_vi(&node, VIP_SERVICE_RELIABLE_DELIVERY, NULL, NULL);
    CHECK(vi_state(vi) == VIP_STATE_IDLE, "a new VI is not Idle");
    EXPECT(VIP_SUCCESS, VipDestroyVi, vi);
    node_close(&node);
  }
  return NULL;
}

static void resources(int unused) {
  pthread_t threads[THREADS];
  (void)unused;
  for (unsigned i = 0; i < THREADS; ++i) threads[i] = start_thread(make_resources, NULL);
  for (unsigned i = 0; i < THREADS; ++i) join_thread(threads[i]);
}

/* Two opens of one NIC, used at once: one thread waits for a completion that the other one causes. */
static void* wait_on_queue(void* queue) {
  VIP_VI_HANDLE vi;
  VIP_BOOLEAN receive_queue;
  EXPECT(VIP_SUCCESS, VipCQWait, queue, VIP_INFINITE, &vi, &receive_queue);
  return NULL;
}

static void two_opens(int unused) {
  VIP_NIC_HANDLE other;
  VIP_CQ_HANDLE queue;
  (void)unused;
  near_open();
  EXPECT(VIP_SUCCESS, VipOpenNic, options.nic, &other);
  EXPECT(VIP_SUCCESS, VipCreateCQ, other, 16, &queue);
  pthread_t thread = start_thread(wait_on_queue, queue);
  VIP_VI_ATTRIBUTES attributes = vi_attributes(&near, VIP_SERVICE_RELIABLE_DELIVERY);
  VIP_PROTECTION_HANDLE tag;
  VIP_MEM_ATTRIBUTES memory = memory_attributes(&near);
  VIP_MEM_HANDLE handle;
  VIP_VI_HANDLE vi;
  EXPECT(VIP_SUCCESS, VipCreatePtag, other, &tag);
  attributes.Ptag = memory.Ptag = tag;
  EXPECT(VIP_SUCCESS, VipRegisterMem, other, near.memory, SLOTS * SLOT_BYTES, &memory, &handle);
  EXPECT(VIP_SUCCESS, VipCreateVi, other, &attributes, queue, NULL, &vi);
  make_pair(VIP_SERVICE_RELIABLE_DELIVERY);                        /* meanwhile the first open is used */
  EXPECT(VIP_SUCCESS, VipPostSend, vi, slot_at(&near, 0), handle); /* in error at once: a completion */
  join_thread(thread);
  EXPECT(VIP_SUCCESS, VipCloseNic, other);
}

const Test thread_tests[] = {
    {"threads.own_vis", ID_VipPostSend, "VI-DG 2.3", EARLY, RULE, own_vis, 0},
    {"threads.two_queues", ID_VipRecvWait, "VI-DG 2.3", EARLY, RULE, two_queues, 0},
    {"threads.one_receive_queue", ID_VipRecvWait, "VI-DG 2.3", EARLY, PROVES(VIP_SUCCESS), one_queue, 0},
    {"threads.one_send_queue", ID_VipPostSend, "VI-DG 2.3", EARLY, RULE, one_send_queue, 0},
    {"threads.resources", ID_VipOpenNic, "VI-DG 2.3", EARLY, PROVES(VIP_SUCCESS), resources, 0},
    {"threads.two_opens", ID_VipCQWait, "VI-DG 2.3", FUNCTIONAL, PROVES(VIP_SUCCESS), two_opens, 0},
    {NULL, 0, NULL, 0, 0, NULL, 0}};
