// Out-of-order fabrics, the long way: whole buffers late by seconds (FC-VI B.3.2.4, 8.4.1 d), what must be kept and what must not
// (B.2.5 rules 4c, 5b, 6e), and Unreliable Delivery, where nothing waits for what is lost (VI-ARCH 2.5.1, 6.3.1.1).
#include "fcvi/arrivals.hpp"
#include "tests/fcvi/class_2_nodes.hpp"
#include "tests/fcvi/message_nodes.hpp"

namespace {
using support::Host;
using support::late;
using support::Level;
using support::lose;
using support::MessageFrame;
using support::pass;

constexpr fc2::TimeNs r_a_tov = 10 * fc2::second;

fc2::SwitchConfig out_of_order() {
  fc2::SwitchConfig config;
  config.in_order = false;
  return config;
}

/// Client and server have the same bytes at `near` and, where it is written to, others at `far`.
class Reordered : public support::MessageNodes {
 public:
  explicit Reordered(fcvi::ProviderConfig config = {}) : MessageNodes(config, {}, out_of_order()) {}
  void begin_all(Level level, std::size_t connections = 1) {
    for (std::size_t i = 0; i < connections; ++i) {
      begin(level, std::to_string(i));
      clients.push_back(client_vi), servers.push_back(server_vi);
    }
  }
  void fill(Host& host, std::uint64_t at, std::uint32_t bytes, std::uint32_t factor = 11) {
    for (std::uint32_t i = 0; i < bytes; ++i) host.bytes(at)[i] = static_cast<std::uint8_t>(i * factor + (i >> 11));
  }
  [[nodiscard]] bool same(std::uint64_t at_client, std::uint64_t at_server, std::uint32_t bytes) {
    return std::memcmp(client->bytes(at_client), server->bytes(at_server), bytes) == 0;
  }
  std::uint64_t post_write(std::uint64_t from, std::uint64_t to, std::uint32_t bytes) {
    const auto write = client->descriptor(vi::control::op_rdma_write, {{from, bytes}}, to, server->handle);
    client_vi->post_send(write, client->handle);
    return write;
  }
  std::vector<vi::Vi*> clients, servers;
};

struct Long { const char* name; std::uint16_t operation; Level level; };
class LongMessage : public Reordered, public ::testing::WithParamInterface<Long> {
 public:
  static constexpr std::uint32_t bytes = 12u << 20, frames = bytes / frame_bytes + 1;
  [[nodiscard]] static bool is_read() { return GetParam().operation == vi::control::op_rdma_read; }
  /// The frame of this SEQ_CNT of each message is 5 s late: everything else of it overtakes it.
  void delay(std::uint32_t seq_cnt) {
    faults.on_frame = [=](MessageFrame& frame) {
      return frame.from_client != is_read() && frame.fc.seq_cnt.value == seq_cnt ? late(5 * fc2::second) : pass;
    };
  }
  void post() {
    Host& source = is_read() ? *server : *client;
    fill(source, Host::data, bytes);
    for (std::size_t i = 0; i < clients.size(); ++i) {
      const std::uint64_t to = GetParam().operation == 0 ? 0 : Host::data;
      from.push_back(client->descriptor(GetParam().operation, {{Host::data, bytes}}, to, server->handle));
      into.push_back(server->descriptor(0, {{Host::data, bytes}}));
      if (GetParam().operation == 0) servers[i]->post_receive(into.back(), server->handle);
      clients[i]->post_send(from.back(), client->handle);
    }
  }
  void expect_nothing_lost() {
    for (std::size_t i = 0; i < clients.size(); ++i) {
      EXPECT_EQ(client->status(from[i]) & ~vi::status::op_mask, vi::status::done) << i;
      if (GetParam().operation == 0) {
        EXPECT_EQ(server->status(into[i]), vi::status::done | vi::status::op_receive) << i;
      }
      EXPECT_EQ(servers[i]->state(), vi::State::Connected) << i;
      EXPECT_EQ(clients[i]->state(), vi::State::Connected) << i;
    }
    EXPECT_TRUE(same(Host::data, Host::data, bytes));
    EXPECT_EQ(server->port.counters().discarded() + client->port.counters().discarded(), 0u);
    EXPECT_EQ(server->provider.reorder_bytes() + client->provider.reorder_bytes(), 0u);
    EXPECT_EQ(fabric.pool.outstanding(), 0u);
  }
  [[nodiscard]] std::uint64_t peak() const { return std::max(server->provider.reorder_peak_bytes(), client->provider.reorder_peak_bytes()); }
  std::vector<std::uint64_t> from, into;
};
INSTANTIATE_TEST_SUITE_P(Kinds, LongMessage,
                         ::testing::Values(Long{"SendUnreliable", 0, Level::UnreliableDelivery}, Long{"Send", 0, Level::ReliableDelivery},
                                           Long{"SendReception", 0, Level::ReliableReception},
                                           Long{"WriteUnreliable", vi::control::op_rdma_write, Level::UnreliableDelivery},
                                           Long{"Write", vi::control::op_rdma_write, Level::ReliableDelivery},
                                           Long{"WriteReception", vi::control::op_rdma_write, Level::ReliableReception},
                                           Long{"Read", vi::control::op_rdma_read, Level::ReliableDelivery},
                                           Long{"ReadReception", vi::control::op_rdma_read, Level::ReliableReception}),
                         [](const auto& tested) { return std::string(tested.param.name); });

// FC-VI B.3.2.4, B.3.3.3, 8.4.1 d): one frame of 12 MiB is 5 s late, the first, one in the middle or the last: nothing is lost, and what
// overtook it is placed and not kept.
TEST_P(LongMessage, receiving_oneFrameSecondsLate_losesNothing) {
  for (const std::uint32_t seq_cnt : {0u, frames / 2, frames - 1}) {
    SCOPED_TRACE(seq_cnt);
    clients.clear(), servers.clear(), from.clear(), into.clear();
    client->next_descriptor = server->next_descriptor = Host::base;
    std::memset((is_read() ? *client : *server).bytes(Host::data), 0, bytes);
    begin_all(GetParam().level);
    delay(seq_cnt);
    post();
    fabric.run_for(4 * fc2::second);
    EXPECT_EQ(client->status(from[0]) != 0, GetParam().operation != vi::control::op_rdma_read && GetParam().level != Level::ReliableReception);
    if (GetParam().operation == 0) {
      EXPECT_EQ(server->status(into[0]), 0u);
    }
    fabric.run_for(2 * fc2::second);
    expect_nothing_lost();
    EXPECT_LE(peak(), 8192u) << "a book, and one frame at most";
    disconnect(*client, *client_vi), disconnect(*server, *server_vi);
  }
}

// ... nor on five connections of one peer at once.
TEST_P(LongMessage, receiving_fiveConnections_loseNothing) {
  begin_all(GetParam().level, 5);
  delay(frames / 2);
  post();
  fabric.run_for(7 * fc2::second);
  expect_nothing_lost();
  EXPECT_LE(peak(), 5 * 8192u);
}

// ... and every other frame is late: the book of thousands of gaps stays small.
TEST_P(LongMessage, receiving_everyOtherFrameLate_losesNothing) {
  begin_all(GetParam().level);
  faults.on_frame = [=](MessageFrame& frame) {
    return frame.from_client != is_read() && frame.fc.seq_cnt.value % 2 == 0 ? late(5 * fc2::second) : pass;
  };
  post();
  fabric.run_for(7 * fc2::second);
  expect_nothing_lost();
  EXPECT_LE(peak(), frames * 2 * sizeof(fcvi::Arrivals::Range));
}

// --- what has to be kept -----------------------------------------------------------------------------------------

class Kept : public Reordered, public ::testing::WithParamInterface<Level> {
 public:
  explicit Kept(fcvi::ProviderConfig config = {}) : Reordered(config) {}
  static constexpr std::uint32_t bytes = 4u << 20;
  /// A short Send, which comes so late, and a long one behind it.
  void send_both(std::size_t connection, fc2::TimeNs delay) {
    faults.on_frame = [=](MessageFrame& frame) { return frame.from_client && frame.header.tot_len_or_connection_id == 8 ? late(delay) : pass; };
    fill(*client, Host::data, bytes);
    for (const std::uint32_t size : {8u, bytes}) {
      from.push_back(client->descriptor(0, {{Host::data, size}}));
      into.push_back(server->descriptor(0, {{Host::data + (size == 8 ? 0 : 8), bytes}}));
      servers[connection]->post_receive(into.back(), server->handle);
      clients[connection]->post_send(from.back(), client->handle);
    }
  }
  std::vector<std::uint64_t> from, into;
};
INSTANTIATE_TEST_SUITE_P(Level, Kept, support::reliable_levels, support::level_name);

// FC-VI B.2.5 rules 4c, 5b, 8.4.1: nobody knows the descriptor of a Send before all messages in front of it showed what they are: its
// frames are kept, and then they are delivered in order.
TEST_P(Kept, expecting_messageMissing_laterSendIsKept) {
  begin_all(GetParam());
  send_both(0, 5 * fc2::second);
  fabric.run_for(4 * fc2::second);
  EXPECT_EQ(server->status(into[0]) | server->status(into[1]), 0u);
  EXPECT_GT(server->provider.reorder_bytes(), bytes);
  fabric.run_for(2 * fc2::second);
  for (const auto receive : into) EXPECT_EQ(server->status(receive), vi::status::done | vi::status::op_receive);
  EXPECT_TRUE(same(Host::data, Host::data + 8, bytes));
  EXPECT_EQ(server->provider.reorder_bytes(), 0u);
  EXPECT_EQ(server->provider.counters().reorder_pool_full, 0u);
}

class SmallPool : public Kept {
 public:
  static constexpr std::uint64_t limit = 1u << 20;
  SmallPool() : Kept({.address = {}, .reorder_pool_bytes = limit}) {}
};
INSTANTIATE_TEST_SUITE_P(Level, SmallPool, support::reliable_levels, support::level_name);

// Ruling 131: what finds no room is lost in class 3, and missed after R_A_TOV (rule 7b). It is counted, and all connections of a port
// together keep no more than the pool.
TEST_P(SmallPool, expecting_full_staysWithinItsPool) {
  begin_all(GetParam(), 3);
  for (std::size_t i = 0; i < 3; ++i) send_both(i, 5 * fc2::second);
  fabric.run_for(4 * fc2::second);
  EXPECT_GT(server->provider.counters().reorder_pool_full, 3000u);
  EXPECT_LE(fabric.pool.outstanding() * sizeof(fc2::Frame), limit);
  fabric.run_for(2 * r_a_tov);
  EXPECT_LE(server->provider.reorder_peak_bytes(), limit);
  EXPECT_GE(server->provider.reorder_peak_bytes(), limit / 4);
  for (const vi::Vi* vi : servers) EXPECT_EQ(vi->state(), vi::State::Error);
  EXPECT_EQ(server->provider.reorder_bytes(), 0u);
}

// VI-ARCH 2.5.2: with no descriptor yet, the message waits for its turn; the descriptor that is posted meanwhile is its own.
TEST_P(Kept, expecting_descriptorPostedMeanwhile_isUsed) {
  begin_all(GetParam());
  faults.on_frame = support::to_frame(1, late(fc2::second));
  receive(1), send(2);
  fabric.run_for(500 * fc2::millisecond);
  receive(1);
  fabric.run_for(fc2::second);
  EXPECT_TRUE(arrived(0, 0));
  EXPECT_TRUE(arrived(1, 1));
}

// VI-ARCH 2.5.2, 2.5.3: ... and if none is, it is refused in its turn, when the message before it has arrived.
TEST_P(Kept, expecting_noDescriptor_isRefusedInItsTurn) {
  begin_all(GetParam());
  faults.on_frame = support::to_frame(1, late(fc2::second));
  receive(1), send(2);
  fabric.run_for(500 * fc2::millisecond);
  EXPECT_EQ(server_vi->state(), vi::State::Connected);
  fabric.run_for(fc2::second);
  EXPECT_TRUE(arrived(0, 0));
  EXPECT_EQ(server_vi->state(), vi::State::Error);
  EXPECT_EQ(server->count(vi::ErrorCode::RecvQEmpty), 1);
}

// --- RDMA Writes -------------------------------------------------------------------------------------------------

class Writes : public Kept {};
INSTANTIATE_TEST_SUITE_P(Level, Writes, support::all_levels, support::level_name);

// FC-VI 8.4.1: programs poll for the last bytes of an RDMA Write. They are written when all before them are.
TEST_P(Writes, receiving_middleLate_lastBytesComeLast) {
  begin_all(GetParam());
  fill(*client, Host::data, 3 * frame_bytes, 7);
  faults.on_frame = support::to_frame(1, late(fc2::second));
  post_write(Host::data, Host::data, 3 * frame_bytes);
  fabric.run_for(500 * fc2::millisecond);
  EXPECT_TRUE(same(Host::data, Host::data, frame_bytes));
  EXPECT_EQ(std::count(server->bytes(Host::data + frame_bytes), server->bytes(Host::data + 3 * frame_bytes), 0), 2 * frame_bytes);
  fabric.run_for(fc2::second);
  EXPECT_TRUE(same(Host::data, Host::data, 3 * frame_bytes));
}

class ReliableWrites : public Kept {};
INSTANTIATE_TEST_SUITE_P(Level, ReliableWrites, support::reliable_levels, support::level_name);

// VI-ARCH 6.3.1.1 (RDMA Writes do not pass RDMA Writes): two of them to the same place, and one frame of the first comes last of all: the
// second's bytes stay.
TEST_P(ReliableWrites, receiving_secondOvertakes_itsBytesStay) {
  begin_all(GetParam());
  fill(*client, Host::data, 4 * frame_bytes, 7);
  fill(*client, Host::data + slot, 4 * frame_bytes, 13);
  faults.on_frame = support::to_frame(1, late(fc2::second));
  post_write(Host::data, Host::data, 4 * frame_bytes);
  post_write(Host::data + slot, Host::data + frame_bytes / 2, 2 * frame_bytes);
  fabric.run_for(2 * fc2::second);
  EXPECT_TRUE(same(Host::data, Host::data, frame_bytes / 2));
  EXPECT_TRUE(same(Host::data + slot, Host::data + frame_bytes / 2, 2 * frame_bytes));
  const std::uint32_t rest = frame_bytes / 2 + 2 * frame_bytes;
  EXPECT_TRUE(same(Host::data + rest, Host::data + rest, 4 * frame_bytes - rest));
}

// ... and a word that is written again and again ends with what was written last.
TEST_P(ReliableWrites, receiving_wordWrittenAgain_lastOneStays) {
  begin_all(GetParam());
  faults.on_frame = support::to_frame(0, late(fc2::second));
  for (std::uint32_t i = 0; i < 5; ++i) {
    client->put(Host::data + 8 * i, std::uint64_t{100 + i});
    post_write(Host::data + 8 * i, Host::data, 8);
  }
  fabric.run_for(500 * fc2::millisecond);
  EXPECT_EQ(server->get<std::uint64_t>(Host::data), 0u) << "nothing before its turn";
  fabric.run_for(fc2::second);
  EXPECT_EQ(server->get<std::uint64_t>(Host::data), 104u);
}

class ReceptionWrites : public Kept {};
INSTANTIATE_TEST_SUITE_P(Level, ReceptionWrites, ::testing::Values(Level::ReliableReception), support::level_name);

// VI-ARCH 6.3.1.1, 2.5.3: at Reliable Reception an RDMA Write has no effect while a message before it may be an RDMA Read.
TEST_P(ReceptionWrites, expecting_messageMissing_nothingIsWritten) {
  begin_all(GetParam());
  fill(*client, Host::data, 3 * frame_bytes, 7);
  faults.on_frame = support::to_frame(0, late(fc2::second));
  receive(1), send(1, 8);
  post_write(Host::data, Host::data + (8u << 20), 3 * frame_bytes);
  fabric.run_for(500 * fc2::millisecond);
  EXPECT_EQ(std::count(server->bytes(Host::data + (8u << 20)), server->bytes(Host::data + (8u << 20) + 3 * frame_bytes), 0), 3 * frame_bytes);
  fabric.run_for(fc2::second);
  EXPECT_TRUE(same(Host::data + frame_bytes, Host::data + (8u << 20) + frame_bytes, 2 * frame_bytes));
}

// --- Unreliable Delivery -----------------------------------------------------------------------------------------

class Unordered : public Reordered {
 public:
  explicit Unordered(fcvi::ProviderConfig config = {}) : Reordered(config) { begin_all(Level::UnreliableDelivery); }
};

// VI-ARCH 2.5.1, FC-VI B.2.4 rule 3a: a frame of the first message is lost. Those behind it take the descriptors in the order in which they
// are whole, at once; R_A_TOV later the first takes the next one, in error.
TEST_F(Unordered, receiving_frameLost_laterMessagesDoNotWait) {
  for (const int lost_frame : {0, 1, 3}) {  // SEQ_CNT 0 (rule 3a: later ones came), the middle, the end
    SCOPED_TRACE(lost_frame);
    faults.restart();
    faults.on_frame = support::to_frame(lost_frame, lose);
    const std::size_t at = receives.size();
    receive(4), send(1), send(1, 100), send(1);
    fabric.run_for(10 * fc2::millisecond);
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
    fabric.run_for(10 * fc2::millisecond);
    EXPECT_TRUE((received(at + 3) & vi::status::error_mask) == 0 && received(at + 3) != 0);
    sends.pop_back();
    while (server_vi->receive_done(address) != vi::Return::DescriptorError || address != 0) {}
  }
}

// ... what parked meanwhile arrives whole when its frame comes after all.
TEST_F(Unordered, receiving_frameLate_parkedMessageArrives) {
  faults.on_frame = support::to_frame(7, late(fc2::second));
  receive(4), send(1, 20 * frame_bytes), send(1, 100), send(1);
  fabric.run_for(100 * fc2::millisecond);
  EXPECT_TRUE(arrived(1, 0, 100));
  EXPECT_TRUE(arrived(2, 1));
  EXPECT_GT(server->provider.reorder_bytes(), 20 * frame_bytes);
  fabric.run_for(fc2::second);
  EXPECT_TRUE(arrived(0, 2, 20 * frame_bytes));
  EXPECT_EQ(received(3), 0u);
  EXPECT_EQ(server->provider.reorder_bytes(), 0u);
}

// A message that is long itself does not wait in the pool for one that lacks a frame: it takes its place.
TEST_F(Unordered, receiving_longMessageBehindAGap_takesThePlace) {
  constexpr std::uint32_t bytes = 4u << 20;
  fill(*client, Host::data, bytes);
  faults.on_frame = support::to_frame(1, late(fc2::second));
  std::vector<std::uint64_t> into;
  for (int i = 0; i < 2; ++i) {
    into.push_back(server->descriptor(0, {{Host::data + static_cast<std::uint32_t>(i) * bytes, bytes}}));
    server_vi->post_receive(into.back(), server->handle);
  }
  for (const std::uint32_t size : {4 * frame_bytes, bytes}) client_vi->post_send(client->descriptor(0, {{Host::data, size}}), client->handle);
  fabric.run_for(500 * fc2::millisecond);
  EXPECT_EQ(server->control(into[0]).length_bytes, bytes);
  EXPECT_EQ(server->status(into[0]), vi::status::done | vi::status::op_receive);
  EXPECT_TRUE(same(Host::data, Host::data, bytes));
  EXPECT_LE(server->provider.reorder_peak_bytes(), 1u << 20);
  fabric.run_for(fc2::second);
  EXPECT_EQ(server->control(into[1]).length_bytes, 4 * frame_bytes);
  EXPECT_TRUE(same(Host::data, Host::data + bytes, 4 * frame_bytes));
}

class UnorderedSmallPool : public Unordered {
 public:
  UnorderedSmallPool() : Unordered({.address = {}, .reorder_pool_bytes = 20'000}) {}
};

// FC-VI B.3.2.4, ruling 192: where there is no room to park, what comes next takes the next descriptor. Nothing is lost by it, but the
// queue is FIFO (VI-ARCH 6.3.1.1): it is seen after the one in front of it.
TEST_F(UnorderedSmallPool, receiving_noRoomToPark_nextDescriptorIsTaken) {
  faults.on_frame = support::to_frame(7, late(5 * fc2::second));
  receive(3), send(1, 20 * frame_bytes), send(1, 100), send(1);
  fabric.run_for(100 * fc2::millisecond);
  EXPECT_EQ(received(0), 0u);
  EXPECT_TRUE(arrived(1, 1, 100));
  EXPECT_TRUE(arrived(2, 2));
  std::uint64_t address = 0;
  EXPECT_EQ(server_vi->receive_done(address), vi::Return::NotDone);
  fabric.run_for(5 * fc2::second);
  EXPECT_TRUE(arrived(0, 0, 20 * frame_bytes));
  EXPECT_EQ(server_vi->receive_done(address), vi::Return::Success);
  EXPECT_EQ(server->provider.counters().reorder_pool_full, 0u);
  EXPECT_EQ(server->provider.reorder_bytes(), 0u);
}

// ... and where it is lost it fails its own descriptor, and no other message's.
TEST_F(UnorderedSmallPool, receiving_noRoomToPark_lostOneFailsItsOwn) {
  faults.on_frame = support::to_frame(7, lose);
  receive(3), send(1, 20 * frame_bytes), send(1, 100), send(1);
  fabric.run_for(r_a_tov + fc2::second);
  EXPECT_EQ(received(0), receive_lost);
  EXPECT_TRUE(arrived(1, 1, 100));
  EXPECT_TRUE(arrived(2, 2));
  EXPECT_EQ(server_vi->state(), vi::State::Connected);
}

// VI-ARCH 2.5.1: ... and without a next descriptor what comes next is dropped, and the one in front arrives.
TEST_F(UnorderedSmallPool, receiving_noRoomToParkNorDescriptor_newcomerIsDropped) {
  faults.on_frame = support::to_frame(7, late(5 * fc2::second));
  receive(1), send(1, 20 * frame_bytes), send(1, 100);
  fabric.run_for(6 * fc2::second);
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
      return frame.from_client && first && frame.fc.seq_cnt.value == GetParam() ? late(5 * fc2::second) : pass;
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

// FC-VI B.3.2.4, 8.4.1 d), VI-ARCH 2.5.1: on five connections of one peer a frame of a long Send is 5 s late, and another long Send comes
// behind it: together they are more than the pool, and nothing is lost.
TEST_P(ManyParked, receiving_fiveConnectionsWithAGap_loseNothing) {
  send_pairs();
  fabric.run_for(7 * fc2::second);
  for (std::size_t i = 0; i < into.size(); ++i) {
    ASSERT_EQ(server->status(into[i]), vi::status::done | vi::status::op_receive) << i;
    const std::uint32_t size = server->control(into[i]).length_bytes;
    EXPECT_TRUE(same(Host::data + (size == bytes ? 0 : bytes), Host::data + i * bytes, size)) << i;
    EXPECT_NE(size, server->control(into[i ^ 1]).length_bytes) << "each arrives once";
  }
  for (const vi::Vi* vi : servers) EXPECT_EQ(vi->state(), vi::State::Connected);
  EXPECT_EQ(server->provider.counters().reorder_pool_full, 0u);
  EXPECT_EQ(server->port.counters().discarded(), 0u);
  EXPECT_EQ(server->provider.reorder_bytes(), 0u);
}

// ... nor is an RDMA Write of the same peer: it is placed as it comes, and its books find room.
TEST_P(ManyParked, receiving_writeBesideThem_losesNothing) {
  begin_all(Level::UnreliableDelivery);
  const auto pairs_only = clients.back();
  clients.pop_back();
  send_pairs();
  fabric.run_for(fc2::second);
  const std::uint64_t to = Host::data + 2 * connections * bytes;
  faults.on_frame = [](MessageFrame& frame) { return frame.from_client && frame.fc.seq_cnt.value % 2 == 0 ? late(fc2::second) : pass; };
  const auto write = client->descriptor(vi::control::op_rdma_write, {{Host::data, bytes}}, to, server->handle);
  pairs_only->post_send(write, client->handle);
  fabric.run_for(2 * fc2::second);
  EXPECT_TRUE(same(Host::data, to, bytes));
  EXPECT_EQ(server->provider.counters().reorder_pool_full, 0u);
  EXPECT_EQ(server->port.counters().discarded(), 0u);
}

// VI-ARCH 2.5.1, 6.3.1.1: a flood of whole messages behind a gap takes no memory that lasts.
TEST_F(Unordered, receiving_manyBehindAGap_keepNothing) {
  faults.on_frame = support::to_frame(1, lose);
  receive(1), send(1);
  for (int round = 0; round < 300; ++round) {
    receive(1), send(1, 8);
    fabric.run_for(fc2::millisecond);
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
  fabric.run_for(fc2::millisecond);
  ASSERT_TRUE(arrived(0, 0, 100));
  const auto* sent = log.find([](const support::LoggedFrame& f) { return f.outbound && f.is(wire::RCtl::solicited_data); });
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
  fabric.run_for(server->port.r_a_tov() + fc2::microsecond);
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
    fabric.run_for(fc2::millisecond);
    ASSERT_TRUE(arrived(0, 0, 100));
    const auto* sent = log.find([](const support::LoggedFrame& f) { return f.outbound && f.is(wire::RCtl::solicited_data); });
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

// FC-VI B.2.5 rule 7a: thousands of gaps, each of which shows at a moment of its own, are given up by few passes over the books: work is
// counted in events of the timer, each of which looks at all.
TEST_F(Numbered, receiving_thousandsOfGaps_takeFewPasses) {
  constexpr std::uint32_t gaps = 5'000;
  take_first();
  for (std::uint32_t i = 0; i < gaps; ++i) {
    hand_in(2);
    fabric.run_for(fc2::microsecond);
  }
  fabric.run_for(r_a_tov - gaps * fc2::microsecond - fc2::millisecond);
  const std::uint64_t before = fabric.scheduler.fired_count();
  fabric.run_for(20 * fc2::millisecond);
  EXPECT_EQ(server->provider.reorder_bytes(), 0u);
  EXPECT_LE(fabric.scheduler.fired_count() - before, 5u);
  EXPECT_EQ(server_vi->state(), vi::State::Connected);
}

// Ruling 131: no more than 65,536 ranges of messages are told apart; the next one that stands alone is lost, and counted.
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

// VI-ARCH 2.5.1 (ruling 191, against FC-VI B.2.5 rule 5a): a message that nobody posted a descriptor for goes on for longer than R_A_TOV. It
// is discarded to its end, the connection persists, and the next message arrives.
TEST_F(Refused, errored_restLongerThanRaTov_persists) {
  begin(Level::UnreliableDelivery);
  faults.on_frame = [](MessageFrame& frame) { return frame.from_client && frame.number >= 4 ? late(r_a_tov + fc2::second) : pass; };
  send(1, 8 * frame_bytes);
  fabric.run_for(r_a_tov + 2 * fc2::second);
  EXPECT_EQ(discarded(), 8u);
  EXPECT_EQ(server_vi->state(), vi::State::Connected);
  faults.on_frame = {};
  receive(1), send(1);
  fabric.run_for(fc2::second);
  EXPECT_TRUE(arrived(1, 0));
}

// --- across the wrap of FCVI_MSG_ID ------------------------------------------------------------------------------

class ReorderedWrap : public Reordered, public ::testing::WithParamInterface<Level> {
 public:
  ReorderedWrap() : Reordered({.address = {}, .first_msg_id = wire::MsgId{0xFFFFFFFA}}) {}
};
INSTANTIATE_TEST_SUITE_P(Level, ReorderedWrap, support::all_levels, support::level_name);

// FC-VI 5.9.6, B.2.5 rule 5b: every message but the last changes places, with the numbers around the wrap.
TEST_P(ReorderedWrap, connected_shuffled_arrives) {
  begin_all(GetParam());
  faults.on_frame = [](MessageFrame& frame) { return late(((frame.number * 37) % 50) * fc2::millisecond); };
  fabric.run_for(r_a_tov);  // the numbers do not come round faster
  receive(12), send(12);
  fabric.run_for(5 * fc2::second);
  for (std::size_t i = 0; i < 12; ++i) EXPECT_EQ(received(i), vi::status::done | vi::status::op_receive) << i;
  for (std::size_t i = 0; i < 12 && GetParam() != Level::UnreliableDelivery; ++i) EXPECT_TRUE(arrived(i, i)) << i;
  EXPECT_EQ(server->provider.reorder_bytes(), 0u);
}
}  // namespace
