// VN2VN nodes claim addresses, know each other, and log in without a fabric (FC-BB-6; timed as Linux does).
#include "fc2_fabric/fcoe/vn2vn_node.hpp"

#include <gtest/gtest.h>

#include "tests/fc2_fabric/fcoe/ethernet_world.hpp"
#include "tests/support/port_pair.hpp"
#include "tests/support/source_dir.hpp"
#include "tests/wire/capture_file.hpp"

namespace fc2::fcoe {
namespace {
namespace fip = wire::fip;
using support::EthernetWorld;
using support::station_mac;
using support::VnStation;

class Vn2vnTest : public testing::Test {
 protected:
  ~Vn2vnTest() override {
    for (const VnStation* station : stations) {
      EXPECT_EQ(station->node->counters().unexpected_events, 0U);
      EXPECT_EQ(station->port.counters().unexpected_events, 0U);
    }
  }
  VnStation& add(Vn2vnConfig config = {}, std::uint16_t mtu = 2500, Vn2vnListener* listener = nullptr) {
    return *stations.emplace_back(&world.add_vn2vn(config, mtu, {}, listener));
  }
  bool all_up() {
    return world.run_until(
        [&] {
          return std::all_of(stations.begin(), stations.end(), [](const VnStation* one) { return one->node->up(); });
        },
        200 * second);
  }
  EthernetWorld world;
  std::vector<VnStation*> stations;
};

// Probe, probe 100 ms later, claim after 400 ms, beacon after 400 ms more; then one every 8 s: as Linux.
TEST_F(Vn2vnTest, alone_claims_its_address) {
  VnStation& station = add({.beacon_fuzz = 0});
  const TimeNs start = world.scheduler.now();
  world.run_for(20 * second);
  EXPECT_EQ(station.port.n_port_id(), wire::FcId{0x000001});  // the low bits of the Port_Name
  EXPECT_TRUE(station.port.online());
  EXPECT_FALSE(station.port.has_fabric());
  const std::vector<std::pair<std::string, TimeNs>> expected{
      {"Probe Request", 0},          {"Probe Request", 100 * millisecond}, {"Claim Notification", 500 * millisecond},
      {"Beacon", 900 * millisecond}, {"Beacon", 8900 * millisecond},       {"Beacon", 16900 * millisecond}};
  std::vector<std::pair<std::string, TimeNs>> sent;
  for (const auto& entry : station.log.entries) {
    sent.emplace_back(entry.fip->message_name(), entry.at - start);
    EXPECT_EQ(entry.destination, wire::group_mac::all_vn2vn);
    const bool beacon = entry.is(fip::Operation::vn2vn, fip::subcode::beacon);
    EXPECT_EQ(entry.source, beacon ? wire::mac_of({1}, wire::vn2vn_fc_map) : station_mac(1));
  }
  EXPECT_EQ(sent, expected);
}

// Each message has the descriptors of Linux's, in its order, with its flags.
TEST_F(Vn2vnTest, messages_are_shaped_as_those_of_linux) {
  VnStation& a = add();
  add();
  ASSERT_TRUE(all_up());
  const auto shape = [](const fip::FipMessage& message) {
    std::string text = std::string(message.message_name()) + " " + std::to_string(message.flags);
    for (const auto& descriptor : message.descriptors) text += " " + std::to_string(descriptor.index());
    return text;
  };
  std::map<std::uint8_t, std::string> linux_shapes;
  for (const auto& captured : wire::test::read_capture(support::source_dir() + "/tests/data/linux-vn2vn.pcap")) {
    const auto message = fip::FipMessage::parse(wire::Bytes(captured.bytes).subspan(wire::EthernetHeader::size()));
    if (message && message->operation == fip::Operation::vn2vn) linux_shapes[message->subcode] = shape(*message);
  }
  std::size_t compared = 0;
  for (const auto& entry : a.log.entries) {
    if (!entry.fip || entry.fip->operation != fip::Operation::vn2vn) continue;
    EXPECT_EQ(shape(*entry.fip), linux_shapes[entry.fip->subcode]);
    ++compared;
  }
  EXPECT_GE(compared, 8U);
}

// Two nodes know each other and log in; frames go from VN_Port MAC to VN_Port MAC.
TEST_F(Vn2vnTest, two_nodes_log_in) {
  VnStation& a = add();
  VnStation& b = add();
  ASSERT_TRUE(all_up());
  world.run_for(second);
  EXPECT_EQ(a.node->neighbours().size(), 1U);
  EXPECT_EQ(a.node->neighbours().at(b.port.n_port_id()).e_node, station_mac(2));
  EXPECT_EQ(b.node->neighbours().size(), 1U);
  ASSERT_TRUE(world.log_in(a.port, b.port));
  std::size_t fcoe = 0;
  for (const auto& entry : a.log.entries) {
    if (entry.type != wire::EtherType::fcoe) continue;
    ++fcoe;
    EXPECT_EQ(entry.outbound ? entry.source : entry.destination, wire::mac_of(a.port.n_port_id(), wire::vn2vn_fc_map));
    EXPECT_EQ(entry.outbound ? entry.destination : entry.source, wire::mac_of(b.port.n_port_id(), wire::vn2vn_fc_map));
  }
  EXPECT_EQ(fcoe, 2U);
}

// A claim's response is as long as the claimant's largest frame.
TEST_F(Vn2vnTest, claim_response_has_full_size) {
  VnStation& a = add({}, 2500);
  ASSERT_TRUE(all_up());
  add({}, 1500);
  ASSERT_TRUE(all_up());
  const auto responses = a.log.sent(fip::Operation::vn2vn, fip::subcode::claim_response);
  ASSERT_EQ(responses.size(), 1U);
  EXPECT_EQ(responses[0]->bytes.size(), 1514U);
}

// Both want one address from the start: the higher Port_Name has it, the other takes another.
TEST_F(Vn2vnTest, same_first_id_higher_name_keeps_it) {
  VnStation& low = add({.first_id = {0x0E01}});
  VnStation& high = add({.first_id = {0x0E01}});
  ASSERT_TRUE(all_up());
  EXPECT_EQ(high.port.n_port_id(), wire::FcId{0x000E01});
  EXPECT_NE(low.port.n_port_id(), wire::FcId{0x000E01});
  EXPECT_TRUE(world.log_in(low.port, high.port));
}

// Who owns an address keeps it against a newcomer, whatever the names.
TEST_F(Vn2vnTest, owner_keeps_its_address) {
  VnStation& owner = add({.first_id = {0x0E01}});
  ASSERT_TRUE(all_up());
  VnStation& newcomer = add({.first_id = {0x0E01}});
  ASSERT_TRUE(all_up());
  EXPECT_EQ(owner.port.n_port_id(), wire::FcId{0x000E01});
  EXPECT_NE(newcomer.port.n_port_id(), wire::FcId{0x000E01});
}

// Two networks become one, and an address has two owners: the beacon shows it, the lower name gives way.
TEST_F(Vn2vnTest, two_owners_meet) {
  struct Split final : EthernetFault {
    void befall(EthernetSegment&, SegmentPort&, EthernetFrame) override {}
  } split;
  world.segment.set_fault(&split);
  VnStation& low = add({.first_id = {0x0E01}});
  VnStation& high = add({.first_id = {0x0E01}});
  ASSERT_TRUE(all_up());
  EXPECT_EQ(low.port.n_port_id(), high.port.n_port_id());
  world.segment.set_fault(nullptr);
  world.run_for(10 * second);
  ASSERT_TRUE(all_up());
  EXPECT_EQ(high.port.n_port_id(), wire::FcId{0x000E01});
  EXPECT_NE(low.port.n_port_id(), wire::FcId{0x000E01});
}

// The seed fixes what is drawn: the same world comes to the same addresses.
TEST(Vn2vnSeed, same_seed_same_addresses) {
  const auto address = [](std::uint64_t seed) {
    EthernetWorld world;
    world.add_vn2vn({.first_id = {5}, .seed = seed});
    VnStation& second_one = world.add_vn2vn({.first_id = {5}, .seed = seed});
    VnStation& third = world.add_vn2vn({.first_id = {5}, .seed = seed});
    world.run_for(60 * second);
    EXPECT_TRUE(second_one.node->up() && third.node->up());
    return std::pair(second_one.port.n_port_id(), third.port.n_port_id());
  };
  EXPECT_EQ(address(1), address(1));
  EXPECT_NE(address(1), address(2));
}

// 7.7: a neighbour that is silent for 2.5 beacon intervals is gone, and its logins end.
TEST_F(Vn2vnTest, silent_neighbour_is_logged_out) {
  struct Listener final : Vn2vnListener {
    void neighbour_appeared(const Vn2vnNeighbour&) override { ++appeared; }
    void neighbour_gone(const Vn2vnNeighbour&) override { ++gone; }
    int appeared = 0, gone = 0;
  } listener;
  VnStation& a = add({}, 2500, &listener);
  VnStation& b = add();
  ASSERT_TRUE(all_up());
  ASSERT_TRUE(world.log_in(a.port, b.port));
  const wire::FcId b_id = b.port.n_port_id();
  b.ethernet.set_carrier(false);
  world.run_for(19 * second - 8 * second - second);
  EXPECT_TRUE(a.port.remote_port(b_id).logged_in());
  world.run_for(12 * second);
  EXPECT_FALSE(a.port.remote_port(b_id).logged_in());
  EXPECT_TRUE(a.node->neighbours().empty());
  EXPECT_EQ(listener.appeared, 1);
  EXPECT_EQ(listener.gone, 1);
  b.ethernet.set_carrier(true);
  ASSERT_TRUE(all_up());
  EXPECT_EQ(b.port.n_port_id(), b_id);  // persistent
  EXPECT_TRUE(world.run_until([&] { return a.node->neighbours().size() == 1; }));
  EXPECT_TRUE(world.log_in(a.port, b.port));
}

// ... not a nanosecond before, counted from its latest beacon.
TEST_F(Vn2vnTest, silent_neighbour_is_gone_after_two_and_a_half_intervals) {
  VnStation& a = add();
  VnStation& b = add();
  ASSERT_TRUE(all_up());
  world.run_for(30 * second);
  b.ethernet.set_carrier(false);
  const TimeNs heard = a.node->neighbours().begin()->second.heard;
  EXPECT_GT(heard, 20 * second);
  world.scheduler.run_until(heard + 20 * second - 1);
  EXPECT_EQ(a.node->neighbours().size(), 1U);
  world.scheduler.run_until(heard + 20 * second);
  EXPECT_TRUE(a.node->neighbours().empty());
}

// The carrier goes: the link of the N_Port goes at once.
TEST_F(Vn2vnTest, carrier_loss_takes_the_link_down) {
  VnStation& a = add();
  ASSERT_TRUE(all_up());
  a.ethernet.set_carrier(false);
  EXPECT_FALSE(a.port.online());
  EXPECT_EQ(a.node->state_name(), "Offline");
}

// A port that sends to itself: the Ethernet brings nothing back, the node does.
TEST_F(Vn2vnTest, frames_to_oneself_come_back) {
  VnStation& a = add();
  ASSERT_TRUE(all_up());
  a.port.remote_port(a.port.n_port_id()).log_in();
  world.run_for(second);
  EXPECT_TRUE(a.port.remote_port(a.port.n_port_id()).logged_in());
}

// FARP and other broadcasts go to the group of all VN2VN nodes, and are taken from there.
TEST_F(Vn2vnTest, broadcast_reaches_every_node) {
  VnStation& a = add();
  VnStation& b = add();
  VnStation& c = add();
  ASSERT_TRUE(all_up());
  world.run_for(second);
  support::FrameLog b_frames, c_frames;
  b.node->tap(&b_frames);
  c.node->tap(&c_frames);
  FramePtr frame = support::broadcast_frame(world.pool, a.port.n_port_id());
  a.port.transmitter().send(std::move(frame));
  world.run_for(millisecond);
  EXPECT_EQ(a.log.entries.back().destination, wire::group_mac::all_vn2vn);
  EXPECT_EQ(b_frames.size(), 1U);
  EXPECT_EQ(c_frames.size(), 1U);
}

// FC-BB-6, as RFT_ID: a claim tells the FC-4 TYPEs of those that use the port, and no other.
TEST_F(Vn2vnTest, claim_tells_the_fc4s_of_the_port) {
  support::RecordingUser user;
  const auto claimed_types = [&](const std::vector<wire::Type>& offered) {
    VnStation& station = add();
    for (const wire::Type type : offered) station.port.set_user(Fc4{.type = type}, user);
    EXPECT_TRUE(all_up());
    const auto claims = station.log.sent(fip::Operation::vn2vn, fip::subcode::claim_notification);
    EXPECT_FALSE(claims.empty());
    const auto* features = claims.empty() ? nullptr : claims[0]->fip->find<fip::Fc4Features>();
    return features == nullptr ? decltype(fip::Fc4Features::types){} : features->types;
  };
  decltype(fip::Fc4Features::types) none{}, fc_vi{}, both{};
  fc_vi[8] = both[8] = 0x01;  // word 2, bit 24: 58h
  both[2] = 0x01;             // word 0, bit 8: 08h
  EXPECT_EQ(claimed_types({}), none);
  EXPECT_EQ(claimed_types({wire::Type::fc_vi}), fc_vi);
  EXPECT_EQ(claimed_types({wire::Type::fcp, wire::Type::fc_vi}), both);
}

// Linux asks a neighbour for FLOGI before PLOGI: answered inside FIP, without the F_Port bit; the higher name
// then logs in.
TEST_F(Vn2vnTest, flogi_of_a_neighbour_is_answered) {
  VnStation& ours = add({.first_id = {0x0E03}});
  ASSERT_TRUE(all_up());
  for (const auto& captured : wire::test::read_capture(support::source_dir() + "/tests/data/linux-vn2vn.pcap")) {
    auto bytes = captured.bytes;
    const auto message = fip::FipMessage::parse(wire::Bytes(bytes).subspan(wire::EthernetHeader::size()));
    if (!message || wire::load_big<6>(bytes.data() + 6) == 0x5254'00FC'0E01) continue;
    if (message->operation == fip::Operation::link_service && message->subcode == 1) {
      std::copy_n(station_mac(1).bytes.begin(), 6, bytes.begin());
      bytes[14 + 10 + 4 + 3] = 0x03;  // D_ID 000E01 becomes ours
    }
    world.segment.inject(ours.ethernet, bytes);
    world.run_for(10 * millisecond);
  }
  const auto replies = ours.log.sent(fip::Operation::link_service, fip::subcode::link_service_reply);
  ASSERT_EQ(replies.size(), 1U);
  const auto& frame = std::get<fip::EncapsulatedFrame>(replies[0]->fip->descriptors.at(0)).fc_frame;
  const auto accept = wire::els::Login::parse(wire::Bytes(frame).subspan(frame_header_bytes));
  ASSERT_TRUE(accept);
  EXPECT_EQ(accept->command, wire::els::Command::ls_acc);
  EXPECT_FALSE(accept->has(wire::els::feature::f_port));
  EXPECT_EQ(std::get<fip::Mac>(replies[0]->fip->descriptors.at(1)).address, wire::mac_of({0x0E03}, wire::vn2vn_fc_map));
  // 20:00:52:54... is higher than our 20:00:02:fc...: it is Linux that sends the PLOGI.
  EXPECT_EQ(ours.port.remote_port({0x0E02}).state_name(), "LoggedOut");
}

}  // namespace
}  // namespace fc2::fcoe
