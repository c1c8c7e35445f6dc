// N_Port_ID virtualization: several N_Ports on one link (FLOGI, then FDISC), at the F_Port and at the N_Ports (FC-LS).
#include <gtest/gtest.h>

#include "fc2_fabric/switch/f_port.hpp"
#include "fc2_fabric/switch/name_server.hpp"
#include "fc2_fabric/node/shared_link.hpp"
#include "tests/support/frame_log.hpp"
#include "tests/support/login_listener.hpp"
#include "tests/support/made_frame.hpp"
#include "tests/support/port_pair.hpp"
#include "tests/support/test_fabric.hpp"
#include "wire/line_rate.hpp"

namespace fc2 {
namespace {
using wire::RCtl;
constexpr auto type = wire::Type::ip;

// Port 0 is the base of a shared link, ports 1 to `virtual_ports` share it; the last one is by itself.
class VirtualPortTest : public testing::Test {
 protected:
  explicit VirtualPortTest(std::size_t virtual_ports = 3, SwitchConfig config = {},
                           LinkConfig link = {.latency_ns = microsecond})
      : fabric(virtual_ports + 2, std::move(config),
               [&](NPortConfig& port, std::size_t i) { port.virtual_n_port = i != 0 && i <= virtual_ports; }),
        other(virtual_ports + 1), shared(fabric.pool, fabric.port(0)) {
    users.resize(fabric.size());
    for (std::size_t i = 0; i < fabric.size(); ++i) fabric.port(i).set_user(type, users[i]);
    for (std::size_t i = 1; i <= virtual_ports; ++i) shared.add(fabric.port(i));
    fabric.fabric.attach(shared, link);
    fabric.attach(other);
    fabric.run_for(second);
  }
  ~VirtualPortTest() override {
    fabric.fabric.detach(fabric.port(0));
    for (std::size_t i = 0; i < fabric.size(); ++i) EXPECT_EQ(fabric.port(i).counters().unexpected_events, 0U) << i;
  }
  [[nodiscard]] wire::FcId id(std::size_t i) { return fabric.port(i).n_port_id(); }
  void send(std::size_t from, wire::FcId to, std::size_t bytes = 64) {
    Exchange* exchange = fabric.port(from).originate(to, type, users[from]);
    fabric.port(from).send(*exchange, RCtl::unsolicited_control, {}, std::vector<std::uint8_t>(bytes),
                           {.last_of_exchange = true});
  }
  std::size_t received(std::size_t port) { return std::exchange(users[port].ius, {}).size(); }
  [[nodiscard]] std::size_t known() { return fabric.fabric.name_server().database().size(); }

  std::vector<support::RecordingUser> users;
  support::TestFabric fabric;
  const std::size_t other;
  SharedLink shared;
};

// Each has an address of its own, in the area of the F_Port, and its names are registered.
TEST_F(VirtualPortTest, logged_in_ports_have_addresses_of_one_area) {
  EXPECT_EQ(id(0), wire::FcId{0x010100});
  EXPECT_EQ(id(1), wire::FcId{0x010101});
  EXPECT_EQ(id(2), wire::FcId{0x010102});
  EXPECT_EQ(id(3), wire::FcId{0x010103});
  EXPECT_EQ(id(other), wire::FcId{0x010200});
  EXPECT_EQ(known(), 5U);
  EXPECT_EQ(*fabric.fabric.name_server().database().find_port_name(fabric.port(2).config().port_name), id(2));
}

// Frames find each of them; they also reach each other, and themselves.
TEST_F(VirtualPortTest, logged_in_ports_exchange_frames) {
  for (std::size_t from = 0; from <= other; ++from)
    for (std::size_t to = 0; to <= other; ++to) {
      send(from, id(to));
      fabric.run_for(millisecond);
      for (std::size_t i = 0; i <= other; ++i) EXPECT_EQ(received(i), i == to ? 1U : 0U) << from << to << i;
    }
  EXPECT_TRUE(fabric.log_in(1, other));
  EXPECT_TRUE(fabric.log_in(2, other));
  EXPECT_TRUE(fabric.log_in(1, 3));
  EXPECT_EQ(fabric.fabric.counters().discarded(), 0U);
}

// A broadcast goes to every port of the link but once.
TEST_F(VirtualPortTest, logged_in_broadcast_reaches_each_once) {
  send(other, wire::well_known::broadcast);
  fabric.run_for(millisecond);
  for (std::size_t i = 0; i < other; ++i) EXPECT_EQ(received(i), 1U) << i;
}

// One of a port of the link reaches the others of the link too, and not itself.
TEST_F(VirtualPortTest, logged_in_broadcast_reaches_the_others_of_the_link) {
  for (const std::size_t from : {0U, 2U}) {
    send(from, wire::well_known::broadcast);
    fabric.run_for(millisecond);
    for (std::size_t i = 0; i <= other; ++i) EXPECT_EQ(received(i), i == from ? 0U : 1U) << from << i;
  }
}

// LOGO of one: its address is free, the others stay; the next FDISC gets it.
TEST_F(VirtualPortTest, logged_out_virtual_port_is_gone) {
  const wire::FcId before = id(2);
  fabric.port(2).log_out_of_fabric();
  fabric.run_for(second);
  EXPECT_FALSE(fabric.port(2).online());
  EXPECT_TRUE(fabric.port(1).online() && fabric.port(3).online() && fabric.port(0).online());
  EXPECT_EQ(known(), 4U);
  shared.remove(fabric.port(2));
  shared.add(fabric.port(2));
  fabric.run_for(second);
  EXPECT_EQ(id(2), before);
}

// LOGO of the base ends all logins of the link.
TEST_F(VirtualPortTest, logged_out_base_takes_all_along) {
  shared.log_out();
  fabric.run_for(second);
  for (std::size_t i = 0; i < other; ++i) EXPECT_FALSE(fabric.port(i).online()) << i;
  EXPECT_EQ(known(), 1U);
}

// The link goes and comes: all log in again, with the same addresses.
TEST_F(VirtualPortTest, interrupted_link_logs_all_in_again) {
  fabric.fabric.link_of(fabric.port(0))->cut();
  fabric.run_for(second);
  EXPECT_EQ(known(), 5U);  // they may come back
  fabric.run_for(2 * second);
  EXPECT_EQ(known(), 1U);
  for (std::size_t i = 0; i < other; ++i) EXPECT_FALSE(fabric.port(i).online()) << i;
  fabric.fabric.link_of(fabric.port(0))->mend();
  fabric.run_for(second);
  EXPECT_EQ(known(), 5U);
  EXPECT_EQ(id(3), wire::FcId{0x010103});
}

// FC-VI 7.7.5, for each port of the link: FLOGI, FDISC, all addresses as before: exchanges go on, and what others
// sent meanwhile arrives.
TEST_F(VirtualPortTest, interrupted_unchanged_resumes) {
  for (std::size_t i = 0; i < other; ++i) ASSERT_TRUE(fabric.log_in(i, other));
  for (auto& user : users) user.ius.clear();
  std::array<support::LoginListener, 4> listeners;
  for (std::size_t i = 0; i < other; ++i) fabric.port(i).add_listener(listeners[i]);
  for (std::size_t i = 0; i < other; ++i)
    fabric.port(i).request(id(other), RCtl::unsolicited_control, type, std::vector<std::uint8_t>(8, 1), users[i], 0);
  fabric.run_for(millisecond);
  ASSERT_EQ(users[other].ius.size(), other);
  support::FrameLog log;
  fabric.fabric.tap(fabric.port(0), &log);
  Link& link = *fabric.fabric.link_of(fabric.port(0));
  link.b.fail();
  fabric.run_for(millisecond);
  link.cut();
  for (const auto& iu : users[other].ius)
    fabric.port(other).send(*iu.exchange, RCtl::solicited_control, {}, std::vector<std::uint8_t>(8, 2),
                            {.last_of_exchange = true});
  for (std::size_t i = 0; i < other; ++i) {
    EXPECT_TRUE(fabric.port(i).interrupted()) << i;
    send(other, id(i));
    send(i, id(other));
  }
  fabric.run_for(100 * millisecond);
  users[other].ius.clear();
  link.mend();
  fabric.run_for(second);
  EXPECT_EQ(log.sent(wire::els::Command::flogi), 2U);
  EXPECT_EQ(log.sent(wire::els::Command::fdisc), 2 * (other - 1));
  EXPECT_EQ(log.sent(wire::els::Command::logo) + log.received(wire::els::Command::logo), 0U);
  for (std::size_t i = 0; i < other; ++i) {
    EXPECT_EQ(id(i), wire::FcId{static_cast<std::uint32_t>(0x010100 + i)});
    EXPECT_EQ(received(i), 2U) << i;
    EXPECT_TRUE(users[i].failures.empty()) << i;
    EXPECT_EQ(listeners[i].events, "FF") << i;
    fabric.port(i).remove_listener(listeners[i]);
  }
  EXPECT_EQ(received(other), other);
  EXPECT_EQ(known(), 5U);
  fabric.fabric.tap(fabric.port(0), nullptr);
}

// It is unplugged while they are interrupted: all is over at once.
TEST_F(VirtualPortTest, interrupted_unplugged_logs_out) {
  for (std::size_t i = 0; i < other; ++i) ASSERT_TRUE(fabric.log_in(i, other));
  fabric.fabric.link_of(fabric.port(0))->cut();
  fabric.fabric.detach(fabric.port(0));
  for (std::size_t i = 0; i < other; ++i) {
    EXPECT_FALSE(fabric.port(i).interrupted());
    EXPECT_FALSE(fabric.port(i).remote_port(id(other)).logged_in());
  }
  EXPECT_EQ(known(), 1U);
  fabric.fabric.attach(shared);
}

// FC-LS: a FLOGI ends all logins of its link. The F_Port said so by LOGO: base and others log in anew.
TEST_F(VirtualPortTest, reset_link_logs_all_in_again) {
  dynamic_cast<FPort&>(*fabric.fabric.ingress_of(fabric.port(0))).reset_link();
  fabric.run_for(second);
  EXPECT_EQ(known(), 5U);
  for (std::size_t i = 0; i < other; ++i) EXPECT_TRUE(fabric.port(i).online()) << i;
}

// A virtual port may send under addresses of its link only.
TEST_F(VirtualPortTest, logged_in_forged_s_id_is_discarded) {
  const auto inject = [&](wire::FcId s_id) {
    const wire::FcHeader header{.r_ctl = RCtl::unsolicited_control,
                                .d_id = id(other),
                                .s_id = s_id,
                                .type = type,
                                .f_ctl = wire::f_ctl::single_frame_request | wire::f_ctl::last_sequence};
    fabric.fabric.ingress_of(fabric.port(0))->receive(support::made_frame(fabric.pool, header));
    fabric.run_for(millisecond);
  };
  inject({0x010104});
  inject(id(other));
  EXPECT_EQ(received(other), 0U);
  EXPECT_EQ(fabric.fabric.counters().discarded(Discard::WrongAddress), 2U);
  inject(id(1));
  EXPECT_EQ(received(other), 1U);
}

class LimitedVirtualPortTest : public VirtualPortTest {
 protected:
  LimitedVirtualPortTest()
      : VirtualPortTest(3, [] {
          SwitchConfig config;
          config.max_virtual_ports = 2;
          return config;
        }()) {}
};

// FC-LS: an F_Port that has no more addresses rejects FDISC: unable to perform, insufficient resources.
// The others stay.
TEST_F(LimitedVirtualPortTest, full_fdisc_is_rejected) {
  EXPECT_TRUE(fabric.port(1).online() && fabric.port(2).online());
  EXPECT_FALSE(fabric.port(3).online());
  support::FrameLog log;
  fabric.fabric.tap(fabric.port(0), &log);
  shared.remove(fabric.port(3));
  shared.add(fabric.port(3));
  fabric.run_for(20 * second);
  EXPECT_EQ(log.sent(wire::els::Command::fdisc),
            5U);  // unable to perform may pass: tried again, and anew after R_A_TOV
  const auto* frame = log.find(wire::els::Command::ls_rjt);
  ASSERT_NE(frame, nullptr);
  const auto reject = wire::els::LsRjt::parse(frame->data);
  EXPECT_EQ(reject->reason, wire::els::RejectReason::unable_to_perform);
  EXPECT_EQ(reject->explanation, wire::els::RejectExplanation::insufficient_resources);
}

class CreditedVirtualPortTest : public VirtualPortTest {
 protected:
  CreditedVirtualPortTest()
      : VirtualPortTest(3, {},
                        {.latency_ns = 10 * microsecond,
                         .bytes_per_second = wire::line_rate_bytes_per_second("1GFC"),
                         .bb_credit = 2}) {}
};

// The ports of a link share its credit: with little of it all get their turn, and no frame is lost.
TEST_F(CreditedVirtualPortTest, busy_ports_share_the_credit) {
  for (int i = 0; i < 50; ++i)
    for (std::size_t from = 0; from < other; ++from) send(from, id(other), 2000);
  fabric.run_for(second);
  EXPECT_EQ(received(other), 200U);
  for (int i = 0; i < 50; ++i)
    for (std::size_t to = 0; to < other; ++to) send(other, id(to), 2000);
  fabric.run_for(second);
  for (std::size_t to = 0; to < other; ++to) EXPECT_EQ(received(to), 50U);
  EXPECT_EQ(fabric.fabric.counters().discarded(), 0U);
}

}  // namespace
}  // namespace fc2
