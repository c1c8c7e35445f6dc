// A PLOGI that crossed the peer's and lost comes after the login was made: on an out-of-order fabric the accept
// may overtake it.
#include <gtest/gtest.h>

#include "tests/support/frame_log.hpp"
#include "tests/support/test_fabric.hpp"

namespace fc2 {
namespace {
using wire::els::Command;

/// On a port's link: its own PLOGIs come later.
class LatePlogi final : public FrameFault {
 public:
  void carry(Channel& channel, FramePtr frame) override {
    const auto content = wire::FcFrameView::parse(frame->content());
    const bool own_els = content->header.s_id == sender && content->header.r_ctl == wire::RCtl::els_request;
    if (own_els && content->data_field[0] == static_cast<std::uint8_t>(Command::plogi)) frame->arrival += delay;
    channel.deliver(std::move(frame));
  }
  wire::FcId sender{};
  TimeNs delay = 0;
};

/// Port 1 has the higher name: its PLOGI wins.
class LateLogin : public testing::Test {
 public:
  explicit LateLogin(bool in_order = false) : fabric(2, config(in_order)) {
    fabric.bring_up();
    for (std::size_t i = 0; i < 2; ++i) {
      fabric.port(i).add_listener(heard[i]);
      fabric.fabric.tap(fabric.port(i), &log[i]);
    }
    late.sender = fabric.port(0).n_port_id();
    fabric.fabric.set_fault(fabric.port(0), &late);
  }
  ~LateLogin() override {
    fabric.fabric.set_fault(fabric.port(0), nullptr);
    for (std::size_t i = 0; i < 2; ++i) {
      EXPECT_EQ(fabric.port(i).counters().unexpected_events, 0u);
      fabric.port(i).remove_listener(heard[i]);
      fabric.fabric.tap(fabric.port(i), nullptr);
    }
  }
  static SwitchConfig config(bool in_order) {
    SwitchConfig config;
    config.in_order = in_order;
    return config;
  }
  RemotePort& session(std::size_t of, std::size_t with) {
    return fabric.port(of).remote_port(fabric.port(with).n_port_id());
  }
  /// How often port 1 rejected a PLOGI.
  [[nodiscard]] std::size_t rejects() const {
    return log[1].count([](const support::LoggedFrame& f) { return f.outbound && f.is_els(Command::ls_rjt); });
  }
  /// Port 0 lost its login without a word, as by a new start, and asks for another one.
  void begin_anew() {
    session(0, 1).implicit_logout();
    session(0, 1).log_in();
  }

  struct Heard final : PortListener {
    void fabric_logged_in() override {}
    void fabric_login_failed() override {}
    void remote_port_logged_in(RemotePort&) override { events += "I"; }
    void remote_port_login_failed(RemotePort&) override { events += "x"; }
    void remote_port_logged_out(RemotePort&) override { events += "O"; }
    std::string events;
  };
  LatePlogi late;
  support::TestFabric fabric;
  std::array<Heard, 2> heard;
  std::array<support::FrameLog, 2> log;
};

// FC-LS, PLOGI cross: however late the one that lost is, it does not end the login that the other made (FC-VI 8.4.2 g
// would end every connection).
TEST_F(LateLogin, logged_in_plogi_overtaken_by_the_accept_is_rejected) {
  for (const TimeNs delay : {TimeNs{0}, 10 * microsecond, millisecond, 9 * second}) {
    late.delay = delay;
    session(0, 1).log_in(), session(1, 0).log_in();
    fabric.run_for(15 * second);
    EXPECT_EQ(heard[0].events, "I") << delay;
    EXPECT_EQ(heard[1].events, "I") << delay;
    EXPECT_TRUE(session(0, 1).logged_in() && session(1, 0).logged_in());
    session(1, 0).log_out();
    fabric.run_for(15 * second);
    heard[0].events.clear(), heard[1].events.clear();
  }
  EXPECT_EQ(rejects(), 4u);
}

// A port that began anew asks for a login too: it hears "command already in progress" once, and is heard after E_D_TOV.
TEST_F(LateLogin, logged_in_plogi_of_a_new_start_is_accepted_in_the_end) {
  session(1, 0).log_in();
  fabric.run_for(second);
  begin_anew();
  fabric.run_for(millisecond);
  EXPECT_EQ(rejects(), 1u);
  EXPECT_EQ(heard[1].events, "I");
  fabric.run_for(fabric.port(0).e_d_tov());
  EXPECT_EQ(heard[1].events, "IOI");
  EXPECT_EQ(heard[0].events, "IOI");
  begin_anew();  // the login is port 0's now: nothing crossed it
  fabric.run_for(millisecond);
  EXPECT_EQ(rejects(), 1u);
  EXPECT_EQ(heard[1].events, "IOIOI");
}

// FC-FS: nothing is under way for longer than R_A_TOV. From then on a PLOGI is an implicit logout at once.
TEST_F(LateLogin, logged_in_plogi_after_r_a_tov_is_implicit_logout) {
  session(1, 0).log_in();
  fabric.run_for(fabric.port(1).r_a_tov() + millisecond);
  begin_anew();
  fabric.run_for(millisecond);
  EXPECT_EQ(rejects(), 0u);
  EXPECT_EQ(heard[1].events, "IOI");
}

// The higher name's PLOGI never loses: it is no late one.
TEST_F(LateLogin, logged_in_plogi_of_the_higher_name_is_implicit_logout) {
  session(0, 1).log_in();
  fabric.run_for(second);
  session(1, 0).implicit_logout();
  session(1, 0).log_in();
  fabric.run_for(millisecond);
  EXPECT_EQ(heard[0].events, "IOI");
}

class LateLoginInOrder : public LateLogin {
 public:
  LateLoginInOrder() : LateLogin(true) {}
};

// FC-VI 8.1: on an in-order fabric nothing overtakes.
TEST_F(LateLoginInOrder, logged_in_plogi_is_implicit_logout) {
  session(1, 0).log_in();
  fabric.run_for(second);
  begin_anew();
  fabric.run_for(millisecond);
  EXPECT_EQ(rejects(), 0u);
  EXPECT_EQ(heard[1].events, "IOI");
}

}  // namespace
}  // namespace fc2
