// A public loop: NL_Ports behind the FL_Port of a switch, private ones among them, an N_Port elsewhere in the fabric
// (FC-AL, FC-LS FLOGI and FAN, FC-VI 7.7.4).
#include <gtest/gtest.h>

#include "fc2_fabric/switch/f_port.hpp"
#include "fc2_fabric/switch/fabric.hpp"
#include "fc2_fabric/node/loop_n_port.hpp"
#include "fc2_fabric/switch/name_server.hpp"
#include "tests/support/fc4.hpp"
#include "tests/support/frame_log.hpp"
#include "tests/support/login_listener.hpp"
#include "tests/support/port_pair.hpp"
#include "tests/support/test_fabric.hpp"
#include "wire/line_rate.hpp"

namespace fc2 {
namespace {

using wire::els::Command;

/// Two switches, or one; alice and bob public on the loop at the last switch, priv private; far at the first switch.
class FlPortTest : public testing::Test {
 protected:
  enum : std::size_t { alice, bob, priv, far };

  explicit FlPortTest(std::size_t switches = 1) {
    for (std::size_t i = 0; i < switches; ++i) {
      SwitchConfig config;
      config.priority = static_cast<std::uint8_t>(i + 1);  // together, the first is the principal one
      config.domain = static_cast<std::uint8_t>(i + 1);
      config.switch_name.value += i << 16;
      fabric.add_switch(config);
    }
    fabric.configure();
    for (std::size_t i = 0; i < 4; ++i) {
      ports.push_back(std::make_unique<NPort>(scheduler, pool, support::port_config(i)));
      port(i).add_listener(listeners[i]);
      port(i).set_user(support::fc4, users[i]);
    }
    fl_port = near().attach(loop);
    for (const std::size_t i : {alice, bob, priv}) attach(loop, port(i), {.is_private = i == priv});
    fabric.at(0).attach(port(far), {.latency_ns = microsecond});
    run_for(second);
    for (auto& listener : listeners) listener.events.clear();
  }
  ~FlPortTest() override {
    for (const auto& port : ports) EXPECT_EQ(port->counters().unexpected_events, 0U);
    for (const std::size_t i : {alice, bob, priv}) {
      const LoopStation* station = loop.station_of(port(i));
      EXPECT_EQ(station == nullptr ? 0 : station->unexpected_events(), 0U);
    }
    for (std::size_t i = 0; i < fabric.size(); ++i)
      if (fabric.at(i).is_attached(port(far))) fabric.at(i).detach(port(far));
  }
  Switch& near() { return fabric.at(fabric.size() - 1); }
  NPort& port(std::size_t i) { return *ports.at(i); }
  wire::FcId id(std::size_t i) { return port(i).n_port_id(); }
  void run_for(TimeNs duration) { scheduler.run_until(scheduler.now() + duration); }
  bool log_in(std::size_t from, std::size_t to) {
    port(from).remote_port(id(to)).log_in();
    run_for(10 * millisecond);
    return port(from).remote_port(id(to)).logged_in() && port(to).remote_port(id(from)).logged_in();
  }
  void send(std::size_t from, wire::FcId to, std::uint8_t mark = 0) {
    Exchange* exchange = port(from).originate(to, wire::Type::fc_vi, users[from]);
    ASSERT_NE(exchange, nullptr);
    port(from).send(*exchange, wire::RCtl::unsolicited_control, {}, std::vector<std::uint8_t>(8, mark),
                    {.last_of_exchange = true});
  }
  std::size_t received(std::size_t port) { return std::exchange(users[port].ius, {}).size(); }
  std::size_t known() { return near().name_server().database().size(); }

  Scheduler scheduler;
  FramePool pool;
  std::array<support::LoginListener, 4> listeners;
  std::array<support::RecordingUser, 4> users;
  std::vector<std::unique_ptr<NPort>> ports;
  Loop loop{scheduler, pool, {.hop_latency_ns = 100, .bytes_per_second = wire::line_rate_bytes_per_second("4GFC")}};
  Fabric fabric{scheduler, pool};
  FPort* fl_port = nullptr;
};

// FC-AL, FC-LS: the AL_PA is kept, domain and area are the FL_Port's; a private port asks no fabric.
TEST_F(FlPortTest, logged_in_addresses) {
  EXPECT_EQ(fl_port->address(), wire::FcId{0x010100});
  EXPECT_EQ(id(alice), wire::FcId{0x010101});
  EXPECT_EQ(id(bob), wire::FcId{0x010102});
  EXPECT_EQ(id(priv), wire::FcId{0x000004});
  EXPECT_EQ(id(far), wire::FcId{0x010200});
  EXPECT_TRUE(port(alice).has_fabric());
  EXPECT_FALSE(port(priv).has_fabric());
  EXPECT_EQ(known(), 3U);
  EXPECT_EQ(*near().name_server().database().find_port_name(port(bob).config().port_name), id(bob));
}

// Each reaches each, whichever side it is on; what stays on the loop does not pass the switch. A private port
// is the loop's.
TEST_F(FlPortTest, logged_in_ports_exchange_frames) {
  for (const auto& [from, to] : {std::pair{alice, far}, {far, bob}, {alice, bob}, {priv, alice}, {bob, priv}}) {
    ASSERT_TRUE(log_in(from, to)) << from << to;
    const std::uint64_t before = near().frames_forwarded();
    send(from, id(to));
    run_for(millisecond);
    EXPECT_EQ(received(to), 1U) << from << to;
    EXPECT_EQ(near().frames_forwarded() - before, from == far || to == far ? 1U : 0U) << from << to;
  }
  EXPECT_EQ(near().counters().discarded(), 0U);
  EXPECT_FALSE(log_in(priv, far));
  EXPECT_EQ(near().counters().discarded(Discard::WrongAddress), 1U);
}

// FC-VI 7.7.4: LIP, the FAN is as before, the AL_PA too: no FLOGI, open exchanges go on; the private port is
// asked by ADISC.
TEST_F(FlPortTest, logged_in_lip_unchanged_resumes) {
  for (const std::size_t to : {bob, priv, far}) ASSERT_TRUE(log_in(alice, to));
  support::FrameLog log;
  loop.tap(port(alice), &log);
  port(alice).request(id(far), wire::RCtl::unsolicited_control, wire::Type::fc_vi, std::vector<std::uint8_t>(8, 1),
                      users[alice], 0);
  run_for(millisecond);
  ASSERT_EQ(users[far].ius.size(), 1U);
  for (auto& listener : listeners) listener.events.clear();
  loop.lip(port(bob));
  run_for(second);
  EXPECT_EQ(log.received(Command::fan), 1U);
  EXPECT_EQ(log.sent(Command::flogi) + log.sent(Command::logo) + log.received(Command::logo), 0U);
  EXPECT_EQ(log.sent(Command::adisc) + log.received(Command::adisc),
            2U);  // to the private port, or from it: whose was first
  port(far).send(*users[far].ius[0].exchange, wire::RCtl::solicited_control, {}, std::vector<std::uint8_t>(8, 2),
                 {.last_of_exchange = true});
  run_for(millisecond);
  EXPECT_EQ(received(alice), 1U);
  for (const auto& listener : listeners) EXPECT_EQ(listener.events.find_first_of("OfI"), std::string::npos);
  EXPECT_EQ(known(), 3U);
}

// FC-VI 7.7.4: LIPs in the middle of everything, between the loop and the fabric, both ways: each IU comes
// once, in order.
TEST_F(FlPortTest, logged_in_lips_lose_nothing) {
  ASSERT_TRUE(log_in(alice, far));
  ASSERT_TRUE(log_in(bob, alice));
  std::uint8_t mark = 0;
  for (int i = 0; i < 40; ++i) {
    for (int n = 0; n < 5; ++n, ++mark) {
      send(alice, id(far), mark);
      send(far, id(alice), mark);
    }
    run_for(100 + 73 * i);
    loop.lip(port(static_cast<std::size_t>(i) % 3));
    send(bob, id(alice), 0);
    run_for(i % 3 == 0 ? 500 : millisecond);
  }
  run_for(second);
  const auto in_order = [](const std::vector<support::RecordingUser::Iu>& ius, wire::FcId from) {
    int next = 0;
    for (const auto& iu : ius)
      if (iu.header.s_id == from && iu.bytes[0] == static_cast<std::uint8_t>(next)) ++next;
    return next;
  };
  EXPECT_EQ(in_order(users[far].ius, id(alice)), 200);
  EXPECT_EQ(in_order(users[alice].ius, id(far)), 200);
  EXPECT_EQ(users[alice].ius.size(), 240U);
  EXPECT_EQ(users[far].ius.size(), 200U);
}

// FC-VI 7.7.4: the loop is plugged into another port of the switch, which knows of no login (L_bit): FLOGI at once,
// other addresses, LOGO to everybody, also to the private port.
TEST_F(FlPortTest, logged_in_other_fl_port_logs_out) {
  for (const std::size_t to : {bob, priv, far}) ASSERT_TRUE(log_in(alice, to));
  const wire::FcId former = id(alice);
  FPort* other = near().attach(loop);
  near().detach(*fl_port);
  run_for(100 * millisecond);
  ASSERT_NE(other, nullptr);
  EXPECT_EQ(id(alice), wire::FcId{other->address().value | former.port()});
  EXPECT_NE(id(alice), former);
  for (const std::size_t to : {bob, priv, far}) EXPECT_FALSE(port(to).remote_port(former).logged_in()) << to;
  EXPECT_NE(listeners[alice].events.find("OOO"), std::string::npos);
  EXPECT_NE(listeners[far].events.find('O'), std::string::npos);
  EXPECT_EQ(known(), 3U);
  EXPECT_TRUE(log_in(alice, far));
  EXPECT_TRUE(log_in(alice, priv));
}

// A port leaves the loop: nobody claims its AL_PA in LIFA: the FL_Port logs it out, and the fabric hears of it.
TEST_F(FlPortTest, logged_in_port_leaves_is_logged_out) {
  ASSERT_TRUE(log_in(alice, far));
  const wire::FcId gone = id(bob);
  loop.detach(port(bob));
  run_for(second);
  EXPECT_EQ(known(), 2U);
  EXPECT_FALSE(fl_port->has(gone));
  EXPECT_TRUE(port(alice).remote_port(id(far)).logged_in());
  EXPECT_FALSE(port(alice).remote_port(id(far)).suspended());
  attach(loop, port(bob));
  run_for(second);
  EXPECT_EQ(id(bob), gone);
  EXPECT_EQ(known(), 3U);
}

// A frame that waited for such a port comes back to the FL_Port: nobody has that address.
TEST_F(FlPortTest, leaving_frame_to_it_is_unroutable) {
  ASSERT_TRUE(log_in(far, bob));
  const wire::FcId gone = id(bob);
  loop.detach(port(bob));
  send(far, gone);
  run_for(second);
  EXPECT_EQ(near().counters().discarded(Discard::Unroutable), 1U);
  EXPECT_EQ(loop.frames_returned(), 1U);
}

// FC-LS: LOGO to the fabric ends one login of the loop.
TEST_F(FlPortTest, logged_out_port_is_gone) {
  port(bob).log_out_of_fabric();
  run_for(second);
  EXPECT_FALSE(port(bob).online());
  EXPECT_TRUE(port(alice).online());
  EXPECT_EQ(known(), 2U);
}

// A broadcast reaches each port once, its sender not.
TEST_F(FlPortTest, logged_in_broadcast_reaches_each_once) {
  for (const std::size_t from : {alice, far}) {
    send(from, wire::well_known::broadcast);
    run_for(millisecond);
    for (std::size_t i = 0; i < 4; ++i) EXPECT_EQ(received(i), i == from ? 0U : 1U) << from << i;
  }
}

// FC-AL: of two FL_Ports one has AL_PA 00h, the other does not participate until that has gone.
TEST_F(FlPortTest, second_fl_port_waits) {
  FPort* second_one = near().attach(loop);
  run_for(second);
  EXPECT_FALSE(second_one->is_up());
  EXPECT_EQ(id(alice), wire::FcId{0x010101});
  near().detach(*fl_port);
  run_for(second);
  EXPECT_TRUE(second_one->is_up());
  EXPECT_EQ(id(alice), wire::FcId{second_one->address().value | 1});
}

// Without its FL_Port it is a private loop; when that is back, a public one (FC-VI 7.7.3, 7.7.4: each time
// all is changed).
TEST_F(FlPortTest, switch_crashes_loop_is_private_meanwhile) {
  ASSERT_TRUE(log_in(alice, bob));
  fabric.crash(near());
  run_for(100 * millisecond);
  EXPECT_FALSE(port(alice).has_fabric());
  EXPECT_EQ(id(alice), wire::FcId{0x000001});
  EXPECT_TRUE(log_in(alice, bob));
  fabric.restart(near());
  run_for(second);
  EXPECT_EQ(id(alice), wire::FcId{0x010101});
  EXPECT_EQ(known(), 3U);
  EXPECT_TRUE(log_in(alice, bob));
}

// What goes to a port that takes nothing is held back on the loop, and does not stop those who send elsewhere.
TEST_F(FlPortTest, slow_port_holds_the_loop_back) {
  near().detach(port(far));
  near().attach(port(far), {.latency_ns = microsecond, .bb_credit = 1, .processing_ns = 20 * microsecond});
  run_for(second);
  ASSERT_TRUE(log_in(alice, far));
  ASSERT_TRUE(log_in(bob, alice));
  for (int n = 0; n < 3000; ++n) send(alice, id(far), static_cast<std::uint8_t>(n));
  for (int n = 0; n < 100; ++n) send(bob, id(alice), static_cast<std::uint8_t>(n));
  run_for(5 * millisecond);
  EXPECT_EQ(users[alice].ius.size(), 100U);
  EXPECT_LT(users[far].ius.size(), 300U);
  run_for(second);
  EXPECT_EQ(users[far].ius.size(), 3000U);
  EXPECT_EQ(near().counters().discarded(), 0U);
}

// The area of a FL_Port is its own: what is left of the domain's addresses is others'.
TEST_F(FlPortTest, area_is_the_loops_own) {
  Loop second_loop(scheduler, pool, {});
  FPort* other = near().attach(second_loop);
  ASSERT_NE(other, nullptr);
  run_for(millisecond);
  EXPECT_EQ(other->address(), wire::FcId{0x010300});
  near().detach(*other);
  Loop third_loop(scheduler, pool, {});
  EXPECT_EQ(near().attach(third_loop), other);
}

class TwoSwitchFlPortTest : public FlPortTest {
 protected:
  TwoSwitchFlPortTest() : FlPortTest(2) {}
};

// FC-VI 7.7.4: the fabrics grow together: at the next LIP the FAN names another fabric, and all that was is over.
TEST_F(TwoSwitchFlPortTest, logged_in_fabric_name_changed_logs_out) {
  ASSERT_TRUE(log_in(alice, bob));
  const wire::FcId before = id(alice);
  fabric.connect(fabric.at(0), fabric.at(1), {.latency_ns = microsecond});
  run_for(second);
  ASSERT_EQ(near().fabric_name(), fabric.at(0).config().switch_name);
  EXPECT_TRUE(port(alice).remote_port(id(bob)).logged_in());
  support::FrameLog log;
  loop.tap(port(alice), &log);
  loop.lip(port(priv));
  run_for(second);
  EXPECT_EQ(log.received(Command::fan), 1U);
  EXPECT_EQ(log.sent(Command::flogi), 1U);
  EXPECT_EQ(id(alice), before);
  EXPECT_FALSE(port(bob).remote_port(id(alice)).logged_in());
  loop.tap(port(alice), nullptr);
  EXPECT_TRUE(log_in(alice, far));
  EXPECT_TRUE(log_in(far, bob));
}

}  // namespace
}  // namespace fc2
