// An FCF couples Ethernet interfaces with a switch (FC-BB-5).
#include "fc2_fabric/fcoe/fcf.hpp"

#include <gtest/gtest.h>

#include "fc2_fabric/switch/f_port.hpp"
#include "tests/fc2_fabric/fcoe/hostile.hpp"
#include "tests/support/flogi_frame.hpp"
#include "wire/els/rscn.hpp"

namespace fc2::fcoe {
namespace {
namespace fip = wire::fip;
using support::EStation;
using support::EthernetWorld;
using support::fcf_mac;
using support::station_mac;

class FcfTest : public testing::Test {
 protected:
  ~FcfTest() override {
    for (const auto& interface : world.fcf.interfaces()) EXPECT_EQ(interface->counters().unexpected_events, 0U);
    world.fcf_port.tap(nullptr);
  }
  bool online(const EStation& station) {
    return world.run_until([&] { return station.node->logged_in() && station.port.online(); }, 20 * second);
  }
  EthernetWorld world;
  support::EthernetLog log;
};

// Exactly PRI, MAC, NAME, FAB, FKA; FP, A and F set; every period, whatever else happens.
TEST_F(FcfTest, advertises_every_period) {
  world.fcf_port.tap(&log);
  world.start_fcf();
  world.run_for(20 * second);
  const auto sent = log.sent(fip::Operation::discovery, fip::subcode::discovery_advertisement);
  ASSERT_EQ(sent.size(), 11U);
  for (std::size_t i = 1; i < sent.size(); ++i) EXPECT_EQ(sent[i]->at - sent[i - 1]->at, 2 * second);
  EXPECT_EQ(sent[0]->destination, wire::group_mac::all_enode);
  EXPECT_EQ(sent[0]->source, fcf_mac);
  EXPECT_EQ(sent[0]->bytes.size(), 72U);
  EXPECT_EQ(sent[0]->fip->flags, fip::flag::fpma | fip::flag::available | fip::flag::f_port);
  const auto& descriptors = sent[0]->fip->descriptors;
  ASSERT_EQ(descriptors.size(), 5U);
  EXPECT_EQ(std::get<fip::Priority>(descriptors[0]).priority, 128);
  EXPECT_EQ(std::get<fip::Mac>(descriptors[1]).address, fcf_mac);
  EXPECT_EQ(std::get<fip::NameId>(descriptors[2]).name_id, world.fabric.config().switch_name);
  EXPECT_EQ(std::get<fip::Fabric>(descriptors[3]).fabric_name, world.fabric.config().fabric_name);
  EXPECT_EQ(std::get<fip::FkaAdvPeriod>(descriptors[4]).period_ms, 2000U);
}

// A solicitation is answered with S, as long as the ENode's largest frame: Linux asks again at once without either.
TEST_F(FcfTest, solicitation_is_answered_in_full_size) {
  world.start_fcf();
  world.fcf_port.tap(&log);
  for (const std::uint16_t size : std::array<std::uint16_t, 3>{1500, 2158, 4000}) {
    fip::FipMessage message{fip::Operation::discovery, fip::subcode::discovery_solicitation, fip::flag::fpma, {}, {}};
    message.descriptors = {fip::Mac{station_mac(5)}, fip::NameId{{1}}, fip::MaxFcoeSize{size}};
    world.inject(world.fcf_port, message, wire::group_mac::all_fcf, station_mac(5));
  }
  const auto sent = log.sent(fip::Operation::discovery, fip::subcode::discovery_advertisement);
  ASSERT_EQ(sent.size(), 3U);
  EXPECT_EQ(sent[0]->bytes.size(), 1514U);
  EXPECT_EQ(sent[1]->bytes.size(), 2172U);
  EXPECT_EQ(sent[2]->bytes.size(), 2172U);
  EXPECT_EQ(sent[0]->destination, station_mac(5));
  EXPECT_TRUE(sent[0]->fip->has(fip::flag::solicited));
}

// Several ENodes on one interface, and on several: all in one fabric, each reaches each.
TEST_F(FcfTest, enodes_of_several_interfaces_share_the_fabric) {
  world.start_fcf();
  EthernetSegment second_segment(world.scheduler, world.pool);
  SegmentPort& second_port = second_segment.add_port({"fcf2", station_mac(200), 2500});
  SegmentPort& far_port = second_segment.add_port({"far", station_mac(201), 2500});
  FcfInterface& second_interface = world.fcf.add_interface(second_port);
  EStation& a = world.add_e_node();
  EStation& b = world.add_e_node();
  NPort far(world.scheduler, world.pool, support::port_config(60));
  {
    ENode far_node(world.scheduler, world.pool, far_port, far);
    ASSERT_TRUE(online(a) && online(b) && world.run_until([&] { return far.online(); }));
    EXPECT_EQ(world.interface().enode_count(), 2U);
    EXPECT_EQ(second_interface.enode_count(), 1U);
    EXPECT_TRUE(world.log_in(a.port, b.port));
    EXPECT_TRUE(world.log_in(a.port, far));
    EXPECT_TRUE(world.log_in(far, b.port));
    EXPECT_NE(world.interface().link_of(a.port.n_port_id()), world.interface().link_of(b.port.n_port_id()));
    EXPECT_EQ(world.interface().link_of(far.n_port_id()), nullptr);
  }
  world.fcf.remove_interface(second_interface);
}

// 7.7: an ENode that falls silent is logged out after 2.5 periods, and RSCNs tell the others.
TEST_F(FcfTest, silent_enode_is_logged_out) {
  world.start_fcf();
  EStation& station = world.add_e_node();
  ASSERT_TRUE(online(station));
  station.ethernet.set_carrier(false);
  world.fcf_port.tap(&log);
  world.run_for(3 * second);
  EXPECT_EQ(world.fabric.logged_in_ports(), 1U);
  world.run_for(3 * second);
  EXPECT_EQ(world.fabric.logged_in_ports(), 0U);
  EXPECT_EQ(world.interface().enode_count(), 0U);
  const auto cleared = log.sent(fip::Operation::control, fip::subcode::clear_virtual_links);
  ASSERT_EQ(cleared.size(), 1U);
  EXPECT_EQ(cleared[0]->destination, station_mac(1));
  EXPECT_EQ(std::get<fip::Mac>(cleared[0]->fip->descriptors.at(0)).address, fcf_mac);
  EXPECT_EQ(std::get<fip::NameId>(cleared[0]->fip->descriptors.at(1)).name_id, world.fabric.config().switch_name);
}

// ... not a nanosecond before, counted from its latest keep-alive.
TEST_F(FcfTest, silent_enode_is_gone_after_two_and_a_half_periods) {
  world.fcf_port.tap(&log);
  world.start_fcf();
  EStation& station = world.add_e_node();
  ASSERT_TRUE(online(station));
  world.run_for(7 * second);
  station.ethernet.set_carrier(false);
  const TimeNs heard = log.received(fip::Operation::control, fip::subcode::keep_alive).back()->at;
  world.scheduler.run_until(heard + 5 * second - 1);
  EXPECT_EQ(world.fabric.logged_in_ports(), 1U);
  world.scheduler.run_until(heard + 5 * second);
  EXPECT_EQ(world.fabric.logged_in_ports(), 0U);
}

// A port of the fabric that takes no frames: what an ENode sends there waits by itself. The same ENode reaches others
// meanwhile, its keep-alives are heard, and so is everybody else on that interface.
TEST_F(FcfTest, stopped_port_stops_nobody_else) {
  struct Stopped final : FrameOutput, FrameFeeder {
    void send(FramePtr) override { ++sent; }
    void hold() override {}
    void proceed() override {}
    int sent = 0;
  } stopped;
  world.start_fcf();
  EStation& one = world.add_e_node();
  EStation& other = world.add_e_node();
  ASSERT_TRUE(online(one));
  ASSERT_TRUE(online(other));
  FPort* port = world.fabric.attach(stopped, stopped);
  port->receive(support::flogi_frame(world.pool, one.port.login_parameters(wire::els::Command::flogi)));
  world.run_for(millisecond);
  ASSERT_TRUE(port->logged_in());
  stopped.pause();
  constexpr int count = 600;  // more than one egress queue
  for (int round = 0; round < 3; ++round) {
    for (int i = 0; i < count; ++i)
      world.segment.inject(world.fcf_port, support::fcoe_frame(world.pool, fcf_mac, *one.node->mac_of(one.port),
                                                               port->address(), one.port.n_port_id()));
    one.port.remote_port(other.port.n_port_id()).log_out();
    world.run_for(100 * millisecond);
    EXPECT_TRUE(world.log_in(one.port, other.port)) << round;
    EXPECT_TRUE(world.log_in(other.port, one.port)) << round;
  }
  world.run_for(20 * second);
  EXPECT_TRUE(one.node->logged_in() && other.node->logged_in());
  const Counters& counters = world.fabric.counters();
  EXPECT_EQ(counters.discarded(Discard::HeldTooLong) + counters.discarded(Discard::NoResources),
            3 * static_cast<std::uint64_t>(count));
  world.fabric.detach(*port);
}

// The fabric ends a login: the ENode hears it, and logs in again.
TEST_F(FcfTest, logged_out_port_is_told_and_comes_back) {
  world.start_fcf();
  EStation& station = world.add_e_node();
  ASSERT_TRUE(online(station));
  EXPECT_FALSE(world.interface().log_out({0x0101FF}));
  EXPECT_TRUE(world.interface().log_out(station.port.n_port_id()));
  EXPECT_EQ(world.interface().vn_port_count(), 0U);
  world.run_for(10 * millisecond);
  EXPECT_FALSE(station.port.online());
  EXPECT_TRUE(online(station));
}

// An ENode that crashed and came back with the same MAC: its FLOGI ends the login before.
TEST_F(FcfTest, second_flogi_of_an_enode_replaces_the_first) {
  world.start_fcf();
  EStation& station = world.add_e_node();
  ASSERT_TRUE(online(station));
  struct Cut final : EthernetFault {
    void befall(EthernetSegment&, SegmentPort&, EthernetFrame) override {}
  } cut;
  world.segment.set_fault(&cut);
  station.node.reset();
  world.segment.set_fault(nullptr);
  station.node = std::make_unique<ENode>(world.scheduler, world.pool, station.ethernet, station.port);
  ASSERT_TRUE(online(station));
  EXPECT_EQ(world.interface().enode_count(), 1U);
  EXPECT_EQ(world.interface().vn_port_count(), 1U);
  EXPECT_EQ(world.fabric.logged_in_ports(), 1U);
}

// The link carries less than the switch takes: the FLOGI's accept says so.
TEST(FcfMtu, accept_tells_what_the_link_carries) {
  EthernetWorld world({}, 1500);
  support::EthernetLog log;
  world.fcf_port.tap(&log);
  world.start_fcf();
  EStation& station = world.add_e_node({}, 1500);
  ASSERT_TRUE(world.run_until([&] { return station.port.online(); }));
  const auto* reply = log.sent(fip::Operation::link_service, fip::subcode::link_service_reply).front();
  const auto& frame = std::get<fip::EncapsulatedFrame>(reply->fip->descriptors.at(0)).fc_frame;
  const auto accept = wire::els::Login::parse(wire::Bytes(frame).subspan(frame_header_bytes));
  ASSERT_TRUE(accept);
  EXPECT_EQ(accept->receive_data_field_size, 1452);
  EXPECT_EQ(accept->class_3.receive_data_field_size, 1452);
  EXPECT_TRUE(accept->has(wire::els::feature::f_port));
  world.fcf_port.tap(nullptr);
}

// A port whose MTU is small and one whose MTU is large log in: each says what it takes.
TEST_F(FcfTest, ports_of_different_mtu_log_in) {
  world.start_fcf();
  EStation& large = world.add_e_node({}, 2500);
  EStation& small = world.add_e_node({}, 1500);
  ASSERT_TRUE(online(large) && online(small));
  ASSERT_TRUE(world.log_in(large.port, small.port));
  const auto taken = [](NPort& by, NPort& from) {
    return by.remote_port(from.n_port_id()).peer_parameters().class_3.receive_data_field_size;
  };
  EXPECT_EQ(taken(large.port, small.port), 1452);
  EXPECT_EQ(taken(small.port, large.port), 2112);
}

// At the FC level of one link: taps and faults.
TEST_F(FcfTest, links_have_taps_and_faults) {
  struct Count final : FrameFault {
    void carry(Channel& channel, FramePtr frame) override {
      ++frames;
      channel.deliver(std::move(frame));
    }
    int frames = 0;
  } sent, received;
  support::FrameLog frames;
  world.start_fcf();
  EStation& a = world.add_e_node();
  EStation& b = world.add_e_node();
  ASSERT_TRUE(online(a) && online(b));
  FcfLink& link = *world.interface().link_of(a.port.n_port_id());
  link.set_faults(&sent, &received);
  link.tap(&frames);
  ASSERT_TRUE(world.log_in(a.port, b.port));
  EXPECT_EQ(sent.frames, 1);
  EXPECT_EQ(received.frames, 1);
  EXPECT_EQ(frames.sent(wire::els::Command::plogi), 1U);
  EXPECT_EQ(frames.received(wire::els::Command::ls_acc), 1U);
  link.set_faults(nullptr, nullptr);
  link.tap(nullptr);
}

// A broadcast (FARP) reaches each ENode once, at the MAC of its VN_Port.
TEST_F(FcfTest, broadcast_reaches_every_enode) {
  world.start_fcf();
  EStation& a = world.add_e_node();
  EStation& b = world.add_e_node();
  ASSERT_TRUE(online(a) && online(b));
  world.fcf_port.tap(&log);
  FramePtr frame = support::broadcast_frame(world.pool, a.port.n_port_id());
  a.ethernet.send(encapsulate(fcf_mac, *a.node->mac_of(a.port), std::move(frame)));
  world.run_for(millisecond);
  std::vector<wire::MacAddress> reached;
  for (const auto& entry : log.entries)
    if (entry.outbound && entry.type == wire::EtherType::fcoe) reached.push_back(entry.destination);
  EXPECT_EQ(reached, (std::vector{*b.node->mac_of(b.port)}));
  EXPECT_EQ(b.node->counters().discarded(), 0U);
}

}  // namespace
}  // namespace fc2::fcoe
