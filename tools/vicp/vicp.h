/* What the parts of vicp know of each other. */
#ifndef VICP_H
#define VICP_H
#include "link.h"

typedef struct {
  const char* device;
  const char* discriminator;
  int listen;
  int quiet;
  unsigned long timeout_ms;    /* until the other end is there */
  const char* path;            /* source, or OUT */
  target to;                   /* sender only */
  VIP_RELIABILITY_LEVEL level; /* 0, receiver only: as the sender wants */
  transfer_mode mode;
} vicp_job;

/* What was copied. */
typedef struct {
  char name[256];
  uint64_t bytes;
  uint32_t crc;
  uint64_t elapsed_ns;
} vicp_result;

/* Both end the program if anything fails. */
vicp_result send_file(const vicp_job* job);
vicp_result receive_file(const vicp_job* job);

/* A message, the temporary file removed, exit(EXIT_FAILED). */
_Noreturn void fail(const char* format, ...) __attribute__((format(printf, 1, 2)));
/* The file that must not stay if we fail or a signal ends us; NULL: none. Kept by reference. */
void set_temporary_file(const char* path);

#endif
