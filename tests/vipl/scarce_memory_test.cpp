// VIP_ERROR_RESOURCE of VI-DG 3 for want of memory: each allocation of a call fails once. The call says so, has had no
// effect, and works when there is memory again.
#include <cstdlib>
#include <new>

#include "tests/vipl/programs.hpp"

namespace {
thread_local long until_failure = -1;  // of operator new: so many succeed; negative: all do
}

[[gnu::noinline]] void* operator new(std::size_t size) {  // not inlined: the compiler would take malloc for a mistake
  void* memory = until_failure >= 0 && until_failure-- == 0 ? nullptr : std::malloc(size);
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}
[[gnu::noinline]] void operator delete(void* memory) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }

using namespace support;

namespace {

using Calls = std::initializer_list<std::pair<const char*, std::function<VIP_RETURN()>>>;

/// Makes the call until no allocation fails in it, the first time its first one, then its second, ...; how many did.
int failed_allocations(const char* name, const std::function<VIP_RETURN()>& call) {
  for (int count = 0;; ++count) {
    until_failure = count;
    const VIP_RETURN result = call();
    const bool failed = until_failure < 0;
    until_failure = -1;
    EXPECT_EQ(result, failed ? VIP_ERROR_RESOURCE : VIP_SUCCESS) << name << ", allocation " << count;
    if (!failed) return count;
  }
}

/// The call's first allocation fails.
VIP_RETURN without_memory(const std::function<VIP_RETURN()>& call) {
  until_failure = 0;
  const VIP_RETURN result = call();
  EXPECT_LT(until_failure, 0);
  until_failure = -1;
  return result;
}

void on_descriptor(VIP_PVOID, VIP_NIC_HANDLE, VIP_VI_HANDLE, VIP_DESCRIPTOR*) {}
void on_entry(VIP_PVOID, VIP_NIC_HANDLE, VIP_VI_HANDLE, VIP_BOOLEAN) {}

/// What the calls are made with, and make.
struct Objects {
  VIP_PROTECTION_HANDLE tag = nullptr;
  VIP_CQ_HANDLE queue = nullptr;
  VIP_VI_HANDLE vi = nullptr, plain = nullptr;
  VIP_MEM_HANDLE memory = 0;
  char room[64] = {};
};

}  // namespace

// VI-DG 3.2.1, 3.4.1, 3.4.3, 3.6.1: what a failed call made is gone: else the tag and the queue were still in use
// at the end.
TEST(ViplScarceMemory, what_is_made_is_made_whole_or_not) {
  simulate({[] {
    Node node;
    Objects made;
    VIP_VI_ATTRIBUTES wanted = attributes();
    VIP_MEM_ATTRIBUTES region{nullptr, VIP_TRUE, VIP_FALSE};
    for (const auto& [name, call] : Calls{
             {"VipCreatePtag", [&] { return VipCreatePtag(node.nic, &made.tag); }},
             {"VipCreateCQ", [&] { return VipCreateCQ(node.nic, 4, &made.queue); }},
             {"VipCreateVi",
              [&] {
                wanted.Ptag = made.tag;
                return VipCreateVi(node.nic, &wanted, made.queue, made.queue, &made.vi);
              }},
             {"VipRegisterMem",
              [&] {
                region.Ptag = made.tag;
                return VipRegisterMem(node.nic, made.room, sizeof made.room, &region, &made.memory);
              }},
         })
      EXPECT_GT(failed_allocations(name, call), 0) << name;
    EXPECT_EQ(VipDeregisterMem(node.nic, made.room, made.memory), VIP_SUCCESS);
    EXPECT_EQ(VipDestroyVi(made.vi), VIP_SUCCESS);
    EXPECT_EQ(VipDestroyCQ(made.queue), VIP_SUCCESS);
    EXPECT_EQ(VipDestroyPtag(node.nic, made.tag), VIP_SUCCESS);
  }});
}

// VI-DG 3.5.9 to 3.5.11: a request that there is no memory or no thread for.
TEST(ViplScarceMemory, notify_requests) {
  Node node;
  Objects made;
  ASSERT_EQ(VipCreateCQ(node.nic, 4, &made.queue), VIP_SUCCESS);
  made.plain = node.make_vi();
  node.post_receive(made.plain, node.simple(0, 0, 4));
  node.post_send(made.plain, node.simple(1, 0, 4));
  for (const auto& [name, call] : Calls{
           {"VipRecvNotify", [&] { return VipRecvNotify(made.plain, nullptr, on_descriptor); }},
           {"VipSendNotify", [&] { return VipSendNotify(made.plain, nullptr, on_descriptor); }},
           {"VipCQNotify", [&] { return VipCQNotify(made.queue, nullptr, on_entry); }},
       })
    EXPECT_GT(failed_allocations(name, call), 0) << name;
}

// VI-DG 3.2.2, 3.4.2, 3.4.4, 3.6.2, 3.6.3, 3.7.1 to 3.7.5, 3.8.1: these need no memory, and cannot lack it.
TEST(ViplScarceMemory, calls_that_need_none) {
  simulate({[] {
    Node node;
    Objects made;
    VIP_VI_ATTRIBUTES wanted = attributes();
    VIP_MEM_ATTRIBUTES region{};
    VIP_NIC_ATTRIBUTES nic{};
    VIP_VI_STATE state{};
    VIP_BOOLEAN send_empty = 0, receive_empty = 0;
    ASSERT_EQ(VipCreatePtag(node.nic, &made.tag), VIP_SUCCESS);
    ASSERT_EQ(VipCreateCQ(node.nic, 4, &made.queue), VIP_SUCCESS);
    ASSERT_EQ(VipRegisterMem(node.nic, made.room, sizeof made.room, nullptr, &made.memory), VIP_SUCCESS);
    made.vi = node.make_vi();
    for (const auto& [name, call] : Calls{
             {"VipQueryNic", [&] { return VipQueryNic(node.nic, &nic); }},
             {"VipQueryVi", [&] { return VipQueryVi(made.vi, &state, &wanted, &send_empty, &receive_empty); }},
             {"VipSetViAttributes", [&] { return VipSetViAttributes(made.vi, &wanted); }},
             {"VipQueryMem", [&] { return VipQueryMem(node.nic, made.room, made.memory, &region); }},
             {"VipSetMemAttributes", [&] { return VipSetMemAttributes(node.nic, made.room, made.memory, &region); }},
             {"VipErrorCallback", [&] { return VipErrorCallback(node.nic, nullptr, nullptr); }},
             {"VipResizeCQ", [&] { return VipResizeCQ(made.queue, 100); }},
             {"VipDeregisterMem", [&] { return VipDeregisterMem(node.nic, made.room, made.memory); }},
             {"VipDestroyVi", [&] { return VipDestroyVi(made.vi); }},
             {"VipDestroyCQ", [&] { return VipDestroyCQ(made.queue); }},
             {"VipDestroyPtag", [&] { return VipDestroyPtag(node.nic, made.tag); }},
         })
      EXPECT_EQ(failed_allocations(name, call), 0) << name;
  }});
}

// VI-DG 3.1.1
TEST(ViplScarceMemory, opening_a_nic) {
  simulate({[] {
    VIP_NIC_HANDLE nic = nullptr;
    EXPECT_EQ(without_memory([&] { return VipOpenNic("VINIC0", &nic); }), VIP_ERROR_RESOURCE);
    EXPECT_EQ(nic, nullptr);
    Node node;  // opens it
  }});
}

// VI-DG 3.3.1 to 3.3.6: what a call needs itself; what the transport needs later is another matter.
TEST(ViplScarceMemory, connections) {
  const auto server = [] {
    Node node(1);
    VIP_VI_HANDLE vi = node.make_vi();
    Address local(1, "service"), remote;
    VIP_VI_ATTRIBUTES found;
    VIP_CONN_HANDLE connection = nullptr;
    const auto wait = [&] { return VipConnectWait(node.nic, &local, VIP_INFINITE, &remote, &found, &connection); };
    EXPECT_EQ(without_memory(wait), VIP_ERROR_RESOURCE);
    ASSERT_EQ(wait(), VIP_SUCCESS);
    EXPECT_EQ(without_memory([&] { return VipConnectReject(connection); }), VIP_ERROR_RESOURCE);
    EXPECT_EQ(VipConnectReject(connection), VIP_SUCCESS);
    ASSERT_EQ(wait(), VIP_SUCCESS);
    EXPECT_EQ(without_memory([&] { return VipConnectAccept(connection, vi); }), VIP_ERROR_RESOURCE);
    EXPECT_EQ(VipConnectAccept(connection, vi), VIP_SUCCESS);
    node.rest(10);
  };
  const auto client = [] {
    Node node;
    VIP_VI_HANDLE vi = node.make_vi();
    Address local(0, "client"), remote(1, "service");
    VIP_VI_ATTRIBUTES found;
    node.rest(1);
    const auto request = [&] { return VipConnectRequest(vi, &local, &remote, VIP_INFINITE, &found); };
    const auto ask_peer = [&] { return VipConnectPeerRequest(vi, &local, &remote, VIP_INFINITE); };
    EXPECT_EQ(without_memory(ask_peer), VIP_ERROR_RESOURCE);
    EXPECT_EQ(without_memory(request), VIP_ERROR_RESOURCE);
    EXPECT_EQ(state_of(vi), VIP_STATE_IDLE);
    EXPECT_EQ(request(), VIP_REJECT);
    ASSERT_EQ(request(), VIP_SUCCESS);
    EXPECT_EQ(without_memory([&] { return VipDisconnect(vi); }), VIP_ERROR_RESOURCE);
    EXPECT_EQ(state_of(vi), VIP_STATE_CONNECTED);
    EXPECT_EQ(VipDisconnect(vi), VIP_SUCCESS);
    ASSERT_EQ(ask_peer(), VIP_SUCCESS);
    EXPECT_EQ(without_memory([&] { return VipDisconnect(vi); }), VIP_ERROR_RESOURCE);
    EXPECT_EQ(VipConnectPeerDone(vi, &found), VIP_NOT_DONE);  // it still asks
    EXPECT_EQ(VipDisconnect(vi), VIP_SUCCESS);
  };
  simulate({server, client});
}
