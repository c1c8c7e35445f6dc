/* Bursts of small messages: all are posted before the first completion is taken.
 *
 * usage: bursts NIC     prints how many were sent; then waits until it is killed, so that its NIC can be asked */
#define _POSIX_C_SOURCE 200809L
#include "pair.h"

enum { BURST = 60, BURSTS = 100 };

static void take(VIP_VI_HANDLE vi, VIP_RETURN (*wait)(VIP_VI_HANDLE, VIP_ULONG, VIP_DESCRIPTOR**)) {
  VIP_DESCRIPTOR* done;
  for (int i = 0; i < BURST; ++i) SUCCEEDS(wait(vi, VIP_INFINITE, &done));
}

int main(int count, char** words) {
  end_t client, server;
  if (count != 2) return 2;
  open_end(&client, words[1], VIP_SERVICE_RELIABLE_DELIVERY, BURST * 8);
  open_end(&server, words[1], VIP_SERVICE_RELIABLE_DELIVERY, BURST * 8);
  connect_ends(&client, &server);
  for (int burst = 0; burst < BURSTS; ++burst) {
    for (int i = 0; i < BURST; ++i)
      SUCCEEDS(VipPostRecv(server.vi, describe(&server, i, data_of(&server) + i * 8, server.handle, 8), server.handle));
    for (int i = 0; i < BURST; ++i) {
      memset(data_of(&client) + i * 8, burst + i, 8);
      SUCCEEDS(VipPostSend(client.vi, describe(&client, i, data_of(&client) + i * 8, client.handle, 8), client.handle));
    }
    take(client.vi, VipSendWait);
    take(server.vi, VipRecvWait);
    REQUIRE(memcmp(data_of(&client), data_of(&server), BURST * 8) == 0);
  }
  printf("%d\n", BURST * BURSTS);
  fflush(stdout);
  pause();
  return 0;
}
