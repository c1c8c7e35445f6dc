// A peer that sends each IU of a set-up in each state of a peer-to-peer request of ours, before, while and after
// requests cross, with each field wrong, one at a time (FC-VI 5.3.3, 5.3.4, 5.9, 6.8 to 6.13, 8.5, C.4). What
// comes of each, at once and after what follows it, stands in golden/hostile_peers_<IU>.matrix.txt, to be read
// against the standard.
#include <map>

#include "tests/fcvi/hostile_matrix.hpp"
#include "tests/fcvi/hostile_outcome.hpp"
#include "tests/fcvi/hostile_peers.hpp"
#include "tests/fcvi/hostile_wrongs.hpp"

namespace {
using support::BesiegedPeer;
using support::ForgedFrame;
using support::Wrong;
using Opcode = wire::fcvi::Opcode;
using Level = vi::ReliabilityLevel;

struct Situation {
  std::string_view name;
  void (BesiegedPeer::*reach)();
};
constexpr Situation situations[] = {
    {"Waiting", &BesiegedPeer::waiting},
    {"Requesting", &BesiegedPeer::requesting},
    {"RequestingHigher", &BesiegedPeer::requesting_higher},
    {"Retrying", &BesiegedPeer::retrying},
    {"Holding", &BesiegedPeer::holding},
    {"HeldAborted", &BesiegedPeer::held_aborted},
    {"Accepting", &BesiegedPeer::accepting},
    {"AcceptingHigher", &BesiegedPeer::accepting_higher},
    {"AwaitResp3", &BesiegedPeer::peer_await_resp3},
    {"Arbitrated", &BesiegedPeer::arbitrated},
    {"ConnectedOurs", &BesiegedPeer::connected_by_ours},
    {"ConnectedTheirs", &BesiegedPeer::connected_by_theirs},
    {"Rejected", &BesiegedPeer::rejected},
};

template <unsigned reason>
void say(ForgedFrame& f) {
  f.data[5] |= 1;
  f.set_word(3, reason << 16);
  if (f.data[4] == 0x18) f.set_word(support::connect_payload + 2, 0xFFFFFFFF);
}
/// Beside those of every set-up.
constexpr Wrong rqst_wrongs[] = {
    {"RETRY", false, [](ForgedFrame& f) { f.data[5] |= 0x10; }},
    {"client-server", false, [](ForgedFrame& f) { f.data[5] = 1; }},
    {"the FCVI_HANDLE of the first", false, [](ForgedFrame& f) { f.set_word(support::connect_payload + 2, 0x8000); }},
    {"the FCVI_HANDLE of the first, RETRY", false,
     [](ForgedFrame& f) { f.data[5] |= 0x10, f.set_word(support::connect_payload + 2, 0x8000); }},
    {"the first again", false,
     [](ForgedFrame& f) { f.set_word(support::connect_payload + 2, 0x8000), f.set_word(7, 0x9000); }},
    {"the first again, RETRY", false,
     [](ForgedFrame& f) {
       f.data[5] |= 0x10, f.set_word(support::connect_payload + 2, 0x8000), f.set_word(7, 0x9000);
     }},
    {"another discriminator", false, [](ForgedFrame& f) { f.set_word(support::connect_payload + 45, 0x41414141); }},
    {"from another host", false, [](ForgedFrame& f) { f.set_word(support::connect_payload + 7, 0x0A090909); }},
    {"another maximum", false, [](ForgedFrame& f) { f.set_word(support::connect_payload + 78, 1000); }},
};
constexpr Wrong resp_wrongs[] = {
    {"RETRY", false, [](ForgedFrame& f) { f.data[5] ^= 4; }},
    {"CONN_STS without reason", false, [](ForgedFrame& f) { f.data[5] |= 1; }},
    {"CONN_STS 01h", false, say<0x01>},
    {"CONN_STS 03h", false, say<0x03>},
    {"CONN_STS 04h", false, say<0x04>},
    {"CONN_STS 05h", false, say<0x05>},
    {"CONN_STS 06h", false, say<0x06>},
    {"CONN_STS 20h", false, say<0x20>},
    {"CONN_STS 21h", false, say<0x21>},
    {"CONN_STS 22h", false, say<0x22>},
    {"CONN_STS 7Fh", false, say<0x7F>},
    {"FCVI_HANDLE: unassigned", false, [](ForgedFrame& f) { f.set_word(0, 0xFFFFFFFF); }},
};
constexpr Wrong disconnect_wrongs[] = {
    {"CONN_SETUP_ABORT", false, [](ForgedFrame& f) { f.data[5] |= 4; }},
    {"CONN_SETUP_ABORT of our request", false, [](ForgedFrame& f) { f.data[5] |= 4, f.set_word(7, 1); }},
    {"CONN_SETUP_ABORT of the peer's", false, [](ForgedFrame& f) { f.data[5] |= 4, f.set_word(7, 0x9000); }},
    {"VI_APP_DISCON", false, [](ForgedFrame& f) { f.data[5] |= 2; }},
};

std::string shortened(std::string text) {
  for (const std::string_view words : {"FCVI_CONNECT_", "FCVI_", "discarded: ", "nothing"})
    for (auto at = text.find(words); at != std::string::npos; at = text.find(words)) text.erase(at, words.size());
  return text;
}

class PeerHostility : public ::testing::TestWithParam<Opcode> {
 public:
  struct Reached {
    std::string at_once, end;
  };
  /// One frame in a fresh world, and what follows it.
  Reached attack(const Situation& situation, Level level, const Wrong& wrong) {
    const Opcode opcode = GetParam();
    BesiegedPeer here(level);
    (here.*situation.reach)();
    support::Outcome outcome(here);
    const int calls = here.call.calls;
    ForgedFrame frame = here.right(opcode);
    wrong.apply(frame);
    const bool foreign = is_foreign(frame, wrong), takes_turn = here.is_of_exchange(frame);
    here.inject(frame);
    EXPECT_LE(outcome.discards(), 1u);
    const bool over =
        takes_turn && frame.header.has(wire::f_ctl::last_sequence);  // without the IU that was due (8.5.2 a)
    EXPECT_FALSE(foreign && outcome.moved() && !over) << outcome.text();
    std::string text = shortened(outcome.text());
    if (here.call.calls != calls) text += (text.empty() ? "" : ", ") + std::string(to_string(*here.call.result));
    here.go_on(frame, !foreign);
    const std::string end = end_of(here);
    if (foreign && !takes_turn) {
      EXPECT_EQ(end, undisturbed(situation, level));
    }
    return {text, end};
  }
  /// "ok": as if it were right. What comes later, ">", where it is not as usual.
  std::string word_of(const Situation& situation, Level level, const Wrong& wrong) {
    const Reached reached = attack(situation, level, wrong);
    const Reached& right = right_.try_emplace({std::string(situation.name), level}, reached).first->second;
    const bool is_right = wrong.field == support::header_wrongs[0].field;
    if (!is_right && reached.at_once == right.at_once && reached.end == right.end) return "ok";
    const bool as_usual = reached.end == undisturbed(situation, level);
    return as_usual ? reached.at_once : reached.at_once + " >" + reached.end;
  }
  support::Matrix::Rows attack_everywhere(const Wrong& wrong) {
    support::Matrix::Rows rows;
    for (const auto& [level, name] : {std::pair(Level::UnreliableDelivery, "UD"), {Level::ReliableDelivery, "RD"}})
      for (const Situation& situation : situations) {
        SCOPED_TRACE(testing::Message() << situation.name << "(" << name << "), " << to_string(GetParam()) << ", "
                                        << wrong.field);
        rows[name].push_back(worlds_++ % support::one_world_of == 0 ? word_of(situation, level, wrong) : "");
      }
    return rows;
  }

 private:
  static bool is_foreign(const ForgedFrame& frame, const Wrong& wrong) {
    return wrong.identifies && !(wrong.field == "OX_ID" && frame.header.has(wire::f_ctl::first_sequence));
  }
  /// All timers but that of the request pass, then the VI disconnects: the call returned at most once, and everything
  /// is given back.
  static std::string end_of(BesiegedPeer& here) {
    std::string end(here.besieged().endpoint_state_name());
    const auto told = here.call.result;
    EXPECT_TRUE(here.besieged().state() != vi::State::Connected || told == vi::Return::Success);
    end += told ? " " + std::string(to_string(*told)) : "";
    here.fabric.run_for(60 * runtime::second);
    auto done = std::make_unique<support::Done>();
    here.victim().provider.disconnect(here.besieged(), *done);
    here.fabric.run_for(120 * runtime::second);
    EXPECT_TRUE(done->result.has_value());
    EXPECT_EQ(here.call.calls, 1);
    EXPECT_EQ(here.unexpected() + here.besieged().unexpected_events(), 0u);
    const std::size_t left =
        done->result == vi::Return::Success ? 0 : here.victim().provider.handles_in_use();  // with their connections
    EXPECT_LE(here.victim().provider.open_setups(), left);
    EXPECT_LE(here.victim().port.open_exchanges(), left);
    return end;
  }
  const std::string& undisturbed(const Situation& situation, Level level) {
    const auto [end, is_new] = undisturbed_.try_emplace({std::string(situation.name), level});
    if (!is_new) return end->second;
    BesiegedPeer here(level);
    (here.*situation.reach)();
    here.go_on(here.right(GetParam()), false);
    return end->second = end_of(here);
  }
  std::map<std::pair<std::string, Level>, std::string> undisturbed_;
  std::map<std::pair<std::string, Level>, Reached> right_;
  unsigned worlds_ = 0;
};

std::vector<Wrong> wrongs_of(Opcode opcode) {
  std::vector<Wrong> wrongs(std::begin(support::header_wrongs), std::end(support::header_wrongs));
  const auto add = [&](const auto& more) { wrongs.insert(wrongs.end(), std::begin(more), std::end(more)); };
  add(support::long_header_wrongs);
  const bool rqst = opcode == Opcode::connect_rqst,
             disconnects = opcode == Opcode::disconnect_rqst || opcode == Opcode::disconnect_resp;
  if (rqst || opcode == Opcode::connect_resp1) add(support::payload_wrongs);
  rqst ? add(rqst_wrongs) : disconnects ? add(disconnect_wrongs) : add(resp_wrongs);
  return wrongs;
}

// FC-VI 5.3.3, 5.3.4, 5.9.4.4 to 5.9.4.6, 5.9.7.2, 6.8 to 6.13, 8.2 b), 8.5.2 a): answered as Table 2 and Annex A have
// it, or discarded and counted; what does not belong to a set-up never decides an arbitration.
TEST_P(PeerHostility, inEveryState_withEveryFieldWrong) {
  std::vector<std::string> columns;
  for (const Situation& situation : situations) columns.emplace_back(situation.name);
  support::Matrix matrix(columns);
  for (const Wrong& wrong : wrongs_of(GetParam())) matrix.add(wrong.field, attack_everywhere(wrong));
  const std::string name(to_string(GetParam()));
  if (support::one_world_of == 1)
    support::expect_golden(
        "hostile_peers_" + name + ".matrix.txt",
        "Words: hostile_outcome.hpp. ok: as the right frame; > what is so later, where that is not as usual\n" + name +
            "\n" + matrix.text());
}
INSTANTIATE_TEST_SUITE_P(Peer, PeerHostility,
                         ::testing::Values(Opcode::connect_rqst, Opcode::connect_resp1, Opcode::connect_resp2,
                                           Opcode::connect_resp3, Opcode::disconnect_rqst, Opcode::disconnect_resp),
                         [](const ::testing::TestParamInfo<Opcode>& iu) { return std::string(to_string(iu.param)); });
}  // namespace
