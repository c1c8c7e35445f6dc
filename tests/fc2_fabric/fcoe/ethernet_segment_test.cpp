#include "fc2_fabric/fcoe/ethernet_segment.hpp"

#include <gtest/gtest.h>

#include "tests/fc2_fabric/fcoe/ethernet_world.hpp"

namespace fc2::fcoe {
namespace {
using support::station_mac;

struct Sink final : EthernetReceiver {
  void ethernet_received(EthernetFrame frame) override { frames.push_back(frame.to_bytes()); }
  void ethernet_link_changed(bool up) override { changes.push_back(up); }
  void ethernet_resumed() override { ++resumed; }
  std::vector<std::vector<std::uint8_t>> frames;
  std::vector<bool> changes;
  int resumed = 0;
};

class EthernetSegmentTest : public testing::Test {
 protected:
  EthernetSegmentTest() {
    for (std::size_t i = 0; i < 3; ++i) {
      ports.push_back(&segment.add_port({"eth", station_mac(i), 1500}));
      ports.back()->attach(&sinks[i]);
    }
  }
  EthernetFrame frame(const wire::MacAddress& destination, std::uint8_t mark = 0, std::size_t size = 60) {
    std::vector<std::uint8_t> bytes(size);
    wire::EthernetHeader{destination, station_mac(0), wire::EtherType::fip}.write(bytes);
    bytes.back() = mark;
    return EthernetFrame::of(pool, bytes);
  }
  void run() { scheduler.run_until(scheduler.now() + second); }
  [[nodiscard]] std::vector<std::size_t> counts() const {
    return {sinks[0].frames.size(), sinks[1].frames.size(), sinks[2].frames.size()};
  }

  Scheduler scheduler;
  FramePool pool;
  EthernetSegment segment{scheduler, pool, microsecond};
  std::vector<SegmentPort*> ports;
  std::array<Sink, 3> sinks;
};

// Unicast to who has the address, groups to who joined, never back.
TEST_F(EthernetSegmentTest, frames_reach_who_wants_them) {
  ports[0]->send(frame(station_mac(1)));
  run();
  EXPECT_EQ(counts(), (std::vector<std::size_t>{0, 1, 0}));
  for (SegmentPort* port : ports) port->listen(wire::group_mac::all_vn2vn);
  ports[0]->send(frame(wire::group_mac::all_vn2vn));
  run();
  EXPECT_EQ(counts(), (std::vector<std::size_t>{0, 2, 1}));
  EXPECT_EQ(pool.outstanding(), 0U);
}

// An address is wanted as often as it was asked for.
TEST_F(EthernetSegmentTest, ignored_address_is_not_wanted) {
  const wire::MacAddress extra = station_mac(77);
  ports[1]->listen(extra);
  ports[1]->listen(extra);
  ports[1]->ignore(extra);
  ports[0]->send(frame(extra));
  run();
  ports[1]->ignore(extra);
  ports[0]->send(frame(extra));
  run();
  EXPECT_EQ(counts(), (std::vector<std::size_t>{0, 1, 0}));
  ports[2]->set_promiscuous(true);
  ports[0]->send(frame(extra));
  run();
  EXPECT_EQ(counts(), (std::vector<std::size_t>{0, 1, 1}));
}

// Without a carrier nothing passes; what is longer than the MTU does not, either way.
TEST_F(EthernetSegmentTest, carrier_and_mtu_limit_frames) {
  ports[1]->set_carrier(false);
  EXPECT_EQ(sinks[1].changes, (std::vector<bool>{false}));
  ports[0]->send(frame(station_mac(1)));
  ports[1]->send(frame(station_mac(0)));
  run();
  EXPECT_EQ(counts(), (std::vector<std::size_t>{0, 0, 0}));
  EXPECT_EQ(ports[1]->counters().send_drops, 1U);
  ports[1]->set_carrier(true);
  ports[0]->send(frame(station_mac(1), 0, 1515));
  EXPECT_EQ(ports[0]->counters().send_drops, 1U);
  segment.inject(*ports[1], frame(station_mac(1), 0, 1515).to_bytes());
  segment.inject(*ports[1], std::vector<std::uint8_t>(3000));
  EXPECT_EQ(ports[1]->counters().over_long, 2U);
  run();
  EXPECT_EQ(counts(), (std::vector<std::size_t>{0, 0, 0}));
}

// A port that pauses says when it goes on.
TEST_F(EthernetSegmentTest, paused_port_resumes_once) {
  ports[0]->set_paused(true);
  EXPECT_TRUE(ports[0]->paused());
  ports[0]->set_paused(false);
  ports[0]->set_paused(false);
  EXPECT_EQ(sinks[0].resumed, 1);
}

// A fault may lose, delay and double; the sender's tap sees what is lost.
TEST_F(EthernetSegmentTest, faults_befall_frames) {
  struct Swap final : EthernetFault {
    void befall(EthernetSegment& segment, SegmentPort& sender, EthernetFrame frame) override {
      const std::uint8_t mark = frame.to_bytes().back();
      if (mark == 1) return;  // lost
      if (mark == 3) segment.carry(sender, frame.copy());
      segment.carry(sender, std::move(frame), mark == 2 ? millisecond : 0);
    }
  } fault;
  support::EthernetLog log;
  ports[0]->tap(&log);
  segment.set_fault(&fault);
  for (std::uint8_t mark = 1; mark <= 3; ++mark) ports[0]->send(frame(station_mac(1), mark));
  run();
  std::vector<int> marks;
  for (const auto& bytes : sinks[1].frames) marks.push_back(bytes.back());
  EXPECT_EQ(marks, (std::vector<int>{3, 3, 2}));
  EXPECT_EQ(log.entries.size(), 3U);
  ports[0]->tap(nullptr);
}

}  // namespace
}  // namespace fc2::fcoe
