/* VI-DG 3.7.6: auto-discovery. */
#include <string.h>

#include "far.h"

enum { MAX_NODES = 256, MANY_HOPS = 64 };

static Address found[MAX_NODES];
static VIP_NET_ADDRESS* pointers[MAX_NODES];

static VIP_AUTODISCOVERY_LIST room_for(VIP_ULONG count, VIP_ULONG hops) {
  VIP_AUTODISCOVERY_LIST list;
  memset(found, 0, sizeof found);
  for (size_t i = 0; i < MAX_NODES; ++i) {
    found[i].net.HostAddressLen = near.attributes.NicAddressLen;
    pointers[i] = &found[i].net;
  }
  list.NumberOfHops = hops;
  list.ADAddrArray = pointers;
  list.NumAdAddrs = count;
  return list;
}

static bool is_host(const Address* address, const VIP_NIC_ATTRIBUTES* nic) {
  return address->net.HostAddressLen == nic->NicAddressLen &&
         memcmp(address->net.HostAddress, nic->LocalNicAddress, nic->NicAddressLen) == 0;
}

/* Asks until the other node is there: a fabric may take a while to know a node that has just come. */
static VIP_AUTODISCOVERY_LIST discover_far(void) {
  VIP_AUTODISCOVERY_LIST list;
  waiting_for(__FILE__, __LINE__, "waits until auto-discovery tells the partner's node");
  for (;;) {
    list = room_for(MAX_NODES, MANY_HOPS);
    const VIP_RETURN code = CALL(VipQuerySystemManagementInfo, near.nic, VIP_SMI_AUTODISCOVERY, &list);
    if (code == VIP_ERROR_RESOURCE) skip("more than %d nodes are attached to the fabric", MAX_NODES);
    expect_code(__FILE__, __LINE__, ID_VipQuerySystemManagementInfo, VIP_SUCCESS, code);
    for (VIP_ULONG i = 0; i < list.NumAdAddrs; ++i)
      if (is_host(&found[i], &far.nic)) return list;
    pause_ms(10);
  }
}

static void need_other_node(void) {
  far_open();
  if (near.attributes.NicAddressLen == far.nic.NicAddressLen &&
      memcmp(near.attributes.LocalNicAddress, far.nic_address, near.attributes.NicAddressLen) == 0)
    skip("both ends have one address: no other node is known to be there");
}

static void success(int unused) {
  VIP_AUTODISCOVERY_LIST list;
  (void)unused;
  near_open();
  list = room_for(MAX_NODES, MANY_HOPS);
  EXPECT(VIP_SUCCESS, VipQuerySystemManagementInfo, near.nic, VIP_SMI_AUTODISCOVERY, &list);
  CHECK(list.NumAdAddrs <= MAX_NODES, "there was room for %d addresses, and NumAdAddrs is %lu", MAX_NODES,
        list.NumAdAddrs);
  for (VIP_ULONG i = 0; i < list.NumAdAddrs; ++i)
    CHECK(found[i].net.HostAddressLen == near.attributes.NicAddressLen, "address %lu has %u bytes", i,
          found[i].net.HostAddressLen);
}

/* The partner's node is found, once, and can be connected to by what was found. */
static void finds_the_partner(int unused) {
  size_t times = 0;
  (void)unused;
  need_other_node();
  const VIP_AUTODISCOVERY_LIST list = discover_far();
  for (VIP_ULONG i = 0; i < list.NumAdAddrs; ++i) times += is_host(&found[i], &far.nic);
  CHECK(times == 1, "the partner's address was told %zu times", times);
}

/* Too little room: the error, and how much is needed. */
static void too_little_room(int unused) {
  (void)unused;
  need_other_node();
  const VIP_ULONG count = discover_far().NumAdAddrs;
  VIP_AUTODISCOVERY_LIST list = room_for(0, MANY_HOPS);
  EXPECT(VIP_ERROR_RESOURCE, VipQuerySystemManagementInfo, near.nic, VIP_SMI_AUTODISCOVERY, &list);
  CHECK(list.NumAdAddrs >= 1, "there was too little room, and NumAdAddrs is %lu; %lu were there before",
        list.NumAdAddrs, count);
}

static void no_hops(int unused) {
  VIP_AUTODISCOVERY_LIST list;
  (void)unused;
  near_open();
  list = room_for(MAX_NODES, 0);
  EXPECT(VIP_SUCCESS, VipQuerySystemManagementInfo, near.nic, VIP_SMI_AUTODISCOVERY, &list);
  for (VIP_ULONG i = 0; i < list.NumAdAddrs; ++i)
    CHECK(is_host(&found[i], &near.attributes), "a node was found without traversing a link");
}

static void unknown_type(int unused) {
  VIP_AUTODISCOVERY_LIST list;
  (void)unused;
  near_open();
  list = room_for(MAX_NODES, MANY_HOPS);
  /* "The only defined InfoType is VIP_SMI_AUTODISCOVERY", and the page has no other code for a parameter. */
  EXPECT(VIP_INVALID_PARAMETER, VipQuerySystemManagementInfo, near.nic, 0x7FFF0000, &list);
}

const Test management_tests[] = {
    TEST(VipQuerySystemManagementInfo, "success", PROVES(VIP_SUCCESS), success),
    TEST(VipQuerySystemManagementInfo, "finds_the_partner", PROVES(VIP_SUCCESS), finds_the_partner),
    TEST(VipQuerySystemManagementInfo, "too_little_room", PROVES(VIP_ERROR_RESOURCE), too_little_room),
    TEST_BY("VI-DG 3.7.6", PRACTICE, VipQuerySystemManagementInfo, "no_hops", RULE, no_hops, 0),
    TEST_BY("VI-DG 3.7.6", PRACTICE, VipQuerySystemManagementInfo, "unknown_type", RULE, unknown_type, 0),
    {NULL, 0, NULL, 0, 0, NULL, 0}};
