/*
 * file_server - files of a folder for several clients, moved by RDMA.
 *
 *   one shell:      file_server --server FOLDER
 *   other shells:   file_server get localhost NAME COPY
 *                   file_server put localhost FILE NAME
 *
 * A client opens a file by a request; then it asks for one block after another. Requests and answers are small
 * messages; the blocks themselves never are: the server writes them into the client's window, or reads them from it.
 * The client's processor does nothing for a block but to ask for it. A client is served by a thread of its own.
 */
#define _POSIX_C_SOURCE 200809L
#include "file_server.h"

#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char* const program_name = "file_server";
static const char* const usage =
    "usage: file_server --server [NAME] FOLDER [options]\n"
    "       file_server get HOST[:NAME] FILE COPY [options]\n"
    "       file_server put HOST[:NAME] FILE COPY [options]\n"
    "Serves the files of FOLDER; gets FILE from the server, or puts FILE there, under the name COPY.\n"
    "  --clients N     the server ends after N clients\n" COMMON_OPTIONS_TEXT
    "RDMA Read, for put, needs a reliable level.\n"
    "Exit status: 0 done, 1 failed, 2 wrong use.\n";

static file_options read_options(int count, char** words) {
  enum { SERVER = 1, CLIENTS };
  static const struct option known[] = {{"server", no_argument, NULL, SERVER},
                                        {"clients", required_argument, NULL, CLIENTS},
                                        COMMON_LONG_OPTIONS,
                                        {NULL, 0, NULL, 0}};
  file_options chosen = {{"VINIC", VIP_SERVICE_RELIABLE_DELIVERY}, FILE_DEFAULT_NAME, NULL, NULL, 0, 0, 0};
  int option, left;
  while ((option = getopt_long(count, words, "", known, NULL)) != -1) {
    switch (option) {
      case SERVER: chosen.server = 1; break;
      case CLIENTS: chosen.clients = number_option(optarg, "--clients", 1, 1000000); break;
      default: common_option(option, optarg, &chosen.common, usage);
    }
  }
  left = count - optind;
  words += optind;
  if (chosen.server) {
    if (left != 1 && left != 2) wrong_use(usage, "--server needs one FOLDER");
    if (left == 2) chosen.service = words[0];
    chosen.from = words[left - 1];
    return chosen;
  }
  if (left != 4 || (strcmp(words[0], "get") != 0 && strcmp(words[0], "put") != 0))
    wrong_use(usage, "get or put, HOST, FILE and COPY are needed");
  if (chosen.common.level == VIP_SERVICE_UNRELIABLE) wrong_use(usage, "files need a reliable level");
  chosen.put = words[0][0] == 'p';
  chosen.service = words[1];
  chosen.from = words[2];
  chosen.to = words[3];
  return chosen;
}

int main(int count, char** words) {
  const file_options chosen = read_options(count, words);
  return chosen.server ? file_serve(&chosen) : file_fetch(&chosen);
}
