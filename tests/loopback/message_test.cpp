// Messages of the loop-back transport, at each level of reliability (VI-ARCH 2.5, 6.3; VI-DG 5.2).
#include "tests/loopback/two_nodes.hpp"

namespace loopback::testing {
namespace {
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using vi::ErrorCode, vi::State;
namespace status = vi::status;

class LoopbackMessage : public TwoNodes, public ::testing::WithParamInterface<vi::ReliabilityLevel> {
 protected:
  [[nodiscard]] static bool reliable() { return is_reliable(GetParam()); }
  /// Both ends, and what each was told besides.
  void expect_end(const End& a, const End& b, std::vector<ErrorCode> at_receiver) {
    EXPECT_EQ(a.vi.state(), reliable() ? State::Error : State::Connected);
    EXPECT_EQ(b.vi.state(), reliable() ? State::Error : State::Connected);
    if (reliable()) at_receiver.push_back(ErrorCode::ConnLost);
    EXPECT_EQ(client.take_errors(), reliable() ? std::vector{ErrorCode::ConnLost} : std::vector<ErrorCode>{});
    EXPECT_EQ(server.take_errors(), at_receiver);
  }
  /// At Reliable Reception the sender's descriptor tells what the receiver found.
  [[nodiscard]] static std::uint32_t told(std::uint32_t bits) { return GetParam() == reception ? bits : 0; }
};
INSTANTIATE_TEST_SUITE_P(Levels, LoopbackMessage, ::testing::Values(unreliable, delivery, reception),
                         [](const auto& level) {
                           return level.param == unreliable ? "Unreliable"
                                  : level.param == delivery ? "Delivery"
                                                            : "Reception";
                         });

// VI-ARCH 6.3.1: messages arrive whole and in order, of no bytes and of many chunks.
TEST_P(LoopbackMessage, send_posted_arrives) {
  auto [a, b] = connect(GetParam());
  const std::string large(3 * chunk_bytes + 5, 'L');
  for (int i = 0; i != 3; ++i) b.receive(large.size());
  a.send("hello");
  a.send("");
  a.send(large, vi::control::immediate);
  settle();
  EXPECT_EQ(b.received(0), "hello");
  EXPECT_EQ(b.received(1), "");
  EXPECT_EQ(b.received(2), large);
  EXPECT_EQ(b.received_control(2).immediate_data, 77u);
  EXPECT_EQ(b.received_control(2).status, status::done | status::op_receive | status::immediate);
  EXPECT_EQ(a.send_error(0), 0u);
  EXPECT_EQ(a.send_error(2), 0u);
  EXPECT_THAT(server.take_errors(), IsEmpty());
}

// VI-ARCH 2.5: an RDMA Write takes a receive only with immediate data.
TEST_P(LoopbackMessage, rdmaWrite_posted_arrives) {
  auto [a, b] = connect(GetParam());
  std::byte* const target = server.allocate(8);
  b.receive(0);
  a.rdma_write("12345678", target);
  settle();
  EXPECT_EQ(std::memcmp(target, "12345678", 8), 0);
  EXPECT_EQ(b.receive_error(), std::nullopt);
  a.rdma_write("abcd", target, vi::control::immediate);
  settle();
  EXPECT_EQ(std::memcmp(target, "abcd5678", 8), 0);
  EXPECT_EQ(b.received_control().status, status::done | status::op_remote_rdma_write | status::immediate);
  EXPECT_EQ(b.received_control().length_bytes, 4u);
  EXPECT_EQ(a.send_error(1), 0u);
}

// VI-ARCH 2.5.1 to 2.5.3, VI-DG 3.8.1: no receive descriptor. Dropped, or the end of the connection.
TEST_P(LoopbackMessage, send_noReceive_isRefused) {
  auto [a, b] = connect(GetParam());
  a.send("lost");
  settle();
  EXPECT_EQ(a.send_error(), told(status::remote_descriptor_error));
  expect_end(a, b, {ErrorCode::RecvQEmpty});
}

// VI-DG 5.2 bit 3: the receive is too short for the message; its length is 0 (ruling 19).
TEST_P(LoopbackMessage, send_tooLong_isALengthError) {
  auto [a, b] = connect(GetParam());
  b.receive(3);
  a.send("four");
  settle();
  EXPECT_EQ(b.receive_error(), status::length_error);
  EXPECT_EQ(b.received_control().length_bytes, 0u);
  EXPECT_EQ(a.send_error(), told(status::remote_descriptor_error));
  expect_end(a, b, {});
}

// VI-ARCH 3.2.1: the receiver's memory is not registered any more.
TEST_P(LoopbackMessage, send_intoWrongMemory_isAProtectionError) {
  auto [a, b] = connect(GetParam());
  wire::MemHandle gone;
  std::byte* const memory = server.allocate(64);
  ASSERT_EQ(server.nic.register_memory(address_of(memory), memory, 64, {}, gone), vi::Return::Success);
  b.receive(8);
  auto* segment = reinterpret_cast<vi::Segment*>(const_cast<vi::ControlSegment*>(&b.received_control()) + 1);
  *segment = {address_of(memory), gone.value, 8};
  ASSERT_EQ(server.nic.memory().deregister(address_of(memory), gone), vi::Return::Success);
  a.send("12345678");
  settle();
  EXPECT_EQ(b.receive_error(), status::protection_error);
  EXPECT_EQ(a.send_error(), told(status::remote_descriptor_error));
  expect_end(a, b, {});
}

// VI-ARCH 3.2.2.2, VI-DG 3.8.1: the target may not be written; nothing of it is.
TEST_P(LoopbackMessage, rdmaWrite_refused_isARemoteProtectionError) {
  auto [a, b] = connect(GetParam());
  std::byte* const target = server.allocate(4);
  a.forbid_remote();
  a.rdma_write("abcd", target);
  settle();
  EXPECT_EQ(static_cast<int>(*target), 0);
  EXPECT_EQ(a.send_error(), told(status::rdma_protection_error));
  expect_end(a, b, {ErrorCode::RdmaWProt});
}

// VI-ARCH 2.5.1: a bad descriptor ends a reliable connection, at both ends; else the next message goes on.
TEST_P(LoopbackMessage, send_badDescriptor_stopsReliableOnly) {
  auto [a, b] = connect(GetParam());
  b.receive(8);
  a.send("x", 0x8000);  // a reserved bit
  a.send("good");
  settle();
  EXPECT_EQ(a.send_error(0), status::format_error);
  EXPECT_EQ(b.vi.state(), reliable() ? State::Error : State::Connected);
  EXPECT_EQ(a.send_error(1), reliable() ? status::flushed : 0);
  EXPECT_EQ(b.receive_error(), reliable() ? status::flushed : 0);
}

// VI-ARCH 6.3.1.1, 2.5: RDMA Read at the reliable levels, and at no other; what comes behind it sees its data.
TEST_P(LoopbackMessage, rdmaRead_posted_bringsData) {
  auto [a, b] = connect(GetParam());
  if (!reliable()) {
    a.rdma_read(server.allocate(8), 8);
    settle();
    EXPECT_EQ(a.send_error(), status::format_error);
    EXPECT_EQ(a.vi.state(), State::Connected);
    return;
  }
  constexpr std::size_t bytes = 2 * chunk_bytes + 3;
  std::byte* const source = server.allocate(bytes);
  std::memset(source, 'R', bytes);
  b.receive(8);
  const std::byte* target = a.rdma_read(source, bytes);
  a.send("behind");
  settle();
  EXPECT_EQ(a.send_error(0), 0u);
  EXPECT_EQ(std::memcmp(target, source, bytes), 0);
  EXPECT_EQ(b.received(), "behind");
  EXPECT_THAT(server.take_errors(), IsEmpty());
}

class LoopbackRead : public LoopbackMessage {};
INSTANTIATE_TEST_SUITE_P(Levels, LoopbackRead, ::testing::Values(delivery, reception),
                         [](const auto& level) { return level.param == delivery ? "Delivery" : "Reception"; });

// VI-DG 5.2 bit 7, 3.8.1: the source may not be read.
TEST_P(LoopbackRead, rdmaRead_refused_isARemoteProtectionError) {
  auto [a, b] = connect(GetParam());
  a.forbid_remote();
  a.rdma_read(server.allocate(8), 8);
  settle();
  EXPECT_EQ(a.send_error(), status::rdma_protection_error);
  expect_end(a, b, {ErrorCode::RdmaRProt});
}

// VI-DG 5.2 bit 4: a message that the peer's end cuts off is partial, at both ends.
TEST_P(LoopbackMessage, disconnect_inAMessage_leavesAPart) {
  auto [a, b] = connect(GetParam());
  b.receive(4 * chunk_bytes);
  a.send(std::string(4 * chunk_bytes, 'P'));
  ASSERT_TRUE(scheduler.run_next(scheduler.now()));  // the first chunk
  PlainCall call;
  server.provider.disconnect(b.vi, call);
  settle();
  EXPECT_EQ(call.result, vi::Return::Success);
  EXPECT_EQ(a.send_error(), status::flushed | status::partial_error);
  EXPECT_EQ(b.receive_error(), status::flushed | status::partial_error);
  EXPECT_EQ(a.vi.state(), State::Error);
  EXPECT_EQ(b.vi.state(), State::Idle);
}

}  // namespace
}  // namespace loopback::testing
