// Two ports with resolvers on a link without a fabric: FARP is all there is (FC-VI 7.4).
#include "tests/farp/resolver_fixture.hpp"
#include "wire/els/farp.hpp"

namespace farp_test {
namespace {

class WithoutFabricTest : public testing::Test {
 protected:
  WithoutFabricTest() {
    a_resolver.set_ready_listener(ready);
    from_a.tap_sender(&log);
    a.link_up_without_fabric(from_a, {0x010101});
    b.link_up_without_fabric(from_b, {0x010102});
  }
  void run_for(runtime::TimeNs duration) { scheduler.run_until(scheduler.now() + duration); }
  static farp::ResolverConfig config(std::size_t index) { return {.own_addresses = {ip(index)}}; }

  runtime::Scheduler scheduler;
  fc2::FramePool pool;
  support::FrameLog log;
  Ready ready;
  fc2::NPort a{scheduler, pool, support::port_config(0)}, b{scheduler, pool, support::port_config(1)};
  farp::Resolver a_resolver{a, config(0)}, b_resolver{b, config(1)};
  fc2::Channel from_a{scheduler, {.latency_ns = 1000}, b}, from_b{scheduler, {.latency_ns = 1000}, a};
};

// FC-VI 7.4: nobody to register with: ready at once, and nothing is sent to a Name Server.
TEST_F(WithoutFabricTest, online_is_ready_without_name_server) {
  EXPECT_TRUE(a_resolver.ready());
  EXPECT_EQ(ready.count, 1);
  run_for(runtime::second);
  EXPECT_EQ(log.size(), 0U);
}

// FC-VI 7.4, 7.5: a host address is found by FARP.
TEST_F(WithoutFabricTest, unresolved_farp_finds_the_port) {
  Asker asker;
  a_resolver.resolve(ip(1), asker);
  run_for(100 * runtime::second);
  EXPECT_EQ(asker.answers, 1);
  EXPECT_EQ(asker.ids, std::vector{b.n_port_id()});
  EXPECT_EQ(log.sent(wire::els::Command::farp_req), log.size());
}

// FC-VI 7.7.1, 7.7.3: after a LIP the port has another N_Port_ID: no mapping that it knew is used any more; each is
// asked for again.
TEST_F(WithoutFabricTest, resolved_own_address_changed_asks_again) {
  Asker first, second_one;
  a_resolver.resolve(ip(1), first);
  run_for(runtime::millisecond);
  ASSERT_EQ(first.answers, 1);
  log.clear();
  a.link_interrupted();
  a.link_up_without_fabric(from_a, {0x010103});
  a_resolver.resolve(ip(1), second_one);
  EXPECT_EQ(second_one.answers, 0);
  run_for(runtime::millisecond);
  EXPECT_EQ(log.sent(wire::els::Command::farp_req), 1U);
  EXPECT_EQ(second_one.ids, std::vector{b.n_port_id()});
}

}  // namespace
}  // namespace farp_test
