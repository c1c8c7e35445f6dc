// Out-of-order fabrics, the long way: whole buffers late by seconds (FC-VI B.3.2.4, 8.4.1 d), what must be kept and
// what must not (B.2.5 rules 4c, 5b, 6e).
#include "fcvi/arrivals.hpp"
#include "tests/fcvi/class_2_nodes.hpp"
#include "tests/fcvi/reordered_nodes.hpp"
#include "tests/support/times.hpp"

namespace {
using support::Host;
using support::late;
using support::Level;
using support::MessageFrame;
using support::pass;
using support::r_a_tov;
using support::Reordered;

struct Long {
  const char* name;
  std::uint16_t operation;
  Level level;
};
class LongMessage : public Reordered, public ::testing::WithParamInterface<Long> {
 public:
  static constexpr std::uint32_t bytes = 12u << 20, frames = bytes / frame_bytes + 1;
  [[nodiscard]] static bool is_read() { return GetParam().operation == vi::control::op_rdma_read; }
  /// The frame of this SEQ_CNT of each message is 5 s late: everything else of it overtakes it.
  void delay(std::uint32_t seq_cnt) {
    faults.on_frame = [=](MessageFrame& frame) {
      return frame.from_client != is_read() && frame.fc.seq_cnt.value == seq_cnt ? late(5 * runtime::second) : pass;
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
    EXPECT_EQ(server->discarded() + client->discarded(), 0u);
    EXPECT_EQ(server->provider.reorder_bytes() + client->provider.reorder_bytes(), 0u);
    EXPECT_EQ(fabric.pool.outstanding(), 0u);
  }
  [[nodiscard]] std::uint64_t peak() const {
    return std::max(server->provider.reorder_peak_bytes(), client->provider.reorder_peak_bytes());
  }
  std::vector<std::uint64_t> from, into;
};
INSTANTIATE_TEST_SUITE_P(
    Kinds, LongMessage,
    ::testing::Values(Long{"SendUnreliable", 0, Level::UnreliableDelivery}, Long{"Send", 0, Level::ReliableDelivery},
                      Long{"SendReception", 0, Level::ReliableReception},
                      Long{"WriteUnreliable", vi::control::op_rdma_write, Level::UnreliableDelivery},
                      Long{"Write", vi::control::op_rdma_write, Level::ReliableDelivery},
                      Long{"WriteReception", vi::control::op_rdma_write, Level::ReliableReception},
                      Long{"Read", vi::control::op_rdma_read, Level::ReliableDelivery},
                      Long{"ReadReception", vi::control::op_rdma_read, Level::ReliableReception}),
    [](const auto& tested) { return std::string(tested.param.name); });

// FC-VI B.3.2.4, B.3.3.3, 8.4.1 d): one frame of 12 MiB is 5 s late, the first, one in the middle or the last: nothing
// is lost, and what overtook it is placed and not kept.
TEST_P(LongMessage, receiving_oneFrameSecondsLate_losesNothing) {
  for (const std::uint32_t seq_cnt : {0u, frames / 2, frames - 1}) {
    SCOPED_TRACE(seq_cnt);
    clients.clear(), servers.clear(), from.clear(), into.clear();
    client->next_descriptor = server->next_descriptor = Host::base;
    std::memset((is_read() ? *client : *server).bytes(Host::data), 0, bytes);
    begin_all(GetParam().level);
    delay(seq_cnt);
    post();
    fabric.run_for(4 * runtime::second);
    EXPECT_EQ(client->status(from[0]) != 0,
              GetParam().operation != vi::control::op_rdma_read && GetParam().level != Level::ReliableReception);
    if (GetParam().operation == 0) {
      EXPECT_EQ(server->status(into[0]), 0u);
    }
    fabric.run_for(2 * runtime::second);
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
  fabric.run_for(7 * runtime::second);
  expect_nothing_lost();
  EXPECT_LE(peak(), 5 * 8192u);
}

// ... and every other frame is late: the book of thousands of gaps stays small.
TEST_P(LongMessage, receiving_everyOtherFrameLate_losesNothing) {
  begin_all(GetParam().level);
  faults.on_frame = [=](MessageFrame& frame) {
    return frame.from_client != is_read() && frame.fc.seq_cnt.value % 2 == 0 ? late(5 * runtime::second) : pass;
  };
  post();
  fabric.run_for(7 * runtime::second);
  expect_nothing_lost();
  EXPECT_LE(peak(), frames * 2 * sizeof(fcvi::Arrivals::Range));
}

// --- what has to be kept -----------------------------------------------------------------------------------------

class Kept : public Reordered, public ::testing::WithParamInterface<Level> {
 public:
  explicit Kept(fcvi::ProviderConfig config = {}) : Reordered(config) {}
  static constexpr std::uint32_t bytes = 4u << 20;
  /// A short Send, which comes so late, and a long one behind it.
  void send_both(std::size_t connection, runtime::TimeNs delay) {
    faults.on_frame = [=](MessageFrame& frame) {
      return frame.from_client && frame.header.tot_len_or_connection_id == 8 ? late(delay) : pass;
    };
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

// FC-VI B.2.5 rules 4c, 5b, 8.4.1: nobody knows the descriptor of a Send before all messages in front of it showed what
// they are: its frames are kept, and then they are delivered in order.
TEST_P(Kept, expecting_messageMissing_laterSendIsKept) {
  begin_all(GetParam());
  send_both(0, 5 * runtime::second);
  fabric.run_for(4 * runtime::second);
  EXPECT_EQ(server->status(into[0]) | server->status(into[1]), 0u);
  EXPECT_GT(server->provider.reorder_bytes(), bytes);
  fabric.run_for(2 * runtime::second);
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

// Ruling 131: what finds no room is lost in class 3, and missed after R_A_TOV (rule 7b). It is counted, and all
// connections of a port together keep no more than the pool.
TEST_P(SmallPool, expecting_full_staysWithinItsPool) {
  begin_all(GetParam(), 3);
  for (std::size_t i = 0; i < 3; ++i) send_both(i, 5 * runtime::second);
  fabric.run_for(4 * runtime::second);
  EXPECT_GT(server->provider.counters().reorder_pool_full, 3000u);
  EXPECT_LE(fabric.pool.outstanding() * sizeof(fc2::Frame), limit);
  fabric.run_for(2 * r_a_tov);
  EXPECT_LE(server->provider.reorder_peak_bytes(), limit);
  EXPECT_GE(server->provider.reorder_peak_bytes(), limit / 4);
  for (const vi::Vi* vi : servers) EXPECT_EQ(vi->state(), vi::State::Error);
  EXPECT_EQ(server->provider.reorder_bytes(), 0u);
}

// VI-ARCH 2.5.2: with no descriptor yet, the message waits for its turn; the descriptor that is posted meanwhile
// is its own.
TEST_P(Kept, expecting_descriptorPostedMeanwhile_isUsed) {
  begin_all(GetParam());
  faults.on_frame = support::to_frame(1, late(runtime::second));
  receive(1), send(2);
  fabric.run_for(500 * runtime::millisecond);
  receive(1);
  fabric.run_for(runtime::second);
  EXPECT_TRUE(arrived(0, 0));
  EXPECT_TRUE(arrived(1, 1));
}

// VI-ARCH 2.5.2, 2.5.3: ... and if none is, it is refused in its turn, when the message before it has arrived.
TEST_P(Kept, expecting_noDescriptor_isRefusedInItsTurn) {
  begin_all(GetParam());
  faults.on_frame = support::to_frame(1, late(runtime::second));
  receive(1), send(2);
  fabric.run_for(500 * runtime::millisecond);
  EXPECT_EQ(server_vi->state(), vi::State::Connected);
  fabric.run_for(runtime::second);
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
  faults.on_frame = support::to_frame(1, late(runtime::second));
  post_write(Host::data, Host::data, 3 * frame_bytes);
  fabric.run_for(500 * runtime::millisecond);
  EXPECT_TRUE(same(Host::data, Host::data, frame_bytes));
  EXPECT_EQ(std::count(server->bytes(Host::data + frame_bytes), server->bytes(Host::data + 3 * frame_bytes), 0),
            2 * frame_bytes);
  fabric.run_for(runtime::second);
  EXPECT_TRUE(same(Host::data, Host::data, 3 * frame_bytes));
}

class ReliableWrites : public Kept {};
INSTANTIATE_TEST_SUITE_P(Level, ReliableWrites, support::reliable_levels, support::level_name);

// VI-ARCH 6.3.1.1 (RDMA Writes do not pass RDMA Writes): two of them to the same place, and one frame of the first
// comes last of all: the second's bytes stay.
TEST_P(ReliableWrites, receiving_secondOvertakes_itsBytesStay) {
  begin_all(GetParam());
  fill(*client, Host::data, 4 * frame_bytes, 7);
  fill(*client, Host::data + slot, 4 * frame_bytes, 13);
  faults.on_frame = support::to_frame(1, late(runtime::second));
  post_write(Host::data, Host::data, 4 * frame_bytes);
  post_write(Host::data + slot, Host::data + frame_bytes / 2, 2 * frame_bytes);
  fabric.run_for(2 * runtime::second);
  EXPECT_TRUE(same(Host::data, Host::data, frame_bytes / 2));
  EXPECT_TRUE(same(Host::data + slot, Host::data + frame_bytes / 2, 2 * frame_bytes));
  const std::uint32_t rest = frame_bytes / 2 + 2 * frame_bytes;
  EXPECT_TRUE(same(Host::data + rest, Host::data + rest, 4 * frame_bytes - rest));
}

// ... and a word that is written again and again ends with what was written last.
TEST_P(ReliableWrites, receiving_wordWrittenAgain_lastOneStays) {
  begin_all(GetParam());
  faults.on_frame = support::to_frame(0, late(runtime::second));
  for (std::uint32_t i = 0; i < 5; ++i) {
    client->put(Host::data + 8 * i, std::uint64_t{100 + i});
    post_write(Host::data + 8 * i, Host::data, 8);
  }
  fabric.run_for(500 * runtime::millisecond);
  EXPECT_EQ(server->get<std::uint64_t>(Host::data), 0u) << "nothing before its turn";
  fabric.run_for(runtime::second);
  EXPECT_EQ(server->get<std::uint64_t>(Host::data), 104u);
}

class ReceptionWrites : public Kept {};
INSTANTIATE_TEST_SUITE_P(Level, ReceptionWrites, ::testing::Values(Level::ReliableReception), support::level_name);

// VI-ARCH 6.3.1.1, 2.5.3: at Reliable Reception an RDMA Write has no effect while a message before it may be
// an RDMA Read.
TEST_P(ReceptionWrites, expecting_messageMissing_nothingIsWritten) {
  begin_all(GetParam());
  fill(*client, Host::data, 3 * frame_bytes, 7);
  faults.on_frame = support::to_frame(0, late(runtime::second));
  receive(1), send(1, 8);
  post_write(Host::data, Host::data + (8u << 20), 3 * frame_bytes);
  fabric.run_for(500 * runtime::millisecond);
  EXPECT_EQ(
      std::count(server->bytes(Host::data + (8u << 20)), server->bytes(Host::data + (8u << 20) + 3 * frame_bytes), 0),
      3 * frame_bytes);
  fabric.run_for(runtime::second);
  EXPECT_TRUE(same(Host::data + frame_bytes, Host::data + (8u << 20) + frame_bytes, 2 * frame_bytes));
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
  faults.on_frame = [](MessageFrame& frame) { return late(((frame.number * 37) % 50) * runtime::millisecond); };
  fabric.run_for(r_a_tov);  // the numbers do not come round faster
  receive(12), send(12);
  fabric.run_for(5 * runtime::second);
  for (std::size_t i = 0; i < 12; ++i) EXPECT_EQ(received(i), vi::status::done | vi::status::op_receive) << i;
  for (std::size_t i = 0; i < 12 && GetParam() != Level::UnreliableDelivery; ++i) EXPECT_TRUE(arrived(i, i)) << i;
  EXPECT_EQ(server->provider.reorder_bytes(), 0u);
}
}  // namespace
