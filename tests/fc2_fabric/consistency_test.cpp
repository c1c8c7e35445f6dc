// What the owners of the link's and the port's machines say of themselves (state_machines/consistency.hpp), and who
// asks them: true between events, false when somebody goes behind their back or asks within a step.
#include <gtest/gtest.h>

#include <optional>

#include "fc2_fabric/node/loop_n_port.hpp"
#include "fc2_fabric/node/point_to_point.hpp"
#include "fc2_fabric/switch/fabric.hpp"
#include "tests/support/test_fabric.hpp"

namespace fc2 {
namespace {

/// Lets frames go where the link takes none.
void let_go(LinkEnd& end) { end.output().resume(FrameOutput::Pause::Link); }

// FC-FS: whatever happens to a link; an output that takes frames while its end is not active is seen, at either end.
TEST(LinkConsistency, cutAndMended_holds_untilFramesMayGo) {
  Scheduler scheduler;
  FramePool pool;
  NPort one(scheduler, pool, support::port_config(0)), other(scheduler, pool, support::port_config(1));
  PointToPoint pair(scheduler, {}, one, other);
  const auto run = [&](TimeNs duration) {
    const TimeNs end = scheduler.now() + duration;
    while (scheduler.run_next(end)) EXPECT_TRUE(pair.link.is_consistent());
  };
  run(second);
  pair.link.cut();
  EXPECT_TRUE(pair.link.is_consistent());
  pair.link.mend();
  run(second);
  EXPECT_TRUE(pair.link.a.active());
  for (LinkEnd* end : {&pair.link.a, &pair.link.b}) {
    pair.link.cut();
    let_go(*end);
    EXPECT_FALSE(end->is_consistent());
    EXPECT_FALSE(pair.link.is_consistent());
    end->output().pause(FrameOutput::Pause::Link);
    EXPECT_TRUE(pair.link.is_consistent());
    pair.link.mend();
    run(second);
  }
}

// FC-AL: a port whose frame waits for the loop takes no other.
TEST(LinkConsistency, loopStation_takesFramesWhileOneWaits_isSeen) {
  Scheduler scheduler;
  FramePool pool;
  NPort port(scheduler, pool, support::port_config(0));
  Loop loop(scheduler, pool, {});
  LoopStation& station = attach(loop, port);
  scheduler.run_until(scheduler.now() + second);
  EXPECT_TRUE(station.participating());
  EXPECT_TRUE(loop.is_consistent());
  station.send(pool.take());
  EXPECT_TRUE(loop.is_consistent());
  station.resume(FrameOutput::Pause::Receiver);
  EXPECT_FALSE(station.is_consistent());
  EXPECT_FALSE(loop.is_consistent());
  loop.detach(port);
  EXPECT_TRUE(loop.is_consistent());
}

// A switch asks the links of its F_Ports.
TEST(LinkConsistency, switch_linkOfAPort_isSeen) {
  support::TestFabric fabric(2);
  fabric.bring_up();
  EXPECT_TRUE(fabric.fabric.is_consistent());
  Link& link = *fabric.fabric.link_of(fabric.port(1));
  link.cut();
  EXPECT_TRUE(fabric.fabric.is_consistent());
  let_go(link.a);
  EXPECT_FALSE(fabric.fabric.is_consistent());
  link.a.output().pause(FrameOutput::Pause::Link);
  EXPECT_TRUE(fabric.fabric.is_consistent());
}

// A fabric asks its switches, and its ISLs.
TEST(LinkConsistency, fabric_linkBetweenSwitches_isSeen) {
  Scheduler scheduler;
  FramePool pool;
  Fabric fabric(scheduler, pool);
  Switch& one = fabric.add_switch({.switch_name = {1}});
  Switch& other = fabric.add_switch({.switch_name = {2}});
  InterSwitchLink& isl = fabric.connect(one, other);
  NPort port(scheduler, pool, support::port_config(0));
  fabric.configure();
  one.attach(port);
  scheduler.run_until(scheduler.now() + second);
  EXPECT_TRUE(fabric.is_consistent());
  for (Link* link : {&isl.link(), one.link_of(port)}) {
    link->cut();
    EXPECT_TRUE(fabric.is_consistent());
    let_go(link->a);
    EXPECT_FALSE(fabric.is_consistent());
    link->a.output().pause(FrameOutput::Pause::Link);
    EXPECT_TRUE(fabric.is_consistent());
    link->mend();
  }
  one.detach(port);
}

/// Asks its port within the step that takes it online.
struct Asks final : PortListener {
  explicit Asks(NPort& asked) : port(asked) { port.add_listener(*this); }
  ~Asks() { port.remove_listener(*this); }
  void fabric_logged_in() override { within = port.is_consistent(); }
  void fabric_login_failed() override {}
  void remote_port_logged_in(RemotePort&) override {}
  void remote_port_login_failed(RemotePort&) override {}
  void remote_port_logged_out(RemotePort&) override {}
  NPort& port;
  std::optional<bool> within;
};

// FC-VI 7.7: login, an interruption that keeps the logins, the end of the link; within a step it does not hold.
TEST(PortConsistency, attachment_holdsBetweenEvents_notWithinAStep) {
  support::TestFabric fabric(2);
  Asks asks(fabric.port(0));
  const auto run = [&](TimeNs duration) {
    const TimeNs end = fabric.scheduler.now() + duration;
    while (fabric.scheduler.run_next(end)) {
      EXPECT_TRUE(fabric.port(0).is_consistent());
      EXPECT_TRUE(fabric.port(1).is_consistent());
    }
  };
  fabric.attach(0);
  fabric.attach(1);
  EXPECT_TRUE(fabric.port(0).is_consistent());
  run(second);
  EXPECT_EQ(asks.within, false);
  fabric.port(0).remote_port(fabric.port(1).n_port_id()).log_in();
  run(second);
  asks.within.reset();
  fabric.fabric.link_of(fabric.port(0))->b.fail();
  EXPECT_TRUE(fabric.port(0).is_consistent());
  run(10 * second);
  EXPECT_EQ(asks.within, false);
  fabric.detach(0);
  EXPECT_TRUE(fabric.port(0).is_consistent());
  run(100 * second);
}

}  // namespace
}  // namespace fc2
