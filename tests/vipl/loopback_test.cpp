// VILO, the NIC without a fabric, as a program sees it.
#include <string>

#include "tests/vipl/programs.hpp"

using namespace support;

namespace {

/// The NIC's own address with that discriminator.
Address own_address(VIP_NIC_HANDLE nic, std::string_view discriminator) {
  Address address(0, discriminator);
  VIP_NIC_ATTRIBUTES attributes{};
  EXPECT_EQ(VipQueryNic(nic, &attributes), VIP_SUCCESS);
  std::memcpy(address.bytes + 4, attributes.LocalNicAddress, 16);
  return address;
}

VIP_NIC_HANDLE open_vilo() {
  VIP_NIC_HANDLE nic = nullptr;
  EXPECT_EQ(VipOpenNic("VILO", &nic), VIP_SUCCESS);
  return nic;
}

VIP_VI_HANDLE make_vi(VIP_NIC_HANDLE nic) {
  VIP_VI_ATTRIBUTES wanted = attributes(VIP_SERVICE_RELIABLE_RECEPTION);
  VIP_VI_HANDLE vi = nullptr;
  EXPECT_EQ(VipCreateVi(nic, &wanted, nullptr, nullptr, &vi), VIP_SUCCESS);
  return vi;
}

// VI-DG 4.5: what this transport can do, and not what Fibre Channel can.
TEST(ViplLoopback, query_tellsItsOwnAttributes) {
  simulate({[] {
    VIP_NIC_HANDLE nic = open_vilo();
    VIP_NIC_ATTRIBUTES told{};
    ASSERT_EQ(VipQueryNic(nic, &told), VIP_SUCCESS);
    EXPECT_EQ(std::string(told.Name), "VILO");
    EXPECT_EQ(told.NativeMTU, 1024u);
    EXPECT_EQ(told.ReliabilityLevelSupport,
              VIP_SERVICE_UNRELIABLE | VIP_SERVICE_RELIABLE_DELIVERY | VIP_SERVICE_RELIABLE_RECEPTION);
    EXPECT_EQ(told.RDMAReadSupport, VIP_SERVICE_RELIABLE_DELIVERY | VIP_SERVICE_RELIABLE_RECEPTION);
  }});
}

// VI-DG 3.3.1 to 3.3.5: two programs of one process, each with the NIC open; no time passes.
TEST(ViplLoopback, request_waitedFor_connects) {
  const auto server = [] {
    VIP_NIC_HANDLE nic = open_vilo();
    Address local = own_address(nic, "service"), remote;
    VIP_VI_ATTRIBUTES ignored;
    VIP_CONN_HANDLE connection = nullptr;
    ASSERT_EQ(VipConnectWait(nic, &local, VIP_INFINITE, &remote, &ignored, &connection), VIP_SUCCESS);
    EXPECT_EQ(remote.discriminator(), "client");
    EXPECT_EQ(VipConnectAccept(connection, make_vi(nic)), VIP_SUCCESS);
  };
  const auto client = [] {
    VIP_NIC_HANDLE nic = open_vilo();
    Address local = own_address(nic, "client"), remote = own_address(nic, "service");
    VIP_VI_ATTRIBUTES ignored;
    VIP_VI_HANDLE vi = make_vi(nic);
    EXPECT_EQ(VipConnectRequest(vi, &local, &remote, VIP_INFINITE, &ignored), VIP_SUCCESS);
    EXPECT_EQ(VipDisconnect(vi), VIP_SUCCESS);
  };
  const auto result = vipl::simulate({server, client});
  EXPECT_FALSE(result.deadlocked);
  EXPECT_EQ(result.elapsed_ns, 0);
}

// VI-DG 3.9, 3.7.6: it knows itself, and finds nobody beside it, whatever NICs of a fabric are open.
TEST(ViplLoopback, names_andDiscovery) {
  simulate({[] {
    VIP_NIC_HANDLE fabric = nullptr;
    EXPECT_EQ(VipOpenNic("VINIC1", &fabric), VIP_SUCCESS);
    VIP_NIC_HANDLE nic = open_vilo();
    ASSERT_EQ(VipNSInit(nic, nullptr), VIP_SUCCESS);
    Address found;
    char own[] = "loopback", other[] = "host1";
    EXPECT_EQ(VipNSGetHostByName(nic, own, &found, 0), VIP_SUCCESS);
    EXPECT_EQ(std::memcmp(found.bytes, own_address(nic, "").bytes, 20), 0);
    EXPECT_EQ(VipNSGetHostByName(nic, other, &found, 0), VIP_ERROR_NAMESERVICE);
    VIP_AUTODISCOVERY_LIST list{};
    list.NumberOfHops = 5;
    EXPECT_EQ(VipQuerySystemManagementInfo(nic, VIP_SMI_AUTODISCOVERY, &list), VIP_SUCCESS);
    EXPECT_EQ(list.NumAdAddrs, 0u);
  }});
}

}  // namespace
