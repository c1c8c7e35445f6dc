// An ENode finds an FCF, logs in, stays alive, and comes back (FC-BB-5).
#include "fc2_fabric/fcoe/e_node.hpp"

#include <gtest/gtest.h>

#include "tests/fc2_fabric/fcoe/ethernet_world.hpp"

namespace fc2::fcoe {
namespace {
namespace fip = wire::fip;
using support::EStation;
using support::EthernetWorld;
using support::fcf_mac;
using support::station_mac;

class ENodeTest : public testing::Test {
 protected:
  ~ENodeTest() override {
    for (const EStation* station : stations) {
      EXPECT_EQ(station->node->counters().unexpected_events, 0U);
      EXPECT_EQ(station->port.counters().unexpected_events, 0U);
    }
    for (const auto& interface : world.fcf.interfaces()) EXPECT_EQ(interface->counters().unexpected_events, 0U);
  }
  EStation& add(ENodeConfig config = {}, std::uint16_t mtu = 2500) {
    return *stations.emplace_back(&world.add_e_node(config, mtu));
  }
  bool online(const EStation& station) {
    return world.run_until([&] { return station.node->logged_in() && station.port.online(); }, 20 * second);
  }
  EthernetWorld world;
  std::vector<EStation*> stations;
};

// From the carrier to an address: what a Linux initiator does, seen on the wire.
TEST_F(ENodeTest, fcf_present_logs_in) {
  world.start_fcf();
  world.run_for(millisecond);
  EStation& station = add();
  ASSERT_TRUE(online(station));
  EXPECT_EQ(station.port.n_port_id(), wire::FcId{0x010100});
  EXPECT_EQ(station.node->mac_of(station.port), wire::mac_of({0x010100}));
  EXPECT_EQ(station.log.fip_names(true), (std::vector<std::string>{"Discovery Solicitation", "Link Service Request"}));
  EXPECT_EQ(station.log.fip_names(false), (std::vector<std::string>{"Discovery Advertisement", "Link Service Reply"}));
  const auto solicited = station.log.received(fip::Operation::discovery, fip::subcode::discovery_advertisement);
  EXPECT_EQ(solicited.front()->bytes.size(), 2172U);
  EXPECT_EQ(solicited.front()->destination, station_mac(1));
}

// A FLOGI inside FIP is as Linux's: ENode MAC to FCF MAC, FLOGI and MAC descriptors, no address yet.
TEST_F(ENodeTest, flogi_travels_inside_fip) {
  world.start_fcf();
  EStation& station = add();
  ASSERT_TRUE(online(station));
  const auto* request = station.log.sent(fip::Operation::link_service, fip::subcode::link_service_request).front();
  EXPECT_EQ(request->destination, fcf_mac);
  EXPECT_EQ(request->source, station_mac(1));
  EXPECT_EQ(request->bytes.size(), 176U);
  ASSERT_EQ(request->fip->descriptors.size(), 2U);
  EXPECT_EQ(std::get<fip::EncapsulatedFrame>(request->fip->descriptors[0]).type, fip::DescriptorType::flogi);
  EXPECT_EQ(std::get<fip::Mac>(request->fip->descriptors[1]).address, wire::MacAddress{});
  const auto* reply = station.log.received(fip::Operation::link_service, fip::subcode::link_service_reply).front();
  EXPECT_EQ(std::get<fip::Mac>(reply->fip->descriptors.at(1)).address, wire::mac_of({0x010100}));
}

// Frames go between the VN_Port's MAC and the FCF's, through the switch, back to back with an emulated port.
TEST_F(ENodeTest, fcoe_port_and_emulated_port_log_in) {
  world.start_fcf();
  EStation& station = add();
  NPort emulated(world.scheduler, world.pool, support::port_config(50));
  world.fabric.attach(emulated);
  ASSERT_TRUE(online(station));
  EXPECT_TRUE(world.log_in(station.port, emulated));
  EXPECT_TRUE(world.log_in(emulated, station.port));
  for (const auto& entry : station.log.entries) {
    if (entry.type != wire::EtherType::fcoe) continue;
    EXPECT_EQ(entry.outbound ? entry.source : entry.destination, wire::mac_of(station.port.n_port_id()));
    EXPECT_EQ(entry.outbound ? entry.destination : entry.source, fcf_mac);
  }
  world.fabric.detach(emulated);
}

// Keep-alives of the ENode every FKA_ADV_PERIOD, of the VN_Port every 90 s: the login stands for ten minutes.
TEST_F(ENodeTest, keep_alives_hold_the_login) {
  world.start_fcf();
  EStation& station = add();
  ASSERT_TRUE(online(station));
  station.log.entries.clear();
  world.run_for(600 * second);
  EXPECT_TRUE(station.node->logged_in());
  EXPECT_EQ(world.interface().vn_port_count(), 1U);
  std::size_t of_enode = 0, of_vn_port = 0;
  for (const auto* entry : station.log.sent(fip::Operation::control, fip::subcode::keep_alive)) {
    const bool vn_port = entry->fip->find<fip::VnPort>() != nullptr;
    ++(vn_port ? of_vn_port : of_enode);
    EXPECT_EQ(entry->source, vn_port ? wire::mac_of({0x010100}) : station_mac(1));
  }
  EXPECT_EQ(of_enode, 300U);
  EXPECT_EQ(of_vn_port, 6U);
}

// The D bit: the FCF wants no keep-alives of the ENode, and misses none; those of the VN_Port go on.
TEST(ENodeWithDBit, no_keep_alive_of_the_enode_is_sent_or_missed) {
  EthernetWorld world({.keep_alives = false});
  world.start_fcf();
  EStation& station = world.add_e_node();
  ASSERT_TRUE(world.run_until([&] { return station.port.online(); }));
  world.run_for(600 * second);
  EXPECT_TRUE(station.node->logged_in());
  const auto sent = station.log.sent(fip::Operation::control, fip::subcode::keep_alive);
  EXPECT_EQ(sent.size(), 6U);
  for (const auto* entry : sent) EXPECT_NE(entry->fip->find<fip::VnPort>(), nullptr);
  EXPECT_EQ(station.log.sent(fip::Operation::link_service, fip::subcode::link_service_request).size(), 1U);
}

// FC-BB-5: an FCF that is silent for 2.5 periods is gone, and with it the N_Port's link. When it is back, so
// is the login.
TEST_F(ENodeTest, silent_fcf_takes_the_link_down) {
  world.start_fcf();
  EStation& station = add();
  ASSERT_TRUE(online(station));
  world.fcf_port.set_carrier(false);
  const TimeNs cut = world.scheduler.now();
  ASSERT_TRUE(world.run_until([&] { return !station.port.online(); }, 10 * second));
  EXPECT_GE(world.scheduler.now() - cut, 3 * second);
  EXPECT_LE(world.scheduler.now() - cut, 5 * second + millisecond);
  EXPECT_EQ(station.node->fcf(), nullptr);
  world.fcf_port.set_carrier(true);
  EXPECT_TRUE(online(station));
}

// ... not a nanosecond before, counted from the latest advertisement that it heard.
TEST_F(ENodeTest, silent_fcf_is_gone_after_two_and_a_half_periods) {
  world.start_fcf();
  EStation& station = add();
  ASSERT_TRUE(online(station));
  world.run_for(7 * second);
  world.fcf_port.set_carrier(false);
  const TimeNs heard =
      station.log.received(fip::Operation::discovery, fip::subcode::discovery_advertisement).back()->at;
  world.scheduler.run_until(heard + 5 * second - 1);
  EXPECT_TRUE(station.port.online());
  world.scheduler.run_until(heard + 5 * second);
  EXPECT_FALSE(station.port.online());
}

// One advertisement less than 2.5 periods may be lost (the largest fault that must be survived).
TEST_F(ENodeTest, one_lost_advertisement_is_survived) {
  struct LoseOne final : EthernetFault {
    void befall(EthernetSegment& segment, SegmentPort& from, EthernetFrame frame) override {
      const bool advertisement = frame.destination() == wire::group_mac::all_enode;
      if (advertisement && ++seen % 2 == 0) return;
      segment.carry(from, std::move(frame));
    }
    int seen = 0;
  } fault;
  world.start_fcf();
  EStation& station = add();
  ASSERT_TRUE(online(station));
  world.segment.set_fault(&fault);
  world.run_for(60 * second);
  world.segment.set_fault(nullptr);
  EXPECT_GT(fault.seen, 20);
  EXPECT_TRUE(station.port.online());
  const auto logins = station.log.sent(fip::Operation::link_service, fip::subcode::link_service_request).size();
  EXPECT_EQ(logins, 1U);
}

// The FCF stops: its Clear Virtual Links ends the login at once, not after 2.5 periods.
TEST_F(ENodeTest, cleared_links_end_the_login_at_once) {
  world.start_fcf();
  EStation& station = add();
  ASSERT_TRUE(online(station));
  world.fcf.stop();
  world.run_for(millisecond);
  EXPECT_FALSE(station.port.online());
  EXPECT_EQ(station.node->state_name(), "Discovering");
}

// An FCF that was killed and started again knows no logins but by its predecessor's list: it says so to the first
// keep-alive of who stands there, and the ENode logs in again.
TEST_F(ENodeTest, restarted_fcf_gets_a_new_login) {
  world.start_fcf();
  EStation& station = add();
  ASSERT_TRUE(online(station));
  const auto logins = world.fcf.logins();
  {
    struct Cut final : EthernetFault {
      void befall(EthernetSegment&, SegmentPort&, EthernetFrame) override {}
    } cut;
    world.segment.set_fault(&cut);  // it dies without a word
    world.fcf.remove_interface(world.interface());
    world.segment.set_fault(nullptr);
  }
  world.start_fcf();
  world.fcf.remember(logins);
  ASSERT_TRUE(world.run_until([&] { return !station.port.online(); }, 5 * second));
  EXPECT_TRUE(online(station));
  EXPECT_EQ(world.interface().vn_port_count(), 1U);
}

// Two FCFs: the smaller priority is chosen, and a login stays where it is.
TEST(ENodeChoice, smaller_priority_wins_and_login_stays) {
  EthernetWorld world({.priority = 100});
  SwitchConfig other_config{.name = "other", .domain = 2, .switch_name = {0x2222}, .fabric_name = {0x2222}};
  Switch other(world.scheduler, world.pool, other_config);
  Fcf better(world.scheduler, world.pool, other, {.priority = 50});
  SegmentPort& better_port = world.segment.add_port({"better", station_mac(99), 2500});
  world.start_fcf();
  better.add_interface(better_port);
  EStation& station = world.add_e_node();
  ASSERT_TRUE(world.run_until([&] { return station.port.online(); }));
  EXPECT_EQ(station.node->fcf()->mac, station_mac(99));
  EXPECT_EQ(station.node->known_fcfs().size(), 2U);
  better.stop();
  ASSERT_TRUE(world.run_until([&] { return !station.port.online(); }));
  ASSERT_TRUE(world.run_until([&] { return station.port.online(); }));
  EXPECT_EQ(station.node->fcf()->mac, fcf_mac);
  better.remove_interface(*better.interfaces().front());
  better.add_interface(better_port);
  world.run_for(30 * second);
  EXPECT_EQ(station.node->fcf()->mac, fcf_mac);
}

// The A bit: an FCF that takes no logins is not chosen; those that are logged in stay.
TEST_F(ENodeTest, unavailable_fcf_is_not_chosen) {
  FcfInterface& interface = world.start_fcf();
  EStation& first = add();
  ASSERT_TRUE(online(first));
  interface.set_available(false);
  EStation& second_station = add();
  world.run_for(20 * second);
  EXPECT_TRUE(first.node->logged_in());
  EXPECT_EQ(second_station.node->state_name(), "Discovering");
  interface.set_available(true);
  EXPECT_TRUE(online(second_station));
}

// FC-BB-5: an FCF whose solicited advertisement does not come through in full size is of no use.
TEST(ENodeMtu, fcf_with_smaller_mtu_is_not_used) {
  EthernetWorld world({}, 1500);
  world.start_fcf();
  EStation& large = world.add_e_node({}, 2500);
  EStation& small = world.add_e_node({}, 1500);
  world.run_for(20 * second);
  EXPECT_EQ(large.node->state_name(), "Discovering");
  EXPECT_TRUE(small.node->logged_in());
}

// Started before any FCF, on the periodic advertisements alone: the solicitation at link up was lost.
TEST_F(ENodeTest, fcf_that_comes_later_is_found) {
  EStation& station = add({.solicitation_interval = 3600 * second});
  world.run_for(10 * second);
  EXPECT_EQ(station.node->state_name(), "Discovering");
  world.start_fcf();
  EXPECT_TRUE(online(station));
  const auto solicitations = station.log.sent(fip::Operation::discovery, fip::subcode::discovery_solicitation);
  ASSERT_EQ(solicitations.size(), 2U);
  EXPECT_EQ(solicitations[1]->destination, fcf_mac);  // to that one alone
}

// The Ethernet's carrier goes and comes.
TEST_F(ENodeTest, carrier_loss_takes_the_link_down) {
  world.start_fcf();
  EStation& station = add();
  ASSERT_TRUE(online(station));
  station.ethernet.set_carrier(false);
  EXPECT_FALSE(station.port.online());
  EXPECT_TRUE(station.node->known_fcfs().empty());
  station.ethernet.set_carrier(true);
  EXPECT_TRUE(online(station));
}

// LOGO inside FIP; the F_Port is free again, and the N_Port may come back on the same link.
TEST_F(ENodeTest, logout_of_fabric_frees_the_f_port) {
  world.start_fcf();
  EStation& station = add();
  ASSERT_TRUE(online(station));
  station.port.log_out_of_fabric();
  world.run_for(second);
  EXPECT_EQ(station.node->state_name(), "LoggedOut");
  EXPECT_EQ(world.interface().vn_port_count(), 0U);
  EXPECT_EQ(world.interface().enode_count(), 0U);
  EXPECT_EQ(world.fabric.logged_in_ports(), 0U);
  const auto requests = station.log.sent(fip::Operation::link_service, fip::subcode::link_service_request);
  EXPECT_EQ(std::get<fip::EncapsulatedFrame>(requests.back()->fip->descriptors[0]).type, fip::DescriptorType::logo);
  EXPECT_EQ(std::get<fip::Mac>(requests.back()->fip->descriptors[1]).address, wire::mac_of({0x010100}));
}

// An Ethernet that is full: FCoE waits, nothing is lost.
TEST_F(ENodeTest, paused_ethernet_holds_frames_back) {
  world.start_fcf();
  EStation& a = add();
  EStation& b = add();
  ASSERT_TRUE(online(a) && online(b));
  a.ethernet.set_paused(true);
  a.port.remote_port(b.port.n_port_id()).log_in();
  world.run_for(100 * millisecond);
  // The first frame found the pause; what follows waits in the N_Port.
  EXPECT_TRUE(a.ethernet.paused());
  a.ethernet.set_paused(false);
  EXPECT_TRUE(world.run_until([&] { return a.port.remote_port(b.port.n_port_id()).logged_in(); }, second));
}

// VLAN discovery, where wanted, asks first; an FCF that is here answers the solicitation beside it.
TEST_F(ENodeTest, vlan_discovery_comes_first) {
  world.start_fcf();
  world.run_for(millisecond);
  const TimeNs begin = world.scheduler.now();
  EStation& station = add({.discover_vlans = true});
  ASSERT_TRUE(online(station));
  EXPECT_EQ(station.log.fip_names(true),
            (std::vector<std::string>{"VLAN Request", "Discovery Solicitation", "Link Service Request"}));
  EXPECT_EQ(station.log.fip_names(false), (std::vector<std::string>{"Discovery Advertisement", "Link Service Reply"}));
  EXPECT_TRUE(station.node->vlans().empty());                   // no VLAN is served, so none is told
  EXPECT_LT(world.scheduler.now() - begin, 250 * millisecond);  // and nothing is waited for
}

// Taps and faults at the FC level, as on other links: the FLOGI accept is lost once, and asked for again.
TEST_F(ENodeTest, faults_work_at_the_fc_level) {
  struct LoseOne final : FrameFault {
    void carry(Channel& channel, FramePtr frame) override {
      if (!std::exchange(lost, true)) return;
      channel.deliver(std::move(frame));
    }
    bool lost = false;
  } fault;
  support::FrameLog log;
  world.start_fcf();
  EStation& station = add();
  station.node->set_faults(station.port, nullptr, &fault);
  station.node->tap(station.port, &log);
  ASSERT_TRUE(world.run_until([&] { return station.port.online(); }));
  EXPECT_TRUE(fault.lost);
  EXPECT_EQ(log.sent(wire::els::Command::flogi), 2U);
  EXPECT_EQ(log.received(wire::els::Command::ls_acc), 1U);
  station.node->set_faults(station.port, nullptr, nullptr);
  station.node->tap(station.port, nullptr);
}

}  // namespace
}  // namespace fc2::fcoe
