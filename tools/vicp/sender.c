/* vicp FILE HOST:[DISCRIMINATOR] */
#define _POSIX_C_SOURCE 200809L
#define _FILE_OFFSET_BITS 64
#include <errno.h>
#include <fcntl.h>
#include <isa-l/crc.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include "progress.h"
#include "vicp.h"

/* A block on its way, in the slot of the same number. */
typedef struct {
  uint64_t number, sent_ns;
  uint32_t length;
  int open; /* not acknowledged yet */
} block_state;

typedef struct {
  const vicp_job* job;
  vicp_link link;
  int file;
  uint64_t file_bytes, blocks;
  uint16_t permissions;
  uint32_t block_bytes;
  block_state window[WINDOW];
  uint64_t next, open_blocks, acknowledged_bytes;
  uint32_t crc;
  uint64_t heard_ns;
} sender;

static void open_source(sender* self) {
  struct stat about;
  self->file = open(self->job->path, O_RDONLY | O_CLOEXEC);
  if (self->file < 0 || fstat(self->file, &about) != 0) refuse("%s: %s", self->job->path, strerror(errno));
  if (!S_ISREG(about.st_mode)) refuse("%s: not a regular file", self->job->path);
  self->file_bytes = (uint64_t)about.st_size;
  self->permissions = about.st_mode & 0777;
}

static void connect_to_receiver(sender* self) {
  const target* to = &self->job->to;
  VIP_VI_ATTRIBUTES theirs;
  net_address local, remote;
  VIP_RETURN result = remote_address(self->link.nic, to->host, self->job->discriminator, &remote);
  if (result != VIP_SUCCESS) fail("%s: %s", to->host, result_text(result));
  local_address(self->link.nic, "vicp", &local);
  link_post_receives(&self->link);
  result = connect_patiently(self->link.vi, &local, &remote, self->job->timeout_ms, &theirs);
  if (result != VIP_SUCCESS) fail("%s:%s: %s", to->host, self->job->discriminator, result_text(result));
}

/* ---- messages -------------------------------------------------------------------------------------------- */

/* What the receiver says, if it is of this kind; a refusal ends us. */
static int takes(sender* self, const slot* from, message_kind kind) {
  char text[512];
  if (!message_is_valid(from)) return 0;
  self->heard_ns = now_ns();
  if (from->head.kind == KIND_REFUSED) {
    message_text(from, text, sizeof text);
    fail("%s: %s", self->job->to.host, text);
  }
  return from->head.kind == kind;
}

static link_event next_event(sender* self) {
  const link_event event = link_next(&self->link, RESEND_MS);
  if (event.kind == EVENT_LOST) fail("%s: %s", self->job->to.host, event.why);
  if (now_ns() - self->heard_ns > SILENCE_MS * 1000000ULL) fail("%s: no answer", self->job->to.host);
  return event;
}

static void put_question(sender* self, const message* head, const char* text) {
  const uint32_t length = (uint32_t)strlen(text);
  slot* question = link_control_slot(&self->link, head->kind);
  if (question == NULL) return; /* the ones before are still on their way */
  question->head = *head;
  question->head.length = length;
  memcpy(question->block, text, length);
  link_send(&self->link, question, length);
}

/* Sends a message and waits for its answer; only Unreliable Delivery needs to send it twice. */
static void ask(sender* self, const message* head, const char* text, message_kind answer) {
  int answered = 0;
  put_question(self, head, text);
  while (!answered) {
    const link_event event = next_event(self);
    if (event.kind == EVENT_TIMEOUT && self->link.level == VIP_SERVICE_UNRELIABLE) put_question(self, head, text);
    if (event.kind != EVENT_RECEIVED) continue;
    answered = takes(self, event.from, answer);
    if (answered && answer == KIND_WELCOME) link_take_peer_slots(&self->link, &event.from->head);
    link_repost(&self->link, event.from);
  }
}

static void greet(sender* self) {
  message hello;
  const char* slash = strrchr(self->job->path, '/');
  message_begin(&hello, KIND_HELLO);
  message_add_slots(&hello, &self->link);
  hello.file_bytes = self->file_bytes;
  hello.block_bytes = self->block_bytes;
  hello.mode = (uint16_t)self->job->mode;
  hello.permissions = self->permissions;
  ask(self, &hello, slash == NULL ? self->job->path : slash + 1, KIND_WELCOME);
}

static void say_end(sender* self) {
  message end;
  message_begin(&end, KIND_END);
  end.number = self->blocks;
  end.file_bytes = self->file_bytes;
  end.crc = self->crc;
  ask(self, &end, "", KIND_STORED);
}

/* ---- blocks ---------------------------------------------------------------------------------------------- */

static void transmit(sender* self, unsigned place) {
  slot* here = &self->link.slots[place];
  block_state* block = &self->window[place];
  block->sent_ns = now_ns();
  if (self->job->mode == MODE_WRITE) link_move(&self->link, here, block->length, VIP_CONTROL_OP_RDMAWRITE);
  link_send(&self->link, here, self->job->mode == MODE_SEND ? block->length : 0);
}

static void read_block(sender* self, slot* into, uint32_t length) {
  uint32_t have = 0;
  while (have < length) {
    const off_t offset = (off_t)(self->next * self->block_bytes + have);
    const ssize_t got = pread(self->file, into->block + have, length - have, offset);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) fail("%s: %s", self->job->path, strerror(errno));
    if (got == 0) fail("%s: became shorter while it was read", self->job->path);
    have += (uint32_t)got;
  }
}

/* 0: all blocks went, or the window is full. */
static int send_next_block(sender* self) {
  const unsigned place = (unsigned)(self->next % WINDOW);
  slot* here = &self->link.slots[place];
  block_state* block = &self->window[place];
  const uint64_t left = self->file_bytes - self->next * self->block_bytes;
  if (self->next == self->blocks || block->open || here->posted != 0) return 0;
  block->number = self->next;
  block->length = left < self->block_bytes ? (uint32_t)left : self->block_bytes;
  block->open = 1;
  read_block(self, here, block->length);
  message_begin(&here->head, KIND_BLOCK);
  here->head.number = block->number;
  here->head.length = block->length;
  here->head.crc = crc32_gzip_refl(0, here->block, block->length);
  self->crc = (uint32_t)crc32_combine(self->crc, here->head.crc, (z_off_t)block->length);
  ++self->next;
  ++self->open_blocks;
  transmit(self, place);
  return 1;
}

static void take_acknowledgement(sender* self, const message* head) {
  block_state* block = &self->window[head->number % WINDOW];
  if (!block->open || block->number != head->number) return; /* a second one */
  block->open = 0;
  --self->open_blocks;
  self->acknowledged_bytes += block->length;
}

static void resend_late_blocks(sender* self) {
  const uint64_t now = now_ns();
  unsigned place;
  if (self->link.level != VIP_SERVICE_UNRELIABLE) return;
  for (place = 0; place < WINDOW; ++place)
    if (self->window[place].open && self->link.slots[place].posted == 0 &&
        now - self->window[place].sent_ns > RESEND_MS * 1000000ULL)
      transmit(self, place);
}

static void send_blocks(sender* self) {
  progress bar;
  progress_begin(&bar, self->job->path, self->file_bytes, self->job->quiet);
  self->blocks = (self->file_bytes + self->block_bytes - 1) / self->block_bytes;
  for (;;) {
    link_event event;
    while (send_next_block(self)) continue;
    if (self->next == self->blocks && self->open_blocks == 0) break;
    event = next_event(self);
    if (event.kind == EVENT_RECEIVED) {
      if (takes(self, event.from, KIND_ACK)) take_acknowledgement(self, &event.from->head);
      link_repost(&self->link, event.from);
    }
    resend_late_blocks(self);
    progress_update(&bar, self->acknowledged_bytes);
  }
  progress_end(&bar);
}

vicp_result send_file(const vicp_job* job) {
  static sender self; /* large */
  vicp_result result;
  memset(&result, 0, sizeof result);
  self.job = job;
  open_source(&self);
  link_open(&self.link, job->device);
  self.block_bytes = self.link.max_block_bytes;
  link_create_vi(&self.link, job->level, self.block_bytes + sizeof(message));
  connect_to_receiver(&self);
  self.heard_ns = now_ns();
  greet(&self);
  result.elapsed_ns = now_ns();
  send_blocks(&self);
  say_end(&self);
  result.elapsed_ns = now_ns() - result.elapsed_ns;
  result.bytes = self.file_bytes;
  result.crc = self.crc;
  link_close(&self.link);
  close(self.file);
  return result;
}
