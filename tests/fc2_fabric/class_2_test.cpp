// Class 2 below FC-VI: link services, end-to-end credit, and what the fabric itself answers (FC-FS).
#include <gtest/gtest.h>

#include "fc2_fabric/class_2.hpp"
#include "fc2_fabric/f_port.hpp"
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

// FC-FS: an ECHO in class 2 is acknowledged, then answered in class 2, and the answer is acknowledged too. It is longer than the
// credit, which is never exceeded; both exchanges close.
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
  const wire::FcHeader ack{.r_ctl = RCtl::ack_1, .d_id = fabric.port(0).n_port_id(), .s_id = recipient.n_port_id(),
                           .f_ctl = wire::f_ctl::exchange_responder | wire::f_ctl::sequence_recipient | wire::f_ctl::end_sequence |
                                    wire::f_ctl::abort_perform_abts,
                           .ox_id = {7}, .parameter = 1};
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
  EXPECT_TRUE(again.d_id == ack.d_id && again.ox_id == ack.ox_id && again.parameter == 1 && again.type == wire::Type::bls);
  for (int i = 0; i < 100; ++i) busy();
  EXPECT_EQ(log.count(RCtl::ack_1), 64u);  // E_D_TOV is over
  EXPECT_EQ(recipient.counters().unexpected_events, 0u);
  fabric.fabric.tap(recipient, nullptr);
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
  wire::FcHeader header{.r_ctl = RCtl::solicited_data, .s_id = fabric.port(0).n_port_id(), .type = wire::Type::fc_vi,
                        .f_ctl = wire::f_ctl::ack_form_ack_1, .ox_id = {9}};
  FPort* port = fabric.fabric.attach(far, far);
  header.d_id = port->address();
  FramePtr login = fabric.pool.take();
  wire::FcHeader flogi{.r_ctl = RCtl::els_request, .d_id = wire::well_known::f_port, .type = wire::Type::els,
                       .f_ctl = wire::f_ctl::single_frame_request, .ox_id = {1}};
  flogi.write(login->bytes);
  wire::els::Login parameters = fabric.port(0).login_parameters(wire::els::Command::flogi);
  parameters.port_name = {0x3000'0000'0000'0001};
  parameters.write(login->data_field());
  login->size_bytes = frame_header_bytes + wire::els::Login::size();
  login->sof = wire::Sof::i3;
  login->eof = wire::Eof::t;
  port->receive(std::move(login));
  fabric.run_for(second);
  ASSERT_TRUE(port->logged_in() && far.paused());
  const auto inject = [&](wire::Sof sof, RCtl r_ctl) {
    FramePtr frame = fabric.pool.take();
    header.r_ctl = r_ctl;
    header.write(frame->bytes);
    frame->size_bytes = frame_header_bytes;
    frame->sof = sof;
    frame->eof = wire::Eof::n;
    fabric.fabric.ingress_of(fabric.port(0))->receive(std::move(frame));
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
