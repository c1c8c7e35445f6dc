// How a port is checked after an RSCN: who is asked what, how often, and what ends it (FC-VI 7.7.1, 7.7.3, 7.7.5;
// ruling 221).
#include <optional>

#include "farp/port_validator.hpp"
#include "fc2_fabric/link/link.hpp"
#include "tests/farp/port_validator_fixture.hpp"
#include "wire/fc_header.hpp"

namespace farp_test {
namespace {
using runtime::millisecond;
using runtime::second;
using Answer = SilentServer::Answer;
using Times = std::vector<runtime::TimeNs>;
using Ids = std::set<wire::FcId>;

class PortChecks : public PortValidatorTest {
 public:
  fc2::NPort& server() { return fabric.fabric.service_port(wire::well_known::name_server); }
  /// No state change is told.
  struct NoChanges final : fc2::FrameFault {
    void carry(fc2::Channel& channel, fc2::FramePtr frame) override {
      const auto header = wire::FcHeader::parse(frame->content());
      if (header->s_id != wire::well_known::fabric_controller) channel.deliver(std::move(frame));
    }
  } no_changes;
  wire::Wwn name_of(std::size_t index) { return fabric.port(index).config().port_name; }
  fc2::RemotePort& remote(wire::FcId peer) { return fabric.port(0).remote_port(peer); }
};

// --- who is asked ------------------------------------------------------------------------------------------------

// FC-VI 7.4: a port that never knew a Name Server asks the other port at once.
TEST(PortChecksAlone, logged_in_without_name_server_port_is_asked) {
  support::TestFabric fabric(2);
  farp::Resolver resolver(fabric.port(0), {.use_name_server = false});
  fabric.bring_up();
  ASSERT_TRUE(fabric.log_in(0, 1));
  ASSERT_EQ(fabric.port(0).find_remote_port(wire::well_known::name_server), nullptr);
  support::FrameLog log;
  fabric.fabric.tap(fabric.port(0), &log);
  tell_all_changed(fabric, fabric.port(0));
  fabric.run_for(millisecond);
  EXPECT_EQ(log.sent(wire::els::Command::adisc), 1U);
  EXPECT_TRUE(fabric.port(0).remote_port(fabric.port(1).n_port_id()).logged_in());
}

// Ruling 221: nobody answers: the Name Server is asked again after 2 * E_D_TOV, then after twice as long, until 2 *
// R_A_TOV are over; then the port is, in the same way; then it is not there.
TEST_F(PortChecks, logged_in_nobody_answers_both_are_asked_again) {
  SilentServer silent(server());
  const wire::FcId quiet = id(1);
  fabric.silence(1);
  begin();
  all_changed();
  fabric.run_for(40 * second - 1);
  EXPECT_TRUE(logged_out.empty());
  fabric.run_for(1);
  EXPECT_EQ(logged_out, std::vector{quiet});
  EXPECT_EQ(questions(quiet), (Times{0, 4 * second, 12 * second}));
  EXPECT_EQ(discoveries(quiet), (Times{20 * second, 24 * second, 32 * second}));
  EXPECT_EQ(fabric.port(0).counters().discarded(fc2::Discard::UnknownExchange), 0U)
      << "what failed is not aborted again";
}

// FC-FS ABTS: the Name Server that aborts the question will not answer it: the port is asked at once.
TEST_F(PortChecks, logged_in_name_server_aborts_port_is_asked) {
  SilentServer rude(server(), Answer::Abort);
  begin();
  all_changed();
  fabric.run_for(100 * millisecond);
  EXPECT_EQ(questions(id(1)).size(), 1U);
  EXPECT_EQ(discoveries(id(1)).size(), 1U);
  EXPECT_TRUE(knows(id(1)));
}

// FC-FS: an answer that leaves its exchange open is as good; the exchange is given back.
TEST_F(PortChecks, logged_in_answer_leaves_exchange_open_is_given_back) {
  SilentServer open(server(), Answer::Name, name_of(1));
  open.ends = false;
  begin();
  fabric.fabric.directory().state_changed(id(1));
  fabric.run_for(second);
  EXPECT_EQ(questions(id(1)).size(), 1U);
  EXPECT_EQ(discoveries(id(1)).size(), 1U);
  EXPECT_TRUE(knows(id(1)));
  EXPECT_EQ(fabric.port(0).open_exchanges(), 0U);
  fabric.detach(0);  // those of the server end while it is there
  fabric.detach(1), fabric.detach(2);
}

// FC-VI 7.7.3: the answer to ADISC is an ACC; the request come back is none, though its addresses are the same.
TEST_F(PortChecks, adisc_answer_that_is_no_accept_is_logged_out) {
  struct Echo final : fc2::FrameFault {
    void carry(fc2::Channel& channel, fc2::FramePtr frame) override {
      const bool answer = wire::FcHeader::parse(frame->content())->r_ctl == wire::RCtl::els_reply;
      if (answer && frame->size_bytes == 24 + wire::els::Adisc::size())
        frame->data_field()[0] = static_cast<std::uint8_t>(wire::els::Command::adisc);
      channel.deliver(std::move(frame));
    }
  } echo;
  fabric.fabric.set_faults(fabric.port(0), nullptr, &echo);
  fabric.fabric.directory().state_changed(id(1));
  fabric.run_for(second);
  EXPECT_EQ(logged_out, std::vector{id(1)});
  fabric.fabric.set_faults(fabric.port(0), nullptr, nullptr);
}

// Ruling 283: no N_Port has an address from FFFC00h on, and nobody is asked about one; below, there may be a port.
TEST_F(PortChecks, all_changed_well_known_addresses_are_left_out) {
  for (const std::uint32_t address : {0xFFFBFFU, 0xFFFC00U, 0xFFFC01U}) remote({address}).log_in();
  begin();
  all_changed();
  fabric.run_for(second);
  EXPECT_EQ(asked_about(), (Ids{id(1), id(2), {0xFFFBFF}}));
}

// --- a login that is under way -----------------------------------------------------------------------------------

// It is the first login with that port: its names are not known yet, and it is enough that some port is there.
TEST_F(PortChecks, awaited_never_logged_in_port_is_there_is_waited_for) {
  fabric.add_port();
  fabric.attach(3);
  fabric.run_for(second);
  const wire::FcId silent = id(3);
  SilentServer knows_it(server(), Answer::Name, name_of(3));
  fabric.silence(3);
  remote(silent).log_in();
  begin();
  all_changed();
  fabric.run_for(100 * millisecond);
  EXPECT_EQ(questions(silent).size(), 1U);
  EXPECT_TRUE(login_failed.empty());
  EXPECT_TRUE(remote(silent).logging_in());
  EXPECT_TRUE(discoveries(silent).empty());
}

/// Port 0 waits for the accepts of 17 ports, one more than are checked at a time, and the Name Server says nothing.
/// Only the last is there.
class ManyAwaited : public testing::Test {
 protected:
  static constexpr std::size_t at_once = farp::PortValidator::max_checks_at_once;
  ManyAwaited() : fabric(2, {}, [](fc2::NPortConfig& config, std::size_t) { config.max_remote_ports = 32; }) {
    fabric.bring_up();
    silent.emplace(fabric.fabric.service_port(wire::well_known::name_server));
    last = fabric.port(1).n_port_id();
    fabric.silence(1);
    for (std::uint32_t i = 0; i < at_once; ++i) remote({0x010001 + i}).log_in();
    remote(last).log_in();
    fabric.fabric.tap(fabric.port(0), &log);
    tell_all_changed(fabric, fabric.port(0));
  }
  ~ManyAwaited() override { EXPECT_EQ(fabric.port(0).counters().unexpected_events, 0U); }
  fc2::RemotePort& remote(wire::FcId id) { return fabric.port(0).remote_port(id); }
  void run_until_the_turn_of_the_last() { fabric.run_for(20 * second + millisecond); }
  [[nodiscard]] Ids asked_about() const {
    Ids about;
    for (const support::LoggedFrame& frame : log.frames())
      if (const auto gpn_id = wire::ct::GpnId::parse(frame.data); frame.outbound && gpn_id)
        about.insert(gpn_id->port_id);
    return about;
  }
  support::TestFabric fabric;
  farp::Resolver resolver{fabric.port(0), {}};
  std::optional<SilentServer> silent;
  wire::FcId last{};
  support::FrameLog log;
};

// 16 are asked about at a time. Nobody says anything of them in 2 * R_A_TOV: their logins go on, nothing more is sent
// to them, and the next has its turn.
TEST_F(ManyAwaited, name_server_silent_each_has_its_turn) {
  fabric.run_for(20 * second - millisecond);
  EXPECT_EQ(asked_about().size(), at_once);
  EXPECT_FALSE(asked_about().contains(last));
  fabric.run_for(2 * millisecond);
  EXPECT_EQ(asked_about().size(), at_once + 1);
  fabric.run_for(20 * second);
  EXPECT_EQ(log.sent(wire::els::Command::adisc), 0U);
  EXPECT_EQ(fabric.port(0).awaited_ports().size(), at_once + 1);
}

// One logs in before its turn: what was to be asked says nothing of who is there now.
TEST_F(ManyAwaited, last_logs_in_is_not_asked_about) {
  fabric.fabric.set_fault(fabric.port(1), nullptr);
  fabric.port(1).remote_port(fabric.port(0).n_port_id()).log_in();
  fabric.run_for(second);
  ASSERT_TRUE(remote(last).logged_in());
  run_until_the_turn_of_the_last();
  EXPECT_EQ(asked_about().size(), at_once);
}

// Its login failed before its turn: nobody waits for the answer.
TEST_F(ManyAwaited, last_is_given_up_is_not_asked_about) {
  remote(last).peer_is_gone();
  ASSERT_FALSE(remote(last).logging_in());
  run_until_the_turn_of_the_last();
  EXPECT_EQ(asked_about().size(), at_once);
}

// ... and it is not even known any more, since others needed its place.
TEST_F(ManyAwaited, last_is_forgotten_is_not_asked_about) {
  fabric.fabric.set_fault(fabric.port(1), nullptr);
  remote(last).peer_is_gone();
  fabric.run_for(15 * second);  // its PLOGI was aborted, and its exchange has rested
  for (std::uint32_t i = 0; i < 32; ++i) {
    remote({0x020000 + i});
    fabric.run_for(1);
  }
  ASSERT_EQ(fabric.port(0).find_remote_port(last), nullptr);
  fabric.run_for(6 * second);
  EXPECT_EQ(asked_about().size(), at_once);
}

// No exchange is free: nothing is known of anybody, all logins stay, and later changes are looked into.
TEST(PortChecksAlone, no_exchange_free_logins_stay) {
  constexpr std::size_t many = farp::PortValidator::max_checks_at_once + 1;
  support::TestFabric fabric(many + 1);
  farp::Resolver resolver(fabric.port(0), {});
  fabric.bring_up();
  fc2::NPort& port = fabric.port(0);
  for (std::size_t i = 1; i <= many; ++i) ASSERT_TRUE(fabric.log_in(0, i));
  struct User final : fc2::ExchangeUser {
    void sequence_received(fc2::Exchange&, const wire::FcHeader&, std::span<const std::uint8_t>) override {}
    void exchange_failed(fc2::Exchange&, fc2::ExchangeFailure) override {}
  } user;
  std::vector<fc2::Exchange*> taken;
  while (fc2::Exchange* exchange = port.originate({0x020202}, wire::Type::ct, user)) taken.push_back(exchange);
  tell_all_changed(fabric, port);
  fabric.run_for(100 * second);
  EXPECT_EQ(port.logged_in_ports().size(), many + 1) << "and the Name Server";
  for (fc2::Exchange* exchange : taken) port.release(*exchange);
  fabric.detach(many);
  fabric.run_for(second);
  EXPECT_EQ(port.logged_in_ports().size(), many);
}

// --- who was gone and comes back: FC-VI 7.7.5 --------------------------------------------------------------------

// It may believe in its login, which ended here without a word: LOGO tells it, once. Who is not back is told nothing.
TEST_F(PortChecks, gone_comes_back_is_denied_once) {
  const wire::FcId first = id(1), other = id(2);
  fabric.detach(1);
  fabric.run_for(20 * millisecond);
  fabric.detach(2);
  fabric.run_for(20 * millisecond);
  ASSERT_EQ(logged_out, (std::vector{first, other}));
  EXPECT_EQ(denials(first) + denials(other), 0U);
  fabric.attach(1);
  fabric.run_for(second);
  ASSERT_EQ(id(1), first);
  EXPECT_EQ(denials(first), 1U);
  fabric.run_for(10 * second);
  fabric.fabric.directory().state_changed(first);
  fabric.run_for(second);
  EXPECT_EQ(denials(first), 1U);
  EXPECT_EQ(denials(other), 0U);
}

// There was no login that it could believe in: ours was under way, and failed.
TEST_F(PortChecks, awaited_gone_comes_back_is_not_denied) {
  const wire::FcId gone = id(1);
  remote(gone).log_out();
  fabric.run_for(second);
  remote(gone).log_in();
  fabric.detach(1);
  fabric.run_for(20 * millisecond);
  ASSERT_EQ(login_failed, std::vector{gone});
  begin();
  fabric.attach(1);
  fabric.run_for(second);
  ASSERT_EQ(id(1), gone);
  EXPECT_EQ(denials(gone), 0U);
}

// It came back, and logged in and out before the next change: it knows that there is no login.
TEST_F(PortChecks, gone_logged_in_and_out_meanwhile_is_not_denied) {
  const wire::FcId gone = id(1);
  fabric.detach(1);
  fabric.run_for(20 * millisecond);
  ASSERT_EQ(logged_out, std::vector{gone});
  fabric.fabric.set_faults(fabric.port(0), nullptr, &no_changes);
  fabric.attach(1);
  fabric.run_for(second);
  ASSERT_EQ(id(1), gone);
  fabric.port(1).remote_port(id(0)).log_in();
  fabric.run_for(second);
  ASSERT_TRUE(knows(gone));
  fabric.port(1).remote_port(id(0)).log_out();
  fabric.run_for(second);
  ASSERT_FALSE(knows(gone));
  begin();
  all_changed();
  fabric.run_for(second);
  EXPECT_EQ(denials(gone), 0U);
  fabric.fabric.set_faults(fabric.port(0), nullptr, nullptr);
}

// Our own link bounced meanwhile: all logins are over for everybody.
TEST_F(PortChecks, gone_own_link_bounces_is_not_denied) {
  const wire::FcId gone = id(1);
  fabric.detach(1);
  fabric.run_for(20 * millisecond);
  ASSERT_EQ(logged_out, std::vector{gone});
  fabric.port(0).link_down();
  fabric.fabric.link_of(fabric.port(0))->b.fail();
  fabric.run_for(second);
  ASSERT_TRUE(knows(wire::well_known::name_server));
  begin();
  fabric.attach(1);
  fabric.run_for(second);
  ASSERT_EQ(id(1), gone);
  EXPECT_EQ(denials(gone), 0U);
}

// --- what ends a check -------------------------------------------------------------------------------------------

// The port logs out while the Name Server is asked about it: nobody asks again.
TEST_F(PortChecks, logged_in_logs_out_is_not_asked_about_again) {
  SilentServer silent(server());
  begin();
  fabric.fabric.directory().state_changed(id(1));
  fabric.run_for(second);
  ASSERT_EQ(questions(id(1)).size(), 1U);
  fabric.port(1).remote_port(id(0)).log_out();
  fabric.run_for(100 * second);
  EXPECT_EQ(questions(id(1)).size(), 1U);
}

// FC-VI 7.7.5: our link is interrupted while many are checked. The fabric is the same, all logins stand: no check goes
// on, and who waited for its turn has none.
TEST(PortChecksAlone, link_interrupted_all_checks_end) {
  constexpr std::size_t many = farp::PortValidator::max_checks_at_once + 2;
  support::TestFabric fabric(many + 1);
  farp::Resolver resolver(fabric.port(0), {});
  fabric.bring_up();
  fc2::NPort& port = fabric.port(0);
  for (std::size_t i = 1; i <= many; ++i) ASSERT_TRUE(fabric.log_in(0, i));
  SilentServer silent(fabric.fabric.service_port(wire::well_known::name_server));
  tell_all_changed(fabric, port);
  fabric.run_for(millisecond);
  fabric.fabric.link_of(port)->b.fail();
  support::FrameLog log;
  fabric.fabric.tap(port, &log);
  fabric.run_for(second);
  ASSERT_TRUE(port.online());
  EXPECT_EQ(port.logged_in_ports().size(), many + 1);
  tell_changed(fabric, port, {.format = wire::els::AddressFormat::port, .address = fabric.port(1).n_port_id()});
  fabric.run_for(100 * millisecond);
  Ids about;
  for (const support::LoggedFrame& frame : log.frames())
    if (const auto gpn_id = wire::ct::GpnId::parse(frame.data); frame.outbound && gpn_id) about.insert(gpn_id->port_id);
  EXPECT_EQ(about, Ids{fabric.port(1).n_port_id()});
  fabric.run_for(18 * second);
  EXPECT_EQ(log.sent(wire::els::Command::adisc), 0U);
}

// --- our own link was away: the login asks by itself -------------------------------------------------------------

/// The fabric was interrupted, with port 1, which is not back yet: its login is being validated.
class Validating : public PortChecks {
 public:
  Validating() {
    quiet = id(1);
    fabric.silence(1);
    fabric.port(0).fabric_interrupted();
    fabric.fabric.link_of(fabric.port(0))->b.fail();
    fabric.run_for(second);
    EXPECT_TRUE(remote(quiet).validating());
    EXPECT_TRUE(knows(wire::well_known::name_server));
    logged_out.clear();
    begin();
  }
  /// What the Name Server says of it, and then: is its login there still? Its own ADISC is not joined by another
  /// in either case.
  bool stays(Answer answer, wire::Wwn name = {}) {
    SilentServer says(server(), answer, name);
    all_changed();
    fabric.run_for(100 * millisecond);
    EXPECT_EQ(questions(quiet).size(), 1U);
    EXPECT_TRUE(discoveries(quiet).empty());
    return remote(quiet).validating();
  }
  wire::FcId quiet{};
};

// FC-VI 7.7.5: that it is not back yet does not mean that it is gone: its ADISC will find out.
TEST_F(Validating, name_server_does_not_know_it_stays) { EXPECT_TRUE(stays(Answer::Reject)); }
TEST_F(Validating, name_server_knows_it_stays) { EXPECT_TRUE(stays(Answer::Name, name_of(1))); }
TEST_F(Validating, name_server_aborts_stays) { EXPECT_TRUE(stays(Answer::Abort)); }

// FC-VI 7.7.1: another port is at its address.
TEST_F(Validating, name_server_knows_another_is_logged_out) {
  EXPECT_FALSE(stays(Answer::Name, name_of(2)));
  EXPECT_EQ(logged_out, std::vector{quiet});
}

// ... and where there is no Name Server either, nobody is asked.
TEST_F(Validating, without_name_server_stays) {
  server().link_down();
  remote(wire::well_known::name_server).log_out();
  all_changed();
  fabric.run_for(100 * millisecond);
  EXPECT_TRUE(remote(quiet).validating());
  EXPECT_TRUE(discoveries(quiet).empty());
}

}  // namespace
}  // namespace farp_test
