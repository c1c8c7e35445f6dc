/*
 * file_server - files by RDMA: the data never passes through a receive queue.
 *
 *   file_server serve FOLDER           serves the files of FOLDER to any number of clients, a thread for each
 *   file_server get HOST NAME OUT      fetches a file
 *   file_server put HOST FILE NAME     stores a file
 *
 * A client registers room for a piece of the file and asks, in a message of fixed size, for a piece to be moved. The server
 * moves it by RDMA Write into the client's memory (get) or RDMA Read out of it (put), and answers. The answer is posted
 * behind the RDMA operation on the same VI, so that it cannot overtake the data.
 */
#define _POSIX_C_SOURCE 200809L
#define _FILE_OFFSET_BITS 64
#include "vipl_util.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { PIECE_BYTES = 1048576 - 4096, NAME_BYTES = 256, TIMEOUT_MS = 20000 };
static const char* const discriminator = "file_server";

typedef enum { GET = 1, PUT, ANSWER } message_kind;
typedef struct {
  uint32_t kind, error; /* error: an errno, in an answer */
  uint64_t offset, length, file_bytes;
  uint64_t room;        /* of the client: where the piece is, or goes */
  VIP_MEM_HANDLE room_handle;
  uint32_t is_last;     /* PUT: the file is complete with this piece */
  char name[NAME_BYTES];
} message;

typedef struct {
  VIP_DESCRIPTOR descriptors[3]; /* of a receive, a send and an RDMA operation */
  message received, sent;
  unsigned char piece[PIECE_BYTES];
} __attribute__((aligned(VIP_DESCRIPTOR_ALIGNMENT))) buffers;

typedef struct {
  VIP_NIC_HANDLE nic;
  VIP_VI_HANDLE vi;
  vu_memory memory;
  buffers* at;
} end_point;

static void open_end(end_point* end, VIP_NIC_HANDLE nic) {
  end->nic = nic;
  end->memory = vu_register(nic, sizeof(buffers), VIP_TRUE);
  end->at = (buffers*)(void*)end->memory.bytes;
}

static void close_end(end_point* end) {
  vu_destroy_vi(end->vi);
  vu_release(end->nic, &end->memory);
}

static void post_receive(end_point* end) {
  vu_describe(&end->at->descriptors[0], &end->at->received, sizeof(message), end->memory.handle);
  MUST(VipPostRecv(end->vi, &end->at->descriptors[0], end->memory.handle));
}

static void post_send(end_point* end) {
  vu_describe(&end->at->descriptors[1], &end->at->sent, sizeof(message), end->memory.handle);
  MUST(VipPostSend(end->vi, &end->at->descriptors[1], end->memory.handle));
}

/* 1: all that was posted for sending is done. */
static int wait_sent(end_point* end, int count) {
  VIP_DESCRIPTOR* done;
  while (count-- != 0)
    if (VipSendWait(end->vi, TIMEOUT_MS, &done) != VIP_SUCCESS) return 0;
  return 1;
}

/* ---- server ---------------------------------------------------------------------------------------------- */

static int folder; /* of the files */

/* A file of the folder, never a way out of it. */
static int is_plain_name(const char* name) {
  return memchr(name, '\0', NAME_BYTES) != NULL && name[0] != '\0' && strchr(name, '/') == NULL && name[0] != '.';
}

static void post_rdma(end_point* end, VIP_UINT16 operation, uint32_t length) {
  const message* asked = &end->at->received;
  vu_describe_rdma(&end->at->descriptors[2], operation, end->at->piece, length, end->memory.handle, asked->room,
                   asked->room_handle);
  MUST(VipPostSend(end->vi, &end->at->descriptors[2], end->memory.handle));
}

/* Reads the piece and posts its RDMA Write. The number of descriptors posted. */
static int give_piece(end_point* end) {
  const message* asked = &end->at->received;
  message* answer = &end->at->sent;
  const int file = openat(folder, asked->name, O_RDONLY | O_CLOEXEC);
  struct stat about;
  ssize_t got = -1;
  if (file >= 0 && fstat(file, &about) == 0) got = pread(file, end->at->piece, asked->length, (off_t)asked->offset);
  if (got < 0) answer->error = (uint32_t)errno;
  if (file >= 0) close(file);
  if (got < 0) return 0;
  answer->length = (uint64_t)got;
  answer->file_bytes = (uint64_t)about.st_size;
  if (got == 0) return 0;
  post_rdma(end, VIP_CONTROL_OP_RDMAWRITE, (uint32_t)got);
  return 1;
}

static int write_all(int file, const unsigned char* bytes, size_t length, off_t offset) {
  while (length != 0) {
    const ssize_t written = pwrite(file, bytes, length, offset);
    if (written <= 0) return 0;
    bytes += written;
    length -= (size_t)written;
    offset += written;
  }
  return 1;
}

/* Fetches the piece and stores it, under another name until the file is complete. 0: the client is gone. */
static int take_piece(end_point* end) {
  const message* asked = &end->at->received;
  message* answer = &end->at->sent;
  char partial[NAME_BYTES + 8];
  int file;
  if (asked->length != 0) {
    post_rdma(end, VIP_CONTROL_OP_RDMAREAD, (uint32_t)asked->length);
    if (!wait_sent(end, 1)) return 0;
  }
  snprintf(partial, sizeof partial, ".%.240s.part", asked->name);
  file = openat(folder, partial, O_WRONLY | O_CREAT | O_CLOEXEC | (asked->offset == 0 ? O_TRUNC : 0), 0644);
  if (file < 0 || !write_all(file, end->at->piece, asked->length, (off_t)asked->offset)) answer->error = (uint32_t)errno;
  if (file >= 0 && close(file) != 0) answer->error = (uint32_t)errno;
  if (answer->error == 0 && asked->is_last && renameat(folder, partial, folder, asked->name) != 0) answer->error = (uint32_t)errno;
  return 1;
}

static int answer_one(end_point* end) {
  const message* asked = &end->at->received;
  message* answer = &end->at->sent;
  int posted = 1;
  memset(answer, 0, sizeof *answer);
  answer->kind = ANSWER;
  if (!is_plain_name(asked->name) || asked->length > PIECE_BYTES) answer->error = EINVAL;
  else if (asked->kind == GET) posted += give_piece(end);
  else if (asked->kind != PUT) answer->error = ENOTSUP;
  else if (!take_piece(end)) return 0;
  post_receive(end); /* the next question comes after this answer */
  post_send(end);
  return wait_sent(end, posted);
}

static void prepare(VIP_VI_HANDLE vi, void* context) {
  end_point* end = context;
  end->vi = vi;
  post_receive(end);
}

static void* serve_client(void* argument) {
  end_point* end = argument;
  VIP_DESCRIPTOR* done;
  while (VipRecvWait(end->vi, VIP_INFINITE, &done) == VIP_SUCCESS && answer_one(end)) continue;
  close_end(end);
  free(end);
  return NULL;
}

static int serve(const char* path) {
  VIP_NIC_HANDLE nic;
  folder = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (folder < 0) {
    fprintf(stderr, "%s: %s\n", path, strerror(errno));
    return 2;
  }
  nic = vu_open_nic("VINIC");
  puts("serving");
  fflush(stdout);
  for (;;) {
    end_point* end = calloc(1, sizeof *end);
    pthread_t thread;
    if (end == NULL) MUST(VIP_ERROR_RESOURCE);
    open_end(end, nic);
    vu_accept(nic, discriminator, NULL, VIP_TRUE, prepare, end);
    if (pthread_create(&thread, NULL, serve_client, end) != 0) MUST(VIP_ERROR_RESOURCE);
    pthread_detach(thread);
  }
}

/* ---- client ---------------------------------------------------------------------------------------------- */

static void connect_end(end_point* end, const char* host) {
  open_end(end, vu_open_nic("VINIC"));
  end->vi = vu_create_vi(end->nic, VIP_SERVICE_RELIABLE_DELIVERY, NULL, VIP_TRUE);
  vu_connect(end->nic, end->vi, host, discriminator);
}

static const message* ask(end_point* end, message_kind kind, const char* name, uint64_t offset, uint64_t length, int is_last) {
  message* question = &end->at->sent;
  VIP_DESCRIPTOR* done;
  memset(question, 0, sizeof *question);
  question->kind = kind;
  question->offset = offset;
  question->length = length;
  question->is_last = (uint32_t)is_last;
  question->room = (uint64_t)(uintptr_t)end->at->piece;
  question->room_handle = end->memory.handle;
  snprintf(question->name, sizeof question->name, "%s", name);
  post_receive(end);
  post_send(end);
  MUST(VipSendWait(end->vi, TIMEOUT_MS, &done));
  MUST(VipRecvWait(end->vi, TIMEOUT_MS, &done));
  if (end->at->received.error != 0) {
    fprintf(stderr, "%s: %s\n", name, strerror((int)end->at->received.error));
    exit(1);
  }
  return &end->at->received;
}

static int get(const char* host, const char* name, const char* out) {
  end_point end;
  const message* answer;
  FILE* file = NULL;
  uint64_t offset = 0;
  connect_end(&end, host);
  do {
    answer = ask(&end, GET, name, offset, PIECE_BYTES, 0);
    if (file == NULL) file = fopen(out, "wb"); /* not before the server has the file */
    if (file == NULL || fwrite(end.at->piece, 1, answer->length, file) != answer->length) {
      fprintf(stderr, "%s: %s\n", out, strerror(errno));
      return 1;
    }
    offset += answer->length;
  } while (answer->length != 0 && offset < answer->file_bytes);
  if (fclose(file) != 0) return 1;
  printf("%s: %llu bytes fetched\n", name, (unsigned long long)offset);
  close_end(&end);
  vu_close_nic(end.nic);
  return 0;
}

static int put(const char* host, const char* path, const char* name) {
  end_point end;
  uint64_t offset = 0;
  int is_last = 0;
  FILE* file = fopen(path, "rb");
  if (file == NULL) {
    fprintf(stderr, "%s: %s\n", path, strerror(errno));
    return 2;
  }
  connect_end(&end, host);
  while (!is_last) {
    const size_t length = fread(end.at->piece, 1, PIECE_BYTES, file);
    if (ferror(file)) return 1;
    is_last = length < PIECE_BYTES;
    ask(&end, PUT, name, offset, length, is_last);
    offset += length;
  }
  fclose(file);
  printf("%s: %llu bytes stored\n", name, (unsigned long long)offset);
  close_end(&end);
  vu_close_nic(end.nic);
  return 0;
}

int main(int argc, char** argv) {
  if (argc == 3 && strcmp(argv[1], "serve") == 0) return serve(argv[2]);
  if (argc == 5 && strcmp(argv[1], "get") == 0) return get(argv[2], argv[3], argv[4]);
  if (argc == 5 && strcmp(argv[1], "put") == 0) return put(argv[2], argv[3], argv[4]);
  fputs("usage: file_server serve FOLDER\n       file_server get HOST NAME OUT\n       file_server put HOST FILE NAME\n",
        argc == 2 && strcmp(argv[1], "--help") == 0 ? stdout : stderr);
  return argc == 2 && strcmp(argv[1], "--help") == 0 ? 0 : 2;
}
