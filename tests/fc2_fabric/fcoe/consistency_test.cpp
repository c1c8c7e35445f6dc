// What the owners of the FIP machines say of themselves (state_machines/consistency.hpp): true between events, whatever
// happens, and false within a step.
#include <gtest/gtest.h>

#include "tests/fc2_fabric/fcoe/hostile.hpp"

namespace fc2::fcoe {
namespace {
namespace fip = wire::fip;
using support::EStation;
using support::station_mac;
using support::VnStation;

/// Asks an owner whenever one kind of FIP message leaves its Ethernet port: within the step that sends it.
template <class Owner>
class AsksWithin final : public EthernetTap {
 public:
  AsksWithin(SegmentPort& ethernet, const Owner& owner, fip::Operation operation, std::uint8_t subcode)
      : ethernet_(ethernet), owner_(owner), operation_(operation), subcode_(subcode) {
    ethernet_.tap(this);
  }
  ~AsksWithin() { ethernet_.tap(nullptr); }
  void ethernet_passed(TimeNs, const EthernetFrame& frame, bool outbound) override {
    if (!outbound || frame.type() != wire::EtherType::fip) return;
    const std::vector<std::uint8_t> bytes = frame.to_bytes();
    const auto message = fip::FipMessage::parse(wire::Bytes(bytes).subspan(wire::EthernetHeader::size()));
    if (message && message->operation == operation_ && message->subcode == subcode_)
      answers += owner_.is_consistent() ? '+' : '-';
  }
  std::string answers;  // + holds

 private:
  SegmentPort& ethernet_;
  const Owner& owner_;
  const fip::Operation operation_;
  const std::uint8_t subcode_;
};

class FcoeConsistency : public testing::Test {
 protected:
  /// All of them after each event.
  void run(TimeNs duration) {
    const TimeNs end = world.scheduler.now() + duration;
    while (world.scheduler.run_next(end)) expect_holds();
  }
  void expect_holds() {
    for (const EStation* station : e_nodes) EXPECT_TRUE(station->node->is_consistent()) << station->node->state_name();
    for (const VnStation* station : vn_nodes)
      EXPECT_TRUE(station->node->is_consistent()) << station->node->state_name();
    for (const auto& interface : world.fcf.interfaces())
      for (const auto& [mac, link] : interface->links()) EXPECT_TRUE(link->is_consistent()) << link->state_name();
  }
  support::EthernetWorld world;
  std::vector<EStation*> e_nodes;
  std::vector<VnStation*> vn_nodes;
};

// FC-BB-5: discovery, two logins on one ENode, carrier loss, logout and login, an FCF that goes and comes back.
TEST_F(FcoeConsistency, eNodeAndFcf_throughTheirLife_holds) {
  e_nodes = {&world.add_e_node(), &world.add_e_node()};
  expect_holds();
  run(5 * second);
  world.start_fcf();
  run(20 * second);
  ASSERT_TRUE(e_nodes[0]->node->logged_in());
  NPortConfig config = support::port_config(7);
  config.virtual_n_port = true;
  NPort further(world.scheduler, world.pool, config);
  e_nodes[0]->node->add_virtual_port(further);
  run(5 * second);
  EXPECT_TRUE(further.online());
  EXPECT_TRUE(world.log_in(e_nodes[0]->port, e_nodes[1]->port));
  e_nodes[0]->ethernet.set_carrier(false);
  expect_holds();
  run(second);
  e_nodes[0]->ethernet.set_carrier(true);
  run(20 * second);
  EXPECT_TRUE(e_nodes[0]->node->logged_in());
  e_nodes[1]->port.log_out_of_fabric();
  run(5 * second);
  EXPECT_EQ(e_nodes[1]->node->state_name(), "LoggedOut");
  EXPECT_TRUE(world.interface().log_out(e_nodes[0]->port.n_port_id()));
  expect_holds();
  run(30 * second);
  EXPECT_TRUE(e_nodes[0]->node->logged_in());
  world.fcf_port.set_carrier(false);
  run(60 * second);
  EXPECT_FALSE(e_nodes[0]->node->logged_in());
  world.fcf_port.set_carrier(true);
  run(60 * second);
  EXPECT_TRUE(e_nodes[0]->node->logged_in());
  e_nodes[0]->node->remove_virtual_port(further);
  expect_holds();
}

// FC-BB-6: nodes that want one address, carrier loss, one that goes for good.
TEST_F(FcoeConsistency, vn2vnNodes_throughTheirLife_hold) {
  for (int i = 0; i < 3; ++i) vn_nodes.push_back(&world.add_vn2vn({.first_id = {0x42}}));
  expect_holds();
  run(60 * second);
  for (const VnStation* station : vn_nodes) EXPECT_TRUE(station->node->up());
  EXPECT_TRUE(world.log_in(vn_nodes[0]->port, vn_nodes[1]->port));
  vn_nodes[0]->ethernet.set_carrier(false);
  expect_holds();
  run(second);
  vn_nodes[0]->ethernet.set_carrier(true);
  run(20 * second);
  EXPECT_TRUE(vn_nodes[0]->node->up());
  vn_nodes[2]->ethernet.set_carrier(false);
  run(100 * second);
  EXPECT_EQ(vn_nodes[0]->node->neighbours().size(), 1U);
}

// The time for an answer is over, and the next does not run yet.
TEST_F(FcoeConsistency, discovering_withinTheStepOfItsTime_doesNotHold) {
  e_nodes = {&world.add_e_node()};
  AsksWithin asks(e_nodes[0]->ethernet, *e_nodes[0]->node, fip::Operation::discovery,
                  fip::subcode::discovery_solicitation);
  run(5 * second);
  EXPECT_EQ(asks.answers, "-");
}

TEST_F(FcoeConsistency, probing_withinTheStepOfItsTime_doesNotHold) {
  vn_nodes = {&world.add_vn2vn()};
  AsksWithin asks(vn_nodes[0]->ethernet, *vn_nodes[0]->node, fip::Operation::vn2vn, fip::subcode::probe_request);
  run(200 * millisecond);
  EXPECT_EQ(asks.answers, "-") << "the second probe";
}

// The ENode's silence is found, and its supervision is over; it is told before it is forgotten.
TEST_F(FcoeConsistency, supervised_withinTheStepOfItsTime_doesNotHold) {
  world.start_fcf();
  const fip::FipMessage flogi = support::login_request(fip::DescriptorType::flogi, {0x77});
  world.inject(world.fcf_port, flogi, support::fcf_mac, station_mac(7));
  run(millisecond);
  const FcfLink& link = *world.interface().links().at(station_mac(7));
  ASSERT_EQ(link.state_name(), "LoggedIn");
  AsksWithin asks(world.fcf_port, link, fip::Operation::control, fip::subcode::clear_virtual_links);
  run(60 * second);
  EXPECT_EQ(asks.answers, "-");
}

}  // namespace
}  // namespace fc2::fcoe
