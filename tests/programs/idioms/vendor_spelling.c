/* A program in the words of a vendor's header, where Data[] is a VIP_DATA_SEGMENT: it runs, and means what the guide's
 * names mean. A Send, and an RDMA Write whose Data[0] is the remote end's memory. */
#define _GNU_SOURCE
#include "pair.h"

static void VI_CALL count_error(VIP_PVOID context, VIP_ERROR_DESCRIPTOR* error) {
  (void)error;
  ++*(int*)context;
}

static void send_in_two_pieces(end_t* client, end_t* server) {
  VIP_DESCRIPTOR* d = descriptor_of(server, 0);
  VIP_DESCRIPTOR* done;
  d->Control.SegCount = 2;
  d->Data[0].Data.Address = data_of(server);
  d->Data[0].Handle = server->handle;
  d->Data[0].Length = 3;
  d->Data[1].Data.Address = data_of(server) + 100;
  d->Data[1].Handle = server->handle;
  d->Data[1].Length = 10;
  SUCCEEDS(VipPostRecv(server->vi, d, server->handle));
  d = descriptor_of(client, 0);
  strcpy(data_of(client), "abcdefg");
  d->Control.Control = VIP_CONTROL_OP_SENDRECV;
  d->Control.SegCount = 1;
  d->Control.Length = 8;
  d->Data[0].Data.Address = data_of(client);
  d->Data[0].Handle = client->handle;
  d->Data[0].Length = 8;
  SUCCEEDS(VipPostSend(client->vi, d, client->handle));
  SUCCEEDS(VipSendWait(client->vi, VIP_INFINITE, &done));
  REQUIRE(done == d && done->CS.Status == d->Control.Status && d->DS[0].Local.Length == 8);
  SUCCEEDS(VipRecvWait(server->vi, VIP_INFINITE, &done));
  REQUIRE(done->Control.Length == 8 && done->CS.Length == 8);
  REQUIRE(memcmp(data_of(server), "abc", 3) == 0 && strcmp(data_of(server) + 100, "defg") == 0);
}

static void write_to_the_remote_end(end_t* client, end_t* server) {
  VIP_DESCRIPTOR* d = descriptor_of(client, 1);
  VIP_DESCRIPTOR* done;
  d->Control.Control = VIP_CONTROL_OP_RDMAWRITE;
  d->Control.SegCount = 2;
  d->Control.Length = 8;
  d->Data[0].Data.Address = data_of(server) + 200;
  d->Data[0].Handle = server->handle;
  d->Data[1].Data.Address = data_of(client);
  d->Data[1].Handle = client->handle;
  d->Data[1].Length = 8;
  SUCCEEDS(VipPostSend(client->vi, d, client->handle));
  SUCCEEDS(VipSendWait(client->vi, VIP_INFINITE, &done));
  REQUIRE(d->DS[0].Remote.Handle == server->handle && d->DS[0].Remote.Reserved == 0);
}

int main(void) {
  VIP_ERROR_HANDLER handler = count_error;
  VIP_NIC_ATTRIBUTES nic;
  VIP_DESCRIPTOR* done;
  end_t client, server;
  int errors = 0;
  alarm(60);
  open_end(&client, "VINIC0", VIP_SERVICE_RELIABLE_RECEPTION, 4096);
  open_end(&server, "VINIC1", VIP_SERVICE_RELIABLE_RECEPTION, 4096);
  SUCCEEDS(VipQueryNic(client.nic, &nic));
  REQUIRE((nic.ReliabilityLevelSupport & VIP_BASE_SERVICES) == VIP_BASE_SERVICES);
  SUCCEEDS(VipErrorCallback(server.nic, &errors, handler));
  connect_ends(&client, &server);
  send_in_two_pieces(&client, &server);
  write_to_the_remote_end(&client, &server); /* at this level it is there when the write is done */
  REQUIRE(strcmp(data_of(&server) + 200, "abcdefg") == 0);
  require_code(VIP_ERROR, VipSendDone(client.vi, &done), "VipSendDone of an empty queue");
  REQUIRE(errors == 0);
  SUCCEEDS(VipCloseNic(client.nic));
  SUCCEEDS(VipCloseNic(server.nic));
  return 0;
}
