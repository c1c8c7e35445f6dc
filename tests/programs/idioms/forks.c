/* A program with two connected VIs forks. The child has neither NIC nor sockets, whether it goes on, execs or exits,
 * and can open a NIC of its own; the parent's connection goes on, and ends though a child lives.
 *
 * usage: forks NIC */
#define _POSIX_C_SOURCE 200809L
#include <dirent.h>
#include <signal.h>
#include <sys/wait.h>

#include "pair.h"

enum { ROUNDS = 5 };

static char* program;
static char* nic_name;

/* A socket that stays open here would keep the parent's connections up when the parent ends. */
static int open_sockets(void) {
  DIR* folder = opendir("/proc/self/fd");
  struct dirent* entry;
  int sockets = 0;
  REQUIRE(folder != NULL);
  while ((entry = readdir(folder)) != NULL) {
    char path[300], what[64];
    ssize_t length;
    snprintf(path, sizeof path, "/proc/self/fd/%s", entry->d_name);
    length = readlink(path, what, sizeof what);
    sockets += length > 7 && memcmp(what, "socket:", 7) == 0;
  }
  closedir(folder);
  return sockets;
}

static void exchange(const end_t* from, const end_t* to, char letter) {
  VIP_DESCRIPTOR* done;
  char* out = data_of(from);
  char* in = data_of(to);
  memset(out, letter, 100);
  memset(in, 0, 100);
  SUCCEEDS(VipPostRecv(to->vi, describe(to, 0, in, to->handle, 100), to->handle));
  SUCCEEDS(VipPostSend(from->vi, describe(from, 1, out, from->handle, 100), from->handle));
  SUCCEEDS(VipSendWait(from->vi, VIP_INFINITE, &done));
  SUCCEEDS(VipRecvWait(to->vi, VIP_INFINITE, &done));
  REQUIRE(memcmp(in, out, 100) == 0);
}

static void open_pair(end_t* client, end_t* server) {
  open_end(client, nic_name, VIP_SERVICE_RELIABLE_DELIVERY, 4096);
  open_end(server, nic_name, VIP_SERVICE_RELIABLE_DELIVERY, 4096);
  connect_ends(client, server);
  exchange(client, server, 'o');
}

static void expect_nothing_of(const end_t* end) {
  VIP_NIC_ATTRIBUTES attributes;
  VIP_DESCRIPTOR* done;
  require_code(VIP_INVALID_PARAMETER, VipQueryNic(end->nic, &attributes), "VipQueryNic in the child");
  require_code(VIP_INVALID_PARAMETER, VipRecvDone(end->vi, &done), "VipRecvDone in the child");
  require_code(VIP_INVALID_PARAMETER, VipDisconnect(end->vi), "VipDisconnect in the child");
  REQUIRE(open_sockets() == 0);
}

static void stay(void) { pause(); }
static void leave(void) { exit(0); }
static void execute(void) {
  char word[] = "sockets";
  char* words[] = {program, word, NULL};
  execv(program, words);
  _exit(1);
}
static void use_a_nic_of_its_own(void) {
  end_t client, server;
  open_pair(&client, &server);
  SUCCEEDS(VipDisconnect(client.vi));
  exit(0);
}

static pid_t child_that(void (*does)(void), const end_t* client, const end_t* server) {
  const pid_t child = fork();
  REQUIRE(child >= 0);
  if (child > 0) return child;
  alarm(60); /* a call that hangs is killed */
  expect_nothing_of(client);
  expect_nothing_of(server);
  does();
  _exit(1);
}

static void expect_success_of(pid_t child) {
  int status = 0;
  REQUIRE(waitpid(child, &status, 0) == child && status == 0);
}

int main(int count, char** words) {
  end_t client, server;
  pid_t idle;
  int round;
  VIP_DESCRIPTOR* done;
  program = words[0];
  REQUIRE(count == 2);
  if (strcmp(words[1], "sockets") == 0) return open_sockets() == 0 ? 0 : 1;
  nic_name = words[1];
  open_pair(&client, &server);
  idle = child_that(stay, &client, &server);
  for (round = 0; round < ROUNDS; ++round) {
    const pid_t child = child_that(leave, &client, &server);
    exchange(&client, &server, 'a');
    expect_success_of(child);
    expect_success_of(child_that(execute, &client, &server));
    exchange(&server, &client, 'b');
    expect_success_of(child_that(use_a_nic_of_its_own, &client, &server));
    exchange(&client, &server, 'c');
  }
  SUCCEEDS(VipPostRecv(server.vi, describe(&server, 0, data_of(&server), server.handle, 1), server.handle));
  SUCCEEDS(VipDisconnect(client.vi));
  require_code(VIP_DESCRIPTOR_ERROR, VipRecvWait(server.vi, VIP_INFINITE, &done), "the other end hears of it");
  REQUIRE(kill(idle, 0) == 0);
  kill(idle, SIGKILL);
  waitpid(idle, NULL, 0);
  return 0;
}
