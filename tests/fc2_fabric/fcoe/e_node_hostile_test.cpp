// What an ENode makes of frames that no FCF would send: counted by reason, and nothing else (issue 5, "bad input").
#include <gtest/gtest.h>

#include "tests/fc2_fabric/fcoe/hostile.hpp"

namespace fc2::fcoe {
namespace {
namespace fip = wire::fip;
using support::EStation;
using support::EthernetWorld;
using support::fcf_mac;
using support::station_mac;

class ENodeHostileTest : public testing::Test {
 protected:
  ENodeHostileTest() : station(world.add_e_node()) {
    world.start_fcf();
    EXPECT_TRUE(world.run_until([&] { return station.port.online(); }));
    own_mac = *station.node->mac_of(station.port);
    own_id = station.port.n_port_id();
  }
  // Nothing more happened than that it was counted.
  ~ENodeHostileTest() override {
    world.run_for(second);
    EXPECT_TRUE(station.node->logged_in());
    EXPECT_EQ(station.port.n_port_id(), own_id);
    EXPECT_EQ(station.node->counters().unexpected_events, 0U);
  }
  void inject(const std::vector<std::uint8_t>& bytes) { world.segment.inject(station.ethernet, bytes); }
  void inject(const fip::FipMessage& message, const wire::MacAddress& source = fcf_mac) {
    world.inject(station.ethernet, message, station_mac(1), source);
  }
  std::uint64_t count(FcoeDiscard reason) { return station.node->counters().discarded(reason); }
  std::vector<std::uint8_t> fcoe(const wire::MacAddress& to, const wire::MacAddress& from, wire::FcId d_id) {
    return support::fcoe_frame(world.pool, to, from, d_id, {0x010200});
  }
  fip::FipMessage clear(const wire::MacAddress& mac, wire::Wwn name) {
    fip::FipMessage message{fip::Operation::control, fip::subcode::clear_virtual_links, fip::flag::fpma, {}, {}};
    message.descriptors = {fip::Mac{mac}, fip::NameId{name}};
    return message;
  }
  EthernetWorld world;
  EStation& station;
  wire::MacAddress own_mac{};
  wire::FcId own_id{};
};

TEST_F(ENodeHostileTest, frames_with_wrong_addresses_are_counted) {
  inject(fcoe(wire::mac_of({0x010900}), fcf_mac, {0x010900}));
  EXPECT_EQ(count(FcoeDiscard::WrongDestination), 1U);
  inject(fcoe(own_mac, fcf_mac, {0x010900}));
  EXPECT_EQ(count(FcoeDiscard::WrongDestination), 2U);
  inject(fcoe(own_mac, station_mac(66), own_id));
  EXPECT_EQ(count(FcoeDiscard::WrongSource), 1U);
  inject(fcoe(own_mac, fcf_mac, own_id));  // a good one reaches the N_Port, which has no FCP
  EXPECT_EQ(station.node->counters().discarded(), 3U);
  EXPECT_EQ(station.port.counters().discarded(Discard::UnknownType), 0U);
  EXPECT_EQ(station.port.counters().frames_received, 2U);  // the FLOGI's accept, and this
}

TEST_F(ENodeHostileTest, malformed_frames_are_counted) {
  auto bytes = fcoe(own_mac, fcf_mac, own_id);
  bytes[40] ^= 1;
  inject(bytes);
  EXPECT_EQ(count(FcoeDiscard::BadCrc), 1U);
  bytes = fcoe(own_mac, fcf_mac, own_id);
  bytes.resize(bytes.size() + 4);
  inject(bytes);
  EXPECT_EQ(count(FcoeDiscard::Padded), 1U);
  inject({1, 2, 3});
  bytes[12] = 0;
  inject(bytes);
  EXPECT_EQ(count(FcoeDiscard::NotFcoe), 2U);
}

// A descriptor of length 0 must not make it go round for ever.
TEST_F(ENodeHostileTest, bad_fip_messages_are_counted) {
  auto bytes = clear(fcf_mac, {1}).to_ethernet(station_mac(1), fcf_mac);
  bytes[14 + 10 + 1] = 0;
  inject(bytes);
  EXPECT_EQ(count(FcoeDiscard::BadFip), 1U);
  bytes[14 + 6] = 0xFF;  // a list that is longer than the frame
  inject(bytes);
  EXPECT_EQ(count(FcoeDiscard::BadFip), 2U);
  inject(std::vector<std::uint8_t>(bytes.begin(), bytes.begin() + 15));
  EXPECT_EQ(count(FcoeDiscard::BadFip), 3U);
  inject(fip::FipMessage{fip::Operation::discovery, 7, 0, {}, {}});
  inject(fip::FipMessage{static_cast<fip::Operation>(99), 1, 0, {}, {}});
  inject(fip::FipMessage{fip::Operation::link_service, fip::subcode::link_service_request, 0, {}, {}});
  EXPECT_EQ(count(FcoeDiscard::UnexpectedFip), 3U);
  world.inject(station.ethernet, clear(fcf_mac, {1}), station_mac(9), fcf_mac);
  EXPECT_EQ(count(FcoeDiscard::WrongDestination), 1U);
}

// Clear Virtual Links of another FCF, or one that does not say whose: not for us.
TEST_F(ENodeHostileTest, foreign_clear_virtual_links_is_counted) {
  const wire::Wwn name = world.fabric.config().switch_name;
  inject(clear(station_mac(77), name));
  inject(clear(fcf_mac, {name.value + 1}));
  EXPECT_EQ(count(FcoeDiscard::UnexpectedFip), 2U);
  auto message = clear(fcf_mac, name);
  message.descriptors.pop_back();
  inject(message);
  EXPECT_EQ(count(FcoeDiscard::BadFip), 1U);
  inject(clear(fcf_mac, name), station_mac(77));  // in the name of our FCF, by another station
  EXPECT_EQ(count(FcoeDiscard::WrongSource), 1U);
  message = clear(fcf_mac, name);
  message.descriptors.push_back(fip::VnPort{own_mac, own_id, {0xBAD}});  // nobody of us
  inject(message);
}

// Answers to what was not asked, from who was not asked.
TEST_F(ENodeHostileTest, unasked_replies_are_counted) {
  auto reply = support::login_request(fip::DescriptorType::flogi, {7});
  reply.subcode = fip::subcode::link_service_reply;
  inject(reply);
  EXPECT_EQ(count(FcoeDiscard::UnexpectedFip), 1U);
  inject(reply, station_mac(88));
  EXPECT_EQ(count(FcoeDiscard::WrongSource), 1U);
  reply.descriptors.erase(reply.descriptors.begin());
  inject(reply);
  EXPECT_EQ(count(FcoeDiscard::BadFip), 1U);
}

// A thousand FCFs that nobody has: the table is bounded, and so is what we ask them.
TEST_F(ENodeHostileTest, flood_of_advertisements_is_bounded) {
  world.run_for(second);  // a while after the solicitation at link up, which went to all
  station.log.entries.clear();
  for (std::uint32_t i = 0; i < 1000; ++i) {
    fip::FipMessage message{fip::Operation::discovery,
                            fip::subcode::discovery_advertisement,
                            fip::flag::fpma | fip::flag::available,
                            {},
                            {}};
    wire::MacAddress mac = station_mac(0);
    wire::store_big<4>(mac.bytes.data() + 2, 0x01000000 + i);
    message.descriptors = {fip::Priority{1}, fip::Mac{mac}, fip::NameId{{i + 1}}, fip::Fabric{1, 0x0EFC00, {i + 1}},
                           fip::FkaAdvPeriod{false, 500}};
    inject(message);
  }
  EXPECT_EQ(station.node->known_fcfs().size(), FcfTable::max_fcfs);
  EXPECT_EQ(station.node->counters().evicted, 1000 - FcfTable::max_fcfs + 1);
  EXPECT_EQ(station.log.sent(fip::Operation::discovery, fip::subcode::discovery_solicitation).size(),
            FcfTable::max_fcfs);  // one each while there was room, then one for all
  world.run_for(2 * second);
  EXPECT_EQ(station.node->known_fcfs().size(), 1U);  // they expire
}

// A FCF that is one gets in while others are invented faster than the list has room, and the ENode logs in through it.
TEST(ENodeHostileFcfs, flood_of_advertisements_shuts_none_out) {
  EthernetWorld world;
  EStation& station = world.add_e_node();
  std::uint32_t next = 0;
  const auto flood = [&](std::uint8_t priority) {
    for (int i = 0; i < 50; ++i) {
      fip::FipMessage message{fip::Operation::discovery,
                              fip::subcode::discovery_advertisement,
                              fip::flag::fpma | fip::flag::available,
                              {},
                              {}};
      wire::MacAddress mac = station_mac(0);
      wire::store_big<4>(mac.bytes.data() + 2, 0x01000000 + ++next);
      message.descriptors = {fip::Priority{priority}, fip::Mac{mac}, fip::NameId{{next}},
                             fip::Fabric{1, 0x0EFC00, {next}},
                             fip::FkaAdvPeriod{false, 0xFFFF'FFFF}};  // they would stay for minutes
      world.inject(station.ethernet, message, wire::group_mac::all_enode, mac);
    }
  };
  flood(1);
  world.start_fcf();
  for (int i = 0; i < 1000 && !station.port.online(); ++i) {
    flood(1);
    world.run_for(20 * millisecond);
  }
  EXPECT_TRUE(station.port.online());
  for (int i = 0; i < 1000; ++i) {
    flood(0);
    world.run_for(20 * millisecond);
  }
  EXPECT_TRUE(station.node->logged_in());  // the one that is used stays
  EXPECT_EQ(station.node->known_fcfs().size(), FcfTable::max_fcfs);
  EXPECT_EQ(station.node->counters().unexpected_events, 0U);
}

// An accept that grants another MAC than that of its N_Port_ID, and then nothing: the ENode has no address from it.
TEST(ENodeHostileFcf, accept_with_wrong_mac_is_not_taken) {
  struct Forge final : EthernetFault {
    void befall(EthernetSegment& segment, SegmentPort& from, EthernetFrame frame) override {
      auto bytes = frame.to_bytes();
      const bool reply = bytes.size() == 176 && bytes[13] == 0x14 && bytes[19] == fip::subcode::link_service_reply;
      if (reply) bytes.back() ^= 1;
      segment.carry(from, EthernetFrame::of(segment.pool(), bytes));
    }
  } forge;
  EthernetWorld world;
  world.segment.set_fault(&forge);
  world.start_fcf();
  EStation& station = world.add_e_node();
  world.run_for(10 * second);
  EXPECT_FALSE(station.port.online());
  EXPECT_EQ(station.node->counters().discarded(FcoeDiscard::BadFip), 2U);  // it asked again
  EXPECT_EQ(station.node->state_name(), "LoginPending");
}

}  // namespace
}  // namespace fc2::fcoe
