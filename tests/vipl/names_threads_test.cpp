// The name service in real time, from many threads at once. Run under ThreadSanitizer too.
#include <unistd.h>

#include <array>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <fstream>
#include <thread>

#include "tests/vipl/programs.hpp"

using namespace support;

namespace {

constexpr int rounds = 50;

VIP_RETURN look_up(VIP_NIC_HANDLE nic, std::string name) {
  Address address;
  return VipNSGetHostByName(nic, name.data(), &address, 0);
}

/// Two nodes in this process, whatever configuration the user has who runs the test.
class ViplNamesThreads : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    const std::string path = testing::TempDir() + "/fcvi_names_threads_" + std::to_string(getpid()) + ".yaml";
    std::ofstream(path) << "nics:\n"
                           "- {name: VINIC0, transport: in_process, node_name: host0, addresses: [10.0.0.1]}\n"
                           "- {name: VINIC1, transport: in_process, node_name: host1, addresses: [10.0.0.2]}\n";
    setenv("FCVI_CONFIG", path.c_str(), 1);
    VIP_NIC_HANDLE nic = nullptr;
    ASSERT_EQ(VipOpenNic("VINIC", &nic), VIP_SUCCESS);  // reads it
    EXPECT_EQ(VipCloseNic(nic), VIP_SUCCESS);
    std::remove(path.c_str());
  }
};

/// `what` on as many threads as it has handles.
template <class What>
void on_threads(const std::vector<VIP_NIC_HANDLE>& handles, What what) {
  std::vector<std::thread> threads;
  for (const VIP_NIC_HANDLE handle : handles) threads.emplace_back([=] { what(handle); });
  for (std::thread& thread : threads) thread.join();
}

}  // namespace

TEST_F(ViplNamesThreads, look_ups_share_a_service) {
  Node node(0), other(1);
  ASSERT_EQ(VipNSInit(node.nic, nullptr), VIP_SUCCESS);
  on_threads({node.nic, node.nic, node.nic, node.nic}, [](VIP_NIC_HANDLE nic) {
    for (int i = 0; i < rounds; ++i) {
      EXPECT_EQ(look_up(nic, "host1"), VIP_SUCCESS);
      EXPECT_EQ(look_up(nic, "localhost"), VIP_SUCCESS);
      std::array<Address, 4> addresses;
      std::array<VIP_NET_ADDRESS*, 4> entries;
      for (std::size_t k = 0; k < entries.size(); ++k) {
        addresses[k].net.HostAddressLen = 16;
        entries[k] = &addresses[k];
      }
      VIP_AUTODISCOVERY_LIST list{1, entries.data(), entries.size()};
      EXPECT_EQ(VipQuerySystemManagementInfo(nic, VIP_SMI_AUTODISCOVERY, &list), VIP_SUCCESS);
      EXPECT_EQ(list.NumAdAddrs, 1u);
    }
  });
}

// One of the threads initialises, the others are late; a look-up finds a service, or none.
TEST_F(ViplNamesThreads, init_and_shutdown_race) {
  Node node(0);
  std::atomic<int> open = 0;
  on_threads({node.nic, node.nic, node.nic, node.nic}, [&open](VIP_NIC_HANDLE nic) {
    for (int i = 0; i < rounds; ++i) {
      const VIP_RETURN init = VipNSInit(nic, nullptr);
      if (init == VIP_SUCCESS)
        EXPECT_EQ(++open, 1);
      else
        EXPECT_EQ(init, VIP_ERROR_NAMESERVICE);
      const VIP_RETURN found = look_up(nic, "host0");
      EXPECT_TRUE(found == VIP_SUCCESS || (found == VIP_ERROR_NAMESERVICE && init != VIP_SUCCESS)) << found;
      if (init != VIP_SUCCESS) continue;
      --open;
      EXPECT_EQ(VipNSShutdown(nic), VIP_SUCCESS);
    }
  });
}

// The NIC is closed under a thread that waits for a name. A slow machine may have given the name up before.
TEST_F(ViplNamesThreads, close_ends_a_look_up) {
  for (int i = 0; i < 10; ++i) {
    VIP_NIC_HANDLE nic = nullptr;
    ASSERT_EQ(VipOpenNic("VINIC", &nic), VIP_SUCCESS);
    ASSERT_EQ(VipNSInit(nic, nullptr), VIP_SUCCESS);
    std::thread waiter([nic] {
      const VIP_RETURN result = look_up(nic, "nobody-has-this-name.invalid");
      EXPECT_TRUE(result == VIP_INVALID_PARAMETER || result == VIP_ERROR_NAMESERVICE) << result;
    });
    std::this_thread::sleep_for(std::chrono::milliseconds(5 * i));
    EXPECT_EQ(VipCloseNic(nic), VIP_SUCCESS);
    waiter.join();
  }
}
