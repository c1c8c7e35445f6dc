// N_Ports that a test plays by hand, at a switch with short queues.
#pragma once
#include <gtest/gtest.h>

#include <array>
#include <set>

#include "fc2_fabric/switch/f_port.hpp"
#include "tests/support/frame_log.hpp"
#include "tests/support/made_frame.hpp"
#include "tests/support/test_fabric.hpp"
#include "wire/bytes.hpp"
#include "wire/line_rate.hpp"

namespace support {
using namespace fc2;  // NOLINT: tests of fc2

// An N_Port elsewhere, as a switch sees it.
class FarEnd final : public FrameOutput, public FrameFeeder {
 public:
  void send(FramePtr frame) override {
    EXPECT_FALSE(paused());
    sent.push_back(frame->bytes[frame_header_bytes]);
    last_d_id = {wire::load_big<3>(frame->bytes.data() + 1)};
    if (--room == 0) pause();
  }
  void hold() override {
    ++holds;
    held = true;
  }
  void proceed() override { held = false; }
  [[nodiscard]] bool holds_by_destination() const override { return by_destination; }
  void hold_for(wire::FcId id) override { EXPECT_TRUE(held_for.insert(id.value).second) << "told already"; }
  void proceed_for(wire::FcId id) override { EXPECT_EQ(held_for.erase(id.value), 1U) << "was not held"; }
  std::vector<std::uint8_t> sent;  // first byte of each data field
  wire::FcId last_d_id{};
  int room = 1 << 30;
  int holds = 0;
  bool held = false;
  bool by_destination = false;
  std::set<std::uint32_t> held_for;
};

inline constexpr std::size_t queue_frames = 8;

inline SwitchConfig small_queues(std::size_t flow_frames) {
  SwitchConfig config;
  config.egress_queue_frames = queue_frames;
  config.flow_queue_frames = flow_frames;
  return config;
}

class FarEnds : public testing::Test {
 public:
  explicit FarEnds(std::size_t flow_frames = 1024) : fabric(2, small_queues(flow_frames)) {
    fabric.link.bytes_per_second = wire::line_rate_bytes_per_second("8GFC");
    fabric.bring_up();
  }
  ~FarEnds() override {
    for (FPort* port : ports)
      if (port->connected()) fabric.fabric.detach(*port);
  }
  void attach(std::size_t end, FPort* port) {
    ports[end] = port;
    log_in(end);
  }
  /// FLOGI, by hand.
  void log_in(std::size_t end) {
    give_login(end, wire::els::Command::flogi, {0x3000'0000'0000'0000 + end});
    ASSERT_TRUE(ports[end]->logged_in());
  }
  /// FDISC, so many; the addresses that came.
  std::vector<wire::FcId> log_in_virtual(std::size_t end, std::size_t count) {
    std::vector<wire::FcId> ids;
    for (std::size_t i = 0; i < count; ++i) {
      give_login(end, wire::els::Command::fdisc, {0x3100'0000'0000'0000 + i});
      ids.push_back(ends[end].last_d_id);
      EXPECT_TRUE(ports[end]->has(ids.back()));
    }
    return ids;
  }
  void give_login(std::size_t end, wire::els::Command command, wire::Wwn port_name) {
    wire::els::Login login = fabric.port(0).login_parameters(command);
    login.port_name = port_name;
    ports[end]->receive(
        made_frame(fabric.pool, els_request_header(wire::well_known::f_port, {}, {1}), bytes_of(login)));
    fabric.run_for(millisecond);
  }
  void feed(std::size_t from, std::size_t to, std::uint8_t mark, wire::Sof sof = wire::Sof::i3) {
    feed_to(from, ports[to]->address(), mark, sof);
  }
  void feed_to(std::size_t from, wire::FcId to, std::uint8_t mark, wire::Sof sof = wire::Sof::i3) {
    const wire::FcHeader header{
        .r_ctl = wire::RCtl::solicited_data, .d_id = to, .s_id = ports[from]->address(), .type = wire::Type::fc_vi};
    const std::uint8_t data[] = {mark, 0, 0, 0};
    ports[from]->receive(made_frame(fabric.pool, header, data, sof, wire::Eof::n));
  }
  [[nodiscard]] std::uint64_t held_too_long() const { return fabric.fabric.counters().discarded(Discard::HeldTooLong); }

  support::TestFabric fabric;
  std::array<FarEnd, 3> ends;
  std::array<FPort*, 3> ports{};
};

}  // namespace support
