#include "state_machines/fip_vn2vn.hpp"

#include "fsm_test.hpp"

namespace machines::fip_vn2vn {
namespace {

class Recorded final : public fsm::testing::Recorder<Context> {
 public:
  enum Knob : unsigned { TooManyCollisionsKnob };
  void choose_first_id() override { note("choose_first_id"); }
  void choose_another_id() override { note("choose_another_id"); }
  void send_probe() override { note("send_probe"); }
  void send_probe_reply() override { note("send_probe_reply"); }
  void send_claim() override { note("send_claim"); }
  void send_beacon() override { note("send_beacon"); }
  void start_probe_timer() override { note("start_probe_timer"); }
  void start_claim_timer() override { note("start_claim_timer"); }
  void start_beacon_timer() override { note("start_beacon_timer"); }
  void start_rest_timer() override { note("start_rest_timer"); }
  void stop_timer() override { note("stop_timer"); }
  void take_link_up() override { note("take_link_up"); }
  void take_link_down() override { note("take_link_down"); }
  void interrupt_link() override { note("interrupt_link"); }
  [[nodiscard]] bool too_many_collisions() const override { return knob(TooManyCollisionsKnob); }
};

struct Input {
  using Def = fip_vn2vn::Def;
  using Recorded = fip_vn2vn::Recorded;
  static constexpr unsigned knob_count = 1;

  template <class Event>
  static fsm::testing::Samples<Event> samples(std::type_identity<Event>) {
    return {{"", Event{}}};
  }
  static fsm::testing::Samples<ProbeHeard> samples(std::type_identity<ProbeHeard>) {
    return {{"theirs wins", ProbeHeard{false}}, {"ours wins", ProbeHeard{true}}};
  }
  static fsm::testing::Samples<ClaimHeard> samples(std::type_identity<ClaimHeard>) {
    return {{"theirs wins", ClaimHeard{false}}, {"ours wins", ClaimHeard{true}}};
  }
};

using Rig = fsm::testing::Rig<Def, Recorded>;

FSM_TABLE_TESTS(FipVn2vn, Input);

constexpr const char* restarted = "FirstProbe: stop_timer, choose_another_id, send_probe, start_probe_timer";
constexpr const char* exhausted = "Resting: stop_timer, start_rest_timer";

// Two probes, a claim, and nobody objects; then a beacon each time.
TEST(FipVn2vn, Offline_link_up_until_claimed) {
  Rig rig;
  EXPECT_EQ(rig.after(LinkUp{}), "FirstProbe: choose_first_id, send_probe, start_probe_timer");
  EXPECT_EQ(rig.after(Timeout{}), "SecondProbe: send_probe, start_claim_timer");
  EXPECT_EQ(rig.after(Timeout{}), "Claiming: send_claim, start_claim_timer");
  EXPECT_EQ(rig.after(Timeout{}), "Claimed: take_link_up, send_beacon, start_beacon_timer");
  EXPECT_EQ(rig.after(Timeout{}), "Claimed: send_beacon, start_beacon_timer");
  EXPECT_EQ(rig.after(LinkDown{}), "Offline: stop_timer, interrupt_link");
}

// Both probe for one address: the higher Port_Name stays.
TEST(FipVn2vn, FirstProbe_contested) {
  Rig rig;
  rig.given(LinkUp{});
  EXPECT_EQ(rig.after(ProbeHeard{true}), "FirstProbe: send_probe_reply");
  EXPECT_EQ(rig.after(ProbeHeard{false}), restarted);
  EXPECT_EQ(rig.after(ProbeAnswered{}), restarted);
  EXPECT_EQ(rig.after(ClaimHeard{true}), restarted);
  EXPECT_EQ(rig.after(LinkDown{}), "Offline: stop_timer");
}

TEST(FipVn2vn, SecondProbe_contested) {
  Rig rig;
  rig.given(LinkUp{}, Timeout{});
  EXPECT_EQ(rig.after(ProbeHeard{true}), "SecondProbe: send_probe_reply");
  EXPECT_EQ(rig.after(ProbeHeard{false}), restarted);
  rig.given(Timeout{});
  EXPECT_EQ(rig.after(ProbeAnswered{}), restarted);
  rig.given(Timeout{});
  EXPECT_EQ(rig.after(ClaimHeard{true}), restarted);
  rig.given(Timeout{});
  EXPECT_EQ(rig.after(LinkDown{}), "Offline: stop_timer");
}

// Who claimed answers probes, whatever the names; two who claim compare them.
TEST(FipVn2vn, Claiming_contested) {
  Rig rig;
  rig.given(LinkUp{}, Timeout{}, Timeout{});
  EXPECT_EQ(rig.after(ProbeHeard{false}), "Claiming: send_probe_reply");
  EXPECT_EQ(rig.after(ClaimHeard{true}), "Claiming: send_claim");
  EXPECT_EQ(rig.after(ClaimHeard{false}), restarted);
  rig.given(Timeout{}, Timeout{});
  EXPECT_EQ(rig.after(ProbeAnswered{}), restarted);
  rig.given(Timeout{}, Timeout{});
  EXPECT_EQ(rig.after(LinkDown{}), "Offline: stop_timer");
}

// Two networks were joined, and both have an owner.
TEST(FipVn2vn, Claimed_contested) {
  Rig rig;
  rig.given(LinkUp{}, Timeout{}, Timeout{}, Timeout{});
  EXPECT_EQ(rig.after(ProbeHeard{false}), "Claimed: send_probe_reply");
  EXPECT_EQ(rig.after(ProbeAnswered{}), "Claimed: send_claim");
  EXPECT_EQ(rig.after(ClaimHeard{true}), "Claimed: send_claim");
  EXPECT_EQ(rig.after(ClaimHeard{false}),
            "FirstProbe: take_link_down, stop_timer, choose_another_id, send_probe, start_probe_timer");
}

// Too many collisions: silence for a while, then another address.
TEST(FipVn2vn, Resting_timeout) {
  Rig rig;
  rig.set(Recorded::TooManyCollisionsKnob);
  rig.given(LinkUp{});
  EXPECT_EQ(rig.after(ProbeHeard{false}), exhausted);
  EXPECT_EQ(rig.after(ProbeHeard{false}), "Resting:");
  EXPECT_EQ(rig.after(ProbeAnswered{}), "Resting:");
  EXPECT_EQ(rig.after(ClaimHeard{false}), "Resting:");
  EXPECT_EQ(rig.after(Timeout{}), "FirstProbe: choose_another_id, send_probe, start_probe_timer");
  EXPECT_EQ(rig.after(ProbeAnswered{}), exhausted);
  EXPECT_EQ(rig.after(LinkDown{}), "Offline: stop_timer");
}

// The limit holds in every state that gives an address up.
TEST(FipVn2vn, Claimed_contested_too_often) {
  Rig rig;
  rig.set(Recorded::TooManyCollisionsKnob);
  rig.given(LinkUp{});
  EXPECT_EQ(rig.after(ClaimHeard{false}), exhausted);
  rig.given(Timeout{}, Timeout{});
  EXPECT_EQ(rig.after(ProbeHeard{false}), exhausted);
  rig.given(Timeout{}, Timeout{});
  EXPECT_EQ(rig.after(ProbeAnswered{}), exhausted);
  rig.given(Timeout{}, Timeout{});
  EXPECT_EQ(rig.after(ClaimHeard{false}), exhausted);
  rig.given(Timeout{}, Timeout{}, Timeout{});
  EXPECT_EQ(rig.after(ProbeAnswered{}), exhausted);
  rig.given(Timeout{}, Timeout{}, Timeout{});
  EXPECT_EQ(rig.after(ClaimHeard{false}), exhausted);
  rig.given(Timeout{}, Timeout{}, Timeout{}, Timeout{});
  EXPECT_EQ(rig.after(ClaimHeard{false}), "Resting: take_link_down, stop_timer, start_rest_timer");
}

}  // namespace
}  // namespace machines::fip_vn2vn
