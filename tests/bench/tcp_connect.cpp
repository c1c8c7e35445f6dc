// Connections over TCP as programs make them: two processes with the library, one after the other connects and
// disconnects, the other waits, accepts and disconnects, by the user's port (vitcp-portd).
// usage: bench_tcp_connect [SECONDS [CONNECT_SPIN]]; prints a line of JSON. The yardstick is bench_vitcp plain-connect.
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <filesystem>
#include <fstream>
#include <string>
#include <utility>

#include "streams/drivers/listening_socket.hpp"
#include "vipl/vipl.h"

namespace {
using Clock = std::chrono::steady_clock;

void check(bool holds, const char* what) {
  if (holds) return;
  std::fprintf(stderr, "bench_tcp_connect: %s\n", what);
  std::exit(1);
}
double seconds_since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

/// 127.0.0.1, with one octet that says whose it is.
struct Address {
  union {
    VIP_NET_ADDRESS net;
    std::uint8_t room[4 + 16 + 64];
  };
  Address(VIP_NIC_HANDLE nic, char discriminator) : room{} {
    VIP_NIC_ATTRIBUTES about{};
    check(VipQueryNic(nic, &about) == VIP_SUCCESS, "VipQueryNic");
    net.HostAddressLen = about.NicAddressLen;
    net.DiscriminatorLen = 1;
    std::memcpy(net.HostAddress, about.LocalNicAddress, about.NicAddressLen);
    net.HostAddress[about.NicAddressLen] = static_cast<std::uint8_t>(discriminator);
  }
};

void ignore(VIP_PVOID, VIP_ERROR_DESCRIPTOR*) {}  // the other end disconnects: that is known

VIP_NIC_HANDLE open_nic() {
  VIP_NIC_HANDLE nic = nullptr;
  static char name[] = "VITCP0";
  check(VipOpenNic(name, &nic) == VIP_SUCCESS, "VipOpenNic");
  check(VipErrorCallback(nic, nullptr, ignore) == VIP_SUCCESS, "VipErrorCallback");
  return nic;
}

VIP_VI_HANDLE create_vi(VIP_NIC_HANDLE nic) {
  VIP_VI_HANDLE vi = nullptr;
  VIP_VI_ATTRIBUTES wanted{};
  wanted.ReliabilityLevel = VIP_SERVICE_RELIABLE_DELIVERY;
  wanted.MaxTransferSize = 4096;
  check(VipCreateVi(nic, &wanted, nullptr, nullptr, &vi) == VIP_SUCCESS, "VipCreateVi");
  return vi;
}

/// What the other end has disconnected, the oldest first, is free again.
void take_back(std::deque<VIP_VI_HANDLE>& used, std::deque<VIP_VI_HANDLE>& free) {
  while (!used.empty()) {
    VIP_VI_STATE state{};
    VIP_VI_ATTRIBUTES about{};
    VIP_BOOLEAN sends = 0, receives = 0;
    check(VipQueryVi(used.front(), &state, &about, &sends, &receives) == VIP_SUCCESS, "VipQueryVi");
    if (state == VIP_STATE_CONNECTED) return;
    check(VipDisconnect(used.front()) == VIP_SUCCESS, "VipDisconnect");
    free.push_back(used.front());
    used.pop_front();
  }
}

[[noreturn]] void serve(int ready) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  constexpr int vis = 32;
  const VIP_NIC_HANDLE nic = open_nic();
  Address local(nic, 's'), remote(nic, 0);
  std::deque<VIP_VI_HANDLE> free, used;
  for (int i = 0; i != vis; ++i) free.push_back(create_vi(nic));
  check(::write(ready, "r", 1) == 1, "no client");
  for (;;) {
    VIP_VI_ATTRIBUTES about{};
    VIP_CONN_HANDLE connection = nullptr;
    check(VipConnectWait(nic, &local.net, VIP_INFINITE, &remote.net, &about, &connection) == VIP_SUCCESS,
          "VipConnectWait");
    check(!free.empty(), "no VI is free");
    const VIP_RETURN accepted = VipConnectAccept(connection, free.front());
    if (accepted == VIP_SUCCESS) used.push_back(std::exchange(free.front(), nullptr)), free.pop_front();
    take_back(used, free);
  }
}

/// Who comes between two waits of the server is refused, and tries again.
void measure(double seconds) {
  const VIP_NIC_HANDLE nic = open_nic();
  Address local(nic, 'c'), remote(nic, 's');
  const VIP_VI_HANDLE vi = create_vi(nic);
  VIP_VI_ATTRIBUTES about{};
  std::uint64_t count = 0, no_match = 0;
  const auto start = Clock::now();
  while (seconds_since(start) < seconds) {
    const VIP_RETURN result = VipConnectRequest(vi, &local.net, &remote.net, VIP_INFINITE, &about);
    if (result == VIP_NO_MATCH) {
      ++no_match;
      continue;
    }
    check(result == VIP_SUCCESS, "VipConnectRequest");
    check(VipDisconnect(vi) == VIP_SUCCESS, "VipDisconnect");
    ++count;
  }
  const double took = seconds_since(start);
  std::printf("{\"connections_per_s\": %.6g, \"no_match\": %llu, \"connections\": %llu}\n",
              static_cast<double>(count) / took, static_cast<unsigned long long>(no_match),
              static_cast<unsigned long long>(count));
}

/// A NIC at a port that is free now, and services of its own.
std::filesystem::path configure(const std::string& spin) {
  char folder[] = "/tmp/bench_tcp_connect.XXXXXX";
  check(::mkdtemp(folder) != nullptr, "no folder");
  const auto socket = streams::drivers::listening_socket({wire::IpAddress::v4(127, 0, 0, 1), 0});
  check(socket.has_value(), "no port");
  const std::string file = std::string(folder) + "/vipl.yaml";
  std::ofstream(file) << "fabric_idle_time: 1s\n"
                      << (spin.empty() ? "" : "connect_spin: " + spin + "\n")
                      << "nics:\n- {name: VITCP0, transport: tcp, addresses: [127.0.0.1], port: "
                      << streams::drivers::local_address_of(socket->number())->port << "}\n";
  ::setenv("FCVI_CONFIG", file.c_str(), 1);
  ::setenv("FCVI_RUNTIME_DIR", folder, 1);
  return folder;
}

}  // namespace

int main(int argc, char** argv) {
  const double seconds = argc > 1 ? std::atof(argv[1]) : 1;
  check(seconds > 0 && argc <= 3, "usage: bench_tcp_connect [SECONDS [CONNECT_SPIN]]");
  const std::filesystem::path folder = configure(argc > 2 ? argv[2] : "");
  std::array<int, 2> ready{};
  check(::pipe(ready.data()) == 0, "no pipe");
  const pid_t server = ::fork();
  check(server >= 0, "no process");
  if (server == 0) serve(ready[1]);
  ::close(ready[1]);
  char word = 0;
  check(::read(ready[0], &word, 1) == 1, "no server");
  measure(seconds);
  std::fflush(stdout);
  ::kill(server, SIGKILL);
  ::waitpid(server, nullptr, 0);
  std::error_code ignored;
  std::filesystem::remove_all(folder, ignored);
  ::_exit(0);
}
