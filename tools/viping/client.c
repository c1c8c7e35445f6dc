/* viping HOST: one message at a time, and what ping(8) prints of them. */
#define _POSIX_C_SOURCE 200809L
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "viping.h"

/* Of round trips, in milliseconds. */
typedef struct {
  unsigned long sent, received;
  double least, most, sum, sum_of_squares;
  uint64_t begun_ns;
} statistics;

typedef struct {
  const ping_job* job;
  VIP_NIC_HANDLE nic;
  VIP_VI_HANDLE vi;
  message_pool pool; /* RECEIVES to receive into, then one to send */
  char name[256];
  int lost; /* the connection */
  statistics counts;
} client;

static void add(statistics* counts, double ms) {
  if (counts->received == 0 || ms < counts->least) counts->least = ms;
  if (counts->received == 0 || ms > counts->most) counts->most = ms;
  ++counts->received;
  counts->sum += ms;
  counts->sum_of_squares += ms * ms;
}

static void print_statistics(const client* self) {
  const statistics* counts = &self->counts;
  const double elapsed_ms = (double)(now_ns() - counts->begun_ns) / 1e6;
  const double loss = counts->sent == 0 ? 0 : 100.0 * (double)(counts->sent - counts->received) / (double)counts->sent;
  printf("\n--- %s viping statistics ---\n", self->name);
  printf("%lu messages transmitted, %lu received, %.4g%% message loss, time %.0fms\n", counts->sent, counts->received,
         loss, elapsed_ms);
  if (counts->received != 0) {
    const double mean = counts->sum / (double)counts->received;
    const double variance = counts->sum_of_squares / (double)counts->received - mean * mean;
    printf("rtt min/avg/max/mdev = %.3f/%.3f/%.3f/%.3f ms\n", counts->least, mean, counts->most,
           sqrt(variance > 0 ? variance : 0));
  }
}

static void connect_to_server(client* self) {
  const ping_job* job = self->job;
  net_address local, remote;
  VIP_VI_ATTRIBUTES theirs;
  char address[64];
  VIP_RETURN result = remote_address(self->nic, job->to.host, job->discriminator, &remote);
  check(result, job->to.host);
  local_address(self->nic, "viping", &local);
  result = connect_patiently(self->vi, &local, &remote, job->timeout_ms, &theirs);
  check(result, job->to.host);
  address_to_text(&remote, address, sizeof address);
  printf("VIPING %s (%s) %u data bytes, %s\n", self->name, address, (unsigned)job->payload_bytes,
         level_text(job->level));
}

static void lose(client* self, const char* why) {
  if (!self->lost) say("%s: %s", self->name, why);
  self->lost = 1;
}

static void send_one(client* self, uint32_t sequence) {
  ping_message* message = pool_at(&self->pool, RECEIVES);
  VIP_DESCRIPTOR* done = NULL;
  message->sequence = sequence;
  message->sent_ns = now_ns();
  ++self->counts.sent;
  check(pool_post_send(&self->pool, self->vi, message, message_bytes(self->job->payload_bytes)), "VipPostSend");
  if (VipSendWait(self->vi, 10 * self->job->wait_ms, &done) != VIP_SUCCESS)
    lose(self, done == NULL ? "the message does not leave" : status_text(done->CS.Status));
}

/* 1: this message came back. Late echoes of others are let go. */
static int take_echo(client* self, ping_message* echo, uint32_t sequence) {
  const double ms = (double)(now_ns() - echo->sent_ns) / 1e6;
  const int wanted = echo->sequence == sequence;
  const uint32_t length = echo->descriptor.CS.Length;
  if (wanted) {
    add(&self->counts, ms);
    if (!self->job->quiet && !self->job->flood)
      printf("%u bytes from %s: seq=%u time=%.3f ms\n", (unsigned)(length - message_bytes(0)), self->name,
             (unsigned)sequence, ms);
  }
  check(pool_post_receive(&self->pool, self->vi, echo), "VipPostRecv");
  return wanted;
}

static void await_echo(client* self, uint32_t sequence) {
  const uint64_t deadline = now_ns() + self->job->wait_ms * 1000000ULL;
  while (!self->lost && !stop_requested) {
    const uint64_t now = now_ns();
    VIP_DESCRIPTOR* done = NULL;
    const VIP_RETURN result =
        now >= deadline ? VIP_TIMEOUT : VipRecvWait(self->vi, (deadline - now) / 1000000U + 1, &done);
    if (result == VIP_SUCCESS && take_echo(self, (ping_message*)(void*)done, sequence)) return;
    if (result == VIP_DESCRIPTOR_ERROR) lose(self, done == NULL ? "nothing is posted" : status_text(done->CS.Status));
    if (result != VIP_TIMEOUT) continue;
    if (!self->job->quiet && !self->job->flood) printf("no answer for seq=%u\n", (unsigned)sequence);
    return;
  }
}

static void pause_until(uint64_t when_ns) {
  const uint64_t now = now_ns();
  struct timespec rest;
  if (when_ns <= now || stop_requested) return;
  rest.tv_sec = (time_t)((when_ns - now) / 1000000000U);
  rest.tv_nsec = (long)((when_ns - now) % 1000000000U);
  nanosleep(&rest, NULL); /* a signal ends it */
}

int run_client(const ping_job* job) {
  static client self;
  uint32_t sequence = 1;
  unsigned i;
  self.job = job;
  snprintf(self.name, sizeof self.name, "%s", job->to.host);
  self.nic = open_nic(job->device);
  check(create_vi(self.nic, job->level, message_bytes(job->payload_bytes), NULL, &self.vi), "VipCreateVi");
  check(pool_open(&self.pool, self.nic, RECEIVES + 1, job->payload_bytes), "buffers");
  for (i = 0; i < RECEIVES; ++i) check(pool_post_receive(&self.pool, self.vi, pool_at(&self.pool, i)), "VipPostRecv");
  memset(pool_at(&self.pool, RECEIVES)->payload, 0xA5, job->payload_bytes);
  connect_to_server(&self);
  self.counts.begun_ns = now_ns();
  for (; !stop_requested && !self.lost && (job->count == 0 || sequence <= job->count); ++sequence) {
    const uint64_t next = now_ns() + (job->flood ? 0 : job->interval_ms * 1000000ULL);
    send_one(&self, sequence);
    await_echo(&self, sequence);
    if (job->count == 0 || sequence < job->count) pause_until(next);
  }
  print_statistics(&self);
  if (end_vi(self.vi)) { /* else a server that is gone would be waited for once more */
    pool_close(&self.pool);
    VipNSShutdown(self.nic);
    VipCloseNic(self.nic);
  }
  return self.counts.received == self.counts.sent && self.counts.sent != 0 ? EXIT_DONE : EXIT_FAILED;
}
