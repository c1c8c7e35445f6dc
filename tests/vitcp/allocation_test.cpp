// Once a connection is up and has been used, messages of any kind allocate nothing, at either end. What peers do that
// never read, or come and go, takes bounded memory.
#include <list>

#include "tests/support/counted_new.hpp"
#include "tests/vitcp/raw_peer.hpp"

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

// --- hostile peers (issue 18: memory bounded) ----------------------------------------------------------------------

const std::string large(60'000, 'x');

// What the stream does not take is kept, of one batch: 320 KiB. What else the program sends stays where it is. A peer
// that sends on and on without reading adds nothing.
TEST_P(VitcpAllocation, peer_never_reads_takesBoundedMemory) {
  for (const auto level : {unreliable, delivery, reception}) {
    TwoHosts hosts;
    hosts.world.network.set_rules([](const streams::Address&, const streams::Address&) {
      streams::StreamRules rules;
      rules.to_connector.receive_buffer_bytes = rules.to_connector.send_buffer_bytes = 2000;
      return rules;
    });
    RawPeer peer(hosts);
    End end = peer.connect_to(level, GetParam());
    peer.stop_reading();
    const auto before = static_cast<long>(support::live_bytes);
    for (int i = 0; i != 20; ++i) end.send(large);
    hosts.settle();
    EXPECT_LT(static_cast<long>(support::live_bytes) - before, 300'000);
    EXPECT_FALSE(end.send_error(19));
    const std::vector<std::uint8_t> part(1000, 'y');
    for (std::uint32_t number = 1; number != 500; ++number)
      peer.push(peer.octets_of(RawPeer::message(vt::SegmentType::send, number, part))), hosts.run(runtime::millisecond);
    EXPECT_LT(static_cast<long>(support::live_bytes) - before, 400'000);
    peer.close();
    hosts.settle();
    end.vi.disconnect();
  }
}

// The largest batch: short Sends that are copied, and as much lent memory as goes behind them.
TEST_P(VitcpAllocation, peer_neverReads_theLargestBatchIsBounded) {
  TwoHosts hosts;
  hosts.world.network.set_rules([](const streams::Address&, const streams::Address&) {
    streams::StreamRules rules;
    rules.to_connector.receive_buffer_bytes = rules.to_connector.send_buffer_bytes = 100;
    return rules;
  });
  RawPeer peer(hosts);
  End end = peer.connect_to(delivery, GetParam());
  peer.stop_reading();
  const auto before = static_cast<long>(support::live_bytes);
  const std::string small(4096, 's');
  for (int i = 0; i != 30; ++i) end.send(small);
  for (int i = 0; i != 4; ++i) end.send(large);
  hosts.settle();
  const auto kept = static_cast<long>(support::live_bytes) - before;
  EXPECT_GT(kept, GetParam() ? 60'000 : 150'000);  // the batch was made
  EXPECT_LT(kept, 340'000);
  peer.close();
  hosts.settle();
  end.vi.disconnect();
}

// docs/vitcp.md: what an established connection holds while it rests, with its VI and this end of the emulated stream.
TEST_P(VitcpAllocation, idleConnection_isSmall) {
  constexpr std::size_t count = 50;
  TwoHosts hosts;
  hosts.world.network.set_rules([](const streams::Address&, const streams::Address&) {
    streams::StreamRules rules;
    rules.to_acceptor.receive_buffer_bytes = rules.to_acceptor.send_buffer_bytes = 500;
    rules.to_connector.receive_buffer_bytes = rules.to_connector.send_buffer_bytes = 500;
    return rules;
  });
  std::list<RawPeer> peers;
  std::vector<End> ends;
  for (std::uint8_t i = 0; i != count; ++i) peers.emplace_back(hosts, wire::IpAddress::v4(10, 0, 1, i));
  const std::size_t before = support::live_bytes;
  for (RawPeer& peer : peers) ends.push_back(peer.connect_to(delivery, GetParam()));
  const std::size_t each = (support::live_bytes - before) / count;
  RecordProperty("octets", static_cast<int>(each));
  EXPECT_LT(each, GetParam() ? 80'000U : 12'000U);
  for (RawPeer& peer : peers) peer.close();
  hosts.settle();
  for (End& end : ends) end.vi.disconnect();
}

// However they end: in order, amid a segment, by a reset, after what breaks a rule.
TEST_P(VitcpAllocation, thousandConnections_comeAndGo_leaveNothing) {
  TwoHosts hosts;
  RawPeer peer(hosts);
  vi::Vi& vi = hosts.server->create(delivery);
  const auto come_and_go = [&](int number) {
    peer.connect_to(vi, GetParam());
    const std::vector<std::uint8_t> whole = peer.octets_of(RawPeer::message(vt::SegmentType::send, 7, {}));
    if (number % 4 == 1) peer.push(wire::Bytes(whole).first(10));
    if (number % 4 == 2) peer.push(whole);
    number % 4 == 3 ? peer.reset() : hosts.settle();
    peer.close();
    hosts.settle();
    PlainCall disconnected;
    hosts.server->provider.disconnect(vi, disconnected);
    hosts.settle();
    ASSERT_EQ(vi.state(), vi::State::Idle);
    peer.forget();
  };
  for (int i = 0; i != 8; ++i) come_and_go(i);
  const auto before = static_cast<long>(support::live_bytes);
  for (int i = 0; i != 1000; ++i) come_and_go(i);
  EXPECT_LT(static_cast<long>(support::live_bytes) - before, 10'000);
  EXPECT_EQ(hosts.server->provider.counters().connections, 1008U);
}

}  // namespace
}  // namespace vitcp::testing
