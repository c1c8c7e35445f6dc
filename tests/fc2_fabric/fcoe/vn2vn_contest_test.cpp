// A VN2VN node whose address others want: what it says, and what it gives up, at each step to its claim (FC-BB-6; names
// decide, ten collisions bring a rest as in Linux).
#include <gtest/gtest.h>

#include "tests/fc2_fabric/fcoe/hostile.hpp"

namespace fc2::fcoe {
namespace {
namespace fip = wire::fip;
using support::station_mac;

enum class At : std::uint8_t { FirstProbe, SecondProbe, Claiming, Claimed };
constexpr std::uint8_t probe = fip::subcode::probe_request, reply = fip::subcode::probe_reply,
                       claim = fip::subcode::claim_notification;
constexpr std::uint64_t high_name = 0xFFFF'FFFF'0000'0001, low_name = 1;

/// What the node does when another one says something of its address.
enum class Outcome : std::uint8_t { Keeps, ChoosesAnother, Rests };

struct Case {
  std::string name;
  At at;
  std::uint8_t heard;
  std::uint64_t from;
  std::string said;  // at once
  Outcome outcome = Outcome::Keeps;
};
void PrintTo(const Case& which, std::ostream* out) { *out << which.name; }

class Vn2vnContest : public testing::Test {
 protected:
  ~Vn2vnContest() override { EXPECT_EQ(station->node->counters().unexpected_events, 0U); }
  void begin(At at, int max_collisions = 10) {
    station = &world.add_vn2vn({.beacon_fuzz = 0, .max_collisions = max_collisions, .first_id = first_id});
    switch (at) {  // as Linux: probes at 0 and 100 ms, claim at 500 ms, beacon at 900 ms
      case At::FirstProbe: return world.run_for(50 * millisecond);
      case At::SecondProbe: return world.run_for(200 * millisecond);
      case At::Claiming: return world.run_for(600 * millisecond);
      case At::Claimed: return world.run_for(second);
    }
  }
  void hear(std::uint8_t subcode, std::uint64_t name) {
    const wire::FcId id = station->node->id();
    fip::FipMessage message{fip::Operation::vn2vn, subcode, 0, {}, {}};
    message.descriptors = {fip::Mac{station_mac(66)}, fip::NameId{{name}},
                           fip::VnPort{wire::mac_of(id, wire::vn2vn_fc_map), id, {name}}};
    station->log.entries.clear();
    world.inject(station->ethernet, message, wire::group_mac::all_vn2vn, station_mac(66));
  }
  [[nodiscard]] std::string said() const {
    std::string text;
    for (const auto& entry : station->log.entries)
      if (entry.outbound) text.append(text.empty() ? "" : ", ").append(entry.fip->message_name());
    return text;
  }
  bool claims() {
    return world.run_until([&] { return station->node->up(); }, 30 * second);
  }
  void expect(Outcome outcome, At at) {
    const bool keeps = outcome == Outcome::Keeps;
    EXPECT_EQ(station->port.online(), keeps && at == At::Claimed);
    if (outcome == Outcome::Rests) {
      EXPECT_EQ(station->node->state_name(), "Resting");
      world.run_for(9 * second);
      EXPECT_EQ(said(), "");
    }
    ASSERT_TRUE(claims());
    EXPECT_EQ(station->port.n_port_id() == first_id, keeps);
  }
  static constexpr wire::FcId first_id{0x0E01};
  support::EthernetWorld world;
  support::VnStation* station = nullptr;
};

class Vn2vnContestCases : public Vn2vnContest, public testing::WithParamInterface<Case> {};

TEST_P(Vn2vnContestCases, answers) {
  const Case& test = GetParam();
  begin(test.at, test.outcome == Outcome::Rests ? 0 : 10);
  hear(test.heard, test.from);
  EXPECT_EQ(said(), test.said);
  expect(test.outcome, test.at);
}

constexpr const char* again = "Probe Request";  // of another address
INSTANTIATE_TEST_SUITE_P(
    Fip, Vn2vnContestCases,
    testing::Values(
        Case{"FirstProbe_low_name_probes", At::FirstProbe, probe, low_name, "Probe Reply"},
        Case{"FirstProbe_high_name_probes", At::FirstProbe, probe, high_name, again, Outcome::ChoosesAnother},
        Case{"FirstProbe_high_name_probes_too_often", At::FirstProbe, probe, high_name, "", Outcome::Rests},
        Case{"FirstProbe_answered", At::FirstProbe, reply, low_name, again, Outcome::ChoosesAnother},
        Case{"FirstProbe_answered_too_often", At::FirstProbe, reply, low_name, "", Outcome::Rests},
        Case{"FirstProbe_claimed", At::FirstProbe, claim, low_name, again, Outcome::ChoosesAnother},
        Case{"SecondProbe_low_name_probes", At::SecondProbe, probe, low_name, "Probe Reply"},
        Case{"SecondProbe_high_name_probes", At::SecondProbe, probe, high_name, again, Outcome::ChoosesAnother},
        Case{"SecondProbe_high_name_probes_too_often", At::SecondProbe, probe, high_name, "", Outcome::Rests},
        Case{"SecondProbe_answered", At::SecondProbe, reply, low_name, again, Outcome::ChoosesAnother},
        Case{"SecondProbe_answered_too_often", At::SecondProbe, reply, low_name, "", Outcome::Rests},
        Case{"SecondProbe_claimed", At::SecondProbe, claim, low_name, again, Outcome::ChoosesAnother},
        Case{"SecondProbe_claimed_too_often", At::SecondProbe, claim, low_name, "", Outcome::Rests},
        Case{"Claiming_high_name_probes", At::Claiming, probe, high_name, "Probe Reply"},
        Case{"Claiming_answered", At::Claiming, reply, low_name, again, Outcome::ChoosesAnother},
        Case{"Claiming_answered_too_often", At::Claiming, reply, low_name, "", Outcome::Rests},
        Case{"Claiming_low_name_claims", At::Claiming, claim, low_name, "Claim Notification"},
        Case{"Claiming_high_name_claims", At::Claiming, claim, high_name, again, Outcome::ChoosesAnother},
        Case{"Claiming_high_name_claims_too_often", At::Claiming, claim, high_name, "", Outcome::Rests},
        Case{"Claimed_high_name_probes", At::Claimed, probe, high_name, "Probe Reply"},
        Case{"Claimed_answered", At::Claimed, reply, high_name, "Claim Notification"},
        Case{"Claimed_low_name_claims", At::Claimed, claim, low_name, "Claim Notification"},
        Case{"Claimed_high_name_claims", At::Claimed, claim, high_name, again, Outcome::ChoosesAnother},
        Case{"Claimed_high_name_claims_too_often", At::Claimed, claim, high_name, "", Outcome::Rests}),
    [](const testing::TestParamInfo<Case>& of) { return of.param.name; });

// While it rests it has no address: what is said of the former one is no concern of it.
TEST_F(Vn2vnContest, resting_hears_others_says_nothing) {
  begin(At::FirstProbe, 0);
  hear(claim, high_name);
  ASSERT_EQ(station->node->state_name(), "Resting");
  for (const std::uint8_t subcode : {probe, reply, claim}) {
    hear(subcode, low_name);
    EXPECT_EQ(said(), "");
    EXPECT_EQ(station->node->state_name(), "Resting");
  }
  EXPECT_TRUE(claims());
}

// The carrier goes at any step: nothing is said any more; when it comes back all begins with the first probe, after
// a rest, too.
TEST_F(Vn2vnContest, any_step_carrier_bounces_begins_anew) {
  for (const At at : {At::FirstProbe, At::SecondProbe, At::Claiming}) {
    begin(at);
    station->ethernet.set_carrier(false);
    station->log.entries.clear();
    world.run_for(20 * second);
    EXPECT_EQ(said(), "");
    EXPECT_EQ(station->node->counters().unexpected_events, 0U);
    station->ethernet.set_carrier(true);
    EXPECT_EQ(said(), "Probe Request");
    EXPECT_TRUE(claims());
    station->ethernet.set_carrier(false);  // the next one has the address for itself
  }
}
TEST_F(Vn2vnContest, resting_carrier_bounces_begins_anew) {
  begin(At::FirstProbe, 0);
  hear(claim, high_name);
  station->ethernet.set_carrier(false);
  station->log.entries.clear();
  world.run_for(20 * second);
  EXPECT_EQ(said(), "");
  station->ethernet.set_carrier(true);
  EXPECT_EQ(said(), "Probe Request");
  world.run_for(second);
  EXPECT_TRUE(station->node->up());
}

}  // namespace
}  // namespace fc2::fcoe
