// Fabrics of many switches: Domain_IDs, partitions and what grows together, crashes, state changes, broadcasts.
#include "fc2_fabric/switch/fabric.hpp"

#include <gtest/gtest.h>

#include "fc2_fabric/switch/f_port.hpp"
#include "fc2_fabric/switch/fabric_controller.hpp"
#include "fc2_fabric/switch/name_server.hpp"
#include "fc2_fabric/node/shared_link.hpp"
#include "tests/support/flogi_frame.hpp"
#include "tests/support/frame_log.hpp"
#include "tests/support/port_pair.hpp"
#include "tests/support/switched_fabric.hpp"
#include "wire/els/rscn.hpp"
#include "wire/els/scr.hpp"

namespace fc2 {
namespace {
using support::SwitchedFabric;
using wire::RCtl;
constexpr auto type = wire::Type::ip;

class FabricTest : public testing::Test {
 protected:
  explicit FabricTest(FabricConfig config = {}) : f(0, config) {}
  ~FabricTest() override {
    for (std::size_t i = 0; i < f.size(); ++i) EXPECT_EQ(f.port(i).counters().unexpected_events, 0U) << i;
    for (std::size_t i = 0; i < f.fabric.size(); ++i)
      for (const auto service : {wire::well_known::name_server, wire::well_known::fabric_controller})
        EXPECT_EQ(f.at(i).service_port(service).counters().unexpected_events, 0U) << i;
  }
  /// A chain of switches with one port each: port i at switch i.
  void chain(std::size_t switches) {
    for (std::size_t i = 0; i < switches; ++i) {
      f.add_switch();
      if (i != 0) f.join(i - 1, i);
      f.add_port(i);
      f.port(i).set_user(type, user);
    }
    f.run_for(second);
  }
  void send(std::size_t from, wire::FcId to) {
    Exchange* exchange = f.port(from).originate(to, type, user);
    f.port(from).send(*exchange, RCtl::unsolicited_control, {}, std::vector<std::uint8_t>(64),
                      {.last_of_exchange = true});
  }
  bool reaches(std::size_t from, std::size_t to) {
    const std::size_t before = user.ius.size();
    send(from, f.id(to));
    f.run_for(millisecond);
    return user.ius.size() == before + 1;
  }
  void register_for_changes(std::size_t port) {
    std::array<std::uint8_t, wire::els::Scr::size()> payload;
    wire::els::Scr{}.write(payload);
    f.port(port).request(wire::well_known::fabric_controller, RCtl::els_request, wire::Type::els, payload, answers,
                         second);
    f.run_for(second);
  }
  /// Pages of all RSCNs that a log has, in text.
  static std::vector<std::string> pages(const support::FrameLog& log) {
    std::vector<std::string> result;
    for (const auto& frame : log.frames()) {
      if (frame.outbound || !frame.is_els(wire::els::Command::rscn)) continue;
      const auto rscn = wire::els::Rscn::parse(frame.data);
      for (const auto& page : rscn->pages)
        result.push_back(std::string(to_string(page.format)) + " " + wire::to_string(page.address));
    }
    return result;
  }
  [[nodiscard]] std::vector<int> domains() {
    std::vector<int> result;
    for (std::size_t i = 0; i < f.fabric.size(); ++i) result.push_back(f.at(i).domain());
    return result;
  }

  support::RecordingUser user, answers;
  support::FrameLog log;
  SwitchedFabric f;
};
using Strings = std::vector<std::string>;
using Ints = std::vector<int>;

// --- Domain_IDs --------------------------------------------------------------------------------------------------

// FC-SW: the switch of the lowest priority value is principal, then that of the lowest Switch_Name; its name
// is the Fabric_Name.
TEST_F(FabricTest, configured_principal_is_the_best_by_priority_and_name) {
  auto config = support::switch_config(5);
  f.fabric.add_switch(config);
  config = support::switch_config(2);
  f.fabric.add_switch(config);
  f.join(0, 1);
  f.run_for(second);
  EXPECT_EQ(&f.fabric.principal_of(f.at(0)), &f.at(1));
  EXPECT_EQ(f.at(0).fabric_name(), config.switch_name);
  config = support::switch_config(9);
  config.priority = 2;
  f.fabric.add_switch(config);
  f.fabric.crash(f.at(0));
  f.fabric.crash(f.at(1));
  f.run_for(second);
  f.join(1, 2);
  f.fabric.restart(f.at(0));
  f.fabric.restart(f.at(1));
  f.run_for(second);
  EXPECT_EQ(&f.fabric.principal_of(f.at(0)), &f.at(2));
  EXPECT_EQ(f.at(0).fabric_name(), config.switch_name);
}

// FC-SW: preferred Domain_IDs are kept where they are free; who finds his taken gets the lowest that is free.
TEST_F(FabricTest, configured_domains_are_unique_and_as_preferred) {
  for (const int preferred : {3, 1, 3, 1, 7}) {
    auto config = support::switch_config(f.fabric.size());
    config.domain = static_cast<std::uint8_t>(preferred);
    f.fabric.add_switch(config);
  }
  for (std::size_t i = 1; i < 5; ++i) f.join(0, i);
  EXPECT_EQ(domains(), (Ints{0, 0, 0, 0, 0}));  // not configured yet
  f.run_for(second);
  EXPECT_EQ(domains(), (Ints{3, 1, 2, 4, 7}));
}

// An N_Port that was there before the fabric is configured logs in when it is.
TEST_F(FabricTest, offline_switch_has_dark_ports) {
  f.add_switch();
  f.add_port(0);
  f.run_for(millisecond);
  EXPECT_FALSE(f.port(0).online());
  f.run_for(second);
  EXPECT_EQ(f.id(0), wire::FcId{0x010100});
}

// FC-SW: 239 Domain_IDs are all that there are: one switch more stays offline.
TEST_F(FabricTest, configured_too_many_switches_leave_one_offline) {
  for (std::size_t i = 0; i <= max_domain; ++i) {
    f.add_switch();
    if (i != 0) f.join(0, i);
  }
  f.run_for(second);
  EXPECT_EQ(f.at(max_domain - 1).domain(), max_domain);
  EXPECT_FALSE(f.at(max_domain).online());
}

// --- frames ------------------------------------------------------------------------------------------------------

// Ports of different switches reach each other, and a login goes all the way.
TEST_F(FabricTest, configured_ports_reach_each_other) {
  chain(4);
  EXPECT_EQ(f.id(3), wire::FcId{0x040100});
  for (std::size_t from = 0; from < 4; ++from)
    for (std::size_t to = 0; to < 4; ++to) EXPECT_TRUE(reaches(from, to)) << from << to;
  EXPECT_TRUE(f.log_in(0, 3));
  EXPECT_EQ(f.port(0).n_port_id().domain(), 1);
}

// Nobody has the address: no such domain; no such port there. Class 2 senders are told, across switches too.
TEST_F(FabricTest, configured_unroutable_is_counted) {
  chain(3);
  send(0, {0x090100});
  send(0, {0x030200});
  f.run_for(millisecond);
  EXPECT_EQ(f.at(0).counters().discarded(Discard::Unroutable), 1U);
  EXPECT_EQ(f.at(2).counters().discarded(Discard::Unroutable), 1U);
}

// FC-FS: a broadcast reaches every port of the fabric once, on a mesh with two links between some.
TEST_F(FabricTest, configured_broadcast_reaches_every_port_once) {
  for (std::size_t i = 0; i < 5; ++i) f.add_switch();
  for (std::size_t a = 0; a < 5; ++a)
    for (std::size_t b = 0; b < a; ++b) f.join(a, b);
  f.join(0, 1);
  std::vector<support::RecordingUser> users(10);
  for (std::size_t i = 0; i < 10; ++i) f.port(f.add_port(i % 5)).set_user(type, users[i]);
  f.run_for(second);
  send(3, wire::well_known::broadcast);
  f.run_for(millisecond);
  for (std::size_t i = 0; i < 10; ++i) EXPECT_EQ(users[i].ius.size(), i == 3 ? 0U : 1U) << i;
}

// A broadcast that is under way when the tree changes reaches no port twice.
TEST_F(FabricTest, reconfiguring_broadcast_reaches_no_port_twice) {
  for (std::size_t i = 0; i < 4; ++i) f.add_switch();
  std::vector<InterSwitchLink*> links;
  for (std::size_t a = 0; a < 4; ++a)
    for (std::size_t b = 0; b < a; ++b)
      links.push_back(&f.join(a, b, {.latency_ns = static_cast<TimeNs>(1 + a * 3 + b) * millisecond}));
  std::vector<support::RecordingUser> users(4);
  for (std::size_t i = 0; i < 4; ++i) f.port(f.add_port(i)).set_user(type, users[i]);
  f.run_for(second);
  for (std::size_t round = 0; round < 200; ++round) {
    send(round % 4, wire::well_known::broadcast);
    f.run_for(static_cast<TimeNs>(round % 17) * millisecond / 2);
    InterSwitchLink& link = *links[round * 7 % links.size()];
    if (link.is_up())
      f.fabric.unplug(link);
    else
      f.fabric.plug(link);
    f.fabric.configure();
    f.run_for(second);
    for (auto& one : users) {
      EXPECT_LE(one.ius.size(), 1U) << round;
      one.ius.clear();
    }
  }
  EXPECT_GT(f.discarded(Discard::PathChanged), 0U);
}

// --- crashes -----------------------------------------------------------------------------------------------------

// A switch that dies takes its ports along; the others go on. When it is back it has its Domain_ID again.
TEST_F(FabricTest, crashed_switch_is_gone_and_comes_back) {
  for (std::size_t i = 0; i < 3; ++i) f.add_switch();
  f.join(0, 1);
  f.join(1, 2);
  f.join(0, 2);
  for (std::size_t i = 0; i < 3; ++i) f.port(f.add_port(i)).set_user(type, user);
  f.run_for(second);
  ASSERT_TRUE(f.log_in(0, 1));
  f.fabric.crash(f.at(1));
  EXPECT_FALSE(f.port(1).online());
  f.run_for(second);
  EXPECT_FALSE(reaches(0, 1));
  EXPECT_TRUE(reaches(0, 2));
  EXPECT_EQ(f.at(0).logged_in_ports(), 2U);
  f.fabric.restart(f.at(1));
  f.run_for(second);
  EXPECT_EQ(f.id(1), wire::FcId{0x020100});
  EXPECT_TRUE(reaches(0, 1));
  EXPECT_EQ(f.at(0).logged_in_ports(), 3U);
}

// A port is unplugged from a switch that is down, or plugged in at another of its F_Ports: the one that is left has no
// link to mend when the switch is back.
TEST_F(FabricTest, crashed_switch_port_that_is_left_has_no_link_to_mend) {
  for (const bool moves : {false, true}) {
    SwitchedFabric one(1);
    one.add_port(0);
    one.run_for(second);
    ASSERT_TRUE(one.port(0).online());
    one.fabric.crash(one.at(0));
    if (moves)
      one.at(0).replug(one.port(0));
    else
      one.detach(0);
    EXPECT_TRUE(one.fabric.is_consistent()) << moves;
    one.add_port(0);
    one.fabric.restart(one.at(0));
    one.run_for(second);
    EXPECT_TRUE(one.port(1).online()) << moves;
    EXPECT_EQ(one.port(0).online(), moves);
    EXPECT_TRUE(one.fabric.is_consistent()) << moves;
  }
}

// FC-LS, FC-VI 7.7.5: who registered hears that a switch went, and that it is back.
TEST_F(FabricTest, registered_port_hears_of_a_crash) {
  chain(3);
  register_for_changes(0);
  f.at(0).tap(f.port(0), &log);
  f.fabric.crash(f.at(2));
  f.run_for(second);
  EXPECT_EQ(pages(log).back(), "domain 030000");
  log.clear();
  f.fabric.restart(f.at(2));
  f.run_for(second);
  EXPECT_EQ(pages(log), (Strings{"domain 030000", "port 030100"}));
}

// A principal switch that dies: the best of the others takes over, nobody logs in anew.
TEST_F(FabricTest, crashed_principal_is_replaced) {
  for (std::size_t i = 0; i < 3; ++i) f.add_switch();
  f.join(0, 1);
  f.join(1, 2);
  f.join(0, 2);
  f.port(f.add_port(2)).set_user(type, user);
  f.run_for(second);
  const wire::FcId before = f.id(0);
  f.fabric.crash(f.at(0));
  f.run_for(second);
  EXPECT_EQ(&f.fabric.principal_of(f.at(2)), &f.at(1));
  EXPECT_EQ(f.id(0), before);
  f.fabric.restart(f.at(0));
  f.run_for(second);
  EXPECT_EQ(&f.fabric.principal_of(f.at(0)), &f.at(1));  // who joins does not take over
}

// --- partitions --------------------------------------------------------------------------------------------------

// The only ISL goes: each side has its own ports, in names and in routes, and hears what it lost.
TEST_F(FabricTest, parted_sides_know_their_own) {
  chain(4);
  register_for_changes(0);
  register_for_changes(3);
  f.at(0).tap(f.port(0), &log);
  support::FrameLog other_log;
  f.at(3).tap(f.port(3), &other_log);
  f.fabric.unplug(*f.fabric.links()[1]);
  f.run_for(second);
  EXPECT_EQ(f.fabric.partitions(), 2U);
  EXPECT_EQ(f.at(0).logged_in_ports(), 2U);
  EXPECT_EQ(f.at(3).name_server().database().size(), 2U);
  EXPECT_EQ(f.at(3).name_server().database().find(f.id(0)), nullptr);
  EXPECT_EQ(pages(log), (Strings{"domain 030000", "domain 040000"}));
  EXPECT_EQ(pages(other_log), (Strings{"domain 010000", "domain 020000"}));
  EXPECT_TRUE(reaches(0, 1));
  EXPECT_TRUE(reaches(3, 2));
  EXPECT_FALSE(reaches(0, 3));
}

// The sides grow together: all names are known everywhere again, no port logged in anew, and all hear of it.
TEST_F(FabricTest, parted_sides_grow_together) {
  chain(4);
  register_for_changes(0);
  f.fabric.unplug(*f.fabric.links()[1]);
  f.run_for(second);
  f.at(0).tap(f.port(0), &log);
  f.fabric.plug(*f.fabric.links()[1]);
  f.run_for(second);
  EXPECT_EQ(f.fabric.partitions(), 1U);
  EXPECT_EQ(f.at(2).logged_in_ports(), 4U);
  EXPECT_EQ(f.at(0).name_server().database().find(f.id(3))->port_name, f.port(3).config().port_name);
  EXPECT_EQ(pages(log), (Strings{"domain 030000", "domain 040000"}));
  EXPECT_TRUE(reaches(0, 3));
  EXPECT_EQ(log.count(RCtl::els_request), 1U);  // that RSCN
}

// FC-SW: two fabrics with the same Domain_ID meet: the better principal's side keeps its own, the other's N_Ports
// log in anew.
TEST_F(FabricTest, meeting_fabrics_with_one_domain_reassign) {
  f.add_switch();
  f.add_switch();
  const std::size_t first = f.add_port(0), second_port = f.add_port(1);
  f.port(first).set_user(type, user);
  f.port(second_port).set_user(type, user);
  f.run_for(second);
  EXPECT_EQ(f.id(first), f.id(second_port));  // two fabrics, 010100h in each
  register_for_changes(first);
  f.at(0).tap(f.port(first), &log);
  f.join(1, 0);
  f.run_for(second);
  EXPECT_EQ(f.id(first), wire::FcId{0x010100});
  EXPECT_EQ(f.id(second_port), wire::FcId{0x020100});
  EXPECT_TRUE(reaches(first, second_port));
  EXPECT_EQ(pages(log), (Strings{"domain 020000", "port 020100"}));
}

// An N_Port elsewhere cannot see that the switch has another Domain_ID: LOGO from the F_Port, to its old
// address, says so.
TEST_F(FabricTest, meeting_fabrics_tell_ports_elsewhere) {
  struct FarEnd final : FrameOutput, FrameFeeder {
    explicit FarEnd(support::FrameLog& all) : log(all) {}
    void send(FramePtr frame) override { log.receive(std::move(frame)); }
    void hold() override {}
    void proceed() override {}
    support::FrameLog& log;
  };
  f.add_switch();
  f.add_switch();
  f.add_port(0);
  f.run_for(second);
  FarEnd far(log);
  FPort* port = f.at(1).attach(far, far);
  port->receive(support::flogi_frame(f.pool, f.port(0).login_parameters(wire::els::Command::flogi)));
  f.run_for(second);
  ASSERT_TRUE(port->logged_in());
  log.clear();
  f.join(0, 1);
  f.run_for(second);
  EXPECT_FALSE(port->logged_in());
  const auto* logo = log.find(wire::els::Command::logo);
  ASSERT_NE(logo, nullptr);
  EXPECT_EQ(logo->header.d_id, wire::FcId{0x010100});
  EXPECT_EQ(logo->header.s_id, wire::well_known::f_port);
  EXPECT_EQ(port->address(), wire::FcId{0x020100});
  f.at(1).detach(*port);
}

class IsolatingFabricTest : public FabricTest {
 protected:
  IsolatingFabricTest() : FabricTest({.domain_conflict = DomainConflict::Isolate}) {}
};

// The other rule of FC-SW: the ISL is isolated and both fabrics remain; it joins them when the conflict is gone.
TEST_F(IsolatingFabricTest, meeting_fabrics_with_one_domain_stay_apart) {
  chain(1);
  f.add_switch();
  f.add_port(1);
  f.port(1).set_user(type, user);
  f.run_for(second);
  InterSwitchLink& link = f.join(0, 1);
  f.run_for(second);
  EXPECT_TRUE(link.is_isolated());
  EXPECT_EQ(f.fabric.partitions(), 2U);
  EXPECT_EQ(f.id(0), f.id(1));
  f.fabric.crash(f.at(1));
  f.fabric.restart(f.at(1));  // it joins without a Domain_ID
  f.run_for(second);
  EXPECT_FALSE(link.is_isolated());
  EXPECT_EQ(domains(), (Ints{1, 2}));
  EXPECT_TRUE(reaches(0, 1));
}

// One Port_Name on both sides of fabrics that meet: the port of the better principal's side stays, the other has to go.
TEST_F(FabricTest, meeting_fabrics_with_one_port_name_keep_one) {
  auto config = support::switch_config(0);
  f.fabric.add_switch(config);
  config = support::switch_config(1);
  config.domain = 2;
  f.fabric.add_switch(config);
  for (std::size_t i = 0; i < 2; ++i)
    f.add_port(i, [](NPortConfig& port, std::size_t) { port.port_name = {0x2000'0000'0000'0042}; });
  f.run_for(second);
  EXPECT_TRUE(f.port(0).online() && f.port(1).online());
  f.join(0, 1);
  f.run_for(second);
  EXPECT_TRUE(f.port(0).online());
  EXPECT_FALSE(f.port(1).online());
  EXPECT_EQ(f.at(1).name_server().database().size(), 1U);
}

// The same for two ports of one link (NPIV): its login ends once, and nothing is asked of it twice.
TEST_F(FabricTest, meeting_fabrics_with_two_names_of_one_link_keep_one) {
  auto config = support::switch_config(0);
  f.fabric.add_switch(config);
  config = support::switch_config(1);
  config.domain = 2;
  f.fabric.add_switch(config);
  constexpr wire::Wwn first{0x2000'0000'0000'0042}, second_name{0x2000'0000'0000'0043};
  f.add_port(0, [&](NPortConfig& port, std::size_t) { port.port_name = first; });
  f.add_port(0, [&](NPortConfig& port, std::size_t) { port.port_name = second_name; });
  NPortConfig of_base = support::port_config(10), of_virtual = support::port_config(11);
  of_base.port_name = first;
  of_virtual.port_name = second_name;
  of_virtual.virtual_n_port = true;
  NPort base(f.scheduler, f.pool, of_base), virtual_port(f.scheduler, f.pool, of_virtual);
  SharedLink shared(f.pool, base);
  shared.add(virtual_port);
  f.at(1).attach(shared);
  f.run_for(second);
  EXPECT_TRUE(base.online() && virtual_port.online());
  f.join(0, 1);
  f.run_for(second);
  EXPECT_TRUE(f.port(0).online() && f.port(1).online());
  EXPECT_FALSE(base.online() || virtual_port.online());
  EXPECT_EQ(f.at(1).name_server().database().size(), 2U);
  f.at(1).detach(base);
}

// --- name server and state changes of the whole fabric -----------------------------------------------------------

// A port that logs in at one switch is known at every other, and who registered there hears of it.
TEST_F(FabricTest, configured_directory_is_one) {
  chain(3);
  register_for_changes(0);
  f.at(0).tap(f.port(0), &log);
  const std::size_t added = f.add_port(2);
  f.run_for(second);
  EXPECT_EQ(pages(log), (Strings{"port " + wire::to_string(f.id(added))}));
  for (std::size_t i = 0; i < 3; ++i) EXPECT_NE(f.at(i).name_server().database().find(f.id(added)), nullptr);
  log.clear();
  f.detach(added);
  f.run_for(second);
  EXPECT_EQ(pages(log).size(), 1U);
  EXPECT_EQ(f.at(0).name_server().database().size(), 3U);
}

// FC-VI 7.7.1: a port that is plugged in elsewhere has another N_Port_ID; its names follow.
TEST_F(FabricTest, moved_port_has_another_address) {
  chain(3);
  register_for_changes(0);
  const wire::FcId before = f.id(2);
  f.at(0).tap(f.port(0), &log);
  f.detach(2);
  f.attach(2, 1);
  f.run_for(second);
  EXPECT_EQ(f.id(2).domain(), 2);
  EXPECT_EQ(*f.at(0).name_server().database().find_port_name(f.port(2).config().port_name), f.id(2));
  EXPECT_EQ(pages(log), (Strings{"port " + wire::to_string(f.id(2)), "port " + wire::to_string(before)}));
  EXPECT_TRUE(reaches(0, 2));
}

}  // namespace
}  // namespace fc2
