#include "state_machines/port_attachment.hpp"

#include "fsm_test.hpp"

namespace machines::port_attachment {
namespace {

class Recorded final : public fsm::testing::Recorder<Context> {
 public:
  enum Knob : unsigned { HasFixedAddressKnob, OthersMayHaveMovedKnob };
  void log_in_to_fabric() override { note("log_in_to_fabric"); }
  void leave_fabric() override { note("leave_fabric"); }
  void use_own_parameters() override { note("use_own_parameters"); }
  void use_fixed_address() override { note("use_fixed_address"); }
  void go_online_same() override { note("go_online_same"); }
  void go_online_asking() override { note("go_online_asking"); }
  void go_online_changed() override { note("go_online_changed"); }
  void log_in_to_other() override { note("log_in_to_other"); }
  void renew_other() override { note("renew_other"); }
  void go_offline() override { note("go_offline"); }
  void suspend() override { note("suspend"); }
  void end_interruption() override { note("end_interruption"); }
  void drop_link() override { note("drop_link"); }
  void forget_topology() override { note("forget_topology"); }
  void confirm_fabric_login() override { note("confirm_fabric_login"); }
  void start_fan_timer() override { note("start_fan_timer"); }
  void stop_fan_timer() override { note("stop_fan_timer"); }
  void start_address_timer() override { note("start_address_timer"); }
  void stop_address_timer() override { note("stop_address_timer"); }
  void report_login_failed() override { note("report_login_failed"); }
  [[nodiscard]] bool has_fixed_address() const override { return knob(HasFixedAddressKnob); }
  [[nodiscard]] bool others_may_have_moved() const override { return knob(OthersMayHaveMovedKnob); }
};

struct Input {
  using Def = port_attachment::Def;
  using Recorded = port_attachment::Recorded;
  static constexpr unsigned knob_count = 2;

  template <class Event>
  static fsm::testing::Samples<Event> samples(std::type_identity<Event>) {
    return {{"", Event{}}};
  }
  static fsm::testing::Samples<LinkUpWithoutFabric> samples(std::type_identity<LinkUpWithoutFabric>) {
    return {{"other", LinkUpWithoutFabric{false}}, {"same", LinkUpWithoutFabric{true}}};
  }
  static fsm::testing::Samples<LinkUpOnPublicLoop> samples(std::type_identity<LinkUpOnPublicLoop>) {
    return {{"unknown", LinkUpOnPublicLoop{false}}, {"known", LinkUpOnPublicLoop{true}}};
  }
  static fsm::testing::Samples<FabricAccepted> samples(std::type_identity<FabricAccepted>) {
    return {{"other", FabricAccepted{false}}, {"same", FabricAccepted{true}}};
  }
  static fsm::testing::Samples<NPortAccepted> samples(std::type_identity<NPortAccepted>) {
    return {{"higher", NPortAccepted{Name::Higher}},
            {"lower", NPortAccepted{Name::Lower}},
            {"equal", NPortAccepted{Name::Equal}}};
  }
  static fsm::testing::Samples<FanReceived> samples(std::type_identity<FanReceived>) {
    return {{"other", FanReceived{false}}, {"same", FanReceived{true}}};
  }
};

using Rig = fsm::testing::Rig<Def, Recorded>;

FSM_TABLE_TESTS(PortAttachment, Input);

constexpr const char* offline = "Offline: drop_link, go_offline, forget_topology";
constexpr const char* dropped = "Offline: drop_link, end_interruption, forget_topology";
constexpr FabricAccepted same{true}, other{false};
constexpr NPortAccepted higher{Name::Higher}, lower{Name::Lower}, equal{Name::Equal};
constexpr LinkUpOnPublicLoop known{true}, unknown{false};

template <class... Events>
Rig after(Events... events) {
  Rig rig;
  (rig.given(events), ...);
  return rig;
}
Rig interrupted() { return after(LinkUp{}, other, LinkInterrupted{}); }

// FC-VI 7.7.1: without a link there is nothing that an event could end.
TEST(PortAttachment, Offline_nothing_to_end) {
  EXPECT_EQ(after().after(LinkInterrupted{}), "Offline:");
  EXPECT_EQ(after().after(LinkDown{}), "Offline:");
  EXPECT_EQ(after().after(FlogiReceived{}), "Offline:");
  EXPECT_EQ(after().after(FabricLoginLost{}), "Offline:");
  EXPECT_EQ(after().after(FabricLoggedOut{}), "Offline:");
}

// A fabric's own port has its address, and keeps no login over an interruption.
TEST(PortAttachment, Fixed_up_and_down) {
  Rig rig;
  rig.set(Recorded::HasFixedAddressKnob);
  EXPECT_EQ(rig.after(LinkUp{}), "Fixed: use_fixed_address");
  EXPECT_EQ(rig.after(LinkInterrupted{}), offline);
  rig.given(LinkUp{});
  EXPECT_EQ(rig.after(LinkDown{}), offline);
}

// FC-LS: FLOGI, asked again until an F_Port accepts it; the fabric's LOGO ends all.
TEST(PortAttachment, LoggingIn_to_a_fabric) {
  Rig rig;
  EXPECT_EQ(rig.after(LinkUp{}), "LoggingIn: log_in_to_fabric");
  EXPECT_EQ(rig.after(FabricLoginLost{}), "LoggingIn:");
  EXPECT_EQ(rig.after(FabricLoggedOut{}), "LoggingIn:");
  EXPECT_EQ(rig.after(other), "Attached: go_online_changed");
  EXPECT_EQ(rig.after(FabricLoggedOut{}), "LoggingIn: go_offline");
  EXPECT_EQ(after().after(unknown), "LoggingIn: log_in_to_fabric");
}

// FC-VI 7.7.2: what was not online keeps nothing.
TEST(PortAttachment, LoggingIn_link_goes) {
  EXPECT_EQ(after(LinkUp{}).after(LinkInterrupted{}), offline);
  EXPECT_EQ(after(LinkUp{}).after(LinkDown{}), offline);
  EXPECT_EQ(after(LinkUp{}, other).after(LinkDown{}), offline);
  constexpr const char* waited = "Offline: stop_address_timer, drop_link, go_offline, forget_topology";
  EXPECT_EQ(after(LinkUp{}, FlogiReceived{}).after(LinkInterrupted{}), waited);
  EXPECT_EQ(after(LinkUp{}, FlogiReceived{}).after(LinkDown{}), waited);
  EXPECT_EQ(after(LinkUp{}, higher).after(LinkInterrupted{}), offline);
  EXPECT_EQ(after(LinkUp{}, higher).after(LinkDown{}), offline);
}

// FC-VI 7.7.2, FC-LS: the port of the higher name gives both their addresses, by its PLOGI.
TEST(PortAttachment, LoggingIn_finds_another_n_port) {
  EXPECT_EQ(after(LinkUp{}).after(higher), "PointToPoint: leave_fabric, go_online_changed, log_in_to_other");
  EXPECT_EQ(after(LinkUp{}).after(lower), "AwaitingAddress: leave_fabric, start_address_timer");
  EXPECT_EQ(after(LinkUp{}).after(equal), "AwaitingAddress: leave_fabric, report_login_failed");
  Rig rig = after(LinkUp{});
  EXPECT_EQ(rig.after(FlogiReceived{}), "AwaitingAddress:");
  EXPECT_EQ(rig.after(FlogiReceived{}), "AwaitingAddress:");
  EXPECT_EQ(rig.after(FabricLoginLost{}), "AwaitingAddress:");
  EXPECT_EQ(rig.after(FabricLoggedOut{}), "AwaitingAddress:");
  EXPECT_EQ(rig.after(AddressAssigned{}), "PointToPoint: stop_address_timer, leave_fabric, go_online_changed");
  EXPECT_EQ(rig.after(FabricLoginLost{}), "PointToPoint:");
  EXPECT_EQ(rig.after(FabricLoggedOut{}), "PointToPoint:");
  EXPECT_EQ(rig.after(FlogiReceived{}), "PointToPoint: renew_other");
}

// The answer to our FLOGI comes after the other's FLOGI.
TEST(PortAttachment, AwaitingAddress_flogi_answered) {
  const auto waiting = [] { return after(LinkUp{}, FlogiReceived{}); };
  EXPECT_EQ(waiting().after(same), "Attached: go_online_changed");
  EXPECT_EQ(waiting().after(higher), "PointToPoint: leave_fabric, go_online_changed, log_in_to_other");
  EXPECT_EQ(waiting().after(lower), "AwaitingAddress: leave_fabric, start_address_timer");
  EXPECT_EQ(waiting().after(equal), "AwaitingAddress: leave_fabric, report_login_failed");
}

// The other N_Port's PLOGI does not come: FLOGI asks who is there, as at the begin of the link; the PLOGI still counts.
TEST(PortAttachment, AwaitingAddress_no_plogi_comes) {
  Rig rig = after(LinkUp{}, lower);
  EXPECT_EQ(rig.after(AddressOverdue{}), "AwaitingAddress: forget_topology, log_in_to_fabric");
  EXPECT_EQ(rig.after(AddressAssigned{}), "PointToPoint: stop_address_timer, leave_fabric, go_online_changed");
}

// FC-VI 7.7.3: a private loop, or VN2VN: online at once; after an interruption each port is asked by ADISC.
TEST(PortAttachment, WithoutFabric_interrupted) {
  Rig rig;
  EXPECT_EQ(rig.after(LinkUpWithoutFabric{}), "WithoutFabric: use_own_parameters, go_online_changed");
  EXPECT_EQ(rig.after(FlogiReceived{}), "WithoutFabric:");
  EXPECT_EQ(rig.after(FabricLoggedOut{}), "WithoutFabric:");
  EXPECT_EQ(rig.after(LinkInterrupted{}), "Interrupted: suspend");
  EXPECT_EQ(rig.after(LinkUpWithoutFabric{true}), "WithoutFabric: use_own_parameters, go_online_asking");
  rig.given(LinkInterrupted{});
  EXPECT_EQ(rig.after(LinkUpWithoutFabric{false}), "WithoutFabric: use_own_parameters, go_online_changed");
  EXPECT_EQ(rig.after(LinkDown{}), offline);
}

// FC-VI 7.7.5: FLOGI, then compare.
TEST(PortAttachment, Interrupted_fabric_compared) {
  Rig rig = after(LinkUp{}, other);
  EXPECT_EQ(rig.after(LinkInterrupted{}), "Interrupted: suspend");
  EXPECT_EQ(rig.after(FlogiReceived{}), "Interrupted:");
  EXPECT_EQ(rig.after(FabricLoginLost{}), "Interrupted:");
  EXPECT_EQ(rig.after(FabricLoggedOut{}), "Interrupted:");
  EXPECT_EQ(rig.after(LinkInterrupted{}), "Interrupted:");
  EXPECT_EQ(rig.after(LinkUp{}), "LoggingInAgain: log_in_to_fabric");
  EXPECT_EQ(rig.after(FabricLoggedOut{}), "LoggingInAgain:");
  EXPECT_EQ(rig.after(same), "Attached: go_online_same");
  rig.given(LinkInterrupted{}, LinkUp{});
  EXPECT_EQ(rig.after(other), "Attached: go_online_changed");
  rig.given(LinkInterrupted{}, LinkUp{});
  rig.set(Recorded::OthersMayHaveMovedKnob);
  EXPECT_EQ(rig.after(same), "Attached: go_online_asking");
}

// FC-VI 7.7.5: R_A_TOV without the link, or no fabric that accepts us.
TEST(PortAttachment, Interrupted_too_long) {
  EXPECT_EQ(interrupted().after(InterruptionOver{}), "Offline: end_interruption");
  EXPECT_EQ(interrupted().after(LinkDown{}), "Offline: end_interruption");
  const auto again = [] {
    Rig rig = interrupted();
    rig.given(LinkUp{});
    return rig;
  };
  EXPECT_EQ(again().after(InterruptionOver{}), "LoggingIn: end_interruption");
  EXPECT_EQ(again().after(FabricLoginLost{}), "LoggingIn: end_interruption");
  EXPECT_EQ(again().after(LinkInterrupted{}), "Interrupted: drop_link");
  EXPECT_EQ(again().after(LinkDown{}), dropped);
  EXPECT_EQ(again().after(higher), "PointToPoint: leave_fabric, go_online_changed, log_in_to_other");
  EXPECT_EQ(again().after(lower), "AwaitingNewAddress: leave_fabric, start_address_timer");
  EXPECT_EQ(again().after(equal), "AwaitingNewAddress: leave_fabric, report_login_failed");
  EXPECT_EQ(again().after(FlogiReceived{}), "AwaitingNewAddress:");
}

// FC-VI 7.7.4: FAN says that all is as before, or not, or does not come within E_D_TOV.
TEST(PortAttachment, AwaitingFan_outcomes) {
  const auto awaiting = [] {
    Rig rig = interrupted();
    EXPECT_EQ(rig.after(known), "AwaitingFan: start_fan_timer");
    return rig;
  };
  EXPECT_EQ(awaiting().after(FanReceived{true}), "Attached: stop_fan_timer, confirm_fabric_login, go_online_same");
  EXPECT_EQ(awaiting().after(FanReceived{false}), "LoggingInAnew: stop_fan_timer, log_in_to_fabric");
  EXPECT_EQ(awaiting().after(FanOverdue{}), "LoggingInAnew: log_in_to_fabric");
  EXPECT_EQ(awaiting().after(InterruptionOver{}), "LoggingIn: end_interruption, stop_fan_timer, log_in_to_fabric");
  EXPECT_EQ(awaiting().after(LinkInterrupted{}), "Interrupted: stop_fan_timer, drop_link");
  EXPECT_EQ(awaiting().after(LinkDown{}), "Offline: stop_fan_timer, drop_link, end_interruption, forget_topology");
  EXPECT_EQ(awaiting().after(FlogiReceived{}), "AwaitingFan:");
  EXPECT_EQ(awaiting().after(FabricLoggedOut{}), "AwaitingFan:");
  EXPECT_EQ(interrupted().after(unknown), "LoggingInAnew: log_in_to_fabric");
}

// FC-VI 7.7.4: something has changed; whatever FLOGI says, all mappings are invalid.
TEST(PortAttachment, LoggingInAnew_outcomes) {
  const auto anew = [] {
    Rig rig = interrupted();
    rig.given(unknown);
    return rig;
  };
  EXPECT_EQ(anew().after(same), "Attached: go_online_changed");
  EXPECT_EQ(anew().after(higher), "PointToPoint: leave_fabric, go_online_changed, log_in_to_other");
  EXPECT_EQ(anew().after(lower), "AwaitingNewAddress: leave_fabric, start_address_timer");
  EXPECT_EQ(anew().after(equal), "AwaitingNewAddress: leave_fabric, report_login_failed");
  EXPECT_EQ(anew().after(FlogiReceived{}), "AwaitingNewAddress:");
  EXPECT_EQ(anew().after(FabricLoginLost{}), "LoggingIn: end_interruption");
  EXPECT_EQ(anew().after(FabricLoggedOut{}), "LoggingInAnew:");
  EXPECT_EQ(anew().after(InterruptionOver{}), "LoggingIn: end_interruption");
  EXPECT_EQ(anew().after(LinkInterrupted{}), "Interrupted: drop_link");
  EXPECT_EQ(anew().after(LinkDown{}), dropped);
}

// FC-VI 7.7.2: after the interruption another N_Port is there.
TEST(PortAttachment, AwaitingNewAddress_outcomes) {
  const auto waiting = [] {
    Rig rig = interrupted();
    rig.given(LinkUp{}, FlogiReceived{});
    return rig;
  };
  EXPECT_EQ(waiting().after(AddressAssigned{}),
            "PointToPoint: stop_address_timer, leave_fabric, end_interruption, go_online_changed");
  EXPECT_EQ(waiting().after(AddressOverdue{}), "AwaitingNewAddress: forget_topology, log_in_to_fabric");
  EXPECT_EQ(waiting().after(same), "Attached: go_online_same");
  EXPECT_EQ(waiting().after(other), "Attached: go_online_changed");
  Rig moved = waiting();
  moved.set(Recorded::OthersMayHaveMovedKnob);
  EXPECT_EQ(moved.after(same), "Attached: go_online_asking");
  EXPECT_EQ(waiting().after(higher), "PointToPoint: leave_fabric, go_online_changed, log_in_to_other");
  EXPECT_EQ(waiting().after(lower), "AwaitingNewAddress: leave_fabric, start_address_timer");
  EXPECT_EQ(waiting().after(equal), "AwaitingNewAddress: leave_fabric, report_login_failed");
  EXPECT_EQ(waiting().after(FlogiReceived{}), "AwaitingNewAddress:");
  EXPECT_EQ(waiting().after(FabricLoginLost{}), "AwaitingAddress: end_interruption");
  EXPECT_EQ(waiting().after(FabricLoggedOut{}), "AwaitingNewAddress:");
  EXPECT_EQ(waiting().after(InterruptionOver{}), "AwaitingAddress: end_interruption");
  EXPECT_EQ(waiting().after(LinkInterrupted{}), "Interrupted: stop_address_timer, drop_link");
  EXPECT_EQ(waiting().after(LinkDown{}), "Offline: stop_address_timer, drop_link, end_interruption, forget_topology");
}

}  // namespace
}  // namespace machines::port_attachment
