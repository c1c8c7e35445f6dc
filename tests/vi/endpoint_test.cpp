// What the endpoint states do to the queues: flush, late completions, disconnect, reuse (VI-ARCH 5,
// VI-DG 3.3.5, 6.2).
#include <algorithm>

#include "tests/vi/bench.hpp"

namespace vi::testing {
namespace {

using endpoint::DisconnectOutcome;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr std::uint32_t flushed = status::done | status::flushed;

TEST(Endpoint, states_named) {
  // VI-DG 4.8, VI-ARCH 5.1 to 5.4.
  const std::pair<const char*, State> states[] = {{"Idle", State::Idle},
                                                  {"PendingConnect", State::ConnectPending},
                                                  {"Connected", State::Connected},
                                                  {"Error", State::Error}};
  for (const auto& [name, state] : states) {
    Bench bench;
    bench.drive_to(name);
    EXPECT_EQ(bench.vi->state(), state) << name;
    EXPECT_EQ(bench.vi->endpoint_state_name(), name);
    EXPECT_EQ(bench.vi->can_receive(), state == State::Connected);
    EXPECT_EQ(bench.vi->can_transmit(), state == State::Connected);
    EXPECT_EQ(bench.vi->unexpected_events(), 0u);
  }
}

TEST(Endpoint, pending_theTransportNamesItsOwnState) {
  // FC-VI 8.2 c): a transport may know more states than VI-ARCH 5, but only of Pending Connect.
  for (const auto* state : {"Idle", "PendingConnect", "Connected", "Error"}) {
    Bench bench;
    bench.drive_to(state);
    bench.transport.pending_name = "Retry";
    const bool pending = bench.vi->state() == State::ConnectPending;
    EXPECT_EQ(bench.vi->endpoint_state_name(), pending ? "Retry" : state);
  }
}

TEST(Endpoint, connected_connection_lost) {
  // VI-DG 6.2, VI-ARCH 5.4: both queues are flushed in order, begun or not, then the consumer is told. VI-DG 5.2 bit 4:
  // the receive that a message had begun to fill, and no other.
  Bench bench;
  for (int i = 0; i != 2; ++i) bench.post_receive(bench.receive(4));
  bench.connect();
  bench.post_send(bench.send("a"));
  bench.post_send(bench.rdma_write("b"));
  bench.post_send(bench.rdma_read(bench.allocate(1)));
  bench.begin();
  bench.claim();
  bench.signals();
  bench.vi->endpoint_event(endpoint::ConnectionLost{});
  EXPECT_THAT(bench.signals(), ElementsAre("send", "send", "send", "receive", "receive", "Connection Lost"));
  EXPECT_EQ(bench.listener.lost_resource, ResourceCode::Vi);
  EXPECT_THAT(dequeue_sends(bench),
              ElementsAre(flushed | status::op_send, flushed | status::op_rdma_write, flushed | status::op_rdma_read));
  EXPECT_THAT(dequeue_receives(bench),
              ElementsAre(flushed | status::partial_error | status::op_receive, flushed | status::op_receive));
}

TEST(Status, partly_sent) {
  // VI-DG 5.2 bit 4: a send of which some frames went out, and not all, says so in whatever error ends it; not
  // in a success.
  Bench bench({.level = ReliabilityLevel::UnreliableDelivery});
  bench.connect();
  const auto failed = bench.send("a"), well = bench.send("b"), whole = bench.send("c"), open = bench.send("d"),
             unsent = bench.send("e");
  for (const auto& posted : {failed, well, whole, open, unsent}) bench.post_send(posted);
  const SendWork first = bench.begin(), second = bench.begin(), third = bench.begin(), fourth = bench.begin();
  bench.begin();
  for (const SendWork& work : {first, second, third, fourth}) bench.vi->set_partly_sent(work, true);
  bench.vi->complete_send(first, status::protection_error);
  bench.vi->complete_send(second, 0);
  bench.vi->set_partly_sent(third, false);
  bench.vi->complete_send(third, status::protection_error);
  bench.vi->endpoint_event(endpoint::ConnectionLost{});
  EXPECT_EQ(failed.status(), status::done | status::protection_error | status::partial_error);
  EXPECT_EQ(well.status(), status::done);
  EXPECT_EQ(whole.status(), status::done | status::protection_error);
  EXPECT_EQ(open.status(), flushed | status::partial_error);
  EXPECT_EQ(unsent.status(), flushed);
  bench.vi->set_partly_sent(fourth, true);  // flushed meanwhile
  EXPECT_EQ(open.status(), flushed | status::partial_error);
}

TEST(Endpoint, connected_flush_to_completion_queue) {
  // VI-DG 6.2: flushed descriptors are told as others, for their completion queue entries.
  Bench bench({.send_to_queue = true, .receive_to_queue = true});
  bench.post_receive(bench.receive(4));
  bench.connect();
  bench.post_send(bench.send("a"));
  bench.signals();
  bench.vi->endpoint_event(endpoint::ConnectionLost{});
  EXPECT_THAT(bench.signals(), ElementsAre("send", "receive", "Connection Lost"));
}

TEST(Endpoint, connected_flush_after_bypass) {
  // VI-DG 6.1: a send that completed past an open read keeps its status, and comes after the flushed read.
  Bench bench({.send_to_queue = true});
  bench.connect();
  bench.post_send(bench.rdma_read(bench.allocate(1)));
  bench.post_send(bench.send("a"));
  bench.begin();
  bench.vi->complete_send(bench.begin(), 0);
  bench.signals();
  bench.vi->endpoint_event(endpoint::ConnectionLost{});
  EXPECT_THAT(bench.signals(), ElementsAre("send", "send", "Connection Lost"));
  EXPECT_THAT(dequeue_sends(bench), ElementsAre(flushed | status::op_rdma_read, status::done | status::op_send));
}

TEST(Endpoint, flushed_complete_late) {
  // impl: the transport may complete what was flushed; nothing happens, before and after it was dequeued.
  Bench bench;
  const auto receive = bench.receive(4);
  bench.post_receive(receive);
  bench.connect();
  const auto read_posted = bench.rdma_read(bench.allocate(1));
  bench.post_send(read_posted);
  const SendWork read = bench.begin();
  const ReceiveWork claimed = bench.claim();
  bench.vi->endpoint_event(endpoint::ConnectionLost{});
  bench.signals();
  for (int round = 0; round != 2; ++round) {
    EXPECT_FALSE(bench.vi->is_open(read));
    EXPECT_FALSE(bench.vi->is_open(claimed));
    bench.vi->complete_send(read, 0);
    bench.vi->complete_send(read, status::transport_error);
    bench.vi->complete_receive(claimed, 0, status::op_receive, 4, 1);
    EXPECT_THAT(bench.signals(), IsEmpty());
    EXPECT_EQ(read_posted.status(), flushed | status::op_rdma_read);
    EXPECT_EQ(receive.status(), flushed | status::partial_error | status::op_receive);
    dequeue_sends(bench);
    dequeue_receives(bench);
  }
}

TEST(Endpoint, reconnected_complete_late) {
  // impl: work of an earlier connection cannot hit a descriptor of the next one, and holds back no send.
  Bench bench({.level = ReliabilityLevel::ReliableReception});
  bench.connect();
  bench.post_send(bench.rdma_read(bench.allocate(1)));
  const SendWork old_read = bench.begin();
  bench.vi->endpoint_event(endpoint::ConnectionLost{});
  bench.vi->endpoint_event(endpoint::DisconnectRequested{});
  bench.vi->endpoint_event(endpoint::DisconnectAnswered{});
  dequeue_sends(bench);
  bench.connect();
  const auto fresh_read = bench.rdma_read(bench.allocate(1));
  bench.post_send(fresh_read);
  bench.post_send(bench.send("b"));
  const SendWork read = bench.begin();
  bench.vi->complete_send(old_read, 0);
  EXPECT_FALSE(bench.vi->begin_send().has_value());  // the fresh read is still open
  EXPECT_EQ(fresh_read.status(), 0u);
  bench.vi->complete_send(read, 0);
  EXPECT_TRUE(bench.vi->begin_send().has_value());
}

TEST(Endpoint, connected_flush_deregistered_descriptor) {
  // VI-DG 3.8.1: one Completion Protection Error, and the flush goes on.
  Bench bench;
  bench.connect();
  const auto gone = bench.send("a"), stays = bench.send("b");
  wire::MemHandle own{};
  bench.nic.memory().register_region(gone.address(), gone.host, 64, {}, own);
  bench.vi->post_send(gone.address(), own);
  bench.post_send(stays);
  bench.nic.memory().deregister(gone.address(), own);
  bench.signals();
  bench.vi->endpoint_event(endpoint::ConnectionLost{});
  EXPECT_THAT(bench.signals(), ElementsAre("Completion Protection Error", "send", "send", "Connection Lost"));
  EXPECT_EQ(gone.status(), 0u);
  EXPECT_EQ(stays.status(), flushed | status::op_send);
  std::uint64_t address = 0;
  EXPECT_EQ(bench.vi->send_done(address), Return::DescriptorError);
  EXPECT_EQ(bench.vi->unexpected_events(), 0u);
}

TEST(Endpoint, idle_disconnect) {
  // VI-DG 3.3.5: frees posted receives at once; nothing is sent.
  Bench bench;
  bench.post_receive(bench.receive(4));
  const auto outcome = bench.vi->endpoint_event(endpoint::DisconnectRequested{});
  EXPECT_FALSE(outcome.disconnect_requested);
  EXPECT_EQ(outcome.disconnect_completed, DisconnectOutcome::Success);
  EXPECT_THAT(bench.signals(), ElementsAre("receive"));
  EXPECT_EQ(bench.vi->state(), State::Idle);
}

TEST(Endpoint, connected_disconnect_answered) {
  // FC-VI D.2, VI-DG 3.3.5: no callback for who disconnects; Error until answered, then Idle.
  Bench bench;
  bench.connect();
  bench.post_send(bench.send("a"));
  bench.signals();
  auto outcome = bench.vi->endpoint_event(endpoint::DisconnectRequested{});
  EXPECT_TRUE(outcome.disconnect_requested);
  EXPECT_FALSE(outcome.disconnect_completed.has_value());
  EXPECT_EQ(bench.vi->state(), State::Error);
  bench.post_receive(bench.receive(4));
  EXPECT_THAT(bench.signals(), ElementsAre("send", "receive"));
  outcome = bench.vi->endpoint_event(endpoint::DisconnectAnswered{});
  EXPECT_FALSE(outcome.disconnect_requested);
  EXPECT_EQ(outcome.disconnect_completed, DisconnectOutcome::Success);
  EXPECT_EQ(bench.vi->state(), State::Idle);
  EXPECT_THAT(bench.signals(), IsEmpty());
}

TEST(Endpoint, disconnecting_disconnect_again) {
  // impl: the second call shares the outcome of the first; after it, a new one is sent.
  Bench bench;
  bench.connect();
  EXPECT_TRUE(bench.vi->endpoint_event(endpoint::DisconnectRequested{}).disconnect_requested);
  const auto second = bench.vi->endpoint_event(endpoint::DisconnectRequested{});
  EXPECT_FALSE(second.disconnect_requested);
  EXPECT_FALSE(second.disconnect_completed.has_value());
  EXPECT_EQ(bench.vi->unexpected_events(), 0u);
  const auto unanswered = bench.vi->endpoint_event(endpoint::DisconnectUnanswered{});
  EXPECT_EQ(unanswered.disconnect_completed, DisconnectOutcome::NotReachable);  // ruling 20
  EXPECT_EQ(bench.vi->state(), State::Error);
  EXPECT_TRUE(bench.vi->endpoint_event(endpoint::DisconnectRequested{}).disconnect_requested);
}

TEST(Endpoint, connected_connect_again) {
  // VI-ARCH 5: VIP_INVALID_STATE, and nothing changes.
  Bench bench;
  bench.connect();
  EXPECT_TRUE(bench.vi->endpoint_event(endpoint::ConnectRequested{}).refused);
  EXPECT_FALSE(bench.vi->endpoint_event(endpoint::LocalError{}).refused);
}

TEST(Endpoint, pending_refused) {
  // wild 3: a connect that nobody answers leaves the VI Idle with its receives posted; a retry works.
  Bench bench;
  bench.post_receive(bench.receive(4));
  for (int i = 0; i != 3; ++i) {
    bench.vi->endpoint_event(endpoint::ConnectRequested{});
    bench.vi->endpoint_event(endpoint::SetupRefused{});
    EXPECT_EQ(bench.vi->state(), State::Idle);
  }
  EXPECT_THAT(bench.signals(), IsEmpty());
  bench.connect();
  bench.claim(4);
}

TEST(Endpoint, impossible_event_counted) {
  // impl: an event that no row accepts is a defect of the transport: counted, without effect.
  Bench bench;
  bench.vi->endpoint_event(endpoint::SetupSucceeded{});
  EXPECT_EQ(bench.vi->unexpected_events(), 1u);
  EXPECT_EQ(bench.vi->state(), State::Idle);
}

TEST(Endpoint, size_of_a_vi) {
  // design, speed: a connection costs at most 1 KiB in all; the model takes a part of it.
  EXPECT_LE(sizeof(Vi), 256u);
  EXPECT_LE(sizeof(WorkQueue::Entry),
            48u);  // where the descriptor lies, too, and the data of a short one: looked up once
}

TEST(Names, every_value_has_one) {
  // impl: logs never show a number.
  for (int i = 0; i <= static_cast<int>(Return::NotReachable); ++i) EXPECT_NE(to_string(static_cast<Return>(i)), "?");
  for (int i = 0; i <= static_cast<int>(ErrorCode::Catastrophic); ++i)
    EXPECT_NE(to_string(static_cast<ErrorCode>(i)), "?");
  for (int i = 0; i <= static_cast<int>(State::Error); ++i) EXPECT_NE(to_string(static_cast<State>(i)), "?");
  for (int i = 0; i <= static_cast<int>(ResourceCode::Descriptor); ++i)
    EXPECT_NE(to_string(static_cast<ResourceCode>(i)), "?");
  for (const int level : {1, 2, 4}) EXPECT_NE(to_string(static_cast<ReliabilityLevel>(level)), "?");
  EXPECT_EQ(to_string(static_cast<Return>(99)), "?");
}

TEST(NetAddresses, discriminators_compare) {
  // ruling 21: equal on the padded field; each keeps its own length.
  const std::array<std::uint8_t, 4> four{1, 2, 0, 0};
  const auto host = wire::IpAddress::v4(10, 0, 0, 1);
  const auto longer = NetAddress::make(host, four), shorter = NetAddress::make(host, std::span(four).first(2));
  EXPECT_TRUE(longer.same_discriminator(shorter));
  EXPECT_EQ(longer.discriminator_bytes().size(), 4u);
  EXPECT_EQ(shorter.discriminator_bytes().size(), 2u);
  EXPECT_FALSE(longer.same_discriminator(NetAddress::make(host, std::span(four).first(1))));
  const std::vector<std::uint8_t> too_long(200, 7);
  EXPECT_EQ(NetAddress::make(host, too_long).discriminator_bytes().size(), NetAddress::max_discriminator_bytes);
}

}  // namespace
}  // namespace vi::testing
