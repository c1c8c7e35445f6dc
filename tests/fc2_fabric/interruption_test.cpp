// A link goes and comes back: logins survive where every address proves to be what it was, and end where
// not (FC-VI 7.7).
#include <gtest/gtest.h>

#include "fc2_fabric/link/link.hpp"
#include "tests/support/fc4.hpp"
#include "tests/support/flogi_frame.hpp"
#include "tests/support/frame_log.hpp"
#include "tests/support/login_listener.hpp"
#include "tests/support/made_frame.hpp"
#include "tests/support/port_pair.hpp"
#include "tests/support/test_fabric.hpp"

namespace fc2 {
namespace {

using Listener = support::LoginListener;
using support::RecordingUser;
using wire::els::Command;

std::vector<std::uint8_t> iu(std::uint8_t mark) { return std::vector<std::uint8_t>(8, mark); }

// --- fabric: FC-VI 7.7.5 -----------------------------------------------------------------------------------------

class FabricInterruptionTest : public testing::Test {
 protected:
  FabricInterruptionTest() {
    fabric.bring_up();
    EXPECT_TRUE(fabric.log_in(0, 1));
    for (std::size_t i = 0; i < 2; ++i) {
      fabric.port(i).add_listener(listeners[i]);
      fabric.port(i).set_user(support::fc4, users[i]);
    }
    a_id = fabric.port(0).n_port_id();
    b_id = fabric.port(1).n_port_id();
    fabric.fabric.tap(fabric.port(0), &log);
  }
  ~FabricInterruptionTest() override {
    for (std::size_t i = 0; i < 2; ++i) {
      EXPECT_EQ(fabric.port(i).counters().unexpected_events, 0U);
      EXPECT_EQ(fabric.port(i).open_exchanges(), 0U);
      fabric.port(i).remove_listener(listeners[i]);  // the fabric goes after them
    }
  }
  NPort& a() { return fabric.port(0); }
  NPort& b() { return fabric.port(1); }
  RemotePort& b_at_a() { return a().remote_port(b_id); }
  RemotePort& a_at_b() { return b().remote_port(a_id); }
  Link& a_link() { return *fabric.fabric.link_of(a()); }
  Exchange* ask(TimeNs timeout = 0) {
    return a().request(b_id, wire::RCtl::unsolicited_control, wire::Type::fc_vi, iu(1), users[0], timeout);
  }
  void answer() {
    b().send(*users[1].ius.back().exchange, wire::RCtl::solicited_control, {}, iu(2), {.last_of_exchange = true});
  }

  support::TestFabric fabric{2, {.e_d_tov = 500 * millisecond, .r_a_tov = 3 * second}};
  std::array<Listener, 2> listeners;
  std::array<RecordingUser, 2> users;
  support::FrameLog log;
  wire::FcId a_id{}, b_id{};
};

// FC-VI 7.7.5: NOS, FLOGI, all three addresses as before: nobody is logged out, an exchange that was open goes on.
TEST_F(FabricInterruptionTest, logged_in_nos_unchanged_resumes) {
  ask();
  fabric.run_for(millisecond);
  a_link().b.fail();
  EXPECT_TRUE(a().interrupted());
  EXPECT_FALSE(a().online());
  EXPECT_TRUE(b_at_a().suspended());
  fabric.run_for(millisecond);
  EXPECT_EQ(log.sent(Command::flogi), 1U);
  EXPECT_EQ(a().n_port_id(), a_id);
  EXPECT_FALSE(b_at_a().suspended());
  answer();
  fabric.run_for(second);
  ASSERT_EQ(users[0].ius.size(), 1U);
  EXPECT_EQ(users[0].ius[0].bytes, iu(2));
  EXPECT_EQ(listeners[0].events, "F");
  EXPECT_EQ(listeners[1].events, "");
  EXPECT_EQ(log.sent(Command::logo), 0U);
}

// FC-VI 7.7.5: amid the interruption somebody else's FLOGI comes. The fabric's accept tells that all is as before.
TEST_F(FabricInterruptionTest, logging_in_again_flogi_of_a_stranger_resumes) {
  ask();
  fabric.run_for(millisecond);
  a_link().b.fail();
  while (log.sent(Command::flogi) == 0) ASSERT_TRUE(fabric.scheduler.run_next(fabric.scheduler.now() + millisecond));
  ASSERT_FALSE(a().online());
  a().receive(support::flogi_frame(fabric.pool, a().login_parameters(Command::flogi)));
  fabric.run_for(millisecond);
  EXPECT_EQ(a().n_port_id(), a_id);
  EXPECT_TRUE(a().online());
  answer();
  fabric.run_for(second);
  EXPECT_EQ(users[0].ius.size(), 1U);
  EXPECT_EQ(users[0].failures.size(), 0U);
  EXPECT_EQ(log.sent(Command::logo), 0U);
}

// What is to be sent meanwhile waits, and goes when the addresses have been compared, in order.
TEST_F(FabricInterruptionTest, suspended_sends_wait) {
  a_link().cut();
  ask();
  ask();
  fabric.run_for(second);
  EXPECT_EQ(users[1].ius.size(), 0U);
  a_link().mend();
  fabric.run_for(second);
  ASSERT_EQ(users[1].ius.size(), 2U);
  EXPECT_LT(users[1].ius[0].header.ox_id.value, users[1].ius[1].header.ox_id.value);
  answer();
  b().send(*users[1].ius.front().exchange, wire::RCtl::solicited_control, {}, iu(2), {.last_of_exchange = true});
  fabric.run_for(second);
  EXPECT_EQ(users[0].ius.size(), 2U);
  EXPECT_EQ(users[0].failures.size(), 0U);
}

// What a peer makes us answer meanwhile waits too, but not without end.
TEST_F(FabricInterruptionTest, suspended_flood_of_requests_is_bounded) {
  a_link().cut();
  ASSERT_TRUE(b_at_a().suspended());
  const std::size_t most = a().config().max_waiting_frames;
  for (std::size_t i = 0; i < 2 * most; ++i) {
    wire::FcHeader abts{.r_ctl = wire::RCtl::abts, .d_id = a_id, .s_id = b_id, .type = wire::Type::bls};
    abts.ox_id = {static_cast<std::uint16_t>(i % 0xFFFF)};
    a().receive(support::made_frame(fabric.pool, abts));
  }
  EXPECT_EQ(fabric.pool.outstanding(), most);
  EXPECT_EQ(a().counters().discarded(Discard::NoResources), most);
  a_link().mend();
  fabric.run_for(second);
  EXPECT_EQ(fabric.pool.outstanding(), 0U);
  EXPECT_TRUE(b_at_a().logged_in());
}

/// Asks for another port as soon as a login fails, as a Connection Setup does that has more than one port to ask.
struct AsksNext final : PortListener {
  AsksNext(NPort& its_port, wire::FcId its_next) : port(its_port), next(its_next) { port.add_listener(*this); }
  ~AsksNext() { port.remove_listener(*this); }
  void fabric_logged_in() override {}
  void fabric_login_failed() override {}
  void remote_port_logged_in(RemotePort&) override {}
  void remote_port_login_failed(RemotePort&) override {
    if (port.find_remote_port(next) == nullptr) port.remote_port(next).log_in();
  }
  void remote_port_logged_out(RemotePort&) override {}
  NPort& port;
  const wire::FcId next;
};

// Who hears that a login ends with the link, and asks for a port that was not known, finds it without a link: it does
// not lose that once more (FC-VI 7.7.1). When the link is back all is as before.
TEST_F(FabricInterruptionTest, logging_in_link_lost_listener_asks_for_another_port) {
  for (const bool for_good : {false, true}) {
    const wire::FcId awaited{0x0101F0u + for_good}, next{0x0101F8u + for_good};
    AsksNext asks_next(a(), next);
    a().remote_port(awaited).log_in();
    for_good ? a().link_down() : a().link_interrupted();
    EXPECT_EQ(a().counters().unexpected_events, 0U) << for_good;
    EXPECT_EQ(a().remote_port(next).state_name(), "Offline") << for_good;
    EXPECT_TRUE(a().is_consistent()) << for_good;
    a_link().b.fail();
    fabric.run_for(100 * second);  // nobody answers the ABTS of that PLOGI
    EXPECT_EQ(a().remote_port(next).state_name(), "LoggedOut") << for_good;
  }
}

// Timers go on: a reply that is overdue is so whether the link is there or not.
TEST_F(FabricInterruptionTest, suspended_timers_go_on) {
  ask(500 * millisecond);
  fabric.run_for(millisecond);
  a_link().cut();
  fabric.run_for(second);
  EXPECT_EQ(users[0].failures, std::vector{ExchangeFailure::ReplyTimeout});
  a_link().mend();
  fabric.run_for(100 * second);
  EXPECT_TRUE(b_at_a().logged_in());
  EXPECT_EQ(users[1].failures, std::vector{ExchangeFailure::AbortedByPeer});  // the ABTS waited, too
}

// FC-VI 7.7.5: another N_Port_ID: LOGO to everybody, and both sides know that it is over.
TEST_F(FabricInterruptionTest, logged_in_address_changed_logs_out) {
  ask();
  fabric.run_for(millisecond);
  ASSERT_TRUE(fabric.fabric.replug(a()));
  fabric.fabric.tap(a(), &log);
  EXPECT_TRUE(b_at_a().suspended());
  fabric.run_for(second);
  EXPECT_NE(a().n_port_id(), a_id);
  EXPECT_FALSE(b_at_a().logged_in());
  EXPECT_FALSE(a_at_b().logged_in());
  EXPECT_EQ(users[0].failures, std::vector{ExchangeFailure::PortLoggedOut});
  EXPECT_EQ(users[1].failures, std::vector{ExchangeFailure::PortLoggedOut});
  EXPECT_EQ(listeners[0].events, "OF");
  EXPECT_EQ(listeners[1].events, "O");
  EXPECT_EQ(log.sent(Command::logo), 1U);
  EXPECT_TRUE(fabric.log_in(0, 1));
}

// The link stays away: after R_A_TOV no exchange can go on, the login is over.
TEST_F(FabricInterruptionTest, suspended_link_stays_away_logs_out) {
  ask();
  fabric.run_for(millisecond);
  a_link().cut();
  fabric.run_for(2 * second);
  EXPECT_EQ(listeners[0].events, "");
  fabric.run_for(2 * second);
  EXPECT_EQ(listeners[0].events, "O");
  EXPECT_EQ(users[0].failures, std::vector{ExchangeFailure::PortLoggedOut});
  EXPECT_FALSE(a().interrupted());
  a_link().mend();
  fabric.run_for(second);
  EXPECT_TRUE(a().online());
  EXPECT_TRUE(fabric.log_in(0, 1));
  users[1].ius.clear();
  fabric.run_for(100 * second);
}

// The port is unplugged while it is suspended: the same, at once.
TEST_F(FabricInterruptionTest, suspended_unplugged_logs_out) {
  a_link().cut();
  EXPECT_EQ(listeners[0].events, "");
  fabric.detach(0);
  EXPECT_EQ(listeners[0].events, "O");
  EXPECT_FALSE(a().interrupted());
}

// Again and again: what is suspended stays so until the link stays.
TEST_F(FabricInterruptionTest, suspended_interrupted_again_resumes) {
  for (int i = 0; i < 5; ++i) {
    a_link().b.fail();
    fabric.run_for(3 * microsecond + i * microsecond);
  }
  fabric.run_for(second);
  EXPECT_TRUE(b_at_a().logged_in());
  EXPECT_FALSE(b_at_a().suspended());
  EXPECT_EQ(listeners[0].events.find('O'), std::string::npos);
  ask();
  fabric.run_for(second);
  EXPECT_EQ(users[1].ius.size(), 1U);
  answer();
  fabric.run_for(20 * second);  // FLOGIs that went lost were aborted
}

// With oneself there is no login, but what waits for the loopback waits with the rest.
TEST_F(FabricInterruptionTest, suspended_loopback_waits) {
  a().remote_port(a_id);
  a_link().cut();
  a().request(a_id, wire::RCtl::unsolicited_control, wire::Type::fc_vi, iu(3), users[0], 0);
  fabric.run_for(second);
  EXPECT_EQ(users[0].ius.size(), 0U);
  a_link().mend();
  fabric.run_for(second);
  ASSERT_EQ(users[0].ius.size(), 1U);
  a().send(*users[0].ius[0].exchange, wire::RCtl::solicited_control, {}, iu(4), {.last_of_exchange = true});
  fabric.run_for(second);
  EXPECT_EQ(users[0].ius.size(), 2U);
}

// --- frames to a port that is away: FC-VI 7.7.5 ------------------------------------------------------------------

class AwayTest : public FabricInterruptionTest {
 protected:
  void send_to_a(std::uint8_t mark) {
    b().send(*b().originate(a_id, wire::Type::fc_vi, users[1]), wire::RCtl::unsolicited_control, {}, iu(mark),
             {.last_of_exchange = true});
  }
  std::uint64_t discarded(Discard reason) { return fabric.fabric.counters().discarded(reason); }
};

// What others send while the link is gone, and until the FLOGI is through, waits at the F_Port, and follows its accept.
TEST_F(AwayTest, away_frames_to_it_wait) {
  a_link().cut();
  for (std::uint8_t mark = 0; mark < 3; ++mark) send_to_a(mark);
  fabric.run_for(second);
  EXPECT_EQ(users[0].ius.size(), 0U);
  log.clear();
  a_link().mend();
  fabric.run_for(second);
  ASSERT_EQ(users[0].ius.size(), 3U);
  for (std::uint8_t mark = 0; mark < 3; ++mark) EXPECT_EQ(users[0].ius[mark].bytes, iu(mark));
  bool accepted = false;
  for (const auto& frame : log.frames()) {
    accepted = accepted || frame.is_els(Command::ls_acc);
    EXPECT_TRUE(accepted || frame.header.type != wire::Type::fc_vi);
  }
  EXPECT_EQ(fabric.fabric.counters().discarded(), 0U);
  EXPECT_EQ(a().counters().discarded(), 0U);
}

// Many: their senders are held back, and every one comes, in order.
TEST_F(AwayTest, away_many_frames_to_it_wait) {
  a_link().cut();
  for (int i = 0; i < 2000; ++i) {
    send_to_a(static_cast<std::uint8_t>(i));
    fabric.run_for(10 * microsecond);
  }
  a_link().mend();
  fabric.run_for(second);
  ASSERT_EQ(users[0].ius.size(), 2000U);
  for (std::size_t i = 0; i < 2000; ++i) EXPECT_EQ(users[0].ius[i].bytes, iu(static_cast<std::uint8_t>(i)));
  EXPECT_EQ(fabric.fabric.counters().discarded(), 0U);
}

// NOS in the middle of traffic, again and again: nothing is lost either way.
TEST_F(AwayTest, nos_loses_nothing) {
  for (int i = 0; i < 200; ++i) {
    send_to_a(static_cast<std::uint8_t>(i));
    a().send(*a().originate(b_id, wire::Type::fc_vi, users[0]), wire::RCtl::unsolicited_control, {},
             iu(static_cast<std::uint8_t>(i)), {.last_of_exchange = true});
    if (i % 10 == 0) (i % 20 == 0 ? a_link().a : a_link().b).fail();
    fabric.run_for(700 + 31 * i);
  }
  fabric.run_for(second);
  EXPECT_EQ(users[0].ius.size(), 200U);
  EXPECT_EQ(users[1].ius.size(), 200U);
  EXPECT_EQ(listeners[0].events.find('O'), std::string::npos);
  fabric.run_for(20 * second);
}

// It stays away for the hold time: what waited is lost, and counted; the fabric knows it no more, and nobody
// waits for it.
TEST_F(AwayTest, away_beyond_hold_time_is_logged_out) {
  a_link().cut();
  send_to_a(0);
  fabric.run_for(1900 * millisecond);
  EXPECT_EQ(fabric.fabric.logged_in_ports(), 2U);
  fabric.run_for(200 * millisecond);
  EXPECT_EQ(fabric.fabric.logged_in_ports(), 1U);
  EXPECT_EQ(discarded(Discard::HeldTooLong), 1U);
  send_to_a(1);
  fabric.run_for(millisecond);
  EXPECT_EQ(discarded(Discard::Unroutable), 1U);
  a_link().mend();
  fabric.run_for(second);
  EXPECT_EQ(a().n_port_id(), a_id);
  send_to_a(2);
  fabric.run_for(second);
  ASSERT_EQ(users[0].ius.size(), 1U);
  EXPECT_EQ(users[0].ius[0].bytes, iu(2));
}

// The port is unplugged, or its cable goes elsewhere: nobody waits for it.
TEST_F(AwayTest, away_replugged_frames_are_lost) {
  a_link().cut();
  send_to_a(0);
  fabric.run_for(millisecond);
  ASSERT_TRUE(fabric.fabric.replug(a()));
  EXPECT_EQ(discarded(Discard::HeldTooLong), 1U);
  fabric.run_for(second);
  EXPECT_NE(a().n_port_id(), a_id);
  EXPECT_EQ(users[0].ius.size(), 0U);
}

// Its name logs in at another port of the switch meanwhile: it will not come back where it was.
TEST_F(AwayTest, away_name_logs_in_elsewhere) {
  a_link().cut();
  fabric.run_for(millisecond);
  NPort moved(fabric.scheduler, fabric.pool, support::port_config(0));
  fabric.fabric.attach(moved, fabric.link);
  fabric.run_for(millisecond);
  EXPECT_TRUE(moved.online());
  EXPECT_EQ(fabric.fabric.logged_in_ports(), 2U);
  fabric.fabric.detach(moved);
}

// --- private loop: FC-VI 7.7.3 -----------------------------------------------------------------------------------

class LoopInterruptionTest : public testing::Test {
 protected:
  static constexpr wire::FcId a_id{0x000001}, b_id{0x000002};
  LoopInterruptionTest() {
    a.add_listener(a_listener);
    b.add_listener(b_listener);
    b.set_user(support::fc4, b_user);
    from_a.tap_sender(&log);
    from_b.tap_receiver(&log);
    a.link_up_without_fabric(from_a, a_id);
    b.link_up_without_fabric(from_b, b_id);
    a.remote_port(b_id).log_in();
    run_for(millisecond);
    EXPECT_TRUE(a.remote_port(b_id).logged_in());
    log.clear();
  }
  ~LoopInterruptionTest() override { EXPECT_EQ(a.counters().unexpected_events + b.counters().unexpected_events, 0U); }
  void run_for(TimeNs duration) { scheduler.run_until(scheduler.now() + duration); }
  void lip() {
    a.link_interrupted();
    b.link_interrupted();
    from_a.clear();
    from_b.clear();
  }
  void send() { a.request(b_id, wire::RCtl::unsolicited_control, wire::Type::fc_vi, iu(1), a_user, 0); }

  Scheduler scheduler;
  FramePool pool;
  Listener a_listener, b_listener;
  RecordingUser a_user, b_user;
  support::FrameLog log;
  NPort a{scheduler, pool, support::port_config(0)}, b{scheduler, pool, support::port_config(1)};
  Channel from_a{scheduler, {.latency_ns = 1000}, b}, from_b{scheduler, {.latency_ns = 1000}, a};
};

// FC-VI 7.7.3: after a LIP no FC-VI IU goes before an ADISC is through; then exchanges continue.
TEST_F(LoopInterruptionTest, logged_in_lip_unchanged_validates_by_adisc) {
  lip();
  send();
  b.link_up_without_fabric(from_b, b_id);
  a.link_up_without_fabric(from_a, a_id);
  send();
  run_for(millisecond);
  EXPECT_EQ(a_listener.events + b_listener.events, "FIFFIF");
  EXPECT_EQ(b_user.ius.size(), 2U);
  ASSERT_GE(log.size(), 3U);
  EXPECT_TRUE(log.frames()[0].is_els(Command::adisc));
  std::size_t validated_at = 0, first_iu_at = 0;
  for (std::size_t i = log.size(); i-- > 0;) {
    if (!log.frames()[i].outbound) validated_at = i;
    if (log.frames()[i].header.type == wire::Type::fc_vi) first_iu_at = i;
  }
  EXPECT_LT(validated_at, first_iu_at);
  EXPECT_EQ(log.sent(Command::logo) + log.sent(Command::plogi), 0U);
}

// FC-VI 7.7.3: "sending or receiving ADISC ACC": the other's ADISC serves as well as its answer to ours.
TEST_F(LoopInterruptionTest, validating_adisc_of_peer_validates) {
  lip();
  send();
  b.link_up_without_fabric(from_b, b_id);
  a.link_up_without_fabric(from_a, a_id);
  run_for(1500);  // each has the other's ADISC, none an answer
  EXPECT_FALSE(a.remote_port(b_id).suspended());
  EXPECT_FALSE(b.remote_port(a_id).suspended());
  run_for(100 * second);
  EXPECT_EQ(b_user.ius.size(), 1U);
}

// FC-VI 7.7.3: the port's own address changed: a LOGO to each, mappings are void; the other side ends it, too.
TEST_F(LoopInterruptionTest, logged_in_own_address_changed_logs_out) {
  send();
  run_for(millisecond);
  lip();
  b.link_up_without_fabric(from_b, b_id);
  a.link_up_without_fabric(from_a, {0x0000E8});
  run_for(millisecond);
  EXPECT_EQ(a_user.failures, std::vector{ExchangeFailure::PortLoggedOut});
  EXPECT_EQ(b_user.failures, std::vector{ExchangeFailure::PortLoggedOut});
  EXPECT_EQ(log.sent(Command::logo), 1U);
  EXPECT_EQ(a_listener.events, "FIOF");
  EXPECT_EQ(b_listener.events, "FIFO");
}

// FC-VI 7.7.3: another port has the address now: its ADISC ACC, or its reject, is not the peer's: explicit logout.
TEST_F(LoopInterruptionTest, logged_in_peer_replaced_logs_out) {
  send();
  run_for(millisecond);
  lip();
  NPort c(scheduler, pool, support::port_config(2));
  Channel to_c(scheduler, {.latency_ns = 1000}, c), from_c(scheduler, {.latency_ns = 1000}, a);
  c.link_up_without_fabric(from_c, b_id);
  a.link_up_without_fabric(to_c, a_id);
  run_for(millisecond);
  EXPECT_FALSE(a.remote_port(b_id).logged_in());
  EXPECT_EQ(a_user.failures, std::vector{ExchangeFailure::PortLoggedOut});
  EXPECT_EQ(a_listener.events, "FIFO");
}

// Nobody answers: after the time-out of the ADISC the login is over.
TEST_F(LoopInterruptionTest, validating_silence_logs_out) {
  lip();
  a.link_up_without_fabric(from_a, a_id);
  run_for(19 * second);
  EXPECT_TRUE(a.remote_port(b_id).suspended());
  run_for(2 * second);
  EXPECT_FALSE(a.remote_port(b_id).logged_in());
  EXPECT_EQ(a_listener.events, "FIFO");
}

// A login that is asked for while it is validated gets its answer from the outcome, either way.
TEST_F(LoopInterruptionTest, validating_login_requested_is_answered) {
  lip();
  b.link_up_without_fabric(from_b, b_id);
  a.link_up_without_fabric(from_a, a_id);
  a.remote_port(b_id).log_in();
  EXPECT_EQ(a_listener.events, "FIF");
  run_for(millisecond);
  EXPECT_EQ(a_listener.events, "FIFI");
  lip();
  a.link_up_without_fabric(from_a, a_id);
  a.remote_port(b_id).log_in();
  run_for(100 * second);
  EXPECT_EQ(a_listener.events, "FIFIFOx");
}

}  // namespace
}  // namespace fc2
