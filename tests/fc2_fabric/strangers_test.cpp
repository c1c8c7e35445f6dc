// Strangers that invent an N_Port_ID for each frame: what an N_Port knows of others stays bounded, whoever is in use
// stays, and honest ports come in during the flood and after it (issue 5, "memory stays bounded").
#include <gtest/gtest.h>

#include "tests/support/fc4.hpp"
#include "tests/support/lone_port.hpp"

namespace fc2 {
namespace {
using wire::els::Command;

constexpr wire::FcId honest{0x0E02};
constexpr std::size_t most = 64;

// An FC-4 that nobody without a login may speak to.
struct Fc4 final : DataFrameUser {
  void data_frame_received(const ReceivedFrame& frame) override { port->deny(frame.header.s_id); }
  bool abort_received(wire::FcId, wire::OxId) override { return false; }
  void sequence_received(Exchange& exchange, const wire::FcHeader&, std::span<const std::uint8_t>) override {
    exchange.port().release(exchange);
  }
  void exchange_failed(Exchange&, ExchangeFailure) override {}
  NPort* port = nullptr;
};

class StrangersTest : public support::LonePort {
 protected:
  explicit StrangersTest(std::size_t max_remote_ports = most, std::uint16_t max_exchanges = 4096)
      : LonePort([=](NPortConfig& config) {
          config.max_remote_ports = max_remote_ports;
          config.max_exchanges = max_exchanges;
        }) {
    port.set_data_user(support::fc4, fc4);
    fc4.port = &port;
  }
  ~StrangersTest() override { EXPECT_LE(port.known_ports(), std::max(most, port.config().max_remote_ports)); }
  void message_data(wire::FcId from) {
    receive(support::request_header(wire::RCtl::solicited_data, wire::Type::fc_vi, own, from, {7}), support::zeros(32));
  }
  /// `count` of them, each another one.
  template <class Frame>
  void flood(std::uint32_t count, Frame frame) {
    for (std::uint32_t i = 0; i < count; ++i) {
      frame(wire::FcId{next_++});
      if (i % 64 == 0) run_for(microsecond);
    }
    run_for(microsecond);
  }
  Fc4 fc4;

 private:
  std::uint32_t next_ = 0x1000;
};

// More logins than the table holds: the oldest that nobody uses make room, and it ends with the honest one inside.
TEST_F(StrangersTest, flood_of_plogis_shuts_nobody_out) {
  flood(5000, [&](wire::FcId id) { plogi(id); });
  EXPECT_EQ(port.known_ports(), most);
  EXPECT_EQ(port.counters().ports_evicted, 5000 - most);
  plogi(honest);
  run_for(millisecond);
  EXPECT_TRUE(logged_in(honest));
  EXPECT_EQ(answered(Command::ls_acc, honest), 1U);
  EXPECT_EQ(refused(), 0U);
  flood(most - 1, [&](wire::FcId id) { plogi(id); });
  EXPECT_TRUE(logged_in(honest));  // as long as so many others are newer
  EXPECT_EQ(port.open_exchanges(), 0U);
}

// Whoever is in use stays, however long the flood.
TEST_F(StrangersTest, flood_of_plogis_leaves_who_is_in_use) {
  plogi(honest);
  run_for(millisecond);
  {
    const PortUse use(port.remote_port(honest));
    flood(5000, [&](wire::FcId id) { plogi(id); });
    EXPECT_TRUE(logged_in(honest));
  }
  flood(2 * most, [&](wire::FcId id) { plogi(id); });
  EXPECT_EQ(port.find_remote_port(honest), nullptr);
}

// All are in use: LS_RJT, counted. As soon as one is not, there is room.
TEST_F(StrangersTest, ports_all_in_use_one_more_is_rejected) {
  std::vector<PortUse> uses;
  for (std::uint32_t i = 0; i < most; ++i) uses.emplace_back(port.remote_port({0x2000 + i}));
  plogi(honest);
  run_for(millisecond);
  EXPECT_EQ(answered(Command::ls_rjt, honest), 1U);
  EXPECT_EQ(refused(), 1U);
  uses.pop_back();
  for (int i = 0; i < 8 && !logged_in(honest); ++i) {
    plogi(honest);  // a few looks each time
    run_for(millisecond);
  }
  EXPECT_TRUE(logged_in(honest));
}

// Message data of ports without a login: each is told by LOGO, and the table stays as it is. A login goes last.
TEST_F(StrangersTest, flood_of_data_leaves_logins) {
  plogi(honest);
  run_for(millisecond);
  flood(5000, [&](wire::FcId id) { message_data(id); });
  EXPECT_TRUE(logged_in(honest));
  EXPECT_LE(port.known_ports(), most);
  EXPECT_LE(port.open_exchanges(), most);
}

// What we ask for ourselves is never refused; others make room for it.
TEST_F(StrangersTest, own_logins_make_room) {
  flood(1000, [&](wire::FcId id) { plogi(id); });
  for (std::uint32_t i = 0; i < 20; ++i) port.remote_port({0x2000 + i}).log_in();
  run_for(millisecond);
  EXPECT_EQ(port.known_ports(), most);
  EXPECT_EQ(port.awaited_ports().size(), 20U);
}

// Their LOGOs take a quarter of our exchanges: the others are free for what we ask ourselves.
struct FewExchangesOfStrangers : StrangersTest {
  FewExchangesOfStrangers() : StrangersTest(65536, 64) {}
};

TEST_F(FewExchangesOfStrangers, flood_of_data_leaves_exchanges) {
  flood(5000, [&](wire::FcId id) { message_data(id); });
  EXPECT_EQ(port.open_exchanges(), 16U);
  message_data(honest);
  run_for(millisecond);
  EXPECT_EQ(answered(Command::logo, honest), 1U);  // and who comes last is told like the first
  port.remote_port(honest).log_in();
  run_for(millisecond);
  EXPECT_EQ(answered(Command::plogi, honest), 1U);
  run_for(100 * second);
  EXPECT_LE(port.open_exchanges(), 1U);
}

}  // namespace
}  // namespace fc2
