#include "state_machines/fip_node.hpp"

#include "fsm_test.hpp"

namespace machines::fip_node {
namespace {

class Recorded final : public fsm::testing::Recorder<Context> {
 public:
  enum Knob : unsigned { WantsVlansKnob, FcfUsableKnob };
  void send_vlan_request() override { note("send_vlan_request"); }
  void send_solicitation() override { note("send_solicitation"); }
  void solicit_new_vlans() override { note("solicit_new_vlans"); }
  void start_solicitation_timer() override { note("start_solicitation_timer"); }
  void start_choice_timer() override { note("start_choice_timer"); }
  void start_retry_timer() override { note("start_retry_timer"); }
  void stop_timer() override { note("stop_timer"); }
  void select_fcf() override { note("select_fcf"); }
  void take_link_up() override { note("take_link_up"); }
  void interrupt_links() override { note("interrupt_links"); }
  void start_keep_alives() override { note("start_keep_alives"); }
  void stop_keep_alives() override { note("stop_keep_alives"); }
  [[nodiscard]] bool wants_vlans() const override { return knob(WantsVlansKnob); }
  [[nodiscard]] bool fcf_usable() const override { return knob(FcfUsableKnob); }
};

struct Input {
  using Def = fip_node::Def;
  using Recorded = fip_node::Recorded;
  static constexpr unsigned knob_count = 2;

  template <class Event>
  static fsm::testing::Samples<Event> samples(std::type_identity<Event>) {
    return {{"", Event{}}};
  }
};

using Rig = fsm::testing::Rig<Def, Recorded>;

FSM_TABLE_TESTS(FipNode, Input);

// A rig that is logged in.
Rig logged_in() {
  Rig rig;
  rig.set(Recorded::FcfUsableKnob);
  rig.given(LinkUp{}, FcfBecameUsable{}, Timeout{}, LoginRequested{}, LoginAccepted{});
  return rig;
}

// From the carrier to the login: solicit, hear of an FCF, wait for a better one, choose, log in.
TEST(FipNode, Disabled_link_up_until_login) {
  Rig rig;
  EXPECT_EQ(rig.after(LinkUp{}), "Discovering: send_solicitation, start_solicitation_timer");
  EXPECT_EQ(rig.after(Timeout{}), "Discovering: send_solicitation, start_solicitation_timer");
  EXPECT_EQ(rig.after(FcfBecameUsable{}), "Choosing: stop_timer, start_choice_timer");
  EXPECT_EQ(rig.after(FcfBecameUsable{}), "Choosing:");
  rig.set(Recorded::FcfUsableKnob);
  EXPECT_EQ(rig.after(Timeout{}), "LoginPending: select_fcf, take_link_up");
  EXPECT_EQ(rig.after(LoginRequested{}), "LoginPending:");
  EXPECT_EQ(rig.after(FcfBecameUsable{}), "LoginPending:");
  EXPECT_EQ(rig.after(LoginAccepted{}), "LoggedIn: start_keep_alives");
}

// VLANs are asked for beside the solicitation, where they are wanted, and FCFs looked for on those that are told.
TEST(FipNode, Disabled_link_up_with_vlan_discovery) {
  Rig rig;
  rig.set(Recorded::WantsVlansKnob);
  EXPECT_EQ(rig.after(LinkUp{}), "Discovering: send_vlan_request, send_solicitation, start_solicitation_timer");
  EXPECT_EQ(rig.after(VlanNotified{}), "Discovering: solicit_new_vlans");
  EXPECT_EQ(rig.after(Timeout{}), "Discovering: send_vlan_request, send_solicitation, start_solicitation_timer");
  EXPECT_EQ(rig.after(FcfBecameUsable{}), "Choosing: stop_timer, start_choice_timer");
  EXPECT_EQ(rig.after(VlanNotified{}), "Choosing: solicit_new_vlans");
  EXPECT_EQ(rig.after(LinkDown{}), "Disabled: stop_timer");
}

// The FCF went before it was chosen.
TEST(FipNode, Choosing_timeout_without_usable_fcf) {
  Rig rig;
  rig.given(LinkUp{}, FcfBecameUsable{});
  EXPECT_EQ(rig.after(Timeout{}), "Discovering: send_solicitation, start_solicitation_timer");
  rig.given(FcfBecameUsable{});
  EXPECT_EQ(rig.after(LinkDown{}), "Disabled: stop_timer");
}

// FC-BB-5: the FCF is silent for 2.5 periods, with and without a login.
TEST(FipNode, LoggedIn_fcf_lost) {
  Rig rig = logged_in();
  EXPECT_EQ(rig.after(FcfLost{}),
            "Discovering: stop_keep_alives, interrupt_links, send_solicitation, start_solicitation_timer");
  rig.given(FcfBecameUsable{}, Timeout{});
  EXPECT_EQ(rig.after(FcfLost{}), "Discovering: interrupt_links, send_solicitation, start_solicitation_timer");
}

// FC-BB-5: Clear Virtual Links ends the login; the one that comes into a FLOGI is late.
TEST(FipNode, LoggedIn_links_cleared) {
  Rig rig = logged_in();
  EXPECT_EQ(rig.after(FcfBecameUsable{}), "LoggedIn:");
  EXPECT_EQ(rig.after(VlanNotified{}), "LoggedIn:");
  EXPECT_EQ(rig.after(LinksCleared{}),
            "Discovering: stop_keep_alives, interrupt_links, send_solicitation, start_solicitation_timer");
  rig.given(FcfBecameUsable{}, Timeout{});
  EXPECT_EQ(rig.after(LinksCleared{}), "LoginPending:");
  EXPECT_EQ(rig.after(VlanNotified{}), "LoginPending:");
}

// The N_Port logs out, and in again on the same link.
TEST(FipNode, LoggedIn_logout_and_login) {
  Rig rig = logged_in();
  EXPECT_EQ(rig.after(LogoutAnswered{}), "LoggedOut: stop_keep_alives");
  EXPECT_EQ(rig.after(FcfBecameUsable{}), "LoggedOut:");
  EXPECT_EQ(rig.after(VlanNotified{}), "LoggedOut:");
  EXPECT_EQ(rig.after(LinksCleared{}), "LoggedOut:");
  EXPECT_EQ(rig.after(LoginRequested{}), "LoginPending:");
  rig.given(LoginAccepted{});
  EXPECT_EQ(rig.after(LoginRequested{}), "LoginPending: stop_keep_alives");
  EXPECT_EQ(rig.after(LoginFailed{}), "Discovering: interrupt_links, start_retry_timer");
}

// A fault took the accept from the N_Port, which gave up in the end.
TEST(FipNode, LoggedIn_login_failed) {
  Rig rig = logged_in();
  EXPECT_EQ(rig.after(LoginFailed{}), "Discovering: stop_keep_alives, interrupt_links, start_retry_timer");
}

// Logged out, the FCF or the Ethernet goes.
TEST(FipNode, LoggedOut_fcf_lost_or_link_down) {
  Rig rig = logged_in();
  rig.given(LogoutAnswered{});
  EXPECT_EQ(rig.after(FcfLost{}), "Discovering: interrupt_links, send_solicitation, start_solicitation_timer");
  rig.given(FcfBecameUsable{}, Timeout{}, LoginRequested{}, LoginAccepted{}, LogoutAnswered{});
  EXPECT_EQ(rig.after(LinkDown{}), "Disabled: interrupt_links");
}

// The carrier goes in every state that has a link.
TEST(FipNode, LoggedIn_link_down) {
  Rig rig = logged_in();
  EXPECT_EQ(rig.after(LinkDown{}), "Disabled: stop_keep_alives, interrupt_links");
  rig.given(LinkUp{}, FcfBecameUsable{}, Timeout{});
  EXPECT_EQ(rig.after(LinkDown{}), "Disabled: interrupt_links");
  rig.given(LinkUp{});
  EXPECT_EQ(rig.after(LinkDown{}), "Disabled: stop_timer");
}

}  // namespace
}  // namespace machines::fip_node
