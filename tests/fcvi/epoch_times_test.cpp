// When what is missing on a fabric that does not keep the order is given up (FC-VI B.2.5 rules 4c, 6e, 7, 8.4.1 note 1;
// Annex F): R_A_TOV to the nanosecond after it was known to be missing, however many messages are open.
#include "tests/fcvi/forged_messages.hpp"
#include "tests/support/times.hpp"

namespace {
using support::Fate;
using support::ForgedAtLevel;
using support::ForgedFrame;
using support::ForgedMessages;
using support::Host;
using support::late;
using support::Level;
using support::lose;
using support::pass;
using support::r_a_tov;
using wire::fcvi::Opcode;

class Times : public ForgedAtLevel {
 public:
  explicit Times(const Options& options = {}) : ForgedAtLevel(options) {}
  void start() {
    begin();
    receive(6);
    begun_ = fabric.scheduler.now();
  }
  void at_second(int seconds) { fabric.scheduler.run_until(begun_ + seconds * runtime::second); }
  /// A message is given up then, and not before: at the reliable levels the connection with it.
  void expect_lost_at_second(int seconds, std::size_t receive) {
    fabric.scheduler.run_until(begun_ + seconds * runtime::second - 1);
    EXPECT_EQ(received(receive), 0u) << "too early";
    EXPECT_EQ(server_vi->state(), vi::State::Connected);
    at_second(seconds);
    EXPECT_EQ(received(receive), receive_lost);
    EXPECT_EQ(server_vi->state(), unreliable() ? vi::State::Connected : vi::State::Error);
    EXPECT_EQ(pool(), 0u);
    EXPECT_EQ(discarded(), 0u) << "no frame told it";
  }

 protected:
  runtime::TimeNs begun_ = 0;
};
class ReliableTimes : public Times {};
INSTANTIATE_TEST_SUITE_P(Level, Times, support::all_levels, support::level_name);
INSTANTIATE_TEST_SUITE_P(Level, ReliableTimes, support::reliable_levels, support::level_name);

// 8.4.1 note 1: nothing of it overtook anything: each frame has R_A_TOV from the one before it.
TEST_P(Times, receiving_slowSender_hasRaTovFromItsLatestFrame) {
  start();
  give_send(1, 1, 5), give_send(1, 0, 5);
  at_second(8), give_send(1, 2, 5);
  at_second(16), give_send(1, 3, 5);
  expect_lost_at_second(26, 0);
}
TEST_P(Times, receiving_slowSender_arrives) {
  start();
  give_send(1, 1, 4), give_send(1, 0, 4);
  at_second(8), give_send(1, 2, 4);
  at_second(16), give_send(1, 3, 4);
  EXPECT_EQ(received(0), received_well);
  EXPECT_EQ(pool(), 0u);
}

// Rule 4c b): the rest of a message is missing since a later one came, whenever its own first frame did.
TEST_P(Times, receiving_beginsLate_isMissingSinceItWasOvertaken) {
  start();
  give_send(3);
  at_second(1), give_send(1);
  at_second(4), give_send(2, 0, 2);
  expect_lost_at_second(10, unreliable() ? 2 : 1);
}

// ... a message before it does not overtake it.
TEST_P(Times, receiving_earlierMessageComesLater_isNotOvertaken) {
  start();
  give_send(3, 0, 3);
  at_second(1), give_send(2), give_send(1);
  at_second(8), give_send(3, 1, 3);
  expect_lost_at_second(18, 2);
}

// Rules 4c b), 6e a): a gap that shows in a message which was overtaken is missing since then.
TEST_P(Times, receiving_gapShowsBehindALaterMessage_isMissingSinceThat) {
  start();
  give_send(2, 0, 4);
  at_second(1), give_send(1);
  at_second(4), give_send(3);
  at_second(6), give_send(2, 2, 4);
  expect_lost_at_second(14, unreliable() ? 2 : 1);
}

// Rule 6e a): ... and in one that was not, since its later frame came.
TEST_P(Times, receiving_gapShowsLate_isMissingSinceThat) {
  start();
  give_send(1, 1, 5), give_send(1, 0, 5);
  at_second(3), give_send(1, 4, 5);
  at_second(7), give_send(1, 2, 5);
  expect_lost_at_second(13, 0);
}

// Rule 4c a): of two gaps the older is due first; the younger has its own time.
TEST_P(ReliableTimes, expecting_messagesMissing_oldestIsDue) {
  start();
  give_send(2);
  at_second(4), give_send(4);
  at_second(5), give_send(1);
  fabric.scheduler.run_until(begun_ + 14 * runtime::second - 1);
  EXPECT_EQ(server_vi->state(), vi::State::Connected);
  at_second(14);
  EXPECT_EQ(server_vi->state(), vi::State::Error);
  EXPECT_EQ(told(), to_string(vi::ErrorCode::ConnLost));
  EXPECT_EQ(received(1), received_well);
  EXPECT_EQ(received(2), receive_flushed);
}

// Nothing is missing any more: no timer of it is left.
TEST_P(Times, overtaken_gapCloses_leavesNoTimer) {
  start();
  const std::uint64_t before = fabric.scheduler.fired_count();
  fabric.run_for(30 * runtime::second);
  const std::uint64_t idle = fabric.scheduler.fired_count() - before;
  give_send(2), give_send(1);
  fabric.run_for(runtime::second);
  const std::uint64_t after = fabric.scheduler.fired_count();
  fabric.run_for(30 * runtime::second);
  EXPECT_EQ(fabric.scheduler.fired_count() - after, idle);
}

// ... nor of a message that was refused and is over.
TEST_P(Times, refused_leavesNoTimer) {
  if (!unreliable()) return;
  begin();
  const std::uint64_t before = fabric.scheduler.fired_count();
  give_send(1);
  EXPECT_EQ(server->count(vi::ErrorCode::RecvQEmpty), 1);
  fabric.run_for(30 * runtime::second);
  EXPECT_EQ(fabric.scheduler.fired_count(), before);
}

class TimesSmallPool : public Times {
 public:
  TimesSmallPool() : Times({.pool_bytes = 6 * book}) {}
};
INSTANTIATE_TEST_SUITE_P(Level, TimesSmallPool, ::testing::Values(Level::ReliableDelivery), support::level_name);

// Ruling 131: a message whose first frame found no room is missing since that frame came.
TEST_P(TimesSmallPool, receiving_firstFrameFoundNoRoom_hasRaTov) {
  start();
  give_write(2, 0, 2);
  at_second(5), give_send(3, 0, 2);
  EXPECT_EQ(refused_by_pool(), 1u);
  at_second(6), give_send(1), give_write(2, 1, 2);
  at_second(12);
  EXPECT_EQ(server_vi->state(), vi::State::Connected);
  give_send(3, 0, 2), give_send(3, 1, 2);
  EXPECT_EQ(received(1), received_well);
}
TEST_P(TimesSmallPool, receiving_firstFrameFoundNoRoom_isLost) {
  start();
  give_write(2, 0, 2);
  at_second(5), give_send(3, 0, 2);
  at_second(6), give_send(1), give_write(2, 1, 2);
  fabric.scheduler.run_until(begun_ + 15 * runtime::second - 1);
  EXPECT_EQ(server_vi->state(), vi::State::Connected);
  at_second(15);
  EXPECT_EQ(server_vi->state(), vi::State::Error);
}

// --- what waits for RESP2 or RESP3 (Annex F: message 0) -----------------------------------------------------------

class WaitingForSetup : public Times {
 public:
  WaitingForSetup() : Times({.ulp_timeout = 60 * runtime::second}) {}
  void start_setup(Fate resp2, Fate resp3) {
    begin_setup(GetParam(), resp2, resp3);
    receive(4);
    for (int i = 0; i < 4; ++i) {
      to_client.push_back(client->descriptor(0, {{client->data + static_cast<std::uint32_t>(i) * slot, slot}}));
      client_vi->post_receive(to_client.back(), client->handle);
    }
    begun_ = fabric.scheduler.now();
  }
  /// A message of the server.
  void give_client(Opcode opcode, std::uint32_t id, std::uint32_t number = 0, std::uint32_t frames = 1) {
    const wire::fcvi::DeviceHeader usual = header;
    header.handle = wire::FcviHandle{1}, header.rmt_va_handle = client->handle;
    ForgedFrame forged =
        opcode == Opcode::read_rqst ? bytes_of(opcode, id, part, 0, 0, 0) : frame(opcode, id, number, frames);
    header = usual;
    std::swap(forged.header.s_id, forged.header.d_id);
    client->port.receive(forged.build(fabric.pool));
  }
  void expect_client_ends_at_second(int seconds) {
    fabric.scheduler.run_until(begun_ + seconds * runtime::second - 1);
    EXPECT_EQ(client_vi->state(), vi::State::Connected);
    at_second(seconds);
    EXPECT_EQ(client_vi->state(), vi::State::Error);
  }
  std::vector<std::uint64_t> to_client;
};
class ReceptionWaitingForSetup : public WaitingForSetup {};
class DeliveryWaitingForSetup : public WaitingForSetup {};
INSTANTIATE_TEST_SUITE_P(Level, WaitingForSetup, support::all_levels, support::level_name);
INSTANTIATE_TEST_SUITE_P(Level, DeliveryWaitingForSetup, ::testing::Values(Level::ReliableDelivery),
                         support::level_name);
INSTANTIATE_TEST_SUITE_P(Level, ReceptionWaitingForSetup, ::testing::Values(Level::ReliableReception),
                         support::level_name);

// C.5.4, C.5.5: Sends that overtook RESP2, and each other, wait for it where they ask for a response; else for nothing.
TEST_P(WaitingForSetup, awaitResp2_sendsOvertake_waitIfTheyAskForAResponse) {
  start_setup(late(runtime::second), pass);
  give_send(2), give_send(1);
  EXPECT_EQ(received(0) & received(1), reception() ? 0u : received_well);
  EXPECT_EQ(pool(), reception() ? 2 * (book + held) : 0u);
  fabric.run_for(2 * runtime::second);
  EXPECT_EQ(received(0) & received(1), received_well);
  EXPECT_EQ(responses(), reception() ? "1:00 2:00" : "");
  EXPECT_EQ(pool(), 0u);
}

// ... an RDMA Read always does.
TEST_P(DeliveryWaitingForSetup, awaitResp2_readOvertakes_waits) {
  start_setup(late(runtime::second), pass);
  give_read(1);
  give_send(2);
  EXPECT_EQ(received(0), 0u) << "its turn has not come";
  EXPECT_EQ(placed(0, 2), part) << "it passes the data of the read";
  fabric.run_for(500 * runtime::millisecond);
  EXPECT_EQ(responses(), "");
  fabric.run_for(runtime::second);
  EXPECT_EQ(responses(), "1:00");
  EXPECT_EQ(received(0), received_well);
}

// Annex F: a message that waits for RESP2 tells that it is missing: R_A_TOV from its first frame.
TEST_P(ReceptionWaitingForSetup, awaitResp2_lost_endsRaTovAfterTheFirstFrame) {
  start_setup(lose, pass);
  give_send(1, 0, 3);
  at_second(4), give_send(1, 1, 3);
  at_second(5), give_send(1, 2, 3);
  EXPECT_EQ(pool(), book + 3 * held);
  fabric.scheduler.run_until(begun_ + r_a_tov - 1);
  EXPECT_EQ(pool(), book + 3 * held);
  at_second(10);
  EXPECT_EQ(pool(), 0u);
  EXPECT_EQ(server_vi->state(), vi::State::Error);
}

// C.5.10.1: a Send that asks for no response overtakes RESP3, and waits for nothing: not even a book is made.
TEST_P(WaitingForSetup, awaitResp3_sendInOrder_waitsIfItAsksForAResponse) {
  start_setup(pass, late(runtime::second));
  give_client(Opcode::send_rqst, 1);
  EXPECT_EQ(client->provider.reorder_peak_bytes(), reception() ? book + held : 0u);
  EXPECT_EQ(client->status(to_client[0]), reception() ? 0u : received_well);
  fabric.run_for(2 * runtime::second);
  EXPECT_EQ(client->status(to_client[0]), received_well);
}
TEST_P(WaitingForSetup, awaitResp3_sendsOvertakeEachOther_waitIfTheyAskForAResponse) {
  start_setup(pass, late(runtime::second));
  give_client(Opcode::send_rqst, 2), give_client(Opcode::send_rqst, 1);
  for (std::size_t i = 0; i < 2; ++i) EXPECT_EQ(client->status(to_client[i]), reception() ? 0u : received_well);
  fabric.run_for(2 * runtime::second);
  for (std::size_t i = 0; i < 2; ++i) EXPECT_EQ(client->status(to_client[i]), received_well);
}

// ... an RDMA Read waits.
TEST_P(DeliveryWaitingForSetup, awaitResp3_readOvertakes_waits) {
  start_setup(pass, late(runtime::second));
  give_client(Opcode::read_rqst, 1);
  EXPECT_EQ(client->provider.reorder_bytes(), book);
  fabric.run_for(500 * runtime::millisecond);
  const auto read_data = [](const support::LoggedFrame& f) { return f.outbound && f.is(wire::RCtl::solicited_data); };
  EXPECT_EQ(log.count(read_data), 0u);
  fabric.run_for(runtime::second);
  EXPECT_EQ(log.count(read_data), 1u);
  EXPECT_EQ(client_vi->state(), vi::State::Connected);
}

// ... and tells that RESP3 is missing since its first frame; one that waits for nothing has R_A_TOV from its latest.
TEST_P(ReceptionWaitingForSetup, awaitResp3_lost_endsRaTovAfterTheFirstFrame) {
  start_setup(pass, lose);
  give_client(Opcode::send_rqst, 1, 0, 2);
  at_second(4), give_client(Opcode::send_rqst, 1, 1, 2);
  expect_client_ends_at_second(10);
}
TEST_P(DeliveryWaitingForSetup, awaitResp3_slowSender_hasRaTovFromItsLatestFrame) {
  start_setup(pass, lose);
  give_client(Opcode::send_rqst, 1, 1, 4), give_client(Opcode::send_rqst, 1, 0, 4);
  at_second(8), give_client(Opcode::send_rqst, 1, 2, 4);
  expect_client_ends_at_second(18);
}

// --- behind read data ----------------------------------------------------------------------------------------------

// VI-ARCH 6.3.1.1: at Reliable Reception what is behind an RDMA Read waits for its data. While they go out nothing is
// given up, and then a gap has R_A_TOV once more. At Reliable Delivery nothing waits.
TEST_P(ReliableTimes, expecting_messageMissing_isDueBehindTheReadData) {
  start();
  give_send(3);
  fabric.scheduler.run_until(begun_ + r_a_tov - 5 * runtime::millisecond);
  give_read(1, 1u << 20);  // ten milliseconds
  fabric.scheduler.run_until(begun_ + r_a_tov - 1);
  EXPECT_EQ(server_vi->state(), vi::State::Connected);
  at_second(10);
  EXPECT_EQ(server_vi->state(), reception() ? vi::State::Connected : vi::State::Error);
  fabric.scheduler.run_until(begun_ + 2 * r_a_tov - 1);
  EXPECT_EQ(server_vi->state(), reception() ? vi::State::Connected : vi::State::Error);
  at_second(20);
  EXPECT_EQ(server_vi->state(), vi::State::Error);
}

// --- more than one pass looks at -----------------------------------------------------------------------------------

class UnreliableTimes : public Times {};
INSTANTIATE_TEST_SUITE_P(Level, UnreliableTimes, ::testing::Values(Level::UnreliableDelivery), support::level_name);

// Rule 7a: all that is due at one moment is given up in that moment, however much it is.
TEST_P(UnreliableTimes, receiving_manyLackFrames_areAllGivenUp) {
  start();
  for (std::uint32_t id = 1; id <= 2100; ++id) give_write(id, 1, 3);
  EXPECT_EQ(server->provider.reorder_bytes(), 2100 * book + 0u);
  at_second(10);
  EXPECT_EQ(pool(), 0u);
  EXPECT_EQ(server->count(vi::ErrorCode::RdmaWAbort), 2100);
}

// Rule 7: what shows within a thousandth of R_A_TOV behind another waits for that thousandth: passes over the
// books are few.
TEST_P(UnreliableTimes, receiving_gapShowsShortlyAfterAnother_waitsAThousandth) {
  start();
  give_write(1, 1, 3);
  fabric.scheduler.run_until(begun_ + runtime::millisecond);
  give_write(3, 1, 3);
  give_write(2);
  at_second(10);
  EXPECT_EQ(pool(), book);
  const std::uint64_t fired = fabric.scheduler.fired_count();
  fabric.scheduler.run_until(begun_ + r_a_tov + r_a_tov / 1024 - 1);
  EXPECT_EQ(pool(), book);
  EXPECT_EQ(fabric.scheduler.fired_count(), fired);
  fabric.scheduler.run_until(begun_ + r_a_tov + r_a_tov / 1024);
  EXPECT_EQ(pool(), 0u);
}

// Annex F: an RDMA Read that waits for RESP2 has R_A_TOV of its own, whenever the epoch began.
TEST_P(DeliveryWaitingForSetup, awaitResp2_lost_readHasItsOwnRaTov) {
  start_setup(lose, pass);
  give_send(2);
  at_second(3), give_read(3);
  at_second(5), give_send(1);
  fabric.scheduler.run_until(begun_ + 13 * runtime::second - 1);
  EXPECT_EQ(pool(), book);
  at_second(13);
  EXPECT_EQ(pool(), 0u);
  EXPECT_EQ(server_vi->state(), vi::State::Error);
}
}  // namespace
