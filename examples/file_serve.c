/* file_server's server: a thread for each client. */
#define _POSIX_C_SOURCE 200809L
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "file_server.h"

/* Registered memory. The block is out of reach of the clients: the server moves it. */
typedef struct {
  VIP_DESCRIPTOR send, receive, move;
  file_request request;
  file_answer answer;
  unsigned char block[BLOCK_BYTES];
} shared_memory;

typedef struct {
  VIP_NIC_HANDLE nic;
  VIP_VI_HANDLE vi;
  VIP_MEM_HANDLE handle;
  shared_memory* memory;
  int folder, file;
} client;

/* ---- requests ------------------------------------------------------------------------------------------- */

/* Moves the block between the server's memory and the client's window. False: the connection is lost. */
static int move_block(client* to, VIP_UINT16 operation, const file_request* request, uint32_t length) {
  shared_memory* memory = to->memory;
  VIP_DESCRIPTOR* done;
  describe_rdma(&memory->move, operation, request->window, request->window_handle, memory->block, to->handle, length);
  check(VipPostSend(to->vi, &memory->move, to->handle), "VipPostSend");
  return VipSendWait(to->vi, WAIT_MS, &done) == VIP_SUCCESS;
}

static file_status open_file(client* of, const file_request* request, file_answer* answer) {
  const int flags = request->operation == OPEN_TO_READ ? O_RDONLY : O_WRONLY | O_CREAT | O_TRUNC;
  struct stat about;
  if (memchr(request->name, '\0', NAME_BYTES) == NULL || request->name[0] == '\0' || request->name[0] == '.' ||
      strchr(request->name, '/') != NULL)
    return FILE_BAD_NAME;
  if (of->file >= 0) close(of->file);
  of->file = openat(of->folder, request->name, flags | O_NOFOLLOW | O_CLOEXEC, 0666);
  if (of->file < 0) return errno == ENOENT ? FILE_NOT_FOUND : FILE_IO_ERROR;
  if (fstat(of->file, &about) != 0 || !S_ISREG(about.st_mode)) return FILE_NOT_FOUND;
  answer->size = (uint64_t)about.st_size;
  return FILE_OK;
}

static file_status read_block(client* of, const file_request* request, file_answer* answer, int* lost) {
  const ssize_t length = pread(of->file, of->memory->block, request->length, (off_t)request->offset);
  if (length < 0) return FILE_IO_ERROR;
  answer->length = (uint32_t)length;
  *lost = length > 0 && !move_block(of, VIP_CONTROL_OP_RDMAWRITE, request, answer->length);
  return FILE_OK;
}

static file_status write_block(client* of, const file_request* request, file_answer* answer, int* lost) {
  *lost = !move_block(of, VIP_CONTROL_OP_RDMAREAD, request, request->length);
  if (*lost) return FILE_IO_ERROR;
  if (pwrite(of->file, of->memory->block, request->length, (off_t)request->offset) != (ssize_t)request->length)
    return FILE_IO_ERROR;
  answer->length = request->length;
  return FILE_OK;
}

static file_status close_file(client* of) {
  const int result = of->file < 0 ? 0 : close(of->file);
  of->file = -1;
  return result == 0 ? FILE_OK : FILE_IO_ERROR;
}

static file_status carry_out(client* of, const file_request* request, file_answer* answer, int* lost) {
  memset(answer, 0, sizeof *answer);
  switch (request->operation) {
    case OPEN_TO_READ:
    case OPEN_TO_WRITE: return open_file(of, request, answer);
    case CLOSE_FILE: return close_file(of);
    case READ_BLOCK:
    case WRITE_BLOCK: break;
    default: return FILE_BAD_REQUEST;
  }
  if (of->file < 0 || request->length > BLOCK_BYTES || request->length == 0) return FILE_BAD_REQUEST;
  return request->operation == READ_BLOCK ? read_block(of, request, answer, lost)
                                          : write_block(of, request, answer, lost);
}

/* ---- clients -------------------------------------------------------------------------------------------- */

static void post_receive(client* of) {
  describe(&of->memory->receive, &of->memory->request, of->handle, sizeof of->memory->request);
  check(VipPostRecv(of->vi, &of->memory->receive, of->handle), "VipPostRecv");
}

/* False: the client is gone. */
static int send_answer(client* to, file_status status) {
  VIP_DESCRIPTOR* done;
  to->memory->answer.status = status;
  describe(&to->memory->send, &to->memory->answer, to->handle, sizeof to->memory->answer);
  check(VipPostSend(to->vi, &to->memory->send, to->handle), "VipPostSend");
  return VipSendWait(to->vi, WAIT_MS, &done) == VIP_SUCCESS;
}

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static unsigned long living;

static void change_living(int by) {
  pthread_mutex_lock(&mutex);
  living += (unsigned long)by;
  pthread_cond_signal(&changed);
  pthread_mutex_unlock(&mutex);
}

static void wait_for_the_last(void) {
  pthread_mutex_lock(&mutex);
  while (living != 0) pthread_cond_wait(&changed, &mutex);
  pthread_mutex_unlock(&mutex);
}

static void free_client(client* gone) {
  if (gone->file >= 0) close(gone->file);
  bury(gone->nic, gone->vi, gone->memory, gone->handle, NULL, NULL);
  free(gone);
}

/* One request at a time until the client disconnects or dies, which flushes the receive. */
static void* serve_client(void* argument) {
  client* self = argument;
  unsigned long requests = 0;
  VIP_DESCRIPTOR* done;
  int lost = 0;
  while (!lost && VipRecvWait(self->vi, VIP_INFINITE, &done) == VIP_SUCCESS) {
    const file_request request = self->memory->request; /* the client cannot change it any more */
    const file_status status = carry_out(self, &request, &self->memory->answer, &lost);
    if (lost) break;
    post_receive(self);
    lost = !send_answer(self, status);
    ++requests;
  }
  printf("client gone after %lu requests\n", requests);
  fflush(stdout);
  free_client(self);
  change_living(-1);
  return NULL;
}

static client* new_client(VIP_NIC_HANDLE nic, int folder, VIP_RELIABILITY_LEVEL level) {
  client* created = calloc(1, sizeof *created);
  if (created == NULL) die("no memory");
  created->nic = nic;
  created->folder = folder;
  created->file = -1;
  created->memory = alloc_registered(nic, sizeof *created->memory, VIP_FALSE, &created->handle);
  created->vi = create_vi(nic, level, VIP_FALSE, NULL);
  post_receive(created);
  return created;
}

static void start_client(client* next) {
  pthread_t thread;
  change_living(+1);
  if (pthread_create(&thread, NULL, serve_client, next) != 0) die("no thread");
  pthread_detach(thread);
}

int file_serve(const file_options* chosen) {
  const int folder = open(chosen->from, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  unsigned long served = 0;
  VIP_NIC_HANDLE nic;
  if (folder < 0) die("%s: %s", chosen->from, strerror(errno));
  nic = open_nic(chosen->common.device);
  while (chosen->clients == 0 || served < chosen->clients) {
    client* next = new_client(nic, folder, chosen->common.level);
    const VIP_RETURN result = accept_client(nic, chosen->service, VIP_INFINITE, next->vi);
    if (result == VIP_SUCCESS) {
      start_client(next);
      ++served;
    } else {
      fprintf(stderr, "%s: accept: %s\n", program_name, result_text(result));
      free_client(next);
    }
  }
  wait_for_the_last();
  wait_for_burials();
  check(VipCloseNic(nic), "VipCloseNic");
  close(folder);
  return EXIT_SUCCESS;
}
