// A peer that sends each IU in each state with each field wrong, one at a time (FC-VI 5.8, 5.9, 6.8 to 6.13, 8). What comes of
// each stands in golden/hostile.matrix.txt, to be read against the standard; FCVI_UPDATE_GOLDEN=1 writes it anew.
#include <map>

#include "tests/fcvi/hostile_outcome.hpp"

namespace {
using support::Besieged;
using support::Forgery;
using support::Outcome;
using Opcode = wire::fcvi::Opcode;

struct Situation {
  const char* name;
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

constexpr Opcode opcodes[] = {Opcode::connect_rqst, Opcode::connect_resp1, Opcode::connect_resp2, Opcode::connect_resp3,
                              Opcode::disconnect_rqst, Opcode::disconnect_resp, Opcode::send_rqst, Opcode::write_rqst,
                              Opcode::read_rqst, Opcode::send_resp, Opcode::write_resp, Opcode::read_resp};

/// One field. Those that tell whose IU it is, or whether it is one, must never let it move an endpoint.
struct Wrong {
  const char* field;
  bool identifies;
  void (*apply)(Forgery&);
};
constexpr Wrong header_wrongs[] = {
    {"(as it should be)", false, [](Forgery&) {}},
    {"R_CTL: control instead", true,
     [](Forgery& f) {
       f.fc.r_ctl = f.fc.r_ctl == wire::RCtl::solicited_control ? wire::RCtl::unsolicited_control : wire::RCtl::solicited_control;
     }},
    {"R_CTL: data instead", true,
     [](Forgery& f) { f.fc.r_ctl = f.fc.r_ctl == wire::RCtl::solicited_data ? wire::RCtl::command_status : wire::RCtl::solicited_data; }},
    {"D_ID", true, [](Forgery& f) { f.fc.d_id = {0x010800}; }},
    {"S_ID: not logged in", true, [](Forgery& f) { f.fc.s_id = {0x010900}; }},
    {"TYPE", true, [](Forgery& f) { f.fc.type = wire::Type::fcp; }},
    {"Exchange Context", true, [](Forgery& f) { f.fc.f_ctl ^= wire::f_ctl::exchange_responder; }},
    {"First_Sequence", false, [](Forgery& f) { f.fc.f_ctl ^= wire::f_ctl::first_sequence; }},
    {"Last_Sequence", false, [](Forgery& f) { f.fc.f_ctl ^= wire::f_ctl::last_sequence; }},
    {"Sequence Initiative", false, [](Forgery& f) { f.fc.f_ctl ^= wire::f_ctl::sequence_initiative; }},
    {"DF_CTL: none", true, [](Forgery& f) { f.fc.df_ctl = 0; }},
    {"DF_CTL: 64 bytes", true, [](Forgery& f) { f.fc.df_ctl = 3; }},
    {"SEQ_CNT", false, [](Forgery& f) { f.fc.seq_cnt.value = static_cast<std::uint16_t>(f.fc.seq_cnt.value + 7); }},
    {"OX_ID", true, [](Forgery& f) { f.fc.ox_id.value ^= 0x0555; }},
    {"SOFn3", false, [](Forgery& f) { f.sof = wire::Sof::n3; }},
    {"EOFni", true, [](Forgery& f) { f.eof = wire::Eof::ni; }},
    {"FCVI_HANDLE", false, [](Forgery& f) { f.set_word(0, f.word(0) ^ 0x00ABC000); }},
    {"FCVI_OPCODE", true, [](Forgery& f) { f.data[4] = 0x7F; }},
    {"FCVI_FLAGS: all reserved bits", false,
     [](Forgery& f) { f.data[5] = static_cast<std::uint8_t>(f.data[5] | (f.data[4] == 0x10 ? 0xE0 : f.data[4] < 8 ? 0xFE : f.data[4] < 0x10 ? 0xF0 : 0xF8)); }},
    {"reserved word 1", false, [](Forgery& f) { f.data[6] = f.data[7] = 0xFF; }},
    {"FCVI_MSG_ID", false, [](Forgery& f) { f.set_word(2, 0xDEAD); }},
    {"FCVI_PARAMETER", false, [](Forgery& f) { f.set_word(3, 0x00040000); }},
    {"cut short", true, [](Forgery& f) { f.data.resize(12); }},
};
constexpr Wrong long_header_wrongs[] = {
    {"FCVI_RMT_VA", false, [](Forgery& f) { f.set_word(4, 0x12345678); }},
    {"FCVI_RMT_VA_HANDLE", false, [](Forgery& f) { f.set_word(6, 0x12345678); }},
    {"FCVI_CONNECTION_ID, FCVI_TOT_LEN", false, [](Forgery& f) { f.set_word(7, f.word(7) ^ 0x000F0000); }},
};
constexpr std::size_t at = 8;  // first word of the payload
constexpr Wrong payload_wrongs[] = {
    {"mode reserved, or CONN_STS and RETRY", false,
     [](Forgery& f) { f.data[5] = f.data[4] == 0x10 ? 0x07 : 0x05; }},
    {"CONN_INFO flag without it", false, [](Forgery& f) { f.data[5] = static_cast<std::uint8_t>(f.data[5] | (f.data[4] == 0x10 ? 8 : 2)); }},
    {"FCVI_REVISION", false, [](Forgery& f) { f.set_word(at + 1, 9); }},
    {"own handle unassigned", false, [](Forgery& f) { f.set_word(at + 2, 0xFFFFFFFF); }},
    {"HOST_ADD_LEN", false, [](Forgery& f) { f.set_word(at + 3, 0x0410); }},
    {"DISCRIM_LEN 15", false, [](Forgery& f) { f.set_word(at + 3, 0x100F); }},
    {"DISCRIM_LEN 129", false, [](Forgery& f) { f.set_word(at + 40, 0x1081); }},
    {"HOST_ADD of the remote", false, [](Forgery& f) { f.set_word(at + 44, 0x0A090909); }},
    {"reliability level 0", false, [](Forgery& f) { f.set_word(at + 77, f.word(at + 77) & 0xFFFF00FF); }},
    {"reliability level 4", false, [](Forgery& f) { f.set_word(at + 77, (f.word(at + 77) & 0xFFFF00FF) | 0x0400); }},
    {"payload cut short", true, [](Forgery& f) { f.data.resize(32 + 336); }},
    {"no payload", true, [](Forgery& f) { f.data.resize(32); }},
};

class Hostility : public ::testing::Test {
 public:
  /// One frame in a fresh world.
  std::string attack(const Situation& situation, Opcode opcode, const Wrong& wrong) {
    SCOPED_TRACE(testing::Message() << situation.name << ", " << to_string(opcode) << ", " << wrong.field);
    Besieged here;
    (here.*situation.reach)();
    Outcome outcome(here);
    Forgery frame = here.right(opcode);
    wrong.apply(frame);
    here.inject(frame);
    EXPECT_EQ(here.unexpected(), 0u);
    EXPECT_EQ(here.besieged().unexpected_events(), 0u);
    EXPECT_LE(outcome.discards(), 1u);
    const bool identifies = wrong.identifies && !(wrong.field == std::string_view("OX_ID") && frame.fc.has(wire::f_ctl::first_sequence));
    EXPECT_FALSE(identifies && outcome.moved() && !is_exchange_error(situation, frame)) << outcome.text();
    const bool is_resp3 = situation.reach == &Besieged::await_resp3 && opcode == Opcode::connect_resp3;  // shows nowhere
    EXPECT_TRUE(outcome.text() != "nothing" || is_resp3);
    return outcome.text();
  }
  template <std::size_t N>
  void attack_everywhere(std::ostream& matrix, Opcode opcode, const Wrong (&wrongs)[N]) {
    for (const Wrong& wrong : wrongs) {
      std::map<std::string, std::vector<std::string>> outcomes;
      for (const Situation& situation : situations) outcomes[attack(situation, opcode, wrong)].push_back(situation.name);
      matrix << "  " << wrong.field << "\n";
      for (const auto& [outcome, where] : outcomes) {
        matrix << "    " << outcome << "  [";
        if (where.size() == std::size(situations)) matrix << "always";
        for (std::size_t i = 0; i < where.size() && where.size() != std::size(situations); ++i) matrix << (i == 0 ? "" : " ") << where[i];
        matrix << "]\n";
      }
    }
  }

 private:
  /// On the open Exchange, and not to be understood: where it says that it is the last, the Exchange is over without the IU that
  /// was due: an Exchange error (8.5.2 a, 8.6.2 a).
  static bool is_exchange_error(const Situation& situation, const Forgery& frame) {
    const std::string_view name = situation.name;
    return (name == "AwaitResp1" || name == "AwaitResp3" || name == "Disconnecting" || name == "AwaitResp2") &&
           frame.fc.has(wire::f_ctl::last_sequence);
  }
};

// FC-VI 5.8, 5.9.4.4, 5.9.5, 6.8 to 6.13, 8.4.2 f), 8.5.2 a), 8.6.2 a): counted by reason, answered as the standard names it, or silence;
// what does not belong to a set-up or connection never moves its endpoint.
TEST_F(Hostility, everyIu_inEveryState_withEveryFieldWrong) {
  std::ostringstream matrix;
  for (const Opcode opcode : opcodes) {
    matrix << to_string(opcode) << "\n";
    attack_everywhere(matrix, opcode, header_wrongs);
    if (wire::fcvi::device_header_size(opcode) == 32) attack_everywhere(matrix, opcode, long_header_wrongs);
    if (opcode == Opcode::connect_rqst || opcode == Opcode::connect_resp1) attack_everywhere(matrix, opcode, payload_wrongs);
  }
  support::expect_golden("hostile.matrix.txt", matrix.str());
}
}  // namespace
