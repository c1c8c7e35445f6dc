// How many addresses are remembered, which makes room, and what ends them all (FC-VI 7.7.1;
// ResolverConfig::max_entries).
#include "tests/farp/resolver_fixture.hpp"

namespace farp_test {
namespace {

class CacheTest : public ResolverTest {
 protected:
  ~CacheTest() override { EXPECT_EQ(unexpected_events(), 0U); }
  void begin(std::size_t count, std::size_t max_entries) {
    bring_up(count, [=](farp::ResolverConfig& config, std::size_t) { config.max_entries = max_entries; });
  }
  [[nodiscard]] std::uint64_t evicted() { return fabric.port(0).counters().addresses_evicted; }
  /// Asks for addresses that nobody has: FARP is tried for seconds.
  void ask_for_nobody(std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) resolvers[0]->resolve(nobody(next_++), strangers);
  }
  static wire::IpAddress nobody(std::size_t i) { return wire::IpAddress::v4(10, 9, 0, static_cast<std::uint8_t>(i)); }
  Asker strangers;

 private:
  std::size_t next_ = 0;
};

// Who asks again for what is known adds nothing, and makes nobody go; each has its place by when it was
// asked for first.
TEST_F(CacheTest, full_asked_again_stays_in_its_place) {
  begin(6, 2);
  for (const std::size_t index : {1U, 2U, 1U, 1U, 2U}) EXPECT_EQ(ask(0, ip(index)).ids, ids({index}));
  EXPECT_EQ(evicted(), 0U);
  for (std::size_t index = 3; index < 6; ++index) {
    EXPECT_EQ(ask(0, ip(index)).ids, ids({index}));
    EXPECT_EQ(evicted(), index - 2);
  }
}

// A cache for none: everybody is refused.
TEST_F(CacheTest, of_no_size_refuses) {
  begin(2, 0);
  EXPECT_EQ(ask(0, ip(1)).refusals, 1);
  EXPECT_EQ(evicted(), 0U);
}

// A listener asks for many from inside of its answer: 16 more than usual are taken, since none may go meanwhile; the
// rest are refused.
TEST_F(CacheTest, full_asked_from_inside_an_answer_takes_16_more) {
  begin(2, 2);
  struct Crowd final : farp::ResolveListener {
    void resolved(const wire::IpAddress&, std::span<const wire::FcId>) override {
      for (std::size_t i = 0; i < 40; ++i) resolver->resolve(nobody(i), others);
      asked = true;
    }
    void not_resolved(const wire::IpAddress&) override {}
    farp::Resolver* resolver = nullptr;
    Asker others;
    bool asked = false;
  } crowd;
  crowd.resolver = resolvers[0].get();
  resolvers[0]->resolve(ip(1), crowd);
  ASSERT_TRUE(fabric.run_until([&] { return crowd.asked; }));
  constexpr int taken = 1 + 16;  // the second place, and 16 beyond
  EXPECT_EQ(crowd.others.refusals, 40 - taken);
  EXPECT_EQ(evicted(), 0U);
  fabric.run_for(100 * runtime::second);
  EXPECT_EQ(crowd.others.refusals, 40) << "nobody has them";
  EXPECT_EQ(ask(0, ip(0)).ids, ids({0}));
  EXPECT_EQ(evicted(), 1U);
}

// So that no question is dear 16 addresses are looked at for each. The sixteenth that is not being resolved
// makes room ...
TEST_F(CacheTest, full_sixteenth_is_idle_makes_room) {
  begin(3, 16);
  ask_for_nobody(15);
  EXPECT_EQ(ask(0, ip(1)).ids, ids({1}));
  EXPECT_EQ(ask(0, ip(2)).ids, ids({2}));
  EXPECT_EQ(evicted(), 1U);
  EXPECT_EQ(strangers.refusals, 0);
}

// ... the seventeenth does so for the next who asks; none of those that were looked at is forgotten: once they are
// idle, they make room.
TEST_F(CacheTest, full_seventeenth_is_idle_makes_room_the_next_time) {
  begin(3, 17);
  ask_for_nobody(16);
  EXPECT_EQ(ask(0, ip(1)).ids, ids({1}));
  EXPECT_EQ(ask(0, ip(2)).refusals, 1);
  EXPECT_EQ(evicted(), 0U);
  EXPECT_EQ(ask(0, ip(2)).ids, ids({2}));
  EXPECT_EQ(evicted(), 1U);
  fabric.run_for(100 * runtime::second);
  EXPECT_EQ(strangers.refusals, 16);
  ask_for_nobody(17);
  EXPECT_EQ(strangers.refusals, 16) << "all are taken";
  EXPECT_EQ(evicted(), 1U + 17U);
}

// --- what ends them: FC-VI 7.7.1 ---------------------------------------------------------------------------------

// A fabric login anew: every mapping may be wrong, also of ports with which there was no login.
TEST_F(CacheTest, resolved_own_link_bounces_asks_again) {
  bring_up(2);
  EXPECT_EQ(ask(0, ip(1)).ids, ids({1}));
  fabric.detach(0);
  fabric.attach(0);
  fabric.run_for(runtime::second);
  support::FrameLog log;
  fabric.fabric.tap(fabric.port(0), &log);
  EXPECT_EQ(ask(0, ip(1)).ids, ids({1}));
  EXPECT_EQ(log.count(wire::RCtl::unsolicited_control), 1U);
}

// FC-VI 7.7.1: without a link there is no login with the Name Server, and none is asked for.
TEST_F(CacheTest, ready_link_down_asks_for_no_login) {
  bring_up(1);
  support::LoginListener listener;
  fabric.port(0).add_listener(listener);
  fabric.detach(0);
  EXPECT_EQ(listener.events, "O");
  fabric.port(0).remove_listener(listener);
}

}  // namespace
}  // namespace farp_test
