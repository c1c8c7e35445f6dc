// What FCFs and the Ethernet may do to an ENode at any step of its login: another FCF appears, the one that it uses is
// gone, cleared or silent, VLANs are told late, the carrier goes (FC-BB-5).
#include <gtest/gtest.h>

#include "tests/fc2_fabric/fcoe/hostile.hpp"

namespace fc2::fcoe {
namespace {
namespace fip = wire::fip;
using support::fcf_mac;
using support::station_mac;

class FcfChanges : public testing::Test {
 protected:
  FcfChanges() : station(world.add_e_node({.discover_vlans = true})) {}
  ~FcfChanges() override { EXPECT_EQ(station.node->counters().unexpected_events, 0U); }
  /// The FCF with this number advertises; an answer to a solicitation, of full size.
  void advertise(std::size_t fcf, std::uint16_t flags = fip::flag::available, std::uint64_t switch_name = 0x77) {
    fip::FipMessage message{fip::Operation::discovery,
                            fip::subcode::discovery_advertisement,
                            static_cast<std::uint16_t>(fip::flag::fpma | fip::flag::solicited | flags),
                            {},
                            {}};
    message.descriptors = {fip::Priority{128}, fip::Mac{station_mac(fcf)}, fip::NameId{{switch_name}},
                           fip::Fabric{1, 0x0EFC00, {9}}, fip::FkaAdvPeriod{false, 8000}};
    message.padding.resize(max_fcoe_size(2500) - message.size());
    world.inject(station.ethernet, message, station_mac(1), station_mac(fcf));
  }
  void tell_vlan(std::uint16_t vlan) {
    fip::FipMessage message{fip::Operation::vlan, fip::subcode::vlan_notification, fip::flag::f_port, {}, {}};
    message.descriptors = {fip::Mac{fcf_mac}, fip::Vlan{vlan}};
    world.inject(station.ethernet, message, station_mac(1), fcf_mac);
  }
  [[nodiscard]] std::size_t solicitations() const {
    return station.log.sent(fip::Operation::discovery, fip::subcode::discovery_solicitation).size();
  }
  [[nodiscard]] std::size_t requests() const {
    return station.log.sent(fip::Operation::link_service, fip::subcode::link_service_request).size();
  }
  [[nodiscard]] std::string state() const { return std::string(station.node->state_name()); }
  /// An FCF that answers no FLOGI is chosen.
  void wait_for_login() {
    world.run_for(10 * millisecond);
    advertise(50);
    world.run_for(second);
    ASSERT_EQ(state(), "LoginPending");
    station.log.entries.clear();
  }
  void log_in() {
    world.start_fcf();
    ASSERT_TRUE(world.run_until([&] { return station.node->logged_in() && station.port.online(); }, 20 * second));
    station.log.entries.clear();
  }
  void log_out() {
    log_in();
    station.port.log_out_of_fabric();
    world.run_for(millisecond);
    ASSERT_EQ(state(), "LoggedOut");
    station.log.entries.clear();
  }
  void clear_links() {
    fip::FipMessage message{fip::Operation::control, fip::subcode::clear_virtual_links, fip::flag::fpma, {}, {}};
    message.descriptors = {fip::Mac{fcf_mac}, fip::NameId{fc2::SwitchConfig{}.switch_name}};
    world.inject(station.ethernet, message, station_mac(1), fcf_mac);
  }
  support::EthernetWorld world;
  support::EStation& station;
};

// The only FCF says that it takes no logins before it is chosen: no FLOGI; FCFs are looked for again.
TEST_F(FcfChanges, choosing_fcf_becomes_unavailable_solicits_again) {
  world.run_for(10 * millisecond);
  advertise(50);
  ASSERT_EQ(state(), "Choosing");
  advertise(50, 0);
  const std::size_t before = solicitations();
  world.run_for(second);
  EXPECT_EQ(state(), "Discovering");
  EXPECT_GT(solicitations(), before);
  EXPECT_EQ(requests(), 0U);
}

// A second FCF, and a VLAN, before one is chosen: that VLAN is solicited too; one of the two is chosen in time.
TEST_F(FcfChanges, choosing_another_fcf_and_a_vlan_are_taken_in) {
  world.run_for(10 * millisecond);
  advertise(50);
  advertise(51, fip::flag::available, 0x78);
  EXPECT_EQ(state(), "Choosing");
  const std::size_t before = solicitations();
  tell_vlan(7);
  EXPECT_EQ(solicitations(), before + 1);  // there
  world.run_for(second);
  EXPECT_EQ(state(), "LoginPending");
  EXPECT_EQ(requests(), 1U);
}

// While the FLOGI is under way another FCF and a VLAN change nothing.
TEST_F(FcfChanges, login_pending_another_fcf_and_a_vlan_are_only_known) {
  wait_for_login();
  advertise(51, fip::flag::available, 0x78);
  tell_vlan(7);
  EXPECT_EQ(state(), "LoginPending");
  EXPECT_EQ(station.node->known_fcfs().size(), 2U);
  EXPECT_EQ(solicitations() + requests(), 0U);
}

// The chosen FCF is another one all at once: what was sent to it is void, FCFs are looked for at once.
TEST_F(FcfChanges, login_pending_fcf_is_another_solicits) {
  wait_for_login();
  advertise(50, fip::flag::available, 0x79);
  EXPECT_EQ(solicitations(), 1U);
  world.run_for(second);
  EXPECT_EQ(state(), "LoginPending");
  EXPECT_EQ(requests(), 1U);
}

// The carrier goes while the FLOGI is under way: nothing is sent until it is back, and then all begins anew.
TEST_F(FcfChanges, login_pending_carrier_bounces_begins_anew) {
  wait_for_login();
  station.ethernet.set_carrier(false);
  EXPECT_EQ(state(), "Disabled");
  EXPECT_TRUE(station.node->known_fcfs().empty());
  world.run_for(100 * second);
  EXPECT_EQ(solicitations() + requests(), 0U);
  station.ethernet.set_carrier(true);
  EXPECT_EQ(solicitations(), 1U);
  log_in();
}

// The FCF advertises and answers no FLOGI: the N_Port gives up, and after a while FCFs are looked for again.
TEST_F(FcfChanges, login_pending_never_answered_looks_for_others) {
  wait_for_login();
  bool discovers = false;
  for (int i = 0; i < 200 && !discovers; ++i) {
    world.run_for(second);
    discovers = state() == "Discovering";
    if (!discovers) advertise(50);
  }
  EXPECT_TRUE(discovers);
  EXPECT_FALSE(station.port.online());
  log_in();
}

// A login stays where it is: another FCF and a VLAN are only known.
TEST_F(FcfChanges, logged_in_another_fcf_and_a_vlan_are_only_known) {
  log_in();
  const wire::FcId id = station.port.n_port_id();
  advertise(51);
  tell_vlan(7);
  world.run_for(second);
  EXPECT_TRUE(station.node->logged_in());
  EXPECT_EQ(station.port.n_port_id(), id);
  EXPECT_EQ(station.node->known_fcfs().size(), 2U);
  EXPECT_EQ(solicitations() + requests(), 0U);
}

// Logged out by its own LOGO: another FCF, a VLAN and Clear Virtual Links bring no login back.
TEST_F(FcfChanges, logged_out_nothing_brings_a_login) {
  log_out();
  advertise(51);
  tell_vlan(7);
  clear_links();
  world.run_for(10 * millisecond);
  EXPECT_EQ(state(), "LoggedOut");
  EXPECT_EQ(station.node->counters().discarded(), 0U);
  EXPECT_EQ(requests(), 0U);
}

// ... its FCF becomes silent: the node looks for FCFs.
TEST_F(FcfChanges, logged_out_fcf_silent_solicits) {
  log_out();
  world.fcf_port.set_carrier(false);
  world.run_for(25 * second);
  EXPECT_EQ(state(), "Discovering");
  EXPECT_GT(solicitations(), 0U);
}

// ... the carrier bounces: all begins anew, with a login.
TEST_F(FcfChanges, logged_out_carrier_bounces_logs_in) {
  log_out();
  station.ethernet.set_carrier(false);
  EXPECT_EQ(state(), "Disabled");
  station.ethernet.set_carrier(true);
  EXPECT_TRUE(world.run_until([&] { return station.node->logged_in() && station.port.online(); }, 20 * second));
}

}  // namespace
}  // namespace fc2::fcoe
