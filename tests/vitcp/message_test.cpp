// Messages over TCP, at each level of reliability (VI-TCP 2.2.1, 2.2.2.2.3, 3.2; VI-ARCH 2.5, 6.3; VI-DG 5.2).
#include "tests/vitcp/two_hosts.hpp"

namespace vitcp::testing {
namespace {
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using vi::ErrorCode, vi::State;
namespace status = vi::status;

/// Without descriptor flow control the rules of each level hold, as over any transport.
Settings unlimited() {
  Settings settings;
  settings.client.descriptor_flow_control = settings.server.descriptor_flow_control = false;
  return settings;
}

class VitcpMessage : public ::testing::TestWithParam<Kind> {
 protected:
  static constexpr std::size_t large_bytes = 300'000;

  [[nodiscard]] static vi::ReliabilityLevel level() { return GetParam().level; }
  [[nodiscard]] static bool reliable() { return is_reliable(level()); }
  [[nodiscard]] static Settings settings(Settings base = {}) {
    base.client.ask_for_crc = GetParam().crc;
    return base;
  }
  /// Both ends, and what each was told besides.
  static void expect_end(TwoHosts& hosts, const End& a, const End& b, std::vector<ErrorCode> at_receiver) {
    EXPECT_EQ(a.vi.state(), reliable() ? State::Error : State::Connected);
    EXPECT_EQ(b.vi.state(), reliable() ? State::Error : State::Connected);
    if (reliable()) at_receiver.push_back(ErrorCode::ConnLost);
    EXPECT_EQ(hosts.client->take_errors(), reliable() ? std::vector{ErrorCode::ConnLost} : std::vector<ErrorCode>{});
    EXPECT_EQ(hosts.server->take_errors(), at_receiver);
  }
  /// At Reliable Reception the sender's descriptor tells what the receiver found.
  [[nodiscard]] static std::uint32_t told(std::uint32_t bits) { return level() == reception ? bits : 0; }
};
INSTANTIATE_TEST_SUITE_P(Levels, VitcpMessage,
                         ::testing::Values(Kind{unreliable}, Kind{delivery}, Kind{reception}, Kind{unreliable, true},
                                           Kind{delivery, true}, Kind{reception, true}),
                         name_of);

// VI-TCP 2.2.2.2.3, VI-ARCH 6.3.1: messages arrive whole and in order, of no bytes and of many segments.
TEST_P(VitcpMessage, send_posted_arrives) {
  TwoHosts hosts(settings());
  auto [a, b] = hosts.connect(level());
  const std::string large(large_bytes, 'L');
  for (int i = 0; i != 3; ++i) b.receive(large.size());
  a.send("hello");
  a.send("");
  a.send(large, vi::control::immediate);
  hosts.settle();
  EXPECT_EQ(b.received(0), "hello");
  EXPECT_EQ(b.received(1), "");
  EXPECT_TRUE(b.received(2) == large);
  EXPECT_EQ(b.received_control(2).immediate_data, 77u);
  EXPECT_EQ(b.received_control(2).status, status::done | status::op_receive | status::immediate);
  EXPECT_EQ(a.send_error(0), 0u);
  EXPECT_EQ(a.send_error(2), 0u);
  EXPECT_THAT(hosts.server->take_errors(), IsEmpty());
  EXPECT_EQ(hosts.server->provider.counters().refused(), 0u);
}

// VI-ARCH 2.4: a completed descriptor's memory is the consumer's again: nothing of it is read later.
TEST_P(VitcpMessage, send_itsMemoryReusedOnCompletion_arrivesAsItWas) {
  for (const std::size_t length : {5'000, 66'000, 200'000}) {
    TwoHosts hosts(settings());
    auto [a, b] = hosts.connect(level());
    for (int i = 0; i != 2; ++i) b.receive(length);
    std::size_t completions = 0;
    hosts.client->on_completed = [&, &a = a](bool) {
      const vi::Segment& source = a.send_segment(completions++);
      std::memset(reinterpret_cast<void*>(source.address), 'X', source.length_or_reserved);
    };
    a.send(std::string(length, 'a'));
    a.send(std::string(length, 'b'));
    hosts.settle();
    EXPECT_EQ(completions, 2u);
    EXPECT_TRUE(b.received(0) == std::string(length, 'a')) << length;
    EXPECT_TRUE(b.received(1) == std::string(length, 'b')) << length;
  }
}

// VI-TCP 3.4, VI-ARCH 2.5: an RDMA Write takes a receive only with immediate data.
TEST_P(VitcpMessage, rdmaWrite_posted_arrives) {
  TwoHosts hosts(settings());
  auto [a, b] = hosts.connect(level());
  std::byte* const target = hosts.server->allocate(large_bytes);
  b.receive(0);
  a.rdma_write("12345678", target);
  hosts.settle();
  EXPECT_EQ(std::memcmp(target, "12345678", 8), 0);
  EXPECT_EQ(b.receive_error(), std::nullopt);
  a.rdma_write("abcd", target, vi::control::immediate);
  hosts.settle();
  EXPECT_EQ(std::memcmp(target, "abcd5678", 8), 0);
  EXPECT_EQ(b.received_control().status, status::done | status::op_remote_rdma_write | status::immediate);
  EXPECT_EQ(b.received_control().immediate_data, 77u);
  EXPECT_EQ(b.received_control().length_bytes, 4u);
  const std::string large(large_bytes, 'W');
  a.rdma_write(large, target);
  a.rdma_write("", target);
  hosts.settle();
  EXPECT_EQ(std::memcmp(target, large.data(), large.size()), 0);
  for (std::size_t i = 0; i != 4; ++i) EXPECT_EQ(a.send_error(i), 0u);
}

// VI-TCP 3.2, VI-ARCH 6.3.1.1, 2.5: RDMA Read at the reliable levels, and at no other.
TEST_P(VitcpMessage, rdmaRead_posted_bringsData) {
  TwoHosts hosts(settings());
  auto [a, b] = hosts.connect(level());
  if (!reliable()) {
    a.rdma_read(hosts.server->allocate(8), 8);
    hosts.settle();
    EXPECT_EQ(a.send_error(), status::format_error);
    EXPECT_EQ(a.vi.state(), State::Connected);
    return;
  }
  std::byte* const source = hosts.server->allocate(large_bytes);
  std::memset(source, 'R', large_bytes);
  b.receive(8);
  const std::byte* target = a.rdma_read(source, large_bytes);
  const std::byte* second = a.rdma_read(source, 5);
  a.rdma_read(source, 0);
  a.send("behind");
  hosts.settle();
  for (std::size_t i = 0; i != 4; ++i) EXPECT_EQ(a.send_error(i), 0u);
  EXPECT_EQ(std::memcmp(target, source, large_bytes), 0);
  EXPECT_EQ(std::memcmp(second, source, 5), 0);
  EXPECT_EQ(b.received(), "behind");
  EXPECT_THAT(hosts.server->take_errors(), IsEmpty());
}

// VI-TCP 2.2.2.2.6, ruling V-11: more RDMA Reads than the peer's window wait for their turn; messages in between.
TEST_P(VitcpMessage, rdmaReads_beyondTheWindow_wait) {
  if (!reliable()) GTEST_SKIP() << "no RDMA Read at Unreliable Delivery";
  Settings narrow = settings();
  narrow.server.rdma_read_window = 2;
  TwoHosts hosts(narrow);
  auto [a, b] = hosts.connect(level());
  std::byte* const source = hosts.server->allocate(5000);
  std::memset(source, 'R', 5000);
  std::vector<const std::byte*> targets;
  for (int i = 0; i != 7; ++i) {
    targets.push_back(a.rdma_read(source, 5000));
    b.receive(8);
    a.send("between");
  }
  hosts.settle();
  for (const std::byte* target : targets) EXPECT_EQ(std::memcmp(target, source, 5000), 0);
  for (std::size_t i = 0; i != 14; ++i) EXPECT_EQ(a.send_error(i), 0u);
  EXPECT_EQ(hosts.server->provider.counters().refused(), 0u);
}

// Ruling V-11: a peer that holds no RDMA Reads: the descriptor completes in error.
TEST_P(VitcpMessage, rdmaRead_withoutAWindow_isARemoteProtectionError) {
  if (!reliable()) GTEST_SKIP() << "no RDMA Read at Unreliable Delivery";
  Settings none = settings();
  none.server.rdma_read_window = 0;
  TwoHosts hosts(none);
  auto [a, b] = hosts.connect(level());
  a.rdma_read(hosts.server->allocate(8), 8);
  hosts.settle();
  EXPECT_EQ(a.send_error(), status::rdma_protection_error);
  expect_end(hosts, a, b, {});
}

// VI-TCP 2.2.1, 3.3: with descriptor flow control a Send waits where it failed before; so does what is behind it.
TEST_P(VitcpMessage, send_noReceive_waits) {
  TwoHosts hosts(settings());
  auto [a, b] = hosts.connect(level());
  std::byte* const target = hosts.server->allocate(8);
  a.send("first");
  a.send("second");
  a.rdma_write("behind", target);
  hosts.settle();
  EXPECT_EQ(a.send_error(0), std::nullopt);
  b.receive(8);
  hosts.settle();
  EXPECT_EQ(b.received(0), "first");
  EXPECT_EQ(a.send_error(0), 0u);
  EXPECT_EQ(a.send_error(1), std::nullopt);
  EXPECT_EQ(static_cast<char>(*target), 0);
  b.receive(8);
  hosts.settle();
  EXPECT_EQ(b.received(1), "second");
  EXPECT_EQ(std::memcmp(target, "behind", 6), 0);
  EXPECT_EQ(a.vi.state(), State::Connected);
}

// VI-TCP 3.2 Notes on NOP: as few as keep data flowing: not one for each receive that is posted.
TEST_P(VitcpMessage, receives_areTold_seldom) {
  TwoHosts hosts(settings());
  auto [a, b] = hosts.connect(level());
  constexpr std::size_t count = 64;
  for (std::size_t i = 0; i != count; ++i) b.receive(8);
  hosts.settle();
  EXPECT_EQ(hosts.server->provider.counters().nops_sent, 1u);
  for (std::size_t i = 0; i != 4 * count; ++i) {
    a.send("x");
    hosts.settle();
    b.receive(8);
    hosts.settle();
  }
  const std::uint64_t nops = hosts.server->provider.counters().nops_sent;
  const std::uint64_t acks = level() == reception ? 4 * count : 0;
  EXPECT_LE(nops, acks + 1 + 4 * count / 32);
  EXPECT_EQ(b.receive_error(4 * count - 1), 0u);
}

// The same of acknowledgments: one for all messages that came together, and none of its own where an answer carries it.
TEST_P(VitcpMessage, acknowledgments_ofManyMessages_shareOneNop) {
  TwoHosts hosts(settings());
  auto [a, b] = hosts.connect(level());
  constexpr std::size_t count = 32;
  for (std::size_t i = 0; i != 2 * count; ++i) a.receive(8), b.receive(8);
  hosts.settle();
  const auto nops_of = [](const std::optional<Node>& node) { return node->provider.counters().nops_sent; };
  const std::uint64_t of_a = nops_of(hosts.client), of_b = nops_of(hosts.server);
  for (std::size_t i = 0; i != count; ++i) a.send("x");
  hosts.settle();
  EXPECT_EQ(a.send_error(count - 1), 0u);
  EXPECT_EQ(nops_of(hosts.server) - of_b, level() == reception ? 1u : 0u);
  std::size_t answered = 0;
  hosts.server->on_completed = [&, &b = b](bool receive_queue) {
    if (receive_queue && answered++ == 0) b.send("y");
  };
  a.send("x");
  hosts.settle();
  hosts.server->on_completed = {};
  EXPECT_EQ(a.received(0), "y");
  EXPECT_EQ(a.send_error(count), 0u);
  EXPECT_EQ(nops_of(hosts.server) - of_b, level() == reception ? 1u : 0u);
  EXPECT_LE(nops_of(hosts.client) - of_a, 1u);
}

// VI-ARCH 2.5.1 to 2.5.3, VI-DG 3.8.1: no receive descriptor. Dropped, or the end of the connection.
TEST_P(VitcpMessage, send_noReceiveNorFlowControl_isRefused) {
  TwoHosts hosts(settings(unlimited()));
  auto [a, b] = hosts.connect(level());
  a.send("lost");
  hosts.settle();
  EXPECT_EQ(a.send_error(), told(status::remote_descriptor_error));
  expect_end(hosts, a, b, {ErrorCode::RecvQEmpty});
  if (reliable()) return;
  b.receive(8);
  a.send("found");
  hosts.settle();
  EXPECT_EQ(b.received(), "found");
}

// VI-DG 5.2 bit 3: the receive is too short for the message; its length is 0 (ruling 19). In the first segment of one,
// and in a later one.
TEST_P(VitcpMessage, send_tooLong_isALengthError) {
  for (const std::size_t length : {std::size_t{4}, large_bytes}) {
    TwoHosts hosts(settings());
    auto [a, b] = hosts.connect(level());
    b.receive(length - 1);
    b.receive(8);
    a.send(std::string(length, 'T'));
    a.send("next");
    hosts.settle();
    EXPECT_EQ(*b.receive_error() & ~status::partial_error, status::length_error);
    EXPECT_EQ(b.received_control().length_bytes, 0u);
    EXPECT_EQ(*a.send_error() & ~status::partial_error, told(status::remote_descriptor_error));
    expect_end(hosts, a, b, {});
    if (!reliable()) {
      EXPECT_EQ(b.received(1), "next");
    }
  }
}

// VI-ARCH 3.2.1: the receiver's memory is not registered any more.
TEST_P(VitcpMessage, send_intoWrongMemory_isAProtectionError) {
  TwoHosts hosts(settings());
  auto [a, b] = hosts.connect(level());
  wire::MemHandle gone;
  std::byte* const memory = hosts.server->allocate(64);
  ASSERT_EQ(hosts.server->nic.register_memory(address_of(memory), memory, 64, {}, gone), vi::Return::Success);
  b.receive(8);
  b.receive_segment() = {address_of(memory), gone.value, 8};
  ASSERT_EQ(hosts.server->nic.memory().deregister(address_of(memory), gone), vi::Return::Success);
  a.send("12345678");
  hosts.settle();
  EXPECT_EQ(b.receive_error(), status::protection_error);
  EXPECT_EQ(static_cast<int>(*memory), 0);
  EXPECT_EQ(a.send_error(), told(status::remote_descriptor_error));
  expect_end(hosts, a, b, {});
}

// VI-ARCH 3.2.1: memory that is registered but not there any more is a protection error of its descriptor, at either
// end, and not the end of the stream: at Unreliable Delivery the connection persists.
TEST_P(VitcpMessage, send_memoryNotThereAnyMore_isAProtectionError) {
  for (const bool at_sender : {true, false}) {
    TwoHosts hosts(settings());
    auto [a, b] = hosts.connect(level());
    const std::size_t length = 60'000;
    b.receive(length);
    b.receive(8);
    if (!at_sender) hosts.settle();
    (at_sender ? hosts.client : hosts.server)->guard.allows = [](const std::byte*, std::size_t bytes) {
      return bytes < 1000;
    };
    a.send(std::string(length, 'a'));
    a.send("next");
    hosts.settle();
    EXPECT_EQ(a.vi.state(), reliable() ? State::Error : State::Connected);
    if (at_sender)
      EXPECT_EQ(a.send_error(), status::protection_error);
    else
      EXPECT_EQ(b.receive_error(), status::protection_error);
    if (reliable()) continue;
    EXPECT_EQ(b.received(at_sender ? 0 : 1), "next");
  }
}

// VI-ARCH 2.5.3, 6.3.1.1: at Reliable Reception a message that fails here completes behind those before it, once they
// are acknowledged, which complete with success.
TEST_P(VitcpMessage, send_failsBehindOthers_theyCompleteFirst) {
  TwoHosts hosts(settings());
  auto [a, b] = hosts.connect(level());
  for (int i = 0; i != 3; ++i) b.receive(60'000);
  hosts.settle();
  hosts.client->guard.allows = [](const std::byte*, std::size_t bytes) { return bytes < 1000; };
  a.send("first");
  a.send("second");
  a.send(std::string(60'000, 'a'));
  hosts.settle();
  EXPECT_EQ(a.send_error(0), 0u);
  EXPECT_EQ(a.send_error(1), 0u);
  EXPECT_EQ(a.send_error(2), status::protection_error);
  EXPECT_EQ(b.received(1), "second");
  EXPECT_EQ(a.vi.state(), reliable() ? State::Error : State::Connected);
}

// Ruling V-31: memory that goes while the stream takes its segment: what is not data is not delivered.
TEST_P(VitcpMessage, send_memoryGoesWithinASegment_nothingIsDelivered) {
  if (GetParam().crc || !reliable()) GTEST_SKIP() << "copied whole before its header goes out";
  TwoHosts hosts(settings());
  hosts.world.network.set_rules([](const auto&, const auto&) {
    streams::StreamRules rules;
    rules.to_acceptor.send_buffer_bytes = rules.to_acceptor.receive_buffer_bytes = 20'000;
    return rules;
  });
  auto [a, b] = hosts.connect(level());
  b.receive(60'000);
  hosts.settle();
  int accesses = 0;
  hosts.client->guard.allows = [&](const std::byte*, std::size_t bytes) { return bytes < 1000 || ++accesses == 1; };
  a.send(std::string(60'000, 'a'));
  hosts.settle();
  EXPECT_EQ(accesses, 2);
  EXPECT_EQ(a.vi.state(), State::Error);
  EXPECT_EQ(b.vi.state(), State::Error);
  EXPECT_EQ(*a.send_error() & ~status::partial_error, status::protection_error);
  EXPECT_EQ(b.receive_error(), status::flushed | status::partial_error);
}

// VI-ARCH 3.2.2.2, VI-DG 3.8.1: the target may not be written; nothing of it is.
TEST_P(VitcpMessage, rdmaWrite_refused_isARemoteProtectionError) {
  TwoHosts hosts(settings());
  auto [a, b] = hosts.connect(level());
  std::byte* const target = hosts.server->allocate(large_bytes);
  a.forbid_remote();
  a.rdma_write(std::string(large_bytes, 'W'), target);
  hosts.settle();
  EXPECT_EQ(static_cast<int>(*target), 0);
  const std::uint32_t bits = *a.send_error() & ~status::partial_error;
  if (level() == delivery)
    EXPECT_THAT(bits, ::testing::AnyOf(0u, status::flushed)) << "ruling V-19: complete or flushed";
  else
    EXPECT_EQ(bits, told(status::rdma_protection_error));
  expect_end(hosts, a, b, {ErrorCode::RdmaWProt});
  if (reliable()) return;
  b.receive(8);
  a.send("next");
  hosts.settle();
  EXPECT_EQ(b.received(), "next");
}

// VI-DG 5.2 bit 7, 3.8.1, ruling V-18: the source may not be read.
TEST_P(VitcpMessage, rdmaRead_refused_isARemoteProtectionError) {
  if (!reliable()) GTEST_SKIP() << "no RDMA Read at Unreliable Delivery";
  TwoHosts hosts(settings());
  auto [a, b] = hosts.connect(level());
  a.forbid_remote();
  a.rdma_read(hosts.server->allocate(8), 8);
  hosts.settle();
  EXPECT_EQ(a.send_error(), status::rdma_protection_error);
  expect_end(hosts, a, b, {ErrorCode::RdmaRProt});
}

// VI-ARCH 2.5.1: a bad descriptor ends a reliable connection, at both ends; else the next message goes on.
TEST_P(VitcpMessage, send_badDescriptor_stopsReliableOnly) {
  TwoHosts hosts(settings());
  auto [a, b] = hosts.connect(level());
  b.receive(8);
  a.send("x", 0x8000);  // a reserved bit
  a.send("good");
  hosts.settle();
  EXPECT_EQ(a.send_error(0), status::format_error);
  EXPECT_EQ(b.vi.state(), reliable() ? State::Error : State::Connected);
  EXPECT_EQ(a.send_error(1), reliable() ? status::flushed : 0);
  EXPECT_EQ(b.receive_error(), reliable() ? status::flushed : 0);
}

// VI-TCP 2.2.2.2.3: both directions at once, and RDMA Reads of each other between.
TEST_P(VitcpMessage, messages_bothWays_doNotMix) {
  TwoHosts hosts(settings());
  auto [a, b] = hosts.connect(level());
  const std::string to_b(large_bytes, 'b'), to_a(large_bytes, 'a');
  std::byte* const at_client = hosts.client->allocate(large_bytes);
  std::byte* const at_server = hosts.server->allocate(large_bytes);
  std::memset(at_client, '1', large_bytes);
  std::memset(at_server, '2', large_bytes);
  b.receive(large_bytes);
  a.receive(large_bytes);
  const std::byte *from_server = nullptr, *from_client = nullptr;
  if (reliable()) from_server = a.rdma_read(at_server, large_bytes), from_client = b.rdma_read(at_client, large_bytes);
  a.send(to_b);
  b.send(to_a);
  hosts.run(runtime::second);
  EXPECT_TRUE(b.received() == to_b);
  EXPECT_TRUE(a.received() == to_a);
  if (!reliable()) return;
  EXPECT_EQ(std::memcmp(from_server, at_server, large_bytes), 0);
  EXPECT_EQ(std::memcmp(from_client, at_client, large_bytes), 0);
}

// Ruling V-17: what was completed at the sender arrives, whatever the sender does then.
TEST_P(VitcpMessage, disconnect_afterCompletion_losesNothing) {
  TwoHosts hosts(settings());
  auto [a, b] = hosts.connect(level());
  for (int i = 0; i != 3; ++i) b.receive(large_bytes);
  hosts.settle();
  for (int i = 0; i != 3; ++i) a.send(std::string(large_bytes, 'D'));
  ASSERT_TRUE(hosts.run_until([&] { return a.send_error(1).has_value(); }));
  PlainCall call;
  hosts.client->provider.disconnect(a.vi, call);
  hosts.run(runtime::second);
  EXPECT_EQ(call.result, vi::Return::Success);
  EXPECT_TRUE(b.received(0) == std::string(large_bytes, 'D'));
  EXPECT_TRUE(b.received(1) == std::string(large_bytes, 'D'));
  EXPECT_EQ(b.vi.state(), State::Error);
}

// VI-TCP 3.3, V-22: many small messages that are posted together go out with one write.
TEST_P(VitcpMessage, sends_postedTogether_goOutWithOneWrite) {
  TwoHosts hosts(settings());
  auto [a, b] = hosts.connect(level());
  for (int i = 0; i != 30; ++i) b.receive(64);
  hosts.settle();
  const std::uint64_t before = hosts.client->provider.counters().writes;
  for (int i = 0; i != 30; ++i) a.send("small");
  hosts.settle();
  EXPECT_EQ(hosts.client->provider.counters().writes, before + 1);
  for (std::size_t i = 0; i != 30; ++i) EXPECT_EQ(b.received(i), "small");
}

/// Where the urgent pointer stood, of the octets of one direction.
struct Marks final : streams::SegmentTap {
  std::vector<std::uint64_t> at;
  void segment_sent(runtime::TimeNs, const streams::SegmentSeen& segment) override {
    if (segment.urgent && segment.to.ip == streams::test::server_ip) at.push_back(segment.urgent_at);
  }
};

// VI-TCP 3.7, ruling V-22: urgent marks are asked for, and taken by the peer: at the first octet of a segment. Without
// the option, none.
TEST_P(VitcpMessage, urgentMarks_standAtTheBeginningOfSegments) {
  for (const bool taken : {true, false}) {
    Settings urgent = settings();
    urgent.client.send_urgent_marks = true;
    urgent.server.take_urgent_marks = taken;
    TwoHosts hosts(urgent);
    Marks marks;
    hosts.world.network.set_tap(&marks);
    auto [a, b] = hosts.connect(level());
    for (int i = 0; i != 3; ++i) b.receive(64);
    hosts.settle();
    const std::uint64_t request = 24 + 140 + 4 + (GetParam().crc ? 4 + 2 + 4 : 0),
                        send = 24 + 5 + (GetParam().crc ? 4 : 0);
    for (int i = 0; i != 3; ++i) a.send("12345"), hosts.settle();
    EXPECT_EQ(b.received(2), "12345");
    const std::vector<std::uint64_t> wanted{request, request + send, request + 2 * send};
    EXPECT_EQ(marks.at, taken ? wanted : std::vector<std::uint64_t>{});
    hosts.world.network.set_tap(nullptr);
  }
}

// Ruling V-24: segments no longer than configured.
TEST_P(VitcpMessage, segments_areAsLongAsConfigured) {
  Settings small = settings();
  small.client.segment_bytes = 256;
  TwoHosts hosts(small);
  auto [a, b] = hosts.connect(level());
  b.receive(10'000);
  const std::uint64_t before = hosts.client->provider.counters().segments_sent;
  a.send(std::string(10'000, 's'));
  hosts.settle();
  EXPECT_TRUE(b.received() == std::string(10'000, 's'));
  const std::size_t payload = 256 - 24 - (GetParam().crc ? 4 : 0);
  EXPECT_GE(hosts.client->provider.counters().segments_sent - before, (10'000 + payload - 1) / payload);
}

}  // namespace
}  // namespace vitcp::testing
