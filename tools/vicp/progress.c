#define _DEFAULT_SOURCE
#include "progress.h"

#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "vip_common.h"

enum { INTERVAL_NS = 100000000, NARROWEST = 60, WIDEST = 100, TEXT_COLUMNS = 52 };

static int terminal_width(void) {
  struct winsize size;
  if (ioctl(STDERR_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col == 0) return 80;
  return size.ws_col > WIDEST ? WIDEST : size.ws_col;
}

void progress_begin(progress* bar, const char* name, uint64_t total_bytes, int quiet) {
  memset(bar, 0, sizeof *bar);
  to_printable(name, bar->name, sizeof bar->name);
  bar->total = total_bytes;
  bar->begun_ns = now_ns();
  bar->width = terminal_width();
  bar->visible = !quiet && isatty(STDERR_FILENO) && bar->width >= NARROWEST;
}

void bytes_to_text(double bytes, char* text, unsigned long room) {
  static const char* const units[] = {"B", "KiB", "MiB", "GiB", "TiB"};
  unsigned unit = 0;
  for (; bytes >= 1024.0 && unit + 1 < sizeof units / sizeof *units; ++unit) bytes /= 1024.0;
  snprintf(text, room, unit == 0 ? "%.0f %s" : "%.1f %s", bytes, units[unit]);
}

static void draw(const progress* bar, uint64_t done, double seconds) {
  char cells[WIDEST + 1], amount[24], rate[24], left[24] = "--:--";
  const int length = bar->width - TEXT_COLUMNS;
  const double part = bar->total == 0 ? 1.0 : (double)done / (double)bar->total;
  const double per_second = seconds > 0 ? (double)done / seconds : 0;
  const int filled = (int)(part * length);
  memset(cells, '.', (size_t)length);
  memset(cells, '#', (size_t)filled);
  cells[length] = '\0';
  bytes_to_text((double)done, amount, sizeof amount);
  bytes_to_text(per_second, rate, sizeof rate);
  if (per_second > 0) {
    const unsigned long seconds_left = (unsigned long)((double)(bar->total - done) / per_second);
    snprintf(left, sizeof left, "%02lu:%02lu", seconds_left / 60, seconds_left % 60);
  }
  fprintf(stderr, "\r%-14s %3d%% [%s] %10s %10s/s %5s", bar->name, (int)(part * 100), cells, amount, rate, left);
}

void progress_update(progress* bar, uint64_t done_bytes) {
  const uint64_t now = now_ns();
  if (!bar->visible || now - bar->shown_ns < INTERVAL_NS) return;
  bar->shown_ns = now;
  draw(bar, done_bytes, (double)(now - bar->begun_ns) / 1e9);
}

void progress_end(progress* bar) {
  if (bar->visible) fputs("\r\033[K", stderr);
}
