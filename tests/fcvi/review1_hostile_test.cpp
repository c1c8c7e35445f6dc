// What hostile_test.cpp leaves out: a CONNECT_RQST with RETRY for a set-up that is there, in each state of the responder, with
// other modes, attributes and addresses than the first; then every RESP2. Not in CMake.
#include "tests/fcvi/hostile_situations.hpp"

namespace {
using support::Besieged;
using support::Forgery;
using Opcode = wire::fcvi::Opcode;

struct Case {
  const char* situation;
  void (Besieged::*reach)();
  int change;      // 0..7: mode; 8: attributes; 9: remote address; 10: another discriminator
  bool app_first;  // the application decides before RESP2
  int resp2;       // bit 0: refuses, bit 1: RETRY
};

[[noreturn]] void run(const Case& c) {
  Besieged nodes;
  (nodes.*c.reach)();
  Forgery rqst = nodes.right(Opcode::connect_rqst);
  const std::uint32_t id = rqst.word(7);
  rqst.set_word(8 + 2, 1);  // the client's handle
  rqst.data[5] = static_cast<std::uint8_t>(0x10 | (c.change < 8 ? c.change : 1));
  if (c.change == 8) for (unsigned i = 0; i < 8; ++i) rqst.set_word(8 + 77 + i, 0xFFFFFFFF);
  if (c.change == 9) for (unsigned i = 0; i < 4; ++i) rqst.set_word(8 + 40 + i, 0x12345678);
  if (c.change == 10) rqst.set_word(8 + 40 + 8, 0x12345678);
  nodes.inject(rqst);
  vi::Vi& vi = *nodes.server_vi;
  support::Done accept;
  if (c.app_first) nodes.server->provider.connect_accept(nodes.wait.token, vi, accept);
  nodes.fabric.run_for(20 * fc2::microsecond);
  Forgery resp2 = nodes.right(Opcode::connect_resp2);
  resp2.fc.ox_id = rqst.fc.ox_id;
  resp2.fc.seq_cnt = {1};
  resp2.set_word(7, id);
  if ((c.resp2 & 1) != 0) resp2.data[5] |= 1, resp2.set_word(3, 0x00020000);
  if ((c.resp2 & 2) != 0) resp2.data[5] |= 4;
  nodes.inject(resp2);
  nodes.fabric.run_for(60 * fc2::second);
  support::Done done;
  nodes.server->provider.disconnect(vi, done);
  nodes.fabric.run_for(60 * fc2::second);
  const bool returned = !c.app_first || accept.result.has_value();
  const bool surprised = nodes.server->port.counters().unexpected_events + vi.unexpected_events() != 0;
  std::_Exit(!done.result ? 2 : surprised ? 3 : !returned ? 4 : nodes.accept.result == std::nullopt && std::string(c.situation) == "AwaitResp2" ? 5 : 0);
}

struct Situation { const char* name; void (Besieged::*reach)(); };
TEST(Review1Hostile, retryInEveryState) {
  constexpr Situation situations[] = {{"Offered", &Besieged::offered}, {"AwaitResp2", &Besieged::await_resp2},
                                      {"Refused", &Besieged::refused}, {"ConnectedResponder", &Besieged::connected_responder}};
  for (const Situation& situation : situations)
    for (int change = 0; change <= 10; ++change)
      for (const bool first : {false, true})
        for (int resp2 = 0; resp2 < 4; ++resp2) {
          if (first && std::string(situation.name) != "Offered") continue;
          const std::string name = std::string(situation.name) + " change " + std::to_string(change) + " first " +
                                   std::to_string(first) + " resp2 " + std::to_string(resp2);
          SCOPED_TRACE(name);
          EXPECT_EXIT(run({situation.name, situation.reach, change, first, resp2}),
                      ::testing::ExitedWithCode(0), "") << name;
        }
}
}  // namespace
