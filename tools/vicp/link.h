/* One end of a vicp connection: a VI, its completion queue and registered slots; what the two ends say to each other.
   */
#ifndef VICP_LINK_H
#define VICP_LINK_H
#include <stdint.h>

#include "vip_common.h"

enum {
  WINDOW = 16,          /* blocks on their way */
  BLOCK_BYTES = 131072, /* at most; a NIC with a smaller MaxTransferSize gets smaller ones */
  CONTROL_SLOTS = 20,   /* to send messages without a block from */
  RECEIVE_SLOTS = 2 * WINDOW + 8,
  SLOTS = WINDOW + CONTROL_SLOTS + RECEIVE_SLOTS,
  SILENCE_MS = 20000, /* a peer that says nothing for so long is given up */
  RESEND_MS = 250,    /* Unreliable Delivery: what is not answered by then goes again */
  VERSION = 1
};

typedef enum { MODE_SEND, MODE_WRITE, MODE_READ, MODES } transfer_mode;

/* Sender: HELLO, BLOCKs, END. Receiver: WELCOME, an ACK for each block, STORED; or REFUSED with a text, at any time. */
typedef enum { KIND_HELLO = 1, KIND_WELCOME, KIND_BLOCK, KIND_ACK, KIND_END, KIND_STORED, KIND_REFUSED } message_kind;

/* Little-endian, as descriptors are. */
typedef struct {
  char magic[4];
  uint16_t version;
  uint16_t kind;
  uint64_t number;        /* of a block; END: of blocks */
  uint64_t file_bytes;    /* HELLO, END */
  uint64_t slots_address; /* HELLO, WELCOME: where RDMA finds this end's slots */
  uint32_t slots_handle;
  uint32_t length;      /* of the block, or of the text that follows (HELLO: the file's name) */
  uint32_t crc;         /* CRC-32 of the block; END: of the file */
  uint32_t block_bytes; /* HELLO: of all blocks but the last */
  uint16_t mode;        /* HELLO: a transfer_mode */
  uint16_t permissions; /* HELLO */
  uint32_t reserved;
} message;

typedef struct {
  VIP_DESCRIPTOR descriptors[2]; /* an RDMA operation, and the message */
  message head;
  unsigned char block[BLOCK_BYTES]; /* follows the head, so that one data segment takes both */
  unsigned posted;                  /* descriptors that did not come back */
} __attribute__((aligned(VIP_DESCRIPTOR_ALIGNMENT))) slot;

typedef struct {
  VIP_NIC_HANDLE nic;
  VIP_CQ_HANDLE queue;
  VIP_VI_HANDLE vi; /* NULL before link_create_vi() */
  VIP_MEM_HANDLE memory;
  VIP_RELIABILITY_LEVEL level;
  uint32_t max_block_bytes;
  slot* slots; /* WINDOW for blocks, then CONTROL_SLOTS, then RECEIVE_SLOTS */
  unsigned next_control;
  int dropped; /* a VI that could not be destroyed */
  uint64_t peer_slots_address;
  uint32_t peer_slots_handle;
} vicp_link;

typedef enum { EVENT_TIMEOUT, EVENT_SENT, EVENT_RECEIVED, EVENT_LOST } event_kind;
typedef struct {
  event_kind kind;
  slot* from;        /* SENT, RECEIVED. A received slot goes back with link_repost(). */
  VIP_UINT32 status; /* SENT: tells RDMA from messages */
  const char* why;   /* LOST */
} link_event;

/* These end the program when they fail. */
void link_open(vicp_link* link, const char* device);
void link_create_vi(vicp_link* link, VIP_RELIABILITY_LEVEL level, VIP_ULONG max_transfer_bytes);
void link_post_receives(vicp_link* link);
void link_repost(vicp_link* link, slot* received);
/* Gives the connection up; the link may have another VI then. */
void link_drop_vi(vicp_link* link);
void link_close(vicp_link* link);

/* A slot for a message without a block; NULL while all are on their way. */
slot* link_control_slot(vicp_link* link, message_kind kind);
/* Sends the slot's head and `data_bytes` of what follows it. */
void link_send(vicp_link* link, slot* from, uint32_t data_bytes);
/* The same with data that lies elsewhere in registered memory. */
void link_send_from(vicp_link* link, slot* from, const void* data, VIP_MEM_HANDLE memory, uint32_t data_bytes);
/* Moves `length` bytes between the block of this slot and the one of the same number at the peer. */
void link_move(vicp_link* link, slot* here, uint32_t length, VIP_UINT16 operation);
/* RDMA Write from other registered memory into the peer's block of this number. */
void link_write_from(vicp_link* link, slot* here, const void* data, VIP_MEM_HANDLE memory, uint32_t length);
link_event link_next(vicp_link* link, unsigned long timeout_ms);

void message_begin(message* head, message_kind kind);
/* 0: too short, foreign, or of another version. */
int message_is_valid(const slot* received);
/* Tells the other end where RDMA finds our slots, and remembers where its are. */
void message_add_slots(message* head, const vicp_link* link);
void link_take_peer_slots(vicp_link* link, const message* head);
/* The text that follows a received head, NUL-ended. */
void message_text(const slot* received, char* text, size_t room);

#endif
