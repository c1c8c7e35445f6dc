// FC-VI over an emulated Ethernet: the same provider as on any other link, addresses by FARP or the name server.
#include "fc2_fabric/fcoe/ethernet_segment.hpp"
#include "tests/fc2_fabric/fcoe/fcvi_over_ethernet.hpp"

namespace fc2::fcoe {
namespace {
using support::FcviOverEthernet;

class Simulated : public FcviOverEthernet {
 protected:
  explicit Simulated(std::uint16_t client_mtu = 2500, std::uint16_t server_mtu = 2500)
      : FcviOverEthernet([=](NPortConfig& config, std::size_t index) {
          config.receive_data_field_bytes = data_field_bytes(index == 0 ? client_mtu : server_mtu);
        }) {
    ethernets = {&segment.add_port({"a", {{2, 0, 0, 0, 0, 1}}, client_mtu}),
                 &segment.add_port({"b", {{2, 0, 0, 0, 0, 2}}, server_mtu})};
  }
  ~Simulated() override {
    EXPECT_EQ(client.port.counters().unexpected_events + server.port.counters().unexpected_events, 0U);
  }
  bool run_until(const std::function<bool()>& done) override { return fabric.run_until(done); }
  EthernetSegment segment{fabric.scheduler, fabric.pool};
  std::array<SegmentPort*, 2> ethernets{};
};

class Vn2vnTransfer : public Simulated {
 protected:
  Vn2vnNode a{fabric.scheduler, fabric.pool, *ethernets[0], client.port},
      b{fabric.scheduler, fabric.pool, *ethernets[1], server.port};
};

// Issue 5, "VN2VN with addresses resolved by FARP": all reliability levels, several frames a message.
TEST_F(Vn2vnTransfer, messages_arrive_at_all_levels) {
  for (const Level level : {Level::UnreliableDelivery, Level::ReliableDelivery, Level::ReliableReception}) {
    connect(level);
    transfer(20, 50000);
  }
  EXPECT_EQ(a.counters().discarded() + b.counters().discarded(), 0U);
}

// FC-VI 4.2, 7.5: the server's second address, found by FARP.
TEST_F(Vn2vnTransfer, second_address_connects) {
  connect(Level::ReliableDelivery, vi::NetAddress::make(second_address(), std::array<std::uint8_t, 1>{7}));
  transfer(2, 50000);
}

class FabricTransfer : public Simulated {
 protected:
  explicit FabricTransfer(std::uint16_t client_mtu = 2500, std::uint16_t server_mtu = 2500)
      : Simulated(client_mtu, server_mtu) {}
  static SwitchConfig switch_config() {
    SwitchConfig config;
    config.flow_queue_frames = 16'384;
    return config;
  }
  Switch fcf_switch{fabric.scheduler, fabric.pool, switch_config()};
  Fcf fcf{fabric.scheduler, fabric.pool, fcf_switch};
  SegmentPort& fcf_port = segment.add_port({"fcf", {{2, 0, 0, 0, 0, 9}}, 2500});
  FcfInterface& interface = fcf.add_interface(fcf_port);
};

class TwoENodes : public FabricTransfer {
 protected:
  ENode a{fabric.scheduler, fabric.pool, *ethernets[0], client.port},
      b{fabric.scheduler, fabric.pool, *ethernets[1], server.port};
};

// FC-VI 4.2, 7.6: the server's second address, which the name server tells.
TEST_F(TwoENodes, second_address_connects) {
  connect(Level::ReliableDelivery, vi::NetAddress::make(second_address(), std::array<std::uint8_t, 1>{7}));
  transfer(2, 50000);
}

// Through the FCF, addresses by the name server.
TEST_F(TwoENodes, messages_arrive_at_all_levels) {
  for (const Level level : {Level::UnreliableDelivery, Level::ReliableDelivery, Level::ReliableReception}) {
    connect(level);
    transfer(20, 50000);
  }
  EXPECT_EQ(interface.counters().discarded(), 0U);
}

// FC-VI 7.7.5: what is posted while the carrier is away goes when it is back: no message is lost.
TEST_F(TwoENodes, messages_posted_without_a_link_arrive_at_all_levels) {
  struct Back final : Event {
    explicit Back(SegmentPort& ethernet) : port(ethernet) {}
    void fire(TimeNs) override { port.set_carrier(true); }
    SegmentPort& port;
  };
  for (SegmentPort* ethernet : {ethernets[0], ethernets[1]})
    for (const Level level : {Level::UnreliableDelivery, Level::ReliableDelivery, Level::ReliableReception}) {
      connect(level);
      fabric.run_for(millisecond);  // RESP3 is there too
      Back back(*ethernet);
      ethernet->set_carrier(false);
      EXPECT_TRUE((ethernet == ethernets[1] ? server : client).port.interrupted());
      fabric.scheduler.schedule_after(back, 3 * second);
      const bool at_server = ethernet == ethernets[1];  // the client does not know: what it sends meanwhile is lost
      ASSERT_TRUE(fabric.run_until([&] { return !at_server || server.port.online(); }));
      transfer(20, 5000);
    }
  EXPECT_TRUE(client.errors.empty() && server.errors.empty());
}

// FC-VI 7.7.5, ruling 81: the FCF misses the client and logs it out. Its RSCN tells the server; the client hears of it
// when it is back: the connection is over on both sides.
TEST_F(TwoENodes, carrier_away_until_the_fcf_misses_it_ends_the_connection) {
  connect(Level::ReliableDelivery);
  ethernets[0]->set_carrier(false);
  fabric.run_for(7 * second);
  EXPECT_EQ(server.count(vi::ErrorCode::ConnLost), 1);
  EXPECT_EQ(client.count(vi::ErrorCode::ConnLost), 0);
  ethernets[0]->set_carrier(true);
  fabric.run_for(second);
  EXPECT_EQ(client.count(vi::ErrorCode::ConnLost), 1);
  connect(Level::ReliableDelivery);
  transfer(20, 5000);
}

class EmulatedAndFcoe : public FabricTransfer {
 protected:
  EmulatedAndFcoe() { fcf_switch.attach(server.port); }
  ~EmulatedAndFcoe() override { fcf_switch.detach(server.port); }
  ENode a{fabric.scheduler, fabric.pool, *ethernets[0], client.port};
};

// Between an emulated port and an FCoE port of one fabric.
TEST_F(EmulatedAndFcoe, messages_arrive) {
  connect(Level::ReliableReception);
  transfer(20, 50000);
}

// The emulated port is slow, and the ENode cannot be held back.
class SlowReceiver : public FabricTransfer {
 protected:
  SlowReceiver() { fcf_switch.attach(server.port, {.bb_credit = 4, .processing_ns = 20 * microsecond}); }
  ~SlowReceiver() override { fcf_switch.detach(server.port); }
  static constexpr int messages = 200;
  ENode a{fabric.scheduler, fabric.pool, *ethernets[0], client.port};
};

TEST_F(SlowReceiver, what_its_flow_can_keep_is_not_lost) {
  connect(Level::UnreliableDelivery);  // holds nothing back by itself
  transfer(messages, 60000);
  EXPECT_EQ(interface.counters().discarded() + fcf_switch.counters().discarded(), 0U);
}

TEST_F(SlowReceiver, what_its_flow_cannot_keep_is_counted) {
  connect(Level::UnreliableDelivery);
  client_vi->post_send(client.descriptor(0, {{at(0), 20 << 20}}), client.handle);
  fabric.run_for(second);
  EXPECT_EQ(interface.counters().discarded(), 0U);
  EXPECT_GT(fcf_switch.counters().discarded(Discard::NoResources), 0U);
  EXPECT_EQ(fcf_port.counters().frames_received, ethernets[0]->counters().frames_sent);
}

class SmallMtu : public FabricTransfer {
 protected:
  SmallMtu() : FabricTransfer(2500, 1500) {}
  ~SmallMtu() override { fcf.remove_interface(second_interface); }
  EthernetSegment other{fabric.scheduler, fabric.pool};
  SegmentPort& other_fcf = other.add_port({"fcf2", {{2, 0, 0, 0, 0, 8}}, 1500});
  SegmentPort& other_port = other.add_port({"c", {{2, 0, 0, 0, 0, 7}}, 1500});
  FcfInterface& second_interface = fcf.add_interface(other_fcf);
  ENode a{fabric.scheduler, fabric.pool, *ethernets[0], client.port},
      b{fabric.scheduler, fabric.pool, other_port, server.port};
};

// MTU 2500 here, 1500 there: each side sends what the other takes.
TEST_F(SmallMtu, frames_fit_the_smaller_side) {
  connect(Level::ReliableDelivery);
  transfer(20, 50000);
  EXPECT_EQ(second_interface.counters().discarded(), 0U);
}

}  // namespace
}  // namespace fc2::fcoe
