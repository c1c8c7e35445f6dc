// A CONNECT_RQST with the handle that the peer used already, with RETRY or without, as the first or another in one
// thing; and every IU of a set-up where its retry is awaited, or its acceptance was taken back: at each level (FC-VI
// 5.9.4.4, 6.8, 8.5.2, C.4 rules 8 to 12). What comes of each stands in golden/hostile_setup.matrix.txt, to be read
// against the standard.
#include <map>

#include "tests/fcvi/hostile_outcome.hpp"

namespace {
using support::Besieged;
using support::Done;
using support::ForgedFrame;
using support::Outcome;
using Opcode = wire::fcvi::Opcode;
using Level = vi::ReliabilityLevel;

/// The server; its application gets the offer.
class BesiegedSetup final : public Besieged {
 public:
  using Besieged::Besieged;
  /// The client aborted its request: before the decision, and after the acceptance.
  void await_retry() { offered(), inject(abts()); }
  void accepted_before_retry() { await_retry(), accept_offer(); }
  void accepted_await_retry() { await_resp2(), inject(abts()); }
  /// Its application disconnected when it had accepted.
  void withdrawn() { await_resp2(), disconnect_server(); }
  /// The client's retry was taken for one already.
  void retried() { offered(), inject(again(true)), accept_offer(); }
  void connected() { await_resp2(), inject(right(Opcode::connect_resp2)); }

  void accept_offer() {
    server->provider.connect_accept(wait.token, *server_vi, accept);
    fabric.run_for(20 * runtime::microsecond);
    log.clear();
  }
  void disconnect_server() {
    server->provider.disconnect(*server_vi, disconnected_);
    fabric.run_for(20 * runtime::microsecond);
    log.clear();
  }
  [[nodiscard]] ForgedFrame abts() { return as_abts(right(Opcode::connect_resp2)); }
  /// CONNECT_RQST in a new Exchange, with the handle and the payload of the client's.
  [[nodiscard]] ForgedFrame again(bool retry) {
    ForgedFrame frame = right(Opcode::connect_rqst);
    const std::uint32_t id = frame.word(7);
    frame.data = rqst_data();
    frame.set_word(7, id);
    frame.data[5] = static_cast<std::uint8_t>(frame.data[5] | (retry ? 0x10 : 0));
    return frame;
  }
  static constexpr std::size_t payload = 8;  // its first word

 private:
  Done disconnected_;
};

struct Situation {
  const char* name;
  void (BesiegedSetup::*reach)();
};
constexpr Situation situations[] = {
    {"Offered", &BesiegedSetup::offered},
    {"AwaitRetry", &BesiegedSetup::await_retry},
    {"AcceptedBeforeRetry", &BesiegedSetup::accepted_before_retry},
    {"AwaitResp2", &BesiegedSetup::await_resp2},
    {"AcceptedAwaitRetry", &BesiegedSetup::accepted_await_retry},
    {"Retried", &BesiegedSetup::retried},
    {"Refused", &BesiegedSetup::refused},
    {"Withdrawn", &BesiegedSetup::withdrawn},
    {"Connected", &BesiegedSetup::connected},
};

constexpr std::size_t at = BesiegedSetup::payload;
struct Change {
  const char* what;
  void (*apply)(ForgedFrame&);
};
constexpr Change changes[] = {
    {"(the same)", [](ForgedFrame&) {}},
    {"the id of the first", [](ForgedFrame& f) { f.set_word(7, 1); }},
    {"mode 000b", [](ForgedFrame& f) { f.data[5] &= 0xF8; }},
    {"mode 010b", [](ForgedFrame& f) { f.data[5] = static_cast<std::uint8_t>((f.data[5] & 0xF8) | 2); }},
    {"mode 111b", [](ForgedFrame& f) { f.data[5] |= 7; }},
    {"another host", [](ForgedFrame& f) { f.set_word(at + 44, 0x0A090909); }},
    {"another discriminator", [](ForgedFrame& f) { f.set_word(at + 45, 0x41414141); }},
    {"another local address", [](ForgedFrame& f) { f.set_word(at + 7, 0x0A090909); }},
    {"DISCRIM_LEN 129", [](ForgedFrame& f) { f.set_word(at + 40, 0x1081); }},
    {"another level", [](ForgedFrame& f) { f.set_word(at + 77, f.word(at + 77) ^ 0x0300); }},
    {"reserved attributes",
     [](ForgedFrame& f) {
       for (unsigned i = 0; i < 8; ++i) f.set_word(at + 77 + i, 0xFFFFFFFF);
     }},
    {"another maximum", [](ForgedFrame& f) { f.set_word(at + 78, 1000); }},
};
constexpr Opcode of_setups[] = {Opcode::connect_resp1, Opcode::connect_resp2, Opcode::connect_resp3,
                                Opcode::disconnect_rqst, Opcode::send_rqst};

class SetupHostility : public ::testing::Test {
 public:
  using Forge = std::function<ForgedFrame(BesiegedSetup&)>;
  /// One frame in a fresh world; then the application decides, RESP2 comes, and all timers pass: every call returns.
  std::string attack(const Situation& situation, Level level, const Forge& forge) {
    BesiegedSetup here(level);
    (here.*situation.reach)();
    Outcome outcome(here);
    const ForgedFrame frame = forge(here);
    here.inject(frame);
    const std::string text = outcome.text();
    expect_end(here, frame);
    return text;
  }
  void expect_end(BesiegedSetup& here, const ForgedFrame& forged) {
    if (here.accept.result == std::nullopt && here.server_vi->state() == vi::State::Idle) here.accept_offer();
    ForgedFrame resp2 = here.right(Opcode::connect_resp2);
    resp2.header.ox_id = forged.header.ox_id;
    here.inject(resp2);
    here.fabric.run_for(60 * runtime::second);
    Done done;
    here.server->provider.disconnect(*here.server_vi, done);
    here.fabric.run_for(60 * runtime::second);
    EXPECT_TRUE(here.accept.result.has_value());
    EXPECT_TRUE(done.result.has_value());
    EXPECT_EQ(here.unexpected() + here.server_vi->unexpected_events(), 0u);
    const std::size_t left =
        done.result == vi::Return::Success ? 0 : here.server->provider.handles_in_use();  // with their connections
    EXPECT_LE(here.server->provider.open_setups(), left);
  }
  void attack_everywhere(std::ostream& matrix, const std::string& what, const Forge& forge) {
    std::map<std::string, std::vector<std::string>> outcomes;
    for (const Situation& situation : situations) {
      SCOPED_TRACE(testing::Message() << situation.name << ", " << what);
      const std::string unreliable = attack(situation, Level::UnreliableDelivery, forge);
      outcomes[unreliable].push_back(situation.name);
      for (const Level level : {Level::ReliableDelivery, Level::ReliableReception})
        if (const std::string reliable = attack(situation, level, forge); reliable != unreliable)
          outcomes[reliable].push_back(std::string(situation.name) +
                                       (level == Level::ReliableDelivery ? "(RD)" : "(RR)"));
    }
    matrix << "  " << what << "\n";
    for (const auto& [outcome, where] : outcomes) {
      matrix << "    " << outcome << "  [";
      for (std::size_t i = 0; i < where.size(); ++i) matrix << (i == 0 ? "" : " ") << where[i];
      matrix << "]\n";
    }
  }
};

// FC-VI C.4 rules 8, 9, 11, 5.9.4.4, Table 8: answered as the set-up's retry, as a new request, or refused; nothing
// is read unseen.
TEST_F(SetupHostility, everyRetry_inEveryState) {
  std::ostringstream matrix;
  for (const bool retry : {true, false}) {
    matrix << "CONNECT_RQST with a known handle, RETRY " << retry << "\n";
    for (const Change& change : changes)
      attack_everywhere(matrix, change.what, [&](BesiegedSetup& here) {
        ForgedFrame frame = here.again(retry);
        change.apply(frame);
        return frame;
      });
  }
  matrix << "every other IU\n";
  for (const Opcode opcode : of_setups) {
    attack_everywhere(matrix, std::string(to_string(opcode)), [&](BesiegedSetup& here) { return here.right(opcode); });
    if (opcode == Opcode::send_rqst) continue;
    attack_everywhere(matrix, std::string(to_string(opcode)) + " with RETRY, or CONN_SETUP_ABORT",
                      [&](BesiegedSetup& here) {
                        ForgedFrame frame = here.right(opcode);
                        frame.data[5] |= 4;
                        if (opcode == Opcode::disconnect_rqst) frame.set_word(7, 1);
                        return frame;
                      });
  }
  support::expect_golden("hostile_setup.matrix.txt", matrix.str());
}
}  // namespace
