// OneFrameExchange is a shortcut: its frames, and what it leaves behind, are those of an Exchange and a SequenceSender,
// whatever else the port does (FC-FS; FC-VI 4.1, 5.2.1, 5.5, 5.8).
#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "fc2_fabric/node/sequence_sender.hpp"
#include "tests/support/fc4.hpp"
#include "tests/support/port_by_hand.hpp"

namespace fc2 {
namespace {
using wire::RCtl;
constexpr wire::FcId peer = support::PortByHand::peer;
constexpr wire::Type type = support::fc4.type;
constexpr SequenceEnd last{.last_of_exchange = true};

/// A port that sends whole exchanges in one of the two ways.
class Sender : public support::PortByHand {
 public:
  explicit Sender(bool straight, std::uint16_t max_exchanges = 64)
      : PortByHand([=](NPortConfig& config) { config.max_exchanges = max_exchanges; }), straight_(straight) {
    port.set_data_user(support::fc4, data_user);
    without_fabric();
    log_in();
  }
  /// nullptr: it has to wait.
  FramePtr send(std::size_t data_bytes, std::uint8_t cs_ctl) {
    FramePtr frame = pool.take();
    std::ranges::fill(frame->bytes, std::uint8_t{0xFF});
    const bool made = straight_ ? send_straight(*frame, data_bytes, cs_ctl) : send_by_table(*frame, data_bytes, cs_ctl);
    EXPECT_TRUE(port.is_consistent());
    return made ? std::move(frame) : nullptr;
  }
  /// Another one of ours, which stays open.
  Exchange* open() { return port.originate(peer, type, user); }
  [[nodiscard]] RemotePort& remote() { return port.remote_port(peer); }

 private:
  bool send_straight(Frame& frame, std::size_t data_bytes, std::uint8_t cs_ctl) {
    const auto exchange = port.begin_one_frame_exchange(remote());
    if (!exchange) return false;
    exchange->stamp(frame,
                    {.r_ctl = RCtl::solicited_data,
                     .fc4 = support::fc4,
                     .df_ctl = wire::df_ctl::device_header_32,
                     .cs_ctl = cs_ctl},
                    data_bytes);
    return true;
  }
  bool send_by_table(Frame& frame, std::size_t data_bytes, std::uint8_t cs_ctl) {
    if (waiting_ == nullptr) waiting_ = port.originate(peer, type, user);
    if (waiting_ == nullptr) return false;
    SequenceSender sequence;
    if (!sequence.begin(*waiting_, RCtl::solicited_data, wire::df_ctl::device_header_32, cs_ctl)) return false;
    Exchange* const exchange = std::exchange(waiting_, nullptr);
    sequence.stamp(frame, data_bytes, 0, &last);
    EXPECT_FALSE(exchange->is_open());
    return true;
  }

  const bool straight_;
  Exchange* waiting_ = nullptr;  // for a SEQ_ID
};

class OneFrameExchangeTest : public testing::Test {
 protected:
  /// The same on both.
  template <class Operation>
  void both(Operation operation) {
    operation(straight_);
    operation(by_table_);
  }
  void expect_equal(std::size_t data_bytes, std::uint8_t cs_ctl = 0) {
    const FramePtr frame = straight_.send(data_bytes, cs_ctl), expected = by_table_.send(data_bytes, cs_ctl);
    ASSERT_EQ(frame == nullptr, expected == nullptr);
    if (expected == nullptr) return;
    EXPECT_EQ(frame->size_bytes, expected->size_bytes);
    EXPECT_TRUE(frame->sof == expected->sof && frame->eof == expected->eof);
    EXPECT_TRUE(std::ranges::equal(frame->bytes, expected->bytes));
  }
  void expect_to_wait() {
    EXPECT_EQ(straight_.send(40, 0), nullptr);
    EXPECT_EQ(by_table_.send(40, 0), nullptr);
  }
  Sender straight_{true, max_exchanges}, by_table_{false, max_exchanges};
  static constexpr std::uint16_t max_exchanges = 40;
};

TEST_F(OneFrameExchangeTest, frame_isThatOfTheTable) {
  for (std::size_t data_bytes = 32; data_bytes <= 2112; ++data_bytes) expect_equal(data_bytes);
  expect_equal(40, wire::cs_ctl_preference);
}

// OX_IDs and SEQ_IDs go round as they would, also where other exchanges come and go between.
TEST_F(OneFrameExchangeTest, anyTraffic_idsAreThoseOfTheTable) {
  std::mt19937 random(7);
  std::vector<std::pair<Exchange*, Exchange*>> open;
  std::vector<wire::SeqId> sequences;
  for (int i = 0; i < 20'000; ++i) {
    switch (random() % 8) {
      case 0:
        if (open.size() + 1 < max_exchanges) open.emplace_back(straight_.open(), by_table_.open());
        break;
      case 1:
        if (open.empty()) break;
        std::swap(open[random() % open.size()], open.back());
        straight_.port.release(*open.back().first), by_table_.port.release(*open.back().second);
        open.pop_back();
        break;
      case 2: {
        const auto id = straight_.remote().take_seq_id(), expected = by_table_.remote().take_seq_id();
        ASSERT_EQ(id.has_value(), expected.has_value());
        if (!id) break;
        EXPECT_EQ(*id, *expected);
        sequences.push_back(*id);
        break;
      }
      case 3:
        if (sequences.empty()) break;
        both([&](Sender& sender) { sender.remote().give_back_seq_id(sequences.back()); });
        sequences.pop_back();
        break;
      default: expect_equal(32 + random() % 64);
    }
    for (const auto& [one, other] : open) ASSERT_EQ(one->ox_id(), other->ox_id());
  }
  EXPECT_EQ(straight_.port.open_exchanges(), open.size());
}

// NPortConfig::max_exchanges.
TEST_F(OneFrameExchangeTest, begin_allExchangesOpen_waits) {
  both([](Sender& sender) {
    for (int i = 0; i < max_exchanges; ++i) ASSERT_NE(sender.open(), nullptr);
  });
  expect_to_wait();
}

// FC-VI 4.1: all SEQ_IDs for message data are in use. Nothing was taken meanwhile.
TEST_F(OneFrameExchangeTest, begin_noSeqId_waits) {
  both([](Sender& sender) {
    for (int i = 0; i < 254; ++i) ASSERT_TRUE(sender.remote().take_seq_id());
  });
  expect_to_wait();
  both([](Sender& sender) { sender.remote().give_back_seq_id({17}); });
  for (int i = 0; i < 3; ++i) expect_equal(40);  // its SEQ_ID is free again each time
  EXPECT_NE(straight_.send(40, 0), nullptr);
}

// FC-VI 7.7: it may have moved; and a link that takes nothing for it now.
TEST_F(OneFrameExchangeTest, begin_portSuspendedOrPaused_waits) {
  both([](Sender& sender) { sender.remote().suspend(); });
  expect_to_wait();
  both([](Sender& sender) { sender.remote().forget_suspension(); });
  expect_equal(40);
  both([](Sender& sender) { sender.port.pause_output(peer); });
  expect_to_wait();
  both([](Sender& sender) { sender.port.resume_output(peer); });
  expect_equal(40);
}

}  // namespace
}  // namespace fc2
