// Messages that overtook others, of which some is lost, aborted or refused: what is told of each, and that nothing is
// kept (FC-VI 8.1, 8.4, B.2.4, B.2.5 rules 4c, 5b, 6e, 7; VI-ARCH 2.5).
#include "tests/fcvi/epoch_books.hpp"
#include "tests/fcvi/own_memory.hpp"
#include "tests/support/times.hpp"
#include "wire/fcvi/flags.hpp"

namespace {
using support::Books;
using support::DeliveryBooks;
using support::Host;
using support::r_a_tov;
using support::ReceptionBooks;
using support::ReliableBooks;
using support::UnreliableBooks;

// FC-VI 8.4.2 f): of what was open nothing is kept, however far its book had grown. What waited is discarded.
TEST_P(Books, waiting_connectionEnds_nothingIsKept) {
  begin();
  receive(2);
  for (const std::uint32_t number : {1u, 3u, 5u, 7u}) give_send(1, number, 10);
  for (const std::uint32_t id : {3u, 5u, 7u, 9u}) give_write(id, 0, 2), give_write(id, 1, 2);
  EXPECT_GT(pool(), book);
  disconnect(*server, *server_vi);
  EXPECT_EQ(pool(), 0u);
  EXPECT_EQ(discarded(), reception() ? 8u : unreliable() ? 0u : 4u);
  EXPECT_EQ(fabric.pool.outstanding(), 0u);
}

// ... and where all gaps close, twice: whatever grew the first time is paid for anew.
TEST_P(UnreliableBooks, overtaken_gapsClose_nothingIsKept) {
  begin();
  for (const std::uint32_t first : {1u, 21u}) {
    receive(20);
    for (std::uint32_t id = first + 1; id <= first + 19; id += 2) give_send(id);
    EXPECT_EQ(pool(), 16 * sizeof(fcvi::Arrivals::Range));
    for (std::uint32_t id = first; id <= first + 18; id += 2) give_send(id);
    EXPECT_EQ(pool(), 0u);
  }
  EXPECT_EQ(server->provider.counters().messages_received, 40u);
  for (const std::uint32_t number : {1u, 3u, 5u, 7u, 0u, 2u, 4u, 6u}) give_write(41, number, 8);
  expect_nothing_wrong();
}

// FC-VI B.2.4 rule 3a, 8.4.2 b): an RDMA Read waits behind a message that is missing, and is aborted: the connection is
// lost, and no other error is told: nothing of it was under way.
TEST_P(ReliableBooks, waiting_readAborted_connectionIsLost) {
  begin();
  receive();
  give_read(2);
  give_abts(2);
  EXPECT_EQ(told(), to_string(vi::ErrorCode::ConnLost));
  EXPECT_EQ(received(0), receive_flushed);
}

// ... a Send, or the immediate data of an RDMA Write, whose descriptor is not known: likewise, and what was kept of
// it is discarded.
TEST_P(ReliableBooks, waiting_unclaimedLost_connectionIsLost) {
  begin();
  receive(2);
  header.flags = wire::fcvi::message_request_flag::imm_data;
  give_write(2, 0, 2), give_send(3);
  fabric.run_for(r_a_tov + runtime::millisecond);
  EXPECT_EQ(told(), to_string(vi::ErrorCode::ConnLost));
  EXPECT_EQ(received(0), receive_flushed);
  EXPECT_EQ(discarded(), reception() ? 2u : 1u);
  EXPECT_EQ(pool(), 0u);
}

// VI-DG 3.8.1, ruling 253: an RDMA Write that is lost leaves all descriptors alone. ... with Immediate Data it fails
// its own, if there is one.
TEST_P(UnreliableBooks, receiving_writeLost_isToldOnce) {
  begin();
  receive();
  give_write(1, 0, 2), give_write(1, 0, 2), give_write(2);  // begun, overtaken
  fabric.run_for(r_a_tov + runtime::millisecond);
  const std::string aborted(to_string(vi::ErrorCode::RdmaWAbort));
  EXPECT_EQ(told(), aborted);
  EXPECT_EQ(received(0), 0u);
  EXPECT_EQ(discarded(), 1u) << "the double";
  header.flags = wire::fcvi::message_request_flag::imm_data;
  give_write(3, 1, 2);
  fabric.run_for(r_a_tov + runtime::millisecond);
  EXPECT_EQ(told(), aborted);
  EXPECT_EQ(discarded(), 2u) << "its end waited";
  EXPECT_EQ(pool(), 0u);
}

// FC-VI B.2.4 rule 3a, ruling 192: two Sends lack frames, one is in the descriptor, the other waits for it: each fails
// one, and the data of none is looked at: the second has no segments.
TEST_P(UnreliableBooks, receiving_bothLost_failADescriptorEach) {
  begin();
  receive();
  const auto empty = server->descriptor(0, {});
  server_vi->post_receive(empty, server->handle);
  give_send(1, 0, 2), give_send(2, 0, 2);
  EXPECT_EQ(pool(), 2 * book + held);
  fabric.run_for(r_a_tov + runtime::millisecond);
  EXPECT_EQ(received(0), receive_lost);
  EXPECT_EQ(server->status(empty), receive_lost);
  EXPECT_EQ(discarded(), 1u);
  EXPECT_EQ(told(), "");
  EXPECT_EQ(pool(), 0u);
}

// FC-FS ABTS, FC-VI 8.4.2 b): the exchange of the message that ends with its ABTS is known here, and may serve again at
// once; that of one which is over is not, and rests for R_A_TOV (Recovery_Qualifier).
TEST_P(UnreliableBooks, receiving_aborted_exchangeServesAgain) {
  begin();
  receive(2);
  give_send(1, 0, 2), give_send(4);
  give_abts(1), give_control(1);
  EXPECT_EQ(received(1), receive_lost);
  EXPECT_EQ(server->port.counters().discarded(fc2::Discard::AbortedExchange), 0u);
  give_abts(4), give_control(4);
  EXPECT_EQ(server->port.counters().discarded(fc2::Discard::AbortedExchange), 1u);
  EXPECT_EQ(discarded(), 0u);
}

// VI-DG 3.8.1: the completion of the first message cannot be written, and the VI stops: what is whole behind it
// is not delivered.
TEST_P(ReliableBooks, waiting_completionNotWritable_restIsFlushed) {
  begin();
  const std::uint64_t at = Host::data + (16u << 20);
  const auto own = support::register_own(*server, at, 4096);
  const auto first = std::exchange(server->next_descriptor, at);
  server->descriptor(0, {{server->data, slot}});
  server->next_descriptor = first;
  server_vi->post_receive(at, own);
  receives.push_back(server->descriptor(0, {{server->data + slot, slot}}));
  server_vi->post_receive(receives.back(), server->handle);
  give_send(1, 0, 2), give_send(2);
  ASSERT_EQ(server->nic.memory().deregister(at, own), vi::Return::Success);
  give_send(1, 1, 2);
  EXPECT_EQ(server->count(vi::ErrorCode::CompProt), 1);
  EXPECT_EQ(received(0), receive_flushed | vi::status::partial_error);
  EXPECT_EQ(server->provider.counters().messages_received, 1u);
}

// VI-ARCH 2.5.2: the message behind a refused one brings its last frame: that is not the refused one's, and is
// acknowledged for itself. Here in class 3 it is not counted among what is discarded.
TEST_P(DeliveryBooks, delivering_nextIsRefused_frameAtHandIsNot) {
  begin();
  receive();
  server_vi->post_receive(server->descriptor(0, {{server->data, part - 1}}), server->handle);
  give_send(1, 0, 2), give_send(2, 0, 2);
  EXPECT_EQ(discarded(), 1u);
  give_send(1, 1, 2);
  EXPECT_EQ(received(0), received_well);
  EXPECT_EQ(discarded(), 1u);
  EXPECT_EQ(server_vi->state(), vi::State::Error);
  fabric.run_for(runtime::millisecond);
  EXPECT_EQ(disconnect_reason(), static_cast<unsigned>(wire::fcvi::Reason::remote_descriptor_error));
}

// FC-VI B.2.4 rule 3a: a Send whose descriptor is not known is aborted: the connection is lost, and nothing
// else is told.
TEST_P(ReliableBooks, waiting_unclaimedAborted_connectionIsLost) {
  begin();
  receive();
  give_send(2, 0, 2);
  give_abts(2);
  EXPECT_EQ(told(), to_string(vi::ErrorCode::ConnLost));
  EXPECT_EQ(received(0), receive_flushed);
}

// FC-VI B.2.5 rule 7b: nothing came of the first message, and a part of the RDMA Write behind it: the first is lost,
// and of that no error is told.
TEST_P(ReliableBooks, expecting_messageMissing_laterWriteIsNotTold) {
  begin();
  give_write(2, 0, 2);
  fabric.run_for(r_a_tov + runtime::millisecond);
  EXPECT_EQ(told(), to_string(vi::ErrorCode::ConnLost));
}

// VI-ARCH 2.5.3, FC-VI B.2.5 rule 7b: an RDMA Write without target, whose rest never comes: told once, as what it is.
TEST_P(ReceptionBooks, refused_restNeverComes_isToldOnce) {
  begin();
  header.rmt_va_handle = wire::MemHandle{0x4711};
  give_write(1, 1, 3);
  fabric.run_for(r_a_tov + runtime::millisecond);
  EXPECT_EQ(told(),
            std::string(to_string(vi::ErrorCode::RdmaWProt)) + ", " + std::string(to_string(vi::ErrorCode::ConnLost)));
}

// FC-VI B.2.5 rule 7b: of the message whose turn it is a part came; it fails with its descriptor, though the one behind
// it is missing whole.
TEST_P(ReliableBooks, receiving_restAndNextMissing_failsItsDescriptor) {
  begin();
  receive(2);
  give_send(1, 0, 2), give_send(3);
  fabric.run_for(r_a_tov + runtime::millisecond);
  EXPECT_EQ(received(0), receive_lost);
}

}  // namespace
