// What a VN2VN node makes of hostile neighbours: counted by reason, bounded (issue 5, "bad input").
#include <gtest/gtest.h>

#include "tests/fc2_fabric/fcoe/hostile.hpp"

namespace fc2::fcoe {
namespace {
namespace fip = wire::fip;
using support::EthernetWorld;
using support::station_mac;
using support::VnStation;

class Vn2vnHostileTest : public testing::Test {
 protected:
  Vn2vnHostileTest() : station(world.add_vn2vn({.first_id = {0x0E01}, .max_neighbours = 8})) {}
  ~Vn2vnHostileTest() override { EXPECT_EQ(station.node->counters().unexpected_events, 0U); }
  bool claim() {
    return world.run_until([&] { return station.node->up(); }, 30 * second);
  }
  static fip::FipMessage message(std::uint8_t subcode, wire::FcId id, std::uint64_t name) {
    fip::FipMessage message{fip::Operation::vn2vn, subcode, 0, {}, {}};
    message.descriptors = {fip::Mac{station_mac(66)}, fip::NameId{{name}},
                           fip::VnPort{wire::mac_of(id, wire::vn2vn_fc_map), id, {name}}};
    return message;
  }
  void inject(const fip::FipMessage& sent) {
    world.inject(station.ethernet, sent, wire::group_mac::all_vn2vn, station_mac(66));
  }
  void inject(const std::vector<std::uint8_t>& bytes) { world.segment.inject(station.ethernet, bytes); }
  std::uint64_t count(FcoeDiscard reason) { return station.node->counters().discarded(reason); }
  EthernetWorld world;
  VnStation& station;
};

constexpr std::uint64_t highest_name = 0xFFFF'FFFF'0000'0001, lowest_name = 1;

TEST_F(Vn2vnHostileTest, incomplete_messages_are_counted) {
  ASSERT_TRUE(claim());
  for (std::size_t i = 0; i < 3; ++i) {
    auto sent = message(fip::subcode::beacon, {0x0E02}, 5);
    sent.descriptors.erase(sent.descriptors.begin() + static_cast<std::ptrdiff_t>(i));
    inject(sent);
  }
  auto sent = message(fip::subcode::beacon, {0x0E02}, 5);
  sent.descriptors[2] = fip::VnPort{station_mac(5), {0x0E02}, {5}};  // a MAC that is not of its address
  inject(sent);
  inject(message(fip::subcode::beacon, {0}, 5));
  inject(message(fip::subcode::beacon, {0x010000}, 5));
  EXPECT_EQ(count(FcoeDiscard::BadFip), 6U);
  inject(message(9, {0x0E02}, 5));
  inject(fip::FipMessage{fip::Operation::discovery, 7, 0, {}, {}});
  EXPECT_EQ(count(FcoeDiscard::UnexpectedFip), 2U);
}

// Neighbours without end: the table is bounded.
TEST_F(Vn2vnHostileTest, flood_of_neighbours_is_bounded) {
  ASSERT_TRUE(claim());
  for (std::uint32_t i = 0; i < 500; ++i) inject(message(fip::subcode::claim_response, {0x1000 + i}, 0x9000 + i));
  EXPECT_EQ(station.node->neighbours().size(), 8U);
  EXPECT_EQ(station.node->counters().evicted, 492U);
  EXPECT_EQ(count(FcoeDiscard::NoResources), 0U);
  world.run_for(21 * second);
  EXPECT_TRUE(station.node->neighbours().empty());
}

// ... whatever became of those before: the carrier goes and comes, and as many come again.
TEST_F(Vn2vnHostileTest, flood_of_neighbours_after_carrier_loss_is_bounded) {
  ASSERT_TRUE(claim());
  const auto flood = [&] {
    for (std::uint32_t i = 0; i < 100; ++i) inject(message(fip::subcode::claim_response, {0x1000 + i}, 0x9000 + i));
  };
  for (int round = 0; round < 3; ++round) {
    flood();
    EXPECT_EQ(station.node->neighbours().size(), 8U);
    station.ethernet.set_carrier(false);
    EXPECT_TRUE(station.node->neighbours().empty());
    station.ethernet.set_carrier(true);
    ASSERT_TRUE(claim());
  }
}

// One that is somebody comes in during the flood; and whoever our N_Port deals with stays through it, with its login.
TEST_F(Vn2vnHostileTest, flood_of_neighbours_shuts_nobody_out) {
  ASSERT_TRUE(claim());
  std::uint32_t next = 0;
  const auto flood = [&](std::uint32_t count) {
    for (; count != 0; --count) {
      const std::uint32_t i = next++ % 0x8000;
      inject(message(fip::subcode::claim_response, {0x1000 + i}, 0x9000 + i));
    }
  };
  flood(100);
  VnStation& other = world.add_vn2vn({.first_id = {0x0E02}});
  for (int i = 0; i < 1000 && !station.node->neighbours().contains({0x0E02}); ++i) {
    flood(4);
    world.run_for(10 * millisecond);
  }
  ASSERT_TRUE(station.node->neighbours().contains({0x0E02}));
  ASSERT_TRUE(world.run_until([&] { return other.node->up(); }));
  ASSERT_TRUE(world.log_in(station.port, other.port));
  const PortUse use(station.port.remote_port({0x0E02}));
  flood(1000);
  world.run_for(second);
  EXPECT_TRUE(station.node->neighbours().contains({0x0E02}));
  EXPECT_TRUE(station.port.remote_port({0x0E02}).logged_in());
}

// Neighbours that our N_Port deals with are all that there is room for: one more is not taken, and counted.
TEST_F(Vn2vnHostileTest, neighbours_all_in_use_one_more_is_refused) {
  ASSERT_TRUE(claim());
  std::vector<PortUse> uses;
  for (std::uint32_t i = 0; i < 8; ++i) {
    inject(message(fip::subcode::claim_response, {0x1000 + i}, 0x9000 + i));
    uses.emplace_back(station.port.remote_port({0x1000 + i}));
  }
  inject(message(fip::subcode::claim_response, {0x2000}, 0xA000));
  EXPECT_FALSE(station.node->neighbours().contains({0x2000}));
  EXPECT_EQ(count(FcoeDiscard::NoResources), 1U);
}

// FC-BB-6: N_Port_IDs are 0000xxh. Others are nobody's, or there would be sixteen million that could log in.
TEST_F(Vn2vnHostileTest, frames_of_impossible_addresses_are_counted) {
  ASSERT_TRUE(claim());
  const auto mac = wire::mac_of({0x0E01}, wire::vn2vn_fc_map);
  for (const std::uint32_t id : {0U, 0xFFFFU, 0x010000U, 0xFFFFFFU})
    inject(support::fcoe_frame(world.pool, mac, wire::mac_of({id}, wire::vn2vn_fc_map), {0x0E01}, {id}));
  EXPECT_EQ(count(FcoeDiscard::ForgedSId), 4U);
}

// Beacons of neighbours that are not known make us claim again, but not for each of them.
TEST_F(Vn2vnHostileTest, flood_of_beacons_is_not_answered_one_by_one) {
  ASSERT_TRUE(claim());
  world.run_for(second);
  station.log.entries.clear();
  for (std::uint32_t i = 0; i < 500; ++i) inject(message(fip::subcode::beacon, {0x1000 + i}, 0x9000 + i));
  EXPECT_EQ(station.log.sent(fip::Operation::vn2vn, fip::subcode::claim_notification).size(), 1U);
  EXPECT_TRUE(station.node->neighbours().empty());
}

// Somebody claims whatever we choose: a rest after ten collisions, and on with another address (as Linux).
TEST_F(Vn2vnHostileTest, endless_collisions_bring_rest) {
  for (int i = 0; i < 10; ++i) {
    inject(message(fip::subcode::claim_notification, station.node->id(), highest_name));
    EXPECT_EQ(station.node->state_name(), "FirstProbe") << i;
  }
  inject(message(fip::subcode::claim_notification, station.node->id(), highest_name));
  EXPECT_EQ(station.node->state_name(), "Resting");
  station.log.entries.clear();
  world.run_for(9 * second);
  EXPECT_TRUE(station.log.entries.empty());
  EXPECT_TRUE(claim());
}

// Who owns an address gives it up for a higher name only.
TEST_F(Vn2vnHostileTest, claim_of_a_lower_name_is_answered) {
  ASSERT_TRUE(claim());
  inject(message(fip::subcode::claim_notification, {0x0E01}, lowest_name));
  EXPECT_EQ(station.port.n_port_id(), wire::FcId{0x0E01});
  inject(message(fip::subcode::claim_notification, {0x0E01}, highest_name));
  EXPECT_FALSE(station.port.online());
  ASSERT_TRUE(claim());
  EXPECT_NE(station.port.n_port_id(), wire::FcId{0x0E01});
}

// A neighbour's address with another name: the one that was known is gone.
TEST_F(Vn2vnHostileTest, address_with_another_name_is_another_neighbour) {
  ASSERT_TRUE(claim());
  inject(message(fip::subcode::claim_notification, {0x0E02}, 5));
  EXPECT_EQ(station.node->neighbours().at({0x0E02}).port_name, wire::Wwn{5});
  inject(message(fip::subcode::claim_notification, {0x0E02}, 6));
  EXPECT_EQ(station.node->neighbours().at({0x0E02}).port_name, wire::Wwn{6});
  inject(message(fip::subcode::beacon, {0x0E02}, 7));
  EXPECT_TRUE(station.node->neighbours().empty());
}

// FCoE with addresses that do not fit together, and FLOGIs of who is no neighbour.
TEST_F(Vn2vnHostileTest, forged_frames_are_counted) {
  ASSERT_TRUE(claim());
  const auto mac = wire::mac_of({0x0E01}, wire::vn2vn_fc_map), other = wire::mac_of({0x0E02}, wire::vn2vn_fc_map);
  inject(support::fcoe_frame(world.pool, mac, other, {0x0E01}, {0x0E03}));
  EXPECT_EQ(count(FcoeDiscard::ForgedSId), 1U);
  inject(support::fcoe_frame(world.pool, mac, station_mac(66), {0x0E01}, {0x0E02}));
  EXPECT_EQ(count(FcoeDiscard::WrongSource), 1U);
  inject(support::fcoe_frame(world.pool, mac, other, {0x0E09}, {0x0E02}));
  inject(support::fcoe_frame(world.pool, other, other, {0x0E02}, {0x0E02}));
  inject(support::fcoe_frame(world.pool, wire::group_mac::all_vn2vn, other, {0x0E01}, {0x0E02}));
  EXPECT_EQ(count(FcoeDiscard::WrongDestination), 3U);
  auto flogi = support::login_request(fip::DescriptorType::flogi, {7}, {0x0E02});
  auto& frame = std::get<fip::EncapsulatedFrame>(flogi.descriptors[0]).fc_frame;
  wire::store_big<3>(frame.data() + 1, 0x0E01);
  world.inject(station.ethernet, flogi, station_mac(1), station_mac(66));
  EXPECT_EQ(count(FcoeDiscard::ForgedSId), 2U);
  EXPECT_EQ(station.port.counters().frames_received, 0U);
}

// Somebody sends with our own address. Nothing that we send comes back, and with ourselves we need no login.
TEST_F(Vn2vnHostileTest, frame_from_our_own_address_is_forged) {
  ASSERT_TRUE(claim());
  const auto mac = wire::mac_of({0x0E01}, wire::vn2vn_fc_map);
  inject(support::fcoe_frame(world.pool, mac, mac, {0x0E01}, {0x0E01}));
  inject(support::fcoe_frame(world.pool, wire::group_mac::all_vn2vn, mac, wire::well_known::broadcast, {0x0E01}));
  EXPECT_EQ(count(FcoeDiscard::ForgedSId), 2U);
  EXPECT_EQ(station.port.counters().frames_received, 0U);
}

}  // namespace
}  // namespace fc2::fcoe
