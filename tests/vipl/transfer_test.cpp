// VI-DG 3.5.1 to 3.5.6: Send, RDMA Write, RDMA Read at the three levels.
#include <numeric>

#include "tests/vipl/programs.hpp"

using namespace support;

class ViplTransfer : public testing::TestWithParam<VIP_RELIABILITY_LEVEL> {};
INSTANTIATE_TEST_SUITE_P(Levels, ViplTransfer,
                         testing::Values(VIP_SERVICE_UNRELIABLE, VIP_SERVICE_RELIABLE_DELIVERY,
                                         VIP_SERVICE_RELIABLE_RECEPTION));

TEST_P(ViplTransfer, send_arrives) {
  const auto server = [level = GetParam()] {
    Node node(1);
    VIP_VI_HANDLE vi = node.make_vi(level);
    node.post_receive(vi, node.simple(0, 0, 20000));
    node.accept(vi);
    VIP_DESCRIPTOR* done = nullptr;
    ASSERT_EQ(VipRecvWait(vi, VIP_INFINITE, &done), VIP_SUCCESS);
    EXPECT_EQ(done, node.at(0));
    EXPECT_EQ(done->CS.Length, 10001u);
    EXPECT_EQ(done->CS.ImmediateData, 0xABCDu);
    EXPECT_EQ(done->CS.Status, static_cast<VIP_UINT32>(VIP_STATUS_DONE | VIP_STATUS_OP_RECEIVE | VIP_STATUS_IMMEDIATE));
    for (unsigned i = 0; i < 10001; ++i) ASSERT_EQ(node.data()[i], static_cast<std::uint8_t>(i * 7)) << i;
    node.rest(10);
  };
  const auto client = [level = GetParam()] {
    Node node;
    VIP_VI_HANDLE vi = node.make_vi(level);
    for (unsigned i = 0; i < 10001; ++i) node.data()[i] = static_cast<std::uint8_t>(i * 7);
    node.connect(vi, 1);
    VIP_DESCRIPTOR* descriptor = node.simple(0, 0, 10001);
    descriptor->CS.Control = VIP_CONTROL_IMMEDIATE;
    descriptor->CS.ImmediateData = 0xABCD;
    node.post_send(vi, descriptor);
    VIP_DESCRIPTOR* done = nullptr;
    ASSERT_EQ(VipSendWait(vi, VIP_INFINITE, &done), VIP_SUCCESS);
    EXPECT_EQ(done, descriptor);
    EXPECT_EQ(done->CS.Status, static_cast<VIP_UINT32>(VIP_STATUS_DONE | VIP_STATUS_OP_SEND));
    EXPECT_EQ(VipSendDone(vi, &done), VIP_DESCRIPTOR_ERROR);  // empty
    EXPECT_EQ(done, nullptr);
    node.rest(5);
  };
  simulate({server, client});
}

TEST_P(ViplTransfer, rdma_write_and_read) {
  Node* target = nullptr;
  const auto server = [&, level = GetParam()] {
    Node node(1);
    target = &node;
    VIP_VI_HANDLE vi = node.make_vi(level);
    node.post_receive(vi, node.simple(0, 0, 0));
    std::iota(node.data(50000), node.data(50000) + 5000, std::uint8_t{3});
    node.accept(vi);
    VIP_DESCRIPTOR* done = nullptr;
    ASSERT_EQ(VipRecvWait(vi, VIP_INFINITE, &done), VIP_SUCCESS);  // the RDMA Write's immediate data
    EXPECT_EQ(done->CS.ImmediateData, 5u);
    EXPECT_EQ(done->CS.Status & VIP_STATUS_OP_MASK, static_cast<VIP_UINT32>(VIP_STATUS_OP_REMOTE_RDMA_WRITE));
    for (unsigned i = 0; i < 9000; ++i) ASSERT_EQ(node.data(100)[i], static_cast<std::uint8_t>(i)) << i;
    node.rest(10);
  };
  const auto client = [&, level = GetParam()] {
    Node node;
    VIP_VI_HANDLE vi = node.make_vi(level);
    std::iota(node.data(), node.data() + 9000, std::uint8_t{0});
    node.connect(vi, 1);
    VIP_DESCRIPTOR* write = node.rdma(0, VIP_CONTROL_OP_RDMAWRITE | VIP_CONTROL_IMMEDIATE, 0, 9000, *target, 100);
    write->CS.ImmediateData = 5;
    node.post_send(vi, write);
    VIP_DESCRIPTOR* done = nullptr;
    EXPECT_EQ(VipSendWait(vi, VIP_INFINITE, &done), VIP_SUCCESS);
    node.post_send(vi, node.rdma(1, VIP_CONTROL_OP_RDMAREAD, 20000, 5000, *target, 50000));
    if (level == VIP_SERVICE_UNRELIABLE) {
      EXPECT_EQ(VipSendWait(vi, VIP_INFINITE, &done), VIP_DESCRIPTOR_ERROR);
      EXPECT_NE(done->CS.Status & VIP_STATUS_FORMAT_ERROR, 0u);
    } else {
      EXPECT_EQ(VipSendWait(vi, VIP_INFINITE, &done), VIP_SUCCESS);
      for (unsigned i = 0; i < 5000; ++i) ASSERT_EQ(node.data(20000)[i], static_cast<std::uint8_t>(i + 3)) << i;
    }
    node.rest(5);
  };
  simulate({server, client});
}

TEST(ViplWork, done_and_wait_on_empty_and_pending_queues) {
  const vipl::TimeNs elapsed = simulate({[] {
    Node node;
    VIP_VI_HANDLE vi = node.make_vi();
    VIP_DESCRIPTOR* done = node.at(0);
    EXPECT_EQ(VipRecvWait(vi, 1000, &done), VIP_DESCRIPTOR_ERROR);
    EXPECT_EQ(done, nullptr);
    node.post_receive(vi, node.simple(0, 0, 5));
    EXPECT_EQ(VipRecvDone(vi, &done), VIP_NOT_DONE);
    EXPECT_EQ(VipRecvWait(vi, 0, &done), VIP_TIMEOUT);
    EXPECT_EQ(VipRecvWait(vi, 250, &done), VIP_TIMEOUT);
    EXPECT_EQ(done, nullptr);
    node.post_send(vi, node.simple(1, 0, 5));  // VI-ARCH 5.1: flushed
    EXPECT_EQ(VipSendWait(vi, 1000, &done), VIP_DESCRIPTOR_ERROR);
    EXPECT_EQ(done, node.at(1));
    EXPECT_NE(done->CS.Status & VIP_STATUS_DESC_FLUSHED_ERROR, 0u);
    EXPECT_EQ(VipRecvDone(vi, nullptr), VIP_INVALID_PARAMETER);
    EXPECT_EQ(VipRecvWait(nullptr, 1, &done), VIP_INVALID_PARAMETER);
    EXPECT_EQ(VipPostRecv(nullptr, node.at(1), node.handle), VIP_INVALID_PARAMETER);
    EXPECT_EQ(VipPostSend(vi, nullptr, node.handle),
              VIP_SUCCESS);  // VI-DG 3.5.1, 3.8.1: the address is a Post Descriptor Error
    node.rest(1);
    EXPECT_EQ(state_of(vi), VIP_STATE_ERROR);
  }});
  EXPECT_EQ(elapsed, 251'000'000);
}

// VI-DG 3.5.2: SendDone does not block behind SendWait; who waits behind the last descriptor learns that it is gone.
TEST(ViplWork, done_takes_what_a_waiter_waits_for) {
  VIP_VI_HANDLE vi = nullptr;
  simulate({[&] {
              Node node;
              vi = node.make_vi();
              node.post_receive(vi, node.simple(0, 0, 5));
              VIP_DESCRIPTOR* done = nullptr;
              EXPECT_EQ(VipRecvWait(vi, VIP_INFINITE, &done), VIP_DESCRIPTOR_ERROR);
              EXPECT_EQ(done, node.at(0));  // flushed
              node.rest(5);
            },
            [&] {
              Node node;
              VIP_DESCRIPTOR* done = nullptr;
              EXPECT_EQ(VipRecvDone(vi, &done), VIP_NOT_DONE);
              EXPECT_EQ(VipDisconnect(vi), VIP_SUCCESS);
            }});
}

// VI-DG 3.3.5: a call that ends something sees all that its thread has posted, however much that is. Receives that wait
// are taken late; the last of them are flushed with the rest.
TEST(ViplWork, disconnect_flushes_all_that_was_posted) {
  simulate({[] {
    Node node;
    std::vector<VIP_VI_HANDLE> vis(40);
    for (VIP_VI_HANDLE& vi : vis) vi = node.make_vi();
    for (VIP_VI_HANDLE vi : vis)
      for (std::size_t i = 0; i < Node::descriptors; ++i) node.post_receive(vi, node.simple(i, 0, 1));
    ASSERT_EQ(VipDisconnect(vis.back()), VIP_SUCCESS);
    for (std::size_t i = 0; i < Node::descriptors; ++i) {
      VIP_DESCRIPTOR* done = nullptr;
      ASSERT_EQ(VipRecvDone(vis.back(), &done), VIP_DESCRIPTOR_ERROR) << i;
      ASSERT_EQ(done, node.at(i));
      EXPECT_NE(done->CS.Status & VIP_STATUS_DESC_FLUSHED_ERROR, 0u);
    }
    EXPECT_EQ(VipDestroyVi(vis.back()), VIP_SUCCESS);
  }});
}
