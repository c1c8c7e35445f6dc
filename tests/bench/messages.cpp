// Sends from one VI to another of the same process through the whole library, one at a time, in one thread: for
// callgrind, whose counts do not depend on what else runs. usage: bench_messages BYTES COUNT; tests/bench/README.md.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>
#include <unistd.h>

#include "vipl/vipl.h"

namespace {

void check(VIP_RETURN result, const char* what) {
  if (result == VIP_SUCCESS) return;
  std::fprintf(stderr, "%s: %d\n", what, result);
  std::exit(1);
}

struct Address {
  union {
    VIP_NET_ADDRESS net;
    char room[sizeof(VIP_NET_ADDRESS) + 32];
  };
  explicit Address(VIP_NIC_HANDLE nic) : room{} {
    VIP_NIC_ATTRIBUTES about{};
    check(VipQueryNic(nic, &about), "VipQueryNic");
    net.HostAddressLen = about.NicAddressLen;
    net.DiscriminatorLen = 1;
    std::memcpy(net.HostAddress, about.LocalNicAddress, about.NicAddressLen);
    net.HostAddress[about.NicAddressLen] = 'b';
  }
};

struct End {
  End(const char* device, VIP_UINT32 data_bytes) : bytes(sizeof(VIP_DESCRIPTOR) + data_bytes), length(data_bytes) {
    check(VipOpenNic(device, &nic), "VipOpenNic");
    check(VipErrorCallback(nic, nullptr, [](VIP_PVOID, VIP_ERROR_DESCRIPTOR*) {}), "VipErrorCallback");
    memory = std::aligned_alloc(VIP_DESCRIPTOR_ALIGNMENT, (bytes + 63) / 64 * 64);
    std::memset(memory, 1, bytes);
    VIP_MEM_ATTRIBUTES plain{};
    check(VipRegisterMem(nic, memory, bytes, &plain, &handle), "VipRegisterMem");
    VIP_VI_ATTRIBUTES wanted{};
    wanted.ReliabilityLevel = VIP_SERVICE_RELIABLE_DELIVERY;
    wanted.MaxTransferSize = 65536;
    check(VipCreateVi(nic, &wanted, nullptr, nullptr, &vi), "VipCreateVi");
  }
  VIP_DESCRIPTOR* descriptor() {
    auto* made = static_cast<VIP_DESCRIPTOR*>(memory);
    std::memset(made, 0, sizeof *made);
    made->CS.SegCount = 1;
    made->CS.Length = length;
    made->DS[0].Local.Data.Address = made + 1;
    made->DS[0].Local.Handle = handle;
    made->DS[0].Local.Length = length;
    return made;
  }
  VIP_ULONG bytes;
  VIP_UINT32 length;
  VIP_NIC_HANDLE nic = nullptr;
  VIP_VI_HANDLE vi = nullptr;
  VIP_MEM_HANDLE handle{};
  void* memory = nullptr;
};

void connect(End& client, End& server) {
  Address here(client.nic), there(server.nic);
  std::thread waiting([&] {
    Address remote(server.nic);
    VIP_VI_ATTRIBUTES wanted;
    VIP_CONN_HANDLE connection = nullptr;
    check(VipConnectWait(server.nic, &there.net, VIP_INFINITE, &remote.net, &wanted, &connection), "VipConnectWait");
    check(VipConnectAccept(connection, server.vi), "VipConnectAccept");
  });
  VIP_VI_ATTRIBUTES granted;
  VIP_RETURN result = VIP_NO_MATCH;
  while ((result = VipConnectRequest(client.vi, &here.net, &there.net, VIP_INFINITE, &granted)) == VIP_NO_MATCH)
    ::usleep(1000);
  check(result, "VipConnectRequest");
  waiting.join();
}

void send(End& client, End& server) {
  VIP_DESCRIPTOR* done = nullptr;
  check(VipPostRecv(server.vi, server.descriptor(), server.handle), "VipPostRecv");
  check(VipPostSend(client.vi, client.descriptor(), client.handle), "VipPostSend");
  check(VipSendWait(client.vi, VIP_INFINITE, &done), "VipSendWait");
  check(VipRecvWait(server.vi, VIP_INFINITE, &done), "VipRecvWait");
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) {
    std::fprintf(stderr, "usage: bench_messages BYTES COUNT\n");
    return 2;
  }
  const std::string file =
      std::filesystem::temp_directory_path() / ("fcvi-messages-" + std::to_string(::getpid()) + ".yaml");
  std::ofstream(file) << "nics:\n- {name: CLIENT, transport: in_process, addresses: [10.0.0.1]}\n"
                         "- {name: SERVER, transport: in_process, addresses: [10.0.0.2]}\n";
  ::setenv("FCVI_CONFIG", file.c_str(), 1);
  const auto length = static_cast<VIP_UINT32>(std::strtoul(argv[1], nullptr, 10));
  End client("CLIENT", length), server("SERVER", length);
  std::filesystem::remove(file);
  connect(client, server);
  for (unsigned long left = std::strtoul(argv[2], nullptr, 10); left != 0; --left) send(client, server);
  check(VipCloseNic(client.nic), "VipCloseNic");
  check(VipCloseNic(server.nic), "VipCloseNic");
}
