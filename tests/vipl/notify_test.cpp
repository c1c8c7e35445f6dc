// VI-DG 3.5.9 to 3.5.12: handlers of completed descriptors.
#include <pthread.h>

#include "tests/vipl/programs.hpp"

using namespace support;

namespace {

struct Calls {
  struct Call {
    VIP_NIC_HANDLE nic;
    VIP_VI_HANDLE vi;
    VIP_DESCRIPTOR* descriptor;
    VIP_BOOLEAN receive_queue;
  };
  std::vector<Call> made;
  std::function<void()> then;
};

void on_descriptor(VIP_PVOID context, VIP_NIC_HANDLE nic, VIP_VI_HANDLE vi, VIP_DESCRIPTOR* descriptor) {
  auto& calls = *static_cast<Calls*>(context);
  calls.made.push_back({nic, vi, descriptor, VIP_FALSE});
  if (calls.then) calls.then();
}

void on_entry(VIP_PVOID context, VIP_NIC_HANDLE nic, VIP_VI_HANDLE vi, VIP_BOOLEAN receive_queue) {
  auto& calls = *static_cast<Calls*>(context);
  calls.made.push_back({nic, vi, nullptr, receive_queue});
  if (calls.then) calls.then();
}

/// A client that sends `count` messages of 4 bytes, one every 10 ms, and stays a while.
std::function<void()> sender(int count) {
  return [count] {
    Node node;
    VIP_VI_HANDLE vi = node.make_vi();
    node.connect(vi, 1);
    for (int i = 0; i < count; ++i) {
      node.rest(10);
      VIP_DESCRIPTOR* done = nullptr;
      node.post_send(vi, node.simple(0, 0, 4));
      EXPECT_EQ(VipSendWait(vi, VIP_INFINITE, &done), VIP_SUCCESS);
    }
    node.rest(1000);
  };
}

}  // namespace

TEST(ViplNotify, wrong_parameters_and_queues) {
  simulate({[] {
    Node node;
    Calls calls;
    VIP_CQ_HANDLE queue = nullptr;
    ASSERT_EQ(VipCreateCQ(node.nic, 4, &queue), VIP_SUCCESS);
    VIP_VI_HANDLE plain = node.make_vi(), attached = node.make_vi(VIP_SERVICE_RELIABLE_DELIVERY, queue, queue);
    EXPECT_EQ(VipSendNotify(plain, &calls, on_descriptor), VIP_DESCRIPTOR_ERROR);  // empty
    EXPECT_EQ(VipRecvNotify(plain, &calls, on_descriptor), VIP_DESCRIPTOR_ERROR);
    EXPECT_EQ(VipSendNotify(attached, &calls, on_descriptor), VIP_ERROR_RESOURCE);
    EXPECT_EQ(VipRecvNotify(attached, &calls, on_descriptor), VIP_ERROR_RESOURCE);
    EXPECT_EQ(VipSendNotify(plain, &calls, nullptr), VIP_INVALID_PARAMETER);
    EXPECT_EQ(VipRecvNotify(nullptr, &calls, on_descriptor), VIP_INVALID_PARAMETER);
    EXPECT_EQ(VipSendNotify(queue, &calls, on_descriptor), VIP_INVALID_PARAMETER);
    EXPECT_EQ(VipCQNotify(queue, &calls, nullptr), VIP_INVALID_PARAMETER);
    EXPECT_EQ(VipCQNotify(plain, &calls, on_entry), VIP_INVALID_PARAMETER);
    node.rest(1);
    EXPECT_TRUE(calls.made.empty());
  }});
}

TEST(ViplNotify, each_request_gets_one_descriptor_in_order) {
  simulate({[] {
              Node node(1);
              Calls calls;
              VIP_VI_HANDLE vi = node.make_vi();
              for (std::size_t i = 0; i < 3; ++i) node.post_receive(vi, node.simple(i, 0, 10));
              EXPECT_EQ(VipRecvNotify(vi, &calls, on_descriptor), VIP_SUCCESS);
              EXPECT_EQ(VipRecvNotify(vi, &calls, on_descriptor), VIP_SUCCESS);
              node.accept(vi);
              node.rest(100);
              ASSERT_EQ(calls.made.size(), 2u);  // the third message waits for a third request
              for (std::size_t i = 0; i < 2; ++i) {
                EXPECT_EQ(calls.made[i].descriptor, node.at(i));
                EXPECT_EQ(calls.made[i].vi, vi);
                EXPECT_EQ(calls.made[i].nic, node.nic);
              }
              EXPECT_EQ(VipRecvNotify(vi, &calls, on_descriptor), VIP_SUCCESS);  // complete already
              node.rest(1);
              ASSERT_EQ(calls.made.size(), 3u);
              EXPECT_EQ(calls.made[2].descriptor, node.at(2));
            },
            sender(3)});
}

// 3.5.9: outstanding requests are called with NULL when the queue becomes empty.
TEST(ViplNotify, request_behind_the_last_descriptor_gets_null) {
  simulate({[] {
    Node node;
    Calls calls;
    VIP_VI_HANDLE vi = node.make_vi();
    node.post_receive(vi, node.simple(0, 0, 10));
    EXPECT_EQ(VipRecvNotify(vi, &calls, on_descriptor), VIP_SUCCESS);
    EXPECT_EQ(VipRecvNotify(vi, &calls, on_descriptor), VIP_SUCCESS);
    EXPECT_EQ(VipDisconnect(vi), VIP_SUCCESS);  // flushes
    node.rest(1);
    ASSERT_EQ(calls.made.size(), 2u);
    EXPECT_EQ(calls.made[0].descriptor, node.at(0));
    EXPECT_NE(calls.made[0].descriptor->CS.Status & VIP_STATUS_DESC_FLUSHED_ERROR, 0u);
    EXPECT_EQ(calls.made[1].descriptor, nullptr);
  }});
}

TEST(ViplNotify, send_queue) {
  simulate({[] {
    Node node;
    Calls calls;
    VIP_VI_HANDLE vi = node.make_vi();
    node.post_send(vi, node.simple(0, 0, 10));  // flushed: not connected
    EXPECT_EQ(VipSendNotify(vi, &calls, on_descriptor), VIP_SUCCESS);
    node.rest(1);
    ASSERT_EQ(calls.made.size(), 1u);
    EXPECT_EQ(calls.made[0].descriptor, node.at(0));
    EXPECT_EQ(VipDestroyVi(vi), VIP_SUCCESS);
  }});
}

TEST(ViplNotify, completion_queue) {
  simulate({[] {
              Node node(1);
              Calls calls;
              VIP_CQ_HANDLE queue = nullptr;
              ASSERT_EQ(VipCreateCQ(node.nic, 4, &queue), VIP_SUCCESS);
              VIP_VI_HANDLE vi = node.make_vi(VIP_SERVICE_RELIABLE_DELIVERY, nullptr, queue);
              for (std::size_t i = 0; i < 2; ++i) node.post_receive(vi, node.simple(i, 0, 10));
              for (int i = 0; i < 3; ++i) EXPECT_EQ(VipCQNotify(queue, &calls, on_entry), VIP_SUCCESS);
              node.accept(vi);
              node.rest(100);
              ASSERT_EQ(calls.made.size(), 2u);
              EXPECT_EQ(calls.made[1].vi, vi);
              EXPECT_EQ(calls.made[1].nic, node.nic);
              EXPECT_EQ(calls.made[1].receive_queue, VIP_TRUE);
              VIP_DESCRIPTOR* done = nullptr;
              for (std::size_t i = 0; i < 2; ++i) {
                EXPECT_EQ(VipRecvDone(vi, &done), VIP_SUCCESS);
                EXPECT_EQ(done, node.at(i));
              }
              EXPECT_EQ(VipDisconnect(vi), VIP_SUCCESS);
              EXPECT_EQ(VipDestroyVi(vi), VIP_SUCCESS);
              EXPECT_EQ(VipDestroyCQ(queue), VIP_SUCCESS);  // cancels the third
              node.rest(1);
              EXPECT_EQ(calls.made.size(), 2u);
            },
            sender(2)});
}

// Handlers call back in: the next request, the next receive, and at last the end of the VI itself.
TEST(ViplNotify, handler_may_ask_for_the_next_and_destroy_its_vi) {
  simulate({[] {
              Node node(1);
              Calls calls;
              VIP_VI_HANDLE vi = node.make_vi();
              calls.then = [&] {
                if (calls.made.size() < 5) {
                  node.post_receive(vi, node.simple(0, 0, 10));
                  EXPECT_EQ(VipRecvNotify(vi, &calls, on_descriptor), VIP_SUCCESS);
                  return;
                }
                EXPECT_EQ(VipDisconnect(vi), VIP_SUCCESS);
                EXPECT_EQ(VipDestroyVi(vi), VIP_SUCCESS);
              };
              node.post_receive(vi, node.simple(0, 0, 10));
              EXPECT_EQ(VipRecvNotify(vi, &calls, on_descriptor), VIP_SUCCESS);
              node.accept(vi);
              node.rest(200);
              EXPECT_EQ(calls.made.size(), 5u);
              EXPECT_EQ(VipDestroyVi(vi), VIP_INVALID_PARAMETER);
            },
            sender(5)});
}

// Ruling 250: each of the handlers ends its thread; the next request has another one.
TEST(ViplNotify, handler_may_end_its_thread) {
  simulate({[] {
              Node node(1);
              Calls calls;
              calls.then = [] { pthread_exit(nullptr); };
              VIP_CQ_HANDLE queue = nullptr;
              ASSERT_EQ(VipCreateCQ(node.nic, 4, &queue), VIP_SUCCESS);
              VIP_VI_HANDLE vi = node.make_vi();
              for (std::size_t i = 0; i < 3; ++i) {
                node.post_receive(vi, node.simple(i, 0, 10));
                EXPECT_EQ(VipRecvNotify(vi, &calls, on_descriptor), VIP_SUCCESS);
              }
              node.accept(vi);
              node.rest(200);
              EXPECT_EQ(calls.made.size(), 3u);
              EXPECT_EQ(VipCQNotify(queue, &calls, on_entry), VIP_SUCCESS);
              node.close();  // with a request that is left
            },
            sender(3)});
}

TEST(ViplNotify, handler_may_close_its_nic) {
  simulate({[] {
    Node node, other(1);
    Calls calls;
    VIP_VI_HANDLE vi = node.make_vi();
    calls.then = [&] { node.close(); };
    node.post_send(vi, node.simple(0, 0, 10));
    EXPECT_EQ(VipSendNotify(vi, &calls, on_descriptor), VIP_SUCCESS);
    other.rest(1);
    EXPECT_EQ(node.nic, nullptr);
    EXPECT_EQ(calls.made.size(), 1u);
  }});
}

// VipCloseNic cancels, and takes the notify threads with it.
TEST(ViplNotify, closing_the_nic_cancels_requests) {
  simulate({[] {
    Calls calls;
    Node node, other(1);
    VIP_CQ_HANDLE queue = nullptr;
    ASSERT_EQ(VipCreateCQ(node.nic, 4, &queue), VIP_SUCCESS);
    EXPECT_EQ(VipCQNotify(queue, &calls, on_entry), VIP_SUCCESS);
    node.close();
    EXPECT_EQ(VipCQNotify(queue, &calls, on_entry), VIP_INVALID_PARAMETER);
    other.rest(1);
    EXPECT_TRUE(calls.made.empty());
  }});
}
