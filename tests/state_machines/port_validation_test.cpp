#include "state_machines/port_validation.hpp"

#include "fsm_test.hpp"

namespace machines::port_validation {
namespace {

class Recorded final : public fsm::testing::Recorder<Context> {
 public:
  enum Knob : unsigned { MayAskNameServerKnob, TimeLeftKnob, AwaitsLoginKnob, LoginAsksKnob };
  void begin_question() override { note("begin_question"); }
  void ask_name_server() override { note("ask_name_server"); }
  void ask_port() override { note("ask_port"); }
  [[nodiscard]] bool may_ask_name_server() const override { return knob(MayAskNameServerKnob); }
  [[nodiscard]] bool time_left() const override { return knob(TimeLeftKnob); }
  [[nodiscard]] bool awaits_login() const override { return knob(AwaitsLoginKnob); }
  [[nodiscard]] bool login_asks() const override { return knob(LoginAsksKnob); }
};

struct Input {
  using Def = port_validation::Def;
  using Recorded = port_validation::Recorded;
  static constexpr unsigned knob_count = 4;

  template <class Event>
  static fsm::testing::Samples<Event> samples(std::type_identity<Event>) {
    return {{"", Event{}}};
  }
  static fsm::testing::Samples<NameAnswered> samples(std::type_identity<NameAnswered>) {
    return {{"same", NameAnswered{Named::Same}},
            {"other", NameAnswered{Named::Other}},
            {"nobody", NameAnswered{Named::Nobody}}};
  }
  static fsm::testing::Samples<AddressAnswered> samples(std::type_identity<AddressAnswered>) {
    return {{"other", AddressAnswered{false}}, {"same", AddressAnswered{true}}};
  }
};

using Rig = fsm::testing::Rig<Def, Recorded>;

FSM_TABLE_TESTS(PortValidation, Input);

constexpr NameAnswered same_name{Named::Same}, other_name{Named::Other}, nobody{Named::Nobody};
constexpr AddressAnswered same{true}, other{false};
constexpr const char* asks_port = "AskingPort: begin_question, ask_port";

/// The login with the port: it stands, is under way, or is being validated by itself.
enum class Login { Stands, UnderWay, Asks };
Rig with(Login login) {
  Rig rig;
  rig.set(Recorded::AwaitsLoginKnob, login == Login::UnderWay);
  rig.set(Recorded::LoginAsksKnob, login == Login::Asks);
  return rig;
}
Rig asking_name_server(Login login) {
  Rig rig = with(login);
  rig.set(Recorded::MayAskNameServerKnob);
  rig.given(Begun{});
  return rig;
}
Rig asking_port() {
  Rig rig = with(Login::Stands);
  rig.given(Begun{});
  return rig;
}

// FC-VI 7.7.5: the Name Server is asked first, whatever the login.
TEST(PortValidation, Unasked_name_server_is_asked) {
  for (const Login login : {Login::Stands, Login::UnderWay, Login::Asks}) {
    Rig rig = with(login);
    rig.set(Recorded::MayAskNameServerKnob);
    EXPECT_EQ(rig.after(Begun{}), "AskingNameServer: begin_question, ask_name_server");
  }
}

// FC-VI 7.7.3: without one the port is, unless its login does that.
TEST(PortValidation, Unasked_without_name_server) {
  EXPECT_EQ(with(Login::Stands).after(Begun{}), asks_port);
  EXPECT_EQ(with(Login::UnderWay).after(Begun{}), "Valid:");
  EXPECT_EQ(with(Login::Asks).after(Begun{}), "Valid:");
}

// FC-VI 7.7.1, 7.7.5: a login that stands: the port that is there is asked, too.
TEST(PortValidation, AskingNameServer_answered_login_stands) {
  EXPECT_EQ(asking_name_server(Login::Stands).after(same_name), asks_port);
  EXPECT_EQ(asking_name_server(Login::Stands).after(other_name), "Gone:");
  EXPECT_EQ(asking_name_server(Login::Stands).after(nobody), "Gone:");
}

// A login that is under way asks for no name yet: it fails where nobody is.
TEST(PortValidation, AskingNameServer_answered_login_under_way) {
  EXPECT_EQ(asking_name_server(Login::UnderWay).after(same_name), "Valid:");
  EXPECT_EQ(asking_name_server(Login::UnderWay).after(other_name), "Valid:");
  EXPECT_EQ(asking_name_server(Login::UnderWay).after(nobody), "Gone:");
}

// FC-VI 7.7.5: who is not back yet is not gone.
TEST(PortValidation, AskingNameServer_answered_login_asks) {
  EXPECT_EQ(asking_name_server(Login::Asks).after(same_name), "Valid:");
  EXPECT_EQ(asking_name_server(Login::Asks).after(other_name), "Gone:");
  EXPECT_EQ(asking_name_server(Login::Asks).after(nobody), "Valid:");
}

// Asked again while there is time; then the port, unless its login does that.
TEST(PortValidation, AskingNameServer_silent) {
  for (const Login login : {Login::Stands, Login::UnderWay, Login::Asks}) {
    Rig rig = asking_name_server(login);
    EXPECT_EQ(rig.after(AnswerOverdue{}), "AskingNameServer: ask_name_server");
    rig.set(Recorded::MayAskNameServerKnob, false);
    EXPECT_EQ(rig.after(AnswerOverdue{}), login == Login::Stands ? asks_port : "Valid:");
  }
}

TEST(PortValidation, AskingNameServer_failed) {
  for (const Login login : {Login::Stands, Login::UnderWay, Login::Asks}) {
    EXPECT_EQ(asking_name_server(login).after(RequestFailed{}), login == Login::Stands ? asks_port : "Valid:");
    EXPECT_EQ(asking_name_server(login).after(NoExchange{}), "Valid:");
  }
}

// FC-VI 7.7.3: all three addresses.
TEST(PortValidation, AskingPort_answered) {
  EXPECT_EQ(asking_port().after(same), "Valid:");
  EXPECT_EQ(asking_port().after(other), "Gone:");
}

// FC-VI 7.7.1: asked again while there is time; then it is not there.
TEST(PortValidation, AskingPort_silent) {
  Rig rig = asking_port();
  rig.set(Recorded::TimeLeftKnob);
  EXPECT_EQ(rig.after(AnswerOverdue{}), "AskingPort: ask_port");
  rig.set(Recorded::TimeLeftKnob, false);
  EXPECT_EQ(rig.after(AnswerOverdue{}), "Gone:");
}

TEST(PortValidation, AskingPort_failed) {
  EXPECT_EQ(asking_port().after(RequestFailed{}), "Gone:");
  EXPECT_EQ(asking_port().after(NoExchange{}), "Valid:");
}

}  // namespace
}  // namespace machines::port_validation
