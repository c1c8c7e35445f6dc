// What an FCF tells its operator, and whom it lets log in (issue 13, C8).
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

/// One line for each event, as a log would have it.
class Listener final : public FcfListener {
 public:
  void logins_changed() override {}
  void happened(const FcfEvent& event) override {
    lines.push_back(std::string(event.interface) + " " + std::to_string(event.e_node.bytes[5]) + " " +
                    std::string(to_string(event.kind)) + " " + std::to_string(event.n_port_id.value) + " (" +
                    std::string(event.why) + ")");
  }
  std::vector<std::string> take() { return std::exchange(lines, {}); }
  std::vector<std::string> lines;
};

class FcfOperatorTest : public testing::Test {
 protected:
  EthernetWorld& start(FcfConfig config = {}) {
    config.listener = &listener;
    world.emplace(config);
    world->start_fcf();
    world->fcf_port.tap(&log);
    return *world;
  }
  void inject(const fip::FipMessage& message, std::size_t station) {
    world->inject(world->fcf_port, message, fcf_mac, station_mac(station));
    world->run_for(millisecond);
  }
  void flogi(std::size_t station, wire::Wwn name) { inject(login_request(fip::DescriptorType::flogi, name), station); }
  void fdisc(std::size_t station, wire::Wwn name) { inject(login_request(fip::DescriptorType::fdisc, name), station); }
  void solicit(std::size_t station) {
    fip::FipMessage message{fip::Operation::discovery, fip::subcode::discovery_solicitation, fip::flag::fpma, {}, {}};
    message.descriptors = {fip::Mac{station_mac(station)}, fip::NameId{{0x70}}, fip::MaxFcoeSize{2158}};
    inject(message, station);
  }
  std::uint64_t count(FcoeDiscard reason) { return world->interface().counters().discarded(reason); }
  [[nodiscard]] std::size_t advertised() const {
    return log.sent(fip::Operation::discovery, fip::subcode::discovery_advertisement).size();
  }
  [[nodiscard]] int latest_answer() const {
    const auto answers = log.sent(fip::Operation::link_service, fip::subcode::link_service_reply);
    return answers.empty() ? 0 : answers.back()->fip->find<fip::EncapsulatedFrame>()->fc_frame.at(frame_header_bytes);
  }
  using Lines = std::vector<std::string>;
  Listener listener;
  support::EthernetLog log;
  std::optional<EthernetWorld> world;
};

std::string line(std::size_t station, const char* kind, std::uint32_t id, const char* why) {
  return "fcf " + std::to_string(station) + " " + kind + " " + std::to_string(id) + " (" + why + ")";
}
// A login, one more on its link, and both logouts.
TEST_F(FcfOperatorTest, logins_and_logouts_are_told) {
  start();
  flogi(7, {0x77});
  ASSERT_EQ(listener.lines.size(), 1U);
  const wire::FcId id = world->interface().links().begin()->second->vn_ports().front().id;
  EXPECT_EQ(listener.take(), Lines{line(7, "logged in", id.value, "FLOGI")});
  fdisc(7, {0x78});
  const wire::FcId second = world->interface().links().begin()->second->vn_ports().back().id;
  EXPECT_EQ(listener.take(), Lines{line(7, "logged in", second.value, "FDISC")});
  inject(login_request(fip::DescriptorType::logo, {0x78}, second), 7);
  EXPECT_EQ(listener.take(), Lines{line(7, "logged out", second.value, "LOGO")});
  inject(login_request(fip::DescriptorType::logo, {0x77}, id), 7);
  EXPECT_EQ(listener.take(), Lines{line(7, "logged out", id.value, "LOGO")});
}

// An ENode that falls silent, and all when the FCF ends.
TEST_F(FcfOperatorTest, cleared_links_are_told_with_the_reason) {
  start();
  flogi(7, {0x77});
  listener.take();
  world->run_for(6 * second);
  EXPECT_EQ(listener.take(), Lines{line(7, "links cleared", 0, "silent for 2.5 keep-alive periods")});
  flogi(7, {0x77});
  listener.take();
  world->run_for(millisecond);
  solicit(7);
  world->run_for(6 * second);
  EXPECT_EQ(listener.take(), Lines{line(7, "logged out", 0, "no keep-alives, looks for an FCF anew")});
  flogi(8, {0x88});
  listener.take();
  world->fcf.stop();
  EXPECT_EQ(listener.take(), Lines{line(8, "links cleared", 0, "by the fabric")});
}

// The carrier goes at the FCF: that is why, and it is told although no message can leave.
TEST_F(FcfOperatorTest, links_that_end_with_the_carrier_are_told_with_the_reason) {
  start();
  flogi(7, {0x77});
  listener.take();
  world->fcf_port.set_carrier(false);
  EXPECT_EQ(listener.take(), Lines{line(7, "links cleared", 0, "the FCF has no carrier")});
  EXPECT_TRUE(log.sent(fip::Operation::control, fip::subcode::clear_virtual_links).empty());
}

// A rejection with its reason: here a Port_Name that somebody else has.
TEST_F(FcfOperatorTest, rejections_are_told_with_the_reason) {
  start();
  flogi(7, {0x77});
  listener.take();
  flogi(8, {0x77});
  EXPECT_EQ(latest_answer(), 1);
  ASSERT_EQ(listener.lines.size(), 1U);
  EXPECT_EQ(listener.lines[0], line(8, "rejected", 0, "invalid_port_or_fabric_name"));
}

// The ENode that makes room, and what it is told.
TEST_F(FcfOperatorTest, evictions_are_told) {
  start({.max_enodes = 1});
  flogi(7, {0x77});
  listener.take();
  flogi(8, {0x88});
  ASSERT_EQ(listener.lines.size(), 3U);
  EXPECT_EQ(listener.lines[0], line(7, "links cleared", 0, "no life since FLOGI, and no room"));
  EXPECT_EQ(listener.lines[1], line(7, "evicted", 0, "no life since FLOGI, and no room"));
  EXPECT_EQ(listener.lines[2].substr(0, 15), "fcf 8 logged in");
}

// With an allow list: by MAC address, by Port_Name or Node_Name; nobody else, and that is told and counted.
TEST_F(FcfOperatorTest, allow_list_lets_in_whom_it_names) {
  FcfConfig config;
  config.limits.allowed_macs = {station_mac(7)};
  config.limits.allowed_names = {{0x88}};
  start(config);
  flogi(9, {0x99});
  EXPECT_EQ(latest_answer(), 1);
  EXPECT_EQ(count(FcoeDiscard::NotAllowed), 1U);
  EXPECT_EQ(listener.take(), Lines{line(9, "rejected", 0, "not allowed to log in")});
  EXPECT_EQ(world->interface().enode_count(), 0U);
  flogi(7, {0x77});
  EXPECT_EQ(latest_answer(), 2);
  flogi(8, {0x88});
  EXPECT_EQ(latest_answer(), 2);
  fdisc(8, {0x8888});  // another port of it is not named
  EXPECT_EQ(latest_answer(), 1);
  EXPECT_EQ(count(FcoeDiscard::NotAllowed), 2U);
  EXPECT_EQ(world->interface().vn_port_count(), 2U);
}

// One station's FLOGIs beyond the rate are not answered and counted; another's are, and its own later on.
TEST_F(FcfOperatorTest, flogis_of_one_station_have_a_rate) {
  FcfConfig config;
  config.limits.requests_per_second = 4;
  start(config);
  for (int i = 0; i < 100; ++i) flogi(7, {0x77});
  EXPECT_EQ(count(FcoeDiscard::TooOften), 92U);
  const std::size_t answers = log.sent(fip::Operation::link_service, fip::subcode::link_service_reply).size();
  EXPECT_EQ(answers, 8U);
  flogi(8, {0x88});
  EXPECT_EQ(count(FcoeDiscard::TooOften), 92U);
  world->run_for(second);
  flogi(7, {0x77});
  EXPECT_EQ(count(FcoeDiscard::TooOften), 92U);
}

// The same of solicitations, whose answers are as long as the largest frame.
TEST_F(FcfOperatorTest, solicitations_of_one_station_have_a_rate) {
  start();
  const std::size_t before = advertised();
  for (int i = 0; i < 100; ++i) solicit(7);
  EXPECT_EQ(count(FcoeDiscard::TooOften), 80U);
  EXPECT_EQ(advertised() - before, 20U);
}

// A rate of 0 is none.
TEST_F(FcfOperatorTest, rate_of_zero_is_no_limit) {
  FcfConfig config;
  config.limits.requests_per_second = 0;
  start(config);
  for (int i = 0; i < 100; ++i) flogi(7, {0x77});
  EXPECT_EQ(count(FcoeDiscard::TooOften), 0U);
}

// More VN_Ports than one host may have.
TEST_F(FcfOperatorTest, logins_of_one_host_are_limited) {
  FcfConfig config;
  config.limits.logins_per_enode = 2;
  start(config);
  flogi(7, {0x77});
  fdisc(7, {0x78});
  EXPECT_EQ(latest_answer(), 2);
  fdisc(7, {0x79});
  EXPECT_EQ(latest_answer(), 1);
  EXPECT_EQ(count(FcoeDiscard::TooManyLogins), 1U);
  EXPECT_EQ(world->interface().vn_port_count(), 2U);
  EXPECT_EQ(listener.lines.back(), line(7, "rejected", 0, "too many logins of one host"));
}

// Any number of stations leaves the table as large as it is; those of before are forgotten first.
TEST(FipAdmission, sources_are_bounded) {
  FipAdmission admission({.requests_per_second = 1});
  wire::MacAddress mac{};
  for (std::uint32_t i = 0; i < 3 * FipAdmission::max_sources; ++i) {
    wire::store_big<4>(mac.bytes.data() + 2, i);
    ASSERT_TRUE(admission.take(mac, second));
  }
  EXPECT_TRUE(admission.take(mac, second));
  EXPECT_FALSE(admission.take(mac, second));
}

}  // namespace
}  // namespace fc2::fcoe
