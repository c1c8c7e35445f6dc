// No allocation per frame or message in steady state: counts every operator new of the program.
#include "tests/support/counted_new.hpp"
#include "tests/fcvi/two_nodes.hpp"

namespace {
using Level = vi::ReliabilityLevel;
constexpr std::uint32_t length = 65536;

struct Traffic {
  const char* name;
  std::uint16_t operation;
  Level level;
};

class Allocation : public support::TwoNodes, public ::testing::WithParamInterface<Traffic> {
 public:
  Allocation() : TwoNodes({}, {.latency_ns = runtime::microsecond, .bytes_per_second = 3'200'000'000}) {}
  /// Descriptors are used again and again, as an application does.
  void prepare() {
    const std::uint16_t operation = GetParam().operation;
    for (int i = 0; i < depth; ++i) {
      sends.push_back(
          client->descriptor(operation, {{client->data, length}}, operation == 0 ? 0 : server->data, server->handle));
      receives.push_back(server->descriptor(0, {{server->data, length}}));
    }
  }
  void run(int rounds) {
    for (int round = 0; round < rounds; ++round) {
      for (int i = 0; i < depth && GetParam().operation == 0; ++i)
        server_vi->post_receive(receives[static_cast<std::size_t>(i)], server->handle);
      for (int i = 0; i < depth; ++i) client_vi->post_send(sends[static_cast<std::size_t>(i)], client->handle);
      fabric.run_for(10 * runtime::millisecond);
      std::uint64_t address = 0;
      for (int i = 0; i < depth; ++i) succeeded += client_vi->send_done(address) == vi::Return::Success;
      while (server_vi->receive_done(address) == vi::Return::Success) {}
    }
  }
  static constexpr int depth = 40;  // more than the window of 32
  std::vector<std::uint64_t> sends, receives;
  int succeeded = 0;
};

// Design rule 4: from the descriptor through sender, fabric and receiver to the completion, and
// back, nothing allocates.
TEST_P(Allocation, steady_state_does_not_allocate) {
  connect(GetParam().level);
  prepare();
  run(3);
  const std::size_t before = support::allocations;
  run(10);
  EXPECT_EQ(support::allocations - before, 0u);
  EXPECT_EQ(succeeded, 13 * depth);
}

INSTANTIATE_TEST_SUITE_P(
    Levels, Allocation,
    ::testing::Values(Traffic{"Send", 0, Level::ReliableDelivery},
                      Traffic{"SendReception", 0, Level::ReliableReception},
                      Traffic{"SendUnreliable", 0, Level::UnreliableDelivery},
                      Traffic{"Write", vi::control::op_rdma_write, Level::ReliableDelivery},
                      Traffic{"WriteReception", vi::control::op_rdma_write, Level::ReliableReception},
                      Traffic{"Read", vi::control::op_rdma_read, Level::ReliableDelivery},
                      Traffic{"ReadReception", vi::control::op_rdma_read, Level::ReliableReception}),
    [](const auto& tested) { return tested.param.name; });
}  // namespace
