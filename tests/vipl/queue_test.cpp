// VI-DG 3.5.7, 3.5.8, 3.6: completion queues.
#include "tests/vipl/programs.hpp"

using namespace support;

TEST(ViplQueue, create_resize_destroy) {
  simulate({[] {
    Node node;
    VIP_CQ_HANDLE queue = nullptr;
    EXPECT_EQ(VipCreateCQ(node.nic, 1024, nullptr), VIP_INVALID_PARAMETER);
    EXPECT_EQ(VipCreateCQ(nullptr, 1024, &queue), VIP_INVALID_PARAMETER);
    EXPECT_EQ(VipCreateCQ(node.nic, 1UL << 40, &queue), VIP_ERROR_RESOURCE);
    ASSERT_EQ(VipCreateCQ(node.nic, 1024, &queue), VIP_SUCCESS);
    VIP_VI_HANDLE vi = node.make_vi(VIP_SERVICE_RELIABLE_DELIVERY, queue, queue);
    EXPECT_EQ(VipDestroyCQ(queue), VIP_ERROR_RESOURCE);
    for (std::size_t i = 0; i < 3; ++i) node.post_receive(vi, node.simple(i, 0, 1));
    EXPECT_EQ(VipDisconnect(vi), VIP_SUCCESS);
    EXPECT_EQ(VipResizeCQ(queue, 2), VIP_ERROR_RESOURCE);
    EXPECT_EQ(VipResizeCQ(queue, 3), VIP_SUCCESS);
    EXPECT_EQ(VipResizeCQ(nullptr, 3), VIP_INVALID_PARAMETER);
    for (std::size_t i = 0; i < 3; ++i) {
      VIP_VI_HANDLE found = nullptr;
      VIP_BOOLEAN receive = VIP_FALSE;
      VIP_DESCRIPTOR* done = nullptr;
      ASSERT_EQ(VipCQDone(queue, &found, &receive), VIP_SUCCESS);
      EXPECT_EQ(found, vi);
      EXPECT_EQ(receive, VIP_TRUE);
      EXPECT_EQ(VipRecvDone(vi, &done), VIP_DESCRIPTOR_ERROR);
      EXPECT_EQ(done, node.at(i));
    }
    EXPECT_EQ(VipDestroyVi(vi), VIP_SUCCESS);
    EXPECT_EQ(VipDestroyCQ(queue), VIP_SUCCESS);
    EXPECT_EQ(VipDestroyCQ(queue), VIP_INVALID_PARAMETER);
  }});
}

TEST(ViplQueue, wait_and_done) {
  const auto server = [] {
    Node node(1);
    VIP_CQ_HANDLE queue = nullptr;
    ASSERT_EQ(VipCreateCQ(node.nic, 16, &queue), VIP_SUCCESS);
    VIP_VI_HANDLE vi = node.make_vi(VIP_SERVICE_RELIABLE_DELIVERY, nullptr, queue), found = nullptr;
    node.post_receive(vi, node.simple(0, 0, 100));
    node.accept(vi);
    VIP_BOOLEAN receive = VIP_FALSE;
    VIP_DESCRIPTOR* done = nullptr;
    EXPECT_EQ(VipCQDone(queue, &found, &receive), VIP_NOT_DONE);
    EXPECT_EQ(VipCQWait(queue, 50, &found, &receive), VIP_TIMEOUT);
    EXPECT_EQ(VipCQWait(queue, 0, &found, &receive), VIP_TIMEOUT);
    EXPECT_EQ(VipCQWait(queue, 1, nullptr, &receive), VIP_INVALID_PARAMETER);
    EXPECT_EQ(VipCQDone(queue, &found, nullptr), VIP_INVALID_PARAMETER);
    EXPECT_EQ(VipRecvWait(vi, 1, &done), VIP_ERROR_RESOURCE);  // it has a completion queue
    ASSERT_EQ(VipCQWait(queue, VIP_INFINITE, &found, &receive), VIP_SUCCESS);
    EXPECT_EQ(found, vi);
    EXPECT_EQ(receive, VIP_TRUE);
    EXPECT_EQ(VipRecvDone(vi, &done), VIP_SUCCESS);
    EXPECT_EQ(done->CS.Length, 4u);
  };
  const auto client = [] {
    Node node;
    VIP_VI_HANDLE vi = node.make_vi();
    node.connect(vi, 1);
    node.rest(100);
    node.post_send(vi, node.simple(0, 0, 4));
    node.rest(100);
  };
  simulate({server, client});
}
