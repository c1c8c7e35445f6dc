// Buffer credit and frame faults on an arbitrated loop: a receiver that is slow gets no frame that it has no buffer
// for, and stops nobody else (FC-AL alternate BB_Credit); what befalls frames befalls them as on a link.
#include <gtest/gtest.h>

#include "fc2_fabric/node/loop_n_port.hpp"
#include "tests/support/fc4.hpp"
#include "tests/support/frame_log.hpp"
#include "tests/support/port_pair.hpp"
#include "tests/support/test_fabric.hpp"
#include "wire/line_rate.hpp"

namespace fc2 {
namespace {

using wire::els::Command;

class LoopCreditTest : public testing::Test {
 protected:
  ~LoopCreditTest() override {
    for (const auto& port : ports) EXPECT_EQ(port->counters().unexpected_events, 0U);
  }
  NPort& add(const LoopPlace& place = {}) {
    NPort& port = *ports.emplace_back(std::make_unique<NPort>(scheduler, pool, support::port_config(ports.size())));
    users.push_back(std::make_unique<support::RecordingUser>());
    port.set_user(support::fc4, *users.back());
    attach(loop, port, place);
    return port;
  }
  void run_for(TimeNs duration) { scheduler.run_until(scheduler.now() + duration); }
  NPort& port(std::size_t i) { return *ports.at(i); }
  wire::FcId id(std::size_t i) { return port(i).n_port_id(); }
  void log_in(std::size_t from, std::size_t to) {
    port(from).remote_port(id(to)).log_in();
    run_for(10 * millisecond);
    ASSERT_TRUE(port(to).remote_port(id(from)).logged_in());
  }
  void send(std::size_t from, std::size_t to, std::uint8_t mark = 0, std::size_t bytes = 2000) {
    Exchange* exchange = port(from).originate(id(to), wire::Type::fc_vi, *users[from]);
    ASSERT_NE(exchange, nullptr);
    port(from).send(*exchange, wire::RCtl::unsolicited_control, {}, std::vector<std::uint8_t>(bytes, mark),
                    {.last_of_exchange = true});
  }
  std::vector<int> marks(std::size_t port) const {
    std::vector<int> marks;
    for (const auto& iu : users[port]->ius) marks.push_back(iu.bytes[0]);
    return marks;
  }

  Scheduler scheduler;
  FramePool pool;
  std::vector<std::unique_ptr<support::RecordingUser>> users;
  std::vector<std::unique_ptr<NPort>> ports;
  Loop loop{scheduler, pool, {.hop_latency_ns = 100, .bytes_per_second = wire::line_rate_bytes_per_second("4GFC")}};
};

// FC-AL: a Login_BB_Credit of 0, by the alternate model.
TEST_F(LoopCreditTest, login_tells_alternate_credit) {
  add();
  add({.bb_credit = 4});
  run_for(millisecond);
  support::FrameLog log;
  loop.tap(port(0), &log);
  log_in(0, 1);
  for (const Command command : {Command::plogi, Command::ls_acc}) {
    const auto login = wire::els::Login::parse(log.find(command)->data);
    EXPECT_EQ(login->bb_credit, 0);
    EXPECT_TRUE(login->has(wire::els::feature::alternate_bb_credit));
  }
  loop.tap(port(0), nullptr);
}

// A slow receiver: never more frames than it has buffers, each after the time that it needs, none is lost.
TEST_F(LoopCreditTest, slow_receiver_holds_its_sender_back) {
  add();
  add({.bb_credit = 2, .processing_ns = 100 * microsecond});
  run_for(millisecond);
  log_in(0, 1);
  const TimeNs start = scheduler.now();
  for (int n = 0; n < 50; ++n) send(0, 1, static_cast<std::uint8_t>(n));
  while (users[1]->ius.size() < 50 && scheduler.run_next(start + second)) {
    const std::size_t free = loop.station_of(port(1))->free_buffers();
    ASSERT_LE(free, 2U);
  }
  ASSERT_EQ(users[1]->ius.size(), 50U);
  EXPECT_GE(scheduler.now() - start, 50 * 100 * microsecond);
  EXPECT_EQ(loop.station_of(port(1))->free_buffers(), 2U);
  for (int n = 0; n < 50; ++n) EXPECT_EQ(users[1]->ius[static_cast<std::size_t>(n)].bytes[0], n);
}

// While one waits for a buffer of a slow receiver the loop is others'.
TEST_F(LoopCreditTest, slow_receiver_does_not_stop_others) {
  add();
  add({.bb_credit = 1, .processing_ns = millisecond});
  add();
  add();
  run_for(millisecond);
  log_in(0, 1);
  log_in(2, 3);
  for (int n = 0; n < 20; ++n) send(0, 1);
  const TimeNs start = scheduler.now();
  for (int n = 0; n < 100; ++n) send(2, 3);
  while (users[3]->ius.size() < 100 && scheduler.run_next(start + second)) {}
  EXPECT_LT(scheduler.now() - start, 2 * millisecond);
  EXPECT_LT(users[1]->ius.size(), 5U);
  run_for(second);
  EXPECT_EQ(users[1]->ius.size(), 20U);
}

// A LIP while frames wait for buffers: each comes, once, in order.
TEST_F(LoopCreditTest, waiting_lips_lose_nothing) {
  add();
  add({.bb_credit = 1, .processing_ns = 30 * microsecond});
  run_for(millisecond);
  log_in(0, 1);
  for (int n = 0; n < 60; ++n) send(0, 1, static_cast<std::uint8_t>(n));
  for (int i = 0; i < 20; ++i) {
    run_for(37 * microsecond + 1009 * i);
    loop.lip(port(static_cast<std::size_t>(i) % 2));
  }
  run_for(second);
  ASSERT_EQ(users[1]->ius.size(), 60U);
  for (int n = 0; n < 60; ++n) EXPECT_EQ(users[1]->ius[static_cast<std::size_t>(n)].bytes[0], n);
}

/// By the first byte of the payload: 1 lost, 2 a millisecond late, 3 twice.
struct ByMark final : FrameFault {
  void carry(Channel& channel, FramePtr frame) override {
    const bool iu = frame->bytes[8] == static_cast<std::uint8_t>(wire::Type::fc_vi);
    const int mark = iu ? frame->bytes[frame_header_bytes] : 0;
    if (mark == 1) return;
    if (mark == 2) frame->arrival += millisecond;
    FramePtr copy = mark == 3 ? frame->pool->copy(*frame) : nullptr;
    channel.deliver(std::move(frame));
    if (copy != nullptr) channel.deliver(std::move(copy));
  }
};

// What befalls a frame that a port sends, or that it receives; its sender's tap saw it, the receiver's does not see
// what is lost.
TEST_F(LoopCreditTest, faults_befall_frames) {
  for (int i = 0; i < 3; ++i) add({.bb_credit = 8});
  run_for(millisecond);
  log_in(0, 1);
  log_in(0, 2);
  support::FrameLog sender, receiver;
  loop.tap(port(0), &sender);
  loop.tap(port(1), &receiver);
  ByMark fault;
  for (const bool at_sender : {true, false}) {
    sender.clear();
    receiver.clear();
    users[1]->ius.clear();
    users[2]->ius.clear();
    loop.set_faults(port(0), at_sender ? &fault : nullptr, nullptr);
    loop.set_faults(port(1), nullptr, at_sender ? nullptr : &fault);
    for (std::uint8_t mark = 0; mark < 5; ++mark) {
      send(0, 1, mark);
      send(0, 2, mark);
    }
    run_for(100 * millisecond);
    EXPECT_EQ(marks(1), (std::vector<int>{0, 3, 3, 4, 2}));
    EXPECT_EQ(marks(2), at_sender ? (std::vector<int>{0, 3, 3, 4, 2}) : (std::vector<int>{0, 1, 2, 3, 4}));
    EXPECT_EQ(sender.size(), 10U);
    EXPECT_EQ(receiver.size(), 5U);
  }
  loop.tap(port(0), nullptr);
  loop.tap(port(1), nullptr);
  EXPECT_EQ(loop.station_of(port(1))->free_buffers(), 8U);
}

// A port that leaves in the middle of everything takes along what it had on its way; others go on.
TEST_F(LoopCreditTest, leaving_others_go_on) {
  add();
  add({.bb_credit = 2, .processing_ns = 10 * microsecond});
  add({.bb_credit = 2});
  run_for(millisecond);
  log_in(0, 1);
  log_in(0, 2);
  log_in(1, 2);
  for (int n = 0; n < 20; ++n) {
    send(0, 1);
    send(0, 2);
    send(1, 2);
  }
  run_for(70 * microsecond);
  loop.detach(port(1));
  run_for(60 * second);
  EXPECT_TRUE(port(0).remote_port(id(2)).logged_in());
  EXPECT_GE(users[2]->ius.size(), 20U);
  EXPECT_EQ(loop.station_of(port(2))->free_buffers(), 2U);
}

}  // namespace
}  // namespace fc2
