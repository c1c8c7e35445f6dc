// After an RSCN: ports that are gone, or are somebody else, are logged out; the others stay (FC-VI 7.7.1, 7.7.5).
#include "fc2_fabric/link/link.hpp"
#include "tests/farp/port_validator_fixture.hpp"

namespace farp_test {
namespace {
using runtime::millisecond;
using runtime::second;

/// Keeps back what the Name Server answers until it is released, and loses state change notifications meanwhile.
class LateNameServer final : public fc2::FrameFault {
 public:
  void carry(fc2::Channel& channel, fc2::FramePtr frame) override {
    const auto header = wire::FcHeader::parse(frame->content());
    if (held_ && header->s_id == wire::well_known::fabric_controller) return;
    if (released_ || header->s_id != wire::well_known::name_server) return channel.deliver(std::move(frame));
    channel_ = &channel;
    held_ = std::move(frame);
  }
  [[nodiscard]] bool holds_an_answer() const { return held_ != nullptr; }
  void release(runtime::TimeNs now) {
    released_ = true;
    held_->arrival = now;
    channel_->deliver(std::move(held_));
  }
  void lose() { held_.reset(); }

 private:
  fc2::Channel* channel_ = nullptr;
  fc2::FramePtr held_;
  bool released_ = false;
};

/// Changes a byte of the answers to ADISC.
class AlteredAnswer final : public fc2::FrameFault {
 public:
  static constexpr std::size_t none = 0;
  void carry(fc2::Channel& channel, fc2::FramePtr frame) override {
    const auto header = wire::FcHeader::parse(frame->content());
    const bool answer = header->r_ctl == wire::RCtl::els_reply && frame->data_field()[0] == 0x02;
    if (answer && byte != none && frame->size_bytes == 24 + wire::els::Adisc::size()) frame->data_field()[byte] ^= 1;
    channel.deliver(std::move(frame));
  }
  std::size_t byte = none;
};

class LateAnswer : public PortValidatorTest {
 public:
  ~LateAnswer() override {
    fabric.fabric.set_faults(fabric.port(0), nullptr, nullptr);
    late.lose();  // before the pool of frames is gone
  }
  LateNameServer late;
};

class AlteredAdisc : public PortValidatorTest {
 public:
  ~AlteredAdisc() override { fabric.fabric.set_faults(fabric.port(0), nullptr, nullptr); }
  AlteredAnswer altered;
};

// A port whose link went down is logged out as soon as the RSCN came, within milliseconds; the other one stays.
TEST_F(PortValidatorTest, logged_in_port_gone_is_logged_out) {
  const wire::FcId gone = id(1);
  fabric.detach(1);
  fabric.run_for(20 * millisecond);
  EXPECT_EQ(logged_out, std::vector{gone});
  EXPECT_FALSE(knows(gone));
  EXPECT_TRUE(knows(id(2)));
  EXPECT_EQ(log.sent(wire::els::Command::adisc), 0U);
}

// A port that goes while a login with it is under way: nobody will answer the PLOGI, and the login fails as soon as
// the RSCN came.
TEST_F(PortValidatorTest, awaited_port_gone_login_fails) {
  const wire::FcId gone = id(1);
  fabric.port(0).remote_port(gone).log_out();
  fabric.run_for(second);
  fabric.port(0).remote_port(gone).log_in();
  fabric.detach(1);
  fabric.run_for(20 * millisecond);
  EXPECT_EQ(login_failed, std::vector{gone});
}

// An RSCN about a port that is there and does not answer our PLOGI: the login goes on.
TEST_F(PortValidatorTest, awaited_port_silent_is_waited_for) {
  const wire::FcId silent = id(1);
  fabric.port(0).remote_port(silent).log_out();
  fabric.run_for(second);
  fabric.silence(1);
  fabric.port(0).remote_port(silent).log_in();
  fabric.fabric.directory().state_changed(silent);
  fabric.run_for(second);
  EXPECT_TRUE(login_failed.empty());
  EXPECT_TRUE(fabric.port(0).remote_port(silent).logging_in());
}

// It is back and logs in by itself before the Name Server's answer, that it is not there, has come: what was asked
// before the login says nothing of who logged in.
TEST_F(LateAnswer, awaited_port_logs_in_before_the_answer_stays) {
  const wire::FcId peer = id(1);
  fabric.port(0).remote_port(peer).log_out();
  fabric.run_for(second);
  logged_out.clear();
  fabric.fabric.set_faults(fabric.port(0), nullptr, &late);
  fabric.port(0).remote_port(peer).log_in();
  fabric.detach(1);
  ASSERT_TRUE(fabric.run_until([&] { return late.holds_an_answer(); }));
  fabric.attach(1);
  ASSERT_TRUE(fabric.run_until([&] { return fabric.port(1).online(); }));
  ASSERT_EQ(id(1), peer);
  fabric.port(1).remote_port(id(0)).log_in();
  ASSERT_TRUE(fabric.run_until([&] { return knows(peer); }));
  late.release(fabric.scheduler.now());
  fabric.run_for(second);
  EXPECT_TRUE(logged_out.empty());
  EXPECT_TRUE(knows(peer));
}

// An RSCN about a port that is there and still logged in: ADISC confirms it, nothing ends.
TEST_F(PortValidatorTest, logged_in_port_unchanged_stays) {
  fabric.fabric.directory().state_changed(id(1));
  fabric.run_for(second);
  EXPECT_EQ(log.sent(wire::els::Command::adisc), 1U);
  EXPECT_TRUE(logged_out.empty());
  EXPECT_TRUE(knows(id(1)));
}

// ... also where one frame of it is lost, whichever: RSCN, GPN_ID, ADISC, or an answer. Class 3 tells
// nobody; ruling 221.
TEST_F(PortValidatorTest, logged_in_port_unchanged_one_frame_lost_stays) {
  struct LoseOne final : fc2::FrameFault {
    void carry(fc2::Channel& channel, fc2::FramePtr frame) override {
      if (++seen != lost) channel.deliver(std::move(frame));
    }
    int seen = 0, lost = 0;
  } fault;
  fabric.fabric.set_fault(fabric.port(0), &fault);
  for (fault.lost = 1; fault.lost <= 6; ++fault.lost) {
    fault.seen = 0;
    fabric.fabric.directory().state_changed(id(1));
    fabric.run_for(100 * runtime::second);
    EXPECT_GE(fault.seen, fault.lost);
    EXPECT_TRUE(logged_out.empty()) << fault.lost;
    EXPECT_TRUE(knows(id(1))) << fault.lost;
  }
  fabric.fabric.set_fault(fabric.port(0), nullptr);
}

// Back at once at the same address with the same name: the Name Server sees no change, but the login is gone, and ADISC
// finds it out.
TEST_F(PortValidatorTest, logged_in_port_back_without_login_is_logged_out) {
  const wire::FcId same = id(1);
  fabric.detach(1);
  fabric.attach(1);
  fabric.run_for(second);
  ASSERT_EQ(id(1), same);
  EXPECT_EQ(logged_out, std::vector{same});
}

// Another port came to that address: its name says so.
TEST_F(PortValidatorTest, logged_in_address_taken_by_another_is_logged_out) {
  const wire::FcId same = id(1);
  fabric.detach(1);
  fc2::NPort& other = fabric.add_port();
  fabric.attach(3);
  fabric.run_for(second);
  ASSERT_EQ(other.n_port_id(), same);
  EXPECT_EQ(logged_out, std::vector{same});
  EXPECT_EQ(log.sent(wire::els::Command::adisc), 0U) << "the Name Server knows it";
}

// Without the Name Server the port itself is asked; one that is not there does not answer, and is logged out
// in the end.
TEST_F(PortValidatorTest, logged_in_port_gone_without_name_server_is_logged_out) {
  fabric.port(0).remote_port(wire::well_known::name_server).log_out();
  const wire::FcId gone = id(1);
  fabric.detach(1);
  fabric.run_for(100 * second);
  EXPECT_FALSE(knows(gone));
  EXPECT_TRUE(knows(id(2)));
}

// FC-VI 7.7.3: ADISC carries our names and our address.
TEST_F(PortValidatorTest, adisc_is_as_the_standard_says) {
  fabric.fabric.directory().state_changed(id(1));
  fabric.run_for(second);
  const support::LoggedFrame* frame = log.find(wire::els::Command::adisc);
  ASSERT_NE(frame, nullptr);
  const auto adisc = wire::els::Adisc::parse(frame->data);
  ASSERT_TRUE(adisc);
  EXPECT_EQ(frame->header.d_id, id(1));
  EXPECT_EQ(*adisc, (wire::els::Adisc{.port_name = fabric.port(0).config().port_name,
                                      .node_name = fabric.port(0).config().node_name,
                                      .n_port_id = id(0)}));
}

// FC-VI 7.7.3: the three addresses of the ACC are those of the login; one that differs ends it.
TEST_F(AlteredAdisc, adisc_answer_with_another_address_is_logged_out) {
  fabric.fabric.set_faults(fabric.port(0), nullptr, &altered);
  for (const std::size_t byte : {15U, 23U, 27U}) {  // the last of Port_Name, Node_Name and N_Port_ID
    logged_out.clear();
    altered.byte = byte;
    fabric.fabric.directory().state_changed(id(1));
    fabric.run_for(second);
    EXPECT_EQ(logged_out, std::vector{id(1)}) << byte;
    altered.byte = AlteredAnswer::none;
    ASSERT_TRUE(fabric.log_in(0, 1));
  }
}

// A Name Server that is silent says nothing of the port: after 2 * R_A_TOV the port is asked itself, and stays.
TEST_F(PortValidatorTest, logged_in_name_server_silent_port_is_asked) {
  SilentServer silent(fabric.fabric.service_port(wire::well_known::name_server));
  const runtime::TimeNs patience = 2 * fabric.port(0).r_a_tov();
  fabric.fabric.directory().state_changed(id(1));
  fabric.run_for(patience - millisecond);
  EXPECT_EQ(log.sent(wire::els::Command::adisc), 0U);
  fabric.run_for(100 * millisecond);  // the fabric gathers changes before it sends an RSCN
  EXPECT_EQ(log.sent(wire::els::Command::adisc), 1U);
  fabric.run_for(second);
  EXPECT_TRUE(logged_out.empty());
  EXPECT_TRUE(knows(id(1)));
}

// ... and then a port that does not answer within 2 * R_A_TOV is not there.
TEST_F(PortValidatorTest, logged_in_nobody_answers_is_logged_out) {
  SilentServer silent(fabric.fabric.service_port(wire::well_known::name_server));
  const wire::FcId quiet = id(1);
  fabric.silence(1);
  fabric.fabric.directory().state_changed(quiet);
  const runtime::TimeNs patience = 2 * fabric.port(0).r_a_tov();
  fabric.run_for(2 * patience - millisecond);
  EXPECT_TRUE(logged_out.empty());
  fabric.run_for(200 * millisecond);
  EXPECT_EQ(logged_out, std::vector{quiet});
}

// A login that is under way and nobody can be asked: it goes on.
TEST_F(PortValidatorTest, awaited_without_name_server_is_waited_for) {
  const wire::FcId quiet = id(1);
  fabric.port(0).remote_port(quiet).log_out();
  fabric.run_for(second);
  fabric.silence(1);
  fabric.fabric.service_port(wire::well_known::name_server).link_down();
  fabric.port(0).remote_port(wire::well_known::name_server).log_out();
  fabric.port(0).remote_port(quiet).log_in();
  all_changed();
  fabric.run_for(10 * millisecond);
  EXPECT_TRUE(login_failed.empty());
  EXPECT_TRUE(fabric.port(0).remote_port(quiet).logging_in());
  const auto asked = [&](wire::FcId peer) {
    return log.count([&](const support::LoggedFrame& frame) {
      return frame.is_els(wire::els::Command::adisc) && frame.header.d_id == peer;
    });
  };
  EXPECT_EQ(asked(quiet), 0U);  // who has not answered PLOGI is not asked more
  EXPECT_EQ(asked(id(2)), 1U);
}

// An RSCN about all: the fabric's own addresses and our own are not asked for.
TEST_F(PortValidatorTest, all_changed_asks_for_peers_only) {
  fabric.port(0).remote_port(id(0)).log_in();
  fabric.run_for(second);
  ASSERT_TRUE(knows(id(0)));
  log.clear();
  all_changed();
  fabric.run_for(second);
  EXPECT_EQ(log.count([](const support::LoggedFrame& frame) {
    return frame.outbound && frame.is(wire::RCtl::unsolicited_control);
  }),
            2U);
  EXPECT_EQ(log.sent(wire::els::Command::adisc), 2U);
  EXPECT_TRUE(logged_out.empty());
}

// FC-VI 7.7.5, 7.7.1: our own link was away, and with it our registration for state changes, when another port went: no
// RSCN tells of it. The fabric is the same, so that exchanges go on; each login is asked about by ADISC, and who is not
// there within 2 * R_A_TOV is logged out.
TEST_F(PortValidatorTest, logged_in_port_gone_while_our_link_was_away_is_logged_out) {
  const wire::FcId gone = id(1), stays = id(2);
  fabric.fabric.link_of(fabric.port(0))->cut();
  fabric.detach(1);
  fabric.run_for(second);
  begin();
  fabric.fabric.link_of(fabric.port(0))->mend();
  fabric.run_for(second);
  EXPECT_TRUE(knows(gone));
  EXPECT_EQ(discoveries(gone).size(), 1U);
  EXPECT_EQ(discoveries(stays).size(), 1U);
  EXPECT_EQ(asked_about(), std::set<wire::FcId>{}) << "who is not back yet is not gone";
  fabric.run_for(2 * fabric.port(0).r_a_tov());
  EXPECT_EQ(logged_out, std::vector{gone});
  EXPECT_TRUE(knows(stays));
}

// ... where it came back at the same address without our login, it says so at once.
TEST_F(PortValidatorTest, logged_in_port_began_anew_while_our_link_was_away_is_logged_out) {
  const wire::FcId same = id(1);
  fabric.fabric.link_of(fabric.port(0))->cut();
  fabric.detach(1);
  fabric.attach(1);
  fabric.run_for(second);
  ASSERT_EQ(id(1), same);
  fabric.fabric.link_of(fabric.port(0))->mend();
  fabric.run_for(second);
  EXPECT_EQ(logged_out, std::vector{same});
  EXPECT_TRUE(knows(id(2)));
}

// ... and where it was away with us and comes back later, it stays.
TEST_F(PortValidatorTest, logged_in_port_back_after_us_stays) {
  const wire::FcId late = id(1);
  for (const std::size_t port : {0U, 1U}) fabric.fabric.link_of(fabric.port(port))->cut();
  fabric.run_for(second);
  fabric.fabric.link_of(fabric.port(0))->mend();
  fabric.run_for(second / 2);
  fabric.fabric.link_of(fabric.port(1))->mend();
  fabric.run_for(100 * second);
  EXPECT_TRUE(logged_out.empty());
  EXPECT_TRUE(knows(late));
}

// The same where the fabric does not answer SCR: nobody will tell of changes, nor did.
TEST_F(PortValidatorTest, logged_in_without_notifications_is_asked) {
  struct LoseScr final : fc2::FrameFault {
    void carry(fc2::Channel& channel, fc2::FramePtr frame) override {
      const auto header = wire::FcHeader::parse(frame->content());
      if (header->d_id != wire::well_known::fabric_controller) channel.deliver(std::move(frame));
    }
  } lose_scr;
  const wire::FcId gone = id(1);
  fabric.fabric.link_of(fabric.port(0))->cut();
  fabric.detach(1);
  fabric.run_for(second);
  fabric.fabric.set_faults(fabric.port(0), &lose_scr, nullptr);
  fabric.fabric.link_of(fabric.port(0))->mend();
  fabric.run_for(100 * second);
  EXPECT_EQ(logged_out, std::vector{gone});
  EXPECT_TRUE(knows(id(2)));
  fabric.fabric.set_faults(fabric.port(0), nullptr, nullptr);
}

// Many at once, more than are checked at a time: all are found out.
TEST(PortValidator, many_ports_gone_are_logged_out) {
  constexpr std::size_t many = 100;
  support::TestFabric fabric(many + 1);
  Resolver resolver(fabric.port(0), {});
  fabric.bring_up();
  for (std::size_t i = 1; i <= many; ++i) fabric.port(0).remote_port(fabric.port(i).n_port_id()).log_in();
  fabric.run_for(second);
  EXPECT_EQ(fabric.port(0).logged_in_ports().size(), many + 1);  // and the Name Server
  for (std::size_t i = 1; i <= many; ++i) fabric.detach(i);
  fabric.run_for(second);
  EXPECT_EQ(fabric.port(0).logged_in_ports().size(), 1U);
}

// Between any two events: each port is asked about, one of them is silent, and a third one has no answer of the server.
TEST_F(PortValidatorTest, owner_is_consistent_between_events) {
  const auto run = [this](runtime::TimeNs duration) {
    const runtime::TimeNs end = fabric.scheduler.now() + duration;
    while (fabric.scheduler.run_next(end)) ASSERT_TRUE(resolvers[0]->is_consistent());
  };
  fabric.silence(1);
  all_changed();
  EXPECT_TRUE(resolvers[0]->is_consistent());
  run(100 * runtime::second);
  EXPECT_FALSE(knows(id(1)));
  EXPECT_TRUE(knows(id(2)));
  SilentServer silent(fabric.fabric.service_port(wire::well_known::name_server));
  all_changed();
  run(100 * runtime::second);
  EXPECT_TRUE(knows(id(2)));
}

}  // namespace
}  // namespace farp_test
