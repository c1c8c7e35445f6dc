// Faults of an exploration: what they are called, and what they do to frames.
#include <gtest/gtest.h>

#include "tests/support/fc4.hpp"
#include "tests/support/test_fabric.hpp"
#include "tools/fcvi_sim/explore/fault.hpp"
#include "wire/fc_header.hpp"

namespace sim::explore {
namespace {
using Kind = Fault::Kind;

TEST(Fault, every_kind_reads_as_it_writes) {
  const FaultList faults{{.kind = Kind::Lose, .frame = 1},
                         {.kind = Kind::Duplicate, .frame = 2},
                         {.kind = Kind::Duplicate, .frame = 3, .delay = 2001 * runtime::millisecond},
                         {.kind = Kind::Delay, .frame = 4, .delay = 10 * runtime::second},
                         {.kind = Kind::Delay, .frame = 5, .delay = 7},
                         {.kind = Kind::Reorder, .frame = 6, .overtaken = 300},
                         {.kind = Kind::Lose, .frame = 7, .count = 16},
                         {.kind = Kind::Delay, .frame = 8, .delay = 4 * runtime::second, .count = 300},
                         {.kind = Kind::Alternate, .frame = 9, .delay = runtime::second, .count = 2},
                         {.kind = Kind::Reverse, .frame = 10, .count = 300},
                         {.kind = Kind::Shuffle, .frame = 11, .count = 100'000},
                         {.kind = Kind::Reset, .frame = 12},
                         {.kind = Kind::Close, .frame = 13},
                         {.kind = Kind::Silence, .frame = 14},
                         {.kind = Kind::Invert, .frame = 15},
                         {.kind = Kind::Reorder, .frame = 4294967295, .overtaken = 2}};
  EXPECT_EQ(to_string(faults),
            "lose:1 duplicate:2 duplicate:3+2001ms delay:4+10s delay:5+7ns reorder:6+300 lose:7x16 delay:8x300+4s "
            "alternate:9x2+1s reverse:10x300 shuffle:11x100000 reset:12 close:13 silence:14 invert:15 "
            "reorder:4294967295+2");
  for (const Fault& fault : faults) EXPECT_EQ(parse_fault(to_string(fault)), fault) << to_string(fault);
}

TEST(Fault, what_is_none_is_refused) {
  for (const char* text :
       {"",          "lose",          "lose:",         "lose:0",         "lose:x",    "lose:-1",      "lose:4294967296",
        "lose:1+1s", "forget:1",      "duplicate:1+",  "duplicate:1+2",  "delay:1",   "delay:1+0",    "delay:1+0s",
        "delay:+1s", "reorder:1",     "reorder:1+0",   "reorder:1+1001", "lose:1x0",  "lose:1x",      "lose:1x100001",
        "lose:x2",   "reset:1x2",     "close:1+1s",    "silence:0",      "reverse:1", "reverse:1x1",  "reverse:1x3+1s",
        "shuffle:1", "shuffle:1x3+2", "alternate:1x3", "alternate:1+1s", "delay:1x3", "reorder:1+1s", "Lose:1",
        "lose:1 "})
    EXPECT_EQ(parse_fault(text), std::nullopt) << text;
}

/// Port 0 sends numbered frames to port 1, which notes when each came.
class Injector : public testing::Test, protected fc2::ExchangeUser {
 protected:
  struct Arrival {
    std::uint8_t number;
    runtime::TimeNs at;
    friend bool operator==(const Arrival&, const Arrival&) = default;
  };
  Injector() : fabric(2) {
    fabric.bring_up();
    EXPECT_TRUE(fabric.log_in(0, 1));
    fabric.port(1).set_user(support::fc4, *this);
  }
  /// Sends 1, 2, 3, a microsecond apart, under `faults`; returns what arrives, times from the first sending.
  std::vector<Arrival> arrivals(const FaultList& faults) {
    FaultInjector injector(fabric.scheduler, faults, [this](std::size_t link, wire::FcId address) {
      return fabric.port(link).n_port_id() == address;
    });
    for (std::size_t i = 0; i < 2; ++i) {
      const LinkFaults link = injector.add_link();
      fabric.fabric.set_faults(fabric.port(i), link.sent, link.received);
    }
    injector.begin();
    start_ = fabric.scheduler.now();
    for (std::uint8_t number = 1; number <= 3; ++number) {
      fc2::Exchange* exchange = fabric.port(0).originate(fabric.port(1).n_port_id(), wire::Type::fc_vi, *this);
      const std::uint8_t payload[] = {number, 0, 0, 0};
      fabric.port(0).send(*exchange, wire::RCtl::unsolicited_control, {}, payload, {.last_of_exchange = true});
      fabric.run_for(runtime::microsecond);
    }
    fabric.run_for(100 * runtime::second);
    EXPECT_EQ(injector.frames(), 3u);
    EXPECT_EQ(injector.applied(), faults.size());
    for (std::size_t i = 0; i < 2; ++i) fabric.fabric.set_fault(fabric.port(i), nullptr);
    return std::exchange(arrivals_, {});
  }
  support::TestFabric fabric;
  static constexpr runtime::TimeNs us = runtime::microsecond;  // each link's latency: two to cross

 private:
  void sequence_received(fc2::Exchange&, const wire::FcHeader&, std::span<const std::uint8_t> iu) override {
    arrivals_.push_back({iu[0], fabric.scheduler.now() - start_});
  }
  void exchange_failed(fc2::Exchange&, fc2::ExchangeFailure) override {}
  std::vector<Arrival> arrivals_;
  runtime::TimeNs start_ = 0;
};

TEST_F(Injector, no_fault_changes_nothing) {
  EXPECT_EQ(arrivals({}), (std::vector<Arrival>{{1, 2 * us}, {2, 3 * us}, {3, 4 * us}}));
}
TEST_F(Injector, lost_is_not_delivered) {
  EXPECT_EQ(arrivals({{.kind = Kind::Lose, .frame = 2}}), (std::vector<Arrival>{{1, 2 * us}, {3, 4 * us}}));
}
// Blocks: what comes of three frames that are sent a microsecond apart.
TEST_F(Injector, block_is_lost) {
  EXPECT_EQ(arrivals({{.kind = Kind::Lose, .frame = 2, .count = 16}}), (std::vector<Arrival>{{1, 2 * us}}));
}
TEST_F(Injector, block_comes_later) {
  EXPECT_EQ(arrivals({{.kind = Kind::Delay, .frame = 1, .delay = runtime::second, .count = 2}}),
            (std::vector<Arrival>{{3, 4 * us}, {1, runtime::second + 2 * us}, {2, runtime::second + 3 * us}}));
}
TEST_F(Injector, block_comes_backwards) {
  EXPECT_EQ(
      arrivals({{.kind = Kind::Reverse, .frame = 1, .count = 3}}),
      (std::vector<Arrival>{{3, 4 * us}, {2, runtime::millisecond + 3 * us}, {1, 2 * runtime::millisecond + 2 * us}}));
}
TEST_F(Injector, every_other_one_of_a_block_comes_later) {
  EXPECT_EQ(arrivals({{.kind = Kind::Alternate, .frame = 1, .delay = runtime::second, .count = 3}}),
            (std::vector<Arrival>{{2, 3 * us}, {1, runtime::second + 2 * us}, {3, runtime::second + 4 * us}}));
}
TEST_F(Injector, block_is_shuffled_always_the_same_way) {
  const FaultList faults{{.kind = Kind::Shuffle, .frame = 1, .count = 3}};
  const auto first = arrivals(faults);
  ASSERT_EQ(first.size(), 3u);
  EXPECT_LE(first.back().at, 2 * runtime::millisecond + 4 * us);
  EXPECT_FALSE(first[0].number == 1 && first[1].number == 2);
  EXPECT_EQ(arrivals(faults), first);
}
TEST_F(Injector, a_later_fault_goes_before_the_block_around_it) {
  EXPECT_EQ(arrivals({{.kind = Kind::Delay, .frame = 1, .delay = runtime::second, .count = 3},
                      {.kind = Kind::Lose, .frame = 2}}),
            (std::vector<Arrival>{{1, runtime::second + 2 * us}, {3, runtime::second + 4 * us}}));
}
TEST_F(Injector, delayed_comes_later) {
  EXPECT_EQ(arrivals({{.kind = Kind::Delay, .frame = 1, .delay = runtime::second}}),
            (std::vector<Arrival>{{2, 3 * us}, {3, 4 * us}, {1, runtime::second + 2 * us}}));
}
TEST_F(Injector, reordered_is_overtaken_as_often_as_said) {
  EXPECT_EQ(arrivals({{.kind = Kind::Reorder, .frame = 1, .overtaken = 1}}),
            (std::vector<Arrival>{{2, 3 * us}, {1, 3 * us}, {3, 4 * us}}));
  EXPECT_EQ(arrivals({{.kind = Kind::Reorder, .frame = 1, .overtaken = 2}}),
            (std::vector<Arrival>{{2, 3 * us}, {3, 4 * us}, {1, 4 * us}}));
}
TEST_F(Injector, reordered_that_nobody_overtakes_comes_in_the_end) {
  const auto came = arrivals({{.kind = Kind::Reorder, .frame = 3, .overtaken = 1}});
  ASSERT_EQ(came.size(), 3u);
  EXPECT_EQ(came[2].number, 3);
  EXPECT_GT(came[2].at, 50 * runtime::millisecond);
}
TEST_F(Injector, two_faults_work_together) {
  EXPECT_EQ(arrivals({{.kind = Kind::Delay, .frame = 1, .delay = 5 * us}, {.kind = Kind::Lose, .frame = 3}}),
            (std::vector<Arrival>{{2, 3 * us}, {1, 7 * us}}));
}

// The second one arrives as a frame of its own: the N_Port knows it for a duplicate, so count what the switch forwards.
TEST_F(Injector, duplicate_is_delivered_twice) {
  const std::uint64_t before = fabric.fabric.frames_forwarded();
  arrivals({});
  const std::uint64_t without = fabric.fabric.frames_forwarded() - before;
  arrivals({{.kind = Kind::Duplicate, .frame = 2}});
  EXPECT_EQ(fabric.fabric.frames_forwarded() - before, 2 * without + 1);
}

}  // namespace
}  // namespace sim::explore
