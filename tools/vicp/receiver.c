/* vicp --listen OUT */
#define _GNU_SOURCE /* fallocate */
#define _FILE_OFFSET_BITS 64
#include <errno.h>
#include <fcntl.h>
#include <isa-l/crc.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <linux/magic.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>
#include <zlib.h>

#include "progress.h"
#include "vicp.h"

enum { PATH_BYTES = 4096 };

/* A block of the window: from the message until its predecessors are all stored. */
typedef struct {
  message head;
  int stored, fetching, owes_acknowledgement;
  uint64_t acknowledge; /* the block's number */
} block_state;

typedef struct {
  const vicp_job* job;
  vicp_link link;
  char sender[256], path[PATH_BYTES], temporary[PATH_BYTES + 32], name[256];
  int file, greeted, finished;
  message hello;
  block_state window[WINDOW];
  uint64_t first_missing, stored_bytes;
  uint32_t crc;
  uint64_t heard_ns, begun_ns;
  progress bar;
} receiver;

/* ---- the file -------------------------------------------------------------------------------------------- */

static int is_directory(const char* path) {
  struct stat about;
  return stat(path, &about) == 0 && S_ISDIR(about.st_mode);
}

/* A name in a folder, never a way out of it. */
static int is_plain_name(const char* name) {
  return name[0] != '\0' && strcmp(name, ".") != 0 && strcmp(name, "..") != 0 && strchr(name, '/') == NULL;
}

/* A signal comes before the file is there, or when it is known what to remove. */
static const char* create_temporary(receiver* self) {
  sigset_t all, before;
  int error;
  sigfillset(&all);
  pthread_sigmask(SIG_BLOCK, &all, &before);
  self->file = open(self->temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  error = errno;
  if (self->file >= 0) set_temporary_file(self->temporary);
  pthread_sigmask(SIG_SETMASK, &before, NULL);
  return self->file < 0 ? strerror(error) : NULL;
}

/* NULL: the temporary file is open. */
static const char* open_target(receiver* self) {
  const char* out = self->job->path;
  int length;
  if (is_directory(out)) {
    if (!is_plain_name(self->name)) return "the file's name is none";
    length = snprintf(self->path, sizeof self->path, "%s/%s", out, self->name);
  } else {
    length = snprintf(self->path, sizeof self->path, "%s", out);
  }
  if (length >= PATH_BYTES) return "the path is too long";
  if (is_directory(self->path)) return "a folder of this name is there";
  snprintf(self->temporary, sizeof self->temporary, "%s.vicp-%ld", self->path, (long)getpid());
  return create_temporary(self);
}

/* Writing goes faster where the place is reserved, and who has none says so at once. The size stays that of what has
 * come: who looks sees how far it is. Not in memory, where this would be the allocation itself. */
static const char* reserve(const receiver* self) {
  struct statfs about;
  if (self->hello.file_bytes == 0 || fstatfs(self->file, &about) != 0 || about.f_type == TMPFS_MAGIC) return NULL;
  /* Else all that is free would be taken before it is not enough. */
  if (about.f_blocks != 0 && self->hello.file_bytes / (uint64_t)about.f_bsize > about.f_bfree) return strerror(ENOSPC);
  if (fallocate(self->file, FALLOC_FL_KEEP_SIZE, 0, (off_t)self->hello.file_bytes) == 0) return NULL;
  return errno == ENOSPC || errno == EDQUOT || errno == EFBIG ? strerror(errno) : NULL;
}

static const char* write_block(receiver* self, const unsigned char* bytes, uint32_t length, uint64_t offset) {
  uint32_t done = 0;
  while (done < length) {
    const ssize_t written = pwrite(self->file, bytes + done, length - done, (off_t)(offset + done));
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return written < 0 ? strerror(errno) : "nothing could be written";
    done += (uint32_t)written;
  }
  return NULL;
}

static const char* finish_file(receiver* self) {
  const mode_t mask = umask(0);
  umask(mask);
  if (fchmod(self->file, self->hello.permissions & 0777 & ~mask) != 0) return strerror(errno);
  if (close(self->file) != 0) return strerror(errno);
  self->file = -1;
  if (rename(self->temporary, self->path) != 0) return strerror(errno);
  set_temporary_file(NULL);
  return NULL;
}

/* ---- messages -------------------------------------------------------------------------------------------- */

/* A sender that goes before it said what it brings leaves nothing half done. */
static link_event next_event(receiver* self) {
  const link_event event = link_next(&self->link, RESEND_MS);
  const char* why = event.kind == EVENT_LOST ? event.why : NULL;
  if (now_ns() - self->heard_ns > SILENCE_MS * 1000000ULL && why == NULL) why = "fell silent";
  if (why == NULL || self->finished) return event;
  if (self->greeted) fail("%s: %s", self->sender, why);
  say("%s: %s; waiting for another sender", self->sender, why);
  return (link_event){EVENT_LOST, NULL, 0, why};
}

/* The sender hears why before we go. */
static _Noreturn void give_up(receiver* self, const char* what, const char* why) {
  slot* answer = link_control_slot(&self->link, KIND_REFUSED);
  if (answer != NULL) {
    const uint64_t until = now_ns() + SILENCE_MS * 1000000ULL;
    answer->head.length = (uint32_t)snprintf((char*)answer->block, BLOCK_BYTES, "%s: %s", what, why);
    link_send(&self->link, answer, answer->head.length);
    while (answer->posted != 0 && now_ns() < until && link_next(&self->link, RESEND_MS).kind != EVENT_LOST) continue;
  }
  fail("%s: %s", what, why);
}

static void require(receiver* self, const char* what, const char* error) {
  if (error != NULL) give_up(self, what, error);
}

static void welcome(receiver* self) {
  slot* answer = link_control_slot(&self->link, KIND_WELCOME);
  if (answer == NULL) return; /* it asks again */
  message_add_slots(&answer->head, &self->link);
  link_send(&self->link, answer, 0);
}

static void take_hello(receiver* self, const slot* from) {
  if (!self->greeted) {
    self->hello = from->head;
    message_text(from, self->name, sizeof self->name);
    if (self->hello.mode >= MODES || self->hello.block_bytes == 0 ||
        self->hello.block_bytes > self->link.max_block_bytes)
      give_up(self, self->sender, "its request makes no sense");
    link_take_peer_slots(&self->link, &self->hello);
    require(self, self->job->path, open_target(self));
    require(self, self->temporary, reserve(self));
    self->greeted = 1;
    self->begun_ns = now_ns();
    progress_begin(&self->bar, self->name, self->hello.file_bytes, self->job->quiet);
  }
  welcome(self);
}

static void acknowledge(receiver* self, uint64_t number) {
  block_state* block = &self->window[number % WINDOW];
  block->owes_acknowledgement = 1;
  block->acknowledge = number;
}

static void send_acknowledgements(receiver* self) {
  unsigned place;
  for (place = 0; place < WINDOW; ++place) {
    slot* answer;
    if (!self->window[place].owes_acknowledgement) continue;
    answer = link_control_slot(&self->link, KIND_ACK);
    if (answer == NULL) return;
    answer->head.number = self->window[place].acknowledge;
    self->window[place].owes_acknowledgement = 0;
    link_send(&self->link, answer, 0);
  }
}

/* ---- blocks ---------------------------------------------------------------------------------------------- */

static void advance(receiver* self) {
  block_state* block = &self->window[self->first_missing % WINDOW];
  for (; block->stored; block = &self->window[self->first_missing % WINDOW]) {
    block->stored = 0;
    self->crc = (uint32_t)crc32_combine(self->crc, block->head.crc, (z_off_t)block->head.length);
    self->stored_bytes += block->head.length;
    ++self->first_missing;
  }
}

/* All of it is here: checked, stored, acknowledged. A wrong one at Unreliable Delivery comes again. */
static void store(receiver* self, block_state* block, const unsigned char* bytes) {
  const message* head = &block->head;
  if (crc32_gzip_refl(0, (unsigned char*)(uintptr_t)bytes, head->length) != head->crc) {
    if (self->link.level == VIP_SERVICE_UNRELIABLE) return;
    give_up(self, self->sender, "a block's checksum is wrong");
  }
  require(self, self->temporary, write_block(self, bytes, head->length, head->number * self->hello.block_bytes));
  block->stored = 1;
  acknowledge(self, head->number);
  advance(self);
}

/* Offset and length agree with what HELLO said. */
static int is_sensible(const receiver* self, const message* head) {
  const uint64_t offset = head->number * self->hello.block_bytes;
  const uint64_t left = offset < self->hello.file_bytes ? self->hello.file_bytes - offset : 0;
  return head->number < self->first_missing + WINDOW &&
         head->length == (left < self->hello.block_bytes ? left : self->hello.block_bytes) && head->length != 0;
}

static void take_block(receiver* self, const slot* from) {
  const message* head = &from->head;
  const unsigned place = (unsigned)(head->number % WINDOW);
  block_state* block = &self->window[place];
  if (!self->greeted || !is_sensible(self, head)) give_up(self, self->sender, "a block makes no sense");
  if (head->number < self->first_missing || block->stored) acknowledge(self, head->number); /* it came again */
  if (head->number < self->first_missing || block->stored || block->fetching) return;
  block->head = *head;
  if (self->hello.mode == MODE_READ) {
    block->fetching = 1;
    link_move(&self->link, &self->link.slots[place], head->length, VIP_CONTROL_OP_RDMAREAD);
  } else if (self->hello.mode == MODE_WRITE) {
    store(self, block, self->link.slots[place].block);
  } else if (from->descriptors[1].CS.Length == sizeof(message) + head->length) {
    store(self, block, from->block);
  }
}

static void take_fetched(receiver* self, const slot* here) {
  block_state* block = &self->window[here - self->link.slots];
  block->fetching = 0;
  store(self, block, here->block);
}

static void take_end(receiver* self, const message* head) {
  slot* answer;
  if (!self->finished) {
    if (self->stored_bytes != self->hello.file_bytes || head->file_bytes != self->hello.file_bytes)
      give_up(self, self->sender, "the length is wrong");
    if (head->crc != self->crc) give_up(self, self->sender, "the checksum of the file is wrong");
    require(self, self->path, finish_file(self));
    self->finished = 1;
  }
  answer = link_control_slot(&self->link, KIND_STORED);
  if (answer != NULL) link_send(&self->link, answer, 0);
}

static void take_message(receiver* self, const slot* from) {
  if (!message_is_valid(from)) return;
  self->heard_ns = now_ns();
  if (from->head.kind == KIND_HELLO) take_hello(self, from);
  if (from->head.kind == KIND_BLOCK) take_block(self, from);
  if (from->head.kind == KIND_END) take_end(self, &from->head);
}

/* ---- connection ------------------------------------------------------------------------------------------ */

/* 0: it gave up meanwhile. */
static int accept_sender(receiver* self) {
  net_address local, remote;
  VIP_VI_ATTRIBUTES theirs;
  VIP_CONN_HANDLE connection;
  VIP_RETURN result;
  memset(&remote, 0, sizeof remote);
  local_address(self->link.nic, self->job->discriminator, &local);
  for (;;) {
    result =
        VipConnectWait(self->link.nic, &local.address, self->job->timeout_ms, &remote.address, &theirs, &connection);
    if (result != VIP_SUCCESS) fail("waiting for a sender: %s", result_text(result));
    if (self->job->level == 0 || self->job->level == theirs.ReliabilityLevel) break;
    say("refused a sender that wants %s", level_text(theirs.ReliabilityLevel));
    VipConnectReject(connection);
  }
  host_name_of(self->link.nic, &remote, self->sender, sizeof self->sender);
  link_create_vi(&self->link, theirs.ReliabilityLevel, theirs.MaxTransferSize);
  link_post_receives(&self->link);
  result = VipConnectAccept(connection, self->link.vi);
  if (result == VIP_SUCCESS) return 1;
  say("%s: %s", self->sender, result_text(result));
  VipConnectReject(connection);
  return 0;
}

/* Until the sender has our last word, or is gone. */
static void receive(receiver* self) {
  link_event event = {EVENT_TIMEOUT, NULL, 0, NULL};
  self->heard_ns = now_ns();
  while (event.kind != EVENT_LOST) {
    event = next_event(self);
    if (event.kind == EVENT_RECEIVED) {
      take_message(self, event.from);
      link_repost(&self->link, event.from);
    } else if (event.kind == EVENT_SENT && (event.status & VIP_STATUS_OP_MASK) == VIP_STATUS_OP_RDMA_READ) {
      take_fetched(self, event.from);
    }
    send_acknowledgements(self);
    progress_update(&self->bar, self->stored_bytes);
    if (self->finished && now_ns() - self->heard_ns > 8 * RESEND_MS * 1000000ULL) return;
  }
}

vicp_result receive_file(const vicp_job* job) {
  static receiver self; /* large */
  vicp_result result;
  memset(&result, 0, sizeof result);
  self.job = job;
  self.file = -1;
  link_open(&self.link, job->device);
  for (;;) {
    if (accept_sender(&self)) receive(&self);
    if (self.finished) break;
    link_drop_vi(&self.link);
  }
  progress_end(&self.bar);
  snprintf(result.name, sizeof result.name, "%s", self.name);
  result.bytes = self.stored_bytes;
  result.crc = self.crc;
  result.elapsed_ns = self.heard_ns - self.begun_ns;
  link_close(&self.link);
  return result;
}
