#include "state_machines/fip_forwarder.hpp"

#include "fsm_test.hpp"

namespace machines::fip_forwarder {
namespace {

class Recorded final : public fsm::testing::Recorder<Context> {
 public:
  enum Knob : unsigned { HasFPortKnob, LooksForFcfKnob };
  void pass_request() override { note("pass_request"); }
  void reject_request() override { note("reject_request"); }
  void start_login_timer() override { note("start_login_timer"); }
  void stop_login_timer() override { note("stop_login_timer"); }
  void start_supervision() override { note("start_supervision"); }
  void stop_supervision() override { note("stop_supervision"); }
  void send_clear_virtual_links() override { note("send_clear_virtual_links"); }
  void report_departure() override { note("report_departure"); }
  void forget_vn_ports() override { note("forget_vn_ports"); }
  void detach_f_port() override { note("detach_f_port"); }
  [[nodiscard]] bool has_f_port() const override { return knob(HasFPortKnob); }
  [[nodiscard]] bool looks_for_fcf() const override { return knob(LooksForFcfKnob); }
};

struct Input {
  using Def = fip_forwarder::Def;
  using Recorded = fip_forwarder::Recorded;
  static constexpr unsigned knob_count = 2;

  template <class Event>
  static fsm::testing::Samples<Event> samples(std::type_identity<Event>) {
    return {{"", Event{}}};
  }
};

using Rig = fsm::testing::Rig<Def, Recorded>;

FSM_TABLE_TESTS(FipForwarder, Input);

Rig with_f_port() {
  Rig rig;
  rig.set(Recorded::HasFPortKnob);
  return rig;
}

// FLOGI, keep-alives, FDISC, LOGO.
TEST(FipForwarder, Idle_login_until_logout) {
  Rig rig = with_f_port();
  EXPECT_EQ(rig.after(FlogiReceived{}), "LoginPending: pass_request, start_login_timer");
  EXPECT_EQ(rig.after(FlogiReceived{}), "LoginPending: pass_request, start_login_timer");
  EXPECT_EQ(rig.after(KeepAliveReceived{}), "LoginPending:");
  EXPECT_EQ(rig.after(LoginAccepted{}), "LoggedIn: stop_login_timer, start_supervision");
  EXPECT_EQ(rig.after(KeepAliveReceived{}), "LoggedIn: start_supervision");
  EXPECT_EQ(rig.after(VirtualRequestReceived{}), "LoggedIn: pass_request");
  EXPECT_EQ(rig.after(LogoReceived{}), "LogoutPending: stop_supervision, pass_request, start_login_timer");
  EXPECT_EQ(rig.after(KeepAliveReceived{}), "LogoutPending:");
  EXPECT_EQ(rig.after(LogoReceived{}), "LogoutPending: pass_request, start_login_timer");
  EXPECT_EQ(rig.after(LogoutAnswered{}), "Idle: stop_login_timer, forget_vn_ports, detach_f_port");
}

// Without a login there is nothing but FLOGI.
TEST(FipForwarder, Idle_without_login) {
  Rig rig;
  EXPECT_EQ(rig.after(FlogiReceived{}), "Idle: reject_request");
  EXPECT_EQ(rig.after(VirtualRequestReceived{}), "Idle: reject_request");
  EXPECT_EQ(rig.after(LogoReceived{}), "Idle: reject_request");
  EXPECT_EQ(rig.after(ClearRequested{}), "Idle:");
}

TEST(FipForwarder, LoginPending_not_accepted) {
  Rig rig = with_f_port();
  rig.given(FlogiReceived{});
  EXPECT_EQ(rig.after(VirtualRequestReceived{}), "LoginPending: reject_request");
  EXPECT_EQ(rig.after(LoginRejected{}), "Idle: stop_login_timer, detach_f_port");
  rig.given(FlogiReceived{});
  EXPECT_EQ(rig.after(Timeout{}), "Idle: detach_f_port");
  rig.given(FlogiReceived{});
  EXPECT_EQ(rig.after(ClearRequested{}), "Idle: stop_login_timer, detach_f_port");
  rig.given(FlogiReceived{});
  EXPECT_EQ(rig.after(LogoReceived{}), "LogoutPending: pass_request, start_login_timer");
}

// FC-LS: another FLOGI ends the login; its VN_Ports have no addresses until they log in again.
TEST(FipForwarder, LoggedIn_flogi) {
  Rig rig = with_f_port();
  rig.given(FlogiReceived{}, LoginAccepted{});
  EXPECT_EQ(rig.after(FlogiReceived{}),
            "LoginPending: stop_supervision, forget_vn_ports, pass_request, start_login_timer");
}

// FC-BB-5: 2.5 periods of silence, or the FCF ends.
TEST(FipForwarder, LoggedIn_silence_or_clear) {
  Rig rig = with_f_port();
  rig.given(FlogiReceived{}, LoginAccepted{});
  EXPECT_EQ(rig.after(SilenceDetected{}), "Idle: send_clear_virtual_links, forget_vn_ports, detach_f_port");
  rig.given(FlogiReceived{}, LoginAccepted{});
  EXPECT_EQ(rig.after(ClearRequested{}),
            "Idle: stop_supervision, send_clear_virtual_links, forget_vn_ports, detach_f_port");
}

// Clear Virtual Links would make one that has forgotten its login begin anew.
TEST(FipForwarder, LoggedIn_silence_of_one_that_looks_for_an_fcf) {
  Rig rig = with_f_port();
  rig.given(FlogiReceived{}, LoginAccepted{});
  rig.set(Recorded::LooksForFcfKnob);
  EXPECT_EQ(rig.after(SilenceDetected{}), "Idle: report_departure, forget_vn_ports, detach_f_port");
}

TEST(FipForwarder, LogoutPending_other_ends) {
  Rig rig = with_f_port();
  rig.given(FlogiReceived{}, LoginAccepted{}, LogoReceived{});
  EXPECT_EQ(rig.after(VirtualRequestReceived{}), "LogoutPending: reject_request");
  EXPECT_EQ(rig.after(Timeout{}), "Idle: forget_vn_ports, detach_f_port");
  rig.given(FlogiReceived{}, LoginAccepted{}, LogoReceived{});
  EXPECT_EQ(rig.after(ClearRequested{}), "Idle: stop_login_timer, forget_vn_ports, detach_f_port");
  rig.given(FlogiReceived{}, LoginAccepted{}, LogoReceived{});
  EXPECT_EQ(rig.after(FlogiReceived{}), "LoginPending: forget_vn_ports, pass_request, start_login_timer");
}

}  // namespace
}  // namespace machines::fip_forwarder
