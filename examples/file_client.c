/* file_server's client: asks for one block after another. */
#define _POSIX_C_SOURCE 200809L
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "file_server.h"

/* Registered memory: descriptors, the request, the answer, and the window that the server's RDMA reaches. */
typedef struct {
  VIP_DESCRIPTOR send, receive;
  file_request request;
  file_answer answer;
  unsigned char window[BLOCK_BYTES];
} shared_memory;

typedef struct {
  VIP_NIC_HANDLE nic;
  VIP_VI_HANDLE vi;
  VIP_MEM_HANDLE handle;
  shared_memory* memory;
} client;

const char* file_status_text(file_status status) {
  static const char* const texts[] = {"done", "no such file", "the name is not allowed", "the request makes no sense",
                                      "the server could not read or write"};
  return (unsigned)status < sizeof texts / sizeof *texts ? texts[status] : "unknown answer";
}

/* Sends the request and waits for its answer. A failure of the server's ends the program. */
static const file_answer* ask(client* self, file_operation operation, uint64_t offset, uint32_t length) {
  shared_memory* memory = self->memory;
  VIP_DESCRIPTOR* done;
  memory->request.operation = operation;
  memory->request.offset = offset;
  memory->request.length = length;
  describe(&memory->receive, &memory->answer, self->handle, sizeof memory->answer);
  check(VipPostRecv(self->vi, &memory->receive, self->handle), "VipPostRecv");
  describe(&memory->send, &memory->request, self->handle, sizeof memory->request);
  check(VipPostSend(self->vi, &memory->send, self->handle), "VipPostSend");
  check(VipSendWait(self->vi, WAIT_MS, &done), "request");
  check(VipRecvWait(self->vi, WAIT_MS, &done), "answer");
  if (memory->answer.status != FILE_OK)
    die("%s: %s", memory->request.name, file_status_text((file_status)memory->answer.status));
  return &memory->answer;
}

static uint64_t get(client* self, FILE* to, const char* name) {
  const uint64_t size = ask(self, OPEN_TO_READ, 0, 0)->size;
  uint64_t offset = 0;
  while (offset < size) {
    const uint32_t length = ask(self, READ_BLOCK, offset, BLOCK_BYTES)->length;
    if (length == 0) die("the file became shorter");
    if (fwrite(self->memory->window, 1, length, to) != length) die("%s: %s", name, strerror(errno));
    offset += length;
  }
  return offset;
}

static uint64_t put(client* self, FILE* from, const char* name) {
  uint64_t offset = 0;
  size_t length;
  ask(self, OPEN_TO_WRITE, 0, 0);
  while ((length = fread(self->memory->window, 1, BLOCK_BYTES, from)) != 0) {
    ask(self, WRITE_BLOCK, offset, (uint32_t)length);
    offset += length;
  }
  if (ferror(from)) die("%s: %s", name, strerror(errno));
  return offset;
}

static void open_client(client* self, const file_options* chosen) {
  self->nic = open_nic(chosen->common.device);
  self->memory = alloc_registered(self->nic, sizeof *self->memory, VIP_TRUE, &self->handle);
  self->memory->request.window = (uint64_t)(uintptr_t)self->memory->window;
  self->memory->request.window_handle = self->handle;
  self->vi = create_vi(self->nic, chosen->common.level, VIP_TRUE, NULL);
  check(connect_to(self->nic, self->vi, chosen->service, FILE_DEFAULT_NAME, CONNECT_TIMEOUT_MS), chosen->service);
}

int file_fetch(const file_options* chosen) {
  const char* local = chosen->put ? chosen->from : chosen->to;
  const char* remote = chosen->put ? chosen->to : chosen->from;
  FILE* file = fopen(local, chosen->put ? "rb" : "wb");
  uint64_t bytes;
  client self;
  if (file == NULL) die("%s: %s", local, strerror(errno));
  if (strlen(remote) >= NAME_BYTES) die("%s: the name is too long", remote);
  open_client(&self, chosen);
  memcpy(self.memory->request.name, remote, strlen(remote) + 1);
  bytes = chosen->put ? put(&self, file, local) : get(&self, file, local);
  ask(&self, CLOSE_FILE, 0, 0);
  if (fclose(file) != 0) die("%s: %s", local, strerror(errno));
  printf("%llu bytes\n", (unsigned long long)bytes);
  destroy_vi(self.vi);
  free_registered(self.nic, self.memory, self.handle);
  check(VipCloseNic(self.nic), "VipCloseNic");
  return EXIT_SUCCESS;
}
