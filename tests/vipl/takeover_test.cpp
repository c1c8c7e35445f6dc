// While one fabric service takes the place of another, calls wait for it: they find the fabric, not the gap.
#include <fcntl.h>
#include <sys/file.h>

#include <atomic>
#include <cstring>
#include <thread>

#include "tests/local_fabric/fixture.hpp"
#include "vipl/vipl.h"

namespace support {
namespace {

/// An address with room for what it points to.
struct Address {
  alignas(VIP_NET_ADDRESS) std::uint8_t room[sizeof(VIP_NET_ADDRESS) + 64]{};
  VIP_NET_ADDRESS& net() { return *reinterpret_cast<VIP_NET_ADDRESS*>(room); }
};

class TakeoverTest : public LocalFabricTest {
 public:
  TakeoverTest() { ::unsetenv("FCVI_CONFIG"); }
  ~TakeoverTest() override {
    if (lock_ >= 0) ::close(lock_);
  }

  /// No service runs from here on, and none can start until let_one_start().
  void keep_services_away() {
    lock_ = ::open(path("fabricd.lock").c_str(), O_RDWR | O_CLOEXEC);
    ASSERT_GE(lock_, 0);
    ASSERT_TRUE(eventually([&] { return command("stop") == 0 && ::flock(lock_, LOCK_EX | LOCK_NB) == 0; }));
  }
  void let_one_start() { ::flock(lock_, LOCK_UN); }
  /// While a call is under way. To be joined.
  std::thread let_one_start_later() {
    return std::thread([this] {
      std::this_thread::sleep_for(300ms);
      let_one_start();
    });
  }

  /// Exit status of a process of its own: libvipl keeps what it opened for the life of one.
  static int run(const std::function<int()>& body) {
    Child program(body);
    return program.wait();
  }

 protected:
  int lock_ = -1;
};

constexpr VIP_ULONG patience_ms = 50'000;

struct Nic {
  VIP_NIC_HANDLE handle = nullptr;
  VIP_NIC_ATTRIBUTES attributes{};
  bool open() {
    return VipOpenNic("VINIC", &handle) == VIP_SUCCESS && VipQueryNic(handle, &attributes) == VIP_SUCCESS &&
           VipNSInit(handle, nullptr) == VIP_SUCCESS;
  }
  [[nodiscard]] Address address(std::uint8_t difference) const {
    Address address;
    address.net().HostAddressLen = attributes.NicAddressLen;
    std::memcpy(address.net().HostAddress, attributes.LocalNicAddress, attributes.NicAddressLen);
    address.net().HostAddress[attributes.NicAddressLen - 1] ^= difference;
    return address;
  }
};

/// A Connect Request to an address where nobody waits, by a new VI.
VIP_RETURN connect_to_nobody(const Nic& nic, VIP_ULONG timeout_ms) {
  VIP_VI_ATTRIBUTES wanted{}, theirs{};
  wanted.ReliabilityLevel = VIP_SERVICE_RELIABLE_DELIVERY;
  VIP_VI_HANDLE vi = nullptr;
  if (VipCreateVi(nic.handle, &wanted, nullptr, nullptr, &vi) != VIP_SUCCESS) return VIP_ERROR_RESOURCE;
  Address own = nic.address(0), other = nic.address(1);
  return VipConnectRequest(vi, &own.net(), &other.net(), timeout_ms, &theirs);
}

// The fabric's own word, which only a service can give: nobody waits at that address, the name is not known. The
// library may notice the loss in the middle of a set-up, which ends by it (VI-DG 3.3.4); the next one comes in the gap.
TEST_F(TakeoverTest, calls_in_the_gap_wait_for_the_next_service) {
  const int status = run([this] {
    Nic nic;
    if (!nic.open()) return 1;
    keep_services_away();
    std::thread later = let_one_start_later();
    VIP_RETURN connected = connect_to_nobody(nic, patience_ms);
    if (connected == VIP_NOT_REACHABLE) connected = connect_to_nobody(nic, patience_ms);
    later.join();
    return connected == VIP_NO_MATCH ? 0 : 10 + connected;
  });
  EXPECT_EQ(status, 0);
}

TEST_F(TakeoverTest, names_in_the_gap_wait_for_the_next_service) {
  const int status = run([this] {
    Nic nic;
    if (!nic.open()) return 1;
    keep_services_away();
    std::thread later = let_one_start_later();
    Address found = nic.address(0);
    char nobody[] = "nobody-has-this-name";
    const VIP_RETURN result = VipNSGetHostByName(nic.handle, nobody, &found.net(), 0);
    later.join();
    return result == VIP_ERROR_NAMESERVICE ? 0 : 10 + result;
  });
  EXPECT_EQ(status, 0);
}

/// A server and its clients in one process, as loopback allows.
struct Offered {
  VIP_CONN_HANDLE request = nullptr;
  VIP_VI_HANDLE client = nullptr;
  std::atomic<bool> over{false};
  std::thread call;
  void end() {
    over = true;
    call.join();
  }
  bool make(const Nic& nic, std::uint8_t number) {
    VIP_VI_ATTRIBUTES wanted{}, theirs{};
    wanted.ReliabilityLevel = VIP_SERVICE_RELIABLE_DELIVERY;
    if (VipCreateVi(nic.handle, &wanted, nullptr, nullptr, &client) != VIP_SUCCESS) return false;
    Address local = nic.address(0), remote;
    local.net().DiscriminatorLen = 1, local.net().HostAddress[nic.attributes.NicAddressLen] = number;
    call = std::thread([this, local]() mutable {
      VIP_VI_ATTRIBUTES ignored{};
      while (!over && VipConnectRequest(client, &local.net(), &local.net(), patience_ms, &ignored) == VIP_NO_MATCH)
        std::this_thread::sleep_for(1ms);
    });
    remote.net().HostAddressLen = nic.attributes.NicAddressLen;
    return VipConnectWait(nic.handle, &local.net(), patience_ms, &remote.net(), &theirs, &request) == VIP_SUCCESS;
  }
};

// VI-DG 3.3.2, 3.3.3: the fabric is lost while requests are offered: VipConnectAccept returns VIP_NOT_REACHABLE and
// leaves a reliable VI in the Error state with its receives flushed, VipConnectReject returns it too; VipDisconnect
// makes the VI Idle.
TEST_F(TakeoverTest, offers_end_with_the_fabric) {
  const int status = run([this] {
    Nic nic;
    Offered first, second;
    if (!nic.open() || !first.make(nic, 1) || !second.make(nic, 2)) return 1;
    VIP_VI_ATTRIBUTES wanted{}, now{};
    wanted.ReliabilityLevel = VIP_SERVICE_RELIABLE_DELIVERY;
    VIP_VI_HANDLE vi = nullptr;
    if (VipCreateVi(nic.handle, &wanted, nullptr, nullptr, &vi) != VIP_SUCCESS) return 2;
    keep_services_away();
    const VIP_RETURN accepted = VipConnectAccept(first.request, vi), rejected = VipConnectReject(second.request);
    VIP_VI_STATE state{};
    VIP_BOOLEAN sends, receives;
    if (VipQueryVi(vi, &state, &now, &sends, &receives) != VIP_SUCCESS) return 3;
    const VIP_RETURN disconnected = VipDisconnect(vi);
    let_one_start();
    first.end(), second.end();
    if (accepted != VIP_NOT_REACHABLE) return 10 + accepted;
    if (rejected != VIP_NOT_REACHABLE) return 30 + rejected;
    return state != VIP_STATE_ERROR ? 50 : disconnected != VIP_SUCCESS ? 60 : 0;
  });
  EXPECT_EQ(status, 0);
}

// The time of the call is over before a service comes: it ends.
TEST_F(TakeoverTest, connect_waits_no_longer_than_it_may) {
  const int status = run([this] {
    Nic nic;
    if (!nic.open()) return 1;
    keep_services_away();
    const VIP_RETURN connected = connect_to_nobody(nic, 100);
    return connected == VIP_NOT_REACHABLE || connected == VIP_TIMEOUT ? 0 : 10 + connected;
  });
  EXPECT_EQ(status, 0);
}

}  // namespace
}  // namespace support
