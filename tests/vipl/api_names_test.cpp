// VI-DG 3.9 and 3.7.6 through the API, in virtual time: every return code of each page.
#include <unistd.h>

#include <cstdio>
#include <fstream>

#include "tests/vipl/programs.hpp"

using namespace support;

namespace {

/// VINICn is of node "hostn" at 10.0.0.(n + 1) in a simulation.
VIP_RETURN by_name(Node& node, const char* name, Address& address, VIP_ULONG index = 0) {
  std::string copy(name);
  return VipNSGetHostByName(node.nic, copy.data(), &address, index);
}

/// The last byte of the IPv4 address that a name has; 0: VIP_ERROR_NAMESERVICE.
int host_of(Node& node, const char* name, VIP_ULONG index = 0) {
  Address address;
  const VIP_RETURN result = by_name(node, name, address, index);
  if (result == VIP_ERROR_NAMESERVICE) return 0;
  EXPECT_EQ(result, VIP_SUCCESS) << name;
  EXPECT_EQ(address.net.HostAddressLen, 16);
  EXPECT_EQ(address.net.DiscriminatorLen, 0);
  return address.bytes[4 + 15];
}

std::string name_of(Node& node, unsigned host) {
  Address address(host, "whatever");
  char name[64];
  VIP_ULONG length = sizeof name;
  const VIP_RETURN result = VipNSGetHostByAddr(node.nic, &address, name, &length);
  if (result == VIP_ERROR_NAMESERVICE) return "";
  EXPECT_EQ(result, VIP_SUCCESS);
  EXPECT_EQ(length, std::strlen(name));  // without its NUL
  return name;
}

class HostsOnDisk {
 public:
  explicit HostsOnDisk(const char* text) : path_(testing::TempDir() + "/fcvi_api_hosts_" + std::to_string(getpid())) {
    std::ofstream(path_) << text;
  }
  ~HostsOnDisk() { std::remove(path_.c_str()); }
  HostsOnDisk(const HostsOnDisk&) = delete;
  HostsOnDisk& operator=(const HostsOnDisk&) = delete;
  char* path() { return path_.data(); }

 private:
  std::string path_;
};

/// No file of the user who runs the test is read.
class ViplNames : public testing::Test {
 protected:
  ViplNames() {
    setenv("XDG_CONFIG_HOME", "/nonexistent", 1);
    setenv("XDG_CONFIG_DIRS", "/nonexistent", 1);
  }
  ~ViplNames() override {
    unsetenv("XDG_CONFIG_HOME");
    unsetenv("XDG_CONFIG_DIRS");
  }
};

// --- 3.9.1, 3.9.4 ------------------------------------------------------------------------------------------------

TEST_F(ViplNames, init_and_shutdown) {
  simulate({[] {
    Node node, other;
    Address address;
    char text[64];
    VIP_ULONG length = sizeof text;
    EXPECT_EQ(VipNSShutdown(node.nic), VIP_ERROR_NAMESERVICE);
    EXPECT_EQ(by_name(node, "localhost", address), VIP_ERROR_NAMESERVICE);
    Address own(0, "");
    EXPECT_EQ(VipNSGetHostByAddr(node.nic, &own, text, &length), VIP_ERROR_NAMESERVICE);
    EXPECT_EQ(VipNSInit(node.nic, nullptr), VIP_SUCCESS);
    EXPECT_EQ(VipNSInit(node.nic, nullptr), VIP_ERROR_NAMESERVICE);
    EXPECT_EQ(by_name(node, "localhost", address), VIP_SUCCESS);
    EXPECT_EQ(by_name(other, "localhost", address), VIP_ERROR_NAMESERVICE);  // each open NIC has its own
    EXPECT_EQ(VipNSShutdown(node.nic), VIP_SUCCESS);
    EXPECT_EQ(VipNSShutdown(node.nic), VIP_ERROR_NAMESERVICE);
    EXPECT_EQ(VipNSInit(node.nic, nullptr), VIP_SUCCESS);  // again
  }});
}

TEST_F(ViplNames, handles_that_are_none) {
  simulate({[] {
    Node node;
    const VIP_NIC_HANDLE nic = node.nic;
    EXPECT_EQ(VipNSInit(nic, nullptr), VIP_SUCCESS);
    node.close();
    char name[] = "localhost";
    Address address;
    VIP_ULONG length = 1;
    VIP_AUTODISCOVERY_LIST list{};
    for (void* handle : {static_cast<void*>(nullptr), static_cast<void*>(nic), static_cast<void*>(&length)}) {
      EXPECT_EQ(VipNSInit(handle, nullptr), VIP_INVALID_PARAMETER);
      EXPECT_EQ(VipNSGetHostByName(handle, name, &address, 0), VIP_INVALID_PARAMETER);
      EXPECT_EQ(VipNSGetHostByAddr(handle, &address, name, &length), VIP_INVALID_PARAMETER);
      EXPECT_EQ(VipNSShutdown(handle), VIP_INVALID_PARAMETER);
      EXPECT_EQ(VipQuerySystemManagementInfo(handle, VIP_SMI_AUTODISCOVERY, &list), VIP_INVALID_PARAMETER);
    }
  }});
}

TEST_F(ViplNames, init_with_a_file) {
  simulate({[] {
    HostsOnDisk hosts("10.0.0.77 elsewhere.example.org elsewhere\n10.0.0.78 elsewhere\n");
    Node node;
    EXPECT_EQ(VipNSInit(node.nic, hosts.path()), VIP_SUCCESS);
    EXPECT_EQ(host_of(node, "ELSEWHERE", 0), 77);
    EXPECT_EQ(host_of(node, "elsewhere", 1), 78);
    EXPECT_EQ(host_of(node, "elsewhere", 2), 0);
    EXPECT_EQ(host_of(node, "elsewhere.example.org", 1), 0);
    EXPECT_EQ(name_of(node, 76), "elsewhere.example.org");
  }});
}

TEST_F(ViplNames, init_with_a_bad_file) {
  simulate({[] {
    Node node;
    char missing[] = "/nonexistent/hosts";
    EXPECT_EQ(VipNSInit(node.nic, missing), VIP_INVALID_PARAMETER);
    HostsOnDisk bad("elsewhere 10.0.0.77\n");
    testing::internal::CaptureStderr();
    EXPECT_EQ(VipNSInit(node.nic, bad.path()), VIP_INVALID_PARAMETER);
    const std::string said = testing::internal::GetCapturedStderr();
    EXPECT_NE(said.find(std::string(bad.path()) + ":1:1: expected an IPv4 or IPv6 address"), std::string::npos) << said;
    EXPECT_EQ(VipNSShutdown(node.nic), VIP_ERROR_NAMESERVICE);  // nothing was initialised
    EXPECT_EQ(VipNSInit(node.nic, nullptr), VIP_SUCCESS);
  }});
}

// A default file that is there but bad: the user's own, so that the program's parameter is not to blame.
TEST_F(ViplNames, init_with_a_bad_default_file) {
  const std::string folder = testing::TempDir() + "/fcvi_api_config_" + std::to_string(getpid());
  ASSERT_EQ(std::system(("mkdir -p " + folder + "/fcvi").c_str()), 0);
  setenv("XDG_CONFIG_HOME", folder.c_str(), 1);
  simulate({[&] {
    Node node;
    std::ofstream(folder + "/fcvi/hosts") << "bad\n";
    EXPECT_EQ(VipNSInit(node.nic, nullptr), VIP_ERROR_RESOURCE);
    std::ofstream(folder + "/fcvi/hosts") << "10.0.0.99 default-host\n";
    EXPECT_EQ(VipNSInit(node.nic, nullptr), VIP_SUCCESS);
    EXPECT_EQ(host_of(node, "default-host"), 99);
  }});
  ASSERT_EQ(std::system(("rm -r " + folder).c_str()), 0);
}

// --- 3.9.2 -------------------------------------------------------------------------------------------------------

TEST_F(ViplNames, names_on_the_fabric) {
  simulate({[] {
    Node node(0), one(1), two(2);
    ASSERT_EQ(VipNSInit(node.nic, nullptr), VIP_SUCCESS);
    EXPECT_EQ(host_of(node, "host0"), 1);
    EXPECT_EQ(host_of(node, "localhost"), 1);
    EXPECT_EQ(host_of(node, "localhost", 1), 0);
    EXPECT_EQ(host_of(node, "host1"), 2);
    EXPECT_EQ(host_of(node, "HOST2"), 3);
    EXPECT_EQ(host_of(node, "host2.example.org"), 3);
    EXPECT_EQ(host_of(node, "host2", 1), 0);
    EXPECT_EQ(host_of(node, "host2", ~0UL), 0);
    EXPECT_EQ(host_of(node, "no-such-host.invalid"), 0);
    EXPECT_EQ(name_of(node, 0), "host0");
    EXPECT_EQ(name_of(node, 2), "host2");
    EXPECT_EQ(name_of(node, 9), "");
  }});
}

// Programs that start together: the one that asks first waits until the other has opened its NIC.
TEST_F(ViplNames, name_of_a_node_that_starts_later) {
  simulate({[] {
              Node node(0);
              ASSERT_EQ(VipNSInit(node.nic, nullptr), VIP_SUCCESS);
              EXPECT_EQ(host_of(node, "host1"), 2);
            },
            [] {
              Node timer(5);
              timer.rest(9'000);
              Node node(1);
              node.rest(1000);
            }});
}

// A connection by name, as programs make it (vipl-in-the-wild ruling 2: HostAddressLen is 0 on input).
TEST_F(ViplNames, connection_by_name) {
  simulate({[] {
              Node node(0);
              node.accept(node.make_vi());
              node.rest(10);
            },
            [] {
              Node node(1);
              ASSERT_EQ(VipNSInit(node.nic, nullptr), VIP_SUCCESS);
              Address local(1, "client"), remote;
              ASSERT_EQ(by_name(node, "host0", remote), VIP_SUCCESS);
              remote.net.DiscriminatorLen = 7;
              std::memcpy(remote.bytes + 4 + remote.net.HostAddressLen, "service", 7);
              VIP_VI_ATTRIBUTES ignored;
              EXPECT_EQ(VipConnectRequest(node.make_vi(), &local, &remote, VIP_INFINITE, &ignored), VIP_SUCCESS);
            }});
}

TEST_F(ViplNames, by_name_parameters) {
  simulate({[] {
    Node node;
    ASSERT_EQ(VipNSInit(node.nic, nullptr), VIP_SUCCESS);
    char name[] = "localhost", empty[] = "";
    Address address;
    EXPECT_EQ(VipNSGetHostByName(node.nic, nullptr, &address, 0), VIP_INVALID_PARAMETER);
    EXPECT_EQ(VipNSGetHostByName(node.nic, empty, &address, 0), VIP_INVALID_PARAMETER);
    EXPECT_EQ(VipNSGetHostByName(node.nic, name, nullptr, 0), VIP_INVALID_PARAMETER);
    for (const VIP_UINT16 room : std::initializer_list<VIP_UINT16>{1, 4, 15}) {
      address.net.HostAddressLen = room;
      EXPECT_EQ(VipNSGetHostByName(node.nic, name, &address, 0), VIP_INVALID_PARAMETER);
    }
    for (const VIP_UINT16 room : std::initializer_list<VIP_UINT16>{0, 16, 28, 128}) {
      address.net.HostAddressLen = room;
      EXPECT_EQ(VipNSGetHostByName(node.nic, name, &address, 0), VIP_SUCCESS);
      EXPECT_EQ(address.net.HostAddressLen, 16);
    }
    Address untouched(7, "keep");
    EXPECT_EQ(VipNSGetHostByName(node.nic, name, &untouched, 1), VIP_ERROR_NAMESERVICE);
    EXPECT_EQ(untouched.discriminator(), "keep");
  }});
}

// --- 3.9.3 -------------------------------------------------------------------------------------------------------

// The array needs room for the NUL; the length that comes back does not count it. Too small: what is needed.
TEST_F(ViplNames, by_address_lengths) {
  simulate({[] {
    Node node;
    ASSERT_EQ(VipNSInit(node.nic, nullptr), VIP_SUCCESS);
    Address own(0, "");
    char name[16] = "xxxxxxxxxxxxxxx";
    for (VIP_ULONG room = 0; room <= 5; ++room) {
      VIP_ULONG length = room;
      EXPECT_EQ(VipNSGetHostByAddr(node.nic, &own, name, &length), VIP_INVALID_PARAMETER) << room;
      EXPECT_EQ(length, 6u);  // "host0" and its NUL
      EXPECT_STREQ(name, "xxxxxxxxxxxxxxx");
    }
    for (VIP_ULONG room = 6; room <= 16; ++room) {
      VIP_ULONG length = room;
      EXPECT_EQ(VipNSGetHostByAddr(node.nic, &own, name, &length), VIP_SUCCESS) << room;
      EXPECT_EQ(length, 5u);
      EXPECT_STREQ(name, "host0");
      EXPECT_EQ(name[6], 'x');
    }
    VIP_ULONG length = 100;
    EXPECT_EQ(VipNSGetHostByAddr(node.nic, &own, nullptr, &length), VIP_INVALID_PARAMETER);
    EXPECT_EQ(length, 6u);
  }});
}

TEST_F(ViplNames, by_address_parameters) {
  simulate({[] {
    Node node;
    ASSERT_EQ(VipNSInit(node.nic, nullptr), VIP_SUCCESS);
    char name[16];
    VIP_ULONG length = sizeof name;
    Address own(0, "anything");
    EXPECT_EQ(VipNSGetHostByAddr(node.nic, nullptr, name, &length), VIP_INVALID_PARAMETER);
    EXPECT_EQ(VipNSGetHostByAddr(node.nic, &own, name, nullptr), VIP_INVALID_PARAMETER);
    own.net.HostAddressLen = 4;
    EXPECT_EQ(VipNSGetHostByAddr(node.nic, &own, name, &length), VIP_INVALID_PARAMETER);
    EXPECT_EQ(length, sizeof name);
    Address nobody;
    nobody.net.HostAddressLen = 16;
    EXPECT_EQ(VipNSGetHostByAddr(node.nic, &nobody, name, &length), VIP_ERROR_NAMESERVICE);
  }});
}

// VipCloseNic while a call waits for a name: the call leaves.
TEST_F(ViplNames, closed_while_a_name_is_waited_for) {
  VIP_NIC_HANDLE nic = nullptr;
  simulate({[&] {
              ASSERT_EQ(VipOpenNic("VINIC", &nic), VIP_SUCCESS);
              ASSERT_EQ(VipNSInit(nic, nullptr), VIP_SUCCESS);
              char name[] = "host1";
              Address address;
              EXPECT_EQ(VipNSGetHostByName(nic, name, &address, 0), VIP_INVALID_PARAMETER);
            },
            [&] {
              Node node(5);
              node.rest(200);
              EXPECT_EQ(VipCloseNic(nic), VIP_SUCCESS);
            }});
}

// --- 3.7.6 -------------------------------------------------------------------------------------------------------

/// Room for four addresses.
struct Discovery {
  Discovery() {
    for (std::size_t i = 0; i < 4; ++i) {
      addresses[i].net.HostAddressLen = 16;
      entries[i] = &addresses[i];
    }
  }
  VIP_RETURN ask(Node& node, VIP_ULONG hops, VIP_ULONG count) {
    list = {hops, entries, count};
    return VipQuerySystemManagementInfo(node.nic, VIP_SMI_AUTODISCOVERY, &list);
  }
  [[nodiscard]] int host(std::size_t index) const { return addresses[index].bytes[4 + 15]; }
  Address addresses[4];
  VIP_NET_ADDRESS* entries[4];
  VIP_AUTODISCOVERY_LIST list{};
};

TEST_F(ViplNames, discovery_of_other_nodes) {
  simulate({[] {
    Node node(0), again(0), one(1), two(2), three(3);
    Discovery discovery;
    ASSERT_EQ(discovery.ask(node, 1, 4), VIP_SUCCESS);
    EXPECT_EQ(discovery.list.NumAdAddrs, 3u);
    EXPECT_EQ(discovery.host(0), 2);
    EXPECT_EQ(discovery.host(1), 3);
    EXPECT_EQ(discovery.host(2), 4);
    EXPECT_EQ(discovery.addresses[0].net.DiscriminatorLen, 0);
    EXPECT_EQ(discovery.host(3), 0);  // untouched
    ASSERT_EQ(discovery.ask(node, 0, 4), VIP_SUCCESS);
    EXPECT_EQ(discovery.list.NumAdAddrs, 0u);
  }});
}

TEST_F(ViplNames, discovery_with_too_few_entries) {
  simulate({[] {
    Node node(0), one(1), two(2);
    Discovery discovery;
    EXPECT_EQ(discovery.ask(node, 1, 1), VIP_ERROR_RESOURCE);
    EXPECT_EQ(discovery.list.NumAdAddrs, 2u);
    EXPECT_EQ(discovery.host(0), 0);
    discovery.list = {1, nullptr, 0};  // only to know how many
    EXPECT_EQ(VipQuerySystemManagementInfo(node.nic, VIP_SMI_AUTODISCOVERY, &discovery.list), VIP_ERROR_RESOURCE);
    EXPECT_EQ(discovery.list.NumAdAddrs, 2u);
    EXPECT_EQ(discovery.ask(node, 1, 2), VIP_SUCCESS);
  }});
}

TEST_F(ViplNames, discovery_parameters) {
  simulate({[] {
    Node node(0), one(1);
    Discovery discovery;
    EXPECT_EQ(VipQuerySystemManagementInfo(node.nic, VIP_SMI_AUTODISCOVERY, nullptr), VIP_INVALID_PARAMETER);
    for (const VIP_ULONG type : {0UL, 2UL, ~0UL})
      EXPECT_EQ(VipQuerySystemManagementInfo(node.nic, type, &discovery.list), VIP_INVALID_PARAMETER);
    discovery.list = {1, nullptr, 4};
    EXPECT_EQ(VipQuerySystemManagementInfo(node.nic, VIP_SMI_AUTODISCOVERY, &discovery.list), VIP_INVALID_PARAMETER);
    discovery.entries[3] = nullptr;
    EXPECT_EQ(discovery.ask(node, 1, 4), VIP_INVALID_PARAMETER);
    EXPECT_EQ(discovery.ask(node, 1, 3), VIP_SUCCESS);
    discovery.addresses[2].net.HostAddressLen = 15;
    EXPECT_EQ(discovery.ask(node, 1, 3), VIP_INVALID_PARAMETER);
    EXPECT_EQ(discovery.list.NumAdAddrs, 3u);
  }});
}

}  // namespace
