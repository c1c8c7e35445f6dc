// FCoE on a VLAN: told by FIP VLAN discovery, followed by ENodes (FC-BB-5; ruling 224).
#include <gtest/gtest.h>

#include "tests/fc2_fabric/fcoe/hostile.hpp"

namespace fc2::fcoe {
namespace {
namespace fip = wire::fip;
using support::EStation;
using support::EthernetWorld;
using support::fcf_mac;
using support::station_mac;

// The VLANs of the frames that passed a port.
struct VlanLog final : EthernetTap {
  void ethernet_passed(TimeNs, const EthernetFrame& frame, bool outbound) override {
    (outbound ? sent : received).push_back(frame.vlan);
  }
  std::vector<std::uint16_t> sent, received;
};

fip::FipMessage vlan_request() {
  fip::FipMessage message{fip::Operation::vlan, fip::subcode::vlan_request, fip::flag::fpma, {}, {}};
  message.descriptors = {fip::Mac{station_mac(66)}, fip::NameId{{1}}};
  return message;
}

bool online(EthernetWorld& world, EStation& station) {
  return world.run_until([&] { return station.node->logged_in() && station.port.online(); }, 5 * second);
}

// iPXE makes a VLAN of every VID that it is told: an FCF without VLANs tells none.
TEST(Vlan, fcf_without_vlans_answers_no_request) {
  EthernetWorld world;
  support::EthernetLog log;
  world.fcf_port.tap(&log);
  world.start_fcf();
  world.inject(world.fcf_port, vlan_request(), wire::group_mac::all_fcf, station_mac(66));
  world.run_for(second);
  EXPECT_TRUE(log.sent(fip::Operation::vlan, fip::subcode::vlan_notification).empty());
  EXPECT_EQ(world.interface().counters().discarded(), 0U);
  world.fcf_port.tap(nullptr);
}

// One with a VLAN tells it where it is asked, and takes nothing but that by other VLANs.
TEST(Vlan, fcf_tells_its_vlan) {
  EthernetWorld world({.vlan = 100});
  support::EthernetLog log;
  world.start_fcf();
  world.fcf_port.tap(&log);
  world.inject(world.fcf_port, vlan_request(), wire::group_mac::all_fcf, station_mac(66));
  const auto told = log.sent(fip::Operation::vlan, fip::subcode::vlan_notification);
  ASSERT_EQ(told.size(), 1U);
  EXPECT_EQ(told[0]->destination, station_mac(66));
  ASSERT_EQ(told[0]->fip->descriptors.size(), 2U);
  EXPECT_EQ(std::get<fip::Vlan>(told[0]->fip->descriptors[1]).vlan_id, 100);
  world.inject(world.fcf_port, support::login_request(fip::DescriptorType::flogi, {0x1000}), fcf_mac, station_mac(66));
  world.segment.inject(world.fcf_port, support::fcoe_frame(world.pool, fcf_mac, wire::mac_of({0x010100}),
                                                           wire::well_known::name_server, {0x010100}));
  world.run_for(millisecond);
  EXPECT_EQ(world.interface().counters().discarded(FcoeDiscard::WrongVlan), 2U);
  EXPECT_EQ(world.interface().enode_count(), 0U);
  world.fcf_port.tap(nullptr);
}

// The ENode asks, is told, and from there on all goes by that VLAN; at once, since it waits for nothing.
TEST(Vlan, e_node_follows_the_notification) {
  EthernetWorld world({.vlan = 100});
  world.start_fcf();
  const TimeNs begin = world.scheduler.now();
  EStation& station = world.add_e_node({.discover_vlans = true});
  EStation& other = world.add_e_node({.vlan = 100});
  ASSERT_TRUE(online(world, station) && online(world, other));
  EXPECT_LT(world.scheduler.now() - begin, 250 * millisecond);
  EXPECT_EQ(station.node->vlans(), (std::vector<std::uint16_t>{100}));
  EXPECT_EQ(station.node->fcf()->vlan, 100);
  VlanLog vlans;
  station.ethernet.tap(&vlans);
  EXPECT_TRUE(world.log_in(station.port, other.port));
  world.run_for(100 * second);  // keep-alives of both kinds, advertisements
  EXPECT_TRUE(station.node->logged_in());
  EXPECT_GT(vlans.sent.size(), 50U);
  EXPECT_EQ(std::count(vlans.sent.begin(), vlans.sent.end(), 100), static_cast<std::ptrdiff_t>(vlans.sent.size()));
  EXPECT_EQ(std::count(vlans.received.begin(), vlans.received.end(), 100),
            static_cast<std::ptrdiff_t>(vlans.received.size()));
  station.ethernet.tap(nullptr);
}

// One that is to use untagged frames, or another VLAN, does not find that FCF.
TEST(Vlan, e_node_of_another_vlan_finds_nobody) {
  EthernetWorld world({.vlan = 100});
  world.start_fcf();
  EStation& untagged = world.add_e_node();
  EStation& other = world.add_e_node({.vlan = 101});
  world.run_for(20 * second);
  EXPECT_TRUE(untagged.node->known_fcfs().empty());
  EXPECT_TRUE(other.node->known_fcfs().empty());
  EXPECT_GT(other.node->counters().discarded(FcoeDiscard::WrongVlan), 0U);
}

// VIDs that no VLAN has are passed over; who tells new ones without end is not heard without end.
TEST(Vlan, notifications_are_bounded) {
  EthernetWorld world;
  EStation& station = world.add_e_node({.discover_vlans = true});
  world.run_for(millisecond);
  const auto tell = [&](std::initializer_list<std::uint16_t> vlans) {
    fip::FipMessage message{
        fip::Operation::vlan, fip::subcode::vlan_notification, fip::flag::f_port, {fip::Mac{fcf_mac}}, {}};
    for (const std::uint16_t vlan : vlans) message.descriptors.push_back(fip::Vlan{vlan});
    world.inject(station.ethernet, message, station_mac(1), fcf_mac);
  };
  const auto solicitations = [&] {
    return station.log.sent(fip::Operation::discovery, fip::subcode::discovery_solicitation).size();
  };
  const std::size_t before = solicitations();
  tell({0, 4095});
  EXPECT_TRUE(station.node->vlans().empty());
  EXPECT_EQ(solicitations(), before);
  tell({7});
  tell({7});
  EXPECT_EQ(station.node->vlans(), (std::vector<std::uint16_t>{7}));
  EXPECT_EQ(solicitations(), before + 1);  // there, once
  for (std::uint16_t vlan = 8; vlan < 1000; ++vlan) tell({vlan});
  EXPECT_EQ(station.node->vlans().size(), 16U);
  station.ethernet.set_carrier(false);
  EXPECT_TRUE(station.node->vlans().empty());
}

// A station that invents VLANs, 300 in each message, does not keep the ENode from the one that the FCF serves: what is
// told last makes room for itself, where no FCF answers. Each message is worth 16 solicitations at most.
TEST(Vlan, forged_notifications_shut_no_fcf_out) {
  EthernetWorld world({.vlan = 4000});
  EStation& station = world.add_e_node({.discover_vlans = true});
  const auto solicitations = [&] {
    return station.log.sent(fip::Operation::discovery, fip::subcode::discovery_solicitation).size();
  };
  const auto forge = [&](std::uint16_t first) {
    fip::FipMessage message{
        fip::Operation::vlan, fip::subcode::vlan_notification, fip::flag::f_port, {fip::Mac{station_mac(66)}}, {}};
    for (std::uint16_t vlan = first; vlan < first + 300; ++vlan) message.descriptors.push_back(fip::Vlan{vlan});
    const std::size_t before = solicitations();
    world.inject(station.ethernet, message, station_mac(1), station_mac(66));
    EXPECT_LE(solicitations() - before, 16U);
    EXPECT_LE(station.node->vlans().size(), 16U);
  };
  forge(1);
  world.start_fcf();
  const TimeNs end = world.scheduler.now() + 20 * second;
  std::uint16_t first = 1;
  while (!station.node->logged_in() && world.scheduler.now() < end) {
    world.run_for(20 * millisecond);
    forge(first = static_cast<std::uint16_t>(first % 3600 + 300));
  }
  ASSERT_TRUE(online(world, station));
  EXPECT_EQ(station.node->fcf()->vlan, 4000);
  const std::uint64_t lost = station.node->counters().discarded(FcoeDiscard::WrongVlan);  // its first advertisement
  for (int i = 0; i < 100; ++i) forge(first = static_cast<std::uint16_t>(first % 3600 + 300));
  world.run_for(10 * second);
  EXPECT_TRUE(station.node->logged_in());  // its VLAN does not make room
  EXPECT_EQ(station.node->counters().discarded(FcoeDiscard::WrongVlan), lost);
}

// Whose MAC descriptor is not where it came from.
TEST(Vlan, notification_in_another_name_is_not_believed) {
  EthernetWorld world;
  EStation& station = world.add_e_node({.discover_vlans = true});
  world.run_for(millisecond);
  const fip::FipMessage message{
      fip::Operation::vlan, fip::subcode::vlan_notification, fip::flag::f_port, {fip::Mac{fcf_mac}, fip::Vlan{7}}, {}};
  world.inject(station.ethernet, message, station_mac(1), station_mac(66));
  EXPECT_TRUE(station.node->vlans().empty());
  EXPECT_EQ(station.node->counters().discarded(FcoeDiscard::WrongSource), 1U);
}

// Where an FCF answers on each of the sixteen, there is no room for another.
TEST(Vlan, vlans_with_fcfs_make_no_room) {
  EthernetWorld world;
  EStation& station = world.add_e_node({.discover_vlans = true});
  fip::FipMessage told{
      fip::Operation::vlan, fip::subcode::vlan_notification, fip::flag::f_port, {fip::Mac{fcf_mac}}, {}};
  std::vector<std::unique_ptr<Fcf>> fcfs;
  for (std::uint16_t i = 0; i < 16; ++i) {
    auto& port = world.segment.add_port(
        {"fcf" + std::to_string(i), {{0x02, 0xFC, 0xF0, 0, 1, static_cast<std::uint8_t>(i)}}, 2500});
    fcfs.push_back(std::make_unique<Fcf>(world.scheduler, world.pool, world.fabric,
                                         FcfConfig{.vlan = static_cast<std::uint16_t>(100 + i)}));
    fcfs.back()->add_interface(port);
  }
  ASSERT_TRUE(online(world, station));
  world.run_for(5 * second);
  ASSERT_EQ(station.node->known_fcfs().size(), 16U);
  const auto before = station.node->vlans();
  told.descriptors.push_back(fip::Vlan{7});
  world.inject(station.ethernet, told, station_mac(1), fcf_mac);
  EXPECT_EQ(station.node->vlans(), before);
}

// Sixteen VLANs are told where one of ours has the FCF: those that find room stay, and none pushes out what the
// same message told.
TEST(Vlan, vlans_of_one_message_do_not_push_each_other_out) {
  EthernetWorld world({.vlan = 100});
  world.start_fcf();
  EStation& station = world.add_e_node({.discover_vlans = true});
  ASSERT_TRUE(online(world, station));
  fip::FipMessage told{
      fip::Operation::vlan, fip::subcode::vlan_notification, fip::flag::f_port, {fip::Mac{fcf_mac}}, {}};
  std::vector<std::uint16_t> expected{100};
  for (std::uint16_t vlan = 1; vlan <= 16; ++vlan) {
    told.descriptors.push_back(fip::Vlan{vlan});
    if (vlan <= 15) expected.push_back(vlan);
  }
  world.inject(station.ethernet, told, station_mac(1), fcf_mac);
  EXPECT_EQ(station.node->vlans(), expected);
}

// In the name of our FCF, by another VLAN than its own: not from it.
TEST(Vlan, frames_of_the_fcf_by_another_vlan_do_not_count) {
  EthernetWorld world({.vlan = 100});
  world.start_fcf();
  EStation& station = world.add_e_node({.discover_vlans = true});
  ASSERT_TRUE(online(world, station));
  fip::FipMessage message{fip::Operation::control, fip::subcode::clear_virtual_links, fip::flag::fpma, {}, {}};
  message.descriptors = {fip::Mac{fcf_mac}, fip::NameId{world.fabric.config().switch_name}};
  world.inject(station.ethernet, message, station_mac(1), fcf_mac);  // untagged
  const wire::FcId id = station.port.n_port_id();
  world.segment.inject(station.ethernet,
                       support::fcoe_frame(world.pool, wire::mac_of(id), fcf_mac, id, wire::well_known::name_server));
  world.run_for(second);
  EXPECT_TRUE(station.node->logged_in());
  EXPECT_EQ(station.node->counters().discarded(FcoeDiscard::WrongSource), 2U);
}

// VN2VN on a VLAN: those of the same one find each other.
TEST(Vlan, vn2vn_ports_of_one_vlan_find_each_other) {
  EthernetWorld world;
  auto& one = world.add_vn2vn({.vlan = 100});
  auto& other = world.add_vn2vn({.vlan = 100});
  auto& stranger = world.add_vn2vn();
  ASSERT_TRUE(world.run_until([&] { return one.port.online() && other.port.online() && stranger.port.online(); }));
  world.run_for(10 * second);
  EXPECT_TRUE(world.log_in(one.port, other.port));
  EXPECT_EQ(one.node->neighbours().size(), 1U);
  EXPECT_TRUE(stranger.node->neighbours().empty());
}

}  // namespace
}  // namespace fc2::fcoe
