// Posting in each state (VI-ARCH 5), bad descriptor addresses and overruns (VI-DG 3.8.1, 6.3.1), dequeueing.
#include <random>

#include "tests/vi/bench.hpp"
#include "vi/posted_descriptor.hpp"
#include "vi/short_post.hpp"

namespace vi::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

struct PostCase {
  const char* state;
  bool send_flushed;
  bool receive_flushed;
};
class PostInState : public ::testing::TestWithParam<PostCase> {};

TEST_P(PostInState, post_send) {
  // VI-ARCH 5.1 to 5.4, 6.2, FC-VI 4.2: only a connected VI keeps a send.
  Bench bench;
  bench.drive_to(GetParam().state);
  bench.signals();
  const auto posted = bench.send("a");
  EXPECT_EQ(bench.post_send(posted), Return::Success);
  if (GetParam().send_flushed) {
    EXPECT_EQ(posted.status(), status::done | status::flushed | status::op_send);
    EXPECT_THAT(bench.signals(), ElementsAre("send"));
  } else {
    EXPECT_EQ(posted.status(), 0u);  // VI-DG 5.5: cleared when posted
    EXPECT_THAT(bench.signals(), ElementsAre("posted"));
  }
}

TEST_P(PostInState, post_receive) {
  // VI-ARCH 5.1 to 5.4: receives stay in all states but Error.
  Bench bench;
  bench.drive_to(GetParam().state);
  bench.signals();
  const auto posted = bench.receive(8);
  EXPECT_EQ(bench.post_receive(posted), Return::Success);
  if (GetParam().receive_flushed) {
    EXPECT_EQ(posted.status(), status::done | status::flushed | status::op_receive);
    EXPECT_THAT(bench.signals(), ElementsAre("receive"));
  } else {
    EXPECT_EQ(posted.status(), 0u);
    EXPECT_THAT(bench.signals(), IsEmpty());
  }
}

INSTANTIATE_TEST_SUITE_P(States, PostInState,
                         ::testing::Values(PostCase{"Idle", true, false}, PostCase{"PendingConnect", true, false},
                                           PostCase{"Connected", false, false}, PostCase{"Error", true, true}),
                         [](const auto& test_case) { return std::string(test_case.param.state); });

TEST(Post, idle_flushed_operations) {
  // VI-DG 5.2 status bits 18:16: the operation is told also where it was never begun.
  Bench bench;
  bench.post_send(bench.rdma_write("a"));
  bench.post_send(bench.rdma_read(bench.allocate(1)));
  bench.post_send(bench.descriptor(control::op_mask, 0, {}));
  constexpr std::uint32_t flushed = status::done | status::flushed;
  EXPECT_THAT(dequeue_sends(bench),
              ElementsAre(flushed | status::op_rdma_write, flushed | status::op_rdma_read, flushed | status::op_send));
}

TEST(Post, idle_flushed_send_keeps_length) {
  // impl: a flushed send can be posted again as it is.
  Bench bench;
  const auto posted = bench.send("abc", control::immediate);
  posted.control().immediate_data = 7;
  bench.post_send(posted);
  EXPECT_EQ(posted.control().length_bytes, 3u);
  EXPECT_EQ(posted.control().immediate_data, 7u);
  EXPECT_EQ(posted.control().control, control::immediate);
}

TEST(Post, idle_send_done_empty) {
  // VI-DG 3.5.2, wild 11: VIP_DESCRIPTOR_ERROR with NULL on an empty queue; NOT_DONE while it is open.
  Bench bench;
  std::uint64_t address = 1;
  EXPECT_EQ(bench.vi->send_done(address), Return::DescriptorError);
  EXPECT_EQ(address, 0u);
  address = 1;
  EXPECT_EQ(bench.vi->receive_done(address), Return::DescriptorError);
  EXPECT_EQ(address, 0u);
  bench.post_receive(bench.receive(1));
  EXPECT_EQ(bench.vi->receive_done(address), Return::NotDone);
  EXPECT_EQ(address, 0u);
  EXPECT_FALSE(bench.vi->receive_queue_empty());
  EXPECT_TRUE(bench.vi->send_queue_empty());
}

// --- Post Descriptor Error

struct BadPost {
  const char* name;
  std::uint64_t (*address)(const Posted&);
  std::uint32_t (*handle)(std::uint32_t);
};
class PostBad : public ::testing::TestWithParam<BadPost> {};

TEST_P(PostBad, connected_post_bad_address) {
  // VI-DG 3.8.1, 6.3.1: asynchronous, not posted, and the VI of any level is in Error.
  for (const auto level : {ReliabilityLevel::UnreliableDelivery, ReliabilityLevel::ReliableDelivery,
                           ReliabilityLevel::ReliableReception}) {
    Bench bench({.level = level});
    const auto waiting = bench.receive(4);
    bench.post_receive(waiting);
    bench.connect();
    const auto posted = bench.rdma_write("a");
    const std::uint64_t address = GetParam().address(posted);
    EXPECT_EQ(bench.vi->post_send(address, wire::MemHandle{GetParam().handle(bench.arena_handle.value)}),
              Return::Success);
    EXPECT_EQ(bench.vi->state(), State::Error);
    EXPECT_THAT(bench.signals(), ElementsAre("Post Descriptor Error", "receive", "Connection Lost", "stopped"));
    EXPECT_EQ(bench.listener.last_descriptor_address, address);
    EXPECT_EQ(bench.listener.last_resource, ResourceCode::Descriptor);
    EXPECT_TRUE(bench.vi->send_queue_empty());
    EXPECT_EQ(waiting.status(), status::done | status::flushed | status::op_receive);
    EXPECT_EQ(bench.vi->unexpected_events(), 0u);
  }
}

TEST_P(PostBad, unconnected_post_bad_address) {
  // VI-DG 6.3.1, VI-ARCH 5.1, 5.2: told at once, and the VI is in Error: who connects it learns that. It has no
  // connection to lose.
  for (const auto* state : {"Idle", "PendingConnect"}) {
    Bench bench;
    bench.drive_to(state);
    bench.signals();
    const auto waiting = bench.receive(4), posted = bench.receive(8);
    bench.post_receive(waiting);
    bench.vi->post_receive(GetParam().address(posted), wire::MemHandle{GetParam().handle(bench.arena_handle.value)});
    EXPECT_EQ(bench.vi->state(), State::Error);
    EXPECT_THAT(bench.signals(), ElementsAre("Post Descriptor Error", "receive", "stopped"));
    EXPECT_EQ(bench.listener.last_op_code, status::op_receive);
    EXPECT_EQ(waiting.status(), status::done | status::flushed | status::op_receive);
    EXPECT_TRUE(bench.vi->endpoint_event(endpoint::ConnectRequested{}).refused);
    EXPECT_EQ(bench.vi->unexpected_events(), 0u);
  }
}

INSTANTIATE_TEST_SUITE_P(
    Cases, PostBad,
    ::testing::Values(
        BadPost{"misaligned", [](const Posted& p) { return p.address() + 32; }, [](std::uint32_t h) { return h; }},
        BadPost{"unknown_handle", [](const Posted& p) { return p.address(); }, [](std::uint32_t h) { return h + 1; }},
        BadPost{"null", [](const Posted&) { return std::uint64_t{0}; }, [](std::uint32_t h) { return h; }},
        BadPost{"far_away", [](const Posted&) { return ~std::uint64_t{63}; }, [](std::uint32_t h) { return h; }}),
    [](const auto& test_case) { return std::string(test_case.param.name); });

TEST(Post, connected_post_segments_beyond_region) {
  // VI-ARCH 6.1: a descriptor with all its segments lies in one region.
  Bench bench;
  bench.connect();
  const auto posted = bench.send("abc");
  wire::MemHandle narrow{};
  bench.nic.memory().register_region(posted.address(), posted.host, sizeof(ControlSegment) + sizeof(Segment), {},
                                     narrow);
  bench.vi->post_send(posted.address(), narrow);
  EXPECT_THAT(bench.signals(), ElementsAre("posted"));
  posted.control().segment_count = 2;
  bench.vi->post_send(posted.address(), narrow);
  EXPECT_THAT(bench.signals(), ElementsAre("Post Descriptor Error", "send", "Connection Lost", "stopped"));
}

// The short way of a post finds what judge_post() finds, of every descriptor that it takes, and touches no other (VI-DG
// 3.8.1, 5.2 to 5.5).
TEST(Post, short_posts_are_judged_as_all_are) {
  Bench bench;
  Ptag tag;
  bench.nic.memory().create_ptag(tag);
  // Regions that end 48 and 40 bytes behind an address where a descriptor may stand.
  const Piece own = bench.allocate(512, 64), end_48 = bench.allocate(512, 64), end_40 = bench.allocate(512, 64);
  wire::MemHandle handle_48{}, handle_40{};
  ASSERT_EQ(bench.nic.memory().register_region(end_48.address(), end_48.host, 304, {.ptag = tag}, handle_48),
            Return::Success);
  ASSERT_EQ(bench.nic.memory().register_region(end_40.address(), end_40.host, 296, {}, handle_40), Return::Success);
  std::mt19937 random(3);
  const auto seldom = [&random](std::uint32_t usual, std::uint32_t unusual) {
    return random() % 8 == 0 ? unusual : usual;
  };
  WorkQueue::Entry before;
  bool with_tag = false;
  int taken = 0;
  for (int round = 0; round != 4000; ++round) {
    const bool receive = random() % 2 == 0;
    const std::uint32_t where = random() % 4;
    const wire::MemHandle region = where == 0 ? handle_48 : where == 1 ? handle_40 : bench.arena_handle;
    const Posted posted{(where == 0 ? end_48 : where == 1 ? end_40 : own).host + seldom(64, 256)};
    const std::uint32_t bytes = seldom(8, seldom(0, seldom(17, 0x80000000u)));
    const std::uint64_t data = posted.address() + seldom(48, seldom(0, 200));
    posted.control() = {.segment_count = static_cast<std::uint16_t>(seldom(1, random() % 4)),
                        .control = static_cast<std::uint16_t>(random() % 3 == 0 ? seldom(4, random() % 0x10000) : 0),
                        .reserved = seldom(0, 1),
                        .immediate_data = static_cast<std::uint32_t>(random()),
                        .length_bytes = bytes + seldom(0, 1),
                        .status = 0xFFFFFFFF};
    posted.segment(0) = {data, region.value ^ seldom(0, 0x40000), bytes};
    const wire::MemHandle handle{region.value ^ seldom(0, 1)};
    const std::uint64_t address = posted.address() + seldom(0, 8);
    if (random() % 16 == 0) {  // of the VI: what was granted under the one before ends
      with_tag = !with_tag;
      bench.nic.memory().end_grants();
    }
    const PostRules rules{bench.nic.memory(), with_tag ? tag : Ptag{}, 3};
    WorkQueue::Entry entry;
    const bool is_short = judge_short_post(rules, receive, address, handle, before, entry);
    ASSERT_EQ(posted.status(), is_short ? 0u : 0xFFFFFFFFu) << round;
    const PostedDescriptor found = judge_post(rules, receive, address, handle, false);
    ASSERT_EQ(is_short, bench.nic.memory().catches_accesses() && found.valid && found.entry.data_bytes != 0) << round;
    if (!is_short) continue;
    ++taken;
    const auto all = [](const WorkQueue::Entry& of) {
      return std::tuple(of.address, of.handle, of.status, of.host, of.host_bytes, of.generation, of.data,
                        std::uint32_t{of.data_bytes}, std::uint32_t{of.has_immediate}, of.immediate_data);
    };
    ASSERT_EQ(all(entry), all(found.entry)) << round;
    before = entry;
  }
  EXPECT_GT(taken, bench.nic.memory().catches_accesses() ? 500 : -1);
}

TEST(Post, connected_post_wrong_tag) {
  // VI-ARCH 3.2.2.1: tags are validated for regions that hold descriptors too.
  Bench bench;
  Ptag tag;
  bench.nic.memory().create_ptag(tag);
  EXPECT_EQ(bench.nic.set_vi_attributes(*bench.vi, {.ptag = tag}), Return::Success);
  bench.connect();
  bench.post_send(bench.send("abc"));
  EXPECT_THAT(bench.signals(), ElementsAre("Post Descriptor Error", "Connection Lost", "stopped"));
}

TEST(Post, idle_post_host_misaligned) {
  // impl: a simulator that maps an aligned address to odd host memory gets the error, not a crash.
  Bench bench;
  const Piece odd = bench.allocate(129, 64);
  wire::MemHandle handle{};
  bench.nic.memory().register_region(0x4000, odd.host + 1, 128, {}, handle);
  bench.vi->post_receive(0x4000, handle);
  EXPECT_THAT(bench.signals(), ElementsAre("Post Descriptor Error", "stopped"));
}

TEST(Post, everyState_post_receive_tellsTheTransport) {
  // VI-ARCH 5: each receive that stays posted, in its order; none that Error flushes or that was not posted.
  for (const char* state : {"Idle", "PendingConnect", "Connected"}) {
    Bench bench;
    bench.drive_to(state);
    bench.post_receive(bench.receive(8));
    bench.post_receive(bench.receive(8));
    EXPECT_EQ(bench.transport.receives_posted, 2) << state;
    bench.post_send(bench.send("x"));
    EXPECT_EQ(bench.transport.receives_posted, 2) << state;
    EXPECT_TRUE(bench.vi->is_consistent()) << state;
  }
  Bench bench;
  bench.drive_to("Error");
  bench.post_receive(bench.receive(8));
  EXPECT_EQ(bench.transport.receives_posted, 0);
}

TEST(Post, full_post_overrun) {
  // VI-DG 3.8.1 VI Overrun, 6.3.1: the descriptor too many is not posted; all others are flushed.
  Bench bench({.level = ReliabilityLevel::UnreliableDelivery, .limits = {.max_descriptors_per_queue = 2}});
  bench.connect();
  for (int i = 0; i != 2; ++i) bench.post_send(bench.send("a"));
  bench.signals();
  const auto extra = bench.rdma_read(bench.allocate(1));
  EXPECT_EQ(bench.post_send(extra), Return::Success);
  EXPECT_EQ(extra.status(), 0xFFFFFFFFu);
  EXPECT_THAT(bench.signals(), ElementsAre("VI Overrun", "send", "send", "Connection Lost", "stopped by the NIC"));
  EXPECT_EQ(bench.listener.last_op_code, status::op_rdma_read);
  EXPECT_EQ(bench.listener.last_descriptor_address, extra.address());
  EXPECT_EQ(bench.listener.last_resource, ResourceCode::Vi);
  EXPECT_EQ(bench.vi->state(), State::Error);
}

TEST(Post, idle_post_receive_overrun) {
  // VI-DG 3.8.1: likewise on the receive queue; completed ones that were not dequeued count.
  Bench bench({.limits = {.max_descriptors_per_queue = 1}});
  bench.post_receive(bench.receive(1));
  bench.vi->endpoint_event(endpoint::DisconnectRequested{});
  bench.signals();
  bench.post_receive(bench.receive(1));
  EXPECT_THAT(bench.signals(), ElementsAre("VI Overrun", "stopped by the NIC"));
  EXPECT_EQ(dequeue_receives(bench).size(), 1u);
}

TEST(Post, error_post_bad_address) {
  // VI-ARCH 5.4: several errors, one transition.
  Bench bench;
  bench.drive_to("Error");
  bench.signals();
  bench.vi->post_send(64, {});
  EXPECT_THAT(bench.signals(), ElementsAre("Post Descriptor Error"));
  EXPECT_EQ(bench.vi->stale_events(), 1u);
}

}  // namespace
}  // namespace vi::testing
