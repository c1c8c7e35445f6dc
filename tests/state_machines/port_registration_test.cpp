#include "state_machines/port_registration.hpp"

#include "fsm_test.hpp"

namespace machines::port_registration {
namespace {

class Recorded final : public fsm::testing::Recorder<Context> {
 public:
  enum Knob : unsigned { UsesNameServerKnob, WantsStateChangesKnob, MoreToRegisterKnob, RetriesLeftKnob };
  void abort_request() override { note("abort_request"); }
  void log_in_to_name_server() override { note("log_in_to_name_server"); }
  void begin_with_first() override { note("begin_with_first"); }
  void go_to_next() override { note("go_to_next"); }
  void go_to_state_changes() override { note("go_to_state_changes"); }
  void ask() override { note("ask"); }
  void ask_again() override { note("ask_again"); }
  void report_ready() override { note("report_ready"); }
  void validate_logins() override { note("validate_logins"); }
  [[nodiscard]] bool uses_name_server() const override { return knob(UsesNameServerKnob); }
  [[nodiscard]] bool wants_state_changes() const override { return knob(WantsStateChangesKnob); }
  [[nodiscard]] bool more_to_register() const override { return knob(MoreToRegisterKnob); }
  [[nodiscard]] bool retries_left() const override { return knob(RetriesLeftKnob); }
};

struct Input {
  using Def = port_registration::Def;
  using Recorded = port_registration::Recorded;
  static constexpr unsigned knob_count = 4;

  template <class Event>
  static fsm::testing::Samples<Event> samples(std::type_identity<Event>) {
    return {{"", Event{}}};
  }
};

using Rig = fsm::testing::Rig<Def, Recorded>;

FSM_TABLE_TESTS(PortRegistration, Input);

constexpr const char* subscribes = "RegisteringForStateChanges: report_ready, go_to_state_changes, ask";
constexpr const char* subscribes_anew =
    "RegisteringForStateChanges: abort_request, report_ready, go_to_state_changes, ask";
constexpr const char* ready = "Registered: report_ready";
constexpr const char* ready_anew = "Registered: abort_request, report_ready";
constexpr const char* begins = "Registering: begin_with_first, ask";
constexpr const char* begins_anew = "Registering: abort_request, begin_with_first, ask";
constexpr const char* goes_on = "Registering: go_to_next, ask";

/// On a fabric whose Name Server is used; state changes are wanted, or not.
Rig on_fabric(bool state_changes) {
  Rig rig;
  rig.set(Recorded::UsesNameServerKnob);
  rig.set(Recorded::WantsStateChangesKnob, state_changes);
  return rig;
}
Rig without_name_server(bool state_changes) {
  Rig rig = on_fabric(state_changes);
  rig.set(Recorded::UsesNameServerKnob, false);
  return rig;
}
/// The last request is under way, without tries left.
Rig registering(bool state_changes) {
  Rig rig = on_fabric(state_changes);
  rig.given(FabricLoggedIn{}, NameServerLoggedIn{});
  return rig;
}
Rig registering_for_changes() {
  Rig rig = registering(true);
  rig.given(Answered{});
  return rig;
}
Rig registered() {
  Rig rig = registering_for_changes();
  rig.given(Answered{});
  return rig;
}

// FC-VI 7.6: the login with the Name Server, then each request, then SCR.
TEST(PortRegistration, Unregistered_to_registered) {
  Rig rig = on_fabric(true);
  EXPECT_EQ(rig.after(FabricLoggedIn{}), "Unregistered: log_in_to_name_server");
  EXPECT_EQ(rig.after(NameServerLoggedIn{}), begins);
  rig.set(Recorded::MoreToRegisterKnob);
  EXPECT_EQ(rig.after(Answered{}), goes_on);
  rig.set(Recorded::MoreToRegisterKnob, false);
  EXPECT_EQ(rig.after(Answered{}), subscribes);
  EXPECT_EQ(rig.after(Answered{}), "Registered: validate_logins");
  EXPECT_EQ(registering(false).after(Answered{}), ready);
}

// FC-VI 7.4: where there is no Name Server, or none that can be reached, FARP finds the port.
TEST(PortRegistration, Unregistered_without_name_server) {
  EXPECT_EQ(without_name_server(true).after(FabricLoggedIn{}), subscribes);
  EXPECT_EQ(without_name_server(false).after(FabricLoggedIn{}), ready);
  EXPECT_EQ(on_fabric(true).after(NameServerUnavailable{}), subscribes);
  EXPECT_EQ(on_fabric(false).after(NameServerUnavailable{}), ready);
  EXPECT_EQ(on_fabric(true).after(LoggedOut{}), "Unregistered:");
}

// Each request has its tries; then the next one.
TEST(PortRegistration, Registering_no_answer) {
  for (const bool state_changes : {true, false}) {
    Rig rig = registering(state_changes);
    rig.set(Recorded::MoreToRegisterKnob);
    rig.set(Recorded::RetriesLeftKnob);
    EXPECT_EQ(rig.after(AnswerMissing{}), "Registering: ask_again");
    rig.set(Recorded::RetriesLeftKnob, false);
    EXPECT_EQ(rig.after(AnswerMissing{}), goes_on);
    rig.set(Recorded::MoreToRegisterKnob, false);
    rig.set(Recorded::RetriesLeftKnob);
    EXPECT_EQ(rig.after(AnswerMissing{}), "Registering: ask_again");
    rig.set(Recorded::RetriesLeftKnob, false);
    EXPECT_EQ(rig.after(AnswerMissing{}), state_changes ? subscribes : ready);
  }
}

TEST(PortRegistration, Registering_no_exchange) {
  for (const bool state_changes : {true, false}) {
    Rig rig = registering(state_changes);
    rig.set(Recorded::MoreToRegisterKnob);
    EXPECT_EQ(rig.after(NoExchange{}), goes_on);
    rig.set(Recorded::MoreToRegisterKnob, false);
    EXPECT_EQ(rig.after(NoExchange{}), state_changes ? subscribes : ready);
  }
}

// FC-VI 7.6: with its login all that a port has registered is gone.
TEST(PortRegistration, Registering_login_ends) {
  EXPECT_EQ(registering(true).after(RequestEnded{}), "Unregistered:");
  EXPECT_EQ(registering(true).after(LoggedOut{}), "Unregistered: abort_request");
  EXPECT_EQ(registering(true).after(FabricLoggedIn{}), "Unregistered: abort_request, log_in_to_name_server");
  EXPECT_EQ(registering(true).after(NameServerLoggedIn{}), begins_anew);
  EXPECT_EQ(registering(true).after(NameServerUnavailable{}), subscribes_anew);
  EXPECT_EQ(registering(false).after(NameServerUnavailable{}), ready_anew);
  for (const bool state_changes : {true, false}) {
    Rig rig = registering(state_changes);
    rig.set(Recorded::UsesNameServerKnob, false);
    EXPECT_EQ(rig.after(FabricLoggedIn{}), state_changes ? subscribes_anew : ready_anew);
  }
}

// FC-VI 7.7.5: SCR is not needed to be found. FC-VI 7.7.1: who went before it was answered went untold.
TEST(PortRegistration, RegisteringForStateChanges_no_answer) {
  Rig rig = registering_for_changes();
  rig.set(Recorded::RetriesLeftKnob);
  EXPECT_EQ(rig.after(AnswerMissing{}), "RegisteringForStateChanges: ask_again");
  EXPECT_EQ(rig.after(NameServerUnavailable{}), "RegisteringForStateChanges: report_ready");
  rig.set(Recorded::RetriesLeftKnob, false);
  EXPECT_EQ(rig.after(AnswerMissing{}), "Registered: validate_logins");
  EXPECT_EQ(registering_for_changes().after(NoExchange{}), "Registered: validate_logins");
  EXPECT_EQ(registering_for_changes().after(RequestEnded{}), "Registered:");
}

TEST(PortRegistration, RegisteringForStateChanges_login_ends) {
  EXPECT_EQ(registering_for_changes().after(LoggedOut{}), "Unregistered: abort_request");
  EXPECT_EQ(registering_for_changes().after(FabricLoggedIn{}), "Unregistered: abort_request, log_in_to_name_server");
  EXPECT_EQ(registering_for_changes().after(NameServerLoggedIn{}), begins_anew);
  for (const bool state_changes : {true, false}) {
    Rig rig = registering_for_changes();
    rig.set(Recorded::UsesNameServerKnob, false);
    rig.set(Recorded::WantsStateChangesKnob, state_changes);
    EXPECT_EQ(rig.after(FabricLoggedIn{}), state_changes ? subscribes_anew : ready_anew);
  }
}

TEST(PortRegistration, Registered_login_ends) {
  EXPECT_EQ(registered().after(LoggedOut{}), "Unregistered:");
  EXPECT_EQ(registered().after(FabricLoggedIn{}), "Unregistered: log_in_to_name_server");
  EXPECT_EQ(registered().after(NameServerLoggedIn{}), begins);
  EXPECT_EQ(registered().after(NameServerUnavailable{}), subscribes);
  for (const bool state_changes : {true, false}) {
    Rig rig = registered();
    rig.set(Recorded::UsesNameServerKnob, false);
    rig.set(Recorded::WantsStateChangesKnob, state_changes);
    EXPECT_EQ(rig.after(FabricLoggedIn{}), state_changes ? subscribes : ready);
    Rig unavailable = registered();
    unavailable.set(Recorded::WantsStateChangesKnob, state_changes);
    EXPECT_EQ(unavailable.after(NameServerUnavailable{}), state_changes ? subscribes : ready);
  }
}

}  // namespace
}  // namespace machines::port_registration
