// A peer that sends each IU in each state with each field wrong, one at a time (FC-VI 5.8, 5.9, 6.8 to 6.13, 8).
// What comes of each stands in golden/hostile.matrix.txt, to be read against the standard; FCVI_UPDATE_GOLDEN=1
// writes it anew.
#include <map>

#include "tests/fcvi/hostile_outcome.hpp"
#include "tests/fcvi/hostile_wrongs.hpp"

namespace {
using support::Besieged;
using support::ForgedFrame;
using support::Outcome;
using support::Wrong;
using Opcode = wire::fcvi::Opcode;

struct Situation {
  std::string_view name;
  void (Besieged::*reach)();
};
constexpr Situation situations[] = {
    {"Idle", &Besieged::idle},
    {"AwaitResp1", &Besieged::await_resp1},
    {"AwaitResp3", &Besieged::await_resp3},
    {"ConnectedOriginator", &Besieged::connected_originator},
    {"Disconnecting", &Besieged::disconnecting},
    {"Disconnected", &Besieged::disconnected},
    {"Error", &Besieged::in_error},
    {"Offered", &Besieged::offered},
    {"AwaitResp2", &Besieged::await_resp2},
    {"Refused", &Besieged::refused},
    {"ConnectedResponder", &Besieged::connected_responder},
};

constexpr Opcode opcodes[] = {Opcode::connect_rqst,  Opcode::connect_resp1,   Opcode::connect_resp2,
                              Opcode::connect_resp3, Opcode::disconnect_rqst, Opcode::disconnect_resp,
                              Opcode::send_rqst,     Opcode::write_rqst,      Opcode::read_rqst,
                              Opcode::send_resp,     Opcode::write_resp,      Opcode::read_resp};

class Hostility : public ::testing::Test {
 public:
  /// One frame in a fresh world.
  std::string attack(const Situation& situation, Opcode opcode, const Wrong& wrong) {
    SCOPED_TRACE(testing::Message() << situation.name << ", " << to_string(opcode) << ", " << wrong.field);
    Besieged here;
    (here.*situation.reach)();
    Outcome outcome(here);
    ForgedFrame frame = here.right(opcode);
    wrong.apply(frame);
    here.inject(frame);
    EXPECT_EQ(here.unexpected(), 0u);
    EXPECT_EQ(here.besieged().unexpected_events(), 0u);
    EXPECT_LE(outcome.discards(), 1u);
    const bool identifies =
        wrong.identifies && !(wrong.field == "OX_ID" && frame.header.has(wire::f_ctl::first_sequence));
    EXPECT_FALSE(identifies && outcome.moved() && !is_exchange_error(situation, frame)) << outcome.text();
    const bool is_resp3 =
        situation.reach == &Besieged::await_resp3 && opcode == Opcode::connect_resp3;  // shows nowhere
    EXPECT_TRUE(outcome.text() != "nothing" || is_resp3);
    return outcome.text();
  }
  template <std::size_t N>
  void attack_everywhere(std::ostream& matrix, Opcode opcode, const Wrong (&wrongs)[N]) {
    for (const Wrong& wrong : wrongs) {
      std::map<std::string, std::vector<std::string>> outcomes;
      for (const Situation& situation : situations)
        outcomes[attack(situation, opcode, wrong)].emplace_back(situation.name);
      matrix << "  " << wrong.field << "\n";
      for (const auto& [outcome, where] : outcomes) {
        matrix << "    " << outcome << "  [";
        if (where.size() == std::size(situations)) matrix << "always";
        for (std::size_t i = 0; i < where.size() && where.size() != std::size(situations); ++i)
          matrix << (i == 0 ? "" : " ") << where[i];
        matrix << "]\n";
      }
    }
  }

 private:
  /// On the open Exchange, and not to be understood: where it says that it is the last, the Exchange is over without
  /// the IU that was due: an Exchange error (8.5.2 a, 8.6.2 a).
  static bool is_exchange_error(const Situation& situation, const ForgedFrame& frame) {
    const std::string_view name = situation.name;
    return (name == "AwaitResp1" || name == "AwaitResp3" || name == "Disconnecting" || name == "AwaitResp2") &&
           frame.header.has(wire::f_ctl::last_sequence);
  }
};

// FC-VI 5.8, 5.9.4.4, 5.9.5, 6.8 to 6.13, 8.4.2 f), 8.5.2 a), 8.6.2 a): counted by reason, answered as the standard
// names it, or silence; what does not belong to a set-up or connection never moves its endpoint.
TEST_F(Hostility, everyIu_inEveryState_withEveryFieldWrong) {
  std::ostringstream matrix;
  for (const Opcode opcode : opcodes) {
    matrix << to_string(opcode) << "\n";
    attack_everywhere(matrix, opcode, support::header_wrongs);
    if (wire::fcvi::device_header_size(opcode) == 32) attack_everywhere(matrix, opcode, support::long_header_wrongs);
    if (opcode == Opcode::connect_rqst || opcode == Opcode::connect_resp1)
      attack_everywhere(matrix, opcode, support::payload_wrongs);
  }
  support::expect_golden("hostile.matrix.txt", matrix.str());
}
}  // namespace
