// Which memory of the port's pool a message that overtook another one may take (fcvi/reorder_pool.hpp; FC-VI B.3.2.4,
// 8.4.1 d, ruling 131): just enough, and a byte less. Class 3: what finds no room is lost.
#include "tests/fcvi/forged_messages.hpp"

namespace {
using support::ForgedMessages;
using support::Level;
using wire::fcvi::Opcode;

/// The least pool that gives so much to one stream that is alone.
enum class Need { Share, Book, Now };
constexpr std::uint64_t least_pool(Need need, std::uint64_t bytes) {
  return need == Need::Share ? 3 * bytes : need == Need::Book ? bytes + bytes / 2 : bytes;
}

constexpr std::size_t book = ForgedMessages::book, held = ForgedMessages::held,
                      growth = 4 * sizeof(fcvi::Arrivals::Range);

/// The last of these frames of the message needs `bytes` in all; without, `before` is the most that is taken.
struct Row {
  const char* name;
  Level level;
  Opcode opcode;
  std::uint32_t id;
  std::vector<std::uint32_t> numbers;
  std::uint32_t frames;
  Need need;
  std::uint64_t bytes = book, before = 0;
};

const Row rows[] = {
    {"SendLater", Level::ReliableDelivery, Opcode::send_rqst, 2, {0}, 2, Need::Share},
    {"ReadLater", Level::ReliableDelivery, Opcode::read_rqst, 2, {0}, 1, Need::Share},
    {"WriteLater", Level::ReliableDelivery, Opcode::write_rqst, 2, {0}, 2, Need::Book},
    {"WriteLaterWhole", Level::ReliableDelivery, Opcode::write_rqst, 2, {0}, 1, Need::Book},
    {"SendTurn", Level::ReliableDelivery, Opcode::send_rqst, 1, {1}, 2, Need::Now},
    {"WriteLaterReception", Level::ReliableReception, Opcode::write_rqst, 2, {0}, 2, Need::Share},
    {"SendTurnReception", Level::ReliableReception, Opcode::send_rqst, 1, {1}, 2, Need::Now},
    {"SendUnreliable", Level::UnreliableDelivery, Opcode::send_rqst, 2, {0}, 2, Need::Now},
    {"SendUnreliableWhole", Level::UnreliableDelivery, Opcode::send_rqst, 2, {0}, 1, Need::Now},
    {"WriteUnreliable", Level::UnreliableDelivery, Opcode::write_rqst, 2, {0}, 2, Need::Book},
    {"WriteUnreliableEnd", Level::UnreliableDelivery, Opcode::write_rqst, 2, {1}, 2, Need::Book},
    {"WriteUnreliableWhole", Level::UnreliableDelivery, Opcode::write_rqst, 2, {0}, 1, Need::Now},
    // The third piece that stands alone lets its book grow.
    {"GrowthSendTurn", Level::ReliableDelivery, Opcode::send_rqst, 1, {1, 3, 5}, 7, Need::Now, book + growth, book},
    {"GrowthWriteLater", Level::ReliableDelivery, Opcode::write_rqst, 2, {1, 3, 5}, 7, Need::Book, book + growth, book},
    {"GrowthSendUnreliable",
     Level::UnreliableDelivery,
     Opcode::send_rqst,
     2,
     {1, 3, 5},
     7,
     Need::Now,
     book + growth,
     book},
    {"GrowthSendLater",
     Level::ReliableDelivery,
     Opcode::send_rqst,
     2,
     {1, 3, 5},
     7,
     Need::Share,
     book + 2 * held + growth,
     book + 2 * held},
    // One that joins them needs nothing (two meet one that is there, three need no more than two).
    {"JoinsSendTurn", Level::ReliableDelivery, Opcode::send_rqst, 1, {1, 3, 2}, 7, Need::Now, book},
    {"JoinsWriteLater", Level::ReliableDelivery, Opcode::write_rqst, 2, {1, 3, 2}, 7, Need::Book, book},
    {"JoinsSendUnreliable", Level::UnreliableDelivery, Opcode::send_rqst, 2, {1, 3, 2}, 7, Need::Now, book},
    // What is kept.
    {"KeptSendLater", Level::ReliableDelivery, Opcode::send_rqst, 2, {0}, 2, Need::Share, book + held, book},
    {"KeptEndLater", Level::ReliableDelivery, Opcode::write_rqst, 2, {0, 1}, 2, Need::Book, book + held, book},
    {"KeptEndTurn", Level::ReliableDelivery, Opcode::write_rqst, 1, {1}, 2, Need::Now, book + held, book},
    {"KeptEndUnreliable", Level::UnreliableDelivery, Opcode::write_rqst, 2, {0, 2}, 3, Need::Book, book + held, book},
};

class PoolNeed : public ForgedMessages, public ::testing::WithParamInterface<std::tuple<Row, bool>> {
 public:
  PoolNeed() : ForgedMessages({.pool_bytes = least_pool(row().need, row().bytes) - (enough() ? 0 : 1)}) {}
  static Row row() { return std::get<0>(GetParam()); }
  static bool enough() { return std::get<1>(GetParam()); }
};
INSTANTIATE_TEST_SUITE_P(Rows, PoolNeed, ::testing::Combine(::testing::ValuesIn(rows), ::testing::Bool()),
                         [](const auto& tested) {
                           return std::string(std::get<0>(tested.param).name) +
                                  (std::get<1>(tested.param) ? "Enough" : "ByteLess");
                         });

TEST_P(PoolNeed, overtaking_frame_takesItsShare) {
  begin(row().level);
  receive(2);
  for (const std::uint32_t number : row().numbers)
    row().opcode == Opcode::read_rqst ? give_read(row().id) : give(frame(row().opcode, row().id, number, row().frames));
  EXPECT_EQ(server->provider.reorder_peak_bytes(), enough() ? row().bytes : row().before);
  if (!enough()) {
    EXPECT_EQ(refused_by_pool(), row().before == 0 ? row().numbers.size() : 1u);  // each, or the last alone
  }
  EXPECT_EQ(discarded(), 0u) << "it is counted elsewhere";
  EXPECT_EQ(server_vi->state(), vi::State::Connected);
}

/// Room for a book of pieces that grew, and for two of them, to whom is alone.
class GrowthAlone : public ForgedMessages {
 public:
  GrowthAlone() : ForgedMessages({.pool_bytes = 3 * (book + 2 * held + growth)}) {}
};

// The book could grow, and the piece finds no room: what the book would have grown by is given back.
TEST_F(GrowthAlone, sendLater_pieceFindsNoRoom_growthIsGivenBack) {
  begin(Level::ReliableDelivery);
  receive(2);
  for (const std::uint32_t number : {1u, 3u, 5u}) give(frame(Opcode::send_rqst, 2, number, 7));
  EXPECT_EQ(refused_by_pool(), 1u);
  EXPECT_EQ(pool(), book + 2 * held);
}

/// Room for a book.
class OneBook : public ForgedMessages {
 public:
  OneBook() : ForgedMessages({.pool_bytes = book + 10}) {}
};

// The message that is overtaken has its book whatever the shares; what overtook it finds no room, and comes later.
TEST_F(OneBook, receiving_overtaken_hasItsBook) {
  begin(Level::ReliableDelivery);
  receive(2);
  give_send(1, 0, 2), give_send(2);
  EXPECT_EQ(pool(), book);
  EXPECT_EQ(refused_by_pool(), 1u);
  give_send(1, 1, 2);
  EXPECT_EQ(pool(), 0u);
  give_send(2);
  EXPECT_EQ(received(0) & received(1), received_well);
  EXPECT_EQ(discarded(), 0u);
}

// B.2.5 rule 7: when what was missing is given up, no timer of it runs on.
TEST_F(OneBook, expecting_gapsGivenUp_nothingIsTimed) {
  begin(Level::UnreliableDelivery);
  receive(1);
  give_send(2);
  fabric.run_for(10 * runtime::second);
  EXPECT_EQ(pool(), 0u);
  fabric.run_for(runtime::second);
  const std::uint64_t fired = fabric.scheduler.fired_count();
  fabric.run_for(60 * runtime::second);
  EXPECT_EQ(fabric.scheduler.fired_count(), fired);
}

// VI-ARCH 2.5.1: at Unreliable Delivery a message that has lost a frame for want of room is lost at once: it can
// never be whole.
class BookAndAHalf : public ForgedMessages {
 public:
  BookAndAHalf() : ForgedMessages({.pool_bytes = book + book / 2}) {}
};
TEST_F(BookAndAHalf, receiving_endFindsNoRoom_messageIsLost) {
  begin(Level::UnreliableDelivery);
  give_write(2, 0, 3), give_write(2, 2, 3);
  EXPECT_EQ(told(), to_string(vi::ErrorCode::RdmaWAbort));
  EXPECT_EQ(refused_by_pool(), 1u);
  EXPECT_EQ(discarded(), 0u);
  give_write(2, 1, 3);
  EXPECT_EQ(discarded(), 1u) << "it is over";
}

/// Room for two books and a message of seven frames, to whom is alone.
class ParkedPool : public ForgedMessages {
 public:
  ParkedPool() : ForgedMessages({.pool_bytes = 3 * (2 * book + 7 * part)}) {}
};

// Ruling 192: a message that moved to the pool has room for its book there, as one in a descriptor: shares
// do not count.
TEST_F(ParkedPool, parked_bookGrows_hasRoom) {
  begin(Level::UnreliableDelivery);
  receive(8);
  give_send(2, 1, 7), give_send(2, 3, 7), give_send(3);
  EXPECT_EQ(pool(), book + 7 * part);
  EXPECT_EQ(received(0), received_well);
  for (std::uint32_t id = 4; id <= 8; ++id) give_send(id, 0, 2);
  EXPECT_EQ(pool(), 6 * book + 7 * part);
  give_send(2, 5, 7);
  EXPECT_EQ(pool(), 6 * book + 7 * part + growth);
  EXPECT_EQ(refused_by_pool(), 0u);
  for (const std::uint32_t number : {0u, 2u, 4u, 6u}) give_send(2, number, 7);
  EXPECT_EQ(placed(6, 2), 7 * part);
  EXPECT_EQ(pool(), 5 * book);
}

/// Room for six books, less than a book that grows beside another would need there.
class ClaimedPool : public ForgedMessages {
 public:
  static constexpr std::uint64_t needed = 2 * book + growth;
  ClaimedPool() : ForgedMessages({.pool_bytes = needed + needed / 2 - 1}) {}
};

// At the reliable levels a descriptor alone gives no right to what is left: the message before it may need that.
TEST_F(ClaimedPool, claimed_bookGrows_takesItsShare) {
  begin(Level::ReliableDelivery);
  receive(2);
  give_send(1, 1, 2);
  header.flags = 1;  // Immediate Data
  give_write(2, 1, 7), give_write(2, 3, 7);
  EXPECT_EQ(pool(), 2 * book);
  give_write(2, 5, 7);
  EXPECT_EQ(pool(), 2 * book);
  EXPECT_EQ(refused_by_pool(), 1u);
}
}  // namespace
