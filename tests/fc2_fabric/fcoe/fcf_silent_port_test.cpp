// What an FCF does for an ENode whose F_Port is silent, or gone in this very instant: between the request and its
// answer (FC-BB-5, FC-LS FLOGI, FDISC, LOGO).
#include <gtest/gtest.h>

#include "tests/fc2_fabric/fcoe/hostile.hpp"
#include "wire/els/ls_rjt.hpp"

namespace fc2::fcoe {
namespace {
namespace fip = wire::fip;
using fip::DescriptorType;
using support::fcf_mac;
using support::login_request;
using support::station_mac;
using wire::els::RejectExplanation;

struct Loses final : FrameFault {
  void carry(Channel&, FramePtr) override {}
};

struct Delays final : FrameFault {
  void carry(Channel& channel, FramePtr frame) override {
    frame->arrival += by;
    channel.deliver(std::move(frame));
  }
  TimeNs by = 0;
};

class FcfSilentPort : public testing::Test {
 protected:
  explicit FcfSilentPort(std::size_t max_ports = 8) : world({}, 2500, {.max_ports = max_ports}) {
    world.start_fcf();
    world.fcf_port.tap(&log);
    id = log_in(7);
  }
  ~FcfSilentPort() override {
    speak();
    EXPECT_EQ(world.interface().counters().unexpected_events, 0U);
    world.fcf_port.tap(nullptr);
  }
  static wire::Wwn name_of(std::size_t station) { return {0x70 + station}; }
  void inject(const fip::FipMessage& message, std::size_t station = 7) {
    world.inject(world.fcf_port, message, fcf_mac, station_mac(station));
  }
  void flogi(std::size_t station = 7) { inject(login_request(DescriptorType::flogi, name_of(station)), station); }
  void fdisc() { inject(login_request(DescriptorType::fdisc, {0x177})); }
  void logo() { inject(login_request(DescriptorType::logo, name_of(7), id)); }
  void keep_alive(std::size_t station = 7) {
    inject({fip::Operation::control, fip::subcode::keep_alive, fip::flag::fpma, {fip::Mac{station_mac(station)}}, {}},
           station);
  }
  wire::FcId log_in(std::size_t station) {
    flogi(station);
    world.run_for(millisecond);
    EXPECT_EQ(link(station).state_name(), "LoggedIn");
    return link(station).vn_ports().front().id;
  }
  FcfLink& link(std::size_t station = 7) { return *world.interface().links().at(station_mac(station)); }
  [[nodiscard]] std::string state() {
    return world.interface().enode_count() == 0 ? "gone" : std::string(link().state_name());
  }
  /// From now on the F_Port hears nothing of the ENode.
  void silence() { link().set_faults(&loses, nullptr); }
  void speak() {
    for (const auto& [mac, one] : world.interface().links()) one->set_faults(nullptr, nullptr);
  }
  /// The answer to a request comes when one that follows in a millisecond is given up.
  void answer_late() {
    delays.by = login_time + millisecond;
    link().set_faults(nullptr, &delays);
    log.entries.clear();
  }
  void ask_in_vain_for_login() {
    silence();
    flogi();
    world.run_for(millisecond);
    ASSERT_EQ(state(), "LoginPending");
    log.entries.clear();
  }
  void ask_in_vain_for_logout() {
    silence();
    logo();
    world.run_for(millisecond);
    ASSERT_EQ(state(), "LogoutPending");
    log.entries.clear();
  }
  /// Of the only answer since then: nothing for LS_ACC.
  std::optional<RejectExplanation> answer() {
    const auto replies = log.sent(fip::Operation::link_service, fip::subcode::link_service_reply);
    EXPECT_EQ(replies.size(), 1U);
    if (replies.empty()) return std::nullopt;
    const auto& frame = replies.back()->fip->find<fip::EncapsulatedFrame>()->fc_frame;
    if (frame.at(frame_header_bytes) == static_cast<std::uint8_t>(wire::els::Command::ls_acc)) return std::nullopt;
    return wire::els::LsRjt::parse(wire::Bytes(frame).subspan(frame_header_bytes))->explanation;
  }
  std::size_t clears() { return log.sent(fip::Operation::control, fip::subcode::clear_virtual_links).size(); }
  void expect_gone() {
    world.run_for(millisecond);
    EXPECT_EQ(state(), "gone");
    EXPECT_EQ(world.interface().vn_port_count(), 0U);
    EXPECT_EQ(world.fabric.logged_in_ports(), 0U);
    EXPECT_EQ(clears(), 0U);
  }
  static constexpr TimeNs login_time = FcfConfig{}.login_time;
  Loses loses;
  Delays delays;
  support::EthernetWorld world;
  support::EthernetLog log;
  wire::FcId id{};
};

// --- the login is not answered

// FC-LS: FDISC needs a FLOGI that was accepted.
TEST_F(FcfSilentPort, loginPending_fdisc_isRejected) {
  ask_in_vain_for_login();
  fdisc();
  EXPECT_EQ(answer(), RejectExplanation::n_port_login_required);
  EXPECT_EQ(state(), "LoginPending");
  speak();
  log_in(7);
}

// A keep-alive of the login before says nothing of this one, and gives it no more time. No answer in 2 x R_A_TOV: all
// is as before the FLOGI, and the ENode, which has no link yet, is told nothing.
TEST_F(FcfSilentPort, loginPending_noAnswer_endsInTime) {
  ask_in_vain_for_login();
  EXPECT_EQ(world.interface().vn_port_count(), 0U);
  world.run_for(login_time / 2);
  keep_alive();
  EXPECT_EQ(state(), "LoginPending");
  world.run_for(login_time / 2 - 2 * millisecond);
  EXPECT_EQ(state(), "LoginPending");
  world.run_for(millisecond);
  expect_gone();
  log_in(7);
}

// --- the logout is not answered

TEST_F(FcfSilentPort, logoutPending_fdisc_isRejected) {
  ask_in_vain_for_logout();
  fdisc();
  EXPECT_EQ(answer(), RejectExplanation::n_port_login_required);
  EXPECT_EQ(state(), "LogoutPending");
}

// The F_Port is silent: the login ends all the same, in time.
TEST_F(FcfSilentPort, logoutPending_noAnswer_endsInTime) {
  ask_in_vain_for_logout();
  EXPECT_EQ(world.interface().vn_port_count(), 1U);
  world.run_for(login_time / 2);
  keep_alive();
  EXPECT_EQ(state(), "LogoutPending");
  world.run_for(login_time / 2 - 2 * millisecond);
  EXPECT_EQ(state(), "LogoutPending");
  world.run_for(millisecond);
  expect_gone();
  log_in(7);
}

// FC-BB-5: LOGO once more, as ENodes repeat it: passed on, with the whole time again.
TEST_F(FcfSilentPort, logoutPending_logoAgain_isAnswered) {
  ask_in_vain_for_logout();
  world.run_for(login_time - 2 * millisecond);
  logo();
  world.run_for(login_time - 2 * millisecond);
  EXPECT_EQ(state(), "LogoutPending");
  speak();
  logo();
  world.run_for(0);
  EXPECT_EQ(answer(), std::nullopt);
  expect_gone();
}

// FC-LS: a FLOGI behind a logout that was not answered begins anew: what was logged in is not any more.
TEST_F(FcfSilentPort, logoutPending_flogi_beginsAnew) {
  ask_in_vain_for_logout();
  world.run_for(login_time - 2 * millisecond);
  flogi();
  EXPECT_EQ(state(), "LoginPending");
  EXPECT_EQ(world.interface().vn_port_count(), 0U);
  world.run_for(login_time - 2 * millisecond);
  EXPECT_EQ(state(), "LoginPending") << "it has the whole time";
  speak();
  flogi();
  world.run_for(millisecond);
  EXPECT_EQ(answer(), std::nullopt);
  EXPECT_EQ(state(), "LoggedIn");
  EXPECT_EQ(world.interface().vn_port_count(), 1U);
}

// Heard at once: the FLOGI behind it reaches the F_Port.
TEST_F(FcfSilentPort, logoutPending_flogiIsHeard_isLoggedIn) {
  ask_in_vain_for_logout();
  speak();
  flogi();
  world.run_for(millisecond);
  EXPECT_EQ(answer(), std::nullopt);
  EXPECT_EQ(state(), "LoggedIn");
}

// The operator ends it meanwhile: it ends anyway; the ENode asked for that itself and is told nothing.
TEST_F(FcfSilentPort, logoutPending_clearedByTheFabric_isGone) {
  ask_in_vain_for_logout();
  EXPECT_TRUE(world.interface().log_out(id));
  expect_gone();
}

// --- a request goes out twice, and the first one's answer comes in the last instant of the second one's time: that is
// in time

TEST_F(FcfSilentPort, loginPending_answeredInTheLastInstant_isLoggedIn) {
  answer_late();
  flogi();
  world.run_for(millisecond);
  flogi();
  world.run_for(login_time);
  EXPECT_EQ(answer(), std::nullopt);
  EXPECT_EQ(state(), "LoggedIn");
  EXPECT_EQ(world.interface().vn_port_count(), 1U);
  speak();
}

TEST_F(FcfSilentPort, logoutPending_answeredInTheLastInstant_isLoggedOut) {
  answer_late();
  logo();
  world.run_for(millisecond);
  logo();
  world.run_for(login_time);
  EXPECT_EQ(answer(), std::nullopt);
  expect_gone();
}

// --- in the instant in which its login ended

TEST_F(FcfSilentPort, clearedJustNow_fdisc_isRejected) {
  EXPECT_TRUE(world.interface().log_out(id));
  log.entries.clear();
  fdisc();
  world.run_for(0);
  EXPECT_EQ(answer(), RejectExplanation::n_port_login_required);
  EXPECT_EQ(state(), "gone");
}

TEST_F(FcfSilentPort, clearedJustNow_carrierGoes_isClearedOnce) {
  EXPECT_TRUE(world.interface().log_out(id));
  EXPECT_EQ(link().state_name(), "Idle");
  world.fcf_port.set_carrier(false);
  EXPECT_EQ(link().state_name(), "Idle");
  EXPECT_EQ(world.interface().counters().unexpected_events, 0U);
  world.run_for(millisecond);
  EXPECT_EQ(state(), "gone");
  world.fcf_port.set_carrier(true);
  log_in(7);
}

// --- no F_Port is free

class FcfOnePort : public FcfSilentPort {
 protected:
  FcfOnePort() : FcfSilentPort(1) {}
};

// FC-LS LS_RJT: insufficient resources; an ENode that is alive makes no room. When the port is free, the other
// one gets it.
TEST_F(FcfOnePort, inUse_flogiOfAnother_isRejected) {
  keep_alive();
  log.entries.clear();
  flogi(8);
  world.run_for(millisecond);
  EXPECT_EQ(answer(), RejectExplanation::insufficient_resources);
  EXPECT_EQ(world.interface().enode_count(), 1U);
  EXPECT_EQ(state(), "LoggedIn");
  logo();
  world.run_for(millisecond);
  log_in(8);
}

}  // namespace
}  // namespace fc2::fcoe
