// VI-DG 3.1, 3.2, 3.7: NICs, endpoints, queries.
#include "tests/vipl/programs.hpp"

using namespace support;

TEST(ViplNic, open_by_every_built_in_name) {
  simulate({[] {
    for (const char* name : {"VINIC", "VINIC0", "VINIC1", "VINIC249", "/dev/clanvi0", "/dev/via_eth0", "/dev/via_lo",
                             "/etc/via_lo", "nic0"}) {
      VIP_NIC_HANDLE nic = nullptr;
      EXPECT_EQ(VipOpenNic(name, &nic), VIP_SUCCESS) << name;
      EXPECT_NE(nic, nullptr);
    }
  }});
}

TEST(ViplNic, open_refuses_other_names) {
  simulate({[] {
    VIP_NIC_HANDLE nic = nullptr;
    for (const char* name : {"", "vinic", "VINIC250", "VINIC01", "VINIC-1", "VINIC1x", "VINIC99999999999", "/dev/null"})
      EXPECT_EQ(VipOpenNic(name, &nic), VIP_INVALID_PARAMETER) << name;
    EXPECT_EQ(VipOpenNic(nullptr, &nic), VIP_INVALID_PARAMETER);
    EXPECT_EQ(VipOpenNic("VINIC", nullptr), VIP_INVALID_PARAMETER);
  }});
}

TEST(ViplNic, open_twice_gives_two_handles_of_one_device) {
  simulate({[] {
    Node first, second;
    EXPECT_NE(first.nic, second.nic);
    VIP_NIC_ATTRIBUTES a, b;
    EXPECT_EQ(VipQueryNic(first.nic, &a), VIP_SUCCESS);
    EXPECT_EQ(VipQueryNic(second.nic, &b), VIP_SUCCESS);
    EXPECT_EQ(std::memcmp(a.LocalNicAddress, b.LocalNicAddress, 16), 0);
    first.close();
    EXPECT_EQ(VipQueryNic(second.nic, &b), VIP_SUCCESS);
  }});
}

TEST(ViplNic, closed_handle_is_invalid_and_so_is_all_that_it_had) {
  simulate({[] {
    Node node;
    const VIP_NIC_HANDLE nic = node.nic;
    VIP_VI_HANDLE vi = node.make_vi();
    VIP_CQ_HANDLE queue = nullptr;
    VIP_PROTECTION_HANDLE tag = nullptr;
    EXPECT_EQ(VipCreateCQ(nic, 4, &queue), VIP_SUCCESS);
    EXPECT_EQ(VipCreatePtag(nic, &tag), VIP_SUCCESS);
    node.close();
    VIP_DESCRIPTOR* done;
    EXPECT_EQ(VipCloseNic(nic), VIP_INVALID_PARAMETER);
    EXPECT_EQ(VipDestroyVi(vi), VIP_INVALID_PARAMETER);
    EXPECT_EQ(VipRecvDone(vi, &done), VIP_INVALID_PARAMETER);
    EXPECT_EQ(VipDestroyCQ(queue), VIP_INVALID_PARAMETER);
    EXPECT_EQ(VipDestroyPtag(nic, tag), VIP_INVALID_PARAMETER);
  }});
}

// VI-DG 4.5, FC-VI 7.2: what VipQueryNic says is so.
TEST(ViplNic, query_tells_the_truth) {
  simulate({[] {
    Node node(1);
    VIP_NIC_ATTRIBUTES nic{};
    EXPECT_EQ(VipQueryNic(node.nic, nullptr), VIP_INVALID_PARAMETER);
    ASSERT_EQ(VipQueryNic(node.nic, &nic), VIP_SUCCESS);
    EXPECT_STREQ(nic.Name, "VINIC1");
    ASSERT_EQ(nic.NicAddressLen, 16);
    EXPECT_EQ(std::memcmp(nic.LocalNicAddress, Address(1, "").bytes + 4, 16), 0);
    EXPECT_EQ(nic.MaxDiscriminatorLen, 128);
    EXPECT_EQ(nic.ThreadSafe, VIP_TRUE);
    EXPECT_EQ(nic.ReliabilityLevelSupport, 7);
    EXPECT_EQ(nic.RDMAReadSupport, 6);
    EXPECT_GE(nic.MaxSegmentsPerDesc, 252u);
    EXPECT_GE(nic.MaxCQEntries, 1024u);
    EXPECT_GE(nic.MaxDescriptorsPerQueue, 300u);
    EXPECT_GE(nic.MaxTransferSize, 1u << 20);
    EXPECT_EQ(nic.NativeMTU, 2080u);
    VIP_CQ_HANDLE queue = nullptr;
    EXPECT_EQ(VipCreateCQ(node.nic, nic.MaxCQEntries, &queue), VIP_SUCCESS);
    EXPECT_EQ(VipCreateCQ(node.nic, nic.MaxCQEntries + 1, &queue), VIP_ERROR_RESOURCE);
  }});
}

TEST(ViplNic, forged_handles_are_invalid) {
  simulate({[] {
    Node node;
    int local = 0;
    VIP_DESCRIPTOR* done;
    for (void* handle :
         {static_cast<void*>(nullptr), static_cast<void*>(&local), node.nic, reinterpret_cast<void*>(~0UL)}) {
      EXPECT_EQ(VipRecvDone(handle, &done), VIP_INVALID_PARAMETER);
      EXPECT_EQ(VipConnectReject(handle), VIP_INVALID_PARAMETER);
      EXPECT_EQ(VipDisconnect(handle), VIP_INVALID_PARAMETER);
    }
  }});
}

TEST(ViplNic, calls_before_any_open_are_invalid) {
  VIP_NIC_ATTRIBUTES nic;
  EXPECT_EQ(VipQueryNic(reinterpret_cast<void*>(1UL), &nic), VIP_INVALID_PARAMETER);
}

// VI-DG 3.2.1, every return code.
TEST(ViplVi, create_refuses_what_it_cannot_do) {
  simulate({[] {
    Node node, other;
    VIP_CQ_HANDLE foreign = nullptr;
    VIP_PROTECTION_HANDLE foreign_tag = nullptr;
    ASSERT_EQ(VipCreateCQ(other.nic, 4, &foreign), VIP_SUCCESS);
    ASSERT_EQ(VipCreatePtag(other.nic, &foreign_tag), VIP_SUCCESS);
    VIP_VI_HANDLE vi = nullptr;
    VIP_VI_ATTRIBUTES good = attributes();
    const auto create = [&](auto change) {
      VIP_VI_ATTRIBUTES wanted = good;
      change(wanted);
      return VipCreateVi(node.nic, &wanted, nullptr, nullptr, &vi);
    };
    EXPECT_EQ(VipCreateVi(nullptr, &good, nullptr, nullptr, &vi), VIP_INVALID_PARAMETER);
    EXPECT_EQ(VipCreateVi(node.nic, nullptr, nullptr, nullptr, &vi), VIP_INVALID_PARAMETER);
    EXPECT_EQ(VipCreateVi(node.nic, &good, nullptr, nullptr, nullptr), VIP_INVALID_PARAMETER);
    EXPECT_EQ(VipCreateVi(node.nic, &good, foreign, nullptr, &vi), VIP_INVALID_PARAMETER);
    EXPECT_EQ(VipCreateVi(node.nic, &good, nullptr, node.nic, &vi), VIP_INVALID_PARAMETER);
    EXPECT_EQ(create([](auto& a) { a.ReliabilityLevel = 3; }), VIP_INVALID_RELIABILITY_LEVEL);
    EXPECT_EQ(create([](auto& a) { a.MaxTransferSize = 1UL << 33; }), VIP_INVALID_MTU);
    EXPECT_EQ(create([&](auto& a) { a.QoS = &node; }), VIP_INVALID_QOS);
    EXPECT_EQ(create([&](auto& a) { a.Ptag = foreign_tag; }), VIP_INVALID_PTAG);
    EXPECT_EQ(create([](auto& a) {
                a.ReliabilityLevel = VIP_SERVICE_UNRELIABLE;
                a.EnableRdmaRead = VIP_TRUE;
              }),
              VIP_INVALID_RDMAREAD);
    EXPECT_EQ(vi, nullptr);
    EXPECT_EQ(create([](auto& a) { a.MaxTransferSize = 32000; }), VIP_SUCCESS);
  }});
}

TEST(ViplVi, query_and_set_attributes) {
  simulate({[] {
    Node node;
    VIP_VI_HANDLE vi = node.make_vi();
    VIP_PROTECTION_HANDLE tag = nullptr;
    ASSERT_EQ(VipCreatePtag(node.nic, &tag), VIP_SUCCESS);
    VIP_VI_ATTRIBUTES wanted = attributes(VIP_SERVICE_RELIABLE_RECEPTION), found;
    wanted.MaxTransferSize = 1000;
    wanted.Ptag = tag;
    EXPECT_EQ(VipSetViAttributes(vi, &wanted), VIP_SUCCESS);
    VIP_VI_STATE state;
    VIP_BOOLEAN send_empty, receive_empty;
    ASSERT_EQ(VipQueryVi(vi, &state, &found, &send_empty, &receive_empty), VIP_SUCCESS);
    EXPECT_EQ(state, VIP_STATE_IDLE);
    EXPECT_EQ(found.ReliabilityLevel, VIP_SERVICE_RELIABLE_RECEPTION);
    EXPECT_EQ(found.MaxTransferSize, 1000u);
    EXPECT_EQ(found.Ptag, tag);
    EXPECT_EQ(send_empty, VIP_TRUE);
    EXPECT_EQ(receive_empty, VIP_TRUE);
    wanted.ReliabilityLevel = 9;
    EXPECT_EQ(VipSetViAttributes(vi, &wanted), VIP_INVALID_RELIABILITY_LEVEL);
    EXPECT_EQ(VipSetViAttributes(vi, nullptr), VIP_INVALID_PARAMETER);
    EXPECT_EQ(VipQueryVi(vi, &state, &found, &send_empty, nullptr), VIP_INVALID_PARAMETER);
    EXPECT_EQ(VipDestroyPtag(node.nic, tag), VIP_ERROR_RESOURCE);  // the VI has it
  }});
}

TEST(ViplVi, destroy_needs_idle_and_empty_queues) {
  simulate({[] {
    Node node;
    VIP_VI_HANDLE vi = node.make_vi();
    node.post_receive(vi, node.simple(0, 0, 10));
    EXPECT_EQ(VipDestroyVi(vi), VIP_INVALID_STATE);
    EXPECT_EQ(VipDisconnect(vi), VIP_SUCCESS);  // VI-DG 3.3.5: flushes
    EXPECT_EQ(VipDestroyVi(vi), VIP_INVALID_STATE);
    VIP_DESCRIPTOR* done = nullptr;
    EXPECT_EQ(VipRecvDone(vi, &done), VIP_DESCRIPTOR_ERROR);
    EXPECT_EQ(done, node.at(0));
    EXPECT_NE(done->CS.Status & VIP_STATUS_DESC_FLUSHED_ERROR, 0u);
    EXPECT_EQ(VipDestroyVi(vi), VIP_SUCCESS);
    EXPECT_EQ(VipDestroyVi(vi), VIP_INVALID_PARAMETER);
  }});
}

// VI-DG 4.5: limits are those that are kept.
TEST(ViplNic, limits_are_kept) {
  simulate({[] {
    Node node;
    VIP_NIC_ATTRIBUTES nic{};
    ASSERT_EQ(VipQueryNic(node.nic, &nic), VIP_SUCCESS);
    EXPECT_GE(nic.MaxPtags, nic.MaxVI);
    VIP_PROTECTION_HANDLE tag = nullptr;
    for (VIP_ULONG i = 0; i < nic.MaxPtags; ++i) ASSERT_EQ(VipCreatePtag(node.nic, &tag), VIP_SUCCESS);
    EXPECT_EQ(VipCreatePtag(node.nic, &tag), VIP_ERROR_RESOURCE);
    VIP_CQ_HANDLE queue = nullptr;
    for (VIP_ULONG i = 0; i < nic.MaxCQ; ++i) ASSERT_EQ(VipCreateCQ(node.nic, 1, &queue), VIP_SUCCESS);
    EXPECT_EQ(VipCreateCQ(node.nic, 1, &queue), VIP_ERROR_RESOURCE);
    EXPECT_EQ(VipDestroyCQ(queue), VIP_SUCCESS);
    EXPECT_EQ(VipCreateCQ(node.nic, 1, &queue), VIP_SUCCESS);
  }});
}

// VI-ARCH 8.1: 1,024 VIs allow for growth.
TEST(ViplNic, a_thousand_vis) {
  simulate({[] {
    Node node;
    VIP_NIC_ATTRIBUTES nic{};
    ASSERT_EQ(VipQueryNic(node.nic, &nic), VIP_SUCCESS);
    EXPECT_GE(nic.MaxVI, 1024u);
    for (int i = 0; i < 1024; ++i) ASSERT_NE(node.make_vi(), nullptr) << i;
  }});
}
