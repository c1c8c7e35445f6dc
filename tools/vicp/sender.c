/* vicp FILE HOST:[DISCRIMINATOR] */
#define _POSIX_C_SOURCE 200809L
#define _FILE_OFFSET_BITS 64
#include <errno.h>
#include <fcntl.h>
#include <isa-l/crc.h>
#include <linux/magic.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>
#include <zlib.h>

#include "progress.h"
#include "vicp.h"

/* A block on its way, in the slot of the same number or in the file's own memory. */
typedef struct {
  uint64_t number, sent_ns;
  const unsigned char* bytes;
  uint32_t length;
  int open; /* not acknowledged yet */
} block_state;

typedef struct {
  const vicp_job* job;
  vicp_link link;
  int file;
  struct stat about;           /* when it was opened */
  const unsigned char* mapped; /* NULL: blocks are read into slots */
  VIP_MEM_HANDLE mapped_memory;
  uint64_t file_bytes, blocks;
  uint16_t permissions;
  uint32_t block_bytes;
  block_state window[WINDOW];
  uint64_t next, open_blocks, acknowledged_bytes;
  uint32_t crc;
  uint64_t heard_ns;
} sender;

/* ---- the file -------------------------------------------------------------------------------------------- */

static const char shorter[] = "became shorter while it was read, or cannot be read";

static void open_source(sender* self) {
  self->file = open(self->job->path, O_RDONLY | O_CLOEXEC);
  if (self->file < 0 || fstat(self->file, &self->about) != 0) refuse("%s: %s", self->job->path, strerror(errno));
  if (!S_ISREG(self->about.st_mode)) refuse("%s: not a regular file", self->job->path);
  self->file_bytes = (uint64_t)self->about.st_size;
  self->permissions = self->about.st_mode & 0777;
}

/* Where mapped memory of the file is gone: its checksum was about to be computed. The library's own accesses end as
 * protection errors. The other end notices ours. */
static void on_missing_page(int number) {
  static const char text[] = "vicp: the file ";
  (void)number;
  if (write(STDERR_FILENO, text, sizeof text - 1) > 0 && write(STDERR_FILENO, shorter, sizeof shorter - 1) > 0)
    (void)!write(STDERR_FILENO, "\n", 1);
  _exit(EXIT_FAILED);
}

/* Blocks leave from where the file lies in memory already, if the system and the NIC can do that: a copy less. Not
 * those of a file system in memory, whose single pages take longer so; what the other end fetches by RDMA Read it
 * fetches from slots. Before the library has its own handler of these faults. */
static void map_source(sender* self) {
  struct statfs about;
  void* at;
  if (self->job->mode == MODE_READ || self->file_bytes == 0 || self->file_bytes > SIZE_MAX) return;
  if (fstatfs(self->file, &about) != 0 || about.f_type == TMPFS_MAGIC) return;
  at = mmap(NULL, (size_t)self->file_bytes, PROT_READ, MAP_SHARED, self->file, 0);
  if (at == MAP_FAILED) return;
  posix_madvise(at, (size_t)self->file_bytes, POSIX_MADV_SEQUENTIAL);
  signal(SIGBUS, on_missing_page);
  self->mapped = at;
}

static void register_source(sender* self) {
  VIP_MEM_ATTRIBUTES plain = {NULL, VIP_FALSE, VIP_FALSE};
  void* const at = (void*)(uintptr_t)self->mapped;
  if (at == NULL || VipRegisterMem(self->link.nic, at, self->file_bytes, &plain, &self->mapped_memory) == VIP_SUCCESS)
    return;
  munmap(at, (size_t)self->file_bytes);
  self->mapped = NULL;
}

/* What may be the reason for a failure; else NULL. */
static const char* what_became_of(const sender* self) {
  struct stat now;
  if (fstat(self->file, &now) != 0) return NULL;
  if (now.st_size < self->about.st_size) return shorter;
  if (now.st_size != self->about.st_size || now.st_mtim.tv_sec != self->about.st_mtim.tv_sec ||
      now.st_mtim.tv_nsec != self->about.st_mtim.tv_nsec)
    return "was written to while it was read";
  return NULL;
}

static _Noreturn void fail_with(const sender* self, const char* why) {
  const char* change = self->mapped == NULL ? NULL : what_became_of(self);
  if (change != NULL) fail("%s: %s; %s %s", self->job->to.host, why, self->job->path, change);
  fail("%s: %s", self->job->to.host, why);
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
    fail_with(self, text);
  }
  return from->head.kind == kind;
}

static link_event next_event(sender* self) {
  const link_event event = link_next(&self->link, RESEND_MS);
  if (event.kind == EVENT_LOST) fail_with(self, event.why);
  if (now_ns() - self->heard_ns > SILENCE_MS * 1000000ULL) fail_with(self, "no answer");
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
  const VIP_MEM_HANDLE memory = self->mapped == NULL ? self->link.memory : self->mapped_memory;
  block->sent_ns = now_ns();
  if (self->job->mode == MODE_WRITE) link_write_from(&self->link, here, block->bytes, memory, block->length);
  if (self->job->mode == MODE_SEND)
    link_send_from(&self->link, here, block->bytes, memory, block->length);
  else
    link_send(&self->link, here, 0);
}

static void read_block(sender* self, slot* into, uint32_t length) {
  uint32_t have = 0;
  while (have < length) {
    const off_t offset = (off_t)(self->next * self->block_bytes + have);
    const ssize_t got = pread(self->file, into->block + have, length - have, offset);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) fail("%s: %s", self->job->path, strerror(errno));
    if (got == 0) fail("%s: %s", self->job->path, shorter);
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
  block->bytes = self->mapped == NULL ? here->block : self->mapped + self->next * self->block_bytes;
  if (self->mapped == NULL) read_block(self, here, block->length);
  message_begin(&here->head, KIND_BLOCK);
  here->head.number = block->number;
  here->head.length = block->length;
  here->head.crc = crc32_gzip_refl(0, (unsigned char*)(uintptr_t)block->bytes, block->length);
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
  map_source(&self);
  link_open(&self.link, job->device);
  register_source(&self);
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
  link_close(&self.link); /* the mapping goes with the process */
  close(self.file);
  return result;
}
