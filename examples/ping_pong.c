/*
 * ping_pong - how long a message takes from one process to another.
 *
 *   ping_pong serve               answers one client after the other
 *   ping_pong HOST [COUNT [SIZE]] sends COUNT messages of SIZE bytes and waits for each to come back
 *
 * A receive is posted before the message that it is for can come: that is the whole of VI flow control.
 */
#include "vipl_util.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TIMEOUT_MS = 10000, MOST_BYTES = 1048576, SLOTS = 4 };
static const char* const discriminator = "ping_pong";

/* One descriptor and its data for each message on its way. */
typedef struct {
  VIP_NIC_HANDLE nic;
  VIP_VI_HANDLE vi;
  vu_memory descriptors, data;
  uint32_t size;
} end_point;

static VIP_DESCRIPTOR* descriptor(end_point* end, unsigned slot) { return (VIP_DESCRIPTOR*)(void*)end->descriptors.bytes + slot; }
static unsigned char* data(end_point* end, unsigned slot) { return end->data.bytes + (size_t)slot * end->size; }

static void post_receive(end_point* end, unsigned slot) {
  vu_describe(descriptor(end, slot), data(end, slot), end->size, end->data.handle);
  MUST(VipPostRecv(end->vi, descriptor(end, slot), end->descriptors.handle));
}

static VIP_RETURN send_from(end_point* end, unsigned slot, uint32_t length) {
  VIP_DESCRIPTOR* done;
  vu_describe(descriptor(end, slot), data(end, slot), length, end->data.handle);
  MUST(VipPostSend(end->vi, descriptor(end, slot), end->descriptors.handle));
  return VipSendWait(end->vi, TIMEOUT_MS, &done);
}

static void open_end(end_point* end, VIP_NIC_HANDLE nic, uint32_t size) {
  end->nic = nic;
  end->size = size;
  end->descriptors = vu_register(nic, SLOTS * sizeof(VIP_DESCRIPTOR), VIP_FALSE);
  end->data = vu_register(nic, (size_t)SLOTS * size, VIP_FALSE);
}

static void close_end(end_point* end) {
  vu_destroy_vi(end->vi);
  vu_release(end->nic, &end->descriptors);
  vu_release(end->nic, &end->data);
}

/* ---- server ---------------------------------------------------------------------------------------------- */

static void prepare(VIP_VI_HANDLE vi, void* context) {
  end_point* end = context;
  end->vi = vi;
  post_receive(end, 0);
  post_receive(end, 1);
}

static void serve_one(VIP_NIC_HANDLE nic) {
  end_point end;
  unsigned long served = 0;
  VIP_DESCRIPTOR* received;
  open_end(&end, nic, MOST_BYTES);
  vu_accept(nic, discriminator, NULL, VIP_FALSE, prepare, &end);
  while (VipRecvWait(end.vi, VIP_INFINITE, &received) == VIP_SUCCESS) {
    const unsigned slot = (unsigned)(received - descriptor(&end, 0));
    const uint32_t length = received->CS.Length;
    memcpy(data(&end, 2), data(&end, slot), length);
    post_receive(&end, slot); /* before the answer: the next message comes only after it */
    if (send_from(&end, 2, length) != VIP_SUCCESS) break; /* the client is gone */
    ++served;
  }
  close_end(&end);
  printf("answered %lu messages\n", served);
  fflush(stdout);
}

/* ---- client ---------------------------------------------------------------------------------------------- */

static void ping(VIP_NIC_HANDLE nic, const char* host, unsigned long count, uint32_t size) {
  end_point end;
  unsigned long i;
  double begun, least = 1e9;
  open_end(&end, nic, size);
  end.vi = vu_create_vi(nic, VIP_SERVICE_RELIABLE_DELIVERY, NULL, VIP_FALSE);
  post_receive(&end, 0);
  vu_connect(nic, end.vi, host, discriminator);
  begun = vu_seconds();
  for (i = 0; i < count; ++i) {
    const double sent = vu_seconds();
    VIP_DESCRIPTOR* received;
    double took;
    memset(data(&end, 2), (int)(i & 0xFF), size);
    MUST(send_from(&end, 2, size));
    MUST(VipRecvWait(end.vi, TIMEOUT_MS, &received));
    took = vu_seconds() - sent;
    if (took < least) least = took;
    if (received->CS.Length != size || memcmp(data(&end, 0), data(&end, 2), size) != 0) {
      fprintf(stderr, "message %lu came back changed\n", i);
      exit(1);
    }
    post_receive(&end, 0);
  }
  printf("%lu messages of %u bytes: half a round trip takes %.2f us, at best %.2f us\n", count, (unsigned)size,
         (vu_seconds() - begun) / (double)count / 2 * 1e6, least / 2 * 1e6);
  close_end(&end);
}

int main(int argc, char** argv) {
  const unsigned long count = argc > 2 ? strtoul(argv[2], NULL, 10) : 10000;
  const unsigned long size = argc > 3 ? strtoul(argv[3], NULL, 10) : 8;
  VIP_NIC_HANDLE nic;
  if (argc < 2 || argc > 4 || argv[1][0] == '-' || count == 0 || size == 0 || size > MOST_BYTES) {
    fputs("usage: ping_pong serve\n       ping_pong HOST [COUNT [SIZE]]   (10000 messages of 8 bytes; SIZE up to 1048576)\n",
          argc == 2 && strcmp(argv[1], "--help") == 0 ? stdout : stderr);
    return argc == 2 && strcmp(argv[1], "--help") == 0 ? 0 : 2;
  }
  nic = vu_open_nic("VINIC");
  if (strcmp(argv[1], "serve") == 0)
    for (;;) serve_one(nic);
  ping(nic, argv[1], count, (uint32_t)size);
  vu_close_nic(nic);
  return 0;
}
