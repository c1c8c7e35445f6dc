/* What server and client of the file server example agree on. */
#ifndef FILE_SERVER_H
#define FILE_SERVER_H

#include "vipl_util.h"

enum { BLOCK_BYTES = 256 * 1024, NAME_BYTES = 128 };
#define FILE_DEFAULT_NAME "file_server"

typedef enum { OPEN_TO_READ, OPEN_TO_WRITE, READ_BLOCK, WRITE_BLOCK, CLOSE_FILE } file_operation;
typedef enum { FILE_OK, FILE_NOT_FOUND, FILE_BAD_NAME, FILE_BAD_REQUEST, FILE_IO_ERROR } file_status;

/* Client to server. A block lies at window, of which window_handle is the handle; all else is the server's to check. */
typedef struct {
  uint32_t operation, length;
  uint64_t offset, window;
  VIP_MEM_HANDLE window_handle;
  char name[NAME_BYTES];
} file_request;

/* Server to client. length: bytes of the block that were moved; size: of the file. */
typedef struct {
  uint32_t status, length;
  uint64_t size;
} file_answer;

typedef struct {
  common_options common;
  const char *service, *from, *to;
  int server, put;
  unsigned long clients;
} file_options;

const char* file_status_text(file_status status);
int file_serve(const file_options* chosen);
int file_fetch(const file_options* chosen);

#endif
