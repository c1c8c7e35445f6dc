/*
 * vicp - copies a file between processes and hosts, through VIPL alone.
 *
 * The sender splits the file into blocks and keeps WINDOW of them on their way, each in a registered slot of its own;
 * the receiver stores each, checks its CRC-32 and acknowledges it, which gives the slot back.
 *   send:  the block is part of the message;
 *   write: RDMA Write into the receiver's slot, then the message;
 *   read:  the message, then the receiver's RDMA Read from the sender's slot.
 * Unreliable Delivery may lose messages: a block without an answer is sent again.
 */
#define _POSIX_C_SOURCE 200809L
#include "vicp.h"

#include <getopt.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "progress.h"

static const char usage[] =
    "usage: vicp [options] FILE HOST:[DISCRIMINATOR]     sends FILE\n"
    "       vicp [options] --listen OUT                  receives one file as OUT, or into the folder OUT\n"
    "\n"
    "Copies a file between processes and hosts over VI connections. Either end may be started first.\n"
    "\n"
    "  -l, --level LEVEL          unreliable, delivery or reception. Sender: delivery unless given;\n"
    "                             receiver: the sender's unless given\n"
    "  -m, --mode MODE            sender: send (default), write (RDMA Write), read (RDMA Read; not with unreliable)\n"
    "  -d, --discriminator TEXT   receiver: the name that senders give after HOST: (default vicp)\n"
    "      --nic NAME             the VI NIC to open (default VINIC)\n"
    "  -t, --timeout SECONDS      how long to wait for the other end (sender 10, receiver for ever)\n"
    "  -q, --quiet                no progress bar and no summary\n"
    "  -h, --help                 this text\n"
    "\n"
    "A partial copy is never kept: OUT appears when all of it is stored and checked, with the source's permissions.\n"
    "There is therefore nothing to resume, and --resume is refused.\n"
    "Exit status: 0 copied, 1 failed, 2 wrong arguments.\n";

static const char* volatile temporary_file;

void set_temporary_file(const char* path) { temporary_file = path; }

/* exit(), not _exit(): the library lets what is sent go out first, and the other end hears why. */
void fail(const char* format, ...) {
  char text[1024];
  va_list arguments;
  const char* left_over = temporary_file;
  va_start(arguments, format);
  vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  if (isatty(STDERR_FILENO)) fputs("\r\033[K", stderr);
  say("%s", text);
  if (left_over != NULL) unlink(left_over);
  exit(EXIT_FAILED);
}

static void on_signal(int number) {
  const char* left_over = temporary_file;
  if (left_over != NULL) unlink(left_over);
  signal(number, SIG_DFL);
  raise(number);
}

/* ---- command line ---------------------------------------------------------------------------------------- */

enum { OPTION_LISTEN = 256, OPTION_NIC, OPTION_RESUME };
static const struct option options[] = {{"level", required_argument, NULL, 'l'},
                                        {"mode", required_argument, NULL, 'm'},
                                        {"discriminator", required_argument, NULL, 'd'},
                                        {"nic", required_argument, NULL, OPTION_NIC},
                                        {"timeout", required_argument, NULL, 't'},
                                        {"quiet", no_argument, NULL, 'q'},
                                        {"listen", no_argument, NULL, OPTION_LISTEN},
                                        {"resume", no_argument, NULL, OPTION_RESUME},
                                        {"help", no_argument, NULL, 'h'},
                                        {NULL, 0, NULL, 0}};

static transfer_mode mode_from_word(const char* word) {
  static const char* const words[MODES] = {"send", "write", "read"};
  int i;
  for (i = 0; i < MODES; ++i)
    if (strcmp(word, words[i]) == 0) return (transfer_mode)i;
  refuse("unknown mode '%s': send, write or read expected", word);
}

static void take_option(int option, vicp_job* job) {
  switch (option) {
    case 'l':
      if ((job->level = level_from_word(optarg)) == 0)
        refuse("unknown level '%s': unreliable, delivery or reception expected", optarg);
      return;
    case 'm': job->mode = mode_from_word(optarg); return;
    case 'd':
      if (optarg[0] == '\0' || strlen(optarg) > 127) refuse("--discriminator: 1 to 127 bytes expected");
      job->discriminator = optarg;
      return;
    case 't': job->timeout_ms = milliseconds_from_word("--timeout", optarg); return;
    case 'q': job->quiet = 1; return;
    case OPTION_NIC: job->device = optarg; return;
    case OPTION_LISTEN: job->listen = 1; return;
    case OPTION_RESUME: refuse("--resume: a partial copy is never kept, so that there is nothing to resume");
    case 'h': fputs(usage, stdout); exit(EXIT_DONE);
    default: fprintf(stderr, "Try 'vicp --help'.\n"); exit(EXIT_USAGE);
  }
}

static void finish_sender(vicp_job* job, const char* where) {
  const char* why = NULL;
  if (!target_from_word(where, 1, &job->to, &why)) refuse("'%s': %s", where, why);
  if (strcmp(job->discriminator, "vicp") != 0) refuse("--discriminator is the receiver's; name it after HOST:");
  if (job->to.discriminator[0] != '\0') job->discriminator = job->to.discriminator;
  if (job->level == 0) job->level = VIP_SERVICE_RELIABLE_DELIVERY;
  if (job->mode == MODE_READ && job->level == VIP_SERVICE_UNRELIABLE) refuse("RDMA Read needs a reliable level");
  if (job->timeout_ms == 0) job->timeout_ms = 10000;
}

static void read_arguments(int count, char** words, vicp_job* job) {
  int option;
  while ((option = getopt_long(count, words, "l:m:d:t:qh", options, NULL)) != -1) take_option(option, job);
  if (count - optind != (job->listen ? 1 : 2))
    refuse("%s", job->listen ? "--listen needs OUT alone" : "FILE and HOST:[DISCRIMINATOR] are needed");
  job->path = words[optind];
  if (!job->listen) finish_sender(job, words[optind + 1]);
  if (job->listen && job->timeout_ms == 0) job->timeout_ms = VIP_INFINITE;
}

static void print_summary(const vicp_job* job, const vicp_result* result) {
  char rate[32], name[4 * 4096]; /* of any path */
  const double seconds = (double)result->elapsed_ns / 1e9;
  if (job->quiet) return;
  to_printable(job->listen ? result->name : job->path, name, sizeof name);
  bytes_to_text(seconds > 0 ? (double)result->bytes / seconds : 0, rate, sizeof rate);
  printf("%s: %llu bytes %s, CRC-32 %08x, %.2f s, %s/s\n", name, (unsigned long long)result->bytes,
         job->listen ? "received" : "copied", (unsigned)result->crc, seconds, rate);
}

int main(int count, char** words) {
  vicp_job job = {.device = "VINIC", .discriminator = "vicp"};
  vicp_result result;
  program_name = "vicp";
  read_arguments(count, words, &job);
  signal(SIGINT, on_signal);
  signal(SIGTERM, on_signal);
  signal(SIGHUP, on_signal);
  result = job.listen ? receive_file(&job) : send_file(&job);
  print_summary(&job, &result);
  return EXIT_DONE;
}
