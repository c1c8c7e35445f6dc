/* A server with many clients, each in a process of its own on the local fabric. Every pair moves more frames than a
 * ring has slots. Then all wait: clients at their receive queues, the server for one more connection, until they are
 * killed.
 *
 * usage: many_clients CLIENTS */
#define _POSIX_C_SOURCE 200809L
#include <signal.h>
#include <sys/prctl.h>

#include "pair.h"

enum { MESSAGES = 40, BYTES = 65536 }; /* 32 frames each */

static char nic_name[] = "VINIC";

static void fill_rings(const end_t* end) {
  VIP_DESCRIPTOR* done;
  int i;
  for (i = 0; i < MESSAGES; ++i) {
    SUCCEEDS(VipPostSend(end->vi, describe(end, i, data_of(end), end->handle, BYTES), end->handle));
    SUCCEEDS(VipSendWait(end->vi, VIP_INFINITE, &done));
  }
}

static void post_receives(const end_t* end) {
  int i;
  for (i = 0; i < MESSAGES; ++i)
    SUCCEEDS(VipPostRecv(end->vi, describe(end, i, data_of(end), end->handle, BYTES), end->handle));
}

static void take_receives(const end_t* end) {
  VIP_DESCRIPTOR* done;
  int i;
  for (i = 0; i < MESSAGES; ++i) SUCCEEDS(VipRecvWait(end->vi, VIP_INFINITE, &done));
}

/* The child of serve(). */
_Noreturn static void be_client(int address_from) {
  end_t end;
  address_t local, remote;
  VIP_VI_ATTRIBUTES ignored;
  VIP_DESCRIPTOR* done;
  VIP_RETURN result;
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  REQUIRE(read(address_from, &remote, sizeof remote) == (ssize_t)sizeof remote);
  open_end(&end, nic_name, VIP_SERVICE_RELIABLE_DELIVERY, BYTES);
  name_end(&end, &local);
  post_receives(&end);
  do {
    result = VipConnectRequest(end.vi, &local.net, &remote.net, VIP_INFINITE, &ignored);
  } while (result == VIP_NO_MATCH);
  require_code(VIP_SUCCESS, result, "VipConnectRequest");
  fill_rings(&end);
  take_receives(&end);
  SUCCEEDS(VipPostRecv(end.vi, describe(&end, 0, data_of(&end), end.handle, 1), end.handle));
  VipRecvWait(end.vi, VIP_INFINITE, &done);
  _exit(1); /* nothing comes */
}

static void serve(end_t* end, int clients) {
  VIP_VI_ATTRIBUTES attributes;
  int i;
  memset(&attributes, 0, sizeof attributes);
  attributes.ReliabilityLevel = VIP_SERVICE_RELIABLE_DELIVERY;
  for (i = 0; i < clients; ++i) { /* the first one has the VI that open_end() made */
    if (i > 0) SUCCEEDS(VipCreateVi(end->nic, &attributes, NULL, NULL, &end->vi));
    post_receives(end);
    accept_one(end);
    take_receives(end);
    fill_rings(end);
  }
}

int main(int count, char** words) {
  const int clients = count == 2 ? atoi(words[1]) : 0;
  end_t end;
  address_t own;
  int addresses[2], i;
  REQUIRE(clients > 0 && pipe(addresses) == 0);
  for (i = 0; i < clients; ++i) {
    const pid_t child = fork();
    REQUIRE(child >= 0);
    if (child == 0) be_client(addresses[0]);
  }
  open_end(&end, nic_name, VIP_SERVICE_RELIABLE_DELIVERY, BYTES);
  name_end(&end, &own);
  for (i = 0; i < clients; ++i) REQUIRE(write(addresses[1], &own, sizeof own) == (ssize_t)sizeof own);
  serve(&end, clients);
  puts("all are there");
  fflush(stdout);
  accept_one(&end); /* nobody else comes */
  return 1;
}
