// What the owners of the link's and the port's machines say of themselves (state_machines/consistency.hpp), and who
// asks them: true between events, false when somebody goes behind their back or asks within a step.
#include <gtest/gtest.h>

#include <optional>
#include <vector>

#include "fc2_fabric/node/loop_n_port.hpp"
#include "fc2_fabric/node/point_to_point.hpp"
#include "fc2_fabric/switch/fabric.hpp"
#include "tests/support/fc4.hpp"
#include "tests/support/port_pair.hpp"
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

/// Takes all frames.
struct Sink final : FrameOutput {
  void send(FramePtr) override { ++sent; }
  int sent = 0;
};

// What waits will be sent, or the output says when; one that took frames again and did not say so is seen.
TEST(PortConsistency, transmitter_outputIsSilent_isSeen) {
  Scheduler scheduler;
  FramePool pool;
  Sink output;
  Transmitter transmitter(scheduler, pool);
  EXPECT_TRUE(transmitter.is_consistent());
  transmitter.attach(&output);
  output.pause();
  transmitter.send(pool.take());
  EXPECT_TRUE(transmitter.is_consistent());
  output.set_listener(nullptr);
  output.resume();
  EXPECT_FALSE(transmitter.is_consistent());
  transmitter.send(pool.take());
  EXPECT_TRUE(transmitter.is_consistent());
  scheduler.run_until(scheduler.now() + second);
  EXPECT_EQ(output.sent, 2);
  EXPECT_TRUE(transmitter.is_consistent());
  transmitter.attach(nullptr);
  EXPECT_TRUE(transmitter.is_consistent());
}

/// Makes so many frames and is blocked then, unless it has no more. Looks at its transmitter meanwhile.
struct Some final : FrameSource {
  Some(Transmitter& its, int of_frames, bool is_blocked) : transmitter(its), frames(of_frames), blocked(is_blocked) {}
  Next next_frame(Frame&) override {
    EXPECT_FALSE(transmitter.is_consistent()) << "within a step";
    if (frames-- > 0) return Next::Made;
    return blocked ? Next::Blocked : Next::Exhausted;
  }
  Transmitter& transmitter;
  int frames;
  bool blocked;
};

// The round is whole whoever comes and goes; a source that is blocked has somebody who wakes it, and one that is not is
// asked.
TEST(PortConsistency, transmitter_roundOfSources_holdsBetweenEvents) {
  Scheduler scheduler;
  FramePool pool;
  Sink output;
  Transmitter transmitter(scheduler, pool);
  const auto run = [&] {
    const TimeNs end = scheduler.now() + second;
    while (scheduler.run_next(end)) EXPECT_TRUE(transmitter.is_consistent());
  };
  transmitter.attach(&output);
  Some one(transmitter, 100, false), other(transmitter, 40, true);
  transmitter.submit(one);
  EXPECT_TRUE(transmitter.is_consistent());
  transmitter.submit(other);
  EXPECT_TRUE(transmitter.is_consistent());
  run();
  EXPECT_EQ(output.sent, 140);
  other.frames = 10;
  transmitter.resume();
  {
    Some third(transmitter, 1000, false);
    transmitter.submit(third);
    EXPECT_TRUE(scheduler.run_next(scheduler.now() + second));
    EXPECT_TRUE(transmitter.is_consistent());
  }
  EXPECT_TRUE(transmitter.is_consistent());
  run();
  EXPECT_GE(output.sent, 150);
  transmitter.attach(nullptr);
  EXPECT_TRUE(transmitter.is_consistent()) << "the source waits for the next link";
  transmitter.withdraw(other);
  EXPECT_TRUE(transmitter.idle());
}

// FC-LS: the ELS are the port's own.
TEST(PortConsistency, frameSorter_elsTakenAway_isSeen) {
  Scheduler scheduler;
  FramePool pool;
  support::RecordingUser user;
  NPort port(scheduler, pool, support::port_config(0));
  port.set_user(support::fc4, user);
  EXPECT_TRUE(port.is_consistent());
  port.set_user(wire::Type::els, user);
  EXPECT_FALSE(port.is_consistent());
}

// A port of a switch: frames that wait for its link, which takes some again and does not say so.
TEST(SwitchConsistency, portWithWaitingFrames_linkIsSilent_isSeen) {
  support::TestFabric fabric(2);
  fabric.bring_up();
  ASSERT_TRUE(fabric.log_in(0, 1));
  FrameOutput& to_port = fabric.fabric.link_of(fabric.port(1))->a.output();
  to_port.pause();
  support::RecordingUser user;
  fabric.port(0).request(fabric.port(1).n_port_id(), wire::RCtl::unsolicited_control, wire::Type::ct,
                         std::vector<std::uint8_t>(8), user, 0);
  fabric.run_for(millisecond);
  EXPECT_TRUE(fabric.fabric.is_consistent());
  to_port.set_listener(nullptr);
  to_port.resume();
  EXPECT_FALSE(fabric.fabric.is_consistent());
}

// FC-VI 7.7.5: logins that are away, come back, or do not; further N_Port_IDs of the link with them.
TEST(SwitchConsistency, portWithLoginsAway_holdsBetweenEvents) {
  support::TestFabric fabric(2);
  const auto run = [&](TimeNs duration) {
    const TimeNs end = fabric.scheduler.now() + duration;
    while (fabric.scheduler.run_next(end)) ASSERT_TRUE(fabric.fabric.is_consistent());
  };
  fabric.attach(0);
  fabric.attach(1);
  run(second);
  Link& link = *fabric.fabric.link_of(fabric.port(0));
  for (const TimeNs away : {millisecond, 100 * second}) {
    link.cut();
    EXPECT_TRUE(fabric.fabric.is_consistent());
    run(away);
    link.mend();
    run(second);
    EXPECT_TRUE(fabric.port(0).online());
  }
  fabric.detach(0);
  EXPECT_TRUE(fabric.fabric.is_consistent());
}

// Somebody mends the cable of an ISL that the owner of the fabric has unplugged.
TEST(SwitchConsistency, unpluggedLink_isActive_isSeen) {
  Scheduler scheduler;
  FramePool pool;
  Fabric fabric(scheduler, pool);
  Switch& one = fabric.add_switch({.switch_name = {1}});
  Switch& other = fabric.add_switch({.switch_name = {2}});
  InterSwitchLink& isl = fabric.connect(one, other);
  fabric.configure();
  const auto run = [&] {
    const TimeNs end = scheduler.now() + second;
    while (scheduler.run_next(end)) EXPECT_TRUE(fabric.is_consistent());
  };
  run();
  fabric.unplug(isl);
  run();
  fabric.plug(isl);
  run();
  EXPECT_TRUE(isl.is_up());
  fabric.unplug(isl);
  EXPECT_TRUE(fabric.is_consistent());
  isl.link().mend();
  EXPECT_FALSE(fabric.is_consistent());
}

}  // namespace
}  // namespace fc2
