#include "state_machines/loop_port.hpp"

#include "fsm_test.hpp"

namespace machines::loop_port {
namespace {

class Recorded final : public fsm::testing::Recorder<Context> {
 public:
  enum Knob : unsigned { ClaimsLeftKnob, HasAlPaKnob };
  void forward() override { note("forward"); }
  void send_lism() override { note("send_lism"); }
  void send_claim() override { note("send_claim"); }
  void claim() override { note("claim"); }
  void send_cls() override { note("send_cls"); }
  void forget_claim() override { note("forget_claim"); }
  void report_interrupted() override { note("report_interrupted"); }
  void report_participating() override { note("report_participating"); }
  [[nodiscard]] bool claims_left() const override { return knob(ClaimsLeftKnob); }
  [[nodiscard]] bool has_al_pa() const override { return knob(HasAlPaKnob); }
};

struct Input {
  using Def = loop_port::Def;
  using Recorded = loop_port::Recorded;
  static constexpr unsigned knob_count = 2;

  template <class Event>
  static fsm::testing::Samples<Event> samples(std::type_identity<Event>) {
    return {{"", Event{}}};
  }
  static fsm::testing::Samples<LipReceived> samples(std::type_identity<LipReceived>) {
    return {{"new", LipReceived{false}}, {"again", LipReceived{true}}};
  }
  static fsm::testing::Samples<LismReceived> samples(std::type_identity<LismReceived>) {
    return {
        {"lower", LismReceived{Name::Lower}}, {"own", LismReceived{Name::Own}}, {"higher", LismReceived{Name::Higher}}};
  }
};

using Rig = fsm::testing::Rig<Def, Recorded>;

FSM_TABLE_TESTS(LoopPort, Input);

constexpr const char* begun = "SelectingMaster: forget_claim, forward, send_lism";
constexpr LipReceived lip{}, lip_again{.again = true};
constexpr LismReceived lower{Name::Lower}, own{Name::Own}, higher{Name::Higher};
constexpr unsigned claims_left = 1U << Recorded::ClaimsLeftKnob, has_al_pa = 1U << Recorded::HasAlPaKnob;

template <class... Events>
Rig after(Events... events) {
  Rig rig;
  (rig.given(events), ...);
  return rig;
}

// FC-AL: the lowest name's LISM comes round: it is the master, and sends LIFA to LISA round, then CLS.
TEST(LoopPort, lowest_name_is_master) {
  Rig rig;
  EXPECT_EQ(rig.after(lip), begun);
  EXPECT_EQ(rig.after(lip_again), "SelectingMaster:");
  EXPECT_EQ(rig.after(higher), "SelectingMaster:");
  EXPECT_EQ(rig.after(own), "Master: send_claim");
  EXPECT_EQ(rig.after(higher), "Master:");
  rig.context.knobs = claims_left;
  EXPECT_EQ(rig.after(ClaimReceived{}), "Master: send_claim");
  rig.context.knobs = 0;
  EXPECT_EQ(rig.after(ClaimReceived{}), "Master: send_cls");
  rig.context.knobs = has_al_pa;
  EXPECT_EQ(rig.after(ClsReceived{}), "Monitoring: report_participating");
}

TEST(LoopPort, others_claim) {
  Rig rig = after(lip);
  EXPECT_EQ(rig.after(lower), "SelectingMaster: forward");
  EXPECT_EQ(rig.after(ClaimReceived{}), "Claiming: claim, forward");
  EXPECT_EQ(rig.after(lower), "Claiming:");
  EXPECT_EQ(rig.after(ClaimReceived{}), "Claiming: claim, forward");
  rig.context.knobs = has_al_pa;
  EXPECT_EQ(rig.after(ClsReceived{}), "Monitoring: forward, report_participating");
}

// 126 others have all the AL_PAs.
TEST(LoopPort, none_left) {
  EXPECT_EQ(after(lip, ClaimReceived{}).after(ClsReceived{}), "NonParticipating: forward");
  EXPECT_EQ(after(lip, own).after(ClsReceived{}), "NonParticipating:");
}

// FC-VI 7.7.3: LIP interrupts a port that participates; elsewhere it begins anew.
TEST(LoopPort, lip_anywhere) {
  Rig rig = after(lip, ClaimReceived{});
  rig.context.knobs = has_al_pa;
  rig.given(ClsReceived{});
  EXPECT_EQ(rig.after(lip_again), "Monitoring:");
  EXPECT_EQ(rig.after(lip), "SelectingMaster: report_interrupted, forget_claim, forward, send_lism");
  EXPECT_EQ(rig.after(lip), begun);
  EXPECT_EQ(after(lip, own).after(lip), begun);
  EXPECT_EQ(after(lip, own).after(lip_again), "Master:");
  EXPECT_EQ(after(lip, ClaimReceived{}).after(lip), begun);
  EXPECT_EQ(after(lip, ClaimReceived{}).after(lip_again), "Claiming:");
  EXPECT_EQ(Rig{}.after(lip_again), "NonParticipating:");
}

}  // namespace
}  // namespace machines::loop_port
