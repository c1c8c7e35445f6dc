#include "fc2_fabric/switch/switch.hpp"

#include <gtest/gtest.h>

#include "fc2_fabric/switch/fabric_controller.hpp"
#include "fc2_fabric/switch/name_server.hpp"
#include "tests/support/frame_log.hpp"
#include "tests/support/made_frame.hpp"
#include "tests/support/port_pair.hpp"
#include "tests/support/test_fabric.hpp"
#include "wire/els/rscn.hpp"
#include "wire/els/scr.hpp"
#include "wire/line_rate.hpp"

namespace fc2 {
namespace {

using support::LoggedFrame;
using wire::RCtl;
constexpr auto type = wire::Type::ip;  // any TYPE: the switch does not look

class SwitchTest : public testing::Test {
 protected:
  ~SwitchTest() override {
    for (std::size_t i = 0; i < fabric.size(); ++i) EXPECT_EQ(fabric.port(i).counters().unexpected_events, 0U) << i;
    for (const auto service : {wire::well_known::name_server, wire::well_known::fabric_controller})
      EXPECT_EQ(fabric.fabric.service_port(service).counters().unexpected_events, 0U);
  }
  void bring_up(std::size_t ports) {
    for (std::size_t i = 0; i < ports; ++i) fabric.add_port().set_user(type, user);
    fabric.bring_up();
  }
  void send(std::size_t from, wire::FcId to, std::size_t size = 64) {
    NPort& port = fabric.port(from);
    Exchange* exchange = port.originate(to, type, user);
    port.send(*exchange, RCtl::unsolicited_control, {}, std::vector<std::uint8_t>(size), {.last_of_exchange = true});
  }
  FramePtr raw(wire::FcId s_id, wire::FcId d_id) {
    const wire::FcHeader header{.r_ctl = RCtl::unsolicited_control,
                                .d_id = d_id,
                                .s_id = s_id,
                                .type = type,
                                .f_ctl = wire::f_ctl::single_frame_request | wire::f_ctl::last_sequence};
    return support::made_frame(fabric.pool, header);
  }
  void inject(std::size_t port, FramePtr frame) {
    fabric.fabric.ingress_of(fabric.port(port))->receive(std::move(frame));
    fabric.run_for(millisecond);
  }
  [[nodiscard]] wire::FcId id(std::size_t index) { return fabric.port(index).n_port_id(); }
  [[nodiscard]] std::uint64_t discarded(Discard reason) const { return fabric.fabric.counters().discarded(reason); }
  void register_for_changes(std::size_t index, wire::els::ScrFunction function = wire::els::ScrFunction::full) {
    std::array<std::uint8_t, wire::els::Scr::size()> payload;
    wire::els::Scr{.function = function}.write(payload);
    fabric.port(index).request(wire::well_known::fabric_controller, RCtl::els_request, wire::Type::els, payload,
                               answers, second);
    fabric.run_for(millisecond);
  }

  support::RecordingUser user, answers;
  support::TestFabric fabric{0};
  support::FrameLog log;
};

// --- addresses ---------------------------------------------------------------------------------------------------

// Addresses go area by area, then port by port, all of them in one domain.
TEST_F(SwitchTest, attached_ports_get_addresses_in_order) {
  for (std::size_t i = 0; i < 300; ++i) fabric.add_port();
  fabric.bring_up();
  EXPECT_EQ(id(0), wire::FcId{0x010100});
  EXPECT_EQ(id(1), wire::FcId{0x010200});
  EXPECT_EQ(id(254), wire::FcId{0x01FF00});
  EXPECT_EQ(id(255), wire::FcId{0x010101});
  EXPECT_EQ(id(299), wire::FcId{0x012D01});
  EXPECT_EQ(fabric.fabric.logged_in_ports(), 300U);
  EXPECT_EQ(fabric.fabric.counters().discarded(), 0U);
}

// All F_Ports are taken: one more port stays dark.
TEST_F(SwitchTest, full_attach_is_refused) {
  support::TestFabric small(3, {.max_ports = 2});
  EXPECT_TRUE(small.fabric.attach(small.port(0)));
  EXPECT_TRUE(small.fabric.attach(small.port(1)));
  EXPECT_FALSE(small.fabric.attach(small.port(2)));
  small.fabric.detach(small.port(0));
  EXPECT_TRUE(small.fabric.attach(small.port(2)));
  small.run_for(second);
  EXPECT_EQ(small.port(2).n_port_id(), wire::FcId{0x010100});
}

// Two links that swap their ports swap the addresses (FC-VI 7.7.1: mappings may change at a link event).
TEST_F(SwitchTest, detached_in_another_order_changes_addresses) {
  bring_up(2);
  fabric.detach(1);
  fabric.detach(0);
  fabric.attach(0);
  fabric.attach(1);
  fabric.run_for(second);
  EXPECT_EQ(id(0), wire::FcId{0x010200});
  EXPECT_EQ(id(1), wire::FcId{0x010100});
}

// --- routing -----------------------------------------------------------------------------------------------------

// A frame goes to the port of its D_ID, and to no other.
TEST_F(SwitchTest, logged_in_frame_is_routed) {
  bring_up(3);
  support::FrameLog others;
  fabric.fabric.tap(fabric.port(1), &log);
  fabric.fabric.tap(fabric.port(2), &others);
  send(0, id(1));
  fabric.run_for(millisecond);
  ASSERT_EQ(log.size(), 1U);
  EXPECT_EQ(log.frames()[0].header.s_id, id(0));
  EXPECT_EQ(others.size(), 0U);
  EXPECT_EQ(user.ius.size(), 1U);
}

// VI-ARCH 4.1: a port may talk to itself: the frame comes back.
TEST_F(SwitchTest, logged_in_frame_to_oneself_comes_back) {
  bring_up(1);
  send(0, id(0));
  fabric.run_for(millisecond);
  EXPECT_EQ(user.ius.size(), 1U);
}

// Frames from many ports to one keep the order of each sender.
TEST_F(SwitchTest, busy_egress_keeps_order) {
  fabric.link = {.latency_ns = 1000, .bytes_per_second = wire::line_rate_bytes_per_second("1GFC")};
  bring_up(4);
  fabric.fabric.tap(fabric.port(3), &log);
  for (int i = 0; i < 20; ++i)
    for (std::size_t port = 0; port < 3; ++port) send(port, id(3), 2000);
  fabric.run_for(second);
  EXPECT_EQ(user.ius.size(), 60U);
  for (std::size_t port = 0; port < 3; ++port) {
    std::vector<std::uint8_t> seq_ids;  // counted up by the sender
    for (const auto& frame : log.frames())
      if (frame.header.s_id == id(port)) seq_ids.push_back(frame.header.seq_id.value);
    EXPECT_TRUE(std::is_sorted(seq_ids.begin(), seq_ids.end()));
    EXPECT_EQ(seq_ids.size(), 20U);
    EXPECT_EQ(seq_ids.back() - seq_ids.front(), 19);
  }
}

// FC-FS: a broadcast goes to every other port that is logged in.
TEST_F(SwitchTest, logged_in_broadcast_reaches_all_others) {
  bring_up(4);
  fabric.detach(3);
  send(0, wire::well_known::broadcast);
  fabric.run_for(millisecond);
  EXPECT_EQ(user.ius.size(), 2U);
  for (const auto& iu : user.ius) EXPECT_EQ(iu.header.d_id, wire::well_known::broadcast);
  EXPECT_EQ(fabric.port(0).open_exchanges(), 0U);
}

// Nobody has that D_ID: other domain, free port, port that logged out, reserved well-known address.
TEST_F(SwitchTest, logged_in_unroutable_is_counted) {
  bring_up(2);
  fabric.port(1).log_out_of_fabric();
  fabric.run_for(second);
  const std::vector<std::uint32_t> ids{0x020100, 0x010300, 0x010200, 0xFFFFFA, 0x010000, 0x000000};
  for (const std::uint32_t d_id : ids) inject(0, raw(id(0), {d_id}));
  EXPECT_EQ(discarded(Discard::Unroutable), ids.size());
  EXPECT_TRUE(user.ius.empty());
}

// A port may send under its own address only.
TEST_F(SwitchTest, logged_in_forged_s_id_is_discarded) {
  bring_up(3);
  inject(0, raw(id(1), id(2)));
  inject(0, raw({}, id(2)));
  inject(0, raw(wire::well_known::name_server, id(2)));
  EXPECT_EQ(discarded(Discard::WrongAddress), 3U);
  EXPECT_TRUE(user.ius.empty());
}

// Before its login a port reaches the F_Port Controller only.
TEST_F(SwitchTest, logged_out_frame_is_discarded) {
  bring_up(2);
  fabric.port(0).log_out_of_fabric();
  fabric.run_for(second);
  inject(0, raw({0x010100}, id(1)));
  inject(0, raw({}, id(1)));
  EXPECT_EQ(discarded(Discard::WrongAddress), 2U);
}

// The fabric knows classes 2 and 3: frames of another class, invalid ends and short frames do not pass.
TEST_F(SwitchTest, logged_in_bad_delimiters_are_discarded) {
  bring_up(2);
  FramePtr frame = raw(id(0), id(1));
  frame->sof = wire::Sof::i4;
  inject(0, std::move(frame));
  frame = raw(id(0), id(1));
  frame->eof = wire::Eof::ni;
  inject(0, std::move(frame));
  frame = raw(id(0), id(1));
  frame->size_bytes = 23;
  inject(0, std::move(frame));
  EXPECT_EQ(discarded(Discard::BadHeader), 2U);
  EXPECT_EQ(discarded(Discard::Truncated), 1U);
}

// A link that breaks takes its frames along, and no frame is left in the pool's accounts.
TEST_F(SwitchTest, detached_frames_under_way_are_lost) {
  bring_up(2);
  for (int i = 0; i < 10; ++i) send(0, id(1));
  fabric.scheduler.run_next(never);
  fabric.detach(0);
  fabric.detach(1);
  fabric.run_for(second);
  EXPECT_TRUE(user.ius.empty());
  EXPECT_EQ(fabric.pool.outstanding(), 0U);
}

// A tap shows both directions of one port, and can be taken off.
TEST_F(SwitchTest, tapped_port_shows_both_directions) {
  bring_up(2);
  fabric.fabric.tap(fabric.port(0), &log);
  send(0, id(1));
  send(1, id(0));
  fabric.run_for(millisecond);
  EXPECT_EQ(log.count([](const LoggedFrame& f) { return f.outbound; }), 1U);
  EXPECT_EQ(log.count([](const LoggedFrame& f) { return !f.outbound; }), 1U);
  fabric.fabric.tap(fabric.port(0), nullptr);
  send(0, id(1));
  fabric.run_for(millisecond);
  EXPECT_EQ(log.size(), 2U);
}

// --- state changes -----------------------------------------------------------------------------------------------

// FC-LS: a port that registered hears of others that log in and out, and answers.
TEST_F(SwitchTest, registered_port_hears_of_changes) {
  bring_up(2);
  register_for_changes(0);
  ASSERT_EQ(answers.ius.size(), 1U);
  EXPECT_EQ(answers.ius[0].bytes.at(0), 0x02);
  fabric.run_for(second);
  fabric.fabric.tap(fabric.port(0), &log);
  const wire::FcId other = id(1);
  fabric.detach(1);
  fabric.run_for(second);
  const LoggedFrame* frame = log.find(wire::els::Command::rscn);
  ASSERT_NE(frame, nullptr);
  EXPECT_EQ(frame->header.s_id, wire::well_known::fabric_controller);
  const auto rscn = wire::els::Rscn::parse(frame->data);
  ASSERT_TRUE(rscn);
  ASSERT_EQ(rscn->pages.size(), 1U);
  EXPECT_EQ(rscn->pages[0].address, other);
  EXPECT_EQ(log.sent(wire::els::Command::ls_acc), 1U);
  fabric.attach(1);
  fabric.run_for(second);
  EXPECT_EQ(log.received(wire::els::Command::rscn), 2U);
}

// A port that did not register, or took it back, hears nothing.
TEST_F(SwitchTest, unregistered_port_hears_nothing) {
  bring_up(3);
  register_for_changes(0);
  register_for_changes(0, wire::els::ScrFunction::clear);
  fabric.run_for(second);
  fabric.fabric.tap(fabric.port(0), &log);
  fabric.detach(2);
  fabric.run_for(second);
  EXPECT_EQ(log.size(), 0U);
  EXPECT_EQ(fabric.fabric.fabric_controller().registered_count(), 0U);
}

// A burst of changes is told once: page by page, or as a whole domain where there are many.
TEST_F(SwitchTest, registered_port_hears_of_a_burst_once) {
  bring_up(1);
  register_for_changes(0);
  fabric.run_for(second);
  fabric.fabric.tap(fabric.port(0), &log);
  for (std::size_t i = 1; i <= 100; ++i) {
    fabric.add_port();
    if (i == 5) {
      for (std::size_t j = 1; j <= 5; ++j) fabric.attach(j);
      fabric.run_for(second);
    }
  }
  ASSERT_EQ(log.received(wire::els::Command::rscn), 1U);
  EXPECT_EQ(wire::els::Rscn::parse(log.find(wire::els::Command::rscn)->data)->pages.size(), 5U);
  log.clear();
  for (std::size_t i = 6; i <= 100; ++i) fabric.attach(i);
  fabric.run_for(second);
  ASSERT_EQ(log.received(wire::els::Command::rscn), 1U);
  const auto rscn = wire::els::Rscn::parse(log.find(wire::els::Command::rscn)->data);
  ASSERT_EQ(rscn->pages.size(), 1U);
  EXPECT_EQ(rscn->pages[0].format, wire::els::AddressFormat::domain);
  EXPECT_TRUE(rscn->pages[0].affects(id(50)));
}

// A registration of unknown kind, or cut short, is rejected.
TEST_F(SwitchTest, logged_in_bad_scr_is_rejected) {
  bring_up(1);
  register_for_changes(0, static_cast<wire::els::ScrFunction>(9));
  ASSERT_EQ(answers.ius.size(), 1U);
  EXPECT_EQ(answers.ius[0].bytes.at(0), 0x01);
  EXPECT_EQ(fabric.fabric.fabric_controller().registered_count(), 0U);
}

// The registration ends with the login.
TEST_F(SwitchTest, registered_port_detached_is_forgotten) {
  bring_up(2);
  register_for_changes(0);
  fabric.detach(0);
  EXPECT_EQ(fabric.fabric.fabric_controller().registered_count(), 0U);
  EXPECT_EQ(fabric.fabric.name_server().database().size(), 1U);
}

// --- scale -------------------------------------------------------------------------------------------------------

// A thousand ports log in, all names are known, and any two reach each other.
TEST_F(SwitchTest, thousand_ports_log_in) {
  for (std::size_t i = 0; i < 1000; ++i) fabric.add_port().set_user(type, user);
  fabric.bring_up();
  EXPECT_EQ(fabric.fabric.logged_in_ports(), 1000U);
  EXPECT_EQ(fabric.fabric.name_server().database().size(), 1000U);
  for (std::size_t i = 0; i < 1000; ++i) send(i, id(999 - i));
  fabric.run_for(millisecond);
  EXPECT_EQ(user.ius.size(), 1000U);
}

}  // namespace
}  // namespace fc2
