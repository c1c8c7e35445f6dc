/* A progress bar on a terminal (standard error); nothing elsewhere. */
#ifndef VICP_PROGRESS_H
#define VICP_PROGRESS_H
#include <stdint.h>

typedef struct {
  char name[15]; /* what there is room for */
  uint64_t total, begun_ns, shown_ns;
  int visible, width;
} progress;

void progress_begin(progress* bar, const char* name, uint64_t total_bytes, int quiet);
/* Draws at most ten times a second. */
void progress_update(progress* bar, uint64_t done_bytes);
/* Takes the bar away. */
void progress_end(progress* bar);
/* "1.4 MiB", "512 B". */
void bytes_to_text(double bytes, char* text, unsigned long room);

#endif
