// VI-DG 3.8.1: asynchronous errors at the program's handler.
#include "tests/vipl/programs.hpp"

using namespace support;

namespace {
struct Seen {
  std::vector<VIP_ERROR_DESCRIPTOR> errors;
  std::function<void()> then;
};
void remember(VIP_PVOID context, VIP_ERROR_DESCRIPTOR* error) {
  auto& seen = *static_cast<Seen*>(context);
  seen.errors.push_back(*error);
  if (seen.then) seen.then();
}
}  // namespace

TEST(ViplError, disconnect_of_the_peer_is_a_lost_connection) {
  Seen seen;
  const auto server = [&] {
    Node node(1);
    VIP_VI_HANDLE vi = node.make_vi();
    EXPECT_EQ(VipErrorCallback(node.nic, &seen, remember), VIP_SUCCESS);
    seen.then = [&] { EXPECT_EQ(VipDisconnect(vi), VIP_SUCCESS); };  // a handler may call back in
    node.post_receive(vi, node.simple(0, 0, 10));
    node.accept(vi);
    VIP_DESCRIPTOR* done = nullptr;
    EXPECT_EQ(VipRecvWait(vi, VIP_INFINITE, &done), VIP_DESCRIPTOR_ERROR);
    EXPECT_NE(done->CS.Status & VIP_STATUS_DESC_FLUSHED_ERROR, 0u);
    node.rest(1);
    ASSERT_EQ(seen.errors.size(), 1u);
    EXPECT_EQ(seen.errors[0].ErrorCode, VIP_ERROR_CONN_LOST);
    EXPECT_EQ(seen.errors[0].ResourceCode, VIP_RESOURCE_VI);
    EXPECT_EQ(seen.errors[0].ViHandle, vi);
    EXPECT_EQ(seen.errors[0].NicHandle, node.nic);
    EXPECT_EQ(state_of(vi), VIP_STATE_IDLE);
  };
  const auto client = [] {
    Node node;
    VIP_VI_HANDLE vi = node.make_vi();
    node.connect(vi, 1);
    node.rest(10);  // then the NIC is closed: the same for the peer
  };
  simulate({server, client});
}

TEST(ViplError, bad_descriptor_address_is_a_post_error) {
  Seen seen;
  simulate({[&] {
    Node node;
    VIP_VI_HANDLE vi = node.make_vi();
    EXPECT_EQ(VipErrorCallback(node.nic, &seen, remember), VIP_SUCCESS);
    alignas(64) VIP_DESCRIPTOR elsewhere{};
    node.post_receive(vi, &elsewhere);
    node.rest(1);
    ASSERT_EQ(seen.errors.size(), 1u);
    EXPECT_EQ(seen.errors[0].ErrorCode, VIP_ERROR_POST_DESC);
    EXPECT_EQ(seen.errors[0].DescriptorPtr, &elsewhere);
    EXPECT_EQ(VipErrorCallback(node.nic, nullptr, nullptr), VIP_SUCCESS);  // logged from here on
    node.post_receive(vi, &elsewhere);
    node.rest(1);
    EXPECT_EQ(seen.errors.size(), 1u);
    EXPECT_EQ(VipErrorCallback(nullptr, &seen, remember), VIP_INVALID_PARAMETER);
  }});
}

TEST(ViplError, handler_may_close_its_nic) {
  Seen seen;
  simulate({[&] {
    Node node;
    VIP_VI_HANDLE vi = node.make_vi();
    EXPECT_EQ(VipErrorCallback(node.nic, &seen, remember), VIP_SUCCESS);
    seen.then = [&] { node.close(); };
    alignas(64) VIP_DESCRIPTOR elsewhere{};
    node.post_receive(vi, &elsewhere);
    Node other;
    other.rest(1);
    EXPECT_EQ(node.nic, nullptr);
  }});
}
