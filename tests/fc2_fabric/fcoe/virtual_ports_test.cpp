// Further N_Ports of one ENode: FDISC inside FIP (FC-BB-5; N_Port_ID virtualization).
#include <gtest/gtest.h>

#include "tests/fc2_fabric/fcoe/ethernet_world.hpp"
#include "tests/support/login_listener.hpp"

namespace fc2::fcoe {
namespace {
namespace fip = wire::fip;
using support::EStation;
using support::EthernetWorld;

class VirtualPortsTest : public testing::Test {
 protected:
  VirtualPortsTest() {
    world.start_fcf();
    station = &world.add_e_node();
    for (std::size_t i = 0; i < 3; ++i) {
      NPortConfig config = support::port_config(20 + i);
      config.virtual_n_port = true;
      virtual_ports.push_back(std::make_unique<NPort>(world.scheduler, world.pool, config));
      EXPECT_TRUE(station->node->add_virtual_port(*virtual_ports.back()));
    }
  }
  ~VirtualPortsTest() override {
    if (station->node != nullptr) {
      EXPECT_EQ(station->node->counters().unexpected_events, 0U);
    }
    EXPECT_EQ(world.interface().counters().unexpected_events, 0U);
    station->node.reset();
  }
  bool all_online() {
    return world.run_until(
        [&] {
          return station->port.online() && std::all_of(virtual_ports.begin(), virtual_ports.end(),
                                                       [](const auto& port) { return port->online(); });
        },
        20 * second);
  }
  EthernetWorld world;
  EStation* station = nullptr;
  std::vector<std::unique_ptr<NPort>> virtual_ports;
};

// Each has an address and a MAC of its own, and reaches the others through the FCF.
TEST_F(VirtualPortsTest, fdisc_brings_addresses) {
  ASSERT_TRUE(all_online());
  EXPECT_EQ(world.interface().enode_count(), 1U);
  EXPECT_EQ(world.interface().vn_port_count(), 4U);
  EXPECT_EQ(world.fabric.logged_in_ports(), 4U);
  EXPECT_NE(virtual_ports[0]->n_port_id(), virtual_ports[1]->n_port_id());
  for (const auto& port : virtual_ports) EXPECT_EQ(station->node->mac_of(*port), wire::mac_of(port->n_port_id()));
  EXPECT_TRUE(world.log_in(*virtual_ports[0], *virtual_ports[2]));
  EXPECT_TRUE(world.log_in(*virtual_ports[1], station->port));
}

// The FLOGI's login ends: theirs end with it, and come back with it.
TEST_F(VirtualPortsTest, logins_hang_on_the_first) {
  ASSERT_TRUE(all_online());
  EXPECT_TRUE(world.interface().log_out(station->port.n_port_id()));
  world.run_for(millisecond);
  EXPECT_EQ(world.fabric.logged_in_ports(), 0U);
  for (const auto& port : virtual_ports) EXPECT_FALSE(port->online());
  EXPECT_TRUE(all_online());
}

// Clear Virtual Links for one: that one logs in again, the others do not notice.
TEST_F(VirtualPortsTest, one_is_cleared) {
  ASSERT_TRUE(all_online());
  const wire::FcId cleared = virtual_ports[1]->n_port_id();
  EXPECT_TRUE(world.interface().log_out(cleared));
  world.run_for(millisecond / 2);
  EXPECT_TRUE(station->port.online());
  EXPECT_TRUE(virtual_ports[0]->online());
  EXPECT_TRUE(all_online());
  EXPECT_EQ(world.fabric.logged_in_ports(), 4U);
  const auto requests = station->log.sent(fip::Operation::link_service, fip::subcode::link_service_request);
  EXPECT_EQ(requests.size(), 5U);  // FLOGI, three FDISC, and one more
}

// LOGO of one inside FIP.
TEST_F(VirtualPortsTest, one_logs_out) {
  ASSERT_TRUE(all_online());
  virtual_ports[0]->log_out_of_fabric();
  world.run_for(second);
  EXPECT_FALSE(virtual_ports[0]->online());
  EXPECT_EQ(world.interface().vn_port_count(), 3U);
  EXPECT_EQ(world.fabric.logged_in_ports(), 3U);
  EXPECT_FALSE(station->node->mac_of(*virtual_ports[0]));
}

// LOGO of the first ends the login of the link (FC-LS): the others may not go on as if they had theirs.
TEST_F(VirtualPortsTest, first_logs_out_and_takes_all_along) {
  ASSERT_TRUE(all_online());
  station->port.log_out_of_fabric();
  world.run_for(second);
  EXPECT_EQ(world.fabric.logged_in_ports(), 0U);
  EXPECT_FALSE(station->port.online());
  for (const auto& port : virtual_ports) {
    EXPECT_FALSE(port->online());
    EXPECT_FALSE(station->node->mac_of(*port));
  }
}

// The keep-alive of each VN_Port keeps it, and only it: one that is taken away without a word is logged out in the end.
TEST_F(VirtualPortsTest, silent_one_is_logged_out) {
  ASSERT_TRUE(all_online());
  station->node->remove_virtual_port(*virtual_ports[2]);
  world.run_for(400 * second);
  EXPECT_EQ(world.interface().vn_port_count(), 3U);
  EXPECT_EQ(world.fabric.logged_in_ports(), 3U);
  EXPECT_TRUE(station->port.online());
  EXPECT_TRUE(virtual_ports[0]->online());
}

// ... 225 s after its latest one, not a nanosecond before (FC-BB-5: 2.5 times 90 s).
TEST_F(VirtualPortsTest, silent_one_is_gone_after_two_and_a_half_periods) {
  support::EthernetLog log;
  world.fcf_port.tap(&log);
  ASSERT_TRUE(all_online());
  world.run_for(200 * second);
  const wire::FcId silent = virtual_ports[2]->n_port_id();
  station->node->remove_virtual_port(*virtual_ports[2]);
  TimeNs heard = 0;
  for (const auto* entry : log.received(fip::Operation::control, fip::subcode::keep_alive)) {
    const auto* port = entry->fip->find<fip::VnPort>();
    if (port != nullptr && port->n_port_id == silent) heard = entry->at;
  }
  EXPECT_GT(heard, 90 * second);
  world.scheduler.run_until(heard + 225 * second - 1);
  EXPECT_EQ(world.interface().vn_port_count(), 4U);
  world.scheduler.run_until(heard + 225 * second);
  EXPECT_EQ(world.interface().vn_port_count(), 3U);
  world.fcf_port.tap(nullptr);
}

// FC-VI 7.7.5: the links are cleared, FLOGI and each FDISC bring the same addresses: logins stand, between them
// and to others.
TEST_F(VirtualPortsTest, cleared_links_unchanged_resume) {
  ASSERT_TRUE(all_online());
  EStation& other = world.add_e_node();
  ASSERT_TRUE(world.run_until([&] { return other.port.online(); }));
  ASSERT_TRUE(world.log_in(*virtual_ports[0], *virtual_ports[2]));
  ASSERT_TRUE(world.log_in(*virtual_ports[1], other.port));
  std::array<support::LoginListener, 3> listeners;
  for (std::size_t i = 0; i < 3; ++i) virtual_ports[i]->add_listener(listeners[i]);
  ASSERT_TRUE(world.interface().log_out(station->port.n_port_id()));
  world.run_for(millisecond);
  EXPECT_TRUE(virtual_ports[0]->interrupted());
  ASSERT_TRUE(all_online());
  world.run_for(second);
  for (const auto& listener : listeners) EXPECT_EQ(listener.events, "F");
  EXPECT_FALSE(virtual_ports[0]->remote_port(virtual_ports[2]->n_port_id()).suspended());
  EXPECT_FALSE(virtual_ports[1]->remote_port(other.port.n_port_id()).suspended());
  EXPECT_TRUE(other.port.remote_port(virtual_ports[1]->n_port_id()).logged_in());
  for (std::size_t i = 0; i < 3; ++i) virtual_ports[i]->remove_listener(listeners[i]);
}

// One is taken off while it is interrupted: its logins end at once.
TEST_F(VirtualPortsTest, interrupted_one_taken_off_logs_out) {
  ASSERT_TRUE(all_online());
  ASSERT_TRUE(world.log_in(*virtual_ports[0], *virtual_ports[1]));
  station->ethernet.set_carrier(false);
  EXPECT_TRUE(virtual_ports[0]->remote_port(virtual_ports[1]->n_port_id()).suspended());
  station->node->remove_virtual_port(*virtual_ports[0]);
  EXPECT_FALSE(virtual_ports[0]->interrupted());
  EXPECT_TRUE(virtual_ports[0]->logged_in_ports().empty());
  EXPECT_TRUE(virtual_ports[1]->interrupted());
}

// FC-LS: a FLOGI ends all logins of its link, and may have the Port_Name of one that logged in by FDISC.
TEST_F(VirtualPortsTest, flogi_in_the_name_of_a_virtual_port_is_accepted) {
  ASSERT_TRUE(all_online());
  NPortConfig config = virtual_ports[1]->config();
  config.virtual_n_port = false;
  NPort successor(world.scheduler, world.pool, config);
  station->node.reset();
  station->node = std::make_unique<ENode>(world.scheduler, world.pool, station->ethernet, successor);
  EXPECT_TRUE(world.run_until([&] { return successor.online(); }, second));  // before the FCF misses the former ENode
  EXPECT_EQ(world.fabric.logged_in_ports(), 1U);
  EXPECT_EQ(world.interface().vn_port_count(), 1U);
  station->node.reset();
}

}  // namespace
}  // namespace fc2::fcoe
