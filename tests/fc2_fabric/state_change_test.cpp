// SCR and RSCN in full (FC-LS): who registers for what, which addresses a notification names, and that
// storms stay bounded.
#include <gtest/gtest.h>

#include "fc2_fabric/switch/affected_addresses.hpp"
#include "fc2_fabric/switch/fabric_controller.hpp"
#include "tests/support/frame_log.hpp"
#include "tests/support/port_pair.hpp"
#include "tests/support/test_fabric.hpp"
#include "wire/els/rscn.hpp"
#include "wire/els/scr.hpp"

namespace fc2 {
namespace {
using wire::els::AddressFormat;
using wire::els::ScrFunction;
using Strings = std::vector<std::string>;

std::string text(const wire::els::RscnPage& page) {
  return std::string(to_string(page.format)) + " " + wire::to_string(page.address);
}

Strings texts(const std::vector<wire::els::RscnPage>& pages) {
  Strings result;
  for (const auto& page : pages) result.push_back(text(page));
  return result;
}

// --- which addresses ---------------------------------------------------------------------------------------------

// A few changes are told port by port, in order; nobody is told of himself.
TEST(AffectedAddresses, few_ports) {
  AffectedAddresses changed;
  EXPECT_TRUE(changed.empty());
  for (const std::uint32_t id : {0x020300U, 0x010100U, 0x010200U, 0x010100U}) changed.add_port({id});
  EXPECT_EQ(texts(changed.pages()), (Strings{"port 010100", "port 010200", "port 020300"}));
  EXPECT_EQ(texts(changed.pages({0x010200})), (Strings{"port 010100", "port 020300"}));
  EXPECT_TRUE(changed.names({0x010200}));
}

// Many ports of one area become that area; others stay.
TEST(AffectedAddresses, many_ports_of_an_area) {
  AffectedAddresses changed;
  changed.add_port({0x020300});
  for (std::uint32_t port = 0; port < 100; ++port) changed.add_port({0x010100 + port});
  EXPECT_EQ(texts(changed.pages()), (Strings{"area 010100", "port 020300"}));
  EXPECT_FALSE(changed.names({0x010105}));
}

// Many areas of one domain become that domain.
TEST(AffectedAddresses, many_areas_of_a_domain) {
  AffectedAddresses changed;
  changed.add_port({0x020300});
  for (std::uint32_t area = 1; area < 100; ++area) changed.add_port({0x010000 + (area << 8)});
  EXPECT_EQ(texts(changed.pages()), (Strings{"domain 010000", "port 020300"}));
  changed.add_port({0x010501});
  EXPECT_EQ(changed.pages().size(), 2U);
}

// Many domains become the fabric, and nothing is added to that.
TEST(AffectedAddresses, many_domains) {
  AffectedAddresses changed;
  for (std::uint32_t domain = 1; domain < 100; ++domain) changed.add_port({(domain << 16) + 0x100});
  EXPECT_EQ(texts(changed.pages()), (Strings{"fabric 000000"}));
  changed.add_port({0x700100});
  changed.add_domain(0x71);
  EXPECT_EQ(changed.pages().size(), 1U);
  AffectedAddresses other;
  other.add_port({0x010100});
  other.add(changed);
  EXPECT_EQ(texts(other.pages()), (Strings{"fabric 000000"}));
}

// A domain stands for all its ports and areas.
TEST(AffectedAddresses, domain_covers_its_ports) {
  AffectedAddresses changed;
  for (const std::uint32_t id : {0x010100U, 0x010200U, 0x020100U}) changed.add_port({id});
  changed.add_domain(1);
  changed.add_port({0x010300});
  EXPECT_EQ(texts(changed.pages()), (Strings{"domain 010000", "port 020100"}));
}

// Whatever is added, in any order: never more pages than the limit, and everything is covered.
TEST(AffectedAddresses, random_additions_are_bounded_and_covered) {
  std::uint32_t state = 1;
  const auto random = [&](std::uint32_t below) {
    return (state = state * 1664525 + 1013904223) >> 8 & 0xFFFF ? (state >> 8) % below : 0;
  };
  for (int round = 0; round < 200; ++round) {
    AffectedAddresses changed;
    std::vector<wire::FcId> added;
    const std::uint32_t domains = 1 + random(100), areas = 1 + random(30), ports = 1 + random(30);
    for (std::uint32_t i = random(400); i > 0; --i) {
      added.push_back({(1 + random(domains)) << 16 | (1 + random(areas)) << 8 | random(ports)});
      changed.add_port(added.back());
    }
    const auto pages = changed.pages();
    EXPECT_LE(pages.size(), AffectedAddresses::max_pages);
    for (const wire::FcId id : added)
      EXPECT_TRUE(std::any_of(pages.begin(), pages.end(), [&](const auto& page) { return page.affects(id); }))
          << wire::to_string(id);
  }
}

// --- who is told what --------------------------------------------------------------------------------------------

class StateChangeTest : public testing::Test {
 protected:
  StateChangeTest() { fabric.bring_up(); }
  std::vector<std::uint8_t> ask_controller(std::size_t port, std::span<const std::uint8_t> payload) {
    support::RecordingUser user;
    fabric.port(port).request(wire::well_known::fabric_controller, wire::RCtl::els_request, wire::Type::els, payload,
                              user, second);
    fabric.run_for(2 * second);
    return user.ius.empty() ? std::vector<std::uint8_t>{} : user.ius[0].bytes;
  }
  void register_for(std::size_t port, ScrFunction function) {
    std::array<std::uint8_t, wire::els::Scr::size()> payload;
    wire::els::Scr{.function = function}.write(payload);
    EXPECT_EQ(ask_controller(port, payload).at(0), 0x02);
  }
  /// The port tells the Fabric Controller of an event at these addresses; the first byte of the answer.
  int report(std::size_t port, std::vector<wire::els::RscnPage> pages) {
    const wire::els::Rscn rscn{.pages = std::move(pages)};
    std::vector<std::uint8_t> payload(rscn.size());
    rscn.write(payload);
    return ask_controller(port, payload).at(0);
  }
  void tap(std::size_t port) { fabric.fabric.tap(fabric.port(port), &logs[port]); }
  Strings told(std::size_t port) {
    Strings result;
    for (const auto& frame : logs[port].frames())
      if (!frame.outbound && frame.is_els(wire::els::Command::rscn)) {
        const auto rscn = wire::els::Rscn::parse(frame.data);
        for (const auto& page : rscn->pages) result.push_back(text(page));
      }
    logs[port].clear();
    return result;
  }
  support::TestFabric fabric{6};
  std::array<support::FrameLog, 6> logs;
};

// Functions 1, 2 and 3: what the fabric noticed, what N_Ports reported, both. 1 and then 2 are both; clear ends it.
TEST_F(StateChangeTest, registered_functions_select_events) {
  register_for(0, ScrFunction::fabric_detected);
  register_for(1, ScrFunction::n_port_detected);
  register_for(2, ScrFunction::full);
  register_for(3, ScrFunction::fabric_detected);
  register_for(3, ScrFunction::n_port_detected);
  for (std::size_t i = 0; i < 4; ++i) tap(i);
  const wire::FcId four = fabric.port(4).n_port_id();
  EXPECT_EQ(report(4, {{.format = AddressFormat::port, .address = four}}), 0x02);
  const Strings by_port{"port " + wire::to_string(four)};
  EXPECT_EQ(told(0), Strings{});
  for (std::size_t i = 1; i < 4; ++i) EXPECT_EQ(told(i), by_port) << i;
  const Strings by_fabric{"port " + wire::to_string(fabric.port(5).n_port_id())};
  fabric.detach(5);
  fabric.run_for(second);
  EXPECT_EQ(told(0), by_fabric);
  EXPECT_EQ(told(1), Strings{});
  EXPECT_EQ(told(2), by_fabric);
  EXPECT_EQ(told(3), by_fabric);
  register_for(2, ScrFunction::clear);
  logs[2].clear();
  fabric.attach(5);
  fabric.run_for(second);
  EXPECT_EQ(told(0), by_fabric);
  EXPECT_EQ(told(2), Strings{});
}

// A port reports of itself only: another's address, or all of them, is rejected, and nobody is told.
TEST_F(StateChangeTest, registered_port_hears_no_report_about_others) {
  register_for(0, ScrFunction::full);
  tap(0);
  EXPECT_EQ(report(4, {{.format = AddressFormat::port, .address = fabric.port(1).n_port_id()}}), 0x01);
  EXPECT_EQ(report(4, {{.format = AddressFormat::fabric}}), 0x01);
  fabric.run_for(second);
  EXPECT_EQ(told(0), Strings{});
}

// A port that does not answer has one RSCN at a time: what happens meanwhile is told together when it answers late.
TEST_F(StateChangeTest, silent_port_is_told_together) {
  register_for(0, ScrFunction::full);
  fabric.silence(0);
  const Strings changed{"port " + wire::to_string(fabric.port(4).n_port_id()),
                        "port " + wire::to_string(fabric.port(5).n_port_id())};
  fabric.detach(4);
  fabric.run_for(100 * millisecond);
  const std::uint64_t before = fabric.fabric.frames_forwarded();
  for (int i = 0; i < 50; ++i) {
    fabric.detach(5);
    fabric.run_for(10 * millisecond);
    fabric.attach(5);
    fabric.run_for(10 * millisecond);
  }
  // Nothing for the silent one meanwhile: the frames are those of the logins.
  EXPECT_EQ(fabric.fabric.frames_forwarded(), before);
  fabric.fabric.set_fault(fabric.port(0), nullptr);
  tap(0);
  fabric.run_for(30 * second);
  const Strings rest = told(0);
  EXPECT_EQ(rest, changed);  // port 5 had both addresses in turn
}

/// Loses RSCNs, as many as it is told.
struct LoseRscns final : FrameFault {
  void carry(Channel& channel, FramePtr frame) override {
    const bool rscn = frame->bytes[0] == 0x22 &&
                      frame->bytes[frame_header_bytes] == static_cast<std::uint8_t>(wire::els::Command::rscn);
    if (rscn && to_lose != 0)
      --to_lose;
    else
      channel.deliver(std::move(frame));
    seen += rscn ? 1 : 0;
  }
  int to_lose = 0, seen = 0;
};

class LostRscnTest : public StateChangeTest {
 protected:
  LostRscnTest() { register_for(0, ScrFunction::full); }
  void lose(int rscns) {
    fault.to_lose = rscns;
    fabric.fabric.set_faults(fabric.port(0), nullptr, &fault);
    tap(0);
  }
  Strings port(std::size_t i) { return {"port " + wire::to_string(fabric.port(i).n_port_id())}; }
  LoseRscns fault;
};

// FC-LS: an RSCN that gets no LS_ACC in 2 x R_A_TOV goes once more.
TEST_F(LostRscnTest, lost_rscn_is_repeated) {
  lose(1);
  const Strings five = port(5);
  fabric.detach(5);
  fabric.run_for(19 * second);
  EXPECT_EQ(told(0), Strings{});
  fabric.run_for(2 * second);
  EXPECT_EQ(told(0), five);
  fabric.run_for(100 * second);
  EXPECT_EQ(told(0), Strings{});
  EXPECT_EQ(fault.seen, 2);
}

// ... and not again. What changes afterwards is told as ever.
TEST_F(LostRscnTest, lost_twice_is_given_up) {
  lose(2);
  fabric.detach(5);
  fabric.run_for(100 * second);
  EXPECT_EQ(fault.seen, 2);
  const Strings four = port(4);
  fabric.detach(4);
  fabric.run_for(second);
  EXPECT_EQ(told(0), four);
  lose(1);  // and repeated, if lost
  const Strings three = port(3);
  fabric.detach(3);
  fabric.run_for(30 * second);
  EXPECT_EQ(told(0), three);
}

// Something else changes while the answer is late: the next RSCN says both.
TEST_F(LostRscnTest, lost_rscn_is_told_with_the_next) {
  lose(1);
  const Strings both{port(4)[0], port(5)[0]};
  fabric.detach(5);
  fabric.run_for(5 * second);
  fabric.detach(4);
  fabric.run_for(second);
  EXPECT_EQ(told(0), both);
  fabric.run_for(100 * second);
  EXPECT_EQ(told(0), Strings{});
}

}  // namespace
}  // namespace fc2
