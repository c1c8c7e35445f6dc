// vipl::simulate: virtual time, one program at a time, the same every time.
#include "tests/vipl/programs.hpp"

using namespace support;

TEST(ViplSimulation, programs_take_turns_in_the_order_given) {
  std::string order;
  const auto program = [&order](char name) {
    return [&order, name] {
      Node node;
      for (int i = 0; i < 3; ++i) {
        order += name;
        node.rest(10);
      }
    };
  };
  EXPECT_EQ(simulate({program('a'), program('b'), program('c')}), 30'000'000);
  EXPECT_EQ(order, "abcabcabc");
}

TEST(ViplSimulation, waiting_for_ever_for_nothing_ends) {
  const vipl::SimulationResult result = vipl::simulate({[] {
    Node node;
    VIP_CONN_HANDLE connection;
    EXPECT_EQ(node.wait("nobody", connection), VIP_TIMEOUT);
  }});
  EXPECT_TRUE(result.deadlocked);
}

TEST(ViplSimulation, each_has_a_fabric_of_its_own) {
  VIP_NIC_HANDLE old = nullptr;
  simulate({[&] { EXPECT_EQ(VipOpenNic("VINIC", &old), VIP_SUCCESS); }});
  simulate({[&] { EXPECT_EQ(VipCloseNic(old), VIP_INVALID_PARAMETER); }});
  EXPECT_EQ(simulate({}), 0);
}
