// A peer that sends each message IU in each state of a message, its own or ours, with each field wrong, one at a time
// (FC-VI 5.2, 5.8, 5.9, 6.2 to 6.7, 8.4, B.2): at each level, on fabrics that keep the order or not, in class 3 and
// class 2. What comes of each, at once and after what follows it, stands in golden/hostile_<IU>.matrix.txt, to be read
// against the standard.
#include <map>

#include "tests/fcvi/hostile_matrix.hpp"
#include "tests/fcvi/hostile_message_checks.hpp"
#include "tests/fcvi/hostile_wrongs.hpp"

namespace {
using support::BesiegedMessages;
using support::ForgedFrame;
using support::MessageWorld;
using support::Wrong;
using Opcode = wire::fcvi::Opcode;
using Level = vi::ReliabilityLevel;
namespace f_ctl = wire::f_ctl;

enum Levels : unsigned { UD = 1, RD = 2, RR = 4, reliable = RD | RR, all = UD | RD | RR };
struct Situation {
  std::string_view name;
  void (BesiegedMessages::*reach)();
  unsigned levels;
  enum Where { Everywhere, InOrder, OutOfOrder } where = Everywhere;
};
constexpr Situation situations[] = {
    {"Expecting", &BesiegedMessages::expecting, all},
    {"ExpectingLong", &BesiegedMessages::expecting_long, all},
    {"Receiving", &BesiegedMessages::receiving_send, all},
    {"ReceivingIuEnd", &BesiegedMessages::receiving_iu_end, all},
    {"ReceivingLast", &BesiegedMessages::receiving_last, all},
    {"Writing", &BesiegedMessages::receiving_write, all},
    {"WritingIuEnd", &BesiegedMessages::receiving_write_iu_end, all},
    {"WritingLast", &BesiegedMessages::receiving_write_last, all},
    {"Refusing", &BesiegedMessages::refusing, RR},
    {"RefusingLast", &BesiegedMessages::refusing_last, RR},
    {"Merr", &BesiegedMessages::merr, UD, Situation::InOrder},
    {"Herr", &BesiegedMessages::herr, reliable, Situation::InOrder},
    {"Early", &BesiegedMessages::early, all, Situation::OutOfOrder},
    {"AnsweringRead", &BesiegedMessages::answering_read, reliable},
    {"AwaitResp2", &BesiegedMessages::await_resp2_of_setup, all},
    {"AwaitResp3", &BesiegedMessages::await_resp3_of_setup, all},
    {"AwaitResp3Sent", &BesiegedMessages::await_resp3_sent, all},
    {"Sent", &BesiegedMessages::await_send_resp, all},
    {"Written", &BesiegedMessages::await_write_resp, all},
    {"Sending", &BesiegedMessages::sending, all},
    {"AwaitReadData", &BesiegedMessages::await_read_data, reliable},
    {"Reading", &BesiegedMessages::reading, reliable},
    {"ReadingIuEnd", &BesiegedMessages::reading_iu_end, reliable},
    {"ReadingLast", &BesiegedMessages::reading_last, reliable},
};

void add_to_word(ForgedFrame& f, std::size_t index, std::uint32_t more) { f.set_word(index, f.word(index) + more); }
void set_flags(ForgedFrame& f, unsigned flags) { f.data[5] = static_cast<std::uint8_t>(flags); }

/// Beside support::header_wrongs. For answers a wrong FCVI_MSG_ID or another opcode identifies, too (5.2.5).
constexpr Wrong message_wrongs[] = {
    {"R_CTL: unsolicited data", true, [](ForgedFrame& f) { f.header.r_ctl = wire::RCtl::unsolicited_data; }},
    {"S_ID: ours", true, [](ForgedFrame& f) { f.header.s_id = f.header.d_id; }},
    {"CS_CTL: PREF", false, [](ForgedFrame& f) { f.header.cs_ctl = wire::cs_ctl_preference; }},
    {"End_Sequence, and not EOF", false, [](ForgedFrame& f) { f.header.f_ctl ^= f_ctl::end_sequence; }},
    {"EOF, and not End_Sequence", false,
     [](ForgedFrame& f) { f.eof = f.eof == wire::Eof::t ? wire::Eof::n : wire::Eof::t; }},
    {"End_Sequence and EOF", false,
     [](ForgedFrame& f) {
       f.header.f_ctl ^= f_ctl::end_sequence, f.eof = f.eof == wire::Eof::t ? wire::Eof::n : wire::Eof::t;
     }},
    {"Sequence Context", false, [](ForgedFrame& f) { f.header.f_ctl ^= f_ctl::sequence_recipient; }},
    {"Abort Sequence Condition", false, [](ForgedFrame& f) { f.header.f_ctl ^= f_ctl::abort_perform_abts; }},
    {"Relative offset present", false, [](ForgedFrame& f) { f.header.f_ctl ^= f_ctl::relative_offset_present; }},
    {"Fill bytes", false, [](ForgedFrame& f) { f.header.f_ctl ^= 3; }},
    {"DF_CTL: the other size", true, [](ForgedFrame& f) { f.header.df_ctl ^= 3; }},
    {"SEQ_ID", false, [](ForgedFrame& f) { f.header.seq_id.value ^= 0x80; }},
    {"SEQ_CNT: the one before", false, [](ForgedFrame& f) { --f.header.seq_cnt.value; }},
    {"SEQ_CNT: the next", false, [](ForgedFrame& f) { ++f.header.seq_cnt.value; }},
    {"RX_ID", false, [](ForgedFrame& f) { f.header.rx_id.value ^= 0x0555; }},
    {"Relative offset: 0", false, [](ForgedFrame& f) { f.header.parameter = 0; }},
    {"Relative offset: 4 less", false, [](ForgedFrame& f) { f.header.parameter -= 4; }},
    {"Relative offset: 4 more", false, [](ForgedFrame& f) { f.header.parameter += 4; }},
    {"Relative offset: of the next", false, [](ForgedFrame& f) { f.header.parameter += BesiegedMessages::part; }},
    {"SOF: first or not", false,
     [](ForgedFrame& f) {
       const bool class_2 = f.sof == wire::Sof::i2 || f.sof == wire::Sof::n2,
                  first = f.sof == wire::Sof::i2 || f.sof == wire::Sof::i3;
       f.sof = class_2 ? (first ? wire::Sof::n2 : wire::Sof::i2) : first ? wire::Sof::n3 : wire::Sof::i3;
     }},
    {"SOFi2 or i3: the other class", false,
     [](ForgedFrame& f) { f.sof = f.sof == wire::Sof::i3 || f.sof == wire::Sof::n3 ? wire::Sof::i2 : wire::Sof::i3; }},
    {"FCVI_HANDLE: unassigned", true, [](ForgedFrame& f) { f.set_word(0, 0xFFFFFFFF); }},
    {"FCVI_OPCODE: Send or Write, the other", false, [](ForgedFrame& f) { f.data[4] ^= 1; }},
    {"FCVI_OPCODE: request or response, the other", true, [](ForgedFrame& f) { f.data[4] ^= 8; }},
    {"FCVI_FLAGS: bit 0", false, [](ForgedFrame& f) { f.data[5] ^= 1; }},
    {"FCVI_FLAGS: bit 1 alone", false, [](ForgedFrame& f) { set_flags(f, 2); }},
    {"FCVI_FLAGS: bit 2 alone", false, [](ForgedFrame& f) { set_flags(f, 4); }},
    {"FCVI_FLAGS: bit 3 alone", false, [](ForgedFrame& f) { set_flags(f, 8); }},
    {"FCVI_FLAGS: bits 0 and 1", false, [](ForgedFrame& f) { set_flags(f, 3); }},
    {"FCVI_FLAGS: bits 0 and 2", false, [](ForgedFrame& f) { set_flags(f, 5); }},
    {"FCVI_FLAGS: bits 0 and 3", false, [](ForgedFrame& f) { set_flags(f, 9); }},
    {"FCVI_MSG_ID: the one before", false, [](ForgedFrame& f) { add_to_word(f, 2, 0xFFFFFFFF); }},
    {"FCVI_MSG_ID: the next", false, [](ForgedFrame& f) { add_to_word(f, 2, 1); }},
    {"FCVI_MSG_ID: the one after that", false, [](ForgedFrame& f) { add_to_word(f, 2, 2); }},
    {"half a Device_Header", true, [](ForgedFrame& f) { f.data.resize(f.data.size() < 32 ? 8 : 20); }},
    {"no data field", true, [](ForgedFrame& f) { f.data.clear(); }},
    {"4 bytes more", false, [](ForgedFrame& f) { f.data.resize(f.data.size() + 4); }},
};
/// Of those whose Device_Header has 32 bytes.
constexpr Wrong long_message_wrongs[] = {
    {"FCVI_RMT_VA: 64 more", false, [](ForgedFrame& f) { add_to_word(f, 5, 64); }},
    {"FCVI_RMT_VA: none", false, [](ForgedFrame& f) { f.set_word(4, 0), f.set_word(5, 0); }},
    {"FCVI_TOT_LEN: 4 less", false, [](ForgedFrame& f) { add_to_word(f, 7, 0xFFFFFFFC); }},
    {"FCVI_TOT_LEN: 4 more", false, [](ForgedFrame& f) { add_to_word(f, 7, 4); }},
    {"FCVI_TOT_LEN: 0", false, [](ForgedFrame& f) { f.set_word(7, 0); }},
    {"FCVI_TOT_LEN: most", false, [](ForgedFrame& f) { f.set_word(7, 0xFFFFFFFF); }},
};
/// Of those that carry data.
constexpr Wrong data_wrongs[] = {
    {"4 bytes less", false, [](ForgedFrame& f) { f.data.resize(f.data.size() - 4); }},
    {"no payload", false, [](ForgedFrame& f) { f.data.resize(32); }},
};

/// It cannot be this IU of this message: nothing moves.
bool is_foreign(const BesiegedMessages& here, Opcode opcode, const Wrong& wrong, const ForgedFrame& frame) {
  const std::string_view field = wrong.field;
  if (!BesiegedMessages::is_request(opcode)) {
    if (!here.answers(frame.data.size() > 4 ? Opcode{frame.data[4]} : opcode)) return true;
    if (field.starts_with("FCVI_MSG_ID")) return true;
  }
  if (field == "OX_ID") return !BesiegedMessages::is_request(opcode);
  return wrong.identifies || field == "FCVI_HANDLE" || (wire::class_of_service(frame.sof) == 2 && !here.is_class_2());
}

class MessageHostility : public ::testing::TestWithParam<Opcode> {
 public:
  struct Outcome {
    std::string at_once, end;
  };
  /// One frame in a fresh world, and what follows it.
  Outcome attack(const Situation& situation, const MessageWorld& world, const Wrong& wrong) {
    const Opcode opcode = GetParam();
    BesiegedMessages here(world);
    (here.*situation.reach)();
    support::MessageOutcome outcome(here);
    ForgedFrame frame = here.right(opcode);
    const support::MessageChecks::Forged forged{.first = frame.header.seq_cnt.value == 0,
                                                .numbered = wrong.field.starts_with("FCVI_MSG_ID")};
    wrong.apply(frame);
    const bool foreign = is_foreign(here, opcode, wrong, frame);
    const std::uint64_t received = here.victim().port.counters().frames_received;
    here.inject(frame);
    const unsigned with_it = situation.reach == &BesiegedMessages::early ? 1 : 0;  // what waited goes with it
    EXPECT_LE(outcome.discards(), here.victim().port.counters().frames_received - received + with_it);
    const bool waits = outcome.text().empty() || outcome.text() == "^";
    const std::string at_once = (waits ? waiting(situation, world, frame) : "") + outcome.text();
    const bool over = foreign && outcome.moved() && is_exchange_error(frame);
    EXPECT_FALSE(foreign && outcome.moved() && !over) << at_once;
    here.go_on(opcode, !foreign);
    const std::string end = end_of(here, forged);
    if (foreign && !over) {
      EXPECT_EQ(end, undisturbed(situation, world));
    }
    return {at_once, end};
  }

  /// "ok": as if it were right. What comes later, ">", where it is neither as usual nor to be seen already.
  std::string word_of(const Situation& situation, const MessageWorld& world, const Wrong& wrong) {
    const Outcome outcome = attack(situation, world, wrong);
    const auto& [right, first] = *right_.try_emplace(key(situation, world), outcome).first;
    static_cast<void>(right);
    const bool is_right = wrong.field == support::header_wrongs[0].field;
    if (!is_right && outcome.at_once == first.at_once && outcome.end == first.end) return "ok";
    const bool as_usual = outcome.end == first.end || outcome.end == undisturbed(situation, world);
    const bool shown = outcome.at_once.starts_with("E") || (as_usual && !is_right);
    return shown || outcome.end.empty() ? outcome.at_once : outcome.at_once + " >" + outcome.end;
  }
  support::Matrix::Rows attack_everywhere(const Wrong& wrong, MessageWorld world) {
    support::Matrix::Rows rows;
    for (const auto& [level, bit, name] : {std::tuple(Level::UnreliableDelivery, UD, "UD"),
                                           {Level::ReliableDelivery, RD, "RD"},
                                           {Level::ReliableReception, RR, "RR"}})
      for (const Situation& situation : situations) {
        world.level = level;
        const bool here = (situation.levels & bit) != 0 &&
                          situation.where != (world.in_order ? Situation::OutOfOrder : Situation::InOrder);
        SCOPED_TRACE(testing::Message() << situation.name << "(" << name << "), " << to_string(GetParam()) << ", "
                                        << wrong.field << (world.in_order ? "" : ", out of order")
                                        << (world.class_2 ? ", class 2" : ""));
        rows[name].push_back(here && worlds_++ % support::one_world_of == 0 ? word_of(situation, world, wrong) : "");
      }
    return rows;
  }

 private:
  using Key = std::tuple<std::string, int, bool, bool>;
  static Key key(const Situation& situation, const MessageWorld& world) {
    return {std::string(situation.name), static_cast<int>(world.level), world.in_order, world.class_2};
  }
  static bool is_control(const ForgedFrame& frame) {
    return frame.header.r_ctl == wire::RCtl::solicited_control || frame.header.r_ctl == wire::RCtl::unsolicited_control;
  }
  /// Of a control IU, on our exchange: it says that it is the last, or a frame of its sequence is missing. So the
  /// exchange is over, and the answer cannot come any more.
  static bool is_exchange_error(const ForgedFrame& frame) {
    return is_control(frame) && frame.header.has(f_ctl::exchange_responder);
  }
  /// It overtook others, RESP2, or the data of a RDMA Read; or it is the first frame of a control IU, and waits for the
  /// others, E_D_TOV or R_A_TOV at most.
  static std::string waiting(const Situation& situation, const MessageWorld& world, const ForgedFrame& frame) {
    const bool may_overtake = !world.in_order || situation.reach == &BesiegedMessages::answering_read ||
                              situation.reach == &BesiegedMessages::await_resp2_of_setup;
    EXPECT_TRUE(is_control(frame) || may_overtake);
    if (!is_control(frame)) return "kept";
    BesiegedMessages here(world);
    (here.*situation.reach)();
    const std::uint64_t before = here.victim().port.counters().discarded(fc2::Discard::WrongSequence);
    here.inject(frame);
    here.fabric.run_for(12 * runtime::second);
    const bool counted = here.victim().port.counters().discarded(fc2::Discard::WrongSequence) == before + 1;
    EXPECT_TRUE(counted || frame.header.has(f_ctl::exchange_responder));  // of ours: its end may come first
    return "later sequence";
  }
  /// All timers pass, then the VI disconnects: every descriptor ends, once, and everything is given back.
  static std::string end_of(BesiegedMessages& here, const support::MessageChecks::Forged& forged) {
    here.fabric.run_for(60 * runtime::second);
    const std::string end = support::MessageOutcome::end_of(here);
    auto done = std::make_unique<support::Done>();
    here.victim().provider.disconnect(here.besieged(), *done);
    here.fabric.run_for(120 * runtime::second);
    EXPECT_TRUE(done->result.has_value());
    support::MessageChecks(here, forged).expect_all();
    EXPECT_EQ(here.unexpected() + here.besieged().unexpected_events(), 0u);
    EXPECT_EQ(here.victim().port.open_exchanges(), 0u);
    EXPECT_EQ(here.fabric.pool.outstanding(), 0u);
    return end;
  }
  /// The same without the forged frame.
  const std::string& undisturbed(const Situation& situation, const MessageWorld& world) {
    const auto [end, is_new] = undisturbed_.try_emplace(key(situation, world));
    if (!is_new) return end->second;
    BesiegedMessages here(world);
    (here.*situation.reach)();
    here.go_on(GetParam(), false);
    return end->second = end_of(here, {});
  }
  std::map<Key, std::string> undisturbed_;
  std::map<Key, Outcome> right_;
  unsigned worlds_ = 0;
};

std::vector<Wrong> wrongs_of(Opcode opcode) {
  std::vector<Wrong> wrongs(std::begin(support::header_wrongs), std::end(support::header_wrongs));
  const auto add = [&](const auto& more) { wrongs.insert(wrongs.end(), std::begin(more), std::end(more)); };
  add(message_wrongs);
  if (wire::fcvi::device_header_size(opcode) == 32) add(support::long_header_wrongs), add(long_message_wrongs);
  if (wire::fcvi::find_iu(opcode)->payload == wire::fcvi::Payload::message_data) add(data_wrongs);
  return wrongs;
}

// FC-VI 5.8, 5.9.4.2, 5.9.4.3, 5.9.5, 6.2 to 6.7, 8.4.1, 8.4.2, B.2.4, B.2.5: counted by reason, answered as the
// standard names it, or silence; what is not of the message moves nothing, and no descriptor calls wrong bytes good.
TEST_P(MessageHostility, inEveryState_withEveryFieldWrong) {
  const std::string name(to_string(GetParam()));
  std::string text =
      "Words: hostile_message_checks.hpp. ok: as the right frame; > what is so later, where that is not as usual\n" +
      name;
  std::vector<std::string> columns;
  for (const Situation& situation : situations) columns.emplace_back(situation.name);
  support::Matrix in_order(columns), out_of_order(columns), class_2(columns);
  for (const Wrong& wrong : wrongs_of(GetParam())) {
    const support::Matrix::Rows usual = attack_everywhere(wrong, {});
    in_order.add(wrong.field, usual);
    out_of_order.add(wrong.field, attack_everywhere(wrong, {.in_order = false}));
    class_2.add(wrong.field, attack_everywhere(wrong, {.class_2 = true}));
  }
  text += ", class 3, in-order fabric\n" + in_order.text() + "\nout-of-order fabric\n" + out_of_order.text() +
          "\nclass 2\n" + class_2.text();
  if (support::one_world_of == 1) support::expect_golden("hostile_" + name + ".matrix.txt", text);
}
INSTANTIATE_TEST_SUITE_P(Message, MessageHostility,
                         ::testing::Values(Opcode::send_rqst, Opcode::write_rqst, Opcode::read_rqst, Opcode::send_resp,
                                           Opcode::write_resp, Opcode::read_resp),
                         [](const ::testing::TestParamInfo<Opcode>& iu) { return std::string(to_string(iu.param)); });

class HostileMessage : public ::testing::TestWithParam<Level> {
 public:
  /// Of a Send of 800 bytes 400 came; the next frame, which ends an IU and not the message, has these bits too.
  void expect_no_message(std::uint32_t bits) {
    BesiegedMessages here({.level = GetParam()});
    here.receiving_iu_end();
    ForgedFrame frame = here.right(Opcode::send_rqst);
    frame.header.f_ctl |= bits;
    here.inject(frame);
    const std::uint32_t status = here.victim().status(here.receives[0]);
    EXPECT_EQ(support::describe_errors(status), "pt");
    EXPECT_EQ(here.besieged().state(),
              GetParam() == Level::UnreliableDelivery ? vi::State::Connected : vi::State::Error);
  }
};
INSTANTIATE_TEST_SUITE_P(All, HostileMessage,
                         ::testing::Values(Level::UnreliableDelivery, Level::ReliableDelivery,
                                           Level::ReliableReception));

// FC-VI 5.2.1, 5.8.4, B.2.5 rules 6a, 6b: neither bit before the end makes what came a whole message.
TEST_P(HostileMessage, receiving_initiativePassedBeforeTheEnd_isASequenceError) {
  expect_no_message(f_ctl::sequence_initiative);
}
TEST_P(HostileMessage, receiving_exchangeEndedBeforeTheEnd_isASequenceError) {
  expect_no_message(f_ctl::last_sequence);
}

// FC-VI 5.2.1, 6.2.2, B.2.5 rules 6a, 6b: Immediate Data that changes from frame to frame is none that
// could be delivered.
TEST_P(HostileMessage, receiving_immediateDataChanges_isASequenceError) {
  BesiegedMessages here({.level = GetParam()});
  here.receiving_last();
  ForgedFrame frame = here.right(Opcode::send_rqst);
  frame.set_word(3, 0xBAD);
  here.inject(frame);
  EXPECT_EQ(support::describe_errors(here.victim().status(here.receives[0])), "pt");
}
}  // namespace
