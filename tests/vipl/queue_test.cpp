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
    EXPECT_EQ(VipResizeCQ(queue, 2), VIP_SUCCESS);  // VI-DG 3.6.3: at least so many; it holds three
    EXPECT_EQ(VipResizeCQ(queue, 1UL << 40), VIP_ERROR_RESOURCE);
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

namespace {
/// Completes `count` receives of `vi`, first descriptor `first`, by flushing them.
void flush_receives(Node& node, VIP_VI_HANDLE vi, std::size_t count, std::size_t first = 0) {
  for (std::size_t i = 0; i < count; ++i) node.post_receive(vi, node.simple(first + i, 0, 1));
  EXPECT_EQ(VipDisconnect(vi), VIP_SUCCESS);
}
std::size_t take_all_entries(VIP_CQ_HANDLE queue) {
  std::size_t count = 0;
  VIP_VI_HANDLE found;
  VIP_BOOLEAN receive;
  while (VipCQDone(queue, &found, &receive) == VIP_SUCCESS) ++count;
  return count;
}
}  // namespace

// VI-ARCH 6.4.1 would let entries be lost; ours are not.
TEST(ViplQueue, more_completions_than_entries_lose_none) {
  simulate({[] {
    Node node;
    VIP_CQ_HANDLE queue = nullptr;
    ASSERT_EQ(VipCreateCQ(node.nic, 2, &queue), VIP_SUCCESS);
    VIP_VI_HANDLE first = node.make_vi(VIP_SERVICE_RELIABLE_DELIVERY, nullptr, queue);
    VIP_VI_HANDLE second = node.make_vi(VIP_SERVICE_RELIABLE_DELIVERY, nullptr, queue);
    flush_receives(node, first, 20);
    flush_receives(node, second, 20, 20);
    EXPECT_EQ(VipResizeCQ(queue, 39), VIP_SUCCESS);
    EXPECT_EQ(VipResizeCQ(queue, 40), VIP_SUCCESS);
    VIP_VI_HANDLE found = nullptr;
    VIP_BOOLEAN receive = VIP_FALSE;
    for (std::size_t i = 0; i < 40; ++i) {  // in the order of completion
      ASSERT_EQ(VipCQDone(queue, &found, &receive), VIP_SUCCESS);
      EXPECT_EQ(found, i < 20 ? first : second);
    }
    EXPECT_EQ(VipCQDone(queue, &found, &receive), VIP_NOT_DONE);
    EXPECT_EQ(VipCQWait(queue, 10, &found, &receive), VIP_TIMEOUT);
  }});
}

// VI-DG 3.5.7: work queues may be polled directly. What is left in the completion queue then stays bounded, and each
// descriptor that waits has an entry.
TEST(ViplQueue, polling_the_work_queue_leaves_a_bounded_number_of_entries) {
  simulate({[] {
    Node node;
    VIP_CQ_HANDLE queue = nullptr;
    ASSERT_EQ(VipCreateCQ(node.nic, 4, &queue), VIP_SUCCESS);
    VIP_VI_HANDLE vi = node.make_vi(VIP_SERVICE_RELIABLE_DELIVERY, nullptr, queue);
    VIP_DESCRIPTOR* done = nullptr;
    for (int i = 0; i < 1000; ++i) {
      flush_receives(node, vi, 2);
      for (int n = 0; n < 2; ++n) ASSERT_EQ(VipRecvDone(vi, &done), VIP_DESCRIPTOR_ERROR);
    }
    flush_receives(node, vi, 3);
    EXPECT_EQ(take_all_entries(queue), 3u);
    for (std::size_t i = 0; i < 3; ++i) {
      EXPECT_EQ(VipRecvDone(vi, &done), VIP_DESCRIPTOR_ERROR);
      EXPECT_EQ(done, node.at(i));
    }
  }});
}

TEST(ViplQueue, entries_of_a_destroyed_vi_are_gone) {
  simulate({[] {
    Node node;
    VIP_CQ_HANDLE queue = nullptr;
    ASSERT_EQ(VipCreateCQ(node.nic, 4, &queue), VIP_SUCCESS);
    VIP_VI_HANDLE doomed = node.make_vi(VIP_SERVICE_RELIABLE_DELIVERY, queue, queue);
    VIP_DESCRIPTOR* done = nullptr;
    flush_receives(node, doomed, 3);
    for (int i = 0; i < 3; ++i) EXPECT_EQ(VipRecvDone(doomed, &done), VIP_DESCRIPTOR_ERROR);
    EXPECT_EQ(VipDestroyVi(doomed), VIP_SUCCESS);
    EXPECT_EQ(VipResizeCQ(queue, 1), VIP_SUCCESS);  // they do not count
    VIP_VI_HANDLE heir = node.make_vi(VIP_SERVICE_RELIABLE_DELIVERY, queue, queue), found = nullptr;  // in its place
    VIP_BOOLEAN receive = VIP_FALSE;
    EXPECT_EQ(VipCQDone(queue, &found, &receive), VIP_NOT_DONE);
    flush_receives(node, heir, 1);
    ASSERT_EQ(VipCQWait(queue, 0, &found, &receive), VIP_SUCCESS);
    EXPECT_EQ(found, heir);
    EXPECT_EQ(take_all_entries(queue), 0u);
    EXPECT_EQ(VipDestroyCQ(queue), VIP_ERROR_RESOURCE);
  }});
}

TEST(ViplQueue, destroying_wakes_who_waits) {
  VIP_CQ_HANDLE queue = nullptr;
  simulate({[&] {
              Node node;
              ASSERT_EQ(VipCreateCQ(node.nic, 4, &queue), VIP_SUCCESS);
              VIP_VI_HANDLE found = nullptr;
              VIP_BOOLEAN receive = VIP_FALSE;
              EXPECT_EQ(VipCQWait(queue, VIP_INFINITE, &found, &receive), VIP_INVALID_PARAMETER);
            },
            [&] {
              Node node;
              node.rest(10);
              EXPECT_EQ(VipDestroyCQ(queue), VIP_SUCCESS);
            }});
}
