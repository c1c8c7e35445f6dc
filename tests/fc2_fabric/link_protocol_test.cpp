// One end of a link against a far end that says what it likes: what it answers in each state of its port, and that the
// link comes up from there when the far end keeps to the protocol again (FC-FS: link initialization, reset, failure;
// FC-VI 7.7.1).
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "fc2_fabric/link/link.hpp"

namespace fc2 {
namespace {

constexpr TimeNs r_t_tov = 100 * millisecond;  // FC-FS

enum class Step : std::uint8_t { Lr, Lrr, Idle, Ols, Nos, Timeout, Fail, Cut, Mend, Reset };

/// Hears what an end says, and keeps it from the far end.
class Ear final : public PrimitiveFault {
 public:
  bool loses(Primitive primitive, TimeNs) override {
    said.append(said.empty() ? "" : " ").append(to_string(primitive));
    return true;
  }
  std::string said;
};

class Station final : public FrameReceiver, public LinkUser {
 public:
  void receive(FramePtr) override {}
  void link_active() override { events += '+'; }
  void link_offline() override { events += '-'; }
  std::string events;
};

struct Exchanged {
  Step heard;
  std::string answer;    // what the end says then
  std::string events{};  // what its user hears: + active, - offline
};

struct Case {
  std::string name;
  std::vector<Exchanged> steps;
};
void PrintTo(const Case& which, std::ostream* out) { *out << which.name; }

class LinkProtocolTest : public testing::TestWithParam<Case> {
 protected:
  LinkProtocolTest() {
    link.a.set_primitive_fault(&ear);
    link.b.set_primitive_fault(&nobody);
    link.initialize(station, far_station);
  }
  void happens(Step step) {
    PrimitiveReceiver& end = link.a;
    switch (step) {
      case Step::Lr: return end.primitive_received(Primitive::Lr);
      case Step::Lrr: return end.primitive_received(Primitive::Lrr);
      case Step::Idle: return end.primitive_received(Primitive::Idle);
      case Step::Ols: return end.primitive_received(Primitive::Ols);
      case Step::Nos: return end.primitive_received(Primitive::Nos);
      case Step::Timeout: return scheduler.run_until(scheduler.now() + r_t_tov);
      case Step::Fail: return link.a.fail();
      case Step::Cut: return link.cut();
      case Step::Mend: return link.mend();
      case Step::Reset: return link.a.reset();
    }
  }
  void expect(const Exchanged& step) {
    ear.said.clear();
    station.events.clear();
    happens(step.heard);
    EXPECT_EQ(ear.said, step.answer) << link.a.state_name();
    EXPECT_EQ(station.events, step.events) << link.a.state_name();
    EXPECT_EQ(link.a.unexpected_events(), 0U) << link.a.state_name();
  }

  Scheduler scheduler;
  Station station, far_station;
  Ear ear, nobody;
  Link link{scheduler, {.bb_credit = 2}, station, BufferUse::UntilProcessed, far_station, BufferUse::UntilProcessed};
};

// FC-FS: each step of the protocol, whatever came before it.
TEST_P(LinkProtocolTest, keeps_to_the_protocol) {
  EXPECT_EQ(ear.said, "OLS");
  for (std::size_t i = 0; i < GetParam().steps.size(); ++i) {
    SCOPED_TRACE("step " + std::to_string(i));
    expect(GetParam().steps[i]);
  }
  EXPECT_TRUE(link.a.active());
}

using S = Step;
using Steps = std::vector<Exchanged>;

Steps operator+(Steps first, const Steps& then) {
  first.insert(first.end(), then.begin(), then.end());
  return first;
}

// How the states are reached from the beginning, OLS Transmit.
const Steps ols_receive{{S::Ols, "LR"}}, wait_for_ols{{S::Timeout, "NOS"}}, nos_receive{{S::Nos, "OLS"}},
    lr_receive{{S::Lr, "LRR"}};
const Steps lrr_receive = ols_receive + Steps{{S::Lrr, "Idle"}};
const Steps active = lr_receive + Steps{{S::Idle, "Idle", "+"}};
const Steps lr_transmit = active + Steps{{S::Reset, "LR"}};
const Steps nos_transmit = active + Steps{{S::Fail, "NOS", "-"}};
// The ends of the protocol, by what the far end does.
const Steps lr_comes{{S::Lr, "LRR"}, {S::Idle, "Idle", "+"}},
    ols_comes{{S::Ols, "LR"}, {S::Lrr, "Idle"}, {S::Idle, "Idle", "+"}};
const Steps lrr_comes{{S::Lrr, "Idle"}, {S::Idle, "Idle", "+"}}, idle_comes{{S::Idle, "Idle", "+"}};
// ... after a reset, of which the user hears nothing (FC-VI 7.7.1)
const Steps reset_ends{{S::Lrr, "Idle"}, {S::Idle, "Idle"}};

INSTANTIATE_TEST_SUITE_P(Link, LinkProtocolTest,
                         testing::Values(
                             // OL1: waits for OLS or LR
                             Case{"OlsTransmit_lrr", Steps{{S::Lrr, ""}} + lr_comes},
                             Case{"OlsTransmit_idle", Steps{{S::Idle, ""}} + ols_comes},
                             Case{"OlsTransmit_nos", Steps{{S::Nos, "OLS"}} + lr_comes},
                             Case{"OlsTransmit_signal_lost", Steps{{S::Fail, "NOS"}} + ols_comes},
                             Case{"OlsTransmit_no_answer", Steps{{S::Timeout, "NOS"}} + ols_comes},
                             // OL2: transmits LR
                             Case{"OlsReceive_idle", ols_receive + Steps{{S::Idle, ""}} + lrr_comes},
                             Case{"OlsReceive_ols_again", ols_receive + Steps{{S::Ols, ""}} + lrr_comes},
                             Case{"OlsReceive_nos", ols_receive + Steps{{S::Nos, "OLS"}} + lr_comes},
                             Case{"OlsReceive_signal_lost", ols_receive + Steps{{S::Fail, "NOS"}} + ols_comes},
                             // OL3: NOS until OLS or NOS comes
                             Case{"WaitForOls_lr", wait_for_ols + Steps{{S::Lr, ""}} + ols_comes},
                             Case{"WaitForOls_lrr", wait_for_ols + Steps{{S::Lrr, ""}} + ols_comes},
                             Case{"WaitForOls_idle", wait_for_ols + Steps{{S::Idle, ""}} + ols_comes},
                             Case{"WaitForOls_nos", wait_for_ols + Steps{{S::Nos, "OLS"}} + lr_comes},
                             Case{"WaitForOls_no_answer",
                                  wait_for_ols + Steps{{S::Timeout, "NOS"}, {S::Timeout, "NOS"}} + ols_comes},
                             Case{"WaitForOls_cut_and_mended",
                                  wait_for_ols + Steps{{S::Cut, ""}, {S::Timeout, ""}, {S::Mend, "NOS"}} + ols_comes},
                             // AC: an LRR that nobody asked for is a reset, of which the user hears nothing
                             Case{"Active_lrr", active + Steps{{S::Lrr, "Idle"}, {S::Idle, "Idle"}}},
                             // LR1
                             Case{"LrTransmit_idle", lr_transmit + Steps{{S::Idle, ""}} + reset_ends},
                             Case{"LrTransmit_ols", lr_transmit + Steps{{S::Ols, "LR", "-"}} + lrr_comes},
                             Case{"LrTransmit_nos", lr_transmit + Steps{{S::Nos, "OLS", "-"}} + lr_comes},
                             Case{"LrTransmit_signal_lost", lr_transmit + Steps{{S::Fail, "NOS", "-"}} + ols_comes},
                             // LR2: transmits LRR
                             Case{"LrReceive_lr_again", lr_receive + Steps{{S::Lr, ""}} + idle_comes},
                             Case{"LrReceive_ols", lr_receive + Steps{{S::Ols, "LR"}} + lrr_comes},
                             Case{"LrReceive_nos", lr_receive + Steps{{S::Nos, "OLS"}} + lr_comes},
                             Case{"LrReceive_signal_lost", lr_receive + Steps{{S::Fail, "NOS"}} + ols_comes},
                             // LR3: transmits Idle
                             Case{"LrrReceive_lr", lrr_receive + Steps{{S::Lr, "LRR"}} + idle_comes},
                             Case{"LrrReceive_lrr_again", lrr_receive + Steps{{S::Lrr, ""}} + idle_comes},
                             Case{"LrrReceive_ols", lrr_receive + Steps{{S::Ols, "LR"}} + lrr_comes},
                             Case{"LrrReceive_nos", lrr_receive + Steps{{S::Nos, "OLS"}} + lr_comes},
                             Case{"LrrReceive_signal_lost", lrr_receive + Steps{{S::Fail, "NOS"}} + ols_comes},
                             Case{"LrrReceive_no_answer", lrr_receive + Steps{{S::Timeout, "NOS"}} + ols_comes},
                             // LF1: transmits OLS, waits for LR or OLS
                             Case{"NosReceive_lrr", nos_receive + Steps{{S::Lrr, ""}} + lr_comes},
                             Case{"NosReceive_idle", nos_receive + Steps{{S::Idle, ""}} + lr_comes},
                             Case{"NosReceive_nos_again", nos_receive + Steps{{S::Nos, ""}} + lr_comes},
                             Case{"NosReceive_ols", nos_receive + ols_comes},
                             Case{"NosReceive_signal_lost", nos_receive + Steps{{S::Fail, "NOS"}} + ols_comes},
                             Case{"NosReceive_no_answer", nos_receive + Steps{{S::Timeout, "NOS"}} + ols_comes},
                             // LF2: NOS until OLS or NOS comes
                             Case{"NosTransmit_lr", nos_transmit + Steps{{S::Lr, ""}} + ols_comes},
                             Case{"NosTransmit_lrr", nos_transmit + Steps{{S::Lrr, ""}} + ols_comes},
                             Case{"NosTransmit_idle", nos_transmit + Steps{{S::Idle, ""}} + ols_comes},
                             Case{"NosTransmit_nos", nos_transmit + Steps{{S::Nos, "OLS"}} + lr_comes},
                             Case{"NosTransmit_cut_and_mended",
                                  nos_transmit + Steps{{S::Cut, ""}, {S::Timeout, ""}, {S::Mend, "NOS"}} + ols_comes}),
                         [](const testing::TestParamInfo<Case>& of) { return of.param.name; });

}  // namespace
}  // namespace fc2
