// A thousand ports on eight switches, from login to connections: what bench_scale measures, small enough for every run.
#include <gtest/gtest.h>

#include "tests/support/many_hosts.hpp"

namespace {

class FabricScaleTest : public testing::TestWithParam<fc2::Multipath> {};

// All register, every pair resolves and connects, on in-order and out-of-order fabrics, and no frame is lost
// on the way.
TEST_P(FabricScaleTest, thousand_ports_register_resolve_and_connect) {
  support::ManyHosts hosts({.switches = 8, .ports = 1000, .fabric = {.multipath = GetParam()}});
  EXPECT_TRUE(hosts.register_all());
  hosts.fabric().run_for(runtime::second);
  EXPECT_TRUE(hosts.connect_all());
  EXPECT_EQ(hosts.connected(), 500U);
  EXPECT_EQ(hosts.fabric().at(0).logged_in_ports(), 1000U);
  EXPECT_EQ(hosts.discarded(), 0U);
  // What every port does must not grow with the number of ports: RSCNs are told in bursts, not one by one.
  EXPECT_LT(hosts.frames_forwarded(), 1000U * 100);
}
INSTANTIATE_TEST_SUITE_P(Multipath, FabricScaleTest,
                         testing::Values(fc2::Multipath::PortPair, fc2::Multipath::Exchange, fc2::Multipath::Frame));

}  // namespace
