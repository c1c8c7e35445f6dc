// A N_Port on a public loop: what it does after a LIP, with a FL_Port by hand (FC-VI 7.7.4).
#include <gtest/gtest.h>

#include "tests/support/frame_log.hpp"
#include "tests/support/login_listener.hpp"
#include "tests/support/made_frame.hpp"
#include "tests/support/test_fabric.hpp"
#include "wire/els/adisc.hpp"
#include "wire/els/fan.hpp"
#include "wire/els/login.hpp"

namespace fc2 {
namespace {

using Listener = support::LoginListener;
using support::bytes_of;
using wire::els::Command;

/// The FL_Port, and all that is behind it, by hand.
class FlPort final : public FrameReceiver {
 public:
  FlPort(Scheduler& scheduler, FramePool& pool) : scheduler_(scheduler), pool_(pool) {}
  void receive(FramePtr frame) override { log.receive(std::move(frame)); }
  void send(NPort& port, wire::RCtl r_ctl, wire::FcId d_id, wire::FcId s_id, wire::OxId ox_id,
            std::span<const std::uint8_t> payload) {
    const bool reply = r_ctl == wire::RCtl::els_reply;
    port.receive(support::made_frame(pool_,
                                     reply ? support::els_reply_header(d_id, s_id, ox_id)
                                           : support::request_header(r_ctl, wire::Type::els, d_id, s_id, ox_id),
                                     payload));
  }
  /// Answers the last FLOGI or PLOGI that came.
  void accept(NPort& port, wire::FcId granted, wire::Wwn port_name, wire::Wwn node_name, bool f_port) {
    const auto& request = log.frames().back();
    wire::els::Login login = port.login_parameters(Command::ls_acc);
    if (f_port) login.features = wire::els::feature::f_port;
    if (f_port) login.set_r_a_tov_ms(10'000);
    login.port_name = port_name;
    login.node_name = node_name;
    send(port, wire::RCtl::els_reply, granted, request.header.d_id, request.header.ox_id, bytes_of(login));
  }
  support::FrameLog log;

 private:
  [[maybe_unused]] Scheduler& scheduler_;
  FramePool& pool_;
};

class PublicLoopTest : public testing::Test {
 protected:
  static constexpr wire::FcId own{0x010101}, far{0x010201}, near{0x0000E8};
  static constexpr wire::Wwn fl_name{0x2000'0000'0000'00F1}, fabric_name{0x1000'0000'0000'00F1};
  PublicLoopTest() {
    port.add_listener(listener);
    port.link_up_on_public_loop(output, own.port());
    run_for(millisecond);
    EXPECT_EQ(fl_port.log.frames().back().header.s_id, wire::FcId{0x000001});
    fl_port.accept(port, own, fl_name, fabric_name, true);
    for (const wire::FcId id : {far, near}) {
      port.remote_port(id).log_in();
      run_for(millisecond);
      fl_port.accept(port, own, {0x2000'0000'0000'0000U + id.value}, {0x1000'0000'0000'0000U + id.value}, false);
    }
    EXPECT_EQ(listener.events, "FII");
    fl_port.log.clear();
  }
  ~PublicLoopTest() override { EXPECT_EQ(port.counters().unexpected_events, 0U); }
  void run_for(TimeNs duration) { scheduler.run_until(scheduler.now() + duration); }
  void lip(std::uint8_t al_pa) {
    port.link_interrupted();
    port.link_up_on_public_loop(output, al_pa);
    run_for(millisecond);
  }
  void fan(wire::Wwn name) {
    const auto payload =
        bytes_of(wire::els::Fan{.loop_fabric_address = {0x010100}, .port_name = name, .fabric_name = fabric_name});
    fl_port.send(port, wire::RCtl::els_request, own, wire::well_known::f_port, {77}, payload);
    run_for(millisecond);
  }

  void adisc_of_near() {
    const wire::els::Adisc adisc{.port_name = {0x2000'0000'0000'0000U + near.value}, .n_port_id = near};
    fl_port.send(port, wire::RCtl::els_request, own, near, {0x55}, bytes_of(adisc));
    run_for(millisecond);
  }

  Scheduler scheduler;
  FramePool pool;
  Listener listener;
  FlPort fl_port{scheduler, pool};
  Channel output{scheduler, {.latency_ns = 1000}, fl_port};
  NPort port{scheduler, pool, support::port_config(0)};
};

// FC-VI 7.7.4: nothing goes before the FAN; it names the same fabric: exchanges resume, private ports are
// asked by ADISC.
TEST_F(PublicLoopTest, lip_fan_same_resumes) {
  lip(own.port());
  EXPECT_EQ(fl_port.log.size(), 0U);
  EXPECT_TRUE(port.remote_port(far).suspended());
  fan(fl_name);
  EXPECT_TRUE(port.online());
  EXPECT_EQ(port.n_port_id(), own);
  EXPECT_FALSE(port.remote_port(far).suspended());
  EXPECT_TRUE(port.remote_port(near).suspended());
  ASSERT_EQ(fl_port.log.size(), 1U);  // no FLOGI, no answer to FAN
  EXPECT_TRUE(fl_port.log.frames()[0].is_els(Command::adisc));
  EXPECT_EQ(fl_port.log.frames()[0].header.d_id, near);
  wire::els::Adisc adisc{.command = Command::ls_acc,
                         .port_name = {0x2000'0000'0000'0000U + near.value},
                         .node_name = {0x1000'0000'0000'0000U + near.value},
                         .n_port_id = near};
  fl_port.send(port, wire::RCtl::els_reply, own, near, fl_port.log.frames()[0].header.ox_id, bytes_of(adisc));
  EXPECT_FALSE(port.remote_port(near).suspended());
  EXPECT_EQ(listener.events, "FIIF");
}

// FC-VI 7.7.4: the FAN names another fabric: FLOGI, then LOGO to everybody.
TEST_F(PublicLoopTest, lip_fan_differs_logs_out) {
  lip(own.port());
  fan({fl_name.value + 1});
  ASSERT_EQ(fl_port.log.size(), 1U);
  EXPECT_TRUE(fl_port.log.frames()[0].is_els(Command::flogi));
  fl_port.accept(port, own, {fl_name.value + 1}, fabric_name, true);
  run_for(millisecond);
  EXPECT_EQ(listener.events, "FIIOOF");
  const auto is_logo = [](const support::LoggedFrame& f) { return f.is_els(Command::logo); };
  EXPECT_EQ(fl_port.log.count(is_logo), 2U);
}

// FC-VI 7.7.4: another AL_PA: no FAN is waited for.
TEST_F(PublicLoopTest, lip_al_pa_changed_logs_in_and_out) {
  lip(0x02);
  ASSERT_EQ(fl_port.log.size(), 1U);
  EXPECT_EQ(fl_port.log.frames()[0].header.s_id, wire::FcId{0x000002});
  fl_port.accept(port, {0x010102}, fl_name, fabric_name, true);
  run_for(millisecond);
  EXPECT_EQ(port.n_port_id(), wire::FcId{0x010102});
  EXPECT_EQ(listener.events, "FIIOOF");
}

// No FAN in E_D_TOV: FLOGI; the address that it brings proves nothing any more.
TEST_F(PublicLoopTest, lip_no_fan_logs_in_and_out) {
  lip(own.port());
  run_for(3 * second);
  ASSERT_EQ(fl_port.log.size(), 1U);
  fl_port.accept(port, own, fl_name, fabric_name, true);
  run_for(millisecond);
  EXPECT_EQ(listener.events, "FIIOOF");
}

// A FAN that nobody waits for changes nothing, and is not answered.
TEST_F(PublicLoopTest, online_fan_is_ignored) {
  fan({fl_name.value + 1});
  EXPECT_EQ(fl_port.log.size(), 0U);
  EXPECT_EQ(listener.events, "FII");
}

// FC-VI 7.7.3, 7.7.4: a private port asks for our address as soon as it is back, before the FAN: it is answered.
TEST_F(PublicLoopTest, lip_adisc_of_a_private_port_is_answered_before_fan) {
  lip(own.port());
  adisc_of_near();
  ASSERT_EQ(fl_port.log.size(), 1U);
  EXPECT_EQ(fl_port.log.frames()[0].header.d_id, near);
  EXPECT_EQ(fl_port.log.frames()[0].data, bytes_of(wire::els::Adisc{.command = Command::ls_acc,
                                                                    .port_name = port.config().port_name,
                                                                    .node_name = port.config().node_name,
                                                                    .n_port_id = own}));
  EXPECT_EQ(port.counters().discarded(), 0U);
}

// ... not where the address is the FL_Port's to assign anew: neither an ADISC nor a FAN says anything of that.
TEST_F(PublicLoopTest, lip_al_pa_changed_adisc_and_fan_are_discarded) {
  lip(0x02);
  fl_port.log.clear();
  adisc_of_near();
  EXPECT_EQ(port.counters().discarded(Discard::NotLoggedIn), 1U);
  fan(fl_name);
  EXPECT_EQ(port.counters().discarded(Discard::NotLoggedIn), 2U);
  EXPECT_EQ(fl_port.log.size(), 0U);
  EXPECT_FALSE(port.online());
}

// FC-VI 7.7.4: the FAN is the F_Port's: another port's is none.
TEST_F(PublicLoopTest, lip_fan_of_another_port_is_discarded) {
  lip(own.port());
  const auto payload =
      bytes_of(wire::els::Fan{.loop_fabric_address = {0x010100}, .port_name = fl_name, .fabric_name = fabric_name});
  fl_port.send(port, wire::RCtl::els_request, own, far, {78}, payload);
  EXPECT_EQ(port.counters().discarded(Discard::NotLoggedIn), 1U);
  EXPECT_FALSE(port.online());
  fan(fl_name);
  EXPECT_TRUE(port.online());
}

}  // namespace
}  // namespace fc2
