// Class 2 below FC-VI: link services, end-to-end credit, and what the fabric itself answers (FC-FS).
#include <gtest/gtest.h>

#include "fc2_fabric/node/class_2.hpp"
#include "fc2_fabric/switch/f_port.hpp"
#include "tests/support/flogi_frame.hpp"
#include "tests/support/made_frame.hpp"
#include "tests/support/port_pair.hpp"
#include "tests/support/test_fabric.hpp"

namespace fc2 {
namespace {
using support::LoggedFrame;
using wire::RCtl;

constexpr std::uint16_t credit = 2;

class Class2Ports : public testing::Test {
 public:
  Class2Ports() : pair([](NPortConfig& config) { config.end_to_end_credit = credit; }) {}
  support::RecordingUser user;
  support::PortPair pair;
};

// FC-FS: an ECHO in class 2 is acknowledged, then answered in class 2, and the answer is acknowledged too. It is longer
// than the credit, which is never exceeded; both exchanges close.
TEST_F(Class2Ports, logged_in_echo_is_acknowledged_both_ways) {
  ASSERT_TRUE(pair.log_in());
  pair.to_a.log.clear(), pair.to_b.log.clear();
  Exchange* exchange = pair.a.originate(support::PortPair::b_id, wire::Type::els, user);
  exchange->use_class_2();
  std::vector<std::uint8_t> echo(5 * max_data_field_bytes, 0x5A);
  echo[0] = 0x10, echo[1] = echo[2] = echo[3] = 0;
  pair.a.send(*exchange, RCtl::els_request, {}, echo, {.transfer_initiative = true});
  EXPECT_TRUE(exchange->awaits_acknowledgement());
  std::size_t most = 0;
  for (int step = 0; step < 100; ++step) {
    pair.run_for(microsecond);
    most = std::max(most, pair.to_b.log.count(RCtl::els_request) - pair.to_a.log.count(RCtl::ack_1));
  }
  EXPECT_EQ(most, credit);
  ASSERT_EQ(user.ius.size(), 1u);
  EXPECT_EQ(user.ius[0].bytes.size(), echo.size());
  EXPECT_EQ(user.failures.size(), 0u);
  for (const LoggedFrame& frame : pair.to_a.log.frames()) EXPECT_EQ(wire::class_of_service(frame.sof), 2);
  EXPECT_TRUE(pair.to_a.log.frames().front().is(RCtl::ack_1));
  EXPECT_EQ(pair.a.open_exchanges() + pair.b.open_exchanges(), 0u);
}

/// Requests of an FC-4 in class 2 that nobody answers.
class Class2Reply : public testing::Test {
 public:
  explicit Class2Reply(bool ack_0 = false)
      : pair([=](NPortConfig& config) {
          config.end_to_end_credit = credit;
          config.ack_0 = ack_0;
          config.log_out_silent_ports = true;
        }) {
    pair.b.set_user(wire::Type::ct, responder);
    EXPECT_TRUE(pair.log_in());
    pair.to_a.log.clear(), pair.to_b.log.clear();
  }
  void request(TimeNs reply_timeout, std::size_t bytes = 100) {
    Exchange* exchange = pair.a.originate(support::PortPair::b_id, wire::Type::ct, user);
    exchange->use_class_2();
    pair.a.send(*exchange, RCtl::unsolicited_control, {}, std::vector<std::uint8_t>(bytes),
                {.transfer_initiative = true}, reply_timeout);
    begun = pair.scheduler.now();
  }
  void run_until(TimeNs since) { pair.scheduler.run_until(begun + since); }
  void lose_acks(TimeNs until) {
    pair.to_a.on_frame = [this, until](const LoggedFrame& frame) {
      const bool ack = frame.is(RCtl::ack_1) || frame.is(RCtl::ack_0);
      if (ack && pair.scheduler.now() < begun + until) late_ack = frame.header;
      return ack && pair.scheduler.now() < begun + until ? support::Interposer::Action::Drop
                                                         : support::Interposer::Action::Pass;
    };
  }
  support::RecordingUser user, responder;
  support::PortPair pair;
  TimeNs begun = 0;
  wire::FcHeader late_ack;
};
class Class2ReplyAck0 : public Class2Reply {
 public:
  Class2ReplyAck0() : Class2Reply(true) {}
};

// FC-FS, FC-VI C.3 rule 2 b): the request was acknowledged, its answer never comes: ABTS when its time is
// over, not before; ABTS again after R_A_TOV without BA_ACC; and where that is wanted, logout of the port
// as second-level recovery.
TEST_F(Class2Reply, waiting_answer_never_comes_recovers) {
  request(5 * second);
  run_until(5 * second - millisecond);
  EXPECT_EQ(pair.to_a.log.count(RCtl::ack_1), 1u);
  EXPECT_EQ(responder.ius.size(), 1u);
  EXPECT_TRUE(user.failures.empty());
  pair.to_b.on_frame = [](const LoggedFrame&) { return support::Interposer::Action::Drop; };
  run_until(5 * second + millisecond);
  EXPECT_EQ(user.failures, std::vector{ExchangeFailure::ReplyTimeout});
  EXPECT_EQ(pair.to_b.log.count(RCtl::abts), 1u);
  run_until(5 * second + pair.a.r_a_tov() + millisecond);
  EXPECT_EQ(pair.to_b.log.count(RCtl::abts), 2u);
  EXPECT_TRUE(pair.a.remote_port(support::PortPair::b_id).logged_in());
  run_until(5 * second + 2 * pair.a.r_a_tov() + millisecond);
  EXPECT_FALSE(pair.a.remote_port(support::PortPair::b_id).logged_in());
  EXPECT_EQ(user.failures.size(), 1u);
  EXPECT_EQ(pair.unexpected_events(), 0u);
}

// The time of the answer counts from the request, however late the ACK was; with an ACK that is later still, it is
// over at once.
TEST_F(Class2Reply, waiting_ack_late_answer_is_due_as_before) {
  for (const TimeNs reply_timeout : {1500 * millisecond, 500 * millisecond}) {
    user.failures.clear();
    request(reply_timeout);
    lose_acks(second);
    run_until(second);
    EXPECT_TRUE(user.failures.empty()) << "what is not acknowledged is not answered";
    pair.a.receive(support::made_frame(pair.pool, late_ack, {}, wire::Sof::n2));
    run_until(std::max(second, reply_timeout - millisecond));
    if (reply_timeout > second) {
      EXPECT_TRUE(user.failures.empty());
    }
    run_until(std::max(second, reply_timeout) + millisecond);
    EXPECT_EQ(user.failures, std::vector{ExchangeFailure::ReplyTimeout});
    pair.to_a.on_frame = {};
  }
}

// FC-VI B.2.6.1 rule 8e, FC-FS: no ACK: E_D_TOV ends it, whatever time the answer has.
TEST_F(Class2Reply, waiting_no_ack_ends_after_e_d_tov) {
  request(5 * second);
  lose_acks(10 * second);
  run_until(pair.a.e_d_tov() - millisecond);
  EXPECT_TRUE(user.failures.empty());
  run_until(pair.a.e_d_tov() + millisecond);
  EXPECT_EQ(user.failures, std::vector{ExchangeFailure::NotAcknowledged});
}

// FC-FS ACK_0: a control IU loses a frame in the middle: its last frame is not taken for all of it.
TEST_F(Class2ReplyAck0, sending_middle_frame_lost_is_not_acknowledged) {
  pair.to_b.on_frame = [](const LoggedFrame& frame) {
    return frame.is(RCtl::unsolicited_control) && frame.header.seq_cnt.value == 1 ? support::Interposer::Action::Drop
                                                                                  : support::Interposer::Action::Pass;
  };
  request(5 * second, 3 * max_data_field_bytes);
  run_until(pair.a.e_d_tov() + millisecond);
  EXPECT_EQ(pair.to_a.log.count(RCtl::ack_0), 0u);
  EXPECT_EQ(user.failures, std::vector{ExchangeFailure::NotAcknowledged});
  EXPECT_TRUE(responder.ius.empty());
}

// FC-FS, FC-LS: link services need no login, and are acknowledged without one.
TEST_F(Class2Ports, logged_out_els_is_acknowledged) {
  Exchange* exchange = pair.a.originate(support::PortPair::b_id, wire::Type::els, user);
  exchange->use_class_2();
  pair.a.send(*exchange, RCtl::els_request, {}, std::array<std::uint8_t, 8>{0x10}, {.transfer_initiative = true});
  pair.run_for(millisecond);
  EXPECT_EQ(pair.to_a.log.count(RCtl::ack_1), 1u);
  EXPECT_EQ(pair.to_a.log.count(RCtl::p_rjt), 0u);
  EXPECT_EQ(user.ius.size(), 1u);
}

// FC-FS, FC-VI 8.1: a port that does not offer class 2 rejects a frame of it, also from a port that is logged in,
// and says why.
TEST(Class3Ports, class_2_frame_is_rejected) {
  support::PortPair pair;
  support::RecordingUser user;
  pair.b.set_user(wire::Type::ct, user);
  ASSERT_TRUE(pair.log_in());
  const auto data = support::request_header(RCtl::unsolicited_control, wire::Type::ct, support::PortPair::b_id,
                                            support::PortPair::a_id, {0x77});
  pair.b.receive(support::made_frame(pair.pool, data, support::zeros(16), wire::Sof::i2, wire::Eof::n));
  pair.run_for(millisecond);
  EXPECT_TRUE(user.ius.empty());
  const LoggedFrame* reject = pair.to_a.log.find([](const LoggedFrame& f) { return f.is(RCtl::p_rjt); });
  ASSERT_NE(reject, nullptr);
  EXPECT_EQ(wire::LinkReject::from_parameter(reject->header.parameter).reason,
            wire::LinkRejectReason::class_not_supported);
}

class BusyAcks : public testing::Test {
 public:
  BusyAcks() : fabric(2, {}, [](NPortConfig& config, std::size_t) { config.end_to_end_credit = credit; }) {
    fabric.bring_up();
    EXPECT_TRUE(fabric.log_in(0, 1));
  }
  support::TestFabric fabric;
};

// FC-FS, F_BSY to a Link_Control frame: the ACK is sent again, until E_D_TOV is over.
TEST_F(BusyAcks, ack_busied_is_sent_again) {
  NPort& recipient = fabric.port(1);
  const wire::FcHeader ack{.r_ctl = RCtl::ack_1,
                           .d_id = fabric.port(0).n_port_id(),
                           .s_id = recipient.n_port_id(),
                           .f_ctl = wire::f_ctl::exchange_responder | wire::f_ctl::sequence_recipient |
                                    wire::f_ctl::end_sequence | wire::f_ctl::abort_perform_abts,
                           .ox_id = {7},
                           .parameter = 1};
  support::FrameLog log;
  fabric.fabric.tap(recipient, &log);
  const auto busy = [&] {
    recipient.receive(make_link_control(fabric.pool, ack, RCtl::f_bsy_link, 1, wire::f_ctl::abort_perform_abts));
    fabric.run_for(recipient.e_d_tov() / 64);
  };
  busy();
  ASSERT_EQ(log.count(RCtl::ack_1), 1u);
  const wire::FcHeader& again = log.find([](const LoggedFrame& f) { return f.is(RCtl::ack_1); })->header;
  EXPECT_EQ(again.f_ctl, ack.f_ctl);
  EXPECT_TRUE(again.d_id == ack.d_id && again.ox_id == ack.ox_id && again.parameter == 1 &&
              again.type == wire::Type::bls);
  for (int i = 0; i < 100; ++i) busy();
  EXPECT_EQ(log.count(RCtl::ack_1), 64u);  // E_D_TOV is over
  EXPECT_EQ(recipient.counters().unexpected_events, 0u);
  fabric.fabric.tap(recipient, nullptr);
}

// FC-FS: ACKs are told apart by port, exchange, sequence and frame; each is sent again, once for however many F_BSY
// came of it meanwhile.
TEST_F(BusyAcks, acks_busied_are_told_apart) {
  NPort& recipient = fabric.port(1);
  const wire::FcHeader ack{.r_ctl = RCtl::ack_1,
                           .d_id = fabric.port(0).n_port_id(),
                           .s_id = recipient.n_port_id(),
                           .f_ctl = wire::f_ctl::exchange_responder | wire::f_ctl::sequence_recipient,
                           .ox_id = {7},
                           .parameter = 1};
  std::array<wire::FcHeader, 5> acks{ack, ack, ack, ack, ack};
  acks[1].d_id = {0x010900}, acks[2].ox_id = {8}, acks[3].seq_id = {1}, acks[4].seq_cnt = {1};
  support::FrameLog log;
  fabric.fabric.tap(recipient, &log);
  for (const auto& each : {acks[0], acks[1], acks[2], acks[3], acks[4], acks[0]})
    recipient.receive(make_link_control(fabric.pool, each, RCtl::f_bsy_link, 1));
  fabric.run_for(recipient.e_d_tov() / 32);
  EXPECT_EQ(log.count(RCtl::ack_1), 5u);
  wire::FcHeader ack_0 = ack;
  ack_0.r_ctl = RCtl::ack_0, ack_0.ox_id = {9};
  recipient.receive(make_link_control(fabric.pool, ack_0, RCtl::f_bsy_link, 0));
  fabric.run_for(recipient.e_d_tov() / 32);
  EXPECT_EQ(log.count(RCtl::ack_0), 1u);
  fabric.fabric.tap(recipient, nullptr);
}

// FC-FS: however many other ACKs are busied meanwhile, each goes again after its while: it is awaited no
// longer than E_D_TOV.
TEST_F(BusyAcks, acks_busied_one_after_the_other_do_not_wait_for_each_other) {
  NPort& recipient = fabric.port(1);
  wire::FcHeader ack{.r_ctl = RCtl::ack_1, .d_id = fabric.port(0).n_port_id(), .s_id = recipient.n_port_id()};
  support::FrameLog log;
  fabric.fabric.tap(recipient, &log);
  for (std::uint16_t i = 0; i < 16; ++i) {
    ack.ox_id = {i};
    recipient.receive(make_link_control(fabric.pool, ack, RCtl::f_bsy_link, 1));
    fabric.run_for(recipient.e_d_tov() / 128);
  }
  EXPECT_GE(log.count(RCtl::ack_1), 14u);
  fabric.fabric.tap(recipient, nullptr);
}

// FC-FS: nobody waits for an ACK after E_D_TOV: what is over makes room for others.
TEST_F(BusyAcks, acks_busied_long_ago_make_room) {
  NPort& recipient = fabric.port(1);
  wire::FcHeader ack{.r_ctl = RCtl::ack_1, .d_id = fabric.port(0).n_port_id(), .s_id = recipient.n_port_id()};
  for (std::uint16_t i = 0; i < 64; ++i)
    ack.ox_id = {i}, recipient.receive(make_link_control(fabric.pool, ack, RCtl::f_bsy_link, 0));
  fabric.run_for(3 * recipient.e_d_tov());
  ack.ox_id = {1000};
  recipient.receive(make_link_control(fabric.pool, ack, RCtl::f_bsy_link, 0));
  EXPECT_EQ(recipient.counters().discarded(Discard::NoResources), 0u);
}

// What is no ACK cannot be sent again, and more than 64 at once are not kept.
TEST_F(BusyAcks, ack_busied_nonsense_is_discarded) {
  NPort& recipient = fabric.port(1);
  wire::FcHeader ack{.r_ctl = RCtl::p_bsy, .d_id = fabric.port(0).n_port_id(), .s_id = recipient.n_port_id()};
  recipient.receive(make_link_control(fabric.pool, ack, RCtl::f_bsy_link, 0));
  EXPECT_EQ(recipient.counters().discarded(Discard::BadHeader), 1u);
  ack.r_ctl = RCtl::ack_1;
  for (std::uint16_t i = 0; i < 100; ++i) {
    ack.ox_id = {i};
    recipient.receive(make_link_control(fabric.pool, ack, RCtl::f_bsy_link, 0));
  }
  EXPECT_EQ(recipient.counters().discarded(Discard::NoResources), 36u);
}

// An N_Port elsewhere that takes no frames.
class Full final : public FrameOutput, public FrameFeeder {
 public:
  void send(FramePtr) override { pause(); }
  void hold() override {}
  void proceed() override {}
};

// FC-FS: what waits too long for a port is answered with F_BSY in class 2, and with nothing in class 3.
TEST(Class2Fabric, egress_full_answers_f_bsy) {
  Full far;
  support::TestFabric fabric(2);
  fabric.bring_up();
  support::FrameLog log;
  fabric.fabric.tap(fabric.port(0), &log);
  wire::FcHeader header{.r_ctl = RCtl::solicited_data,
                        .s_id = fabric.port(0).n_port_id(),
                        .type = wire::Type::fc_vi,
                        .f_ctl = wire::f_ctl::ack_form_ack_1,
                        .ox_id = {9}};
  FPort* port = fabric.fabric.attach(far, far);
  header.d_id = port->address();
  port->receive(support::flogi_frame(fabric.pool, fabric.port(0).login_parameters(wire::els::Command::flogi)));
  fabric.run_for(second);
  ASSERT_TRUE(port->logged_in() && far.paused());
  const auto inject = [&](wire::Sof sof, RCtl r_ctl) {
    header.r_ctl = r_ctl;
    fabric.fabric.ingress_of(fabric.port(0))->receive(support::made_frame(fabric.pool, header, {}, sof, wire::Eof::n));
  };
  inject(wire::Sof::i2, RCtl::solicited_data), inject(wire::Sof::i3, RCtl::solicited_data);
  fabric.run_for(10 * second);
  EXPECT_EQ(log.count(RCtl::f_bsy_data), 1u);
  EXPECT_EQ(fabric.fabric.counters().discarded(Discard::HeldTooLong), 2u);
  // An ACK is busied too, with its command code in TYPE; a busy is not.
  inject(wire::Sof::n2, RCtl::ack_0), inject(wire::Sof::n2, RCtl::p_bsy);
  fabric.run_for(millisecond);
  const LoggedFrame* busy = log.find([](const LoggedFrame& f) { return f.is(RCtl::f_bsy_link); });
  ASSERT_NE(busy, nullptr);
  EXPECT_EQ(static_cast<std::uint8_t>(busy->header.type), 0x11);
  EXPECT_EQ(log.count(RCtl::f_bsy_link), 1u);
  fabric.fabric.tap(fabric.port(0), nullptr);
  fabric.fabric.detach(*port);
}

}  // namespace
}  // namespace fc2
