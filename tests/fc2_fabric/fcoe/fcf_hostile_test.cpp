// What an FCF makes of hostile stations: counted by reason, bounded, nobody else is disturbed (issue 5, "bad input").
#include <gtest/gtest.h>

#include "tests/fc2_fabric/fcoe/hostile.hpp"

namespace fc2::fcoe {
namespace {
namespace fip = wire::fip;
using support::EStation;
using support::EthernetWorld;
using support::fcf_mac;
using support::login_request;
using support::station_mac;

class FcfHostileTest : public testing::Test {
 protected:
  FcfHostileTest() : world({.max_enodes = 8}), station(world.add_e_node()) {
    world.start_fcf();
    EXPECT_TRUE(world.run_until([&] { return station.port.online(); }));
    EXPECT_TRUE(world.run_until([&] { return speaks(station); }));
    id = station.port.n_port_id();
    world.fcf_port.tap(&log);
  }
  // The ENode that is sound noticed nothing.
  ~FcfHostileTest() override {
    world.run_for(second);
    EXPECT_TRUE(station.node->logged_in());
    EXPECT_EQ(station.port.n_port_id(), id);
    EXPECT_EQ(world.interface().counters().unexpected_events, 0U);
    world.fcf_port.tap(nullptr);
  }
  /// Its first word after FLOGI, to the Name Server, shows that it lives: as that of every sound N_Port.
  static bool speaks(EStation& one) {
    RemotePort& server = one.port.remote_port(wire::well_known::name_server);
    if (one.port.online() && !server.logged_in() && !server.logging_in()) server.log_in();
    return server.logged_in();
  }
  void inject(const std::vector<std::uint8_t>& bytes) { world.segment.inject(world.fcf_port, bytes); }
  void inject(const fip::FipMessage& message, const wire::MacAddress& source) {
    world.inject(world.fcf_port, message, fcf_mac, source);
  }
  std::uint64_t count(FcoeDiscard reason) { return world.interface().counters().discarded(reason); }
  // Of replies that went out: the command of each (2 LS_ACC, 1 LS_RJT).
  std::vector<int> answers() {
    world.run_for(millisecond);
    std::vector<int> commands;
    for (const auto* entry : log.sent(fip::Operation::link_service, fip::subcode::link_service_reply))
      commands.push_back(entry->fip->find<fip::EncapsulatedFrame>()->fc_frame.at(frame_header_bytes));
    return commands;
  }
  wire::FcId log_in_another(std::size_t number) {
    inject(login_request(fip::DescriptorType::flogi, {7}), station_mac(number));
    world.run_for(millisecond);
    return world.interface().links().at(station_mac(number))->vn_ports().front().id;
  }
  EthernetWorld world;
  EStation& station;
  support::EthernetLog log;
  wire::FcId id{};
};

// A pair of MAC and S_ID that no login made.
TEST_F(FcfHostileTest, forged_addresses_are_counted) {
  const auto mac = wire::mac_of(id);
  inject(support::fcoe_frame(world.pool, fcf_mac, mac, wire::well_known::name_server, {0x010900}));
  EXPECT_EQ(count(FcoeDiscard::ForgedSId), 1U);
  inject(support::fcoe_frame(world.pool, fcf_mac, wire::mac_of({0x010900}), wire::well_known::name_server, {0x010900}));
  inject(support::fcoe_frame(world.pool, fcf_mac, station_mac(1), wire::well_known::name_server, id));
  EXPECT_EQ(count(FcoeDiscard::WrongSource), 2U);
  inject(support::fcoe_frame(world.pool, station_mac(9), mac, wire::well_known::name_server, id));
  EXPECT_EQ(count(FcoeDiscard::WrongDestination), 1U);
  EXPECT_EQ(world.fabric.counters().discarded(), 0U);
}

// A LOGO in another's name does not log it out; nor do logins outside of FIP.
TEST_F(FcfHostileTest, forged_logins_are_counted) {
  inject(login_request(fip::DescriptorType::logo, station.port.config().port_name, id), station_mac(66));
  inject(login_request(fip::DescriptorType::flogi, {7}, id), station_mac(66));
  EXPECT_EQ(count(FcoeDiscard::ForgedSId), 2U);
  EXPECT_EQ(world.interface().enode_count(), 1U);  // a forged FLOGI makes no link
  const auto logo = login_request(fip::DescriptorType::logo, station.port.config().port_name, id);
  const auto& frame = std::get<fip::EncapsulatedFrame>(logo.descriptors[0]).fc_frame;
  std::vector<std::uint8_t> bytes(wire::fcoe::frame_size(frame.size()));
  wire::fcoe::encapsulate(fcf_mac, wire::mac_of(id), wire::Sof::i3, frame, wire::Eof::t, bytes);
  inject(bytes);
  EXPECT_EQ(count(FcoeDiscard::UnexpectedFip), 1U);
  EXPECT_TRUE(answers().empty());
}

// More ENodes than there is room for: of those that say nothing after their FLOGI the first makes room, and is told so.
// All are forgotten when they turn out to be silent.
TEST_F(FcfHostileTest, flood_of_enodes_is_bounded) {
  for (std::uint8_t i = 0; i < 200; ++i) {
    wire::MacAddress mac = station_mac(i);
    mac.bytes[3] = 0x66;
    inject(login_request(fip::DescriptorType::flogi, {0x1000U + i}), mac);
  }
  const auto commands = answers();
  EXPECT_EQ(world.interface().enode_count(), 8U);
  EXPECT_EQ(world.interface().counters().evicted, 193U);
  EXPECT_EQ(count(FcoeDiscard::NoResources), 0U);
  EXPECT_EQ(std::count(commands.begin(), commands.end(), 1), 0);
  EXPECT_TRUE(
      world.interface().former_e_nodes().contains(station.ethernet.interface().mac));  // who is here is not forgotten
  world.run_for(6 * second);
  EXPECT_EQ(world.interface().enode_count(), 1U);
  EXPECT_EQ(world.fabric.logged_in_ports(), 1U);
}

// ENodes that are some come in during such a flood, and stay; when there is no more room but theirs FLOGI is
// rejected, and counted.
TEST_F(FcfHostileTest, flood_of_enodes_shuts_nobody_out) {
  std::uint32_t next = 0;
  const auto flood = [&] {
    for (int i = 0; i < 20; ++i) {
      wire::MacAddress mac = station_mac(0);
      wire::store_big<4>(mac.bytes.data() + 2, 0x66000000 + ++next);
      inject(login_request(fip::DescriptorType::flogi, {0x1000U + next}), mac);
    }
  };
  flood();
  std::vector<EStation*> stations;
  for (int i = 0; i < 7; ++i) {
    stations.push_back(&world.add_e_node());
    for (int rounds = 0; rounds < 1000 && !stations.back()->port.online(); ++rounds) {
      flood();
      world.run_for(millisecond);
    }
    ASSERT_TRUE(world.run_until([&] { return speaks(*stations.back()); }, millisecond)) << i;
  }
  for (int i = 0; i < 10000; ++i) {
    if (i % 100 == 0) flood();
    world.run_for(millisecond);
  }
  for (const EStation* one : stations) EXPECT_TRUE(one->node->logged_in());
  EXPECT_GT(count(FcoeDiscard::NoResources), 0U);
}

// One ENode that asks without end has one login, and one F_Port.
TEST_F(FcfHostileTest, flood_of_flogis_of_one_enode_is_bounded) {
  for (std::uint16_t i = 0; i < 2000; ++i) {
    inject(login_request(fip::DescriptorType::flogi, {0x1000}, {}, {i}), station_mac(66));
    if (i % 16 == 0) world.run_for(10 * microsecond);
  }
  world.run_for(second);
  EXPECT_EQ(world.interface().enode_count(), 2U);
  EXPECT_EQ(world.interface().vn_port_count(), 2U);
  EXPECT_EQ(world.fabric.logged_in_ports(), 2U);
}

// A Port_Name that is logged in already: LS_RJT, and the one that was there stays.
TEST_F(FcfHostileTest, duplicate_port_name_is_rejected) {
  inject(login_request(fip::DescriptorType::flogi, station.port.config().port_name), station_mac(66));
  EXPECT_EQ(answers(), (std::vector<int>{1}));
  EXPECT_EQ(world.interface().enode_count(), 1U);
}

// FDISC and LOGO of an ENode without a login, and what is no login at all.
TEST_F(FcfHostileTest, requests_without_login_are_rejected) {
  inject(login_request(fip::DescriptorType::fdisc, {7}), station_mac(66));
  EXPECT_EQ(answers(), (std::vector<int>{1}));
  EXPECT_EQ(world.interface().enode_count(), 1U);
  auto message = login_request(fip::DescriptorType::flogi, {7});
  std::get<fip::EncapsulatedFrame>(message.descriptors[0]).type =
      fip::DescriptorType::fdisc;  // says FDISC, holds FLOGI
  inject(message, station_mac(66));
  message = login_request(fip::DescriptorType::flogi, {7});
  std::get<fip::EncapsulatedFrame>(message.descriptors[0]).fc_frame.resize(frame_header_bytes);
  inject(message, station_mac(66));
  message.descriptors.clear();
  inject(message, station_mac(66));
  EXPECT_EQ(count(FcoeDiscard::BadFip), 3U);
  inject(login_request(fip::DescriptorType::flogi, {7}), wire::group_mac::all_enode);
  EXPECT_EQ(count(FcoeDiscard::WrongSource), 1U);
}

// Keep-alives with addresses or names that do not fit: counted. FC-BB-5: an ENode's that never had a login here says
// nothing of one.
TEST_F(FcfHostileTest, foreign_keep_alives_are_counted) {
  fip::FipMessage message{
      fip::Operation::control, fip::subcode::keep_alive, fip::flag::fpma, {fip::Mac{station_mac(66)}}, {}};
  inject(message, station_mac(67));
  EXPECT_EQ(count(FcoeDiscard::WrongSource), 1U);
  inject(message, station_mac(66));
  message.descriptors = {fip::Mac{station_mac(1)}, fip::VnPort{wire::mac_of({0x010900}), {0x010900}, {7}}};
  inject(message, wire::mac_of({0x010900}));
  EXPECT_EQ(count(FcoeDiscard::UnexpectedFip), 2U);
  message.descriptors = {fip::Mac{station_mac(1)},
                         fip::VnPort{wire::mac_of(id), id, {7}}};  // another name than that of the login
  inject(message, wire::mac_of(id));
  EXPECT_EQ(count(FcoeDiscard::UnexpectedFip), 3U);
  EXPECT_TRUE(log.sent(fip::Operation::control, fip::subcode::clear_virtual_links).empty());
  message.descriptors.clear();
  inject(message, station_mac(66));
  EXPECT_EQ(count(FcoeDiscard::BadFip), 1U);
}

// FC-BB-5: who is logged in is kept alive by its own keep-alives alone, those of the ENode and those of its VN_Ports.
TEST_F(FcfHostileTest, keep_alives_of_others_keep_nobody_alive) {
  const wire::FcId other = log_in_another(66);
  station.ethernet.set_carrier(false);
  const TimeNs heard = world.interface().links().at(station_mac(1))->heard();
  const fip::Mac silent{station_mac(1)};
  for (int i = 0; i < 3; ++i) {
    world.run_for(second);
    inject(fip::FipMessage{fip::Operation::control, fip::subcode::keep_alive, fip::flag::fpma, {silent}, {}},
           station_mac(66));
    inject(fip::FipMessage{fip::Operation::control,
                           fip::subcode::keep_alive,
                           fip::flag::fpma,
                           {silent, fip::VnPort{wire::mac_of(other), other, {7}}},
                           {}},
           wire::mac_of(other));
    inject(
        fip::FipMessage{
            fip::Operation::control, fip::subcode::keep_alive, fip::flag::fpma, {fip::Mac{station_mac(66)}}, {}},
        station_mac(66));
  }
  EXPECT_EQ(count(FcoeDiscard::WrongSource), 6U);
  EXPECT_EQ(world.interface().links().at(station_mac(1))->heard(), heard);
  world.run_for(heard + 5 * second - world.scheduler.now());
  EXPECT_EQ(world.interface().enode_count(), 1U);
  EXPECT_EQ(world.interface().link_of(id), nullptr);
  EXPECT_NE(world.interface().link_of(other), nullptr);
  station.ethernet.set_carrier(true);
  EXPECT_TRUE(world.run_until([&] { return station.port.online(); }));
}

TEST_F(FcfHostileTest, other_fip_messages_are_counted) {
  inject(fip::FipMessage{static_cast<fip::Operation>(99), 1, 0, {}, {}}, station_mac(66));
  inject(fip::FipMessage{fip::Operation::control, 7, 0, {}, {}}, station_mac(66));
  EXPECT_EQ(count(FcoeDiscard::UnexpectedFip), 2U);
  fip::FipMessage solicitation{
      fip::Operation::discovery, fip::subcode::discovery_solicitation, fip::flag::fpma, {}, {}};
  solicitation.descriptors = {fip::Mac{station_mac(5)}, fip::NameId{{1}}, fip::MaxFcoeSize{2158}};
  inject(solicitation, station_mac(66));  // would have us send to somebody else
  EXPECT_EQ(count(FcoeDiscard::BadFip), 1U);
  auto bytes = solicitation.to_ethernet(fcf_mac, station_mac(5));
  bytes[14 + 10 + 1] = 0;
  inject(bytes);
  EXPECT_EQ(count(FcoeDiscard::BadFip), 2U);
  EXPECT_TRUE(log.sent(fip::Operation::discovery, fip::subcode::discovery_advertisement).empty());
}

}  // namespace
}  // namespace fc2::fcoe
