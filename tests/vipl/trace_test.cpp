// vipl/engine/trace.hpp, diagnosis.hpp: with FCVI_TRACE a person learns which call, descriptor, segment and check
// failed, and at which end. And what is told without it.
#include "vipl/engine/trace.hpp"

#include <sys/mman.h>

#include "tests/vipl/programs.hpp"

using namespace support;

namespace {

/// What the programs make the library say.
std::string said(const char* trace, const std::vector<std::function<void()>>& programs) {
  testing::internal::CaptureStderr();
  EXPECT_TRUE(vipl::trace::configure(trace));
  simulate(programs);
  vipl::trace::configure("");
  return testing::internal::GetCapturedStderr();
}

testing::AssertionResult tells(const std::string& text, std::string_view what) {
  if (text.find(what) != std::string::npos) return testing::AssertionSuccess();
  return testing::AssertionFailure() << "\"" << what << "\" is not in:\n" << text;
}

using Spoil = std::function<void(Node&, VIP_DESCRIPTOR*)>;

/// Two connected VIs; what one of them posts is spoilt. The other has `receives` of 100 bytes.
std::string said_of_send(VIP_RELIABILITY_LEVEL level, const Spoil& spoil, unsigned receives = 1,
                         VIP_UINT16 operation = VIP_CONTROL_OP_SENDRECV) {
  Node* far = nullptr;
  return said("errors", {[&] {
                           Node node(1);
                           far = &node;
                           const VIP_VI_HANDLE vi = node.make_vi(level);
                           for (unsigned i = 0; i < receives; ++i) node.post_receive(vi, node.simple(i, 0, 100));
                           node.accept(vi);
                           node.rest(50);
                         },
                         [&] {
                           Node node;
                           const VIP_VI_HANDLE vi = node.make_vi(level);
                           node.connect(vi, 1);
                           VIP_DESCRIPTOR* const descriptor = operation == VIP_CONTROL_OP_SENDRECV
                                                                  ? node.simple(0, 0, 64)
                                                                  : node.rdma(0, operation, 0, 64, *far, 0);
                           spoil(node, descriptor);
                           node.post_send(vi, descriptor);
                           node.rest(20);
                         }});
}

std::string said_of_send(const Spoil& spoil) { return said_of_send(VIP_SERVICE_UNRELIABLE, spoil); }

}  // namespace

// --- segments and checks ---------------------------------------------------------------------------------------------

TEST(Trace, segment_whose_handle_is_not_registered) {
  const std::string text = said_of_send([](Node&, VIP_DESCRIPTOR* send) { send->DS[0].Local.Handle += 1; });
  EXPECT_TRUE(tells(text, "send descriptor 0x"));
  EXPECT_TRUE(tells(text, "Local Protection Error: segment 0 (64 bytes at 0x"));
  EXPECT_TRUE(tells(text, "is not registered, or its region does not hold that address"));
}

TEST(Trace, second_segment_past_the_end_of_its_region) {
  const std::string text = said_of_send([](Node& node, VIP_DESCRIPTOR* send) {
    send->CS.SegCount = 2;
    send->CS.Length = 164;
    send->DS[1].Local = {{.Address = node.memory.data() + node.memory.size() - 30}, node.handle, 100};
  });
  EXPECT_TRUE(tells(text, "Local Protection Error: segment 1 (100 bytes at 0x"));
  EXPECT_TRUE(tells(text, "reaches 70 bytes past the end of its region"));
}

TEST(Trace, region_of_another_tag) {
  const std::string text = said("errors", {[] {
                                  Node node;
                                  VIP_PROTECTION_HANDLE mine = nullptr, others = nullptr;
                                  ASSERT_EQ(VipCreatePtag(node.nic, &mine), VIP_SUCCESS);
                                  ASSERT_EQ(VipCreatePtag(node.nic, &others), VIP_SUCCESS);
                                  VIP_VI_ATTRIBUTES wanted = attributes(VIP_SERVICE_UNRELIABLE);
                                  wanted.Ptag = mine;
                                  VIP_VI_HANDLE vi = nullptr;
                                  ASSERT_EQ(VipCreateVi(node.nic, &wanted, nullptr, nullptr, &vi), VIP_SUCCESS);
                                  node.post_receive(vi, node.simple(0, 0, 4));  // in a region of the NULL tag
                                  node.rest(1);
                                }});
  EXPECT_TRUE(tells(text, "receive descriptor 0x"));
  EXPECT_TRUE(tells(text, "could not be posted: its memory: its region has another protection tag than the VI"));
  EXPECT_TRUE(tells(text, "asynchronous error"));
}

TEST(Trace, length_that_is_not_the_sum) {
  const std::string text = said_of_send([](Node&, VIP_DESCRIPTOR* send) { send->CS.Length = 65; });
  EXPECT_TRUE(tells(text, "Local Length Error: Length is 65, its segments hold 64 bytes"));
}

TEST(Trace, reserved_field) {
  const std::string text = said_of_send([](Node&, VIP_DESCRIPTOR* send) { send->CS.Reserved = 1; });
  EXPECT_TRUE(tells(text, "Local Format Error: a reserved field is not zero"));
}

TEST(Trace, rdma_read_on_an_unreliable_vi) {
  const std::string text = said_of_send(
      VIP_SERVICE_UNRELIABLE, [](Node&, VIP_DESCRIPTOR*) {}, 0, VIP_CONTROL_OP_RDMAREAD);
  EXPECT_TRUE(tells(text, "RDMA Read descriptor 0x"));
  EXPECT_TRUE(tells(text, "Local Format Error: RDMA Read on a VI of Unreliable Delivery"));
}

TEST(Trace, message_longer_than_its_receive) {
  const std::string text = said_of_send(VIP_SERVICE_UNRELIABLE, [](Node& node, VIP_DESCRIPTOR* send) {
    send->CS.Length = 200;
    send->DS[0].Local = {{.Address = node.data()}, node.handle, 200};
  });
  EXPECT_TRUE(tells(text, "receive descriptor 0x"));
  EXPECT_TRUE(tells(text, "Local Length Error: the message was longer than its segments, 100 bytes"));
}

TEST(Trace, descriptor_that_is_not_aligned) {
  const std::string text = said(
      "errors", {[] {
        Node node;
        const VIP_VI_HANDLE vi = node.make_vi();
        node.post_receive(vi, reinterpret_cast<VIP_DESCRIPTOR*>(reinterpret_cast<std::uintptr_t>(node.at(0)) + 16));
        node.rest(1);
      }});
  EXPECT_TRUE(tells(text, "could not be posted: it is not aligned to 64 bytes"));
}

// VI-DG 5.5, 3.8.1: a descriptor in a page that is only read is no VI Overrun.
TEST(Trace, descriptor_in_a_page_that_is_only_read) {
  auto* page = static_cast<char*>(mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  const std::string text =
      said("errors", {[page] {
             Node node;
             VIP_MEM_HANDLE handle = 0;
             EXPECT_EQ(VipRegisterMem(node.nic, page, 4096, nullptr, &handle), VIP_SUCCESS);
             mprotect(page, 4096, PROT_READ);
             EXPECT_EQ(VipPostRecv(node.make_vi(), reinterpret_cast<VIP_DESCRIPTOR*>(page), handle), VIP_SUCCESS);
             node.rest(1);
           }});
  EXPECT_TRUE(tells(text, "could not be posted: its memory can be read and not be written"));
  EXPECT_FALSE(tells(text, "Overrun"));
  munmap(page, 4096);
}

TEST(Trace, one_descriptor_too_many) {
  const std::string text = said("errors", {[] {
                                  Node node;
                                  VIP_NIC_ATTRIBUTES limits;
                                  ASSERT_EQ(VipQueryNic(node.nic, &limits), VIP_SUCCESS);
                                  const VIP_VI_HANDLE vi = node.make_vi();
                                  for (VIP_ULONG i = 0; i <= limits.MaxDescriptorsPerQueue; ++i)
                                    node.post_receive(vi, node.simple(0, 0, 4));
                                  node.rest(1);
                                }});
  EXPECT_TRUE(tells(text, "descriptors are posted and not dequeued, the most (VI Overrun)"));
}

TEST(Trace, descriptor_outside_of_its_region) {
  alignas(64) VIP_DESCRIPTOR elsewhere{};
  const std::string text = said("errors", {[&] {
                                  Node node;
                                  node.post_receive(node.make_vi(), &elsewhere);
                                  node.rest(1);
                                }});
  EXPECT_TRUE(tells(text, "could not be posted: its memory: memory handle"));
}

// --- at which end ---------------------------------------------------------------------------------------------------

TEST(Trace, peer_without_a_receive_is_told_to_the_sender_by_its_response) {
  const std::string text = said_of_send(
      VIP_SERVICE_RELIABLE_RECEPTION, [](Node&, VIP_DESCRIPTOR*) {}, 0);
  EXPECT_TRUE(tells(text,
                    "Remote Descriptor Error: the peer refused it: no receive was posted there, or its segments hold "
                    "less than 64 bytes"));
}

// At Reliable Delivery no response says it, but the end of the connection does: what waits is flushed, with the cause.
TEST(Trace, flush_at_the_far_end_tells_what_the_peer_reported) {
  const std::string text = said("errors", {[] {
                                             Node node(1);
                                             const VIP_VI_HANDLE vi = node.make_vi();
                                             node.accept(vi);
                                             node.rest(50);
                                           },
                                           [] {
                                             Node node;
                                             const VIP_VI_HANDLE vi = node.make_vi();
                                             node.post_receive(vi, node.simple(1, 0, 100));
                                             node.connect(vi, 1);
                                             node.post_send(vi, node.simple(0, 0, 64));
                                             node.rest(20);
                                           }});
  EXPECT_TRUE(
      tells(text, "Descriptor Flushed: the peer ended the connection: it had no receive for a message of ours"));
  EXPECT_TRUE(tells(text, "asynchronous error Connection Lost: the peer ended the connection"));
}

TEST(Trace, rdma_write_that_the_peer_refuses) {
  const std::string text = said_of_send(
      VIP_SERVICE_RELIABLE_RECEPTION, [](Node&, VIP_DESCRIPTOR* write) { write->DS[0].Remote.Handle += 1; }, 0,
      VIP_CONTROL_OP_RDMAWRITE);
  EXPECT_TRUE(tells(text, "RDMA Write descriptor 0x"));
  EXPECT_TRUE(
      tells(text, "RDMA Protection Error: the peer refused it: the memory that it names there (64 bytes at 0x"));
}

TEST(Trace, flush_by_a_peer_that_disconnects) {
  const std::string text = said("errors", {[] {
                                             Node node(1);
                                             const VIP_VI_HANDLE vi = node.make_vi();
                                             node.post_receive(vi, node.simple(0, 0, 100));
                                             node.accept(vi);
                                             node.rest(50);
                                           },
                                           [] {
                                             Node node;
                                             const VIP_VI_HANDLE vi = node.make_vi();
                                             node.connect(vi, 1);
                                             EXPECT_EQ(VipDisconnect(vi), VIP_SUCCESS);
                                           }});
  EXPECT_TRUE(tells(text, "Descriptor Flushed: the peer disconnected"));
}

TEST(Trace, flush_of_a_send_that_is_not_connected) {
  const std::string text = said("errors", {[] {
                                  Node node;
                                  node.post_send(node.make_vi(), node.simple(0, 0, 4));
                                  node.rest(1);
                                }});
  EXPECT_TRUE(tells(text, "send descriptor 0x"));
  EXPECT_TRUE(tells(text, "Descriptor Flushed: the VI is not connected"));
}

// --- calls ----------------------------------------------------------------------------------------------------------

TEST(Trace, wrong_handles) {
  const std::string text =
      said("errors", {[] {
             Node node;
             EXPECT_EQ(VipPostSend(node.nic, node.simple(0, 0, 4), node.handle), VIP_INVALID_PARAMETER);
             EXPECT_EQ(VipDisconnect(nullptr), VIP_INVALID_PARAMETER);
             VIP_VI_HANDLE vi = node.make_vi();
             EXPECT_EQ(VipDestroyVi(vi), VIP_SUCCESS);
             EXPECT_EQ(VipDestroyVi(vi), VIP_INVALID_PARAMETER);
           }});
  EXPECT_TRUE(tells(text, "VipPostSend returned VIP_INVALID_PARAMETER after "));
  EXPECT_TRUE(tells(text, "is no handle of a VI: it looks like one of a NIC"));
  EXPECT_TRUE(tells(text, "VipDisconnect returned VIP_INVALID_PARAMETER after "));
  EXPECT_TRUE(tells(text, "the handle of a VI is NULL"));
  EXPECT_TRUE(tells(text, "is no handle of a VI: it was destroyed, or never given out"));
  EXPECT_FALSE(tells(text, "VipCreateVi"));  // it was asked for errors only
}

TEST(Trace, calls_are_told_but_for_polls_that_find_nothing) {
  const std::string text = said("calls", {[] {
                                  Node node;
                                  const VIP_VI_HANDLE vi = node.make_vi();
                                  node.post_receive(vi, node.simple(0, 0, 4));
                                  VIP_DESCRIPTOR* done = nullptr;
                                  EXPECT_EQ(VipRecvDone(vi, &done), VIP_NOT_DONE);
                                  EXPECT_EQ(VipDisconnect(vi), VIP_SUCCESS);
                                }});
  EXPECT_TRUE(tells(text, "VipCreateVi returned VIP_SUCCESS after "));
  EXPECT_TRUE(tells(text, "VipPostRecv returned VIP_SUCCESS after "));
  EXPECT_FALSE(tells(text, "VipRecvDone"));
  EXPECT_FALSE(tells(text, "Flushed"));  // it was asked for calls only
}

TEST(Trace, choices) {
  testing::internal::CaptureStderr();
  EXPECT_TRUE(vipl::trace::configure("errors,calls"));
  EXPECT_TRUE(vipl::trace::chosen.calls && vipl::trace::chosen.errors && vipl::trace::any());
  EXPECT_FALSE(vipl::trace::configure("errors,frames"));
  EXPECT_TRUE(vipl::trace::errors());
  EXPECT_TRUE(vipl::trace::configure(""));
  EXPECT_FALSE(vipl::trace::any());
  EXPECT_TRUE(
      tells(testing::internal::GetCapturedStderr(), "FCVI_TRACE: \"frames\" is not known; known: calls, errors"));
}

// --- without it -----------------------------------------------------------------------------------------------------

// A peer that disconnects, closes its NIC, or ends: calls and descriptors tell it, so that nothing is
// logged (ruling 256).
TEST(DefaultHandler, peer_that_leaves_is_not_logged) {
  for (const bool disconnects : {true, false}) {
    const std::string text = said("", {[] {
                                         Node node(1);
                                         const VIP_VI_HANDLE vi = node.make_vi();
                                         node.post_receive(vi, node.simple(0, 0, 100));
                                         node.accept(vi);
                                         VIP_DESCRIPTOR* done = nullptr;
                                         EXPECT_EQ(VipRecvWait(vi, VIP_INFINITE, &done), VIP_DESCRIPTOR_ERROR);
                                         EXPECT_EQ(state_of(vi), VIP_STATE_ERROR);
                                         node.rest(10);
                                       },
                                       [=] {
                                         Node node;
                                         const VIP_VI_HANDLE vi = node.make_vi();
                                         node.connect(vi, 1);
                                         if (!disconnects) return;
                                         EXPECT_EQ(VipDisconnect(vi), VIP_SUCCESS);
                                       }});
    EXPECT_EQ(text, "");
  }
}

// A connection that an error ended is.
TEST(DefaultHandler, connection_that_an_error_ended_is_logged) {
  const std::string text = said("", {[] {
                                       Node node(1);
                                       node.accept(node.make_vi());
                                       node.rest(50);
                                     },
                                     [] {
                                       Node node;
                                       const VIP_VI_HANDLE vi = node.make_vi();
                                       node.connect(vi, 1);
                                       node.post_send(vi, node.simple(0, 0, 64));  // nobody has a receive for it
                                       node.rest(20);
                                     }});
  EXPECT_TRUE(tells(text, "asynchronous error Connection Lost (resource VI)"));
}

// VI-DG 3.8.1: what happened before VipCloseNic is told, though it follows at once; by the log, and by a handler.
TEST(DefaultHandler, error_right_before_the_nic_is_closed_is_told) {
  alignas(64) VIP_DESCRIPTOR elsewhere{};
  const std::string text = said("", {[&] {
                                  Node node;
                                  EXPECT_EQ(VipPostRecv(node.make_vi(), &elsewhere, node.handle), VIP_SUCCESS);
                                }});
  EXPECT_TRUE(tells(text, "asynchronous error"));
  int heard = 0;
  said("", {[&] {
         Node node;
         EXPECT_EQ(VipErrorCallback(node.nic, &heard,
                                    [](VIP_PVOID count, VIP_ERROR_DESCRIPTOR*) { ++*static_cast<int*>(count); }),
                   VIP_SUCCESS);
         EXPECT_EQ(VipPostRecv(node.make_vi(), &elsewhere, node.handle), VIP_SUCCESS);
         node.close();
         EXPECT_EQ(heard, 1);
       }});
}
