// What an endpoint keeps of messages that overtook others, to the byte, and what is told of each (FC-VI 8.1,
// 8.4, B.2.4, B.2.5 rules 4c, 5b, 6e, 7; VI-ARCH 2.5, 3.2.2, 6.3.1.1): frames by hand on a fabric that does not
// keep the order.
#include "tests/fcvi/epoch_books.hpp"
#include "tests/fcvi/own_memory.hpp"
#include "wire/fcvi/flags.hpp"

namespace {
using support::Books;
using support::DeliveryBooks;
using support::ForgedMessages;
using support::Level;
using support::ReceptionBooks;
using support::ReliableBooks;
using support::UnreliableBooks;
using wire::fcvi::Opcode;

INSTANTIATE_TEST_SUITE_P(Level, Books, support::all_levels, support::level_name);
INSTANTIATE_TEST_SUITE_P(Level, ReliableBooks, support::reliable_levels, support::level_name);
INSTANTIATE_TEST_SUITE_P(Level, DeliveryBooks, ::testing::Values(Level::ReliableDelivery), support::level_name);
INSTANTIATE_TEST_SUITE_P(Level, ReceptionBooks, ::testing::Values(Level::ReliableReception), support::level_name);
INSTANTIATE_TEST_SUITE_P(Level, UnreliableBooks, ::testing::Values(Level::UnreliableDelivery), support::level_name);

// FC-VI B.2.5 rules 4c, 6e: a message that came in order so far is overtaken: it has a book from then on, and its next
// frames arrive in any order. At Unreliable Delivery the one behind it takes its descriptor, and its data move to the
// pool (VI-ARCH 6.3.1.1).
TEST_P(Books, receiving_overtaken_goesOn) {
  begin();
  receive(2);
  give_send(1, 0, 4);
  EXPECT_EQ(pool(), 0u);
  give_send(2);
  EXPECT_EQ(pool(), unreliable() ? book + 4 * part : 2 * book);
  EXPECT_EQ(placed(0, 1), unreliable() ? 0 : part);
  give_send(1, 3, 4), give_send(1, 2, 4);
  EXPECT_EQ(server->bytes(server->data)[2 * part], unreliable() ? 0 : 'b');
  EXPECT_EQ(pool(), unreliable() ? book + 4 * part : 2 * book);
  give_send(1, 1, 4);
  EXPECT_EQ(placed(unreliable() ? 1 : 0, 1), 4 * part);
  EXPECT_EQ(placed(unreliable() ? 0 : 1, 2), part);
  EXPECT_EQ(received(0), received_well);
  EXPECT_EQ(received(1), received_well);
  EXPECT_EQ(discarded(), 0u);
  expect_nothing_wrong();
}

// ... where that was one byte of it, too.
TEST_P(Books, receiving_oneByteCame_goesOn) {
  begin();
  receive(2);
  give(bytes_of(Opcode::send_rqst, 1, 201, 0, 1, 0));
  give_send(2);
  give(bytes_of(Opcode::send_rqst, 1, 201, 101, 100, 2)), give(bytes_of(Opcode::send_rqst, 1, 201, 1, 100, 1));
  EXPECT_EQ(placed(unreliable() ? 1 : 0, 1), 201);
  EXPECT_EQ(received(0) & received(1), received_well);
  expect_nothing_wrong();
}

// FC-VI B.2.5 rule 5b: a frame of what is here already begins no epoch, whether of a message that is over or of
// the open one.
TEST_P(Books, receiving_duplicate_isDiscarded) {
  begin();
  receive(2);
  give_send(1), give_send(2, 0, 3);
  give_send(1);
  EXPECT_EQ(discarded(), 1u);
  EXPECT_EQ(pool(), 0u);
  give_send(2, 0, 3);
  EXPECT_EQ(discarded(), 2u);
  EXPECT_EQ(pool(), 0u);
  give_send(2, 1, 3), give_send(2, 2, 3);
  EXPECT_EQ(placed(1, 2), 3 * part);
  expect_nothing_wrong();
}

// ... nor does it change one: of a message before it, and of one that is here and waits, or was delivered ahead
// of its turn.
TEST_P(Books, overtaken_duplicate_isDiscarded) {
  begin();
  receive(4);
  give_send(1), give_send(3);
  const auto kept = pool();
  give_send(1);
  EXPECT_EQ(discarded(), 1u);
  give_send(3);
  EXPECT_EQ(discarded(), 2u);
  give_empty_send(4), give_empty_send(4);
  EXPECT_EQ(discarded(), 3u);
  EXPECT_EQ(pool(), unreliable() ? kept : kept + book);
  give_send(2);
  for (std::size_t i = 0; i < 4; ++i) EXPECT_EQ(received(i), received_well) << i;
  EXPECT_EQ(server->provider.counters().messages_received, 4u);
  expect_nothing_wrong();
}

// A frame that contradicts a message that is whole is not one of it.
TEST_P(ReliableBooks, waiting_frameOfAnotherLength_isDiscarded) {
  begin();
  receive(2);
  give_send(2);
  give_send(2, 1, 2);
  EXPECT_EQ(discarded(), 1u);
  give_send(1);
  EXPECT_EQ(placed(1, 2), part);
  expect_nothing_wrong();
}

// FC-VI B.2.5 rule 4c, VI-ARCH 2.5.2: Sends behind a message of which nothing came are kept; as soon as it shows what
// it is they have their descriptors, and nothing of them is kept any more, though none is delivered before its turn.
TEST_P(ReliableBooks, waiting_messageBeforeShows_sendsAreClaimed) {
  begin();
  receive(3);
  give_send(2, 0, 2), give_send(2, 1, 2), give_send(3);
  EXPECT_EQ(pool(), 2 * book + 3 * held);
  give_send(1, 0, 2);
  EXPECT_EQ(pool(), 3 * book);
  EXPECT_EQ(placed(1, 2), 2 * part);
  EXPECT_EQ(placed(2, 3), part);
  EXPECT_EQ(received(1) | received(2), 0u);
  give_send(1, 1, 2);
  for (std::size_t i = 0; i < 3; ++i) EXPECT_EQ(received(i), received_well) << i;
  EXPECT_EQ(responses(), "");
  fabric.run_for(runtime::millisecond);
  EXPECT_EQ(responses(), reception() ? "1:00 2:00 3:00" : "");
  EXPECT_EQ(discarded(), 0u);
  expect_nothing_wrong();
}

// VI-ARCH 6.3.1.1, FC-VI 8.4.1: an RDMA Write is placed as it comes, at Reliable Reception as soon as all before it
// showed what they are; its end waits for its turn.
TEST_P(ReliableBooks, waiting_messageBeforeShows_writeIsPlacedButItsEnd) {
  begin();
  receive();
  give_write(2, 0, 2);
  EXPECT_EQ(placed_at(target, 2), reception() ? 0 : part);
  EXPECT_EQ(pool(), reception() ? book + held : book);
  give_write(2, 1, 2);
  EXPECT_EQ(pool(), reception() ? book + 2 * held : book + held);
  give_send(1, 0, 2);
  EXPECT_EQ(pool(), 2 * book + held);
  EXPECT_EQ(placed_at(target, 2), part);
  EXPECT_EQ(server->bytes(target)[part], 0);
  give_send(1, 1, 2);
  EXPECT_EQ(placed_at(target, 2), 2 * part);
  EXPECT_EQ(discarded(), 0u);
  expect_nothing_wrong();
}

// ... of a Send the end does not: nobody may look before the descriptor says so.
TEST_P(ReliableBooks, receiving_sendsEndFirst_isPlaced) {
  begin();
  receive();
  give_send(1, 2, 3);
  EXPECT_EQ(pool(), book);
  EXPECT_EQ(server->bytes(server->data)[2 * part], 'b');
  EXPECT_EQ(received(0), 0u);
  give_send(1, 1, 3), give_send(1, 0, 3);
  EXPECT_EQ(placed(0, 1), 3 * part);
  expect_nothing_wrong();
}

/// When the end of an RDMA Write is kept (ruling 193): while something before it is missing.
struct WriteEnd {
  const char* name;
  Level level;
  std::uint32_t id;
  std::vector<std::uint32_t> numbers;
  std::uint32_t frames;
  std::size_t frames_held;
};
class WriteEnds : public ForgedMessages, public ::testing::WithParamInterface<WriteEnd> {};
INSTANTIATE_TEST_SUITE_P(Kinds, WriteEnds,
                         ::testing::Values(WriteEnd{"Turn", Level::ReliableDelivery, 1, {1, 0, 2}, 3, 0},
                                           WriteEnd{"TurnEndFirst", Level::ReliableDelivery, 1, {1, 0}, 2, 1},
                                           WriteEnd{"Later", Level::ReliableDelivery, 2, {0, 1}, 2, 1},
                                           WriteEnd{"LaterOneFrame", Level::ReliableDelivery, 2, {0}, 1, 1},
                                           WriteEnd{
                                               "UnreliableEndEarly", Level::UnreliableDelivery, 2, {0, 2, 1}, 3, 1},
                                           WriteEnd{"Unreliable", Level::UnreliableDelivery, 2, {0, 1}, 2, 0},
                                           WriteEnd{"UnreliableOneFrame", Level::UnreliableDelivery, 2, {0}, 1, 0}),
                         [](const auto& tested) { return std::string(tested.param.name); });

// FC-VI 8.4.1, ruling 193.
TEST_P(WriteEnds, receiving_itsEnd_isKeptAsLongAsItMustBe) {
  const WriteEnd& tested = GetParam();
  begin(tested.level);
  receive();
  for (const std::uint32_t number : tested.numbers) give_write(tested.id, number, tested.frames);
  EXPECT_EQ(server->provider.reorder_peak_bytes(), book + tested.frames_held * held);
  if (tested.id == 2) give_send(1);
  EXPECT_EQ(placed_at(target, tested.id), static_cast<std::ptrdiff_t>(tested.frames * part));
  EXPECT_EQ(pool(), 0u);
}

// VI-ARCH 2.5, 3.2.2, FC-VI B.2.4 rule 1 a): an RDMA Write that no memory is for waits; when that is known what was
// kept of it is discarded, and what still comes of it. It is told in its turn.
TEST_P(ReliableBooks, waiting_writeWithoutTarget_isDiscarded) {
  begin();
  receive();
  header.rmt_va_handle = wire::MemHandle{0x4711};
  give_write(2, 0, 3), give_write(2, 2, 3);
  EXPECT_EQ(pool(), book + 2 * held);
  give_send(1, 0, 2);
  EXPECT_EQ(discarded(), 2u);
  EXPECT_EQ(pool(), 2 * book);
  give_write(2, 1, 3);
  EXPECT_EQ(discarded(), 3u);
  EXPECT_EQ(told(), "");
  give_send(1, 1, 2);
  EXPECT_EQ(received(0), received_well);
  EXPECT_EQ(told(),
            std::string(to_string(vi::ErrorCode::RdmaWProt)) + ", " + std::string(to_string(vi::ErrorCode::ConnLost)));
  EXPECT_EQ(discarded(), 3u) << "the frame at hand is message 1's";
  EXPECT_EQ(pool(), 0u);
  fabric.run_for(runtime::millisecond);
  EXPECT_EQ(responses(), reception() ? "1:00 2:05" : "");
  EXPECT_EQ(disconnect_reason(), static_cast<unsigned>(wire::fcvi::Reason::remote_rdma_write_protection_error));
}

// VI-ARCH 2.5.2, 2.5.3: ... where its turn is: at once, but the response waits for its last frame. Unreliable Delivery:
// it alone is lost.
TEST_P(Books, expecting_writeWithoutTarget_isToldOnce) {
  begin();
  header.rmt_va_handle = wire::MemHandle{0x4711};
  give_write(1, 1, 3);
  EXPECT_EQ(told().empty(), reception());
  EXPECT_EQ(discarded(), 1u);
  give_write(1, 2, 3);
  EXPECT_EQ(discarded(), 2u);
  give_write(1, 0, 3);
  EXPECT_EQ(discarded(), 3u);
  fabric.run_for(runtime::millisecond);
  const std::string protection(to_string(vi::ErrorCode::RdmaWProt));
  EXPECT_EQ(told(), unreliable() ? protection : protection + ", " + std::string(to_string(vi::ErrorCode::ConnLost)));
  EXPECT_EQ(responses(), reception() ? "1:05" : "");
  EXPECT_EQ(pool(), 0u);
}

// VI-ARCH 2.5.3: a Send without descriptor is being refused when a frame of it overtakes another: it stays refused, for
// the same reason.
TEST_P(ReceptionBooks, refusing_overtaken_staysRefused) {
  begin();
  give_send(1, 0, 3), give_send(1, 2, 3);
  receive();
  EXPECT_EQ(told(), "");
  give_send(1, 1, 3);
  EXPECT_EQ(told(),
            std::string(to_string(vi::ErrorCode::RecvQEmpty)) + ", " + std::string(to_string(vi::ErrorCode::ConnLost)));
  EXPECT_EQ(discarded(), 3u);
  EXPECT_EQ(received(0), receive_flushed);
  fabric.run_for(runtime::millisecond);
  EXPECT_EQ(responses(), "1:03");
}

// FC-VI 6.3, B.2.5 rules 4c, 6e: no frame of an RDMA Read, nor of a Send without data, is kept: its book is enough.
TEST_P(ReliableBooks, waiting_requestsWithoutData_keepNoFrames) {
  begin();
  receive(2);
  give_read(2), give_empty_send(3);
  EXPECT_EQ(pool(), 2 * book);
  give_send(1);
  fabric.run_for(runtime::millisecond);
  EXPECT_EQ(received(1), received_well);
  expect_nothing_wrong();
}

// VI-ARCH 6.3.1.1: at Reliable Delivery a Send passes an RDMA Read: its descriptor is known as soon as the Read showed
// that it is one. At Reliable Reception it has no effect before the read data are out.
TEST_P(ReliableBooks, waiting_readBetween_sendPassesAtReliableDelivery) {
  begin();
  receive(2);
  give_send(1, 0, 2), give_read(2), give_send(3), give_write(4, 0, 2);
  EXPECT_EQ(pool(), reception() ? 4 * book + 2 * held : 4 * book);
  EXPECT_EQ(placed(1, 3), reception() ? 0 : part);
  EXPECT_EQ(placed_at(target, 4), reception() ? 0 : part);
  give_send(1, 1, 2), give_write(4, 1, 2);
  fabric.run_for(runtime::millisecond);
  EXPECT_EQ(placed(1, 3), part);
  EXPECT_EQ(placed_at(target, 4), 2 * part);
  EXPECT_EQ(responses().size(), reception() ? std::strlen("1:00 2:00 3:00 4:00") : std::strlen("2:00"));
  expect_nothing_wrong();
}

// FC-VI 6.6.1: an RDMA Read is not allowed at Unreliable Delivery, where it overtakes another message, too: its number
// is used, no descriptor is.
TEST_P(UnreliableBooks, overtaking_read_isDiscarded) {
  begin();
  receive(2);
  give_read(2);
  EXPECT_EQ(discarded(), 1u);
  give_send(3), give_send(1);
  EXPECT_EQ(received(0) & received(1), received_well);
  fabric.run_for(runtime::millisecond);
  EXPECT_EQ(responses(), "");
  expect_nothing_wrong();
}

// FC-VI 5.2.1, B.2.5 rules 6a, 6b: a frame without data in a message that has some says nothing of its place.
TEST_P(Books, receiving_emptyFrame_isAnError) {
  begin();
  receive();
  give_send(1, 1, 3);
  give(bytes_of(Opcode::send_rqst, 1, 3 * part, 2 * part, 0, 2));
  EXPECT_EQ(received(0), receive_lost);
  EXPECT_EQ(server_vi->state(), unreliable() ? vi::State::Connected : vi::State::Error);
  EXPECT_EQ(discarded(), 1u);
  fabric.run_for(runtime::millisecond);
  EXPECT_EQ(disconnect_reason(), unreliable() ? 0u : static_cast<unsigned>(wire::fcvi::Reason::protocol_error));
}

// VI-ARCH 3.2.2: memory that is enabled for RDMA Write alone is written, whatever the order of the frames.
TEST_P(Books, receiving_writeOnlyMemory_isWritten) {
  begin();
  header.rmt_va_handle = register_all(true, false);
  give_write(1, 1, 3), give_write(1, 2, 3), give_write(1, 0, 3);
  EXPECT_EQ(placed_at(target, 1), 3 * part);
  give_write(3, 0, 2), give_write(3, 1, 2);
  header.rmt_va += slot;
  give_write(2);
  EXPECT_EQ(placed_at(target, 3), 2 * part);
  expect_nothing_wrong();
}

// FC-VI 5.9.5, 6.2.2: memory that a Send names in fields that are reserved there is not touched.
TEST_P(Books, receiving_sendNamesMemory_isIgnored) {
  begin();
  receive(2);
  give_send(1, 1, 2);
  header.rmt_va += 8;
  give_send(1, 0, 2), give_send(3, 1, 2), give_send(2), give_send(3, 0, 2);
  EXPECT_EQ(placed_at(target, 1) + placed_at(target, 3), 0);
  EXPECT_EQ(placed(0, 1), 2 * part);
}

// VI-ARCH 3.2.2, 2.5.2: memory goes away while a frame of an RDMA Write is missing: the next frame tells, not the last.
TEST_P(DeliveryBooks, receiving_targetGoes_nextFrameTells) {
  begin();
  header.rmt_va_handle = support::register_own(*server, target, slot);
  give_write(1, 0, 4), give_write(1, 2, 4);
  ASSERT_EQ(server->nic.memory().deregister(target, header.rmt_va_handle), vi::Return::Success);
  give_write(1, 1, 4);
  EXPECT_EQ(told(),
            std::string(to_string(vi::ErrorCode::RdmaWProt)) + ", " + std::string(to_string(vi::ErrorCode::ConnLost)));
  EXPECT_EQ(pool(), 0u);
}

// ... or while its end waits for its turn.
TEST_P(Books, waiting_targetGoesBeforeItsEnd_isAProtectionError) {
  begin();
  receive();
  header.rmt_va_handle = support::register_own(*server, target, slot);
  give_write(2, 0, 3), give_write(2, 2, 3);
  give_send(1, 0, 2);
  ASSERT_EQ(server->nic.memory().deregister(target, header.rmt_va_handle), vi::Return::Success);
  give_write(2, 1, 3), give_send(1, 1, 2);
  const std::string protection(to_string(vi::ErrorCode::RdmaWProt));
  EXPECT_EQ(told(), unreliable() ? protection : protection + ", " + std::string(to_string(vi::ErrorCode::ConnLost)));
  fabric.run_for(runtime::millisecond);
  EXPECT_EQ(responses(), reception() ? "1:00 2:05" : "");
  EXPECT_EQ(pool(), 0u);
}

// ... of one whose whole data waits for that alone.
TEST_P(ReliableBooks, waiting_targetGoesBeforeItsTurn_isAProtectionError) {
  begin();
  receive();
  header.rmt_va_handle = support::register_own(*server, target, slot);
  give_write(2);
  give_send(1, 0, 2);
  EXPECT_EQ(pool(), 2 * book + held);
  ASSERT_EQ(server->nic.memory().deregister(target, header.rmt_va_handle), vi::Return::Success);
  give_send(1, 1, 2);
  EXPECT_EQ(told(),
            std::string(to_string(vi::ErrorCode::RdmaWProt)) + ", " + std::string(to_string(vi::ErrorCode::ConnLost)));
  EXPECT_EQ(pool(), 0u);
  fabric.run_for(runtime::millisecond);
  EXPECT_EQ(responses(), reception() ? "1:00 2:05" : "");
}

// VI-ARCH 2.5.2, 6.3.1.1: an RDMA Write with Immediate Data is refused, for its descriptor is bad: what came of it is
// not written, and so the Write before it, whose frame at that place comes last, is delivered whole.
TEST_P(ReliableBooks, waiting_laterWriteRefused_takesNothingAway) {
  begin();
  receive();
  server_vi->post_receive(server->descriptor(vi::control::op_rdma_write, {{server->data, slot}}), server->handle);
  header.flags = wire::fcvi::message_request_flag::imm_data;
  give_write(1, 0, 3), give_write(1, 2, 3);
  header.rmt_va = target + part;
  give_write(2, 0, 2);
  header.rmt_va = target;
  give_write(1, 1, 3);
  EXPECT_EQ(received(0), vi::status::done | vi::status::op_remote_rdma_write | vi::status::immediate);
  EXPECT_EQ(placed_at(target, 1), 3 * part);
}

// VI-ARCH 2.5.1: at Unreliable Delivery no order is promised: what is written stands, whichever message it is of.
TEST_P(UnreliableBooks, receiving_writesOverlap_lastToComeStays) {
  begin();
  give_write(2, 0, 2), give_write(1);
  EXPECT_EQ(placed_at(target, 1), part);
  give_write(2, 1, 2);
  EXPECT_EQ(placed_at(target, 1), part);
  expect_nothing_wrong();
}

// FC-VI 5.2.1, ruling 131: of a message of 200 bytes 64 pieces are told apart. What stands alone beyond them is lost,
// and not placed; what joins is taken.
TEST_P(ReliableBooks, receiving_tooManyPieces_isCounted) {
  begin();
  receive();
  const auto byte = [&](std::uint32_t at) { give(bytes_of(Opcode::send_rqst, 1, 200, at, 1, at)); };
  for (std::uint32_t at = 1; at < 128; at += 2) byte(at);
  EXPECT_EQ(refused_by_pool(), 0u);
  byte(129);
  EXPECT_EQ(refused_by_pool(), 1u);
  EXPECT_EQ(discarded(), 0u);
  EXPECT_EQ(placed(0, 1), 64);
  byte(128), byte(126);
  EXPECT_EQ(refused_by_pool(), 1u);
  EXPECT_EQ(placed(0, 1), 66);
  EXPECT_EQ(server_vi->state(), vi::State::Connected);
  disconnect(*server, *server_vi);
  EXPECT_EQ(pool(), 0u);
}

// FC-VI B.2.5 rules 5b, 6a, 6b: a frame of an open message comes again: it changes nothing. One that lies over another,
// but is not the same, contradicts it.
TEST_P(Books, receiving_pieceAgain_isDiscarded) {
  begin();
  receive();
  give_send(1, 1, 3), give_send(1, 1, 3);
  EXPECT_EQ(discarded(), 1u);
  give_send(1, 0, 3), give_send(1, 2, 3);
  EXPECT_EQ(placed(0, 1), 3 * part);
  expect_nothing_wrong();
}
TEST_P(Books, receiving_pieceOverAnother_isAnError) {
  begin();
  receive();
  give_send(1, 1, 3);
  give(bytes_of(Opcode::send_rqst, 1, 3 * part, part / 2, part, 0));
  EXPECT_EQ(received(0), receive_lost);
  EXPECT_EQ(server_vi->state(), unreliable() ? vi::State::Connected : vi::State::Error);
  fabric.run_for(runtime::millisecond);
  EXPECT_EQ(disconnect_reason(), unreliable() ? 0u : static_cast<unsigned>(wire::fcvi::Reason::protocol_error));
}

// VI-ARCH 6.3.1.1, 3.2.2: what a later RDMA Write wrote stays, in memory that is enabled for RDMA Write alone, too.
TEST_P(ReliableBooks, receiving_writeOnlyMemory_laterWriteStays) {
  begin();
  header.rmt_va_handle = register_all(true, false);
  give_write(1, 0, 3), give_write(1, 2, 3);
  header.rmt_va = target + part;
  give_write(2, 0, 2);
  const bool written = server->bytes(target)[part] == 'c';
  EXPECT_TRUE(written);
  header.rmt_va = target;
  give_write(1, 1, 3);
  EXPECT_EQ(server->bytes(target)[part], 'c');
}

// VI-ARCH 2.5.2, 6.3.1.1: no descriptor is there when a Send comes, nor does its turn: the next that is posted is its
// own, not that of the Send behind it.
TEST_P(ReliableBooks, waiting_descriptorsPostedLater_goByTurns) {
  begin();
  receive();
  give_send(1, 0, 2), give_send(2);
  receive();
  give_send(3);
  receive();
  give_send(1, 1, 2);
  EXPECT_EQ(placed(1, 2), part);
  EXPECT_EQ(placed(2, 3), part);
  EXPECT_EQ(received(1) & received(2), received_well);
  expect_nothing_wrong();
}

}  // namespace
