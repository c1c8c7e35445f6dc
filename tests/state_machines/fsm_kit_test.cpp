// The kit itself: names, re-entrancy, size. A tiny machine of its own.
#include "state_machines/fsm_backend.hpp"

#include "fsm_test.hpp"

namespace machines::kit {

struct Pressed {
  bool hard = false;
};
struct Reset {};

class Context : public fsm::Context {
 public:
  virtual void light() = 0;
};

struct Off : fsm::State {};
struct On_ : fsm::State {};

FSM_ACTION(Light, context.light());
FSM_GUARD(Hard, event.hard);

struct Def {
  static constexpr std::string_view name = "kit";
  using Context = kit::Context;
  using initial_state = Off;
  using transition_table = fsm::Table<fsm::On<"impl: a test", Off, Pressed, On_, Light, Hard>,
                                      fsm::On<"impl: a test", On_, Reset, Off, fsm::none, fsm::none>>;
};
using Machine = fsm::Machine<Def>;

}  // namespace machines::kit

FSM_INSTANTIATE(machines::kit::Def);

namespace machines::kit {
namespace {

class Recorded : public fsm::testing::Recorder<Context> {
 public:
  void light() override { note("light"); }
};
using Rig = fsm::testing::Rig<Def, Recorded>;

enum class Colour : std::uint8_t { Red, Green };

TEST(FsmKit, machine_is_one_byte) { EXPECT_EQ(sizeof(Machine), 1U); }

TEST(FsmKit, Off_pressed_hard) {
  Rig rig;
  EXPECT_EQ(rig.after(Pressed{true}), "On_: light");
  ASSERT_EQ(rig.context.rows.size(), 1U);
  const fsm::Row& row = *rig.context.rows.front();
  EXPECT_EQ(row.machine, "kit");
  EXPECT_EQ(row.source, "Off");
  EXPECT_EQ(row.event, "Pressed");
  EXPECT_EQ(row.target, "On_");
  EXPECT_EQ(row.clause, "impl: a test");
  EXPECT_EQ(row.index, 0U);
}

// Every guard refuses: as loud as no row at all.
TEST(FsmKit, Off_pressed_softly) {
  Rig rig;
  EXPECT_EQ(rig.after(Pressed{false}), "Off: UNEXPECTED");
  EXPECT_EQ(rig.context.complaints, std::vector<std::string>{"kit: Off x Pressed"});
}

TEST(FsmKit, Off_reset_has_no_row) {
  Rig rig;
  EXPECT_EQ(rig.after(Reset{}), "Off: UNEXPECTED");
  EXPECT_EQ(rig.context.complaints, std::vector<std::string>{"kit: Off x Reset"});
}

TEST(FsmKit, is_and_name_follow_the_state) {
  Rig rig;
  EXPECT_TRUE(rig.machine.is<Off>());
  rig.given(Pressed{true});
  EXPECT_TRUE(rig.machine.is<On_>());
  EXPECT_TRUE((rig.machine.is_any_of<Off, On_>()));
  EXPECT_EQ(rig.machine.state_name(), "On_");
  EXPECT_EQ(Machine::name(), "kit");
}

// An effect may ask for the state, but must not feed the machine that called it.
class Reentrant final : public Recorded {
 public:
  void light() override {
    seen = std::string(machine->state_name());
    if (feeds) machine->process(Reset{}, *this);
  }
  Machine* machine = nullptr;
  std::string seen;
  bool feeds = false;
};

TEST(FsmKit, effect_sees_the_source_state) {
  Machine machine;
  Reentrant context;
  context.machine = &machine;
  machine.process(Pressed{true}, context);
  EXPECT_EQ(context.seen, "Off");
}

TEST(FsmKitDeathTest, effect_that_calls_back_asserts) {
  Machine machine;
  Reentrant context;
  context.machine = &machine;
  context.feeds = true;
  EXPECT_DEATH(machine.process(Pressed{true}, context), "must not call back");
}

TEST(FsmKit, enumerators_have_names) {
  EXPECT_EQ(fsm::to_string(Colour::Green), "Green");
  EXPECT_EQ(fsm::to_string(static_cast<Colour>(9)), "?");
}

}  // namespace
}  // namespace machines::kit
