// Messages beyond the undisturbed single transfer: responses, order, fences, protection, missing descriptors.
#include "tests/fcvi/two_nodes.hpp"

namespace {
using Level = vi::ReliabilityLevel;
using support::Host;
using support::TwoNodes;

/// Links with latency, so that things take time.
class SlowNodes : public TwoNodes {
 public:
  SlowNodes() : TwoNodes({}, {.latency_ns = runtime::millisecond, .bytes_per_second = 100'000'000}) {}
  std::uint64_t post_receive(std::uint32_t length = 4096) {
    const auto receive = server->descriptor(0, {{server->data, length}});
    server_vi->post_receive(receive, server->handle);
    return receive;
  }
  std::uint64_t post_send(std::uint32_t length = 100) {
    const auto send = client->descriptor(0, {{client->data, length}});
    client_vi->post_send(send, client->handle);
    return send;
  }
  std::uint64_t post_rdma(std::uint16_t operation, std::uint64_t remote, wire::MemHandle handle,
                          std::uint32_t length = 100) {
    const auto send = client->descriptor(operation, {{client->data, length}}, remote, handle);
    client_vi->post_send(send, client->handle);
    return send;
  }
  [[nodiscard]] bool done(const Host& host, std::uint64_t descriptor) const {
    return (host.status(descriptor) & vi::status::done) != 0;
  }
};

// FC-VI 5.2.2, VI-ARCH 2.5.3: Reliable Reception completes only after the response, one round trip later.
TEST_F(SlowNodes, connected_sendAtReliableReception_completesAfterResponse) {
  connect(Level::ReliableReception);
  const auto receive = post_receive();
  const auto send = post_send();
  ASSERT_TRUE(fabric.run_until([&] { return done(*server, receive); }));
  EXPECT_FALSE(done(*client, send));
  const auto placed_at = fabric.scheduler.now();
  ASSERT_TRUE(fabric.run_until([&] { return done(*client, send); }));
  EXPECT_GE(fabric.scheduler.now() - placed_at, 2 * runtime::millisecond);
}

// FC-VI 5.2.2, VI-ARCH 2.5.2: Reliable Delivery completes when the last frame is on its way.
TEST_F(SlowNodes, connected_sendAtReliableDelivery_completesBeforeArrival) {
  connect(Level::ReliableDelivery);
  const auto receive = post_receive();
  const auto send = post_send();
  ASSERT_TRUE(fabric.run_until([&] { return done(*client, send); }));
  EXPECT_FALSE(done(*server, receive));
}

// VI-ARCH 6.3.1.2: a fenced Send waits for the RDMA Read before it; an unfenced one at Reliable Delivery does not.
TEST_F(SlowNodes, connected_fencedSend_waitsForRead) {
  connect(Level::ReliableDelivery);
  post_receive();
  const auto read = post_rdma(vi::control::op_rdma_read, server->data, server->handle, 65536);
  const auto fenced = client->descriptor(vi::control::queue_fence, {{client->data, 10}});
  client_vi->post_send(fenced, client->handle);
  ASSERT_TRUE(fabric.run_until([&] { return done(*client, fenced); }));
  EXPECT_TRUE(done(*client, read));
}

// FC-VI 7.3: messages of Reliable Reception stream, and all complete in order.
TEST_F(SlowNodes, connected_manySends_completeInOrder) {
  connect(Level::ReliableReception);
  std::vector<std::uint64_t> sends;
  for (int i = 0; i < 100; ++i) post_receive();
  for (int i = 0; i < 100; ++i) sends.push_back(post_send());
  ASSERT_TRUE(fabric.run_until([&] { return done(*client, sends.back()); }));
  for (const auto send : sends) {
    std::uint64_t address = 0;
    EXPECT_EQ(client_vi->send_done(address), vi::Return::Success);
    EXPECT_EQ(address, send);
  }
  EXPECT_EQ(client->port.open_exchanges(), 0u);
}

// FC-VI 8.4.2 e), VI-ARCH 2.5.2, VI-DG 3.8.1: no receive descriptor at a reliable level: both ends learn it.
TEST_F(SlowNodes, connected_sendWithoutReceive_endsReliableConnection) {
  connect(Level::ReliableDelivery);
  post_send();
  fabric.run_for(runtime::second);
  EXPECT_EQ(server->count(vi::ErrorCode::RecvQEmpty), 1);
  EXPECT_EQ(server_vi->state(), vi::State::Error);
  EXPECT_EQ(client_vi->state(), vi::State::Error);
  EXPECT_EQ(client->count(vi::ErrorCode::ConnLost), 1);
}

// VI-ARCH 2.5.3, FC-VI 5.9.4.3: the same at Reliable Reception: the send descriptor tells it.
TEST_F(SlowNodes, connected_sendWithoutReceive_reliableReceptionReportsRemoteDescriptorError) {
  connect(Level::ReliableReception);
  const auto send = post_send();
  fabric.run_for(runtime::second);
  EXPECT_EQ(client->status(send), vi::status::done | vi::status::remote_descriptor_error | vi::status::op_send);
  EXPECT_EQ(client_vi->state(), vi::State::Error);
  EXPECT_EQ(server_vi->state(), vi::State::Error);
}

// VI-ARCH 2.5.1: at Unreliable Delivery the message is dropped, the connection persists, the next one arrives.
TEST_F(SlowNodes, connected_sendWithoutReceive_unreliableGoesOn) {
  connect(Level::UnreliableDelivery);
  post_send();
  fabric.run_for(runtime::second);
  EXPECT_EQ(server->count(vi::ErrorCode::RecvQEmpty), 1);
  const auto receive = post_receive();
  post_send();
  fabric.run_for(runtime::second);
  EXPECT_EQ(server->status(receive), vi::status::done | vi::status::op_receive);
  EXPECT_EQ(server_vi->state(), vi::State::Connected);
}

// VI-DG 5.2: a Send longer than the receive descriptor: length error, Length 0 (ruling 19).
TEST_F(SlowNodes, connected_sendTooLong_isLengthErrorWithLengthZero) {
  connect(Level::ReliableReception);
  const auto receive = post_receive(50);
  const auto send = post_send(51);
  fabric.run_for(runtime::second);
  EXPECT_EQ(server->status(receive), vi::status::done | vi::status::length_error | vi::status::op_receive);
  EXPECT_EQ(server->control(receive).length_bytes, 0u);
  EXPECT_EQ(client->status(send), vi::status::done | vi::status::remote_descriptor_error | vi::status::op_send);
}

struct Violation {
  const char* name;
  std::uint16_t operation;
  Level level;
  bool enabled;
  std::uint64_t address;
  bool own_handle;
};

class Protection : public SlowNodes, public ::testing::WithParamInterface<Violation> {};

// VI-ARCH 3.2.2, VI-DG 3.8.1, FC-VI 5.9.4.3: RDMA outside a region, with a foreign handle, or without permission moves
// no byte and gives the error that the standard names.
TEST_P(Protection, connected_rdmaViolation_movesNothing) {
  const Violation& violation = GetParam();
  connect(violation.level);
  std::memset(client->bytes(client->data), 'c', 200);
  std::memset(server->bytes(server->data), 's', 200);
  wire::MemHandle closed{};
  const vi::MemoryAttributes none{};
  ASSERT_EQ(server->nic.register_memory(Host::base, server->memory.data(), server->memory.size(), none, closed),
            vi::Return::Success);
  const wire::MemHandle handle = violation.own_handle ? wire::MemHandle{0x12345}
                                 : violation.enabled  ? server->handle
                                                      : closed;
  const auto send = post_rdma(violation.operation, violation.address, handle);
  fabric.run_for(runtime::second);
  EXPECT_TRUE(
      std::all_of(server->bytes(server->data), server->bytes(server->data) + 200, [](auto b) { return b == 's'; }));
  EXPECT_TRUE(
      std::all_of(client->bytes(client->data), client->bytes(client->data) + 200, [](auto b) { return b == 'c'; }));
  const bool read = violation.operation == vi::control::op_rdma_read;
  EXPECT_EQ(server->count(read ? vi::ErrorCode::RdmaRProt : vi::ErrorCode::RdmaWProt), 1);
  const std::uint32_t op = read ? vi::status::op_rdma_read : vi::status::op_rdma_write;
  const bool told = read || violation.level == Level::ReliableReception;
  EXPECT_EQ(client->status(send), vi::status::done | op | (told ? vi::status::rdma_protection_error : 0));
  const vi::State expected = violation.level == Level::UnreliableDelivery ? vi::State::Connected : vi::State::Error;
  EXPECT_EQ(server_vi->state(), expected);
  EXPECT_EQ(client_vi->state(), expected);
  EXPECT_EQ(unexpected(), 0u);
}

constexpr std::uint64_t end_of_memory = Host::base + Host::memory_bytes;
INSTANTIATE_TEST_SUITE_P(
    All, Protection,
    ::testing::Values(
        Violation{"WriteOutsideReception", vi::control::op_rdma_write, Level::ReliableReception, true,
                  end_of_memory - 99, false},
        Violation{"WriteOutsideDelivery", vi::control::op_rdma_write, Level::ReliableDelivery, true, end_of_memory - 99,
                  false},
        Violation{"WriteOutsideUnreliable", vi::control::op_rdma_write, Level::UnreliableDelivery, true,
                  end_of_memory - 99, false},
        Violation{"WriteBelow", vi::control::op_rdma_write, Level::ReliableReception, true, Host::base - 1, false},
        Violation{"WriteForeignHandle", vi::control::op_rdma_write, Level::ReliableReception, true, Host::data, true},
        Violation{"WriteNotEnabled", vi::control::op_rdma_write, Level::ReliableReception, false, Host::data, false},
        Violation{"ReadOutside", vi::control::op_rdma_read, Level::ReliableDelivery, true, end_of_memory - 99, false},
        Violation{"ReadForeignHandle", vi::control::op_rdma_read, Level::ReliableReception, true, Host::data, true},
        Violation{"ReadNotEnabled", vi::control::op_rdma_read, Level::ReliableDelivery, false, Host::data, false}),
    [](const auto& violation) { return violation.param.name; });

// VI-ARCH 3.2.2.1: a VI with a tag reaches only regions of that tag.
TEST_F(SlowNodes, connected_writeToForeignTag_isRefused) {
  vi::Ptag own, other;
  ASSERT_EQ(server->nic.memory().create_ptag(own), vi::Return::Success);
  ASSERT_EQ(server->nic.memory().create_ptag(other), vi::Return::Success);
  wire::MemHandle region{};
  const vi::MemoryAttributes attributes{.ptag = other, .enable_rdma_write = true, .enable_rdma_read = true};
  ASSERT_EQ(server->nic.register_memory(Host::base, server->memory.data(), server->memory.size(), attributes, region),
            vi::Return::Success);
  client_vi = &client->make_vi(Level::ReliableReception);
  ASSERT_EQ(server->nic.create_vi({.reliability = Level::ReliableReception,
                                   .max_transfer_size_bytes = 0,
                                   .ptag = own,
                                   .enable_rdma_write = true,
                                   .enable_rdma_read = true},
                                  nullptr, nullptr, server_vi),
            vi::Return::Success);
  server->provider.connect_wait(server->net("x"), runtime::second, wait);
  client->provider.connect_request(*client_vi, client->net("c"), server->net("x"), runtime::second, request);
  ASSERT_TRUE(fabric.run_until([&] { return wait.result.has_value(); }));
  server->provider.connect_accept(wait.token, *server_vi, accept);
  ASSERT_TRUE(fabric.run_until([&] { return accept.result && request.result; }));
  const auto send = post_rdma(vi::control::op_rdma_write, server->data, region);
  fabric.run_for(runtime::second);
  EXPECT_EQ(client->status(send), vi::status::done | vi::status::rdma_protection_error | vi::status::op_rdma_write);
}

// FC-VI 8.4.2 f), VI-DG 3.3.5: a disconnect in the middle of a long message flushes and frees everything.
TEST_F(SlowNodes, connected_disconnectMidMessage_flushes) {
  connect(Level::ReliableReception);
  const auto receive = post_receive(8u << 20);
  const auto send = post_send(8u << 20);
  fabric.run_for(5 * runtime::millisecond);
  ASSERT_FALSE(done(*client, send));
  EXPECT_EQ(disconnect(*client, *client_vi), vi::Return::Success);
  EXPECT_EQ(client->status(send),
            vi::status::done | vi::status::flushed | vi::status::partial_error | vi::status::op_send);
  fabric.run_for(runtime::second);
  // The ABTS of the message comes first: VI-DG 5.2 bit 4, an aborted message.
  EXPECT_EQ(server->status(receive),
            vi::status::done | vi::status::transport_error | vi::status::partial_error | vi::status::op_receive);
  EXPECT_EQ(disconnect(*server, *server_vi), vi::Return::Success);
  fabric.run_for(60 * runtime::second);
  EXPECT_EQ(client->port.open_exchanges(), 0u);
  EXPECT_EQ(server->port.open_exchanges(), 0u);
  EXPECT_EQ(unexpected(), 0u);
}
}  // namespace
