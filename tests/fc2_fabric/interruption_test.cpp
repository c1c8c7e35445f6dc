// A link goes and comes back: logins survive where every address proves to be what it was, and end where not (FC-VI 7.7).
#include <gtest/gtest.h>

#include "fc2_fabric/link.hpp"
#include "fc2_fabric/point_to_point.hpp"
#include "tests/support/frame_log.hpp"
#include "tests/support/port_pair.hpp"
#include "tests/support/test_fabric.hpp"
#include "wire/els/adisc.hpp"
#include "wire/els/fan.hpp"
#include "wire/els/login.hpp"

namespace fc2 {
namespace {

using support::RecordingUser;
using wire::els::Command;

struct Listener final : PortListener {
  void fabric_logged_in() override { events += "F"; }
  void fabric_login_failed() override { events += "f"; }
  void remote_port_logged_in(RemotePort&) override { events += "I"; }
  void remote_port_login_failed(RemotePort&) override { events += "x"; }
  void remote_port_logged_out(RemotePort&) override { events += "O"; }
  std::string events;
};

std::vector<std::uint8_t> iu(std::uint8_t mark) { return std::vector<std::uint8_t>(8, mark); }
template <class Message>
std::vector<std::uint8_t> bytes_of(const Message& message) {
  std::vector<std::uint8_t> bytes(message.size());
  message.write(bytes);
  return bytes;
}

// --- fabric: FC-VI 7.7.5 -----------------------------------------------------------------------------------------

class FabricInterruptionTest : public testing::Test {
 protected:
  FabricInterruptionTest() {
    fabric.bring_up();
    EXPECT_TRUE(fabric.log_in(0, 1));
    for (std::size_t i = 0; i < 2; ++i) {
      fabric.port(i).add_listener(listeners[i]);
      fabric.port(i).set_user(wire::Type::fc_vi, users[i]);
    }
    a_id = fabric.port(0).n_port_id();
    b_id = fabric.port(1).n_port_id();
    fabric.fabric.tap(fabric.port(0), &log);
  }
  ~FabricInterruptionTest() override {
    for (std::size_t i = 0; i < 2; ++i) {
      EXPECT_EQ(fabric.port(i).counters().unexpected_events, 0U);
      EXPECT_EQ(fabric.port(i).open_exchanges(), 0U);
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

// --- private loop: FC-VI 7.7.3 -----------------------------------------------------------------------------------

class LoopInterruptionTest : public testing::Test {
 protected:
  static constexpr wire::FcId a_id{0x000001}, b_id{0x000002};
  LoopInterruptionTest() {
    a.add_listener(a_listener);
    b.add_listener(b_listener);
    b.set_user(wire::Type::fc_vi, b_user);
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

// --- public loop: FC-VI 7.7.4 ------------------------------------------------------------------------------------

/// The FL_Port, and all that is behind it, by hand.
class FlPort final : public FrameReceiver {
 public:
  FlPort(Scheduler& scheduler, FramePool& pool) : scheduler_(scheduler), pool_(pool) {}
  void receive(FramePtr frame) override { log.receive(std::move(frame)); }
  void send(NPort& port, wire::RCtl r_ctl, wire::FcId d_id, wire::FcId s_id, wire::OxId ox_id, std::span<const std::uint8_t> payload) {
    FramePtr frame = pool_.take();
    wire::FcHeader header;
    header.r_ctl = r_ctl;
    header.type = wire::Type::els;
    header.d_id = d_id;
    header.s_id = s_id;
    header.ox_id = ox_id;
    header.f_ctl = r_ctl == wire::RCtl::els_reply ? 0x980000 : 0x290000;
    header.write(frame->bytes);
    std::copy(payload.begin(), payload.end(), frame->data_field().begin());
    frame->size_bytes = static_cast<std::uint16_t>(frame_header_bytes + payload.size());
    frame->sof = wire::Sof::i3;
    frame->eof = wire::Eof::t;
    port.receive(std::move(frame));
  }
  /// Answers the last FLOGI or PLOGI that came.
  void accept(NPort& port, wire::FcId granted, wire::Wwn port_name, wire::Wwn node_name, bool f_port) {
    const auto& request = log.frames().back();
    wire::els::Login login = port.login_parameters(Command::ls_acc);
    if (f_port) login.features = wire::els::feature::f_port;
    if (f_port) login.set_r_a_tov_ms(10'000);
    login.port_name = port_name;
    login.node_name = node_name;
    send(port, wire::RCtl::els_reply, granted, request.header.d_id, request.header.ox_id, bytes_of(login));
  }
  support::FrameLog log;

 private:
  [[maybe_unused]] Scheduler& scheduler_;
  FramePool& pool_;
};

class PublicLoopTest : public testing::Test {
 protected:
  static constexpr wire::FcId own{0x010101}, far{0x010201}, near{0x0000E8};
  static constexpr wire::Wwn fl_name{0x2000'0000'0000'00F1}, fabric_name{0x1000'0000'0000'00F1};
  PublicLoopTest() {
    port.add_listener(listener);
    port.link_up_on_public_loop(output, own.port());
    run_for(millisecond);
    EXPECT_EQ(fl_port.log.frames().back().header.s_id, wire::FcId{0x000001});
    fl_port.accept(port, own, fl_name, fabric_name, true);
    for (const wire::FcId id : {far, near}) {
      port.remote_port(id).log_in();
      run_for(millisecond);
      fl_port.accept(port, own, {0x2000'0000'0000'0000U + id.value}, {0x1000'0000'0000'0000U + id.value}, false);
    }
    EXPECT_EQ(listener.events, "FII");
    fl_port.log.clear();
  }
  ~PublicLoopTest() override { EXPECT_EQ(port.counters().unexpected_events, 0U); }
  void run_for(TimeNs duration) { scheduler.run_until(scheduler.now() + duration); }
  void lip(std::uint8_t al_pa) {
    port.link_interrupted();
    port.link_up_on_public_loop(output, al_pa);
    run_for(millisecond);
  }
  void fan(wire::Wwn name) {
    const auto payload = bytes_of(wire::els::Fan{.loop_fabric_address = {0x010100}, .port_name = name, .fabric_name = fabric_name});
    fl_port.send(port, wire::RCtl::els_request, own, wire::well_known::f_port, {77}, payload);
    run_for(millisecond);
  }

  Scheduler scheduler;
  FramePool pool;
  Listener listener;
  FlPort fl_port{scheduler, pool};
  Channel output{scheduler, {.latency_ns = 1000}, fl_port};
  NPort port{scheduler, pool, support::port_config(0)};
};

// FC-VI 7.7.4: nothing goes before the FAN; it names the same fabric: exchanges resume, private ports are asked by ADISC.
TEST_F(PublicLoopTest, lip_fan_same_resumes) {
  lip(own.port());
  EXPECT_EQ(fl_port.log.size(), 0U);
  EXPECT_TRUE(port.remote_port(far).suspended());
  fan(fl_name);
  EXPECT_TRUE(port.online());
  EXPECT_EQ(port.n_port_id(), own);
  EXPECT_FALSE(port.remote_port(far).suspended());
  EXPECT_TRUE(port.remote_port(near).suspended());
  ASSERT_EQ(fl_port.log.size(), 1U);  // no FLOGI, no answer to FAN
  EXPECT_TRUE(fl_port.log.frames()[0].is_els(Command::adisc));
  EXPECT_EQ(fl_port.log.frames()[0].header.d_id, near);
  wire::els::Adisc adisc{.command = Command::ls_acc, .port_name = {0x2000'0000'0000'0000U + near.value},
                         .node_name = {0x1000'0000'0000'0000U + near.value}, .n_port_id = near};
  fl_port.send(port, wire::RCtl::els_reply, own, near, fl_port.log.frames()[0].header.ox_id, bytes_of(adisc));
  EXPECT_FALSE(port.remote_port(near).suspended());
  EXPECT_EQ(listener.events, "FIIF");
}

// FC-VI 7.7.4: the FAN names another fabric: FLOGI, then LOGO to everybody.
TEST_F(PublicLoopTest, lip_fan_differs_logs_out) {
  lip(own.port());
  fan({fl_name.value + 1});
  ASSERT_EQ(fl_port.log.size(), 1U);
  EXPECT_TRUE(fl_port.log.frames()[0].is_els(Command::flogi));
  fl_port.accept(port, own, {fl_name.value + 1}, fabric_name, true);
  run_for(millisecond);
  EXPECT_EQ(listener.events, "FIIOOF");
  const auto is_logo = [](const support::LoggedFrame& f) { return f.is_els(Command::logo); };
  EXPECT_EQ(fl_port.log.count(is_logo), 2U);
}

// FC-VI 7.7.4: another AL_PA: no FAN is waited for.
TEST_F(PublicLoopTest, lip_al_pa_changed_logs_in_and_out) {
  lip(0x02);
  ASSERT_EQ(fl_port.log.size(), 1U);
  EXPECT_EQ(fl_port.log.frames()[0].header.s_id, wire::FcId{0x000002});
  fl_port.accept(port, {0x010102}, fl_name, fabric_name, true);
  run_for(millisecond);
  EXPECT_EQ(port.n_port_id(), wire::FcId{0x010102});
  EXPECT_EQ(listener.events, "FIIOOF");
}

// No FAN in E_D_TOV: FLOGI; the address that it brings proves nothing any more.
TEST_F(PublicLoopTest, lip_no_fan_logs_in_and_out) {
  lip(own.port());
  run_for(3 * second);
  ASSERT_EQ(fl_port.log.size(), 1U);
  fl_port.accept(port, own, fl_name, fabric_name, true);
  run_for(millisecond);
  EXPECT_EQ(listener.events, "FIIOOF");
}

// A FAN that nobody waits for changes nothing, and is not answered.
TEST_F(PublicLoopTest, online_fan_is_ignored) {
  fan({fl_name.value + 1});
  EXPECT_EQ(fl_port.log.size(), 0U);
  EXPECT_EQ(listener.events, "FII");
}

// --- point-to-point: FC-VI 7.7.2 ---------------------------------------------------------------------------------

class PointToPointTest : public testing::Test {
 protected:
  PointToPointTest() {
    a.add_listener(a_listener);
    b.add_listener(b_listener);
  }
  ~PointToPointTest() override { EXPECT_EQ(a.counters().unexpected_events + b.counters().unexpected_events, 0U); }
  void run_for(TimeNs duration) { scheduler.run_until(scheduler.now() + duration); }
  [[nodiscard]] bool both_logged_in() {
    return a.online() && b.online() && a.remote_port(b.n_port_id()).logged_in() && b.remote_port(a.n_port_id()).logged_in();
  }

  Scheduler scheduler;
  FramePool pool;
  Listener a_listener, b_listener;
  NPort a{scheduler, pool, support::port_config(0)}, b{scheduler, pool, support::port_config(1)};  // b has the higher name
};

// FC-LS: FLOGI of both, answered without the F_Port bit; the higher Port_Name assigns both addresses, by its PLOGI.
TEST_F(PointToPointTest, joined_higher_name_assigns_addresses) {
  PointToPoint pair(scheduler, {.latency_ns = microsecond, .bb_credit = 4}, a, b);
  support::FrameLog log;
  pair.link.b.output().tap_sender(&log);
  pair.link.a.output().tap_receiver(&log);
  run_for(millisecond);
  EXPECT_TRUE(both_logged_in());
  EXPECT_TRUE(a.is_point_to_point());
  EXPECT_FALSE(a.has_fabric());
  EXPECT_EQ(a_listener.events, "FI");
  EXPECT_EQ(b_listener.events, "FI");
  EXPECT_EQ(log.sent(Command::plogi), 1U);
  EXPECT_EQ(log.received(Command::plogi), 0U);
  EXPECT_EQ(log.sent(Command::flogi) + log.received(Command::flogi), 2U);
  EXPECT_EQ(pair.link.a.credit().limit(), 4U);
  EXPECT_EQ(pair.link.b.credit().limit(), 4U);
}

// FC-VI 7.7.2: NOS/OLS logs out, and everything begins anew; LR does not.
TEST_F(PointToPointTest, logged_in_nos_logs_out_lr_does_not) {
  PointToPoint pair(scheduler, {.latency_ns = microsecond}, a, b);
  run_for(millisecond);
  pair.link.a.reset();
  run_for(millisecond);
  EXPECT_EQ(a_listener.events + b_listener.events, "FIFI");
  pair.link.a.fail();
  EXPECT_EQ(a_listener.events, "FIO");
  run_for(millisecond);
  EXPECT_TRUE(both_logged_in());
  EXPECT_EQ(a_listener.events, "FIOFI");
  EXPECT_EQ(b_listener.events, "FIOFI");
  pair.link.b.go_offline();
  run_for(millisecond);
  EXPECT_TRUE(both_logged_in());
  EXPECT_EQ(a_listener.events, "FIOFIOFI");
}

// Each of the first frames is lost once: time-outs repeat them, and both log in all the same.
TEST_F(PointToPointTest, joined_any_loss_logs_in) {
  struct LoseNth final : FrameFault {
    void carry(Channel& channel, FramePtr frame) override {
      if (n-- != 0) channel.deliver(std::move(frame));
    }
    int n = 0;
  };
  for (int nth = 0; nth < 3; ++nth)
    for (const bool from_a : {true, false}) {
      LoseNth fault;
      fault.n = nth;
      PointToPoint pair(scheduler, {.latency_ns = microsecond}, a, b);
      (from_a ? pair.link.a : pair.link.b).output().set_fault(&fault);
      run_for(200 * second);
      EXPECT_TRUE(both_logged_in()) << nth << from_a;
    }
}

// Two ports of one name cannot tell who assigns: neither comes online, both say so.
TEST_F(PointToPointTest, joined_equal_names_fail) {
  NPort twin(scheduler, pool, support::port_config(0));
  Listener twin_listener;
  twin.add_listener(twin_listener);
  PointToPoint pair(scheduler, {.latency_ns = microsecond}, a, twin);
  run_for(second);
  EXPECT_EQ(a_listener.events + twin_listener.events, "ff");
  EXPECT_FALSE(a.online());
}

}  // namespace
}  // namespace fc2
