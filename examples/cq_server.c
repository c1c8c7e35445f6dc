/*
 * cq_server - one completion queue serves hundreds of clients.
 *
 *   one shell:      cq_server --server
 *   other shells:   cq_server localhost -n 1000
 *
 * Clients send numbered messages, at most WINDOW before an answer; the server checks number and content and answers
 * each. Three threads serve:
 *   the acceptor waits for clients and gives each a VI whose two queues report to the completion queue;
 *   the worker waits there, and nowhere else, for whatever happens next to any client;
 *   the main thread has clients buried whose connection is over, and reports once a second.
 * A client that dies is noticed by its receives: the library flushes them, which the completion queue tells as well. A
 * client is buried when all its descriptors are back, so that nothing of it is in anybody's hands.
 */
#define _POSIX_C_SOURCE 200809L
#include "cq_server.h"

#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>

const char* const program_name = "cq_server";
static const char* const usage =
    "usage: cq_server --server [NAME] [options]\n"
    "       cq_server HOST[:NAME] [options]\n"
    "The server answers and checks the messages of many clients through one completion queue.\n"
    "Server:\n"
    "  --clients N     end after N clients, else at SIGINT or SIGTERM\n"
    "  --most N        clients at the same time (default 1000)\n"
    "Client:\n"
    "  -n MESSAGES     messages to send (default 1000)\n"
    "  --pace US       microseconds between messages (default 0)\n"
    "  --patience S    seconds until it gives up to connect to a busy server (default 10)\n" COMMON_OPTIONS_TEXT
    "Exit status: 0 all was well (the server: lost clients are well too), 1 failed, 2 wrong use.\n";

static cq_options read_options(int count, char** words) {
  enum { SERVER = 1, CLIENTS, MOST, PACE, PATIENCE };
  static const struct option known[] = {{"server", no_argument, NULL, SERVER},
                                        {"clients", required_argument, NULL, CLIENTS},
                                        {"most", required_argument, NULL, MOST},
                                        {"pace", required_argument, NULL, PACE},
                                        {"patience", required_argument, NULL, PATIENCE},
                                        COMMON_LONG_OPTIONS,
                                        {NULL, 0, NULL, 0}};
  cq_options chosen = {{"VINIC", VIP_SERVICE_RELIABLE_DELIVERY}, NULL, 0, 0, 1000, 1000, 0, CONNECT_TIMEOUT_MS / 1000};
  int option;
  while ((option = getopt_long(count, words, "n:", known, NULL)) != -1) {
    switch (option) {
      case SERVER: chosen.server = 1; break;
      case CLIENTS: chosen.clients = number_option(optarg, "--clients", 1, 1000000); break;
      case MOST: chosen.most = number_option(optarg, "--most", 1, 100000); break;
      case PACE: chosen.pace_us = number_option(optarg, "--pace", 0, 999999); break;
      case PATIENCE: chosen.patience_s = number_option(optarg, "--patience", 1, 3600); break;
      case 'n': chosen.messages = number_option(optarg, "-n", 1, 1000000000); break;
      default: common_option(option, optarg, &chosen.common, usage);
    }
  }
  if (optind < count) chosen.service = words[optind++];
  if (optind < count || (chosen.service == NULL && !chosen.server)) wrong_use(usage, "one HOST is needed, or --server");
  return chosen;
}

int main(int count, char** words) {
  const cq_options chosen = read_options(count, words);
  return chosen.server ? cq_serve(&chosen) : cq_send(&chosen);
}
