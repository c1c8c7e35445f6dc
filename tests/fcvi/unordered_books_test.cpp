// Unreliable Delivery on a fabric that does not keep the order: who is in the descriptor at the head of the queue, who
// waits for it, and who moves to the pool (VI-ARCH 2.5.1, 6.3.1.1; rulings 131, 192). Frames by hand.
#include "tests/fcvi/forged_messages.hpp"
#include "wire/fcvi/flags.hpp"

namespace {
using support::ForgedMessages;
using support::Host;
using support::Level;
using wire::fcvi::Opcode;

class UnorderedBooks : public ForgedMessages {
 public:
  explicit UnorderedBooks(std::uint64_t pool_bytes = 64u << 20) : ForgedMessages({.pool_bytes = pool_bytes}) {}
  void start(int descriptors) {
    begin(Level::UnreliableDelivery);
    receive(descriptors);
  }
  static constexpr std::uint32_t written_well =
      vi::status::done | vi::status::op_remote_rdma_write | vi::status::immediate;
};

// Nobody is in the descriptor: a Send that overtook another one is placed as it comes.
TEST_F(UnorderedBooks, overtaking_descriptorIsFree_isPlaced) {
  start(1);
  give_send(2, 1, 3);
  EXPECT_EQ(server->bytes(server->data)[0], 0);
  EXPECT_EQ(server->bytes(server->data)[part], 'c');
  EXPECT_EQ(pool(), book);
  give_send(2, 0, 3), give_send(2, 2, 3);
  EXPECT_EQ(received(0), received_well);
}

// Somebody is: it waits for its rest, whichever frame of it came; one that is whole takes the descriptor
// without being kept.
TEST_F(UnorderedBooks, overtaking_descriptorIsTaken_waitsUnlessWhole) {
  start(3);
  give_send(1, 0, 4);
  give_send(2, 1, 2);
  EXPECT_EQ(pool(), 2 * book + held);
  give_send(3);
  EXPECT_EQ(received(0), received_well);
  EXPECT_EQ(placed(0, 3), part);
  EXPECT_EQ(server->provider.reorder_peak_bytes(), 3 * book + held + 4 * part);
  EXPECT_EQ(pool(), 2 * book + held + 4 * part);
  give_send(2, 0, 2);
  EXPECT_EQ(received(1), received_well);
  EXPECT_EQ(placed(1, 2), 2 * part);
  for (std::uint32_t number = 1; number < 4; ++number) give_send(1, number, 4);
  EXPECT_EQ(placed(2, 1), 4 * part);
  EXPECT_EQ(pool(), 0u);
}

// ... and when it is free again the next frame of who waited takes it, and brings what was kept.
TEST_F(UnorderedBooks, waiting_descriptorGetsFree_isPlaced) {
  start(2);
  give_send(1, 0, 2), give_send(2, 0, 3);
  EXPECT_EQ(pool(), 2 * book + held);
  give_send(1, 1, 2);
  EXPECT_EQ(pool(), book + held);
  give_send(2, 1, 3);
  EXPECT_EQ(pool(), book);
  EXPECT_EQ(placed(1, 2), 2 * part);
  give_send(2, 2, 3);
  EXPECT_EQ(received(1), received_well);
  EXPECT_EQ(pool(), 0u);
}

// 256 KiB of frames wait, 128 of them: with the next one the message takes the place.
TEST_F(UnorderedBooks, waiting_patienceEnds_takesThePlace) {
  start(2);
  give_send(1, 0, 2);
  for (std::uint32_t number = 0; number < 128; ++number) give_send(2, number, 200);
  EXPECT_EQ(pool(), 2 * book + 128 * held);
  EXPECT_EQ(placed(0, 1), part);
  give_send(2, 128, 200);
  EXPECT_EQ(pool(), 2 * book + 2 * part);
  EXPECT_EQ(placed(0, 1), 0);
  for (std::uint32_t number = 129; number < 200; ++number) give_send(2, number, 200);
  EXPECT_EQ(received(0), received_well);
  give_send(1, 1, 2);
  EXPECT_EQ(received(1), received_well);
  EXPECT_EQ(placed(1, 1), 2 * part);
}

/// What the third piece of a message that waits needs: a frame, and its book to grow.
class Patience : public UnorderedBooks, public ::testing::WithParamInterface<bool> {
 public:
  static constexpr std::size_t growth = 4 * sizeof(fcvi::Arrivals::Range);
  Patience() : UnorderedBooks(3 * (2 * book + 3 * held + growth) - (GetParam() ? 0 : 1)) {}
};
INSTANTIATE_TEST_SUITE_P(Room, Patience, ::testing::Bool());

// Where there is no room to wait it takes the place at once, and nothing is lost.
TEST_P(Patience, waiting_noRoom_takesThePlace) {
  start(2);
  give_send(1, 0, 2);
  give_send(2, 1, 6), give_send(2, 3, 6), give_send(2, 5, 6);
  EXPECT_EQ(server->bytes(server->data)[part], GetParam() ? 0 : 'c');
  EXPECT_EQ(pool(), 2 * book + growth + (GetParam() ? 3 * held : std::size_t{2 * part}));
  for (const std::uint32_t number : {0u, 2u, 4u}) give_send(2, number, 6);
  EXPECT_EQ(placed(GetParam() ? 1 : 0, 2), 6 * part) << "the first has no room to move any more, or moved";
  give_send(1, 1, 2);
  EXPECT_EQ(received(0) & received(1), received_well);
  EXPECT_EQ(refused_by_pool(), 0u);
  EXPECT_EQ(pool(), 0u);
}

// VI-DG 5.2: an RDMA Write takes a descriptor for its Immediate Data alone, when it is whole, and another Send may
// be before it.
TEST_F(UnorderedBooks, writeImmediate_takesItsDescriptorWhenWhole) {
  start(2);
  header.flags = wire::fcvi::message_request_flag::imm_data;
  give_write(2, 0, 2);
  header.flags = 0;
  give_send(3);
  EXPECT_EQ(received(0), received_well);
  header.flags = wire::fcvi::message_request_flag::imm_data;
  give_write(2, 1, 2);
  EXPECT_EQ(received(1), written_well);
  EXPECT_EQ(placed_at(target, 2), 2 * part);
}

// ... one without Immediate Data takes none, granted or not.
TEST_F(UnorderedBooks, write_takesNoDescriptor) {
  start(1);
  give_write(2);
  header.rmt_va_handle = wire::MemHandle{0x4711};
  give_write(3, 0, 2);
  EXPECT_EQ(told(), to_string(vi::ErrorCode::RdmaWProt));
  EXPECT_EQ(received(0), 0u);
}

// VI-DG 3.8.1: no descriptor for the Immediate Data of one that is whole, nor for a Send that parked: both are told.
TEST_F(UnorderedBooks, whole_noDescriptor_isTold) {
  const std::string empty(to_string(vi::ErrorCode::RecvQEmpty));
  start(1);
  header.flags = wire::fcvi::message_request_flag::imm_data;
  give_write(3, 0, 2), give_write(3, 1, 2);
  EXPECT_EQ(told(), "") << "the descriptor was there";
  header.flags = 0;
  receive();
  give_send(4, 0, 2), give_send(5);
  give_send(4, 1, 2);
  EXPECT_EQ(told(), empty);
  header.flags = wire::fcvi::message_request_flag::imm_data;
  give_write(6, 0, 2), give_write(6, 1, 2);
  EXPECT_EQ(told(), empty + ", " + empty);
  EXPECT_EQ(server_vi->state(), vi::State::Connected);
}

// VI-DG 5.2: the consumer changes the descriptor while it is used: whoever is in it cannot move, and arrives; the next
// one takes the next.
TEST_F(UnorderedBooks, descriptorChangedMeanwhile_nobodyMoves) {
  start(2);
  give_send(1, 0, 3);
  auto control = server->control(receives[0]);
  const auto right = control.control;
  control.control = vi::control::op_rdma_write;
  server->put(receives[0], control);
  give_send(2);
  EXPECT_EQ(received(1), received_well);
  EXPECT_EQ(pool(), book);
  control.control = right;
  server->put(receives[0], control);
  give_send(1, 1, 3), give_send(1, 2, 3);
  EXPECT_EQ(received(0), received_well);
  EXPECT_EQ(placed(0, 1), 3 * part);
}

class UnorderedOneBook : public UnorderedBooks {
 public:
  UnorderedOneBook() : UnorderedBooks(book) {}
};

// A Send that is in its descriptor has it for all of its frames, where there is no room for anything else, too.
TEST_F(UnorderedOneBook, receiving_noRoomBeside_keepsItsDescriptor) {
  start(2);
  for (std::uint32_t number = 0; number < 3; ++number) give_send(2, number, 3);
  EXPECT_EQ(received(0), received_well);
  EXPECT_EQ(received(1), 0u);
  EXPECT_EQ(refused_by_pool(), 0u);
}

/// Another stream of this peer has as much of the pool as one stream may.
class FullShare : public UnorderedBooks {
 public:
  FullShare() : UnorderedBooks(256 * 1024) {}
  void fill() {
    begin(Level::ReliableDelivery, "other");
    other_vi = server_vi;
    for (std::uint32_t number = 0; refused_by_pool() == 0; ++number) give_send(2, number, 500);
  }
  /// Frames [0, `count`) of 400: more than the pool has room for.
  void give_long(std::uint32_t id, std::uint32_t count) {
    for (std::uint32_t number = 0; number < count; ++number) give_send(id, number, 400);
  }
  vi::Vi* other_vi = nullptr;
};

// Ruling 192, VI-ARCH 6.3.1.1: three are in descriptors of their own, for none had room to move. As soon as there is
// room the first moves: receive queues are FIFO, and the one at the head is free for the next that is whole.
TEST_F(FullShare, roomAgain_headOfTheQueueMoves) {
  fill();
  start(6);
  give_long(1, 1), give_long(2, 20), give_long(3, 20);
  EXPECT_EQ(placed(0, 1), part);
  EXPECT_EQ(placed(1, 2), 20 * part);
  EXPECT_EQ(placed(2, 3), 20 * part);
  disconnect(*server, *other_vi);
  EXPECT_EQ(pool(), 3 * book);
  give_send(4);
  EXPECT_EQ(received(0), received_well);
  EXPECT_EQ(placed(0, 4), part);
  EXPECT_EQ(placed(1, 2), 20 * part);
  EXPECT_EQ(received(1) | received(2), 0u);
  EXPECT_EQ(pool(), 3 * book + 400 * part);
  give_send(5);
  EXPECT_EQ(received(1), received_well) << "the next one moves";
  EXPECT_EQ(placed(1, 5), part);
}
}  // namespace
