#include "state_machines/port_login.hpp"

#include "fsm_test.hpp"

namespace machines::port_login {
namespace {

class Recorded final : public fsm::testing::Recorder<Context> {
 public:
  enum Knob : unsigned { RetriesLeftKnob, PeerLoginWinsKnob, LinkLossLogsOutKnob };
  void send_login() override { note("send_login"); }
  void accept_login() override { note("accept_login"); }
  void reject_login() override { note("reject_login"); }
  void send_logout() override { note("send_logout"); }
  void accept_logout() override { note("accept_logout"); }
  void forget_request() override { note("forget_request"); }
  void start_timer() override { note("start_timer"); }
  void start_retry_delay() override { note("start_retry_delay"); }
  void stop_timer() override { note("stop_timer"); }
  void count_retry() override { note("count_retry"); }
  void validate_addresses() override { note("validate_addresses"); }
  void report_logged_in() override { note("report_logged_in"); }
  void report_login_failed(LoginFailure value) override { note("report_login_failed", value); }
  void report_logged_out() override { note("report_logged_out"); }
  void report_logout_complete() override { note("report_logout_complete"); }
  void report_suspended() override { note("report_suspended"); }
  void report_resumed() override { note("report_resumed"); }
  [[nodiscard]] bool retries_left() const override { return knob(RetriesLeftKnob); }
  [[nodiscard]] bool peer_login_wins() const override { return knob(PeerLoginWinsKnob); }
  [[nodiscard]] bool link_loss_logs_out() const override { return knob(LinkLossLogsOutKnob); }
};

struct Input {
  using Def = port_login::Def;
  using Recorded = port_login::Recorded;
  static constexpr unsigned knob_count = 3;

  template <class Event>
  static fsm::testing::Samples<Event> samples(std::type_identity<Event>) {
    return {{"", Event{}}};
  }
  static fsm::testing::Samples<LoginRejected> samples(std::type_identity<LoginRejected>) {
    return {{"final", LoginRejected{false}},
            {"retryable", LoginRejected{true}}};
  }
};

using Rig = fsm::testing::Rig<Def, Recorded>;

FSM_TABLE_TESTS(PortLogin, Input);

//TESTS

}  // namespace
}  // namespace machines::port_login
