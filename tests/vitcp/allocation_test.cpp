// Once a connection is up and has been used, messages of any kind allocate nothing, at either end.
#include "tests/support/counted_new.hpp"
#include "tests/vitcp/two_hosts.hpp"

namespace vitcp::testing {
namespace {

class VitcpAllocation : public ::testing::TestWithParam<bool> {};
INSTANTIATE_TEST_SUITE_P(Crc, VitcpAllocation, ::testing::Bool(),
                         [](const auto& crc) { return crc.param ? "With" : "Without"; });

/// One send descriptor of a kind, and a receive descriptor if it takes one, posted again and again.
struct Round {
  End a, b;
  TwoHosts& hosts;
  std::byte *send, *receive;

  void post() {
    if (receive != nullptr) b.vi.post_receive(address_of(receive), hosts.server->handle);
    a.vi.post_send(address_of(send), hosts.client->handle);
    hosts.world.scheduler.run_until(hosts.world.scheduler.now() + 10 * runtime::millisecond);
    std::uint64_t address = 0;
    ASSERT_EQ(a.vi.send_done(address), vi::Return::Success);
    b.vi.receive_done(address);
  }
};

std::byte* descriptor(Node& node, std::uint16_t control, std::vector<vi::Segment> segments, std::uint32_t bytes) {
  std::byte* const host = node.allocate(sizeof(vi::ControlSegment) + segments.size() * sizeof(vi::Segment));
  const vi::ControlSegment head{
      .segment_count = static_cast<std::uint16_t>(segments.size()), .control = control, .length_bytes = bytes};
  std::memcpy(host, &head, sizeof head);
  std::memcpy(host + sizeof head, segments.data(), segments.size() * sizeof(vi::Segment));
  return host;
}

TEST_P(VitcpAllocation, message_ofEachKind_allocatesNothing) {
  Settings settings;
  settings.client.ask_for_crc = GetParam();
  settings.client.segment_bytes = settings.server.segment_bytes = 4000;
  TwoHosts hosts(settings);
  auto [a, b] = hosts.connect(reception);
  for (const std::uint32_t bytes : {8U, 60'000U})
    for (const std::uint16_t kind :
         {vi::control::op_send_receive, vi::control::op_rdma_write, vi::control::op_rdma_read}) {
      const vi::Segment here{address_of(hosts.client->allocate(bytes)), hosts.client->handle.value, bytes};
      const vi::Segment there{address_of(hosts.server->allocate(bytes)), hosts.server->handle.value, bytes};
      const vi::Segment remote{there.address, there.handle, 0};
      const bool rdma = kind != vi::control::op_send_receive;
      const std::vector<vi::Segment> segments = rdma ? std::vector{remote, here} : std::vector{here};
      Round round{a, b, hosts, descriptor(*hosts.client, kind, segments, bytes),
                  rdma ? nullptr : descriptor(*hosts.server, vi::control::op_send_receive, {there}, bytes)};
      for (int i = 0; i != 10; ++i) round.post();
      const std::size_t before = support::allocations;
      for (int i = 0; i != 50; ++i) round.post();
      EXPECT_EQ(support::allocations, before) << "kind " << kind << ", " << bytes << " octets";
    }
}

}  // namespace
}  // namespace vitcp::testing
