/*
 * word_count - a service that counts words, and its client.
 *
 *   one shell:      word_count --server
 *   another shell:  word_count localhost "how many words are these"
 *
 * All that it does is in words.c; word_count_test.c tests that in one process, without a fabric.
 */
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "words.h"

const char* const program_name = "word_count";
static const char* const usage =
    "usage: word_count --server [NAME] [options]\n"
    "       word_count HOST[:NAME] TEXT [options]\n"
    "Prints how many words the text has; the server (HOST) counts them.\n"
    "  --clients N     the server ends after so many clients (default 1000000)\n" COMMON_OPTIONS_TEXT
    "Exit status: 0 counted, 1 failed, 2 wrong use.\n";

typedef struct {
  common_options common;
  const char *service, *text;
  unsigned long clients;
  int server;
} options;

static void serve(const options* chosen) {
  const char* name = chosen->service == NULL ? WORDS_DEFAULT_NAME : chosen->service;
  VIP_NIC_HANDLE nic = open_nic(chosen->common.device);
  printf("%lu texts answered\n", serve_words(nic, name, chosen->common.level, chosen->clients));
  check(VipCloseNic(nic), "VipCloseNic");
}

static void ask(const options* chosen) {
  VIP_NIC_HANDLE nic = open_nic(chosen->common.device);
  unsigned long words;
  words_end end;
  check(connect_words(&end, nic, chosen->service, chosen->common.level, CONNECT_TIMEOUT_MS), chosen->service);
  check(ask_words(&end, chosen->text, strlen(chosen->text), &words), "the question");
  printf("%lu\n", words);
  close_words(&end);
  check(VipCloseNic(nic), "VipCloseNic");
}

static options read_options(int count, char** words) {
  enum { SERVER = 1, CLIENTS };
  static const struct option known[] = {{"server", no_argument, NULL, SERVER},
                                        {"clients", required_argument, NULL, CLIENTS},
                                        COMMON_LONG_OPTIONS,
                                        {NULL, 0, NULL, 0}};
  options chosen = {{"VINIC", VIP_SERVICE_RELIABLE_DELIVERY}, NULL, NULL, 1000000, 0};
  int option;
  while ((option = getopt_long(count, words, "", known, NULL)) != -1) {
    switch (option) {
      case SERVER: chosen.server = 1; break;
      case CLIENTS: chosen.clients = number_option(optarg, "--clients", 1, 1000000); break;
      default: common_option(option, optarg, &chosen.common, usage);
    }
  }
  if (optind < count) chosen.service = words[optind++];
  if (optind < count && !chosen.server) chosen.text = words[optind++];
  if (optind < count || (chosen.text == NULL && !chosen.server)) wrong_use(usage, "HOST and TEXT, or --server");
  return chosen;
}

int main(int count, char** words) {
  const options chosen = read_options(count, words);
  if (chosen.server) {
    serve(&chosen);
  } else {
    ask(&chosen);
  }
  return EXIT_SUCCESS;
}
