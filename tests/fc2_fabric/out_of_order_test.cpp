// Control IUs of several frames whose frames overtake each other (FC-VI 8.1, 8.4.1 d).
#include <gtest/gtest.h>

#include <numeric>

#include "tests/support/made_frame.hpp"
#include "tests/support/port_pair.hpp"
#include "tests/support/test_fabric.hpp"

namespace fc2 {
namespace {
using wire::RCtl;

constexpr std::size_t frames = 4;
using Order =
    std::vector<std::size_t>;  // which of the frames of a sequence comes first, second, ...; others never come

/// On the sender's link: the frames of an ECHO in another order.
class Shuffle final : public FrameFault {
 public:
  void carry(Channel& channel, FramePtr frame) override {
    const auto header = wire::FcHeader::parse(frame->content());
    if (header->r_ctl != RCtl::els_request || order.empty()) return channel.deliver(std::move(frame));
    held_.push_back(std::move(frame));
    if (held_.size() != frames) return;
    TimeNs arrival = held_.back()->arrival;
    for (const std::size_t which : order) {
      FramePtr copy = pool.copy(*held_[which]);
      copy->arrival = arrival += microsecond;
      channel.deliver(std::move(copy));
    }
    held_.clear();
  }
  FramePool pool;
  Order order;

 private:
  std::vector<FramePtr> held_;
};

class OutOfOrder : public testing::Test {
 public:
  explicit OutOfOrder(bool in_order = false) : fabric(2, config(in_order)) {
    fabric.bring_up();
    EXPECT_TRUE(fabric.log_in(0, 1));
    fabric.fabric.set_fault(fabric.port(0), &shuffle);
    fabric.run_for(second);
    before = fabric.port(1).open_exchanges();
  }
  ~OutOfOrder() override { fabric.fabric.set_fault(fabric.port(0), nullptr); }
  static SwitchConfig config(bool in_order) {
    SwitchConfig config;
    config.in_order = in_order;
    return config;
  }
  /// True when an ECHO of four frames comes back as it went.
  bool echo(const Order& order, TimeNs patience = second) {
    shuffle.order = order;
    std::vector<std::uint8_t> sent(frames * max_data_field_bytes - 100);
    std::iota(sent.begin(), sent.end(), std::uint8_t{0});
    sent[0] = 0x10, sent[1] = sent[2] = sent[3] = 0;
    user = {};
    fabric.port(0).request(fabric.port(1).n_port_id(), RCtl::els_request, wire::Type::els, sent, user, patience);
    fabric.run_for(patience);
    if (user.ius.size() != 1) return false;
    sent[0] = 0x02;  // LS_ACC
    return std::equal(sent.begin(), sent.end(), user.ius[0].bytes.begin(), user.ius[0].bytes.end());
  }
  Shuffle shuffle;
  support::TestFabric fabric;
  support::RecordingUser user;
  std::size_t before = 0;
};

// FC-VI 8.4.1 d): nothing is missing, whatever the order.
TEST_F(OutOfOrder, echo_in_every_order_arrives) {
  Order order{0, 1, 2, 3};
  do EXPECT_TRUE(echo(order)) << testing::PrintToString(order);
  while (std::next_permutation(order.begin(), order.end()));
  EXPECT_EQ(fabric.port(1).open_exchanges(), before);
  EXPECT_EQ(fabric.port(1).counters().unexpected_events, 0u);
}

// Each frame twice, in every place: counted, and the IU arrives once.
TEST_F(OutOfOrder, echo_with_duplicates_arrives_once) {
  for (const Order& order : {Order{3, 3, 2, 2, 1, 1, 0, 0}, Order{0, 0, 2, 2, 1, 1, 3, 3}, Order{2, 0, 2, 1, 0, 3},
                             Order{1, 3, 1, 3, 0, 2}}) {
    const auto discarded = fabric.port(1).counters().discarded();
    EXPECT_TRUE(echo(order)) << testing::PrintToString(order);
    EXPECT_GT(fabric.port(1).counters().discarded(), discarded);
  }
}

// FC-VI 8.4.1 d), B.2.5 rule 7: what is missing for R_A_TOV is a Sequence error; nothing is handed up,
// nothing stays behind.
TEST_F(OutOfOrder, echo_with_a_gap_is_given_up) {
  for (std::size_t lost = 0; lost < frames; ++lost) {
    Order order;
    for (std::size_t frame = frames; frame-- > 0;)
      if (frame != lost) order.push_back(frame);
    EXPECT_FALSE(echo(order, 5 * second)) << lost;
    EXPECT_EQ(user.ius.size(), 0u);
    EXPECT_EQ(user.failures.size(), 1u);
    shuffle.order.clear();
    fabric.run_for(40 * second);  // ABTS, Recovery_Qualifier
    EXPECT_EQ(fabric.port(1).open_exchanges(), before) << lost;
  }
}

// More than an IU may have is not kept, and nothing of that IU is.
TEST_F(OutOfOrder, frames_without_end_are_bounded) {
  NPort& recipient = fabric.port(1);
  for (std::uint16_t seq_cnt = 1; seq_cnt < 2000; ++seq_cnt) {
    const wire::FcHeader header{.r_ctl = RCtl::els_request,
                                .d_id = recipient.n_port_id(),
                                .s_id = fabric.port(0).n_port_id(),
                                .type = wire::Type::els,
                                .f_ctl = wire::f_ctl::first_sequence,
                                .seq_cnt = {seq_cnt},
                                .ox_id = {0x55}};
    recipient.receive(support::made_frame(fabric.pool, header, support::zeros(1000), wire::Sof::n3, wire::Eof::n));
  }
  const std::uint64_t fit = recipient.config().max_assembled_iu_bytes / 1000;
  EXPECT_EQ(recipient.counters().discarded(Discard::TooLong), 1u);
  EXPECT_EQ(recipient.counters().discarded(Discard::WrongSequence), 1999u - fit - 1);
  EXPECT_EQ(recipient.assembled_bytes(), 0u);
  EXPECT_EQ(recipient.open_exchanges(), before + 1);
  fabric.run_for(40 * second);
  EXPECT_EQ(recipient.open_exchanges(), before);
}

class InOrder : public OutOfOrder {
 public:
  InOrder() : OutOfOrder(true) {}
};

// FC-VI 8.4.1 c): on an in-order fabric the first frame out of order is an error.
TEST_F(InOrder, echo_out_of_order_is_given_up) {
  EXPECT_TRUE(echo({0, 1, 2, 3}));
  EXPECT_FALSE(echo({0, 2, 1, 3}, 5 * second));
}

}  // namespace
}  // namespace fc2
