// VI-DG 3.8.1: asynchronous errors at the program's handler.
#include <pthread.h>

#include <algorithm>

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

// VI-DG 4.4: of an error of a VI that no descriptor and no completion queue has to do with, and of one
// with a descriptor.
TEST(ViplError, fields_that_say_nothing_are_null) {
  Seen lost, bad;
  simulate({[&] {
              Node node(1);
              VIP_CQ_HANDLE queue = nullptr;
              ASSERT_EQ(VipCreateCQ(node.nic, 4, &queue), VIP_SUCCESS);
              VIP_VI_HANDLE vi = node.make_vi(VIP_SERVICE_RELIABLE_DELIVERY, queue, queue);
              EXPECT_EQ(VipErrorCallback(node.nic, &lost, remember), VIP_SUCCESS);
              node.accept(vi);
              node.rest(100);
              ASSERT_EQ(lost.errors.size(), 1u);
              EXPECT_EQ(lost.errors[0].ViHandle, vi);
              EXPECT_EQ(lost.errors[0].CQHandle, nullptr);
              EXPECT_EQ(lost.errors[0].DescriptorPtr, nullptr);
              EXPECT_EQ(VipErrorCallback(node.nic, &bad, remember), VIP_SUCCESS);
              alignas(64) VIP_DESCRIPTOR elsewhere{};
              node.post_receive(vi, &elsewhere);
              node.rest(1);
              ASSERT_EQ(bad.errors.size(), 1u);
              EXPECT_EQ(bad.errors[0].CQHandle, nullptr);
              EXPECT_EQ(bad.errors[0].DescriptorPtr, &elsewhere);
            },
            [] {
              Node node;
              node.connect(node.make_vi(), 1);
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

// Ruling 250: a handler ends its thread, each time, and closes its NIC from there at last; all errors are told.
TEST(ViplError, handler_may_end_its_thread) {
  Seen seen;
  simulate({[&] {
    Node node, other(1);
    VIP_VI_HANDLE vi = node.make_vi();
    EXPECT_EQ(VipErrorCallback(node.nic, &seen, remember), VIP_SUCCESS);
    seen.then = [&] {
      if (seen.errors.size() == 4) node.close();
      pthread_exit(nullptr);
    };
    alignas(64) VIP_DESCRIPTOR elsewhere{};
    node.post_receive(vi, &elsewhere);
    node.rest(1);
    EXPECT_EQ(seen.errors.size(), 1u);
    for (int i = 0; i < 3; ++i) node.post_receive(vi, &elsewhere);
    other.rest(1);
    EXPECT_EQ(seen.errors.size(), 4u);
    EXPECT_EQ(node.nic, nullptr);
  }});
}

namespace {

/// The one error that `provoke` raises at a server whose client does it. The server's VI has two receives of 100 bytes,
/// and stays for 100 ms.
VIP_ERROR_DESCRIPTOR error_at_server(VIP_RELIABILITY_LEVEL level,
                                     const std::function<void(Node& client, VIP_VI_HANDLE vi, Node& server)>& provoke,
                                     unsigned receives = 2) {
  Seen seen;
  Node* server_node = nullptr;
  VIP_VI_HANDLE server_vi = nullptr;
  simulate({[&] {
              Node node(1);
              server_node = &node;
              server_vi = node.make_vi(level);
              EXPECT_EQ(VipErrorCallback(node.nic, &seen, remember), VIP_SUCCESS);
              for (std::size_t i = 0; i < receives; ++i) node.post_receive(server_vi, node.simple(i, 0, 100));
              node.accept(server_vi);
              node.rest(100);
              seen.errors.resize(std::min<std::size_t>(seen.errors.size(), 1));  // then the connection may go
            },
            [&] {
              Node node;
              EXPECT_EQ(VipErrorCallback(node.nic, nullptr, nullptr), VIP_SUCCESS);
              VIP_VI_HANDLE vi = node.make_vi(level);
              node.connect(vi, 1);
              provoke(node, vi, *server_node);
              node.rest(200);
            }});
  if (seen.errors.empty()) return {};
  EXPECT_EQ(seen.errors[0].ViHandle, server_vi);
  return seen.errors[0];
}

/// An RDMA operation on memory that the server has not registered.
VIP_ERROR_DESCRIPTOR error_of_wrong_handle(VIP_RELIABILITY_LEVEL level, VIP_UINT16 operation) {
  return error_at_server(level, [=](Node& node, VIP_VI_HANDLE vi, Node& server) {
    VIP_DESCRIPTOR* descriptor = node.rdma(0, operation, 0, 4, server, 0);
    descriptor->DS[0].Remote.Handle += 1;
    node.post_send(vi, descriptor);
  });
}

}  // namespace

TEST(ViplError, message_without_a_receive_descriptor) {
  const auto error = error_at_server(
      VIP_SERVICE_UNRELIABLE, [](Node& node, VIP_VI_HANDLE vi, Node&) { node.post_send(vi, node.simple(0, 0, 4)); }, 0);
  EXPECT_EQ(error.ErrorCode, VIP_ERROR_RECVQ_EMPTY);
  EXPECT_EQ(error.ResourceCode, VIP_RESOURCE_VI);
}

TEST(ViplError, rdma_write_to_memory_that_is_not_registered) {
  const auto error = error_of_wrong_handle(VIP_SERVICE_UNRELIABLE, VIP_CONTROL_OP_RDMAWRITE);
  EXPECT_EQ(error.ErrorCode, VIP_ERROR_RDMAW_PROT);
  EXPECT_EQ(error.OpCode, static_cast<VIP_ULONG>(VIP_STATUS_OP_REMOTE_RDMA_WRITE));
}

TEST(ViplError, rdma_read_of_memory_that_is_not_registered) {
  const auto error = error_of_wrong_handle(VIP_SERVICE_RELIABLE_DELIVERY, VIP_CONTROL_OP_RDMAREAD);
  EXPECT_EQ(error.ErrorCode, VIP_ERROR_RDMAR_PROT);
  EXPECT_EQ(error.OpCode, static_cast<VIP_ULONG>(VIP_STATUS_OP_RDMA_READ));
}

// VI-DG 3.8.1: the descriptor's region is deregistered before its status is written.
TEST(ViplError, descriptor_memory_that_goes_before_the_completion) {
  const auto error = error_at_server(VIP_SERVICE_UNRELIABLE, [](Node& node, VIP_VI_HANDLE vi, Node& server) {
    VIP_MEM_HANDLE again = 0;  // the data stays registered
    EXPECT_EQ(VipRegisterMem(server.nic, server.memory.data(), server.memory.size(), nullptr, &again), VIP_SUCCESS);
    server.at(0)->DS[0].Local.Handle = again;
    VIP_DESCRIPTOR* big = node.simple(0, 0, 100);
    EXPECT_EQ(VipDeregisterMem(server.nic, server.memory.data(), server.handle), VIP_SUCCESS);
    node.post_send(vi, big);
  });
  EXPECT_EQ(error.ErrorCode, VIP_ERROR_COMP_PROT);
  EXPECT_EQ(error.ResourceCode, VIP_RESOURCE_DESCRIPTOR);
  EXPECT_NE(error.DescriptorPtr, nullptr);
}

// VI-DG 3.8.1, 6.3.1: one descriptor too many, dequeued ones not counted; the connection is gone.
TEST(ViplError, overrun_of_a_queue) {
  Seen seen;
  simulate({[&] {
    Node node;
    VIP_NIC_ATTRIBUTES nic{};
    ASSERT_EQ(VipQueryNic(node.nic, &nic), VIP_SUCCESS);
    EXPECT_EQ(VipErrorCallback(node.nic, &seen, remember), VIP_SUCCESS);
    VIP_VI_HANDLE vi = node.make_vi();
    VIP_DESCRIPTOR *done = nullptr, *descriptor = node.simple(0, 0, 4);
    // Flushed at once, and on the queue until they are dequeued.
    for (VIP_ULONG i = 0; i < nic.MaxDescriptorsPerQueue; ++i)
      ASSERT_EQ(VipPostSend(vi, descriptor, node.handle), VIP_SUCCESS);
    EXPECT_EQ(VipSendDone(vi, &done), VIP_DESCRIPTOR_ERROR);
    node.post_send(vi, descriptor);  // there is room again
    node.rest(1);
    EXPECT_TRUE(seen.errors.empty());
    node.post_send(vi, descriptor);
    node.rest(1);
    ASSERT_EQ(seen.errors.size(), 1u);
    EXPECT_EQ(seen.errors[0].ErrorCode, VIP_ERROR_VI_OVERRUN);
    EXPECT_EQ(seen.errors[0].ResourceCode, VIP_RESOURCE_VI);
    EXPECT_EQ(seen.errors[0].ViHandle, vi);
    for (VIP_ULONG i = 0; i < nic.MaxDescriptorsPerQueue; ++i) {
      ASSERT_EQ(VipSendDone(vi, &done), VIP_DESCRIPTOR_ERROR);
      ASSERT_EQ(done, descriptor);
    }
    ASSERT_EQ(VipSendDone(vi, &done), VIP_DESCRIPTOR_ERROR);
    EXPECT_EQ(done, nullptr);                        // the refused one was not queued
    EXPECT_EQ(VipDestroyVi(vi), VIP_INVALID_STATE);  // VI-DG 6.3.1: it is in Error
    EXPECT_EQ(VipDisconnect(vi), VIP_SUCCESS);
    EXPECT_EQ(VipDestroyVi(vi), VIP_SUCCESS);
  }});
}

// VI-DG 3.5.1, 5.5: a descriptor that is not where it should be is not touched, and not queued.
TEST(ViplError, wild_descriptors_are_not_touched) {
  Seen seen;
  simulate({[&] {
    Node node;
    EXPECT_EQ(VipErrorCallback(node.nic, &seen, remember), VIP_SUCCESS);
    VIP_VI_HANDLE vi = node.make_vi();
    VIP_DESCRIPTOR* misaligned = reinterpret_cast<VIP_DESCRIPTOR*>(reinterpret_cast<std::uintptr_t>(node.at(0)) + 16);
    node.at(0)->CS.Status = 7;
    const std::vector<std::uint8_t> before = node.memory;
    node.post_receive(vi, reinterpret_cast<VIP_DESCRIPTOR*>(64));  // nothing is mapped there
    node.post_receive(vi, reinterpret_cast<VIP_DESCRIPTOR*>(~std::uintptr_t{63}));
    node.post_send(vi, misaligned);
    EXPECT_EQ(VipPostRecv(vi, node.at(0), node.handle + 1), VIP_SUCCESS);
    node.rest(1);
    EXPECT_EQ(seen.errors.size(), 4u);
    for (const VIP_ERROR_DESCRIPTOR& error : seen.errors) EXPECT_EQ(error.ErrorCode, VIP_ERROR_POST_DESC);
    EXPECT_EQ(node.memory, before);
    VIP_DESCRIPTOR* done = node.at(0);
    EXPECT_EQ(VipRecvDone(vi, &done), VIP_DESCRIPTOR_ERROR);
    EXPECT_EQ(done, nullptr);
    EXPECT_EQ(VipDisconnect(vi), VIP_SUCCESS);
    EXPECT_EQ(VipDestroyVi(vi), VIP_SUCCESS);
  }});
}

// VI-DG 6.3.1, VI-ARCH 5.1: an error of an Idle VI is told at once, and the attempt to connect it reports it as well.
TEST(ViplError, error_in_idle_is_told_and_refuses_the_connection) {
  Seen seen;
  const auto server = [] {
    Node node(1);
    VIP_VI_HANDLE vi = node.make_vi();
    node.accept(vi);
    node.rest(5);
  };
  const auto client = [&] {
    Node node;
    EXPECT_EQ(VipErrorCallback(node.nic, &seen, remember), VIP_SUCCESS);
    VIP_VI_HANDLE vi = node.make_vi();
    alignas(64) VIP_DESCRIPTOR elsewhere{};
    node.post_receive(vi, node.simple(0, 0, 4));
    node.post_receive(vi, &elsewhere);
    node.rest(1);
    ASSERT_EQ(seen.errors.size(), 1u);
    EXPECT_EQ(seen.errors[0].ErrorCode, VIP_ERROR_POST_DESC);
    EXPECT_EQ(state_of(vi), VIP_STATE_ERROR);
    VIP_DESCRIPTOR* done = nullptr;
    EXPECT_EQ(VipRecvDone(vi, &done), VIP_DESCRIPTOR_ERROR);
    EXPECT_EQ(done, node.at(0));
    EXPECT_EQ(node.request(vi, 1, "service"), VIP_INVALID_STATE);
    EXPECT_EQ(VipDisconnect(vi), VIP_SUCCESS);
    node.connect(vi, 1);
    node.rest(1);
    EXPECT_EQ(seen.errors.size(), 1u);
    EXPECT_EQ(VipDisconnect(vi), VIP_SUCCESS);
  };
  simulate({server, client});
}

// VI-ARCH 7.2, 7.3, VI-DG 6.2: a connection that an error ended is lost at both ends, and both handlers hear of that
// once, whether a descriptor tells the error, a handler, or both ends' descriptors.
TEST(ViplError, connection_that_an_error_ended_is_lost_at_both_ends) {
  const VIP_RELIABILITY_LEVEL levels[] = {VIP_SERVICE_RELIABLE_DELIVERY, VIP_SERVICE_RELIABLE_RECEPTION};
  for (const VIP_RELIABILITY_LEVEL level : levels) {
    for (const bool posted : {false, true}) {  // no descriptor at all, or one that is too small
      Seen at_client, at_server;
      const auto lost = [](const Seen& seen) {
        return std::count_if(seen.errors.begin(), seen.errors.end(),
                             [](const auto& error) { return error.ErrorCode == VIP_ERROR_CONN_LOST; });
      };
      simulate({[&] {
                  Node node(1);
                  VIP_VI_HANDLE vi = node.make_vi(level);
                  EXPECT_EQ(VipErrorCallback(node.nic, &at_server, remember), VIP_SUCCESS);
                  if (posted) node.post_receive(vi, node.simple(0, 0, 4));
                  node.accept(vi);
                  node.rest(100);
                  EXPECT_EQ(state_of(vi), VIP_STATE_ERROR);
                },
                [&] {
                  Node node;
                  EXPECT_EQ(VipErrorCallback(node.nic, &at_client, remember), VIP_SUCCESS);
                  VIP_VI_HANDLE vi = node.make_vi(level);
                  node.connect(vi, 1);
                  node.post_send(vi, node.simple(0, 0, 100));
                  node.rest(100);
                  EXPECT_EQ(state_of(vi), VIP_STATE_ERROR);
                }});
      EXPECT_EQ(lost(at_client), 1);
      EXPECT_EQ(at_client.errors.size(), 1u);
      EXPECT_EQ(lost(at_server), 1);
      EXPECT_EQ(at_server.errors.size(), posted ? 1u : 2u);  // Receive Queue Empty before it
    }
  }
}
