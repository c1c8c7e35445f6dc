#include "tests/farp/resolver_fixture.hpp"

namespace farp_test {
namespace {

// FC-VI 7.6: two ports log in, register their addresses, and find each other by GID_IPP.
TEST_F(ResolverTest, registered_resolve_by_name_server) {
  bring_up(2);
  EXPECT_EQ(ready[0].count, 1);
  EXPECT_TRUE(resolvers[0]->ready());
  EXPECT_EQ(ask(0, ip(1)).ids, ids({1}));
  EXPECT_EQ(ask(1, ip(0)).ids, ids({0}));
  EXPECT_EQ(id(0), wire::FcId{0x010100});
  EXPECT_EQ(id(1), wire::FcId{0x010200});
  EXPECT_EQ(unexpected_events(), 0U);
}

}  // namespace
}  // namespace farp_test
