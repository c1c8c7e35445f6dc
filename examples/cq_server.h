/* What server and client of the completion queue example agree on. */
#ifndef CQ_SERVER_H
#define CQ_SERVER_H

#include "vipl_util.h"

/* WINDOW: messages that a client may have sent without an answer. The server has as many receives posted. */
enum { WINDOW = 8, CONTENT_BYTES = 200 };
#define CQ_DEFAULT_NAME "cq_server"

/* Message and answer. The client numbers from 0; last marks the end, after which it disconnects. */
typedef struct {
  uint64_t number;
  uint32_t client; /* the client's process id: part of the content */
  uint32_t last;
  unsigned char content[CONTENT_BYTES];
} cq_message;

/* A message behind its descriptor; a multiple of VIP_DESCRIPTOR_ALIGNMENT. Who gets the descriptor back finds the
   owner. */
typedef struct {
  VIP_DESCRIPTOR descriptor;
  cq_message message;
  void* owner;
  unsigned char pad[320 - sizeof(VIP_DESCRIPTOR) - sizeof(cq_message) - sizeof(void*)];
} cq_slot;

typedef struct {
  common_options common;
  const char* service; /* HOST[:NAME] of the client, NAME of the server */
  int server;
  unsigned long clients, most, messages, pace_us, patience_s;
} cq_options;

/* Byte i of what this client sends as message number. */
static inline unsigned char cq_content(uint32_t client, uint64_t number, size_t i) {
  return (unsigned char)(client * 31u + (unsigned)number * 7u + (unsigned)i);
}

int cq_serve(const cq_options* chosen);
int cq_send(const cq_options* chosen);

#endif
