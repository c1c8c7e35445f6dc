// The receive queue (VI-DG 5.2 to 5.4), incoming RDMA (VI-ARCH 3.2.2) and errors by reliability level (VI-ARCH 2.5).
#include "tests/vi/bench.hpp"

namespace vi::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using enum ReliabilityLevel;

std::span<const std::uint8_t> bytes_of(std::string_view text) {
  return {reinterpret_cast<const std::uint8_t*>(text.data()), text.size()};
}

TEST(Receive, connected_claim_and_complete) {
  // VI-DG 5.2: length is what came, not what would fit; control and Next stay.
  Bench bench;
  const Piece target = bench.allocate(8);
  const auto posted = bench.receive(target);
  posted.control().next = 3;
  posted.control().immediate_data = 4;
  bench.post_receive(posted);
  bench.connect();
  ReceiveWork work = bench.claim(5);
  EXPECT_TRUE(bench.vi->is_open(work));
  EXPECT_TRUE(work.data.scatter(bytes_of("hello")));
  bench.vi->complete_receive(work, 0, status::op_receive, 5, std::nullopt);
  EXPECT_EQ(target.text().substr(0, 5), "hello");
  EXPECT_EQ(posted.status(), status::done | status::op_receive);
  EXPECT_EQ(posted.control().length_bytes, 5u);
  EXPECT_EQ(posted.control().immediate_data, 4u);
  EXPECT_EQ(posted.control().control, 0u);
  EXPECT_EQ(posted.control().next, 3u);
  EXPECT_THAT(bench.signals(), ElementsAre("receive"));
  EXPECT_FALSE(bench.vi->is_open(work));
}

TEST(Receive, connected_complete_immediate) {
  // VI-DG 5.2 status bit 19: the flag says that immediate data are valid; the Control field stays as
  // posted (ruling 271).
  Bench bench;
  const auto posted = bench.receive(8);
  bench.post_receive(posted);
  bench.connect();
  bench.vi->complete_receive(bench.claim(), 0, status::op_remote_rdma_write, 100, 0xCAFE);
  EXPECT_EQ(posted.status(), status::done | status::op_remote_rdma_write | status::immediate);
  EXPECT_EQ(posted.control().immediate_data, 0xCAFEu);
  EXPECT_EQ(posted.control().length_bytes, 100u);
  EXPECT_EQ(posted.control().control, 0);
}

TEST(Receive, connected_complete_overrun) {
  // VI-ARCH 6.4.1, ruling 19: a length error, Length zero, no immediate flag.
  Bench bench({.level = UnreliableDelivery});
  const auto posted = bench.receive(2);
  posted.control().length_bytes = 77;
  bench.post_receive(posted);
  bench.connect();
  bench.vi->complete_receive(bench.claim(), status::length_error, status::op_receive, 3, 5);
  EXPECT_EQ(posted.status(), status::done | status::length_error | status::op_receive);
  EXPECT_EQ(posted.control().length_bytes, 0u);
  EXPECT_EQ(bench.vi->state(), State::Connected);
}

TEST(Receive, connected_complete_error_reliable) {
  // VI-ARCH 2.5.2: any error breaks a reliable connection; the rest is flushed.
  for (const auto level : {ReliableDelivery, ReliableReception}) {
    Bench bench({.level = level});
    const auto first = bench.receive(2), second = bench.receive(2);
    bench.post_receive(first);
    bench.post_receive(second);
    bench.connect();
    bench.vi->complete_receive(bench.claim(), status::length_error, status::op_receive, 3, {});
    EXPECT_EQ(first.status(), status::done | status::length_error | status::op_receive);
    EXPECT_EQ(second.status(), status::done | status::flushed | status::op_receive);
    EXPECT_THAT(bench.signals(), ElementsAre("receive", "receive", "Connection Lost", "stopped"));
    EXPECT_EQ(bench.vi->state(), State::Error);
  }
}

TEST(Receive, connected_complete_transport_error) {
  // VI-ARCH 7.2: told asynchronously too, once, though the transport may feed its own event as well.
  Bench bench;
  bench.post_receive(bench.receive(2));
  bench.connect();
  bench.vi->complete_receive(bench.claim(), status::transport_error | status::partial_error, status::op_receive, 0, {});
  bench.vi->endpoint_event(endpoint::ConnectionLost{});
  EXPECT_THAT(bench.signals(), ElementsAre("receive", "Connection Lost", "stopped"));
  EXPECT_EQ(bench.vi->unexpected_events(), 0u);
}

TEST(Receive, connected_complete_transport_error_unreliable) {
  // VI-ARCH 2.5.1, 10.2 bit 6, ruling 275: the descriptor tells it, and the connection stays.
  Bench bench({.level = UnreliableDelivery});
  const auto posted = bench.receive(2);
  bench.post_receive(posted);
  bench.connect();
  const auto bits = status::transport_error | status::partial_error;
  bench.vi->complete_receive(bench.claim(), bits, status::op_receive, 0, {});
  EXPECT_EQ(posted.status(), status::done | bits | status::op_receive);
  EXPECT_EQ(bench.vi->state(), State::Connected);
  EXPECT_THAT(bench.signals(), ElementsAre("receive"));
}

TEST(Receive, connected_claim_empty) {
  // VI-DG 3.8.1: nothing is posted; what that means is the transport's to say.
  Bench bench;
  bench.connect();
  EXPECT_FALSE(bench.vi->claim_receive(0).has_value());
  EXPECT_EQ(bench.vi->state(), State::Connected);
}

TEST(Receive, unconnected_claim) {
  // VI-ARCH 5.1, 5.2, 5.4: receives wait for the connection.
  for (const auto* state : {"Idle", "PendingConnect"}) {
    Bench bench;
    bench.post_receive(bench.receive(2));
    bench.drive_to(state);
    EXPECT_FALSE(bench.vi->claim_receive(0).has_value()) << state;
  }
}

TEST(Receive, connected_claim_in_order) {
  // VI-ARCH 6.3.1.1: receive queues are strict FIFO.
  Bench bench;
  for (const std::size_t size : {1u, 2u, 3u}) bench.post_receive(bench.receive(size));
  bench.connect();
  for (const std::uint64_t size : {1u, 2u, 3u}) bench.claim(size);  // in another order one is too short
  EXPECT_FALSE(bench.vi->claim_receive(0).has_value());
}

TEST(Receive, connected_claim_ignored_bits) {
  // VI-DG 5.2: immediate and fence bits do not matter in a receive, nor does Length.
  Bench bench;
  const auto posted = bench.receive(2);
  posted.control().control = control::immediate | control::queue_fence;
  posted.control().length_bytes = 0xFFFFFFFF;
  bench.post_receive(posted);
  bench.connect();
  bench.claim(2);
}

// --- what a message does not touch is not judged (VI-ARCH 3.2.1, 3.2.2; wild 15)

/// A region of 100 bytes, and a receive of 65,472 bytes of which 40 lie in it.
class Tail : public ::testing::Test {
 protected:
  Tail() {
    EXPECT_EQ(bench.nic.memory().register_region(piece.address(), piece.host, piece.size, {}, region), Return::Success);
    posted = bench.descriptor(0, 0, {Segment{piece.address() + 60, region.value, 65472}});
    bench.post_receive(posted);
    bench.connect();
  }
  Bench bench{{.level = UnreliableDelivery, .max_transfer_size_bytes = 65472}};
  Piece piece = bench.allocate(100);
  wire::MemHandle region{};
  Posted posted;
};

TEST_F(Tail, connected_claim_message_within_the_region) {
  ReceiveWork work = bench.claim(40);
  EXPECT_TRUE(work.data.scatter(bytes_of(std::string(40, 'x'))));
  bench.vi->complete_receive(work, 0, status::op_receive, 40, std::nullopt);
  EXPECT_EQ(posted.status(), status::done | status::op_receive);
  EXPECT_EQ(piece.text().substr(60), std::string(40, 'x'));
}

TEST_F(Tail, connected_claim_message_reaches_one_byte_beyond) {
  bench.claim_bad(status::op_receive, 41);
  EXPECT_EQ(posted.status(), status::done | status::op_receive | status::protection_error);
  EXPECT_EQ(bench.vi->state(), State::Connected);
}

TEST_F(Tail, connected_claim_empty_message) {
  // A message of no bytes touches nothing, whatever the segment says.
  posted.segment(0) = {16, 0, 65472};
  bench.claim(0);
}

TEST_F(Tail, connected_claim_second_segment_not_reached) {
  posted.segment(0).length_or_reserved = 40;
  posted.control().segment_count = 2;
  posted.segment(1) = {16, 0, 100};
  bench.claim(40);
}

TEST_F(Tail, connected_claim_second_segment_reached) {
  posted.segment(0).length_or_reserved = 40;
  posted.control().segment_count = 2;
  posted.segment(1) = {16, 0, 100};
  bench.claim_bad(status::op_receive, 41);
  EXPECT_EQ(posted.status(), status::done | status::op_receive | status::protection_error);
}

TEST_F(Tail, connected_claim_too_short_before_protection) {
  // VI-DG 5.2 bit 3, ruling 245: a message that does not fit makes no reference at all.
  posted.segment(0) = {16, 0, 100};
  bench.claim_bad(status::op_receive, 101);
  EXPECT_EQ(posted.status(), status::done | status::op_receive | status::length_error);
}

TEST_F(Tail, connected_claim_longer_than_the_vi_allows) {
  // VI-DG 5.2 bit 3: "the length of the incoming send exceeds the maximum transfer size setting of this VI".
  posted.segment(0).length_or_reserved = 70000;
  bench.claim_bad(status::op_receive, 65473);
  EXPECT_EQ(posted.status(), status::done | status::op_receive | status::length_error);
}

// --- descriptors in error

struct BadReceive {
  const char* name;
  std::uint32_t status;
  void (*spoil)(const Posted&);
};
class ReceiveBad : public ::testing::TestWithParam<BadReceive> {};

TEST_P(ReceiveBad, connected_claim_reliable) {
  // VI-ARCH 2.5.2: told in the status; the connection breaks.
  Bench bench;
  const auto posted = bench.receive(8);
  GetParam().spoil(posted);
  bench.post_receive(posted);
  bench.connect();
  bench.claim_bad();
  EXPECT_EQ(posted.status(), status::done | status::op_receive | GetParam().status);
  EXPECT_EQ(posted.control().length_bytes, 0u);
  EXPECT_EQ(bench.vi->state(), State::Error);
  EXPECT_THAT(bench.signals(), ElementsAre("receive", "Connection Lost", "stopped"));
}

TEST_P(ReceiveBad, connected_claim_unreliable) {
  // VI-ARCH 2.5.1: one descriptor and one message are lost; the next is served.
  Bench bench({.level = UnreliableDelivery});
  const auto posted = bench.receive(8);
  GetParam().spoil(posted);
  bench.post_receive(posted);
  bench.post_receive(bench.receive(5));
  bench.connect();
  bench.claim_bad(status::op_remote_rdma_write);
  EXPECT_EQ(posted.status(), status::done | status::op_remote_rdma_write | GetParam().status);
  bench.claim(5);
  EXPECT_EQ(bench.vi->state(), State::Connected);
}

INSTANTIATE_TEST_SUITE_P(
    Cases, ReceiveBad,
    ::testing::Values(
        BadReceive{"rdma_write", status::format_error, [](const Posted& p) { p.control().control = 1; }},
        BadReceive{"rdma_read", status::format_error, [](const Posted& p) { p.control().control = 2; }},
        BadReceive{"operation_11b", status::format_error, [](const Posted& p) { p.control().control = 3; }},
        BadReceive{"reserved_control_bit", status::format_error, [](const Posted& p) { p.control().control = 0x10; }},
        BadReceive{"reserved_word", status::format_error, [](const Posted& p) { p.control().reserved = 0x80000000; }},
        BadReceive{"segment_count_above_limit", status::length_error,
                   [](const Posted& p) { p.control().segment_count = 1025; }},
        BadReceive{"data_handle", status::protection_error, [](const Posted& p) { p.segment(0).handle = 0; }},
        BadReceive{"data_address", status::protection_error, [](const Posted& p) { p.segment(0).address = 16; }},
        BadReceive{"data_too_short", status::length_error,
                   [](const Posted& p) { p.segment(0).length_or_reserved = 0; }}),
    [](const auto& test_case) { return std::string(test_case.param.name); });

TEST(Receive, connected_claim_descriptor_deregistered) {
  // VI-ARCH 3.2.1, VI-DG 3.8.1: no status can be written.
  Bench bench({.level = UnreliableDelivery});
  const auto posted = bench.receive(8);
  wire::MemHandle own{};
  bench.nic.memory().register_region(posted.address(), posted.host, 64, {}, own);
  bench.vi->post_receive(posted.address(), own);
  bench.connect();
  bench.nic.memory().deregister(posted.address(), own);
  bench.claim_bad();
  EXPECT_THAT(bench.signals(), ElementsAre("Completion Protection Error", "receive", "Connection Lost", "stopped"));
  EXPECT_EQ(posted.status(), 0u);
}

// --- a transport may let a VI receive before it is Connected (FC-VI C.5.5)

class EarlyTraffic : public ::testing::Test {
 protected:
  void accept(Bench& bench) {
    for (int i = 0; i != 2; ++i) bench.post_receive(bench.receive(4));
    bench.accept_early();
    bench.signals();
  }
};

TEST_F(EarlyTraffic, accepting_claim) {
  // FC-VI C.5.5: it receives and does not send.
  Bench bench;
  accept(bench);
  EXPECT_TRUE(bench.vi->can_receive());
  EXPECT_FALSE(bench.vi->can_transmit());
  bench.vi->complete_receive(bench.claim(), 0, status::op_receive, 1, {});
  bench.vi->endpoint_event(endpoint::SetupSucceeded{});
  EXPECT_TRUE(bench.vi->can_transmit());
  EXPECT_EQ(bench.vi->state(), State::Connected);
}

TEST_F(EarlyTraffic, accepting_refused) {
  // VI-ARCH 5.2: the VI is Idle and its receives stay; what was claimed can be claimed again.
  Bench bench;
  accept(bench);
  const ReceiveWork claimed = bench.claim();
  bench.vi->withdraw_early_reception();
  EXPECT_FALSE(bench.vi->can_receive());
  EXPECT_EQ(bench.vi->state(), State::ConnectPending);
  bench.vi->endpoint_event(endpoint::SetupRefused{});
  EXPECT_EQ(bench.vi->state(), State::Idle);
  EXPECT_FALSE(bench.vi->is_open(claimed));
  bench.vi->complete_receive(claimed, 0, status::op_receive, 4, {});
  EXPECT_THAT(bench.signals(), IsEmpty());
  bench.connect();
  EXPECT_EQ(bench.claim().index, claimed.index);
}

TEST_F(EarlyTraffic, connected_withdraw_doesNothing) {
  // VI-ARCH 5.3: what was early is no longer: the connection keeps what it claimed.
  Bench bench;
  accept(bench);
  bench.vi->endpoint_event(endpoint::SetupSucceeded{});
  const ReceiveWork claimed = bench.claim();
  bench.vi->withdraw_early_reception();
  EXPECT_TRUE(bench.vi->can_receive());
  EXPECT_TRUE(bench.vi->is_open(claimed));
}

TEST_F(EarlyTraffic, accepting_error) {
  // FC-VI 8.4.2 e): what a reliable VI loses this early is lost for good; an unreliable one goes on.
  for (const auto level : {UnreliableDelivery, ReliableDelivery}) {
    Bench bench({.level = level});
    accept(bench);
    bench.vi->complete_receive(bench.claim(), status::length_error, status::op_receive, 9, {});
    if (is_reliable(level)) {
      EXPECT_EQ(bench.vi->state(), State::Error);
      EXPECT_THAT(bench.signals(), ElementsAre("receive", "receive", "Connection Lost", "stopped"));
    } else {
      EXPECT_EQ(bench.vi->state(), State::ConnectPending);
      EXPECT_THAT(bench.signals(), ElementsAre("receive"));
    }
    EXPECT_EQ(bench.vi->unexpected_events(), 0u);
  }
}

TEST_F(EarlyTraffic, accepting_post_bad_address) {
  // VI-DG 6.3.1: traffic flows already, so that the error breaks what is being set up.
  Bench bench({.level = ReliabilityLevel::UnreliableDelivery});
  accept(bench);
  bench.vi->post_receive(32, bench.arena_handle);
  EXPECT_EQ(bench.vi->state(), State::Error);
  EXPECT_THAT(bench.signals(),
              ElementsAre("Post Descriptor Error", "receive", "receive", "Connection Lost", "stopped"));
  EXPECT_EQ(bench.vi->unexpected_events(), 0u);
}

TEST(Receive, idle_flushAfterAWithdrawnSetup_nextConnectionTakesTheNextReceive) {
  // VI-ARCH 5.2, VI-DG 3.3.5: a receive that completed out of order before the set-up was withdrawn, and those that
  // VipDisconnect flushed, are not claimed again.
  Bench bench({.level = ReliabilityLevel::UnreliableDelivery});
  bench.accept_early();
  for (int i = 0; i != 2; ++i) bench.post_receive(bench.receive(8));
  bench.claim();
  bench.vi->complete_receive(bench.claim(), 0, status::op_receive, 0, std::nullopt);
  bench.vi->withdraw_early_reception();
  bench.vi->endpoint_event(endpoint::SetupRefused{});
  bench.vi->endpoint_event(endpoint::DisconnectRequested{});
  const Posted fresh = bench.receive(8);
  bench.post_receive(fresh);
  EXPECT_TRUE(bench.vi->is_consistent());
  bench.accept_early();
  bench.vi->complete_receive(bench.claim(), 0, status::op_receive, 0, std::nullopt);
  EXPECT_EQ(fresh.status(), status::done | status::op_receive);
}

// --- incoming RDMA

TEST(Rdma, connected_remote_memory) {
  // VI-ARCH 3.2.2.2: VI and region must both enable the direction; the most protective wins.
  for (const bool vi_enabled : {false, true}) {
    for (const bool region_enabled : {false, true}) {
      Bench bench;
      const Piece piece = bench.allocate(8);
      wire::MemHandle handle{};
      bench.nic.memory().register_region(piece.address(), piece.host, 8,
                                         {.enable_rdma_write = region_enabled, .enable_rdma_read = region_enabled},
                                         handle);
      bench.nic.set_vi_attributes(*bench.vi, {.enable_rdma_write = vi_enabled, .enable_rdma_read = vi_enabled});
      for (const auto access : {Access::RemoteWrite, Access::RemoteRead}) {
        const std::byte* expected = vi_enabled && region_enabled ? piece.host + 4 : nullptr;
        EXPECT_EQ(bench.vi->remote_memory(handle, piece.address() + 4, 4, access), expected);
        EXPECT_EQ(bench.vi->remote_memory(handle, piece.address() + 4, 5, access), nullptr);
      }
    }
  }
}

TEST(Rdma, connected_remote_memory_tag) {
  // VI-ARCH 3.2.2.1: the tag counts at the remote end.
  Bench bench;
  Ptag mine, other;
  bench.nic.memory().create_ptag(mine);
  bench.nic.memory().create_ptag(other);
  const Piece piece = bench.allocate(8);
  wire::MemHandle handle{};
  bench.nic.memory().register_region(piece.address(), piece.host, 8, {.ptag = other, .enable_rdma_write = true},
                                     handle);
  bench.nic.set_vi_attributes(*bench.vi, {.ptag = mine, .enable_rdma_write = true});
  EXPECT_EQ(bench.vi->remote_memory(handle, piece.address(), 8, Access::RemoteWrite), nullptr);
  bench.nic.memory().set_attributes(piece.address(), handle, {.ptag = mine, .enable_rdma_write = true});
  EXPECT_NE(bench.vi->remote_memory(handle, piece.address(), 8, Access::RemoteWrite), nullptr);
}

}  // namespace
}  // namespace vi::testing
