// One NIC: what can be created, and when it may go (VI-DG 3.2, 3.6, 3.7.2; design rule 5).
#include "tests/vi/bench.hpp"

namespace vi::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

class NicTest : public ::testing::Test {
 protected:
  Return create(ViAttributes attributes, CompletionQueue* queue = nullptr) {
    return nic.create_vi(attributes, queue, queue, vi);
  }
  Log log;
  FakeTransport transport{log};
  LoggingListener listener{log};
  Nic nic{
      transport,
      listener,
      {.max_vis = 2, .max_completion_queues = 1, .max_completion_queue_entries = 8, .max_transfer_size_bytes = 1000}};
  Vi* vi = nullptr;
};

TEST_F(NicTest, open_create_vi) {
  // VI-DG 3.2.1: a new VI is Idle; no transfer size means the NIC's.
  EXPECT_EQ(create({}), Return::Success);
  EXPECT_EQ(vi->state(), State::Idle);
  EXPECT_EQ(vi->attributes().max_transfer_size_bytes, 1000u);
  EXPECT_THAT(log, ElementsAre("attach"));
  EXPECT_EQ(nic.vi_count(), 1u);
}

TEST_F(NicTest, open_create_vi_bad_attributes) {
  // VI-DG 3.2.1: each attribute has its error; nothing is created.
  EXPECT_EQ(create({.reliability = static_cast<ReliabilityLevel>(3)}), Return::InvalidReliabilityLevel);
  EXPECT_EQ(create({.reliability = static_cast<ReliabilityLevel>(0)}), Return::InvalidReliabilityLevel);
  EXPECT_EQ(create({.max_transfer_size_bytes = 1001}), Return::InvalidMtu);
  EXPECT_EQ(create({.ptag = Ptag{1}}), Return::InvalidPtag);
  CompletionQueue foreign;
  EXPECT_EQ(create({}, &foreign), Return::InvalidParameter);
  EXPECT_EQ(nic.vi_count(), 0u);
  EXPECT_THAT(log, IsEmpty());
}

TEST_F(NicTest, open_create_vi_unreliable_with_rdma_read) {
  // impl: the enable is a permission that no peer can use at this level; programs set it everywhere.
  EXPECT_EQ(create({.reliability = ReliabilityLevel::UnreliableDelivery, .enable_rdma_read = true}), Return::Success);
}

TEST(NicOnATransport, fewLevels_create_vi) {
  // VI-DG 3.2.1: what the transport has not, no NIC on it has; the smaller of both limits counts.
  Log log;
  FakeTransport transport{log};
  transport.can = {.max_transfer_size_bytes = 500, .levels = bit_of(ReliabilityLevel::ReliableDelivery)};
  LoggingListener listener{log};
  Nic nic{transport, listener, {.max_transfer_size_bytes = 1000}};
  Vi* vi = nullptr;
  EXPECT_EQ(nic.create_vi({.reliability = ReliabilityLevel::UnreliableDelivery}, nullptr, nullptr, vi),
            Return::InvalidReliabilityLevel);
  EXPECT_EQ(nic.create_vi({.reliability = ReliabilityLevel::ReliableReception}, nullptr, nullptr, vi),
            Return::InvalidReliabilityLevel);
  EXPECT_EQ(nic.create_vi({.max_transfer_size_bytes = 501}, nullptr, nullptr, vi), Return::InvalidMtu);
  EXPECT_EQ(nic.create_vi({}, nullptr, nullptr, vi), Return::Success);
  EXPECT_EQ(vi->attributes().max_transfer_size_bytes, 500u);
  EXPECT_EQ(nic.limits().max_transfer_size_bytes, 500u);
  EXPECT_TRUE(nic.is_consistent());
}

TEST_F(NicTest, full_create_vi) {
  // VI-DG 3.2.1: VIP_ERROR_RESOURCE above MaxVI.
  EXPECT_EQ(create({}), Return::Success);
  EXPECT_EQ(create({}), Return::Success);
  EXPECT_EQ(create({}), Return::ErrorResource);
  EXPECT_EQ(nic.destroy_vi(*vi), Return::Success);
  EXPECT_EQ(create({}), Return::Success);
}

TEST_F(NicTest, open_create_vi_transport_refuses) {
  // impl: what the transport has no room for is not created, and holds no tag and no queue.
  Ptag tag;
  CompletionQueue* queue = nullptr;
  nic.memory().create_ptag(tag);
  nic.create_completion_queue(8, queue);
  transport.attach_result = Return::ErrorResource;
  EXPECT_EQ(create({.ptag = tag}, queue), Return::ErrorResource);
  EXPECT_EQ(nic.vi_count(), 0u);
  EXPECT_EQ(nic.memory().destroy_ptag(tag), Return::Success);
  EXPECT_EQ(nic.destroy_completion_queue(*queue), Return::Success);
}

TEST_F(NicTest, two_vis_destroy_in_any_order) {
  // impl: the places of the others stay right.
  create({});
  Vi* first = vi;
  create({});
  EXPECT_EQ(nic.destroy_vi(*first), Return::Success);
  EXPECT_EQ(nic.destroy_vi(*vi), Return::Success);
  EXPECT_EQ(nic.vi_count(), 0u);
  EXPECT_THAT(log, ElementsAre("attach", "attach", "detach", "detach"));
}

TEST(NicDestroy, not_idle_destroy_vi) {
  // VI-DG 3.2.2: VIP_INVALID_STATE in every state but Idle.
  for (const auto* state : {"PendingConnect", "Connected", "Error"}) {
    Bench bench;
    bench.drive_to(state);
    EXPECT_EQ(bench.nic.destroy_vi(*bench.vi), Return::InvalidState) << state;
    EXPECT_EQ(bench.nic.vi_count(), 1u);
  }
}

TEST(NicDestroy, idle_destroy_vi_with_descriptors) {
  // VI-DG 3.2.2: not while a descriptor is on a queue, completed or not.
  Bench bench({.receive_to_queue = true});
  bench.post_receive(bench.receive(8));
  EXPECT_EQ(bench.nic.destroy_vi(*bench.vi), Return::InvalidState);
  bench.vi->endpoint_event(endpoint::DisconnectRequested{});
  EXPECT_EQ(bench.nic.destroy_vi(*bench.vi), Return::InvalidState);
  EXPECT_THAT(dequeue_receives(bench), ElementsAre(status::done | status::flushed | status::op_receive));
  EXPECT_EQ(bench.nic.destroy_vi(*bench.vi), Return::Success);
}

TEST_F(NicTest, open_completion_queue_limits) {
  // VI-DG 3.6.1, 3.6.3: VIP_ERROR_RESOURCE above MaxCQ and MaxCQEntries.
  CompletionQueue *queue = nullptr, *second = nullptr;
  EXPECT_EQ(nic.create_completion_queue(9, queue), Return::ErrorResource);
  EXPECT_EQ(nic.create_completion_queue(8, queue), Return::Success);
  EXPECT_EQ(nic.create_completion_queue(1, second), Return::ErrorResource);
  EXPECT_EQ(nic.check_completion_queue(9), Return::ErrorResource);
  EXPECT_EQ(nic.check_completion_queue(8), Return::Success);
}

TEST_F(NicTest, used_destroy_completion_queue) {
  // VI-DG 3.6.2: VIP_ERROR_RESOURCE while a work queue is associated.
  CompletionQueue* queue = nullptr;
  nic.create_completion_queue(8, queue);
  create({}, queue);
  EXPECT_EQ(nic.destroy_completion_queue(*queue), Return::ErrorResource);
  EXPECT_EQ(nic.destroy_vi(*vi), Return::Success);
  EXPECT_EQ(nic.destroy_completion_queue(*queue), Return::Success);
  EXPECT_EQ(nic.completion_queue_count(), 0u);
}

TEST_F(NicTest, idle_set_vi_attributes) {
  // VI-DG 3.7.2: all or nothing, and the tag's users follow.
  Ptag old_tag, new_tag;
  nic.memory().create_ptag(old_tag);
  nic.memory().create_ptag(new_tag);
  create({.ptag = old_tag});
  EXPECT_EQ(nic.set_vi_attributes(*vi, {.max_transfer_size_bytes = 5000, .ptag = new_tag}), Return::InvalidMtu);
  EXPECT_EQ(nic.memory().destroy_ptag(old_tag), Return::ErrorResource);
  EXPECT_EQ(nic.set_vi_attributes(*vi, {.max_transfer_size_bytes = 50, .ptag = new_tag}), Return::Success);
  EXPECT_EQ(vi->attributes().max_transfer_size_bytes, 50u);
  EXPECT_EQ(nic.memory().destroy_ptag(old_tag), Return::Success);
  EXPECT_EQ(nic.memory().destroy_ptag(new_tag), Return::ErrorResource);
}

TEST(NicAttributes, not_idle_set_vi_attributes) {
  // VI-DG 3.7.2: VIP_INVALID_STATE.
  for (const auto* state : {"PendingConnect", "Connected", "Error"}) {
    Bench bench;
    bench.drive_to(state);
    EXPECT_EQ(bench.nic.set_vi_attributes(*bench.vi, {}), Return::InvalidState) << state;
  }
}

TEST(NicStrict, strict_null_tags) {
  // ruling 22: with strict_tags a NULL tag is invalid wherever a tag is given.
  Log log;
  FakeTransport transport{log};
  LoggingListener listener{log};
  Nic nic(transport, listener, {.strict_tags = true});
  std::byte host[8]{};
  wire::MemHandle handle{};
  Vi* vi = nullptr;
  Ptag tag;
  nic.memory().create_ptag(tag);
  EXPECT_EQ(nic.create_vi({}, nullptr, nullptr, vi), Return::InvalidPtag);
  EXPECT_EQ(nic.register_memory(64, host, 8, {}, handle), Return::InvalidPtag);
  EXPECT_EQ(nic.create_vi({.ptag = tag}, nullptr, nullptr, vi), Return::Success);
  EXPECT_EQ(nic.set_vi_attributes(*vi, {}), Return::InvalidPtag);
  EXPECT_EQ(nic.register_memory(64, host, 8, {.ptag = tag}, handle), Return::Success);
  EXPECT_EQ(nic.set_memory_attributes(64, handle, {}), Return::InvalidPtag);
  EXPECT_EQ(nic.set_memory_attributes(64, handle, {.ptag = tag, .enable_rdma_read = true}), Return::Success);
}

TEST_F(NicTest, open_null_tags) {
  // wild 1: without strict_tags they are the usual case.
  std::byte host[8]{};
  wire::MemHandle handle{};
  EXPECT_EQ(nic.register_memory(64, host, 8, {}, handle), Return::Success);
  EXPECT_EQ(nic.set_memory_attributes(64, handle, {}), Return::Success);
  EXPECT_EQ(nic.set_memory_attributes(65 + 8, handle, {}), Return::InvalidParameter);
}

TEST(NicClose, used_close) {
  // VI-DG 3.1.2: closing frees everything, whatever is still there (the sanitizers look).
  Bench bench({.send_to_queue = true, .receive_to_queue = true});
  bench.post_receive(bench.receive(8));
  bench.connect();
  bench.post_send(bench.send("a"));
  bench.begin();
}

}  // namespace
}  // namespace vi::testing
