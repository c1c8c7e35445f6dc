#include "state_machines/link_port.hpp"

#include "fsm_test.hpp"

namespace machines::link_port {
namespace {

class Recorded final : public fsm::testing::Recorder<Context> {
 public:
  void send_idle() override { note("Idle"); }
  void send_lr() override { note("LR"); }
  void send_lrr() override { note("LRR"); }
  void send_ols() override { note("OLS"); }
  void send_nos() override { note("NOS"); }
  void reset_link() override { note("reset_link"); }
  void start_timer() override { note("start_timer"); }
  void stop_timer() override { note("stop_timer"); }
  void report_offline() override { note("report_offline"); }
  void report_active() override { note("report_active"); }
};

struct Input {
  using Def = link_port::Def;
  using Recorded = link_port::Recorded;
  static constexpr unsigned knob_count = 0;

  template <class Event>
  static fsm::testing::Samples<Event> samples(std::type_identity<Event>) {
    return {{"", Event{}}};
  }
};

using Rig = fsm::testing::Rig<Def, Recorded>;

FSM_TABLE_TESTS(LinkPort, Input);

constexpr const char *to_active = "Active: stop_timer, Idle, report_active",
                     *to_lr2 = "LrReceive: reset_link, LRR, start_timer",
                     *to_lr3 = "LrrReceive: reset_link, Idle, start_timer",
                     *to_ol2 = "OlsReceive: reset_link, report_offline, LR, start_timer",
                     *to_lf1 = "NosReceive: report_offline, OLS, start_timer",
                     *to_lf2 = "NosTransmit: report_offline, NOS, start_timer",
                     *to_ol3 = "WaitForOls: report_offline, NOS, start_timer";

template <class... Events>
Rig after(Events... events) {
  Rig rig;
  (rig.given(events), ...);
  return rig;
}
template <class... Events>
Rig active(Events... events) {
  return after(InitializationSkipped{}, events...);
}

// FC-FS, link initialization: OLS of both, LR of both, LRR of both, Idle.
TEST(LinkPort, initialization) {
  Rig rig;
  EXPECT_EQ(rig.after(OlsReceived{}), to_ol2);
  EXPECT_EQ(rig.after(OlsReceived{}), "OlsReceive:");
  EXPECT_EQ(rig.after(LrReceived{}), to_lr2);
  EXPECT_EQ(rig.after(LrReceived{}), "LrReceive:");
  EXPECT_EQ(rig.after(LrrReceived{}), to_lr3);
  EXPECT_EQ(rig.after(LrrReceived{}), "LrrReceive:");
  EXPECT_EQ(rig.after(IdleReceived{}), to_active);
  EXPECT_EQ(rig.after(IdleReceived{}), "Active:");
}

// The far end is through with it already.
TEST(LinkPort, initialization_skipped) { EXPECT_EQ(Rig{}.after(InitializationSkipped{}), to_active); }

// FC-FS link reset, FC-VI 7.7.1: LR, LRR, Idle; nobody goes offline.
TEST(LinkPort, link_reset) {
  Rig ours = active(), far = active();
  EXPECT_EQ(ours.after(LinkTimeout{}), "LrTransmit: reset_link, LR, start_timer");
  EXPECT_EQ(far.after(LrReceived{}), to_lr2);
  EXPECT_EQ(ours.after(IdleReceived{}), "LrTransmit:");
  EXPECT_EQ(ours.after(LrrReceived{}), to_lr3);
  EXPECT_EQ(far.after(IdleReceived{}), to_active);
  EXPECT_EQ(ours.after(IdleReceived{}), to_active);
}

// Both reset at once.
TEST(LinkPort, link_reset_crosses) {
  Rig rig = active(LinkTimeout{});
  EXPECT_EQ(rig.after(LrReceived{}), to_lr2);
  EXPECT_EQ(rig.after(LrrReceived{}), to_lr3);
  EXPECT_EQ(rig.after(LrReceived{}), to_lr2);
}

// FC-FS: an LRR that nobody asked for.
TEST(LinkPort, active_unexpected_lrr) { EXPECT_EQ(active().after(LrrReceived{}), to_lr3); }

// FC-FS: a reset that is not answered in R_T_TOV is a link failure.
TEST(LinkPort, link_reset_times_out) {
  EXPECT_EQ(active(LinkTimeout{}).after(Timeout{}), to_lf2);
  EXPECT_EQ(active(LrReceived{}).after(Timeout{}), to_lf2);
  EXPECT_EQ(active(LrrReceived{}).after(Timeout{}), to_lf2);
}

// FC-FS link failure: NOS, OLS, LR, LRR, Idle.
TEST(LinkPort, link_failure) {
  Rig ours = active(), far = active();
  EXPECT_EQ(ours.after(SignalLost{}), to_lf2);
  EXPECT_EQ(far.after(NosReceived{}), to_lf1);
  EXPECT_EQ(far.after(NosReceived{}), "NosReceive:");
  EXPECT_EQ(ours.after(OlsReceived{}), to_ol2);
  EXPECT_EQ(far.after(LrReceived{}), to_lr2);
  EXPECT_EQ(ours.after(LrrReceived{}), to_lr3);
}

// The signal of both went: what is said meanwhile does not count, and NOS stands when it is back.
TEST(LinkPort, NosTransmit_waits) {
  Rig rig = active(SignalLost{});
  EXPECT_EQ(rig.after(SignalLost{}), "NosTransmit:");
  EXPECT_EQ(rig.after(LrReceived{}), "NosTransmit:");
  EXPECT_EQ(rig.after(LrrReceived{}), "NosTransmit:");
  EXPECT_EQ(rig.after(IdleReceived{}), "NosTransmit:");
  EXPECT_EQ(rig.after(SignalFound{}), "NosTransmit: report_offline, NOS, start_timer");
  EXPECT_EQ(rig.after(Timeout{}), to_lf2);
  EXPECT_EQ(rig.after(NosReceived{}), to_lf1);
}

// FC-FS online to offline: OLS, answered by LR.
TEST(LinkPort, online_to_offline) {
  Rig ours = active(), far = active();
  EXPECT_EQ(ours.after(OfflineRequested{}), "OlsTransmit: report_offline, OLS, start_timer");
  EXPECT_EQ(far.after(OlsReceived{}), to_ol2);
  EXPECT_EQ(ours.after(IdleReceived{}), "OlsTransmit:");
  EXPECT_EQ(ours.after(LrrReceived{}), "OlsTransmit:");
  EXPECT_EQ(ours.after(LrReceived{}), to_lr2);
  EXPECT_EQ(far.after(IdleReceived{}), "OlsReceive:");
  EXPECT_EQ(far.after(LrrReceived{}), to_lr3);
}

// FC-FS: without an answer in R_T_TOV: OL3, or LF2.
TEST(LinkPort, no_answer) {
  EXPECT_EQ(Rig{}.after(Timeout{}), to_ol3);
  EXPECT_EQ(after(OlsReceived{}).after(Timeout{}), to_ol3);
  EXPECT_EQ(active(NosReceived{}).after(Timeout{}), to_lf2);
}

TEST(LinkPort, WaitForOls_waits) {
  Rig rig = after(Timeout{});
  EXPECT_EQ(rig.after(SignalLost{}), "WaitForOls:");
  EXPECT_EQ(rig.after(LrReceived{}), "WaitForOls:");
  EXPECT_EQ(rig.after(LrrReceived{}), "WaitForOls:");
  EXPECT_EQ(rig.after(IdleReceived{}), "WaitForOls:");
  EXPECT_EQ(rig.after(SignalFound{}), "WaitForOls: report_offline, NOS, start_timer");
  EXPECT_EQ(rig.after(Timeout{}), to_ol3);
  EXPECT_EQ(rig.after(OlsReceived{}), to_ol2);
  EXPECT_EQ(after(Timeout{}).after(NosReceived{}), to_lf1);
}

// FC-FS LF1: OLS goes out until LR or OLS comes.
TEST(LinkPort, NosReceive_waits) {
  Rig rig = active(NosReceived{});
  EXPECT_EQ(rig.after(IdleReceived{}), "NosReceive:");
  EXPECT_EQ(rig.after(LrrReceived{}), "NosReceive:");
  EXPECT_EQ(rig.after(OlsReceived{}), to_ol2);
  EXPECT_EQ(active(NosReceived{}).after(LrReceived{}), to_lr2);
}

// FC-VI 7.7.1: OLS, NOS or loss of signal end every other state's business.
TEST(LinkPort, anywhere_ols) {
  EXPECT_EQ(active(LinkTimeout{}).after(OlsReceived{}), to_ol2);
  EXPECT_EQ(active(LrReceived{}).after(OlsReceived{}), to_ol2);
  EXPECT_EQ(active(LrrReceived{}).after(OlsReceived{}), to_ol2);
}

TEST(LinkPort, anywhere_nos) {
  EXPECT_EQ(Rig{}.after(NosReceived{}), to_lf1);
  EXPECT_EQ(after(OlsReceived{}).after(NosReceived{}), to_lf1);
  EXPECT_EQ(active(LinkTimeout{}).after(NosReceived{}), to_lf1);
  EXPECT_EQ(active(LrReceived{}).after(NosReceived{}), to_lf1);
  EXPECT_EQ(active(LrrReceived{}).after(NosReceived{}), to_lf1);
}

TEST(LinkPort, anywhere_signal_lost) {
  EXPECT_EQ(Rig{}.after(SignalLost{}), to_ol3);
  EXPECT_EQ(after(OlsReceived{}).after(SignalLost{}), to_ol3);
  EXPECT_EQ(active(LinkTimeout{}).after(SignalLost{}), to_lf2);
  EXPECT_EQ(active(LrReceived{}).after(SignalLost{}), to_lf2);
  EXPECT_EQ(active(LrrReceived{}).after(SignalLost{}), to_lf2);
  EXPECT_EQ(active(NosReceived{}).after(SignalLost{}), to_lf2);
}

// One end begins by itself: LR of the far end, which saw its OLS, is all that it needs.
TEST(LinkPort, OlsTransmit_lr) { EXPECT_EQ(Rig{}.after(LrReceived{}), to_lr2); }

}  // namespace
}  // namespace machines::link_port
