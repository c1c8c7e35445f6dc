// Unreliable Delivery, where nothing waits for what is lost (VI-ARCH 2.5.1, 6.3.1.1; FC-VI 8.4.1 d), B.2.4,
// B.2.5 rules 4c, 5a, 5b, 6e, B.3.2.4): frames that are late or lost, descriptors that the next message takes,
// gaps by the thousand.
#include "fcvi/arrivals.hpp"
#include "tests/fcvi/class_2_nodes.hpp"
#include "tests/fcvi/reordered_nodes.hpp"
#include "tests/support/times.hpp"

namespace {
using support::Host;
using support::late;
using support::Level;
using support::lose;
using support::MessageFrame;
using support::pass;
using support::r_a_tov;
using support::Reordered;

// --- Unreliable Delivery -----------------------------------------------------------------------------------------

class Unordered : public Reordered {
 public:
  explicit Unordered(fcvi::ProviderConfig config = {}) : Reordered(config) { begin_all(Level::UnreliableDelivery); }
};

// VI-ARCH 2.5.1, FC-VI B.2.4 rule 3a: a frame of the first message is lost. Those behind it take the descriptors in the
// order in which they are whole, at once; R_A_TOV later the first takes the next one, in error.
TEST_F(Unordered, receiving_frameLost_laterMessagesDoNotWait) {
  for (const int lost_frame : {0, 1, 3}) {  // SEQ_CNT 0 (rule 3a: later ones came), the middle, the end
    SCOPED_TRACE(lost_frame);
    faults.restart();
    faults.on_frame = support::to_frame(lost_frame, lose);
    const std::size_t at = receives.size();
    receive(4), send(1), send(1, 100), send(1);
    fabric.run_for(10 * runtime::millisecond);
    EXPECT_TRUE(arrived(at / 4 * 3 + 1, at, 100));
    EXPECT_TRUE(arrived(at / 4 * 3 + 2, at + 1));
    EXPECT_EQ(received(at + 2), 0u);
    std::uint64_t address = 0;
    EXPECT_EQ(server_vi->receive_done(address), vi::Return::Success);
    EXPECT_EQ(server_vi->receive_done(address), vi::Return::Success);
    EXPECT_EQ(server_vi->receive_done(address), vi::Return::NotDone);
    fabric.run_for(r_a_tov);
    EXPECT_EQ(received(at + 2), receive_lost);
    EXPECT_EQ(received(at + 3), 0u);
    EXPECT_EQ(server_vi->state(), vi::State::Connected);
    EXPECT_EQ(server->provider.reorder_bytes(), 0u);
    faults.on_frame = {};
    send(1, 50);
    fabric.run_for(10 * runtime::millisecond);
    EXPECT_TRUE((received(at + 3) & vi::status::error_mask) == 0 && received(at + 3) != 0);
    sends.pop_back();
    while (server_vi->receive_done(address) != vi::Return::DescriptorError || address != 0) {}
  }
}

// ... what parked meanwhile arrives whole when its frame comes after all.
TEST_F(Unordered, receiving_frameLate_parkedMessageArrives) {
  faults.on_frame = support::to_frame(7, late(runtime::second));
  receive(4), send(1, 20 * frame_bytes), send(1, 100), send(1);
  fabric.run_for(100 * runtime::millisecond);
  EXPECT_TRUE(arrived(1, 0, 100));
  EXPECT_TRUE(arrived(2, 1));
  EXPECT_GT(server->provider.reorder_bytes(), 20 * frame_bytes);
  fabric.run_for(runtime::second);
  EXPECT_TRUE(arrived(0, 2, 20 * frame_bytes));
  EXPECT_EQ(received(3), 0u);
  EXPECT_EQ(server->provider.reorder_bytes(), 0u);
}

// A message that is long itself does not wait in the pool for one that lacks a frame: it takes its place.
TEST_F(Unordered, receiving_longMessageBehindAGap_takesThePlace) {
  constexpr std::uint32_t bytes = 4u << 20;
  fill(*client, Host::data, bytes);
  faults.on_frame = support::to_frame(1, late(runtime::second));
  std::vector<std::uint64_t> into;
  for (int i = 0; i < 2; ++i) {
    into.push_back(server->descriptor(0, {{Host::data + static_cast<std::uint32_t>(i) * bytes, bytes}}));
    server_vi->post_receive(into.back(), server->handle);
  }
  for (const std::uint32_t size : {4 * frame_bytes, bytes})
    client_vi->post_send(client->descriptor(0, {{Host::data, size}}), client->handle);
  fabric.run_for(500 * runtime::millisecond);
  EXPECT_EQ(server->control(into[0]).length_bytes, bytes);
  EXPECT_EQ(server->status(into[0]), vi::status::done | vi::status::op_receive);
  EXPECT_TRUE(same(Host::data, Host::data, bytes));
  EXPECT_LE(server->provider.reorder_peak_bytes(), 1u << 20);
  fabric.run_for(runtime::second);
  EXPECT_EQ(server->control(into[1]).length_bytes, 4 * frame_bytes);
  EXPECT_TRUE(same(Host::data, Host::data + bytes, 4 * frame_bytes));
}

class UnorderedSmallPool : public Unordered {
 public:
  UnorderedSmallPool() : Unordered({.address = {}, .reorder_pool_bytes = 20'000}) {}
};

// FC-VI B.3.2.4, ruling 192: where there is no room to park, what comes next takes the next descriptor. Nothing is lost
// by it, but the queue is FIFO (VI-ARCH 6.3.1.1): it is seen after the one in front of it.
TEST_F(UnorderedSmallPool, receiving_noRoomToPark_nextDescriptorIsTaken) {
  faults.on_frame = support::to_frame(7, late(5 * runtime::second));
  receive(3), send(1, 20 * frame_bytes), send(1, 100), send(1);
  fabric.run_for(100 * runtime::millisecond);
  EXPECT_EQ(received(0), 0u);
  EXPECT_TRUE(arrived(1, 1, 100));
  EXPECT_TRUE(arrived(2, 2));
  std::uint64_t address = 0;
  EXPECT_EQ(server_vi->receive_done(address), vi::Return::NotDone);
  fabric.run_for(5 * runtime::second);
  EXPECT_TRUE(arrived(0, 0, 20 * frame_bytes));
  EXPECT_EQ(server_vi->receive_done(address), vi::Return::Success);
  EXPECT_EQ(server->provider.counters().reorder_pool_full, 0u);
  EXPECT_EQ(server->provider.reorder_bytes(), 0u);
}

// ... and where it is lost it fails its own descriptor, and no other message's.
TEST_F(UnorderedSmallPool, receiving_noRoomToPark_lostOneFailsItsOwn) {
  faults.on_frame = support::to_frame(7, lose);
  receive(3), send(1, 20 * frame_bytes), send(1, 100), send(1);
  fabric.run_for(r_a_tov + runtime::second);
  EXPECT_EQ(received(0), receive_lost);
  EXPECT_TRUE(arrived(1, 1, 100));
  EXPECT_TRUE(arrived(2, 2));
  EXPECT_EQ(server_vi->state(), vi::State::Connected);
}

// VI-ARCH 2.5.1: ... and without a next descriptor what comes next is dropped, and the one in front arrives.
TEST_F(UnorderedSmallPool, receiving_noRoomToParkNorDescriptor_newcomerIsDropped) {
  faults.on_frame = support::to_frame(7, late(5 * runtime::second));
  receive(1), send(1, 20 * frame_bytes), send(1, 100);
  fabric.run_for(6 * runtime::second);
  EXPECT_TRUE(arrived(0, 0, 20 * frame_bytes));
  EXPECT_EQ(server->count(vi::ErrorCode::RecvQEmpty), 1);
  EXPECT_EQ(server_vi->state(), vi::State::Connected);
}

/// The pool is to these messages as 64 MiB to 12 MiB.
class ManyParked : public Unordered, public ::testing::WithParamInterface<std::uint32_t> {
 public:
  static constexpr std::uint32_t bytes = 1u << 20;
  static constexpr std::size_t connections = 5;
  ManyParked() : Unordered({.address = {}, .reorder_pool_bytes = 64 * std::uint64_t{bytes} / 12}) {
    begin_all(Level::UnreliableDelivery, connections - 1);
    faults.on_frame = [](MessageFrame& frame) {
      const bool first = frame.header.msg_id.value == 1 && frame.header.opcode != wire::fcvi::Opcode::write_rqst;
      return frame.from_client && first && frame.fc.seq_cnt.value == GetParam() ? late(5 * runtime::second) : pass;
    };
    fill(*client, Host::data, 2 * bytes);
  }
  /// Two Sends on each connection; both arrive at places of their own.
  void send_pairs() {
    for (std::size_t i = 0; i < clients.size(); ++i)
      for (const std::uint32_t size : {bytes, bytes - 4096}) {
        from.push_back(client->descriptor(0, {{Host::data + from.size() % 2 * bytes, size}}));
        into.push_back(server->descriptor(0, {{Host::data + into.size() * bytes, bytes}}));
        servers[i]->post_receive(into.back(), server->handle);
        clients[i]->post_send(from.back(), client->handle);
      }
  }
  std::vector<std::uint64_t> from, into;
};
INSTANTIATE_TEST_SUITE_P(SeqCnt, ManyParked, ::testing::Values(0, 1, 100, 500));

// FC-VI B.3.2.4, 8.4.1 d), VI-ARCH 2.5.1: on five connections of one peer a frame of a long Send is 5 s late, and
// another long Send comes behind it: together they are more than the pool, and nothing is lost.
TEST_P(ManyParked, receiving_fiveConnectionsWithAGap_loseNothing) {
  send_pairs();
  fabric.run_for(7 * runtime::second);
  for (std::size_t i = 0; i < into.size(); ++i) {
    ASSERT_EQ(server->status(into[i]), vi::status::done | vi::status::op_receive) << i;
    const std::uint32_t size = server->control(into[i]).length_bytes;
    EXPECT_TRUE(same(Host::data + (size == bytes ? 0 : bytes), Host::data + i * bytes, size)) << i;
    EXPECT_NE(size, server->control(into[i ^ 1]).length_bytes) << "each arrives once";
  }
  for (const vi::Vi* vi : servers) EXPECT_EQ(vi->state(), vi::State::Connected);
  EXPECT_EQ(server->provider.counters().reorder_pool_full, 0u);
  EXPECT_EQ(server->discarded(), 0u);
  EXPECT_EQ(server->provider.reorder_bytes(), 0u);
}

// ... nor is an RDMA Write of the same peer: it is placed as it comes, and its books find room.
TEST_P(ManyParked, receiving_writeBesideThem_losesNothing) {
  begin_all(Level::UnreliableDelivery);
  const auto pairs_only = clients.back();
  clients.pop_back();
  send_pairs();
  fabric.run_for(runtime::second);
  const std::uint64_t to = Host::data + 2 * connections * bytes;
  faults.on_frame = [](MessageFrame& frame) {
    return frame.from_client && frame.fc.seq_cnt.value % 2 == 0 ? late(runtime::second) : pass;
  };
  const auto write = client->descriptor(vi::control::op_rdma_write, {{Host::data, bytes}}, to, server->handle);
  pairs_only->post_send(write, client->handle);
  fabric.run_for(2 * runtime::second);
  EXPECT_TRUE(same(Host::data, to, bytes));
  EXPECT_EQ(server->provider.counters().reorder_pool_full, 0u);
  EXPECT_EQ(server->discarded(), 0u);
}

// VI-ARCH 2.5.1, 6.3.1.1: a flood of whole messages behind a gap takes no memory that lasts.
TEST_F(Unordered, receiving_manyBehindAGap_keepNothing) {
  faults.on_frame = support::to_frame(1, lose);
  receive(1), send(1);
  for (int round = 0; round < 300; ++round) {
    receive(1), send(1, 8);
    fabric.run_for(runtime::millisecond);
    sends.pop_back(), receives.pop_back();
    std::uint64_t address = 0;
    EXPECT_EQ(server_vi->receive_done(address), vi::Return::Success) << round;
  }
  EXPECT_LE(server->provider.reorder_peak_bytes(), 40'000u);
}

// FC-VI B.2.5 rule 7a: of many gaps that show at once all are given up after R_A_TOV, though one event gives up a few.
TEST_F(Unordered, receiving_manyGaps_areAllGivenUp) {
  constexpr std::uint32_t gaps = 150;
  receive(static_cast<int>(gaps) + 2), send(1, 100);
  fabric.run_for(runtime::millisecond);
  ASSERT_TRUE(arrived(0, 0, 100));
  const auto* sent =
      log.find([](const support::LoggedFrame& f) { return f.outbound && f.is(wire::RCtl::solicited_data); });
  ASSERT_NE(sent, nullptr);
  support::ForgedFrame next{.header = sent->header, .data = sent->data, .sof = sent->sof, .eof = sent->eof};
  auto header = *wire::fcvi::DeviceHeader::parse(sent->header.device_header_size(), sent->data);
  for (std::uint32_t i = 0; i < gaps; ++i) {
    header.msg_id.value += 2;
    next.set(header);
    server->port.receive(next.build(fabric.pool));
  }
  EXPECT_EQ(received(gaps), vi::status::done | vi::status::op_receive);
  EXPECT_NE(server->provider.reorder_bytes(), 0u);
  fabric.run_for(server->port.r_a_tov() + runtime::microsecond);
  EXPECT_EQ(server->provider.reorder_bytes(), 0u);
  header.msg_id.value += 1;
  next.set(header);
  server->port.receive(next.build(fabric.pool));
  EXPECT_EQ(received(gaps + 1), vi::status::done | vi::status::op_receive);
  EXPECT_EQ(server_vi->state(), vi::State::Connected);
}

/// Sends of one frame that a test hands in by number.
class Numbered : public Unordered {
 public:
  void take_first() {
    receive(1), send(1, 100);
    fabric.run_for(runtime::millisecond);
    ASSERT_TRUE(arrived(0, 0, 100));
    const auto* sent =
        log.find([](const support::LoggedFrame& f) { return f.outbound && f.is(wire::RCtl::solicited_data); });
    ASSERT_NE(sent, nullptr);
    next = {.header = sent->header, .data = sent->data, .sof = sent->sof, .eof = sent->eof};
    header = *wire::fcvi::DeviceHeader::parse(sent->header.device_header_size(), sent->data);
  }
  void hand_in(std::uint32_t steps) {
    header.msg_id.value += steps;
    next.set(header);
    server->port.receive(next.build(fabric.pool));
  }
  support::ForgedFrame next;
  wire::fcvi::DeviceHeader header;
};

// FC-VI B.2.5 rule 7a: thousands of gaps, each of which shows at a moment of its own, are given up by few passes over
// the books: work is counted in events of the timer, each of which looks at all.
TEST_F(Numbered, receiving_thousandsOfGaps_takeFewPasses) {
  constexpr std::uint32_t gaps = 5'000;
  take_first();
  for (std::uint32_t i = 0; i < gaps; ++i) {
    hand_in(2);
    fabric.run_for(runtime::microsecond);
  }
  fabric.run_for(r_a_tov - gaps * runtime::microsecond - runtime::millisecond);
  const std::uint64_t before = fabric.scheduler.fired_count();
  fabric.run_for(20 * runtime::millisecond);
  EXPECT_EQ(server->provider.reorder_bytes(), 0u);
  EXPECT_LE(fabric.scheduler.fired_count() - before, 5u);
  EXPECT_EQ(server_vi->state(), vi::State::Connected);
}

// Ruling 131: no more than 65,536 ranges of messages are told apart; the next one that stands alone is
// lost, and counted.
TEST_F(Numbered, receiving_moreGapsThanAreKept_isCounted) {
  const auto full = [&] { return server->provider.counters().reorder_pool_full; };
  const auto arrived = [&] { return server->provider.counters().messages_received; };
  take_first();
  hand_in(5);
  while (full() == 0 && header.msg_id.value < 200'000) hand_in(2);
  EXPECT_EQ(header.msg_id.value, 6 + 2 * (65'536 + 64)) << "64 more than one for each 256 of a length";
  EXPECT_LE(server->provider.reorder_bytes(), 4u << 20);
  hand_in(1);
  EXPECT_EQ(full(), 2u) << "it stands alone, too";
  const auto before = arrived();
  header.msg_id.value = 3, hand_in(0);
  EXPECT_EQ(full(), 3u) << "and this";
  EXPECT_EQ(arrived(), before);
  header.msg_id.value = 5, receive(1), hand_in(0);
  EXPECT_EQ(full(), 3u) << "it joins the first";
  header.msg_id.value = 2, receive(1), hand_in(0);
  EXPECT_EQ(full(), 3u) << "its turn is now";
  EXPECT_EQ(server_vi->state(), vi::State::Connected);
}

// --- Unreliable Delivery on an in-order fabric -------------------------------------------------------------------

class Refused : public support::MessageNodes {};

// VI-ARCH 2.5.1 (ruling 191, against FC-VI B.2.5 rule 5a): a message that nobody posted a descriptor for goes on for
// longer than R_A_TOV. It is discarded to its end, the connection persists, and the next message arrives.
TEST_F(Refused, errored_restLongerThanRaTov_persists) {
  begin(Level::UnreliableDelivery);
  faults.on_frame = [](MessageFrame& frame) {
    return frame.from_client && frame.number >= 4 ? late(r_a_tov + runtime::second) : pass;
  };
  send(1, 8 * frame_bytes);
  fabric.run_for(r_a_tov + 2 * runtime::second);
  EXPECT_EQ(discarded(), 8u);
  EXPECT_EQ(server_vi->state(), vi::State::Connected);
  faults.on_frame = {};
  receive(1), send(1);
  fabric.run_for(runtime::second);
  EXPECT_TRUE(arrived(1, 0));
}

}  // namespace
