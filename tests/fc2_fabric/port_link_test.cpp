// An N_Port's link: what it says of itself in logins, what it learns of a fabric, what is left when the link
// goes (FC-VI 7.7).
#include <gtest/gtest.h>

#include "tests/support/made_frame.hpp"
#include "tests/support/port_by_hand.hpp"

namespace fc2 {
namespace {
using support::bytes_of;
using support::LoggedFrame;
using support::PortByHand;
using wire::RCtl;
using wire::Type;
using wire::els::Command;
namespace feature = wire::els::feature;
constexpr wire::FcId own = PortByHand::own, peer = PortByHand::peer, other = PortByHand::other;
constexpr std::array<std::uint8_t, 8> iu{};

bool stands(PortByHand& p, wire::FcId id = peer) { return p.port.remote_port(id).logged_in(); }
/// What an IU of ours for that port became: sent, so often.
std::size_t ius_sent(const PortByHand& p, wire::FcId to) {
  return p.wire.log.count([&](const LoggedFrame& f) { return f.is(RCtl::unsolicited_control) && f.header.d_id == to; });
}
Exchange* ask(PortByHand& p, wire::FcId to) {
  return p.port.request(to, RCtl::unsolicited_control, Type::ct, iu, p.user, 0);
}

// --- login parameters (FC-LS; FC-VI 5.6) -------------------------------------------------------------------------

wire::els::Login plain_login(const NPortConfig& config) {
  wire::els::Login login;
  login.features = feature::seq_cnt | feature::continuously_increasing_relative_offset;
  login.receive_data_field_size = config.receive_data_field_bytes;
  login.total_concurrent_sequences = 255;
  login.relative_offset_by_category = 0x00FF;
  login.e_d_tov = static_cast<std::uint32_t>(config.e_d_tov / millisecond);
  login.port_name = config.port_name;
  login.node_name = config.node_name;
  login.class_3 = {.service_options = 0x8800,
                   .receive_data_field_size = config.receive_data_field_bytes,
                   .concurrent_sequences = 255,
                   .open_sequences_per_exchange = 1};
  return login;
}

// Every field of PLOGI, and what differs in FLOGI, where word 1 bit 31 is another's (ruling 12). No link
// has no buffers.
TEST(LoginParameters, eachField) {
  PortByHand p([](NPortConfig& config) { config.e_d_tov = 1000 * second, config.receive_data_field_bytes = 512; });
  wire::els::Login expected = plain_login(p.port.config());
  EXPECT_EQ(expected.e_d_tov, 1'000'000U);
  EXPECT_EQ(p.port.login_parameters(Command::plogi), expected);
  p.without_fabric();
  expected.bb_credit = support::FarWire::buffers;
  EXPECT_EQ(p.port.login_parameters(Command::plogi), expected);
  p.wire.alternate = true;
  expected.features = 0x8802;
  EXPECT_EQ(p.port.login_parameters(Command::plogi), expected);
  expected.command = Command::flogi;
  expected.features = 0x0802;
  EXPECT_EQ(p.port.login_parameters(Command::flogi), expected);
}

TEST(LoginParameters, withoutTheBitsOfFcVi) {
  PortByHand p([](NPortConfig& config) {
    config.continuously_increasing_seq_cnt = config.continuously_increasing_relative_offset = false;
  });
  wire::els::Login expected = plain_login(p.port.config());
  expected.features = 0;
  EXPECT_EQ(p.port.login_parameters(Command::plogi), expected);
}

TEST(LoginParameters, class2) {
  for (const bool ack_0 : {false, true}) {
    PortByHand p([&](NPortConfig& config) { config.end_to_end_credit = 1, config.ack_0 = ack_0; });
    wire::els::Login expected = plain_login(p.port.config());
    expected.class_2 = expected.class_3;
    expected.class_2.end_to_end_credit = 1;
    if (ack_0) expected.class_2.initiator_control = 0x0800, expected.class_2.recipient_control = 0x8000;
    EXPECT_EQ(p.port.login_parameters(Command::plogi), expected);
  }
}

// --- what kind of link it is -------------------------------------------------------------------------------------

TEST(PortLink, hasFabric_whereAFabricAssignsItsAddress) {
  PortByHand service([](NPortConfig& config) { config.fixed_id = own; });
  EXPECT_FALSE(service.port.has_fabric());
  service.link_up();
  EXPECT_FALSE(service.port.has_fabric());
  service.port.link_down();
  EXPECT_FALSE(service.port.has_fabric());
  PortByHand p;
  EXPECT_TRUE(p.port.has_fabric());
  p.without_fabric();
  EXPECT_FALSE(p.port.has_fabric());
  p.port.link_down();
  EXPECT_TRUE(p.port.has_fabric());
  p.public_loop();
  EXPECT_TRUE(p.port.has_fabric());
}

// A port of the fabric's own knows others before its link works: they can be logged in with as soon as it does.
TEST(PortLink, fixed_knownPort_logsInOnceUp) {
  PortByHand p([](NPortConfig& config) { config.fixed_id = own; });
  static_cast<void>(p.port.remote_port(peer));
  p.link_up();
  p.log_in();
}

// FC-VI 7.7 speaks of addresses that may change: a fixed one keeps nothing. A link that is gone says so once.
TEST(PortLink, fixed_interrupted_logsOut) {
  PortByHand p([](NPortConfig& config) { config.fixed_id = own; });
  static_cast<void>(p.port.remote_port(own));
  p.link_up();
  p.log_in();
  p.port.link_interrupted();
  EXPECT_FALSE(p.port.interrupted());
  EXPECT_EQ(p.listener.events, "IOO");
  p.port.link_down();
  EXPECT_EQ(p.listener.events, "IOO");
}

// FC-LS: a FLOGI comes from an address of which the fabric assigns domain and area: on a loop the AL_PA, else nothing.
TEST(PortLink, flogi_comesFromAlPa_onALoopOnly) {
  PortByHand p;
  p.public_loop(0x05);
  EXPECT_EQ(p.wire.log.frames().back().header.s_id, wire::FcId{0x000005});
  p.port.link_down();
  p.link_up();
  EXPECT_EQ(p.wire.log.frames().back().header.s_id, wire::FcId{});
  EXPECT_EQ(p.sent(Command::flogi), 2U);
}

// Class 2 is offered here and by the fabric, or there is none.
TEST(PortLink, class2_whereBothOfferIt) {
  for (const std::uint16_t credit : {std::uint16_t{0}, std::uint16_t{1}, std::uint16_t{2}}) {
    const auto adjust = [&](NPortConfig& config) { config.end_to_end_credit = credit; };
    PortByHand alone(adjust);
    alone.without_fabric();
    EXPECT_EQ(alone.port.has_class_2(), credit != 0) << credit;
    EXPECT_TRUE(alone.port.online());
    for (const bool offered : {false, true}) {
      PortByHand p(adjust);
      p.link_up();
      wire::els::Login accept = p.fabric_login();
      accept.class_2.service_options = offered ? wire::els::class_option::valid : 0;
      p.answer(Command::flogi, bytes_of(accept), own);
      EXPECT_EQ(p.port.has_class_2(), credit != 0 && offered) << credit << offered;
    }
  }
}

// FC-LS: the fabric promises order by one bit of class 3.
TEST(PortLink, inOrder_whereTheFabricSaysSo) {
  for (const std::uint16_t options : {std::uint16_t{0x8001}, std::uint16_t{0x8000}, std::uint16_t{0x8800}}) {
    PortByHand p;
    p.link_up();
    wire::els::Login accept = p.fabric_login();
    accept.class_3.service_options = options;
    p.answer(Command::flogi, bytes_of(accept), own);
    EXPECT_EQ(p.port.in_order(), options == 0x8800) << options;
  }
}

// A fabric that tells no time-out leaves ours; one millisecond is one.
TEST(PortLink, timeouts_asTheFabricTells) {
  struct Case {
    std::uint32_t r_a_tov_ms, e_d_tov;
    bool in_ns;
    TimeNs r_a_tov, e_d_tov_ns;
  };
  for (const Case& c : {Case{0, 0, false, 7 * second, 700 * millisecond}, Case{1, 1, false, millisecond, millisecond},
                        Case{3000, 1, true, 3 * second, 1}, Case{3000, 500, false, 3 * second, 500 * millisecond}}) {
    PortByHand p([](NPortConfig& config) { config.r_a_tov = 7 * second, config.e_d_tov = 700 * millisecond; });
    p.link_up();
    wire::els::Login accept = p.fabric_login();
    accept.set_r_a_tov_ms(c.r_a_tov_ms);
    accept.e_d_tov = c.e_d_tov;
    if (c.in_ns) accept.features |= feature::e_d_tov_ns;
    accept.bb_credit = 37;
    p.answer(Command::flogi, bytes_of(accept), own);
    EXPECT_EQ(p.port.r_a_tov(), c.r_a_tov);
    EXPECT_EQ(p.port.e_d_tov(), c.e_d_tov_ns);
    EXPECT_EQ(p.wire.told, std::vector<std::uint16_t>{37});
  }
}

// The address 0 is nobody's, even if a frame of it made it known: coming online logs nobody out.
TEST(PortLink, firstOnline_logsNobodyOut) {
  PortByHand p;
  static_cast<void>(p.port.remote_port({}));
  p.without_fabric();
  EXPECT_EQ(p.listener.events, "F");
}

// --- the link goes ------------------------------------------------------------------------------------------------

// The output is not used again; a link fails once.
TEST(PortLink, down_outputIsNotUsed) {
  PortByHand p;
  p.without_fabric();
  p.port.link_down();
  p.port.request(peer, RCtl::els_request, Type::els, PortByHand::echo, p.user, second);
  p.run_for(microsecond);
  EXPECT_EQ(p.wire.log.size(), 0U);
  EXPECT_EQ(p.port.login_parameters(Command::plogi).bb_credit, 0U);
  p.port.link_down();
  EXPECT_EQ(p.port.counters().link_failures, 1U);
}

TEST(PortLink, interruptedTwice_isOneFailure) {
  PortByHand p;
  p.on_fabric();
  p.port.link_interrupted();
  p.port.link_interrupted();
  EXPECT_EQ(p.port.counters().link_failures, 1U);
  EXPECT_TRUE(p.port.interrupted());
}

// FC-VI 7.7.2 asks for no login with oneself; but what was under way with oneself is lost with the link like the rest.
TEST(PortLink, loopback_failsWithTheLink) {
  enum class End { Down, OtherAddress, StaysAway, DownWhileInterrupted };
  for (const End end : {End::Down, End::OtherAddress, End::StaysAway, End::DownWhileInterrupted}) {
    PortByHand p;
    const RemotePort& self = p.port.remote_port(own);
    p.without_fabric();
    ask(p, own);
    p.run_for(microsecond);
    if (end != End::Down) {
      p.port.link_interrupted();
      ask(p, own);
      EXPECT_EQ(self.held(), 1U);
    }
    if (end == End::OtherAddress)
      p.without_fabric({0x0000EF});
    else if (end == End::StaysAway)
      p.run_for(p.port.r_a_tov() + 1);
    else
      p.port.link_down();
    EXPECT_EQ(p.user.failures, std::vector(end == End::Down ? 1U : 2U, ExchangeFailure::PortLoggedOut));
    EXPECT_EQ(p.listener.events, end == End::OtherAddress ? "FOF" : "FO");
    EXPECT_FALSE(self.suspended());
    EXPECT_EQ(self.held(), 0U);
    EXPECT_EQ(p.port.n_port_id(), wire::FcId{end == End::OtherAddress ? 0x0000EFU : 0U});
    EXPECT_FALSE(p.port.interrupted());
    EXPECT_TRUE(p.scheduler.idle()) << "no timer is left";
  }
}

// The link is back, the fabric has not answered, and the port is unplugged: the interruption is over as well.
TEST(PortLink, askingAgain_down_logsOut) {
  PortByHand p;
  p.on_fabric();
  p.log_in();
  p.port.link_interrupted();
  p.link_up();
  EXPECT_TRUE(stands(p));
  p.port.link_down();
  EXPECT_FALSE(p.port.interrupted());
  EXPECT_EQ(p.listener.events, "FIfO");
}

// FC-VI 7.7.5: the addresses below FFFC00h are N_Ports'; what the fabric itself knows of us ends with the link.
TEST(PortLink, interrupted_loginsOfTheFabricEnd) {
  PortByHand p;
  p.on_fabric();
  for (const wire::FcId id : {wire::FcId{0xFFFBFF}, wire::FcId{0xFFFC00}}) p.log_in(id);
  p.port.link_interrupted();
  EXPECT_TRUE(stands(p, {0xFFFBFF}));
  EXPECT_FALSE(stands(p, {0xFFFC00}));
}

// What had not gone is kept, for whom a login stands or for oneself; link services are not, nor what had no login.
TEST(PortLink, interrupted_unsentIusAreKept) {
  PortByHand p;
  p.on_fabric();
  p.log_in();
  for (const wire::FcId id : {own, other}) static_cast<void>(p.port.remote_port(id));
  p.wire.pause();
  for (const wire::FcId id : {peer, other, own, wire::FcId{0x010401}}) {
    ask(p, id);
    p.port.request(id, RCtl::els_request, Type::els, PortByHand::echo, p.user, 0);
  }
  p.port.link_interrupted(support::made_frame(
      p.pool, {.r_ctl = RCtl::unsolicited_control, .d_id = peer, .s_id = own, .type = Type::ct, .ox_id = {0xEEEE}}));
  EXPECT_EQ(p.port.remote_port(peer).held(), 2U);
  EXPECT_EQ(p.port.remote_port(own).held(), 1U);
  EXPECT_EQ(p.port.remote_port(other).held(), 0U);
  p.wire.resume();
  p.on_fabric();
  EXPECT_EQ(ius_sent(p, peer), 2U);
  const LoggedFrame* first = p.wire.log.find([](const LoggedFrame& f) { return f.is(RCtl::unsolicited_control); });
  ASSERT_NE(first, nullptr);
  EXPECT_EQ(first->header.ox_id, wire::OxId{0xEEEE}) << "what the output had is older than what waited for it";
  EXPECT_EQ(ius_sent(p, own), 1U);
  EXPECT_EQ(ius_sent(p, other), 0U);
  EXPECT_EQ(p.sent(Command::echo), 0U);
  EXPECT_EQ(p.listener.events, "FIF");
}

// --- the fabric comes back: FC-VI 7.7.5 ---------------------------------------------------------------------------

// It is the same by address, F_Port_Name and Fabric_Name: nobody is asked, whose address looks private
// neither. Else LOGO.
TEST(PortLink, interrupted_fabricIsComparedByThreeAddresses) {
  struct Case {
    wire::FcId id;
    wire::Wwn f_port, fabric;
  };
  const Case same{own, PortByHand::f_port_name, PortByHand::fabric_name};
  for (const Case& c :
       {same, Case{{own.value + 1}, same.f_port, same.fabric}, Case{own, {same.f_port.value + 1}, same.fabric},
        Case{own, same.f_port, {same.fabric.value + 1}}}) {
    const bool is_same = c.id == same.id && c.f_port == same.f_port && c.fabric == same.fabric;
    PortByHand p;
    p.on_fabric();
    for (const wire::FcId id : {peer, wire::FcId{0x0000E8}}) p.log_in(id);
    p.port.link_interrupted();
    p.link_up();
    wire::els::Login accept = p.fabric_login();
    accept.port_name = c.f_port;
    accept.node_name = c.fabric;
    p.answer(Command::flogi, bytes_of(accept), c.id);
    p.run_for(microsecond);
    EXPECT_EQ(stands(p), is_same);
    EXPECT_EQ(p.sent(Command::logo), is_same ? 0U : 2U);
    EXPECT_EQ(p.sent(Command::adisc), 0U);
    EXPECT_EQ(p.listener.events, is_same ? "FIIF" : "FIIOOF");
  }
}

// Where others lost their links with ours the same fabric proves nothing: each is asked by ADISC, this time and
// not the next.
TEST(PortLink, fabricInterrupted_othersAreAsked) {
  PortByHand p;
  p.on_fabric();
  p.log_in();
  p.port.fabric_interrupted();
  p.on_fabric();
  EXPECT_EQ(p.sent(Command::adisc, peer), 1U);
  EXPECT_TRUE(p.port.remote_port(peer).suspended());
  p.answer_adisc(peer);
  EXPECT_FALSE(p.port.remote_port(peer).suspended());
  EXPECT_EQ(p.listener.events, "FIF");
  p.port.link_interrupted();
  p.on_fabric();
  EXPECT_EQ(p.sent(Command::adisc), 1U);
  EXPECT_FALSE(p.port.remote_port(peer).suspended());
  EXPECT_EQ(p.sent(Command::logo), 0U);
}

// It stays away meanwhile: that was that, and the next interruption is one like any other.
TEST(PortLink, fabricInterrupted_staysAway_isOver) {
  PortByHand p;
  p.on_fabric();
  p.port.fabric_interrupted();
  p.run_for(p.port.r_a_tov() + 1);
  EXPECT_FALSE(p.port.interrupted());
  p.on_fabric();
  p.log_in();
  p.port.link_interrupted();
  p.on_fabric();
  EXPECT_EQ(p.sent(Command::adisc), 0U);
  EXPECT_TRUE(stands(p));
}

// --- loops: FC-VI 7.7.3, 7.7.4 ------------------------------------------------------------------------------------

// FC-VI 7.7.4: after FAN the ports of the loop itself, which have neither domain nor area, are asked by ADISC;
// others are not.
TEST(PublicLoop, sameFabric_privatePortsAreAsked) {
  PortByHand p;
  p.on_public_loop();
  const std::vector<wire::FcId> ports{{0x0000E8}, {0x010201}, {0x020003}, {0x000203}};
  for (const wire::FcId id : ports) p.log_in(id);
  p.port.link_interrupted();
  p.public_loop();
  p.fan_comes();
  for (const wire::FcId id : ports)
    EXPECT_EQ(p.sent(Command::adisc, id), id.value == 0x0000E8 ? 1U : 0U) << std::hex << id.value;
}

// FAN in time: no FLOGI follows, and the login with the fabric is what it was: it can be ended by LOGO.
TEST(PublicLoop, fan_fabricLoginGoesOn) {
  PortByHand p;
  p.on_public_loop();
  p.port.link_interrupted();
  p.public_loop();
  p.fan_comes();
  EXPECT_EQ(p.listener.events, "FF");
  p.run_for(10 * second);
  EXPECT_EQ(p.sent(Command::flogi), 1U);
  EXPECT_TRUE(p.scheduler.idle());
  p.port.log_out_of_fabric();
  p.run_for(microsecond);
  EXPECT_EQ(p.sent(Command::logo, wire::well_known::f_port), 1U);
  EXPECT_FALSE(p.port.online());
}

// The FL_Port says by L_bit that it knows of no login: it will send no FAN.
TEST(PublicLoop, loginRequired_flPortIsAskedAtOnce) {
  PortByHand p;
  p.on_public_loop();
  p.port.link_interrupted();
  p.port.link_up_on_public_loop(p.wire, own.port(), true);
  p.run_for(microsecond);
  EXPECT_EQ(p.sent(Command::flogi), 2U);
}

// E_D_TOV without FAN: FLOGI, and a FAN that comes then is too late: the answer to FLOGI counts.
TEST(PublicLoop, fanTooLate_isIgnored) {
  PortByHand p;
  p.on_public_loop();
  p.port.link_interrupted();
  const TimeNs since = p.scheduler.now();
  p.public_loop();
  p.scheduler.run_until(since + p.port.e_d_tov() - 1);
  EXPECT_EQ(p.sent(Command::flogi), 1U);
  p.run_for(microsecond);
  EXPECT_EQ(p.sent(Command::flogi), 2U);
  p.fan_comes();
  EXPECT_FALSE(p.port.online());
  p.answer(Command::flogi, bytes_of(p.fabric_login()), own);
  EXPECT_EQ(p.listener.events, "FF");
}

// FC-VI 7.7.4, R_A_TOV ends while FAN is awaited: nothing is left that it could confirm. FLOGI asks at once, and FAN
// is too late.
TEST(PublicLoop, awaitingFan_interruptionOver_asksTheFabric) {
  PortByHand p;
  p.on_public_loop();
  p.port.link_interrupted();
  p.run_for(p.port.r_a_tov() - p.port.e_d_tov() / 2);
  p.public_loop();
  EXPECT_EQ(p.sent(Command::flogi), 1U);
  p.run_for(p.port.e_d_tov() * 3 / 4);
  EXPECT_EQ(p.sent(Command::flogi), 2U);
  p.fan_comes();
  EXPECT_FALSE(p.port.online());
  p.answer(Command::flogi, bytes_of(p.fabric_login()), own);
  EXPECT_TRUE(p.port.online());
  EXPECT_EQ(p.port.n_port_id(), own);
  p.run_for(p.port.e_d_tov());
  EXPECT_TRUE(p.port.online()) << "FAN is awaited no more";
  EXPECT_EQ(p.sent(Command::flogi), 2U);
}

// The loop is interrupted again while FAN is awaited, and comes back without its FL_Port: there is no fabric any more.
TEST(PublicLoop, awaitingFan_flPortGone_fanAndFlogiAreOver) {
  PortByHand p;
  p.on_public_loop();
  p.port.link_interrupted();
  p.public_loop();
  p.port.link_interrupted();
  p.without_fabric({own.port()});
  EXPECT_EQ(p.listener.events, "FF");
  p.fan_comes();
  p.run_for(10 * second);
  EXPECT_EQ(p.listener.events, "FF");
  EXPECT_EQ(p.sent(Command::flogi), 1U);
}

// The FL_Port comes to a loop that had none, or had lost it: it knows of no login, and is asked at once.
TEST(PublicLoop, flPortComes_isAskedAtOnce) {
  for (const bool had_one : {false, true}) {
    PortByHand p;
    if (had_one) {
      p.on_public_loop();
      p.port.link_interrupted();
    }
    p.without_fabric({own.port()});
    p.port.link_interrupted();
    p.wire.log.clear();
    p.public_loop();
    EXPECT_EQ(p.sent(Command::flogi), 1U) << had_one;
  }
}

// R_A_TOV after the LIP nothing is left that a FAN could confirm.
TEST(PublicLoop, interruptionOver_flPortIsAskedAtOnce) {
  PortByHand p;
  p.on_public_loop();
  p.port.link_interrupted();
  p.run_for(p.port.r_a_tov() + 1);
  p.wire.log.clear();
  p.public_loop();
  EXPECT_EQ(p.sent(Command::flogi), 1U);
}

// A port goes from a loop to the fabric's own link: FLOGI tells whether that is the same fabric (FC-VI 7.7.5),
// each time anew.
TEST(PublicLoop, interrupted_comesBackOnALink_asksTheFabric) {
  PortByHand p;
  p.on_public_loop();
  p.log_in(peer);
  p.port.link_interrupted();
  p.link_up();
  EXPECT_EQ(p.sent(Command::flogi), 2U);
  p.answer(Command::flogi, bytes_of(p.fabric_login()), own);
  EXPECT_TRUE(stands(p));
  EXPECT_TRUE(p.port.online());
}

TEST(PublicLoop, fabricHadChanged_isCompared_anewNextTime) {
  PortByHand p;
  p.on_public_loop();
  p.port.link_interrupted();
  p.on_public_loop({own.value + 1});
  p.log_in(peer);
  p.port.link_interrupted();
  p.on_fabric({own.value + 1});
  EXPECT_TRUE(stands(p));
  EXPECT_TRUE(p.port.in_order());
}

// --- what a listener may do --------------------------------------------------------------------------------------

/// Changes the port's link from within reports.
struct LinkChanger final : PortListener {
  LinkChanger(NPort& port, std::function<void()> change) : port_(port), change_(std::move(change)) {
    port.add_listener(*this);
  }
  ~LinkChanger() { port_.remove_listener(*this); }
  void fabric_logged_in() override { change_(); }
  void fabric_login_failed() override {}
  void remote_port_logged_in(RemotePort&) override {}
  void remote_port_login_failed(RemotePort&) override {}
  void remote_port_logged_out(RemotePort&) override { change_(); }

 private:
  NPort& port_;
  std::function<void()> change_;
};

// A link that changes within a report would meet effects of the former one: a defect of the listener, whatever it
// calls.
TEST(PortLinkDeathTest, report_linkChangedWithin_asserts) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  PortByHand p;
  const std::vector<std::function<void()>> changes{
      [&] { p.port.link_up(p.wire); },
      [&] { p.port.link_up_without_fabric(p.wire, own); },
      [&] { p.port.link_up_on_public_loop(p.wire, 1); },
      [&] { p.port.link_interrupted(); },
      [&] { p.port.fabric_interrupted(); },
      [&] { p.port.link_down(); },
  };
  for (const auto& change : changes) {
    LinkChanger changer(p.port, change);
    EXPECT_DEATH(p.on_fabric(), "settling_");
  }
}

// An end of a login that the link's end reports: the same.
TEST(PortLinkDeathTest, linkDown_linkUpWithinTheLogout_asserts) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  PortByHand p;
  p.on_fabric();
  p.log_in();
  LinkChanger changer(p.port, [&] { p.port.link_up(p.wire); });
  EXPECT_DEATH(p.port.link_down(), "settling_");
  p.port.remove_listener(changer);
  p.port.link_down();
}

// Logging out of the fabric is no change of the link: it may be asked for within a report.
TEST(PortLink, report_fabricLogoutWithin_endsTheLogin) {
  PortByHand p;
  LinkChanger changer(p.port, [&] {
    if (p.port.online()) p.port.log_out_of_fabric();
  });
  p.on_fabric();
  p.run_for(microsecond);
  EXPECT_FALSE(p.port.online());
  EXPECT_EQ(p.sent(Command::logo), 1U);
}

}  // namespace
}  // namespace fc2
